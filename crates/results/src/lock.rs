//! One writer a results directory: two studies that were resumed at once would mix their records.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::durable::{WriteError, failed};

/// Held as long as a study writes. The system lets go of it when the program ends, however it does.
#[derive(Debug)]
pub(crate) struct Lock {
    _directory: File,
}

impl Lock {
    /// Locks a directory. File systems that know no locks are left unlocked.
    pub(crate) fn of(directory: &Path) -> Result<Self, WriteError> {
        let file = File::open(directory).map_err(failed("open", directory))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(failed("lock", directory)(io::ErrorKind::WouldBlock.into())),
            Ok(()) | Err(_) => Ok(Self { _directory: file }),
        }
    }
}
