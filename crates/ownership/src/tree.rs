//! Directories that this process made: removed again when they are empty, or with all that is in them, by their handles.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, Mode};

use crate::directory::{REMOVING, secret_name, secret_name_begins};
use crate::{Directory, Identity, Kind, Removal};

/// A directory that this process made, held open.
#[derive(Debug)]
pub struct MadeDirectory {
    parent: Directory,
    name: OsString,
    directory: Directory,
    identity: Identity,
}

impl Directory {
    /// Makes a directory in it, and holds it.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn make(&self, name: &OsStr) -> io::Result<MadeDirectory> {
        // Others may not write into what we make, whatever the mask of this process allows.
        self.make_with(name, Mode::from_raw_mode(0o755))
    }

    /// Makes a directory that no other user may enter, under a name that begins so and that nobody can foresee.
    ///
    /// # Errors
    /// Those of the system.
    pub fn make_private(&self, prefix: &str) -> io::Result<MadeDirectory> {
        self.make_private_as(&private_name(prefix)?)
    }

    /// [`Self::make_private`] under a name that [`private_name`] gave before.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn make_private_as(&self, name: &OsStr) -> io::Result<MadeDirectory> {
        self.make_with(name, Mode::RWXU)
    }

    /// Makes a directory under a name that nobody can foresee, to be given its own by [`MadeDirectory::rename`].
    ///
    /// # Errors
    /// Those of the system.
    pub fn make_draft(&self) -> io::Result<MadeDirectory> {
        self.make(&secret_name("new")?)
    }

    /// A directory in it that this program made before, if what has its name now is that one, by device and inode.
    ///
    /// # Errors
    /// Those of the system.
    pub fn made_before(&self, name: &OsStr, device: u64, inode: u64) -> io::Result<Option<MadeDirectory>> {
        let Some(seen) = self.look(name)? else { return Ok(None) };
        if seen.kind() != Kind::Directory || (seen.device(), seen.inode()) != (device, inode) {
            return Ok(None);
        }
        let directory = self.below(name)?;
        let identity = Identity::of(rustix::fd::AsFd::as_fd(&directory))?;
        // It may have got its name after it was looked at.
        let is_it = identity == seen;
        Ok(is_it.then(|| MadeDirectory { parent: self.clone(), name: name.to_owned(), directory, identity }))
    }

    /// A directory that [`Self::make_private_as`] was about to make when the program was killed, if it is there: ours, and empty.
    ///
    /// # Errors
    /// Those of the system.
    pub fn made_empty(&self, name: &OsStr) -> io::Result<Option<MadeDirectory>> {
        let Some(seen) = self.look(name)? else { return Ok(None) };
        let is_ours = seen.owner() == rustix::process::geteuid().as_raw();
        if !is_ours || seen.kind() != Kind::Directory || !self.below(name)?.names()?.is_empty() {
            return Ok(None);
        }
        self.made_before(name, seen.device(), seen.inode())
    }

    /// A directory that this program made before and was about to remove when it was killed: its name was another one by then.
    ///
    /// # Errors
    /// Those of the system.
    pub fn half_removed(&self, device: u64, inode: u64) -> io::Result<Option<MadeDirectory>> {
        let aside = secret_name_begins(REMOVING);
        for name in self.names()?.into_iter().filter(|name| name.to_string_lossy().starts_with(&aside)) {
            if let Some(made) = self.made_before(&name, device, inode)? {
                return Ok(Some(made));
            }
        }
        Ok(None)
    }

    fn make_with(&self, name: &OsStr, mode: Mode) -> io::Result<MadeDirectory> {
        if self.look(name)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        rustix::fs::mkdirat(self, name, mode)?;
        let opened = self.below(name).and_then(|directory| {
            let identity = Identity::of(rustix::fd::AsFd::as_fd(&directory))?;
            Ok((directory, identity))
        });
        let (directory, identity) = opened.inspect_err(|_| {
            // It is empty, or it stays; no handle is needed for that, of which there may be none left.
            let _ = rustix::fs::unlinkat(self, name, AtFlags::REMOVEDIR);
        })?;
        let made = MadeDirectory { parent: self.clone(), name: name.to_owned(), directory, identity };
        made.is_ours()?;
        Ok(made)
    }
}

/// A name that begins so and that nobody can foresee, for a directory that is stored before it is made.
///
/// # Errors
/// The system gives no random numbers.
pub fn private_name(prefix: &str) -> io::Result<OsString> {
    let id = crate::RunId::new()?;
    // 48 bits are enough for a name that is refused if it is taken; paths of sockets have a limit.
    Ok(format!("{prefix}{}", &id.as_str()[..12]).into())
}

impl MadeDirectory {
    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whoever may rename in the parent could have put a directory of theirs in its place before it was opened.
    fn is_ours(&self) -> io::Result<()> {
        let is_ours = self.identity.owner() == rustix::process::geteuid().as_raw();
        // Some file systems give everything to one user; what is in it was not there before us then either.
        if is_ours || self.directory.names()?.is_empty() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "somebody put another directory in its place"))
    }

    /// Gives it another name in the same directory, unless that is taken.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn rename(&mut self, name: &OsStr) -> io::Result<()> {
        self.parent.rename(&self.name, name)?;
        self.directory = self.directory.at(self.parent.path().join(name));
        name.clone_into(&mut self.name);
        Ok(())
    }

    /// Waits until its name is on stable storage.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync_name(&self) -> io::Result<()> {
        self.parent.sync()
    }

    /// Removes it if it is empty and still has its name.
    ///
    /// # Errors
    /// Those of the system, above all when something is in it; it is left then.
    pub fn remove_empty(&self) -> io::Result<Removal> {
        // Renaming it to and fro would be for nothing.
        if !self.directory.names()?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.parent.remove_empty(&self.name, &self.identity)
    }

    /// Removes all that is in it, and leaves it empty. Links in it are removed and not followed, mounts are left.
    ///
    /// # Errors
    /// Those of the system. What could not be removed is left.
    pub fn clear(&self) -> io::Result<()> {
        empty(&self.directory)
    }

    /// Removes all that is in it, and it. Links in it are removed and not followed, mounts are left.
    ///
    /// # Errors
    /// Those of the system. What could not be removed is left.
    pub fn remove_with_all(&self) -> io::Result<Removal> {
        empty(&self.directory)?;
        self.parent.remove_empty(&self.name, &self.identity)
    }
}

/// Removes everything below a directory that we made.
fn empty(directory: &Directory) -> io::Result<()> {
    for name in directory.names()? {
        // A server has a thousand files: each is removed by one call, and what is a directory says so.
        let removed = match rustix::fs::unlinkat(directory, Path::new(&name), AtFlags::empty()) {
            Err(rustix::io::Errno::ISDIR) => {
                empty(&directory.below(&name)?)?;
                rustix::fs::unlinkat(directory, Path::new(&name), AtFlags::REMOVEDIR)
            }
            removed => removed,
        };
        match removed {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn made(place: &tempfile::TempDir) -> MadeDirectory {
        Directory::open(place.path()).unwrap().make(OsStr::new("made")).unwrap()
    }

    #[test]
    fn an_empty_directory_of_ours_is_removed_and_a_full_one_is_left() {
        let place = tempfile::tempdir().unwrap();
        let made = made(&place);
        fs::write(place.path().join("made/theirs"), "precious").unwrap();
        assert_eq!(made.remove_empty().unwrap_err().kind(), io::ErrorKind::DirectoryNotEmpty);
        assert_eq!(fs::read(place.path().join("made/theirs")).unwrap(), b"precious");
        fs::remove_file(place.path().join("made/theirs")).unwrap();
        assert_eq!(made.remove_empty().unwrap(), Removal::Removed);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// `remove_dir_all` of a path would have emptied the directory that took the name.
    #[test]
    fn a_directory_that_took_its_name_is_left() {
        let place = tempfile::tempdir().unwrap();
        let made = made(&place);
        fs::rename(place.path().join("made"), place.path().join("moved")).unwrap();
        fs::create_dir(place.path().join("made")).unwrap();
        fs::write(place.path().join("made/theirs"), "precious").unwrap();
        fs::write(place.path().join("moved/ours"), "").unwrap();
        assert_eq!(made.remove_with_all().unwrap(), Removal::Another);
        assert_eq!(fs::read(place.path().join("made/theirs")).unwrap(), b"precious");
        assert!(!place.path().join("moved/ours").exists());
    }

    /// A mount was entered, and all that is in it removed.
    #[test]
    fn what_is_mounted_in_it_is_left() {
        let place = tempfile::tempdir().unwrap();
        let made = made(&place);
        let (theirs, mounted) = (place.path().join("theirs"), place.path().join("made/mounted"));
        fs::create_dir(&theirs).unwrap();
        fs::create_dir(&mounted).unwrap();
        fs::write(theirs.join("file"), "precious").unwrap();
        let mount = std::process::Command::new("mount").arg("--bind").args([&theirs, &mounted]).output();
        if !mount.is_ok_and(|output| output.status.success()) {
            eprintln!("not tried: a mount, which this user may not make");
            return;
        }
        let removed = made.remove_with_all();
        let unmounted = std::process::Command::new("umount").arg(&mounted).status();
        assert!(unmounted.unwrap().success());
        assert!(removed.is_err(), "{removed:?}");
        assert_eq!(fs::read(theirs.join("file")).unwrap(), b"precious");
    }

    #[test]
    fn links_in_it_are_removed_and_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("theirs"), "precious").unwrap();
        let made = made(&place);
        fs::create_dir_all(place.path().join("made/deep/deeper")).unwrap();
        symlink(elsewhere.path(), place.path().join("made/deep/link")).unwrap();
        assert_eq!(made.remove_with_all().unwrap(), Removal::Removed);
        assert_eq!(fs::read(elsewhere.path().join("theirs")).unwrap(), b"precious");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_draft_of_a_directory_takes_no_name_that_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        fs::create_dir(place.path().join("0001")).unwrap();
        let mut draft = directory.make_draft().unwrap();
        draft.directory().create_new(OsStr::new("trial.json")).unwrap();
        let error = draft.rename(OsStr::new("0001")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        draft.rename(OsStr::new("0002")).unwrap();
        assert_eq!(draft.directory().path(), place.path().join("0002"));
        assert_eq!(directory.names().unwrap(), ["0001", "0002"]);
    }

    /// A program was killed between two steps, and nobody knew the directory that it had made or had begun to remove.
    #[test]
    fn what_a_killed_program_was_about_to_make_or_remove_is_found() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let name = private_name("prony-").unwrap();
        assert!(directory.made_empty(&name).unwrap().is_none(), "not made yet");
        let made = directory.make_private_as(&name).unwrap();
        let (device, inode) = (made.identity.device(), made.identity.inode());
        let found = directory.made_empty(&name).unwrap().unwrap();
        assert_eq!(found.remove_empty().unwrap(), Removal::Removed);
        fs::create_dir(place.path().join(&name)).unwrap();
        fs::write(place.path().join(&name).join("theirs"), "precious").unwrap();
        assert!(directory.made_empty(&name).unwrap().is_none(), "something is in it");

        let made = directory.make_private("prony-").unwrap();
        let own = (made.identity.device(), made.identity.inode());
        assert!(directory.half_removed(own.0, own.1).unwrap().is_none(), "nobody removes it");
        let aside = secret_name(REMOVING).unwrap();
        directory.rename(&made.name, &aside).unwrap();
        let found = directory.half_removed(own.0, own.1).unwrap().unwrap();
        assert_eq!(found.remove_with_all().unwrap(), Removal::Removed);
        assert!(directory.half_removed(device, inode).unwrap().is_none());
    }

    /// Set in the environment of the process that this test starts of itself.
    const WITHOUT_HANDLES: &str = "PRONY_TEST_WITHOUT_HANDLES";

    /// A program that may open no more files made a directory, could not open it, and left it.
    #[test]
    fn a_directory_that_cannot_be_opened_is_not_left() {
        if let Some(place) = std::env::var_os(WITHOUT_HANDLES) {
            return make_with_few_handles(Path::new(&place));
        }
        let place = tempfile::tempdir().unwrap();
        let name = "tree::tests::a_directory_that_cannot_be_opened_is_not_left";
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -n 40 && exec \"$0\" --exact \"$1\" --nocapture"]);
        limited.arg(std::env::current_exe().unwrap()).arg(name).env(WITHOUT_HANDLES, place.path());
        let ended = limited.output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// Each number of free handles, from none on, fails at another step or succeeds.
    fn make_with_few_handles(place: &Path) {
        let directory = Directory::open(place).unwrap();
        for free in 0..8 {
            let mut taken: Vec<fs::File> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
            taken.truncate(taken.len() - free);
            let made = directory.make(OsStr::new("made"));
            assert!(free > 0 || made.is_err(), "no handle was left");
            drop(taken);
            if let Ok(made) = made {
                assert_eq!(made.remove_empty().unwrap(), Removal::Removed);
            }
            assert!(directory.names().unwrap().is_empty(), "with {free} handles");
        }
    }
}
