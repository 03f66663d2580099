//! Reads everything about the machine that can change a figure: from `/proc`, `/sys` and `/etc/os-release`.
//!
//! What cannot be read is unknown, with the reason; nothing is guessed from names or from speed. What an
//! interface can carry is its line rate less its line coding: an upper limit that no honest figure passes, and
//! not a promise. Nothing is changed, and no device is opened.

mod attribute;
mod btrfs;
mod device;
mod host;
mod interface;
mod layout;
#[cfg(test)]
mod machine;
mod mounts;
mod tuning;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use attribute::{Known, attribute, reading};
use btrfs::Btrfs;
use device::DeviceNumber;
use record::{Beneath, Device, Environment, FORMAT_VERSION, MountPoint, Reading, ServerProcesses, Storage};
use rustix::fs::{major, minor};

/// Where targets lie by name, or why that is not known: directories, files or block devices. One that does not exist yet
/// stands for the nearest directory above it that does.
pub(crate) type Lying = BTreeMap<String, Result<PathBuf, String>>;

/// Reads the machine, and the file systems and devices below targets.
#[must_use]
pub(crate) fn read(
    lying: &Lying,
    servers: BTreeMap<String, Reading<ServerProcesses>>,
    tool_version: &str,
    taken: jiff::Timestamp,
) -> Environment {
    Environment { servers, ..read_from(Path::new("/"), lying, tool_version, taken) }
}

/// [`read`] with another place for `/proc`, `/sys` and `/etc`.
pub(crate) fn read_from(
    root: &Path,
    lying: &Lying,
    tool_version: &str,
    taken: jiff::Timestamp,
) -> Environment {
    let kernel = |name: &str| attribute(&root.join("proc/sys/kernel").join(name));
    let storage = |target: &Result<PathBuf, String>| {
        let (mount, device, layout) = match target {
            Ok(target) => {
                let lies = lies(root, target);
                let layout = lies.layout(root, target);
                (lies.mount, lies.device, Some(layout))
            }
            Err(reason) => (Err(reason.clone()), Err(reason.clone()), None),
        };
        Storage { mount: reading(mount), device: reading(device), layout }
    };
    Environment {
        format: FORMAT_VERSION,
        tool_version: tool_version.to_owned(),
        taken: taken.to_string(),
        host: kernel("hostname").unwrap_or_else(|_| "unknown".to_owned()),
        system: reading(host::system(root)),
        kernel: kernel("osrelease").unwrap_or_else(|_| "unknown".to_owned()),
        cpu: host::cpu(root),
        memory: host::memory(root),
        volumes: lying.iter().map(|(name, target)| (name.clone(), storage(target))).collect(),
        servers: BTreeMap::new(),
        tuning: Some(tuning::tuning(root)),
        inspected: Vec::new(),
    }
}

/// The file system of a path, the kernel name of the device that it lies on, and what is beneath.
pub(crate) fn below(path: &Path) -> (Reading<MountPoint>, Reading<String>, Beneath) {
    let lies = lies(Path::new("/"), path);
    let beneath = lies.beneath(Path::new("/"));
    (reading(lies.mount), reading(lies.device.map(|device| device.name)), beneath)
}

/// Memory of this machine, in bytes.
pub(crate) fn memory_bytes() -> u64 {
    host::memory(Path::new("/")).total_bytes
}

/// On what a path lies.
struct Lies {
    mount: Known<MountPoint>,
    device: Known<Device>,
    /// Number of the device, where it is one.
    number: Option<DeviceNumber>,
    /// What a file system joins itself.
    btrfs: Option<Btrfs>,
}

impl Lies {
    fn beneath(&self, root: &Path) -> Beneath {
        let block_bytes = self.mount.as_ref().ok().map(|mount| mount.block_bytes);
        let known = |reading: &Reading<String>| reading.known().cloned();
        if let Ok(device) = &self.device {
            return Beneath {
                block_bytes,
                raid: device.raid.clone(),
                members: self.number.map(|number| device::members(root, number)).unwrap_or_default(),
                scheduler: known(&device.scheduler),
                write_cache: known(&device.write_cache),
            };
        }
        let Some(btrfs) = &self.btrfs else { return Beneath { block_bytes, ..Beneath::default() } };
        let all = btrfs.devices.iter().filter_map(|(_, number)| device::device(root, *number).ok());
        let all: Vec<Device> = all.collect();
        let agreed = |of: fn(&Device) -> &Reading<String>| {
            let first = known(of(all.first()?))?;
            all.iter().all(|device| of(device).known() == Some(&first)).then_some(first)
        };
        Beneath {
            block_bytes,
            raid: Some(format!("btrfs {}", btrfs.profile)),
            members: all.iter().map(|device| device.name.clone()).collect(),
            scheduler: agreed(|device| &device.scheduler),
            write_cache: agreed(|device| &device.write_cache),
        }
    }
}

fn lies(root: &Path, target: &Path) -> Lies {
    let nothing = |mount, device| Lies { mount, device, number: None, btrfs: None };
    let (metadata, path) = match nearest_existing(target) {
        Ok(found) => found,
        Err(reason) => return nothing(Err(reason.clone()), Err(reason)),
    };
    if metadata.file_type().is_block_device() {
        let number = (major(metadata.rdev()), minor(metadata.rdev()));
        let reason = format!("{} is a block device, used without a file system", path.display());
        return Lies { number: Some(number), ..nothing(Err(reason), device::device(root, number)) };
    }
    let mount = mounts::mount_holding(root, &path, (major(metadata.dev()), minor(metadata.dev())));
    let mount = match mount {
        Ok(mount) => mount,
        Err(reason) => return nothing(Err(reason.clone()), Err(reason)),
    };
    let is_btrfs = mount.file_system == "btrfs";
    let btrfs = is_btrfs.then(|| btrfs::mounted_from(root, &mount.source)).flatten();
    let number = match (mount.device, btrfs.as_ref().map(|btrfs| btrfs.devices.as_slice())) {
        // The kernel numbers file systems 0:n that are not on one block device, or could be on several.
        ((0, _), Some([(_, number)])) => Some(*number),
        ((0, _), _) => None,
        (number, _) => Some(number),
    };
    let device = match number {
        Some(number) => device::device(root, number),
        None => Err(mounts::why_no_device(&mount.file_system, &mount.source)),
    };
    Lies { mount: mounts::mount_point(mount, &path), device, number, btrfs }
}

/// What will be made is looked for in the directory above. What is there and cannot be seen may lie anywhere.
fn nearest_existing(target: &Path) -> Known<(fs::Metadata, PathBuf)> {
    let hidden = |error: Error| format!("cannot access {}: {error}", target.display());
    for path in std::path::absolute(target).map_err(hidden)?.ancestors() {
        match fs::canonicalize(path).and_then(|path| Ok((fs::metadata(&path)?, path))) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            found => return found.map_err(hidden),
        }
    }
    Err(format!("neither {} nor a directory above it exists", target.display()))
}

#[cfg(test)]
mod tests {
    use super::machine::{Machine, known, why};
    use super::*;

    fn only(target: &Path) -> Lying {
        BTreeMap::from([("data".to_owned(), Ok(target.to_owned()))])
    }

    #[test]
    fn several_targets_are_read_each_by_name() {
        let machine = Machine::new();
        machine.nvme(0, "259:0").nvme(1, "259:1");
        let root = machine.root.display();
        let [data, log] = ["data", "log"].map(|name| {
            machine.file(&format!("{name}/file"), "");
            machine.root.join(name)
        });
        machine.mounts(&format!(
            "1 0 0:1 / / rw - rootfs rootfs rw\n2 1 259:0 / {root}/data rw - ext4 /dev/nvme0n1 rw\n\
             3 1 259:1 / {root}/log rw - xfs /dev/nvme1n1 rw"
        ));
        let untold = Err("the server does not report the location of its data".to_owned());
        let lying = [("data", Ok(data)), ("log", Ok(log)), ("data of x", untold)];
        let lying = lying.map(|(name, target)| (name.to_owned(), target)).into();
        let volumes = read_from(&machine.root, &lying, "0", jiff::Timestamp::UNIX_EPOCH).volumes;
        assert_eq!(volumes.keys().collect::<Vec<_>>(), ["data", "data of x", "log"]);
        for (name, device, file_system) in [("data", "nvme0n1", "ext4"), ("log", "nvme1n1", "xfs")] {
            assert_eq!(known(&volumes[name].device).name, device);
            assert_eq!(known(&volumes[name].mount).file_system, file_system);
        }
        assert!(why(&volumes["data of x"].device).starts_with("the server does not report"));
    }

    #[test]
    fn a_target_that_does_not_exist_yet_stands_for_the_directory_above() {
        let machine = Machine::new();
        machine.mounts("30 1 0:31 / / rw - tmpfs tmpfs rw,size=4g");
        let lying = only(&machine.root.join("not/yet/here"));
        let taken = "2026-11-21T07:30:00Z".parse().unwrap();
        let environment = read_from(&machine.root, &lying, "0.1.0", taken);
        let volume = &environment.volumes["data"];
        let mount = known(&volume.mount);
        assert_eq!((mount.path.as_str(), mount.options.as_str()), ("/", "rw,size=4g"));
        assert!(mount.block_bytes > 0);
        assert_eq!(why(&volume.device), "tmpfs is in memory, without a device");
        assert_eq!(environment.taken, "2026-11-21T07:30:00Z");
    }

    #[test]
    fn a_machine_without_any_file_is_read_as_unknown() {
        let machine = Machine::new();
        let environment =
            read_from(&machine.root, &only(Path::new("/")), "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert_eq!((environment.host.as_str(), environment.kernel.as_str()), ("unknown", "unknown"));
        assert!(why(&environment.system).contains("etc/os-release does not exist"));
        assert!(why(&environment.cpu.model).contains("proc/cpuinfo does not exist"));
        assert!(why(&environment.cpu.governor).contains("scaling_governor does not exist"));
        let volume = &environment.volumes["data"];
        assert!(why(&volume.mount).contains("proc/self/mountinfo does not exist"));
        assert_eq!(volume.device, Reading::Unknown(why(&volume.mount).to_owned()));
        assert!(environment.memory.total_bytes > 0, "the kernel is asked where there is no /proc");
    }

    #[test]
    fn a_btrfs_of_one_device_lies_on_it_and_one_of_several_on_its_members() {
        let machine = Machine::new();
        let root = machine.root.display();
        machine.file("data/file", "").nvme(0, "259:0").nvme(1, "259:1");
        machine.mounts(&format!("2 1 0:40 / {root}/data rw - btrfs /dev/nvme0n1 rw"));
        let of = |name: &str| format!("sys/fs/btrfs/5e15/{name}");
        machine.file(&of("allocation/data/raid1/x"), "").file(&of("devices/nvme0n1/dev"), "259:0");
        let target = machine.root.join("data");
        let one = lies(&machine.root, &target);
        assert_eq!(one.device.as_ref().unwrap().name, "nvme0n1");
        assert_eq!(one.beneath(&machine.root).scheduler.as_deref(), Some("mq-deadline"));
        machine.file(&of("devices/nvme1n1/dev"), "259:1");
        let two = lies(&machine.root, &target);
        assert!(two.device.as_ref().unwrap_err().contains("over several devices"));
        let beneath = two.beneath(&machine.root);
        assert_eq!(
            (beneath.raid.as_deref(), beneath.write_cache.as_deref()),
            (Some("btrfs raid1"), Some("write back"))
        );
        assert_eq!(beneath.members, ["nvme0n1", "nvme1n1"]);
    }

    #[test]
    fn what_is_beneath_an_array_is_its_level_and_members_and_beneath_a_loop_device_itself() {
        let machine = Machine::new();
        let root = machine.root.display();
        machine
            .file("data/file", "")
            .nvme(0, "259:0")
            .nvme(1, "259:1")
            .disk("sys/devices/virtual/block/loop3", "7:3");
        let array = "sys/devices/virtual/block/md0";
        machine.disk(array, "9:0").file(&format!("{array}/md/level"), "raid10");
        machine.link(&format!("{array}/slaves/nvme0n1"), super::machine::NVME_0);
        machine.link(&format!("{array}/slaves/nvme1n1"), super::machine::NVME_1);
        let beneath = |number: &str, source: &str| {
            machine.mounts(&format!("2 1 {number} / {root}/data rw - xfs {source} rw"));
            lies(&machine.root, &machine.root.join("data")).beneath(&machine.root)
        };
        let of_array = beneath("9:0", "/dev/md0");
        assert_eq!(
            (of_array.raid.as_deref(), of_array.members),
            (Some("raid10"), vec!["nvme0n1".to_owned(), "nvme1n1".to_owned()])
        );
        let of_loop = beneath("7:3", "/dev/loop3");
        assert_eq!((of_loop.raid, of_loop.members), (None, Vec::new()));
        assert_eq!(
            (of_loop.scheduler.as_deref(), of_loop.write_cache.as_deref()),
            (Some("mq-deadline"), Some("write back"))
        );
        assert!(of_loop.block_bytes.is_some());
    }

    #[test]
    fn this_machine_is_read() {
        let lying = only(Path::new("."));
        let environment = read(&lying, BTreeMap::new(), "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert!(environment.cpu.usable >= 1);
        assert!(environment.memory.total_bytes >= environment.memory.available_bytes);
        let mount = &environment.volumes["data"].mount;
        assert!(mount.known().is_some_and(|mount| mount.free_bytes > 0));
        assert_ne!(environment.kernel, "unknown");
    }
}
