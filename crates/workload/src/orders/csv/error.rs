//! What can be wrong with writing a store's files.

use std::io;
use std::path::{Path, PathBuf};

use record::Parameter;

/// Why there are no files. Nothing is left of those that were begun.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// Files that would be overwritten.
    #[error("{} already in the directory; remove {}, or use another directory", are(.0), them(.0))]
    Exists(Vec<PathBuf>),
    /// A directory that cannot be used.
    #[error("{}: {what}: {source}; name a directory that can be written to", path.display())]
    Directory {
        /// Directory.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no more room.
    #[error(
        "{}: the file system is full after {written_bytes} bytes, and the file was deleted. Free space, use a smaller {}, or use another directory",
        path.display(),
        Parameter::new("size")
    )]
    Full {
        /// File.
        path: PathBuf,
        /// Bytes that it had.
        written_bytes: u64,
    },
    /// Files may not become so large.
    #[error(
        "{}: this file reached the size limit after {written_bytes} bytes and was deleted. Raise the limit (`ulimit -f`), use a \
        smaller {}, or use another directory",
        path.display(),
        Parameter::new("size")
    )]
    TooLarge {
        /// File.
        path: PathBuf,
        /// Bytes that it had.
        written_bytes: u64,
    },
    /// A thread that cannot be had.
    #[error(
        "cannot start a thread: {0}; use fewer {threads}, or let this user have more threads and memory (`ulimit -u`, `ulimit -v`)",
        threads = Parameter::new("threads")
    )]
    Thread(io::Error),
    /// A file that cannot be written.
    #[error("{}: {what}: {source}; the incomplete file was deleted", path.display())]
    File {
        /// File.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The user ended it.
    #[error("interrupted; incomplete files were deleted")]
    Interrupted,
}

impl CsvError {
    /// Whether the user asked for something that cannot be, rather than something having failed.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Exists(_) | Self::Directory { .. })
    }

    /// A file could not be written.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
    pub(super) fn write(path: &Path, written_bytes: u64, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { path: path.to_owned(), written_bytes }
            }
            io::ErrorKind::FileTooLarge => Self::TooLarge { path: path.to_owned(), written_bytes },
            _ => Self::file(path, "cannot write", source),
        }
    }

    pub(super) fn file(path: &Path, what: &'static str, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), what, source }
    }
}

fn are(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    format!("{} {}", names.join(", "), if paths.len() == 1 { "is" } else { "are" })
}

fn them(paths: &[PathBuf]) -> &'static str {
    if paths.len() == 1 { "it" } else { "them" }
}
