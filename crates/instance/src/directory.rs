//! The directories of a server: its home with its socket and what it says, and the places of its data. Removed when they are
//! dropped.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ownership::MadeDirectory;

use crate::placement::{KnownPlacement, Placement};
use crate::power::KnownDirectory;
use crate::process::passable;
use crate::user::User;
use crate::{Entry, InstanceError, Options, make_directory};

/// Room for the longest name of a socket in it, `.s.PGSQL.65535`, within the 107 bytes that a socket's path may have.
const PATH_BYTES_MAX: usize = 90;
const LOG_LINES: usize = 15;
const LOG: &str = "log";
/// Name of the data in it.
pub(crate) const DATA: &str = "data";

/// Of one server. The server may change all that is in it, so that nothing there is opened by following a link.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) placement: Placement,
    made: MadeDirectory,
    user: Option<User>,
    /// Ours: the server only gets it as its output.
    log: File,
    /// Whether it stays when this is dropped.
    is_kept: bool,
}

impl Directory {
    /// What is stored of the server, if anything is, has each directory before it is there.
    pub(crate) fn make(
        options: &Options,
        user: Option<User>,
        mut entry: Option<&mut Entry>,
    ) -> Result<Self, InstanceError> {
        let made = make_directory(entry.as_deref_mut(), &options.parent())?;
        let path = made.directory().path().to_owned();
        let log = made.directory().create_growing(OsStr::new(LOG));
        let (log, _) = log.map_err(InstanceError::file("make", path.join(LOG)))?;
        let mut made = Self { placement: Placement::default(), made, user, log, is_kept: false };
        if path.as_os_str().as_bytes().len() > PATH_BYTES_MAX {
            return Err(InstanceError::PathTooLong { path });
        }
        made.give_away(made.made.directory(), &path)?;
        passable(&path, user)?;
        made.placement = Placement::make(made.made.directory(), user, options, entry)?;
        Ok(made)
    }

    /// Leaves it when this is dropped.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    pub(crate) fn path(&self) -> &Path {
        self.home().path()
    }

    /// Lets go of all that is held of it, and removes nothing.
    pub(crate) fn let_go(mut self) -> Result<KnownHome, InstanceError> {
        let (home, user) = (KnownDirectory::of(&self.made)?, self.user);
        let placement = std::mem::take(&mut self.placement).let_go()?;
        self.keep();
        Ok(KnownHome { home, placement, user })
    }

    /// Held.
    pub(crate) fn home(&self) -> &ownership::Directory {
        self.made.directory()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(DATA)
    }

    pub(crate) fn user(&self) -> Option<User> {
        self.user
    }

    /// Writes a file that the server may read and others may not.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, InstanceError> {
        let path = self.path().join(name);
        let made = self.made.directory().create_private(OsStr::new(name));
        let (mut file, _) = made.map_err(InstanceError::file("make", &path))?;
        file.write_all(text.as_bytes()).map_err(InstanceError::file("write", &path))?;
        self.give_away(&file, &path)?;
        Ok(path)
    }

    /// Makes a directory in it that the server may change.
    pub(crate) fn make_in(&self, name: &str) -> Result<ownership::Directory, InstanceError> {
        let path = self.path().join(name);
        let made =
            self.made.directory().make(OsStr::new(name)).map_err(InstanceError::file("make", &path))?;
        self.give_away(made.directory(), &path)?;
        Ok(made.directory().clone())
    }

    /// Makes a file of our own in it that only grows.
    pub(crate) fn make_growing(&self, name: &str) -> Result<File, InstanceError> {
        let made = self.made.directory().create_growing(OsStr::new(name));
        made.map(|(file, _)| file).map_err(InstanceError::file("make", self.path().join(name)))
    }

    /// The log, to write to its end.
    pub(crate) fn open_log(&self) -> Result<File, InstanceError> {
        self.log.try_clone().map_err(InstanceError::file("open", self.log()))
    }

    /// Last lines of what the server and the programs around it have said.
    pub(crate) fn log_tail(&self) -> String {
        let text = self.made.directory().read(OsStr::new(LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        match lines.len() {
            0 => "(it is empty)".to_owned(),
            count => lines[count.saturating_sub(LOG_LINES)..].join("\n"),
        }
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path().join(LOG)
    }

    fn give_away(&self, what: impl AsFd, path: &Path) -> Result<(), InstanceError> {
        give_to(self.user, what, path)
    }
}

/// The directories of a server that nobody holds.
#[derive(Debug)]
pub(crate) struct KnownHome {
    home: KnownDirectory,
    placement: KnownPlacement,
    user: Option<User>,
}

impl KnownHome {
    /// Holds them again. What the server has said may be gone, and begins anew: its user may have put something else in that place.
    pub(crate) fn hold(&self) -> Result<Directory, InstanceError> {
        let made = self.home.open()?;
        let home = made.directory();
        let fault = || InstanceError::file("make", home.path().join(LOG));
        if let Some(seen) = home.look(OsStr::new(LOG)).map_err(fault())? {
            // Another one that has the name by then is an error below.
            let _ = home.remove(OsStr::new(LOG), &seen).map_err(fault())?;
        }
        let (log, _) = home.create_growing(OsStr::new(LOG)).map_err(fault())?;
        let placement = self.placement.hold(home)?;
        Ok(Directory { placement, made, user: self.user, log, is_kept: false })
    }
}

/// Gives something to the user of a server, if it is not ours to run it.
pub(crate) fn give_to(user: Option<User>, what: impl AsFd, path: &Path) -> Result<(), InstanceError> {
    let Some(user) = user else { return Ok(()) };
    std::os::unix::fs::fchown(what, Some(user.uid), Some(user.gid))
        .map_err(InstanceError::file("change the owner of", path))
}

impl Directory {
    /// Removes everything, unless it is kept.
    ///
    /// # Errors
    /// Those of the system. What could not be removed is left.
    pub(crate) fn clear(&self) -> std::io::Result<()> {
        if self.is_kept {
            return Ok(());
        }
        self.placement.outer().chain([&self.made]).try_for_each(|made| made.remove_with_all().map(drop))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = self.clear();
    }
}
