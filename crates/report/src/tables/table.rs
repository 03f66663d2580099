//! Tables of kinds of tables: what each operation took, and how each table was made.

use std::collections::{BTreeMap, BTreeSet};

use record::{TableOperation, TablesSetup, Workload};

use super::Tables;
use super::figures::{Against, all};
use super::plain::rounded;
use crate::comparison::axis_words;
use crate::format::{self, figure, grouped};
use crate::report::Report;
use crate::table::{Column, Row, Table, column, dash, level_cells, level_columns, level_keys, words};
use crate::trial::Trial;

/// What a column is of, and whether more is better.
type Of = (fn(&Tables) -> Option<f64>, Print, bool);
type Print = fn(f64) -> String;

const COLUMNS: [Of; 10] = [
    (|of| of.seconds(TableOperation::Load), format::duration, false),
    (|of| of.seconds(TableOperation::Select), format::duration, false),
    (|of| of.seconds(TableOperation::Scan), format::duration, false),
    (|of| of.seconds(TableOperation::Group), format::duration, false),
    (|of| of.seconds(TableOperation::UpdateAll), format::duration, false),
    (|of| of.per_s(TableOperation::PointUpdate), figure, true),
    (|of| of.per_s(TableOperation::PointDelete), figure, true),
    (|of| of.seconds(TableOperation::DeleteAll), format::duration, false),
    (|of| Some(of.size.disk_bytes? as f64), |bytes| format::bytes(bytes as u64), false),
    (|of| Some(of.size.memory_bytes? as f64), |bytes| format::bytes(bytes as u64), false),
];

/// Kinds by operations, each with how much better it is than on rows on disk.
pub(super) fn operations(report: &Report) -> Option<Table> {
    let all = all(report);
    let named = Named::of(report);
    let mut columns = named.columns();
    columns.extend([
        column("load", "time to insert all rows", 0),
        column("SELECT", "time of a SELECT by value", 1),
        column("scan", "time to read and sum all rows", 0),
        column("GROUP BY", "time to group and sum all rows", 1),
        column("UPDATE all", "time to change one column of all rows", 0),
        column("updates/s", "updates by key per second, all clients together", 0),
        column("deletes/s", "deletes by key per second, all clients together", 1),
        column("DELETE all", "time to delete the remaining rows", 1),
        column("on disk", "size after the load, with indexes", 1),
        column("in memory", "size after the load, for tables in memory", 2),
        column("retries", "statements retried after a conflict, all runs together", 3),
    ]);
    let table = Table::of("Kinds of tables", columns, all.iter().map(|one| row(report, one, &named)));
    table.map(|table| table.without_empty_columns(&["in memory", "on disk"]))
}

/// What tells the rows of a table apart: kinds, the other levels, and how statements are sent to the server where named configurations
/// differ in that.
pub(super) struct Named {
    keys: Vec<String>,
    has_access: bool,
}

impl Named {
    pub(super) fn of(report: &Report) -> Self {
        let keys = level_keys(report.trials_of(Workload::Tables)).into_iter();
        let keys: Vec<String> = keys.filter(|key| axis_words(key) != "kind").collect();
        let trials = report.trials_of(Workload::Tables).filter_map(Trial::tables);
        let accesses: BTreeSet<&str> = trials.map(|tables| tables.setup.access.as_str()).collect();
        let has_access = accesses.len() > 1 && !keys.iter().any(|key| axis_words(key) == "access");
        Self { keys, has_access }
    }

    pub(super) fn columns(&self) -> Vec<Column> {
        let access = self.has_access.then(|| words("access", "how statements are sent to the server", 0));
        let kind = [words("kind", "kind of table", 0)];
        kind.into_iter().chain(access).chain(level_columns(&self.keys)).collect()
    }

    pub(super) fn cells(&self, setup: &TablesSetup, levels: &BTreeMap<String, String>) -> Vec<String> {
        let access = self.has_access.then(|| setup.access.clone());
        let kind = [setup.kind.clone()];
        kind.into_iter().chain(access).chain(level_cells(true, levels, &self.keys)).collect()
    }
}

fn row(report: &Report, one: &Against<'_>, named: &Named) -> Row {
    let mut cells = named.cells(one.setup, &one.configuration.levels);
    cells.extend(COLUMNS.iter().map(|(of, print, is_rate)| {
        let value = one.mean(report, of);
        let times = one.times_reference(report, of).map(|times| if *is_rate { times } else { 1.0 / times });
        let ratio = times.map(|times| format!(" (×{})", rounded(times)));
        dash(value.map(|value| format!("{}{}", print(value), ratio.unwrap_or_default())))
    }));
    let runs = one.configuration.measured_in(&report.trials);
    cells.push(grouped(runs.filter_map(Trial::tables).map(|of| of.retries).sum()));
    Row::of(cells)
}

/// How each kind is made, in the words of its engine.
pub(super) fn made(report: &Report) -> Option<Table> {
    let columns = vec![
        words("kind", "kind of table", 0),
        words("access", "how statements are sent to the server", 0),
        words("definition", "DDL and settings", 0),
        words("durable", "guarantee of a commit", 1),
    ];
    let row = |one: &Against<'_>| {
        let setup = one.setup;
        let cells = [&setup.kind, &setup.access, &setup.made, &setup.server.durability];
        Row::of(cells.into_iter().cloned().collect())
    };
    Table::of("Definitions of the tables", columns, all(report).iter().map(row))
}
