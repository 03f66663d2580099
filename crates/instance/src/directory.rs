//! The directory of a server: its data, its socket, its log. Removed when it is dropped.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::user::User;
use crate::{InstanceError, Options};

/// Room for the longest name of a socket in it, `.s.PGSQL.65535`, within the 107 bytes that a socket's path may have.
const PATH_BYTES_MAX: usize = 90;
const LOG_LINES: usize = 15;

/// Of one server.
#[derive(Debug)]
pub(crate) struct Directory {
    directory: TempDir,
    user: Option<User>,
}

impl Directory {
    pub(crate) fn make(options: &Options, user: Option<User>) -> Result<Self, InstanceError> {
        let parent = options.parent();
        let made = tempfile::Builder::new().prefix("prony-").tempdir_in(&parent);
        let directory = made.map_err(InstanceError::file("make a directory in", parent))?;
        let path = directory.path().to_owned();
        if path.as_os_str().as_bytes().len() > PATH_BYTES_MAX {
            return Err(InstanceError::PathTooLong { path });
        }
        let made = Self { directory, user };
        made.give_away(&path)?;
        Ok(made)
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn user(&self) -> Option<User> {
        self.user
    }

    /// Writes a file that the server may read and others may not.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, InstanceError> {
        let path = self.path().join(name);
        std::fs::write(&path, text).map_err(InstanceError::file("write", &path))?;
        self.give_away(&path)?;
        Ok(path)
    }

    /// Makes a directory in it that belongs to the server.
    pub(crate) fn subdirectory(&self, path: &Path) -> Result<(), InstanceError> {
        std::fs::create_dir(path).map_err(InstanceError::file("make", path))?;
        self.give_away(path)
    }

    /// The log, to write to its end. It is ours: the server only gets it as its output.
    pub(crate) fn open_log(&self) -> Result<File, InstanceError> {
        let path = self.log();
        let opened = File::options().create(true).append(true).open(&path);
        opened.map_err(InstanceError::file("open", path))
    }

    /// Last lines of what the server and the programs around it have said.
    pub(crate) fn log_tail(&self) -> String {
        let text = std::fs::read(self.log()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        match lines.len() {
            0 => "(it is empty)".to_owned(),
            count => lines[count.saturating_sub(LOG_LINES)..].join("\n"),
        }
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path().join("log")
    }

    fn give_away(&self, path: &Path) -> Result<(), InstanceError> {
        let Some(user) = self.user else { return Ok(()) };
        std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid))
            .map_err(InstanceError::file("change the owner of", path))
    }
}
