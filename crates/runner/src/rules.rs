//! The rules by which later trials are left out, and by which a trial is not valid.

use std::collections::HashMap;

use disk::Outcome;
use record::{Interval, OperationInterval, Phase};
use stats::{PTS_WINDOW, client_limited, first_steady};
use study::{Stop, Trial};

/// What a trial measured, as far as rules need it. Of constant size.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    all: OperationInterval,
    seconds: f64,
    generator_cpu_us: u64,
    busiest_share_s: f64,
}

impl Measured {
    /// Counts as a report does: rates are those of the window, latencies also of what was in flight at its end.
    pub(crate) fn add(&mut self, interval: &Interval) {
        if interval.phase == Phase::WarmUp {
            return;
        }
        let count = self.all.count;
        for operation in interval.operations.values() {
            self.all.merge(operation);
        }
        if interval.phase == Phase::Drain {
            self.all.count = count;
            return;
        }
        self.seconds += interval.length_s;
        self.generator_cpu_us += interval.generator_cpu_us;
        self.busiest_share_s += interval.generator_busiest_share * interval.length_s;
    }

    pub(crate) fn rate_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.all.count as f64 / self.seconds } else { 0.0 }
    }

    fn mean_latency_ms(&self) -> Option<f64> {
        self.all.latency().mean_us().map(|us| us / 1e3)
    }

    /// Why the figures do not mean what they should, if so: nothing was answered in the window, or an open loop did
    /// not hold its due times by the generator's own fault. In a closed loop a busy load thread makes the figure a
    /// lower bound, which the report says; its due times are nobody's promise.
    pub(crate) fn invalid_because(&self, outcome: Outcome) -> Option<String> {
        if self.all.count == 0 {
            return Some("no operation was answered within the measured window; measure longer".to_owned());
        }
        let lag = self.all.lag.as_ref()?;
        let busiest_share = if self.seconds > 0.0 { self.busiest_share_s / self.seconds } else { 0.0 };
        let capped_share = outcome.capped as f64 / outcome.sent.max(1) as f64;
        let response_p50_us = self.all.response.as_ref().and_then(|response| response.percentile_us(50.0));
        let limits = client_limited(lag.percentile_us(99.0), response_p50_us, busiest_share, capped_share);
        let sentences: Vec<String> = limits.iter().map(ToString::to_string).collect();
        (!sentences.is_empty()).then(|| format!("client-limited: {}", sentences.join("; ")))
    }
}

/// Remembers what was measured and says which trials to leave out.
#[derive(Debug)]
pub(crate) struct Rules {
    stop: Stop,
    /// Why a series goes no deeper, by its name.
    ended_series: HashMap<String, String>,
    /// Rates of the tracked trial, by round.
    tracked: Vec<f64>,
}

impl Rules {
    pub(crate) fn new(stop: Stop) -> Self {
        Self { stop, ended_series: HashMap::new(), tracked: Vec::new() }
    }

    /// Why a trial is to be left out, if it is.
    pub(crate) fn skip_because(&self, trial: &Trial) -> Option<String> {
        match &self.stop {
            Stop::Never => None,
            Stop::PastLatency(_) => self.ended_series.get(&trial.series).cloned(),
            Stop::WhenSteady => {
                let round = first_steady(&self.tracked)?;
                (trial.planned.block as usize > round).then(|| {
                    format!("steady state was reached in rounds {} to {round}", round + 1 - PTS_WINDOW)
                })
            }
        }
    }

    /// Takes note of a trial that was measured to its end.
    pub(crate) fn measured(&mut self, trial: &Trial, measured: &Measured) {
        if let Stop::PastLatency(tolerance) = &self.stop
            && let Some(mean_ms) = measured.mean_latency_ms()
            && mean_ms > tolerance.as_seconds() * 1e3
        {
            let reason = format!(
                "the mean latency was {mean_ms:.1} ms at {} outstanding, past the tolerance of {tolerance}",
                trial.job.outstanding
            );
            self.ended_series.insert(trial.series.clone(), reason);
        }
        if trial.tracked {
            self.tracked.push(measured.rate_per_s());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Span;
    use study::{Plan, Study, profiles};

    fn plan(profile: &str) -> Plan {
        let profile = profiles().into_iter().find(|known| known.name == profile).unwrap();
        let study: Study = profile.study(vec!["/data".into()]);
        Plan::of(&study).unwrap()
    }

    fn measured(count: u64, latency_us: u64) -> Measured {
        let mut measured = Measured { seconds: 1.0, ..Measured::default() };
        measured.all.count = count;
        measured.all.service.record_ns(latency_us * 1_000);
        measured
    }

    #[test]
    fn a_series_ends_past_the_latency_tolerance_and_others_go_on() {
        let plan = plan("sweep");
        let mut rules = Rules::new(Stop::PastLatency(Span::microseconds(20_000)));
        rules.measured(&plan.trials[2], &measured(1, 19_000));
        assert_eq!(rules.skip_because(&plan.trials[3]), None);
        rules.measured(&plan.trials[3], &measured(1, 21_000));
        let reason = rules.skip_because(&plan.trials[4]).unwrap();
        assert!(reason.contains("21.0 ms at 8 outstanding") && reason.contains("20ms"), "{reason}");
        assert_eq!(rules.skip_because(&plan.trials[9]), None, "another block size");
    }

    #[test]
    fn rounds_end_when_the_tracked_trial_is_steady() {
        let plan = plan("steady");
        let mut rules = Rules::new(Stop::WhenSteady);
        let tracked: Vec<_> = plan.trials.iter().filter(|trial| trial.tracked).collect();
        for (round, rate) in [900, 600, 400, 310, 300, 305, 295, 302].into_iter().enumerate() {
            assert_eq!(rules.skip_because(tracked[round]), None, "round {}", round + 1);
            rules.measured(tracked[round], &measured(rate, 100));
        }
        let reason = rules.skip_because(tracked[8]).unwrap();
        assert!(reason.contains("rounds 4 to 8"), "{reason}");
    }

    #[test]
    fn a_late_generator_makes_an_open_loop_invalid() {
        let mut late = measured(1_000, 500);
        let mut lag = record::Latency::new();
        (0..1_000).for_each(|_| lag.record_ns(3_000_000));
        late.all.lag = Some(lag);
        late.all.response = Some(record::Latency::new());
        let in_time = Outcome { sent: 1_000, unsent: 0, capped: 0 };
        let capped = Outcome { capped: 500, ..in_time };
        assert!(late.invalid_because(in_time).unwrap().contains("client-limited"));
        assert!(late.invalid_because(capped).unwrap().contains("50 % of the operations"));
        assert_eq!(measured(1_000, 500).invalid_because(capped), None, "a closed loop has no due times");
    }

    #[test]
    fn a_window_without_an_answer_is_no_result() {
        let nothing = Measured::default().invalid_because(Outcome::default()).unwrap();
        assert!(nothing.contains("measure longer"), "{nothing}");
    }
}
