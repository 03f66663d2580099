//! Rules of a volume: its file system, the device below it, and what joins its disks.

use super::Severity::{Costs, Danger, Note};
use super::rule::{Rule, Subject, found, found_if, known};
use crate::format;

/// What flash and file systems write at once, whatever sectors a device says that it has.
const PAGE_BYTES: u64 = 4096;
/// Most that is read ahead before random reads pay for it.
const READ_AHEAD_MOST: u64 = 4 << 20;
/// Shares of free space below which a volume is short of it, and about to be full.
const SHORT: f64 = 0.15;
const NEARLY_GONE: f64 = 0.05;
/// Schedulers that sort and share out requests one process at a time.
const SHARING: [&str; 2] = ["bfq", "cfq"];

/// The commands that mount it again with another option.
fn remount(subject: &Subject<'_>, option: &str) -> String {
    let path = subject.mount().map_or("", |mount| mount.path.as_str());
    format!("mount -o remount,{option} {path}. To keep it, change /etc/fstab too")
}

/// The share of its space that is free.
fn free_share(subject: &Subject<'_>) -> Option<f64> {
    let total = subject.layout()?.total_bytes.filter(|total| *total > 0)?;
    Some(subject.mount()?.free_bytes as f64 / total as f64)
}

fn free_words(subject: &Subject<'_>, share: f64) -> String {
    let free = subject.mount().map_or(0, |mount| mount.free_bytes);
    format!("{} are free, {} of the volume", format::bytes(free), format::per_cent(share))
}

/// Whether it has blocks of a device of this machine.
fn is_on_blocks(subject: &Subject<'_>) -> bool {
    subject.is_file_system(&["ext2", "ext3", "ext4", "xfs", "f2fs", "btrfs"])
}

/// How its disks are joined, without who does it: `raid1` of `btrfs raid1`.
fn joined<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let joined = subject.layout()?.joined.as_deref()?;
    Some(joined.strip_prefix("btrfs ").unwrap_or(joined))
}

pub(super) static FILE_SYSTEM: &[Rule] = &[
    Rule {
        name: "in-memory",
        severity: Danger,
        why: "All files on it are lost when the machine stops",
        source: "Linux kernel documentation, Tmpfs",
        find: |subject| {
            let kind = &subject.mount()?.file_system;
            let is_memory = subject.is_file_system(&["tmpfs", "ramfs"]);
            found_if(is_memory, format!("{kind} is in memory"), "place the database on a disk")
        },
    },
    Rule {
        name: "nfs-soft",
        severity: Danger,
        why: "If the NFS server does not answer in time, a write fails like on a broken disk. The database may continue without \
        pages that it believes to be written",
        source: "PostgreSQL documentation, Creating a Database Cluster: NFS",
        find: |subject| {
            let is_soft = subject.is_file_system(&["nfs", "nfs4"])
                && ["soft", "softerr"].iter().any(|option| subject.has_option(option));
            found_if(
                is_soft,
                "NFS is mounted soft",
                "unmount it, and mount it with the option hard. Change /etc/fstab too",
            )
        },
    },
    Rule {
        name: "barrier",
        severity: Danger,
        why: "The file system does not flush the write cache of the disk. After a power loss, even flushed commits may be missing or torn",
        source: "Linux kernel documentation, ext4 General Information: Options, barrier",
        find: |subject| {
            let is_off = ["nobarrier", "barrier=0"].iter().any(|option| subject.has_option(option));
            let keeps = subject.device().and_then(|device| known(&device.write_cache)).map(String::as_str);
            let what = "mounted without barriers";
            found_if(is_off && keeps != Some("write through"), what, remount(subject, "barrier=1"))
        },
    },
    Rule {
        name: "space-nearly-gone",
        severity: Danger,
        why: "A server that cannot extend its log stops, and may not start again until there is free space",
        source: "PostgreSQL documentation, Monitoring Disk Usage: Disk Full Failure",
        find: |subject| {
            let share = free_share(subject)?;
            let remedy =
                "free space or enlarge the volume. Look first at archives, binary logs and replication slots";
            found_if(share < NEARLY_GONE, free_words(subject, share), remedy)
        },
    },
    Rule {
        name: "space-short",
        severity: Note,
        why: "Flash and file systems slow down as they fill, and rewriting a table needs free space",
        source: "PostgreSQL documentation, Monitoring Disk Usage: Disk Full Failure",
        find: |subject| {
            let share = free_share(subject)?;
            let is_short = (NEARLY_GONE..SHORT).contains(&share);
            found_if(is_short, free_words(subject, share), "plan for more space, and watch the growth")
        },
    },
    Rule {
        name: "block-size",
        severity: Costs,
        why: "A database page covers several small blocks. The device reads before it writes parts of its own blocks",
        source: "mke2fs(8), OPTIONS: -b block-size",
        find: |subject| {
            let bytes = subject.mount()?.block_bytes;
            found_if(
                is_on_blocks(subject) && bytes > 0 && bytes < PAGE_BYTES,
                format!("the block size of the file system is {}", format::bytes(bytes)),
                "save its files, create it again with blocks of 4096 bytes (mkfs.ext4 -b 4096, mkfs.xfs -b size=4096), and restore them",
            )
        },
    },
    Rule {
        name: "access-time",
        severity: Costs,
        why: "Each read of a file also writes its access time",
        source: "mount(8), FILESYSTEM-INDEPENDENT MOUNT OPTIONS: noatime, relatime",
        find: |subject| {
            let is_kept = !["noatime", "relatime", "ro"].iter().any(|option| subject.has_option(option));
            found_if(
                is_on_blocks(subject) && is_kept,
                "each read updates the access time",
                remount(subject, "noatime"),
            )
        },
    },
    Rule {
        name: "discard",
        severity: Note,
        why: "Each deleted file makes the device discard blocks at once, between the requests of the database",
        source: "fstrim(8), DESCRIPTION",
        find: |subject| {
            let remedy = format!("{}. Then systemctl enable fstrim.timer", remount(subject, "nodiscard"));
            found_if(subject.has_option("discard"), "mounted with discard", remedy)
        },
    },
    Rule {
        name: "overlay",
        severity: Costs,
        why: "The first write to a file of the image copies the whole file. Deleting the container deletes all data in this layer",
        source: "Docker documentation, OverlayFS storage driver: OverlayFS and Docker Performance",
        find: |subject| {
            let is_overlay = subject.is_file_system(&["overlay", "aufs"]);
            found_if(
                is_overlay,
                "the writable layer of a container",
                "mount a volume for the database into the container",
            )
        },
    },
    Rule {
        name: "copy-on-write",
        severity: Note,
        why: "Each changed page moves to another place, so files fragment and scans become random reads",
        source: "BTRFS documentation, Administration: Mount options, nodatacow",
        find: |subject| {
            let copies = subject.is_file_system(&["btrfs"]) && !subject.has_option("nodatacow");
            let remedy = "if you do not need snapshots and checksums, run chattr +C on the empty directory, create the database, and \
            enable its page checksums";
            found_if(copies, "btrfs copies on each write", remedy)
        },
    },
];

pub(super) static DEVICE: &[Rule] = &[
    Rule {
        name: "no-redundancy",
        severity: Danger,
        why: "The first failing disk takes all data with it, and several disks fail sooner than one",
        source: "md(4), RAID0 and LINEAR",
        find: |subject| {
            let joined = joined(subject)?;
            let disks = subject.layout()?.members.len();
            let is_bare = ["raid0", "linear"].contains(&joined) || (joined == "single" && disks > 1);
            let remedy = "move the database to an array that survives a failed disk: raid1, or raid10 of at least four disks";
            found_if(is_bare, format!("{disks} disks form a {joined} array"), remedy)
        },
    },
    Rule {
        name: "degraded",
        severity: Danger,
        why: "The next failing disk may take all data with it. Until then, each read of a missing block needs reads of the other disks",
        source: "Linux kernel documentation, RAID arrays: md/degraded",
        find: |subject| {
            let missing = subject.layout()?.raid_degraded?;
            let what = format!("{missing} of the array's disks are missing");
            let remedy = "find the missing disk with cat /proc/mdstat, and add a new one with mdadm /dev/ARRAY -a /dev/DISK";
            found_if(missing > 0, what, remedy)
        },
    },
    Rule {
        name: "rebuilding",
        severity: Costs,
        why: "The background work of the array uses its disks, so figures measured now are lower than usual",
        source: "Linux kernel documentation, RAID arrays: md/sync_action",
        find: |subject| {
            let action = subject.layout()?.raid_sync.as_deref()?;
            let is_busy = ["resync", "recover", "check", "repair", "reshape"].contains(&action);
            found_if(
                is_busy,
                format!("the array is busy ({action})"),
                "wait until cat /proc/mdstat shows no such work",
            )
        },
    },
    Rule {
        name: "parity",
        severity: Costs,
        why: "Each written page costs at least two reads and two writes, and a crash in between leaves wrong parity",
        source: "md(4), RAID4, RAID5, RAID6 and UNCLEAN SHUTDOWN",
        find: |subject| {
            let joined = joined(subject)?;
            let has_parity = ["raid4", "raid5", "raid6"].contains(&joined);
            let remedy = "use raid10 for random writes, and parity only for data that is written once";
            found_if(has_parity, format!("its disks form a {joined} array"), remedy)
        },
    },
    Rule {
        name: "alignment",
        severity: Costs,
        why: "Each block of the file system covers parts of two blocks of the device, so the device reads before it writes",
        source: "Linux kernel documentation, ABI: /sys/block/<disk>/<partition>/alignment_offset",
        find: |subject| {
            let layout = subject.layout()?;
            let physical = subject.device().and_then(|device| known(&device.physical_block_bytes).copied());
            let block = physical.unwrap_or(PAGE_BYTES).max(PAGE_BYTES);
            let remedy = "save its files, create the partition again with its start at 1 MiB (parted mkpart does that), and restore them";
            match (layout.partition_start_bytes, layout.alignment_offset_bytes) {
                (Some(start), _) if start % block != 0 => found(
                    format!(
                        "its partition starts at byte {}, not at a multiple of {}",
                        format::grouped(start),
                        format::bytes(block)
                    ),
                    remedy,
                ),
                (_, Some(offset)) if offset > 0 => {
                    found(format!("it starts {} before a block of the device", format::bytes(offset)), remedy)
                }
                _ => None,
            }
        },
    },
    Rule {
        name: "scheduler",
        severity: Costs,
        why: "Flash gains nothing from sorted requests, and loses CPU time and time in the queue. A spinning disk needs the sorting",
        source: "Linux kernel documentation, Block: Switching Scheduler, and BFQ (Budget Fair Queueing)",
        find: |subject| {
            let device = subject.device()?;
            let scheduler = known(&device.scheduler)?.as_str();
            let spins = known(&device.rotational).copied();
            let (is_wrong, better) = match spins {
                Some(true) => (["none", "noop"].contains(&scheduler), "mq-deadline"),
                Some(false) | None => (SHARING.contains(&scheduler), "none"),
            };
            let what = match spins {
                Some(true) => format!("the scheduler of a spinning disk is {scheduler}"),
                Some(false) | None => format!("the scheduler of its disks is {scheduler}"),
            };
            found_if(is_wrong, what, subject.queue_command(better, "scheduler"))
        },
    },
    Rule {
        name: "read-ahead",
        severity: Costs,
        why: "Without read-ahead, scans wait for each block. With too much, random reads fetch unneeded data",
        source: "Linux kernel documentation, Queue sysfs files: read_ahead_kb",
        find: |subject| {
            let bytes = subject.layout()?.read_ahead_bytes?;
            let name = subject.device().map_or("", |device| device.name.as_str()).replace('/', "!");
            found_if(
                bytes == 0 || bytes > READ_AHEAD_MOST,
                format!("read-ahead is {}", format::bytes(bytes)),
                format!("echo 128 > /sys/block/{name}/queue/read_ahead_kb, or up to 4096 for scans"),
            )
        },
    },
    Rule {
        name: "volatile-cache",
        severity: Note,
        why: "Data in this cache survives a power loss only after a flush, and only if the device executes flushes. Each commit waits for a flush",
        source: "PostgreSQL documentation, Reliability and the Write-Ahead Log: Reliability",
        find: |subject| {
            let device = subject.device()?;
            let remedy = format!(
                "if the maker guarantees that the cache survives a power loss, skip the flushes: {}. Otherwise change nothing",
                subject.queue_command("'write through'", "write_cache")
            );
            let is_volatile = known(&device.write_cache)? == "write back";
            found_if(is_volatile, "the kernel treats its write cache as volatile", remedy)
        },
    },
];
