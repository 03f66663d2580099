//! Change points of a history: where the values of one configuration, measured again and again, begin to be others.
//!
//! It asks nothing of the values' distribution, and finds shifts of the mean as well as of the spread. It does not say what
//! changed, nor whether for the better, and it takes the values to be independent of each other between two change points.

use serde::{Deserialize, Serialize};

use crate::random::SplitMix64;

/// Fewest values between two change points, so that a single night that went wrong is none.
const RUNS_BETWEEN_MIN: usize = 3;

/// Fewest values that may have a change point: of five and five, two orders of 252 are as clear.
pub const RUNS_MIN: usize = 10;

/// Permutations of a test.
const PERMUTATIONS: usize = 999;

/// A change point is claimed where chance makes one as clear in at most this share of cases.
pub const CHANGE_CHANCE_MAX: f64 = 0.01;

/// More values than these are not looked through: the work grows with their square, a thousand times over.
pub const RUNS_MAX: usize = 1_000;

/// Where a history changes.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new kind.
    pub at: usize,
    /// Probability that values in any order have a change point as clear.
    pub chance: f64,
}

/// The change points of values in the order of their time, ascending: E-divisive (Matteson and James, "A nonparametric approach
/// for multiple change point analysis of multivariate data", JASA 109, 2014; for performance histories Fleming et al., "Hunter:
/// using change point detection to hunt for performance regressions", ICPE 2023, now Apache Otava).
///
/// Of all places within all pieces between known change points, the one is taken at which the values before it and those after
/// it, up to any later one, have the largest energy distance with exponent 1, weighted by mn / (m + n). It is a change point if
/// values put in another order within their pieces have one as large in at most 1 % of 999 draws, itself counted; then the search
/// goes on. So fewer than ten values have none. The same values and seed give the same answer. None where a value is not finite
/// or there are more than [`RUNS_MAX`].
#[must_use]
pub fn change_points(values: &[f64], seed: u64) -> Option<Vec<ChangePoint>> {
    if values.len() > RUNS_MAX || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut random = SplitMix64::new(seed);
    let mut found: Vec<ChangePoint> = Vec::new();
    loop {
        let pieces = pieces(values.len(), &found);
        let Some(best) = best_of(values, &pieces) else { break };
        let mut permuted = values.to_vec();
        let chance = rare_chance(|| {
            pieces.iter().for_each(|&(from, to)| random.shuffle(&mut permuted[from..to]));
            best_of(&permuted, &pieces).is_some_and(|other| other.distance >= best.distance)
        });
        let Some(chance) = chance else { break };
        found.push(ChangePoint { at: best.at, chance });
        found.sort_by_key(|point| point.at);
    }
    Some(found)
}

/// The share of 999 draws that are as clear, itself counted; none as soon as they are known to be more than 1 %.
pub(crate) fn rare_chance(mut is_as_clear: impl FnMut() -> bool) -> Option<f64> {
    let chance = |as_clear: usize| (1.0 + as_clear as f64) / (1.0 + PERMUTATIONS as f64);
    let mut as_clear = 0;
    for _ in 0..PERMUTATIONS {
        as_clear += usize::from(is_as_clear());
        if chance(as_clear) > CHANGE_CHANCE_MAX {
            return None;
        }
    }
    Some(chance(as_clear))
}

/// The pieces between change points, as ranges.
fn pieces(count: usize, found: &[ChangePoint]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = std::iter::once(0).chain(found.iter().map(|point| point.at)).collect();
    ends.push(count);
    ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// A place that might be a change point.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: usize,
    distance: f64,
}

fn best_of(values: &[f64], pieces: &[(usize, usize)]) -> Option<Candidate> {
    let of = |&(from, to): &(usize, usize)| {
        best_of_piece(&values[from..to]).map(|best| Candidate { at: best.at + from, ..best })
    };
    pieces.iter().filter_map(of).reduce(|best, next| if next.distance > best.distance { next } else { best })
}

/// The clearest place of a piece, the first of equal ones. All sums of distances follow from those of each value to the values
/// before it (`before`) and to the left side (`to_left`), which grows by a value a step.
fn best_of_piece(values: &[f64]) -> Option<Candidate> {
    let before: Vec<f64> = (0..values.len())
        .map(|at| values[..at].iter().map(|value| (value - values[at]).abs()).sum())
        .collect();
    let mut to_left = vec![0.0; values.len()];
    let mut within_left = 0.0;
    let mut best: Option<Candidate> = None;
    for at in 1..values.len() {
        within_left += before[at - 1];
        let newest = values[at - 1];
        to_left[at..].iter_mut().zip(&values[at..]).for_each(|(sum, value)| *sum += (value - newest).abs());
        if at < RUNS_BETWEEN_MIN || values.len() - at < RUNS_BETWEEN_MIN {
            continue;
        }
        let distance = best_end(at, within_left, &to_left[at..], &before[at..]);
        if best.is_none_or(|best| distance > best.distance) {
            best = Some(Candidate { at, distance });
        }
    }
    best
}

/// The largest weighted energy distance between so many values on the left and any beginning of the right side that is long
/// enough, from the distances of each value on the right to the left side and to all values before it.
fn best_end(left: usize, within_left: f64, to_left: &[f64], before: &[f64]) -> f64 {
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let m = left as f64;
    let (mut between, mut within_right, mut best) = (0.0, 0.0, f64::NEG_INFINITY);
    for (index, (to_left, before)) in to_left.iter().zip(before).enumerate() {
        between += to_left;
        within_right += before - to_left;
        let n = (index + 1) as f64;
        if index + 1 >= RUNS_BETWEEN_MIN {
            let energy = 2.0 * between / (m * n) - within_left / pairs(m) - within_right / pairs(n);
            best = best.max(m * n / (m + n) * energy);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(values: &[f64]) -> Vec<usize> {
        change_points(values, 1).unwrap().into_iter().map(|point| point.at).collect()
    }

    #[test]
    fn the_published_change_points_are_found() {
        // Apache Otava (Hunter), tests/series_test.py, test_change_point_detection.
        let one = [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55];
        let other = [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78];
        assert_eq!(places(&one), [6]);
        assert_eq!(places(&other), [4]);
    }

    /// The distance by its definition.
    fn by_definition(left: &[f64], right: &[f64]) -> f64 {
        let (m, n) = (left.len() as f64, right.len() as f64);
        let sum = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().flat_map(|x| other.iter().map(move |y| (x - y).abs())).sum()
        };
        let energy = 2.0 / (m * n) * sum(left, right)
            - sum(left, left) / (m * (m - 1.0))
            - sum(right, right) / (n * (n - 1.0));
        m * n / (m + n) * energy
    }

    #[test]
    fn a_time_that_was_slower_has_two_ends() {
        let mut random = SplitMix64::new(3);
        let height = |night: usize| if (20..30).contains(&night) { 90.0 } else { 100.0 };
        let values: Vec<f64> = (0..50).map(|night| height(night) + random.normal()).collect();
        assert_eq!(places(&values), [20, 30]);
    }

    #[test]
    fn nights_that_differ_by_chance_alone_have_no_change_point() {
        let claimed = (0..200u64).filter(|&seed| {
            let mut random = SplitMix64::new(seed);
            let values: Vec<f64> = (0..20).map(|_| 100.0 + random.normal()).collect();
            !change_points(&values, seed).unwrap().is_empty()
        });
        let claimed = claimed.count();
        assert!(claimed <= 6, "{claimed} of 200");
    }

    #[test]
    fn one_bad_night_and_a_short_history_are_no_change() {
        let mut values = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1, 100.3, 99.9, 100.4, 99.6];
        values[5] = 60.0;
        assert!(places(&values).is_empty());
        assert!(places(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]).is_empty(), "eight values");
        assert!(places(&[]).is_empty() && places(&[100.0; 30]).is_empty());
        assert_eq!(change_points(&[1.0, f64::NAN], 1), None);
        assert_eq!(change_points(&vec![1.0; RUNS_MAX + 1], 1), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_clearest_place_is_the_one_of_the_definition(values in prop::collection::vec(-1e3f64..1e3, 6..30)) {
            let best = best_of_piece(&values).unwrap();
            let mut largest = f64::NEG_INFINITY;
            for at in RUNS_BETWEEN_MIN..=values.len() - RUNS_BETWEEN_MIN {
                for end in at + RUNS_BETWEEN_MIN..=values.len() {
                    largest = largest.max(by_definition(&values[..at], &values[at..end]));
                }
            }
            prop_assert!((best.distance - largest).abs() <= 1e-9 * largest.abs().max(1.0), "{best:?} {largest}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn change_points_are_apart_and_know_neither_unit_nor_direction(
            steps in prop::collection::vec(0usize..3, 12..40), seed in any::<u64>(), power in 0i32..8,
        ) {
            let mut random = SplitMix64::new(seed);
            let values: Vec<f64> = steps.iter().map(|step| 100.0 * *step as f64 + random.normal()).collect();
            let found = change_points(&values, 1).unwrap();
            let mut ends = vec![0];
            ends.extend(found.iter().map(|point| point.at));
            ends.push(values.len());
            prop_assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= RUNS_BETWEEN_MIN), "{found:?}");
            prop_assert!(found.iter().all(|point| point.chance <= CHANGE_CHANCE_MAX));
            // Powers of two change no digit.
            let scaled: Vec<f64> = values.iter().map(|value| -value * 2f64.powi(power)).collect();
            prop_assert_eq!(change_points(&scaled, 1), Some(found));
        }
    }
}
