//! How time rises with load in a queue: slowly, then ever faster towards the load at which the queue is full.
//!
//! Such a curve bends everywhere and has no knee (N. J. Gunther, "Mind your knees and queues", CMG MeasureIT, 2009). It is one of the
//! smooth curves that a knee is set against, and it says two things that a knee does not: how much load the queue can take, and at
//! which load the time has doubled.

use serde::{Deserialize, Serialize};

use crate::CandidateLevel;
use crate::curve::{Bent, Point, Quadratic, Saturating, Straight, at_least_resolved, bic, curve, line_with};
use crate::student::t_quantile;

/// Capacities that are tried: this share above the highest level is the lowest of them.
const ABOVE_MIN: f64 = 0.002;
/// And this many times the highest level, less one, is the highest.
const ABOVE_MAX: f64 = 20.0;
/// Capacities that are tried a factor of e.
const PLACES: f64 = 12.0;
/// Servers that are tried, in powers of two from 1 on.
const SERVERS: i32 = 9;
/// A queue must describe the levels better than a quadratic, a saturating curve and a bend by so much of the Bayesian information
/// criterion.
const GAIN_MIN: f64 = 2.0;

/// A curve whose value rises with load as time does in a queue.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Queueing {
    /// The load at which the queue is full, in the unit of the levels.
    pub capacity: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The load at which the value is twice that of no load.
    pub doubled_at: f64,
}

/// log y = height + steepness · ln(1 + ρ^(√(2(m+1)) − 1) / (m (1 − ρ))) with ρ = N / capacity: the time in a queue with m servers by
/// the approximation of H. Sakasegawa ("An approximation formula L_q ≃ α·ρ^β/(1−ρ)", Annals of the Institute of Statistical
/// Mathematics 29, 1977). Of one server that is the hyperbola height − steepness · ln(1 − N / capacity). The steepness, 1 for means,
/// lets percentiles and other arrivals in.
pub(crate) struct Curve {
    /// As a logarithm.
    capacity: f64,
    servers: f64,
    steepness: f64,
    pub(crate) squares: f64,
}

impl Curve {
    /// Height, steepness and capacity of one server.
    const PARAMETERS_OF_ONE: f64 = 3.0;
    const PARAMETERS: f64 = 4.0;

    fn parameters(&self) -> f64 {
        if self.servers > 1.0 { Self::PARAMETERS } else { Self::PARAMETERS_OF_ONE }
    }

    fn criterion(&self, points: usize) -> f64 {
        bic(points, self.squares, self.parameters())
    }

    /// By least squares for a capacity and a number of servers; none where the value falls with load.
    fn with(points: &[Point], capacity: f64, servers: f64) -> Option<Self> {
        let waited: Vec<Point> =
            points.iter().map(|p| Point { x: waiting(p.x - capacity, servers), y: p.y }).collect();
        let line = Straight::fit(&waited);
        let squares = line.squares(&waited);
        (line.slope > 0.0 && squares.is_finite()).then_some(Self {
            capacity,
            servers,
            steepness: line.slope,
            squares,
        })
    }

    /// The best one of a capacity, by the criterion.
    fn with_capacity(points: &[Point], capacity: f64) -> Option<Self> {
        let all = (0..SERVERS).filter_map(|power| Self::with(points, capacity, 2f64.powi(power)));
        all.min_by(|a, b| a.criterion(points.len()).total_cmp(&b.criterion(points.len())))
    }

    fn capacities(points: &[Point]) -> impl Iterator<Item = f64> + Clone {
        let last = points[points.len() - 1].x;
        let places = ((ABOVE_MAX / ABOVE_MIN).ln() * PLACES).ceil() as u32;
        (0..=places).map(move |place| last + (ABOVE_MIN * (f64::from(place) / PLACES).exp()).ln_1p())
    }

    /// The best one, if any rises.
    pub(crate) fn fit(points: &[Point]) -> Option<Self> {
        let all = Self::capacities(points).filter_map(|capacity| Self::with_capacity(points, capacity));
        all.min_by(|a, b| a.criterion(points.len()).total_cmp(&b.criterion(points.len())))
    }

    /// The criterion of the best one, with a slope before the queue fills or without; infinite if none rises.
    pub(crate) fn best_criterion(points: &[Point]) -> f64 {
        let level = Self::fit(points).map_or(f64::INFINITY, |curve| curve.criterion(points.len()));
        let sloping = Self::capacities(points).map(|capacity| {
            let of = |power: i32| {
                let squares = squares_of_sloping(points, capacity, 2f64.powi(power))?;
                let parameters = if power == 0 { Self::PARAMETERS_OF_ONE } else { Self::PARAMETERS };
                Some(bic(points.len(), squares, parameters + 1.0))
            };
            (0..SERVERS).filter_map(of).fold(f64::INFINITY, f64::min)
        });
        sloping.fold(level, f64::min)
    }

    /// The capacities that an F test does not tell from the best one (Seber and Wild, Nonlinear Regression, 1989, 5.3), of curves that
    /// may have a slope too: those of percentiles and of many servers are not quite of this form. None where it does not rule out
    /// any larger one.
    fn interval(&self, points: &[Point]) -> Option<(f64, f64)> {
        let all: Vec<f64> = Self::capacities(points).collect();
        let squares = |capacity: f64| {
            let of = |power: i32| squares_of_sloping(points, capacity, 2f64.powi(power));
            (0..SERVERS).filter_map(of).fold(f64::INFINITY, f64::min)
        };
        let least = all.iter().map(|capacity| squares(*capacity)).fold(self.squares, f64::min);
        let freedom = points.len() as f64 - Self::PARAMETERS - 1.0;
        let t = t_quantile(0.025, freedom);
        let limit = at_least_resolved(points.len(), least) * (1.0 + t * t / freedom);
        let holds = |capacity: f64| squares(capacity) <= limit;
        let first = all.iter().position(|capacity| holds(*capacity))?;
        let last = all.iter().rposition(|capacity| holds(*capacity))?;
        let low = if first == 0 { points[points.len() - 1].x } else { all[first - 1] };
        Some((low.min(self.capacity), (*all.get(last + 1)?).max(self.capacity)))
    }

    /// The logarithm of the load at which the value has doubled, by halving.
    fn doubled_at(&self) -> f64 {
        let (mut below, mut above) = (self.capacity - 20.0, self.capacity);
        for _ in 0..60 {
            let middle = f64::midpoint(below, above);
            let rise = self.steepness * waiting(middle - self.capacity, self.servers);
            if rise < std::f64::consts::LN_2 { below = middle } else { above = middle }
        }
        below
    }
}

/// The least sum of squares of a straight line and so much of a queue; none where the time falls as it fills.
fn squares_of_sloping(points: &[Point], capacity: f64, servers: f64) -> Option<f64> {
    let (squares, steepness) = line_with(points, |x| waiting(x - capacity, servers));
    (steepness > 0.0 && squares.is_finite()).then_some(squares)
}

/// ln(1 + ρ^(√(2(m+1)) − 1) / (m (1 − ρ))) of the logarithm of ρ.
fn waiting(log_share: f64, servers: f64) -> f64 {
    let power = (2.0 * (servers + 1.0)).sqrt() - 1.0;
    ((power * log_share).exp() / (servers * -log_share.exp_m1())).ln_1p()
}

/// The queue that a curve looks like; none where another smooth curve, a straight line or a bend describes it as well, or where no
/// larger capacity is ruled out.
#[must_use]
pub fn queueing(levels: &[CandidateLevel<'_>]) -> Option<Queueing> {
    let points = curve(levels).ok()?;
    let found = Curve::fit(&points)?;
    let criterion = |squares: f64, parameters: f64| bic(points.len(), squares, parameters);
    let others = [
        criterion(Straight::fit(&points).squares(&points), 2.0),
        criterion(Quadratic::squares(&points), Quadratic::PARAMETERS),
        criterion(Saturating::squares(&points), Saturating::PARAMETERS),
        criterion(Bent::fit(&points).squares, Bent::PARAMETERS),
    ];
    let best = others.into_iter().fold(f64::INFINITY, f64::min);
    if best - found.criterion(points.len()) < GAIN_MIN {
        return None;
    }
    let (low, high) = found.interval(&points)?;
    let [capacity, low, high, doubled_at] = [found.capacity, low, high, found.doubled_at()].map(f64::exp);
    Some(Queueing { capacity, low, high, doubled_at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    const TENS: [f64; 9] = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];

    fn of(curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Option<Queueing> {
        let mut random = SplitMix64::new(seed);
        let values: Vec<[Option<f64>; 1]> =
            TENS.iter().map(|&n| [Some(curve(n) * (noise * random.normal()).exp())]).collect();
        let levels: Vec<CandidateLevel<'_>> =
            TENS.iter().zip(&values).map(|(&level, by_block)| CandidateLevel { level, by_block }).collect();
        queueing(&levels)
    }

    #[test]
    fn one_server_is_full_at_its_capacity_and_twice_as_slow_at_half_of_it() {
        let all: Vec<Queueing> =
            (0..100).filter_map(|seed| of(|n| 5.0 / (1.0 - n / 100.0), 0.02, seed)).collect();
        assert!(all.len() >= 90, "{}", all.len());
        for found in &all {
            assert!((found.capacity / 100.0 - 1.0).abs() < 0.1, "{found:?}");
            assert!((found.doubled_at / 50.0 - 1.0).abs() < 0.3, "{found:?}");
        }
        let held = all.iter().filter(|found| found.low <= 100.0 && 100.0 <= found.high).count();
        assert!(held * 100 >= all.len() * 90, "{held}");
    }

    #[test]
    fn what_does_not_rise_as_a_queue_is_none() {
        assert_eq!(of(|n| n, 0.02, 1), None);
        assert_eq!(of(|_| 5.0, 0.02, 1), None);
        assert_eq!(of(|n| 5.0 * (1.0 - n / 100.0), 0.02, 1), None);
        assert_eq!(of(|n| n / (1.0 + n / 20.0), 0.02, 1), None);
        assert_eq!(of(|n| n.max(40.0), 0.01, 1), None, "a bend");
        assert_eq!(queueing(&[]), None);
    }
}
