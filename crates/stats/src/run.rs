//! How sure the mean of one trial's seconds is, although each second resembles the one before.
//!
//! It covers this trial only: [`crate::repeats_mean`] says what another trial would give. Two models are asked, and the wider
//! interval is taken: an autoregression of first order, and the slow waves in the seconds themselves. Neither knows of a stall
//! that the trial did not see.

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

/// Seconds from which on the interval holds in 90 of 100 trials, for correlations of up to 0.9. They may be those of several
/// trials that share their correlation.
pub const SECONDS_ENOUGH: usize = 30;

/// Waves whose size gives the variance: the fewest, as many as a long trial needs, and one for so many seconds between them.
const WAVES_MIN: usize = 3;
const WAVES_MAX: usize = 30;
const SECONDS_PER_WAVE: usize = 100;

/// Mean of one trial with its 95 % interval, and what the interval rests on.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct RunMean {
    /// Mean with its interval, in the unit of the values.
    pub estimate: Estimate,
    /// How the values depend on each other.
    pub dependence: Dependence,
}

/// How much successive values of a trial depend on each other.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// Correlation of each value with the next, corrected for the bias of a short series: 0 to 0.95. It is that of the trial, or
    /// that of all trials together if that is larger.
    pub correlation: f64,
    /// So many independent values would tell as much about the mean as all of these.
    pub independent: f64,
    /// Whether the correlation rests on fewer than [`SECONDS_ENOUGH`] values: of trials whose values strongly resemble each
    /// other, fewer than 90 of 100 have an interval that holds.
    pub holds_less: bool,
}

/// Correlation of each value with the next, over several trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PooledCorrelation {
    /// Mean of their correlations, corrected for the bias of short series, weighted by their lengths.
    correlation: f64,
    /// Values of all of them.
    values: usize,
}

impl PooledCorrelation {
    /// Of the successive figures of each trial. None if none has eight values that differ.
    #[must_use]
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a [f64]>) -> Option<Self> {
        let (mut sum, mut values) = (0.0, 0);
        for trial in trials {
            let Some(correlation) = mean(trial)
                .map(|mean| trial.iter().map(|value| value - mean).collect::<Vec<f64>>())
                .and_then(|deviations| unbiased_correlation(&deviations))
            else {
                continue;
            };
            sum += correlation * trial.len() as f64;
            values += trial.len();
        }
        (values > 0).then(|| Self { correlation: sum / values as f64, values })
    }
}

/// Correlation of neighbours among deviations from a mean, freed of its bias of −(1 + 4ρ)/n. None of fewer than 8 and of values
/// that are equal or not finite.
fn unbiased_correlation(deviations: &[f64]) -> Option<f64> {
    let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let n = deviations.len() as f64;
    let usable = deviations.len() >= VALUES_MIN && squares > 0.0 && squares.is_finite();
    usable.then(|| (n * products / squares + 1.0) / (n - 4.0))
}

impl Dependence {
    /// Of the deviations of a series of at least 8 values from its mean. None if they are not finite.
    fn of(deviations: &[f64], pooled: Option<PooledCorrelation>) -> Option<Self> {
        if !deviations.iter().map(|deviation| deviation * deviation).sum::<f64>().is_finite() {
            return None;
        }
        let own = unbiased_correlation(deviations);
        let others = own.and(pooled).map_or(0.0, |pooled| pooled.correlation);
        let correlation = own.unwrap_or(0.0).max(others).clamp(0.0, CORRELATION_MAX);
        let n = deviations.len();
        let independent = n as f64 / inflation(correlation, n as f64);
        let seconds = pooled.map_or(n, |pooled| pooled.values.max(n));
        Some(Self { correlation, independent, holds_less: seconds < SECONDS_ENOUGH })
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

/// Mean of successive figures of one trial with its 95 % interval: the wider one of two.
///
/// The first takes as many independent values as tell as much (H. J. Thiébaux and F. W. Zwiers, "The interpretation and estimation of
/// effective sample size", Journal of Climate and Applied Meteorology 23, 1984) instead of the number of values: in the
/// standard error, in the variance, which a correlated series understates, and in the degrees of Student's distribution. The
/// correlation is that of neighbours, freed of its bias of −(1 + 4ρ)/n (F. H. C. Marriott and J. A. Pope, "Bias in the
/// estimation of autocorrelations", Biometrika 41, 1954), and not below 0. A short trial often understates it, so the correlation
/// of all trials together is taken if it is larger.
///
/// The second sees a slow wander under noise, which neighbours hide: see [`of_waves`].
///
/// None of fewer than 8 values or where one is not finite. `docs/statistics.md` says in how many simulated trials it holds.
#[must_use]
pub fn run_mean(values: &[f64], pooled: Option<PooledCorrelation>) -> Option<RunMean> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let mean = mean(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let (dependence, error) = dependent_error(&deviations, pooled)?;
    let half_width =
        (t_quantile(0.025, dependence.degrees()) * error).max(of_waves(&deviations).half_width());
    Some(RunMean { estimate: Estimate::new(mean, (mean - half_width, mean + half_width))?, dependence })
}

/// How a series depends on itself, of whose mean these are at least 8 deviations, and the standard error of the mean.
pub(crate) fn dependent_error(
    deviations: &[f64],
    pooled: Option<PooledCorrelation>,
) -> Option<(Dependence, f64)> {
    let dependence = Dependence::of(deviations, pooled)?;
    let n = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
    // The squares of a correlated series around its own mean add up to σ² (n − n / independent).
    let variance = squares / (n - n / dependence.independent);
    Some((dependence, (variance / dependence.independent).sqrt()))
}

/// The standard error of a mean and the degrees of freedom with which it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaveError {
    pub(crate) error: f64,
    pub(crate) degrees: f64,
}

impl WaveError {
    /// Half of the mean's 95 % interval.
    fn half_width(self) -> f64 {
        t_quantile(0.025, self.degrees) * self.error
    }
}

/// The standard error of a mean from the slowest waves in the deviations from it: the mean square of the first cosine weights
/// estimates the variance that a mean of so many seconds has, whatever the correlation is like (E. Lazarus, D. J. Lewis, J. H. Stock
/// and M. W. Watson, "HAR inference: recommendations for practice", Journal of Business & Economic Statistics 36, 2018). They
/// recommend more waves, 0.41 n^(2/3); the fewer waves here see what wanders over minutes, at the price of a wider interval.
pub(crate) fn of_waves(deviations: &[f64]) -> WaveError {
    let n = deviations.len() as f64;
    let waves = (deviations.len() / SECONDS_PER_WAVE).clamp(WAVES_MIN, WAVES_MAX);
    let weight = |wave: usize| {
        let step = std::f64::consts::PI * wave as f64 / n;
        let weighted =
            deviations.iter().enumerate().map(|(at, value)| value * ((at as f64 + 0.5) * step).cos());
        (2.0 / n).sqrt() * weighted.sum::<f64>()
    };
    let squares: f64 = (1..=waves).map(|wave| weight(wave).powi(2)).sum();
    WaveError { error: (squares / waves as f64 / n).sqrt(), degrees: waves as f64 }
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

    fn alone(values: &[f64]) -> Option<RunMean> {
        run_mean(values, None)
    }

    fn width(estimate: Estimate) -> f64 {
        estimate.high - estimate.low
    }

    #[test]
    fn correlation_is_that_of_another_implementation_without_its_bias() {
        // statsmodels 0.15.0, tsa.stattools.acf(nlags=1): 0.154 526 303 769 182 86; corrected for 24 values.
        let step = |i: usize| if (i / 6) % 2 == 1 { 5.0 } else { 0.0 };
        let values: Vec<f64> = (0..24).map(|i| 100.0 + ((i * 7919) % 101) as f64 / 10.1 + step(i)).collect();
        let dependence = alone(&values).unwrap().dependence;
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

    /// Median over many series of the width, in units of the textbook's of independent values.
    fn width_over_textbook(correlation: f64, length: usize) -> f64 {
        let over = |seed| {
            let values = autoregressive(correlation, length, seed);
            width(alone(&values).unwrap().estimate) / width(repeats_mean(&values).unwrap())
        };
        crate::median(&(0..101).map(over).collect::<Vec<f64>>()).unwrap()
    }

    #[test]
    fn independent_values_get_little_more_than_the_width_of_the_textbook() {
        for (length, most) in [(30, 1.55), (300, 1.5), (1000, 1.2)] {
            let over = width_over_textbook(0.0, length);
            assert!(over > 1.0 && over < most, "{over} of {length} values");
        }
    }

    #[test]
    fn autocorrelation_widens_the_interval() {
        // √((1 + 0.8) / (1 − 0.8)) is 3.
        let wider = width_over_textbook(0.8, 1000);
        assert!(wider > 2.8 && wider < 3.6, "{wider}");
    }

    fn held_of_1000(truth: f64, series: impl Fn(u64) -> Vec<f64>) -> usize {
        let holds = |seed: &u64| {
            let estimate = alone(&series(*seed)).unwrap().estimate;
            (estimate.low..=estimate.high).contains(&truth)
        };
        (0..1000).filter(holds).count()
    }

    #[test]
    fn the_true_mean_is_inside_in_short_trials_too() {
        for (correlation, length, least) in
            [(0.0, 8, 960), (0.3, 10, 940), (0.6, 8, 890), (0.6, 30, 940), (0.9, 30, 890), (0.9, 120, 940)]
        {
            let held = held_of_1000(1000.0, |seed| autoregressive(correlation, length, seed));
            assert!(held >= least, "{held} of 1000, correlation {correlation}, {length} values");
        }
    }

    /// Of such trials the autoregression alone holds in 39 of 100: the noise hides how much neighbours resemble each other.
    #[test]
    fn a_slow_wander_under_noise_is_seen() {
        let wander = |seed: u64| {
            let slow = autoregressive(0.97, 120, seed);
            let mut random = SplitMix64::new(seed + 1_000_000);
            // Both scatter alike: 10 / √(1 − 0.97²) is 41.
            slow.into_iter().map(|value| value + 41.0 * random.normal()).collect()
        };
        let held = held_of_1000(1000.0, wander);
        assert!(held >= 800, "{held} of 1000");
    }

    #[test]
    fn waves_are_those_of_the_formula() {
        let wave = |number: f64| -> Vec<f64> {
            (0..8).map(|at| (std::f64::consts::PI * number * (f64::from(at) + 0.5) / 8.0).cos()).collect()
        };
        // √(2/8) Σ cos² = √(1/4) · 4 = 2 of the second wave, and nothing of the first and the third.
        let found = of_waves(&wave(2.0));
        assert!((found.error - (4.0f64 / 3.0 / 8.0).sqrt()).abs() < 1e-12, "{found:?}");
        assert!(of_waves(&wave(5.0)).error < 1e-12, "quick waves are not looked at");
        assert_eq!(of_waves(&[0.0; 1000]).degrees, 10.0);
    }

    #[test]
    fn the_correlation_of_several_trials_makes_short_intervals_hold() {
        let held = |trials: usize, correlation: f64| {
            let holds = |seed: &u64| {
                let at = |trial: usize| autoregressive(correlation, 8, seed * 100 + trial as u64);
                let runs: Vec<Vec<f64>> = (0..trials).map(at).collect();
                let pooled = PooledCorrelation::of(runs.iter().map(Vec::as_slice));
                let own = run_mean(&runs[0], pooled).unwrap();
                assert_eq!(own.dependence.holds_less, trials < 4);
                (own.estimate.low..=own.estimate.high).contains(&1000.0)
            };
            (0..1000u64).filter(holds).count()
        };
        let (one, four) = (held(1, 0.9), held(4, 0.9));
        assert!(one < 860 && four >= 900, "{one} and {four} of 1000");
    }

    #[test]
    fn other_trials_only_widen_an_interval_and_are_weighted_by_their_lengths() {
        let (own, other) = (autoregressive(0.7, 40, 1), autoregressive(0.0, 400, 2));
        let pooled =
            PooledCorrelation::of([own.as_slice(), other.as_slice(), &[5.0; 30], &[1.0; 3]]).unwrap();
        assert_eq!(run_mean(&own, Some(pooled)), alone(&own), "they resemble each other less");
        let [short, long] =
            [&own, &other].map(|run| PooledCorrelation::of([run.as_slice()]).unwrap().correlation);
        assert!((pooled.correlation - (short * 40.0 + long * 400.0) / 440.0).abs() < 1e-12, "{pooled:?}");
        let among = run_mean(&other, Some(pooled)).unwrap();
        assert!(width(among.estimate) >= width(alone(&other).unwrap().estimate));
        assert!(among.dependence.correlation > long.max(0.0));
        assert_eq!(PooledCorrelation::of([[5.0; 30].as_slice()]), None);
    }

    /// A trial as correlated as a line once had no interval, although nearly all of those that were left out would have held.
    #[test]
    fn every_trial_of_eight_seconds_has_an_interval_and_a_short_one_says_that_it_holds_less() {
        let line =
            |seconds: usize| alone(&(0..seconds).map(|second| second as f64).collect::<Vec<_>>()).unwrap();
        let short = line(10);
        assert!(short.dependence.holds_less && short.dependence.independent < 2.0, "{short:?}");
        assert!(short.estimate.low < 0.0 && short.estimate.high > 9.0, "{short:?}");
        assert!(!line(SECONDS_ENOUGH).dependence.holds_less);
    }

    #[test]
    fn values_without_scatter_have_an_interval_of_no_width() {
        let constant = alone(&[4096.0; 300]).unwrap();
        assert_eq!(constant.estimate, Estimate { value: 4096.0, low: 4096.0, high: 4096.0 });
        assert_eq!(constant.dependence.correlation, 0.0);
    }

    #[test]
    fn too_few_or_unusable_values_have_no_interval() {
        assert_eq!(alone(&[1.0; 7]), None);
        assert_eq!(alone(&[f64::INFINITY; 8]), None);
        assert_eq!(alone(&[-1e200, 1e200, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), None, "squares overflow");
    }

    #[test]
    fn a_mean_is_read_back() {
        let own = alone(&autoregressive(0.5, 20, 1)).unwrap();
        let text = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<RunMean>(&text).unwrap(), own);
    }

    proptest! {
        #[test]
        fn the_interval_moves_with_the_unit(
            values in prop::collection::vec(1.0f64..1e6, 8..80), scale in 1i32..30, shift in 0.0f64..1e6,
        ) {
            let factor = 2f64.powi(scale);
            let before = alone(&values).unwrap();
            let moved: Vec<f64> = values.iter().map(|value| factor * value + shift).collect();
            let after = alone(&moved).unwrap();
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
            for own in [alone(&values), alone(&huge)].into_iter().flatten() {
                let Estimate { value, low, high } = own.estimate;
                prop_assert!([value, low, high].iter().all(|end| end.is_finite()));
            }
        }
    }
}
