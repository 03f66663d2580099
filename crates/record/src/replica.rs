//! How far copies of a database on other servers are behind.

use serde::{Deserialize, Serialize};

/// What a primary told of one copy of a database, of its own too. Words are the server's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaState {
    /// Server that has it.
    pub replica: String,
    /// Database.
    pub database: String,
    /// Whether it is the one that is written to.
    pub is_primary: bool,
    /// Whether a commit waits for it: `SYNCHRONOUS_COMMIT`, `ASYNCHRONOUS_COMMIT`.
    pub mode: String,
    /// `SYNCHRONIZED`, `SYNCHRONIZING`, `NOT SYNCHRONIZING`, `REVERTING`, `INITIALIZING`.
    pub state: String,
    /// `HEALTHY`, `PARTIALLY_HEALTHY`, `NOT_HEALTHY`; none where the server does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    /// Whether somebody suspended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_suspended: bool,
    /// Log that was not sent to it yet, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_queue_kib: Option<u64>,
    /// Log that it has and did not redo yet, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_queue_kib: Option<u64>,
    /// Time by which what it has redone is behind what was committed, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_s: Option<u64>,
}

impl ReplicaState {
    /// Whether a commit waits for it, as it is set.
    #[must_use]
    pub fn is_synchronous(&self) -> bool {
        self.mode == "SYNCHRONOUS_COMMIT"
    }

    /// Whether it is as its mode has it be: all of a synchronous one, all but what is under way of another.
    #[must_use]
    pub fn keeps_up(&self) -> bool {
        let is_as_set = match self.is_synchronous() {
            true => self.state == "SYNCHRONIZED",
            false => matches!(self.state.as_str(), "SYNCHRONIZED" | "SYNCHRONIZING"),
        };
        is_as_set && !self.is_suspended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_up_as_its_mode_has_it() {
        let of = |mode: &str, state: &str, is_suspended| ReplicaState {
            replica: "NODE2".to_owned(),
            database: "orders".to_owned(),
            is_primary: false,
            mode: mode.to_owned(),
            state: state.to_owned(),
            health: None,
            is_suspended,
            send_queue_kib: None,
            redo_queue_kib: None,
            lag_s: None,
        };
        let (synchronous, other) = ("SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT");
        for (mode, state, is_suspended, keeps_up) in [
            (synchronous, "SYNCHRONIZED", false, true),
            (synchronous, "SYNCHRONIZING", false, false),
            (synchronous, "SYNCHRONIZED", true, false),
            (other, "SYNCHRONIZING", false, true),
            (other, "NOT SYNCHRONIZING", false, false),
            (other, "REVERTING", false, false),
        ] {
            assert_eq!(of(mode, state, is_suspended).keeps_up(), keeps_up, "{mode} {state}");
        }
    }
}
