//! Whether a target held the rate of an open loop: disks and order stores, whose operations are sent one by one.
//!
//! Three conditions, all of which must be met. A historian's rate is judged by its pending records, see `sustained`. Nothing
//! here asks whether the client was the limit: that is asked before.

use crate::theil_sen;

/// Share of the due I/Os of a disk that may be left unsent.
pub const IO_UNSENT_SHARE_MAX: f64 = 0.005;

/// Share of the due orders of an order store that may be left unsent: they are few.
pub const ORDERS_UNSENT_SHARE_MAX: f64 = 0.01;

/// Share of what was due or offered that must be answered or written for a rate to be held.
pub const ACHIEVED_SHARE_MIN: f64 = 0.995;

/// Growth of the arrears that is allowed, as a share of the rate; in an open loop the mean response time grows by as many
/// seconds a second (Little's law).
const GROWTH_SHARE_MAX: f64 = 0.005;

/// Arrears that are nearly nothing: what is due in this time, in seconds.
const LOW_S: f64 = 0.1;

/// Intervals without which there is no growth to speak of.
const INTERVALS_MIN: usize = 3;

/// What was measured of an open loop. Series are of equal length, one value an interval of the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenLoop<'a> {
    /// Operations that fell due in the window.
    pub due: u64,
    /// Operations that were answered in the window.
    pub answered: u64,
    /// Those of them that fell due before the window: what a slow warm-up left.
    pub due_before: u64,
    /// Operations that were due before its end and never sent.
    pub unsent: u64,
    /// Operations that may be in flight at once; so many may be unanswered at the end of the window.
    pub slots: u64,
    /// Length of the window in seconds.
    pub measured_s: f64,
    /// Share of the due operations that may be left unsent.
    pub unsent_share_max: f64,
    /// End of each interval in seconds.
    pub end_s: &'a [f64],
    /// Mean time from due time to answer in each interval, in seconds; NaN where nothing was answered.
    pub response_s: &'a [f64],
}

/// A rate that was not held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotHeld {
    /// Operations a second that were answered.
    pub reached_per_s: f64,
    /// Operations a second that were due.
    pub due_per_s: f64,
    /// Operations that were never sent.
    pub unsent: u64,
    /// Seconds a second by which the response time grew, if it did.
    pub growth: Option<f64>,
}

impl OpenLoop<'_> {
    /// Operations that the rate is of: those of the window. As many as may be in flight at its end were in flight at its begin,
    /// and stand in for them; what the warm-up left besides does not count. Never more than fell due.
    #[must_use]
    pub fn reached(&self) -> u64 {
        let in_flight = self.due_before.min(self.slots);
        (self.answered.saturating_sub(self.due_before) + in_flight).min(self.due)
    }
}

/// That a rate was not held, if so. The inner none of nothing due: there was no rate to hold.
#[must_use]
pub fn held(of: &OpenLoop<'_>) -> Option<Result<(), NotHeld>> {
    if of.due == 0 || of.measured_s <= 0.0 {
        return None;
    }
    let due = of.due as f64;
    let own = of.answered.saturating_sub(of.due_before);
    let behind = ((own + of.slots) as f64) < due * ACHIEVED_SHARE_MIN;
    // Of few operations one may fall due in the very moment in which the window ends.
    let unsent = of.unsent as f64 > (due * of.unsent_share_max).max(1.0);
    let growth = growth(of);
    let not_held = NotHeld {
        reached_per_s: of.reached() as f64 / of.measured_s,
        due_per_s: due / of.measured_s,
        unsent: of.unsent,
        growth,
    };
    Some(if behind || unsent || growth.is_some() { Err(not_held) } else { Ok(()) })
}

/// Arrears that fit into the slots are neither unsent nor missing yet: the response time shows that they grow.
fn growth(of: &OpenLoop<'_>) -> Option<f64> {
    let known = || of.response_s.iter().copied().filter(|response_s| response_s.is_finite());
    let count = known().count();
    if count < INTERVALS_MIN {
        return None;
    }
    let growth = theil_sen(of.end_s, of.response_s).filter(|&growth| growth > GROWTH_SHARE_MAX)?;
    let last_s = known().next_back()?;
    let mean_s = known().sum::<f64>() / count as f64;
    // From half of the mean or less to three halves of it or more, and to what is no longer nearly nothing.
    (growth * of.measured_s >= mean_s && last_s > LOW_S).then_some(growth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A queue of a rate for ten seconds on a device of a capacity, with so many slots.
    fn queue(rate: f64, capacity: f64, slots: u64) -> (u64, u64, u64, Vec<f64>) {
        let seconds = 10.0;
        let answered = (rate.min(capacity) * seconds) as u64;
        let due = (rate * seconds) as u64;
        let unsent = (due - answered).saturating_sub(slots);
        let response = |second: f64| 0.001 + (1.0 - capacity / rate).max(0.0) * second;
        (due, answered, unsent, (0..10).map(|second| response(f64::from(second) + 0.5)).collect())
    }

    fn judged(rate: f64, capacity: f64, slots: u64) -> Result<(), NotHeld> {
        let (due, answered, unsent, response_s) = queue(rate, capacity, slots);
        let end_s: Vec<f64> = (1..=10).map(f64::from).collect();
        held(&OpenLoop {
            due,
            answered,
            due_before: 0,
            unsent,
            slots,
            measured_s: 10.0,
            unsent_share_max: 0.005,
            end_s: &end_s,
            response_s: &response_s,
        })
        .unwrap()
    }

    #[test]
    fn a_rate_below_the_capacity_is_held_and_one_above_is_not() {
        assert_eq!(judged(500.0, 1_000.0, 64), Ok(()));
        assert_eq!(judged(500.0, 500.0, 64), Ok(()));
        let not = judged(500.0, 300.0, 64).unwrap_err();
        assert_eq!((not.reached_per_s, not.due_per_s, not.unsent), (300.0, 500.0, 1_936));
    }

    /// 490 of 500 a second leave 100 unanswered after ten seconds: all of them are in flight.
    #[test]
    fn arrears_that_fit_into_the_slots_are_found_by_the_response_time() {
        let not = judged(500.0, 490.0, 128).unwrap_err();
        assert_eq!(not.unsent, 0);
        assert!((not.growth.unwrap() / 0.02 - 1.0).abs() < 1e-9, "{not:?}");
    }

    fn slow_at_the_end(response_s: &[f64]) -> Option<f64> {
        let end_s: Vec<f64> = (1..=response_s.len()).map(|second| second as f64).collect();
        growth(&OpenLoop {
            due: 100,
            answered: 100,
            due_before: 0,
            unsent: 0,
            slots: 8,
            measured_s: response_s.len() as f64,
            unsent_share_max: 0.01,
            end_s: &end_s,
            response_s,
        })
    }

    #[test]
    fn a_response_time_that_scatters_or_is_short_does_not_grow() {
        assert_eq!(slow_at_the_end(&[0.010, 0.030, 0.060]), None, "nearly nothing is in arrears");
        assert_eq!(slow_at_the_end(&[0.200, 0.260, 0.210, 0.270]), None, "it scatters around a mean");
        assert_eq!(slow_at_the_end(&[0.1, 0.4]), None, "two seconds tell nothing");
        assert_eq!(slow_at_the_end(&[0.1, f64::NAN, 0.5, f64::NAN]), None, "nor do two that are known");
        assert!(slow_at_the_end(&[0.1, 0.4, 0.7]).is_some());
    }

    #[test]
    fn a_single_operation_of_the_last_moment_is_not_missed() {
        let few = OpenLoop {
            due: 20,
            answered: 19,
            due_before: 0,
            unsent: 1,
            slots: 1,
            measured_s: 2.0,
            unsent_share_max: 0.005,
            end_s: &[],
            response_s: &[],
        };
        assert_eq!(held(&few), Some(Ok(())));
        assert!(held(&OpenLoop { unsent: 2, answered: 18, ..few }).unwrap().is_err());
        assert_eq!(held(&OpenLoop { due: 0, answered: 0, unsent: 0, ..few }), None);
    }

    /// 100 a second for ten seconds; 400 were late when the window began. Once, 131 a second were called held of 100.
    #[test]
    fn answers_that_were_due_before_the_window_are_no_rate() {
        let window = OpenLoop {
            due: 1_000,
            answered: 1_310,
            due_before: 310,
            unsent: 0,
            slots: 2,
            measured_s: 10.0,
            unsent_share_max: 0.01,
            end_s: &[],
            response_s: &[],
        };
        assert_eq!((held(&window), window.reached()), (Some(Ok(())), 1_000));
        let steady = OpenLoop { answered: 1_000, due_before: 2, ..window };
        assert_eq!((held(&steady), steady.reached()), (Some(Ok(())), 1_000), "two in flight at both ends");
        // 300 of them are late at its end.
        let behind = OpenLoop { answered: 1_000, due_before: 300, ..window };
        let not = held(&behind).unwrap().unwrap_err();
        assert_eq!((not.reached_per_s, not.due_per_s), (70.2, 100.0));
        assert_eq!(OpenLoop { answered: 1_004, due_before: 0, ..window }.reached(), 1_000);
    }

    proptest! {
        #[test]
        fn more_capacity_never_turns_a_held_rate_into_one_that_is_not(
            rate in 100.0f64..10_000.0, share in 0.2f64..2.0, more in 1.0f64..3.0, slots in 1u64..256,
        ) {
            let capacity = rate * share;
            prop_assert!(judged(rate, capacity, slots).is_err() || judged(rate, capacity * more, slots).is_ok());
        }

        #[test]
        fn a_lack_of_more_than_one_in_a_hundred_is_found(rate in 2_000.0f64..50_000.0, share in 0.1f64..0.985, slots in 1u64..128) {
            prop_assert!(judged(rate, rate * share, slots).is_err());
        }
    }
}
