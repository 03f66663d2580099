//! A file that has its name only when it is whole.
//!
//! While it is written it has no name where the file system knows such files, and else one that nobody can foresee. It gets
//! its final name in one step: a new name if that is free, or the place of a regular file.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::directory::{REMOVING, lacks_unnamed, secret_name, secret_name_begins};
use crate::{Directory, Identity, Made};

/// Purpose of the name that a draft may have for a moment.
const NEW: &str = "new";

/// A file that is being written. If it is dropped before it has its name, nothing is left of it.
#[derive(Debug)]
pub struct Draft {
    directory: Directory,
    file: File,
    /// Where it had to have a name.
    named: Option<(OsString, Made)>,
}

impl Draft {
    /// Begins one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn begin(directory: &Directory) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        // Without /proc such a file could not be given a name.
        let unnamed = match std::fs::exists("/proc/self/fd") {
            Ok(true) => rustix::fs::openat(directory, ".", flags, Mode::from_raw_mode(0o666)),
            _ => Err(Errno::NOSYS),
        };
        match unnamed {
            Ok(handle) => Ok(Self { directory: directory.clone(), file: File::from(handle), named: None }),
            Err(error) if lacks_unnamed(error) => Self::begin_named(directory),
            Err(error) => Err(error.into()),
        }
    }

    fn begin_named(directory: &Directory) -> io::Result<Self> {
        let name = secret_name(NEW)?;
        let (file, made) = directory.create_new(&name)?;
        Ok(Self { directory: directory.clone(), file, named: Some((name, made)) })
    }

    /// The file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it a name that nothing has. What is to survive a crash is synced before.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn name(mut self, name: &OsStr) -> io::Result<Made> {
        self.give(name)?;
        self.named = None;
        Made::new(&self.directory, name.to_owned(), &self.file)
    }

    /// Gives it a name, which a regular file may have that is replaced in one step; anything else stays and is an error.
    ///
    /// # Errors
    /// Those of the system, and [`crate::NotPlain`] for what cannot be replaced.
    pub fn replace(mut self, name: &OsStr) -> io::Result<Made> {
        match self.give(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            given => {
                given?;
                self.named = None;
                return Made::new(&self.directory, name.to_owned(), &self.file);
            }
        }
        if self.named.is_none() {
            let between = secret_name(NEW)?;
            self.give(&between)?;
            self.named = Some((between.clone(), Made::new(&self.directory, between, &self.file)?));
        }
        if let Some((between, _)) = &self.named {
            self.directory.take_the_place(between, name)?;
        }
        self.named = None;
        Made::new(&self.directory, name.to_owned(), &self.file)
    }

    fn give(&mut self, name: &OsStr) -> io::Result<()> {
        if let Some((now, _)) = &self.named {
            return self.directory.rename(now, name);
        }
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        // The name of an entry is checked where it is looked at.
        self.directory.look(name)?;
        match rustix::fs::linkat(CWD, path, &self.directory, name, AtFlags::SYMLINK_FOLLOW) {
            // The file system has files without names and gives them none, or a filter of system calls does not let it.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOENT | Errno::XDEV | Errno::INVAL) => {
                self.copy_to_named()?;
                self.give(name)
            }
            given => Ok(given?),
        }
    }

    /// Goes on with a copy under a name that nobody can foresee.
    fn copy_to_named(&mut self) -> io::Result<()> {
        let mut copy = Self::begin_named(&self.directory)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut copy.file)?;
        copy.file.sync_all()?;
        self.named = copy.named.take();
        std::mem::swap(&mut self.file, &mut copy.file);
        Ok(())
    }
}

impl Directory {
    /// Makes a file with this content, synced, in one step; whatever has its name stays. After a kill at any moment it is
    /// there whole, or not at all.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn create_whole(&self, name: &OsStr, content: &[u8]) -> io::Result<Identity> {
        let mut draft = Draft::begin(self)?;
        draft.file().write_all(content)?;
        draft.file().sync_all()?;
        Ok(draft.name(name)?.into_identity())
    }

    /// Removes the files that programs left under a name of a moment, because they were killed in that moment. Only a file that has had
    /// its name for at least `age` is removed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove_abandoned(&self, age: Duration) -> io::Result<()> {
        let begins = [NEW, REMOVING].map(secret_name_begins);
        for name in self.names()? {
            let is_of_a_moment = begins.iter().any(|begin| name.to_string_lossy().starts_with(begin));
            let Some(seen) = self.look(&name)?.filter(|seen| is_of_a_moment && seen.is_regular()) else {
                continue;
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            if now.saturating_sub(seen.changed()?) >= age {
                self.remove(&name, &seen).map(drop)?;
            }
        }
        Ok(())
    }
}

impl Drop for Draft {
    /// What cannot be removed stays under a name that says whose it is.
    fn drop(&mut self) {
        if let Some((_, made)) = self.named.take() {
            let _ = made.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn drafts(place: &tempfile::TempDir) -> [Draft; 2] {
        let directory = Directory::open(place.path()).unwrap();
        [Draft::begin(&directory).unwrap(), Draft::begin_named(&directory).unwrap()].map(|mut draft| {
            draft.file().write_all(b"ours").unwrap();
            draft
        })
    }

    fn visible(place: &tempfile::TempDir) -> Vec<OsString> {
        Directory::open(place.path()).unwrap().names().unwrap()
    }

    #[test]
    fn a_draft_has_its_name_only_when_it_is_whole() {
        let place = tempfile::tempdir().unwrap();
        for (draft, name) in drafts(&place).into_iter().zip(["a", "b"]) {
            assert!(!place.path().join(name).exists());
            draft.name(OsStr::new(name)).unwrap();
            assert_eq!(fs::read(place.path().join(name)).unwrap(), b"ours");
        }
        assert_eq!(visible(&place), ["a", "b"]);
    }

    #[test]
    fn a_file_is_there_whole_and_takes_nobodys_name() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let name = OsStr::new("a");
        let identity = directory.create_whole(name, b"ours").unwrap();
        assert_eq!(directory.look(name).unwrap(), Some(identity));
        fs::write(place.path().join("a"), "theirs").unwrap();
        let taken = directory.create_whole(name, b"ours").unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(place.path().join("a")).unwrap(), b"theirs");
        assert_eq!(visible(&place), ["a"], "nothing else is left");
    }

    #[test]
    fn a_draft_that_cannot_be_linked_is_copied() {
        let place = tempfile::tempdir().unwrap();
        let [mut draft, _] = drafts(&place);
        draft.copy_to_named().unwrap();
        draft.name(OsStr::new("a")).unwrap();
        assert_eq!(fs::read(place.path().join("a")).unwrap(), b"ours");
        assert_eq!(visible(&place), ["a"]);
    }

    #[test]
    fn only_an_abandoned_draft_that_is_old_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let kept = [".prony-other-1", "server.json", "theirs.prony-new-1"];
        for name in [".prony-new-1", ".prony-removing-1"].iter().chain(&kept) {
            fs::write(place.path().join(name), "ours").unwrap();
        }
        fs::create_dir(place.path().join(".prony-new-2")).unwrap();
        directory.remove_abandoned(Duration::from_secs(3600)).unwrap();
        assert_eq!(visible(&place).len(), 6);
        directory.remove_abandoned(Duration::ZERO).unwrap();
        assert_eq!(visible(&place), [".prony-new-2", ".prony-other-1", "server.json", "theirs.prony-new-1"]);
    }

    #[test]
    fn a_draft_that_is_dropped_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        drop(drafts(&place));
        assert!(visible(&place).is_empty());
    }

    #[test]
    fn a_name_that_is_taken_stays_with_who_has_it() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a"), "theirs").unwrap();
        for draft in drafts(&place) {
            assert_eq!(draft.name(OsStr::new("a")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(place.path().join("a")).unwrap(), b"theirs");
        assert_eq!(visible(&place), ["a"]);
    }

    /// Whatever had the final name was replaced: a link, a FIFO, a device node.
    #[test]
    fn only_a_regular_file_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("precious"), "theirs").unwrap();
        fs::write(place.path().join("file"), "old").unwrap();
        symlink("precious", place.path().join("link")).unwrap();
        rustix::fs::mkfifoat(CWD, place.path().join("fifo"), Mode::RWXU).unwrap();
        for (name, word) in [("link", "it is a link"), ("fifo", "it is a FIFO")] {
            for draft in drafts(&place) {
                let error = draft.replace(OsStr::new(name)).unwrap_err().to_string();
                assert!(error.contains(word), "{error}");
            }
        }
        for draft in drafts(&place) {
            draft.replace(OsStr::new("file")).unwrap();
            assert_eq!(fs::read(place.path().join("file")).unwrap(), b"ours");
        }
        assert_eq!(fs::read(place.path().join("precious")).unwrap(), b"theirs");
        assert_eq!(visible(&place), ["fifo", "file", "link", "precious"]);
    }
}
