//! Why a laboratory cannot be made or removed, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::{InstanceError, LimitError};

/// Why a laboratory cannot be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// We are not root.
    #[error(
        "a lab needs root, because only root can set up and mount loop devices: use sudo, or use directories on existing volumes"
    )]
    NotRoot,
    /// This machine has no loop devices.
    #[error(
        "no loop devices are available on this machine ({why}): load the driver (modprobe loop); a container needs access to the \
        host's devices (--privileged)"
    )]
    NoLoop {
        /// What is missing.
        why: String,
    },
    /// What was asked for cannot be had here.
    #[error("{0}")]
    Impossible(String),
    /// Something lies on a volume whose power is not ours to cut.
    #[error(
        "{path} is not on a lab volume, but prony simulates power cuts only there: put the data on a volume of `prony lab create`",
        path = path.display()
    )]
    NoPower {
        /// What lies there.
        path: PathBuf,
    },
    /// The backing files do not fit.
    #[error(
        "{path} has {free_mib} MiB free, but the lab needs {wanted_mib} MiB, and 1024 MiB must stay free: use fewer or smaller \
        devices, or another directory",
        path = path.display()
    )]
    NoRoom {
        /// Directory of the backing files.
        path: PathBuf,
        /// Free in it.
        free_mib: u64,
        /// Taken by all files.
        wanted_mib: u64,
    },
    /// The backing files would lie in memory.
    #[error(
        "{path} is in memory ({kind}): give a directory on a disk, or add --in-memory if this is intended",
        path = path.display()
    )]
    InMemory {
        /// Directory of the backing files.
        path: PathBuf,
        /// Its file system.
        kind: &'static str,
    },
    /// Something is at the mount point.
    #[error("{path} exists already: give another mount point, or another name", path = path.display())]
    Taken {
        /// The mount point.
        path: PathBuf,
    },
    /// There is a laboratory of that name.
    #[error(
        "there is a laboratory called {name} already: give another name, or remove that one (prony lab remove {name})"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A laboratory cannot be called so.
    #[error(
        "`{name}` cannot be the name of a laboratory: give up to 40 letters, digits, -, _ and ., and begin with a letter or digit"
    )]
    NoName {
        /// The name.
        name: String,
    },
    /// A laboratory belongs to a program that runs.
    #[error(
        "{name} belongs to a running prony, process {pid}, and is removed when that process ends: end it with Ctrl-C or kill {pid}"
    )]
    Held {
        /// Its name.
        name: String,
        /// The program.
        pid: u32,
    },
    /// Something uses a laboratory that is to be removed.
    #[error("{name} is in use ({why}): stop the processes that `fuser -vm {mount}` lists, then delete it again", mount = mount.display())]
    InUse {
        /// Its name.
        name: String,
        /// Where it is mounted.
        mount: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A program that it is made by is not on this machine.
    #[error("{program} is not installed; to install it: `apt-get install {package}`")]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// Debian package that has it.
        package: &'static str,
    },
    /// A program ended with a failure.
    #[error("{program} failed: {said}")]
    Failed {
        /// The program with its arguments.
        program: String,
        /// What it said.
        said: String,
    },
    /// A file or directory cannot be made, read or removed.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Its devices cannot be throttled.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Something else of a server's own means.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

impl LabError {
    /// For `map_err` on calls of the file system.
    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
