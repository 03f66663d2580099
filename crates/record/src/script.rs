//! SQL of the user's own, or of a log: how it was set up, and what became of its transactions.

use serde::{Deserialize, Serialize};

use crate::{
    ClientAway, Loop, Mark, MarkKind, Offered, Outage, ReplayInUse, ReplayOutcome, Server, SetUpDatabase,
};

/// Kind of operation: a script from its first command to its last, whatever it begins and commits. Time to think is not part of it.
pub const TRANSACTION: &str = "transaction";

/// Gauge: transactions of an interval that failed: given up after a conflict, or one that did not meet what it was to.
pub const FAILED: &str = "failed_transactions";
/// Gauge: what a script expected and did not find, in an interval.
pub const UNMET: &str = "unmet_expectations";
/// Gauge: transactions of an interval that took longer than their limit.
pub const LATE: &str = "late_transactions";
/// Gauge: transactions of an interval that were too late to be sent.
pub const SKIPPED: &str = "skipped_transactions";
/// Gauge: time of an interval's transactions without what they slept, all together, in microseconds.
pub const NET_US: &str = "transactions_net_us";
/// Gauge: transactions of an interval that a target finished. Targets count from 1.
#[must_use]
pub fn target_transactions(number: usize) -> String {
    format!("target_{number}_transactions")
}

/// Setup of a trial of scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptSetup {
    /// Address without its password.
    pub target: String,
    /// Engine: `sqlite`, `postgres`, `mysql`, `sqlserver`.
    pub engine: String,
    /// The database; for SQLite the file.
    pub database: String,
    /// The server.
    pub server: Server,
    /// Closed: a client's next transaction after the last one and a mean time to think. Open: transactions are due at a rate.
    #[serde(flatten)]
    pub pacing: Loop,
    /// Clients.
    pub clients: u32,
    /// Clients that begin each second.
    pub ramp_rate_per_s: f64,
    /// Time beyond which a transaction is late, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_limit_ms: Option<f64>,
    /// How statements are sent: `simple`, `extended`, `prepared`.
    pub protocol: String,
    /// How often a transaction is tried that others are in the way of.
    pub tries: u32,
    /// Variables that were defined for all scripts, as `name=value`.
    #[serde(default)]
    pub defined: Vec<String>,
    /// File with values of variables, a row a transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<ParametersInUse>,
    /// The scripts.
    pub scripts: Vec<ScriptInUse>,
    /// The log that is replayed in place of scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayInUse>,
    /// Size of pgbench's tables, where its scripts are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,
    /// Seed.
    pub seed: u64,
}

/// A CSV file whose rows transactions take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParametersInUse {
    /// The file, with `@random` behind it where a row is drawn.
    pub file: String,
    /// Its rows.
    pub rows: u64,
}

/// What came to the balances of pgbench's tables during a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balances {
    /// To those of all accounts together.
    pub accounts: i64,
    /// To those of the tellers.
    pub tellers: i64,
    /// To those of the branches.
    pub branches: i64,
    /// The changes that the history tells.
    pub history: i64,
}

/// A script that is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptInUse {
    /// Its name: that of its file.
    pub name: String,
    /// How often it is drawn, as a part of the sum of all weights.
    pub weight: u32,
    /// Its text as it was read.
    pub text: String,
    /// Kind of operation of its transactions; none where there is but one script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its statements.
    pub statements: Vec<StatementInUse>,
}

/// A statement of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementInUse {
    /// Kind of operation: `FILE:LINE`.
    pub kind: String,
    /// Its first words.
    pub begins: String,
}

impl ScriptSetup {
    /// The database.
    #[must_use]
    pub fn database(&self) -> SetUpDatabase<'_> {
        let Self { database, target, engine, server, .. } = self;
        SetUpDatabase { name: database, address: target, engine, server }
    }
}

/// What became of a trial's transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptOutcome {
    /// Transactions that were finished in the measured window, by client.
    pub transactions_by_client: Vec<u64>,
    /// Transactions of the window that were tried again after a deadlock or a serialization failure.
    pub retries: u64,
    /// Transactions of the window that failed.
    pub failed: u64,
    /// Transactions of the window that took longer than their limit.
    #[serde(default)]
    pub late: u64,
    /// Transactions that were too late to be sent within the window.
    #[serde(default)]
    pub skipped: u64,
    /// The first error of one that was given up, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// What scripts expected and did not find, since the load began.
    pub unmet: u64,
    /// The first of these, with its place and what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unmet: Option<String>,
    /// Transactions whose answer was lost with the connection: whether they were done is not known.
    pub unanswered: u64,
    /// Transactions that were due before the load ended, and for which no client was free; open loop only.
    #[serde(default)]
    pub unsent: u64,
    /// What an open loop offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// What became of a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayOutcome>,
    /// What came to the balances of pgbench's tables, where nothing but its scripts was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balances: Option<Balances>,
    /// What is wrong with that, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<String>,
    /// Clients that stopped before the end, and why: a sentence each.
    pub stopped: Vec<String>,
    /// Times in which the database could not be used.
    pub outages: Vec<Outage>,
    /// What each client saw of times without an answer; empty where none had to wait for long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub away_by_client: Vec<ClientAway>,
    /// What else is to be known of the trial, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl ScriptOutcome {
    /// The marks that follow from it.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.outages.iter().map(|outage| Mark::outage(MarkKind::Outage, outage)).collect()
    }
}
