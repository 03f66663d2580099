//! Results directories: one study is one directory of plain files.
//!
//! ```text
//! 20261121T073000Z-check/
//!   manifest.json       format version, tool version, seed, plan, state
//!   study.toml          the exact input
//!   environment.json    the machine
//!   trials/0007/        trial.json samples.ndjson resources.ndjson marks.ndjson latency.hlog
//!   trials/0007-aside-1/  what an interrupted block had of it before it was measured again
//!   findings/0007-001-torn.txt  what a verifying trial found wrong
//!   verdicts.json       can be computed again
//!   report.html         can be made again
//! ```
//!
//! [`Writer`] stores a study's events while it runs; [`read`] opens any such directory, also one that a
//! killed program left behind; an [`Archive`] is one that is held open; [`runs`] lists those below a
//! directory. No link in it is followed. [`export`] turns rows of figures into one table for other tools. This crate judges nothing and prints nothing.

mod archive;
mod durable;
pub mod export;
mod findings;
mod hlog;
mod lock;
mod read;
mod sum;
mod tail;
mod trials;
mod write;

pub use archive::Archive;
pub use durable::WriteError;
pub(crate) use lock::Lock;
pub use read::{Listed, ReadError, Run, read, read_with, runs};
pub use write::Writer;

/// Names within a results directory.
mod name {
    pub(crate) const MANIFEST: &str = "manifest.json";
    pub(crate) const STUDY: &str = "study.toml";
    pub(crate) const ENVIRONMENT: &str = "environment.json";
    pub(crate) const VERDICTS: &str = "verdicts.json";
    pub(crate) const REPORT: &str = "report.html";
    pub(crate) const TRIALS: &str = "trials";
    pub(crate) const TRIAL: &str = "trial.json";
    pub(crate) const SAMPLES: &str = "samples.ndjson";
    pub(crate) const RESOURCES: &str = "resources.ndjson";
    /// What else went on, line by line.
    pub(crate) const MARKS: &str = "marks.ndjson";
    pub(crate) const LATENCY: &str = "latency.hlog";
    /// What a verifying test found, a file a finding, for whoever made the storage.
    pub(crate) const FINDINGS: &str = "findings";
}
