//! Laboratories: what a place of a study is where nobody has such volumes, made of loop devices for the study and removed after it.
//!
//! What is written here is what is wanted; whether a machine can make it is found out where it is made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use load::Size;
use serde::{Deserialize, Serialize};

/// A volume of loop devices. What is not said is one device of 2 GiB with ext4, that nothing throttles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabVolume {
    /// How its devices are one volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<LabKind>,
    /// What it is formatted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<LabFileSystem>,
    /// Size of the file system's blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Size>,
    /// Smallest unit that its devices address: 512 or 4096 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sector_size: Option<Size>,
    /// Number of its devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<u32>,
    /// Size of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Reads a second that each answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u64>,
    /// Writes a second that each answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u64>,
    /// Bytes a second that are read from each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<Size>,
    /// Bytes a second that are written to each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<Size>,
    /// So many of them, mounted as `v1`, `v2`, … below the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// How the devices of a laboratory are one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabKind {
    /// One device.
    Single,
    /// Striped, without redundancy.
    Stripe,
    /// Two devices with the same.
    Raid1,
    /// Pairs with the same, striped.
    Raid10,
}

/// What a laboratory is formatted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabFileSystem {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// btrfs, which joins devices itself.
    Btrfs,
}

/// Where laboratories of a study are made, as its command line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenLab {
    /// Directory of their backing files.
    pub directory: PathBuf,
    /// Directory below which they are mounted.
    pub mounts: PathBuf,
    /// What their names begin with.
    pub tag: String,
}

/// What is made for a study before its targets are looked at, and removed after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Laboratory {
    /// Directory of the backing files.
    pub directory: PathBuf,
    /// Its volumes by their names.
    pub volume: BTreeMap<String, MountedVolume>,
}

/// A volume and where it is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountedVolume {
    /// Where it is mounted.
    pub mount: PathBuf,
    /// What it is.
    pub is: LabVolume,
}

/// Volumes of one place at most.
const COUNT_MAX: u32 = 64;

impl GivenLab {
    /// Where a place of the study is in it.
    pub(crate) fn place(&self, place: &str) -> PathBuf {
        self.mounts.join(format!("{}-{place}", self.tag))
    }

    /// The volumes of a place, by their names.
    pub(crate) fn volumes(&self, place: &str, volume: &LabVolume) -> Vec<(String, MountedVolume)> {
        let at = self.place(place);
        let name = format!("{}-{place}", self.tag);
        let is = LabVolume { count: None, ..volume.clone() };
        match volume.count {
            None => vec![(name, MountedVolume { mount: at, is })],
            Some(count) => (1..=count.min(COUNT_MAX))
                .map(|number| {
                    let mounted = MountedVolume { mount: at.join(format!("v{number}")), is: is.clone() };
                    (format!("{name}-v{number}"), mounted)
                })
                .collect(),
        }
    }
}

impl Laboratory {
    /// Whether a path lies in it.
    #[must_use]
    pub fn holds(&self, path: &std::path::Path) -> bool {
        self.volume.values().any(|volume| path.starts_with(&volume.mount))
    }
}
