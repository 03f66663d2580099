//! A server that was started for a trial: where, with which settings and limits, what these were found to be, and what it used.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ServerSetting, Volume};

/// A server that was started for a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StartedServer {
    /// Name in the study, with its number if there are several: `pg-2`.
    pub name: String,
    /// What it is, such as `PostgreSQL`.
    pub engine: String,
    /// What stands by, as the study asks for it, and how soon that takes over: `sync (pg_auto_failover, tuned)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// What decides how others take over, as it was read from them: timeouts, what a commit waits for, versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair_settings: Vec<ServerSetting>,
    /// What is broken of it in the trial, as the study asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Where it listened: `127.0.0.1:20001`.
    pub address: String,
    /// What lay where: `data`, `log` where that was apart, tablespaces by their names.
    pub places: BTreeMap<String, Volume>,
    /// Settings that the study gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<ServerSetting>,
    /// Settings that follow from what it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<ServerSetting>,
    /// What it could use at most; none if that was not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ServerLimits>,
    /// What the page cache held of its files before they were used within its limits; none where no limit depends on that and nothing was
    /// evicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_cache: Option<FileCache>,
    /// What was done with it before the trial, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ServerStep>,
    /// What it used during the trial, as its control group counts; of one without limits, and so without a group, the time of
    /// processors alone. None where neither could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ServerUse>,
}

/// What a server could use at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLimits {
    /// What held it: `cgroup v2, /sys/fs/cgroup/…`.
    pub by: String,
    /// Bytes of memory, page cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processors' worth of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Numbers of the processors that it ran on; empty if any could be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_set: Vec<u32>,
    /// Devices by the numbers of the kernel, such as `254:0`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, DeviceLimits>,
    /// What each limit was found to be before the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<LimitProof>,
}

/// What could go to and from a device at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceLimits {
    /// Reads a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<u64>,
    /// Writes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_per_s: Option<u64>,
    /// Bytes read a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<u64>,
}

/// A limit as it was found to hold: the same work was done within it before the trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitProof {
    /// What was limited, with its unit: `reads/s of 254:0`, `processors`.
    pub of: String,
    /// The limit.
    pub expected: f64,
    /// What was reached within it.
    pub achieved: f64,
}

/// Share by which a limit may be passed and still holds: of what devices do, and of time of processors.
const DEVICE_TOLERANCE: f64 = 0.02;
const PROCESSOR_TOLERANCE: f64 = 0.05;

impl LimitProof {
    /// What is limited if it is time of processors.
    pub const PROCESSORS: &'static str = "processors";

    fn tolerance(&self) -> f64 {
        if self.of == Self::PROCESSORS { PROCESSOR_TOLERANCE } else { DEVICE_TOLERANCE }
    }

    /// Whether it was not passed.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.achieved <= self.expected * (1.0 + self.tolerance())
    }

    /// Whether it is what limits: less than it was reached where something else is slower.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.achieved >= self.expected * (1.0 - self.tolerance())
    }
}

/// Something that was done with a server before a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerStep {
    /// What: `restored`, `started`.
    pub what: String,
    /// How long that took, in seconds.
    pub took_s: f64,
    /// What is to be known of it besides: what was waited for in vain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl ServerStep {
    /// What is done when devices were waited for and became quiet, and when they did not.
    pub const QUIET: &'static str = "devices quiet";
    /// See [`Self::QUIET`].
    pub const NOT_QUIET: &'static str = "devices not quiet";

    /// Something that took so long.
    #[must_use]
    pub fn new(what: &str, took: std::time::Duration) -> Self {
        Self { what: what.to_owned(), took_s: took.as_secs_f64(), remark: None }
    }
}

/// What the page cache held of a server's files when it was started: pages that were cached before count within no limit of memory, and
/// reading them reads no device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCache {
    /// Whether they were evicted; not if the study asks for warm caches.
    pub is_evicted: bool,
    /// Length of all its files.
    pub files_bytes: u64,
    /// What of that was cached when it was stopped.
    pub cached_before_bytes: u64,
    /// What of that was cached when it was started, as the kernel tells page by page.
    pub cached_bytes: u64,
}

impl FileCache {
    /// Share (0–1) of the files that may stay cached after an eviction: pages that somebody else reads at that moment.
    const LEFT_SHARE_MAX: f64 = 0.01;

    /// Whether so much was cached that reads pass limits of memory and of devices.
    #[must_use]
    pub fn passes_limits(&self) -> bool {
        self.cached_bytes as f64 > self.files_bytes as f64 * Self::LEFT_SHARE_MAX
    }
}

/// What a server used during a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerUse {
    /// Time of processors, in seconds.
    pub cpu_s: f64,
    /// Time in which it was not let run although it could have, in seconds.
    pub throttled_s: f64,
    /// The most memory at once, in bytes, page cache included; of its whole life, where the kernel says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_most_bytes: Option<u64>,
    /// How often memory was at its limit, so that some had to be taken back.
    pub memory_at_limit: u64,
    /// Processes that were killed for want of memory.
    pub oom_kills: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_within_two_per_cent_of_a_device_and_five_of_processors() {
        let proof = |of: &str, achieved| LimitProof { of: of.to_owned(), expected: 100.0, achieved };
        let of_device = |achieved| proof("reads/s of 254:0", achieved);
        assert!(of_device(101.9).holds() && !of_device(102.1).holds());
        assert!(of_device(98.1).is_reached() && !of_device(97.9).is_reached());
        let processors = |achieved| proof(LimitProof::PROCESSORS, achieved);
        assert!(processors(104.9).holds() && !processors(105.1).holds() && !processors(94.0).is_reached());
    }
}
