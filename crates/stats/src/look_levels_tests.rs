//! Levels of repeated looks, by published bounds and by simulated t tests.

use super::*;
use crate::random::SplitMix64;

#[track_caller]
fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let close = found.iter().zip(expected).all(|(one, other)| (one - other).abs() <= tolerance);
    assert!(close, "{found:?} against {expected:?}");
}

/// Bounds of |z| with the same levels, for as many blocks that t is as good as normal.
fn bounds(significance: f64, looks: usize) -> Vec<f64> {
    let looks: Vec<usize> = (1..=looks).map(|look| look * 1_000 / looks).collect();
    levels(significance, &looks).iter().map(|level| normal_quantile(level / 2.0)).collect()
}

#[test]
fn published_bounds_of_many_blocks_are_reproduced() {
    // Two-sided 5 %, the spending function α₁* (D. L. DeMets and K. K. G. Lan, "Interim analysis: the alpha spending function
    // approach", Statistics in Medicine 13, 1994).
    near(&bounds(0.05, 5), &[4.88, 3.36, 2.68, 2.29, 2.03], 0.0081);
}

/// Share of studies without a difference in which the t test of some look is below its level.
fn claims(significance: f64, blocks_max: usize, studies: u64) -> f64 {
    let looks: Vec<usize> = (6..=blocks_max).collect();
    let levels = levels(significance, &looks);
    // Bounds on n (Σx)² / Σx², which rises with |t|, so that no study needs a quantile.
    let bounds: Vec<f64> = looks
        .iter()
        .zip(&levels)
        .map(|(&blocks, level)| {
            let (count, t) = (blocks as f64, crate::student::t_quantile(level / 2.0, (blocks - 1) as f64));
            count * t * t / (t * t + count - 1.0)
        })
        .collect();
    let claims = |study: &u64| {
        let mut random = SplitMix64::new(*study);
        let (mut sum, mut squares) = (0.0, 0.0);
        (1..=blocks_max).any(|block| {
            let ratio = random.normal();
            (sum, squares) = (sum + ratio, squares + ratio * ratio);
            block >= 6 && sum * sum / squares > bounds[block - 6]
        })
    };
    (0..studies).filter(claims).count() as f64 / studies as f64
}

#[test]
fn t_tests_of_few_blocks_claim_what_they_may() {
    const STUDIES: u64 = 40_000;
    for (significance, blocks_max) in [(0.05, 8), (0.05, 20), (0.05, 40), (0.0125, 12), (0.4, 20)] {
        let found = claims(significance, blocks_max, STUDIES);
        let error = (significance * (1.0 - significance) / STUDIES as f64).sqrt();
        assert!((found - significance).abs() < 3.0 * error, "{significance} of {blocks_max}: {found}");
    }
}
