//! Block devices: whether one may be overwritten, and what it holds.
//!
//! All that is looked up in /sys, /proc and /dev goes through [`System`], whose root a test can replace.

use std::fs::{self, File};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, major, minor};
use rustix::io::Errno;

use super::error::TargetError;

/// Where the kernel tells about devices.
pub(super) struct System {
    root: PathBuf,
}

/// A number that names a device: major and minor.
type Number = (u32, u32);

impl System {
    pub(super) fn real() -> Self {
        Self { root: PathBuf::from("/") }
    }

    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    fn directory(&self, number: Number) -> PathBuf {
        self.root.join(format!("sys/dev/block/{}:{}", number.0, number.1))
    }

    /// The device itself and its partitions, as numbers.
    fn with_partitions(&self, number: Number) -> Vec<Number> {
        let mut numbers = vec![number];
        for entry in entries(&self.directory(number)) {
            if entry.join("partition").exists()
                && let Some(text) = fs::read_to_string(entry.join("dev")).ok()
                && let Some(number) = parse_number(text.trim())
            {
                numbers.push(number);
            }
        }
        numbers
    }

    /// What uses a device or a partition of it: mounts, swap, and devices built upon it.
    fn users_of(&self, number: Number) -> Vec<String> {
        let numbers = self.with_partitions(number);
        let mut users = Vec::new();
        for line in self.read("proc/self/mountinfo").unwrap_or_default().lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            if let [_, _, device, _, mount_point, ..] = fields[..]
                && parse_number(device).is_some_and(|device| numbers.contains(&device))
            {
                users.push(format!("mounted at {mount_point}"));
            }
        }
        for line in self.read("proc/swaps").unwrap_or_default().lines().skip(1) {
            let Some(path) = line.split_whitespace().next() else { continue };
            if self.number_of(Path::new(path)).is_some_and(|device| numbers.contains(&device)) {
                users.push(format!("swap space {path}"));
            }
        }
        for number in numbers {
            for holder in entries(&self.directory(number).join("holders")) {
                let name = holder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                users.push(format!("part of {name}"));
            }
        }
        users
    }

    /// Loop devices whose backing file or device is this path. They claim nothing that the kernel would tell.
    pub(super) fn loops_over(&self, path: &Path) -> Vec<String> {
        let Ok(path) = path.canonicalize() else { return Vec::new() };
        entries(&self.root.join("sys/block"))
            .iter()
            .filter(|device| {
                fs::read_to_string(device.join("loop/backing_file"))
                    .is_ok_and(|backing| Path::new(backing.trim_end_matches('\n')) == path)
            })
            .filter_map(|device| device.file_name())
            .map(|name| format!("backing {}", name.to_string_lossy()))
            .collect()
    }

    fn number_of(&self, path: &Path) -> Option<Number> {
        let inside = path.strip_prefix("/").unwrap_or(path);
        let metadata = fs::metadata(self.root.join(inside)).ok()?;
        Some((major(metadata.rdev()), minor(metadata.rdev())))
    }

    /// Every name by which a user can say "this very device": serial numbers, by-id links, a loop's backing file.
    fn names_of(&self, number: Number) -> Vec<String> {
        let device = self.directory(number);
        // A partition has its disk's serial number.
        let disk = if device.join("partition").exists() { device.join("..") } else { device.clone() };
        let serials =
            ["serial", "device/serial", "device/wwid", "wwid", "loop/backing_file", "dm/uuid", "md/uuid"];
        let mut names: Vec<String> = serials
            .iter()
            .filter_map(|file| fs::read_to_string(disk.join(file)).ok())
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        for link in entries(&self.root.join("dev/disk/by-id")) {
            let same = fs::metadata(&link)
                .is_ok_and(|metadata| (major(metadata.rdev()), minor(metadata.rdev())) == number);
            if same && let Some(name) = link.file_name() {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

fn parse_number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Opens a device to write on it, after every check. Also says what it holds now.
///
/// # Errors
/// When `destroy` is missing or names another device, or when anything uses the device.
pub(super) fn open_to_destroy(
    system: &System,
    path: &Path,
    destroy: Option<&str>,
) -> Result<(File, Vec<String>), TargetError> {
    let number =
        system.number_of(path).ok_or_else(|| TargetError::usage(path, "cannot be looked at as a device"))?;
    check(system, path, number, destroy)?;
    // For a block device, O_EXCL fails while the kernel itself uses it.
    let file = rustix::fs::open(path, OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty())
        .map(File::from)
        .map_err(|error| match error {
            Errno::BUSY => {
                TargetError::usage(path, "is in use by the kernel (O_EXCL was refused); stop what uses it")
            }
            other => TargetError::open(path, other, record::CacheMode::Buffered),
        })?;
    let found = signatures(&file);
    let holds = if found.is_empty() { "no signature that is known".to_owned() } else { found.join(", ") };
    Ok((file, vec![format!("{} will be overwritten. It holds now: {holds}", path.display())]))
}

fn check(system: &System, path: &Path, number: Number, destroy: Option<&str>) -> Result<(), TargetError> {
    let names = system.names_of(number);
    let known = if names.is_empty() { "none that the kernel tells".to_owned() } else { names.join(", ") };
    match destroy {
        None => {
            return Err(TargetError::usage(
                path,
                format!(
                    "is a block device and would be overwritten; to lose all it holds, add --destroy with its serial \
                     number or by-id name ({known})"
                ),
            ));
        }
        Some(name) if !names.iter().any(|known| known == name) => {
            return Err(TargetError::usage(
                path,
                format!("is not called `{name}`; its names are: {known}. Nothing was written"),
            ));
        }
        Some(_) => {}
    }
    let mut users = system.users_of(number);
    users.extend(system.loops_over(path));
    if users.is_empty() {
        return Ok(());
    }
    Err(TargetError::usage(path, format!("is in use: {}; free it, or name another device", users.join(", "))))
}

/// A known signature: what it means, where it stands, its bytes.
const SIGNATURES: [(&str, u64, &[u8]); 11] = [
    ("an ext2/3/4 file system", 1080, &[0x53, 0xef]),
    ("an XFS file system", 0, b"XFSB"),
    ("a btrfs file system", 65_600, b"_BHRfS_M"),
    ("an LVM physical volume", 512, b"LABELONE"),
    ("a LUKS volume", 0, b"LUKS\xba\xbe"),
    ("a GUID partition table", 512, b"EFI PART"),
    ("a partition table", 510, &[0x55, 0xaa]),
    ("swap space", 4086, b"SWAPSPACE2"),
    ("a member of an md array", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("an NTFS file system", 3, b"NTFS    "),
    ("a bcachefs or bcache device", 4120, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]),
];

/// What a device holds, as far as signatures tell.
fn signatures(file: &File) -> Vec<String> {
    SIGNATURES
        .iter()
        .filter(|(_, offset, bytes)| {
            let mut found = vec![0; bytes.len()];
            file.read_exact_at(&mut found, *offset).is_ok() && found == *bytes
        })
        .map(|(what, ..)| (*what).to_owned())
        .collect()
}

/// Whether the device behind a file has queues that can be polled.
pub(super) fn can_be_polled(file: BorrowedFd<'_>) -> bool {
    let Ok(stat) = rustix::fs::fstat(file) else { return false };
    let is_device = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::BlockDevice;
    let number = if is_device { stat.st_rdev } else { stat.st_dev };
    let directory = System::real().directory((major(number), minor(number)));
    // A partition's queue is its disk's.
    ["queue/io_poll", "../queue/io_poll"]
        .iter()
        .any(|path| fs::read_to_string(directory.join(path)).is_ok_and(|text| text.trim() == "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with a disk 8:0 of serial S1 and its partition 8:1.
    fn machine() -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        let system = System { root: root.path().to_owned() };
        for (path, text) in [
            ("sys/dev/block/8:0/device/serial", "S1\n"),
            ("sys/dev/block/8:0/sda1/partition", "1"),
            ("sys/dev/block/8:0/sda1/dev", "8:1\n"),
            ("proc/self/mountinfo", "22 1 8:16 / / rw - ext4 /dev/sdb rw\n"),
            ("proc/swaps", "Filename Type Size Used Priority\n"),
        ] {
            write(&system, path, text);
        }
        (root, system)
    }

    fn write(system: &System, path: &str, text: &str) {
        let path = system.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn refusal(system: &System, destroy: Option<&str>) -> Option<String> {
        check(system, Path::new("/dev/sda"), (8, 0), destroy).err().map(|error| error.to_string())
    }

    #[test]
    fn a_device_is_written_only_under_its_own_name() {
        let (_root, system) = machine();
        assert_eq!(refusal(&system, Some("S1")), None);
        assert!(refusal(&system, None).unwrap().contains("--destroy"));
        let message = refusal(&system, Some("S2")).unwrap();
        assert!(message.contains("`S2`") && message.contains("S1"), "{message}");
    }

    #[test]
    fn a_mounted_partition_protects_the_disk() {
        let (_root, system) = machine();
        write(&system, "proc/self/mountinfo", "22 1 8:1 / /home rw - ext4 /dev/sda1 rw\n");
        assert!(refusal(&system, Some("S1")).unwrap().contains("mounted at /home"));
    }

    #[test]
    fn a_holder_of_a_partition_protects_the_disk() {
        let (_root, system) = machine();
        write(&system, "sys/dev/block/8:1/holders/dm-0", "");
        assert!(refusal(&system, Some("S1")).unwrap().contains("part of dm-0"));
    }

    #[test]
    fn a_loop_device_protects_what_it_stands_on() {
        let (root, system) = machine();
        let disk = root.path().join("disk");
        fs::write(&disk, "").unwrap();
        let disk = disk.canonicalize().unwrap();
        assert_eq!(system.loops_over(&disk), [""; 0]);
        write(&system, "sys/block/loop3/loop/backing_file", &format!("{}\n", disk.display()));
        assert_eq!(system.loops_over(&disk), ["backing loop3"]);
        let message = check(&system, &disk, (8, 0), Some("S1")).unwrap_err().to_string();
        assert!(message.contains("backing loop3"), "{message}");
    }

    #[test]
    fn signatures_are_told() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert_eq!(signatures(&file), [""; 0]);
        file.write_all_at(&[0x53, 0xef], 1080).unwrap();
        file.write_all_at(b"EFI PART", 512).unwrap();
        assert_eq!(signatures(&file), ["an ext2/3/4 file system", "a GUID partition table"]);
    }
}
