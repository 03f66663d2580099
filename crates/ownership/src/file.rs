//! Files in a directory that is held open: made without following a link, known by their inode, removed only while they are
//! still the same.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::RunId;

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
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { handle: Arc::new(handle), path: path.to_owned() })
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

    /// Makes an empty file for reading and writing. Whatever has the name, be it a link to nowhere, is an error.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn create_new(&self, name: &OsStr) -> io::Result<(File, Made)> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            File::from(rustix::fs::openat(&self.handle, entry(name)?, flags, Mode::from_raw_mode(0o666))?);
        let identity = Identity::of(file.as_fd())?;
        Ok((file, Made { directory: self.clone(), name: name.to_owned(), identity }))
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

    /// Removes what has a name if it is `identity`, and nothing else: it is renamed first, looked at under a name that nobody
    /// else knows, and given its name back if it is another.
    ///
    /// # Errors
    /// Those of the system. What was to be removed is then there still, under its own name or the one that is told.
    pub fn remove(&self, name: &OsStr, identity: &Identity) -> io::Result<Removal> {
        match self.look(name)? {
            None => return Ok(Removal::Gone),
            Some(now) if now != *identity => return Ok(Removal::Another),
            Some(_) => {}
        }
        let aside = OsString::from(format!(".prony-removing-{}", RunId::new()?));
        rename(self, entry(name)?, &aside)?;
        if self.look(&aside)?.is_some_and(|now| now == *identity) {
            rustix::fs::unlinkat(&self.handle, aside.as_os_str(), AtFlags::empty())?;
            return Ok(Removal::Removed);
        }
        rename(self, &aside, name)?;
        Ok(Removal::Another)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// A name of an entry, and not a path that leads elsewhere.
pub(crate) fn entry(name: &OsStr) -> io::Result<&OsStr> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(name),
        _ => Err(Errno::INVAL.into()),
    }
}

/// Renames, unless the new name is taken. File systems over a network may not know how to; then there is a moment between
/// looking and renaming.
pub(crate) fn rename(directory: &Directory, from: &OsStr, to: &OsStr) -> io::Result<()> {
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

/// What became of something that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Removal {
    /// It is gone.
    Removed,
    /// Somebody removed or renamed it before.
    Gone,
    /// Something else has its name, and is left as it is.
    Another,
}

/// Which file something is: its device and inode, held open so that the number is not given to another meanwhile. The handle
/// is a mere place (`O_PATH`): it reads nothing, waits for nothing, and closing it ends nobody's locks on the file.
#[derive(Debug)]
pub struct Identity {
    device: u64,
    inode: u64,
    is_regular: bool,
    _handle: OwnedFd,
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl Identity {
    /// That of an open file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(file: BorrowedFd<'_>) -> io::Result<Self> {
        use std::os::fd::AsRawFd as _;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
            Ok(handle) => Self::held(handle),
            // Without /proc: a second handle of the same file does as well for holding it.
            Err(_) => Self::held(rustix::io::fcntl_dupfd_cloexec(file, 0)?),
        }
    }

    fn held(handle: OwnedFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(&handle)?;
        let is_regular =
            rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino, is_regular, _handle: handle })
    }

    /// Whether it is a file, and no directory, link, device, socket or pipe.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.is_regular
    }
}

/// A file that this process made.
#[derive(Debug)]
pub struct Made {
    directory: Directory,
    name: OsString,
    identity: Identity,
}

impl Made {
    /// Its name in its directory.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Which file it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Removes it if it is still there under its name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove(&self) -> io::Result<Removal> {
        self.directory.remove(&self.name, &self.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn place() -> (tempfile::TempDir, Directory) {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        (place, directory)
    }

    fn names(place: &tempfile::TempDir) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_made_is_removed() {
        let (place, directory) = place();
        let (_, made) = directory.create_new(OsStr::new("a")).unwrap();
        assert_eq!(made.remove().unwrap(), Removal::Removed);
        assert_eq!(made.remove().unwrap(), Removal::Gone);
        assert!(names(&place).is_empty());
    }

    #[test]
    fn what_took_its_name_is_left() {
        let (place, directory) = place();
        let (_, made) = directory.create_new(OsStr::new("a")).unwrap();
        fs::write(place.path().join("b"), "theirs").unwrap();
        fs::rename(place.path().join("b"), place.path().join("a")).unwrap();
        assert_eq!(made.remove().unwrap(), Removal::Another);
        assert_eq!(fs::read_to_string(place.path().join("a")).unwrap(), "theirs");
        assert_eq!(names(&place), ["a"]);
    }

    #[test]
    fn no_link_is_followed_and_no_name_leads_elsewhere() {
        let (place, directory) = place();
        symlink("/no/such/file", place.path().join("link")).unwrap();
        let taken = directory.create_new(OsStr::new("link")).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert!(!directory.look(OsStr::new("link")).unwrap().unwrap().is_regular());
        for name in ["", ".", "..", "a/b", "../a", "/a", "a/"] {
            assert!(directory.create_new(OsStr::new(name)).is_err(), "{name:?}");
        }
        assert_eq!(names(&place), ["link"]);
    }

    #[test]
    fn a_directory_that_was_swapped_is_still_the_one_that_was_opened() {
        let outer = tempfile::tempdir().unwrap();
        let (inner, moved) = (outer.path().join("inner"), outer.path().join("moved"));
        fs::create_dir(&inner).unwrap();
        let directory = Directory::open(&inner).unwrap();
        fs::rename(&inner, &moved).unwrap();
        fs::create_dir(&inner).unwrap();
        directory.create_new(OsStr::new("a")).unwrap();
        assert!(moved.join("a").exists() && !inner.join("a").exists());
    }
}
