//! The machine that a study ran on.

use serde::{Deserialize, Serialize};

/// A reading of the machine, or why there is none. A default is never stored as a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    /// What was read.
    Known(T),
    /// Why it could not be read.
    Unknown(String),
}

impl<T> Reading<T> {
    /// The value, if known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// The processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model as the kernel names it.
    pub model: Reading<String>,
    /// Logical processors that this process may use.
    pub usable: u32,
    /// Name of the hypervisor, if the machine is virtual.
    pub hypervisor: Option<String>,
    /// Frequency governor of the first core.
    pub governor: Reading<String>,
}

/// The memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Bytes installed.
    pub total_bytes: u64,
    /// Bytes that could be had without swapping when the study began.
    pub available_bytes: u64,
}

/// The file system of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountPoint {
    /// Where it is mounted.
    pub path: String,
    /// Type, such as `ext4`.
    pub file_system: String,
    /// Device or remote source.
    pub source: String,
    /// Mount options.
    pub options: String,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Bytes free to an unprivileged user when the study began.
    pub free_bytes: u64,
}

/// The block device of the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// Model as the device names itself.
    pub model: Reading<String>,
    /// Whether it has spinning disks, as far as the kernel knows.
    pub rotational: Reading<bool>,
    /// I/O scheduler in use.
    pub scheduler: Reading<String>,
    /// Requests its queue takes.
    pub queue_requests: Reading<u64>,
    /// Smallest unit it addresses, in bytes.
    pub logical_block_bytes: Reading<u64>,
    /// Unit it writes without reading first, in bytes.
    pub physical_block_bytes: Reading<u64>,
    /// Write cache as the kernel believes: `write back` or `write through`.
    pub write_cache: Reading<String>,
    /// Capacity in bytes.
    pub capacity_bytes: Reading<u64>,
    /// Bus: `nvme`, `sata`, `sas`, `usb`, `virtio`, …
    pub interface: Reading<String>,
    /// What the interface can carry at most in one direction, in bytes a second.
    pub interface_bytes_per_s: Reading<u64>,
    /// RAID level, where the device is an md array.
    pub raid: Option<String>,
}

/// Everything about the machine that can change a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of the stored form.
    pub format: u32,
    /// Version of the tool.
    pub tool_version: String,
    /// When it was taken, RFC 3339 in UTC.
    pub taken: String,
    /// Host name.
    pub host: String,
    /// Operating system's own name for itself.
    pub system: Reading<String>,
    /// Kernel release.
    pub kernel: String,
    /// Processors.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// File system of the target.
    pub mount: Reading<MountPoint>,
    /// Block device of the target.
    pub device: Reading<Device>,
}
