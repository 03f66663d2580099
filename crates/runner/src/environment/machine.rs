//! A machine of files, for tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use record::{Device, Reading};

use super::device;

/// A machine of files: `proc`, `sys` and `etc` below a directory of its own.
pub(super) struct Machine {
    _directory: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Machine {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        Self { _directory: directory, root }
    }

    pub(super) fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    pub(super) fn link(&self, path: &str, to: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.root.join(to), path).unwrap();
        self
    }

    /// A disk at a place in the device tree, with the files that all disks have.
    pub(super) fn disk(&self, place: &str, number: &str) -> &Self {
        self.link(&format!("sys/dev/block/{number}"), place);
        for (name, text) in [
            ("size", "1000"),
            ("queue/rotational", "0"),
            ("queue/scheduler", "none [mq-deadline] kyber"),
            ("queue/nr_requests", "256"),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("queue/write_cache", "write back"),
        ] {
            self.file(&format!("{place}/{name}"), text);
        }
        self
    }

    /// An NVMe disk with a PCIe 4.0 link of four lanes.
    pub(super) fn nvme(&self, n: u32, number: &str) -> &Self {
        let function = format!("sys/devices/pci0000:00/0000:0{n}:00.0");
        let disk = format!("{function}/nvme/nvme{n}/nvme{n}n1");
        self.disk(&disk, number)
            .link(&format!("{disk}/device"), &format!("{function}/nvme/nvme{n}"))
            .link(&format!("{function}/nvme/nvme{n}/device"), &function)
            .file(&format!("{function}/nvme/nvme{n}/model"), "Samsung SSD 990 PRO 1TB")
            .file(&format!("{function}/nvme/nvme{n}/transport"), "pcie")
            .file(&format!("{function}/current_link_speed"), "16.0 GT/s PCIe")
            .file(&format!("{function}/current_link_width"), "4")
    }

    pub(super) fn device(&self, major: u32, minor: u32) -> Device {
        device::device(&self.root, (major, minor)).unwrap()
    }

    pub(super) fn mounts(&self, text: &str) -> &Self {
        self.file("proc/self/mountinfo", text)
    }
}

pub(super) const NVME_0: &str = "sys/devices/pci0000:00/0000:00:00.0/nvme/nvme0/nvme0n1";
pub(super) const NVME_1: &str = "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme1/nvme1n1";
pub(super) const GEN4_X4_BYTES_PER_S: u64 = 7_876_923_077;

pub(super) fn why<T>(reading: &Reading<T>) -> &str {
    match reading {
        Reading::Unknown(reason) => reason,
        Reading::Known(_) => panic!("known"),
    }
}

pub(super) fn known<T: Clone>(reading: &Reading<T>) -> T {
    reading.known().cloned().unwrap()
}
