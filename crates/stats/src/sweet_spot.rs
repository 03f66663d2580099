//! The sweet spot: the cheapest level that gives almost as much as the best one.
//!
//! "Almost" is decided by the whole interval of the loss, so that a noisy study moves the sweet spot to a dearer level
//! and never to a cheaper one: the level found is the dearest that it can be, and the cheapest one that is not ruled out is told
//! with it. It knows no prices; levels come in the order of their cost. It makes no claim about levels between or beyond those
//! that were measured.

use serde::{Deserialize, Serialize};

use crate::effect::log_ratios;
use crate::judge::SIGNIFICANCE;
use crate::student::t_two_sided;
use crate::{BLOCKS_MIN, Better, Effect, effect, mean, median, standard_deviation};

/// A loss against the best level, as a share, that the sweet spot stays below.
const LOSS_MAX: f64 = 0.05;

/// A level with what was measured there.
#[derive(Clone, Copy, Debug)]
pub struct CandidateLevel<'a> {
    /// Place of the level on the axis of cost, such as a number of cores or a size in bytes.
    pub level: f64,
    /// The figure of each block, none where its trial failed. The same index is the same block at all levels.
    pub by_block: &'a [Option<f64>],
}

/// Where the sweet spot is.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum SweetSpot {
    /// It is this level at most.
    AtMost {
        /// The index of the level among those given.
        level: usize,
        /// The cheapest level that is not ruled out: the same where all cheaper ones are shown to lose 5 % or more.
        lowest: usize,
    },
    /// No level below the largest is shown to be as good: the sweet spot may lie beyond.
    NotReached {
        /// The cheapest level that is not ruled out.
        lowest: usize,
    },
    /// There is one level at most, the levels do not ascend, or a level that would have to be ruled out first
    /// has fewer than six blocks in common with the best one, or a figure that is not positive and finite.
    Unknown,
}

/// The first of ascending levels whose interval against the best level shows less than 5 % loss. The loss is
/// that of the paired [`effect`] over all blocks that both levels have, and the best level is the one with the
/// best median. To be best by luck makes the others look worse and the sweet spot dearer, not cheaper.
///
/// A cheaper level is ruled out where a one-sided paired t test shows that it loses 5 % or more against the best level, at a
/// significance of 5 % over all levels that might have been taken for the best one (Bonferroni; J. C. Hsu, Multiple
/// Comparisons, 1996, chapter 4, on comparisons with the best). So the true sweet spot is ruled out in 5 % of studies at most.
#[must_use]
pub fn sweet_spot(levels: &[CandidateLevel<'_>], better: Better) -> SweetSpot {
    let ascending = levels.windows(2).all(|pair| pair[0].level < pair[1].level);
    let Some(best) = best(levels, better).filter(|_| ascending && levels.len() > 1) else {
        return SweetSpot::Unknown;
    };
    let mut lowest = None;
    for (index, level) in levels.iter().enumerate().take(levels.len() - 1) {
        let Some(pairs) = against(&levels[best], level) else { return SweetSpot::Unknown };
        let Some(effect) = effect(&pairs) else { return SweetSpot::Unknown };
        if lowest.is_none() && !is_ruled_out(&pairs, better, levels.len() - 1) {
            lowest = Some(index);
        }
        if almost_as_good(&effect, better) {
            return SweetSpot::AtMost { level: index, lowest: lowest.unwrap_or(index) };
        }
    }
    SweetSpot::NotReached { lowest: lowest.unwrap_or(levels.len() - 1) }
}

/// Whether a level is shown to lose 5 % or more, by pairs of (best, level).
fn is_ruled_out(pairs: &[(f64, f64)], better: Better, candidates: usize) -> bool {
    let Some(ratios) = log_ratios(pairs) else { return false };
    let (Some(center), Some(deviation)) = (mean(&ratios), standard_deviation(&ratios)) else { return false };
    let beyond = match better {
        Better::Higher => (-LOSS_MAX).ln_1p() - center,
        Better::Lower => center - LOSS_MAX.ln_1p(),
    };
    let t = beyond / (deviation / (ratios.len() as f64).sqrt());
    beyond > 0.0 && t_two_sided(t, (ratios.len() - 1) as f64) / 2.0 * (candidates as f64) < SIGNIFICANCE
}

/// Index of the level with the best median; the first of equal ones. None where a level has no usable figure.
fn best(levels: &[CandidateLevel<'_>], better: Better) -> Option<usize> {
    let figure = |level: &CandidateLevel<'_>| {
        let median = median(&level.by_block.iter().flatten().copied().collect::<Vec<f64>>())?;
        Some(if better == Better::Higher { median } else { -median })
    };
    let figures = levels.iter().map(figure).collect::<Option<Vec<f64>>>()?;
    let greater = |best: usize, index: usize| if figures[index] > figures[best] { index } else { best };
    (0..figures.len()).reduce(greater)
}

/// The best level and another one in the blocks that both have, if these are enough.
fn against(best: &CandidateLevel<'_>, level: &CandidateLevel<'_>) -> Option<Vec<(f64, f64)>> {
    let pairs: Vec<(f64, f64)> = best
        .by_block
        .iter()
        .zip(level.by_block)
        .filter_map(|(best, level)| Some(((*best)?, (*level)?)))
        .collect();
    (pairs.len() >= BLOCKS_MIN).then_some(pairs)
}

fn almost_as_good(effect: &Effect, better: Better) -> bool {
    match better {
        Better::Higher => effect.ratio.low > 1.0 - LOSS_MAX,
        Better::Lower => effect.ratio.high < 1.0 + LOSS_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// Blocks of levels 1, 2, 3, … with the true figures given and noise of a relative deviation.
    fn measured(truth: &[f64], blocks: usize, noise: f64, seed: u64) -> Vec<Vec<Option<f64>>> {
        let mut random = SplitMix64::new(seed);
        let blocks =
            |truth: &f64| (0..blocks).map(|_| Some(truth * (noise * random.normal()).exp())).collect();
        truth.iter().map(blocks).collect()
    }

    fn levels(by_block: &[Vec<Option<f64>>]) -> Vec<CandidateLevel<'_>> {
        (1u32..)
            .zip(by_block)
            .map(|(level, by_block)| CandidateLevel { level: f64::from(level), by_block })
            .collect()
    }

    /// All cheaper levels are ruled out.
    fn at(level: usize) -> SweetSpot {
        SweetSpot::AtMost { level, lowest: level }
    }

    fn not_reached(lowest: usize) -> SweetSpot {
        SweetSpot::NotReached { lowest }
    }

    #[track_caller]
    fn check(truth: &[f64], noise: f64, better: Better, expected: SweetSpot) {
        assert_eq!(sweet_spot(&levels(&measured(truth, 7, noise, 1)), better), expected, "{truth:?}");
    }

    #[test]
    fn sweet_spot_is_the_cheapest_level_that_gives_almost_as_much() {
        let rates = [100.0, 190.0, 350.0, 490.0, 497.0, 500.0];
        check(&rates, 0.001, Better::Higher, at(3));
        let latencies = [10.0, 4.0, 2.05, 2.0, 2.0];
        check(&latencies, 0.001, Better::Lower, at(2));
        check(&[500.0, 480.0, 400.0], 0.001, Better::Higher, at(0));
    }

    #[test]
    fn what_still_grows_at_the_largest_level_has_not_reached_it() {
        check(&[100.0, 200.0, 400.0, 440.0], 0.001, Better::Higher, not_reached(3));
        check(&[10.0, 5.0, 2.0], 0.001, Better::Lower, not_reached(2));
        // A level that might lose 5 % by its interval does not count, though its estimate loses less.
        check(&[100.0, 200.0, 390.0, 400.0], 0.05, Better::Higher, not_reached(2));
    }

    #[test]
    fn what_cannot_be_compared_is_unknown() {
        let good = measured(&[100.0, 200.0, 201.0], 7, 0.001, 1);
        assert_eq!(sweet_spot(&levels(&good), Better::Higher), at(1));
        assert_eq!(sweet_spot(&[], Better::Higher), SweetSpot::Unknown);
        assert_eq!(sweet_spot(&levels(&good[..1]), Better::Higher), SweetSpot::Unknown);
        let mut failing = good.clone();
        failing[1][0] = None;
        assert_eq!(sweet_spot(&levels(&failing), Better::Higher), at(1), "six blocks are enough");
        failing[1][3] = None;
        assert_eq!(sweet_spot(&levels(&failing), Better::Higher), SweetSpot::Unknown, "five are not");
        for bad in [0.0, -1.0, f64::NAN] {
            let mut unusable = good.clone();
            unusable[0][2] = Some(bad);
            assert_eq!(sweet_spot(&levels(&unusable), Better::Higher), SweetSpot::Unknown, "{bad}");
        }
        let mut turned = levels(&good);
        turned.reverse();
        assert_eq!(sweet_spot(&turned, Better::Higher), SweetSpot::Unknown);
    }

    #[test]
    fn a_level_that_really_loses_more_is_hardly_ever_chosen() {
        // The third loses 6 %; its interval would have to miss by chance, in 2.4 % of cases with seven blocks.
        let chosen = (0..1000)
            .filter(|&seed| {
                let study = measured(&[100.0, 300.0, 376.0, 400.0, 400.0], 7, 0.02, seed);
                matches!(sweet_spot(&levels(&study), Better::Higher), SweetSpot::AtMost { level: 0..=2, .. })
            })
            .count();
        assert!(chosen <= 25, "{chosen} of 1,000");
    }

    #[test]
    fn the_true_sweet_spot_is_hardly_ever_ruled_out() {
        // The second loses a little less than 5 % against six that are as good as each other, of which one is best by luck.
        let ruled_out = |seed: &u64| {
            let study = measured(&[50.0, 95.3, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0], 7, 0.03, *seed);
            match sweet_spot(&levels(&study), Better::Higher) {
                SweetSpot::AtMost { lowest, .. } | SweetSpot::NotReached { lowest } => lowest > 1,
                SweetSpot::Unknown => true,
            }
        };
        let wrong = (0..1_000).filter(ruled_out).count();
        assert!(wrong <= 64, "{wrong} of 1,000");
        let study = measured(&[50.0, 97.0, 100.0, 100.0], 7, 0.03, 5);
        let found = sweet_spot(&levels(&study), Better::Higher);
        let lowest = match found {
            SweetSpot::AtMost { lowest, .. } | SweetSpot::NotReached { lowest } => lowest,
            SweetSpot::Unknown => panic!("{found:?}"),
        };
        assert_eq!(lowest, 1, "the half is ruled out, its neighbour is not: {found:?}");
    }

    proptest! {
        #[test]
        fn units_and_order_of_blocks_do_not_matter(
            truth in prop::collection::vec(1.0f64..100.0, 2..6), seed in any::<u64>(), scale in -9i32..9, turn in 0usize..7,
        ) {
            let study = measured(&truth, 7, 0.02, seed);
            let found = sweet_spot(&levels(&study), Better::Higher);
            let mut other = study.clone();
            for by_block in &mut other {
                by_block.rotate_left(turn);
                by_block.iter_mut().flatten().for_each(|figure| *figure *= 2f64.powi(scale));
            }
            prop_assert_eq!(sweet_spot(&levels(&other), Better::Higher), found);
            if let SweetSpot::AtMost { level, lowest } = found {
                prop_assert!(level + 1 < truth.len() && lowest <= level);
            }
        }

        #[test]
        fn any_floats_are_answered(
            study in prop::collection::vec(prop::collection::vec(any::<Option<f64>>(), 0..9), 0..5),
        ) {
            for better in [Better::Higher, Better::Lower] {
                match sweet_spot(&levels(&study), better) {
                    SweetSpot::AtMost { level, lowest } => prop_assert!(lowest <= level && level < study.len()),
                    SweetSpot::NotReached { lowest } => prop_assert!(lowest < study.len()),
                    SweetSpot::Unknown => {}
                }
            }
        }
    }
}
