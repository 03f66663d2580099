//! What a trial leaves: samples, histograms, environment, events, and the stored formats.
//!
//! A record is plain data. It knows neither the engine that made it nor the report that reads it, so
//! that an old record stays readable and a better method can judge it again. This crate does no I/O.

mod change_limit;
pub mod clients;
mod cluster;
mod csv_field;
mod cycle;
mod design;
pub mod disk;
mod environment;
mod event;
mod fault;
mod format;
mod histogram;
pub mod historian;
mod ingest;
mod inspected;
mod lab;
mod labels;
mod leaves;
mod link;
mod machine;
mod manifest;
mod mark;
mod measured;
mod mention;
mod metric;
mod observation;
pub mod orders;
mod pacing;
mod password;
mod percentiles;
mod placed;
mod preparation;
mod prices;
pub mod register;
pub mod replay;
mod replica;
pub mod reporting;
mod rows;
mod sample;
pub mod script;
mod series;
mod server;
mod set_up_database;
mod share;
mod shown;
mod space;
mod started;
pub mod tables;
mod tail;
mod target;
mod threshold;
mod trial;
pub mod verify;
mod window;
mod workload;

pub use change_limit::{ChangeLimit, ChangeLimitError};
pub use clients::{CpuOf, CpuRead};
pub use cluster::{AttachedCluster, ClusterMember};
pub use csv_field::{UNDO, csv_field, text_of};
pub use cycle::{Cycle, CycleOf};
pub use design::{Design, DesignAxis, Order, Published, PublishedFigure, StoppingRule};
pub use disk::{BufferUse, CacheMode, DiskEngine, DiskOutcome, DiskSetup, Written};
pub use environment::{
    Cpu, Device, Environment, Memory, MountPoint, Reading, ServerProcesses, Storage, TARGET_VOLUME,
};
pub use event::Event;
pub use fault::{ClientAway, FaultDone, Split};
pub use format::FORMAT_VERSION;
pub use histogram::{HistogramError, Latency};
pub use historian::{HistorianOutcome, HistorianSetup, MaintenanceRun, MaintenanceSetup, ReaderSetup};
pub use ingest::{OFFERED, PENDING, PENDING_MAX, PENDING_MIN, REFUSED, ingest_step, written};
pub use inspected::{FactRow, InspectedServer, Layout, Tuning, Unread};
pub use lab::{LabVolume, Laboratory};
pub use labels::{LATEST, LabelError, Labels, RunComment, RunName, RunTitle, Tag};
pub use leaves::{Leaves, leaves};
pub use link::{Checked, Link, LinkEncryption};
pub use machine::{
    Blocker, DeviceLoad, GroupLoad, MachineLoad, OwnLoad, Resources, ServerLoad, ServerTold, beside, doing,
};
pub use manifest::{Manifest, PlannedTrial, Resumption, SearchRules};
pub use mark::{Mark, MarkKind};
pub use measured::{MeasuredTrial, StudyRecord};
pub use mention::{Command, Mention, Parameter, spell_by};
pub use metric::{Direction, METRICS, Metric};
pub use observation::Observation;
pub use orders::{OrdersOutcome, OrdersSetup, StoreTarget, TargetOutcome};
pub use pacing::{Calibration, Loop, Offered};
pub use password::{holds_password, value_without_password, without_password};
pub use percentiles::{Percentile, PercentileError, Percentiles};
pub use placed::{Beneath, Placed, Volume};
pub use preparation::{Preparation, Unit};
pub use prices::{PriceItem, Prices, PricesError};
pub use register::{RegisterOutcome, RegisterSetup};
pub use replay::{CodedErrors, LeftOut, ReplayInUse, ReplayOutcome, ShapeInUse};
pub use replica::ReplicaState;
pub use reporting::{QueryPlan, ReportAnswer, ReportRun, ReportingOutcome, ReportingSetup};
pub use rows::{RowsCompared, RowsDiffer};
pub use sample::{Interval, OperationInterval, OperationSample, Pauses, Phase, Sample, Summary};
pub use script::{Balances, ParametersInUse, ScriptInUse, ScriptOutcome, ScriptSetup, StatementInUse};
pub use series::{FigureOf, Second, SecondFigure, Series};
pub use server::{Outage, Server, ServerSetting, Service, UnsafeTables};
pub use set_up_database::SetUpDatabase;
pub use share::{Share, ShareError};
pub use shown::{Lines, escaped, shown, shown_json};
pub use space::UsedBytes;
pub use started::{DeviceLimits, FileCache, LimitProof, ServerLimits, ServerStep, ServerUse, StartedServer};
pub use tables::{
    Crash, Killed, RowsChecksum, Survival, TableOperation, TableSize, TablesOutcome, TablesSetup,
    TimedOperation,
};
pub use tail::{PERCENTILES, Tail, Tails};
pub use target::{axis_in_full, in_full, loaded};
pub use threshold::{Bound, GAIN, Threshold, ThresholdError};
pub use trial::{SearchStep, State, TrialRecord};
pub use verify::{Damage, Finding, Verified};
pub use window::Window;
pub use workload::{Main, Outcome, Setup, Workload};
