//! Workloads of databases. Today: the historian, the simulated PLC that it can collect from, and the order store.
//!
//! SQL stands in `.sql` files per dialect beside the workload that uses it. A workload draws no conclusions; it records
//! what happened.

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
pub mod orders;
mod outages;
pub mod plc;
mod signal;
mod threads;
pub mod waiting;

pub use error::TrialError;
