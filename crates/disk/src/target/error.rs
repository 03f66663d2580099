//! What can be wrong with a target. Every message names the path, the value and the remedy.

use std::fmt;
use std::io;
use std::path::Path;

use load::Size;
use record::CacheMode;
use rustix::io::Errno;

use crate::job::Job;
use crate::parameter;

/// A target that cannot be used as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    message: String,
    /// Whether asking otherwise would help, in contrast to a fault of the system.
    is_usage: bool,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TargetError {}

impl TargetError {
    /// Whether the mistake is in what was asked for.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        self.is_usage
    }

    /// A mistake of the user's.
    pub(super) fn usage(path: &Path, problem: impl fmt::Display) -> Self {
        Self { message: format!("{}: {problem}", path.display()), is_usage: true }
    }

    /// A fault of the system.
    pub(super) fn system(path: &Path, what: &str, error: &dyn fmt::Display) -> Self {
        Self { message: format!("{}: {what}: {error}", path.display()), is_usage: false }
    }

    /// What is asked of the machine and not of a path.
    pub(super) fn machine(problem: String) -> Self {
        Self { message: problem, is_usage: true }
    }

    pub(super) fn imaginary() -> Self {
        Self { message: "this target has no files".to_owned(), is_usage: false }
    }

    pub(super) fn interrupted() -> Self {
        Self {
            message: "interrupted while writing test files. They were deleted".to_owned(),
            is_usage: false,
        }
    }

    pub(super) fn region(path: &Path, file_bytes: u64, job: &Job) -> Self {
        let offset = Size(job.offset_bytes);
        let wanted = job.region_bytes.map_or_else(
            || format!("one block of {}", Size(job.block_bytes)),
            |bytes| format!("a region of {}", Size(bytes)),
        );
        Self::usage(
            path,
            format!(
                "{wanted} from offset {offset} does not fit into {}. Change {}, {}, {} or {}",
                Size(file_bytes),
                parameter("region"),
                parameter("offset"),
                parameter("block_size"),
                parameter("file_size")
            ),
        )
    }

    pub(super) fn alignment(path: &Path, job: &Job) -> Self {
        Self::usage(
            path,
            format!(
                "direct I/O does not support blocks of {} at offset {} here. Use multiples of the device's \
                 block size, usually 4KiB, or {}",
                Size(job.block_bytes),
                Size(job.offset_bytes),
                parameter("cache").of("buffered")
            ),
        )
    }

    pub(super) fn unnamed(path: &Path) -> Self {
        let create = parameter("create").of(true);
        Self::usage(
            path,
            format!(
                "test files in a directory have no names and are lost after a crash. Give a file, with \
                 {create}"
            ),
        )
    }

    pub(super) fn polling(path: &Path) -> Self {
        let poll = parameter("poll").of(true);
        Self::usage(
            path,
            format!("its device does not support polling (sysfs queue/io_poll is not 1). Remove {poll}"),
        )
    }

    /// Of a file that is open already, and may have no name any more.
    pub(super) fn reopen(path: &Path, error: Errno, cache: CacheMode) -> Self {
        match error {
            Errno::NOENT => Self::system(
                path,
                "cannot be opened for each thread",
                &"/proc/self/fd is missing. Mount it: mount -t proc proc /proc",
            ),
            other => Self::open(path, other, cache),
        }
    }

    pub(super) fn open(path: &Path, error: Errno, cache: CacheMode) -> Self {
        match error {
            Errno::INVAL if !cache.uses_file_cache() => Self::usage(
                path,
                format!(
                    "this file system does not support direct I/O (O_DIRECT). Use {} (figures then include \
                     the file cache), or another directory",
                    parameter("cache").of("buffered")
                ),
            ),
            Errno::ROFS => Self::system(
                path,
                "cannot write",
                &"the file system is mounted read-only. Give another directory",
            ),
            Errno::ACCESS | Errno::PERM => Self::system(
                path,
                "permission denied",
                &"give a path that you are permitted to use, or run as a user with this permission",
            ),
            other => Self::system(path, "cannot open", &io::Error::from(other)),
        }
    }
}
