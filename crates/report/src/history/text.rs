//! A history for a terminal: sentences, then a line of each figure with its pieces.

use record::{Lines, shown};

use super::{History, HistorySeries, sentence};
use crate::format::{self, figure};
use crate::page::parts::instant_text;
use crate::table::{Column, Row, Table};
use crate::text::{joined, titled, verdicts};

/// Heights of a line of text, from the least value to the greatest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Runs that a line shows, the last ones.
const BARS_MOST: usize = 60;

impl History {
    /// The history as text, at most `width` columns wide where the tables allow it.
    #[must_use]
    pub fn text(&self, width: Option<u16>) -> Lines {
        let width = width.map_or(usize::MAX, usize::from).max(40);
        let title = format!("History: {}\n{}", shown(&self.measured), shown(&self.title()));
        let next = format!("next: {}", sentence::next(self));
        let mut blocks = vec![title, verdicts(&sentence::all(self), width), shown(&next).into_owned()];
        blocks.extend(self.series.iter().map(|series| titled(&self.pieces(series), width)));
        joined(blocks)
    }

    /// Its sentences alone.
    #[must_use]
    pub fn verdicts(&self, width: Option<u16>) -> Lines {
        let width = width.map_or(usize::MAX, usize::from).max(40);
        joined(vec![verdicts(&sentence::all(self), width)])
    }

    /// `12 runs, 2026-10-01 02:00 UTC to 2026-10-12 02:00 UTC`.
    pub(super) fn title(&self) -> String {
        let runs = format::counted(self.runs.len(), "run", "runs");
        match (self.runs.first(), self.runs.last()) {
            (Some(first), Some(last)) => {
                format!("{runs}, {} to {}", instant_text(&first.started), instant_text(&last.started))
            }
            _ => runs,
        }
    }

    /// The pieces of a series, under a line of all its values.
    pub(super) fn pieces(&self, series: &HistorySeries) -> Table {
        let columns = vec![
            Column::words("from"),
            Column::words("to"),
            Column::number("runs"),
            Column::number(series.metric.unit),
            Column::number("gain"),
            Column::number("by chance"),
        ];
        let row = |piece: &super::Piece| Row {
            cells: vec![
                instant_text(&self.runs[piece.first].started),
                instant_text(&self.runs[piece.last].started),
                piece.runs.to_string(),
                figure(piece.mean),
                series.change(piece.gain_pct).map(|change| change.told()).unwrap_or_default(),
                piece.chance.map(figure).unwrap_or_default(),
            ],
            part: false,
        };
        let resembles = series.resemblance.map(|found| format!("  lag 1: {:.1}", found.correlation));
        let (name, bars) = (sentence::name(series), bars(&series.values));
        let title = format!("{name}  {bars}{}", resembles.unwrap_or_default()).trim_end().to_owned();
        Table { title, columns, rows: series.pieces.iter().map(row).collect() }
    }
}

/// A letter for each of the last values, between the least and the greatest of them; a dot where there is none.
fn bars(values: &[Option<f64>]) -> String {
    let shown = &values[values.len().saturating_sub(BARS_MOST)..];
    let known = || shown.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let bar = |value: &Option<f64>| match value {
        Some(value) if high > low => BARS[(((value - low) / (high - low)) * 7.0).round() as usize],
        Some(_) => BARS[3],
        None => '·',
    };
    shown.iter().map(bar).collect()
}
