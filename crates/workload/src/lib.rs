//! Workloads of databases. Today: the historian, the simulated PLC that it can collect from, and the data of the order store.
//!
//! SQL stands in `.sql` files per dialect beside the workload that uses it. A workload draws no conclusions; it records
//! what happened.

pub mod historian;
pub mod orders;
pub mod plc;
