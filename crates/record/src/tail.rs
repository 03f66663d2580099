//! How the slowest operations of a measured window are spread over its seconds: what the interval of a percentile rests on.
//!
//! Counts only; what they mean for a percentile is the report's affair.

use std::collections::BTreeMap;

use stats::SecondBeyond;

/// Percentiles of which the tails are counted in any case, in per cent: those of a [`crate::Summary`].
pub const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// Operations of one kind, or of several together, beyond each of some percentiles: a value a second of the window.
/// What was answered after the last whole second counts in it, as it does in the histograms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// All operations of each second.
    pub operations: Vec<f64>,
    /// Each percentile, in per cent, with those beyond its value; of those in its cell of the histogram such a share, the same in each second,
    /// that exactly as many of all lie beyond as the percentile says.
    pub beyond: Vec<(f64, Vec<f64>)>,
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
    /// The seconds of a percentile; none where it was not counted.
    #[must_use]
    pub fn seconds(&self, per_cent: f64) -> Option<Vec<SecondBeyond>> {
        let (_, beyond) = self.beyond.iter().find(|(counted, _)| *counted == per_cent)?;
        let counted = self.operations.iter().zip(beyond);
        Some(counted.map(|(&operations, &beyond)| SecondBeyond { operations, beyond }).collect())
    }
}
