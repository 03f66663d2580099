//! The report of a study: verdicts, tables and charts, as text, CSV, JSON and one HTML file.
//!
//! [`Report::of`] makes a model in which every figure is computed once; the printers only choose digits and
//! units. The crate does no I/O, reads no clock and draws no random numbers but from the study's own seed, so
//! the same record gives the same report, today and with next year's build.

mod background;
mod backlog;
mod bins;
mod budget;
mod change;
mod chart;
mod clusters;
mod compare;
mod comparison;
mod configuration;
mod csv;
mod disk;
mod faults;
mod findable;
#[cfg(test)]
mod fixture;
pub mod format;
mod historian;
mod history;
mod inspect;
mod junit;
mod lab;
mod lead;
mod limit;
mod machine;
mod markdown;
mod metrics;
mod orders;
mod page;
mod percentile;
mod principles;
mod published;
mod rate;
mod register;
mod replicas;
mod report;
mod reporting;
pub mod rules;
mod script;
mod search;
mod seconds;
mod section;
mod servers;
mod stability;
mod started;
mod summary;
mod table;
mod tables;
mod text;
mod text_chart;
mod trial;
mod unit;
mod verdict;
mod workloads;

pub use background::BackgroundIo;
pub use backlog::Backlog;
pub use budget::{Budget, Class, Counted, CountedFile, CountedWait, Held, Spent};
pub use clusters::lines as loaded_clusters;
pub use compare::{
    Against, Center, Combination, Compare, CompareOutcome, CompareRows, ComparedStudy, Deciding, Difference,
    Gates, MetricAgainst, MixedWorkload, NotCompared, RunDifferences,
};
pub use comparison::{
    AxisSeries, ComparedAxis, ComparedMetric, Ended, Gain, NoiseFloor, OtherMetric, Outcome, OutlyingBlock,
    Point, PointValues, PublishedSource, PublishedValue, Quantity, RunInterval, Scatter, StudyComparison,
    StudyLooks, ThresholdResult, axis_words,
};
pub use configuration::Configuration;
pub(crate) use disk::differ_in_block_size;
pub use disk::{
    Comparison, Expectation, ExpectedFigure, MatrixCell, PublishedRow, SteadyState, Sweep, SweepPoint,
};
pub use faults::{Availability, Fault, Silence};
pub use findable::Findable;
pub use format::wrapped;
pub(crate) use historian::Buffered;
pub use historian::{
    FlushComparison, FlushPoint, FlushSeries, Growth, Historian, HistorianComparison, Maintenance, OurFlush,
    OurRate, Placement, Reads, RealProject, Storage,
};
pub use history::{
    History, HistoryChange, HistoryOutcome, HistoryRun, HistorySeries, LeftOut, NoHistory, Piece,
    SeriesCourse, Since, SinceVerdict, Spike,
};
pub use inspect::{Advice, Inspection, NotRead, SettingRule, Severity, setting_rules};
pub use lab::{MEANING as LAB_MEANING, lines as lab_lines, proofs as lab_proofs, volume as lab_volume};
pub use limit::{Cause, Confirmation, LimitedBy, Observed, Strength};
pub use machine::{Beside, Machine, Part};
pub use orders::{
    ClientSpread, Cost, CostItem, CostRow, CpuTarget, OrderTime, Orders, OrdersComparison, OrdersRow,
    OrdersTarget, Reconciliation,
};
pub use percentile::{OwnPercentile, PercentileInterval, PercentileIntervals};
pub use principles::{Kept, Principle};
pub use rate::{OfferedRate, RateHeld};
pub use register::{AwayTimes, Register};
pub use replicas::Replica;
pub use report::{Report, Stored};
pub use reporting::{DeviceReads, Reporting, Used};
pub use script::{Script, ScriptStatement};
pub use search::{RateRange, Search, SearchedStep};
pub use stability::{Settled, Stability};
pub use started::{lines as started_servers, on_one_device};
/// What `--expect` names; whoever takes the argument refuses a mistake before the run.
pub use stats::{Array, ArrayError};
pub use tables::Tables;
pub use text_chart::{COLUMNS_LEAST, Letters};
pub use trial::{Figures, Generator, Trial};
pub use verdict::{Fact, Level, Verdict};
pub use workloads::{Worked, rate_text};

#[cfg(test)]
mod tests;
