//! What the warm-up of an open loop leaves to its measured window: operations that were due before the window began and were not
//! answered yet. Their response times count. The rate does not: it would be above what was offered.

use record::{Main, MeasuredTrial, Phase, Sample, State};
use serde::Serialize;
use stats::Estimate;

use crate::Buffered;
use crate::trial::Figures;

/// What falls due in so many seconds is nearly nothing.
const LOW_S: f64 = 0.1;
/// Share of what falls due in the window that is too little to matter.
const LOW_SHARE: f64 = 0.005;

/// Operations that were due before the measured window, more than are always in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Backlog {
    /// How many, about.
    pub operations: u64,
    /// Time from the begin of the window until they were answered, in seconds; none if they were not when it ended.
    pub gone_after_s: Option<f64>,
    /// Length of the warm-up in seconds.
    pub warm_up_s: f64,
}

/// The measured window of an open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OpenWindow {
    /// Operations that fell due in it and were accepted.
    due: u64,
    /// Operations that were answered in it.
    answered: u64,
    /// Those of them that were due before it; none in results of before.
    due_before: Option<u64>,
    /// Operations that may be unanswered at any moment though nothing is late: slots, or what flushes hold.
    usual: u64,
    /// Records that were pending at its end, and were written; none where operations are answered one by one.
    pending_last: Option<u64>,
    seconds: f64,
    backlog: Option<Backlog>,
}

impl OpenWindow {
    /// None of a closed loop, and of a trial that did not come to its end.
    pub(crate) fn of(measured: &MeasuredTrial) -> Option<Self> {
        let record = &measured.trial;
        let outcome = record.outcome.as_ref().filter(|_| record.state == State::Complete)?;
        let is_measured = |sample: &&Sample| sample.phase == Phase::Measure;
        let window: Vec<&Sample> = measured.samples.iter().filter(is_measured).collect();
        let seconds: f64 = window.iter().map(|sample| sample.length_s).sum();
        let main = &record.main;
        let answered = window.iter().map(|sample| sample.count_of(main)).sum();
        let due_before = sum(window.iter().map(|sample| sample.due_before(main)));
        let found =
            Self { due: 0, answered, due_before, usual: 0, pending_last: None, seconds, backlog: None };
        let found = match outcome.offered() {
            Some(offered) => Self { due: offered.due, usual: offered.slots, ..found },
            None => {
                let Buffered { due, usual, pending_last } = Buffered::of(record, &window)?;
                Self { due, usual, pending_last: Some(pending_last), ..found }
            }
        };
        let is_whole = seconds > 0.0 && found.due > 0;
        is_whole.then(|| Self { backlog: found.backlog(main, &measured.samples), ..found })
    }

    /// Answered operations that fell due in the window.
    fn own(&self) -> u64 {
        self.answered.saturating_sub(self.due_before.unwrap_or(0))
    }

    /// Operations that the rate is of: those that fell due in the window. What is always in flight stands in for itself at both
    /// ends. Records come in flushes: those that the last flush of the window had not reached, and were written, belong to it.
    pub(crate) fn reached(&self) -> u64 {
        let in_flight = match (self.due_before, self.pending_last) {
            (None, _) => 0,
            (Some(_), Some(pending)) if pending > 0 && pending <= self.usual => pending,
            (Some(due_before), _) => due_before.min(self.usual),
        };
        (self.own() + in_flight).min(self.due)
    }

    /// What was left by the warm-up, if that is more than is left at the end: else the target is behind all the time.
    fn backlog(&self, main: &Main, samples: &[Sample]) -> Option<Backlog> {
        let late = |phase| {
            let of_phase = samples.iter().filter(move |sample| sample.phase == phase);
            of_phase.filter(move |sample| sample.due_before(main).is_some_and(|late| late > 0))
        };
        let drained = sum(late(Phase::Drain).map(|sample| sample.due_before(main)));
        let operations = self.due_before? + drained.unwrap_or(0);
        let left = self.due.saturating_sub(self.own());
        let lots = self.pending_last.map_or(0, |_| self.usual);
        let low = (self.due as f64 / self.seconds * LOW_S).max(self.due as f64 * LOW_SHARE) as u64;
        if operations <= left.saturating_add(lots + low) {
            return None;
        }
        let begin_s = samples.iter().find(|sample| sample.phase == Phase::Measure)?;
        let warm_up_s = begin_s.end_s - begin_s.length_s;
        let last = late(Phase::Measure).next_back().filter(|_| drained.is_none());
        Some(Backlog { operations, gone_after_s: last.map(|last| last.end_s - warm_up_s), warm_up_s })
    }

    pub(crate) fn left_by_warm_up(&self) -> Option<Backlog> {
        self.backlog
    }

    /// Has rates be those of operations that fell due in the window.
    pub(crate) fn adjust(&self, figures: &mut [Figures], main: &Main) {
        if self.answered == 0 {
            return;
        }
        let factor = self.reached() as f64 / self.answered as f64;
        for row in figures.iter_mut().filter(|row| main.has(&row.kind) || row.kind == crate::trial::ALL) {
            row.per_s = row.per_s.map(|per_s| per_s * factor);
            row.mb_per_s = row.mb_per_s.map(|mb_per_s| mb_per_s * factor);
        }
    }

    /// No rate is above what was offered, its interval included.
    pub(crate) fn within(&self, rate: Estimate) -> Estimate {
        let most = (self.due as f64 / self.seconds).max(rate.value);
        Estimate { high: rate.high.min(most), ..rate }
    }
}

/// Records of a second that a rate is of.
pub(crate) fn own_count(sample: &Sample, main: &Main) -> u64 {
    sample.count_of(main).saturating_sub(sample.due_before(main).unwrap_or(0))
}

/// The sum of what was counted; none where nothing was.
fn sum(counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.flatten().reduce(|sum, count| sum + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(due: u64, answered: u64, due_before: Option<u64>) -> OpenWindow {
        OpenWindow { due, answered, due_before, usual: 2, pending_last: None, seconds: 10.0, backlog: None }
    }

    #[test]
    fn a_rate_is_of_what_fell_due_in_the_window() {
        assert_eq!(window(1_000, 1_310, Some(310)).reached(), 1_000);
        assert_eq!(window(1_000, 1_000, Some(2)).reached(), 1_000, "two in flight at both ends");
        assert_eq!(window(1_000, 1_000, Some(300)).reached(), 702, "300 were late at its end too");
        assert_eq!(window(1_000, 1_004, None).reached(), 1_000, "results of before");
        assert_eq!(window(1_000, 640, None).reached(), 640);
    }

    /// Six seconds at 5,100 a second in flushes of 5,000: 5,833 and 5,000 a second were once told.
    #[test]
    fn whole_flushes_are_the_unit_of_a_historian() {
        let of = |answered, due_before, pending| OpenWindow {
            usual: 10_000,
            pending_last: Some(pending),
            seconds: 6.0,
            ..window(30_600, answered, Some(due_before))
        };
        assert_eq!(of(35_000, 4_600, 200).reached(), 30_600);
        assert_eq!(of(30_000, 4_900, 5_500).reached(), 30_600);
        assert_eq!(of(20_000, 4_900, 15_000).reached(), 20_000, "ever more is pending");
    }
}
