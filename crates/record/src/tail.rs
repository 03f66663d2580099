//! How the slowest operations of a measured window are spread over its seconds: what the interval of a percentile rests on.
//!
//! Counts only; what they mean for a percentile is the report's affair.

use std::collections::BTreeMap;

use stats::SecondBeyond;

/// Percentiles of which the tails are counted, in per cent: those of a [`crate::Summary`].
pub const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// Operations of one kind, or of several together, beyond each of their [`PERCENTILES`]: a value a second of the window.
/// What was answered after the last whole second counts in it, as it does in the histograms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// All operations of each second.
    pub operations: Vec<f64>,
    /// Those beyond the value of each percentile; of those in its cell of the histogram such a share, the same in each second,
    /// that exactly as many of all lie beyond as the percentile says.
    pub beyond: [Vec<f64>; PERCENTILES.len()],
}

/// The tails of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tails {
    /// Of each kind of operation; none of one that cannot be counted.
    pub kinds: BTreeMap<String, Tail>,
    /// Of all that the trial is about together, where that is several kinds.
    pub main: Option<Tail>,
}

impl Tail {
    /// The seconds of a percentile, by its place in [`PERCENTILES`].
    #[must_use]
    pub fn seconds(&self, percentile: usize) -> Vec<SecondBeyond> {
        let counted = self.operations.iter().zip(&self.beyond[percentile]);
        counted.map(|(&operations, &beyond)| SecondBeyond { operations, beyond }).collect()
    }
}
