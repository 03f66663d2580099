//! Room that a file system has, and what of it is left alone.

use std::fmt;
use std::path::Path;

use super::error::TargetError;

/// Share of a file system that is kept free, and the least that is.
const KEPT_FREE_SHARE: f64 = 0.05;
const KEPT_FREE_BYTES: u64 = 1 << 30;

/// Room that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    needed_bytes: u64,
    free_bytes: u64,
    kept_bytes: u64,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        write!(
            f,
            "{} needed, but {} free, and {} must stay free (the larger of 1 GiB and 5%)",
            mib(self.needed_bytes),
            mib(self.free_bytes),
            mib(self.kept_bytes)
        )
    }
}

/// What a directory's file system lacks to take so many bytes and keep its share; none if it can.
///
/// # Errors
/// When it cannot be asked.
pub fn lack(directory: &Path, needed_bytes: u64) -> Result<Option<Lack>, TargetError> {
    let error = |error| TargetError::system(directory, "cannot read its free space", &error);
    let space = rustix::fs::statvfs(directory).map_err(error)?;
    Ok(lack_of(needed_bytes, space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize))
}

fn lack_of(needed_bytes: u64, free_bytes: u64, capacity_bytes: u64) -> Option<Lack> {
    let kept_bytes = KEPT_FREE_BYTES.max((capacity_bytes as f64 * KEPT_FREE_SHARE) as u64);
    let fits = needed_bytes == 0 || needed_bytes.saturating_add(kept_bytes) <= free_bytes;
    (!fits).then_some(Lack { needed_bytes, free_bytes, kept_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn five_per_cent_or_a_gibibyte_stay_free() {
        assert_eq!(lack_of(9 * GIB, 10 * GIB, 20 * GIB), None, "1 GiB stays free");
        assert!(lack_of(9 * GIB + 1, 10 * GIB, 20 * GIB).is_some());
        assert_eq!(lack_of(5 * GIB, 10 * GIB, 100 * GIB), None, "5 GiB stay free");
        let message = lack_of(6 * GIB, 10 * GIB, 100 * GIB).unwrap().to_string();
        assert!(
            message.starts_with("6144 MiB needed, but 10240 MiB free, and 5120 MiB must stay free"),
            "{message}"
        );
        assert_eq!(lack_of(0, 0, 100 * GIB), None, "a full disk can be read");
    }
}
