//! A metric along an axis of levels, as the mean of each level in log–log, and the lines that may run through it: straight,
//! quadratic, bent once, with one jump.
//!
//! A level counts once, however many blocks it was measured in: what sets a level apart for good (alignment, a cache line, the
//! size of an extent) is the same in each block, and points that share it are no independent evidence of a shape. What a line
//! means is not known here.

use crate::CandidateLevel;
use crate::random::SplitMix64;

/// Fewest levels in which a shape is looked for, where each was measured in two blocks or more.
pub(crate) const LEVELS_MIN: usize = 6;

/// Fewest levels in which a shape is looked for, where one was measured in one block only: nothing tells then a figure that
/// went wrong once.
pub(crate) const LEVELS_MIN_OF_ONE_BLOCK: usize = 8;

/// A shape must describe the levels better than another by so much of the Bayesian information criterion: "positive" in Kass
/// and Raftery, "Bayes factors", JASA 90, 1995.
pub(crate) const BIC_GAIN_MIN: f64 = 2.0;

/// Probability with which chance may bend a straight line as far as it was seen bent: less than one in a hundred, with room
/// for noise that is not normal.
pub(crate) const CHANCE_MAX: f64 = 0.008;

/// Curves of mere noise that a shape is compared with.
const CURVES_OF_NOISE: usize = 999;

/// Smallest deviation, as a share of the value, that is taken for real. It keeps a fit without residuals from being
/// infinitely good, and rounding from bending a straight line; no measured rate is known better than this.
pub(crate) const RESOLUTION: f64 = 1e-6;

/// Why there is no curve to look at; displayed as the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoCurve {
    /// A level or value without a logarithm.
    #[error("level {level} has value {value}, but both must be positive numbers")]
    UnusableValues {
        /// The level.
        level: f64,
        /// The value measured there.
        value: f64,
    },
    /// Too few different levels for so few blocks.
    #[error(
        "too few levels: {} in {} (required: {LEVELS_MIN} levels in two blocks, or {LEVELS_MIN_OF_ONE_BLOCK} in one)",
        counted(*levels, "level"), counted(*blocks, "block")
    )]
    TooFewLevels {
        /// How many there are.
        levels: usize,
        /// Blocks in which each of them was measured at least.
        blocks: usize,
    },
}

/// `one level`, `7 levels`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("one {noun}") } else { format!("{count} {noun}s") }
}

/// A level by its logarithm and that of its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// The levels of a curve in ascending order, a point each.
///
/// The values' logarithms are taken apart into levels and blocks by least squares, so that a level which misses a slow block does
/// not look fast. Levels without a value are left out; levels that differ by less than the resolution are one.
pub(crate) fn curve(levels: &[CandidateLevel<'_>]) -> Result<Vec<Point>, NoCurve> {
    curve_of_at_least(levels, LEVELS_MIN, LEVELS_MIN_OF_ONE_BLOCK)
}

/// The same with other numbers of levels that are needed, in two blocks or more and in one.
pub(crate) fn curve_of_at_least(
    levels: &[CandidateLevel<'_>],
    levels_min: usize,
    of_one_block: usize,
) -> Result<Vec<Point>, NoCurve> {
    let usable = |number: f64| number > 0.0 && number.is_finite();
    let all =
        levels.iter().flat_map(|level| level.by_block.iter().flatten().map(|value| (level.level, *value)));
    if let Some((level, value)) = all.clone().find(|point| !(usable(point.0) && usable(point.1))) {
        return Err(NoCurve::UnusableValues { level, value });
    }
    let logs = logarithms(levels);
    let blocks = logs.iter().map(|(_, values)| values.iter().flatten().count()).min().unwrap_or(0);
    let enough = if blocks > 1 { levels_min } else { of_one_block };
    if logs.len() < enough {
        return Err(NoCurve::TooFewLevels { levels: logs.len(), blocks });
    }
    Ok(means(&logs))
}

/// Each different level's logarithm with the logarithms of its blocks, ascending.
fn logarithms(levels: &[CandidateLevel<'_>]) -> Vec<(f64, Vec<Option<f64>>)> {
    let measured = levels.iter().filter(|level| level.by_block.iter().any(Option::is_some));
    let mut logs: Vec<(f64, Vec<Option<f64>>)> = measured
        .map(|level| (level.level.ln(), level.by_block.iter().map(|value| value.map(f64::ln)).collect()))
        .collect();
    logs.sort_by(|one, other| one.0.total_cmp(&other.0));
    logs.dedup_by(|next, previous| {
        let same = next.0 - previous.0 < RESOLUTION;
        if same {
            previous.1.append(&mut next.1);
        }
        same
    });
    logs
}

/// The levels' parts of value = level + block, with blocks that are 0 on average: each part is the mean of what the other leaves,
/// in turns until neither moves (Gauss–Seidel on the normal equations). Without gaps the first turn is the answer.
fn means(logs: &[(f64, Vec<Option<f64>>)]) -> Vec<Point> {
    /// Turns after which it stays as it is; gaps of a usual study need some ten.
    const TURNS_MAX: usize = 200;
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    let columns = logs.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let mut blocks = vec![0.0; columns];
    let mut heights = vec![0.0; logs.len()];
    for _ in 0..TURNS_MAX {
        let mut moved: f64 = 0.0;
        for (height, (_, values)) in heights.iter_mut().zip(logs) {
            let next =
                mean(&mut values.iter().zip(&blocks).filter_map(|(value, block)| Some((*value)? - block)));
            moved = moved.max((next - *height).abs());
            *height = next;
        }
        for (index, block) in blocks.iter_mut().enumerate() {
            let of = |((_, values), height): (&(f64, Vec<Option<f64>>), &f64)| {
                values.get(index).copied().flatten().map(|value| value - height)
            };
            *block = mean(&mut logs.iter().zip(&heights).filter_map(of));
        }
        let centre = mean(&mut blocks.iter().copied());
        blocks.iter_mut().for_each(|block| *block -= centre);
        if moved < 1e-12 {
            break;
        }
    }
    logs.iter().zip(heights).map(|((x, _), y)| Point { x: *x, y }).collect()
}

/// The Bayesian information criterion n ln(RSS / n) + k ln n (Schwarz, "Estimating the dimension of a model", Annals of
/// Statistics 6, 1978) of a line with so many parameters; less is better.
pub(crate) fn bic(points: usize, squares: f64, parameters: f64) -> f64 {
    let count = points as f64;
    count * at_least_resolved(points, squares).ln() - count * count.ln() + parameters * count.ln()
}

/// A sum of squares, or what the resolution makes of so many points.
pub(crate) fn at_least_resolved(points: usize, squares: f64) -> f64 {
    squares.max(points as f64 * RESOLUTION * RESOLUTION)
}

/// Probability that noise about a straight line is described by another line as much better as these points are: the Monte Carlo
/// test of Barnard (discussion of M. S. Bartlett, "The spectral analysis of point processes", JRSS B 25, 1963) with 999 curves
/// of normal noise at the same levels. The quotient of the two sums of squares depends neither on slope nor on the size of the
/// noise, so that the test is exact where the levels' deviations are normal and alike.
pub(crate) fn by_chance(points: &[Point], squares: impl Fn(&[Point]) -> f64, seed: u64) -> f64 {
    let quotient = |points: &[Point]| {
        at_least_resolved(points.len(), Straight::fit(points).squares(points))
            / at_least_resolved(points.len(), squares(points))
    };
    let seen = quotient(points);
    let mut random = SplitMix64::new(seed);
    let mut noise = points.to_vec();
    let further = (0..CURVES_OF_NOISE).filter(|_| {
        noise.iter_mut().for_each(|point| point.y = random.normal());
        quotient(&noise) >= seen
    });
    (1.0 + further.count() as f64) / (1.0 + CURVES_OF_NOISE as f64)
}

/// Sums of squares of a line through points, which must have two different levels.
pub(crate) fn squares(points: &[Point], at: impl Fn(f64) -> f64) -> f64 {
    points.iter().map(|point| (point.y - at(point.x)).powi(2)).sum()
}

/// A line through the centre of its points.
pub(crate) struct Straight {
    x_mean: f64,
    y_mean: f64,
    pub(crate) slope: f64,
}

impl Straight {
    /// Least squares; there must be two different levels.
    pub(crate) fn fit(points: &[Point]) -> Self {
        let count = points.len() as f64;
        let x_mean = points.iter().map(|point| point.x).sum::<f64>() / count;
        let y_mean = points.iter().map(|point| point.y).sum::<f64>() / count;
        let xy: f64 = points.iter().map(|point| (point.x - x_mean) * (point.y - y_mean)).sum();
        let xx: f64 = points.iter().map(|point| (point.x - x_mean).powi(2)).sum();
        Self { x_mean, y_mean, slope: xy / xx }
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        self.y_mean + self.slope * (x - self.x_mean)
    }

    pub(crate) fn squares(&self, points: &[Point]) -> f64 {
        squares(points, |x| self.at(x))
    }
}

/// A quadratic, the smooth curve that a bend and a jump are set against.
pub(crate) struct Quadratic;

impl Quadratic {
    pub(crate) const PARAMETERS: f64 = 3.0;

    pub(crate) fn squares(points: &[Point]) -> f64 {
        let mean = points.iter().map(|point| point.x).sum::<f64>() / points.len() as f64;
        squares_with(points, |x| (x - mean).powi(2))
    }
}

/// What saturates gradually: height + slope · ln N − bend / p · ln(1 + (N / K)^p).
///
/// Any slopes on both sides and any K, also one beyond the levels. With p = 1 closed loops of Little's law, Michaelis and Menten,
/// Amdahl's law and contention in Gunther's are of this form, and a logarithm is close to it. With p = 2 it bends more sharply, as
/// tanh(N / K) does.
pub(crate) struct Saturating;

impl Saturating {
    pub(crate) const PARAMETERS: f64 = 4.0;
    /// How far beyond the levels K is looked for, as a logarithm.
    const BEYOND: f64 = 2.0;
    /// Places of K that are tried a factor of e.
    const PLACES: f64 = 8.0;

    pub(crate) fn squares(points: &[Point]) -> f64 {
        Self::squares_of(points, 1.0)
    }

    pub(crate) fn squares_of(points: &[Point], sharpness: f64) -> f64 {
        let (first, last) = (points[0].x - Self::BEYOND, points[points.len() - 1].x + Self::BEYOND);
        let places = ((last - first) * Self::PLACES).ceil();
        let at = |place: u32| first + (last - first) * f64::from(place) / places;
        let of = |place: u32| squares_with(points, |x| (sharpness * (x - at(place))).exp().ln_1p());
        (0..=places as u32).map(of).fold(f64::INFINITY, f64::min)
    }
}

/// Least sum of squares of a straight line and so much of another curve: what the line leaves of the points, regressed on what it
/// leaves of the curve.
fn squares_with(points: &[Point], curve: impl Fn(f64) -> f64) -> f64 {
    line_with(points, curve).0
}

/// The same, and how much of the curve there is.
pub(crate) fn line_with(points: &[Point], curve: impl Fn(f64) -> f64) -> (f64, f64) {
    let straight = Straight::fit(points);
    let curved: Vec<Point> = points.iter().map(|p| Point { x: p.x, y: curve(p.x) }).collect();
    let of_curved = Straight::fit(&curved);
    let left =
        |point: &Point, curved: &Point| (point.y - straight.at(point.x), curved.y - of_curved.at(point.x));
    let pairs = || points.iter().zip(&curved).map(|(point, curved)| left(point, curved));
    let (product, square) = pairs().fold((0.0, 0.0), |(p, s), (y, q)| (p + y * q, s + q * q));
    let bend = product / square;
    (pairs().map(|(y, q)| (y - bend * q).powi(2)).sum(), bend)
}

/// A continuous line of two segments.
pub(crate) struct Bent {
    pub(crate) join: f64,
    height: f64,
    pub(crate) slope_below: f64,
    pub(crate) slope_above: f64,
    pub(crate) squares: f64,
}

impl Bent {
    /// Join, height there, two slopes.
    pub(crate) const PARAMETERS: f64 = 4.0;

    /// The best one with at least two levels on each side, one at the knee counting on both. The join is found exactly: where
    /// the lines through the points on each side cross, or at a level (Hudson, "Fitting segmented curves whose join points have
    /// to be estimated", JASA 61, 1966).
    pub(crate) fn fit(points: &[Point]) -> Self {
        let inner = &points[1..points.len() - 1];
        let mut best = Self::with_join(points, inner[0].x);
        let at_levels = inner[1..].iter().map(|point| point.x);
        let between = (2..points.len() - 1).filter_map(|above| crossing(points, above));
        for join in at_levels.chain(between) {
            let bent = Self::with_join(points, join);
            if bent.squares < best.squares {
                best = bent;
            }
        }
        best
    }

    /// Least squares with a given join: the distances from it to the left and to the right are two regressors that
    /// are never both non-zero, so that the normal equations are solved by hand.
    pub(crate) fn with_join(points: &[Point], join: f64) -> Self {
        let y_mean = points.iter().map(|point| point.y).sum::<f64>() / points.len() as f64;
        let below = Moments::of(points, y_mean, |x| (x - join).min(0.0));
        let above = Moments::of(points, y_mean, |x| (x - join).max(0.0));
        let height = -(below.height_share() + above.height_share())
            / (points.len() as f64 - below.weight() - above.weight());
        let mut bent = Self {
            join,
            height: y_mean + height,
            slope_below: below.slope(height),
            slope_above: above.slope(height),
            squares: 0.0,
        };
        bent.squares = squares(points, |x| bent.at(x));
        bent
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        let slope = if x < self.join { self.slope_below } else { self.slope_above };
        self.height + slope * (x - self.join)
    }
}

/// Sums over one regressor d and the values' deviations y from their mean: Σd, Σd², Σdy.
struct Moments {
    d: f64,
    dd: f64,
    dy: f64,
}

impl Moments {
    fn of(points: &[Point], y_mean: f64, regressor: impl Fn(f64) -> f64) -> Self {
        let mut moments = Self { d: 0.0, dd: 0.0, dy: 0.0 };
        for point in points {
            let d = regressor(point.x);
            moments.d += d;
            moments.dd += d * d;
            moments.dy += d * (point.y - y_mean);
        }
        moments
    }

    fn height_share(&self) -> f64 {
        self.d * self.dy / self.dd
    }

    fn weight(&self) -> f64 {
        self.d * self.d / self.dd
    }

    fn slope(&self, height: f64) -> f64 {
        (self.dy - self.d * height) / self.dd
    }
}

/// Where the line through the points before a place crosses the line through the others, if it lies between the two levels.
fn crossing(points: &[Point], first_above: usize) -> Option<f64> {
    let (below, above) = points.split_at(first_above);
    let (last_below, first_above) = (below[below.len() - 1].x, above[0].x);
    let (below, above) = (Straight::fit(below), Straight::fit(above));
    let join = (below.at(0.0) - above.at(0.0)) / (above.slope - below.slope);
    (last_below < join && join < first_above).then_some(join)
}

/// Two parallel lines, with a jump between two neighbouring levels.
pub(crate) struct Jumping {
    /// Place of the first level past the jump.
    pub(crate) above: usize,
    pub(crate) squares: f64,
}

impl Jumping {
    /// Place, size, height and slope.
    pub(crate) const PARAMETERS: f64 = 4.0;

    /// The best one with at least two levels on each side.
    pub(crate) fn fit(points: &[Point]) -> Self {
        let mut best = Self::with_jump(points, 2);
        for above in 3..=points.len() - 2 {
            let other = Self::with_jump(points, above);
            if other.squares < best.squares {
                best = other;
            }
        }
        best
    }

    /// Least squares with a given place: the slope is the one within both sides.
    pub(crate) fn with_jump(points: &[Point], above: usize) -> Self {
        let (below, past) = points.split_at(above);
        let centre = |points: &[Point]| {
            let count = points.len() as f64;
            (points.iter().map(|p| p.x).sum::<f64>() / count, points.iter().map(|p| p.y).sum::<f64>() / count)
        };
        let sides = [(below, centre(below)), (past, centre(past))];
        let deviations = || {
            sides
                .iter()
                .flat_map(|(points, (x, y))| points.iter().map(move |point| (point.x - x, point.y - y)))
        };
        let (xy, xx) = deviations().fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + x * y, xx + x * x));
        let slope = xy / xx;
        Self { above, squares: deviations().map(|(x, y)| (y - slope * x).powi(2)).sum() }
    }
}
