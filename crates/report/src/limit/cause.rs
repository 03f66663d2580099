//! What can limit a trial, each with the words that are said of it.

use serde::{Deserialize, Serialize};

/// What a trial was limited by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Time of processors for the server: its limit, or those of the machine.
    ServerCpu,
    /// Other programs that take processors.
    NeighbourCpu,
    /// Other programs that use the device.
    NeighbourDisk,
    /// The hypervisor gives the time of processors to others.
    Hypervisor,
    /// Reads of data, as fast as device or limit let them be.
    Reads,
    /// Memory: what is asked for again and again is not in the server's buffers, and the device is fast.
    Memory,
    /// What is committed goes to the log.
    LogFlushes,
    /// Writes of data.
    DataWrites,
    /// What changed in memory is written to the data, so that the log can be used again.
    Checkpoints,
    /// What rows left behind is removed beside the load: vacuum, purge, shrinking.
    Maintenance,
    /// Locks that others hold until they commit.
    Locks,
    /// Pages in memory that others use, and the server's own short locks.
    Latches,
    /// Replicas that are to confirm.
    Replicas,
    /// Processors for this program, which loads.
    Generator,
    /// The load: clients have nothing more to ask, or are too few.
    Clients,
    /// The server takes no more connections.
    Connections,
    /// A device that is busy all the time; whether it could do more is not known.
    Device,
}

impl Cause {
    /// Whether the server has to wait for storage.
    pub(crate) fn is_storage(self) -> bool {
        matches!(self, Self::Reads | Self::Memory | Self::LogFlushes | Self::DataWrites)
    }

    /// Who limits, in a sentence.
    pub(crate) fn who(self) -> &'static str {
        match self {
            Self::ServerCpu => "CPU time of the server",
            Self::NeighbourCpu => "background CPU load",
            Self::NeighbourDisk => "background I/O on the device",
            Self::Hypervisor => "the hypervisor",
            Self::Reads => "data reads",
            Self::Memory => "memory for data",
            Self::LogFlushes => "log flushes",
            Self::DataWrites => "data writes",
            Self::Checkpoints => "checkpoints",
            Self::Maintenance => "vacuum or purge",
            Self::Locks => "locks",
            Self::Latches => "the server's latches",
            Self::Replicas => "replicas",
            Self::Generator => "CPU time of the load generator",
            Self::Clients => "the clients",
            Self::Connections => "connections",
            Self::Device => "the device",
        }
    }
}
