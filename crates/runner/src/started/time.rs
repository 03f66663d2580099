//! How long it takes to make servers ready before each trial, as far as that can be said before anything is started. What is loaded
//! into them is not among it.

use std::path::PathBuf;

use study::{Plan, Pristine, StartedServer};

use super::disk_proof::PROOF_S;
use super::{StartedServers, wanted};

/// What making an empty server takes, with stopping and removing it at the end, and stopping and starting one again: of small ones on a
/// quick disk.
const MADE_S: f64 = 1.5;
const STARTED_S: f64 = 1.0;

/// Seconds before each trial of a plan in which its servers are made, started again and their limits proved; none where none is.
#[must_use]
pub fn preparation_s(plan: &Plan) -> Vec<f64> {
    let servers = StartedServers::new(PathBuf::new());
    let mut known: Vec<StartedServer> = Vec::new();
    let of_trial = |trial: &study::Trial| {
        let all = wanted(trial).into_iter().map(|wanted| {
            let limits = |server: &StartedServer| {
                servers.configuration(server, wanted.sessions).ok().map(|it| it.limits)
            };
            let now = limits(&wanted.server);
            let at = known.iter().position(|known| known.has_same_data(&wanted.server));
            let before = at.map(|at| known.remove(at));
            let is_proved = before.as_ref().is_some_and(|before| limits(before) == now);
            let made_s = made_s(before.as_ref(), &wanted.server);
            known.push(wanted.server);
            let number = now.map_or(0, |limits| limits.number());
            // Limits hold from a start on.
            made_s + if is_proved || number == 0 { 0.0 } else { STARTED_S + number as f64 * PROOF_S }
        });
        all.sum()
    };
    plan.trials.iter().map(of_trial).collect()
}

/// What it takes to make a server, or what there is of it, what a trial finds.
fn made_s(before: Option<&StartedServer>, now: &StartedServer) -> f64 {
    let Some(before) = before else { return MADE_S };
    match now.server.between_trials {
        Some(Pristine::Recreate) => MADE_S,
        Some(Pristine::Restart | Pristine::Restore) => STARTED_S,
        Some(Pristine::Keep) | None if now.server.cold == Some(true) || now.server != before.server => {
            STARTED_S
        }
        Some(Pristine::Keep) | None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(server: &str, axis: &str) -> Vec<f64> {
        let text = format!(
            "blocks = 1\norder = \"given\"\n[workload.historian]\nrate = 200\nwarm_up = \"1s\"\nduration = \"1s\"\n\
             [target.server.pg]\nengine = \"postgres\"\n{server}\n{axis}"
        );
        let plan = Plan::of(&study::Study::from_toml(&text).unwrap()).unwrap();
        preparation_s(&plan)
    }

    #[test]
    fn limits_are_proved_once_and_at_each_change() {
        let axis = "[[axis]]\nkey = \"target.server.pg.cpus\"\nlevels = [0.25, 0.5, 1.0]\n";
        let changed_s = STARTED_S + PROOF_S;
        assert_eq!(seconds("", axis), [MADE_S + changed_s, STARTED_S + changed_s, STARTED_S + changed_s]);
        assert_eq!(
            seconds("cpus = 0.5\ncpu_set = \"0\"", ""),
            [MADE_S + STARTED_S + PROOF_S],
            "a set is proved at once"
        );
        assert_eq!(seconds("", ""), [MADE_S]);
        let seeds = "[[axis]]\nkey = \"workload.historian.rate\"\nlevels = [100, 200]\n";
        assert_eq!(seconds("cpus = 0.5", seeds), [MADE_S + changed_s, 0.0], "the same limits");
        assert_eq!(seconds("between_trials = \"restart\"", seeds), [MADE_S, STARTED_S]);
        assert_eq!(seconds("between_trials = \"recreate\"", seeds), [MADE_S, MADE_S]);
    }

    #[test]
    fn without_servers_nothing_is_made_ready() {
        let text = "[workload.disk]\nduration = \"1s\"\n[target]\npaths = [\"/tmp\"]\n";
        let plan = Plan::of(&study::Study::from_toml(text).unwrap()).unwrap();
        assert!(preparation_s(&plan).iter().all(|&s| s == 0.0));
    }
}
