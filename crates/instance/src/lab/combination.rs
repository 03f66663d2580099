//! What a laboratory can be on a machine, and by which words its file system is made.

use super::programs::Program;
use super::{FileSystem, LabShape, Raid};

/// What a machine is, as far as laboratories depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// Size of a page of memory.
    pub(super) page_bytes: u64,
    /// First two numbers of the kernel's release.
    pub(super) kernel: (u32, u32),
    /// Whether the kernel has md.
    pub(super) has_md: bool,
}

impl Machine {
    pub(super) fn here() -> Self {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        Self {
            page_bytes: rustix::param::page_size() as u64,
            kernel: release_numbers(&release),
            has_md: std::path::Path::new("/proc/mdstat").exists(),
        }
    }
}

/// `6.12.3-amd64` is 6 and 12; a release that cannot be read is an old one.
fn release_numbers(release: &str) -> (u32, u32) {
    let mut numbers =
        release.split(|sign: char| !sign.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// `mkfs.xfs` makes nothing smaller than 300 MiB, and the others need no less to be of use.
const DEVICE_BYTES_MIN: u64 = 320 * MIB;
const DEVICE_BYTES_MAX: u64 = 16 << 40;
const DEVICES_MAX: u32 = 32;
/// Kernels from which on blocks may be larger than pages: XFS (Linux 6.12) and ext4 (Linux 6.19), by their release notes.
const XFS_LARGE_BLOCKS: (u32, u32) = (6, 12);
const EXT4_LARGE_BLOCKS: (u32, u32) = (6, 19);

/// Why such a laboratory cannot be on such a machine, and what can; none if it can.
pub(super) fn impossible(shape: &LabShape, machine: &Machine) -> Option<String> {
    devices(shape).or_else(|| blocks(shape, machine)).or_else(|| {
        let needs_md = shape.raid != Raid::Single && shape.file_system != FileSystem::Btrfs;
        (needs_md && !machine.has_md).then(|| {
            format!(
                "{} with {} needs the md driver, but this kernel has not loaded it. Load the driver (modprobe md_mod), or use \
                --file-system btrfs, which needs no md",
                shape.raid.word(),
                shape.file_system.word()
            )
        })
    })
}

fn devices(shape: &LabShape) -> Option<String> {
    let count = shape.devices;
    let (is_wrong, takes) = match shape.raid {
        Raid::Single => (count != 1, "one device"),
        Raid::Stripe => (!(2..=DEVICES_MAX).contains(&count), "from 2 to 32 devices"),
        Raid::Raid1 => (count != 2, "two devices"),
        Raid::Raid10 => (
            !(4..=DEVICES_MAX).contains(&count) || !count.is_multiple_of(2),
            "an even number from 4 to 32 devices",
        ),
    };
    if is_wrong {
        return Some(format!("{} needs {takes}, but --devices is {count}", shape.raid.word()));
    }
    let size = shape.device_bytes;
    if !(DEVICE_BYTES_MIN..=DEVICE_BYTES_MAX).contains(&size) || !size.is_multiple_of(MIB) {
        return Some(format!(
            "--size of a device must be a whole number of MiB from 320MiB to 16TiB, but is {size} bytes"
        ));
    }
    (![512, 4096].contains(&shape.sector_bytes))
        .then(|| format!("--sector-size must be 512 or 4096, but is {}", shape.sector_bytes))
}

fn blocks(shape: &LabShape, machine: &Machine) -> Option<String> {
    let (block, page) = (shape.block_bytes, machine.page_bytes);
    let name = shape.file_system.word();
    let (least, since) = match shape.file_system {
        FileSystem::Ext4 => (KIB, Some(EXT4_LARGE_BLOCKS)),
        FileSystem::Xfs => (KIB, Some(XFS_LARGE_BLOCKS)),
        FileSystem::Btrfs => (4 * KIB, None),
    };
    if !block.is_power_of_two() || !(least..=64 * KIB).contains(&block) {
        return Some(format!(
            "the block size of {name} must be a power of two from {least} to 65536 bytes, but --block-size is {block}"
        ));
    }
    if block < shape.sector_bytes {
        return Some(format!(
            "blocks of {block} bytes are smaller than sectors of {} bytes: use larger blocks",
            shape.sector_bytes
        ));
    }
    let can_be_larger = since.is_some_and(|since| machine.kernel >= since);
    (block > page && !can_be_larger).then(|| {
        let (major, minor) = machine.kernel;
        let other = if shape.file_system != FileSystem::Xfs && machine.kernel >= XFS_LARGE_BLOCKS {
            "--file-system xfs, or "
        } else {
            ""
        };
        format!(
            "this kernel ({major}.{minor}, pages of {page} bytes) cannot mount {name} with blocks of {block} bytes: use {other}--block-size {page}"
        )
    })
}

/// The program that makes its file system.
pub(super) fn maker(file_system: FileSystem) -> Program {
    match file_system {
        FileSystem::Ext4 => Program { name: "mkfs.ext4", package: "e2fsprogs" },
        FileSystem::Xfs => Program { name: "mkfs.xfs", package: "xfsprogs" },
        FileSystem::Btrfs => Program { name: "mkfs.btrfs", package: "btrfs-progs" },
    }
}

/// Its arguments: nothing is discarded, which would punch holes into the backing files, and nothing is left to be done while
/// something is measured.
pub(super) fn maker_arguments(shape: &LabShape, devices: &[String]) -> Vec<String> {
    let block = shape.block_bytes.to_string();
    let profile = match shape.raid {
        // Of metadata too, of which btrfs would keep two copies on one device.
        Raid::Single => "single",
        Raid::Stripe => "raid0",
        Raid::Raid1 => "raid1",
        Raid::Raid10 => "raid10",
    };
    let size = format!("size={block}");
    let words: Vec<&str> = match shape.file_system {
        FileSystem::Ext4 => {
            vec![
                "-F",
                "-q",
                "-m",
                "0",
                "-b",
                &block,
                "-E",
                "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
            ]
        }
        FileSystem::Xfs => vec!["-f", "-q", "-K", "-b", &size],
        FileSystem::Btrfs => vec!["-f", "-q", "-K", "-s", &block, "-d", profile, "-m", profile],
    };
    words.into_iter().map(str::to_owned).chain(devices.iter().cloned()).collect()
}

/// How it is mounted. A btrfs is told its devices, since no udev may have told the kernel of them, and writes in place as the others do.
pub(super) fn mount_options(shape: &LabShape, devices: &[String]) -> String {
    let usual = "noatime,nodev,nosuid";
    match shape.file_system {
        FileSystem::Ext4 | FileSystem::Xfs => usual.to_owned(),
        FileSystem::Btrfs => {
            let others = devices.iter().skip(1).map(|device| format!(",device={device}"));
            format!("{usual},nodiscard,nodatacow{}", others.collect::<String>())
        }
    }
}

/// The words by which mdadm joins devices. They hold nothing yet, so that there is nothing to be brought into step.
pub(super) fn array_arguments(shape: &LabShape, array: &str, devices: &[String]) -> Vec<String> {
    let level = match shape.raid {
        Raid::Single | Raid::Stripe => "0",
        Raid::Raid1 => "1",
        Raid::Raid10 => "10",
    };
    let mut words: Vec<String> =
        ["--create", array, "--run", "--quiet", "--metadata=1.2", "--homehost=any", "--level", level]
            .map(str::to_owned)
            .to_vec();
    words.push(format!("--raid-devices={}", devices.len()));
    if shape.raid != Raid::Stripe {
        words.push("--assume-clean".to_owned());
    }
    words.extend(devices.iter().cloned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { page_bytes: 4096, kernel: (6, 18), has_md: false };

    fn shape(raid: Raid, file_system: FileSystem, devices: u32) -> LabShape {
        LabShape { raid, file_system, devices, ..LabShape::default() }
    }

    fn check(shape: &LabShape, machine: &Machine, expected: &str) {
        match impossible(shape, machine) {
            None => assert_eq!(expected, "", "{shape:?} was let be"),
            Some(told) => assert!(!expected.is_empty() && told.contains(expected), "{told}"),
        }
    }

    #[test]
    fn numbers_of_devices_fit_the_kind() {
        for (raid, devices, expected) in [
            (Raid::Single, 1, ""),
            (Raid::Single, 2, "single needs one device, but --devices is 2"),
            (Raid::Stripe, 1, "from 2 to 32 devices, but --devices is 1"),
            (Raid::Stripe, 3, ""),
            (Raid::Raid1, 2, ""),
            (Raid::Raid1, 4, "two devices"),
            (Raid::Raid10, 4, ""),
            (Raid::Raid10, 5, "an even number"),
            (Raid::Raid10, 34, "an even number"),
        ] {
            check(&shape(raid, FileSystem::Btrfs, devices), &MACHINE, expected);
        }
    }

    #[test]
    fn md_is_taken_where_it_is_there_and_btrfs_needs_none() {
        let with_md = Machine { has_md: true, ..MACHINE };
        for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
            let mirrored = shape(Raid::Raid1, file_system, 2);
            check(
                &mirrored,
                &MACHINE,
                "needs the md driver, but this kernel has not loaded it. Load the driver (modprobe md_mod), or use --file-system btrfs",
            );
            check(&mirrored, &with_md, "");
            assert_eq!(mirrored.joined_by().as_deref(), Some("md raid1"));
        }
        let striped = shape(Raid::Stripe, FileSystem::Btrfs, 2);
        check(&striped, &MACHINE, "");
        assert_eq!(striped.joined_by().as_deref(), Some("btrfs raid0"));
        assert_eq!(shape(Raid::Single, FileSystem::Ext4, 1).joined_by(), None);
    }

    #[test]
    fn blocks_larger_than_pages_are_had_where_the_kernel_has_them() {
        let blocks = |file_system, block_bytes| LabShape { file_system, block_bytes, ..LabShape::default() };
        let older = Machine { kernel: (6, 1), ..MACHINE };
        let large_pages = Machine { page_bytes: 65_536, ..older };
        for (wanted, machine, expected) in [
            (
                blocks(FileSystem::Ext4, 65_536),
                MACHINE,
                "(6.18, pages of 4096 bytes) cannot mount ext4 with blocks of 65536 bytes: use --file-system xfs, or",
            ),
            (
                blocks(FileSystem::Ext4, 65_536),
                older,
                "(6.1, pages of 4096 bytes) cannot mount ext4 with blocks of 65536 bytes: use --block-size 4096",
            ),
            (blocks(FileSystem::Ext4, 65_536), Machine { kernel: (6, 19), ..MACHINE }, ""),
            (blocks(FileSystem::Ext4, 65_536), large_pages, ""),
            (blocks(FileSystem::Xfs, 65_536), MACHINE, ""),
            (blocks(FileSystem::Xfs, 65_536), older, "cannot mount xfs with blocks of 65536 bytes"),
            (blocks(FileSystem::Btrfs, 8192), MACHINE, "btrfs with blocks of 8192"),
            (blocks(FileSystem::Xfs, 5000), MACHINE, "a power of two"),
            (blocks(FileSystem::Btrfs, 2048), MACHINE, "from 4096 to 65536"),
            (
                LabShape { block_bytes: 1024, sector_bytes: 4096, ..LabShape::default() },
                MACHINE,
                "smaller than sectors of 4096",
            ),
            (
                LabShape { sector_bytes: 520, ..LabShape::default() },
                MACHINE,
                "--sector-size must be 512 or 4096",
            ),
            (LabShape { device_bytes: 100 << 20, ..LabShape::default() }, MACHINE, "from 320MiB to 16TiB"),
        ] {
            check(&wanted, &machine, expected);
        }
    }

    #[test]
    fn a_release_is_read_by_its_first_two_numbers() {
        assert_eq!(release_numbers("6.12.3-amd64"), (6, 12));
        assert_eq!(release_numbers("5.15-generic"), (5, 15));
        assert_eq!(release_numbers("none"), (0, 0));
    }

    #[test]
    fn file_systems_are_made_without_discarding() {
        let devices = ["/dev/loop0".to_owned(), "/dev/loop1".to_owned()];
        let words = |shape: &LabShape| maker_arguments(shape, &devices).join(" ");
        assert!(words(&LabShape::default()).starts_with("-F -q -m 0 -b 4096 -E nodiscard,"));
        let xfs = shape(Raid::Single, FileSystem::Xfs, 1);
        assert_eq!(words(&xfs), "-f -q -K -b size=4096 /dev/loop0 /dev/loop1");
        let btrfs = shape(Raid::Stripe, FileSystem::Btrfs, 2);
        assert_eq!(words(&btrfs), "-f -q -K -s 4096 -d raid0 -m raid0 /dev/loop0 /dev/loop1");
        assert_eq!(
            mount_options(&btrfs, &devices),
            "noatime,nodev,nosuid,nodiscard,nodatacow,device=/dev/loop1"
        );
    }

    #[test]
    fn an_array_is_made_without_being_brought_into_step() {
        let devices: Vec<String> = (0..4).map(|number| format!("/dev/loop{number}")).collect();
        let words =
            |raid| array_arguments(&shape(raid, FileSystem::Xfs, 4), "/dev/md/prony-a", &devices).join(" ");
        assert_eq!(
            words(Raid::Raid10),
            "--create /dev/md/prony-a --run --quiet --metadata=1.2 --homehost=any --level 10 --raid-devices=4 --assume-clean /dev/loop0 \
             /dev/loop1 /dev/loop2 /dev/loop3"
        );
        assert!(!words(Raid::Stripe).contains("assume-clean"), "level 0 has nothing to be in step with");
    }
}
