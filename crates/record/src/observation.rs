//! One value of the long table: what an export writes a line of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One metric of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Results directory of the study.
    pub study: String,
    /// Number of the trial within it.
    pub trial: u32,
    /// Block of the trial.
    pub block: u32,
    /// Name of the configuration.
    pub configuration: String,
    /// Values of the axes, by name.
    pub axes: BTreeMap<String, String>,
    /// Metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// Lower end of the 95 % interval of a percentile of this run, and of the rate that a search found the value itself; none of
    /// other metrics, and where none can be given.
    pub low: Option<f64>,
    /// Its upper end, of a search the rate that failed; none where it lies beyond all that was measured.
    pub high: Option<f64>,
    /// Whether the trial was complete and means what it should.
    pub valid: bool,
}
