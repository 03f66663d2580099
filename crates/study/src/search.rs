//! The rules of a search for the highest rate that is held. The search itself is run by the runner.

use load::{JobError, Phases, Span, Workload};
use record::{Cycle, CycleOf, SearchRules};
use serde::{Deserialize, Serialize};

use crate::mistake::{StudyErrors, in_parameter, one_error};
use crate::work::Work;

/// Warm-up and shortest window of a confirming step, and how many cycles the window holds. What stalls now and then is found so,
/// docs/statistics.md has how surely.
const CONFIRM_WARM_UP: Span = Span::seconds(180);
const CONFIRM_WINDOW_MIN: Span = Span::seconds(360);
const CONFIRM_CYCLES: f64 = 2.0;
/// A step that looks for a rate holds a cycle, unless that is longer than this: the steps that confirm find those.
const PROBE_CYCLE_MAX: Span = Span::seconds(600);
/// Times that a rate must fail until it is given up.
const FAILURES: u32 = 2;
/// Length of a confirming step of a quick look.
const CONFIRM_QUICK: Span = Span::seconds(24);
/// No confirming step can be shorter: a rate is judged by some seconds at least.
const CONFIRM_SHORTEST: Span = Span::seconds(15);

/// Doubling until a rate fails twice, bisecting to the resolution, confirming what is left. The lengths of the steps are the
/// historian's `warm_up` and `duration`, and at least a cycle of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// Records a second of the first step.
    pub start_per_s: f64,
    /// The search ends when the lowest failed rate is at most this much above the highest stable one, in per cent.
    pub resolution_per_cent: f64,
    /// Length of a confirming step, warm-up included; if none, 9 minutes or 3 minutes and two cycles of the server. If it is given,
    /// no step is made longer for a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Span>,
    /// Confirming steps of a rate that must be held.
    pub confirmations: u32,
    /// Of how many; one more than `confirmations` if none, and one where that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmations_of: Option<u32>,
    /// Length of a long step, warm-up included, that a confirmed rate must hold too; there is none unless it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm_for: Option<Span>,
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
            confirmations_of: None,
            confirm_for: None,
            cool_down: Span::seconds(5),
        }
    }
}

impl Search {
    /// A quick look: one short confirmation, no rest, no cycles.
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
                format!("invalid value {confirm}: must be at least {CONFIRM_SHORTEST}"),
            ));
        }
        if let Some(problem) = self.too_short_long_step() {
            return Err(one_error("search.confirm_for", problem));
        }
        if let Some(of) = self.confirmations_of.filter(|&of| of < self.confirmations) {
            let problem =
                format!("invalid value {of}: it cannot be less than confirmations, {}", self.confirmations);
            return Err(one_error("search.confirmations_of", problem));
        }
        for (place, value, low, high) in [
            ("search.start_per_s", self.start_per_s, 1.0, 1e9),
            ("search.resolution_per_cent", self.resolution_per_cent, 0.1, 50.0),
            ("search.confirmations", f64::from(self.confirmations), 1.0, 100.0),
            ("search.confirmations_of", f64::from(self.confirmations_of()), 1.0, 100.0),
        ] {
            if !(low..=high).contains(&value) {
                return Err(one_error(place, format!("invalid value {value}: must be {low} to {high}")));
            }
        }
        Ok(())
    }

    /// A long step that is no longer than those before it would tell nothing.
    fn too_short_long_step(&self) -> Option<String> {
        let confirm = self.confirm.unwrap_or(Span { ns: CONFIRM_WARM_UP.ns + CONFIRM_WINDOW_MIN.ns });
        let long = self.confirm_for.filter(|long| *long <= confirm)?;
        Some(format!(
            "invalid value {long}: must be longer than the earlier confirmation steps, which take {confirm}"
        ))
    }

    fn confirmations_of(&self) -> u32 {
        let one_more = if self.confirmations > 1 { self.confirmations + 1 } else { self.confirmations };
        self.confirmations_of.unwrap_or(one_more)
    }

    /// As they are recorded.
    #[must_use]
    pub fn rules(&self, work: &Work, checkpoint_s: Option<f64>, quick: bool) -> SearchRules {
        let (cycle, lengths) = match self.confirm {
            Some(confirm) => (None, StepLengths::given(work, confirm)),
            None => {
                let cycle = cycle(work, checkpoint_s);
                (Some(cycle), StepLengths::of_cycle(work, cycle))
            }
        };
        let lengths = lengths.with_long(self.confirm_for);
        SearchRules {
            start_per_s: self.start_per_s,
            resolution_share: self.resolution_per_cent / 100.0,
            step_s: lengths.probe.end_ns() as f64 / 1e9,
            confirm_s: lengths.confirm.end_ns() as f64 / 1e9,
            confirmations: self.confirmations,
            confirmations_of: self.confirmations_of(),
            failures: FAILURES,
            cycle,
            confirm_for_s: lengths.long.map(|long| long.end_ns() as f64 / 1e9),
            cool_down_s: self.cool_down.as_seconds(),
            quick,
        }
    }
}

/// The cycle of a work on a server that writes its checkpoints so often.
fn cycle(work: &Work, checkpoint_s: Option<f64>) -> Cycle {
    let purge = work.any().searched().map(|searched| searched.cycle.as_seconds());
    Cycle::of(checkpoint_s, purge)
}

/// Warm-up and window of the steps of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLengths {
    /// Of one that looks for a rate.
    pub probe: Phases,
    /// Of one that confirms it.
    pub confirm: Phases,
    /// Of the long one, if there is one.
    pub long: Option<Phases>,
}

impl StepLengths {
    /// As they are given: a third of a confirming step is warm-up, as of any step.
    #[must_use]
    pub fn given(work: &Work, confirm: Span) -> Self {
        let warm_up_ns = confirm.ns / 3;
        let measure = Span { ns: confirm.ns - warm_up_ns };
        Self {
            probe: work.any().phases(),
            confirm: Phases { warm_up: Span { ns: warm_up_ns }, measure },
            long: None,
        }
    }

    /// Long enough for a cycle.
    #[must_use]
    pub fn of_cycle(work: &Work, cycle: Cycle) -> Self {
        let Phases { warm_up, measure } = work.any().phases();
        let span = |seconds: f64| Span { ns: (seconds * 1e9) as u64 };
        let length = span(cycle.length_s);
        let is_probed = cycle.of != CycleOf::Assumed && length.ns <= PROBE_CYCLE_MAX.ns;
        let probe_ns = if is_probed { measure.ns.max(length.ns) } else { measure.ns };
        let confirm_ns = CONFIRM_WINDOW_MIN.ns.max(span(CONFIRM_CYCLES * cycle.length_s).ns);
        Self {
            probe: Phases { warm_up, measure: Span { ns: probe_ns } },
            confirm: Phases { warm_up: CONFIRM_WARM_UP, measure: Span { ns: confirm_ns } },
            long: None,
        }
    }

    /// With a long step of this length, warm-up included. Its warm-up is that of a confirming step, and its window no shorter.
    #[must_use]
    pub fn with_long(self, length: Option<Span>) -> Self {
        let Phases { warm_up, measure } = self.confirm;
        let window = |length: Span| Span { ns: length.ns.saturating_sub(warm_up.ns).max(measure.ns) };
        Self { long: length.map(|length| Phases { warm_up, measure: window(length) }), ..self }
    }
}
