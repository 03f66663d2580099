//! Values that stand out of others, one by one, and the block that stands out of a comparison.
//!
//! Nothing is removed here: one wild block costs more power than noise does, so a reader has to know of it, and whether it counts is
//! for them to decide.

use serde::{Deserialize, Serialize};

use crate::effect::{effect, logarithm};
use crate::student::t_quantile;
use crate::{mean, median, standard_deviation};

/// Chance that a study of independent, normal blocks names any block as one that stands out.
pub const OUTLIER_CHANCE_MAX: f64 = 0.01;

/// Fewest blocks of which one can stand out: of fewer, the others say too little of what is usual.
const BLOCKS_MIN: usize = 6;

/// A block whose ratio of level to reference stands out of those of the other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutlyingPair {
    /// Its place among the pairs.
    pub at: usize,
    /// How far its ratio is from the middle one of the others, as a share: −0.4 is 40 % less.
    pub off: f64,
    /// The ratio that the other blocks give.
    pub without: f64,
}

/// The block whose log ratio is farther from the others than chance makes it in the given share of comparisons (F. E. Grubbs,
/// "Procedures for detecting outlying observations in samples", Technometrics 11, 1969). Noise with heavy tails has such blocks more
/// often; `docs/statistics.md` says how often.
///
/// None of fewer than six pairs, where none stands out, or where a ratio is not positive and finite.
#[must_use]
pub fn outlying_pair(pairs: &[(f64, f64)], chance: f64) -> Option<OutlyingPair> {
    if pairs.len() < BLOCKS_MIN {
        return None;
    }
    let ratios = pairs
        .iter()
        .map(|&(reference, level)| Some(logarithm(level)? - logarithm(reference)?))
        .collect::<Option<Vec<f64>>>()?;
    let at =
        farthest(&ratios).filter(|found| found.deviations > farthest_by_chance(ratios.len(), chance))?.at;
    let others: Vec<f64> =
        ratios.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, ratio)| *ratio).collect();
    let without: Vec<(f64, f64)> =
        pairs.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, pair)| *pair).collect();
    Some(OutlyingPair {
        at,
        off: (ratios[at] - median(&others)?).exp_m1(),
        without: effect(&without)?.ratio.value,
    })
}

/// A value and how far it is from the mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Farthest {
    pub(crate) at: usize,
    /// In standard deviations of all values.
    pub(crate) deviations: f64,
}

/// The value farthest from the mean; none where values do not vary.
pub(crate) fn farthest(values: &[f64]) -> Option<Farthest> {
    let (center, deviation) = (mean(values)?, standard_deviation(values)?);
    let off = |value: f64| (value - center).abs();
    let at = (0..values.len()).max_by(|one, other| off(values[*one]).total_cmp(&off(values[*other])))?;
    (deviation > 0.0).then(|| Farthest { at, deviations: off(values[at]) / deviation })
}

/// How many standard deviations the farthest of so many normal values is from the mean in this share of samples, at least three.
pub(crate) fn farthest_by_chance(count: usize, chance: f64) -> f64 {
    let n = count.max(3) as f64;
    let t = t_quantile(chance / (2.0 * n), n - 2.0);
    (n - 1.0) * t / ((n - 2.0 + t * t) * n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Pairs of 10 % more with 2 % of noise; the level of the block at `wild` is `times` as much.
    fn pairs(seed: u64, wild: usize, times: f64) -> Vec<(f64, f64)> {
        let mut random = SplitMix64::new(seed);
        let pair = |at: usize| {
            let level = if at == wild { 110.0 * times } else { 110.0 };
            (100.0, level * (0.02 * random.normal()).exp())
        };
        (0..7).map(pair).collect()
    }

    #[test]
    fn limits_are_the_published_ones() {
        // Grubbs and Beck, Technometrics 14, 1972, table 1: two-sided 1 % of 7 and 20 values, one-sided 0.5 %.
        for (count, published) in [(7, 2.139), (20, 3.001)] {
            assert!((farthest_by_chance(count, 0.01) - published).abs() < 2e-3, "{count}");
        }
    }

    #[test]
    fn a_wild_block_is_named_with_what_the_others_say() {
        for seed in 0..20 {
            let found = outlying_pair(&pairs(seed, 3, 0.6), 0.01).unwrap();
            assert_eq!(found.at, 3);
            assert!((found.off + 0.4).abs() < 0.06 && (found.without - 1.1).abs() < 0.04, "{found:?}");
        }
        assert!(outlying_pair(&pairs(1, 2, 1.5), 0.01).is_some_and(|found| found.at == 2 && found.off > 0.4));
    }

    #[test]
    fn usual_blocks_are_named_in_one_of_a_hundred_comparisons() {
        let named = (0..4_000).filter(|seed| outlying_pair(&pairs(*seed, 9, 1.0), 0.01).is_some());
        let named = named.count();
        assert!((20..=60).contains(&named), "{named} of 4000");
    }

    #[test]
    fn few_equal_or_unusable_pairs_name_none() {
        assert_eq!(outlying_pair(&pairs(0, 3, 0.1)[..5], 0.01), None);
        assert_eq!(outlying_pair(&[(100.0, 110.0); 7], 0.01), None);
        let mut zero = pairs(0, 3, 0.6);
        zero[0].1 = 0.0;
        assert_eq!(outlying_pair(&zero, 0.01), None);
    }
}
