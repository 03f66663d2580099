//! How throughput scales with the number of clients, cores or nodes: Gunther's universal scalability law.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)): λ is the throughput of one, σ the share that is serialised
//! (contention) and κ the cost of agreeing between each pair (coherency). A peak is named only where the data
//! hold one; the law is not used to promise throughput far beyond what was measured, and a good fit does not
//! prove the cause its parameters are named after.

use serde::{Deserialize, Serialize};

use crate::CandidateLevel;
use crate::curve::{NoCurve, at_least_resolved, bic, counted, curve_of_at_least};
use crate::interval::Estimate;
use crate::law::{Data, LAW, Parts};
use crate::student::t_quantile;

/// Fewest different N of a fit.
const LEVELS_MIN: usize = 6;

/// A peak is named up to so many times the largest N that was measured.
const PEAK_BEYOND_MAX: f64 = 1.5;

/// Parameters of the law.
const PARAMETERS: f64 = 3.0;

/// Parameters of a law without coherency that is cut off at a capacity: λ, σ, the capacity.
const FULL_PARAMETERS: f64 = 3.0;

/// Such a law must be worse by so much of the Bayesian information criterion where a peak is named: "strong" in Kass and Raftery,
/// "Bayes factors", JASA 90, 1995.
const BIC_GAIN_MIN: f64 = 6.0;

/// Farthest that a level's mean may lie from the law, as a share.
const MISFIT_MAX: f64 = 0.10;

/// The law fitted to measured throughputs.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// Throughput of one, in the unit of the throughputs, in the blocks that were measured.
    pub lambda: Estimate,
    /// Contention: the share of the work that is serialised; 0 or more.
    pub sigma: Estimate,
    /// Coherency: what each pair costs, as a share of the work; 0 or more.
    pub kappa: Estimate,
    /// N of the greatest throughput, √((1 − σ) / κ), where the interval of κ excludes 0, a device that is full from some N on
    /// would not look the same, and it lies at no more than 1.5 times the largest N measured.
    pub peak: Option<Estimate>,
}

/// Why the law is not fitted; displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoScalability {
    /// An N below one or a throughput that is not positive, or one that is not finite.
    #[error("no scalability: a throughput of {throughput} at N = {n} cannot be used")]
    UnusableValues {
        /// The N.
        n: f64,
        /// The throughput measured there.
        throughput: f64,
    },
    /// Too few different N.
    #[error("no scalability: too few levels: {} (required: {LEVELS_MIN})", counted(*levels, "level"))]
    TooFewLevels {
        /// How many there are.
        levels: usize,
    },
    /// The law does not describe the points.
    #[error(
        "no scalability: a level is {:.0}% away from the universal scalability law (limit {:.0}%)",
        share * 100.0, MISFIT_MAX * 100.0
    )]
    PoorFit {
        /// Distance as a share of the law's throughput there.
        share: f64,
    },
    /// The levels leave a parameter without an upper end.
    #[error("no scalability: these levels do not show the throughput at N = 1. Measure levels closer to 1")]
    Unbounded,
}

/// Fits the universal scalability law (N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6; with
/// λ as a parameter: "A general theory of computational scalability based on rational functions", 2008) to
/// throughputs over N, by least squares of the logarithms of the levels' means with σ and κ not below 0: throughputs scatter by
/// shares, and least squares of themselves would let the large ones decide alone.
///
/// The 95 % intervals hold the values with which the law, fitted in all else, has a sum of squares that is not larger than the
/// least by a factor of more than 1 + t²/ν, with Student's t of ν = levels − 3 degrees of freedom (profile of the sum of squares:
/// Bates and Watts, Nonlinear Regression Analysis, 1988, 6.1). An interval of the peak without an upper end is no peak, and
/// neither is one of a device that is merely full: a law without κ, cut off at a capacity from some level on, must describe the
/// means worse by at least 6 of the Bayesian information criterion.
///
/// # Errors
/// The reason why nothing is fitted.
pub fn usl(levels: &[CandidateLevel<'_>]) -> Result<Scalability, NoScalability> {
    if let Some(level) =
        levels.iter().find(|level| level.by_block.iter().any(Option::is_some) && level.level < 1.0)
    {
        let throughput = level.by_block.iter().flatten().next().copied().unwrap_or(0.0);
        return Err(NoScalability::UnusableValues { n: level.level, throughput });
    }
    let points = curve_of_at_least(levels, LEVELS_MIN, LEVELS_MIN).map_err(|reason| match reason {
        NoCurve::UnusableValues { level, value } => {
            NoScalability::UnusableValues { n: level, throughput: value }
        }
        NoCurve::TooFewLevels { levels, .. } => NoScalability::TooFewLevels { levels },
    })?;
    let data = Data::of(&points);
    let fit = data.fit(&LAW).ok_or(NoScalability::Unbounded)?;
    match data.misfit(&fit) {
        share if share > MISFIT_MAX => Err(NoScalability::PoorFit { share }),
        _ => Profile::of(&data, fit.squares).scalability().ok_or(NoScalability::Unbounded),
    }
}

/// What is as good as the best fit but for chance.
struct Profile<'a> {
    data: &'a Data,
    /// Least sum of squares.
    best: f64,
    /// The largest one that is as good.
    limit: f64,
}

impl<'a> Profile<'a> {
    fn of(data: &'a Data, best: f64) -> Self {
        let freedom = data.levels() as f64 - PARAMETERS;
        let t = t_quantile(0.025, freedom);
        Self { data, best, limit: at_least_resolved(data.levels(), best) * (1.0 + t * t / freedom) }
    }

    /// Parameters and peak with their intervals; none where one has no upper end.
    fn scalability(&self) -> Option<Scalability> {
        let fit = self.data.fit(&LAW)?;
        let unit = self.data.unit.exp();
        let lambda = self.interval(fit.lambda(), 0.0, Parts::with_lambda)?;
        let lambda = Estimate::new(lambda.value * unit, (lambda.low * unit, lambda.high * unit))?;
        let sigma = self.interval(fit.sigma(), 0.0, Parts::with_sigma)?;
        let kappa = self.interval(fit.kappa(), 0.0, Parts::with_kappa)?;
        let near = |at: &f64| *at <= PEAK_BEYOND_MAX * self.data.largest();
        let peak = fit.peak().filter(near).filter(|_| !self.may_be_full());
        let peak = peak.and_then(|at| self.interval(at, 1.0, Parts::with_peak));
        Some(Scalability { lambda, sigma, kappa, peak })
    }

    /// Whether a device that is full from some level on would look the same.
    fn may_be_full(&self) -> bool {
        let levels = self.data.levels();
        let full = self.data.full_squares().map(|squares| bic(levels, squares, FULL_PARAMETERS));
        full.is_none_or(|full| full - bic(levels, self.best, PARAMETERS) < BIC_GAIN_MIN)
    }

    /// The values of a figure with which the law is as good as at its best, down to the least that it can be; none where they
    /// have no upper end.
    fn interval(&self, value: f64, least: f64, parts: impl Fn(f64) -> Parts) -> Option<Estimate> {
        /// Doublings after which a figure has no upper end, or is as good as its least.
        const DOUBLINGS_MAX: i32 = 60;
        /// Where a figure of 0 is doubled from: less than any that can be told from it.
        const START: f64 = 1e-15;
        let holds = |value: f64| self.data.fit(&parts(value)).is_some_and(|law| law.squares <= self.limit);
        let mut inside = value.max(START);
        let high = (0..DOUBLINGS_MAX).find_map(|_| {
            let outside = inside * 2.0;
            if holds(outside) {
                inside = outside;
                return None;
            }
            Some(border(inside, outside, holds))
        })?;
        let mut inside = value;
        let low = (0..DOUBLINGS_MAX).find_map(|_| {
            let outside = inside / 2.0;
            if outside < least.max(START) || holds(outside) {
                inside = outside.max(least);
                return None;
            }
            Some(border(inside, outside, holds))
        });
        Estimate::new(value, (low.unwrap_or(least).min(value), high.max(value)))
    }
}

/// Where what holds inside stops to hold, by halving.
fn border(mut inside: f64, mut outside: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..30 {
        let middle = f64::midpoint(inside, outside);
        if holds(middle) { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
#[path = "scalability_tests.rs"]
mod tests;
