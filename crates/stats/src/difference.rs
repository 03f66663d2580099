//! By how much the mean of one side differs from that of another, in the unit of the values.
//!
//! For limits that are written in a unit, and for values that may be zero; what is better by how much is a ratio (see
//! [`unpaired_effect`](crate::unpaired_effect)).

use crate::interval::Estimate;
use crate::student::t_quantile;
use crate::{mean, standard_deviation};

/// Mean of the level less mean of the reference, with its 95 % interval, between values that were not interleaved.
///
/// The interval is that of Welch's t with Satterthwaite's degrees of freedom (B. L. Welch, "The generalization of 'Student's'
/// problem when several different population variances are involved", Biometrika 34, 1947). `between` is by how much each time
/// shifts all values of a side, as a share of its mean (standard deviation); it is known beforehand and adds no degrees of freedom,
/// as in [`effect_between_sessions`](crate::effect_between_sessions).
///
/// None of fewer than two values on a side, where one is not finite, and where `between` is no number or negative.
#[must_use]
pub fn difference(reference: &[f64], level: &[f64], between: f64) -> Option<Estimate> {
    if !(between >= 0.0 && between.is_finite()) {
        return None;
    }
    let (from, to) = (mean(reference)?, mean(level)?);
    let squared_error = |values: &[f64]| Some(standard_deviation(values)?.powi(2) / values.len() as f64);
    let (one, other) = (squared_error(reference)?, squared_error(level)?);
    let total = one + other + (between * from).powi(2) + (between * to).powi(2);
    let squares = one.powi(2) / (reference.len() - 1) as f64 + other.powi(2) / (level.len() - 1) as f64;
    let degrees = if squares > 0.0 { (total.powi(2) / squares).min(1e6) } else { 1e6 };
    around(to - from, t_quantile(0.025, degrees) * total.sqrt())
}

/// The same between two sides of several runs, each of another time, of which the run is the unit: a run counts by the mean of
/// its values, and the variance is pooled over the sides, as in [`effect_of_sessions`](crate::effect_of_sessions).
///
/// None without a run on a side, of fewer than three runs in all, and where a run has no value or one that is not finite.
#[must_use]
pub fn difference_of_sessions(reference: &[Vec<f64>], level: &[Vec<f64>]) -> Option<Estimate> {
    let of_side = |runs: &[Vec<f64>]| runs.iter().map(|run| mean(run)).collect::<Option<Vec<f64>>>();
    let (reference, level) = (of_side(reference)?, of_side(level)?);
    let (from, to) = (mean(&reference)?, mean(&level)?);
    let freedom = (reference.len() + level.len()).checked_sub(2).filter(|&freedom| freedom > 0)? as f64;
    let squares = |values: &[f64], mean: f64| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let variance = (squares(&reference, from) + squares(&level, to)) / freedom;
    let error = (variance * (1.0 / reference.len() as f64 + 1.0 / level.len() as f64)).sqrt();
    around(to - from, t_quantile(0.025, freedom) * error)
}

fn around(center: f64, half_width: f64) -> Option<Estimate> {
    Estimate::new(center, (center - half_width, center + half_width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleep that two drugs gained ("Student", 1908), an example of R's t.test.
    const ONE: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const OTHER: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn runs(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|value| vec![value - 1.0, value + 1.0]).collect()
    }

    #[test]
    fn the_published_example_is_reproduced() {
        // R: t.test(extra ~ group, data = sleep): −3.3654832 … 0.2054832; with var.equal = TRUE: −3.363874 … 0.203874.
        let welch = difference(&OTHER, &ONE, 0.0).unwrap();
        assert!((welch.value + 1.58).abs() < 1e-9, "{welch:?}");
        assert!(
            (welch.low + 3.365_483_2).abs() < 1e-6 && (welch.high - 0.205_483_2).abs() < 1e-6,
            "{welch:?}"
        );
        let pooled = difference_of_sessions(&runs(&OTHER), &runs(&ONE)).unwrap();
        assert!(
            (pooled.low + 3.363_874).abs() < 1e-6 && (pooled.high - 0.203_874).abs() < 1e-6,
            "{pooled:?}"
        );
    }

    #[test]
    fn what_times_differ_by_themselves_widens_the_interval() {
        let (one, other) = ([100.0, 101.0, 99.0], [110.0, 111.0, 109.0]);
        let (alone, known) =
            (difference(&one, &other, 0.0).unwrap(), difference(&one, &other, 0.05).unwrap());
        assert!(alone.low > 5.0, "{alone:?}");
        // 1.96 · √(5² + 5.5²) and a little more.
        assert!(known.low < 10.0 - 14.5 && known.low > 10.0 - 16.0, "{known:?}");
    }

    #[test]
    fn too_little_has_no_interval_and_zeros_have_one() {
        assert_eq!(difference(&[1.0], &[1.0, 2.0], 0.0), None);
        assert_eq!(difference(&[1.0, 2.0], &[1.0, 2.0], f64::NAN), None);
        assert_eq!(difference(&[1.0, f64::INFINITY], &[1.0, 2.0], 0.0), None);
        assert_eq!(difference_of_sessions(&[vec![1.0]], &[vec![2.0]]), None);
        assert_eq!(difference_of_sessions(&[vec![1.0], vec![]], &[vec![2.0]]), None);
        let none = difference(&[0.0, 0.0], &[0.0, 0.0], 0.0).unwrap();
        assert_eq!((none.low, none.high), (0.0, 0.0));
    }
}
