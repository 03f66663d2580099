//! Whether the rate that was offered to a disk or an order store was held. A historian's is judged by its pending records,
//! and a trial that was cut short, is invalid or is older than these counts is not judged.

use record::{Main, MeasuredTrial, Phase, Sample, State};
use serde::Serialize;
use stats::OpenLoop;

use crate::trial::{Figures, Trial};
use crate::verdict::rate;

/// What became of a rate that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OfferedRate {
    /// Whether it was held.
    pub held: bool,
    /// Operations a second that fell due in the window and were answered: never more than fell due.
    pub reached_per_s: f64,
    /// Operations a second that fell due.
    pub due_per_s: f64,
    /// Operations that were due and never sent.
    pub unsent: u64,
    /// Operations that may be in flight at once: outstanding I/Os, or clients.
    pub slots: u64,
    /// Share (0–1) of the operations that fell due while all of these were in flight; none where that is not counted.
    pub waited_share: Option<f64>,
    /// Milliseconds a second by which the response time grew, if it grew without end.
    pub growth_ms_per_s: Option<f64>,
}

/// What became of a rate that was offered to a trial, by the rule of its workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateHeld {
    /// It was held.
    Held,
    /// It was not, for these reasons.
    NotHeld(String),
    /// Nobody knows, for these reasons.
    NotJudged(String),
}

impl Trial {
    /// Whether the rate was held that was offered to it; none where none was, or where nothing is known. A trial that breaks its server
    /// on purpose is not judged by its rate.
    #[must_use]
    pub fn rate_held(&self) -> Option<RateHeld> {
        if self.is_broken_on_purpose() {
            return None;
        }
        if let Some(judged) = self.shown().judged(self) {
            let because = judged.because.join("; ");
            return match judged.held {
                Some(true) => Some(RateHeld::Held),
                Some(false) => Some(RateHeld::NotHeld(because)),
                None => (!because.is_empty()).then_some(RateHeld::NotJudged(because)),
            };
        }
        let offered = self.offered_rate?;
        Some(if offered.held { RateHeld::Held } else { RateHeld::NotHeld(rate::not_held(self)?) })
    }
}

impl OfferedRate {
    pub(crate) fn of(
        measured: &MeasuredTrial,
        main: Option<&Figures>,
        unsent_share_max: Option<f64>,
    ) -> Option<Self> {
        let record = &measured.trial;
        let outcome = record.outcome.as_ref().filter(|_| record.state == State::Complete)?;
        let offered = outcome.offered()?;
        let window: Vec<&Sample> = measured.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        let end_s: Vec<f64> = window.iter().map(|sample| sample.end_s).collect();
        let response_s: Vec<f64> = window.iter().map(|sample| response_s(sample, &record.main)).collect();
        let answered = main.map_or(0, |figures| figures.operations);
        let measured_s: f64 = window.iter().map(|sample| sample.length_s).sum();
        let due_before = window.iter().filter_map(|sample| sample.due_before(&record.main)).sum();
        let open = OpenLoop {
            due: offered.due,
            answered,
            due_before,
            unsent: outcome.unsent(),
            slots: offered.slots,
            measured_s,
            unsent_share_max: unsent_share_max?,
            end_s: &end_s,
            response_s: &response_s,
        };
        let judged = stats::held(&open)?;
        let growth = judged.err().and_then(|not_held| not_held.growth);
        Some(Self {
            held: judged.is_ok(),
            reached_per_s: open.reached() as f64 / measured_s,
            due_per_s: offered.due as f64 / measured_s,
            unsent: outcome.unsent(),
            slots: offered.slots,
            waited_share: offered.waited_share(),
            growth_ms_per_s: growth.map(|growth| growth * 1e3),
        })
    }

    /// Whether so many operations waited for others that the target was behind.
    pub(crate) fn was_behind(&self) -> bool {
        self.waited_share.is_some_and(stats::target_was_behind)
    }
}

/// Mean time from due time to answer, in seconds, of what a trial is about; NaN where nothing was answered.
fn response_s(sample: &Sample, main: &Main) -> f64 {
    let of = main.among(&sample.operations);
    let known = of.filter_map(|(_, operation)| Some((operation.count as f64, operation.latency.mean_us?)));
    let (count, sum_us) = known.fold((0.0, 0.0), |(all, sum), (count, us)| (all + count, sum + count * us));
    sum_us / count / 1e6
}
