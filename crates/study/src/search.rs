//! The rules of a search for the highest rate that is held. The search itself is run by the runner.

use load::{JobError, Phases, Span, Workload};
use record::SearchRules;
use serde::{Deserialize, Serialize};

use crate::mistake::{StudyErrors, in_parameter, one_error};
use crate::work::Work;

/// Shortest confirming step, and how many of the longest cycles it must hold.
const CONFIRM_MIN: Span = Span::seconds(300);
const CONFIRM_CYCLES: u64 = 5;
/// The same for a quick look.
const CONFIRM_QUICK: Span = Span::seconds(24);
/// No confirming step can be shorter: a rate is judged by some seconds at least.
const CONFIRM_SHORTEST: Span = Span::seconds(15);

/// Doubling until a rate fails, bisecting to the resolution, confirming what is left. The lengths of the steps are the
/// historian's `warm_up` and `duration`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// Records a second of the first step.
    pub start_per_s: f64,
    /// The search ends when the lowest failed rate is at most this much above the highest stable one, in per cent.
    pub resolution_per_cent: f64,
    /// Length of a confirming step, warm-up included; 5 minutes or 5 maintenance intervals if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Span>,
    /// Confirming steps that must all be stable.
    pub confirmations: u32,
    /// Rest between steps.
    pub cool_down: Span,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            start_per_s: 1_000.0,
            resolution_per_cent: 2.0,
            confirm: None,
            confirmations: 3,
            cool_down: Span::seconds(5),
        }
    }
}

impl Search {
    /// A quick look: one short confirmation, no rest.
    #[must_use]
    pub fn quick() -> Self {
        Self { confirm: Some(CONFIRM_QUICK), confirmations: 1, cool_down: Span::ZERO, ..Self::default() }
    }

    /// Refuses what contradicts a search.
    pub(crate) fn check<W: Workload>(&self, settings: &W) -> Result<(), StudyErrors> {
        let contradictions = settings.searched().map(|searched| searched.contradictions).unwrap_or_default();
        if let Some(JobError { parameter, problem }) = contradictions.into_iter().next() {
            return Err(StudyErrors(vec![in_parameter(W::NAME, parameter, problem)]));
        }
        if let Some(confirm) = self.confirm.filter(|&confirm| confirm < CONFIRM_SHORTEST) {
            return Err(one_error(
                "search.confirm",
                format!("cannot be {confirm}: give at least {CONFIRM_SHORTEST}"),
            ));
        }
        for (place, value, low, high) in [
            ("search.start_per_s", self.start_per_s, 1.0, 1e9),
            ("search.resolution_per_cent", self.resolution_per_cent, 0.1, 50.0),
            ("search.confirmations", f64::from(self.confirmations), 1.0, 100.0),
        ] {
            if !(low..=high).contains(&value) {
                return Err(one_error(place, format!("cannot be {value}: give {low} to {high}")));
            }
        }
        Ok(())
    }

    /// Warm-up and window of a confirming step: a third of it is warm-up, as of any step.
    #[must_use]
    pub fn confirm_phases(&self, work: &Work) -> Phases {
        let cycle_ns = work.any().searched().map_or(0, |searched| searched.cycle.ns);
        let longest_ns = CONFIRM_MIN.ns.max(CONFIRM_CYCLES * cycle_ns);
        let total_ns = self.confirm.map_or(longest_ns, |confirm| confirm.ns);
        let warm_up_ns = total_ns / 3;
        Phases { warm_up: Span { ns: warm_up_ns }, measure: Span { ns: total_ns - warm_up_ns } }
    }

    /// As they are recorded.
    #[must_use]
    pub fn rules(&self, work: &Work, quick: bool) -> SearchRules {
        SearchRules {
            start_per_s: self.start_per_s,
            resolution_share: self.resolution_per_cent / 100.0,
            step_s: work.any().phases().end_ns() as f64 / 1e9,
            confirm_s: self.confirm_phases(work).end_ns() as f64 / 1e9,
            confirmations: self.confirmations,
            cool_down_s: self.cool_down.as_seconds(),
            quick,
        }
    }
}
