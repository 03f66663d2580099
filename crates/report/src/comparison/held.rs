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
    /// Blocks in which it was held.
    pub(crate) held: usize,
    /// Blocks in which it was judged.
    pub(crate) judged: usize,
    /// Why it was not judged in others, where that is known.
    pub(crate) unknown_because: Option<String>,
}

impl OfferedHeld {
    /// Whether it was held in each block that was judged; none where they differ, or none was judged.
    fn all(&self) -> Option<bool> {
        match (self.held, self.judged) {
            (_, 0) => None,
            (0, _) => Some(false),
            (held, judged) => (held == judged).then_some(true),
        }
    }

    /// What a comparison says in place of a gain.
    fn words(&self) -> String {
        match (self.all(), self.judged) {
            (Some(true), _) => "sustained".to_owned(),
            (Some(false), _) => "not sustained".to_owned(),
            (None, 0) => "not judged".to_owned(),
            (None, judged) => format!("sustained in {} of {judged} blocks", self.held),
        }
    }
}

/// Of all trials of a combination at one rate; none where no rate was offered.
fn of(point: &Point, trials: &[Trial]) -> Option<OfferedHeld> {
    let of_trial = |trial: &Trial| {
        let is_open = trial.setup.as_ref().map(Setup::pacing).is_some_and(|p| matches!(p, Loop::Open { .. }));
        if !is_open || trial.search.is_some() {
            return None;
        }
        let judged = trial.shown().judged(trial);
        let held = trial.offered_rate.map(|rate| rate.held).or_else(|| judged.as_ref()?.held);
        let unknown_because =
            judged.filter(|one| one.held.is_none()).and_then(|one| one.because.first().cloned());
        if held.is_none() && unknown_because.is_none() {
            return None;
        }
        let set_per_s = trial.setup.as_ref().and_then(crate::trial::offered)?;
        let rate = trial.shown().words().unit.plain(set_per_s);
        let (held, judged) = (usize::from(held == Some(true)), usize::from(held.is_some()));
        Some(OfferedHeld { rate, held, judged, unknown_because })
    };
    let of_point = trials.iter().filter(|trial| point.trials.contains(&trial.number));
    let all: Vec<OfferedHeld> = of_point.map(of_trial).collect::<Option<_>>()?;
    let first = all.first()?;
    let is_one_rate = all.iter().all(|other| other.rate == first.rate);
    is_one_rate.then(|| OfferedHeld {
        rate: first.rate.clone(),
        held: all.iter().map(|one| one.held).sum(),
        judged: all.iter().map(|one| one.judged).sum(),
        unknown_because: all.iter().find_map(|one| one.unknown_because.clone()),
    })
}

/// Tells each combination what became of its rate, and takes back the verdicts that a rate which was offered cannot have.
pub(crate) fn mark(comparison: &mut StudyComparison, trials: &[Trial]) {
    let held: Vec<Option<OfferedHeld>> = comparison.points.iter().map(|point| of(point, trials)).collect();
    let is_rate = workloads::all().any(|(_, shown)| shown.words().rate_metric == comparison.metric.name);
    for (index, point) in comparison.points.iter_mut().enumerate() {
        for gain in &mut point.values.gains {
            let [reference, own] = [&held[gain.reference], &held[index]];
            let is_held = |held: &Option<OfferedHeld>| held.as_ref().map(OfferedHeld::all);
            let words = match (is_held(reference), is_held(own)) {
                (_, Some(Some(false))) => "not sustained".to_owned(),
                (Some(Some(false)), _) => "reference not sustained".to_owned(),
                (Some(_), Some(_)) if is_rate => own.as_ref().map(OfferedHeld::words).unwrap_or_default(),
                _ => continue,
            };
            (gain.judged, gain.is_of_held_rate, gain.words) = (None, true, words);
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
    let told = levels_told(rate, &offered);
    let setting = if series.setting.is_empty() { String::new() } else { format!("{}, ", series.setting) };
    let subject = format!("{setting}{}", axis_words(&axis.name));
    Some(Verdict::new(Level::Finding, HELD, told).about(subject))
}

/// `5,100 records/s were sustained with 40, not with 10`. Levels whose blocks differ, or were not judged, have their own words.
fn levels_told(rate: &str, offered: &[(&str, &OfferedHeld)]) -> String {
    let with = |is_so: &dyn Fn(&OfferedHeld) -> bool| {
        let levels = offered.iter().filter(|(_, one)| is_so(one)).map(|(level, _)| *level);
        levels.collect::<Vec<&str>>()
    };
    let (held, not_held) = (with(&|one| one.all() == Some(true)), with(&|one| one.all() == Some(false)));
    if held.len() + not_held.len() == offered.len() {
        return match (held.is_empty(), not_held.is_empty()) {
            (false, true) => format!("{rate} were sustained with {}", listed(&held)),
            (true, _) => format!("{rate} were not sustained with {}", listed(&not_held)),
            (false, false) => {
                format!("{rate} were sustained with {}, not with {}", listed(&held), listed(&not_held))
            }
        };
    }
    let named = |words: &str, levels: &[&str]| {
        (!levels.is_empty()).then(|| format!("{words} with {}", listed(levels)))
    };
    let differ = offered.iter().filter(|(_, one)| one.judged > 0 && one.all().is_none());
    let differ =
        differ.map(|(level, one)| format!("sustained in {} of {} blocks with {level}", one.held, one.judged));
    let why =
        offered.iter().filter(|(_, one)| one.judged == 0).find_map(|(_, one)| one.unknown_because.as_ref());
    let unknown = named("not judged", &with(&|one| one.judged == 0));
    let unknown = unknown.map(|unknown| unknown + &why.map(|why| format!(" ({why})")).unwrap_or_default());
    let parts = named("sustained", &held).into_iter().chain(named("not sustained", &not_held));
    let parts: Vec<String> = parts.chain(differ).chain(unknown).collect();
    format!("{rate}: {}", parts.join(", "))
}

/// Rule of which levels held the rate that was offered.
pub(crate) const HELD: &str = "rate_held";

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of levels, each with the blocks in which it was held and judged.
    #[track_caller]
    fn check(levels: &[(&str, usize, usize)], told: &str) {
        let of = |(held, judged)| OfferedHeld {
            rate: "5,100 records/s".to_owned(),
            held,
            judged,
            unknown_because: (judged == 0).then(|| "the window holds less than 2 flushes".to_owned()),
        };
        let all: Vec<(&str, OfferedHeld)> =
            levels.iter().map(|&(level, held, judged)| (level, of((held, judged)))).collect();
        let all: Vec<(&str, &OfferedHeld)> = all.iter().map(|(level, one)| (*level, one)).collect();
        assert_eq!(levels_told("5,100 records/s", &all), told);
    }

    #[test]
    fn levels_that_differ_from_block_to_block_are_neither_held_nor_not() {
        check(&[("40", 2, 2), ("100", 2, 2)], "5,100 records/s were sustained with 40, 100");
        check(&[("10", 0, 2), ("40", 2, 2)], "5,100 records/s were sustained with 40, not with 10");
        check(
            &[("40", 2, 2), ("1000", 1, 2), ("5000", 0, 0)],
            "5,100 records/s: sustained with 40, sustained in 1 of 2 blocks with 1000, not judged with 5000 (the window holds less \
             than 2 flushes)",
        );
    }

    #[test]
    fn a_rate_that_was_offered_is_no_gain() {
        let words =
            |held, judged| OfferedHeld { rate: String::new(), held, judged, unknown_because: None }.words();
        assert_eq!(
            [words(2, 2), words(0, 2), words(1, 2), words(0, 0)],
            ["sustained", "not sustained", "sustained in 1 of 2 blocks", "not judged"]
        );
    }
}
