//! The mount that holds a path, from `/proc/self/mountinfo`.
//!
//! A mount is found by the path and not by the device alone: one device can be mounted in several places.

use std::path::{Path, PathBuf};

use record::MountPoint;

use super::attribute::{Known, attribute};
use super::device::DeviceNumber;

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mount {
    pub(super) device: DeviceNumber,
    path: PathBuf,
    /// Of the mount first, then those of the file system that the mount does not repeat.
    options: String,
    pub(super) file_system: String,
    pub(super) source: String,
}

pub(super) fn mount_holding(root: &Path, path: &Path, device: DeviceNumber) -> Known<Mount> {
    let file = root.join("proc/self/mountinfo");
    let mounts = parse_mountinfo(&attribute(&file)?);
    choose_mount(&mounts, path, device)
        .cloned()
        .ok_or_else(|| format!("{} has no mount that contains {}", file.display(), path.display()))
}

/// Lines that are not as proc(5) describes are left out.
fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (of_mount, of_file_system) = line.split_once(" - ")?;
    let mut fields = of_mount.split(' ').skip(2);
    let (major, minor) = fields.next()?.split_once(':')?;
    let _root = fields.next()?;
    let path = fields.next()?;
    let mut options: Vec<&str> = fields.next()?.split(',').collect();
    let mut fields = of_file_system.split(' ');
    let (file_system, source) = (fields.next()?, fields.next()?);
    for option in fields.next().unwrap_or_default().split(',').filter(|option| !option.is_empty()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        path: PathBuf::from(unescape(path)),
        options: unescape(&options.join(",")),
        file_system: unescape(file_system),
        source: unescape(source),
    })
}

/// The kernel writes blanks, tabs, newlines and backslashes as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(octal_byte);
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &after[3..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal_byte(digits: &[u8]) -> Option<u8> {
    let octal = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
    octal.then(|| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()).flatten()
}

/// The mount that holds a path: the deepest one, the latest of several in one place. One of the path's own
/// device goes first, since a deeper one may be hidden; btrfs gives files device numbers that no mount has.
fn choose_mount<'a>(mounts: &'a [Mount], path: &Path, device: DeviceNumber) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.path));
    above.max_by_key(|mount| (mount.device == device, mount.path.as_os_str().len()))
}

pub(super) fn mount_point(mount: Mount, path: &Path) -> Known<MountPoint> {
    let space = rustix::fs::statvfs(path)
        .map_err(|error| format!("cannot read the free space of {}: {error}", path.display()))?;
    Ok(MountPoint {
        path: mount.path.display().to_string(),
        file_system: mount.file_system,
        source: mount.source,
        options: mount.options,
        block_bytes: space.f_frsize,
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
    })
}

/// Why nothing is known of the device below a file system.
pub(super) fn why_no_device(file_system: &str, source: &str) -> String {
    match file_system {
        "tmpfs" | "ramfs" | "devtmpfs" => format!("{file_system} is in memory, without a device"),
        "overlay" => {
            "overlay combines other file systems, but does not report which one contains a file. Give \
             a directory on a volume"
                .to_owned()
        }
        "btrfs" | "zfs" | "bcachefs" => {
            format!(
                "{file_system} can spread a file over several devices (here {source}), but does not report which ones"
            )
        }
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p" | "virtiofs" | "glusterfs" | "lustre" => {
            format!("{file_system} is on another host, at {source}")
        }
        _ => format!("{file_system} has no block device of its own"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
22 27 0:21 / /proc rw,relatime - proc proc rw
40 27 259:2 / /data rw,noatime shared:7 master:2 - xfs /dev/nvme0n1p2 rw,attr2,inode64
41 27 0:44 / /srv/my\\040disk\\134x rw - btrfs /dev/sda1 rw,subvol=/@
42 40 8:1 / /data/old rw - ext4 /dev/sda1 rw
43 40 8:17 / /data/old rw - ext4 /dev/sdb1 rw
this line is none
44 27 x:y / /bad rw - ext4 /dev/sdc rw";

    #[test]
    fn mounts_are_read_with_their_escapes_and_both_kinds_of_options() {
        let mounts = parse_mountinfo(MOUNTS);
        assert_eq!(mounts.len(), 6);
        assert_eq!(mounts[2].options, "rw,noatime,attr2,inode64");
        assert_eq!((mounts[2].device, mounts[2].file_system.as_str()), ((259, 2), "xfs"));
        assert_eq!(mounts[3].path, Path::new("/srv/my disk\\x"));
        for (escaped, text) in [("a\\040b", "a b"), ("\\11", "\\11"), ("\\+40", "\\+40"), ("\\777", "\\777")]
        {
            assert_eq!(unescape(escaped), text);
        }
    }

    #[test]
    fn a_path_lies_on_the_deepest_and_latest_mount_of_its_device() {
        let mounts = parse_mountinfo(MOUNTS);
        for (path, device, source) in [
            ("/srv/x", (254, 0), "/dev/vda"),
            ("/data/pg", (259, 2), "/dev/nvme0n1p2"),
            ("/database", (254, 0), "/dev/vda"),
            ("/data/old/x", (8, 17), "/dev/sdb1"),
            ("/data/old/hidden", (259, 2), "/dev/nvme0n1p2"),
            ("/srv/my disk\\x/y", (0, 99), "/dev/sda1"),
        ] {
            let mount = choose_mount(&mounts, Path::new(path), device).unwrap();
            assert_eq!(mount.source, source, "{path}");
        }
        assert!(choose_mount(&[], Path::new("/"), (8, 0)).is_none());
    }

    #[test]
    fn file_systems_without_one_device_say_why() {
        for (file_system, reason) in [
            ("tmpfs", "is in memory"),
            ("overlay", "does not report which one contains a file"),
            ("btrfs", "over several devices (here SOURCE)"),
            ("nfs4", "on another host, at SOURCE"),
            ("fuse.sshfs", "no block device of its own"),
        ] {
            let text = why_no_device(file_system, "SOURCE");
            assert!(text.starts_with(file_system) && text.contains(reason), "{text}");
        }
    }
}
