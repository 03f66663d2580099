//! Whether a curve gives less at its last level than at its best one, block by block: it needs no model of the curve.

use serde::{Deserialize, Serialize};

use crate::{BLOCKS_MIN, Better, CandidateLevel, Comparison, Effect, effect, judge, mean};

/// A last level that is worse than the best one.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Falling {
    /// The level with the best mean.
    pub best: f64,
    /// The last level.
    pub last: f64,
    /// Last over best.
    pub effect: Effect,
}

/// That the last level of a curve is worse than its best one, where that is neither the first nor the last: block by block, corrected
/// by Holm's method for all levels that might have been the best, and by at least `smallest`. It takes six blocks. The levels must
/// rise.
#[must_use]
pub fn falling(levels: &[CandidateLevel<'_>], better: Better, smallest: f64) -> Option<Falling> {
    let (last, before) = levels.split_last()?;
    let pairs = |level: &CandidateLevel<'_>| -> Vec<(f64, f64)> {
        let both = level.by_block.iter().zip(last.by_block);
        both.filter_map(|(one, other)| Some(((*one)?, (*other)?))).collect()
    };
    let effects: Vec<Effect> = before.iter().map(|level| effect(&pairs(level))).collect::<Option<_>>()?;
    let means: Vec<f64> = before
        .iter()
        .map(|level| mean(&level.by_block.iter().flatten().copied().collect::<Vec<f64>>()))
        .collect::<Option<_>>()?;
    let order = |a: &f64, b: &f64| match better {
        Better::Higher => a.total_cmp(b),
        Better::Lower => b.total_cmp(a),
    };
    let best = (0..means.len()).max_by(|a, b| order(&means[*a], &means[*b])).filter(|best| *best > 0)?;
    let judged = judge(&effects, smallest, better);
    let is_worse = judged[best].comparison == Comparison::Worse && effects[best].blocks >= BLOCKS_MIN;
    is_worse.then_some(Falling { best: before[best].level, last: last.level, effect: effects[best] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// SPEC SDM 91 (Gunther, "Guerrilla Capacity Planning", 2007): scripts per hour by users.
    const SDM91: [(f64, f64); 7] = [
        (1.0, 64.9),
        (18.0, 995.9),
        (36.0, 1_652.4),
        (72.0, 1_853.2),
        (108.0, 1_828.9),
        (144.0, 1_775.0),
        (216.0, 1_702.2),
    ];

    fn of(curve: &[(f64, f64)], blocks: usize, noise: f64, seed: u64) -> Option<Falling> {
        let mut random = SplitMix64::new(seed);
        let values: Vec<Vec<Option<f64>>> = curve
            .iter()
            .map(|(_, value)| (0..blocks).map(|_| Some(value * (noise * random.normal()).exp())).collect())
            .collect();
        let levels: Vec<CandidateLevel<'_>> = curve
            .iter()
            .zip(&values)
            .map(|((level, _), by_block)| CandidateLevel { level: *level, by_block })
            .collect();
        falling(&levels, Better::Higher, 0.03)
    }

    #[test]
    fn the_published_curve_that_falls_gives_eight_per_cent_less() {
        let found = of(&SDM91, 7, 0.01, 1).unwrap();
        assert_eq!((found.best, found.last), (72.0, 216.0));
        assert!((found.effect.ratio.value - 0.918).abs() < 0.015, "{found:?}");
        assert_eq!(of(&SDM91, 5, 0.01, 1), None, "too few blocks");
    }

    #[test]
    fn what_stays_or_rises_does_not_fall_and_what_falls_from_its_first_level_on_is_told_elsewhere() {
        let flat: Vec<(f64, f64)> = SDM91.iter().map(|(n, _)| (*n, 1_000.0)).collect();
        let false_ones = (0..1_000).filter(|seed| of(&flat, 7, 0.05, *seed).is_some()).count();
        assert!(false_ones <= 30, "{false_ones}");
        let rising: Vec<(f64, f64)> = SDM91.iter().map(|(n, _)| (*n, *n)).collect();
        let falling: Vec<(f64, f64)> = SDM91.iter().map(|(n, _)| (*n, 1.0 / n)).collect();
        assert_eq!(
            (of(&rising, 7, 0.01, 1), of(&falling, 7, 0.01, 1), of(&[], 7, 0.01, 1)),
            (None, None, None)
        );
    }
}
