//! What stands for a side's values beside its gain: what the gain follows from, and no other mean.

use serde::Serialize;

use super::metric::Spread;

/// What of a side's values stands for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Center {
    /// The middle one: the gain is the middle of the ratios between a value of each side.
    Median,
    /// The mean by factors, in which each run counts alike: the gain is the ratio of both.
    GeometricMean,
    /// The usual mean, where a value is zero: the gain, if there is one, is the ratio of both.
    Mean,
}

impl Center {
    /// What the effect of such values follows from.
    pub(super) fn of(spread: Spread, values: impl Iterator<Item = f64>) -> Self {
        match spread {
            _ if values.into_iter().any(|value| value <= 0.0) => Self::Mean,
            Spread::Unknown => Self::Median,
            Spread::Given(_) | Spread::Estimated => Self::GeometricMean,
        }
    }

    /// Of a side's values, by run.
    pub(super) fn value(self, runs: &[Vec<f64>]) -> Option<f64> {
        match self {
            Self::Median => stats::median(&runs.concat()),
            Self::Mean => stats::mean(&runs.concat()),
            Self::GeometricMean => {
                let runs = runs.iter().map(|values| stats::geometric_mean(values));
                stats::geometric_mean(&runs.collect::<Option<Vec<f64>>>()?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of one trial and of two: each run counts once.
    const RUNS: [&[f64]; 2] = [&[1.0], &[4.0, 4.0]];

    #[test]
    fn a_gain_is_the_ratio_of_what_stands_for_its_sides() {
        let runs: Vec<Vec<f64>> = RUNS.iter().map(|run| run.to_vec()).collect();
        let tenfold: Vec<Vec<f64>> = vec![vec![10.0], vec![40.0]];
        let effect = stats::effect_of_sessions(&runs, &tenfold).unwrap().effect.ratio.value;
        let of = |runs: &[Vec<f64>]| Center::GeometricMean.value(runs).unwrap();
        assert!((of(&tenfold) / of(&runs) - effect).abs() < 1e-12, "{effect}");
        assert_eq!((Center::Median.value(&runs), Center::Mean.value(&runs)), (Some(4.0), Some(3.0)));
    }

    #[test]
    fn what_is_zero_has_no_mean_by_factors() {
        let of = |spread, values: &[f64]| Center::of(spread, values.iter().copied());
        assert_eq!(of(Spread::Unknown, &[1.0, 2.0]), Center::Median);
        assert_eq!(of(Spread::Given(0.02), &[1.0, 2.0]), Center::GeometricMean);
        assert_eq!(of(Spread::Estimated, &[1.0, 0.0]), Center::Mean);
        assert_eq!(of(Spread::Unknown, &[0.0, 0.0, 1.0]), Center::Mean, "errors are not hidden by a median");
    }
}
