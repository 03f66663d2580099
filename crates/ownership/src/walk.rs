//! The way to a directory, part by part, so that root follows no link that somebody else planted on it.
//!
//! As any other user every link is followed, as `open` does: whoever plants one there leads us to nothing but what we may
//! write anyway. Root may write everything.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::{Directory, Kind, MadeDirectory};

/// Links that the kernel follows on one way (path_resolution(7)).
const LINKS_MAX: u32 = 40;
const PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Why root does not write somewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTrusted {
    /// A link on the way is another user's.
    #[error(
        "the link {path} was made by user {owner}, who could lead root elsewhere by it: name the directory itself, or run \
         as that user", path = path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// The directory is another user's.
    #[error(
        "it belongs to user {owner}, who could change it while root writes there: run as that user, or copy it"
    )]
    Owner {
        /// Whose it is.
        owner: u32,
    },
    /// Other users may write to the directory.
    #[error(
        "other users may change it while root writes there (mode {mode:o}): run chmod go-w on it, or use a copy that only you can write"
    )]
    Mode {
        /// Bits of its mode.
        mode: u32,
    },
}

impl From<NotTrusted> for io::Error {
    fn from(error: NotTrusted) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, error)
    }
}

/// Opens a directory that exists. When we are root, no link is followed that another user made.
///
/// # Errors
/// Those of the system, and [`NotTrusted::Link`].
pub fn open_trusted(path: &Path) -> io::Result<Directory> {
    Ok(Walk::new(path).end(false)?.0)
}

/// Opens a directory and makes what of its path is not there. Also gives what was made, the outermost first.
///
/// # Errors
/// Those of the system, and [`NotTrusted::Link`].
pub fn make_path(path: &Path) -> io::Result<(Directory, Vec<MadeDirectory>)> {
    Walk::new(path).end(true)
}

impl Directory {
    /// When we are root: refuses a directory that another user could change while we write to it. A shared directory in which
    /// everybody may only change what is their own (the sticky bit) is none of those.
    ///
    /// # Errors
    /// [`NotTrusted`], or what the system says.
    pub fn refuse_if_shared(&self) -> io::Result<()> {
        let stat = rustix::fs::fstat(self)?;
        Ok(judge(rustix::process::geteuid().is_root(), stat.st_uid, stat.st_mode)?)
    }
}

fn judge(is_root: bool, owner: u32, mode: u32) -> Result<(), NotTrusted> {
    let mode = mode & 0o7777;
    let is_open = mode & 0o022 != 0 && mode & 0o1000 == 0;
    match is_root {
        true if owner != 0 => Err(NotTrusted::Owner { owner }),
        true if is_open => Err(NotTrusted::Mode { mode }),
        _ => Ok(()),
    }
}

/// A way that is walked.
struct Walk {
    /// The whole of it.
    path: PathBuf,
    /// Parts that are still to be walked.
    left: VecDeque<OsString>,
    /// Where it is; none at the beginning.
    at: Option<OwnedFd>,
    /// The same as a path, for messages and for what is made.
    at_path: PathBuf,
    links: u32,
    made: Vec<MadeDirectory>,
}

impl Walk {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            left: parts(path).collect(),
            at: None,
            at_path: PathBuf::new(),
            links: 0,
            made: Vec::new(),
        }
    }

    fn end(mut self, makes: bool) -> io::Result<(Directory, Vec<MadeDirectory>)> {
        if self.path.as_os_str().is_empty() {
            return Err(Errno::NOENT.into());
        }
        while let Some(part) = self.left.pop_front() {
            self.step(part, makes)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match &self.at {
            Some(at) => rustix::fs::openat(at, ".", flags, Mode::empty())?,
            None => rustix::fs::open(".", flags, Mode::empty())?,
        };
        Ok((Directory::held(handle, self.path), self.made))
    }

    fn step(&mut self, part: OsString, makes: bool) -> io::Result<()> {
        let opened = match &self.at {
            Some(at) => rustix::fs::openat(at, part.as_os_str(), PLACE | OFlags::NOFOLLOW, Mode::empty()),
            None => rustix::fs::openat(CWD, part.as_os_str(), PLACE | OFlags::NOFOLLOW, Mode::empty()),
        };
        let next = match opened {
            Err(Errno::NOENT) if makes && self.made_here(&part)? => return Ok(()),
            next => next?,
        };
        let stat = rustix::fs::fstat(&next)?;
        match Kind::of_mode(stat.st_mode) {
            Kind::Link => self.follow(&next, &part, stat.st_uid),
            _ => {
                self.at_path.push(&part);
                self.at = Some(next);
                Ok(())
            }
        }
    }

    /// Makes a directory that is not there.
    fn made_here(&mut self, part: &OsString) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match &self.at {
            Some(at) => rustix::fs::openat(at, ".", flags, Mode::empty())?,
            None => rustix::fs::open(".", flags, Mode::empty())?,
        };
        let made = match Directory::held(handle, self.at_path.clone()).make(part) {
            // Somebody was faster; what they made is looked at like anything else.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.left.push_front(part.clone());
                return Ok(true);
            }
            made => made?,
        };
        self.at = Some(rustix::io::fcntl_dupfd_cloexec(made.directory(), 0)?);
        self.at_path.push(part);
        self.made.push(made);
        Ok(true)
    }

    fn follow(&mut self, link: &OwnedFd, part: &OsString, owner: u32) -> io::Result<()> {
        let path = self.at_path.join(part);
        if rustix::process::geteuid().is_root() && owner != 0 {
            return Err(NotTrusted::Link { path, owner }.into());
        }
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Errno::LOOP.into());
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new())?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            self.at_path = PathBuf::new();
        }
        for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
            self.left.push_front(part);
        }
        Ok(())
    }
}

/// Parts of a path, each to be opened from where the ones before it led. What is empty or `.` leads nowhere.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{lchown, symlink};

    use super::*;

    fn inode(path: impl AsRef<Path>) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).unwrap().ino()
    }

    #[test]
    fn a_walk_ends_where_open_ends() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        symlink("../a", path("a/up")).unwrap();
        symlink(path("a"), path("absolute")).unwrap();
        for way in ["", "a", "a/b/..", "a/./b", "a/up/b", "absolute/up/up/b/", "a/up/../a"] {
            let walked = open_trusted(&path(way)).unwrap();
            assert_eq!(rustix::fs::fstat(&walked).unwrap().st_ino, inode(path(way)), "{way}");
        }
        for (way, kind) in [("none", io::ErrorKind::NotFound), ("a/none/b", io::ErrorKind::NotFound)] {
            assert_eq!(open_trusted(&path(way)).unwrap_err().kind(), kind);
        }
        fs::write(path("file"), "").unwrap();
        assert_eq!(open_trusted(&path("file")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        symlink("loop", path("loop")).unwrap();
        assert!(open_trusted(&path("loop")).is_err());
        assert_eq!(rustix::fs::fstat(open_trusted(Path::new(".")).unwrap()).unwrap().st_ino, inode("."));
        assert_eq!(rustix::fs::fstat(open_trusted(Path::new("/")).unwrap()).unwrap().st_ino, inode("/"));
    }

    #[test]
    fn what_of_a_path_is_not_there_is_made_and_told() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("a")).unwrap();
        let (directory, made) = make_path(&place.path().join("a/b/c")).unwrap();
        assert_eq!(directory.path(), place.path().join("a/b/c"));
        assert!(place.path().join("a/b/c").is_dir());
        assert_eq!(made.len(), 2);
        for one in made.iter().rev() {
            assert_eq!(one.remove_empty().unwrap(), crate::Removal::Removed);
        }
        assert!(place.path().join("a").is_dir() && !place.path().join("a/b").exists());
    }

    /// Root was led into a directory of its own by a link in a user's directory.
    #[test]
    fn root_follows_no_link_of_another_user() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("link");
        symlink("/", &link).unwrap();
        assert!(open_trusted(&link).is_ok(), "its own it follows");
        lchown(&link, Some(65534), Some(65534)).unwrap();
        for way in [link.clone(), link.join("tmp")] {
            let error = open_trusted(&way).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("was made by user 65534"), "{error}");
        }
    }

    #[test]
    fn only_root_minds_who_else_may_write() {
        for (is_root, owner, mode, is_trusted) in [
            (true, 0, 0o40755, true),
            (true, 0, 0o41777, true),
            (true, 0, 0o40775, false),
            (true, 0, 0o40777, false),
            (true, 1000, 0o40700, false),
            (false, 1000, 0o40777, true),
            (false, 0, 0o40755, true),
        ] {
            assert_eq!(judge(is_root, owner, mode).is_ok(), is_trusted, "{is_root} {owner} {mode:o}");
        }
    }
}
