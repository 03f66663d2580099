//! Where a target was found to be: what was asked for is what a study file says, and this is what answered.

use serde::{Deserialize, Serialize};

use crate::Reading;

/// One of the things that a trial loads.
#[expect(clippy::large_enum_variant, reason = "a trial has one or a few of them, and most are databases")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Placed {
    /// A directory, file or device.
    Path {
        /// As it was given.
        path: String,
        /// What it lies on.
        on: Reading<Volume>,
    },
    /// A database.
    Database {
        /// Its name on its server, or its file.
        database: String,
        /// Address of the server without a password.
        address: String,
        /// Engine: `sqlite`, `postgres`, `mysql`, `fake`.
        engine: String,
        /// Product and version of the server.
        version: String,
        /// Where its data lies.
        data: Reading<Volume>,
        /// Where its log lies.
        log: Reading<Volume>,
    },
}

/// A directory or file of this machine, and what it lies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// The directory or file.
    pub path: String,
    /// Where its file system is mounted.
    pub mount: Reading<String>,
    /// Kernel name of the device that it lies on.
    pub device: Reading<String>,
    /// Type of its file system, such as `ext4`, where that is known; records of before do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// What can change a figure of it; records of before do not have it.
    #[serde(default, skip_serializing_if = "Beneath::is_unknown")]
    pub beneath: Beneath,
}

/// What a volume is made of, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beneath {
    /// Size of the file system's blocks, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// What joins its devices: `raid10` of md, `btrfs raid1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raid: Option<String>,
    /// Kernel names of the disks below it, where the device is made of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// I/O scheduler of its disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Write cache as the kernel believes: `write back` or `write through`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
}

impl Beneath {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

impl Volume {
    /// Kernel names of the devices whose counters tell what went to it: its own, or those that its file system joins.
    #[must_use]
    pub fn devices(&self) -> Vec<String> {
        match self.device.known() {
            Some(device) => vec![device.clone()],
            None => self.beneath.members.clone(),
        }
    }
}
