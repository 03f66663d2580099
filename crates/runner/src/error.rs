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
    /// The server does not take statements of the user's: each with its file and line.
    #[error("{}", .0.join("\n"))]
    Mistakes(Vec<String>),
    /// A server could not be started, stopped or limited.
    #[error("server {name}: {source}")]
    Server {
        /// Its name in the study.
        name: String,
        /// Why.
        source: Box<instance::InstanceError>,
    },
    /// A limit of a server could not be proved, or does not hold.
    #[error("server {name}: {why}")]
    Unproved {
        /// Its name in the study.
        name: String,
        /// What was found.
        why: String,
    },
    /// A cluster that somebody else runs cannot be loaded as it stands.
    #[error("cluster {name}: {why}")]
    Cluster {
        /// Its name in the study.
        name: String,
        /// What was found, and what is to be done.
        why: String,
    },
    /// The user ended it before the first trial.
    #[error("interrupted before the first trial{0}")]
    Interrupted(String),
    /// A store could not be loaded.
    #[error(transparent)]
    Load(#[from] workload::orders::LoadError),
    /// A command of the study failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// What was measured could not be judged, so that nobody knows whether it settles the study.
    #[error("cannot check whether all comparisons are decided: {0}")]
    Look(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Whoever listens to the events could not take one.
    #[error("{0}")]
    Listener(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Takes events. An error ends the run.
pub type Listener<'a> = dyn FnMut(&Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a;

/// What a look at a study found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Comparisons that are settled.
    pub settled: usize,
    /// All comparisons that the study is about.
    pub comparisons: usize,
}

impl Settled {
    /// Whether nothing is left to be settled.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.comparisons > 0 && self.settled == self.comparisons
    }
}

/// Judges what was told so far of a study that ends once all is settled: the runner compares nothing itself. An error ends the
/// run.
pub type Look<'a> = dyn FnMut() -> Result<Settled, Box<dyn std::error::Error + Send + Sync>> + 'a;

/// The look at studies that are never looked at.
///
/// # Errors
/// Always: one that is to end once all is settled needs somebody who judges it.
pub fn no_look() -> Result<Settled, Box<dyn std::error::Error + Send + Sync>> {
    Err("no evaluation is set up".into())
}
