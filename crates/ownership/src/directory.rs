//! A directory that is held open: what is in it is looked at, read, made and removed without following a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use crate::{Identity, Kind, Made, NotPlain, Removal, RunId};

/// A directory that is held open: whatever becomes of its name, what is made in it is made in this one.
#[derive(Clone, Debug)]
pub struct Directory {
    handle: Arc<OwnedFd>,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory that the user named; links on the way are the user's own.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match rustix::fs::open(path, OFlags::RDONLY | flags, Mode::empty()) {
            // One that takes files and shows none: a mere place does to make something in it.
            Err(Errno::ACCESS) => rustix::fs::open(path, OFlags::PATH | flags, Mode::empty()),
            opened => opened,
        };
        Ok(Self::held(handle?, path.to_owned()))
    }

    /// The same one under the name that it has now.
    pub(crate) fn at(&self, path: PathBuf) -> Self {
        Self { handle: Arc::clone(&self.handle), path }
    }

    pub(crate) fn held(handle: OwnedFd, path: PathBuf) -> Self {
        Self { handle: Arc::new(handle), path }
    }

    /// The directory that a path's last part is in, and that part.
    ///
    /// # Errors
    /// Those of the system, and when the path names no entry of a directory (`/`, `..`).
    pub fn of(path: &Path) -> io::Result<(Self, OsString)> {
        let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok((Self::open(parent)?, name))
    }

    /// Where it was when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory in it. A link is none.
    ///
    /// # Errors
    /// Those of the system; [`NotPlain`] for what is no directory.
    pub fn below(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self.open_beneath(name, flags, Mode::empty()) {
            Ok(handle) => Ok(Self::held(handle, self.path.join(name))),
            // The system calls a link a directory that is none.
            Err(Errno::NOTDIR | Errno::LOOP) => Err(match self.look(name)?.map(|seen| seen.kind()) {
                Some(kind) if kind != Kind::Directory => {
                    let not_followed = format!("it is {kind} and no directory");
                    io::Error::new(io::ErrorKind::NotADirectory, not_followed)
                }
                _ => Errno::NOTDIR.into(),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens an entry of it, and nothing that a link or a mount leads to elsewhere.
    fn open_beneath(&self, name: &OsStr, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        entry(name)?;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        match rustix::fs::openat2(&self.handle, name, flags, mode, resolve) {
            // Kernels before 5.6, and filters of system calls. A single part without following does the same but for mounts.
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(&self.handle, name, flags, mode),
            opened => opened,
        }
    }

    /// Names of what is in it, sorted.
    ///
    /// # Errors
    /// Those of the system.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens a regular file in it for reading. A link is not followed, a FIFO not waited for, a device not touched.
    ///
    /// # Errors
    /// Those of the system, and [`NotPlain`].
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let seen = self.look(name)?.ok_or(Errno::NOENT)?;
        seen.plain()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        seen.same(self.open_beneath(name, flags, Mode::empty())?)
    }

    /// What is in a regular file in it.
    ///
    /// # Errors
    /// Those of [`Self::open_file`].
    pub fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.open_file(name)?.read_to_end(&mut content)?;
        Ok(content)
    }

    /// Makes an empty file for reading and writing. Whatever has the name, be it a link to nowhere, is an error.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn create_new(&self, name: &OsStr) -> io::Result<(File, Made)> {
        self.create_with(name, OFlags::empty(), Mode::from_raw_mode(0o666))
    }

    /// [`Self::create_new`], of a file that no other user may read.
    ///
    /// # Errors
    /// As there.
    pub fn create_private(&self, name: &OsStr) -> io::Result<(File, Made)> {
        self.create_with(name, OFlags::empty(), Mode::RUSR | Mode::WUSR)
    }

    /// [`Self::create_new`], of a file that only grows.
    ///
    /// # Errors
    /// As there.
    pub fn create_growing(&self, name: &OsStr) -> io::Result<(File, Made)> {
        self.create_with(name, OFlags::APPEND, Mode::from_raw_mode(0o666))
    }

    fn create_with(&self, name: &OsStr, further: OFlags, mode: Mode) -> io::Result<(File, Made)> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(self.open_beneath(name, flags | further, mode)?);
        let made = Made::new(self, name.to_owned(), &file)?;
        Ok((file, made))
    }

    /// A file of this file system that never has a name, and so vanishes with the process, however that ends. Where the file
    /// system knows no such files it has one for a moment that nobody can foresee.
    ///
    /// # Errors
    /// Those of the system.
    pub fn unnamed(&self) -> io::Result<File> {
        let mode = Mode::RUSR | Mode::WUSR;
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::EXCL | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, ".", flags, mode) {
            Ok(handle) => return Ok(File::from(handle)),
            Err(error) if !lacks_unnamed(error) => return Err(error.into()),
            Err(_) => {}
        }
        let (file, made) = self.create_private(&secret_name("unnamed")?)?;
        match made.remove()? {
            Removal::Removed | Removal::Gone => Ok(file),
            Removal::Another => Err(io::Error::other("another file took its name while it was made")),
        }
    }

    /// What has a name now, held so that its number is not given again; a link stands for itself. None if nothing has it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn look(&self, name: &OsStr) -> io::Result<Option<Identity>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, entry(name)?, flags, Mode::empty()) {
            Ok(handle) => Identity::held(handle).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an entry another name in this directory, unless that is taken.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        rename(&self.handle, entry(from)?, entry(to)?)
    }

    /// Puts a file of ours in the place of a regular file; anything else that has the name stays.
    pub(crate) fn take_the_place(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.look(to)? {
            Some(seen) if !seen.is_regular() => Err(NotPlain(seen.kind()).into()),
            _ => Ok(rustix::fs::renameat(&self.handle, entry(from)?, &self.handle, entry(to)?)?),
        }
    }

    /// Removes what has a name if it is `identity`, and nothing else: it is renamed first, looked at under a name that nobody
    /// else knows, and given its name back if it is another.
    ///
    /// # Errors
    /// Those of the system. What was to be removed is then there still, under its own name or the one that is told.
    pub fn remove(&self, name: &OsStr, identity: &Identity) -> io::Result<Removal> {
        self.remove_with(name, identity, AtFlags::empty())
    }

    /// [`Self::remove`] of a directory, if it is empty.
    pub(crate) fn remove_empty(&self, name: &OsStr, identity: &Identity) -> io::Result<Removal> {
        self.remove_with(name, identity, AtFlags::REMOVEDIR)
    }

    fn remove_with(&self, name: &OsStr, identity: &Identity, flags: AtFlags) -> io::Result<Removal> {
        match self.look(name)? {
            None => return Ok(Removal::Gone),
            Some(now) if now != *identity => return Ok(Removal::Another),
            Some(_) => {}
        }
        let aside = secret_name(REMOVING)?;
        rename(&self.handle, entry(name)?, &aside)?;
        let is_it = self.look(&aside)?.is_some_and(|now| now == *identity);
        let removed = is_it.then(|| rustix::fs::unlinkat(&self.handle, aside.as_os_str(), flags));
        match removed {
            Some(Ok(())) => Ok(Removal::Removed),
            Some(Err(error)) => {
                give_back(&self.handle, &aside, name)?;
                Err(error.into())
            }
            None => give_back(&self.handle, &aside, name).map(|()| Removal::Another),
        }
    }

    /// Waits until the names in it are on stable storage; syncing a file does not sync its name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.handle)?)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Whether a file system said that it has no files without names; old kernels take the flag for that of a directory.
pub(crate) fn lacks_unnamed(error: Errno) -> bool {
    matches!(error, Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL | Errno::NOSYS)
}

/// A name that nobody can foresee, and so nobody can plant anything under.
pub(crate) fn secret_name(purpose: &str) -> io::Result<OsString> {
    Ok(OsString::from(format!("{}{}", secret_name_begins(purpose), RunId::new()?)))
}

/// How [`secret_name`] begins.
pub(crate) fn secret_name_begins(purpose: &str) -> String {
    format!(".prony-{purpose}-")
}

/// Purpose of the name that something has for a moment before it is removed.
pub(crate) const REMOVING: &str = "removing";

/// A name of an entry, and not a path that leads elsewhere.
fn entry(name: &OsStr) -> Result<&OsStr, Errno> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(name),
        _ => Err(Errno::INVAL),
    }
}

/// Gives something its name back, or says what it is called.
fn give_back(directory: &OwnedFd, aside: &OsStr, name: &OsStr) -> io::Result<()> {
    rename(directory, aside, name).map_err(|error| {
        let (aside, name) = (Path::new(aside).display(), Path::new(name).display());
        io::Error::new(error.kind(), format!("{error}; what was called {name} is called {aside} there now"))
    })
}

/// Renames, unless the new name is taken. File systems over a network may not know how to; then there is a moment between
/// looking and renaming.
fn rename(directory: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::statat(directory, to, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => Ok(rustix::fs::renameat(directory, from, directory, to)?),
                Err(error) => Err(error.into()),
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            }
        }
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
