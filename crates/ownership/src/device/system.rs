//! What the kernel tells about devices, and how they hang together.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use super::AskLoop;

/// Where the kernel tells about devices.
#[derive(Debug)]
pub struct System {
    pub(super) root: PathBuf,
    pub(super) ask: AskLoop,
}

/// A number that names a device, whatever nodes have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    major: u32,
    minor: u32,
}

impl Number {
    /// From the number as the system has it (`st_dev`, `st_rdev`).
    #[must_use]
    pub fn of_raw(raw: u64) -> Self {
        Self { major: major(raw), minor: minor(raw) }
    }

    /// `8:1` and the like.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl System {
    /// This machine.
    #[must_use]
    pub fn real(ask: AskLoop) -> Self {
        Self { root: PathBuf::from("/"), ask }
    }

    pub(super) fn read(&self, path: &str) -> String {
        // Names of mounts need not be UTF-8; what is not is of no path that could be looked at.
        fs::read(self.root.join(path))
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .unwrap_or_default()
    }

    /// A path as the kernel tells it.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.strip_prefix('/').unwrap_or(path))
    }

    fn directory(&self, number: Number) -> PathBuf {
        self.root.join(format!("sys/dev/block/{}:{}", number.major, number.minor))
    }

    /// The device itself, its partitions, and the disk whose partition it is: what is written to one is written to the others.
    pub(super) fn overlapping(&self, number: Number) -> Vec<Number> {
        let directory = self.directory(number);
        let mut numbers = vec![number];
        let partitions = entries(&directory).into_iter().filter(|entry| entry.join("partition").exists());
        numbers.extend(partitions.filter_map(|partition| number_in(&partition)));
        numbers.extend(self.disk_of(number));
        numbers
    }

    /// The disk whose partition a device is.
    fn disk_of(&self, number: Number) -> Option<Number> {
        let directory = self.directory(number);
        directory.join("partition").exists().then(|| number_in(&directory.join("..")))?
    }

    /// Devices that are built upon this one: volumes, arrays, caches.
    pub(super) fn holders(&self, number: Number) -> Vec<String> {
        let holders = entries(&self.directory(number).join("holders"));
        holders.iter().filter_map(|holder| holder.file_name()).map(lossy).collect()
    }

    /// Devices that this one, or its disk, is built upon.
    pub(super) fn slaves(&self, number: Number) -> Vec<Number> {
        let whole = self.disk_of(number).unwrap_or(number);
        entries(&self.directory(whole).join("slaves")).iter().filter_map(|slave| number_in(slave)).collect()
    }

    /// Name of the device, or of the disk whose partition it is: `loop3`.
    pub(super) fn disk_name(&self, number: Number) -> Option<String> {
        let whole = self.disk_of(number).unwrap_or(number);
        let directory = self.directory(whole).canonicalize().ok()?;
        directory.file_name().map(lossy)
    }

    /// Every name by which a user can say "this very device": serial numbers, by-id links, a loop's backing file.
    pub(super) fn names_of(&self, number: Number) -> Vec<String> {
        let device = self.directory(number);
        // A partition has its disk's serial number.
        let disk = if device.join("partition").exists() { device.join("..") } else { device };
        let serials =
            ["serial", "device/serial", "device/wwid", "wwid", "loop/backing_file", "dm/uuid", "md/uuid"];
        let mut names: Vec<String> = serials
            .iter()
            .filter_map(|file| fs::read_to_string(disk.join(file)).ok())
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        for link in entries(&self.root.join("dev/disk/by-id")) {
            let is_same = device_at(&link).is_some_and(|linked| linked == number);
            if is_same && let Some(name) = link.file_name() {
                names.push(lossy(name));
            }
        }
        names
    }
}

/// Number of the device that a node is; none of anything else.
pub(super) fn device_at(path: &Path) -> Option<Number> {
    let stat = rustix::fs::stat(path).ok()?;
    let is_device = crate::Kind::of_mode(stat.st_mode) == crate::Kind::BlockDevice;
    is_device.then(|| Number::of_raw(stat.st_rdev))
}

fn number_in(directory: &Path) -> Option<Number> {
    Number::parse(&fs::read_to_string(directory.join("dev")).ok()?)
}

pub(super) fn lossy(name: &std::ffi::OsStr) -> String {
    name.to_string_lossy().into_owned()
}

pub(super) fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}
