//! The report for a terminal: tables, then one verdict sentence a line.

use comfy_table::{CellAlignment, Table as Grid, TableComponent, presets};
use record::{Lines, shown};

use crate::comparison::section as comparison;
use crate::format;
use crate::report::Report;
use crate::section::{self, Block, Section};
use crate::table::{Row, Table};
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
        let mut blocks = vec![shown(&self.heading()).into_owned(), verdicts(&self.verdicts, width)];
        let compared = self.comparison.iter().flat_map(comparison::blocks);
        blocks.extend(compared.map(|block| printed(&block, width)));
        blocks.extend(comparison::thresholds(&self.thresholds).map(|block| printed(&block, width)));
        if let Some(note) = self.too_many_trials() {
            blocks.push(format::wrapped(&note, width.min(SENTENCE_WIDTH)).join("\n"));
            return joined(blocks);
        }
        let mut sections: Vec<Section> = section::all(self).into_iter().map(|(_, section)| section).collect();
        sections.sort_by_key(|section| section.place.rank());
        blocks.extend(sections.iter().flat_map(|section| &section.blocks).map(|block| printed(block, width)));
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

fn printed(block: &Block, width: usize) -> String {
    let sentence = |text: &str| format::wrapped(text, width.min(SENTENCE_WIDTH)).join("\n");
    match block {
        Block::Main { table, legend } if legend.is_empty() => grid(table, width),
        Block::Main { table, legend } => format!("{}\n\n{}", grid(table, width), sentence(legend)),
        Block::Table(table) | Block::Beside { table, .. } | Block::Folded { table, .. } => {
            titled(table, width)
        }
        Block::Outcomes { table, .. } => titled(table, usize::MAX),
        Block::OnPage { .. } => String::new(),
        Block::Remark(text) => sentence(text),
        Block::Notes { sentences, sources } => {
            sentences.iter().chain(sources).map(|text| sentence(text)).collect::<Vec<String>>().join("\n")
        }
    }
}

pub(crate) fn titled(table: &Table, width: usize) -> String {
    format!("{}\n{}", shown(&table.title), grid(table, width))
}

pub(crate) fn verdicts(verdicts: &[Verdict], width: usize) -> String {
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
