//! Registers: whether a trial of them is valid, and whether the database was what it is to be.

use std::sync::atomic::AtomicBool;

use load::{Go, Progress};
use record::register::AnomalyKind;
use record::{Outcome, RegisterOutcome, Setup, Window};
use stats::thread_busy;
use workload::TrialError;
use workload::register::{self, Job};

use crate::judged::{Judged, client_limited, clients_stopped, stood_still};
use crate::targets::Held;

/// Drives the registers of a trial once.
pub(crate) fn run(
    job: &Job,
    databases: Vec<&mut Held>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<RegisterOutcome, TrialError> {
    let Ok([held]) = <[&mut Held; 1]>::try_from(databases) else {
        unreachable!("the plan has no registers without one database")
    };
    register::run(job, &held.own.lease(), &held.own.clone().into(), stop, on_progress)
}

/// What is to be said of a trial that ran. How long the database was away makes none invalid: it is what was asked.
pub(crate) fn judged(mut outcome: Box<RegisterOutcome>, setup: Option<&Setup>, measured: &Window) -> Judged {
    let expects_losses = setup.and_then(Setup::register).is_some_and(|setup| setup.expects_losses);
    Judged {
        invalid: invalid_because(&outcome, measured),
        failed: failed_because(&outcome, expects_losses),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Register(outcome),
    }
}

/// What a register does not do: the trial failed. Lost writes that the study expects fail none.
fn failed_because(outcome: &RegisterOutcome, expects_losses: bool) -> Option<String> {
    if let Some(why) = &outcome.unchecked {
        return Some(format!("the history cannot be checked: {why}"));
    }
    let is_wrong = |kind: AnomalyKind| !(expects_losses && kind.is_of_loss());
    let found = outcome.anomalies.iter().filter(|(kind, count)| **count > 0 && is_wrong(**kind));
    let counted = found.map(|(kind, count)| {
        let [one, several] = kind.names();
        format!("{count} {}", if *count == 1 { one } else { several })
    });
    let counted: Vec<String> = counted.collect();
    (!counted.is_empty()).then(|| counted.join(", "))
}

/// Why a trial's figures do not mean what they should, if so.
fn invalid_because(outcome: &RegisterOutcome, measured: &Window) -> Option<String> {
    let mut reasons: Vec<String> = clients_stopped(outcome.stopped.iter()).into_iter().collect();
    if measured.operations().count == 0 {
        reasons.push("no operation completed in the measured window. Measure longer".to_owned());
    }
    // A load that stood still itself would be told as an outage.
    let busy = measured.busiest_share().and_then(thread_busy);
    let client: Vec<String> =
        [stood_still(measured), busy].into_iter().flatten().map(|sign| sign.to_string()).collect();
    reasons.extend(client_limited(&client));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use record::Outage;
    use record::register::Away;

    use super::*;
    use crate::judged::windows;

    #[test]
    fn what_no_register_does_fails_the_trial() {
        let anomalies = [(AnomalyKind::StaleRead, 1), (AnomalyKind::LostUpdate, 3)].into_iter().collect();
        let mut outcome = RegisterOutcome { anomalies, ..RegisterOutcome::default() };
        assert_eq!(failed_because(&outcome, false).unwrap(), "3 lost updates, 1 stale read");
        assert_eq!(failed_because(&outcome, true), None, "the study expects them");
        outcome.anomalies.insert(AnomalyKind::Fork, 1);
        assert_eq!(failed_because(&outcome, true).unwrap(), "1 fork");
        assert_eq!(failed_because(&RegisterOutcome::default(), false), None);
        let unchecked = Some("two writes of 1".to_owned());
        let told =
            failed_because(&RegisterOutcome { unchecked, ..RegisterOutcome::default() }, true).unwrap();
        assert!(told.contains("two writes of 1"), "{told}");
    }

    #[test]
    fn an_outage_is_what_is_measured_and_a_client_that_stops_is_not() {
        let outage = Outage { start_s: 3.0, end_s: Some(4.5), attempts: 3, error: "reset".to_owned() };
        let away = RegisterOutcome {
            away: vec![Away { start_s: 3.0, end_s: Some(4.5) }],
            outages: vec![outage],
            ..RegisterOutcome::default()
        };
        let measured = windows::measured(10, 500, Some(0));
        assert_eq!(invalid_because(&away, &measured), None);
        let stopped = RegisterOutcome { stopped: vec!["client 1: gone".to_owned()], ..away };
        let told = invalid_because(&stopped, &windows::measured(0, 500, Some(0))).unwrap();
        assert!(told.contains("client 1: gone") && told.contains("Measure longer"), "{told}");
    }
}
