//! Runs a plan: trials one after the other, pauses, the rules by which later trials are left out.
//!
//! The runner emits events and knows neither the terminal, nor the results directory, nor a report.

mod activity;
mod clusters;
mod command;
mod disk_trial;
mod environment;
mod error;
mod faults;
mod historian;
mod in_process;
mod inspect;
mod judged;
mod lab;
mod orders;
mod own;
mod placed;
mod preparing;
mod process;
mod register;
mod reporting;
mod resources;
mod resume;
mod run;
mod run_queue;
mod running;
mod sampling;
mod script;
mod search_steps;
mod server;
mod server_cpu;
mod skip;
mod started;
mod tables;
mod targets;
mod trial;
mod workloads;

pub use clusters::planned_clusters;
pub use command::CommandError;
pub use error::{Listener, Look, RunError, Settled, no_look};
pub use inspect::inspect;
pub use lab::{KnownLab, LabFault, Laboratory, WantedLab, lab_mount_point, planned_laboratory, recorded};
pub use resume::{Resume, ResumeError};
pub use run::{Context, run};
pub use started::{PROVES, Staying, WithinLimits, preparation_s, start_to_stay};
pub use targets::{look_again, look_at_databases, look_at_targets, planned_servers};
pub use workloads::check;
