//! When operations are due in an open loop. Due times depend on nothing that the target does.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Loop;
use serde::{Deserialize, Serialize};

use crate::Span;

/// How a load thread paces itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// The next operation after the answer and a think time.
    Closed {
        /// Pause of each client after an answer.
        think_time: Span,
    },
    /// Operations due at a rate, evenly spaced.
    Fixed {
        /// Of all threads together.
        rate_per_s: f64,
    },
    /// Operations due at a mean rate with exponential gaps.
    Poisson {
        /// Of all threads together.
        rate_per_s: f64,
    },
}

impl Pacing {
    /// Whether due times are independent of answers.
    #[must_use]
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Closed { .. })
    }

    /// The rate asked for, of all threads together; none in a closed loop.
    #[must_use]
    pub fn rate_per_s(self) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Fixed { rate_per_s } | Self::Poisson { rate_per_s } => Some(rate_per_s),
        }
    }

    /// As it is recorded.
    #[must_use]
    pub fn recorded(self) -> Loop {
        match self {
            Self::Closed { think_time } => Loop::Closed { think_time_us: think_time.ns as f64 / 1e3 },
            Self::Fixed { rate_per_s } => Loop::Open { rate_per_s, poisson: false },
            Self::Poisson { rate_per_s } => Loop::Open { rate_per_s, poisson: true },
        }
    }
}

/// Most due times that are counted one by one, which takes a fraction of a second.
const COUNTED_MAX: f64 = 1e7;

/// Due times of one thread, in rising order, without end.
#[derive(Clone, Debug)]
pub struct Arrivals {
    gap_ns: f64,
    start_ns: f64,
    taken: u64,
    poisson: Option<Xoshiro256PlusPlus>,
    next_ns: u64,
}

impl Arrivals {
    /// The due times of thread `thread` of `threads`; none in a closed loop. Evenly spaced threads interleave.
    #[must_use]
    pub fn of(pacing: Pacing, thread: u32, threads: u32, seed: u64) -> Option<Self> {
        let rate_per_s = pacing.rate_per_s()?;
        let gap_ns = 1e9 * f64::from(threads) / rate_per_s;
        let mut arrivals = match pacing {
            Pacing::Closed { .. } => return None,
            Pacing::Fixed { .. } => Self {
                gap_ns,
                start_ns: gap_ns * f64::from(thread) / f64::from(threads),
                taken: 0,
                poisson: None,
                next_ns: 0,
            },
            Pacing::Poisson { .. } => Self {
                gap_ns,
                start_ns: 0.0,
                taken: 0,
                poisson: Some(Xoshiro256PlusPlus::seed_from_u64(seed)),
                next_ns: 0,
            },
        };
        arrivals.advance();
        Some(arrivals)
    }

    /// When the next operation is due.
    #[inline]
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes the next operation and gives when it was due.
    #[inline]
    pub fn take(&mut self) -> u64 {
        let due_ns = self.next_ns;
        self.advance();
        due_ns
    }

    /// How many operations are due before `end_ns` that were not taken. Of very many random ones, the expected number.
    #[must_use]
    pub fn untaken_before(mut self, end_ns: u64) -> u64 {
        let left = end_ns.saturating_sub(self.next_ns) as f64 / self.gap_ns;
        if left > COUNTED_MAX {
            return left as u64;
        }
        let mut untaken = 0;
        while self.next_ns < end_ns {
            self.advance();
            untaken += 1;
        }
        untaken
    }

    #[inline]
    fn advance(&mut self) {
        match &mut self.poisson {
            // From the count and not from the last due time, so that no rounding adds up.
            None => self.next_ns = (self.start_ns + self.taken as f64 * self.gap_ns) as u64,
            Some(random) => {
                // 53 random bits in (0, 1]: the logarithm stays finite.
                let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
                self.start_ns -= uniform.ln() * self.gap_ns;
                self.next_ns = self.start_ns as u64;
            }
        }
        self.taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn due_in_a_second(pacing: Pacing, threads: u32) -> Vec<u64> {
        let mut due: Vec<u64> = (0..threads)
            .flat_map(|thread| {
                let mut arrivals = Arrivals::of(pacing, thread, threads, u64::from(thread)).unwrap();
                std::iter::from_fn(move || Some(arrivals.take())).take_while(|&due_ns| due_ns < 1_000_000_000)
            })
            .collect();
        due.sort_unstable();
        due
    }

    #[test]
    fn evenly_spaced_threads_interleave() {
        let due = due_in_a_second(Pacing::Fixed { rate_per_s: 1_000.0 }, 4);
        assert_eq!(due.len(), 1_000);
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000), "{due:?}");
    }

    #[test]
    fn no_rounding_adds_up_over_a_day() {
        let mut arrivals = Arrivals::of(Pacing::Fixed { rate_per_s: 300.0 }, 0, 1, 0).unwrap();
        let a_day = 300 * 86_400;
        (0..a_day).for_each(|_| {
            arrivals.take();
        });
        assert_eq!(arrivals.next_ns(), 86_400_000_000_000);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
        let due = due_in_a_second(Pacing::Poisson { rate_per_s: 100_000.0 }, 1);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 10_000.0 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "an exponential's deviation is its mean");
    }

    proptest! {
        #[test]
        fn due_times_rise_and_none_is_lost(rate in 1.0f64..50_000.0, poisson: bool, seed: u64, taken in 0u64..500) {
            let pacing = if poisson { Pacing::Poisson { rate_per_s: rate } } else { Pacing::Fixed { rate_per_s: rate } };
            let mut arrivals = Arrivals::of(pacing, 0, 1, seed).unwrap();
            let all = arrivals.clone().untaken_before(1_000_000_000);
            let mut last_ns = 0;
            let mut before_end = 0;
            for _ in 0..taken {
                let due_ns = arrivals.take();
                prop_assert!(due_ns >= last_ns);
                before_end += u64::from(due_ns < 1_000_000_000);
                last_ns = due_ns;
            }
            prop_assert_eq!(before_end + arrivals.untaken_before(1_000_000_000), all);
        }
    }
}
