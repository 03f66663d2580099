//! What can be wrong with a job, and why a trial did not run.

/// A parameter that cannot be, or that contradicts another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {problem}")]
pub struct JobError {
    /// Name of the parameter as in the study file.
    pub parameter: &'static str,
    /// Value, what is wrong with it, and what to do.
    pub problem: String,
}

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
    /// The load could not be made.
    #[error("{0}")]
    Load(String),
}
