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

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use attribute::{Known, attribute, reading};
use record::{Device, Environment, FORMAT_VERSION, MountPoint, Reading};
use rustix::fs::{major, minor};

/// Reads the machine, and the file system and device below a target. The target may be a directory, a file or a
/// block device; one that does not exist yet stands for the nearest directory above it that does. There is none where
/// a server does not tell where its data lies, or is not local.
#[must_use]
pub(crate) fn read(
    target: Option<&Path>,
    is_local: bool,
    tool_version: &str,
    taken: jiff::Timestamp,
) -> Environment {
    let environment = read_from(Path::new("/"), target.unwrap_or(Path::new("/")), tool_version, taken);
    match (target, is_local) {
        (Some(_), _) => environment,
        (None, true) => without_storage(environment, "the server does not tell where its data lies"),
        (None, false) => without_storage(environment, "the database is on another machine"),
    }
}

fn without_storage(environment: Environment, reason: &str) -> Environment {
    let (mount, device) = (Reading::Unknown(reason.to_owned()), Reading::Unknown(reason.to_owned()));
    Environment { mount, device, ..environment }
}

/// [`read`] with another place for `/proc`, `/sys` and `/etc`.
fn read_from(root: &Path, target: &Path, tool_version: &str, taken: jiff::Timestamp) -> Environment {
    let kernel = |name: &str| attribute(&root.join("proc/sys/kernel").join(name));
    let (mount, device) = below_target(root, target);
    Environment {
        format: FORMAT_VERSION,
        tool_version: tool_version.to_owned(),
        taken: taken.to_string(),
        host: kernel("hostname").unwrap_or_else(|_| "unknown".to_owned()),
        system: reading(host::system(root)),
        kernel: kernel("osrelease").unwrap_or_else(|_| "unknown".to_owned()),
        cpu: host::cpu(root),
        memory: host::memory(root),
        mount: reading(mount),
        device: reading(device),
    }
}

/// Kernel name of the device below a path, if it is on one.
pub(crate) fn device_of(path: &Path) -> Option<String> {
    below_target(Path::new("/"), path).1.ok().map(|device| device.name)
}

/// Where the file system of a path is mounted, and the kernel name of the device that it lies on.
pub(crate) fn below(path: &Path) -> (Reading<String>, Reading<String>) {
    let (mount, device) = below_target(Path::new("/"), path);
    (reading(mount.map(|mount| mount.path)), reading(device.map(|device| device.name)))
}

fn below_target(root: &Path, target: &Path) -> (Known<MountPoint>, Known<Device>) {
    let found = nearest_existing(target).and_then(|path| Some((fs::metadata(&path).ok()?, path)));
    let Some((metadata, path)) = found else {
        let reason = format!("neither {} nor a directory above it can be read", target.display());
        return (Err(reason.clone()), Err(reason));
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

fn nearest_existing(target: &Path) -> Option<PathBuf> {
    std::path::absolute(target).ok()?.ancestors().find_map(|path| fs::canonicalize(path).ok())
}

#[cfg(test)]
mod tests {
    use super::machine::{Machine, known, why};
    use super::*;

    #[test]
    fn a_target_that_does_not_exist_yet_stands_for_the_directory_above() {
        let machine = Machine::new();
        machine.mounts("30 1 0:31 / / rw - tmpfs tmpfs rw,size=4g");
        let environment = read_from(
            &machine.root,
            &machine.root.join("not/yet/here"),
            "0.1.0",
            "2026-11-21T07:30:00Z".parse().unwrap(),
        );
        let mount = known(&environment.mount);
        assert_eq!((mount.path.as_str(), mount.options.as_str()), ("/", "rw,size=4g"));
        assert!(mount.block_bytes > 0);
        assert_eq!(why(&environment.device), "tmpfs is in memory, there is no device below it");
        assert_eq!(environment.taken, "2026-11-21T07:30:00Z");
    }

    #[test]
    fn a_machine_without_any_file_is_read_as_unknown() {
        let machine = Machine::new();
        let environment = read_from(&machine.root, Path::new("/"), "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert_eq!((environment.host.as_str(), environment.kernel.as_str()), ("unknown", "unknown"));
        assert!(why(&environment.system).ends_with("etc/os-release"));
        assert!(why(&environment.cpu.model).ends_with("proc/cpuinfo"));
        assert!(why(&environment.cpu.governor).ends_with("scaling_governor"));
        assert!(why(&environment.mount).ends_with("proc/self/mountinfo"));
        assert_eq!(environment.device, Reading::Unknown(why(&environment.mount).to_owned()));
        assert!(environment.memory.total_bytes > 0, "the kernel is asked where there is no /proc");
    }

    #[test]
    fn this_machine_is_read() {
        let environment = read(Some(Path::new(".")), true, "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert!(environment.cpu.usable >= 1);
        assert!(environment.memory.total_bytes >= environment.memory.available_bytes);
        assert!(environment.mount.known().is_some_and(|mount| mount.free_bytes > 0));
        assert_ne!(environment.kernel, "unknown");
    }
}
