//! What was broken on purpose while a trial ran, and what became of it.

use serde::{Deserialize, Serialize};

/// A fault of a trial. Times are seconds since the load began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultDone {
    /// As the study asks for it: `kill at 20s`.
    pub asked: String,
    /// The server, by its name in the study, or the node of it.
    pub of: String,
    /// When it was to be done.
    pub due_s: f64,
    /// When it was begun; none if the load ended before.
    pub begun_s: Option<f64>,
    /// When it was broken.
    pub broken_s: Option<f64>,
    /// When what was done was undone: it was started again, let go on, or was done with.
    pub mended_s: Option<f64>,
    /// Whether it was of the node that took the writes then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub took_writes: bool,
    /// How long a single server that was ended took, from when it was started again until it answered, its crash recovery included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_within_s: Option<f64>,
    /// When whoever decides who takes over held a node for gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noticed_s: Option<f64>,
    /// When another node took the writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promoted_s: Option<f64>,
    /// When there was a node again that stands by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundant_s: Option<f64>,
    /// That several nodes took writes at once, where what joins them was broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Why it could not be done or undone, if so: then the trial failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Nodes that took writes at once, as far as was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Their names.
    pub nodes: String,
    /// When it was seen first.
    pub from_s: f64,
    /// And last.
    pub to_s: f64,
}

/// What one client saw of times in which it waited for what it had asked for: a read or a write, or a whole order or script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientAway {
    /// Times that were long enough to count: half a second, of registers as long as a job says.
    pub times: u64,
    /// The longest of them, in seconds.
    pub longest_s: f64,
    /// All of them together, in seconds.
    pub total_s: f64,
}
