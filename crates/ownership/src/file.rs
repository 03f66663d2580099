//! Which file something is: known by its inode, whatever names it has, and removed only while it is still the same.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::Directory;

/// What something is that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file with bytes in it.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A named pipe, which an open may wait for.
    Fifo,
    /// A socket.
    Socket,
    /// A device that takes bytes.
    CharacterDevice,
    /// A device that takes blocks.
    BlockDevice,
    /// What this program does not know.
    Unknown,
}

impl Kind {
    /// That of a mode as the system has it.
    pub(crate) fn of_mode(mode: u32) -> Self {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice => Self::CharacterDevice,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a link",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::CharacterDevice => "a character device",
            Self::BlockDevice => "a block device",
            Self::Unknown => "something unknown",
        })
    }
}

/// Something that stands where only a regular file may be read or replaced. It was not opened and is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is {0} and no regular file")]
pub struct NotPlain(pub Kind);

impl From<NotPlain> for io::Error {
    fn from(error: NotPlain) -> Self {
        // To whoever knows kinds only, something else has the name.
        Self::new(io::ErrorKind::AlreadyExists, error)
    }
}

/// Opens a file that the user named, to read it. Links are the user's own; what is no regular file is refused at once, and a
/// FIFO is not waited for.
///
/// # Errors
/// Those of the system, and [`NotPlain`].
pub fn open_plain(path: &Path) -> io::Result<File> {
    let place = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let seen = Identity::held(place)?;
    seen.plain()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    seen.same(rustix::fs::open(path, flags, Mode::empty())?)
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
    kind: Kind,
    owner: u32,
    /// Keeps the inode from being given to another file.
    handle: OwnedFd,
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

    pub(crate) fn held(handle: OwnedFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(&handle)?;
        let kind = Kind::of_mode(stat.st_mode);
        Ok(Self { device: stat.st_dev, inode: stat.st_ino, kind, owner: stat.st_uid, handle })
    }

    /// Whether it is a file, and no directory, link, device, socket or pipe.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.kind == Kind::File
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Number of the device that it is on.
    #[must_use]
    pub fn device(&self) -> u64 {
        self.device
    }

    /// Its inode, as `/proc/PID/maps` has it too.
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Time from 1970 to the last change of its content, name or rights.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn changed(&self) -> io::Result<Duration> {
        let stat = rustix::fs::fstat(&self.handle)?;
        Ok(Duration::from_secs(u64::try_from(stat.st_ctime).unwrap_or(0)))
    }

    /// Number of the user whose it was when it was looked at.
    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    /// Whether both belonged to the same user when they were looked at.
    #[must_use]
    pub fn has_owner_of(&self, other: &Self) -> bool {
        self.owner == other.owner
    }

    /// Refuses all but regular files.
    pub(crate) fn plain(&self) -> Result<(), NotPlain> {
        if self.is_regular() { Ok(()) } else { Err(NotPlain(self.kind)) }
    }

    /// What was opened, if it is what was looked at before.
    pub(crate) fn same(&self, opened: OwnedFd) -> io::Result<File> {
        let stat = rustix::fs::fstat(&opened)?;
        if (stat.st_dev, stat.st_ino) == (self.device, self.inode) {
            return Ok(File::from(opened));
        }
        Err(io::Error::other("another file took its name while it was opened"))
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
    pub(crate) fn new(directory: &Directory, name: OsString, file: &File) -> io::Result<Self> {
        Ok(Self { directory: directory.clone(), name, identity: Identity::of(file.as_fd())? })
    }

    /// Which file it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The same, for whoever will look at the name themselves.
    pub(crate) fn into_identity(self) -> Identity {
        self.identity
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
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A FIFO that nobody writes to was waited for, and a terminal or a device would have been opened.
    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        rustix::fs::mkfifoat(CWD, path("fifo"), Mode::RWXU).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (name, word) in
            [("fifo", "a FIFO"), ("socket", "a socket"), (".", "a directory"), ("/dev/null", "a character")]
        {
            let error = open_plain(&path(name)).unwrap_err();
            assert!(error.to_string().contains(word), "{name}: {error}");
        }
        drop(socket);
        fs::write(path("file"), "text").unwrap();
        symlink("file", path("link")).unwrap();
        assert_eq!(io::read_to_string(open_plain(&path("link")).unwrap()).unwrap(), "text");
    }
}
