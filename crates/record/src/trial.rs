//! The record of one trial, as stored in `trial.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{HistorianOutcome, OrdersOutcome, Setup};

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
pub struct TrialRecord {
    /// Version of the stored form.
    pub format: u32,
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
    /// What was really set up; none if it never began.
    pub setup: Option<Setup>,
    /// Operations that were due and not sent when the window ended; open loop only.
    #[serde(default)]
    pub unsent: u64,
    /// What an open loop offered; none of a closed one, and of a historian, whose outcome has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// What became of the events of a historian.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub historian: Option<HistorianOutcome>,
    /// What became of the orders of an order store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<OrdersOutcome>,
    /// Workload, known also of a trial that was never set up: `disk`, `historian`, `orders`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Its part in the search for the highest sustainable rate, if it is a step of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchStep>,
}

/// What an open loop was to send in its measured window, and what kept it from sending in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Operations that fell due in the window.
    pub due: u64,
    /// Operations that may be in flight at once: outstanding I/Os of all threads, or clients.
    pub slots: u64,
    /// Operations that fell due while all of them were, warm-up included; none where that is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
    /// Operations that were sent, warm-up and flushes included; none where that is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
}

impl Offered {
    /// Share (0–1) of the operations that waited for others to be answered.
    #[must_use]
    pub fn waited_share(&self) -> Option<f64> {
        Some(self.waited? as f64 / self.sent?.max(1) as f64)
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
}

impl SearchStep {
    /// Records offered a second.
    #[must_use]
    pub fn rate_per_s(self) -> f64 {
        match self {
            Self::Probe { rate_per_s } | Self::Confirm { rate_per_s } => rate_per_s,
        }
    }
}
