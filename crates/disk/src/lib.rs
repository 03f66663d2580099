//! The disk workload: jobs, patterns, buffers, engines, and the files and devices they work on.
//!
//! This is the one crate with `unsafe` code: memory that the kernel writes into (`buffer`), the ring that hands it
//! over (`engine::uring`), asking for memory early (`prefetch`), and asking what is cached (`residency`). It draws no conclusions; it records what happened.

mod affinity;
mod buffer;
mod choice;
mod describe;
mod engine;
mod error;
mod job;
mod lacking;
mod memory;
mod pattern;
mod play;
mod prefetch;
mod residency;
mod settings;
mod target;
mod thread;
mod trial;
mod verify;
mod worker;
mod workload;

pub use affinity::usable_cpus;
pub use error::TrialError;
pub use job::{Job, OUTSTANDING_MAX, SECTOR_BYTES, THREADS_MAX, VerifyJob};
pub use memory::machine_memory_bytes;
pub use residency::cached_bytes;
pub use settings::{
    Affinity, Cache, EngineChoice, Pattern, Pool, Run, Settings, Simulated, Spacing, ValueError,
    VerifyProfile,
};
pub use target::{Lack, Survey, Target, TargetError, data_bytes, lack_of_space};
pub use trial::run;
pub use verify::{AfterCrash, AfterCrashError, JournalError, JournalServer, ServedJournal, after_crash};

/// A parameter of this workload, where a sentence names it.
pub(crate) fn parameter(name: &str) -> record::Parameter<'static> {
    record::Parameter::new(format!("workload.disk.{name}"))
}
