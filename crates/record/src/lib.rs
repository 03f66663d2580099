//! What a trial leaves: samples, histograms, environment, events, and the stored formats.
//!
//! A record is plain data. It knows neither the engine that made it nor the report that reads it, so
//! that an old record stays readable and a better method can judge it again. This crate does no I/O.

mod csv_field;
mod design;
mod environment;
mod event;
mod histogram;
mod historian;
mod ingest;
mod manifest;
mod mention;
mod metric;
mod observation;
pub mod orders;
mod prices;
mod rows;
mod sample;
mod setup;
mod shown;
mod threshold;
mod trial;
mod window;

pub use csv_field::{UNDO, csv_field, text_of};
pub use design::{Design, DesignAxis, Order, Published, PublishedFigure};
pub use environment::{Cpu, Device, Environment, Memory, MountPoint, Reading};
pub use event::Event;
pub use histogram::{HistogramError, Latency};
pub use historian::{
    HistorianOutcome, HistorianSetup, MaintenanceRun, MaintenanceSetup, Outage, ReaderSetup, Server,
    ServerSetting,
};
pub use ingest::{IngestStep, PENDING, PENDING_MAX, PENDING_MIN};
pub use manifest::{
    FORMAT_VERSION, Manifest, MeasuredTrial, PlannedTrial, Resumption, SearchRules, StudyRecord,
};
pub use mention::{Command, Mention, Parameter, spelled};
pub use metric::{Direction, METRICS, Metric};
pub use observation::Observation;
pub use orders::{OrdersOutcome, OrdersSetup, StoreTarget, TargetOutcome};
pub use prices::{PriceItem, Prices, PricesError};
pub use rows::{RowsCompared, RowsDiffer};
pub use sample::{Interval, OperationInterval, OperationSample, Pauses, Phase, Resources, Sample, Summary};
pub use setup::{CacheMode, Calibration, DiskSetup, Loop, Setup, Written};
pub use shown::{Lines, escaped, holds_password, shown, shown_json, without_password};
pub use threshold::{Bound, GAIN, Threshold, ThresholdError};
pub use trial::{Offered, SearchStep, State, TrialRecord};
pub use window::Window;
