//! One writer a results directory: two studies that were resumed at once would mix their records.

use std::io;
use std::os::fd::OwnedFd;

use ownership::Directory;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use crate::durable::{WriteError, failed};

/// Held as long as a study writes. The system lets go of it when the program ends, however it does.
#[derive(Debug)]
pub(crate) struct Lock {
    _directory: OwnedFd,
}

impl Lock {
    /// Locks a directory. File systems that know no locks are left unlocked.
    pub(crate) fn of(directory: &Directory) -> Result<Self, WriteError> {
        // A handle of its own: whoever holds the directory after the study holds no lock.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(directory, ".", flags, Mode::empty())
            .map_err(|error| failed("open", directory.path())(error.into()))?;
        match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(failed("lock", directory.path())(io::ErrorKind::WouldBlock.into())),
            Ok(()) | Err(_) => Ok(Self { _directory: handle }),
        }
    }
}
