//! Block devices: claimed for writing by what `ownership` says, and what one holds.

use std::fs::{self, File};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use ownership::device::{Claimed, DeviceError, System};
use rustix::fs::{major, minor};

use super::error::TargetError;
use super::loop_status;

/// This machine's devices.
pub(super) fn system() -> System {
    System::real(loop_status::backing)
}

/// Opens a device to write on it, after every check. Also says what it holds now.
///
/// # Errors
/// When `destroy` is missing or names another device, or when anything uses the device.
pub(super) fn open_to_destroy(
    path: &Path,
    destroy: Option<&str>,
) -> Result<(File, Vec<String>), TargetError> {
    let claimed = Claimed::new(&system(), path, destroy).map_err(|error| match error {
        DeviceError::System(error) => TargetError::open(path, error, record::CacheMode::Buffered),
        DeviceError::Unnamed { known } => TargetError::usage(
            path,
            format!(
                "this is a block device, which would be overwritten. To destroy its content, add {} with \
                 its serial number or by-id name ({known})",
                crate::parameter("destroy")
            ),
        ),
        refused => TargetError::usage(path, refused),
    })?;
    let file = claimed.into_file();
    let found = signatures(&file);
    let holds = if found.is_empty() { "no known signature".to_owned() } else { found.join(", ") };
    Ok((file, vec![format!("{} will be overwritten. It now contains: {holds}", path.display())]))
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
    let directory = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    // A partition's queue is its disk's.
    ["queue/io_poll", "../queue/io_poll"]
        .iter()
        .any(|path| fs::read_to_string(Path::new(&directory).join(path)).is_ok_and(|text| text.trim() == "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
