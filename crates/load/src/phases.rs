//! The phases of a trial and the intervals they are cut into.

use record::Phase;
use serde::{Deserialize, Serialize};

use crate::Span;

/// Length of a full interval.
const INTERVAL_NS: u64 = 1_000_000_000;

/// A warm-up that does not count, a measured window, and what drains after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Length of the warm-up.
    pub warm_up: Span,
    /// Length of the measured window.
    pub measure: Span,
}

impl Phases {
    /// End of the load: nothing is sent from here on.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.warm_up.ns + self.measure.ns
    }

    /// The phase that a moment belongs to.
    #[must_use]
    pub fn at(&self, now_ns: u64) -> Phase {
        if now_ns < self.warm_up.ns {
            Phase::WarmUp
        } else if now_ns < self.end_ns() {
            Phase::Measure
        } else {
            Phase::Drain
        }
    }

    /// End of the interval that begins at `start_ns`: a second later, or earlier where its phase ends. Intervals of
    /// the drain end a second later.
    #[must_use]
    pub fn interval_end_ns(&self, start_ns: u64) -> u64 {
        let second_later = start_ns + INTERVAL_NS;
        match self.at(start_ns) {
            Phase::WarmUp => second_later.min(self.warm_up.ns),
            Phase::Measure => second_later.min(self.end_ns()),
            Phase::Drain => second_later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn intervals_tile_the_phases(warm_up_ms in 0u64..5_000, measure_ms in 1u64..5_000) {
            let phases = Phases {
                warm_up: Span::microseconds(warm_up_ms * 1000),
                measure: Span::microseconds(measure_ms * 1000),
            };
            let mut start_ns = 0;
            let mut measured_ns = 0;
            while start_ns < phases.end_ns() {
                let end_ns = phases.interval_end_ns(start_ns);
                prop_assert!(end_ns > start_ns && end_ns - start_ns <= INTERVAL_NS);
                prop_assert_eq!(phases.at(start_ns), phases.at(end_ns - 1), "an interval is of one phase");
                measured_ns += if phases.at(start_ns) == Phase::Measure { end_ns - start_ns } else { 0 };
                start_ns = end_ns;
            }
            prop_assert_eq!(measured_ns, phases.measure.ns);
            prop_assert_eq!(phases.at(start_ns), Phase::Drain);
        }
    }
}
