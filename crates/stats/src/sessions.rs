//! Several runs on each side of a comparison, each of another time: what a time does to a run is noise, of which a run is one draw.
//!
//! The trials of a run share its time, so that more of them say nothing of how much times differ: the unit is the run. Nothing here
//! knows whether the runs of both sides alternated; what drifts from one side's times to the other's is part of the effect.

use crate::effect::{Effect, logarithm, p_value};
use crate::interval::Estimate;
use crate::mean;
use crate::student::t_quantile;

/// How two sides of several runs compare.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Sessions {
    /// Level over reference; its `blocks` are the runs of the side that has fewer.
    pub effect: Effect,
    /// Standard deviation of the log means of runs of one side, as a share: 0.02 is about 2 %. Of what their few trials scatter
    /// it holds a part too.
    pub spread: f64,
    /// Degrees of freedom of the spread: runs of both sides less two.
    pub freedom: usize,
}

/// Effect between two sides, each of the values of its runs by run.
///
/// A run counts by the mean of its trials' logarithms, and each run alike. The ratio is that of the sides' geometric means, with
/// the interval and the p-value of the t test of two samples, whose variance is pooled over the sides ("Student", "The probable
/// error of a mean", Biometrika 6, 1908; R. A. Fisher, "Applications of 'Student's' distribution", Metron 5, 1925): of two runs a
/// side Welch's degrees of freedom are between 1 and 2, and nothing could be shown. That trials of one run are no repeats of it is
/// S. H. Hurlbert, "Pseudoreplication and the design of ecological field experiments", Ecological Monographs 54, 1984.
///
/// None without a run on a side, of fewer than three runs in all, where a run has no value or one that is not positive and finite,
/// or where the ratio leaves the range of numbers.
#[must_use]
pub fn effect_of_sessions(reference: &[Vec<f64>], level: &[Vec<f64>]) -> Option<Sessions> {
    let of_run = |values: &Vec<f64>| {
        let logarithms = values.iter().copied().map(logarithm).collect::<Option<Vec<f64>>>()?;
        mean(&logarithms)
    };
    let of_side = |runs: &[Vec<f64>]| runs.iter().map(of_run).collect::<Option<Vec<f64>>>();
    let (reference, level) = (of_side(reference)?, of_side(level)?);
    let (from, to) = (mean(&reference)?, mean(&level)?);
    let freedom = (reference.len() + level.len()).checked_sub(2).filter(|&freedom| freedom > 0)?;
    let squares = |values: &[f64], mean: f64| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let spread = ((squares(&reference, from) + squares(&level, to)) / freedom as f64).sqrt();
    let error = spread * (1.0 / reference.len() as f64 + 1.0 / level.len() as f64).sqrt();
    let half_width = t_quantile(0.025, freedom as f64) * error;
    let center = to - from;
    let ends = ((center - half_width).exp(), (center + half_width).exp());
    let effect = Effect {
        ratio: Estimate::new(center.exp(), ends).filter(|ratio| ratio.low > 0.0)?,
        blocks: reference.len().min(level.len()),
        confidence: 0.95,
        p_value: p_value(center, error, freedom as f64),
        deviation: spread * std::f64::consts::SQRT_2,
    };
    Some(Sessions { effect, spread, freedom })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::{Better, Comparison, judge_sessions};
    use proptest::prelude::*;

    /// Sleep that two drugs gained ("Student", 1908), as logarithms.
    const ONE: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const OTHER: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn runs(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|value| vec![value.exp()]).collect()
    }

    #[test]
    fn the_published_example_is_reproduced() {
        // R: t.test(extra ~ group, data = sleep, var.equal = TRUE): t = −1.8608, 18 degrees of freedom, p = 0.07919,
        // −3.363874 … 0.203874.
        let found = effect_of_sessions(&runs(&OTHER), &runs(&ONE)).unwrap();
        let ends = (found.effect.ratio.low.ln(), found.effect.ratio.high.ln());
        assert!((ends.0 + 3.363_874).abs() < 1e-6 && (ends.1 - 0.203_874).abs() < 1e-6, "{ends:?}");
        assert!((found.effect.p_value - 0.079_19).abs() < 5e-6, "{found:?}");
        assert_eq!((found.freedom, found.effect.blocks), (18, 10));
    }

    #[test]
    fn more_trials_of_a_run_are_no_more_runs() {
        let many = |runs: &[Vec<f64>]| runs.iter().map(|run| run.repeat(50)).collect::<Vec<_>>();
        let (one, other) = (runs(&ONE[..3]), runs(&OTHER[..3]));
        let (few, lots) = (
            effect_of_sessions(&one, &other).unwrap(),
            effect_of_sessions(&many(&one), &many(&other)).unwrap(),
        );
        assert!((few.effect.p_value - lots.effect.p_value).abs() < 1e-9, "{few:?} {lots:?}");
    }

    /// Share of comparisons of two equal sides, of so many runs each of seven trials, that claim a difference.
    fn false_claims(count: usize, between: f64) -> f64 {
        let differs = |seed: &u64| {
            let mut random = SplitMix64::new(*seed);
            let mut side = || {
                let mut run = || {
                    let shift = between * random.normal();
                    (0..7).map(|_| (shift + 0.02 * random.normal()).exp()).collect::<Vec<f64>>()
                };
                (0..count).map(|_| run()).collect::<Vec<_>>()
            };
            let found = effect_of_sessions(&side(), &side()).unwrap();
            let judged = judge_sessions(&[found.effect], 0.0, Better::Higher)[0];
            matches!(judged.comparison, Comparison::Better | Comparison::Worse)
        };
        (0..2_000).filter(differs).count() as f64 / 2_000.0
    }

    #[test]
    fn equal_sides_of_runs_that_differ_by_themselves_claim_nothing_false() {
        for (count, between) in [(2, 0.0), (2, 0.05), (3, 0.05), (5, 0.05)] {
            let share = false_claims(count, between);
            assert!((0.03..=0.065).contains(&share), "{count} runs a side, {between}: {share}");
        }
    }

    #[test]
    fn what_cannot_be_compared_has_no_effect() {
        let one = || vec![vec![100.0, 101.0]];
        assert_eq!(effect_of_sessions(&one(), &one()), None, "one run a side says nothing of its time");
        assert!(effect_of_sessions(&one(), &runs(&ONE[..2])).is_some_and(|found| found.freedom == 1));
        assert_eq!(effect_of_sessions(&[], &runs(&ONE)), None);
        assert_eq!(effect_of_sessions(&[vec![1.0], vec![]], &runs(&ONE)), None);
        assert_eq!(effect_of_sessions(&[vec![1.0], vec![0.0]], &runs(&ONE)), None);
    }

    proptest! {
        #[test]
        fn any_floats_are_answered(
            one in prop::collection::vec(prop::collection::vec(any::<f64>(), 0..3), 0..4),
            other in prop::collection::vec(prop::collection::vec(any::<f64>(), 0..3), 0..4),
        ) {
            if let Some(found) = effect_of_sessions(&one, &other) {
                prop_assert!((0.0..=1.0).contains(&found.effect.p_value) && found.spread >= 0.0, "{found:?}");
            }
        }
    }
}
