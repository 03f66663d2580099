//! A history as one HTML page that makes no request to anywhere.

use maud::{Markup, html};

use super::{History, HistoryChange, chart, sentence};
use crate::chart::Chart;
use crate::compare::Difference;
use crate::format;
use crate::page::{document, parts, verdicts};
use crate::table::{Column, Row, Table};

/// How the figures came to be.
const METHOD: &str = "Each run is represented by the mean of its complete trials. Change points follow E-divisive (Matteson and James, JASA 109, 2014). A \
    change point is the place where the runs before and after have the largest energy distance. At most 1% of 999 permutations of the runs may have a distance as large. Two change points are at least three runs apart, and the first needs ten runs. Each figure is judged by itself. \
    \"Worse than the baseline\" has three conditions. A change point lies between the baseline and the last run. The geometric mean of the runs since the last change \
    point is worse than that of the runs around the baseline by a relevant difference. Chance makes as large a change in at most 0.2% of looks. This limit is strict because a history is looked at after each run. The interval allows for correlated runs: they count as fewer independent runs. Their number follows from the correlation of neighboring runs between change points, and its standard error. Single spikes are skipped and reported. A change of the machine in the \
    same run is not necessarily the cause.";

impl History {
    /// The history as one self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let charts: Vec<Chart> = self.series.iter().filter_map(|series| chart::of(self, series)).collect();
        let body = html! {
            header {
                h1 { "History" }
                p.meta { (self.title()) }
                nav aria-label="Sections" {
                    a href="#verdicts" { "Verdicts" } a href="#runs" { "Figures over the runs" }
                    @if !self.changes.is_empty() { a href="#changes" { "What changed" } }
                    a href="#method" { "Method" }
                }
            }
            main {
                section id="verdicts" { h2 { "Verdicts" } (verdicts::list(&sentence::all(self))) }
                section id="runs" { h2 { "Figures over the runs" } (parts::charts(&charts)) (self.tables()) }
                @if !self.changes.is_empty() {
                    section id="changes" {
                        h2 { "What changed" }
                        @for change in &self.changes { (self.change(change)) }
                    }
                }
                section id="method" { h2 { "Method" } p { (METHOD) } }
            }
            footer { "Created by prony from the files of the studies." }
        };
        document("History", &body)
    }

    fn tables(&self) -> Markup {
        html! { @for series in &self.series { (parts::table(&self.pieces(series))) } }
    }

    fn change(&self, change: &HistoryChange) -> Markup {
        let run = &self.runs[change.run];
        let found = || change.environment.iter().chain(&change.target).chain(&change.settings);
        html! {
            h3 { (run.name) ", " (parts::instant(&run.started)) }
            @if found().next().is_none() {
                p { "No change of machine, target or settings is recorded." }
            } @else {
                (parts::long_table(&differences(found(), &run.name)))
            }
        }
    }
}

fn differences<'a>(found: impl Iterator<Item = &'a Difference>, run: &str) -> Table {
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| format::UNKNOWN.to_owned());
    let row = |found: &Difference| Row {
        cells: vec![found.what.clone(), cell(&found.first), cell(&found.this)],
        part: false,
    };
    Table {
        title: format!("Changed with {run}"),
        columns: ["setting", "before", "after"].map(Column::words).into(),
        rows: found.map(row).collect(),
    }
}
