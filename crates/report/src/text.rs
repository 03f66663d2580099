//! The report for a terminal: tables, then one verdict sentence a line.

use comfy_table::{CellAlignment, Table as Grid, TableComponent, presets};
use record::{Lines, shown};

use crate::comparison::section as comparison;
use crate::format;
use crate::principles;
use crate::report::Report;
use crate::section::{self, Block, Section};
use crate::summary::commented;
use crate::table::{INTERVAL, Table};
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
        let mut blocks = vec![
            self.headed(),
            commented(&self.labels, width.min(SENTENCE_WIDTH)).join("\n"),
            verdicts(&self.verdicts, width),
        ];
        let compared = self.comparison.iter().flat_map(comparison::blocks);
        blocks.extend(compared.map(|block| printed(&block, width)));
        blocks.extend(comparison::thresholds(&self.thresholds).map(|block| printed(&block, width)));
        if let Some(note) = self.too_many_trials() {
            blocks.push(format::wrapped(&note, width.min(SENTENCE_WIDTH)).join("\n"));
            blocks.extend(self.inspected(width));
            blocks.extend(self.principled(width));
            return joined(blocks);
        }
        let mut sections: Vec<Section> = section::all(self).into_iter().map(|(_, section)| section).collect();
        sections.sort_by_key(|section| section.place.rank());
        blocks.extend(sections.iter().flat_map(|section| &section.blocks).map(|block| printed(block, width)));
        blocks.extend(self.inspected(width));
        blocks.extend(self.principled(width));
        joined(blocks)
    }

    /// The user's title, and below it the heading of the measurement.
    fn headed(&self) -> String {
        let lines = self.labels.title.iter().cloned().chain([self.heading()]);
        lines.map(|line| shown(&line).into_owned()).collect::<Vec<String>>().join("\n")
    }

    /// Which principles of a sound evaluation it keeps.
    fn principled(&self, width: usize) -> [String; 2] {
        let source = format::wrapped(&format!("{}.", principles::SOURCE), width.min(SENTENCE_WIDTH));
        [titled(&principles::table(self), width.min(SENTENCE_WIDTH)), source.join("\n")]
    }

    /// What was found of the settings of the machine and its servers, where anything was.
    fn inspected(&self, width: usize) -> Vec<String> {
        let inspection = self.inspection.as_ref().filter(|inspection| !inspection.is_empty());
        inspection.map_or_else(Vec::new, |inspection| inspection.blocks(width))
    }

    /// What a text says in place of the figures of single trials where the trials of a comparison are many.
    fn too_many_trials(&self) -> Option<String> {
        let many = self.comparison.is_some() && self.trials.len() > TRIALS_MOST;
        many.then(|| {
            format!(
                "The page and the CSV file have the figures of each of the {} trials.",
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
        Block::Table(table)
        | Block::Beside { table, .. }
        | Block::Folded { table, .. }
        | Block::Outcomes { table, .. } => titled(table, width),
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
        let sentence = verdict.with_id();
        for (index, line) in format::wrapped(&sentence, width.saturating_sub(9)).into_iter().enumerate() {
            lines.push(if index == 0 { format!("{mark} {line}") } else { format!("         {line}") });
        }
    }
    lines.join("\n")
}

/// A table of at most `width` columns: spare columns are left out, then cells are broken at words, and intervals go last.
pub(crate) fn grid(table: &Table, width: usize) -> String {
    fitted(table, width, '─').join("\n")
}

/// The table without a rule below the headings, for places where lines are scarce.
pub(crate) fn unruled(table: &Table, width: usize) -> Vec<String> {
    let lines = fitted(table, width, ' ');
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

fn fitted(table: &Table, width: usize, rule: char) -> Vec<String> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let mut columns: Vec<usize> = (0..table.columns.len()).collect();
    let mut left_out: Vec<&str> = Vec::new();
    while let Some(sparest) = sparest(table, &columns) {
        let is_interval = table.columns[sparest].head == INTERVAL;
        let fits =
            if is_interval { narrowest_width(table, &columns) } else { natural_width(table, &columns) };
        if fits <= width {
            break;
        }
        columns.retain(|&c| c != sparest);
        left_out.push(&table.columns[sparest].head);
    }
    let mut lines = lines_of(table, &columns, &widths(table, &columns, width), rule);
    if !left_out.is_empty() {
        left_out.reverse();
        let note = format!("({} omitted: too narrow)", left_out.join(", "));
        lines.extend(format::wrapped(&note, width));
    }
    lines
}

/// The column that is needed least, if one may be left out.
fn sparest(table: &Table, columns: &[usize]) -> Option<usize> {
    let spare = columns.iter().copied().filter(|&c| table.columns[c].spare > 0);
    spare.max_by_key(|&c| (table.columns[c].head != INTERVAL, table.columns[c].spare, c))
}

/// The head and the cells of a column.
fn texts(table: &Table, c: usize) -> impl Iterator<Item = &str> {
    table.rows.iter().map(move |row| row.cells[c].as_str()).chain([table.columns[c].head.as_ref()])
}

/// Width of a column whose cells are lines.
fn natural(table: &Table, c: usize) -> usize {
    texts(table, c).map(|text| shown(text).chars().count()).max().unwrap_or(0)
}

/// Width of a column whose cells are broken wherever they can be.
fn narrowest(table: &Table, c: usize) -> usize {
    let words = texts(table, c).flat_map(|text| format::wrapped(text, 1));
    words.map(|word| word.chars().count()).max().unwrap_or(0)
}

/// Width of columns with two spaces between them.
fn together(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

fn natural_width(table: &Table, columns: &[usize]) -> usize {
    together(columns.iter().map(|&c| natural(table, c)))
}

fn narrowest_width(table: &Table, columns: &[usize]) -> usize {
    together(columns.iter().map(|&c| narrowest(table, c)))
}

/// Width of each column: the widest one that can be broken is made narrower until all fit.
fn widths(table: &Table, columns: &[usize], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|&c| natural(table, c)).collect();
    let least: Vec<usize> = columns.iter().map(|&c| narrowest(table, c)).collect();
    while together(widths.iter().copied()) > width {
        let breakable = (0..widths.len()).filter(|&at| widths[at] > least[at]);
        let Some(widest) = breakable.max_by_key(|&at| widths[at]) else { break };
        widths[widest] -= 1;
    }
    widths
}

fn lines_of(table: &Table, columns: &[usize], widths: &[usize], rule: char) -> Vec<String> {
    let natural: Vec<usize> = columns.iter().map(|&c| natural(table, c)).collect();
    // What fits is left as it is: breaking takes several spaces for one.
    let cell = |position: usize, text: &str| match widths[position] {
        width if width < natural[position] => format::wrapped(text, width).join("\n"),
        _ => shown(text).into_owned(),
    };
    let mut grid = Grid::new();
    grid.load_preset(presets::NOTHING);
    grid.set_style(TableComponent::HeaderLines, rule);
    grid.set_style(TableComponent::MiddleHeaderIntersections, rule);
    let cells = |text: &dyn Fn(usize) -> String| {
        columns.iter().enumerate().map(|(at, &c)| cell(at, &text(c))).collect::<Vec<String>>()
    };
    grid.set_header(cells(&|c| table.columns[c].head.to_string()));
    for row in &table.rows {
        grid.add_row(cells(&|c| row.cells[c].clone()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Row, column, words};

    fn table() -> Table {
        let columns = vec![
            words("trial", "", 0),
            column("IOPS", "", 0),
            column(INTERVAL, "", 5),
            column("p99.9", "", 3),
            column("max", "", 1),
            words("because", "", 0),
        ];
        let row = |name: &str, because: &str| {
            let cells = [name, "47,500", "46,900–48,100", "1.92 ms", "12.4 ms", because];
            Row::of(cells.map(str::to_owned).to_vec())
        };
        let rows =
            vec![row("reads", ""), row("writes", "the second controller answered from its cache for 12 ms")];
        Table { title: "t".to_owned(), columns, rows }
    }

    /// The interval was the first column that was left out, and cells were broken inside words.
    #[test]
    fn intervals_are_left_out_last_and_cells_are_broken_at_words() {
        for width in 41..120 {
            let text = grid(&table(), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            for word in "the second controller answered from its cache for".split(' ') {
                assert!(text.split_whitespace().any(|found| found == word), "{word} at {width}:\n{text}");
            }
            assert!(text.contains("46,900–48,100"), "{width}:\n{text}");
            let is_left_out = |head: &str| !text.lines().next().unwrap().contains(head);
            assert!(is_left_out("p99.9") || !is_left_out("max"), "{width}:\n{text}");
        }
        assert!(grid(&table(), 24).contains("(95% CI, max, p99.9"), "{}", grid(&table(), 24));
        assert!(!grid(&table(), usize::MAX).contains("omitted"));
    }
}
