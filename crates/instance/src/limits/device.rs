//! Block devices by their numbers.

use std::path::Path;

use rustix::fs::{major, minor, stat};

use super::usage::numbers;
use super::{LimitError, Resource};

/// A block device by its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// Of its driver.
    pub major: u32,
    /// Of the driver's device.
    pub minor: u32,
}

impl Device {
    /// The disk under a file or directory; of a partition, the disk that it is on.
    ///
    /// # Errors
    /// It cannot be looked at, or what is under it is no disk (tmpfs, NFS, overlayfs, btrfs, ZFS).
    pub fn under(path: &Path) -> Result<Self, LimitError> {
        let number = stat(path).map_err(|error| LimitError::file("look at", path)(error.into()))?.st_dev;
        let found = Self { major: major(number), minor: minor(number) };
        let block = Path::new("/sys/dev/block").join(found.to_string());
        if !block.exists() {
            let why = format!(
                "{} is not on a disk with kernel I/O statistics (but on tmpfs, NFS, overlayfs, btrfs or ZFS): use a directory on ext4 or xfs",
                path.display()
            );
            return Err(LimitError::Missing { what: Resource::Io.word(), why });
        }
        if !block.join("partition").exists() {
            return Ok(found);
        }
        let whole = std::fs::canonicalize(&block).map_err(LimitError::file("look at", &block))?;
        let file = whole.parent().unwrap_or(&whole).join("dev");
        let text = super::files::read(&file)?;
        Ok(numbers(text.trim()).unwrap_or(found))
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}
