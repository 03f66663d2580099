//! A grid of values over two axes. Each cell has a number, and a background that is stronger for greater values.

use super::Chart;
use super::canvas::{Canvas, Ink, Side, TEXT, svg, text_width};
use super::frame::WIDTH;
use crate::table::{Column, Row, Table};

/// Height of a cell, and of the column headings.
const CELL: f64 = 46.0;
const HEAD: f64 = 44.0;
/// Opacity of the strongest background. Text on it stays readable.
const GROUND_MOST: f64 = 0.35;

/// One cell.
pub(crate) struct Cell {
    /// Value that determines the opacity of the background.
    pub(crate) value: f64,
    /// `12,340`
    pub(crate) text: String,
    /// `12,100–12,600`; empty if unknown.
    pub(crate) beside: String,
    /// True for the best value of the grid.
    pub(crate) best: bool,
}

/// The grid with the names of its axes and their levels. A combination that was not measured is an empty cell.
pub(crate) struct Heat {
    pub(crate) heading: String,
    pub(crate) caption: String,
    pub(crate) rows: (String, Vec<String>),
    pub(crate) columns: (String, Vec<String>),
    /// The cells, row by row.
    pub(crate) cells: Vec<Vec<Option<Cell>>>,
}

impl Heat {
    pub(crate) fn chart(&self) -> Chart {
        let height = HEAD + self.cells.len() as f64 * CELL + 4.0;
        let svg = svg((WIDTH, height), &self.heading, &self.description(), |canvas| self.draw(canvas));
        let (heading, caption) = (self.heading.clone(), self.caption.clone());
        Chart { heading, svg, legend: Vec::new(), caption, table: self.table() }
    }

    fn draw(&self, canvas: &mut Canvas<'_>) {
        let widest =
            self.rows.1.iter().map(|level| text_width(level)).fold(text_width(&self.rows.0), f64::max);
        let left = widest.min(WIDTH / 3.0) + 8.0;
        let width = (WIDTH - left) / self.columns.1.len().max(1) as f64;
        canvas.text(Ink::Text, Side::Left, (WIDTH, TEXT * 0.7), &self.columns.0);
        canvas.text(Ink::Text, Side::Right, (0.0, HEAD - TEXT * 0.8), &self.rows.0);
        for (column, level) in self.columns.1.iter().enumerate() {
            let middle = left + (column as f64 + 0.5) * width;
            canvas.text(Ink::Text, Side::Middle, (middle, HEAD - TEXT * 0.8), level);
        }
        let highest = self.all().map(|cell| cell.value).fold(0.0, f64::max);
        for (row, (level, cells)) in self.rows.1.iter().zip(&self.cells).enumerate() {
            let top = HEAD + row as f64 * CELL;
            canvas.text(Ink::Text, Side::Right, (0.0, top + CELL / 2.0), level);
            for (column, cell) in cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let (from, to) = (left + column as f64 * width, left + (column + 1) as f64 * width);
                let share = if highest > 0.0 { (cell.value / highest).clamp(0.0, 1.0) } else { 0.0 };
                let ground = ((from + 1.0, top + 1.0), (to - 1.0, top + CELL - 1.0));
                canvas.rectangle(Ink::Series(0), share * GROUND_MOST, ground.0, ground.1);
                draw_cell(canvas, cell, f64::midpoint(from, to), top);
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().flatten().flatten()
    }

    fn description(&self) -> String {
        let mut told = Vec::new();
        for (level, cells) in self.rows.1.iter().zip(&self.cells) {
            for (column, cell) in self.columns.1.iter().zip(cells) {
                let Some(cell) = cell else { continue };
                let best = if cell.best { ", the best" } else { "" };
                told.push(format!("{level}, {column}: {}{best}", cell.text));
            }
        }
        told.join("; ")
    }

    fn table(&self) -> Table {
        let heads = self.columns.1.iter().map(|level| Column::number(level.clone()));
        let columns = std::iter::once(Column::words(self.rows.0.clone())).chain(heads).collect();
        let told = |cell: &Option<Cell>| match cell {
            Some(cell) if cell.beside.is_empty() => cell.text.clone(),
            Some(cell) => format!("{} ({})", cell.text, cell.beside),
            None => String::new(),
        };
        let row = |(level, cells): (&String, &Vec<Option<Cell>>)| {
            Row::of(std::iter::once(level.clone()).chain(cells.iter().map(told)).collect())
        };
        Table {
            title: self.heading.clone(),
            columns,
            rows: self.rows.1.iter().zip(&self.cells).map(row).collect(),
        }
    }
}

fn draw_cell(canvas: &mut Canvas<'_>, cell: &Cell, middle: f64, top: f64) {
    let text = if cell.best { format!("★ {}", cell.text) } else { cell.text.clone() };
    let height = if cell.beside.is_empty() { CELL / 2.0 } else { CELL * 0.35 };
    canvas.text(Ink::Strong, Side::Middle, (middle, top + height), &text);
    if !cell.beside.is_empty() {
        canvas.text(Ink::Text, Side::Middle, (middle, top + CELL * 0.72), &cell.beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_its_number_and_what_was_not_measured_has_none() {
        let cell = |value: f64, best| {
            Some(Cell { value, text: value.to_string(), beside: "1–9".to_owned(), best })
        };
        let heat = Heat {
            heading: "Rate".to_owned(),
            caption: String::new(),
            rows: ("depth".to_owned(), vec!["1".to_owned(), "4".to_owned()]),
            columns: ("block".to_owned(), vec!["4KiB".to_owned(), "8KiB".to_owned()]),
            cells: vec![vec![cell(5.0, false), None], vec![cell(7.0, false), cell(8.0, true)]],
        };
        let chart = heat.chart();
        assert_eq!(chart.svg.matches("<rect").count(), 3, "no ground without a value");
        assert!(
            chart.svg.contains("★ 8") && chart.svg.contains("1, 4KiB: 5; 4, 4KiB: 7; 4, 8KiB: 8, the best")
        );
        assert_eq!(chart.table.rows[0].cells, ["1", "5 (1–9)", ""]);
    }
}
