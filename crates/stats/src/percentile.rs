//! How sure a percentile of one run is, although operations of a second resemble each other and each second the one before.
//!
//! A percentile's interval is one of ranks: whoever holds the operations looks up what stands there. As the interval of a run's
//! mean, it speaks of this run alone.

use crate::run::{VALUES_MIN, dependent_error, of_waves};
use crate::student::{End, NORMAL_975, beta_end, t_quantile};

/// A share of a second's operations that is no operation.
const ROUNDING: f64 = 1e-9;

/// Operations of one second of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondBeyond {
    /// All that were answered in it.
    pub operations: f64,
    /// Those beyond the value of the percentile. Of what equals that value counts the share, the same in each second, with which
    /// all seconds together have exactly as many beyond as the percentile says.
    pub beyond: f64,
}

/// The 95 % interval of a percentile as shares (0–1) of the run's operations, in the order of their latencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileRanks {
    /// Share of the operations at or below the lower end.
    pub low: f64,
    /// Share at or below the upper end; none where that lies beyond all that was measured.
    pub high: Option<f64>,
}

/// The interval of the percentile that this share (0–1) of a run's operations is at most as slow as.
///
/// R. S. Woodruff's interval ("Confidence intervals for medians and other position measures", Journal of the American
/// Statistical Association 47, 1952): that of the share of operations beyond the percentile's value, which the order of the
/// operations translates into latencies. Seconds are drawn as clusters of operations, so that the share is a ratio of two sums;
/// its variance is that of the linearized ratio (W. G. Cochran, Sampling Techniques, 3rd edition, 1977, 6.3), with as many
/// independent seconds as tell as much, or that of slow waves in it: whichever leaves fewer operations ([`crate::run_mean`]). By how
/// much that exceeds the variance of independent operations, the design effect, shortens their number, and so does Student's
/// distribution of few seconds (E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
/// positive counts estimated from survey data", Survey Methodology 24, 1998); of that effective number the interval is the one of
/// C. J. Clopper and E. S. Pearson ("The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26,
/// 1934).
///
/// None of fewer than 8 seconds, without operations, and where a number is not finite. `docs/statistics.md` says in how many
/// simulated runs it holds.
#[must_use]
pub fn percentile_ranks(seconds: &[SecondBeyond], share: f64) -> Option<PercentileRanks> {
    let operations: f64 = seconds.iter().map(|second| second.operations).sum();
    let inside = operations > 0.0 && operations.is_finite() && share > 0.0 && share < 1.0;
    if seconds.len() < VALUES_MIN || !inside {
        return None;
    }
    let effective = effective_operations(seconds, operations, share)?;
    let beyond = effective * (1.0 - share);
    let most = beta_end(End::High, beyond + 1.0, effective - beyond);
    let least = beta_end(End::Low, beyond, effective - beyond + 1.0);
    let high = (least * operations >= 1.0).then(|| (1.0 - least).max(share));
    Some(PercentileRanks { low: (1.0 - most).clamp(0.0, share), high })
}

/// So many independent operations would tell as much about the share beyond the percentile as all of these.
fn effective_operations(seconds: &[SecondBeyond], operations: f64, share: f64) -> Option<f64> {
    let beyond: f64 = seconds.iter().map(|second| second.beyond).sum();
    let (ratio, mean) = (beyond / operations, operations / seconds.len() as f64);
    let linearized = |second: &SecondBeyond| {
        let deviation = second.beyond - ratio * second.operations;
        // Seconds that are alike differ by rounding, and what that leaves would be correlated.
        let is_rounding = deviation.abs() <= ROUNDING * second.operations;
        if is_rounding { 0.0 } else { deviation / mean }
    };
    let linearized: Vec<f64> = seconds.iter().map(linearized).collect();
    let (dependence, error) = dependent_error(&linearized, None)?;
    let waves = of_waves(&linearized);
    let of_independent = share * (1.0 - share) / operations;
    let effective = |error: f64, degrees: f64| {
        let design_effect = (error * error / of_independent).max(1.0);
        let few_seconds = NORMAL_975 / t_quantile(0.025, degrees);
        operations / design_effect * few_seconds * few_seconds
    };
    // Waves lower than those of independent operations show no dependence, and their few degrees would widen every interval.
    let of_waves = if waves.error * waves.error > of_independent {
        effective(waves.error, waves.degrees)
    } else {
        operations
    };
    let least = effective(error, dependence.degrees()).min(of_waves);
    least.is_finite().then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// Seconds of as many operations each, of which such shares lie beyond.
    fn seconds(operations: f64, shares: impl IntoIterator<Item = f64>) -> Vec<SecondBeyond> {
        let second = |share: f64| SecondBeyond { operations, beyond: operations * share };
        shares.into_iter().map(second).collect()
    }

    /// Shares around 1 − `share` that hang together from one second to the next.
    fn correlated(share: f64, correlation: f64, length: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut deviation = random.normal();
        let mut next = || {
            deviation = correlation * deviation + (1.0 - correlation * correlation).sqrt() * random.normal();
            (1.0 - share) * (1.0 + 0.2 * deviation).clamp(0.0, 2.0)
        };
        let shares: Vec<f64> = (0..length).map(|_| next()).collect();
        let mean = shares.iter().sum::<f64>() / length as f64;
        shares.into_iter().map(|value| value * (1.0 - share) / mean).collect()
    }

    fn width(ranks: PercentileRanks) -> f64 {
        ranks.high.unwrap_or(1.0) - ranks.low
    }

    #[test]
    fn too_few_seconds_and_seconds_without_operations_have_no_interval() {
        assert_eq!(percentile_ranks(&seconds(1000.0, [0.01; 7]), 0.99), None);
        assert_eq!(percentile_ranks(&seconds(0.0, [0.0; 30]), 0.99), None);
        assert_eq!(percentile_ranks(&seconds(1000.0, [0.01; 30]), 1.0), None);
        assert_eq!(percentile_ranks(&seconds(f64::NAN, [0.01; 30]), 0.99), None);
    }

    /// Such seconds once had no interval; those that were given one held less often.
    #[test]
    fn seconds_that_resemble_each_other_have_a_wide_interval() {
        let drifting = (0..10).map(|second| f64::from(second) * 0.02 / 9.0);
        let wide = percentile_ranks(&seconds(1000.0, drifting.clone()), 0.99).unwrap();
        let shuffled = [3, 8, 1, 6, 0, 9, 4, 7, 2, 5].map(|second| f64::from(second) * 0.02 / 9.0);
        let narrow = percentile_ranks(&seconds(1000.0, shuffled), 0.99).unwrap();
        assert!(width(wide) > 2.0 * width(narrow), "{wide:?} {narrow:?}");
    }

    #[test]
    fn an_upper_end_beyond_all_that_was_measured_is_open() {
        // Fifteen of 1,500 operations lie beyond, all in one second: they tell as much as one.
        let mut shares = [0.0; 30];
        shares[11] = 0.3;
        let ranks = percentile_ranks(&seconds(50.0, shares), 0.99).unwrap();
        assert_eq!(ranks.high, None);
        assert!(ranks.low > 0.5 && ranks.low < 0.98, "{ranks:?}");
    }

    #[test]
    fn ranks_are_those_of_another_implementation() {
        // Of SciPy 1.17.1: stats.t.ppf and stats.beta.ppf around the formulas that are named above, lag one and the sum over all
        // lags written out. Correlation 0.774, 3.64 independent seconds, a design effect of 176.
        let second = |i: i32| SecondBeyond {
            operations: f64::from(900 + (i * 104_729) % 201),
            beyond: f64::from(4 + (i * 7919) % 23 + if (i / 6) % 2 == 1 { 60 } else { 0 }),
        };
        let ranks =
            percentile_ranks(&(0..24).map(second).collect::<Vec<_>>(), 0.955_099_126_344_086).unwrap();
        assert!((ranks.low - 0.845_757_387_045_262_2).abs() < 1e-9, "{ranks:?}");
        assert!((ranks.high.unwrap() - 0.994_654_777_930_543_5).abs() < 1e-9, "{ranks:?}");
    }

    #[test]
    fn of_independent_operations_the_interval_is_that_of_clopper_and_pearson() {
        // R 4.5, binom.test(4, 20)$conf.int: 0.057334 to 0.436614. Student's distribution of many seconds is the normal one.
        let ranks = percentile_ranks(&seconds(20.0 / 100_000.0, vec![0.2; 100_000]), 0.8).unwrap();
        assert!((ranks.low - (1.0 - 0.436_614)).abs() < 1e-4, "{ranks:?}");
        assert!((ranks.high.unwrap() - (1.0 - 0.057_334)).abs() < 1e-4, "{ranks:?}");
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_percentile_and_grows_with_correlation(
            seed in any::<u64>(), share in prop::sample::select(vec![0.5, 0.95, 0.99, 0.999]),
        ) {
            let ranks = |correlation: f64| {
                percentile_ranks(&seconds(100_000.0, correlated(share, correlation, 400, seed)), share)
            };
            let (alone, together) = (ranks(0.0).unwrap(), ranks(0.8).unwrap());
            for ranks in [alone, together] {
                prop_assert!(ranks.low <= share && ranks.high.is_none_or(|high| high >= share), "{ranks:?}");
            }
            prop_assert!(width(together) > 1.5 * width(alone), "{alone:?} {together:?}");
        }

        #[test]
        fn of_seconds_that_are_alike_a_higher_percentile_has_higher_ends(
            operations in 100.0f64..1e6, length in 8usize..60, share in 0.01f64..0.99, further in 0.1f64..0.9,
        ) {
            let ends = |share: f64| {
                let ranks = percentile_ranks(&seconds(operations, vec![1.0 - share; length]), share).unwrap();
                (ranks.low, ranks.high.unwrap_or(1.0))
            };
            let (lower, higher) = (ends(share), ends(share + (1.0 - share) * further));
            prop_assert!(lower.0 <= higher.0 && lower.1 <= higher.1, "{lower:?} {higher:?}");
        }

        #[test]
        fn any_floats_give_ranks_or_none(
            values in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20), share in any::<f64>(),
        ) {
            let of = |(operations, beyond): (f64, f64)| SecondBeyond { operations, beyond };
            if let Some(ranks) = percentile_ranks(&values.into_iter().map(of).collect::<Vec<_>>(), share) {
                prop_assert!((0.0..=share).contains(&ranks.low));
                prop_assert!(ranks.high.is_none_or(|high| (share..=1.0).contains(&high)), "{ranks:?}");
            }
        }
    }
}
