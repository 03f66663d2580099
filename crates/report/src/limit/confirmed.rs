//! What a study confirms or refutes of what likely limited its trials: it changed the resource, and what that gained is known with its
//! interval.
//!
//! A gain alone confirms nothing: sessions must have waited for what was given more of. Nor does a resource refute a cause that is
//! another one.

use serde::Serialize;
use stats::Comparison;

use super::{Cause, Strength};
use crate::comparison::{ComparedAxis, Gain, Point, StudyComparison, axis_words};
use crate::trial::Trial;

/// Resources by the last word of their key, and what they are the remedy of.
const RESOURCES: [(&str, &[Cause]); 14] = [
    ("cpus", &[Cause::ServerCpu]),
    ("memory", &[Cause::Memory, Cause::Reads]),
    ("shared_buffers", &[Cause::Memory, Cause::Reads]),
    ("innodb_buffer_pool_size", &[Cause::Memory, Cause::Reads]),
    ("read_iops", &[Cause::Reads]),
    ("read_rate", &[Cause::Reads]),
    ("write_iops", &[Cause::LogFlushes, Cause::DataWrites]),
    ("write_rate", &[Cause::LogFlushes, Cause::DataWrites, Cause::Checkpoints]),
    ("max_wal_size", &[Cause::Checkpoints]),
    ("checkpoint_timeout", &[Cause::Checkpoints]),
    ("innodb_log_file_size", &[Cause::Checkpoints]),
    ("max_connections", &[Cause::Connections]),
    ("n_threads", &[Cause::Clients]),
    ("writers", &[Cause::Clients]),
];

/// What became of a likely cause once a study gave more, or less, of its resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confirmation {
    /// The cause that was likely.
    pub cause: Cause,
    /// Key of the axis that changed its resource.
    pub axis: String,
    /// Whether trials gained by more of it; else they did not.
    pub confirmed: bool,
    /// Trials with less of it, of which this holds.
    pub trials: Vec<u32>,
    /// The same in words.
    pub says: String,
}

/// What a comparison confirms and refutes of its trials, one for each cause and axis.
pub(crate) fn confirmations(comparison: &StudyComparison, trials: &[Trial]) -> Vec<Confirmation> {
    let mut found: Vec<Confirmation> = Vec::new();
    for axis in &comparison.axes {
        let word = axis.name.rsplit('.').next().unwrap_or(&axis.name);
        let resource = RESOURCES.iter().find(|(resource, _)| *resource == word);
        let Some((_, causes)) = resource else { continue };
        let gains = comparison.points.iter().flat_map(|point| {
            point.values.gains.iter().filter(|gain| gain.axis == axis.name).map(move |gain| (point, gain))
        });
        for (point, gain) in gains {
            let Some(one) = of_gain(comparison, axis, causes, (point, gain), trials) else { continue };
            // What gains anywhere along the axis is confirmed, whatever else gains nothing.
            match found.iter_mut().find(|other| (other.cause, &other.axis) == (one.cause, &one.axis)) {
                Some(other) if one.confirmed && !other.confirmed => *other = one,
                Some(_) => {}
                None => found.push(one),
            }
        }
    }
    found
}

fn of_gain(
    comparison: &StudyComparison,
    axis: &ComparedAxis,
    causes: &[Cause],
    (point, gain): (&Point, &Gain),
    trials: &[Trial],
) -> Option<Confirmation> {
    let reference = comparison.points.get(gain.reference)?;
    let level = |point: &Point| point.levels.get(&axis.name).cloned();
    let number =
        |level: &String| axis.numbers.get(axis.levels.iter().position(|other| other == level)?).copied();
    let (to, from) = (level(point)?, level(reference)?);
    let is_more = number(&to)? > number(&from)?;
    let confirmed = match (gain.judged?.comparison, is_more) {
        (Comparison::Better, true) | (Comparison::Worse, false) => true,
        (Comparison::Equivalent, _) => false,
        (
            Comparison::Better
            | Comparison::Worse
            | Comparison::Small
            | Comparison::Differs
            | Comparison::Alike
            | Comparison::WithinNoise
            | Comparison::NotResolvable
            | Comparison::Descriptive,
            _,
        ) => return None,
    };
    let less = if is_more { reference } else { point };
    let (cause, of) = likely(causes, less, trials)?;
    let change = gain.change().map(|change| change.says()).unwrap_or_default();
    let says = format!(
        "{} {} ({} {to} instead of {from}: {change})",
        if confirmed { "confirmed:" } else { "ruled out:" },
        cause.who(),
        axis_words(&axis.name)
    );
    Some(Confirmation { cause, axis: axis.name.clone(), confirmed, trials: of, says })
}

/// The cause among some that was likely in more than half of a point's trials, and these trials.
fn likely(causes: &[Cause], point: &Point, trials: &[Trial]) -> Option<(Cause, Vec<u32>)> {
    let of = |cause: Cause| -> Vec<u32> {
        let is_it = |trial: &&Trial| {
            point.trials.contains(&trial.number)
                && trial.limited_by.as_ref().is_some_and(|limited| limited.causes.first() == Some(&cause))
        };
        trials.iter().filter(is_it).map(|trial| trial.number).collect()
    };
    let all = causes.iter().map(|cause| (*cause, of(*cause)));
    all.max_by_key(|(_, trials)| trials.len()).filter(|(_, trials)| trials.len() * 2 > point.trials.len())
}

/// Marks trials with what became of their cause.
pub(crate) fn mark(trials: &mut [Trial], confirmations: &[Confirmation]) {
    for confirmation in confirmations {
        let of = trials.iter_mut().filter(|trial| confirmation.trials.contains(&trial.number));
        for limited in of.filter_map(|trial| trial.limited_by.as_mut()) {
            if confirmation.confirmed {
                limited.strength = Strength::Confirmed;
            } else if limited.strength == Strength::Likely {
                limited.causes.retain(|cause| *cause != confirmation.cause);
                if limited.causes.is_empty() {
                    limited.strength = Strength::Unknown;
                }
            }
            limited.says = Some(confirmation.says.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{At, Designed, Sold};
    use crate::report::Report;
    use record::{MeasuredTrial, Resources, ServerTold};

    /// Orders whose sessions did one thing all the time.
    fn orders(at: &At, per_s: f64, doing: &str) -> MeasuredTrial {
        let mut trial = Sold::at("O", &[per_s * at.noise(0.005)]).seconds(8).trial(at.number);
        let reading = |second: usize| {
            let sessions = [(doing.to_owned(), 80)].into();
            let told = ServerTold { looks: 10, sessions, ..ServerTold::default() };
            Resources {
                end_s: second as f64 + 1.0,
                length_s: 1.0,
                told: [("store_1 (postgres)".to_owned(), told)].into(),
                ..Resources::default()
            }
        };
        let seconds = trial.samples.len();
        trial.resources.extend((0..seconds).map(reading));
        at.placed(trial)
    }

    fn report(axis: &str, reference: &str, per_s: [f64; 2], doing: &str) -> Report {
        let study = Designed::blocks(7).axis(axis, &["60", "240"], reference);
        Report::of(&study.study(|at| Some(orders(at, per_s[usize::from(at.level(axis) == "240")], doing))))
    }

    fn said(report: &Report) -> Vec<(Cause, bool, usize)> {
        report.limits.iter().map(|one| (one.cause, one.confirmed, one.trials.len())).collect()
    }

    #[test]
    fn a_likely_cause_is_confirmed_by_what_more_of_its_resource_gains() {
        let found = report("write_iops", "60", [100.0, 300.0], "IO:WALSync");
        assert_eq!(said(&found), [(Cause::LogFlushes, true, 7)]);
        let says = &found.limits[0].says;
        assert!(says.starts_with("confirmed: log flushes (write iops 240 instead of 60: 3.0"), "{says}");
        let strengths: Vec<Strength> = found
            .trials
            .iter()
            .filter_map(|t| t.limited_by.as_ref())
            .map(|limited| limited.strength)
            .collect();
        assert_eq!(strengths.iter().filter(|strength| **strength == Strength::Confirmed).count(), 7);
        assert_eq!(
            strengths.iter().filter(|strength| **strength == Strength::Likely).count(),
            7,
            "of those with more"
        );
        assert!(crate::summary::Summary::of(&found).bottleneck.starts_with("confirmed: log flushes"));
    }

    #[test]
    fn less_of_a_resource_confirms_for_the_trials_that_had_less() {
        let found = report("write_iops", "240", [100.0, 300.0], "IO:WALSync");
        assert_eq!(said(&found), [(Cause::LogFlushes, true, 7)]);
        let less = found.trials.iter().filter(|trial| trial.levels["write_iops"] == "60");
        assert_eq!(less.map(|trial| trial.number).collect::<Vec<u32>>(), found.limits[0].trials);
    }

    #[test]
    fn a_cause_whose_resource_gains_nothing_is_none() {
        let found = report("write_iops", "60", [100.0, 100.2], "IO:WALSync");
        assert_eq!(said(&found), [(Cause::LogFlushes, false, 7)]);
        assert!(found.limits[0].says.ends_with(""), "{}", found.limits[0].says);
        let unknown = found.trials.iter().filter_map(|t| t.limited_by.as_ref());
        assert_eq!(unknown.filter(|limited| limited.strength == Strength::Unknown).count(), 7);
    }

    #[test]
    fn what_sessions_did_not_wait_for_is_not_confirmed_by_any_gain() {
        assert_eq!(said(&report("cpus", "60", [100.0, 300.0], "IO:WALSync")), []);
        assert_eq!(said(&report("write_iops", "60", [100.0, 300.0], "Lock:tuple")), []);
        assert_eq!(said(&report("flush_rows", "60", [100.0, 300.0], "IO:WALSync")), []);
    }
}
