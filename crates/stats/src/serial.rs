//! Whether blocks that follow each other resemble each other, which makes intervals of them too narrow.

use crate::judge::{BLOCKS_MIN, SIGNIFICANCE};
use crate::random::SplitMix64;

/// Orders that are drawn to see how much resemblance chance makes.
const ORDERS: usize = 2_000;

/// How much what was found in a block resembles what was found in the next.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Serial {
    /// Correlation from one block to the next (lag 1), the mean over all series.
    pub correlation: f64,
    /// Share of random orders of the same blocks in which they resemble each other at least as much.
    pub p_value: f64,
}

impl Serial {
    /// Whether the blocks resemble each other by more than chance makes of independent ones in 95 % of studies.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.p_value < SIGNIFICANCE
    }
}

/// Correlation from one block to the next of several series, a value a block each, such as the log ratios of every level to the
/// reference; a block without a value joins no others.
///
/// The p-value is that of the exact test of serial correlation, by random orders (A. Wald and J. Wolfowitz, "An exact test for
/// randomness in the non-parametric case based on serial correlation", Annals of Mathematical Statistics 14, 1943). All series
/// are reordered alike, so that it minds that they share a reference. With seven blocks only a strong correlation is shown.
///
/// None of fewer than six blocks, or where no series varies.
#[must_use]
pub fn serial_correlation(series: &[Vec<Option<f64>>], seed: u64) -> Option<Serial> {
    let blocks = series.iter().map(Vec::len).max().filter(|blocks| *blocks >= BLOCKS_MIN)?;
    let centered: Vec<Vec<Option<f64>>> = series.iter().filter_map(|values| standardized(values)).collect();
    if centered.is_empty() {
        return None;
    }
    let correlation = |order: &[usize]| -> f64 {
        let of = |values: &Vec<Option<f64>>| -> f64 {
            let at = |block: usize| values.get(block).copied().flatten();
            order.windows(2).filter_map(|pair| Some(at(pair[0])? * at(pair[1])?)).sum()
        };
        centered.iter().map(of).sum::<f64>() / centered.len() as f64
    };
    let mut order: Vec<usize> = (0..blocks).collect();
    let found = correlation(&order);
    let mut random = SplitMix64::new(seed);
    let mut as_much = 1;
    for _ in 1..ORDERS {
        (1..blocks).rev().for_each(|last| order.swap(last, random.below(last + 1)));
        as_much += usize::from(correlation(&order) >= found - 1e-12);
    }
    Some(Serial { correlation: found, p_value: as_much as f64 / ORDERS as f64 })
}

/// Deviations from the mean whose squares sum up to 1; none of fewer than six values, or of equal ones.
fn standardized(values: &[Option<f64>]) -> Option<Vec<Option<f64>>> {
    let known: Vec<f64> = values.iter().flatten().copied().filter(|value| value.is_finite()).collect();
    let mean = crate::mean(&known).filter(|_| known.len() >= BLOCKS_MIN)?;
    let squares: f64 = known.iter().map(|value| (value - mean).powi(2)).sum();
    let scale = squares.sqrt();
    let deviation = |value: &Option<f64>| value.filter(|v| v.is_finite()).map(|value| (value - mean) / scale);
    (scale > mean.abs().max(1.0) * 1e-12).then(|| values.iter().map(deviation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn correlation_is_that_of_another_implementation() {
        // statsmodels.tsa.stattools.acf(x, nlags=1)[1] of statsmodels 0.15.
        let found = serial_correlation(&[known(&[1.0, 2.0, 4.0, 3.0, 5.0, 7.0, 6.0, 8.0])], 1).unwrap();
        assert!((found.correlation - ACF_OF_STATSMODELS).abs() < 1e-12, "{found:?}");
        assert!(found.is_shown(), "{found:?}");
    }

    const ACF_OF_STATSMODELS: f64 = 0.482_142_857_142_857_04;

    #[test]
    fn the_p_value_is_the_share_of_all_orders() {
        // All 720 orders of six values, counted by itertools.permutations of Python.
        let found = serial_correlation(&[known(&[0.1, 0.2, 0.4, 0.3, 0.9, 0.8])], 3).unwrap();
        assert!((found.p_value - SHARE_OF_ORDERS).abs() < 0.02, "{found:?}");
    }

    const SHARE_OF_ORDERS: f64 = 50.0 / 720.0;

    #[test]
    fn blocks_that_do_not_vary_or_are_few_tell_nothing() {
        assert_eq!(serial_correlation(&[], 1), None);
        assert_eq!(serial_correlation(&[known(&[1.0; 9])], 1), None);
        assert_eq!(serial_correlation(&[known(&[1.0, 2.0, 3.0, 4.0, 5.0])], 1), None);
        let mut lacking = known(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        lacking[2] = None;
        assert_eq!(serial_correlation(&[lacking], 1), None);
    }

    #[test]
    fn independent_blocks_are_hardly_ever_said_to_resemble_each_other() {
        let share = |rho: f64| {
            let study = |seed: u64| {
                let mut random = SplitMix64::new(seed);
                let mut last = random.normal();
                let mut block = |_| {
                    let value = last;
                    last = rho * last + (1.0 - rho * rho).sqrt() * random.normal();
                    Some(value)
                };
                serial_correlation(&[(0..12).map(&mut block).collect()], seed).unwrap().is_shown()
            };
            (0..400).filter(|&seed| study(seed)).count()
        };
        let (none, strong) = (share(0.0), share(0.8));
        assert!(none <= 34 && strong > 200, "{none} and {strong} of 400");
    }

    proptest! {
        #[test]
        fn any_floats_are_answered(
            series in prop::collection::vec(prop::collection::vec(any::<Option<f64>>(), 0..9), 0..4),
        ) {
            if let Some(found) = serial_correlation(&series, 1) {
                prop_assert!(found.correlation.abs() <= 1.0 + 1e-9);
                prop_assert!(found.p_value > 0.0 && found.p_value <= 1.0);
            }
        }
    }
}
