//! A directory in memory for what the tests make and throw away.
//!
//! Their servers and databases sync as they do elsewhere; on a disk that is half of the time of the tests. What must lie on a
//! disk, because it is read around the cache, is made below the target directory by the tests themselves.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

/// What Linux mounts for POSIX shared memory.
const PLACE: &str = "/dev/shm";

/// Six tests at a time have up to twelve servers, and each writes at most half a GiB; some room is left.
const BYTES_MIN: u64 = 8 << 30;

/// Removed with all that is in it when it is dropped; `None` where there is too little memory.
pub(super) fn directory() -> Result<Option<TempDir>> {
    directory_in(Path::new(PLACE), BYTES_MIN)
}

fn directory_in(place: &Path, bytes_min: u64) -> Result<Option<TempDir>> {
    let free = statvfs(place).map_or(0, |space| space.blocks_available() * space.fragment_size());
    if free < bytes_min {
        println!("{} has less than {} GiB: temporary files stay on disk", place.display(), bytes_min >> 30);
        return Ok(None);
    }
    let mut builder = tempfile::Builder::new();
    // Servers do not run as root, and must pass through.
    builder.prefix("prony-tests-").permissions(Permissions::from_mode(0o755));
    builder
        .tempdir_in(place)
        .map(Some)
        .with_context(|| format!("cannot make a directory in {}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_may_pass_through_it_and_nobody_else_may_write() {
        let place = tempfile::tempdir().unwrap();
        let directory = directory_in(place.path(), 1).unwrap().unwrap();
        assert_eq!(directory.path().metadata().unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn too_little_memory_and_none_at_all_are_no_error() {
        let place = tempfile::tempdir().unwrap();
        assert!(directory_in(place.path(), u64::MAX).unwrap().is_none());
        assert!(directory_in(&place.path().join("none"), 1).unwrap().is_none());
    }
}
