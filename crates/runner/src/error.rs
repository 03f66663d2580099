//! Why a run ends before its plan does, and who hears what happens in it.

use disk::TargetError;
use record::Event;

use crate::command::CommandError;

/// Why a run ended before its plan did. What was measured was told in events.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target could not be made ready.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The database could not be made ready.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The user ended it before the first trial.
    #[error("interrupted before the first trial{0}")]
    Interrupted(String),
    /// A store could not be loaded.
    #[error(transparent)]
    Load(#[from] workload::orders::LoadError),
    /// A command of the study failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Whoever listens to the events could not take one.
    #[error("{0}")]
    Listener(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Takes events. An error ends the run.
pub type Listener<'a> = dyn FnMut(&Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a;
