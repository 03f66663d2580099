//! By how much a level differs from the reference: the ratio of two figures with its interval.
//!
//! Everything is done on logarithms, so that twice as much and half as much are equally far from no difference.
//! An effect says nothing about whether it matters or is significant among others (see
//! [`judge`](crate::judge)), and nothing about what caused it. No pair is dropped: one that cannot be used
//! leaves no effect at all.

use serde::{Deserialize, Serialize};

use crate::interval::Estimate;
use crate::rank::{Ends, rank_sum_ends, signed_rank_ends};
use crate::student::{t_quantile, t_two_sided};
use crate::{mean, median, standard_deviation};

/// How a level compares with the reference.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Level over reference: 1.96 is 96 % more. The Hodges–Lehmann estimate with its exact interval.
    pub ratio: Estimate,
    /// Blocks that it rests on.
    pub blocks: usize,
    /// Exact confidence of the interval: at least 0.95 from six blocks on. Of fewer blocks it can be less, and
    /// the interval is then the widest that there is.
    pub confidence: f64,
    /// P-value of a t test on the logarithms, for the correction over several levels.
    pub p_value: f64,
    /// Standard deviation of the blocks' log ratios; 0.02 is about 2 %.
    pub deviation: f64,
}

impl Effect {
    /// Whether the interval excludes "no difference".
    #[must_use]
    pub fn excludes_none(&self) -> bool {
        self.ratio.low > 1.0 || self.ratio.high < 1.0
    }

    /// Half of the interval's width as a share: 0.03 where its ends are 3 % from its middle.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        ((self.ratio.high / self.ratio.low).ln() / 2.0).exp_m1()
    }
}

/// Effect from pairs of (reference, level), each measured in the same block.
///
/// The ratio is the exponential of the Hodges–Lehmann estimate of the blocks' log ratios, the median of the
/// means of all pairs of them (J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests",
/// Annals of Mathematical Statistics 34, 1963), with the interval of the exact signed-rank distribution
/// (Hollander and Wolfe, Nonparametric Statistical Methods, 1973, section 3.4; past 200 blocks its normal
/// approximation).
///
/// The p-value is that of the paired t test, not that of the signed-rank test: the latter cannot fall below 2 /
/// 2^blocks, which with seven blocks and eight levels no correction could ever let pass. Ratios that are all
/// alike have a p-value of 0 but for rounding, or of 1 where they are all 1.
///
/// None of fewer than two pairs, where a value is not positive and finite, or where the ratio leaves the range
/// of numbers.
#[must_use]
pub fn effect(pairs: &[(f64, f64)]) -> Option<Effect> {
    if pairs.len() < 2 {
        return None;
    }
    let ratios = log_ratios(pairs)?;
    let (mean, deviation) = (mean(&ratios)?, standard_deviation(&ratios)?);
    let count = ratios.len() as f64;
    let means = ratios.iter().enumerate().flat_map(|(index, one)| {
        let others = &ratios[index..];
        others.iter().map(move |other| f64::midpoint(*one, *other))
    });
    Some(Effect {
        ratio: ratio(sorted(means.collect()), signed_rank_ends(ratios.len()))?,
        blocks: ratios.len(),
        confidence: signed_rank_ends(ratios.len()).confidence,
        p_value: p_value(mean, deviation / count.sqrt(), count - 1.0),
        deviation,
    })
}

/// Effect between two runs that were not interleaved, so that drift between them is part of it.
///
/// The ratio is the exponential of the two-sample Hodges–Lehmann shift of the logarithms, the median of all
/// their differences, with the interval of the exact rank-sum distribution (Hollander and Wolfe, sections 4.3
/// and 4.4; past 2,500 differences its normal approximation). The p-value is that of Welch's t test on the
/// logarithms (B. L. Welch, "The generalization of 'Student's' problem when several different population
/// variances are involved", Biometrika 34, 1947). The deviation is that of a level's value over an unrelated
/// value of the reference; `blocks` is the smaller count.
///
/// None of fewer than two values on a side, where one is not positive and finite, or where the ratio leaves the
/// range of numbers.
#[must_use]
pub fn unpaired_effect(reference: &[f64], level: &[f64]) -> Option<Effect> {
    if reference.len() < 2 || level.len() < 2 {
        return None;
    }
    let logarithms =
        |values: &[f64]| Some(sorted(values.iter().copied().map(logarithm).collect::<Option<Vec<f64>>>()?));
    let (reference, level) = (logarithms(reference)?, logarithms(level)?);
    let shifts = level.iter().flat_map(|to| reference.iter().map(move |from| to - from)).collect();
    let ends = rank_sum_ends(level.len(), reference.len());
    let (squared, of_level) = (standard_deviation(&reference)?.powi(2), standard_deviation(&level)?.powi(2));
    Some(Effect {
        ratio: ratio(sorted(shifts), ends)?,
        blocks: reference.len().min(level.len()),
        confidence: ends.confidence,
        p_value: welch(
            mean(&level)? - mean(&reference)?,
            (squared / reference.len() as f64, reference.len()),
            (of_level / level.len() as f64, level.len()),
        ),
        deviation: (squared + of_level).sqrt(),
    })
}

/// Effect between two runs of different times, where each time by itself shifts all values of a run by a normal log ratio of this
/// standard deviation, as a share: 0.02 is about 2 %.
///
/// A random effect of the session, known beforehand, is added to both means (S. R. Searle, G. Casella and C. E. McCulloch, Variance
/// Components, 1992, section 3.2); the ratio is that of the geometric means, its interval and p-value are those of Welch's t with
/// Satterthwaite's degrees of freedom (F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
/// Biometrics Bulletin 2, 1946), to which the known part adds none.
///
/// None as [`unpaired_effect`], and where the deviation is no number or negative.
#[must_use]
pub fn effect_between_sessions(reference: &[f64], level: &[f64], between: f64) -> Option<Effect> {
    let plain = unpaired_effect(reference, level).filter(|_| between >= 0.0 && between.is_finite())?;
    let logarithms = |values: &[f64]| values.iter().copied().map(logarithm).collect::<Option<Vec<f64>>>();
    let (reference, level) = (logarithms(reference)?, logarithms(level)?);
    let squared_error = |values: &[f64]| Some(standard_deviation(values)?.powi(2) / values.len() as f64);
    let (one, other) = (squared_error(&reference)?, squared_error(&level)?);
    let total = one + other + 2.0 * between.powi(2);
    let squares = one.powi(2) / (reference.len() - 1) as f64 + other.powi(2) / (level.len() - 1) as f64;
    let degrees = if squares > 0.0 { (total.powi(2) / squares).min(1e6) } else { 1e6 };
    let center = mean(&level)? - mean(&reference)?;
    let half_width = t_quantile(0.025, degrees) * total.sqrt();
    let ends = ((center - half_width).exp(), (center + half_width).exp());
    Some(Effect {
        ratio: Estimate::new(center.exp(), ends).filter(|ratio| ratio.low > 0.0)?,
        confidence: 0.95,
        p_value: p_value(center, total.sqrt(), degrees),
        ..plain
    })
}

/// Effect between two single figures, each with the 95 % interval of its own run. What runs of different times differ by is not in it.
///
/// The interval of the ratio has the ends that follow from those of both figures, on logarithms (MOVER; G. Y. Zou and A. Donner,
/// "Construction of confidence limits about effect measures: a general approach", Statistics in Medicine 27, 2008). The p-value takes
/// the same interval for a normal one; `blocks` is 1.
///
/// None where a figure or an end is not positive and finite.
#[must_use]
pub fn effect_of_intervals(reference: Estimate, level: Estimate) -> Option<Effect> {
    /// Two-sided 5 % of the normal distribution.
    const NORMAL: f64 = 1.959_963_984_540_054;
    let sides = |of: Estimate| {
        let (value, low, high) = (logarithm(of.value)?, logarithm(of.low)?, logarithm(of.high)?);
        Some((value, value - low, high - value))
    };
    let ((from, from_below, from_above), (to, to_below, to_above)) = (sides(reference)?, sides(level)?);
    let center = to - from;
    let (below, above) = (to_below.hypot(from_above), to_above.hypot(from_below));
    let error = f64::midpoint(below, above) / NORMAL;
    Some(Effect {
        ratio: Estimate::new(center.exp(), ((center - below).exp(), (center + above).exp()))
            .filter(|ratio| ratio.low > 0.0)?,
        blocks: 1,
        confidence: 0.95,
        p_value: p_value(center, error, 1e6),
        deviation: error,
    })
}

/// Logarithms of level over reference, sorted, so that the order of the blocks cannot even change the rounding.
pub(crate) fn log_ratios(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let log_ratio = |&(reference, level): &(f64, f64)| Some(logarithm(level)? - logarithm(reference)?);
    pairs.iter().map(log_ratio).collect::<Option<Vec<f64>>>().map(sorted)
}

/// P-value of a difference between means whose squared standard errors and counts are given.
fn welch(difference: f64, (one, one_count): (f64, usize), (other, other_count): (f64, usize)) -> f64 {
    let squares = one.powi(2) / (one_count - 1) as f64 + other.powi(2) / (other_count - 1) as f64;
    // Squares of deviations below 1e-154 vanish; one degree of freedom claims least.
    let degrees = if squares > 0.0 { (one + other).powi(2) / squares } else { 1.0 };
    p_value(difference, (one + other).sqrt(), degrees)
}

/// Two-sided p-value of a difference with its standard error.
pub(crate) fn p_value(difference: f64, error: f64, degrees: f64) -> f64 {
    if difference == 0.0 { 1.0 } else { t_two_sided(difference / error, degrees) }
}

/// The median of ordered differences of logarithms and the interval between its ends, as ratios.
fn ratio(differences: Vec<f64>, ends: Ends) -> Option<Estimate> {
    let (low, high) = (differences.get(ends.index)?, differences.get(differences.len() - 1 - ends.index)?);
    let ratio = Estimate::new(median(&differences)?.exp(), (low.exp(), high.exp()))?;
    (ratio.low > 0.0).then_some(ratio)
}

pub(crate) fn logarithm(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// Depression before and after a tranquilizer (Hollander and Wolfe, 1973, table 3.1), an example of R's
    /// wilcox.test.
    const BEFORE: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    #[allow(clippy::approx_constant)] // 3.14 is a reading.
    const AFTER: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

    /// Permeability of a membrane at term and between 12 and 26 weeks (Hollander and Wolfe, 1973, table 4.1),
    /// the other example of R's wilcox.test.
    const AT_TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const EARLIER: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    /// Wear of boys' shoes of two materials (Box, Hunter and Hunter, Statistics for Experimenters, 1978,
    /// section 4.2).
    const WEAR_A: [f64; 10] = [13.2, 8.2, 10.9, 14.3, 10.7, 6.6, 9.5, 10.8, 8.8, 13.3];
    const WEAR_B: [f64; 10] = [14.0, 8.8, 11.2, 14.2, 11.8, 6.4, 9.8, 11.3, 9.3, 13.6];

    #[test]
    fn the_interval_of_a_ratio_follows_from_those_of_both_figures() {
        let estimate = |value: f64, low: f64, high: f64| Estimate { value, low, high };
        // On logarithms 0.3 and 0.4 give 0.5, in either direction.
        let (first, this) =
            (estimate(1.0, (-0.3f64).exp(), 0.4f64.exp()), estimate(2.0, 2.0, 2.0 * 0.3f64.exp()));
        let found = effect_of_intervals(first, this).unwrap();
        close(found.ratio.value, 2.0, 1e-12);
        close(found.ratio.low, 2.0 * (-0.4f64).exp(), 1e-12);
        close(found.ratio.high, 2.0 * (0.3f64.hypot(0.3)).exp(), 1e-12);
        assert_eq!(effect_of_intervals(estimate(0.0, 0.0, 1.0), this), None);
        assert_eq!(effect_of_intervals(estimate(1.0, 0.5, f64::INFINITY), this), None);
        let exact = effect_of_intervals(estimate(1.0, 1.0, 1.0), estimate(2.0, 2.0, 2.0)).unwrap();
        assert!(exact.p_value < 1e-9, "{exact:?}");
    }

    /// Two figures whose intervals each hold in 95 of 100 runs.
    #[test]
    fn the_interval_of_a_ratio_of_two_figures_holds_as_often_as_theirs() {
        let mut random = SplitMix64::new(5);
        let mut run = |deviation: f64| {
            let value: f64 = deviation * random.normal();
            let half = 1.96 * deviation;
            Estimate { value: value.exp(), low: (value - half).exp(), high: (value + half).exp() }
        };
        let holds = (0..4_000).filter(|_| {
            let found = effect_of_intervals(run(0.02), run(0.05)).unwrap();
            found.ratio.low <= 1.0 && 1.0 <= found.ratio.high
        });
        let share = holds.count() as f64 / 4_000.0;
        assert!((0.94..=0.96).contains(&share), "{share}");
    }

    #[track_caller]
    fn close(figure: f64, expected: f64, tolerance: f64) {
        assert!((figure - expected).abs() <= tolerance, "{figure} against {expected}");
    }

    /// Pairs whose log ratios are the differences given.
    fn with_differences(one: &[f64], other: &[f64]) -> Vec<(f64, f64)> {
        one.iter().zip(other).map(|(one, other)| (one.exp(), other.exp())).collect()
    }

    #[test]
    fn published_paired_example_is_reproduced() {
        // R: wilcox.test(depression, conf.int = TRUE): −0.46, −0.786 … −0.010. Confidence 1 − 20/512 by
        // counting.
        let effect = effect(&with_differences(&BEFORE, &AFTER)).unwrap();
        close(effect.ratio.value.ln(), -0.46, 1e-12);
        close(effect.ratio.low.ln(), -0.786, 1e-12);
        close(effect.ratio.high.ln(), -0.010, 1e-12);
        assert_eq!((effect.blocks, effect.confidence), (9, 1.0 - 20.0 / 512.0));
        // scipy.stats.ttest_rel and numpy.std of SciPy 1.17.1 and NumPy 2.4.6.
        close(effect.p_value, 0.016_176_627_434_908_09, 1e-12);
        close(effect.deviation, 0.426_855_492_070_924_6, 1e-12);
    }

    #[test]
    fn ratios_of_another_implementation_are_reproduced() {
        let check = |effect: Effect, [value, low, high]: [f64; 3], deviation: f64, p_value: f64| {
            close(effect.ratio.value, value, 1e-11);
            close(effect.ratio.low, low, 1e-11);
            close(effect.ratio.high, high, 1e-11);
            close(effect.deviation, deviation, 1e-12);
            close(effect.p_value, p_value, 1e-12);
        };
        // Order statistics of the means of all pairs of log ratios, deviation and ttest_1samp of SciPy 1.17.1.
        let pairs: Vec<_> = WEAR_A.into_iter().zip(WEAR_B).collect();
        let ratio = [1.039_546_144_199, 1.010_117_547_964, 1.064_963_070_469];
        check(effect(&pairs).unwrap(), ratio, 0.037_402_653_777_468_8, 0.012_058_728_803_684_4);
        // Those of the differences of the logarithms, and ttest_ind(equal_var=False).
        let unpaired = unpaired_effect(&AT_TERM, &EARLIER).unwrap();
        let ratio = [0.762_330_425_678_481_9, 0.510_344_827_586_206_9, 1.163_461_538_461_538_3];
        check(unpaired, ratio, 0.414_004_541_701_983_3, 0.101_933_785_477_421_3);
    }

    #[test]
    fn published_unpaired_example_is_reproduced() {
        // R: wilcox.test(x, y, conf.int = TRUE) estimates a shift of 0.305, and −0.15 … 0.76 at 95 %.
        let effect = unpaired_effect(&EARLIER.map(f64::exp), &AT_TERM.map(f64::exp)).unwrap();
        close(effect.ratio.value.ln(), 0.305, 1e-12);
        close(effect.ratio.low.ln(), -0.15, 1e-12);
        close(effect.ratio.high.ln(), 0.76, 1e-12);
        assert_eq!(effect.blocks, 5);
        close(effect.confidence, 0.960_039_960_039_960_1, 1e-12);
    }

    #[test]
    fn ratios_that_are_all_alike_are_certain() {
        let same = effect(&[(3.0, 3.0); 7]).unwrap();
        assert_eq!(same.ratio, Estimate { value: 1.0, low: 1.0, high: 1.0 });
        assert_eq!((same.p_value, same.deviation), (1.0, 0.0));
        let double = effect(&[(3.0, 6.0); 7]).unwrap();
        close(double.ratio.value, 2.0, 1e-12);
        assert!(double.p_value < 1e-50 && double.deviation < 1e-12, "{double:?}");
        assert!(unpaired_effect(&[3.0; 7], &[6.0; 7]).unwrap().p_value < 1e-50);
        assert_eq!(unpaired_effect(&[3.0; 7], &[3.0; 7]).unwrap().p_value, 1.0);
    }

    #[test]
    fn few_blocks_have_the_widest_interval_and_its_confidence() {
        for (blocks, confidence) in [(2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.968_75), (7, 0.953_125)] {
            let pairs: Vec<_> = (1..=blocks).map(|block| (1.0, f64::from(block))).collect();
            let effect = effect(&pairs).unwrap();
            assert_eq!(effect.confidence, confidence, "{blocks} blocks");
            assert_eq!(effect.ratio.low == 1.0, blocks <= 6, "{blocks} blocks: {effect:?}");
        }
    }

    #[test]
    fn sessions_that_differ_by_themselves_claim_nothing_false() {
        let share = |blocks: usize, between: f64, assumed: f64| {
            let differs = |seed: &u64| {
                let mut random = SplitMix64::new(*seed);
                let mut session = || {
                    let shift = between * random.normal();
                    (0..blocks).map(|_| (shift + 0.02 * random.normal()).exp()).collect::<Vec<f64>>()
                };
                let (one, other) = (session(), session());
                let effect = effect_between_sessions(&one, &other, assumed).unwrap();
                effect.excludes_none() && effect.p_value < 0.05
            };
            (0..2_000).filter(differs).count() as f64 / 2_000.0
        };
        for blocks in [6, 7, 15] {
            let (known, ignored) = (share(blocks, 0.02, 0.02), share(blocks, 0.02, 0.0));
            assert!(known < 0.06 && ignored > 0.2, "{blocks} blocks: {known} {ignored}");
        }
    }

    #[test]
    fn sessions_without_a_spread_are_welchs() {
        let (one, other) = ([0.80, 0.83, 1.89, 1.04], [1.15, 0.88, 0.90, 0.74, 1.21]);
        let (plain, between) =
            (unpaired_effect(&one, &other).unwrap(), effect_between_sessions(&one, &other, 0.0).unwrap());
        close(plain.p_value, between.p_value, 1e-12);
        assert!(effect_between_sessions(&one, &other, 0.1).unwrap().half_width() > between.half_width());
        assert_eq!(effect_between_sessions(&one, &other, f64::NAN), None);
        assert_eq!(effect_between_sessions(&one, &[1.0], 0.1), None);
    }

    #[test]
    fn what_has_no_ratio_has_no_effect() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(effect(&[(1.0, 2.0), (1.0, bad), (1.0, 2.0)]), None, "{bad}");
            assert_eq!(effect(&[(1.0, 2.0), (bad, 1.0), (1.0, 2.0)]), None, "{bad}");
            assert_eq!(unpaired_effect(&[1.0, bad, 2.0], &[1.0, 2.0]), None, "{bad}");
        }
        assert_eq!(effect(&[(1.0, 2.0)]), None);
        assert_eq!(effect(&[(1e-300, 1e300); 3]), None, "the ratio overflows");
        assert_eq!(effect(&[(1e300, 1e-300); 3]), None, "the ratio vanishes");
        assert_eq!(unpaired_effect(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(unpaired_effect(&[1.0, 2.0], &[]), None);
    }

    #[test]
    fn an_effect_is_read_back() {
        let effect = effect(&[(1.0, 2.0), (1.5, 2.5)]).unwrap();
        let text = serde_json::to_string(&effect).unwrap();
        assert_eq!(serde_json::from_str::<Effect>(&text).unwrap(), effect);
    }

    fn finite(effect: &Effect) -> bool {
        let ratio = effect.ratio;
        let figures = [ratio.value, ratio.low, ratio.high, effect.deviation];
        figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0)
            && (0.0..=1.0).contains(&effect.p_value)
            && (0.0..=1.0).contains(&effect.confidence)
    }

    fn inverse(one: &Effect, other: &Effect) -> bool {
        let is_one = |product: f64| (product - 1.0).abs() < 1e-9;
        is_one(one.ratio.value * other.ratio.value)
            && is_one(one.ratio.low * other.ratio.high)
            && is_one(one.ratio.high * other.ratio.low)
            && (one.p_value - other.p_value).abs() < 1e-9
    }

    fn alike(one: &Effect, other: &Effect) -> bool {
        let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
        near(one.ratio.value, other.ratio.value)
            && near(one.ratio.low, other.ratio.low)
            && near(one.ratio.high, other.ratio.high)
            && (one.p_value - other.p_value).abs() < 1e-9
    }

    proptest! {
        #[test]
        fn swapping_turns_the_ratio_over(
            pairs in prop::collection::vec((0.5f64..100.0, 0.5f64..100.0), 2..30),
            other in prop::collection::vec(0.5f64..100.0, 2..12),
        ) {
            let swapped: Vec<_> = pairs.iter().map(|&(reference, level)| (level, reference)).collect();
            prop_assert!(inverse(&effect(&pairs).unwrap(), &effect(&swapped).unwrap()));
            let one: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            let (there, back) = (unpaired_effect(&one, &other).unwrap(), unpaired_effect(&other, &one).unwrap());
            prop_assert!(inverse(&there, &back), "{there:?} {back:?}");
        }

        #[test]
        fn neither_units_nor_order_matter_and_a_block_may_drift(
            pairs in prop::collection::vec((0.5f64..100.0, 0.5f64..100.0), 2..30),
            factor in 1e-3f64..1e3,
            turn in 0usize..30,
        ) {
            let found = effect(&pairs).unwrap();
            let mut turned = pairs.clone();
            turned.rotate_left(turn % pairs.len());
            prop_assert_eq!(effect(&turned), Some(found));
            let scaled: Vec<_> = (1u8..)
                .zip(&pairs)
                .map(|(block, pair)| (pair.0 * factor * f64::from(block), pair.1 * factor * f64::from(block)))
                .collect();
            prop_assert!(alike(&found, &effect(&scaled).unwrap()));
        }

        #[test]
        fn a_better_level_has_a_greater_ratio(
            pairs in prop::collection::vec((0.5f64..100.0, 0.5f64..100.0), 2..20), gain in 1.001f64..10.0,
        ) {
            let found = effect(&pairs).unwrap();
            let gained: Vec<_> = pairs.iter().map(|pair| (pair.0, pair.1 * gain)).collect();
            let ratio = effect(&gained).unwrap().ratio.value / found.ratio.value;
            prop_assert!((ratio / gain - 1.0).abs() < 1e-9);
        }

        #[test]
        fn any_floats_give_finite_effects_or_none(
            pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 0..12),
            huge in prop::collection::vec((1e-307f64..1e307, 1e-307f64..1e307), 2..12),
        ) {
            let magnitudes: Vec<_> = pairs.iter().map(|pair| (pair.0.abs(), pair.1.abs())).collect();
            let (one, other): (Vec<f64>, Vec<f64>) = magnitudes.iter().copied().unzip();
            for found in [effect(&pairs), effect(&magnitudes), effect(&huge), unpaired_effect(&one, &other)]
                .into_iter()
                .flatten()
            {
                prop_assert!(finite(&found), "{found:?}");
                prop_assert!(found.ratio.low <= found.ratio.value && found.ratio.value <= found.ratio.high);
            }
        }
    }
}
