//! A history as one HTML page that makes no request to anywhere.

use maud::{Markup, html};

use super::{History, HistoryChange, chart, sentence};
use crate::chart::Chart;
use crate::compare::Difference;
use crate::format;
use crate::page::{document, parts, verdicts};
use crate::table::{Column, Row, Table};

/// How the figures came to be.
const METHOD: &str = "A run counts by the mean of its complete trials. Change points are those of E-divisive (Matteson and James, \
    JASA 109, 2014): places where the runs before and after have the largest energy distance, if runs in another order have one \
    as large in at most 1 % of 999 permutations; three runs at least lie between two, and ten are needed for the first. Each \
    figure is looked through by itself. Worse than the baseline: a change point lies between, the ratio of the runs since the last \
    change point to those around the baseline (geometric means) is worse by what matters, and chance makes as large a change in at \
    most 0.2 % of looks, since a history is looked at after each run. The interval allows for runs that resemble the ones before: \
    they count as as many independent ones as tell as much, by the correlation of neighbours within the pieces and its standard error. Lone spikes are left \
    out and reported. What changed in the machine with a run need not be the cause.";

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
            footer { "Made by prony from the studies' own files." }
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
        columns: ["what", "before", "from then on"].map(Column::words).into(),
        rows: found.map(row).collect(),
    }
}
