//! The files that this process has open, each once, with all connections to it.
//!
//! DuckDB keeps other processes out of a file by a lock of the system, which does not keep this one out of it: two of its databases in one
//! file would destroy it. So whoever wants a file that is open gets another connection to the same database, and the last to go closes it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::duckdb::{AccessMode, Config, Connection, InterruptHandle};

use super::fault::not_opened;
use crate::Error;
use crate::error::{Attempt, remedy};

/// Device and inode, which no other file has as long as this one is open.
type Key = (u64, u64);

static OPEN: Mutex<BTreeMap<Key, Shared>> = Mutex::new(BTreeMap::new());

/// A file that is open.
struct Shared {
    /// The connection that opened it. With it the database is closed, so that it goes last.
    first: Connection,
    access: Access,
    users: usize,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    /// Nothing of it is changed, its log included.
    Read,
}

/// A connection to a file.
pub(super) struct Handle {
    connection: Option<Connection>,
    key: Key,
}

impl Handle {
    /// Connects to a file, and opens it if nobody has. It is not made: DuckDB would make one of this name.
    pub(super) fn open(file: &Path, access: Access, attempt: Attempt<'_>) -> Result<Self, Error> {
        let path = std::path::absolute(file).map_err(|error| Error::NoDatabase(attempt.text(error, "")))?;
        super::check_path(&path)?;
        // Opening and closing wait here for each other: what is being closed is not open to anybody any more, and not yet closed.
        let mut open = open();
        let key = key(&path, attempt)?;
        let shared = match open.remove(&key) {
            Some(shared) if access == Access::Write && shared.access == Access::Read => {
                open.insert(key, shared);
                let words = "it is being read by another part of this program";
                return Err(Error::Conflict(attempt.text(words, remedy::CONFLICT)));
            }
            Some(shared) => shared,
            None => {
                let first = configured(access)
                    .and_then(|config| Connection::open_with_flags(&path, config))
                    .map_err(|error| not_opened(&error, attempt))?;
                Shared { first, access, users: 0 }
            }
        };
        let connection = shared.first.try_clone().map_err(|error| not_opened(&error, attempt));
        if connection.is_ok() || shared.users > 0 {
            let users = shared.users + usize::from(connection.is_ok());
            open.insert(key, Shared { users, ..shared });
        }
        Ok(Self { connection: Some(connection?), key })
    }

    /// What is run on it.
    pub(super) fn connection(&self) -> &Connection {
        let Some(connection) = &self.connection else { unreachable!("it goes with the handle") };
        connection
    }

    /// What ends what runs on it. Not to be used once it is gone.
    pub(super) fn interrupt(&self) -> Arc<InterruptHandle> {
        self.connection().interrupt_handle()
    }
}

impl Drop for Handle {
    /// The last one closes the file: what is in the log is put into it.
    fn drop(&mut self) {
        // Before the one that opened it.
        drop(self.connection.take());
        let mut open = open();
        if let Some(shared) = open.get_mut(&self.key) {
            shared.users -= 1;
            if shared.users == 0 {
                drop(open.remove(&self.key));
            }
        }
    }
}

fn open() -> MutexGuard<'static, BTreeMap<Key, Shared>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(path: &Path, attempt: Attempt<'_>) -> Result<Key, Error> {
    let found = fs::metadata(path).map_err(|error| {
        Error::NoDatabase(attempt.text(error, "check that the file exists and that its name is correct"))
    })?;
    Ok((found.dev(), found.ino()))
}

/// Nothing is fetched from anywhere, whatever a statement asks for.
fn configured(access: Access) -> ::duckdb::Result<Config> {
    let mode = match access {
        Access::Write => AccessMode::ReadWrite,
        Access::Read => AccessMode::ReadOnly,
    };
    Config::default().enable_autoload_extension(false)?.access_mode(mode)
}
