//! The report for a terminal: tables, then one verdict sentence a line.

use comfy_table::{CellAlignment, Table as Grid, TableComponent, presets};
use record::{Lines, shown};

use crate::comparison::StudyComparison;
use crate::disk::SteadyState;
use crate::format;
use crate::historian::HistorianComparison;
use crate::orders::Cost;
use crate::orders::OrdersComparison;
use crate::published::Comparison;
use crate::report::Report;
use crate::table::{self, Row, Table};
use crate::verdict::Verdict;

/// Sentences are not set wider than this: longer lines are hard to read.
pub(crate) const SENTENCE_WIDTH: usize = 100;

/// With more trials than this, a comparison's tables stand alone.
const TRIALS_MOST: usize = 40;

impl Report {
    /// The report as text, at most `width` columns wide where the tables allow it: columns that do not fit are left
    /// out, and the text says which. Without a width, nothing is left out.
    #[must_use]
    pub fn text(&self, width: Option<u16>) -> Lines {
        let width = width.map_or(usize::MAX, usize::from).max(40);
        let mut blocks = vec![shown(&self.title).into_owned(), verdicts(&self.verdicts, width)];
        blocks.extend(self.comparison.as_ref().map(|compared| comparison(compared, width)));
        if let Some(note) = self.too_many_trials() {
            blocks.push(format::wrapped(&note, width.min(SENTENCE_WIDTH)).join("\n"));
            return joined(blocks);
        }
        let main = table::main(self);
        let databases = self.historians().chain(self.order_stores()).next().is_some();
        if !main.rows.is_empty() || !databases {
            blocks.push(grid(&main, width));
            blocks.push(format::wrapped(&main.legend(), width.min(SENTENCE_WIDTH)).join("\n"));
        }
        blocks.extend(table::open_loops(self).map(|table| grid(&table, width)));
        blocks.extend(self.steady_state.as_ref().and_then(matrix));
        blocks.extend(historian(self, width));
        blocks.extend(orders(self, width));
        blocks.extend(self.cost.iter().flat_map(|found| cost(found, width)));
        blocks.extend(self.published.iter().map(|comparison| published(comparison, width)));
        blocks.extend(
            self.published_historian.as_ref().map(|comparison| published_historian(comparison, width)),
        );
        blocks.extend(self.published_orders.as_ref().map(|comparison| published_orders(comparison, width)));
        joined(blocks)
    }

    /// What a text says in place of the figures of single trials where the trials of a comparison are many.
    fn too_many_trials(&self) -> Option<String> {
        let many = self.comparison.is_some() && self.trials.len() > TRIALS_MOST;
        many.then(|| {
            format!(
                "The figures of the {} trials by themselves are in the page and in the CSV file.",
                format::grouped(self.trials.len() as u64)
            )
        })
    }
}

/// Blocks with an empty line between them.
pub(crate) fn joined(mut blocks: Vec<String>) -> Lines {
    blocks.retain(|block| !block.is_empty());
    Lines::of(&(blocks.join("\n\n") + "\n"))
}

/// The tables of a study that compares.
fn comparison(comparison: &StudyComparison, width: usize) -> String {
    let main = table::combinations(comparison);
    let wrapped = |text: &str| format::wrapped(text, width.min(SENTENCE_WIDTH)).join("\n");
    let mut blocks = vec![grid(&main, width), wrapped(&table::legend(comparison))];
    let notes: Vec<String> = table::published_notes(comparison).iter().map(|note| wrapped(note)).collect();
    blocks.push(notes.join("\n"));
    blocks.extend(table::thresholds(comparison).map(|table| titled(&table, usize::MAX)));
    blocks.extend(table::other_metrics(comparison).map(|table| titled(&table, width)));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n")
}

pub(crate) fn titled(table: &Table, width: usize) -> String {
    format!("{}\n{}", shown(&table.title), grid(table, width))
}

/// The tables of historians. Only those after the first have titles: what the first one is, the verdicts say.
fn historian(report: &Report, width: usize) -> Vec<String> {
    let Some(main) = table::historians(report) else { return Vec::new() };
    let mut blocks = vec![grid(&main, width)];
    blocks.push(format::wrapped(&main.legend(), width.min(SENTENCE_WIDTH)).join("\n"));
    let titled = |table: &Table| titled(table, width);
    blocks.extend(report.searches.iter().map(|search| titled(&table::steps(search))));
    blocks.extend(report.flush_rows.iter().map(|series| titled(&table::flush_rows(series))));
    let others = [table::screens(report), table::maintenance(report), table::storage(report)];
    blocks.extend(others.iter().flatten().map(titled));
    blocks
}

/// The tables of order stores, the first one without a title as above.
fn orders(report: &Report, width: usize) -> Vec<String> {
    let Some(main) = table::orders(report) else { return Vec::new() };
    let mut blocks = vec![grid(&main, width)];
    blocks.push(format::wrapped(&main.legend(), width.min(SENTENCE_WIDTH)).join("\n"));
    blocks.extend(table::order_details(report).iter().map(|table| titled(table, width)));
    blocks
}

fn cost(cost: &Cost, width: usize) -> Vec<String> {
    let others = [table::price_steps(cost), table::systems(cost)];
    let mut blocks = vec![titled(&table::prices(cost), width)];
    blocks.push(format::wrapped(&table::price_source(cost), width.min(SENTENCE_WIDTH)).join("\n"));
    blocks.extend(others.iter().flatten().map(|table| titled(table, width)));
    let notes = table::system_notes(cost);
    let notes = notes.iter().flat_map(|note| format::wrapped(note, width.min(SENTENCE_WIDTH)));
    blocks.push(notes.collect::<Vec<String>>().join("\n"));
    blocks
}

fn published_orders(comparison: &OrdersComparison, width: usize) -> String {
    let (table, _) = table::published_orders(comparison);
    let notes = comparison.differences.iter().chain([&comparison.source]);
    let notes: Vec<String> =
        notes.flat_map(|note| format::wrapped(note, width.min(SENTENCE_WIDTH))).collect();
    format!("{}\n\n{}", titled(&table, width), notes.join("\n"))
}

fn published_historian(comparison: &HistorianComparison, width: usize) -> String {
    let (placements, _) = table::placements(comparison);
    let others = [table::published_flush(comparison), table::real_project(comparison)];
    let tables = std::iter::once(&placements).chain(others.iter().flatten());
    let mut blocks: Vec<String> = tables.map(|table| titled(table, width)).collect();
    let notes =
        comparison.differences.iter().cloned().chain([table::growth(comparison), comparison.source.clone()]);
    let notes: Vec<String> =
        notes.flat_map(|note| format::wrapped(&note, width.min(SENTENCE_WIDTH))).collect();
    blocks.push(notes.join("\n"));
    blocks.join("\n\n")
}

fn verdicts(verdicts: &[Verdict], width: usize) -> String {
    let width = width.min(SENTENCE_WIDTH);
    let mut lines = Vec::new();
    for verdict in verdicts {
        let mark = format!("{:<8}", verdict.level.word());
        let sentence = format!("{}.", verdict.sentence.trim_end_matches('.'));
        for (index, line) in format::wrapped(&sentence, width.saturating_sub(9)).into_iter().enumerate() {
            lines.push(if index == 0 { format!("{mark} {line}") } else { format!("         {line}") });
        }
    }
    lines.join("\n")
}

pub(crate) fn grid(table: &Table, width: usize) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let mut columns: Vec<usize> = (0..table.columns.len()).collect();
    let mut left_out: Vec<&str> = Vec::new();
    while natural_width(table, &columns) > width {
        let sparest = columns
            .iter()
            .copied()
            .filter(|&c| table.columns[c].spare > 0)
            .max_by_key(|&c| (table.columns[c].spare, c));
        let Some(sparest) = sparest else { break };
        columns.retain(|&c| c != sparest);
        left_out.push(&table.columns[sparest].head);
    }
    let mut lines = lines_of(table, &columns);
    if !left_out.is_empty() {
        left_out.reverse();
        let note = format!("({} left out for want of width)", left_out.join(", "));
        lines.extend(format::wrapped(&note, width));
    }
    lines.join("\n")
}

fn natural_width(table: &Table, columns: &[usize]) -> usize {
    let width = |text: &str| shown(text).chars().count();
    let cell = |c: usize| {
        let rows = table.rows.iter().map(|row| width(&row.cells[c]));
        rows.chain([width(&table.columns[c].head)]).max().unwrap_or(0)
    };
    columns.iter().map(|&c| cell(c) + 2).sum::<usize>().saturating_sub(2)
}

fn lines_of(table: &Table, columns: &[usize]) -> Vec<String> {
    let mut grid = Grid::new();
    grid.load_preset(presets::NOTHING);
    grid.set_style(TableComponent::HeaderLines, '─');
    grid.set_style(TableComponent::MiddleHeaderIntersections, '─');
    grid.set_header(columns.iter().map(|&c| shown(&table.columns[c].head)));
    for Row { cells, .. } in &table.rows {
        grid.add_row(columns.iter().map(|&c| shown(&cells[c])));
    }
    for (position, &index) in columns.iter().enumerate() {
        let last = position + 1 == columns.len();
        if let Some(column) = grid.column_mut(position) {
            column.set_padding((0, if last { 0 } else { 1 }));
            let alignment =
                if table.columns[index].text { CellAlignment::Left } else { CellAlignment::Right };
            column.set_cell_alignment(alignment);
        }
    }
    grid.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn matrix(state: &SteadyState) -> Option<String> {
    let table = table::matrix(state)?;
    Some(format!(
        "{}\n{}",
        shown(&table.title),
        lines_of(&table, &(0..table.columns.len()).collect::<Vec<_>>()).join("\n")
    ))
}

fn published(comparison: &Comparison, width: usize) -> String {
    let mut lines = vec![format!("{}: beside published figures", shown(&comparison.configuration))];
    lines.push(grid(&table::published(comparison), width));
    let notes = comparison.differences.iter().chain(&comparison.sources);
    lines.extend(notes.flat_map(|note| format::wrapped(note, width.min(SENTENCE_WIDTH))));
    lines.join("\n")
}
