//! Studies that offer a rate: which combinations held it. One that did not is never a gain, and of those that did the rate itself
//! tells nothing.

use record::{Loop, Setup};

use super::{AxisSeries, ComparedAxis, Point, StudyComparison, axis_words};
use crate::format::listed;
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};
use crate::workloads;

/// What became of the rate that was offered to a combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfferedHeld {
    /// `5,100 records/s`.
    pub(crate) rate: String,
    /// Whether it was held in each block.
    pub(crate) held: bool,
}

/// Of all trials of a combination at one rate; none where no rate was offered, or one could not be judged.
fn of(point: &Point, trials: &[Trial]) -> Option<OfferedHeld> {
    let of_trial = |trial: &Trial| {
        let is_open = trial.setup.as_ref().map(Setup::pacing).is_some_and(|p| matches!(p, Loop::Open { .. }));
        if !is_open || trial.search.is_some() {
            return None;
        }
        let offered = trial.offered_rate.map(|rate| rate.held);
        let held = offered.or_else(|| trial.shown().judged(trial)?.held)?;
        let set_per_s = trial.setup.as_ref().and_then(crate::trial::offered)?;
        Some(OfferedHeld { rate: trial.shown().words().unit.plain(set_per_s), held })
    };
    let of_point = trials.iter().filter(|trial| point.trials.contains(&trial.number));
    let all: Vec<OfferedHeld> = of_point.map(of_trial).collect::<Option<_>>()?;
    let first = all.first()?;
    let is_one_rate = all.iter().all(|other| other.rate == first.rate);
    is_one_rate.then(|| OfferedHeld { held: all.iter().all(|one| one.held), ..first.clone() })
}

/// Tells each combination what became of its rate, and takes back the verdicts that a rate which was offered cannot have.
pub(crate) fn mark(comparison: &mut StudyComparison, trials: &[Trial]) {
    let held: Vec<Option<OfferedHeld>> = comparison.points.iter().map(|point| of(point, trials)).collect();
    let is_rate = workloads::all().any(|(_, shown)| shown.words().rate_metric == comparison.metric.name);
    for (index, point) in comparison.points.iter_mut().enumerate() {
        for gain in &mut point.values.gains {
            let pair = [&held[gain.reference], &held[index]].map(|held| held.as_ref().map(|held| held.held));
            let words = match pair {
                [_, Some(false)] => "rate not held",
                [Some(false), _] => "rate of the reference not held",
                [Some(true), Some(true)] if is_rate => "rate held",
                _ => continue,
            };
            (gain.judged, gain.is_of_held_rate) = (None, true);
            words.clone_into(&mut gain.words);
        }
        point.offered.clone_from(&held[index]);
    }
}

/// `flush rows: 5,100 records/s were held with 40, 100 and 500, and not with 10`; none where no rate was offered.
pub(crate) fn along(
    comparison: &StudyComparison,
    axis: &ComparedAxis,
    series: &AxisSeries,
) -> Option<Verdict> {
    let levels = axis.levels.iter().zip(&series.points);
    let offered: Vec<(&str, &OfferedHeld)> = levels
        .filter_map(|(level, index)| Some((level.as_str(), comparison.points[(*index)?].offered.as_ref()?)))
        .collect();
    let rate = &offered.first()?.1.rate;
    if offered.len() < 2 || offered.iter().any(|(_, other)| other.rate != *rate) {
        return None;
    }
    let with = |held: bool| {
        let levels = offered.iter().filter(|(_, one)| one.held == held).map(|(level, _)| *level);
        levels.collect::<Vec<&str>>()
    };
    let (held, not_held) = (with(true), with(false));
    let told = match (held.is_empty(), not_held.is_empty()) {
        (false, true) => format!("{rate} were held with each of {}", listed(&held)),
        (true, _) => format!("{rate} were held with none of {}", listed(&not_held)),
        (false, false) => {
            format!("{rate} were held with {}, and not with {}", listed(&held), listed(&not_held))
        }
    };
    let setting = if series.setting.is_empty() { String::new() } else { format!("{}, ", series.setting) };
    let sentence = format!("{setting}{}: {told}", axis_words(&axis.name));
    Some(Verdict::new(Level::Finding, HELD, sentence))
}

/// Rule of which levels held the rate that was offered.
pub(crate) const HELD: &str = "rate_held";
