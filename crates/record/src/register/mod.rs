//! Registers: values that clients write and read by keys; how a trial of them was set up, and what became of it.

mod operation;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ClientAway, Loop, Offered, Outage, Server, SetUpDatabase};

pub use operation::{Anomaly, AnomalyKind, Did, FIRST_VALUE, Operation};

/// Kind of operation: a value is written to a register.
pub const WRITE: &str = "write";
/// Kind of operation: a register is read.
pub const READ: &str = "read";

/// Gauge: operations of an interval that the server refused after a conflict.
pub const CONFLICTS: &str = "refused_operations";
/// Gauge: longest of the last 100 operations at the end of an interval, in milliseconds.
pub const LAST_100_MAX: &str = "operation_last_100_max_ms";
/// Gauge: the same, for what drives all clients alike.
pub const NET_LAST_100_MAX: &str = "operation_net_last_100_max_ms";
/// Gauge: time of an interval's operations all together, in microseconds.
pub const NET_US: &str = "operations_net_us";
/// Gauge: operations of an interval that a target finished. Targets count from 1.
#[must_use]
pub fn target_operations(number: usize) -> String {
    format!("target_{number}_operations")
}

/// Setup of a trial of registers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegisterSetup {
    /// Address without its password.
    pub target: String,
    /// Engine: `sqlite`, `postgres`, `mysql`, `sqlserver`.
    pub engine: String,
    /// The database; for SQLite the file.
    pub database: String,
    /// The server.
    pub server: Server,
    /// Operations are due at a rate.
    #[serde(flatten)]
    pub pacing: Loop,
    /// Registers.
    pub keys: u32,
    /// Clients.
    pub clients: u32,
    /// Share of the operations that read (0–1).
    pub read_share: f64,
    /// An operation without an answer is given up after this time, with its connection, in milliseconds.
    pub timeout_ms: f64,
    /// A time without an answer that is as long counts as an outage, in milliseconds.
    pub outage_ms: f64,
    /// Seed.
    pub seed: u64,
    /// Whether acknowledged writes are meant to be lost, so that losing them fails nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expects_losses: bool,
}

impl RegisterSetup {
    /// The database.
    #[must_use]
    pub fn database(&self) -> SetUpDatabase<'_> {
        let Self { database, target, engine, server, .. } = self;
        SetUpDatabase { name: database, address: target, engine, server }
    }
}

/// What became of a trial's operations. All of it is of the whole load, its warm-up included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegisterOutcome {
    /// Operations in the history that was checked; the last reads of all registers are among them.
    pub operations: u64,
    /// What became of the writes.
    pub writes: WrittenValues,
    /// Whether all registers were read once more when the load was over, so that the last writes are accounted for.
    pub is_audited: bool,
    /// What no register does, by kind. Empty: each register did what one does that is written and read at once.
    pub anomalies: BTreeMap<AnomalyKind, u64>,
    /// The first of each kind, with the operations that prove them.
    pub told: Vec<Anomaly>,
    /// Why the history could not be checked, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// Times in which nothing at all was answered though clients waited.
    pub away: Vec<Away>,
    /// Times in which no write was acknowledged though clients waited for one. Where all of them waited for reads nobody knows.
    pub writes_away: Vec<Away>,
    /// Times in which no read was answered though clients waited for one.
    pub reads_away: Vec<Away>,
    /// What each client saw of that, whatever it did.
    pub clients: Vec<ClientAway>,
    /// Operations that were due before the load ended, and for which no client was free.
    pub unsent: u64,
    /// What the load offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// Clients that stopped before the end, and why: a sentence each.
    pub stopped: Vec<String>,
    /// Times in which clients had no connection.
    pub outages: Vec<Outage>,
    /// What else is to be known of the trial, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What became of the values that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenValues {
    /// Acknowledged.
    pub acknowledged: u64,
    /// Of these, those that are gone, though no later write explains it.
    pub lost: u64,
    /// Of these, those that somebody read.
    pub seen: u64,
    /// Not answered: each may have been done or not.
    pub unanswered: u64,
    /// Of these, those that were done, since somebody read them.
    pub unanswered_seen: u64,
    /// Refused by the server.
    pub refused: u64,
}

/// A time in which nothing was answered that somebody waited for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Away {
    /// From the last answer on, or from when somebody began to wait, in seconds since the load began.
    pub start_s: f64,
    /// The next answer; none if none came before the end.
    pub end_s: Option<f64>,
}

impl Away {
    /// How long it was, or has been at a moment, if it goes on.
    #[must_use]
    pub fn length_s(&self, now_s: f64) -> f64 {
        (self.end_s.unwrap_or(now_s) - self.start_s).max(0.0)
    }
}
