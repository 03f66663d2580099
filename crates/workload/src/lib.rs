//! Workloads of databases. Today: the historian, and the simulated PLC that it can collect from.
//!
//! SQL stands in `.sql` files per dialect beside the workload that uses it. A workload draws no conclusions; it records
//! what happened.

pub mod historian;
pub mod plc;
