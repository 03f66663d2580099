//! A figure with its 95 % interval, and that of the mean of repeated runs.
//!
//! Nothing here compares two means or judges a difference, and nothing here decides whether the run was steady:
//! an interval around a mean that drifts is an interval around a mixture.

use serde::{Deserialize, Serialize};

use crate::student::t_quantile;
use crate::{mean, standard_deviation};

/// A figure with its 95 % interval, all in the unit of the values it was made of.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval, at most the figure.
    pub low: f64,
    /// Upper end of the interval, at least the figure.
    pub high: f64,
}

impl Estimate {
    /// None where one of the numbers is not finite. The interval always holds its figure, in spite of rounding.
    pub(crate) fn new(value: f64, (low, high): (f64, f64)) -> Option<Self> {
        let estimate = Self { value, low: low.min(value), high: high.max(value) };
        (value.is_finite() && low.is_finite() && high.is_finite()).then_some(estimate)
    }
}

/// Mean of independent repeats with Student's t interval, mean ± t(0.975, n − 1) · s / √n (NIST/SEMATECH e-Handbook
/// of Statistical Methods, 1.3.5.2). None of fewer than two values or where one is not finite.
#[must_use]
pub fn repeats_mean(values: &[f64]) -> Option<Estimate> {
    let mean = mean(values)?;
    let error = standard_deviation(values)? / (values.len() as f64).sqrt();
    let half_width = t_quantile(0.025, (values.len() - 1) as f64) * error;
    Estimate::new(mean, (mean - half_width, mean + half_width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn interval_of_repeats_agrees_with_the_published_example() {
        // NIST/SEMATECH e-Handbook, 1.3.5.2, ZARR13.DAT: N = 195, mean 9.261460, standard deviation 0.022789,
        // 95 % limits 9.258242 and 9.264679. Any sample of that size, mean and deviation has those limits.
        let mut values = vec![9.261_460];
        (0..97).for_each(|_| values.extend([9.261_460 - 0.022_789, 9.261_460 + 0.022_789]));
        let estimate = repeats_mean(&values).unwrap();
        assert!((estimate.low - 9.258_242).abs() < 1e-6, "{estimate:?}");
        assert!((estimate.high - 9.264_679).abs() < 1e-6, "{estimate:?}");
    }

    #[test]
    fn too_small_or_unusable_samples_have_no_interval() {
        assert_eq!(repeats_mean(&[]), None);
        assert_eq!(repeats_mean(&[1.0]), None);
        assert_eq!(repeats_mean(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn constant_values_have_an_interval_of_no_width() {
        assert_eq!(repeats_mean(&[0.5, 0.5]).unwrap(), Estimate { value: 0.5, low: 0.5, high: 0.5 });
    }

    #[test]
    fn an_interval_is_read_back() {
        let estimate = Estimate { value: 2.0, low: 1.5, high: 2.25 };
        let text = serde_json::to_string(&estimate).unwrap();
        assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap(), estimate);
    }

    proptest! {
        #[test]
        fn any_floats_give_finite_intervals_or_none(
            values in prop::collection::vec(any::<f64>(), 0..20),
            huge in prop::collection::vec(-1e308f64..1e308, 8..12),
        ) {
            for estimate in [
                repeats_mean(&values),
                repeats_mean(&huge),
            ].into_iter().flatten() {
                prop_assert!([estimate.value, estimate.low, estimate.high].iter().all(|end| end.is_finite()));
            }
        }
    }
}
