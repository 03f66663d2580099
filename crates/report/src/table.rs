//! The tables of figures, as cells of text: the text report and the page print the same ones.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::format;
use crate::trial::Trial;

/// A table; all columns but those of [`Column::text`] are numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// A column's head, and how much it is needed where space is scarce.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) head: Cow<'static, str>,
    pub(crate) meaning: &'static str,
    pub(crate) text: bool,
    /// Columns with the greatest number are left out first; 0 stays.
    pub(crate) spare: u8,
}

impl Column {
    /// A column of numbers that explains itself.
    pub(crate) fn number(head: impl Into<Cow<'static, str>>) -> Self {
        Self { head: head.into(), meaning: "", text: false, spare: 0 }
    }

    /// A column of words that explains itself.
    pub(crate) fn words(head: impl Into<Cow<'static, str>>) -> Self {
        Self { text: true, ..Self::number(head) }
    }
}

/// A row; the rows of single kinds belong to the row above them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    pub(crate) part: bool,
}

impl Row {
    /// A row that belongs to no other.
    pub(crate) fn of(cells: Vec<String>) -> Self {
        Self { cells, part: false }
    }
}

/// The head of intervals, without which a figure says little: their column is left out last.
pub(crate) const INTERVAL: &str = "95% CI";

/// Heads that do not explain themselves.
const EXPLAINED: [&str; 5] = ["MB/s", INTERVAL, "in flight", "CPU µs", "all CPU µs"];

impl Table {
    /// A table of these rows; none without a row.
    pub(crate) fn of(title: &str, columns: Vec<Column>, rows: impl IntoIterator<Item = Row>) -> Option<Self> {
        let rows: Vec<Row> = rows.into_iter().collect();
        (!rows.is_empty()).then(|| Self { title: title.to_owned(), columns, rows })
    }

    /// What the columns mean whose heads do not say it.
    pub(crate) fn legend(&self) -> String {
        let explained = self.columns.iter().filter(|column| EXPLAINED.contains(&column.head.as_ref()));
        let parts: Vec<String> =
            explained.map(|column| format!("{}: {}", column.head, column.meaning)).collect();
        parts.join("; ")
    }

    /// Leaves out columns that say nothing in any row.
    pub(crate) fn without_empty_columns(mut self, optional: &[&str]) -> Self {
        for head in optional {
            let Some(index) = self.columns.iter().position(|column| column.head == *head) else { continue };
            let empty = |row: &Row| row.cells[index].is_empty() || row.cells[index] == format::UNKNOWN;
            if self.rows.iter().all(empty) {
                self.columns.remove(index);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(index)));
            }
        }
        self
    }
}

pub(crate) fn dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| format::UNKNOWN.to_owned())
}

pub(crate) const fn column(head: &'static str, meaning: &'static str, spare: u8) -> Column {
    Column { head: Cow::Borrowed(head), meaning, text: false, spare }
}

pub(crate) const fn words(head: &'static str, meaning: &'static str, spare: u8) -> Column {
    Column { head: Cow::Borrowed(head), meaning, text: true, spare }
}

/// The number of a trial; it stays where nothing else tells rows apart.
pub(crate) fn number_column<'a>(trials: impl Iterator<Item = &'a Trial>) -> Column {
    let trials: Vec<&Trial> = trials.collect();
    let shared = trials.iter().any(|trial| is_shared(trial, trials.iter().copied()));
    column("#", "number of the trial", if shared { 0 } else { 7 })
}

/// Whether another trial has the same name and levels, as a repeat has, or a step of the same search.
pub(crate) fn is_shared<'a>(trial: &Trial, mut all: impl Iterator<Item = &'a Trial>) -> bool {
    all.any(|other| {
        other.number != trial.number
            && other.name == trial.name
            && other.levels == trial.levels
            && other.configuration == trial.configuration
    })
}

/// The axes of trials, in the order of their names.
pub(crate) fn level_keys<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<String> {
    let mut keys: Vec<String> = trials.flat_map(|trial| trial.levels.keys().cloned()).collect();
    keys.sort();
    keys.dedup();
    keys
}

pub(crate) fn level_columns(keys: &[String]) -> impl Iterator<Item = Column> + '_ {
    keys.iter().map(|key| Column::number(crate::axis_words(key)))
}

/// The level of each axis; nothing in the rows of parts.
pub(crate) fn level_cells<'a>(
    main: bool,
    levels: &'a BTreeMap<String, String>,
    keys: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    keys.iter().map(move |key| levels.get(key).filter(|_| main).cloned().unwrap_or_default())
}
