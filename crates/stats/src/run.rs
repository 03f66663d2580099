//! How sure the mean of one run's seconds is, although each second resembles the one before.
//!
//! Speaks of this run alone: what another run, another day or another machine would give is for repeats to say
//! ([`crate::repeats_mean`]). It models what hangs together as an autoregression of first order. A stall each minute or a
//! trend is none, and no formula makes an interval of 30 s know of it.

use serde::{Deserialize, Serialize};

use crate::interval::Estimate;
use crate::mean;
use crate::student::t_quantile;

/// Fewest seconds that have an interval.
pub(crate) const VALUES_MIN: usize = 8;

/// Largest correlation that is reckoned with: past it a run would have to last an hour.
const CORRELATION_MAX: f64 = 0.95;

/// Least degrees of freedom of Student's distribution. With one, most intervals of ten seconds would be five times too wide
/// and those of the most correlated ones would still miss.
const DEGREES_MIN: f64 = 2.0;

/// Independent values below which an interval is known to hold less often than in 90 of 100 runs.
const INDEPENDENT_MIN: f64 = 3.0;

/// Seconds of which the interval holds in 90 of 100 runs, whatever correlation is reckoned with.
pub const SECONDS_ENOUGH: usize = 100;

/// Mean of one run with its 95 % interval, and what the interval rests on.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct RunMean {
    /// Mean with its interval, in the unit of the values.
    pub estimate: Estimate,
    /// What hangs together.
    pub dependence: Dependence,
}

/// How much successive values of a run depend on each other.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// Correlation of each value with the next, corrected for the bias of a short series: 0 to 0.95.
    pub correlation: f64,
    /// So many independent values would tell as much about the mean as all of these.
    pub independent: f64,
    /// Whether these are so few that of runs as short and as correlated fewer than 90 of 100 have an interval that holds.
    pub holds_less: bool,
}

impl Dependence {
    /// Of a series of so many values (at least 8) with this sum of squares around the mean. None where it is not finite.
    fn of(deviations: &[f64]) -> Option<Self> {
        let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
        let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
        if !squares.is_finite() {
            return None;
        }
        let n = deviations.len() as f64;
        let lag_one = if squares > 0.0 { products / squares } else { 0.0 };
        let correlation = if squares > 0.0 { (n * lag_one + 1.0) / (n - 4.0) } else { 0.0 };
        let correlation = correlation.clamp(0.0, CORRELATION_MAX);
        let independent = n / inflation(correlation, n);
        Some(Self { correlation, independent, holds_less: independent < INDEPENDENT_MIN })
    }

    /// Degrees of freedom of what is estimated from this.
    pub(crate) fn degrees(&self) -> f64 {
        (self.independent - 1.0).max(DEGREES_MIN)
    }
}

/// By how much the correlation multiplies the variance of a mean of n values: 1 + 2 Σ (1 − k/n) ρ^k over k from 1 to n − 1.
fn inflation(correlation: f64, n: f64) -> f64 {
    let rest = 1.0 - correlation;
    (1.0 + correlation) / rest - 2.0 * correlation * (1.0 - correlation.powf(n)) / (n * rest * rest)
}

/// Mean of successive figures of one run with its 95 % interval.
///
/// As many independent values as tell as much (H. J. Thiébaux and F. W. Zwiers, "The interpretation and estimation of
/// effective sample size", Journal of Climate and Applied Meteorology 23, 1984) take the place of the values' number: in the
/// standard error, in the variance, which a correlated series understates, and in the degrees of Student's distribution. The
/// correlation is that of neighbours, freed of its bias of −(1 + 4ρ)/n (F. H. C. Marriott and J. A. Pope, "Bias in the
/// estimation of autocorrelations", Biometrika 41, 1954), and not below 0.
///
/// None of fewer than 8 values or where one is not finite. `docs/statistics.md` says in how many simulated runs it holds.
#[must_use]
pub fn run_mean(values: &[f64]) -> Option<RunMean> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let mean = mean(values)?;
    let (dependence, error) = dependent_error(values, mean)?;
    let half_width = t_quantile(0.025, dependence.degrees()) * error;
    Some(RunMean { estimate: Estimate::new(mean, (mean - half_width, mean + half_width))?, dependence })
}

/// How a series of at least 8 values depends on itself, and the standard error of its mean.
pub(crate) fn dependent_error(values: &[f64], mean: f64) -> Option<(Dependence, f64)> {
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let dependence = Dependence::of(&deviations)?;
    let n = values.len() as f64;
    let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
    // The squares of a correlated series around its own mean add up to σ² (n − n / independent).
    let variance = squares / (n - n / dependence.independent);
    Some((dependence, (variance / dependence.independent).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::repeats_mean;
    use proptest::prelude::*;

    /// An autoregressive series of first order around 1,000 with innovations of deviation 10.
    fn autoregressive(correlation: f64, length: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut deviation = 10.0 * random.normal() / (1.0 - correlation * correlation).sqrt();
        (0..length)
            .map(|_| {
                deviation = correlation * deviation + 10.0 * random.normal();
                1000.0 + deviation
            })
            .collect()
    }

    fn width(estimate: Estimate) -> f64 {
        estimate.high - estimate.low
    }

    #[test]
    fn correlation_is_that_of_another_implementation_without_its_bias() {
        // statsmodels 0.15.0, tsa.stattools.acf(nlags=1): 0.154 526 303 769 182 86; corrected for 24 values.
        let step = |i: usize| if (i / 6) % 2 == 1 { 5.0 } else { 0.0 };
        let values: Vec<f64> = (0..24).map(|i| 100.0 + ((i * 7919) % 101) as f64 / 10.1 + step(i)).collect();
        let dependence = run_mean(&values).unwrap().dependence;
        let corrected = (24.0 * 0.154_526_303_769_182_86 + 1.0) / 20.0;
        assert!((dependence.correlation - corrected).abs() < 1e-12, "{dependence:?}");
    }

    #[test]
    fn variance_of_a_mean_grows_by_the_sum_over_all_lags() {
        for (correlation, n) in [(0.0, 8), (0.3, 10), (0.6, 8), (0.95, 300)] {
            let sum: f64 =
                (1..n).map(|k| (1.0 - f64::from(k) / f64::from(n)) * f64::powi(correlation, k)).sum();
            let closed = inflation(correlation, f64::from(n));
            assert!((closed / (1.0 + 2.0 * sum) - 1.0).abs() < 1e-9, "{correlation}, {n}: {closed}");
        }
    }

    #[test]
    fn independent_values_get_the_width_of_the_textbook() {
        let values = autoregressive(0.0, 1000, 3);
        let (own, textbook) = (run_mean(&values).unwrap(), repeats_mean(&values).unwrap());
        assert!((width(own.estimate) / width(textbook) - 1.0).abs() < 0.1, "{own:?} against {textbook:?}");
        assert!(!own.dependence.holds_less);
    }

    #[test]
    fn autocorrelation_widens_the_interval() {
        let values = autoregressive(0.8, 1000, 3);
        let (own, textbook) = (run_mean(&values).unwrap(), repeats_mean(&values).unwrap());
        // √((1 + 0.8) / (1 − 0.8)) is 3.
        let wider = width(own.estimate) / width(textbook);
        assert!((wider / 3.0 - 1.0).abs() < 0.15, "{wider}");
    }

    #[test]
    fn the_true_mean_is_inside_in_short_runs_too() {
        let held = |correlation: f64, length: usize| {
            let holds = |seed| {
                let estimate = run_mean(&autoregressive(correlation, length, seed)).unwrap().estimate;
                (estimate.low..=estimate.high).contains(&1000.0)
            };
            (0..1000).filter(|&seed| holds(seed)).count()
        };
        for (correlation, length, least) in [(0.0, 8, 950), (0.3, 10, 915), (0.6, 30, 910), (0.9, 120, 910)] {
            let held = held(correlation, length);
            assert!(held >= least, "{held} of 1000, correlation {correlation}, {length} values");
        }
    }

    #[test]
    fn a_run_too_short_for_its_correlation_says_so_and_a_hundred_seconds_are_enough_for_any() {
        let trend: Vec<f64> = (0..10).map(f64::from).collect();
        let dependence = run_mean(&trend).unwrap().dependence;
        assert!(dependence.holds_less && dependence.independent < 2.0, "{dependence:?}");
        let enough = SECONDS_ENOUGH as f64;
        assert!(enough / inflation(CORRELATION_MAX, enough) >= INDEPENDENT_MIN);
        let trend: Vec<f64> = (0..SECONDS_ENOUGH).map(|second| second as f64).collect();
        assert!(!run_mean(&trend).unwrap().dependence.holds_less);
    }

    #[test]
    fn values_without_scatter_have_an_interval_of_no_width() {
        let constant = run_mean(&[4096.0; 300]).unwrap();
        assert_eq!(constant.estimate, Estimate { value: 4096.0, low: 4096.0, high: 4096.0 });
        assert_eq!(constant.dependence.correlation, 0.0);
    }

    #[test]
    fn too_few_or_unusable_values_have_no_interval() {
        assert_eq!(run_mean(&[1.0; 7]), None);
        assert_eq!(run_mean(&[f64::INFINITY; 8]), None);
        assert_eq!(run_mean(&[-1e200, 1e200, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), None, "squares overflow");
    }

    #[test]
    fn a_mean_is_read_back() {
        let own = run_mean(&autoregressive(0.5, 20, 1)).unwrap();
        let text = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<RunMean>(&text).unwrap(), own);
    }

    proptest! {
        #[test]
        fn the_interval_moves_with_the_unit(
            values in prop::collection::vec(1.0f64..1e6, 8..80), scale in 1i32..30, shift in 0.0f64..1e6,
        ) {
            let factor = 2f64.powi(scale);
            let before = run_mean(&values).unwrap();
            let moved: Vec<f64> = values.iter().map(|value| factor * value + shift).collect();
            let after = run_mean(&moved).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
            prop_assert!(close(width(after.estimate), factor * width(before.estimate)), "{before:?} {after:?}");
            prop_assert!(before.estimate.low <= before.estimate.value);
            prop_assert!(before.estimate.value <= before.estimate.high);
            let dependence = before.dependence;
            prop_assert!(dependence.independent >= 1.0 && dependence.independent <= values.len() as f64 + 1e-9);
        }

        #[test]
        fn any_floats_give_finite_intervals_or_none(
            values in prop::collection::vec(any::<f64>(), 0..20),
            huge in prop::collection::vec(-1e308f64..1e308, 8..12),
        ) {
            for own in [run_mean(&values), run_mean(&huge)].into_iter().flatten() {
                let Estimate { value, low, high } = own.estimate;
                prop_assert!([value, low, high].iter().all(|end| end.is_finite()));
            }
        }
    }
}
