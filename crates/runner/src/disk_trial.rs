//! Disk tests: whether one of them is valid, and what an open loop offered.

use record::{BufferUse, DiskOutcome, DiskSetup, Offered, Outcome, Verified, Window};
use stats::{ClientLimit, late_for_limit, target_was_behind, thread_busy};

use crate::judged::{Judged, client_limited, stood_still};

/// What is to be said of a trial that ran, whose latencies are held against this limit in microseconds, if there is one.
pub(crate) fn judged(outcome: DiskOutcome, measured: &Window, limit_us: Option<f64>) -> Judged {
    Judged {
        invalid: invalid_because(measured, &outcome, limit_us),
        failed: outcome.verified.as_ref().and_then(|verified| verified.fault()),
        notes: outcome
            .verified
            .iter()
            .filter(|verified| !verified.is_audited)
            .map(|verified| not_audited(verified))
            .collect(),
        outcome: Outcome::Disk(outcome),
    }
}

/// That not all was read in the end.
fn not_audited(verified: &Verified) -> String {
    format!(
        "The load ended before the last audit. {} of {} pages were checked at least once",
        verified.checked, verified.pages
    )
}

/// What the setup lacks of what was asked for.
pub(crate) fn remark(setup: &DiskSetup) -> Option<String> {
    let BufferUse::Refused(reason) = &setup.buffers else { return None };
    Some(format!("Buffers cannot be registered with the ring ({reason}), so each I/O costs more CPU time"))
}

/// Why a trial's figures do not mean what they should, if so: nothing was answered in the window, the generator stood still,
/// or an open loop did not hold its due times by the generator's own fault. In a closed loop a busy load thread makes the
/// figure a lower bound, which the report says; its due times are nobody's promise. What was sent late because everything
/// that may be in flight was in flight is the device's doing, which is no fault of the figures: whether it held the rate is
/// judged by them.
fn invalid_because(measured: &Window, outcome: &DiskOutcome, limit_us: Option<f64>) -> Option<String> {
    let all = measured.operations();
    if all.count == 0 {
        return Some("no operation completed in the measured window. Measure longer".to_owned());
    }
    let mut limits: Vec<ClientLimit> = stood_still(measured).into_iter().collect();
    if let Some(lag) = &all.lag {
        limits.extend(measured.busiest_share().and_then(thread_busy));
        let response_p50_us = all.response.as_ref().and_then(|response| response.percentile_us(50.0));
        let lag_p99_us = lag.percentile_us(99.0);
        let late = lag_p99_us.and_then(|lag_us| late_for_limit(lag_us, response_p50_us, limit_us));
        let waited_share = outcome.offered.as_ref().and_then(Offered::waited_share);
        limits.extend(late.filter(|_| !waited_share.is_some_and(target_was_behind)));
    }
    let mut sentences: Vec<String> = limits.iter().map(ToString::to_string).collect();
    if !sentences.is_empty() && outcome.unsent > 0 {
        sentences.push(format!("{} planned operations were never sent", outcome.unsent));
    }
    client_limited(&sentences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::windows::{interval, measured};
    use record::{Interval, Pauses, Phase, Workload};

    /// Of an open loop.
    fn open(unsent: u64, waited: u64, sent: u64) -> DiskOutcome {
        let offered = Offered { due: sent + unsent, slots: 4, waited: Some(waited), sent: Some(sent) };
        DiskOutcome { unsent, offered: Some(offered), verified: None }
    }

    #[test]
    fn a_late_generator_makes_an_open_loop_invalid() {
        let late = measured(1_000, 500, Some(3_000));
        let slots_free = open(0, 0, 1_000);
        assert!(
            invalid_because(&late, &slots_free, None)
                .unwrap()
                .contains("client-limited: operations were sent late")
        );
        assert_eq!(invalid_because(&late, &slots_free, Some(2e6)), None, "3 ms are nothing beside 2 s");
        assert_eq!(
            invalid_because(&measured(1_000, 500, None), &DiskOutcome::default(), None),
            None,
            "nothing is due in a closed loop"
        );
    }

    /// A device of 300 I/Os a second was offered 500: all of its outstanding I/Os were in flight, those that fell due waited,
    /// and the client was blamed.
    #[test]
    fn a_device_that_is_behind_is_no_fault_of_the_generator() {
        let late = measured(1_000, 500, Some(3_000));
        let behind = open(600, 500, 1_000);
        assert_eq!(invalid_because(&late, &behind, None), None);
        let mut busy = late;
        busy.add(&Interval { generator_busiest_share: 1.8, ..interval(Phase::Measure, None) });
        let told = invalid_because(&busy, &behind, None).unwrap();
        assert!(told.contains("95% of a CPU") && told.contains("600 planned operations"), "{told}");
    }

    #[test]
    fn a_generator_that_stood_still_makes_any_loop_invalid() {
        let stopped = Pauses { longest_ms: 980.0, sum_ms: 980.0 };
        for lag_us in [None, Some(10)] {
            let mut window = measured(1_000, 500, lag_us);
            window.add(&interval(Phase::Measure, Some(Pauses { longest_ms: 25.0, sum_ms: 25.0 })));
            assert_eq!(
                invalid_because(&window, &DiskOutcome::default(), None),
                None,
                "a scheduler does as much"
            );
            window.add(&interval(Phase::Measure, Some(stopped)));
            let told = invalid_because(&window, &DiskOutcome::default(), None).unwrap();
            assert!(
                told.starts_with("client-limited: the load generator itself stood still for 1005 ms"),
                "{told}"
            );
        }
    }

    /// Damage is what such a test looks for: that it was found is no success.
    #[test]
    fn damage_makes_a_trial_fail() {
        let mut verified = Verified { pages: 10, checked: 4, ..Verified::default() };
        let judge = |verified: &Verified| {
            let outcome =
                DiskOutcome { verified: Some(Box::new(verified.clone())), ..DiskOutcome::default() };
            judged(outcome, &measured(1_000, 500, None), None)
        };
        let sound = judge(&verified);
        assert_eq!(sound.failed, None);
        assert_eq!(
            sound.notes,
            ["The load ended before the last audit. 4 of 10 pages were checked at least once"]
        );
        verified.damage.insert(record::Damage::LostWrite, 1);
        verified.is_audited = true;
        let damaged = judge(&verified);
        assert_eq!(damaged.failed.unwrap(), "1 page is not what was written (1 lost write)");
        assert_eq!(damaged.notes, [""; 0]);
    }

    #[test]
    fn a_window_without_an_answer_is_no_result() {
        let nothing =
            invalid_because(&Window::new(Workload::Disk.main()), &DiskOutcome::default(), None).unwrap();
        assert!(nothing.contains("Measure longer"), "{nothing}");
    }
}
