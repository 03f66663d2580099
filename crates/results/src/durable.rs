//! Files that survive a crash: whole files replaced in one step, and files that grow by whole lines.
//!
//! Nothing here knows what the files mean.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use ownership::{Directory, Draft, Made, NotTrusted};
use serde::Serialize;

/// A file or directory of the results that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}{remedy}", path = path.display(), remedy = remedy(doing, source))]
pub struct WriteError {
    /// What was being done to it: `write`, `create`, `sync`, …
    pub doing: &'static str,
    /// File or directory.
    pub path: PathBuf,
    /// What the operating system said.
    #[source]
    pub source: io::Error,
}

/// What is done first of all, before anything of a study could be removed.
pub(crate) const BEGIN: &str = "make the directory";

fn remedy(doing: &str, error: &io::Error) -> &'static str {
    if error.get_ref().is_some_and(|error| error.is::<NotTrusted>()) {
        // It says what to do itself.
        return "";
    }
    match error.kind() {
        ErrorKind::StorageFull => "; the disk is full: free some space there, or store the results elsewhere",
        ErrorKind::FileTooLarge => {
            "; files may not become larger: raise the limit (`ulimit -f`), or store the results elsewhere"
        }
        ErrorKind::QuotaExceeded => "; the quota is used up: free some space, or store the results elsewhere",
        ErrorKind::PermissionDenied => "; make it writable for this user, or store the results elsewhere",
        ErrorKind::ReadOnlyFilesystem => "; store the results on a file system that can be written",
        ErrorKind::NotFound if doing == BEGIN => {
            "; the directory may belong to the kernel, such as /proc: store the results elsewhere"
        }
        ErrorKind::NotFound => "; something removed it while the study ran: run the study again",
        ErrorKind::WouldBlock => "; another prony writes to it: wait for its end, or end it",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "; something else has this name: remove it, or store the results elsewhere"
        }
        _ => "; check the file system there, or store the results elsewhere",
    }
}

/// Adds to an operating system's error what was being done to which file.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError { doing, path, source }
}

/// Replaces a file in one step: after a crash it holds either the old content or the new one, never a part. Only a regular file
/// is replaced.
pub(crate) fn replace(directory: &Directory, name: &str, content: &[u8]) -> Result<Made, WriteError> {
    replace_with(directory, name, |file| file.write_all(content))
}

/// [`replace`] by whatever writes the content.
fn replace_with(
    directory: &Directory,
    name: &str,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<Made, WriteError> {
    let made = whole(directory, write).and_then(|draft| draft.replace(OsStr::new(name)));
    let made = made.map_err(failed("write", &directory.path().join(name)))?;
    sync(directory)?;
    Ok(made)
}

/// [`replace`] with a value as indented JSON.
pub(crate) fn replace_json<T: Serialize>(
    directory: &Directory,
    name: &str,
    value: &T,
) -> Result<Made, WriteError> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|error| failed("write", &directory.path().join(name))(error.into()))?;
    text.push(b'\n');
    replace(directory, name, &text)
}

/// Makes a file in one step; whatever has its name stays. After a crash it is there whole, or not at all.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    let name = path.file_name().unwrap_or_default();
    let directory = ownership::open_trusted(directory_of(path)).map_err(failed("create", path))?;
    directory.create_whole(name, content).map_err(failed("write", path))?;
    sync(&directory)
}

/// A file that is on stable storage and has no name yet. Nothing is left of it if that fails: on a full disk a half file would
/// take what little there is.
fn whole(directory: &Directory, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Draft> {
    let mut draft = Draft::begin(directory)?;
    write(draft.file())?;
    draft.file().sync_all()?;
    Ok(draft)
}

/// The directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the entries of a directory durable.
pub(crate) fn sync(directory: &Directory) -> Result<(), WriteError> {
    directory.sync().map_err(failed("sync", directory.path()))
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
    pub(crate) fn create(directory: &Directory, name: &str) -> Result<Self, WriteError> {
        let path = directory.path().join(name);
        match directory.create_growing(OsStr::new(name)) {
            Ok((file, _)) => Ok(Self { path, file, length_bytes: 0 }),
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
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, Directory) {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        (place, directory)
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_says_what_to_do() {
        let (place, directory) = place();
        fs::write(place.path().join("trial.json"), "old").unwrap();
        let fills_up = |file: &mut File| {
            file.write_all(b"ha")?;
            Err(rustix::io::Errno::NOSPC.into())
        };
        let error = replace_with(&directory, "trial.json", fills_up).unwrap_err().to_string();
        assert!(error.contains("trial.json: No space left on device"), "{error}");
        assert!(error.contains("the disk is full: free some space there"), "{error}");
        assert_eq!(fs::read_to_string(place.path().join("trial.json")).unwrap(), "old");
        assert_eq!(directory.names().unwrap(), ["trial.json"], "no half file is left behind");
    }

    /// The temporary file had a name that could be known, and a link that was planted there was followed: with `.report.html.new`
    /// leading to a profile, the profile became a report.
    #[test]
    fn what_was_planted_beside_a_file_is_not_followed() {
        let (place, directory) = place();
        fs::write(place.path().join("profile"), "theirs").unwrap();
        symlink("profile", place.path().join(".report.html.new")).unwrap();
        replace(&directory, "report.html", b"ours").unwrap();
        assert_eq!(fs::read_to_string(place.path().join("profile")).unwrap(), "theirs");
        assert_eq!(directory.names().unwrap(), [".report.html.new", "profile", "report.html"]);
    }

    #[test]
    fn a_link_in_place_of_a_file_is_named_and_stays() {
        let (place, directory) = place();
        symlink("profile", place.path().join("report.html")).unwrap();
        let error = replace(&directory, "report.html", b"ours").unwrap_err().to_string();
        assert!(error.contains("report.html: it is a link and no regular file; something else"), "{error}");
        assert_eq!(directory.names().unwrap(), ["report.html"]);
        assert!(place.path().join("report.html").is_symlink());
    }

    #[test]
    fn a_new_file_takes_no_name_that_was_taken_meanwhile() {
        let (place, directory) = place();
        let path = place.path().join("runs.csv");
        fs::write(&path, "theirs").unwrap();
        let error = create(&path, b"ours").unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(directory.names().unwrap(), ["runs.csv"], "no half file is left behind");
    }

    #[test]
    fn a_line_on_a_full_disk_is_an_error_that_names_the_file() {
        let path = PathBuf::from("/dev/full");
        let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let error = Lines { path, file, length_bytes: 0 }.append(b"{}\n").unwrap_err().to_string();
        assert!(error.starts_with("cannot append to /dev/full: No space left"), "{error}");
    }

    #[test]
    fn lines_never_touch_a_file_that_is_there() {
        let (place, directory) = place();
        fs::write(place.path().join("samples.ndjson"), "theirs").unwrap();
        let error = Lines::create(&directory, "samples.ndjson").unwrap_err().to_string();
        assert!(error.contains("something else has this name"), "{error}");
        assert_eq!(fs::read_to_string(place.path().join("samples.ndjson")).unwrap(), "theirs");
    }
}
