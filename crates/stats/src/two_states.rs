//! Whether values fall apart into two states, such as two plans of a query or two speeds of a clock, and come back to each.
//!
//! It claims that only where the states are far apart and values go from one to the other several times. It does not explain
//! them, and it does not see states that last as long as the values do.

use serde::{Deserialize, Serialize};

use crate::change_point::rare_chance;
use crate::random::SplitMix64;
use crate::{mean, median};

/// Fewest values of a state.
const STATE_VALUES_MIN: usize = 3;

/// Smallest share of the rarer state. Checkpoints and stalls are rarer, and a report names them by other sentences.
const STATE_SHARE_MIN: f64 = 0.25;

/// Distance of the states in units of the spread within them. Seconds of one state that resemble each other, or that are
/// log-normal, come near it by chance if they are few.
const CLEAR_MIN: f64 = 5.0;

/// From so many values on, five is farther than in 99 of 100 even samples (4.85 of 40), and no samples need to be drawn.
const VALUES_WITHOUT_DRAWS: usize = 40;

/// Fewest seconds of a trial that are judged, and how often they must go from one state to the other.
const SECONDS_MIN: usize = 30;
const SECONDS_SWITCHES_MIN: usize = 4;

/// Seconds that a state lasts on average, at least. Batches and flushes make seconds differ from their neighbours by turns.
const SECONDS_OF_STATE_MIN: usize = 3;

/// Fewest trials that are judged. One change is a step or a drift, and no return.
const TRIALS_MIN: usize = 7;
const TRIALS_SWITCHES_MIN: usize = 2;

/// Two states of values in the order of their time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoStates {
    /// Median of the lower state.
    pub low: f64,
    /// Median of the upper state.
    pub high: f64,
    /// Share (0–1) of the values in the upper state.
    pub high_share: f64,
    /// How often the values go from one state to the other.
    pub switches: usize,
}

/// The two states of the rates of successive seconds. None of fewer than 30, of one state, of states that last so long that the
/// seconds go from one to the other fewer than four times, and of states that last less than 3 s.
#[must_use]
pub fn two_states_of_seconds(values: &[f64], seed: u64) -> Option<TwoStates> {
    let found = (values.len() >= SECONDS_MIN).then(|| two_states(values, SECONDS_SWITCHES_MIN, seed))?;
    found.filter(|found| found.switches * SECONDS_OF_STATE_MIN <= values.len())
}

/// The two states of repeated trials of one configuration, in the order of their time. None of fewer than seven, and of trials
/// that change once.
#[must_use]
pub fn two_states_of_trials(values: &[f64], seed: u64) -> Option<TwoStates> {
    (values.len() >= TRIALS_MIN).then(|| two_states(values, TRIALS_SWITCHES_MIN, seed))?
}

/// The split is the one with the greatest distance of the means in units of the spread within (as Otsu's threshold, IEEE Transactions
/// on Systems, Man, and Cybernetics 9, 1979). It counts if the distance is at least five, and greater than in 99 of 100 even
/// samples: of all samples with one state, the even distribution falls apart most clearly (J. A. and P. M. Hartigan, "The dip test
/// of unimodality", Annals of Statistics 13, 1985).
fn two_states(values: &[f64], switches_min: usize, seed: u64) -> Option<TwoStates> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (clear, below) = falls_apart(&sorted, STATE_VALUES_MIN)?;
    let rarer = below.min(sorted.len() - below);
    let (highest_low, lowest_high) = (sorted[below - 1], sorted[below]);
    let is_clear = clear >= CLEAR_MIN && rarer as f64 >= STATE_SHARE_MIN * values.len() as f64;
    if !is_clear || highest_low >= lowest_high {
        return None;
    }
    let switches = switches(values, highest_low);
    let chance = || chance_of_one_state(clear, values.len(), STATE_VALUES_MIN, &mut SplitMix64::new(seed));
    let is_shown = || values.len() >= VALUES_WITHOUT_DRAWS || chance().is_some();
    (switches >= switches_min && is_shown()).then(|| {
        let (low, high) = (median(&sorted[..below])?, median(&sorted[below..])?);
        let high_share = (sorted.len() - below) as f64 / sorted.len() as f64;
        Some(TwoStates { low, high, high_share, switches })
    })?
}

/// How often values go from at most this one to above it, or back.
pub(crate) fn switches(values: &[f64], highest_low: f64) -> usize {
    values.windows(2).filter(|pair| (pair[0] <= highest_low) != (pair[1] <= highest_low)).count()
}

/// Share of even samples of as many values that fall apart at least as clearly; none if it is more than 1 %.
pub(crate) fn chance_of_one_state(
    clear: f64,
    values: usize,
    least: usize,
    random: &mut SplitMix64,
) -> Option<f64> {
    rare_chance(|| {
        let mut drawn: Vec<f64> = (0..values).map(|_| (random.next() >> 11) as f64).collect();
        drawn.sort_by(f64::total_cmp);
        falls_apart(&drawn, least).is_some_and(|(other, _)| other >= clear)
    })
}

/// How clearly sorted values fall apart into two of at least so many: the distance of the two means in units of the spread within
/// them, at the best place, and how many values are below it.
pub(crate) fn falls_apart(sorted: &[f64], least: usize) -> Option<(f64, usize)> {
    let count = sorted.len();
    let center = mean(sorted)?;
    let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
    for value in sorted {
        let off = value - center;
        sums.push(sums[sums.len() - 1] + off);
        squares.push(squares[squares.len() - 1] + off * off);
    }
    let of = |from: usize, to: usize| {
        let (n, sum) = ((to - from) as f64, sums[to] - sums[from]);
        (sum / n, (squares[to] - squares[from] - sum * sum / n).max(0.0))
    };
    (least..=count.checked_sub(least)?)
        .map(|below| {
            let ((low, low_squares), (high, high_squares)) = (of(0, below), of(below, count));
            let within = ((low_squares + high_squares) / count as f64).sqrt();
            ((high - low) / within.max(f64::MIN_POSITIVE), below)
        })
        .max_by(|one, other| one.0.total_cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(count: usize, seed: u64, course: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        (0..count).map(|at| course(at) * (1.0 + 0.03 * random.normal())).collect()
    }

    /// A name, and the value at each place.
    type Course = (&'static str, fn(usize) -> f64);

    /// 1,000 and 600 for ten seconds each.
    fn by_turns(at: usize) -> f64 {
        if (at / 10).is_multiple_of(2) { 1000.0 } else { 600.0 }
    }

    #[test]
    fn two_speeds_that_take_turns_are_told_with_level_and_share() {
        let found = two_states_of_seconds(&noisy(120, 1, by_turns), 1).unwrap();
        assert!(
            (found.low / 600.0 - 1.0).abs() < 0.02 && (found.high / 1000.0 - 1.0).abs() < 0.02,
            "{found:?}"
        );
        assert_eq!((found.high_share, found.switches), (0.5, 11));
    }

    #[test]
    fn one_speed_a_drift_a_step_and_a_checkpoint_are_no_two_states() {
        let courses: [Course; 4] = [
            ("one speed", |_| 1000.0),
            ("drift", |at| 1000.0 - 4.0 * at as f64),
            ("step", |at| if at < 60 { 1000.0 } else { 600.0 }),
            ("checkpoint", |at| if at % 30 < 5 { 500.0 } else { 1000.0 }),
        ];
        for (name, course) in courses {
            for seed in 0..50 {
                assert_eq!(two_states_of_seconds(&noisy(120, seed, course), 1), None, "{name}, {seed}");
            }
        }
        assert_eq!(two_states_of_seconds(&noisy(29, 1, by_turns), 1), None, "too short");
        let batches = |at: usize| if at.is_multiple_of(2) { 1000.0 } else { 10.0 };
        assert_eq!(two_states_of_seconds(&noisy(120, 1, batches), 1), None, "a batch each other second");
    }

    #[test]
    fn trials_of_two_plans_are_told_and_those_of_one_step_are_not() {
        let plans = |at: usize| if [1, 2, 5].contains(&at) { 600.0 } else { 1000.0 };
        let found = two_states_of_trials(&noisy(8, 3, plans), 1).unwrap();
        assert!((found.high_share - 0.625).abs() < 1e-9 && found.switches == 4, "{found:?}");
        let step = |at: usize| if at < 4 { 600.0 } else { 1000.0 };
        assert_eq!(two_states_of_trials(&noisy(8, 3, step), 1), None);
        assert_eq!(two_states_of_trials(&noisy(6, 3, plans), 1), None, "too few");
        let found = (0..200).filter(|&seed| two_states_of_trials(&noisy(7, seed, |_| 1000.0), 1).is_some());
        assert!(found.count() <= 4, "of one state");
    }

    #[test]
    fn equal_values_and_values_that_are_no_numbers_have_no_states() {
        assert_eq!(two_states_of_seconds(&[5.0; 60], 1), None);
        assert_eq!(two_states_of_seconds(&[f64::NAN; 60], 1), None);
        assert_eq!(two_states_of_seconds(&[f64::INFINITY; 60], 1), None);
        assert_eq!(two_states_of_seconds(&[], 1), None);
        // Without any spread within them they are as clear as can be.
        let exact: Vec<f64> = (0..60).map(by_turns).collect();
        assert_eq!(
            two_states_of_seconds(&exact, 1).map(|found| (found.low, found.high)),
            Some((600.0, 1000.0))
        );
    }
}
