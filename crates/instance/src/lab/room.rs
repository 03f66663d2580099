//! Whether backing files fit into a directory, and whether that is on a disk at all.

use std::path::Path;

use super::{LabError, LabPlace, LabShape};

/// Stays free besides the backing files: whoever else writes there is not to fail because of us.
const KEPT_BYTES: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// Looks whether there is room.
///
/// # Errors
/// There is not, or the directory is in memory and that was not said to be meant.
pub(super) fn look(place: &LabPlace, shape: &LabShape) -> Result<(), LabError> {
    let path = &place.directory;
    let fault = |error: rustix::io::Errno| LabError::file("look at", path)(error.into());
    let kind = in_memory(rustix::fs::statfs(path).map_err(fault)?.f_type as u64);
    if let Some(kind) = kind.filter(|_| !place.in_memory) {
        return Err(LabError::InMemory { path: path.clone(), kind });
    }
    let space = rustix::fs::statvfs(path).map_err(fault)?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    enough(path, free, shape.bytes())
}

fn enough(path: &Path, free_bytes: u64, wanted_bytes: u64) -> Result<(), LabError> {
    if free_bytes >= wanted_bytes.saturating_add(KEPT_BYTES) {
        return Ok(());
    }
    Err(LabError::NoRoom {
        path: path.to_owned(),
        free_mib: free_bytes / MIB,
        wanted_mib: wanted_bytes.div_ceil(MIB),
    })
}

/// The kernel's numbers of file systems in memory (`include/uapi/linux/magic.h`).
fn in_memory(number: u64) -> Option<&'static str> {
    match number {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_must_fit_and_leave_a_gibibyte() {
        let here = Path::new("/data");
        assert!(enough(here, 5 << 30, 4 << 30).is_ok());
        let error = enough(here, (5 << 30) - 1, 4 << 30).unwrap_err().to_string();
        assert!(error.starts_with("/data has 5119 MiB free, but the lab needs 4096 MiB"), "{error}");
        assert!(enough(here, u64::MAX - 1, u64::MAX).is_err(), "what cannot be counted does not fit");
    }

    #[test]
    fn memory_is_told_from_a_disk() {
        assert_eq!((in_memory(0x0102_1994), in_memory(0xef53)), (Some("tmpfs"), None));
    }
}
