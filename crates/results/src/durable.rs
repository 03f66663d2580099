//! Files that survive a crash: whole files replaced in one step, and files that grow by whole lines.
//!
//! Nothing here knows what the files mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Serialize;

/// A file or directory of the results that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}; {remedy}", path = path.display(), remedy = remedy(source.kind()))]
pub struct WriteError {
    /// What was being done to it: `write`, `create`, `sync`, …
    pub doing: &'static str,
    /// File or directory.
    pub path: PathBuf,
    /// What the operating system said.
    #[source]
    pub source: io::Error,
}

fn remedy(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull => "the disk is full: free some space there, or store the results elsewhere",
        ErrorKind::FileTooLarge => {
            "files may not become larger: raise the limit (`ulimit -f`), or store the results elsewhere"
        }
        ErrorKind::QuotaExceeded => "the quota is used up: free some space, or store the results elsewhere",
        ErrorKind::PermissionDenied => "make it writable for this user, or store the results elsewhere",
        ErrorKind::ReadOnlyFilesystem => "store the results on a file system that can be written",
        ErrorKind::NotFound => "something removed it while the study ran: run the study again",
        ErrorKind::WouldBlock => "another prony writes to it: wait for its end, or end it",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "something else has this name: remove it, or store the results elsewhere"
        }
        _ => "check the file system there, or store the results elsewhere",
    }
}

/// Adds to an operating system's error what was being done to which file.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError { doing, path, source }
}

/// Replaces a file in one step: after a crash it holds either the old content or the new one, never a part.
pub(crate) fn replace(directory: &Path, name: &str, content: &[u8]) -> Result<(), WriteError> {
    let path = directory.join(name);
    let temporary = directory.join(format!(".{name}.new"));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = replaced {
        // A half file is of no use to anyone, and on a full disk it takes what little there is.
        let _ = fs::remove_file(&temporary);
        return Err(failed("write", &path)(error));
    }
    sync_directory(directory)
}

/// [`replace`] with a value as indented JSON.
pub(crate) fn replace_json<T: Serialize>(directory: &Path, name: &str, value: &T) -> Result<(), WriteError> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|error| failed("write", &directory.join(name))(error.into()))?;
    text.push(b'\n');
    replace(directory, name, &text)
}

/// Makes a file in one step; whatever has its name stays. After a crash it is there whole, or not at all.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    let directory = directory_of(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.new", std::process::id()));
    let mut file = File::create_new(&temporary).map_err(failed("create", &temporary))?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| rename_to_new(&temporary, path)) {
        let _ = fs::remove_file(&temporary);
        return Err(failed("write", path)(error));
    }
    sync_directory(directory)
}

/// Renames, unless the new name is taken.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // File systems over a network may not know how to; then there is a moment between looking and renaming.
        Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => fs::rename(from, to),
        Err(Errno::INVAL | Errno::NOSYS) => Err(ErrorKind::AlreadyExists.into()),
        renamed => renamed.map_err(io::Error::from),
    }
}

/// The directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the entries of a directory durable; syncing a file does not sync its name.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), WriteError> {
    File::open(directory).and_then(|file| file.sync_all()).map_err(failed("sync", directory))
}

/// A file that grows by whole lines.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
    length_bytes: u64,
}

impl Lines {
    /// Creates the file, which must not exist.
    pub(crate) fn create(path: PathBuf) -> Result<Self, WriteError> {
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => Ok(Self { path, file, length_bytes: 0 }),
            Err(error) => Err(failed("create", &path)(error)),
        }
    }

    /// Appends one or several whole lines with one call, so that a crash of this program cuts none.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), WriteError> {
        debug_assert_eq!(lines.last(), Some(&b'\n'), "only whole lines are appended");
        if let Err(error) = self.file.write_all(lines) {
            // What a full disk took of the line would run into the next one.
            let _ = self.file.set_len(self.length_bytes);
            return Err(failed("append to", &self.path)(error));
        }
        self.length_bytes += lines.len() as u64;
        Ok(())
    }

    /// Appends a value as one line of JSON.
    pub(crate) fn append_json<T: Serialize>(&mut self, value: &T) -> Result<(), WriteError> {
        let mut line =
            serde_json::to_vec(value).map_err(|error| failed("append to", &self.path)(error.into()))?;
        line.push(b'\n');
        self.append(&line)
    }

    /// Waits until all lines are on stable storage.
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        self.file.sync_all().map_err(failed("sync", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A directory in which the next replacement of the named file meets a full disk.
    fn full_for(name: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        symlink("/dev/full", directory.path().join(format!(".{name}.new"))).unwrap();
        directory
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_says_what_to_do() {
        let directory = full_for("trial.json");
        fs::write(directory.path().join("trial.json"), "old").unwrap();
        let error = replace(directory.path(), "trial.json", b"new").unwrap_err().to_string();
        assert!(error.contains("trial.json: No space left on device"), "{error}");
        assert!(error.contains("the disk is full: free some space there"), "{error}");
        assert_eq!(fs::read_to_string(directory.path().join("trial.json")).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no half file is left behind");
    }

    #[test]
    fn a_new_file_takes_no_name_that_was_taken_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        fs::write(&path, "theirs").unwrap();
        let error = create(&path, b"ours").unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no half file is left behind");
    }

    #[test]
    fn a_line_on_a_full_disk_is_an_error_that_names_the_file() {
        let path = PathBuf::from("/dev/full");
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        let error = Lines { path, file, length_bytes: 0 }.append(b"{}\n").unwrap_err().to_string();
        assert!(error.starts_with("cannot append to /dev/full: No space left"), "{error}");
    }

    #[test]
    fn lines_never_touch_a_file_that_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("samples.ndjson");
        fs::write(&path, "theirs").unwrap();
        let error = Lines::create(path.clone()).unwrap_err().to_string();
        assert!(error.contains("something else has this name"), "{error}");
        assert_eq!(fs::read_to_string(path).unwrap(), "theirs");
    }
}
