//! What is told of many clients, whatever they do.

use serde::{Deserialize, Serialize};

/// Gauge: clients that were driving at the end of an interval.
pub const ACTIVE_CLIENTS: &str = "active_clients";
/// Gauge: clients that went on on another load thread within an interval; not told where there were none.
pub const MOVED_CLIENTS: &str = "moved_clients";
/// Gauge: operations of an interval that were tried again after a deadlock or a serialization failure.
pub const RETRIES: &str = "retried_operations";
/// Gauge: share (0–1) of the CPU time of [`CpuRead::processors`] that was used by [`CpuRead::of`]; only where the server is here.
pub const SERVER_CPU: &str = "server_cpu_share";
/// Gauge: the same as CPU time in seconds, all of its processors together.
pub const SERVER_CPU_S: &str = "server_cpu_s";

/// Whose CPU time [`SERVER_CPU`] is, and what it is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuRead {
    /// Who used it.
    pub of: CpuOf,
    /// Processors' worth of time that they may use: their limit, or the machine's processors. None where that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<f64>,
}

/// Whose CPU time was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuOf {
    /// The control groups of all servers.
    Groups,
    /// The processes of all servers; of some of them perhaps their control groups.
    Processes,
    /// Everything on this machine but the load: other programs too.
    MachineLessLoad,
}

impl Default for CpuRead {
    /// As records have it that do not say so.
    fn default() -> Self {
        Self { of: CpuOf::MachineLessLoad, processors: None }
    }
}
