//! Laboratories: a volume of loop devices, made on explicit request by root, throttled, mounted where nobody else has anything, and
//! removed again with all that it has.
//!
//! What figures of it are good for: where things lie, and ratios under throttles. What for not: absolute speed, times of seeks,
//! controllers and their caches, for below its devices are files of one disk.

mod combination;
mod error;
mod known;
mod loops;
mod make;
mod mounts;
mod power;
mod programs;
mod remove;
mod room;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use error::LabError;
pub use known::KnownLab;
pub use make::Lab;

use crate::DeviceLimit;

/// How the devices of a laboratory are one volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Raid {
    /// One device.
    #[default]
    Single,
    /// Striped, without redundancy: level 0.
    Stripe,
    /// Two devices with the same.
    Raid1,
    /// Pairs with the same, striped.
    Raid10,
}

/// What a laboratory is formatted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystem {
    /// ext4.
    #[default]
    Ext4,
    /// XFS.
    Xfs,
    /// btrfs, which joins devices itself.
    Btrfs,
}

/// What each device of a laboratory does at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttle {
    /// Reads a second.
    pub read_iops: Option<u64>,
    /// Writes a second.
    pub write_iops: Option<u64>,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<u64>,
}

/// What a laboratory is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabShape {
    /// How its devices are one volume.
    pub raid: Raid,
    /// What it is formatted with.
    pub file_system: FileSystem,
    /// Size of the file system's blocks, in bytes.
    pub block_bytes: u64,
    /// Smallest unit that its devices address, in bytes: 512 or 4096.
    pub sector_bytes: u64,
    /// Number of its devices.
    pub devices: u32,
    /// Size of each, in bytes.
    pub device_bytes: u64,
    /// What each does at most.
    #[serde(default)]
    pub throttle: Throttle,
}

impl Default for LabShape {
    fn default() -> Self {
        Self {
            raid: Raid::Single,
            file_system: FileSystem::Ext4,
            block_bytes: 4096,
            sector_bytes: 512,
            devices: 1,
            device_bytes: 2 << 30,
            throttle: Throttle::default(),
        }
    }
}

/// Where a laboratory is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabPlace {
    /// Directory in which the directory of its backing files is made.
    pub directory: PathBuf,
    /// Where it is mounted: an absolute path at which nothing is.
    pub mount_point: PathBuf,
    /// Whether the backing files may lie in memory.
    pub in_memory: bool,
}

impl Raid {
    /// As it is called in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Stripe => "stripe",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
        }
    }

    /// Devices that work at once on reads and on writes, of so many.
    #[must_use]
    pub fn at_once(self, devices: u32) -> (u32, u32) {
        match self {
            Self::Single | Self::Stripe => (devices, devices),
            Self::Raid1 | Self::Raid10 => (devices, devices / 2),
        }
    }
}

impl FileSystem {
    /// As the kernel calls it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }
}

impl Throttle {
    /// Whether nothing is throttled.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// As limits of a device.
    fn of(self, device: crate::Device) -> DeviceLimit {
        DeviceLimit {
            device,
            read_iops: self.read_iops,
            write_iops: self.write_iops,
            read_bytes_per_s: self.read_bytes_per_s,
            write_bytes_per_s: self.write_bytes_per_s,
        }
    }
}

impl LabShape {
    /// Bytes that all of its backing files have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.devices).saturating_mul(self.device_bytes)
    }

    /// What joins its devices: `btrfs raid10`, `md raid1`; none of a single one.
    #[must_use]
    pub fn joined_by(&self) -> Option<String> {
        let by = if self.file_system == FileSystem::Btrfs { "btrfs" } else { "md" };
        let level = if self.raid == Raid::Stripe { "raid0" } else { self.raid.word() };
        (self.raid != Raid::Single).then(|| format!("{by} {level}"))
    }
}

/// Where laboratories are mounted, each at its name, unless the user says where.
#[must_use]
pub fn lab_mount_point(name: &str) -> PathBuf {
    PathBuf::from("/run/prony/lab").join(name)
}
