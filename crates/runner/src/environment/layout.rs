//! How a volume is made: where its partition begins, what is read ahead of it, what joins its devices and in what state that is.

use std::fs;
use std::path::{Path, PathBuf};

use record::Layout;

use super::Lies;
use super::attribute::{attribute, number};
use super::device::{array, whole_disk};

/// The kernel counts where partitions begin in sectors of 512 bytes, whatever the device's own are.
const SECTOR_BYTES: u64 = 512;

impl Lies {
    /// What can be read of it; what cannot is left out.
    pub(super) fn layout(&self, root: &Path, target: &Path) -> Layout {
        let beneath = self.beneath(root);
        let of_file_system = Layout {
            total_bytes: total_bytes(target),
            joined: beneath.raid,
            members: beneath.members,
            ..Layout::default()
        };
        let directory = self.number.and_then(|(major, minor)| {
            fs::canonicalize(root.join(format!("sys/dev/block/{major}:{minor}"))).ok()
        });
        match directory {
            Some(directory) => of_device(&directory, of_file_system),
            None => of_file_system,
        }
    }
}

/// With what the kernel tells of a device or a partition by its directory.
fn of_device(directory: &Path, of_file_system: Layout) -> Layout {
    let of = |name: &str| number(&directory.join(name)).ok();
    let whole: PathBuf = whole_disk(directory.to_owned());
    let is_partition = directory.join("partition").exists();
    let array = array(&whole);
    let of_array = |name: &str| attribute(&array.as_ref()?.join("md").join(name)).ok();
    Layout {
        partition_start_bytes: of("start")
            .filter(|_| is_partition)
            .map(|sectors| sectors.saturating_mul(SECTOR_BYTES)),
        // The kernel says -1 where it cannot tell.
        alignment_offset_bytes: of("alignment_offset"),
        read_ahead_bytes: number(&whole.join("queue/read_ahead_kb")).ok().map(|kib| kib.saturating_mul(1024)),
        raid_degraded: of_array("degraded").and_then(|disks| disks.parse().ok()),
        raid_sync: of_array("sync_action"),
        ..of_file_system
    }
}

/// Bytes of the file system that holds a path, or the nearest directory above it that is there.
fn total_bytes(target: &Path) -> Option<u64> {
    let (metadata, path) = super::nearest_existing(target).ok()?;
    if !metadata.is_dir() && !metadata.is_file() {
        return None;
    }
    let space = rustix::fs::statvfs(&path).ok()?;
    Some(space.f_blocks.saturating_mul(space.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::super::lies;
    use super::super::machine::{Machine, NVME_0, NVME_1};

    #[test]
    fn a_partition_tells_where_it_begins_and_its_disk_what_is_read_ahead() {
        let machine = Machine::new();
        let root = machine.root.display();
        machine.nvme(0, "259:0").file("data/file", "").file(&format!("{NVME_0}/queue/read_ahead_kb"), "128");
        let part = format!("{NVME_0}/nvme0n1p2");
        for (name, text) in [("partition", "2"), ("start", "63"), ("alignment_offset", "3584")] {
            machine.file(&format!("{part}/{name}"), text);
        }
        machine.link("sys/dev/block/259:2", &part);
        machine.mounts(&format!("2 1 259:2 / {root}/data rw - ext4 /dev/nvme0n1p2 rw"));
        let target = machine.root.join("data");
        let layout = lies(&machine.root, &target).layout(&machine.root, &target);
        assert_eq!(
            (layout.partition_start_bytes, layout.alignment_offset_bytes, layout.read_ahead_bytes),
            (Some(63 * 512), Some(3584), Some(128 << 10))
        );
        assert!(layout.total_bytes.is_some_and(|bytes| bytes > 0));
        assert_eq!((layout.joined, layout.raid_degraded), (None, None));
    }

    #[test]
    fn an_array_tells_level_members_and_state() {
        let machine = Machine::new();
        let root = machine.root.display();
        machine.nvme(0, "259:0").nvme(1, "259:1").file("data/file", "");
        let array = "sys/devices/virtual/block/md0";
        machine.disk(array, "9:0").file(&format!("{array}/alignment_offset"), "-1");
        for (name, text) in [("level", "raid5"), ("degraded", "1"), ("sync_action", "recover")] {
            machine.file(&format!("{array}/md/{name}"), text);
        }
        machine.link(&format!("{array}/slaves/nvme0n1"), NVME_0);
        machine.link(&format!("{array}/slaves/nvme1n1"), NVME_1);
        machine.mounts(&format!("2 1 9:0 / {root}/data rw - xfs /dev/md0 rw"));
        let target = machine.root.join("data");
        let layout = lies(&machine.root, &target).layout(&machine.root, &target);
        assert_eq!((layout.joined.as_deref(), layout.raid_degraded), (Some("raid5"), Some(1)));
        assert_eq!(layout.raid_sync.as_deref(), Some("recover"));
        assert_eq!(layout.members, ["nvme0n1", "nvme1n1"]);
        assert_eq!((layout.partition_start_bytes, layout.alignment_offset_bytes), (None, None));
    }

    /// What lies in memory has no device that could tell more.
    #[test]
    fn what_has_no_device_tells_its_size_alone() {
        let machine = Machine::new();
        machine.mounts("30 1 0:31 / / rw - tmpfs tmpfs rw,size=4g");
        let layout = lies(&machine.root, &machine.root).layout(&machine.root, &machine.root);
        let rest = record::Layout { total_bytes: None, ..layout.clone() };
        assert!(layout.total_bytes.is_some() && rest == record::Layout::default(), "{layout:?}");
    }
}
