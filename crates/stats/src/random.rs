//! The random numbers of the bootstraps: splitmix64, seeded by the caller.
//!
//! Good enough to draw resamples and four lines long, so that a verdict computed again in years draws the same
//! numbers. Not for load patterns and not for anything secret.

/// The splitmix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound` by multiplication (Lemire, "Fast random integer generation in an interval", 2019),
    /// without its rejection step: the bias is below bound / 2^64.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Puts values in any order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// A draw from the standard normal distribution (Box and Muller, "A note on the generation of random normal
    /// deviates", 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (radius, angle) = (uniform(self.next()), uniform(self.next()));
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        // Rosetta Code, "Pseudo-random numbers/Splitmix64".
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| random.next()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn every_number_below_the_bound_is_drawn_about_equally_often() {
        let mut random = SplitMix64::new(7);
        let mut drawn = [0u32; 10];
        (0..10_000).for_each(|_| drawn[random.below(10)] += 1);
        assert!(drawn.iter().all(|&count| (900..1100).contains(&count)), "{drawn:?}");
    }
}
