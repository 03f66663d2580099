//! What chance alone makes of counts: how far they scatter, drift and differ, and how long nothing comes.
//!
//! Counts of independent events are Poisson's, whose variance is their mean (W. Feller, "An Introduction to Probability Theory
//! and Its Applications", vol. 1, 3rd ed. 1968, VI.5). An event may carry much: a commit carries the rows of a flush, and the
//! rows scatter as the commits do. Events that come more evenly than that scatter less; nothing here finds out which they do.

use crate::student::t_two_sided;

/// Standard errors that are still chance where seconds scatter.
const SCATTER_ERRORS: f64 = 2.0;

/// 95th percentile of the range of five standard normal values: the studentized range of infinitely many degrees (E. S. Pearson
/// and H. O. Hartley, "Biometrika Tables for Statisticians", vol. 1, table 29).
const RANGE_OF_FIVE: f64 = 3.858;

/// 1.96 standard deviations of the ends of a line through five standard normal values: 4 · 1.96 / √10.
const LINE_OF_FIVE: f64 = 2.479;

/// One run in so many may have so long a gap by chance.
const GAP_RUNS: f64 = 100.0;

/// What chance alone may make of the rate of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chance {
    /// Coefficient of variation of the seconds.
    pub scatter: f64,
    /// Max − min of the means of five equal parts, as a share of the mean.
    pub range: f64,
    /// Max − min of the line through these, as a share of the mean.
    pub line: f64,
}

impl Chance {
    /// Of a run of so many seconds in which so many independent events come a second. None where no number is known.
    #[must_use]
    pub fn of(events_per_s: f64, seconds: f64) -> Option<Self> {
        let of_five = 1.0 / (events_per_s * seconds / 5.0).sqrt();
        let scatter = SCATTER_ERRORS / events_per_s.sqrt();
        let known = scatter.is_finite() && of_five.is_finite();
        known.then_some(Self { scatter, range: RANGE_OF_FIVE * of_five, line: LINE_OF_FIVE * of_five })
    }
}

/// The longest time without any of so many independent events a second that one run of 100 has by chance, in seconds: such
/// gaps are exponential, so that m T e^(−m g) of them are longer than g. Infinite where nothing comes.
#[must_use]
pub fn gap_by_chance(events_per_s: f64, seconds: f64) -> f64 {
    if events_per_s > 0.0 {
        (GAP_RUNS * events_per_s * seconds).max(1.0).ln() / events_per_s
    } else {
        f64::INFINITY
    }
}

/// How far so many parts that are served alike differ by chance, as [`crate::variability`] tells it, where each completes so
/// many events on average: the mean range of as many normal values with the scatter of Poisson's counts, over the largest,
/// which lies half a range above the mean. None of fewer than two parts or of no events.
#[must_use]
pub fn variability_by_chance(parts: usize, mean_count: f64) -> Option<f64> {
    if parts < 2 || !(mean_count > 0.0 && mean_count.is_finite()) {
        return None;
    }
    let range = mean_range(parts) / mean_count.sqrt();
    Some((range / (1.0 + range / 2.0)).min(1.0))
}

/// Mean range of so many standard normal values: ∫ 1 − Φ(x)^n − (1 − Φ(x))^n dx (L. H. C. Tippett, "On the extreme
/// individuals and the range of samples taken from a normal population", Biometrika 17, 1925).
fn mean_range(values: usize) -> f64 {
    /// The integrand is symmetrical, and nothing is left of it past 8.
    const STEPS: i32 = 400;
    const STEP: f64 = 8.0 / 400.0;
    let n = values as f64;
    let at = |step: i32| {
        let above = t_two_sided(f64::from(step) * STEP, 1e6) / 2.0;
        1.0 - (1.0 - above).powf(n) - above.powf(n)
    };
    2.0 * STEP * (at(0) / 2.0 + (1..=STEPS).map(at).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::{bins_of_five, coefficient_of_variation, median, pts, variability};
    use proptest::prelude::*;

    /// Counts of rare events among many draws, as Poisson's are.
    fn counts(mean: usize, length: usize, seed: u64) -> Vec<f64> {
        let mut chance = SplitMix64::new(seed);
        let count = |chance: &mut SplitMix64| (0..40 * mean).filter(|_| chance.below(40) == 0).count() as f64;
        (0..length).map(|_| count(&mut chance)).collect()
    }

    #[test]
    fn mean_ranges_are_those_of_the_published_table() {
        // Factors d2 for control charts: ASTM Manual on Presentation of Data and Control Chart Analysis, table 27.
        for (values, published) in [(2, 1.128), (3, 1.693), (5, 2.326), (10, 3.078), (20, 3.735), (25, 3.931)]
        {
            let range = mean_range(values);
            assert!((range - published).abs() < 0.001, "{values}: {range}");
        }
    }

    #[test]
    fn equal_parts_differ_by_what_is_said() {
        for (parts, mean_count) in [(4, 200), (64, 200), (32, 1000)] {
            let shares: Vec<f64> =
                (0..60).map(|seed| variability(&counts(mean_count, parts, seed)).unwrap()).collect();
            let (seen, said) =
                (median(&shares).unwrap(), variability_by_chance(parts, mean_count as f64).unwrap());
            assert!((seen / said - 1.0).abs() < 0.2, "{parts} of {mean_count}: {seen}, said {said}");
        }
        assert_eq!(variability_by_chance(1, 100.0), None);
        assert_eq!(variability_by_chance(4, 0.0), None);
        assert_eq!(variability_by_chance(4, f64::NAN), None);
    }

    #[test]
    fn independent_counts_scatter_and_drift_within_what_chance_allows() {
        let allowed = Chance::of(100.0, 30.0).unwrap();
        assert_eq!(allowed.scatter, 0.2);
        let mut beyond = 0;
        for seed in 0..200 {
            let counts = counts(100, 30, seed);
            assert!(coefficient_of_variation(&counts).unwrap() < allowed.scatter);
            let fifths = pts(&bins_of_five(&counts).unwrap()).unwrap();
            beyond += u32::from(fifths.range_share > allowed.range);
            beyond += u32::from(fifths.slope_share > allowed.line);
        }
        // Five of 100 each.
        assert!((8..=34).contains(&beyond), "{beyond}");
        assert_eq!(Chance::of(0.0, 30.0), None);
        assert_eq!(Chance::of(f64::NAN, 30.0), None);
    }

    #[test]
    fn gaps_of_independent_events_are_seldom_longer() {
        let (per_s, seconds) = (2.0, 60.0);
        let limit = gap_by_chance(per_s, seconds);
        let mut random = SplitMix64::new(4);
        let mut longest = || {
            let (mut at, mut longest) = (0.0, 0.0f64);
            while at < seconds {
                let gap = -((random.below(1 << 30) as f64 + 0.5) / (1u64 << 30) as f64).ln() / per_s;
                at += gap;
                longest = longest.max(gap);
            }
            longest
        };
        let longer = (0..2_000).filter(|_| longest() > limit).count();
        assert!((5..=40).contains(&longer), "{longer} of 2,000");
        assert_eq!(gap_by_chance(0.0, 60.0), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn more_events_differ_less(parts in 2usize..200, mean_count in 1.0f64..1e6) {
            let (few, many) = (variability_by_chance(parts, mean_count), variability_by_chance(parts, 2.0 * mean_count));
            prop_assert!(many < few && few <= Some(1.0));
            prop_assert!(variability_by_chance(parts + 1, mean_count) >= few);
        }
    }
}
