//! What is told of many clients, whatever they do.

/// Gauge: clients that were driving at the end of an interval.
pub const ACTIVE_CLIENTS: &str = "active_clients";
/// Gauge: operations of an interval that were tried again after a deadlock or a serialization failure.
pub const RETRIES: &str = "retried_operations";
/// Gauge: share (0–1) of this machine's CPU time that the load itself did not use; only where the server is here.
pub const SERVER_CPU: &str = "server_cpu_share";
/// Gauge: the same as CPU time in seconds, all of its processors together.
pub const SERVER_CPU_S: &str = "server_cpu_s";
