//! The shape of a history: steps, a drift, two states that take turns, lone spikes.
//!
//! Each of them is claimed in at most about 1 % of histories whose values differ by chance alone. It does not say what the cause is.
//! The basic shapes are those that Apache Otava tests its change detection with.

use serde::{Deserialize, Serialize};

use crate::change_point::{CHANGE_CHANCE_MAX, ChangePoint, RUNS_MIN, change_points, rare_chance};
use crate::outlier::{farthest, farthest_by_chance};
use crate::random::SplitMix64;
use crate::two_states::{chance_of_one_state, falls_apart, switches};
use crate::{mean, median};

/// Smallest share of the values in the rarer of two states, and the fewest values.
const STATE_SHARE_MIN: f64 = 0.2;
const STATE_VALUES_MIN: usize = 3;

/// Changes between two states from which on they take turns; fewer are steps.
const SWITCHES_MIN: usize = 4;

/// Largest share of values that can be lone spikes.
const SPIKES_SHARE_MAX: f64 = 0.1;

/// How the values of a history go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryShape {
    /// What it does as a whole.
    pub course: Course,
    /// Indexes of single values that stand out of it, ascending.
    pub spikes: Vec<usize>,
}

/// What a history does as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Course {
    /// Nothing is shown but chance.
    #[default]
    Level,
    /// It changes at points, ascending, and stays so.
    Steps {
        /// The first values of the new kinds.
        points: Vec<ChangePoint>,
    },
    /// It rises or falls all along.
    Drift {
        /// The value at the begin of the line.
        from: f64,
        /// The value at its end.
        to: f64,
        /// Probability that values in any order rise or fall as evenly.
        chance: f64,
    },
    /// It is in one of two states, back and forth.
    TwoStates {
        /// Median of the lower state.
        low: f64,
        /// Median of the upper state.
        high: f64,
        /// Values in the upper state.
        high_runs: usize,
        /// How often it goes from one to the other.
        switches: usize,
        /// Probability that values of one state fall apart as clearly.
        chance: f64,
    },
}

/// The shape of values in the order of their time. Fewer than [`RUNS_MIN`] have none. None where [`change_points`] has none.
///
/// Spikes are set aside first: values that lie far from the median of their neighbours (Rosner's generalized test for outliers,
/// Technometrics 25, 1983), without another such value beside them. Then two states are looked for, and then steps and a drift; of
/// the last two, the one that explains the values with the smaller Bayesian information criterion is told.
#[must_use]
pub fn history_shape(values: &[f64], seed: u64) -> Option<HistoryShape> {
    let points = change_points(values, seed)?;
    if values.len() < RUNS_MIN {
        return Some(HistoryShape::default());
    }
    let rest = |spikes: &[usize]| -> Vec<(usize, f64)> {
        values.iter().copied().enumerate().filter(|(at, _)| !spikes.contains(at)).collect()
    };
    let mut random = SplitMix64::new(seed ^ 0x9e37_79b9);
    if let Some(course) = two_states(values, points.len(), &mut random) {
        return Some(HistoryShape { course, spikes: Vec::new() });
    }
    // A spike bends a line, and is seen only beside the course without it.
    let spikes = spikes(values, &residuals_of_steps(values, &points));
    let course = steps_or_drift(&rest(&spikes), &points, &mut random);
    let spikes = match &course {
        Course::Drift { .. } => self::spikes(values, &residuals_of_line(values)),
        Course::Level | Course::Steps { .. } | Course::TwoStates { .. } => spikes,
    };
    Some(HistoryShape { course, spikes })
}

/// Steps where there are change points, unless a line explains the values better; a drift where only that is shown.
fn steps_or_drift(values: &[(usize, f64)], points: &[ChangePoint], random: &mut SplitMix64) -> Course {
    let steps = |points: &[ChangePoint]| match points {
        [] => Course::Level,
        points => Course::Steps { points: points.to_vec() },
    };
    let Some((line, chance)) = drift(values, random) else { return steps(points) };
    let n = values.len() as f64;
    let criterion =
        |squares: f64, parameters: f64| n * (squares / n).max(f64::MIN_POSITIVE).ln() + parameters * n.ln();
    let of_line = criterion(values.iter().map(|&(at, value)| (value - line.at(at)).powi(2)).sum(), 2.0);
    let mut squares = 0.0;
    let ends: Vec<usize> = points.iter().map(|point| point.at).chain([usize::MAX]).collect();
    let mut from = 0;
    for to in ends {
        let piece: Vec<f64> =
            values.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, value)| *value).collect();
        let center = mean(&piece).unwrap_or_default();
        squares += piece.iter().map(|value| (value - center).powi(2)).sum::<f64>();
        from = to;
    }
    // A place is a parameter as a height is.
    let of_steps = criterion(squares, 2.0 * points.len() as f64 + 1.0);
    if of_line >= of_steps {
        return steps(points);
    }
    let last = values.last().map_or(0, |(at, _)| *at);
    Course::Drift { from: line.at(0), to: line.at(last), chance }
}

/// A straight line over the indexes.
#[derive(Clone, Copy, Debug)]
struct Line {
    height: f64,
    slope: f64,
}

impl Line {
    /// By least squares.
    fn of(values: &[(usize, f64)]) -> Option<Self> {
        let places: Vec<f64> = values.iter().map(|(at, _)| *at as f64).collect();
        let heights: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let (x, y) = (mean(&places)?, mean(&heights)?);
        let spread: f64 = places.iter().map(|place| (place - x).powi(2)).sum();
        let both: f64 = places.iter().zip(&heights).map(|(place, height)| (place - x) * (height - y)).sum();
        (spread > 0.0).then(|| Self { height: y - both / spread * x, slope: both / spread })
    }

    fn at(self, place: usize) -> f64 {
        self.height + self.slope * place as f64
    }
}

/// The line of values that rise or fall more evenly than chance makes them: the number of pairs in order (Mann, Econometrica 13,
/// 1945), against values in any order.
fn drift(values: &[(usize, f64)], random: &mut SplitMix64) -> Option<(Line, f64)> {
    let mut heights: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let in_order = |heights: &[f64]| {
        let pairs = (0..heights.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
        pairs
            .map(|(earlier, later)| match heights[later].total_cmp(&heights[earlier]) {
                std::cmp::Ordering::Less => -1_i64,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
            })
            .sum::<i64>()
            .abs()
    };
    let found = in_order(&heights);
    let chance = rare_chance(|| {
        random.shuffle(&mut heights);
        in_order(&heights) >= found
    })?;
    Some((Line::of(values)?, chance))
}

/// Two states that take turns, where values of one state fall apart as clearly in at most 1 % of draws. Of one state the even
/// distribution falls apart most clearly, so that is what is drawn.
fn two_states(values: &[f64], steps: usize, random: &mut SplitMix64) -> Option<Course> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = STATE_VALUES_MIN.max((sorted.len() as f64 * STATE_SHARE_MIN).ceil() as usize);
    let (clear, below) = falls_apart(&sorted, least)?;
    let (highest_low, lowest_high) = (sorted[below - 1], sorted[below]);
    if highest_low >= lowest_high {
        return None;
    }
    let switches = switches(values, highest_low);
    // A history that steps back and forth a few times is told by its steps.
    if switches < SWITCHES_MIN || switches <= 2 * steps {
        return None;
    }
    let chance = chance_of_one_state(clear, values.len(), least, random)?;
    let (low, high) = (median(&sorted[..below])?, median(&sorted[below..])?);
    let high_runs = sorted.len() - below;
    Some(Course::TwoStates { low, high, high_runs, switches, chance })
}

fn residuals_of_steps(values: &[f64], points: &[ChangePoint]) -> Vec<f64> {
    let ends = points.iter().map(|point| point.at).chain([values.len()]);
    let mut from = 0;
    let mut residuals = Vec::with_capacity(values.len());
    for to in ends {
        let center = median(&values[from..to]).unwrap_or_default();
        residuals.extend(values[from..to].iter().map(|value| value - center));
        from = to;
    }
    residuals
}

fn residuals_of_line(values: &[f64]) -> Vec<f64> {
    let placed: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    let Some(line) = Line::of(&placed) else { return vec![0.0; values.len()] };
    placed.iter().map(|&(at, value)| value - line.at(at)).collect()
}

/// Values that stand out by themselves; neighbours that stand out on the same side are no lone spikes.
fn spikes(values: &[f64], residuals: &[f64]) -> Vec<usize> {
    let outliers = outliers(residuals);
    let is_alone = |at: &&usize| {
        let beside = [at.checked_sub(1), Some(**at + 1)];
        !beside
            .iter()
            .flatten()
            .any(|next| outliers.contains(next) && (residuals[*next] > 0.0) == (residuals[**at] > 0.0))
    };
    let alone = outliers.iter().filter(is_alone).copied().filter(|at| values[*at].is_finite());
    alone.collect()
}

/// Indexes of outliers by the generalized extreme Studentized deviate, ascending: the value farthest from the mean is taken out again
/// and again; as many of them are outliers as the last that is beyond its limit.
fn outliers(residuals: &[f64]) -> Vec<usize> {
    let most = (residuals.len() as f64 * SPIKES_SHARE_MAX).ceil() as usize;
    let mut left: Vec<usize> = (0..residuals.len()).collect();
    let (mut taken, mut shown) = (Vec::new(), 0);
    for _ in 0..most {
        let values: Vec<f64> = left.iter().map(|at| residuals[*at]).collect();
        let Some(found) = farthest(&values).filter(|_| left.len() > 3) else { break };
        let limit = farthest_by_chance(left.len(), CHANGE_CHANCE_MAX);
        taken.push(left.remove(found.at));
        if found.deviations > limit {
            shown = taken.len();
        }
    }
    taken.truncate(shown);
    taken.sort_unstable();
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values around a course with noise of 1 %.
    fn noisy(count: usize, seed: u64, course: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        (0..count).map(|at| course(at) + random.normal()).collect()
    }

    fn shape(values: &[f64]) -> HistoryShape {
        history_shape(values, 1).unwrap()
    }

    /// How often each shape is claimed: steps, drift, two states, spikes.
    fn claimed(histories: u64, course: impl Fn(u64, usize) -> f64) -> [usize; 4] {
        let mut claimed = [0; 4];
        for seed in 0..histories {
            let values = noisy(20, seed, |at| course(seed, at));
            let HistoryShape { course, spikes } = history_shape(&values, seed).unwrap();
            match course {
                Course::Level => {}
                Course::Steps { .. } => claimed[0] += 1,
                Course::Drift { .. } => claimed[1] += 1,
                Course::TwoStates { .. } => claimed[2] += 1,
            }
            claimed[3] += usize::from(!spikes.is_empty());
        }
        claimed
    }

    /// Of 200 histories, an event of 1 % happens more than 6 times in one of 200 tries.
    #[test]
    fn chance_makes_each_shape_in_about_one_of_a_hundred_histories() {
        let claimed = claimed(200, |_, _| 100.0);
        assert!(claimed.iter().all(|count| *count <= 6), "{claimed:?}");
    }

    #[test]
    fn a_drift_is_no_step() {
        let found = claimed(20, |_, at| 100.0 + 0.6 * at as f64);
        assert!(found[1] >= 18 && found[0] <= 2, "{found:?}");
        let Course::Drift { from, to, .. } = shape(&noisy(40, 3, |at| 100.0 - 0.5 * at as f64)).course else {
            panic!()
        };
        assert!((from - 100.0).abs() < 1.5 && (to - 80.5).abs() < 1.5, "{from} {to}");
    }

    #[test]
    fn a_step_is_no_drift_and_keeps_its_place() {
        let found = claimed(20, |_, at| if at < 11 { 100.0 } else { 90.0 });
        assert_eq!(found[0], 20, "{found:?}");
        let Course::Steps { points } = shape(&noisy(30, 5, |at| if at < 20 { 100.0 } else { 92.0 })).course
        else {
            panic!()
        };
        assert_eq!(points.iter().map(|point| point.at).collect::<Vec<_>>(), [20]);
        // Slower for ten nights, then as before.
        let Course::Steps { points } =
            shape(&noisy(50, 3, |at| if (20..30).contains(&at) { 90.0 } else { 100.0 })).course
        else {
            panic!()
        };
        assert_eq!(points.iter().map(|point| point.at).collect::<Vec<_>>(), [20, 30]);
    }

    #[test]
    fn a_lone_spike_is_neither_a_step_nor_two_spikes() {
        for (at, height) in [(0, 60.0), (7, 60.0), (12, 140.0), (19, 130.0)] {
            let values = noisy(20, at as u64, |place| if place == at { height } else { 100.0 });
            assert_eq!(shape(&values), HistoryShape { course: Course::Level, spikes: vec![at] }, "{at}");
        }
        let stepped = noisy(30, 9, |at| match at {
            5 => 130.0,
            ..15 => 100.0,
            _ => 80.0,
        });
        let found = shape(&stepped);
        assert!(
            matches!(&found.course, Course::Steps { points } if points.len() == 1 && points[0].at == 15),
            "{found:?}"
        );
        assert_eq!(found.spikes, [5]);
    }

    #[test]
    fn two_states_that_take_turns_are_no_steps() {
        let by_turns = noisy(24, 2, |at| if at % 2 == 0 { 100.0 } else { 80.0 });
        let Course::TwoStates { low, high, high_runs, switches, .. } = shape(&by_turns).course else {
            panic!()
        };
        assert!((low - 80.0).abs() < 1.0 && (high - 100.0).abs() < 1.0, "{low} {high}");
        assert_eq!((high_runs, switches), (12, 23));
        // As a coin falls.
        let found = claimed(20, |seed, at| {
            let mut random = SplitMix64::new(seed * 1_000 + at as u64);
            if random.next().is_multiple_of(2) { 100.0 } else { 85.0 }
        });
        assert!(found[2] >= 18, "{found:?}");
    }

    #[test]
    fn equal_and_few_values_have_no_shape() {
        assert_eq!(shape(&[100.0; 30]), HistoryShape::default());
        assert_eq!(shape(&[1.0, 2.0, 1.0, 2.0, 1.0, 9.0]), HistoryShape::default());
        assert_eq!(shape(&[]), HistoryShape::default());
        assert_eq!(history_shape(&[f64::INFINITY; 12], 1), None);
    }
}
