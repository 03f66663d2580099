//! What a few repeats of something say that happened in each of them or in some: a time that scatters as it likes, and a chance.

/// The middle of repeats, with an interval that holds for any distribution of theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    /// The median.
    pub median: f64,
    /// The 95 % interval of the median of all that could be; none of fewer than six repeats, which cannot support one.
    pub interval: Option<(f64, f64)>,
}

/// The median with the interval between two order statistics, each of which lies beyond the true median with a chance of at most
/// 2.5 % (W. J. Conover, Practical Nonparametric Statistics, 3rd edition, 3.2). None of an empty sample or where a value is not
/// finite.
#[must_use]
pub fn median_interval(values: &[f64]) -> Option<MedianInterval> {
    let median = crate::median(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let interval = outermost(sorted.len()).map(|beyond| (sorted[beyond], sorted[sorted.len() - 1 - beyond]));
    Some(MedianInterval { median, interval })
}

/// How many of so many values may lie beyond either end: the most whose chance is at most 2.5 % if each lies on either side of the
/// median like a coin. None where even the whole range has a greater one.
fn outermost(count: usize) -> Option<usize> {
    let mut chance = 0.5_f64.powi(i32::try_from(count).ok()?);
    let (mut sum, mut beyond) = (chance, None);
    for number in 0..count {
        if sum > 0.025 {
            break;
        }
        beyond = Some(number);
        chance *= (count - number) as f64 / (number + 1) as f64;
        sum += chance;
    }
    beyond
}

/// The chance that something has at most, with a confidence of 95 %, that happened so often in so many repeats: the upper end of the
/// one-sided interval of C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
/// Biometrika 26 (1934). None of no repeats.
#[must_use]
pub fn chance_at_most(happened: u32, repeats: u32) -> Option<f64> {
    if repeats == 0 || happened > repeats {
        return None;
    }
    if happened == repeats {
        return Some(1.0);
    }
    let (mut low, mut high) = (f64::from(happened) / f64::from(repeats), 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if at_most(happened, repeats, middle) > 0.05 { low = middle } else { high = middle }
    }
    Some(high)
}

/// The chance that something of this chance happens at most so often.
fn at_most(happened: u32, repeats: u32, chance: f64) -> f64 {
    let mut logarithm = f64::from(repeats) * (-chance).ln_1p();
    let odds = chance.ln() - (-chance).ln_1p();
    let mut sum = 0.0;
    for number in 0..=happened {
        sum += logarithm.exp();
        logarithm += odds + f64::from(repeats - number).ln() - f64::from(number + 1).ln();
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_never_happened_may_still_have_a_chance() {
        let at_most = |happened, repeats| chance_at_most(happened, repeats).unwrap();
        assert!((at_most(0, 20) - 0.1391).abs() < 1e-4, "the rule of three: {}", at_most(0, 20));
        assert!((at_most(0, 59) - 0.0495).abs() < 1e-4);
        // NIST/SEMATECH e-Handbook, 7.2.4.1: 4 of 20 has 0.401 as its one-sided upper end.
        assert!((at_most(4, 20) - 0.401).abs() < 1e-3, "{}", at_most(4, 20));
        assert_eq!(
            (chance_at_most(3, 3), chance_at_most(0, 0), chance_at_most(2, 1)),
            (Some(1.0), None, None)
        );
    }

    #[test]
    fn the_interval_of_a_median_lies_between_values_that_were_measured() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = median_interval(&ten).unwrap();
        // Conover's table: of ten values the second and the ninth, with a confidence of 97.9 %.
        assert_eq!(found, MedianInterval { median: 5.5, interval: Some((2.0, 9.0)) });
        assert_eq!(median_interval(&ten[..6]).unwrap().interval, Some((1.0, 6.0)));
        assert_eq!(median_interval(&ten[..5]).unwrap(), MedianInterval { median: 3.0, interval: None });
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(median_interval(&twenty).unwrap().interval, Some((6.0, 15.0)));
        assert_eq!(median_interval(&[]), None);
    }

    proptest! {
        #[test]
        fn a_chance_lies_above_its_share_and_falls_with_more_repeats(happened in 0_u32..50, more in 1_u32..500) {
            let repeats = happened + more;
            let bound = chance_at_most(happened, repeats).unwrap();
            prop_assert!(bound >= f64::from(happened) / f64::from(repeats) && bound < 1.0);
            prop_assert!((at_most(happened, repeats, bound) - 0.05).abs() < 1e-9);
            prop_assert!(chance_at_most(happened, repeats + 1).unwrap() < bound);
        }
    }
}
