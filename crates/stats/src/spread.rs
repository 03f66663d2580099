//! Where a sample lies and how far it scatters.
//!
//! The figures are those of any textbook (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.1 and 1.3.5.6).
//! They say nothing about how sure a mean is: successive seconds of one run resemble each other, so that the
//! standard error of a textbook is too small; see the intervals for that. Nothing is trimmed or dropped.

/// Arithmetic mean. None of an empty sample, or where a value or the sum is not finite.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// The number whose logarithm is the mean of the values' logarithms, which twice as much and half as much leave where it is. None
/// of an empty sample, or where a value is not positive and finite.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms = values.iter().copied().map(crate::effect::logarithm).collect::<Option<Vec<f64>>>()?;
    mean(&logarithms).map(f64::exp)
}

/// Mean of values by their weights, such as the seconds that each of them stands for. None where all weights together are
/// nothing.
#[must_use]
pub fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let add = |(sum, all): (f64, f64), (value, weight): (f64, f64)| (sum + value * weight, all + weight);
    let (sum, all) = values.fold((0.0, 0.0), add);
    (all > 0.0).then(|| sum / all)
}

/// Standard deviation of the population that the sample was drawn from (divisor n − 1), in the values' unit.
/// None of fewer than two values, or where one or the sum of squares is not finite.
#[must_use]
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (values.len() - 1) as f64).sqrt();
    deviation.is_finite().then_some(deviation)
}

/// Standard deviation as a share of the mean: 0.1 is a scatter of 10 %. None where the standard deviation is, or
/// where the mean is not positive, since a share of that means nothing.
#[must_use]
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|&mean| mean > 0.0)?;
    let share = standard_deviation(values)? / mean;
    share.is_finite().then_some(share)
}

/// The middle value, or the mean of the two middle ones. None of an empty sample or where a value is not finite.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut values = values.to_vec();
    let (middle, odd) = (values.len() / 2, values.len() % 2 == 1);
    // Half a million slopes have a median too, so they are only parted and not sorted.
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = if odd { upper } else { below.iter().copied().fold(f64::NEG_INFINITY, f64::max) };
    Some(lower / 2.0 + upper / 2.0)
}

/// How far figures that should be alike lie apart: (max − min) / max. That is how "Database performance and resiliency in
/// the Intel processor-powered Dell PowerEdge R630" (Principled Technologies) tells how evenly databases are served. None of
/// fewer than two values, where one is negative or not finite, or where all are zero.
#[must_use]
pub fn variability(values: &[f64]) -> Option<f64> {
    if values.len() < 2 || !values.iter().all(|value| value.is_finite() && *value >= 0.0) {
        return None;
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    (most > 0.0).then(|| (most - least) / most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A data set of the NIST Statistical Reference Datasets: one value at the mean, then `pairs` of mean ∓ step.
    fn nist(mean: f64, step: f64, pairs: usize) -> Vec<f64> {
        let mut values = vec![mean];
        (0..pairs).for_each(|_| values.extend([mean - step, mean + step]));
        values
    }

    #[test]
    fn each_value_counts_as_long_as_it_lasts() {
        assert_eq!(weighted_mean([(10.0, 1.0), (40.0, 2.0)].into_iter()), Some(30.0));
        assert_eq!(weighted_mean([(10.0, 0.0)].into_iter()), None);
    }

    #[test]
    fn a_geometric_mean_is_that_of_factors() {
        assert!(geometric_mean(&[1.0, 4.0, 16.0]).is_some_and(|mean| (mean - 4.0).abs() < 1e-12));
        assert_eq!(
            (geometric_mean(&[]), geometric_mean(&[0.0, 1.0]), geometric_mean(&[-1.0])),
            (None, None, None)
        );
    }

    #[test]
    fn certified_figures_of_nist_are_reproduced() {
        // NIST StRD, univariate summary statistics: NumAcc1 to NumAcc4, certified mean and standard deviation;
        // tolerances are what doubles leave of values that are not exact in binary.
        let cases = [
            (nist(10_000_002.0, 1.0, 1), 10_000_002.0, 1.0, 0.0),
            (nist(1.2, 0.1, 500), 1.2, 0.1, 1e-14),
            (nist(1_000_000.2, 0.1, 500), 1_000_000.2, 0.1, 1e-9),
            (nist(10_000_000.2, 0.1, 500), 10_000_000.2, 0.1, 1e-8),
        ];
        for (values, certified_mean, certified_deviation, tolerance) in cases {
            let mean = mean(&values).unwrap();
            let deviation = standard_deviation(&values).unwrap();
            assert!((mean / certified_mean - 1.0).abs() <= 1e-14, "{mean} against {certified_mean}");
            assert!((deviation - certified_deviation).abs() <= tolerance, "{deviation}");
        }
    }

    #[test]
    fn too_small_or_unusable_samples_have_no_figures() {
        for values in [&[][..], &[f64::NAN, 1.0], &[f64::INFINITY, 1.0], &[f64::INFINITY, f64::NEG_INFINITY]]
        {
            assert_eq!(mean(values), None, "{values:?}");
            assert_eq!(standard_deviation(values), None, "{values:?}");
            assert_eq!(coefficient_of_variation(values), None, "{values:?}");
            assert_eq!(median(values), None, "{values:?}");
        }
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(coefficient_of_variation(&[0.0, 0.0]), None, "a share of a zero mean");
        assert_eq!(mean(&[f64::MAX, f64::MAX]), None, "the sum overflows");
    }

    #[test]
    fn median_is_the_middle_or_between_the_two_middle_values() {
        assert_eq!(median(&[5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn published_variabilities_are_reproduced() {
        // The source prints one digit after the point.
        let published: [(&[f64], f64); 4] = [
            (&[5567.0, 6055.0, 4823.0, 4291.0], 29.1),
            (&[4719.0, 7376.0, 7628.0, 4362.0], 42.8),
            (&[46_627.0, 46_597.0, 46_819.0, 46_561.0], 0.6),
            (&[29_443.0, 30_184.0, 30_283.0, 30_325.0, 30_517.0, 30_722.0, 30_711.0, 30_080.0], 4.2),
        ];
        for (values, printed) in published {
            let share = variability(values).unwrap();
            assert_eq!((share * 1_000.0).round() / 10.0, printed, "{values:?}");
        }
    }

    #[test]
    fn figures_that_cannot_be_compared_have_no_variability() {
        for values in [&[][..], &[5.0], &[0.0, 0.0], &[-1.0, 2.0], &[1.0, f64::NAN]] {
            assert_eq!(variability(values), None, "{values:?}");
        }
        assert_eq!(variability(&[0.0, 4.0]), Some(1.0));
    }

    proptest! {
        #[test]
        fn variation_does_not_depend_on_the_unit(
            values in prop::collection::vec(1.0f64..1e6, 2..50),
            factor in 1e-3f64..1e3,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let (share, again) =
                (coefficient_of_variation(&values).unwrap(), coefficient_of_variation(&scaled).unwrap());
            prop_assert!((share - again).abs() < 1e-9, "{share} against {again}");
        }

        #[test]
        fn half_of_the_values_lie_on_each_side_of_the_median(
            values in prop::collection::vec(-1e6f64..1e6, 1..60),
        ) {
            let median = median(&values).unwrap();
            prop_assert!(2 * values.iter().filter(|&&value| value < median).count() <= values.len());
            prop_assert!(2 * values.iter().filter(|&&value| value > median).count() <= values.len());
        }

        #[test]
        fn any_floats_give_finite_figures_or_none(values in prop::collection::vec(any::<f64>(), 0..20)) {
            for figure in [
                mean(&values),
                standard_deviation(&values),
                coefficient_of_variation(&values),
                median(&values),
                variability(&values),
            ] {
                prop_assert!(figure.is_none_or(f64::is_finite), "{figure:?}");
            }
        }
    }
}
