//! A laboratory that was made of loop devices for a study: what stands in it is no figure of a machine's own storage.

use serde::{Deserialize, Serialize};

use crate::{DeviceLimits, LimitProof};

/// What a study ran in that was made for it and removed after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Laboratory {
    /// Its volumes.
    pub volumes: Vec<LabVolume>,
}

/// A volume of loop devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabVolume {
    /// What it is called.
    pub name: String,
    /// Where it is mounted.
    pub mount: String,
    /// `single`, `stripe`, `raid1` or `raid10`.
    pub kind: String,
    /// What joins its devices: `btrfs raid10`, `md raid1`; none of one device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined_by: Option<String>,
    /// What it is formatted with.
    pub file_system: String,
    /// Size of the file system's blocks, in bytes.
    pub block_bytes: u64,
    /// Smallest unit that its devices address, in bytes.
    pub sector_bytes: u64,
    /// Number of its devices.
    pub devices: u32,
    /// Size of each, in bytes.
    pub device_bytes: u64,
    /// Kernel names of its devices, once it is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<String>,
    /// Directory of its backing files.
    pub backing: String,
    /// Whether its devices pass the memory of these files by, once it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_direct: Option<bool>,
    /// What each device does at most.
    #[serde(default)]
    pub throttle: DeviceLimits,
    /// What holds that: control groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttled_by: Vec<String>,
    /// What the volume was found to do at most before the first trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<LimitProof>,
}
