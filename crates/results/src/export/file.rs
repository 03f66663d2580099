//! The file of an export, which never takes the place of another one.

use std::io::ErrorKind;
use std::path::Path;

use ownership::Draft;

use super::ExportError;
use crate::durable;

/// Looks whether a file can be made, and leaves nothing behind.
///
/// # Errors
/// When there is something of that name, no directory for it, or nothing can be made in that.
pub fn check(path: &Path) -> Result<(), ExportError> {
    // A link to nowhere is there too.
    if path.symlink_metadata().is_ok() {
        return Err(ExportError::Exists { path: path.to_owned() });
    }
    let directory = durable::directory_of(path);
    if path.file_name().is_none() || !directory.is_dir() {
        return Err(ExportError::NoDirectory { path: path.to_owned(), directory: directory.to_owned() });
    }
    let draft = ownership::open_trusted(directory).and_then(|directory| Draft::begin(&directory));
    draft.map(drop).map_err(|source| ExportError::Refused { path: path.to_owned(), source })
}

/// Makes a file with this content. It has its name only when all of it is on stable storage.
///
/// # Errors
/// When there is something of that name, no directory for it, or it cannot be written.
pub fn create(path: &Path, content: &[u8]) -> Result<(), ExportError> {
    check(path)?;
    durable::create(path, content).map_err(|error| match error.source.kind() {
        // Somebody was faster.
        ErrorKind::AlreadyExists => ExportError::Exists { path: path.to_owned() },
        _ => ExportError::Write { path: path.to_owned(), source: error.source },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_made_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        create(&directory.path().join("runs.csv"), b"study\r\n").unwrap();
        assert_eq!(fs::read(directory.path().join("runs.csv")).unwrap(), b"study\r\n");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_is_refused_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        fs::write(&path, "theirs").unwrap();
        let error = create(&path, b"ours").unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("runs.csv already exists"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        let link = directory.path().join("link.csv");
        symlink("nowhere", &link).unwrap();
        assert!(create(&link, b"ours").unwrap_err().is_usage());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no half file is left behind");
    }

    #[test]
    fn a_directory_that_takes_no_file_is_known_before() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
        // Whoever may do everything is refused nothing.
        if fs::write(directory.path().join("probe"), "").is_ok() {
            return;
        }
        let error = check(&directory.path().join("runs.csv")).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("that you can write to"), "{error}");
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = create(&directory.path().join("later/runs.csv"), b"").unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("does not exist"), "{error}");
    }
}
