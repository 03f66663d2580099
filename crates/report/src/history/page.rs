//! A history as one HTML page that makes no request to anywhere.

use maud::{Markup, html};

use super::{History, HistoryChange, HistorySeries, SeriesCourse, SinceVerdict, chart, sentence};
use crate::chart::Chart;
use crate::compare::Difference;
use crate::format;
use crate::lead::{Tile, Tone};
use crate::page::{document, lead, parts, verdicts};
use crate::summary::Reliability;
use crate::table::{Column, Row, Table};
use crate::verdict::Level;

/// Large figures, and sentences, under the title.
const TILES_MOST: usize = 4;
const SAID_MOST: usize = 4;

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
        let (trust, why) = self.trust();
        let charts: Vec<Chart> = self.series.iter().filter_map(|series| chart::of(self, series)).collect();
        let body = html! {
            header {
                h1 { "History: " span.on { (self.measured) } }
                p.meta { (self.title()) }
                (lead::tiles(&self.tiles()))
                (lead::reliability(trust, &format!(": {why}"), &html! {}))
                (lead::beside(&self.said(), charts.first()))
                nav aria-label="Sections" {
                    a href="#verdicts" { "Verdicts" } a href="#runs" { "Figures over the runs" }
                    @if !self.changes.is_empty() { a href="#changes" { "What changed" } }
                    a href="#method" { "Method" }
                }
            }
            main {
                section id="verdicts" { h2 { "Verdicts" } (verdicts::list(&sentence::all(self))) }
                section id="runs" { h2 { "Figures over the runs" } (parts::charts(charts.get(1..).unwrap_or_default())) (self.tables()) }
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
        document(&format!("History: {}", self.measured), &body)
    }

    /// The last value of the first figures, and how it compares with the baseline.
    fn tiles(&self) -> Vec<Tile> {
        let last = |series: &HistorySeries| {
            let value = series.values.iter().rev().flatten().next()?;
            let tile = Tile::new(sentence::name(series), format::figure(*value), series.metric.unit);
            let change = series.since_baseline.and_then(|since| series.change(since.gain_pct));
            let changed = |words: &str| match &change {
                Some(change) => format!("last run; {words}, {}", change.says()),
                None => format!("last run; {words}"),
            };
            Some(match series.since_baseline.map(|since| since.verdict) {
                None => tile.beside(self.since_before(series)),
                Some(SinceVerdict::Regressed) => {
                    tile.beside(changed("worse than the baseline")).tone(Tone::Bad)
                }
                Some(SinceVerdict::NotShown) => tile.beside(changed("perhaps worse than the baseline")),
                Some(SinceVerdict::Changed) => {
                    tile.beside(changed("changed since the baseline, not for the worse"))
                }
                Some(SinceVerdict::Unchanged) => tile.beside("last run; no change since the baseline"),
                Some(SinceVerdict::Unknown) => tile.beside("last run; unknown against the baseline"),
            })
        };
        self.series.iter().filter_map(last).take(TILES_MOST).collect()
    }

    /// What the last run is, with the last change before it.
    fn since_before(&self, series: &HistorySeries) -> String {
        let change = match (series.course, series.pieces.last()) {
            (SeriesCourse::Drift { gain_pct, .. }, _) => {
                series.change(gain_pct).map(|change| format!("drifts, {} over all runs", change.says()))
            }
            (_, Some(piece)) if piece.first > 0 => series
                .change(piece.gain_pct)
                .map(|change| format!("{} since {}", change.says(), shortly(&self.runs[piece.first].name))),
            _ => None,
        };
        format!("last run{}", change.map(|change| format!("; {change}")).unwrap_or_default())
    }

    /// How far its change points can be trusted, and why.
    fn trust(&self) -> (Reliability, String) {
        let runs = format::counted(self.runs.len(), "run", "runs");
        if self.runs.len() < stats::RUNS_MIN {
            return (Reliability::Low, format!("{runs}, and a change point needs {}", stats::RUNS_MIN));
        }
        match self.left_out.len() {
            0 => (
                Reliability::Medium,
                format!(
                    "{runs}; chance alone makes a change point in about {} of figures, and in more if you look after each run",
                    format::per_cent(stats::CHANGE_CHANCE_MAX)
                ),
            ),
            out => (Reliability::Medium, format!("{runs}; {} skipped", format::counted(out, "run", "runs"))),
        }
    }

    /// The gravest sentences; the verdicts have all.
    fn said(&self) -> Markup {
        let mut all = sentence::all(self);
        all.retain(|verdict| verdict.level != Level::Note);
        all.sort_by_key(|verdict| verdict.level);
        html! {
            dl.summary {
                @for (index, verdict) in all.iter().take(SAID_MOST).enumerate() {
                    dt.result { @if index == 0 { "Result" } }
                    dd.result { (verdicts::ended(&verdict.sentence())) }
                }
                @if all.len() > SAID_MOST {
                    dt.result {}
                    dd.result { a href="#verdicts" { (format::counted(all.len() - SAID_MOST, "more result", "more results")) } }
                }
                dt { "Next" }
                dd { (verdicts::ended(&format::capital(&sentence::next(self)))) }
            }
        }
    }

    fn tables(&self) -> Markup {
        html! { @for series in &self.series { (parts::table(&self.pieces(series))) } }
    }

    fn change(&self, change: &HistoryChange) -> Markup {
        let run = &self.runs[change.run];
        let found = || change.differences();
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

/// The last piece of the path to a run.
fn shortly(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().unwrap_or(name)
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
