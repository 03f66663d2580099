//! What stands at the head of a page: a few large figures, and the one chart that is the answer.

use crate::chart::Chart;
use crate::comparison;
use crate::report::Report;
use crate::workloads;

/// Large figures of one page.
const TILES_MOST: usize = 4;

/// A large figure with what it is about: `1,240` `orders/min`, `1,190 to 1,290`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// What was measured: `Random reads, 8 KiB`.
    pub(crate) label: String,
    pub(crate) figure: String,
    /// Unit of the figure; empty of a count that the label explains.
    pub(crate) unit: String,
    /// Its interval, or what else a reader needs beside it; empty if nothing.
    pub(crate) beside: String,
    pub(crate) tone: Tone,
}

/// Whether a large figure is good or bad by itself. Text says so too, never the colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It is neither.
    Plain,
    /// As it must be: no page damaged.
    Good,
    /// As it must not be: writes lost.
    Bad,
    /// It does not count: its test was invalid. It is struck out.
    Invalid,
}

impl Tile {
    pub(crate) fn new(label: impl Into<String>, figure: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            figure: figure.into(),
            unit: unit.into(),
            beside: String::new(),
            tone: Tone::Plain,
        }
    }

    pub(crate) fn beside(self, beside: impl Into<String>) -> Self {
        Self { beside: beside.into(), ..self }
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// The head of a page.
pub(crate) struct Lead {
    pub(crate) tiles: Vec<Tile>,
    pub(crate) chart: Option<Chart>,
}

impl Lead {
    /// Of a study its comparison; else the figures and the first chart of the workloads, in their order.
    pub(crate) fn of(report: &Report) -> Self {
        if let Some(compared) = &report.comparison {
            return comparison::lead::of(compared);
        }
        let run = || workloads::all().filter(|(workload, _)| report.trials_of(*workload).next().is_some());
        let tiles = run().map(|(_, shown)| shown.tiles(report)).collect();
        Self { tiles: foremost(tiles), chart: run().find_map(|(_, shown)| shown.lead(report)) }
    }
}

/// The first of each, then the second of each, as far as there is room; in the order in which they came.
fn foremost<T>(of_workloads: Vec<Vec<T>>) -> Vec<T> {
    let mut ranked: Vec<(usize, usize, T)> = Vec::new();
    for (workload, all) in of_workloads.into_iter().enumerate() {
        ranked.extend(all.into_iter().enumerate().map(|(place, one)| (place, workload, one)));
    }
    ranked.sort_by_key(|(place, workload, _)| (*place, *workload));
    ranked.truncate(TILES_MOST);
    ranked.sort_by_key(|(place, workload, _)| (*workload, *place));
    ranked.into_iter().map(|(.., one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::foremost;

    #[test]
    fn each_workload_has_a_figure_before_one_has_two() {
        assert_eq!(
            foremost(vec![vec!["a1", "a2", "a3"], vec!["b1"], vec!["c1", "c2"]]),
            ["a1", "a2", "b1", "c1"]
        );
        assert_eq!(foremost(vec![vec!["a1", "a2", "a3", "a4", "a5"]]), ["a1", "a2", "a3", "a4"]);
        assert_eq!(foremost::<&str>(vec![vec![], vec![]]), [""; 0]);
    }
}
