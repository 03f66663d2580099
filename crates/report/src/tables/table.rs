//! Tables of kinds of tables: what each operation took, and how each table was made.

use std::collections::{BTreeMap, BTreeSet};

use record::{TablesSetup, Workload};

use super::figures::{Against, Measure, OPERATIONS, SIZES, all};
use super::plain::rounded;
use crate::comparison::axis_words;
use crate::format::grouped;
use crate::report::Report;
use crate::table::{Column, Row, Table, column, dash, level_cells, level_columns, level_keys, words};
use crate::trial::Trial;

/// Kinds by operations, each with how much better it is than on rows on disk.
pub(super) fn operations(report: &Report) -> Option<Table> {
    let all = all(report);
    let named = Named::of(report);
    let mut columns = named.columns();
    columns.extend(measures().map(|measure| column(measure.head, measure.meaning, measure.spare)));
    columns.push(column("retries", "statements retried after a conflict, all runs together", 3));
    let table = Table::of("Kinds of tables", columns, all.iter().map(|one| row(report, one, &named)));
    table.map(|table| table.without_empty_columns(&["in memory", "on disk"]))
}

/// Columns that distinguish the rows of a table: kinds, the other levels, and the way in which statements are sent to the server.
/// The last is a column only if named configurations differ in it.
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
    cells.extend(measures().map(|measure| cell(report, one, measure)));
    cells.push(grouped(one.tables(report).map(|of| of.retries).sum()));
    Row::of(cells)
}

fn measures() -> impl Iterator<Item = &'static Measure> {
    OPERATIONS.iter().chain(&SIZES)
}

/// `470 ms (×1.6)`.
pub(super) fn cell(report: &Report, one: &Against<'_>, measure: &Measure) -> String {
    let times = measure.times_better(one, report);
    let times = times.map(|times| format!(" (×{})", rounded(times))).unwrap_or_default();
    dash(one.mean(report, measure.of).map(|value| format!("{}{times}", (measure.print)(value))))
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
