//! What a group has used.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Device;

/// What a group has used since it was made, and how often a limit held it back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time of processors.
    pub cpu: Duration,
    /// Time in which it was not let run, although it could have.
    pub throttled: Duration,
    /// Periods in which that happened.
    pub throttled_periods: u64,
    /// Memory now, in bytes, page cache included.
    pub memory_bytes: u64,
    /// The most memory at once. Not every kernel says.
    pub memory_most_bytes: Option<u64>,
    /// How often memory was at its limit, so that some had to be taken back. With swap, the first version does not count it.
    pub memory_at_limit: u64,
    /// Processes that were killed for want of memory.
    pub oom_kills: u64,
    /// Whether the kernel counts what goes to and from devices.
    pub counts_devices: bool,
    /// What went to and from each device.
    pub devices: BTreeMap<Device, DeviceUsage>,
}

/// What went to and from one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceUsage {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// A device as a kernel spells it: `254:0`.
pub(super) fn numbers(text: &str) -> Option<Device> {
    let (major, minor) = text.split_once(':')?;
    Some(Device { major: major.parse().ok()?, minor: minor.parse().ok()? })
}
