//! Workloads of databases: the historian, the simulated PLC that it can collect from, the order store, scripts of users, reports over
//! messages, registers whose history is checked, and kinds of tables.
//!
//! SQL stands beside the workload that uses it, in one file of named statements a dialect. A workload draws no conclusions; it records
//! what happened.

// What an engine or a dialect is asked is answered by each of them: a new one does not compile before it is.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
// Statements are looked up by their names while the program is compiled, in files of some hundred lines.
#![allow(long_running_const_eval, reason = "each look-up reads the file up to the name, and ends with it")]

mod backoff;
#[cfg(test)]
mod claims;
mod clients;
mod clock;
mod ending;
mod error;
mod generator_cpu;
pub mod given_file;
pub mod historian;
mod mix;
mod named_sql;
pub mod orders;
mod outages;
pub mod plc;
pub mod register;
pub mod reporting;
pub mod script;
mod signal;
mod silences;
pub mod tables;
mod threads;
mod timer;
#[cfg(test)]
mod tsql;
pub mod waiting;

pub use clients::{CpuReading, ServerMeter, processors};
pub use error::TrialError;
