//! The longest time without an answer, from what single seconds counted.
//!
//! A stall of a second hardly ever begins with one: it takes a part of two seconds, and what they lack together is its length.
//! Two seconds at half the rate lack as much. Only a stall leaves an operation that waited for its whole length.

use serde::{Deserialize, Serialize};

use crate::median;

/// Shorter times are not told from slow seconds.
const GAP_MIN_S: f64 = 0.8;

/// Share of a gap for which an operation must have waited.
const WAITED_SHARE_MIN: f64 = 0.8;

/// A time without an answer.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Its length in seconds, to a tenth or so.
    pub length_s: f64,
    /// When it began, in seconds since the first of the values.
    pub at_s: f64,
}

/// The longest time without an answer in successive seconds with these rates, and with these longest latencies of what was
/// answered in them, in seconds; of 0.8 s or more. None where nothing points at one, or where the middle second had no answer.
#[must_use]
pub fn longest_gap(rates: &[f64], longest_s: &[f64]) -> Option<Gap> {
    let usual = median(rates).filter(|&usual| usual > 0.0)?;
    let lacks = |second: Option<usize>| {
        let rate = second.and_then(|second| rates.get(second));
        rate.map_or(0.0, |rate| (1.0 - rate / usual).clamp(0.0, 1.0))
    };
    let waited = |from: usize, to: usize| {
        let those = longest_s.iter().take(to + 1).skip(from).copied();
        those.fold(0.0, f64::max)
    };
    let of = |begin: usize| {
        let silent = rates[begin..].iter().take_while(|&&rate| rate <= 0.0).count();
        let (before, after) = (begin.checked_sub(1), begin + silent);
        let length_s = silent as f64 + lacks(before) + lacks(Some(after));
        if waited(before.unwrap_or(0), after) >= WAITED_SHARE_MIN * length_s {
            return Gap { length_s, at_s: begin as f64 - lacks(before) };
        }
        // Nothing was answered in whole seconds, whoever waited.
        Gap { length_s: silent as f64, at_s: begin as f64 }
    };
    let gaps = (0..rates.len()).map(of).filter(|gap| gap.length_s >= GAP_MIN_S);
    gaps.reduce(|longest, gap| if gap.length_s > longest.length_s { gap } else { longest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two minutes at 1,000 a second that stop at a moment for a while; whoever was in flight waited for all of it.
    fn stalled(at_s: f64, length_s: f64) -> (Vec<f64>, Vec<f64>) {
        let overlap = |second: usize| {
            let second = second as f64;
            ((at_s + length_s).min(second + 1.0) - at_s.max(second)).max(0.0)
        };
        let rates: Vec<f64> = (0..120)
            .map(|second| 1000.0 * (1.0 - overlap(second)) * (1.0 + 0.02 * ((second % 3) as f64 - 1.0)))
            .collect();
        let end = (at_s + length_s) as usize;
        let longest = (0..120).map(|second| if second == end { length_s } else { 0.01 }).collect();
        (rates, longest)
    }

    #[test]
    fn a_stall_of_a_second_in_two_minutes_is_found_wherever_it_begins() {
        for (at_s, length_s) in [(47.0, 1.0), (46.3, 1.2), (46.5, 1.0), (46.9, 3.4), (10.2, 0.9)] {
            let (rates, longest) = stalled(at_s, length_s);
            let gap = longest_gap(&rates, &longest).unwrap();
            assert!((gap.length_s - length_s).abs() < 0.1, "{at_s}, {length_s}: {gap:?}");
            assert!((gap.at_s - at_s).abs() < 0.1, "{at_s}, {length_s}: {gap:?}");
        }
    }

    #[test]
    fn slow_seconds_are_no_gap_and_silent_ones_are_whoever_waited() {
        let mut rates = vec![1000.0; 30];
        (rates[10], rates[11]) = (450.0, 450.0);
        assert_eq!(longest_gap(&rates, &[0.02; 30]), None);
        (rates[10], rates[11]) = (0.0, 0.0);
        assert_eq!(longest_gap(&rates, &[]), Some(Gap { length_s: 2.0, at_s: 10.0 }));
        assert_eq!(longest_gap(&[0.0; 10], &[]), None);
        assert_eq!(longest_gap(&[], &[]), None);
        assert_eq!(longest_gap(&[f64::NAN; 9], &[]), None);
    }

    proptest! {
        #[test]
        fn a_gap_lies_within_the_run(
            rates in prop::collection::vec(prop_oneof![Just(0.0), 1.0f64..1e6], 0..60),
            longest in prop::collection::vec(0.0f64..10.0, 0..60),
        ) {
            if let Some(gap) = longest_gap(&rates, &longest) {
                prop_assert!(gap.at_s >= -1e-9 && gap.at_s + gap.length_s <= rates.len() as f64 + 1e-9, "{gap:?}");
                prop_assert!(gap.length_s >= GAP_MIN_S);
            }
        }
    }
}
