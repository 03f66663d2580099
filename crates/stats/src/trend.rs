//! Whether the rate of a run rises or falls, and by how much.
//!
//! A straight line, as the rule of SNIA's PTS has one ([`crate::pts`]); but asked whether it can be chance, and not only whether
//! it is large. A step in the middle is a line to it as well, and a wave that comes back is none.

use serde::{Deserialize, Serialize};

use crate::mean;
use crate::run::dependent_error;
use crate::student::t_two_sided;

/// Fewest values of a line: what is left of fewer says nothing about how they depend on each other.
const VALUES_MIN: usize = 8;

/// A line that is steeper by chance in one run of so many is none.
const CHANCE_RUNS: f64 = 100.0;

/// A straight line through the rates of a run.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// What it rises from the begin to the end of the run, as a share of the mean; negative where it falls.
    pub share: f64,
    /// Whether chance makes so steep a line in fewer than one of 100 runs.
    pub is_shown: bool,
}

/// Least-squares line through equally long seconds. Whether it can be chance is Student's test with as many degrees as the
/// residuals are worth independent values (B. D. Santer et al., "Statistical significance of trends and trend differences in
/// layer-average atmospheric temperature time series", Journal of Geophysical Research 105, 2000), whose correlation is freed
/// of its bias as in [`crate::run_mean`]. None of fewer than 8 values or where the mean is not positive.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let mean = mean(values).filter(|&mean| mean > 0.0)?;
    let n = values.len() as f64;
    let position = |index: usize| index as f64 - (n - 1.0) / 2.0;
    // Σ position² of n equally spaced positions.
    let squares = n * (n * n - 1.0) / 12.0;
    let slope =
        values.iter().enumerate().map(|(i, value)| position(i) * (value - mean)).sum::<f64>() / squares;
    let residuals: Vec<f64> =
        values.iter().enumerate().map(|(i, value)| value - mean - slope * position(i)).collect();
    let (dependence, mean_error) = dependent_error(&residuals, None)?;
    // The error of a mean of n independent values is σ / √n, that of a slope σ / √Σ position².
    let degrees = dependence.degrees() - 1.0;
    let loss = (dependence.degrees() / degrees).sqrt();
    let error = mean_error * loss * (n / squares).sqrt();
    let share = slope * n / mean;
    let chance = if error > 0.0 { t_two_sided(slope / error, degrees) } else { f64::from(slope == 0.0) };
    share.is_finite().then_some(Trend { share, is_shown: chance * CHANCE_RUNS < 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// A rate around 1,000 with noise of 3 % that is correlated by 0.3, and so much drift over the run.
    fn drifting(seconds: usize, share: f64, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut noise = random.normal();
        (0..seconds)
            .map(|second| {
                noise = 0.3 * noise + (1.0f64 - 0.09).sqrt() * random.normal();
                1000.0 * (1.0 + share * (second as f64 / seconds as f64 - 0.5) + 0.03 * noise)
            })
            .collect()
    }

    fn shown(seconds: usize, share: f64) -> usize {
        (0..1_000).filter(|&seed| trend(&drifting(seconds, share, seed)).unwrap().is_shown).count()
    }

    #[test]
    fn a_line_is_that_of_another_implementation() {
        // scipy.stats.linregress of SciPy 1.17.1: slope 1.277 067 669 172 932 6, mean of 20 values 108.675.
        let values: Vec<f64> =
            (0..20).map(|i| 95.0 + 1.25 * f64::from(i) + f64::from((i * 7) % 5) * 0.9).collect();
        let line = trend(&values).unwrap();
        assert!((line.share - 1.277_067_669_172_932_6 * 20.0 / 108.675).abs() < 1e-12, "{line:?}");
        assert!(line.is_shown);
    }

    #[test]
    fn a_drift_of_nine_per_cent_is_found_and_none_is_not() {
        for (seconds, least) in [(30, 550), (60, 900), (300, 1_000)] {
            let found = shown(seconds, -0.09);
            assert!(found >= least, "{found} of 1,000 in {seconds} s");
            let claimed = shown(seconds, 0.0);
            assert!(claimed <= 30, "{claimed} of 1,000 in {seconds} s");
        }
    }

    #[test]
    fn a_straight_line_without_noise_has_its_share() {
        let falling: Vec<f64> = (0..100).map(|second| 1045.0 - 0.9 * f64::from(second)).collect();
        let line = trend(&falling).unwrap();
        assert!((line.share + 0.09).abs() < 0.001 && line.is_shown, "{line:?}");
        assert_eq!(trend(&[5.0; 20]), Some(Trend { share: 0.0, is_shown: false }));
        assert_eq!(trend(&[5.0; 7]), None);
        assert_eq!(trend(&[0.0; 20]), None, "a share of nothing");
    }

    proptest! {
        #[test]
        fn the_other_way_round_it_is_as_steep(values in prop::collection::vec(1.0f64..1e6, 8..60)) {
            let forth = trend(&values).unwrap();
            let mut reversed = values;
            reversed.reverse();
            let back = trend(&reversed).unwrap();
            prop_assert!((forth.share + back.share).abs() < 1e-9);
        }

        #[test]
        fn any_floats_have_a_finite_line_or_none(values in prop::collection::vec(any::<f64>(), 0..20)) {
            prop_assert!(trend(&values).is_none_or(|line| line.share.is_finite()));
        }
    }
}
