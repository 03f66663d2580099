//! A log of statements that is replayed: what it was read to, and what became of its statements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Kind of operation: statements of a replay whose shapes are less frequent than those that are timed by themselves.
pub const OTHER_STATEMENTS: &str = "statement:others";

/// Kind of operation: statements of a replay that have one shape, by its number from 1.
#[must_use]
pub fn replayed_statement(number: usize) -> String {
    format!("statement:{number}")
}

/// A log of statements that is replayed. Its entries are those that are sent and those that are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayInUse {
    /// The file.
    pub file: String,
    /// Format: `postgres-csv`, `mariadb-general`, `sqlserver-events`.
    pub format: String,
    /// Whether the format was found by the content.
    pub is_recognised: bool,
    /// Factor of the log's pace.
    pub speed: f64,
    /// The database whose statements are replayed alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_database: Option<String>,
    /// What an error does: `count`, `stop`.
    pub on_error: String,
    /// Whether the log has whole seconds alone, over each of which its entries are spread evenly.
    pub whole_seconds: bool,
    /// Lines of the file.
    pub lines: u64,
    /// Entries in it.
    pub entries: u64,
    /// Statements that are to be sent.
    pub statements: u64,
    /// Transactions that they are, each statement outside of one being one of its own.
    pub transactions: u64,
    /// Sessions that send them.
    pub sessions: u64,
    /// From the first statement of the log to its last one, in seconds of the log.
    pub log_s: f64,
    /// What is left out.
    pub left_out: Vec<LeftOut>,
    /// Statements of the log by database, where it tells that.
    #[serde(default)]
    pub databases: BTreeMap<String, u64>,
    /// Statements whose time is before that of the one before them in their session: they are due together with that.
    pub backwards: u64,
    /// Line of the first of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_backwards: Option<u64>,
    /// The shapes that are timed by themselves, the most frequent first.
    pub shapes: Vec<ShapeInUse>,
    /// How many others there are, and their statements.
    pub other_shapes: [u64; 2],
}

/// Entries of a log that are left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The reason, as part of a sentence.
    pub why: String,
    /// How many.
    pub count: u64,
    /// Line of the first.
    pub first_line: u64,
    /// Whether something that a client asked for is missing from the replay for it.
    pub is_loss: bool,
}

/// Statements that differ in their literals alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeInUse {
    /// Kind of operation.
    pub kind: String,
    /// The statement with `?` in place of each literal.
    pub shape: String,
    /// Statements of the log that have it.
    pub statements: u64,
}

/// What became of the statements of a replay, warm-up and drain included: they are answered, failed, unanswered, not sent, or were not due yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayOutcome {
    /// Statements that succeeded.
    pub answered: u64,
    /// Statements that the database refused.
    pub failed: u64,
    /// Statements whose answer was lost with the connection, or never came.
    pub unanswered: u64,
    /// Statements that were not sent: the load was over, a session stopped, or its connection broke within their transaction.
    pub unsent: u64,
    /// Statements that were not due yet when the load was ended before its time.
    #[serde(default)]
    pub not_due: u64,
    /// Transactions that were open when the load was over, the rest of which was not due: they were undone.
    #[serde(default)]
    pub cut_transactions: u64,
    /// Errors by the server's code, the most frequent first.
    pub errors: Vec<CodedErrors>,
    /// The most that a statement was sent after it was due, because its session still waited for the one before, in milliseconds.
    pub lag_ms_max: f64,
    /// Sessions that sent a statement more than 100 ms after it was due.
    pub sessions_late: u64,
}

/// Errors of one code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodedErrors {
    /// SQLSTATE, or the number that an engine without these has; `none` where there is none.
    pub code: String,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: String,
}
