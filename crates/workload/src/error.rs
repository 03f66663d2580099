//! Why a trial did not run.

/// Why a trial did not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The database cannot be used as asked.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The source of events cannot be read.
    #[error("{0}")]
    Source(String),
    /// The user ended it before the load began.
    #[error("interrupted before the load began")]
    Interrupted,
    /// What was asked for has these mistakes, a sentence each.
    #[error("{}", .0.join("\n"))]
    Mistakes(Vec<String>),
    /// The load could not be made.
    #[error("{0}")]
    Load(String),
}
