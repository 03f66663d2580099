//! Runs a plan: trials one after the other, pauses, the rules by which later trials are left out.
//!
//! The runner emits events and knows neither the terminal, nor the results directory, nor a report.

mod command;
mod environment;
mod historian;
mod orders;
mod placed;
mod places;
mod preparing;
mod resources;
mod resume;
mod rules;
mod run;
mod search;
mod steps;
mod trial;

pub use command::CommandError;
pub use resume::{Resume, ResumeError};
pub use run::{Context, Listener, RunError, run};
