//! The devices of a btrfs, which the kernel numbers as none: told in `/sys/fs/btrfs`, a directory for each file system.

use std::fs;
use std::path::{Path, PathBuf};

use super::attribute::{attribute, names};
use super::device::DeviceNumber;

/// A btrfs by its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Btrfs {
    /// How data are spread over them: `single`, `raid0`, `raid1`, `raid10`, …
    pub(super) profile: String,
    /// Kernel names of its devices with their numbers.
    pub(super) devices: Vec<(String, DeviceNumber)>,
}

/// The one that is mounted from a device. None where the kernel tells nothing of it.
pub(super) fn mounted_from(root: &Path, source: &str) -> Option<Btrfs> {
    let node = root.join(source.trim_start_matches('/'));
    // What a name below /dev/mapper stands for.
    let node = fs::canonicalize(&node).unwrap_or(node);
    let name = node.file_name()?.to_str()?;
    let all = root.join("sys/fs/btrfs");
    let of: PathBuf =
        names(&all).into_iter().map(|id| all.join(id)).find(|of| of.join("devices").join(name).exists())?;
    let number = |name: String| {
        let text = attribute(&of.join("devices").join(&name).join("dev")).ok()?;
        let (major, minor) = text.split_once(':')?;
        Some((name, (major.parse().ok()?, minor.parse().ok()?)))
    };
    // Beside files that count bytes there is one directory, which is called as the profile is. While data are moved to another one
    // there are two.
    let data = of.join("allocation/data");
    let profiles: Vec<String> = names(&data).into_iter().filter(|name| data.join(name).is_dir()).collect();
    Some(Btrfs {
        profile: profiles.join(" and "),
        devices: names(&of.join("devices")).into_iter().filter_map(number).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::machine::Machine;
    use super::*;

    #[test]
    fn a_btrfs_is_known_by_the_device_that_it_is_mounted_from() {
        let machine = Machine::new();
        for (id, profile, devices) in
            [("5e15", "raid1", &["nvme0n1p2", "nvme1n1p2"][..]), ("77aa", "single", &["sdc"][..])]
        {
            for (minor, name) in devices.iter().enumerate() {
                machine.file(&format!("sys/fs/btrfs/{id}/devices/{name}/dev"), &format!("259:{minor}"));
            }
            machine.file(&format!("sys/fs/btrfs/{id}/allocation/data/{profile}/used_bytes"), "1");
            machine.file(&format!("sys/fs/btrfs/{id}/allocation/data/bytes_used"), "1");
        }
        machine.file("sys/fs/btrfs/features/raid1c34", "0");
        let found = mounted_from(&machine.root, "/dev/nvme1n1p2").unwrap();
        assert_eq!(found.profile, "raid1");
        assert_eq!(found.devices, [("nvme0n1p2".to_owned(), (259, 0)), ("nvme1n1p2".to_owned(), (259, 1))]);
        assert_eq!(mounted_from(&machine.root, "/dev/sdc").unwrap().profile, "single");
        assert_eq!(mounted_from(&machine.root, "/dev/sdd"), None);
    }
}
