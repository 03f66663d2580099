//! Steady state by the rule of the SNIA Solid State Storage Performance Test Specification (SSS PTS, version 2.0.2,
//! 2020): over five rounds the values stay within 20 % of their mean, and so does their trend within 10 %.
//!
//! It judges figures that were measured already. It does not run rounds or overwrite a device first, and it drops
//! no warm-up. A run that passes is not shown to be free of drift, only to drift less than the rule allows.

use serde::{Deserialize, Serialize};

use crate::mean;

/// Rounds that are judged together.
pub const PTS_WINDOW: usize = 5;

/// Rounds after which the specification gives up: no steady state.
const PTS_ROUNDS_MAX: usize = 25;

/// Greatest allowed max − min of the values, as a share of their mean.
const RANGE_SHARE_MAX: f64 = 0.20;

/// Greatest allowed max − min of the least-squares line over the window, as a share of the mean.
const SLOPE_SHARE_MAX: f64 = 0.10;

/// Five successive rounds against the rule.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct PtsWindow {
    /// Mean of the rounds, in their unit.
    pub mean: f64,
    /// Max − min of the rounds, as a share of the mean.
    pub range_share: f64,
    /// Max − min of the least-squares line over the window, as a share of the mean.
    pub slope_share: f64,
    /// Whether the first share is at most 0.20 and the second at most 0.10.
    pub steady: bool,
}

/// Judges five successive rounds. None where one is not finite or the mean is not positive.
#[must_use]
pub fn pts(window: &[f64; PTS_WINDOW]) -> Option<PtsWindow> {
    let mean = mean(window).filter(|&mean| mean > 0.0)?;
    let max = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let min = window.iter().copied().fold(f64::INFINITY, f64::min);
    // With the rounds at −2 … 2 the squares of the positions add up to 10, and the line spans 4 rounds.
    let slope: f64 = (-2i8..).zip(window).map(|(position, value)| f64::from(position) * value / 10.0).sum();
    let range_share = (max - min) / mean;
    let slope_share = 4.0 * slope.abs() / mean;
    let steady = range_share <= RANGE_SHARE_MAX && slope_share <= SLOPE_SHARE_MAX;
    let finite = range_share.is_finite() && slope_share.is_finite();
    finite.then_some(PtsWindow { mean, range_share, slope_share, steady })
}

/// How many rounds it took to become steady: one past the last round of the first window of five that is steady,
/// so that `rounds[n - 5..n]` is that window. None where no window within the first 25 rounds is, or where one of
/// those rounds is not finite.
#[must_use]
pub fn first_steady(rounds: &[f64]) -> Option<usize> {
    let rounds = &rounds[..rounds.len().min(PTS_ROUNDS_MAX)];
    if !rounds.iter().all(|round| round.is_finite()) {
        return None;
    }
    let steady = |window| pts(window).is_some_and(|judged| judged.steady);
    let mut windows = rounds.windows(PTS_WINDOW);
    windows.position(|window| window.try_into().is_ok_and(steady)).map(|first| first + PTS_WINDOW)
}

/// A run's successive rates as five successive bins of equal length, so that the rule for rounds can judge whether
/// one run was steady. Where the bins' borders fall inside a sample, it counts to both by its parts. None of fewer
/// than five samples or where one is not finite.
#[must_use]
pub fn bins_of_five(samples: &[f64]) -> Option<[f64; PTS_WINDOW]> {
    if samples.len() < PTS_WINDOW {
        return None;
    }
    let length = samples.len() as f64 / PTS_WINDOW as f64;
    let bins: [f64; PTS_WINDOW] =
        std::array::from_fn(|bin| mean_between(samples, bin as f64 * length, (bin + 1) as f64 * length));
    bins.iter().all(|bin| bin.is_finite()).then_some(bins)
}

/// Mean of the samples between two positions, the sample of index i lying from i to i + 1.
fn mean_between(samples: &[f64], start: f64, end: f64) -> f64 {
    let overlap = |index: usize| (end.min(index as f64 + 1.0) - start.max(index as f64)).max(0.0);
    let last = samples.len().min(end.ceil() as usize);
    let sum: f64 = (start as usize..last).map(|index| samples[index] * overlap(index)).sum();
    sum / (end - start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The window's range and slope in whole per cent, and whether it is steady.
    fn check(window: [f64; 5], range_per_cent: i32, slope_per_cent: i32, steady: bool) {
        let judged = pts(&window).unwrap();
        let shares = [judged.range_share, judged.slope_share].map(|share| (share * 100.0).round() as i32);
        assert_eq!(
            (shares, judged.steady),
            ([range_per_cent, slope_per_cent], steady),
            "{window:?}: {judged:?}"
        );
    }

    #[test]
    fn a_window_is_steady_within_both_limits() {
        check([1000.0; 5], 0, 0, true);
        check([1000.0, 1100.0, 1000.0, 900.0, 1000.0], 20, 8, true);
        check([1000.0, 1110.0, 1000.0, 900.0, 990.0], 21, 9, false);
        check([950.0, 975.0, 1000.0, 1025.0, 1050.0], 10, 10, true);
        check([940.0, 970.0, 1000.0, 1030.0, 1060.0], 12, 12, false);
        check([1060.0, 1030.0, 1000.0, 970.0, 940.0], 12, 12, false);
    }

    #[test]
    fn a_fresh_device_is_steady_once_it_has_settled() {
        let rounds = [9000.0, 6000.0, 4500.0, 3600.0, 3100.0, 3000.0, 2950.0, 3020.0, 2990.0, 3010.0];
        assert_eq!(first_steady(&rounds), Some(9));
        assert_eq!(first_steady(&rounds[..8]), None);
        assert_eq!(first_steady(&[5.0; 5]), Some(5));
        assert_eq!(first_steady(&[5.0; 4]), None);
        assert_eq!(first_steady(&[]), None);
    }

    #[test]
    fn steadiness_after_the_last_allowed_round_does_not_count() {
        let mut rounds: Vec<f64> = (0..22).map(|round| 2f64.powi(round)).collect();
        rounds.extend([10.0; 5]);
        assert_eq!(first_steady(&rounds), None);
        assert_eq!(first_steady(&rounds[1..]), None);
        assert_eq!(first_steady(&rounds[2..]), Some(25));
    }

    #[test]
    fn bins_have_equal_shares_of_the_samples() {
        assert_eq!(bins_of_five(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some([1.0, 2.0, 3.0, 4.0, 5.0]));
        let seconds: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(bins_of_five(&seconds), Some([1.5, 3.5, 5.5, 7.5, 9.5]));
        // Six samples: each bin holds 1.2 of them, the second 0.8 of the second sample and 0.4 of the third.
        let bins = bins_of_five(&[0.0, 6.0, 6.0, 6.0, 6.0, 12.0]).unwrap();
        for (bin, expected) in bins.into_iter().zip([1.0, 6.0, 6.0, 6.0, 11.0]) {
            assert!((bin - expected).abs() < 1e-12, "{bins:?}");
        }
    }

    #[test]
    fn too_small_or_unusable_samples_are_not_judged() {
        assert_eq!(bins_of_five(&[1.0; 4]), None);
        assert_eq!(bins_of_five(&[1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0]), None);
        assert_eq!(pts(&[0.0; 5]), None, "a share of a zero mean");
        assert_eq!(pts(&[1.0, 1.0, f64::INFINITY, 1.0, 1.0]), None);
        assert_eq!(first_steady(&[1.0, 1.0, 1.0, 1.0, 1.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn bins_keep_the_mean(samples in prop::collection::vec(0.0f64..1e6, 5..200)) {
            let bins = bins_of_five(&samples).unwrap();
            let (before, after) = (mean(&samples).unwrap(), mean(&bins).unwrap());
            prop_assert!((before - after).abs() <= before * 1e-9, "{before} became {after}");
        }

        #[test]
        fn judgement_depends_on_neither_unit_nor_direction(
            window in prop::array::uniform5(100.0f64..200.0),
            scale in 1u8..30,
        ) {
            // A power of two, so that no rounding moves a figure across a limit.
            let factor = 2f64.powi(i32::from(scale));
            let judged = pts(&window).unwrap();
            let scaled = pts(&window.map(|value| value * factor)).unwrap();
            prop_assert_eq!((judged.range_share, judged.steady), (scaled.range_share, scaled.steady));
            let mut reversed = window;
            reversed.reverse();
            prop_assert!((pts(&reversed).unwrap().slope_share - judged.slope_share).abs() < 1e-12);
        }

        #[test]
        fn any_floats_are_judged_by_finite_figures_or_not_at_all(values in prop::collection::vec(any::<f64>(), 5..40)) {
            if let Some(judged) = bins_of_five(&values).and_then(|bins| pts(&bins)) {
                prop_assert!(judged.range_share.is_finite() && judged.slope_share.is_finite());
            }
            prop_assert!(first_steady(&values).is_none_or(|rounds| (5..=25).contains(&rounds)));
        }
    }
}
