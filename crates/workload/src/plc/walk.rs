//! The values of a PLC's registers: each walks at random, and where it is can be told without the way to it.
//!
//! A walk step by step would have to be caught up with after each pause. Instead a value is the sum of several levels,
//! as in midpoint displacement: level *j* takes a random height each 2^j steps, goes straight from one height to the
//! next, and its heights grow with the square root of their distance, as a random walk's do. So values wander far in a
//! long time and little in a short one, and a value costs the same at any time.

use std::time::Duration;

/// Levels of a walk. Beyond 2^16 steps a register stays around where it began.
const LEVELS: u32 = 17;

/// Greatest height of the lowest level.
const HEIGHT: f64 = 8.0;

/// All registers of a PLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Walk {
    seed: u64,
    registers: u32,
    changes_per_s: u32,
}

impl Walk {
    /// `registers` is at least 1.
    pub(super) fn new(seed: u64, registers: u32, changes_per_s: u32) -> Self {
        debug_assert!(registers > 0, "a PLC without registers");
        Self { seed, registers, changes_per_s }
    }

    pub(super) fn registers(&self) -> u32 {
        self.registers
    }

    /// Value of a register so long after the PLC was switched on.
    pub(super) fn value(&self, register: u32, elapsed: Duration) -> u16 {
        let steps = self.steps(register, elapsed);
        let begin = 16_384 + self.hash(register, u32::MAX, 0) % 32_768;
        let wandered: f64 = (0..LEVELS).map(|level| self.height(register, level, steps)).sum();
        // Twice the whole part leaves room for the lowest bit, which makes each step a change.
        let value = begin as i64 / 2 + wandered as i64;
        (2 * value as u64 + steps % 2) as u16
    }

    /// How often a register has changed: changes go round the registers, evenly in time.
    fn steps(&self, register: u32, elapsed: Duration) -> u64 {
        let changes = elapsed.as_nanos() * u128::from(self.changes_per_s) / 1_000_000_000;
        let after_register = (changes as u64).saturating_sub(u64::from(register));
        after_register.div_ceil(u64::from(self.registers))
    }

    /// What one level adds: between its heights before and after.
    fn height(&self, register: u32, level: u32, steps: u64) -> f64 {
        let distance = 1_u64 << level;
        let (number, past) = (steps / distance, (steps % distance) as f64 / distance as f64);
        let at = |number| {
            let bits = self.hash(register, level, number) >> 11;
            bits as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let height = at(number) + (at(number + 1) - at(number)) * past;
        height * HEIGHT * (distance as f64).sqrt()
    }

    /// Bits that look random (the finalizer of SplitMix64; Steele, Lea and Flood, 2014), for each place others.
    fn hash(&self, register: u32, level: u32, number: u64) -> u64 {
        let mut bits =
            self.seed ^ (u64::from(register) << 32 | u64::from(level)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for word in [number, 0] {
            bits = bits.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^= bits >> 31;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn changed(walk: &Walk, before: Duration, after: Duration) -> usize {
        let changed = |register: &u32| walk.value(*register, before) != walk.value(*register, after);
        (0..walk.registers()).filter(changed).count()
    }

    #[test]
    fn as_many_registers_change_each_second_as_were_asked_for() {
        for (registers, changes_per_s) in [(5_000, 5_000), (5_000, 500), (5_000, 1), (5_000, 0), (7, 3)] {
            let walk = Walk::new(1, registers, changes_per_s);
            for second in [0, 1, 59, 3_600, 1_000_000] {
                let (before, after) = (Duration::from_secs(second), Duration::from_secs(second + 1));
                assert_eq!(changed(&walk, before, after), changes_per_s as usize, "{walk:?} at {second} s");
            }
        }
    }

    #[test]
    fn changes_are_spread_over_the_second() {
        let walk = Walk::new(1, 1_000, 1_000);
        for millisecond in [0, 1, 499, 998] {
            let moment = Duration::from_millis(60_000 + millisecond);
            assert_eq!(changed(&walk, moment, moment + Duration::from_millis(1)), 1);
        }
    }

    #[test]
    fn values_wander_farther_in_a_longer_time() {
        let walk = Walk::new(3, 2_000, 2_000);
        let mean_distance = |seconds: u64| {
            let distance = |register| {
                let value = |second| i64::from(walk.value(register, Duration::from_secs(second)));
                (value(1_000 + seconds) - value(1_000)).unsigned_abs()
            };
            (0..walk.registers()).map(distance).sum::<u64>() as f64 / f64::from(walk.registers())
        };
        let distances = [1, 16, 256, 4_096].map(mean_distance);
        for pair in distances.windows(2) {
            // A random walk would go 4 times as far in 16 times the time.
            assert!((2.0..8.0).contains(&(pair[1] / pair[0])), "{distances:?}");
        }
    }

    #[test]
    fn values_follow_from_the_seed() {
        let values = |seed| {
            let walk = Walk::new(seed, 100, 100);
            (0..100).map(|register| walk.value(register, Duration::from_secs(77))).collect::<Vec<_>>()
        };
        assert_eq!(values(1), values(1));
        let same = values(1).iter().zip(values(2)).filter(|(a, b)| **a == *b).count();
        assert!(same < 5, "{same} of 100 values are the same with another seed");
    }

    proptest! {
        // Values stay within 16 bits without wrapping: a step is never a leap.
        #[test]
        fn a_step_is_small(seed: u64, register in 0..65_536_u32, step in 0..1_000_000_000_u64) {
            let walk = Walk::new(seed, 65_536, 65_536);
            let [before, after] =
                [step, step + 1].map(|second| i32::from(walk.value(register, Duration::from_secs(second))));
            prop_assert_ne!(before, after);
            prop_assert!((before - after).abs() < 200, "{} to {}", before, after);
        }
    }
}
