//! The disk workload: how a trial of it was set up, and what it sent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verify::Verified;
use crate::{Calibration, Loop, Offered};

/// Kind of operation that is no I/O of its own: it makes others durable.
pub const FLUSH: &str = "flush";

/// Setup of a disk trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskSetup {
    /// Directory, file or device that was given.
    pub path: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Share of reads, 0–100.
    pub read_per_cent: f64,
    /// Pattern as the parameter spells it: `random`, `sequential`, `strided:64`, `zipf:0.99`.
    pub pattern: String,
    /// Outstanding I/Os a thread.
    pub outstanding: u32,
    /// Threads.
    pub threads: u32,
    /// Files.
    pub files: u32,
    /// Bytes of all files or devices together.
    pub file_bytes: u64,
    /// Bytes of the region that is read or written, all files together.
    pub region_bytes: u64,
    /// Caches.
    pub cache: CacheMode,
    /// An fdatasync after this many writes of a thread.
    pub flush_every_writes: Option<u64>,
    /// Share of each block that compresses, 0–100.
    pub compressible_per_cent: f64,
    /// Share of blocks that are duplicates, 0–100.
    pub duplicate_per_cent: f64,
    /// Whether what is read was written before.
    pub written: Written,
    /// Loop.
    #[serde(flatten)]
    pub pacing: Loop,
    /// Engine that ran.
    pub engine: DiskEngine,
    /// Why it is another one than the one asked for.
    pub engine_fallback: Option<String>,
    /// Ring features that the kernel granted.
    pub engine_features: Vec<String>,
    /// How buffers are handed over.
    pub buffers: BufferUse,
    /// Where time stamps are taken.
    pub timing: String,
    /// CPUs the threads are pinned to, or none.
    pub affinity: Vec<u32>,
    /// What the generator costs.
    pub calibration: Option<Calibration>,
    /// Seed of all random choices.
    pub seed: u64,
    /// What the content of this run was mixed with besides, so that no earlier run wrote the same.
    #[serde(default)]
    pub content_nonce: u64,
}

impl DiskSetup {
    /// The most I/Os that can be in flight.
    #[must_use]
    pub fn outstanding_total(&self) -> u64 {
        u64::from(self.outstanding) * u64::from(self.threads)
    }
}

/// What sends the I/Os of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskEngine {
    /// `io_uring`.
    Uring,
    /// One pread or pwrite at a time.
    Psync,
    /// Nothing is sent.
    Null,
    /// A device in virtual time.
    Simulated,
}

impl DiskEngine {
    /// Whether a device is loaded.
    #[must_use]
    pub fn loads_device(self) -> bool {
        matches!(self, Self::Uring | Self::Psync)
    }
}

impl fmt::Display for DiskEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uring => "uring",
            Self::Psync => "psync",
            Self::Null => "null",
            Self::Simulated => "simulated",
        })
    }
}

/// How buffers are handed to the kernel. It is stored as it is printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum BufferUse {
    /// Known to the ring beforehand.
    Registered,
    /// Not, as was asked.
    NotAsked,
    /// Not, for the engine has no ring.
    NoRing(DiskEngine),
    /// Not, for the kernel would not have it.
    Refused(String),
}

/// What stands before the reason where they are not registered.
const NOT_REGISTERED: &str = "not registered: ";

impl fmt::Display for BufferUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registered => f.write_str("registered"),
            Self::NotAsked => write!(f, "{NOT_REGISTERED}not asked for"),
            Self::NoRing(engine) => write!(f, "{NOT_REGISTERED}{engine} has no ring"),
            Self::Refused(reason) => write!(f, "{NOT_REGISTERED}{reason}"),
        }
    }
}

impl From<BufferUse> for String {
    fn from(buffers: BufferUse) -> Self {
        buffers.to_string()
    }
}

impl From<String> for BufferUse {
    fn from(text: String) -> Self {
        let rings = [DiskEngine::Psync, DiskEngine::Null, DiskEngine::Simulated].map(Self::NoRing);
        let known = [Self::Registered, Self::NotAsked].into_iter().chain(rings);
        let refused = || Self::Refused(text.strip_prefix(NOT_REGISTERED).unwrap_or(&text).to_owned());
        known.into_iter().find(|known| known.to_string() == text).unwrap_or_else(refused)
    }
}

/// What a trial on a disk sent, and what not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskOutcome {
    /// I/Os that were due and not sent when the window ended; open loop only.
    #[serde(default)]
    pub unsent: u64,
    /// What an open loop offered; none of a closed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// What was found where pages were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Box<Verified>>,
}

/// Which caches an I/O may be answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// O_DIRECT: the file cache is bypassed, the device's cache is not.
    Direct,
    /// O_DIRECT and O_DSYNC: a write is answered when it is on stable storage.
    DirectWriteThrough,
    /// Through the file cache.
    Buffered,
    /// Through the file cache, and a write is answered when it is on stable storage (O_DSYNC).
    BufferedWriteThrough,
}

impl CacheMode {
    /// Whether the file cache may answer.
    #[must_use]
    pub fn uses_file_cache(self) -> bool {
        matches!(self, Self::Buffered | Self::BufferedWriteThrough)
    }

    /// Whether each write is on stable storage before it is answered.
    #[must_use]
    pub fn writes_through(self) -> bool {
        matches!(self, Self::DirectWriteThrough | Self::BufferedWriteThrough)
    }
}

/// Whether the data that is read was really written before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "written", rename_all = "snake_case")]
pub enum Written {
    /// All of it, by this tool.
    ByUs,
    /// The file has holes or unwritten extents in the region that is read.
    Holes {
        /// Bytes of the region that were never written.
        bytes: u64,
    },
    /// The file system reports data everywhere; by whom it was written is not known.
    AllocatedByOthers,
    /// Not known.
    Unknown {
        /// Why not.
        reason: String,
    },
    /// Nothing is read.
    NotRead,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_buffers_are_handed_over_is_stored_as_it_is_printed() {
        let all = [
            (BufferUse::Registered, "registered"),
            (BufferUse::NotAsked, "not registered: not asked for"),
            (BufferUse::NoRing(DiskEngine::Psync), "not registered: psync has no ring"),
            (
                BufferUse::Refused("no memory (1 of 4 threads)".to_owned()),
                "not registered: no memory (1 of 4 threads)",
            ),
        ];
        for (buffers, text) in all {
            assert_eq!(serde_json::to_value(&buffers).unwrap(), text);
            assert_eq!(serde_json::from_value::<BufferUse>(text.into()).unwrap(), buffers);
        }
    }
}
