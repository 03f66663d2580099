//! The record of one trial, as stored in `trial.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    AttachedCluster, FORMAT_VERSION, FaultDone, Main, Mark, Outcome, Placed, Setup, StartedServer, Workload,
};

/// State of a trial or of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not begun.
    Planned,
    /// Begun; still so on disk if the program was killed.
    Running,
    /// Measured to the end.
    Complete,
    /// An error ended it; what was measured before is kept.
    Failed,
    /// The user ended it; what was measured before is kept.
    Aborted,
    /// Measured, but the figures do not mean what they should, for the reason given.
    Invalid,
    /// Left out on purpose, for the reason given: its series had passed the latency tolerance, or steady
    /// state was reached before.
    Skipped,
}

/// What is known of one trial besides its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// The derived functions read and write the newest form; the implementations for all forms are beside the older ones.
#[serde(remote = "Self")]
pub struct TrialRecord {
    /// Version of the stored form that it was read from. What is written is always of the newest.
    pub format: u32,
    /// What it is of.
    pub workload: Workload,
    /// The operations that its rate and latency are of.
    pub main: Main,
    /// Number within the study, from 1.
    pub number: u32,
    /// Name of the configuration, such as `RND4K Q32T1 read`.
    pub name: String,
    /// Block (randomised pass, run or round) it belongs to, from 1.
    pub block: u32,
    /// Values of the axes, by key, as text.
    #[serde(default)]
    pub levels: BTreeMap<String, String>,
    /// Named configuration that it is of; empty where a study has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub configuration: String,
    /// Whether it is the second measurement of the reference in its block: the A/A pair that tells the noise floor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
    /// State.
    pub state: State,
    /// Why it failed, is invalid or was skipped.
    pub reason: Option<String>,
    /// Warnings of the engine while it ran, each a sentence.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Begin of the load, RFC 3339 in UTC.
    pub started: Option<String>,
    /// Parameters as asked, as the study file would spell them.
    pub parameters: serde_json::Value,
    /// Length of warm-up and window as planned, in seconds; none where the format did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_s: Option<f64>,
    /// What was asked to be loaded, as the study file spells it, without passwords; null where the format did not store it.
    #[serde(default)]
    pub target: serde_json::Value,
    /// Where that was found to be; empty if it never began.
    #[serde(default)]
    pub placed: Vec<Placed>,
    /// Servers that were started for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<StartedServer>,
    /// Clusters that somebody else runs, and that it loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<AttachedCluster>,
    /// What was really set up; none if it never began.
    pub setup: Option<Setup>,
    /// What else went on meanwhile, by its begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// What was broken on purpose meanwhile, in the order in which it was due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultDone>,
    /// What became of its operations; none if it did not come to its end.
    pub outcome: Option<Outcome>,
    /// Its part in the search for the highest sustainable rate, if it is a step of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchStep>,
}

impl TrialRecord {
    /// The first block's trial of this number of a study of one combination, of which nothing more is known yet.
    #[must_use]
    pub fn planned(workload: Workload, number: u32) -> Self {
        Self {
            format: FORMAT_VERSION,
            workload,
            main: workload.main(),
            number,
            name: String::new(),
            block: 1,
            levels: BTreeMap::new(),
            configuration: String::new(),
            aa: false,
            state: State::Planned,
            reason: None,
            notes: Vec::new(),
            started: None,
            parameters: serde_json::Value::Null,
            planned_s: None,
            target: serde_json::Value::Null,
            placed: Vec::new(),
            servers: Vec::new(),
            clusters: Vec::new(),
            setup: None,
            marks: Vec::new(),
            faults: Vec::new(),
            outcome: None,
            search: None,
        }
    }

    /// Operations that were due and not sent when the window ended; open loop only.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.outcome.as_ref().map_or(0, Outcome::unsent)
    }
}

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum SearchStep {
    /// Looks for the highest stable rate.
    Probe {
        /// Records offered a second.
        rate_per_s: f64,
    },
    /// Confirms a rate that a probe found stable.
    Confirm {
        /// Records offered a second.
        rate_per_s: f64,
    },
    /// Confirms a confirmed rate once more, for much longer.
    Long {
        /// Records offered a second.
        rate_per_s: f64,
    },
}

impl SearchStep {
    /// Records offered a second.
    #[must_use]
    pub fn rate_per_s(self) -> f64 {
        match self {
            Self::Probe { rate_per_s } | Self::Confirm { rate_per_s } | Self::Long { rate_per_s } => {
                rate_per_s
            }
        }
    }
}
