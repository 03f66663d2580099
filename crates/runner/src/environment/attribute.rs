//! What the kernel says in its files, one value a file, or the reason why it says nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use record::Reading;

/// A value, or the reason why it is not known.
pub(super) type Known<T> = Result<T, String>;

/// As it is recorded.
pub(super) fn reading<T>(value: Known<T>) -> Reading<T> {
    match value {
        Ok(value) => Reading::Known(value),
        Err(reason) => Reading::Unknown(reason),
    }
}

/// The text of a file, trimmed.
pub(super) fn attribute(path: &Path) -> Known<String> {
    match fs::read(path) {
        Ok(bytes) if bytes.trim_ascii().is_empty() => Err(format!("{} is empty", path.display())),
        Ok(bytes) => Ok(String::from_utf8_lossy(bytes.trim_ascii()).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(format!("{} does not exist", path.display()))
        }
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

pub(super) fn number(path: &Path) -> Known<u64> {
    let text = attribute(path)?;
    text.parse().map_err(|_| format!("{} contains {text:?}, not a number", path.display()))
}

/// The names in a directory, sorted; none where it cannot be read.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().to_str().map(str::to_owned)).collect();
    names.sort();
    names
}
