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
    format!("mount -o remount,{option} {path}, and the same in /etc/fstab so that it stays")
}

/// The share of its space that is free.
fn free_share(subject: &Subject<'_>) -> Option<f64> {
    let total = subject.layout()?.total_bytes.filter(|total| *total > 0)?;
    Some(subject.mount()?.free_bytes as f64 / total as f64)
}

fn free_words(subject: &Subject<'_>, share: f64) -> String {
    let free = subject.mount().map_or(0, |mount| mount.free_bytes);
    format!("{} are free, {} of it", format::bytes(free), format::per_cent(share))
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
        why: "All that is in it is gone once the machine is",
        source: "Linux kernel documentation, Tmpfs",
        find: |subject| {
            let kind = &subject.mount()?.file_system;
            let is_memory = subject.is_file_system(&["tmpfs", "ramfs"]);
            found_if(is_memory, format!("it is {kind}, in memory"), "give the database a directory on a disk")
        },
    },
    Rule {
        name: "nfs-soft",
        severity: Danger,
        why: "A write that the other host does not answer in time fails as if the disk were broken, and a server may go on with pages \
              that were never written",
        source: "PostgreSQL documentation, Creating a Database Cluster: NFS",
        find: |subject| {
            let is_soft = subject.is_file_system(&["nfs", "nfs4"])
                && ["soft", "softerr"].iter().any(|option| subject.has_option(option));
            found_if(
                is_soft,
                "NFS is mounted soft",
                "unmount it, and mount it with the option hard, also in /etc/fstab",
            )
        },
    },
    Rule {
        name: "barrier",
        severity: Danger,
        why: "The file system no longer has the disk empty its write cache, and after a loss of power even what was committed and \
              flushed may be missing or torn",
        source: "Linux kernel documentation, ext4 General Information: Options, barrier",
        find: |subject| {
            let is_off = ["nobarrier", "barrier=0"].iter().any(|option| subject.has_option(option));
            let keeps = subject.device().and_then(|device| known(&device.write_cache)).map(String::as_str);
            let what = "it is mounted without barriers";
            found_if(is_off && keeps != Some("write through"), what, remount(subject, "barrier=1"))
        },
    },
    Rule {
        name: "space-nearly-gone",
        severity: Danger,
        why: "A server that cannot extend its log stops, and may not start again before there is room",
        source: "PostgreSQL documentation, Monitoring Disk Usage: Disk Full Failure",
        find: |subject| {
            let share = free_share(subject)?;
            let remedy = "make room or a larger volume; look first at logs that are kept: archives, binary logs, replication slots";
            found_if(share < NEARLY_GONE, free_words(subject, share), remedy)
        },
    },
    Rule {
        name: "space-short",
        severity: Note,
        why: "Flash and file systems slow down as they fill, and tables need room to be rewritten",
        source: "PostgreSQL documentation, Monitoring Disk Usage: Disk Full Failure",
        find: |subject| {
            let share = free_share(subject)?;
            let is_short = (NEARLY_GONE..SHORT).contains(&share);
            found_if(is_short, free_words(subject, share), "plan for more space, and watch how fast it fills")
        },
    },
    Rule {
        name: "block-size",
        severity: Costs,
        why: "Pages of a database are spread over many small blocks, each with an entry of its own, and written in parts that the \
              device has to read first",
        source: "mke2fs(8), OPTIONS: -b block-size",
        find: |subject| {
            let bytes = subject.mount()?.block_bytes;
            found_if(
                is_on_blocks(subject) && bytes > 0 && bytes < PAGE_BYTES,
                format!("blocks of the file system are of {}", format::bytes(bytes)),
                "copy its files away, make it anew with blocks of 4096 bytes (mkfs.ext4 -b 4096, mkfs.xfs -b size=4096), and copy \
                 them back",
            )
        },
    },
    Rule {
        name: "access-time",
        severity: Costs,
        why: "Each file that is read is written to, for the time at which it was read",
        source: "mount(8), FILESYSTEM-INDEPENDENT MOUNT OPTIONS: noatime, relatime",
        find: |subject| {
            let is_kept = !["noatime", "relatime", "ro"].iter().any(|option| subject.has_option(option));
            found_if(
                is_on_blocks(subject) && is_kept,
                "times of access are kept strictly",
                remount(subject, "noatime"),
            )
        },
    },
    Rule {
        name: "discard",
        severity: Note,
        why: "Each file that is removed has the device discard its blocks at once, between the requests of the database",
        source: "fstrim(8), DESCRIPTION",
        find: |subject| {
            let remedy = format!("{}; and systemctl enable fstrim.timer", remount(subject, "nodiscard"));
            found_if(subject.has_option("discard"), "it is mounted with discard", remedy)
        },
    },
    Rule {
        name: "overlay",
        severity: Costs,
        why: "A file of the image is copied as a whole when it is first written to, and all of it is gone with the container",
        source: "Docker documentation, OverlayFS storage driver: OverlayFS and Docker Performance",
        find: |subject| {
            let is_overlay = subject.is_file_system(&["overlay", "aufs"]);
            found_if(
                is_overlay,
                "it is the writable layer of a container",
                "give the container a volume for the database",
            )
        },
    },
    Rule {
        name: "copy-on-write",
        severity: Note,
        why: "Pages that are changed in place go to another place each time, so that files fall to pieces and scans become random",
        source: "BTRFS documentation, Administration: Mount options, nodatacow",
        find: |subject| {
            let copies = subject.is_file_system(&["btrfs"]) && !subject.has_option("nodatacow");
            let remedy = "where its snapshots and checksums are not needed, chattr +C on the empty directory before the database is made \
                          in it, and have the database check its pages";
            found_if(copies, "it is btrfs, which copies on each write", remedy)
        },
    },
];

pub(super) static DEVICE: &[Rule] = &[
    Rule {
        name: "no-redundancy",
        severity: Danger,
        why: "The first of these disks that fails takes all data with it, and several fail sooner than one",
        source: "md(4), RAID0 and LINEAR",
        find: |subject| {
            let joined = joined(subject)?;
            let disks = subject.layout()?.members.len();
            let is_bare = ["raid0", "linear"].contains(&joined) || (joined == "single" && disks > 1);
            let remedy =
                "move the database to an array that outlives a disk: raid1, or raid10 of four disks and more";
            found_if(is_bare, format!("{disks} disks are joined as {joined}"), remedy)
        },
    },
    Rule {
        name: "degraded",
        severity: Danger,
        why: "The next disk that fails may take all data with it, and until then reads of what is missing cost reads of the others",
        source: "Linux kernel documentation, RAID arrays: md/degraded",
        find: |subject| {
            let missing = subject.layout()?.raid_degraded?;
            let what = format!("the array lacks {missing} of its disks");
            let remedy = "cat /proc/mdstat tells which; put another in with mdadm /dev/ARRAY -a /dev/DISK";
            found_if(missing > 0, what, remedy)
        },
    },
    Rule {
        name: "rebuilding",
        severity: Costs,
        why: "What the array does beside its work takes its disks, and figures that are measured now are lower than usual",
        source: "Linux kernel documentation, RAID arrays: md/sync_action",
        find: |subject| {
            let action = subject.layout()?.raid_sync.as_deref()?;
            let is_busy = ["resync", "recover", "check", "repair", "reshape"].contains(&action);
            found_if(
                is_busy,
                format!("the array is at work by itself ({action})"),
                "wait until cat /proc/mdstat tells of none",
            )
        },
    },
    Rule {
        name: "parity",
        severity: Costs,
        why: "A page that is written costs two reads and two writes and more, and a stop in between leaves parity that is wrong",
        source: "md(4), RAID4, RAID5, RAID6 and UNCLEAN SHUTDOWN",
        find: |subject| {
            let joined = joined(subject)?;
            let has_parity = ["raid4", "raid5", "raid6"].contains(&joined);
            let remedy =
                "for data that is written at random use raid10; keep parity for what is written once";
            found_if(has_parity, format!("its disks are joined as {joined}"), remedy)
        },
    },
    Rule {
        name: "alignment",
        severity: Costs,
        why: "Each block of the file system lies on two of the device, so that the device reads before it writes",
        source: "Linux kernel documentation, ABI: /sys/block/<disk>/<partition>/alignment_offset",
        find: |subject| {
            let layout = subject.layout()?;
            let physical = subject.device().and_then(|device| known(&device.physical_block_bytes).copied());
            let block = physical.unwrap_or(PAGE_BYTES).max(PAGE_BYTES);
            let remedy = "copy its files away, make the partition anew so that it begins at 1 MiB (parted mkpart does), and copy them \
                          back";
            match (layout.partition_start_bytes, layout.alignment_offset_bytes) {
                (Some(start), _) if start % block != 0 => found(
                    format!(
                        "its partition begins at byte {}, between blocks of {}",
                        format::grouped(start),
                        format::bytes(block)
                    ),
                    remedy,
                ),
                (_, Some(offset)) if offset > 0 => {
                    found(format!("it begins {} before a block of the device", format::bytes(offset)), remedy)
                }
                _ => None,
            }
        },
    },
    Rule {
        name: "scheduler",
        severity: Costs,
        why: "Flash gains nothing of requests being sorted and shared out, and pays with processors and with time in the queue; a disk \
              that spins needs it",
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
                Some(true) => format!("the scheduler of a disk that spins is {scheduler}"),
                Some(false) | None => format!("the scheduler of its disks is {scheduler}"),
            };
            found_if(is_wrong, what, subject.queue_command(better, "scheduler"))
        },
    },
    Rule {
        name: "read-ahead",
        severity: Costs,
        why: "Without it scans wait for each block; with too much of it random reads bring in what nobody asked for",
        source: "Linux kernel documentation, Queue sysfs files: read_ahead_kb",
        find: |subject| {
            let bytes = subject.layout()?.read_ahead_bytes?;
            let name = subject.device().map_or("", |device| device.name.as_str()).replace('/', "!");
            found_if(
                bytes == 0 || bytes > READ_AHEAD_MOST,
                format!("the kernel reads {} ahead", format::bytes(bytes)),
                format!("echo 128 > /sys/block/{name}/queue/read_ahead_kb, or up to 4096 where scans decide"),
            )
        },
    },
    Rule {
        name: "volatile-cache",
        severity: Note,
        why: "What is in it survives a loss of power only as far as it is flushed, which each commit waits for, and only if the device \
              heeds that",
        source: "PostgreSQL documentation, Reliability and the Write-Ahead Log: Reliability",
        find: |subject| {
            let device = subject.device()?;
            let remedy = format!(
                "where its maker promises that the cache survives a loss of power, tell the kernel, which then spares the flushes: {}; \
                 else leave it",
                subject.queue_command("'write through'", "write_cache")
            );
            let is_volatile = known(&device.write_cache)? == "write back";
            found_if(
                is_volatile,
                "the kernel takes its write cache for one that a loss of power empties",
                remedy,
            )
        },
    },
];
