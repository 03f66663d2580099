//! The steps of a search: what a step runs, and how it is judged.

use std::time::Duration;

use record::{Outcome, SearchRules, SearchStep, State};
use stats::search::{Held, Next, Search, Steps};
use study::{StepLengths, Work};

use crate::historian::not_held_because;
use crate::trial::Ran;

/// The next step and what it runs; none if the search has ended.
pub(crate) fn next(search: &Search, lengths: &StepLengths, work: &Work) -> Option<(SearchStep, Work)> {
    let (step, phases) = match search.next() {
        Next::Done => return None,
        Next::Probe(rate_per_s) => (SearchStep::Probe { rate_per_s }, lengths.probe),
        Next::Confirm(rate_per_s) => (SearchStep::Confirm { rate_per_s }, lengths.confirm),
        Next::Long(rate_per_s) => (SearchStep::Long { rate_per_s }, lengths.long.unwrap_or(lengths.confirm)),
    };
    // Made anew: a step that is longer than the time between two purges has purges.
    match work.any().at_rate(step.rate_per_s(), phases) {
        Ok(work) => Some((step, work)),
        Err(problems) => unreachable!("the plan checked all but rate and length: {problems:?}"),
    }
}

/// What steps take beyond their own time and rest: emptying tables, draining, checking.
#[derive(Debug, Default)]
pub(crate) struct Beyond {
    steps: u32,
    sum_s: f64,
    longest_s: f64,
}

impl Beyond {
    /// A step that was to take so many seconds, its rest included, took so long.
    pub(crate) fn add(&mut self, planned_s: f64, taken: Duration) {
        let beyond_s = (taken.as_secs_f64() - planned_s).max(0.0);
        self.steps += 1;
        self.sum_s += beyond_s;
        self.longest_s = self.longest_s.max(beyond_s);
    }

    /// What the rest of a search takes if all goes well, and at most, in seconds: each step as much more than its own time as those
    /// so far in the mean, and as the longest of them.
    pub(crate) fn times_s(&self, rules: &SearchRules, search: &Search) -> (f64, f64) {
        let mean_s = self.sum_s / f64::from(self.steps.max(1));
        let time_s = |steps: Steps, beyond_s: f64| rules.time_s(steps) + f64::from(steps.all()) * beyond_s;
        (time_s(search.steps_expected(), mean_s), time_s(search.steps_at_most(), self.longest_s))
    }
}

/// Whether a step held its rate.
pub(crate) fn held(ran: &Ran) -> Held {
    let setup = ran.record.setup.as_ref().and_then(record::Setup::historian);
    let outcome = ran.record.outcome.as_ref().and_then(Outcome::historian);
    let (Some(setup), Some(outcome), State::Complete) = (setup, outcome, ran.record.state) else {
        return Held::Unknown;
    };
    match not_held_because(setup, outcome, &ran.samples, &ran.measured) {
        Some(reasons) if reasons.is_empty() => Held::Yes,
        Some(_) => Held::No,
        None => Held::Unknown,
    }
}

/// Records a second that a step wrote in the second half of its window.
pub(crate) fn written_per_s(ran: &Ran) -> Option<f64> {
    stats::late_rate(&record::written(&ran.samples, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quick search emptied and drained its tables for as long as it measured, and ended minutes after the end that it had told.
    #[test]
    fn what_steps_take_beyond_their_time_is_told_of_those_that_follow() {
        let rules = SearchRules {
            start_per_s: 1_000.0,
            resolution_share: 0.02,
            step_s: 5.0,
            confirm_s: 10.0,
            confirmations: 3,
            confirmations_of: 4,
            failures: 2,
            cycle: None,
            confirm_for_s: None,
            cool_down_s: 1.0,
            quick: true,
        };
        let search = Search::new(rules.decisions());
        let mut beyond = Beyond::default();
        let (expected_s, at_most_s) = beyond.times_s(&rules, &search);
        assert_eq!(expected_s, rules.time_s(search.steps_expected()));
        beyond.add(6.0, Duration::from_secs(7));
        beyond.add(6.0, Duration::from_secs(9));
        beyond.add(6.0, Duration::from_secs(5));
        let number = |steps: Steps| f64::from(steps.all());
        let (expected_now_s, at_most_now_s) = beyond.times_s(&rules, &search);
        assert!((expected_now_s - expected_s - 4.0 / 3.0 * number(search.steps_expected())).abs() < 1e-9);
        assert!((at_most_now_s - at_most_s - 3.0 * number(search.steps_at_most())).abs() < 1e-9);
    }
}
