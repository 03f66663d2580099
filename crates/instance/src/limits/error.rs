//! Why something cannot be limited.

use std::io;
use std::path::PathBuf;

use super::Resource;

/// Why something cannot be limited.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// The kernel or the machine has no such controller.
    #[error("{what} cannot be limited on this machine: {why}")]
    Missing {
        /// What was to be limited.
        what: &'static str,
        /// What is missing, and what brings it.
        why: String,
    },
    /// This user may not make groups.
    #[error(
        "{what} cannot be limited by this user: {path} cannot be written ({source}). Run as root, or in your own scope: \
         `systemd-run --user --scope -p Delegate=yes …`",
        path = path.display()
    )]
    Rights {
        /// What was to be limited.
        what: &'static str,
        /// What cannot be written.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A limit was refused.
    #[error("cannot set {path} to `{value}`: {source}", path = path.display())]
    Refused {
        /// The limit's file.
        path: PathBuf,
        /// What was written to it.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// A limit is not what was set.
    #[error("{path} was set to `{value}`, but contains `{found}`: the kernel did not accept this limit", path = path.display())]
    NotKept {
        /// The limit's file.
        path: PathBuf,
        /// What was written to it.
        value: String,
        /// What it says.
        found: String,
    },
    /// A file of a group cannot be read or made.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl LimitError {
    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

impl Resource {
    /// What the user calls it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "CPU time",
            Self::CpuSet => "the set of CPUs",
            Self::Io => "I/O of disks",
        }
    }
}
