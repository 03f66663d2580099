//! Reports over messages: how a trial was set up, and each report that it asked for.

use serde::{Deserialize, Serialize};

use crate::{Loop, Server, SetUpDatabase};

/// Kind of operation: the first report of a trial, which finds memory as the trial found it.
pub const FIRST_REPORT: &str = "first_report";
/// Kind of operation: each report after the first, from sending it until its last row was read.
pub const REPORT: &str = "report";
/// Kind of operation: an event that arrives, from when it was due until it is committed.
pub const EVENT: &str = "event";

/// Setup of a trial of reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportingSetup {
    /// Address without its password.
    pub target: String,
    /// Engine: `sqlite`, `postgres`, `mysql`, `sqlserver`.
    pub engine: String,
    /// The database; for SQLite the file.
    pub database: String,
    /// The server.
    pub server: Server,
    /// Messages that were loaded.
    pub events: u64,
    /// Seed of the messages.
    pub data_seed: u64,
    /// Days over which the messages are spread.
    pub days: u32,
    /// Bytes of each message's subject.
    #[serde(default)]
    pub subject_bytes: u32,
    /// Messages within the report's dates.
    pub messages: u64,
    /// Pattern of departments.
    pub department: String,
    /// Pattern of classifications.
    pub classification: String,
    /// What the report returns: `rows`, `aggregate`.
    pub result: String,
    /// How it is asked for: `statement`, `procedure`.
    pub access: String,
    /// Reports after the first.
    pub runs: u32,
    /// Events that arrive a second while reports run; none of a database that stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals_per_s: Option<f64>,
    /// How the database was made cold by the load itself, before it began; none where it did nothing for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<String>,
    /// What the report has to answer, as the messages' generator says.
    pub expected: ReportAnswer,
    /// Bytes of the tables, indexes included, where the engine tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_bytes: Option<u64>,
    /// Seed of the arrivals.
    pub seed: u64,
}

impl ReportingSetup {
    /// The database.
    #[must_use]
    pub fn database(&self) -> SetUpDatabase<'_> {
        let Self { database, target, engine, server, .. } = self;
        SetUpDatabase { name: database, address: target, engine, server }
    }

    /// A report waits for the one before it.
    #[must_use]
    pub fn pacing(&self) -> Loop {
        Loop::Closed { think_time_us: 0.0 }
    }
}

/// Rows of an answer, and a sum over them that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAnswer {
    /// Rows.
    pub rows: u64,
    /// Sum of a 64-bit mix of each row, modulo 2^64, in hexadecimal digits: readers of JSON round whole numbers of that size.
    #[serde(with = "hexadecimal")]
    pub sum: u64,
}

mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(sum: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{sum:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

/// One report that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportRun {
    /// When it was sent, in seconds since the load began.
    pub begin_s: f64,
    /// Until its last row was read, in seconds.
    pub took_s: f64,
    /// Until its first row was read, in seconds; none of an answer without rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_row_s: Option<f64>,
    /// What it answered.
    pub answer: ReportAnswer,
    /// Which of the plans of its trial it was run by, as an index; none where the engine did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<usize>,
}

/// How a server goes about a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlan {
    /// What tells it from others: a hash of its text without estimates, or the engine's own.
    pub hash: String,
    /// As the engine shows it, without estimates where it can.
    pub text: String,
}

/// What became of a trial's reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportingOutcome {
    /// The reports that were answered, in their order: the first one, and those after it.
    pub runs: Vec<ReportRun>,
    /// The plans that they were run by, each once, in the order of their first use.
    #[serde(default)]
    pub plans: Vec<QueryPlan>,
    /// Why the report after these was not answered, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Events that arrived and were committed, from the begin of the load.
    #[serde(default)]
    pub events_committed: u64,
    /// Events that were due when the load ended, and were not committed.
    #[serde(default)]
    pub events_pending: u64,
    /// Events that were found in the end; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_found: Option<u64>,
    /// Why no more events arrived before the end, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals_stopped: Option<String>,
    /// What else is to be known of the trial, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_64_bits_is_stored_whole() {
        let answer = ReportAnswer { rows: 7, sum: u64::MAX - 1 };
        let text = serde_json::to_string(&answer).unwrap();
        assert_eq!(text, r#"{"rows":7,"sum":"fffffffffffffffe"}"#);
        assert_eq!(serde_json::from_str::<ReportAnswer>(&text).unwrap(), answer);
        assert!(serde_json::from_str::<ReportAnswer>(r#"{"rows":7,"sum":"x"}"#).is_err());
    }
}
