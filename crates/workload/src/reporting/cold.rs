//! A file that the kernel forgets, so that the first report finds nothing of it in memory.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::TrialError;

/// What is said of it.
const HOW: &str = "the file was dropped from the page cache (posix_fadvise)";

/// Has the kernel forget a file of SQLite and its log, once what is to be written to the device has been. Gives how that was done.
///
/// # Errors
/// When a file cannot be opened or synced.
pub(super) fn forget(file: &Path) -> Result<String, TrialError> {
    for path in [file.to_owned(), log_of(file)] {
        forgotten(&path)
            .map_err(|error| TrialError::Load(format!("{} cannot be made cold: {error}", path.display())))?;
    }
    Ok(HOW.to_owned())
}

/// SQLite's log beside a file.
fn log_of(file: &Path) -> PathBuf {
    let mut log = OsString::from(file);
    log.push("-wal");
    log.into()
}

fn forgotten(path: &Path) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        // There is a log only while somebody writes.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // Pages that were not written yet are not forgotten.
    file.sync_all()?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}
