//! The rules by which later trials are left out.

use std::collections::HashMap;

use record::Window;
use stats::{PTS_WINDOW, first_steady};
use study::{Stop, Trial};

/// Remembers what was measured and says which trials to leave out.
#[derive(Debug)]
pub(crate) struct Rules {
    stop: Stop,
    /// Why a series goes no deeper, by its name.
    ended_series: HashMap<String, String>,
    /// Rounds whose tracked trial was measured, with its rate.
    tracked: Vec<(u32, f64)>,
}

impl Rules {
    pub(crate) fn new(stop: Stop) -> Self {
        Self { stop, ended_series: HashMap::new(), tracked: Vec::new() }
    }

    /// Why a trial is to be left out, if it is.
    pub(crate) fn skip_because(&self, trial: &Trial) -> Option<String> {
        match &self.stop {
            // The reference's second measurement tells the noise, wherever its series ended.
            _ if trial.planned.aa => None,
            // Whether a study is settled is known to whoever compares.
            Stop::Never | Stop::WhenSettled => None,
            Stop::PastLatency(_) => self.ended_series.get(&trial.series).cloned(),
            Stop::WhenSteady => {
                let rates: Vec<f64> = self.tracked.iter().map(|&(_, rate)| rate).collect();
                let window = first_steady(&rates)?;
                let (first, last) = (self.tracked[window - PTS_WINDOW].0, self.tracked[window - 1].0);
                (trial.planned.block > last)
                    .then(|| format!("steady state was reached in rounds {first} to {last}"))
            }
        }
    }

    /// Takes note of a trial that was measured to its end.
    pub(crate) fn measured(&mut self, trial: &Trial, measured: &Window) {
        if trial.planned.aa {
            return;
        }
        if let Stop::PastLatency(tolerance) = &self.stop
            && let Some(mean_us) = measured.operations().latency().mean_us()
            && mean_us > tolerance.ns as f64 / 1e3
        {
            let mean_ms = mean_us / 1e3;
            let reason = format!(
                "with {mean_ms:.1} ms at {} outstanding I/Os, the mean latency exceeded the tolerance of {tolerance}",
                trial.work.job::<disk::Settings>().map_or(0, |job| job.outstanding)
            );
            self.ended_series.insert(trial.series.clone(), reason);
        }
        if trial.tracked
            && let Some(rate_per_s) = measured.rate_per_s()
        {
            self.tracked.push((trial.planned.block, rate_per_s));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::windows::measured;
    use load::Span;
    use study::{Plan, ReadyStudy};

    fn plan(profile: &str) -> Plan {
        Plan::of(&ReadyStudy::named(profile).unwrap().study(false).unwrap()).unwrap()
    }

    #[test]
    fn a_series_ends_past_the_latency_tolerance_and_others_go_on() {
        let plan = plan("sweep");
        let mut rules = Rules::new(Stop::PastLatency(Span::microseconds(20_000)));
        rules.measured(&plan.trials[2], &measured(1, 19_000, None));
        assert_eq!(rules.skip_because(&plan.trials[3]), None);
        rules.measured(&plan.trials[3], &measured(1, 21_000, None));
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
            rules.measured(tracked[round], &measured(rate, 100, None));
        }
        let reason = rules.skip_because(tracked[8]).unwrap();
        assert!(reason.contains("rounds 4 to 8"), "{reason}");
    }

    #[test]
    fn a_round_without_its_tracked_trial_does_not_shift_the_others() {
        let plan = plan("steady");
        let mut rules = Rules::new(Stop::WhenSteady);
        let tracked: Vec<_> = plan.trials.iter().filter(|trial| trial.tracked).collect();
        for round in [0, 2, 3, 4, 5] {
            rules.measured(tracked[round], &measured(300, 100, None));
        }
        let reason = rules.skip_because(tracked[6]).unwrap();
        assert!(reason.contains("rounds 1 to 6"), "{reason}");
    }
}
