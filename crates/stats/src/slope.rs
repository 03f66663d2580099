//! A slope that a few wild values do not turn.
//!
//! The median of the slopes of all pairs of points (H. Theil, "A rank-invariant method of linear and polynomial
//! regression analysis", 1950; P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of
//! the American Statistical Association 63, 1968). Up to 29 % of the points may lie anywhere before it breaks down. It
//! gives neither an intercept nor an interval: successive seconds resemble each other, and Sen's interval would be too
//! narrow.

use crate::{mean, median};

/// So many points are compared pair by pair, which is half a million slopes.
const POINTS_MAX: usize = 1000;

/// Theil–Sen slope of `y` over `x`, in units of `y` a unit of `x`: the median over all pairs that differ in `x`.
///
/// Exact up to 1,000 points. A longer series is averaged into at most 1,000 bins of equally many successive points
/// first, so that a day of seconds takes no longer than a quarter of an hour; wild values then spoil the whole of
/// their bin. Points beyond the shorter of the two series are left out. None where no two points differ in `x` or
/// where a value is not finite.
#[must_use]
pub(crate) fn theil_sen(x: &[f64], y: &[f64]) -> Option<f64> {
    let length = x.len().min(y.len());
    let (x, y) = (&x[..length], &y[..length]);
    if length <= POINTS_MAX {
        return median(&slopes(x, y)?);
    }
    let bin = length.div_ceil(POINTS_MAX);
    let binned = |values: &[f64]| values.chunks(bin).map(mean).collect::<Option<Vec<f64>>>();
    median(&slopes(&binned(x)?, &binned(y)?)?)
}

/// Slopes of all pairs that differ in `x`; none where a value is not finite.
fn slopes(x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    if !x.iter().chain(y).all(|value| value.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(x.len() * x.len().saturating_sub(1) / 2);
    for later in 0..x.len() {
        for earlier in 0..later {
            if x[later] != x[earlier] {
                slopes.push((y[later] - y[earlier]) / (x[later] - x[earlier]));
            }
        }
    }
    Some(slopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    #[track_caller]
    fn check(x: &[f64], y: &[f64], expected: f64) {
        let slope = theil_sen(x, y).unwrap();
        assert!((slope - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{slope} against {expected}");
    }

    #[test]
    fn slopes_of_another_implementation_are_reproduced() {
        // scipy.stats.theilslopes of SciPy 1.17.1.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.1, 3.9, 6.2, 7.8, 10.1], 1.975);
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        check(&x, &[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0], 0.333_333_333_333_333_3);
        check(
            &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
            &[10.0, 9.0, 9.5, 4.0, -7.0, -22.0],
            -1.033_333_333_333_333_4,
        );
        let x: Vec<f64> = (0..7).map(|second| f64::from(second) + 0.5).collect();
        check(&x, &[100.0, 103.0, 99.0, 5000.0, 104.0, 106.0, 101.0], 0.5);
        check(&[1.0, 1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 2.0, 5.0, 4.0], 1.25);
        let x: Vec<f64> = (40..48).map(f64::from).collect();
        check(&x, &[120.0, 0.0, 40.0, 310.0, 0.0, 80.0, 5.0, 260.0], 1.75);
    }

    #[test]
    fn a_series_without_a_slope_has_none() {
        for (x, y) in [
            (&[][..], &[][..]),
            (&[1.0], &[1.0]),
            (&[1.0, 1.0], &[1.0, 2.0]),
            (&[1.0, 2.0], &[f64::NAN, 2.0]),
            (&[1.0, f64::INFINITY], &[1.0, 2.0]),
            (&[0.0, f64::MAX], &[0.0, f64::NAN]),
        ] {
            assert_eq!(theil_sen(x, y), None, "{x:?} {y:?}");
        }
        check(&[1.0, 2.0, 3.0], &[5.0, 7.0], 2.0);
    }

    #[test]
    fn a_long_series_is_averaged_into_bins_and_keeps_its_slope() {
        let mut random = SplitMix64::new(3);
        for length in [1_000, 1_001, 2_500, 20_000] {
            let x: Vec<f64> = (0..length).map(f64::from).collect();
            let y: Vec<f64> = x.iter().map(|x| 0.25 * x + 3.0 * random.normal()).collect();
            let slope = theil_sen(&x, &y).unwrap();
            assert!((slope - 0.25).abs() < 2e-3, "{length}: {slope}");
        }
        let x: Vec<f64> = (0..4_000).map(f64::from).collect();
        let straight: Vec<f64> = x.iter().map(|x| 7.0 - 2.0 * x).collect();
        check(&x, &straight, -2.0);
    }

    proptest! {
        #[test]
        fn slope_moves_with_the_units(
            points in prop::collection::vec((-1e3f64..1e3, -1e3f64..1e3), 3..40),
            (scale_x, scale_y) in (0.1f64..10.0, -10.0f64..10.0),
            (shift_x, shift_y, tilt) in (-1e3f64..1e3, -1e3f64..1e3, -10.0f64..10.0),
        ) {
            // Neighbours are kept apart, for the slope of two points that nearly coincide is all rounding.
            let x: Vec<f64> = points.iter().enumerate().map(|(i, point)| 3e3 * i as f64 + point.0).collect();
            let y: Vec<f64> = points.iter().map(|point| point.1).collect();
            let before = theil_sen(&x, &y).unwrap();
            let moved_x: Vec<f64> = x.iter().map(|x| scale_x * x + shift_x).collect();
            let moved_y: Vec<f64> =
                x.iter().zip(&y).map(|(x, y)| scale_y * y + shift_y + tilt * scale_x * x).collect();
            let after = theil_sen(&moved_x, &moved_y).unwrap();
            let expected = before * scale_y / scale_x + tilt;
            prop_assert!((after - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{after} against {expected}");
        }

        #[test]
        fn fewer_than_29_in_100_wild_values_do_not_turn_it(
            length in 20usize..120, slope in -50.0f64..50.0, seed in any::<u64>(), wild in -1e9f64..1e9,
        ) {
            let mut random = SplitMix64::new(seed);
            let x: Vec<f64> = (0..length).map(|i| i as f64).collect();
            let mut y: Vec<f64> = x.iter().map(|x| slope * x + random.normal()).collect();
            for _ in 0..length * 28 / 100 {
                y[random.below(length)] = wild;
            }
            // The slope of two sound neighbours is off by the noise of both; the median is within that.
            let found = theil_sen(&x, &y).unwrap();
            prop_assert!((found - slope).abs() < 8.0, "{found} against {slope}");
        }

        #[test]
        fn any_floats_give_a_finite_slope_or_none(
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            prop_assert!(theil_sen(&x, &y).is_none_or(f64::is_finite));
        }
    }
}
