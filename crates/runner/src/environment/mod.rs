//! Reads everything about the machine that can change a figure: from `/proc`, `/sys` and `/etc/os-release`.
//!
//! What cannot be read is unknown, with the reason; nothing is guessed from names or from speed. What an
//! interface can carry is its line rate less its line coding: an upper limit that no honest figure passes, and
//! not a promise. Nothing is changed, and no device is opened.

mod attribute;
mod device;
mod host;
mod interface;
#[cfg(test)]
mod machine;
mod mounts;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use attribute::{Known, attribute, reading};
use record::{Device, Environment, FORMAT_VERSION, MountPoint, Reading, ServerProcesses, Storage};
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
fn read_from(root: &Path, lying: &Lying, tool_version: &str, taken: jiff::Timestamp) -> Environment {
    let kernel = |name: &str| attribute(&root.join("proc/sys/kernel").join(name));
    let storage = |target: &Result<PathBuf, String>| {
        let (mount, device) = match target {
            Ok(target) => below_target(root, target),
            Err(reason) => (Err(reason.clone()), Err(reason.clone())),
        };
        Storage { mount: reading(mount), device: reading(device) }
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
    }
}

/// The file system of a path, and the kernel name of the device that it lies on.
pub(crate) fn below(path: &Path) -> (Reading<MountPoint>, Reading<String>) {
    let (mount, device) = below_target(Path::new("/"), path);
    (reading(mount), reading(device.map(|device| device.name)))
}

/// Memory of this machine, in bytes.
pub(crate) fn memory_bytes() -> u64 {
    host::memory(Path::new("/")).total_bytes
}

fn below_target(root: &Path, target: &Path) -> (Known<MountPoint>, Known<Device>) {
    let (metadata, path) = match nearest_existing(target) {
        Ok(found) => found,
        Err(reason) => return (Err(reason.clone()), Err(reason)),
    };
    if metadata.file_type().is_block_device() {
        let whole = (major(metadata.rdev()), minor(metadata.rdev()));
        let reason = format!("{} is a block device: it is used without a file system", path.display());
        return (Err(reason), device::device(root, whole));
    }
    let mount = mounts::mount_holding(root, &path, (major(metadata.dev()), minor(metadata.dev())));
    let device = mount.as_ref().map_err(Clone::clone).and_then(|mount| match mount.device {
        // The kernel numbers file systems 0:n that are not on one block device.
        (0, _) => Err(mounts::why_no_device(&mount.file_system, &mount.source)),
        number => device::device(root, number),
    });
    (mount.and_then(|mount| mounts::mount_point(mount, &path)), device)
}

/// What will be made is looked for in the directory above. What is there and cannot be seen may lie anywhere.
fn nearest_existing(target: &Path) -> Known<(fs::Metadata, PathBuf)> {
    let hidden = |error: Error| format!("{} cannot be seen: {error}", target.display());
    for path in std::path::absolute(target).map_err(hidden)?.ancestors() {
        match fs::canonicalize(path).and_then(|path| Ok((fs::metadata(&path)?, path))) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            found => return found.map_err(hidden),
        }
    }
    Err(format!("neither {} nor a directory above it is there", target.display()))
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
        let untold = Err("the server does not tell where its data lies".to_owned());
        let lying = [("data", Ok(data)), ("log", Ok(log)), ("data of x", untold)];
        let lying = lying.map(|(name, target)| (name.to_owned(), target)).into();
        let volumes = read_from(&machine.root, &lying, "0", jiff::Timestamp::UNIX_EPOCH).volumes;
        assert_eq!(volumes.keys().collect::<Vec<_>>(), ["data", "data of x", "log"]);
        for (name, device, file_system) in [("data", "nvme0n1", "ext4"), ("log", "nvme1n1", "xfs")] {
            assert_eq!(known(&volumes[name].device).name, device);
            assert_eq!(known(&volumes[name].mount).file_system, file_system);
        }
        assert!(why(&volumes["data of x"].device).starts_with("the server does not tell"));
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
        assert_eq!(why(&volume.device), "tmpfs is in memory, there is no device below it");
        assert_eq!(environment.taken, "2026-11-21T07:30:00Z");
    }

    #[test]
    fn a_machine_without_any_file_is_read_as_unknown() {
        let machine = Machine::new();
        let environment =
            read_from(&machine.root, &only(Path::new("/")), "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert_eq!((environment.host.as_str(), environment.kernel.as_str()), ("unknown", "unknown"));
        assert!(why(&environment.system).ends_with("etc/os-release"));
        assert!(why(&environment.cpu.model).ends_with("proc/cpuinfo"));
        assert!(why(&environment.cpu.governor).ends_with("scaling_governor"));
        let volume = &environment.volumes["data"];
        assert!(why(&volume.mount).ends_with("proc/self/mountinfo"));
        assert_eq!(volume.device, Reading::Unknown(why(&volume.mount).to_owned()));
        assert!(environment.memory.total_bytes > 0, "the kernel is asked where there is no /proc");
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
