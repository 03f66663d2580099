//! The grid of CrystalDiskMark: a cell for each row and direction, with a bar as long as its throughput.

use crate::chart::Chart;
use crate::chart::canvas::{Canvas, Ink, LARGE, Side, svg, text_width};
use crate::chart::frame::WIDTH;
use crate::chart::scale::Scale;
use crate::disk::Disk;
use crate::format::{self, figure, plain};
use crate::workloads::Shown;

use super::grid::{Cell, DIRECTIONS, Figures, Grid, GridRow};
use super::uncounted;

/// Height of the heads of the columns, of a row, and of the axis below them.
const HEAD: f64 = 22.0;
const ROW: f64 = 56.0;
const AXIS: f64 = 42.0;
/// Between cells.
const GAP: f64 = 8.0;
/// Within a cell: the figure, its interval, the bar of the interval.
const FIGURE: f64 = 16.0;
const SMALL: f64 = 34.0;
const WHISKER: f64 = 45.0;
const INSIDE: f64 = 8.0;
/// Width of a letter of a large figure.
const LETTER: f64 = 0.62 * LARGE;
/// The scale begins at this share of the lowest figure, so that its bar is seen.
const LEAST_SHARE: f64 = 0.5;

/// None where no cell has a figure that counts.
pub(super) fn chart(grid: &Grid) -> Option<Chart> {
    let figures = || grid.rows.iter().flat_map(|row| &row.cells).filter_map(Cell::figures);
    let least = figures().map(|figures| figures.mb_per_s).reduce(f64::min)?;
    let most = figures().map(|figures| figures.interval.map_or(figures.mb_per_s, |(_, high)| high));
    let (low, high) = (least * LEAST_SHARE, most.reduce(f64::max)?);
    let height = HEAD + grid.rows.len() as f64 * ROW + AXIS;
    let names = grid.rows.iter().map(|row| text_width(&row.name)).fold(0.0, f64::max);
    let width = (WIDTH - names) / 2.0;
    let title = "Throughput of reads and writes";
    let columns = [0usize, 1].map(|place| Column {
        ink: Ink::Series(Disk.ink(DIRECTIONS[place])),
        scale: Scale::decades(
            low,
            high,
            names + place as f64 * width + GAP,
            names + (place + 1) as f64 * width - GAP,
        ),
    });
    let description = grid.rows.iter().map(described).collect::<Vec<String>>().join("; ");
    let svg = svg((WIDTH, height), title, &description, |canvas| {
        for (column, direction) in columns.iter().zip(["Read", "Write"]) {
            canvas.text(
                column.ink,
                Side::Right,
                (column.scale.from, HEAD / 2.0),
                &format!("{direction}, MB/s"),
            );
            axis(canvas, column, height - AXIS);
        }
        for (number, row) in grid.rows.iter().enumerate() {
            let top = HEAD + number as f64 * ROW;
            canvas.text(Ink::Text, Side::Right, (0.0, top + FIGURE), &row.name);
            for (column, cell) in columns.iter().zip(&row.cells) {
                draw(canvas, column, top, row, cell);
            }
        }
    });
    Some(Chart {
        heading: title.to_owned(),
        svg,
        legend: Vec::new(),
        caption: format!("{} MB is 10⁶ bytes. The scale of the bars is logarithmic.", mean_in_words(grid)),
        table: grid.table(),
    })
}

/// A direction: its colour, and where its cells are.
struct Column {
    ink: Ink,
    scale: Scale,
}

/// What a figure is. CrystalDiskMark prints the best run.
fn mean_in_words(grid: &Grid) -> &'static str {
    let has_best =
        grid.rows.iter().flat_map(|row| &row.cells).filter_map(Cell::figures).any(Figures::is_repeated);
    if has_best {
        "Mean of the trials with its 95% interval. CrystalDiskMark prints the best run: see the figures of this chart."
    } else {
        "Measured once, with the 95% interval of that trial where it is long enough."
    }
}

fn axis(canvas: &mut Canvas<'_>, column: &Column, y: f64) {
    let scale = &column.scale;
    canvas.line(Ink::Axis, 1.0, (scale.from, y), (scale.to, y));
    let mut free = 0.0;
    for tick in scale.ticks() {
        let (at, text) = (scale.at(tick), plain(tick));
        canvas.line(Ink::Axis, 1.0, (at, y), (at, y + 4.0));
        let half = text_width(&text) / 2.0;
        if at - half >= free && at + half <= scale.to + GAP {
            canvas.text(Ink::Text, Side::Middle, (at, y + 14.0), &text);
            free = at + half;
        }
    }
    canvas.text(Ink::Text, Side::Left, (scale.to, y + 32.0), &format!("MB/s{}", scale.remark()));
}

fn draw(canvas: &mut Canvas<'_>, column: &Column, top: f64, row: &GridRow, cell: &Cell) {
    let scale = &column.scale;
    let (left, bottom) = (scale.from, top + ROW - GAP);
    canvas.rectangle(Ink::Shade, 1.0, (left, top), (scale.to, bottom));
    let text = left + INSIDE;
    match cell {
        Cell::Counts(figures) => {
            bar(canvas, column, (top, bottom), figures);
            canvas.large(Side::Right, (text, top + FIGURE), &figure(figures.mb_per_s));
            let interval = figures.interval.map(|(low, high)| format::range(low, high));
            canvas.text(Ink::Text, Side::Right, (text, top + SMALL), &interval.unwrap_or_default());
            if row.is_small() {
                let iops = format!("{} IOPS", figure(figures.per_s));
                canvas.text(Ink::Text, Side::Left, (scale.to - GAP / 2.0, top + FIGURE), &iops);
            }
        }
        Cell::Invalid { mb_per_s, state } => {
            if let Some(mb_per_s) = mb_per_s {
                let struck = figure(*mb_per_s);
                canvas.large(Side::Right, (text, top + FIGURE), &struck);
                let end = text + struck.chars().count() as f64 * LETTER;
                canvas.line(Ink::Strong, 2.0, (text - 2.0, top + FIGURE), (end, top + FIGURE));
            }
            canvas.text(Ink::Text, Side::Right, (text, top + SMALL), &uncounted(*state));
        }
        Cell::Missing => canvas.text(Ink::Text, Side::Right, (text, top + FIGURE), "not measured"),
    }
}

/// From the left end to the throughput, and the interval as a line at its foot.
fn bar(canvas: &mut Canvas<'_>, column: &Column, (top, bottom): (f64, f64), figures: &Figures) {
    let (ink, scale) = (column.ink, &column.scale);
    let end = scale.at(figures.mb_per_s);
    canvas.rectangle(ink, 0.22, (scale.from, top), (end, bottom));
    canvas.line(ink, 2.0, (end, top), (end, bottom));
    if let Some((low, high)) = figures.interval {
        canvas.line(ink, 3.0, (scale.at(low), top + WHISKER), (scale.at(high), top + WHISKER));
    }
}

fn described(row: &GridRow) -> String {
    let cells = row.cells.iter().zip(DIRECTIONS).map(|(cell, direction)| match cell {
        Cell::Counts(figures) => format!("{direction} {} MB/s", figure(figures.mb_per_s)),
        Cell::Invalid { state, .. } => format!("{direction} {}", format::state(*state)),
        Cell::Missing => format!("{direction} not measured"),
    });
    format!("{}: {}", row.name, cells.collect::<Vec<String>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::report::Report;
    use record::{State, StudyRecord};

    fn drawn(study: &StudyRecord) -> Option<Chart> {
        chart(&Grid::of(&Report::of(study)).unwrap())
    }

    /// Bars of a series: areas that are drawn in its colour.
    fn bars(chart: &Chart, series: u8) -> usize {
        let ink = format!("fill=\"var(--series-{series})\"");
        chart.svg.split('<').filter(|element| element.starts_with("rect") && element.contains(&ink)).count()
    }

    #[test]
    fn each_cell_has_its_figure_and_a_bar() {
        let chart = drawn(&samples::cdm()).unwrap();
        assert_eq!((bars(&chart, 1), bars(&chart, 2)), (3, 3));
        for told in [">2,139<", ">60.6<", ">29,580 IOPS<", "RND4K Q1T1: read 121 MB/s, write 60.6 MB/s"] {
            assert!(chart.svg.contains(told), "{told} in {}", chart.svg);
        }
        assert!(chart.caption.contains("best run"), "{}", chart.caption);
        assert_eq!(chart.table.rows.len(), 6);
    }

    #[test]
    fn a_cell_that_does_not_count_has_no_bar_and_says_so() {
        let mut study = samples::cdm();
        let writes = study.trials.iter_mut().filter(|trial| trial.trial.name == "RND4K Q1T1 write");
        writes.for_each(|trial| trial.trial.state = State::Invalid);
        let chart = drawn(&study).unwrap();
        assert_eq!((bars(&chart, 1), bars(&chart, 2)), (3, 2));
        assert!(chart.svg.contains(">invalid, does not count<"), "{}", chart.svg);
        study.trials.iter_mut().for_each(|trial| trial.trial.state = State::Invalid);
        assert!(drawn(&study).is_none(), "no figure counts");
    }
}
