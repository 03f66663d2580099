//! What a report says of kinds of tables: what each operation took on each of them, against rows on disk, and how each was made.

mod chart;
mod facts;
mod figures;
mod finding;
mod lead;
mod matrix;
mod plain;
mod same_rows;
mod survival;
mod table;

use std::collections::BTreeSet;

use record::tables::{LAST_100_MAX, POINT_UPDATE};
use record::{
    Crash, MeasuredTrial, Outage, Outcome, RowsChecksum, Sample, Server, Setup, State, Survival,
    TableOperation, TableSize, TablesSetup, TimedOperation, Workload, clients,
};
use serde::Serialize;
use stats::Chance;

use crate::chart::{Chart, strip};
use crate::csv::{Field, number};
use crate::format::{self, figure};
use crate::lead::Tile;
use crate::limit::Limit;
use crate::metrics::MetricOf;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::trial::{Trial, per_s};
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::workloads::{Common, Facts, Limits, Second, Shown, Words, Worked};

/// Kinds of tables as a report shows them.
pub(crate) struct OfTables;

/// Figures of a trial of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Tables {
    /// Kind: `row`, `volatile` and so on.
    pub kind: String,
    /// What was timed, in the order in which it was done.
    pub operations: Vec<TimedOperation>,
    /// What the table took after it was loaded.
    pub size: TableSize,
    /// What its rows came to once they were loaded; none where they were not read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<RowsChecksum>,
    /// Statements that were tried again after a conflict.
    pub retries: u64,
    /// What the table answered and should not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// Updates by key whose answer was lost with the connection.
    pub unanswered: u64,
    /// What survived a kill with -9, or why that was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
    /// Clients that stopped before the end, and why.
    pub stopped: Vec<String>,
    /// Times in which the database could not be used.
    pub outages: Vec<Outage>,
    /// Setup, for the sentences on it.
    #[serde(skip)]
    pub(crate) setup: TablesSetup,
}

impl Tables {
    fn of(measured: &MeasuredTrial) -> Option<Self> {
        let setup = measured.trial.setup.as_ref().and_then(Setup::tables)?;
        // A trial that was killed has no outcome.
        let outcome = measured.trial.outcome.as_ref().and_then(Outcome::tables).cloned().unwrap_or_default();
        Some(Self {
            kind: setup.kind.clone(),
            operations: outcome.operations,
            size: outcome.size,
            checksum: outcome.checksum,
            retries: outcome.retries,
            wrong: outcome.wrong,
            unanswered: outcome.unanswered,
            survival: outcome.survival,
            stopped: outcome.stopped,
            outages: outcome.outages,
            setup: setup.clone(),
        })
    }

    fn timed(&self, operation: TableOperation) -> Option<&TimedOperation> {
        self.operations.iter().find(|timed| timed.operation == operation)
    }

    /// Seconds that an operation took; of one that was done several times the mean.
    pub(crate) fn seconds(&self, operation: TableOperation) -> Option<f64> {
        let timed = self.timed(operation)?;
        // Pieces of a whole are no repeats of it.
        let times = if operation == TableOperation::Select { timed.count as f64 } else { 1.0 };
        (times > 0.0).then(|| timed.seconds / times)
    }

    /// Operations by key a second.
    pub(crate) fn per_s(&self, operation: TableOperation) -> Option<f64> {
        let timed = self.timed(operation)?;
        UNIT.within(timed.count, timed.seconds)
    }

    /// What a kill left of it, if that was tried.
    pub(crate) fn crash(&self) -> Option<&Crash> {
        match &self.survival {
            Some(Survival::Tried(crash)) => Some(crash),
            Some(Survival::NotTried(_)) | None => None,
        }
    }

    fn disk_mb(&self) -> Option<f64> {
        Some(self.size.disk_bytes? as f64 / 1e6)
    }

    fn memory_mb(&self) -> Option<f64> {
        Some(self.size.memory_bytes? as f64 / 1e6)
    }
}

impl Trial {
    /// Figures of a table.
    #[must_use]
    pub fn tables(&self) -> Option<&Tables> {
        match &self.worked {
            Some(Worked::Tables(tables)) => Some(tables),
            _ => None,
        }
    }
}

/// Share of the updates by key that were tried again from which on locks are told.
const RETRIED_SHARE: f64 = 0.05;

/// Kinds that are taken because they promise less.
const NOT_DURABLE: [&str; 3] = ["volatile", "relaxed", "aria"];

/// What updates by key are counted in.
const UNIT: Unit = Unit::a_second("updates/s", "updates by key per second", "updates by key");

static WORDS: Words = Words {
    one: "table",
    many: "tables",
    anchor: "tables",
    unit: UNIT,
    rate_metric: "point_updates_per_s",
    headlines: &[finding::KIND],
    replaced: &[],
    all_in_flight: |slots| match slots {
        1 => "the one client was waiting for the database".to_owned(),
        _ => format!("all {} clients were waiting for the database", format::grouped(slots)),
    },
};

static LIMITS: Limits = Limits {
    busy_rule: "tables_cpu",
    thread: "the busiest load thread",
    instead: "the clients' CPU, not the database",
    remedy: ", and give the load its own machine",
    alone: None,
    late_remedy: None,
    is_alone: false,
};

impl Shown for OfTables {
    fn question(&self, _: &Report) -> &'static str {
        "Which kind of table is fastest, and which rows survive a crash?"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn worked(&self, measured: &MeasuredTrial, _: &Common<'_>) -> Option<Worked> {
        Tables::of(measured).map(|tables| Worked::Tables(Box::new(tables)))
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[POINT_UPDATE]
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[
            ("point_updates_per_s", |trial| trial.tables()?.per_s(TableOperation::PointUpdate)),
            ("point_deletes_per_s", |trial| trial.tables()?.per_s(TableOperation::PointDelete)),
            ("load_s", |trial| trial.tables()?.seconds(TableOperation::Load)),
            ("select_s", |trial| trial.tables()?.seconds(TableOperation::Select)),
            ("scan_s", |trial| trial.tables()?.seconds(TableOperation::Scan)),
            ("group_s", |trial| trial.tables()?.seconds(TableOperation::Group)),
            ("update_all_s", |trial| trial.tables()?.seconds(TableOperation::UpdateAll)),
            ("delete_all_s", |trial| trial.tables()?.seconds(TableOperation::DeleteAll)),
            ("table_disk_mb", |trial| trial.tables()?.disk_mb()),
            ("table_memory_mb", |trial| trial.tables()?.memory_mb()),
        ]
    }

    fn tells_durability(&self, trial: &Trial) -> bool {
        trial.tables().is_some_and(|tables| NOT_DURABLE.contains(&tables.kind.as_str()))
    }

    fn outages<'a>(&self, trial: &'a Trial) -> Vec<&'a Outage> {
        trial.tables().into_iter().flat_map(|tables| &tables.outages).collect()
    }

    fn servers<'a>(&self, setup: &'a Setup) -> Vec<&'a Server> {
        setup.tables().map(|setup| &setup.server).into_iter().collect()
    }

    fn by_chance(&self, trial: &Trial) -> Option<Chance> {
        Chance::of(self.answers_per_s(trial)?, trial.measured_s)
    }

    /// An invalid trial has said why already.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.tables().is_some() && trial.state != State::Invalid
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        finding::all(report)
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        plain::answers(report)
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        finding::doubts(report)
    }

    /// Locks, where many were tried again.
    fn waits(&self, trial: &Trial) -> Option<Limit> {
        let tables = trial.tables()?;
        let updates = tables.timed(TableOperation::PointUpdate).filter(|timed| timed.count > 0)?;
        let retried = tables.retries as f64 / updates.count as f64;
        Limit::of("locks", Some(retried), RETRIED_SHARE, [": ", " of the updates by key were retried"])
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let main = table::operations(report).map(Block::main);
        let made = table::made(report).map(Block::Table);
        let survived = survival::table(report).map(Block::Table);
        let blocks = main.into_iter().chain(survived).chain(made).collect();
        vec![Section { place: Place::Figures, blocks }]
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        matrix::chart(report)
    }

    /// True for several kinds of tables: the page compares them by all operations at once.
    fn leads_study(&self, report: &Report) -> bool {
        let kinds: BTreeSet<&str> =
            report.trials_of(Workload::Tables).filter_map(Trial::tables).map(|of| of.kind.as_str()).collect();
        kinds.len() > 1
    }

    fn overview(&self, report: &Report) -> Vec<Chart> {
        let heading = "Response time of an update by key of each kind of table";
        strip::strip(report, Workload::Tables, heading).into_iter().collect()
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        chart::all(trial)
    }

    fn ink(&self, kind: &str) -> usize {
        usize::from(kind != POINT_UPDATE)
    }

    fn seconds(&self) -> &'static [Second] {
        &[
            Second { head: "updates/s", value: |main, s| per_s(main, s), print: figure },
            Second { head: "retries", value: |_, s| gauge(s, clients::RETRIES), print: figure },
            Second {
                head: "longest of 100",
                value: |_, s| gauge(s, LAST_100_MAX).map(|ms| ms * 1e3),
                print: format::latency,
            },
        ]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.tables().map(facts::facts)
    }

    fn method(&self, _: &Report) -> Vec<String> {
        METHOD.iter().map(|&text| text.to_owned()).collect()
    }

    fn columns(&self) -> &'static [Field] {
        &[
            ("table_kind", |trial| Some(trial.tables()?.kind.clone())),
            ("point_updates_per_s", |trial| number(trial.tables()?.per_s(TableOperation::PointUpdate)?)),
            ("point_deletes_per_s", |trial| number(trial.tables()?.per_s(TableOperation::PointDelete)?)),
            ("load_s", |trial| number(trial.tables()?.seconds(TableOperation::Load)?)),
            ("select_s", |trial| number(trial.tables()?.seconds(TableOperation::Select)?)),
            ("scan_s", |trial| number(trial.tables()?.seconds(TableOperation::Scan)?)),
            ("group_s", |trial| number(trial.tables()?.seconds(TableOperation::Group)?)),
            ("update_all_s", |trial| number(trial.tables()?.seconds(TableOperation::UpdateAll)?)),
            ("delete_all_s", |trial| number(trial.tables()?.seconds(TableOperation::DeleteAll)?)),
            ("table_disk_bytes", |trial| Some(trial.tables()?.size.disk_bytes?.to_string())),
            ("table_memory_bytes", |trial| Some(trial.tables()?.size.memory_bytes?.to_string())),
            ("retried_statements", |trial| Some(trial.tables()?.retries.to_string())),
            ("killed", |trial| Some(survival::killed(trial.tables()?.crash()?).to_owned())),
            ("killed_rows_before", |trial| Some(trial.tables()?.crash()?.rows_before.to_string())),
            ("killed_rows_after", |trial| Some(trial.tables()?.crash()?.rows_after.to_string())),
            ("killed_changes_acknowledged", |trial| Some(trial.tables()?.crash()?.acknowledged.to_string())),
            ("killed_changes_survived", |trial| Some(trial.tables()?.crash()?.survived().to_string())),
            ("killed_changes_lost", |trial| Some(trial.tables()?.crash()?.lost.to_string())),
            ("killed_changes_unanswered_there", |trial| {
                Some(trial.tables()?.crash()?.unanswered_there.to_string())
            }),
            ("killed_changes_unanswered_gone", |trial| {
                Some(trial.tables()?.crash()?.unanswered_gone.to_string())
            }),
            ("killed_back_s", |trial| number(trial.tables()?.crash()?.back_s)),
        ]
    }
}

const METHOD: [&str; 4] = [
    "Every kind of table gets the same rows, from one seed for all trials of a study. It gets the same operations in the same order: load, SELECT by value, scan, GROUP BY, UPDATE of all rows, updates by key, deletes by key, and DELETE of the rest. Many clients do the updates and deletes by key. Each operation is timed separately. The time of a load is that of its INSERTs or COPY, without generating rows and without statistics. Before the UPDATE, prony reads all rows back (at most the first 10,000,000), outside of the timed part. It compares their checksums between kinds and engines.",
    "prony computes the right answer of each operation from the rows: counts, sums and groups. After the clients end, the sum of all \
    amounts must include each acknowledged update once. A wrong answer fails the trial.",
    "After the timed part, prony tests durability on a table of the same kind with at most 100,000 rows. Clients update and insert \
    rows, each change in its own commit. After at least one second, kill -9 ends all processes of the server. With SQLite and DuckDB \
    it ends a process of prony that holds the database. Once the server is back, prony looks up each acknowledged change by its \
    value. This is not a power loss: data that reached the kernel survives, flushed or not.",
    "After a deadlock, a serialization failure or a conflicting change, prony retries the statement at once. Its time includes all \
    tries. A figure in brackets is the speedup over the same operation on rows on disk: ×2 is twice as fast. For sizes it is the \
    size ratio. Over several blocks it is the geometric mean.",
];

fn gauge(sample: &Sample, name: &str) -> Option<f64> {
    sample.gauges.get(name).copied()
}

#[cfg(test)]
pub(crate) mod tests;
