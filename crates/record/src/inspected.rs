//! What is read of a machine and of its servers so that advice can be given on their settings: facts alone. What follows from
//! them a report computes, so that a record of today is judged by the rules of tomorrow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Reading;

/// What the kernel is set to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Reading<String>,
    /// Size of a huge page, in bytes.
    pub huge_page_bytes: Reading<u64>,
    /// Huge pages that are set apart.
    pub huge_pages: Reading<u64>,
    /// How readily memory of processes is swapped out, 0–200.
    pub swappiness: Reading<u64>,
    /// Bytes of swap.
    pub swap_bytes: Reading<u64>,
    /// What is done where more memory is asked for than there is: 0 guessed, 1 always given, 2 refused.
    pub overcommit: Reading<u64>,
    /// Nodes of memory with processors of their own.
    pub numa_nodes: Reading<u64>,
    /// Whether the kernel moves memory between nodes by itself; 0 if not.
    pub numa_balancing: Reading<u64>,
    /// Whether memory of the own node is reclaimed before that of another is used; 0 if not.
    pub zone_reclaim: Reading<u64>,
    /// What time is read from.
    pub clock_source: Reading<String>,
    /// What it could be read from, with blanks between.
    pub clock_sources: Reading<String>,
    /// Share (0–1) of all cores' time that a hypervisor gave to others since the machine began.
    pub steal_share: Reading<f64>,
}

/// How a volume is made, beyond its file system and its device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// Bytes of its file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Where its partition begins on the device, in bytes; none of a device without partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_start_bytes: Option<u64>,
    /// By how much the beginning of the device is away from what it could do whole, in bytes, as the kernel knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment_offset_bytes: Option<u64>,
    /// What the kernel reads ahead, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// What joins its devices: `raid10` of md, `btrfs raid1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<String>,
    /// Kernel names of the disks below it, where the device is made of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// Disks that an array lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raid_degraded: Option<u64>,
    /// What an array does beside its work: `idle`, `resync`, `recover`, `check`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raid_sync: Option<String>,
}

/// A row of what a server was asked: values by the names of columns. What is null there is absent here.
pub type FactRow = BTreeMap<String, String>;

/// A server as it was found: its settings and what else was asked, as rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InspectedServer {
    /// Its address without a password.
    pub name: String,
    /// Engine: `postgres`, `mysql`, `sqlserver`.
    pub engine: String,
    /// Product and version.
    pub version: String,
    /// Whether it runs on this machine, so that its settings can be set against the machine's memory and devices.
    pub here: bool,
    /// Names of volumes in the environment by what of it lies there: `data`, `log` (WAL, redo log), `binary log`. Where two lie together
    /// both have the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub volumes: BTreeMap<String, String>,
    /// Tables of facts by their names. `settings` has the columns `name`, `value` and, where the server tells it, `unit`.
    pub facts: BTreeMap<String, Vec<FactRow>>,
    /// What it did not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// Something that was asked in vain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// What would have been read, such as `replication slots`.
    pub what: String,
    /// Why it was not.
    pub because: String,
    /// What lets it be read: a statement or a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}
