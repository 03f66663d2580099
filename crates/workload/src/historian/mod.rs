//! The historian: tag changes are collected, buffered, flushed to a database, read by screens, purged and shrunk.

mod acquisition;
mod buffer;
mod compare;
mod controller;
mod fingerprint;
mod job;
mod ledger;
mod maintenance;
pub mod modbus;
mod pending;
mod pipeline;
mod reader;
mod reconcile;
pub mod recording;
mod replay;
mod roles;
mod running;
mod settings;
mod setup;
mod source;
mod space;
mod store;
pub mod tags;
mod trial;
mod workload;
mod writer;

/// Name of the database that is made where nothing else is said.
pub const DATABASE: &str = "prony_historian";

pub use job::{Job, Maintenance, Readers, Source};
pub use pipeline::{PipelineSpeed, pipeline_events_per_s, pipeline_only};
pub use settings::{Purge, Rate, Settings, SourceChoice, WriteMethod};
pub use setup::check;
pub use trial::run;

/// A parameter of this workload, where a sentence names it.
fn parameter(name: &str) -> record::Parameter<'static> {
    record::Parameter::new(format!("workload.historian.{name}"))
}
