//! Where the warm-up of a run ends, and whether the run was steady after it.
//!
//! The warm-up is cut by the data and not by a guess at how long it takes. A run whose warm-up cannot be told
//! from the rest gets no figure: "no steady state" is an answer. Nothing here repairs a run or judges one by
//! its level, and a drift that lasts to the end is reported, not removed.

use serde::{Deserialize, Serialize};

use crate::{PtsWindow, bins_of_five, mean, pts};

/// Values of a batch.
const BATCH: usize = 5;

/// Batches at the end that are never cut, in number and as a part of the run: of few, the statistic is small by
/// chance, and of one it is always zero. A cut that is rejected can still be told from one that is not.
const BATCHES_KEPT_MIN: usize = 5;
const PART_KEPT_MIN: usize = 3;

/// Fewest batches of a run: with those that are kept no more than half.
const BATCHES_MIN: usize = 2 * BATCHES_KEPT_MIN;

/// What is cut from the beginning of a run.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Truncation {
    /// How many values to drop; a multiple of five, zero where there is no warm-up.
    pub cut: usize,
    /// How many values are left.
    pub kept: usize,
    /// Mean of those, in their unit.
    pub mean: f64,
}

/// Why the end of a warm-up cannot be told; displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoTruncation {
    /// Too short a run.
    #[error("the end of the warm-up cannot be found in {values} values (required: {})", BATCHES_MIN * BATCH)]
    TooFewValues {
        /// How many there are.
        values: usize,
    },
    /// A value that is not finite, or of which sums are not.
    #[error("the end of the warm-up cannot be found: a value is not finite")]
    UnusableValues,
    /// More than half would be cut, so that a longer run would probably move the cut again.
    #[error("the warm-up takes {cut} or more of {values} values, over half of the run. Run longer")]
    MoreThanHalf {
        /// How many values would be dropped.
        cut: usize,
        /// Of how many.
        values: usize,
    },
}

/// Cuts the warm-up by MSER-5 (K. P. White, "An effective truncation heuristic for bias reduction in simulation
/// output", Simulation 69, 1997; K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state
/// truncation heuristics for simulation", Winter Simulation Conference 2000): of the means of batches of five
/// values, so many are cut that the marginal standard error of the rest, Σ(batch − mean of the rest)² /
/// (batches left)², is least; of equal ones the shortest cut.
///
/// The last third of the batches, five at least, is never cut: were it only five, twice as many steady runs
/// of two minutes would be rejected. Of simulated runs without any warm-up, independent noise makes it reject 10 % of those of 60
/// values, 5 % with 120 and under 1 % with 300. Values past the last whole batch are kept without being looked
/// at.
///
/// # Errors
/// The reason why no cut is made, among them one of more than half of the batches.
pub fn mser5(values: &[f64]) -> Result<Truncation, NoTruncation> {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if batches.len() < BATCHES_MIN {
        return Err(NoTruncation::TooFewValues { values: values.len() });
    }
    let cut_batches = least_error(&batches).ok_or(NoTruncation::UnusableValues)?;
    let cut = cut_batches * BATCH;
    if 2 * cut_batches > batches.len() {
        return Err(NoTruncation::MoreThanHalf { cut, values: values.len() });
    }
    let kept = &values[cut..];
    let mean = mean(kept).ok_or(NoTruncation::UnusableValues)?;
    Ok(Truncation { cut, kept: kept.len(), mean })
}

/// How many batches to cut for the least error. Batches are taken in from the end, with a running mean and sum
/// of squares (B. P. Welford, "Note on a method for calculating corrected sums of squares and products",
/// Technometrics 4, 1962), so that equal batches have none. None where a number is not finite.
fn least_error(batches: &[f64]) -> Option<usize> {
    let kept_min = batches.len().div_ceil(PART_KEPT_MIN).max(BATCHES_KEPT_MIN);
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut least = (f64::INFINITY, 0);
    for (cut, batch) in batches.iter().enumerate().rev() {
        let count = (batches.len() - cut) as f64;
        let deviation = batch - mean;
        mean += deviation / count;
        squares += deviation * (batch - mean);
        let error = squares / (count * count);
        if !error.is_finite() {
            return None;
        }
        if batches.len() - cut >= kept_min && error <= least.0 {
            least = (error, cut);
        }
    }
    Some(least.1)
}

/// The steady part of a run.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct SteadyRun {
    /// What was cut as warm-up, in seconds, what is left and its mean.
    pub truncation: Truncation,
    /// What is left in five equal parts against the rule of the PTS.
    pub window: PtsWindow,
}

/// Why a run has no steady state; displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotSteady {
    /// Its warm-up has no end that could be told.
    #[error("no steady state: {0}")]
    NoTruncation(#[from] NoTruncation),
    /// The rest has no positive mean that a share could be taken of.
    #[error("no steady state: after {cut} s of warm-up the mean is {mean}, but must be positive")]
    NotPositive {
        /// Seconds that were cut.
        cut: usize,
        /// Mean of the rest.
        mean: f64,
    },
    /// The rest is not within the rule of the PTS.
    #[error(
        "no steady state after {cut} s of warm-up: the five parts of the run differ by {:.0}% of their mean (limit 20%). \
         Their trend changes by {:.0}% (limit 10%)",
        window.range_share * 100.0, window.slope_share * 100.0
    )]
    Drifting {
        /// Seconds that were cut.
        cut: usize,
        /// The rest in five equal parts.
        window: PtsWindow,
    },
}

/// Judges a database's run by its figures a second: bins of 5 s, which are the batches of MSER-5 ([`mser5`]),
/// are cut as warm-up, and what is left is judged in five equal parts by the rule of the PTS ([`pts`]). All
/// that is left is judged and not its last five bins, since a mean over it is what will be printed.
///
/// # Errors
/// The reason why there is no steady state.
pub fn steady_after_warm_up(per_second: &[f64]) -> Result<SteadyRun, NotSteady> {
    let truncation = mser5(per_second)?;
    let (cut, mean) = (truncation.cut, truncation.mean);
    let bins = bins_of_five(&per_second[cut..]).ok_or(NoTruncation::UnusableValues)?;
    let window = pts(&bins).ok_or(NotSteady::NotPositive { cut, mean })?;
    if window.steady {
        Ok(SteadyRun { truncation, window })
    } else {
        Err(NotSteady::Drifting { cut, window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// A rate that warms up to 1,000 by the exponential law, with noise of 2 %.
    fn warming(length: usize, time_constant_s: f64, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let rate = |second: usize| 1000.0 * (1.0 - (-(second as f64) / time_constant_s).exp());
        (0..length).map(|second| rate(second) + 20.0 * random.normal()).collect()
    }

    /// Figures without random numbers that another program can make as well.
    fn reproducible(length: usize, warm: f64) -> Vec<f64> {
        let wave = |second: usize| ((second * 7919) % 101) as f64 / 101.0;
        (0..length)
            .map(|second| 100.0 - 80.0 * (-(second as f64) / warm).exp() + 10.0 * wave(second))
            .collect()
    }

    #[test]
    fn cuts_of_another_implementation_are_reproduced() {
        // The definition written out with numpy's mean over each rest, NumPy 2.4.6.
        for (length, warm, cut, mean) in [
            (60, 3.0, 15, 105.044_651_576_678_48),
            (123, 9.0, 45, 104.792_127_489_203_12),
            (300, 20.0, 110, 104.955_340_295_813_04),
            (300, 0.01, 5, 104.961_906_360_127_54),
            (1000, 60.0, 315, 104.919_632_470_359_08),
        ] {
            let found = mser5(&reproducible(length, warm)).unwrap();
            assert_eq!((found.cut, found.kept), (cut, length - cut), "{length} s, warming {warm}");
            assert!((found.mean / mean - 1.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_step_is_cut_where_it_ends() {
        let mut values = vec![10.0; 30];
        values.extend([100.0; 70]);
        assert_eq!(mser5(&values), Ok(Truncation { cut: 30, kept: 70, mean: 100.0 }));
        assert_eq!(mser5(&[0.1; 53]).unwrap().cut, 0, "nothing is cut of what never changes");
    }

    #[test]
    fn more_than_half_is_not_cut() {
        let with_step = |step: usize| [vec![10.0; step], vec![100.0; 100 - step]].concat();
        assert_eq!(mser5(&with_step(50)).unwrap().cut, 50);
        assert_eq!(mser5(&with_step(55)), Err(NoTruncation::MoreThanHalf { cut: 55, values: 100 }));
    }

    #[test]
    fn a_warm_database_is_steady_and_its_mean_is_that_after_the_warm_up() {
        for seed in 0..20 {
            let run = steady_after_warm_up(&warming(300, 15.0, seed)).unwrap();
            assert!((25..=150).contains(&run.truncation.cut), "{run:?}");
            assert!((run.truncation.mean / 1000.0 - 1.0).abs() < 0.01, "{run:?}");
        }
    }

    #[test]
    fn runs_without_warm_up_are_seldom_rejected() {
        for (length, most) in [(60, 0.15), (120, 0.10), (300, 0.02)] {
            let rejected =
                (0..1000).filter(|&seed| mser5(&warming(length + 1, 1e-9, seed)[1..]).is_err()).count();
            assert!(rejected as f64 / 1000.0 <= most, "{length} s: {rejected} of 1,000");
        }
    }

    #[test]
    fn each_reason_is_a_sentence() {
        let check = |values: &[f64], sentence: &str| {
            assert_eq!(steady_after_warm_up(values).unwrap_err().to_string(), sentence);
        };
        check(
            &[1.0; 49],
            "no steady state: the end of the warm-up cannot be found in 49 values (required: 50)",
        );
        let mut values = vec![1.0; 60];
        values[59] = f64::NAN;
        check(&values, "no steady state: the end of the warm-up cannot be found: a value is not finite");
        let step = [vec![10.0; 60], vec![100.0; 40]].concat();
        check(
            &step,
            "no steady state: the warm-up takes 60 or more of 100 values, over half of the run. Run longer",
        );
        check(&[0.0; 60], "no steady state: after 0 s of warm-up the mean is 0, but must be positive");
        let in_steps: Vec<f64> =
            (0..300).map(|second| [1000.0, 500.0][usize::from(second % 100 >= 50)]).collect();
        check(
            &in_steps,
            "no steady state after 0 s of warm-up: the five parts of the run differ by 44% of their mean (limit 20%). \
             Their trend changes by 27% (limit 10%)",
        );
    }

    proptest! {
        #[test]
        fn no_other_cut_has_a_smaller_error(values in prop::collection::vec(0.0f64..1e3, 50..200)) {
            let batches: Vec<f64> = values.chunks_exact(5).map(|batch| mean(batch).unwrap()).collect();
            let error = |cut: usize| {
                let rest = &batches[cut..];
                let mean = mean(rest).unwrap();
                rest.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
            };
            let best = least_error(&batches).unwrap();
            let cuts_max = batches.len() - batches.len().div_ceil(3).max(5);
            prop_assert!(best <= cuts_max);
            for cut in 0..=cuts_max {
                prop_assert!(error(best) <= error(cut) * (1.0 + 1e-9), "{best} against {cut}");
            }
        }

        #[test]
        fn units_do_not_matter(seed in any::<u64>(), scale in -20i32..20) {
            let values = warming(120, 8.0, seed);
            // A power of two, so that no rounding moves the cut.
            let scaled: Vec<f64> = values.iter().map(|value| value * 2f64.powi(scale)).collect();
            prop_assert_eq!(mser5(&values).map(|found| found.cut).ok(), mser5(&scaled).map(|found| found.cut).ok());
            prop_assert_eq!(steady_after_warm_up(&values).is_ok(), steady_after_warm_up(&scaled).is_ok());
        }

        #[test]
        fn any_floats_give_finite_figures_or_a_reason(
            values in prop::collection::vec(any::<f64>(), 0..80),
            huge in prop::collection::vec(-1e308f64..1e308, 50..60),
            tiny in prop::collection::vec(0.0f64..1e-300, 50..60),
        ) {
            for run in [&values, &huge, &tiny].into_iter().flat_map(|values| steady_after_warm_up(values)) {
                let figures = [run.truncation.mean, run.window.mean, run.window.range_share, run.window.slope_share];
                prop_assert!(figures.iter().all(|figure| figure.is_finite()), "{run:?}");
            }
        }
    }
}
