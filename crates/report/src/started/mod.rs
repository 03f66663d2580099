//! Servers that were started for trials: what was started where, within which limits, and what it used.

use record::StartedServer;

use crate::servers::Servers;
use crate::trial::Trial;

mod doubt;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub(crate) use doubt::doubts;
pub(crate) use table::{blocks, facts};
pub use words::{lines, on_one_device};

/// Share (0–1) of the time of processors that its started servers could use that they used in the measured window; none where one of
/// them is not limited, or what they used is not known.
pub(crate) fn processors_share(trial: &Trial) -> Option<f64> {
    let limit = |server: &StartedServer| server.limits.as_ref()?.cpus;
    let limits: Option<Vec<f64>> = trial.started_servers.iter().map(limit).collect();
    let limits = limits.filter(|limits| !limits.is_empty())?;
    let during = trial.during();
    let setup = trial.setup.as_ref()?;
    match Servers::of(setup, &during) {
        Servers::Seen { cores } => Some(cores / limits.iter().sum::<f64>()),
        Servers::Absent | Servers::InProcess | Servers::Unseen => None,
    }
}
