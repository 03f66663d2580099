//! The report of a study: verdicts, tables and charts, as text, CSV, JSON and one HTML file.
//!
//! [`Report::of`] makes a model in which every figure is computed once; the printers only choose digits and
//! units. The crate does no I/O, reads no clock and draws no random numbers but from the study's own seed, so
//! the same record gives the same report, today and with next year's build.

mod chart;
mod compare;
mod csv;
#[cfg(test)]
mod fixture;
pub mod format;
mod html;
mod judge;
mod model;
mod published;
mod table;
mod text;

pub use compare::{Against, Combination, Compare, CompareOutcome, ComparedStudy, Difference, MetricAgainst};
pub use judge::{Level, Verdict};
pub use model::{
    AxisSeries, ClientSpread, ComparedAxis, ComparedMetric, Configuration, Cost, CostItem, CostRow,
    CpuTarget, Expectation, ExpectedFigure, Figures, FlushPoint, FlushSeries, Gain, Generator, Historian,
    Machine, Maintenance, MatrixCell, NoiseFloor, OfferedRate, OrderTime, Orders, OrdersTarget, OtherMetric,
    Outcome, Point, PointValues, PublishedSource, PublishedValue, Quantity, Reads, Reconciliation, Report,
    Search, SearchedStep, Settled, Stability, SteadyState, Storage, StudyComparison, Sweep, SweepPoint,
    ThresholdResult, Trial,
};
/// What `--expect` names; whoever takes the argument refuses a mistake before the run.
pub use stats::{Array, ArrayError};

pub use published::{
    Comparison, FlushComparison, Growth, HistorianComparison, OrdersComparison, OrdersRow, OurFlush, OurRate,
    Placement, PublishedRow, RealProject,
};

#[cfg(test)]
mod tests;
