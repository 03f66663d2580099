//! Why a trial did not run, or not to its end.

use crate::target::TargetError;

/// Why a trial did not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The target cannot be used as asked.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The engine cannot be had.
    #[error("{0}")]
    Engine(String),
    /// An I/O failed.
    #[error("{path}: {problem}")]
    Io {
        /// File.
        path: String,
        /// What happened to which I/O.
        problem: String,
    },
}
