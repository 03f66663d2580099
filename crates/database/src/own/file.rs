//! A file of SQLite as a database of our own.
//!
//! The lock is a file of its own beside the database: closing any other handle to the database's file would end SQLite's
//! locks on it (<https://sqlite.org/howtocorrupt.html>, 2.2).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection as Database, OpenFlags};
use rustix::fs::{FlockOperation, flock};

use super::{Existing, MAKE_MARK, from_earlier, in_use, of_somebody_else};
use crate::error::{Attempt, Doing};
use crate::sqlite::{beside, statements};
use crate::{Error, Session, Url};

/// Marks the file as ours in its header: `PRNY`, see <https://sqlite.org/pragma.html#pragma_application_id>.
const APPLICATION_ID: i32 = 0x5052_4e59;
/// End of the lock's name.
const LOCK_END: &str = "-prony";

/// Makes or takes up the file. Tells whether it was there.
pub(super) async fn make(url: &Url, file: &Path, existing: Existing) -> Result<(Lock, bool), Error> {
    let place = file.display().to_string();
    if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty())
        && !directory.is_dir()
    {
        return Err(Error::NoDatabase(format!(
            "cannot make {place}: there is no directory {0}; make it first with `mkdir -p {0}`",
            directory.display()
        )));
    }
    let lock = Lock::take(file)?.ok_or_else(|| in_use(&place))?;
    let is_there = fs::symlink_metadata(file).is_ok();
    if is_there {
        // One that was killed between making a file and marking it leaves an empty one, which is worth nothing to anybody.
        let is_leftover =
            existing == Existing::Replace && fs::metadata(file).is_ok_and(|file| file.len() == 0);
        if !is_ours(file) && !is_leftover {
            return Err(of_somebody_else(&place, "give another file"));
        }
        match existing {
            Existing::Refuse => return Err(from_earlier(&place, &removal(file))),
            Existing::Reuse => {
                // It must also be one that can be opened.
                drop(Session::open(url).await?);
                return Ok((lock, true));
            }
            Existing::Replace => lock.remove_database()?,
        }
    }
    create(file)?;
    Ok((lock, false))
}

/// A lock that others see, and that ends with this process at the latest.
#[derive(Debug)]
pub(super) struct Lock {
    database: PathBuf,
    path: PathBuf,
    held: Mutex<Option<File>>,
}

impl Lock {
    /// None if somebody else has it.
    fn take(database: &Path) -> Result<Option<Self>, Error> {
        let path = beside(database, LOCK_END);
        let failed = |error: io::Error| not_made(&path, &error);
        loop {
            let file =
                OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(failed(error.into())),
            }
            // Whoever had it may have removed the file between the two calls: then this is a lock that nobody sees.
            let held = file.metadata().map_err(failed)?;
            if fs::metadata(&path).is_ok_and(|seen| (seen.dev(), seen.ino()) == (held.dev(), held.ino())) {
                let database = database.to_owned();
                return Ok(Some(Self { database, path, held: Mutex::new(Some(file)) }));
            }
        }
    }

    /// Removes the database with all files that SQLite makes for it.
    pub(super) fn remove_database(&self) -> Result<(), Error> {
        for end in ["", "-wal", "-shm", "-journal"] {
            let path = beside(&self.database, end);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::NoDatabase(format!(
                        "cannot remove {}: {error}; remove it with `{}`",
                        path.display(),
                        removal(&self.database)
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(file) = self.held.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // Removed while it is locked, so that no other's is removed. If it stays, the next one takes it.
            let _ = fs::remove_file(&self.path);
            drop(file);
        }
    }
}

/// Whether a file carries our mark. Nothing is written, and SQLite is not asked: the header is enough, and a file of which a
/// full disk took only a part from the WAL has one too (<https://sqlite.org/fileformat2.html>, 1.3).
fn is_ours(file: &Path) -> bool {
    let mut header = [0; 72];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header.starts_with(b"SQLite format 3\0") && header[68..] == APPLICATION_ID.to_be_bytes()
}

/// Makes a file with our mark. The mark is in the file itself, not in a WAL, before anything else can be.
fn create(file: &Path) -> Result<(), Error> {
    OpenOptions::new().write(true).create_new(true).open(file).map_err(|error| not_made(file, &error))?;
    let target = format!("sqlite:{}", file.display());
    let attempt = Attempt { doing: Doing::Connect, target: &target };
    let write = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Database::open_with_flags(file, flags)?;
        database.execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID}; BEGIN; {MAKE_MARK}; COMMIT; PRAGMA journal_mode = wal"
        ))
    };
    write().map_err(|error| {
        let _ = fs::remove_file(file);
        statements::fault(&error, attempt)
    })
}

fn not_made(path: &Path, error: &io::Error) -> Error {
    let text = |remedy: &str| format!("cannot make {}: {error}; {remedy}", path.display());
    match error.kind() {
        ErrorKind::StorageFull => Error::Full(text(crate::error::remedy::FULL)),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::Refused(text("let this user write the directory, or give another"))
        }
        _ => Error::NoDatabase(text("give another file")),
    }
}

/// The command that removes a database.
fn removal(file: &Path) -> String {
    let name = file.display();
    format!("rm -f {name} {name}-wal {name}-shm")
}
