//! Files that are there whole or not at all: written without a name, which they get in one step.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::file::{entry, rename};
use crate::{Directory, Identity, RunId};

impl Directory {
    /// Makes a file with this content, synced, in one step; whatever has its name stays. After a kill at any moment it is
    /// there whole, or not at all.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn create_whole(&self, name: &OsStr, content: &[u8]) -> io::Result<Identity> {
        match self.nameless() {
            Ok(mut file) => {
                file.write_all(content)?;
                file.sync_all()?;
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                match rustix::fs::linkat(CWD, path, self, entry(name)?, AtFlags::SYMLINK_FOLLOW) {
                    Ok(()) => Identity::of(file.as_fd()),
                    // There is no /proc, or the file system takes no such links.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        self.create_named(name, content)
                    }
                    Err(error) => Err(error.into()),
                }
            }
            Err(_) => self.create_named(name, content),
        }
    }

    /// A file that has no name and vanishes with its last handle. Not every file system has such files.
    fn nameless(&self) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(self, ".", flags, Mode::from_raw_mode(0o666))?))
    }

    /// The same by way of a name that nobody can guess.
    fn create_named(&self, name: &OsStr, content: &[u8]) -> io::Result<Identity> {
        let (mut file, made) = self.create_new(&OsString::from(format!(".prony-new-{}", RunId::new()?)))?;
        let written = file.write_all(content).and_then(|()| file.sync_all());
        if let Err(error) = written.and_then(|()| rename(self, made.name(), entry(name)?)) {
            // A half file is of no use to anyone.
            let _ = made.remove()?;
            return Err(error);
        }
        Identity::of(file.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_there_whole_and_takes_nobodys_name() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        type Create = fn(&Directory, &OsStr, &[u8]) -> io::Result<Identity>;
        for (name, create) in
            [("nameless", Directory::create_whole as Create), ("named", Directory::create_named)]
        {
            let name = OsStr::new(name);
            let identity = create(&directory, name, b"ours").unwrap();
            assert_eq!(directory.look(name).unwrap().as_ref(), Some(&identity));
            fs::write(place.path().join(name), "theirs").unwrap();
            let taken = create(&directory, name, b"ours").unwrap_err();
            assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(place.path().join(name)).unwrap(), "theirs");
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing else is left");
    }
}
