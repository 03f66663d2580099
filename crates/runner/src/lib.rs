//! Runs a plan: trials one after the other, pauses, the rules by which later trials are left out.
//!
//! The runner emits events and knows neither the terminal, nor the results directory, nor a report.

mod environment;
mod historian;
mod orders;
mod resources;
mod rules;
mod run;
mod search;
mod steps;
mod trial;

pub use run::{Context, Listener, RunError, run};
