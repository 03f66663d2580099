//! The seconds of one trial in columns: what an export by seconds writes a line of each.

use std::collections::BTreeMap;

use crate::Phase;

/// One trial, second by second.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
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
    /// Begin of the load, RFC 3339 in UTC.
    pub started: Option<String>,
    /// Whether the trial was complete and means what it should.
    pub valid: bool,
    /// Its intervals, in the order in which they were stored.
    pub seconds: Vec<Second>,
    /// What was recorded of them: of each figure a value for each second, none where it was not recorded.
    pub figures: BTreeMap<SecondFigure, Vec<Option<f64>>>,
}

/// An interval of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// Its end, in seconds since the load began.
    pub end_s: f64,
    /// Its length in seconds: one, or less where a phase ends.
    pub length_s: f64,
    /// Phase that it belongs to.
    pub phase: Phase,
}

/// A figure of a second. Figures stand in their order: by what they are of, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecondFigure {
    /// What it is of.
    pub of: FigureOf,
    /// Name, which begins with what it is of and ends with the unit: `read_p99_ms`, `device_sda_queue_depth`.
    pub name: String,
}

/// What a figure of a second is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FigureOf {
    /// A kind of operation.
    Operation,
    /// A gauge of the workload.
    Gauge,
    /// The load generator.
    Generator,
    /// Processors and pressure.
    Machine,
    /// A block device.
    Device,
    /// A database server on the machine.
    Server,
}

impl FigureOf {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Operation => "operation",
            Self::Gauge => "gauge",
            Self::Generator => "generator",
            Self::Machine => "machine",
            Self::Device => "device",
            Self::Server => "server",
        }
    }
}
