//! SQL of the user's own: scripts in pgbench's language as a load, or a log that is replayed, on a database that is used as it is, or on one
//! that is made for the run.

pub mod builtin;
mod driver;
mod init;
mod job;
mod language;
mod parameters;
mod places;
mod procedure;
mod program;
mod replay;
mod settings;
mod text;
mod workload;

/// Name of the database that is made for a run.
pub const DATABASE: &str = "prony_script";

pub use builtin::{Builtin, BuiltinScript};
pub use driver::{make_tables, mistakes, run};
pub use job::{Job, Replay};
pub use program::{Program, check};
pub use replay::{Log, LogFormat, Logs};
pub use settings::{Definition, OnError, ParameterFile, Protocol, ScriptFile, Settings};
