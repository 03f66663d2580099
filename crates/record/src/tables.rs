//! Kinds of tables: how one was made, what each operation on it took, and what became of it.

use serde::{Deserialize, Serialize};

use crate::{Loop, Mark, MarkKind, Outage, Server, SetUpDatabase};

/// Kind of operation: a client changes one row by its key, conflicts and all.
pub const POINT_UPDATE: &str = "point_update";

/// Gauge: longest of the last 100 point updates at the end of an interval, in milliseconds.
pub const LAST_100_MAX: &str = "point_update_last_100_max_ms";
/// Gauge: the same without what does not count; there is no such part.
pub const NET_LAST_100_MAX: &str = "point_update_net_last_100_max_ms";
/// Gauge: time of an interval's point updates, all together, in microseconds.
pub const NET_US: &str = "point_updates_net_us";
/// Gauge: point updates of an interval in a target. Targets count from 1.
#[must_use]
pub fn target_updates(number: usize) -> String {
    format!("target_{number}_point_updates")
}

/// Setup of a trial of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TablesSetup {
    /// Address without its password.
    pub target: String,
    /// Engine: `sqlite`, `postgres`, `mysql`, `sqlserver`.
    pub engine: String,
    /// The database; for SQLite the file.
    pub database: String,
    /// The server.
    pub server: Server,
    /// Kind of the table: `row`, `volatile`, `relaxed` and so on.
    pub kind: String,
    /// How such a table is made here: the words of its DDL, and what is set for it.
    pub made: String,
    /// How statements come to the server: `ad-hoc`, `prepared`, `procedure`.
    pub access: String,
    /// Rows.
    pub rows: u64,
    /// Most rows that one UPDATE or DELETE of all rows changes.
    pub batch_rows: u64,
    /// Rows that clients delete by their key.
    pub point_deletes: u64,
    /// Clients of point operations.
    pub clients: u32,
    /// What the engine has no such table for, whatever its server has: a sentence a kind, without its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Closed: a client's next point update after its last one.
    #[serde(flatten)]
    pub pacing: Loop,
    /// Seed of what clients draw.
    pub seed: u64,
    /// Seed of the rows, the same for all trials of a study; none in results of before, whose rows were made from `seed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_seed: Option<u64>,
}

impl TablesSetup {
    /// The database.
    #[must_use]
    pub fn database(&self) -> SetUpDatabase<'_> {
        let Self { database, target, engine, server, .. } = self;
        SetUpDatabase { name: database, address: target, engine, server }
    }
}

/// What is done to a table, and timed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableOperation {
    /// All rows are inserted.
    Load,
    /// Rows of a value without a key of its own are counted and added up.
    Select,
    /// All rows are read by the server, and added up.
    Scan,
    /// All rows are grouped and added up.
    Group,
    /// One column of all rows is changed.
    UpdateAll,
    /// Clients change rows by their keys.
    PointUpdate,
    /// Clients delete rows by their keys.
    PointDelete,
    /// All rows that are left are deleted.
    DeleteAll,
}

impl TableOperation {
    /// All, in the order in which they are done.
    pub const ALL: [Self; 8] = [
        Self::Load,
        Self::Select,
        Self::Scan,
        Self::Group,
        Self::UpdateAll,
        Self::PointUpdate,
        Self::PointDelete,
        Self::DeleteAll,
    ];
}

/// What an operation came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedOperation {
    /// Which.
    pub operation: TableOperation,
    /// Times that it was done: statements, or rows by their keys.
    pub count: u64,
    /// Rows that it inserted, read, changed or deleted, all times together.
    pub rows: u64,
    /// Time that it took, all times together, in seconds; of clients from the first one's begin to the last one's end.
    pub seconds: f64,
}

/// Bytes that a table takes after it was loaded, as its server tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSize {
    /// On disk, indexes included; none where nobody tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// In memory, where the table lives there; none of a table that only passes through a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// What the rows of a table come to, read back from it. Equal rows have equal checksums, whatever the kind of table and the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsChecksum {
    /// Rows that were read: the first ones by their keys, where a table has very many.
    pub rows: u64,
    /// A sum over all columns of these rows, as 16 hexadecimal digits.
    pub sum: String,
}

/// What was killed with -9 under a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Killed {
    /// Every process of the server.
    Server,
    /// The program that had the database within it.
    Program,
}

/// What of a table was there once what held it was killed in the midst of changes, and came back. A change is one update or one insert of
/// a row, committed by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    /// What was killed.
    pub killed: Killed,
    /// Clients that changed rows.
    pub clients: u32,
    /// Whether a commit was to survive a loss of power, by what engine, server and settings promise.
    pub is_durable: bool,
    /// Rows before: those that were loaded, and the acknowledged inserts.
    pub rows_before: u64,
    /// Rows afterwards.
    pub rows_after: u64,
    /// Changes that were acknowledged before the end.
    pub acknowledged: u64,
    /// Of these, the ones that were not there afterwards.
    pub lost: u64,
    /// How long before the kill the oldest of the lost ones was acknowledged, in seconds; none where nothing was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_oldest_s: Option<f64>,
    /// Changes that had no answer, and were there.
    pub unanswered_there: u64,
    /// Changes that had no answer, and were not there.
    pub unanswered_gone: u64,
    /// Time from the kill until the table answered again, in seconds.
    pub back_s: f64,
    /// What was there that nobody had put there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

impl Crash {
    /// Acknowledged changes that were there afterwards.
    #[must_use]
    pub fn survived(&self) -> u64 {
        self.acknowledged.saturating_sub(self.lost)
    }

    /// Loaded rows and acknowledged inserts that were not there afterwards; no less than none, since inserts without an answer may be.
    #[must_use]
    pub fn rows_gone(&self) -> u64 {
        self.rows_before.saturating_sub(self.rows_after)
    }

    /// What was promised and not held, if so.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        if let Some(wrong) = &self.wrong {
            return Some(format!("after a kill with -9 {wrong}"));
        }
        let lost = self.is_durable && (self.lost > 0 || self.rows_gone() > 0);
        lost.then(|| {
            format!(
                "commits are to be durable, and after a kill with -9 {} of {} acknowledged changes were lost, with {} of {} rows there",
                self.lost, self.acknowledged, self.rows_after, self.rows_before
            )
        })
    }
}

/// Whether it was tried what of a table survives a kill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Survival {
    /// It was, and that came of it.
    Tried(Crash),
    /// It was not, for this reason: a sentence without its end.
    NotTried(String),
}

/// What became of a trial of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablesOutcome {
    /// Why there is no such table here: the trial is left out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// What was timed, in the order in which it was done.
    pub operations: Vec<TimedOperation>,
    /// What the table takes.
    #[serde(default)]
    pub size: TableSize,
    /// What its rows come to once they were loaded; none where they were not read back, as in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<RowsChecksum>,
    /// Statements that were tried again after a conflict: a deadlock, a serialization failure, another's change.
    pub retries: u64,
    /// What the table answered and should not have, with what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// Point updates whose answer was lost with the connection: whether they were done is not known.
    #[serde(default)]
    pub unanswered: u64,
    /// What survived a kill; none of a trial that ended before, or was run before that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
    /// Clients that stopped before the end, and why: a sentence each.
    #[serde(default)]
    pub stopped: Vec<String>,
    /// Times in which the database could not be used.
    #[serde(default)]
    pub outages: Vec<Outage>,
    /// What else is to be known of the trial, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl TablesOutcome {
    /// What an operation came to, if it was done.
    #[must_use]
    pub fn of(&self, operation: TableOperation) -> Option<&TimedOperation> {
        self.operations.iter().find(|timed| timed.operation == operation)
    }

    /// What a kill left of it, if that was tried.
    #[must_use]
    pub fn crash(&self) -> Option<&Crash> {
        match &self.survival {
            Some(Survival::Tried(crash)) => Some(crash),
            Some(Survival::NotTried(_)) | None => None,
        }
    }

    /// The marks that follow from it.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.outages.iter().map(|outage| Mark::outage(MarkKind::Outage, outage)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_promised_and_lost_is_broken_and_what_was_not_promised_is_not() {
        let crash = |is_durable, lost, rows_after| Crash {
            killed: Killed::Server,
            clients: 2,
            is_durable,
            rows_before: 110,
            rows_after,
            acknowledged: 20,
            lost,
            lost_oldest_s: None,
            unanswered_there: 0,
            unanswered_gone: 2,
            back_s: 1.0,
            wrong: None,
        };
        assert_eq!(crash(true, 0, 111).broken(), None);
        assert_eq!(crash(false, 20, 0).broken(), None);
        assert!(crash(true, 3, 110).broken().unwrap().contains("3 of 20 acknowledged changes were lost"));
        assert!(crash(true, 0, 100).broken().unwrap().contains("100 of 110 rows"));
        let wrong = Some("the row with key 3 has an amount of 7".to_owned());
        assert!(Crash { wrong, ..crash(false, 0, 110) }.broken().unwrap().contains("key 3"));
        assert_eq!((crash(false, 20, 0).survived(), crash(false, 20, 0).rows_gone()), (0, 110));
    }
}
