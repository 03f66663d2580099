//! The rules by which later trials are left out, and by which a trial is not valid.

use std::collections::HashMap;

use disk::Outcome;
use record::Window;
use stats::{
    ClientLimit, PTS_WINDOW, Stood, first_steady, paused, sent_late, target_was_behind, thread_busy,
};
use study::{Stop, Trial};

/// Why a trial's figures do not mean what they should, if so: nothing was answered in the window, the generator stood still,
/// or an open loop did not hold its due times by the generator's own fault. In a closed loop a busy load thread makes the
/// figure a lower bound, which the report says; its due times are nobody's promise. What was sent late because everything
/// that may be in flight was in flight is the device's doing, which is no fault of the figures: whether it held the rate is
/// judged by them.
pub(crate) fn invalid_because(measured: &Window, outcome: Outcome) -> Option<String> {
    let all = measured.operations();
    if all.count == 0 {
        return Some("no operation was answered within the measured window; measure longer".to_owned());
    }
    let mut limits: Vec<ClientLimit> = stood_still(measured).into_iter().collect();
    if let Some(lag) = &all.lag {
        limits.extend(measured.busiest_share().and_then(thread_busy));
        let response_p50_us = all.response.as_ref().and_then(|response| response.percentile_us(50.0));
        let late = lag.percentile_us(99.0).and_then(|lag_p99_us| sent_late(lag_p99_us, response_p50_us));
        let behind = target_was_behind(outcome.capped as f64 / outcome.sent.max(1) as f64);
        limits.extend(late.filter(|_| !behind));
    }
    let mut sentences: Vec<String> = limits.iter().map(ToString::to_string).collect();
    if !sentences.is_empty() && outcome.unsent > 0 {
        sentences.push(format!("{} operations that were due were never sent", outcome.unsent));
    }
    client_limited(&sentences)
}

/// That the load generator stood still for too long within a window, if it is known.
pub(crate) fn stood_still(measured: &Window) -> Option<ClientLimit> {
    let pauses = measured.pauses()?;
    paused(Stood { longest_ms: pauses.longest_ms, sum_ms: pauses.sum_ms, window_s: measured.seconds() })
}

/// The reason of a trial that is invalid because of its client; none without a sign.
pub(crate) fn client_limited(signs: &[String]) -> Option<String> {
    (!signs.is_empty()).then(|| format!("client-limited: {}", signs.join("; ")))
}

/// Why a trial is invalid whose database somebody else may have changed.
pub(crate) const LOCK_LOST: &str = "the lock on the database was lost, and somebody else took the database up, removed or \
                                   replaced it meanwhile (a note says what was found)";

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
            Stop::Never => None,
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
                "the mean latency was {mean_ms:.1} ms at {} outstanding, past the tolerance of {tolerance}",
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
    use std::collections::BTreeMap;

    use super::*;
    use load::Span;
    use record::{Interval, Latency, OperationInterval, Pauses, Phase, Workload};
    use study::{Plan, ReadyStudy};

    fn plan(profile: &str) -> Plan {
        Plan::of(&ReadyStudy::named(profile).unwrap().study(false).unwrap()).unwrap()
    }

    /// A window of one second with so many operations of a latency; in an open loop also with a lag.
    fn measured(count: u64, latency_us: u64, lag_us: Option<u64>) -> Window {
        let of = |us: u64| {
            let mut latency = Latency::new();
            (0..count).for_each(|_| latency.record_ns(us * 1_000));
            latency
        };
        let operation = OperationInterval {
            count,
            service: of(latency_us),
            response: lag_us.map(|lag_us| of(latency_us + lag_us)),
            lag: lag_us.map(of),
            ..OperationInterval::default()
        };
        let mut window = Window::new(Workload::Disk.main());
        window.add(&Interval {
            end_s: 1.0,
            length_s: 1.0,
            phase: Phase::Measure,
            operations: BTreeMap::from([("read".to_owned(), operation)]),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.1,
            generator_pauses: None,
        });
        window
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

    #[test]
    fn a_late_generator_makes_an_open_loop_invalid() {
        let late = measured(1_000, 500, Some(3_000));
        let slots_free = Outcome { sent: 1_000, ..Outcome::default() };
        assert!(
            invalid_because(&late, slots_free).unwrap().contains("client-limited: operations were sent late")
        );
        assert_eq!(
            invalid_because(&measured(1_000, 500, None), slots_free),
            None,
            "nothing is due in a closed loop"
        );
    }

    /// A device of 300 I/Os a second was offered 500: all of its outstanding I/Os were in flight, those that fell due waited,
    /// and the client was blamed.
    #[test]
    fn a_device_that_is_behind_is_no_fault_of_the_generator() {
        let late = measured(1_000, 500, Some(3_000));
        let behind = Outcome { sent: 1_000, unsent: 600, capped: 500, due: 1_600 };
        assert_eq!(invalid_because(&late, behind), None);
        let mut busy = late;
        busy.add(&Interval { generator_busiest_share: 1.8, ..interval(Phase::Measure, None) });
        let told = invalid_because(&busy, behind).unwrap();
        assert!(told.contains("95 % of a core") && told.contains("600 operations"), "{told}");
    }

    #[test]
    fn a_generator_that_stood_still_makes_any_loop_invalid() {
        let stopped = Pauses { longest_ms: 980.0, sum_ms: 980.0 };
        for lag_us in [None, Some(10)] {
            let mut window = measured(1_000, 500, lag_us);
            window.add(&interval(Phase::Measure, Some(Pauses { longest_ms: 25.0, sum_ms: 25.0 })));
            assert_eq!(invalid_because(&window, Outcome::default()), None, "a scheduler does as much");
            window.add(&interval(Phase::Measure, Some(stopped)));
            let told = invalid_because(&window, Outcome::default()).unwrap();
            assert!(
                told.starts_with("client-limited: the load generator itself stood still for 1005 ms"),
                "{told}"
            );
        }
    }

    /// A second in which nothing was answered.
    fn interval(phase: Phase, generator_pauses: Option<Pauses>) -> Interval {
        Interval {
            end_s: 2.0,
            length_s: 1.0,
            phase,
            operations: BTreeMap::new(),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.1,
            generator_pauses,
        }
    }

    #[test]
    fn a_window_without_an_answer_is_no_result() {
        let nothing = invalid_because(&Window::new(Workload::Disk.main()), Outcome::default()).unwrap();
        assert!(nothing.contains("measure longer"), "{nothing}");
    }
}
