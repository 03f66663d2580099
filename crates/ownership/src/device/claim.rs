//! A device that may be written: opened for us alone, after every check.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::system::{Number, System, device_at};

/// A block device that was claimed to be written: the user said which one it is, and nothing uses it.
#[derive(Debug)]
pub struct Claimed {
    file: File,
}

/// Why a device is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// It is none.
    #[error("cannot be looked at as a device")]
    NoDevice,
    /// Nothing says that it may be destroyed.
    #[error(
        "is a block device and would be overwritten; it has to be named by its serial number or by-id name ({known})"
    )]
    Unnamed {
        /// What it is called.
        known: String,
    },
    /// Another device was named.
    #[error("is not called `{given}`; its names are: {known}. Nothing was written")]
    Another {
        /// What was named.
        given: String,
        /// What it is called.
        known: String,
    },
    /// Something uses it.
    #[error("is in use: {users}; free it, or name another device")]
    InUse {
        /// What does.
        users: String,
    },
    /// The kernel does not let us have it alone.
    #[error("is in use by the kernel (O_EXCL was refused); stop what uses it")]
    Busy,
    /// Its node became another one.
    #[error("became another device while it was looked at; nothing was written")]
    Changed,
    /// It cannot be opened.
    #[error("cannot be opened: {0}")]
    System(Errno),
}

impl Claimed {
    /// Claims a device that the user called by one of its names.
    ///
    /// # Errors
    /// When no name was given or that of another device, or when anything uses the device.
    pub fn new(system: &System, path: &Path, name: Option<&str>) -> Result<Self, DeviceError> {
        let number = device_at(path).ok_or(DeviceError::NoDevice)?;
        check(system, number, name)?;
        // For a block device, O_EXCL fails while the kernel itself uses it, also where no table tells.
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file =
            rustix::fs::open(path, flags, Mode::empty()).map(File::from).map_err(|error| match error {
                Errno::BUSY => DeviceError::Busy,
                other => DeviceError::System(other),
            })?;
        let stat = rustix::fs::fstat(&file).map_err(DeviceError::System)?;
        let is_device = crate::Kind::of_mode(stat.st_mode) == crate::Kind::BlockDevice;
        if is_device && Number::of_raw(stat.st_rdev) == number {
            return Ok(Self { file });
        }
        Err(DeviceError::Changed)
    }

    /// The device, open for reading and writing and for nobody else of the kernel's.
    #[must_use]
    pub fn into_file(self) -> File {
        self.file
    }
}

pub(super) fn check(system: &System, number: Number, name: Option<&str>) -> Result<(), DeviceError> {
    let names = system.names_of(number);
    let known = if names.is_empty() { "none that the kernel shows".to_owned() } else { names.join(", ") };
    match name {
        None => return Err(DeviceError::Unnamed { known }),
        Some(given) if !names.iter().any(|known| known == given) => {
            return Err(DeviceError::Another { given: given.to_owned(), known });
        }
        Some(_) => {}
    }
    let users = system.users_of_device(number);
    if users.is_empty() { Ok(()) } else { Err(DeviceError::InUse { users: users.join(", ") }) }
}
