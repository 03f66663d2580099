//! What a study can find before it has run: the gain that so many blocks show, and the blocks that a gain takes.
//!
//! It knows the verdicts of [`judge`](crate::judge()) and normal noise. How much a server scatters is not known to it: that is
//! assumed, or was measured.

use crate::judge::{BLOCKS_MAX, BLOCKS_MIN, SIGNIFICANCE};
use crate::random::SplitMix64;
use crate::rank::signed_rank_ends;
use crate::student::t_quantile;
use crate::{Looks, mean, median, standard_deviation};

/// Share of studies that find what they were planned for.
pub(crate) const POWER: f64 = 0.8;

/// Studies that are drawn to see what they find.
const STUDIES: u64 = 2_000;

/// Past so many blocks estimates are as good as normal, and studies are not drawn.
const DRAWN_BLOCKS_MAX: usize = 40;

/// Least true gain, as a share of the reference, that a study of so many blocks calls better in 80 % of cases.
///
/// `deviation` is that of the log ratios of a level to the reference, about the noise of one trial times √2, or times √1.5
/// where the reference is measured twice. Of `comparisons` along an axis, the one that gains is taken to meet Holm's strictest
/// level. All that the verdict asks is asked: the interval, the test, and an estimate of at least `smallest`.
///
/// Found by drawing studies, whose needed effect each follows from its noise; past 40 blocks from the normal distribution that
/// the Hodges–Lehmann estimate then has, at 3/π of the mean's efficiency (Hodges and Lehmann, 1963).
///
/// None of fewer than six blocks, which make no verdict, or where an argument is no number or negative.
#[must_use]
pub fn detectable(blocks: usize, deviation: f64, smallest: f64, comparisons: usize) -> Option<f64> {
    if blocks < BLOCKS_MIN || !usable(deviation) || !usable(smallest) {
        return None;
    }
    let count = blocks as f64;
    let critical = t_quantile(SIGNIFICANCE / 2.0 / comparisons.max(1) as f64, count - 1.0) / count.sqrt();
    let matters = smallest.ln_1p();
    if blocks > DRAWN_BLOCKS_MAX {
        let error = deviation * (std::f64::consts::FRAC_PI_3 / count).sqrt();
        let shown = critical * count.sqrt() * error;
        return Some((shown.max(matters) + t_quantile(1.0 - POWER, count - 1.0) * error).exp_m1());
    }
    let end = signed_rank_ends(blocks).index;
    let needed = |study: u64| -> Option<f64> {
        let mut random = SplitMix64::new(study);
        let noise: Vec<f64> = (0..blocks).map(|_| deviation * random.normal()).collect();
        let mut means: Vec<f64> = noise
            .iter()
            .enumerate()
            .flat_map(|(index, one)| noise[index..].iter().map(move |other| f64::midpoint(*one, *other)))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let by_test = critical * standard_deviation(&noise)? - mean(&noise)?;
        Some(by_test.max(-means[end]).max(matters - median(&means)?))
    };
    let mut all = (0..STUDIES).map(needed).collect::<Option<Vec<f64>>>()?;
    all.sort_unstable_by(f64::total_cmp);
    Some(all[(POWER * STUDIES as f64) as usize].exp_m1())
}

fn usable(share: f64) -> bool {
    share.is_finite() && share >= 0.0
}

/// Fewest blocks that show a true gain of this share in 80 % of cases, as [`detectable`]. None where a thousand do not, such as
/// of a gain that does not matter.
#[must_use]
pub fn blocks_for(gain: f64, deviation: f64, smallest: f64, comparisons: usize) -> Option<u32> {
    let shows = |blocks: usize| {
        detectable(blocks, deviation, smallest, comparisons).is_some_and(|least| least <= gain)
    };
    let (mut low, mut high) = (BLOCKS_MIN, BLOCKS_MAX + 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if shows(middle) { high = middle } else { low = middle + 1 }
    }
    u32::try_from(low).ok().filter(|_| low <= BLOCKS_MAX)
}

impl Looks {
    /// Least true gain that a study of these looks calls better in 80 % of cases, as [`detectable`]: of what its last look shows
    /// alone, so that the earlier ones only add to it.
    #[must_use]
    pub fn detectable(&self, deviation: f64, smallest: f64, comparisons: usize) -> Option<f64> {
        let blocks = self.blocks_max();
        let level = self.last_level(SIGNIFICANCE / comparisons.max(1) as f64);
        let critical = t_quantile(level / 2.0, (blocks - 1) as f64) / (blocks as f64).sqrt();
        let matters = smallest.ln_1p();
        let needed = |study: u64| -> Option<f64> {
            let mut random = SplitMix64::new(study);
            let noise: Vec<f64> = (0..blocks).map(|_| deviation * random.normal()).collect();
            let mean = mean(&noise)?;
            Some((critical * standard_deviation(&noise)? - mean).max(matters - mean))
        };
        if !usable(deviation) || !usable(smallest) {
            return None;
        }
        let mut all = (0..STUDIES).map(needed).collect::<Option<Vec<f64>>>()?;
        all.sort_unstable_by(f64::total_cmp);
        Some(all.get((POWER * STUDIES as f64) as usize)?.exp_m1())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Better, Comparison, effect, judge};
    use proptest::prelude::*;

    #[test]
    fn four_of_five_studies_find_what_they_were_planned_for() {
        for (blocks, deviation, comparisons) in
            [(6, 0.03, 1), (7, 0.0283, 1), (7, 0.07, 4), (10, 0.07, 1), (60, 0.1, 1)]
        {
            let gain = detectable(blocks, deviation, 0.03, comparisons).unwrap();
            let finds = |study: &u64| {
                let mut random = SplitMix64::new(study + 1_000_000);
                let mut of = |gain: f64| {
                    let pairs: Vec<(f64, f64)> = (0..blocks)
                        .map(|_| (1.0, (1.0 + gain) * (deviation * random.normal()).exp()))
                        .collect();
                    effect(&pairs).unwrap()
                };
                let effects: Vec<_> =
                    (0..comparisons).map(|index| of(if index == 0 { gain } else { 0.0 })).collect();
                judge(&effects, 0.03, Better::Higher)[0].comparison == Comparison::Better
            };
            let found = (0..600).filter(finds).count();
            assert!((450..=525).contains(&found), "{blocks} blocks, {deviation}: {found} of 600, {gain}");
        }
    }

    #[test]
    fn what_cannot_be_planned_has_no_figure() {
        assert_eq!(detectable(5, 0.03, 0.03, 1), None);
        assert_eq!(detectable(7, f64::NAN, 0.03, 1), None);
        assert_eq!(detectable(7, 0.03, -1.0, 1), None);
        assert_eq!(blocks_for(0.02, 0.03, 0.03, 1), None, "does not matter");
        assert_eq!(blocks_for(1.0, 0.03, 0.03, 1), Some(6));
        let none = detectable(7, 0.0, 0.03, 1).unwrap();
        assert!((none - 0.03).abs() < 1e-12, "{none}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn more_noise_takes_more_blocks(
            gain in 0.05f64..0.5, noise in 0.005f64..0.1, comparisons in 1usize..20,
        ) {
            let needed = |noise: f64, comparisons| blocks_for(gain, noise, 0.03, comparisons);
            let (one, noisier, more) = (needed(noise, 1), needed(noise * 1.5, 1), needed(noise, comparisons));
            let count = |blocks: Option<u32>| blocks.unwrap_or(u32::MAX);
            prop_assert!(count(one) <= count(noisier) && count(one) <= count(more));
            if let Some(blocks) = one {
                prop_assert!(detectable(blocks as usize, noise, 0.03, 1).unwrap() <= gain);
            }
        }
    }
}
