//! What a server wrote in the course of a step that offered it more or less than it can write.
//!
//! Three figures: the rate in the second half of the step, by which a search goes on; whether the rate fell for good, as it does when
//! burst credits are used up or a cache is full; and how much each second resembles the one before. Whether the step was held is
//! not judged here.

use serde::Serialize;

use crate::{mean, median};

/// After a fall no more than this share of what was offered is written.
const FALLEN_SHARE_MAX: f64 = 0.85;
/// A server that writes less than this share after a fall is not there.
const FALLEN_SHARE_MIN: f64 = 0.05;
/// Before a fall at least this share of what was offered is written.
const BEFORE_SHARE_MIN: f64 = 0.97;
/// The two halves of the time after a fall differ by no more than this share: what goes up again is a stall, and what falls on is
/// something else.
const HALVES_DIFFER_MAX: f64 = 0.1;
/// Intervals on each side of a fall.
const SIDE_MIN: usize = 5;

/// Intervals of a step without which its seconds are not compared.
const INTERVALS_MIN: usize = 6;
/// Intervals of all steps without which nothing is said of them.
const INTERVALS_ALL_MIN: usize = 24;

/// From this correlation on intervals resemble each other.
const CORRELATION_MIN: f64 = 0.5;
/// What scatters less lets no rate pass that is too high by more than a search resolves.
const DEVIATION_MIN: f64 = 0.015;

/// What was written in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// Records that were written in it.
    pub records: f64,
    /// Whether records waited all the time, so that the server wrote as many as it could.
    pub all_it_could: bool,
}

impl Written {
    fn per_s(self) -> f64 {
        self.records / self.length_s
    }
}

fn rate(intervals: &[Written]) -> Option<f64> {
    let (records, length_s) =
        intervals.iter().fold((0.0, 0.0), |(r, l), interval| (r + interval.records, l + interval.length_s));
    Some(records / length_s).filter(|rate| rate.is_finite())
}

/// Records a second that were written in the second half of the intervals; none of a single one.
#[must_use]
pub fn late_rate(intervals: &[Written]) -> Option<f64> {
    rate(&intervals[intervals.len() / 2..]).filter(|_| intervals.len() > 1)
}

/// A rate that was written for a time, and then less for good.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fall {
    /// How long the offered rate was written, in seconds; zero if it was not from the begin on.
    pub after_s: f64,
    /// Records a second that were written after that.
    pub to_per_s: f64,
}

/// Whether the rate at which a step was written fell for good, from its begin (warm-up included) to its end: the best place to cut
/// the intervals into two levels, by least squares.
#[must_use]
pub fn fall(intervals: &[Written], offered_per_s: f64) -> Option<Fall> {
    let per_s: Vec<f64> = intervals.iter().map(|interval| interval.per_s()).collect();
    if per_s.len() < 2 * SIDE_MIN || !per_s.iter().all(|rate| rate.is_finite()) {
        return None;
    }
    let fallen = |from: usize| {
        let to_per_s = rate(&intervals[from..])?;
        let (first, second) = intervals[from..].split_at((intervals.len() - from) / 2);
        let differ = (rate(second)? / rate(first)? - 1.0).abs();
        let is_lower = (FALLEN_SHARE_MIN..=FALLEN_SHARE_MAX).contains(&(to_per_s / offered_per_s));
        (is_lower && differ <= HALVES_DIFFER_MAX).then_some(to_per_s)
    };
    let at = cut(&per_s);
    let wrote_before = median(&per_s[..at]).is_some_and(|rate| rate >= BEFORE_SHARE_MIN * offered_per_s);
    if wrote_before && let Some(to_per_s) = fallen(at) {
        let after_s = intervals[..at].iter().map(|interval| interval.length_s).sum();
        return Some(Fall { after_s, to_per_s });
    }
    let low_at_once = median(&per_s[..SIDE_MIN])? <= FALLEN_SHARE_MAX * offered_per_s;
    fallen(0).filter(|_| low_at_once).map(|to_per_s| Fall { after_s: 0.0, to_per_s })
}

/// The first value of the second of two levels.
fn cut(values: &[f64]) -> usize {
    let total: f64 = values.iter().sum();
    let mut sum = 0.0;
    let mut best = (SIDE_MIN, f64::NEG_INFINITY);
    for (at, value) in values.iter().enumerate() {
        if (SIDE_MIN..=values.len() - SIDE_MIN).contains(&at) {
            let (before, after) = (at as f64, (values.len() - at) as f64);
            // The sum of squares that two means explain.
            let explained = sum * sum / before + (total - sum).powi(2) / after;
            if explained > best.1 {
                best = (at, explained);
            }
        }
        sum += value;
    }
    best.0
}

/// How much seconds resemble the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepAutocorrelation {
    /// Correlation of an interval with the one before it (lag 1).
    pub correlation: f64,
    /// Standard deviation of the intervals of a step, as a share of their mean.
    pub deviation_share: f64,
}

impl StepAutocorrelation {
    /// Whether short steps may let a rate pass that is too high.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.correlation >= CORRELATION_MIN && self.deviation_share >= DEVIATION_MIN
    }
}

/// Correlation of what was written in an interval with what was written in the one before, of several steps together. Of each step the
/// longest time counts in which the server wrote as many as it could: other seconds are those of the load.
///
/// Each step has a mean of its own, so that short ones make the correlation look smaller, by (1 + 4ρ)/n in the mean of n intervals
/// (F. H. C. Marriott and J. A. Pope, "Bias in the estimation of autocorrelations", Biometrika 41, 1954); that is added again.
#[must_use]
pub fn step_autocorrelation(steps: &[&[Written]]) -> Option<StepAutocorrelation> {
    let (mut products, mut squares) = (0.0, 0.0);
    let (mut pairs, mut count, mut used) = (0.0, 0.0, 0.0);
    for intervals in steps.iter().map(|intervals| busy(intervals)) {
        let per_s: Vec<f64> = intervals.iter().map(|interval| interval.per_s()).collect();
        let Some(center) = mean(&per_s).filter(|center| *center > 0.0 && per_s.len() >= INTERVALS_MIN) else {
            continue;
        };
        let off: Vec<f64> = per_s.iter().map(|rate| rate / center - 1.0).collect();
        products += off.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += off.iter().map(|off| off * off).sum::<f64>();
        (pairs, count, used) = (pairs + (off.len() - 1) as f64, count + off.len() as f64, used + 1.0);
    }
    if count < INTERVALS_ALL_MIN as f64 || squares <= 0.0 {
        return None;
    }
    let raw = products / pairs / (squares / count);
    let length = count / used;
    let correlation = ((raw + 1.0 / length) / (1.0 - 4.0 / length)).clamp(-1.0, 1.0);
    Some(StepAutocorrelation { correlation, deviation_share: (squares / (count - used)).sqrt() })
}

/// The longest run of intervals in which the server wrote as many as it could.
fn busy(intervals: &[Written]) -> &[Written] {
    let runs = intervals.split(|interval| !interval.all_it_could);
    runs.max_by_key(|run| run.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn seconds(records: impl IntoIterator<Item = f64>) -> Vec<Written> {
        records.into_iter().map(|records| Written { length_s: 1.0, records, all_it_could: true }).collect()
    }

    #[test]
    fn the_second_half_tells_what_lasts() {
        let half = seconds((0..60).map(|second| if second < 30 { 1_000.0 } else { 500.0 }));
        assert_eq!(late_rate(&half), Some(500.0));
        assert_eq!(late_rate(&seconds([7.0, 9.0, 11.0])), Some(10.0));
        let of = |length_s, records| Written { length_s, records, all_it_could: true };
        let long = [of(1.0, 5.0), of(2.0, 8.0)];
        assert_eq!(late_rate(&long), Some(4.0));
        assert_eq!((late_rate(&[]), late_rate(&long[..1])), (None, None));
        assert_eq!(late_rate(&[of(0.0, 0.0); 4]), None);
    }

    /// Burst credits that are used up after 200 of 540 seconds.
    #[test]
    fn a_rate_that_falls_for_good_is_told_with_its_time() {
        let mut random = SplitMix64::new(3);
        let mut noisy = |level: f64| level * (1.0 + 0.05 * random.normal());
        let credits = seconds((0..540).map(|second| noisy(if second < 200 { 1_000.0 } else { 500.0 })));
        let found = fall(&credits, 1_000.0).unwrap();
        assert!((found.after_s - 200.0).abs() <= 2.0 && (found.to_per_s - 500.0).abs() < 10.0, "{found:?}");
        let at_once = fall(&credits[250..], 1_000.0).unwrap();
        assert!(at_once.after_s == 0.0 && (at_once.to_per_s - 500.0).abs() < 10.0, "{at_once:?}");
    }

    #[test]
    fn stalls_growth_and_a_rate_a_little_too_high_are_no_fall() {
        let no_fall = |of: &dyn Fn(usize) -> f64| {
            assert_eq!(fall(&seconds((0..540).map(of)), 1_000.0), None);
        };
        no_fall(&|_| 950.0);
        no_fall(&|second| if second < 200 { 1_000.0 } else { 900.0 });
        no_fall(&|second| if second % 60 < 5 { 0.0 } else { 1_000.0 });
        no_fall(&|second| if (200..400).contains(&second) { 300.0 } else { 1_000.0 });
        no_fall(&|second| if second < 200 { 1_000.0 } else { 0.0 });
        no_fall(&|second| 1_000.0 / (1.0 + 0.002 * second as f64));
        assert_eq!(fall(&seconds([1_000.0; 4]), 1_000.0), None);
        assert_eq!(fall(&seconds([f64::NAN; 40]), 1_000.0), None);
    }

    fn correlated(rho: f64, steps: usize, length: usize, seed: u64) -> StepAutocorrelation {
        let mut random = SplitMix64::new(seed);
        let mut last = random.normal();
        let mut step = |_| {
            seconds((0..length).map(|_| {
                last = rho * last + (1.0 - rho * rho).sqrt() * random.normal();
                1_000.0 * (1.0 + 0.1 * last)
            }))
        };
        let all: Vec<Vec<Written>> = (0..steps).map(&mut step).collect();
        step_autocorrelation(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_correlation_of_short_steps_is_right_on_average() {
        for rho in [0.0, 0.5, 0.9] {
            let found: Vec<f64> = (0..200).map(|seed| correlated(rho, 8, 14, seed).correlation).collect();
            let mean = mean(&found).unwrap();
            assert!((mean - rho).abs() < 0.12, "{rho}: {mean}");
        }
        let long = correlated(0.5, 1, 2_000, 1);
        assert!(
            (long.correlation - 0.5).abs() < 0.06 && (long.deviation_share - 0.1).abs() < 0.01,
            "{long:?}"
        );
    }

    #[test]
    fn too_few_or_equal_seconds_resemble_nothing() {
        assert_eq!(step_autocorrelation(&[]), None);
        assert_eq!(step_autocorrelation(&[&seconds([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]), None);
        assert_eq!(step_autocorrelation(&[&seconds([5.0; 100])]), None);
        assert_eq!(step_autocorrelation(&[&seconds([0.0; 100])]), None);
        // Seconds of the load say nothing of the server.
        let mut of_load = seconds((0..100).map(f64::from));
        of_load.iter_mut().for_each(|second| second.all_it_could = false);
        assert_eq!(step_autocorrelation(&[&of_load]), None);
        of_load[40..70].iter_mut().for_each(|second| second.all_it_could = true);
        assert!(step_autocorrelation(&[&of_load]).is_some());
    }
}
