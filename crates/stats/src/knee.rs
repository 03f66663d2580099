//! The knee of a curve: the level past which more load gains at another, usually lower, rate.
//!
//! A line that bends once is fitted to the logarithms of the levels' means and claimed only where it is clearly better than a
//! straight one, than smooth curves and than a jump; a smooth curve is not given a knee because some formula always finds one.
//! It finds one knee at most, judges neither which side is the better nor whether the bend is down or up, and says which levels
//! to add without measuring them.

use serde::{Deserialize, Serialize};

use crate::CandidateLevel;
use crate::curve::{
    BIC_GAIN_MIN, Bent, CHANCE_MAX, Jumping, NoCurve, Point, Quadratic, Saturating, at_least_resolved, bic,
    by_chance, curve,
};
use crate::queueing::Curve;
use crate::student::t_quantile;

/// A knee is claimed where the steeper slope is at least so many times the other, or they have opposite signs.
const SLOPE_RATIO_MIN: f64 = 2.0;

/// A knee is claimed where a doubling of the level changes the value by so much, as a share, on one side at least: what a
/// sweet spot may lose.
const DOUBLING_MIN: f64 = 0.05;

/// A bend must describe the levels better than any smooth curve by so much of the Bayesian information criterion, counted by the
/// degrees of freedom that a bend leaves. docs/statistics.md tells how often soft curves still have a knee.
const SMOOTH_GAIN_MIN: f64 = 5.0;

/// The sharpest curve that is still smooth, by p of [`Saturating`], and by how much a bend must describe the levels better, counted
/// alike. A bend differs little from such a curve, so less is asked.
const SHARP: f64 = 2.0;
const SHARP_GAIN_MIN: f64 = 2.0;

/// Joins that are tried between two levels to find where the interval ends.
const JOINS_A_GAP: usize = 32;

/// Where a curve bends, with its 95 % interval in the unit of the levels.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Level of the knee; it may lie between measured levels.
    pub at: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Slope below the knee in log–log: 1 is proportional growth, 0 none.
    pub slope_below: f64,
    /// Slope above the knee in log–log.
    pub slope_above: f64,
    /// The lowest level that was measured; none in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    /// The highest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<f64>,
    /// Probability that noise bends a straight line as far.
    pub chance: f64,
    /// By how much the Bayesian information criterion is better than that of a smooth curve, and than that of a jump.
    pub bic_gain: f64,
}

impl Knee {
    /// The two levels to be measured next, which cut the interval into three parts of equal ratio. They are not
    /// rounded, and may be levels that were measured already; of an interval without width both are the knee.
    #[must_use]
    pub fn further_levels(&self) -> [f64; 2] {
        let third = |thirds: f64| (self.low.ln() + (self.high.ln() - self.low.ln()) * thirds / 3.0).exp();
        [third(1.0), third(2.0)].map(|level| level.max(self.low).min(self.high))
    }

    /// What a doubling of the level changes below the knee and above it, as a share of the value: 1 where it doubles too.
    #[must_use]
    pub fn by_doubling(&self) -> [f64; 2] {
        [self.slope_below, self.slope_above].map(doubling)
    }

    /// What changes from the first level to the knee, and from the knee to the last level, as shares of the value: no more than what
    /// was measured. None in records of before.
    #[must_use]
    pub fn changes(&self) -> Option<[f64; 2]> {
        let (first, last) = (self.first?, self.last?);
        let change = |slope: f64, ratio: f64| (slope * ratio.ln()).exp_m1();
        Some([change(self.slope_below, self.at / first), change(self.slope_above, last / self.at)])
    }
}

fn doubling(slope: f64) -> f64 {
    slope.exp2() - 1.0
}

/// Why no knee is claimed; displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoKnee {
    /// Nothing to look at.
    #[error("no knee: {0}")]
    NoCurve(NoCurve),
    /// A straight line in log–log is as good.
    #[error("no knee: noise alone bends a straight line as far in {:.1}% of cases (limit {:.1}%)",
        chance * 100.0, CHANCE_MAX * 100.0)]
    NoBend {
        /// Probability that noise bends a straight line as far.
        chance: f64,
    },
    /// A curve without a place of its own is as good.
    #[error("no knee: the curve bends gradually, and nowhere clearly more than elsewhere")]
    Gradual {
        /// By how much the Bayesian information criterion is better than that of a smooth curve.
        bic_gain: f64,
    },
    /// A jump is as good.
    #[error("no knee: a jump between two levels fits the curve equally well. Measure levels between them")]
    Jump {
        /// By how much the Bayesian information criterion is better than that of a jump.
        bic_gain: f64,
    },
    /// The bend is real but slight.
    #[error(
        "no knee: the bend is too slight, from {:+.1}% to {:+.1}% per doubling",
        doubling(*below) * 100.0, doubling(*above) * 100.0
    )]
    Slight {
        /// Slope below the bend in log–log.
        below: f64,
        /// Slope above the bend in log–log.
        above: f64,
    },
}

/// Looks for the knee of a curve, such as IOPS over outstanding I/Os. The order of the levels does not matter. They should be
/// spaced by factors.
///
/// A continuous line of two segments is fitted to the levels' means by least squares in log–log, with at least two levels on each
/// side (one at the knee counts on both). A knee is claimed where
/// - noise about a straight line is described as much better by a bend in at most 0.8 % of cases (a Monte Carlo test: Barnard, JRSS
///   B 25, 1963), which takes at least six levels in two blocks or more, or eight in one;
/// - smooth curves are worse by at least 5 of the Bayesian information criterion times the share of levels that a bend leaves free (a
///   quadratic, one that saturates gradually, and time in a queue, which rises towards a capacity), one that saturates more sharply
///   is worse by 2 of it, and a pair of parallel lines with a jump is worse by at least 2 (Schwarz, "Estimating the dimension of a
///   model", 1978; "positive" in Kass and Raftery, "Bayes factors", JASA 90, 1995);
/// - the slopes differ at least twofold, and a doubling of the level changes the value by 5 % on one side at least.
///
/// The interval holds the joins whose sum of squares is not worse than the best by a factor of 1 + t²/ν, with Student's t of the
/// ν = levels − 4 degrees of freedom that four parameters leave (inversion of the F test: Seber and Wild, Nonlinear Regression,
/// 1989, 5.3 and 9.3). docs/statistics.md tells how often each of this is wrong. The same levels and seed give the same answer.
///
/// # Errors
/// The reason why no knee is claimed.
pub fn knee(levels: &[CandidateLevel<'_>], seed: u64) -> Result<Knee, NoKnee> {
    let points = curve(levels).map_err(NoKnee::NoCurve)?;
    let bent = Bent::fit(&points);
    let chance = by_chance(&points, |points| Bent::fit(points).squares, seed);
    if chance > CHANCE_MAX {
        return Err(NoKnee::NoBend { chance });
    }
    let criterion = |squares: f64, parameters: f64| bic(points.len(), squares, parameters);
    let own = criterion(bent.squares, Bent::PARAMETERS);
    let quadratic = criterion(Quadratic::squares(&points), Quadratic::PARAMETERS);
    let saturating =
        |sharpness: f64| criterion(Saturating::squares_of(&points, sharpness), Saturating::PARAMETERS);
    // The criterion counts all levels, and four of them are spent on the bend: of few levels a large gain is often chance.
    let free = 1.0 - Bent::PARAMETERS / points.len() as f64;
    let over_smooth = quadratic.min(saturating(1.0)).min(Curve::best_criterion(&points)) - own;
    let over_sharp = saturating(SHARP) - own;
    if over_smooth * free < SMOOTH_GAIN_MIN || over_sharp * free < SHARP_GAIN_MIN {
        return Err(NoKnee::Gradual { bic_gain: over_smooth });
    }
    let over_jump = criterion(Jumping::fit(&points).squares, Jumping::PARAMETERS) - own;
    if over_jump < BIC_GAIN_MIN {
        return Err(NoKnee::Jump { bic_gain: over_jump });
    }
    let (below, above) = (bent.slope_below, bent.slope_above);
    if alike(below, above) || doubling(below).abs().max(doubling(above).abs()) < DOUBLING_MIN {
        return Err(NoKnee::Slight { below, above });
    }
    let (low, high) = join_interval(&points, &bent);
    Ok(Knee {
        at: bent.join.exp(),
        low: low.exp(),
        high: high.exp(),
        slope_below: below,
        slope_above: above,
        first: points.first().map(|point| point.x.exp()),
        last: points.last().map(|point| point.x.exp()),
        chance,
        bic_gain: over_smooth.min(over_jump),
    })
}

fn alike(below: f64, above: f64) -> bool {
    let (steep, flat) = (below.abs().max(above.abs()), below.abs().min(above.abs()));
    below * above > 0.0 && steep < SLOPE_RATIO_MIN * flat
}

/// The lowest and the highest join whose bent line is as good as the best but for chance.
fn join_interval(points: &[Point], best: &Bent) -> (f64, f64) {
    let freedom = points.len() as f64 - Bent::PARAMETERS;
    let t = t_quantile(0.025, freedom);
    let limit = at_least_resolved(points.len(), best.squares) * (1.0 + t * t / freedom);
    let holds = |join: f64| Bent::with_join(points, join).squares <= limit;
    let gaps = points[1..points.len() - 1].windows(2);
    let joins = gaps.flat_map(|gap| {
        let width = gap[1].x - gap[0].x;
        (0..=JOINS_A_GAP).map(move |part| gap[0].x + width * part as f64 / JOINS_A_GAP as f64)
    });
    let joins: Vec<f64> = joins.collect();
    let end = |outer: Option<&f64>, before: Option<&f64>| match (outer, before) {
        (Some(&inside), Some(&outside)) => border(inside, outside, holds),
        (Some(&inside), None) => inside,
        (None, _) => best.join,
    };
    let first = joins.iter().position(|join| holds(*join));
    let last = joins.iter().rposition(|join| holds(*join));
    let low = end(first.map(|at| &joins[at]), first.and_then(|at| joins.get(at.checked_sub(1)?)));
    let high = end(last.map(|at| &joins[at]), last.and_then(|at| joins.get(at + 1)));
    (low.min(best.join), high.max(best.join))
}

/// Where what holds inside stops to hold, by halving.
fn border(mut inside: f64, mut outside: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        let middle = f64::midpoint(inside, outside);
        if holds(middle) { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
#[path = "knee_tests.rs"]
mod tests;
