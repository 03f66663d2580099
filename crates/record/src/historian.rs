//! Setup and outcome of a historian trial: what was collected, buffered, written, read, purged and found again.
//!
//! Kinds of operation in the samples of such a trial:
//!
//! | kind | one operation | service | response | lag |
//! |---|---|---|---|---|
//! | `record` | one row committed | begin of its flush to commit | event to commit | event to acceptance by the buffer |
//! | `commit` | one flush: a transaction of up to `flush_rows` rows | the transaction | – | – |
//! | `trend` | a screen's read of a time window of its tags | the query, all rows received | due time to the last row | due time to the query |
//! | `latest` | a screen's read of the latest values of its tags | the query | as `trend` | as `trend` |
//! | `purge` | one statement of a purge: a block of rows or a partition | the statement | – | – |
//! | `shrink` | one shrink | the statement | – | – |
//!
//! Where events come as fast as the buffer takes them, `record` has neither response nor lag. A kind stands in the samples
//! only if the trial can have it: without readers there is neither `trend` nor `latest`.
//!
//! `bytes` of `record` is the size of the values in memory, `rows` of `trend` and `latest` the number of rows that were read;
//! both are zero elsewhere.
//!
//! Gauges: `pending_records` (mean over the interval), `pending_min_records`, `pending_max_records`,
//! `offered_records` (events due in the interval), `refused_records`, and those named here.

use crate::space::UsedBytes;
use serde::{Deserialize, Serialize};

use crate::{Calibration, Cycle, Loop, Mark, MarkKind, Outage, RowsCompared, Server, SetUpDatabase};

/// Kind of operation: one row committed.
pub const RECORD: &str = "record";
/// Kind of operation: one transaction of a writer.
pub const COMMIT: &str = "commit";
/// Kind of operation: a screen's read of a time window.
pub const TREND: &str = "trend";
/// Kind of operation: a screen's read of the latest values.
pub const LATEST: &str = "latest";
/// Kind of operation: one statement of a purge.
pub const PURGE: &str = "purge";
/// Kind of operation: one shrink.
pub const SHRINK: &str = "shrink";

/// Gauge, where it was read: size of the database.
pub const DATABASE_BYTES: &str = "database_bytes";
/// Gauge, where it was read: size of the log.
pub const LOG_BYTES: &str = "log_bytes";
/// Gauge: share (0–1) of the interval in which a purge or shrink ran.
pub const MAINTENANCE_SHARE: &str = "maintenance_share";

/// All kinds in the order in which they are shown.
pub const KINDS: [&str; 6] = [RECORD, COMMIT, TREND, LATEST, PURGE, SHRINK];

/// Setup of a historian trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistorianSetup {
    /// Address of the target without its password.
    pub target: String,
    /// Engine: `sqlite`, `postgres`, `mysql`, `fake`.
    pub engine: String,
    /// Database of our own that was written to.
    pub database: String,
    /// The server.
    pub server: Server,
    /// Where events come from: `counters`, `random`, `modbus://…`, `csv:…`.
    pub source: String,
    /// Tags.
    pub tags: u32,
    /// Closed: as fast as the buffer takes events. Open: at a rate.
    #[serde(flatten)]
    pub pacing: Loop,
    /// Events accepted and not committed at which no more are accepted.
    pub max_buffered_events: u64,
    /// Rows of one flush.
    pub flush_rows: u32,
    /// Age at which buffered events are flushed though they are fewer, in milliseconds.
    pub flush_interval_ms: f64,
    /// How long events wait to be sorted by time and tag, in milliseconds.
    pub time_sorting_period_ms: f64,
    /// Writers.
    pub writers: u32,
    /// How rows are written: `multi_row`, `batch`, `bulk`.
    pub write_method: String,
    /// What that is in this engine, such as `COPY … BINARY`.
    pub write_statement: String,
    /// Whether the table of samples has its index over tag and time.
    pub index: bool,
    /// Length of a partition in seconds; none if the table is not partitioned.
    pub partition_s: Option<f64>,
    /// Readers; none if there were none.
    pub readers: Option<ReaderSetup>,
    /// Maintenance; none if there was none.
    pub maintenance: Option<MaintenanceSetup>,
    /// Time from an event to its commit that the 99th percentile must keep, in milliseconds.
    pub p99_limit_ms: Option<f64>,
    /// The cycle within which what is pending must come down for a rate to be held; none in records of before, which were judged
    /// by cycles of ten seconds or a fifth of the window, or from purge to purge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// Rows that were in the table when the trial began.
    pub rows_before: u64,
    /// What collecting and buffering alone cost.
    pub calibration: Option<Calibration>,
    /// Seed.
    pub seed: u64,
}

impl HistorianSetup {
    /// Time in which a flush is due at a rate, in seconds: once its rows are there or its oldest record is too old.
    pub(crate) fn flush_cycle_s(&self, offered_per_s: f64) -> f64 {
        (f64::from(self.flush_rows) / offered_per_s.max(1e-9)).min(self.flush_interval_ms / 1e3)
    }

    /// Its database.
    #[must_use]
    pub fn database(&self) -> SetUpDatabase<'_> {
        let Self { database, target, engine, server, .. } = self;
        SetUpDatabase { name: database, address: target, engine, server }
    }

    /// Whether it ran on a fake, in memory and in a time of its own.
    #[must_use]
    pub fn is_on_fake(&self) -> bool {
        self.engine == "fake"
    }
}

/// Screens that read while rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReaderSetup {
    /// Screens that are opened in turn.
    pub screens: u32,
    /// Time from one screen to the next, in seconds.
    pub screen_interval_s: f64,
    /// Tags of a screen.
    pub screen_tags: u32,
    /// Time window that a screen reads when it is opened, in seconds.
    pub trend_window_s: f64,
    /// Time between two reads of the open screen's latest values, in seconds.
    pub latest_interval_s: f64,
}

/// Purge and shrink.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaintenanceSetup {
    /// Time between two purges, in seconds.
    pub interval_s: f64,
    /// Age of the rows that are purged, in seconds.
    pub retention_s: f64,
    /// Rows deleted by one statement; none where partitions are dropped.
    pub purge_rows: Option<u64>,
    /// Whether a shrink follows each purge.
    pub shrink: bool,
}

/// One purge, with its shrink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaintenanceRun {
    /// Begin, in seconds since the load began.
    pub start_s: f64,
    /// Length of the purge in seconds.
    pub purge_s: f64,
    /// Rows purged.
    pub purged_rows: u64,
    /// Statements that it took.
    pub statements: u64,
    /// Length of the shrink in seconds; none if there was none.
    pub shrink_s: Option<f64>,
    /// Most pending records while it ran.
    pub pending_max: u64,
    /// Their mean over its length.
    pub pending_mean: f64,
    /// Size of the database before, in bytes.
    pub database_bytes_before: Option<u64>,
    /// Size of the database after, in bytes.
    pub database_bytes_after: Option<u64>,
    /// Pages in use before the first purge of a trial; none of later ones, or where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_before: Option<UsedBytes>,
    /// Why it did not come to its end.
    pub error: Option<String>,
}

impl MaintenanceRun {
    /// Its purge of a database, and its shrink if there was one.
    pub fn marks(&self, database: &str) -> impl Iterator<Item = Mark> + use<> {
        let purged_s = self.start_s + self.purge_s;
        let purge = Mark::planned(MarkKind::Purge, self.start_s, Some(purged_s), database);
        let shrunk = self.shrink_s.map(|shrink_s| purged_s + shrink_s);
        let shrink = shrunk.map(|end_s| Mark::planned(MarkKind::Shrink, purged_s, Some(end_s), database));
        std::iter::once(purge).chain(shrink)
    }

    /// End, in seconds since the load began.
    #[must_use]
    pub fn end_s(&self) -> f64 {
        self.start_s + self.purge_s + self.shrink_s.unwrap_or(0.0)
    }
}

impl HistorianOutcome {
    /// The marks that follow from it.
    pub(crate) fn marks(&self, setup: Option<&HistorianSetup>) -> Vec<Mark> {
        let database = setup.map_or("", |setup| setup.database.as_str());
        let maintenance = self.maintenance.iter().flat_map(|run| run.marks(database));
        let outages = self.outages.iter().map(|outage| Mark::outage(MarkKind::Outage, outage));
        let source = self.source_outages.iter().map(|outage| Mark::outage(MarkKind::SourceOutage, outage));
        maintenance.chain(outages).chain(source).collect()
    }
}

/// What became of a trial's events. All counts are of the whole trial, warm-up and drain included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistorianOutcome {
    /// Events that the source produced.
    pub offered: u64,
    /// Events that the buffer took.
    pub accepted: u64,
    /// Events that came while the buffer was full.
    pub refused: u64,
    /// Rows whose commit was answered, those of `found_after_outage` included.
    pub acknowledged: u64,
    /// Rows of flushes whose answer was lost and that were found in the database afterwards.
    pub found_after_outage: u64,
    /// Rows of flushes whose answer was lost, that were not in the database and were written again.
    pub written_again: u64,
    /// Accepted events that could not be written before the trial was given up.
    pub abandoned: u64,
    /// Time from the end of the load until nothing was pending, in seconds; none if that was not reached.
    pub drain_s: Option<f64>,
    /// Time within which a stable step drains, in seconds.
    pub drain_limit_s: f64,
    /// Acknowledged rows that no purge may have removed.
    pub rows_expected: u64,
    /// Those of them that were found in the database; none if it could not be asked.
    pub rows_found: Option<u64>,
    /// What reading these rows again came to; none if they were not read, as in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_compared: Option<RowsCompared>,
    /// Rows purged.
    pub purged: u64,
    /// Times without a database.
    pub outages: Vec<Outage>,
    /// Times in which the source of events could not be reached, such as a PLC.
    #[serde(default)]
    pub source_outages: Vec<Outage>,
    /// Purges and shrinks.
    pub maintenance: Vec<MaintenanceRun>,
    /// Size of the database before the trial, in bytes.
    pub database_bytes_before: Option<u64>,
    /// Size of the database after it, in bytes.
    pub database_bytes_after: Option<u64>,
    /// Pages in use before the trial; none where that is unknown, as in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_before: Option<UsedBytes>,
    /// Pages in use after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_after: Option<UsedBytes>,
    /// Rows in the table after it.
    pub rows_after: Option<u64>,
    /// Bytes that the server wrote to its log meanwhile, where it counts them.
    pub log_bytes_written: Option<u64>,
    /// Whether the lock on the database was lost, so that another run may have changed it meanwhile.
    #[serde(default)]
    pub lock_lost: bool,
    /// What else is to be known of the trial, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl HistorianOutcome {
    /// The difference between the rows in the database and the acknowledged ones. No row may be missing, double or different. If rows
    /// were only counted, the counts must agree.
    #[must_use]
    pub fn mismatch(&self) -> Option<String> {
        if let Some(sentence) = self.rows_compared.as_ref().and_then(|rows| rows.sentence(self.rows_expected))
        {
            return Some(sentence);
        }
        let (expected, found) = (self.rows_expected, self.rows_found?);
        match found.checked_sub(expected) {
            Some(0) => None,
            Some(more) => Some(format!(
                "the database holds {more} rows more than the {expected} that it acknowledged: some were written twice, or \
                 others write to it"
            )),
            None => {
                let lost = expected - found;
                Some(format!("{lost} of {expected} acknowledged rows are not in the database"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(start_s: f64, end_s: Option<f64>) -> Outage {
        Outage { start_s, end_s, attempts: 1, error: "connection refused".to_owned() }
    }

    #[test]
    fn purges_shrinks_and_outages_of_an_outcome_are_its_marks() {
        let run = MaintenanceRun {
            start_s: 10.0,
            purge_s: 2.0,
            purged_rows: 7,
            statements: 1,
            shrink_s: Some(3.0),
            pending_max: 0,
            pending_mean: 0.0,
            database_bytes_before: None,
            database_bytes_after: None,
            used_before: None,
            error: None,
        };
        let (outages, source_outages) = (vec![outage(1.0, Some(2.0))], vec![outage(4.0, None)]);
        let outcome = HistorianOutcome {
            maintenance: vec![run],
            outages,
            source_outages,
            ..HistorianOutcome::default()
        };
        let told: Vec<_> =
            outcome.marks(None).iter().map(|m| (m.kind.name(), m.begin_s, m.end_s, m.planned)).collect();
        let expected = [
            ("purge", 10.0, Some(12.0), true),
            ("shrink", 12.0, Some(15.0), true),
            ("outage", 1.0, Some(2.0), false),
            ("source away", 4.0, None, false),
        ];
        assert_eq!(told, expected);
        let of: Vec<String> = outcome.maintenance[0].marks("plant").map(|mark| mark.what).collect();
        assert_eq!(of, ["plant", "plant"], "whose rows were purged");
    }
}
