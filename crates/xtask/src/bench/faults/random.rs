//! Random choices that can be repeated: a generator for each case, from the seed, the area and the number of the case.
//!
//! Not for statistics, and for nothing that must be unpredictable.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// SplitMix64: <https://prng.di.unimi.it/splitmix64.c>.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The generator of one case.
    pub(super) fn new(seed: u64, area: &str, case: u32) -> Self {
        let mut mixed = Self(seed ^ hash(area));
        Self(mixed.next() ^ u64::from(case))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to one less than `end`; 0 if `end` is 0. The bias of the remainder is of no matter here.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of several, of which there is at least one.
    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.index(of.len())]
    }

    pub(super) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Uniform, in whole microseconds.
    pub(super) fn moment(&mut self, max: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(max.as_micros()).unwrap_or(u64::MAX)))
    }
}

/// FNV-1a: <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub(super) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// One that nobody asked for.
pub(super) fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ (now.as_secs() & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, area: &str, case: u32) -> [u64; 4] {
        let mut random = Random::new(seed, area, case);
        [(); 4].map(|()| random.next())
    }

    #[test]
    fn the_same_case_makes_the_same_choices_and_another_one_others() {
        let chosen = first(1, "area", 0);
        assert_eq!(chosen, first(1, "area", 0));
        for other in [first(2, "area", 0), first(1, "another", 0), first(1, "area", 1)] {
            assert_ne!(chosen, other);
        }
    }

    #[test]
    fn moments_are_spread_over_the_whole_time() {
        let mut random = Random::new(1, "area", 0);
        let max = Duration::from_secs(1);
        let moments: Vec<Duration> = (0..1000).map(|_| random.moment(max)).collect();
        let below_half = moments.iter().filter(|moment| **moment < max / 2).count();
        assert!((400..600).contains(&below_half), "{below_half}");
        assert!(moments.iter().all(|moment| *moment < max));
    }
}
