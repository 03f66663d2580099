//! What a report says of a historian: records, searches for the rate that is held, rows of a flush, purges and growth.

mod buffered;
mod chart;
mod columns;
mod doubt;
mod facts;
mod finding;
mod flush;
mod growth;
mod lead;
mod method;
mod model;
mod plain;
mod published;
mod search_chart;
mod table;

use record::historian::{COMMIT, KINDS, RECORD, TREND};
use record::{
    Calibration, Command, MeasuredTrial, OFFERED, Outage, PENDING, PENDING_MAX, Parameter, Sample, Server,
    Setup, State, Workload,
};
use serde::Serialize;
use stats::{Chance, Written};

pub(crate) use buffered::Buffered;
pub use flush::{FlushPoint, FlushSeries};
pub use model::{Historian, Maintenance, Reads, Storage};
pub use published::{
    FlushComparison, Growth, HistorianComparison, OurFlush, OurRate, Placement, RealProject,
};

use crate::chart::Chart;
use crate::configuration::Configuration;
use crate::csv::Field;
use crate::faults::Account;
use crate::format;
use crate::lead::Tile;
use crate::limit::{BUSY_SHARE, Limit};
use crate::metrics::{MetricOf, ms};
use crate::percentile::PercentileInterval;
use crate::report::Report;
use crate::search::Search;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::trial::{Figures, Trial, per_s};
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::workloads::{Alone, Common, Facts, InShort, Judged, Limits, Second, Shown, Words, Worked};

/// The historian as a report shows it.
pub(crate) struct OfHistorian;

/// What historians came to together.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Series over the rows of a flush.
    pub flush_rows: Vec<FlushSeries>,
    /// Published figures beside the measured ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_historian: Option<HistorianComparison>,
}

impl Series {
    pub(crate) fn of(
        configurations: &[Configuration],
        searches: &[Search],
        trials: &[Trial],
        is_compared: bool,
    ) -> Self {
        let flush_rows = flush::all(configurations, searches, trials, is_compared);
        let measured = published::Measured { configurations, searches, flush_rows: &flush_rows, trials };
        let published_historian = published::beside(&measured);
        Self { flush_rows, published_historian }
    }
}

impl Trial {
    /// Figures of a historian.
    #[must_use]
    pub fn historian(&self) -> Option<&Historian> {
        match &self.worked {
            Some(Worked::Historian(historian)) => Some(historian),
            _ => None,
        }
    }
}

impl Report {
    /// Trials of historians.
    fn historians(&self) -> impl Iterator<Item = &Trial> {
        self.trials_of(Workload::Historian)
    }
}

const UNIT: Unit = Unit::a_second("records/s", "records per second", "records");

static WORDS: Words = Words {
    one: "historian",
    many: "historians",
    anchor: "historian",
    unit: UNIT,
    rate_metric: "records_per_s",
    headlines: &[finding::RECORD_RATE, finding::SEARCH],
    replaced: &[finding::RECORD_RATE, finding::SEARCH, finding::FLUSH_ROWS, finding::GROWTH],
    all_in_flight: |slots| format!("all {} places of the buffer were full", format::grouped(slots)),
};

static LIMITS: Limits = Limits {
    busy_rule: "historian_cpu",
    thread: "the busiest thread of the historian",
    instead: "its CPU, not the database",
    remedy: ", and add writers",
    alone: Some(Alone {
        rule: "historian_rate",
        reaches: "prony can collect and buffer without a database",
        remedy: "",
    }),
    late_remedy: None,
    is_alone: false,
};

impl Shown for OfHistorian {
    fn question(&self, _: &Report) -> &'static str {
        "How many records per second does this database sustain?"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn worked(&self, measured: &MeasuredTrial, common: &Common<'_>) -> Option<Worked> {
        Historian::of(measured, common).map(|historian| Worked::Historian(Box::new(historian)))
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[
            ("records_per_s", |trial| trial.historian()?.records_per_s),
            ("commit_p99_ms", |trial| ms(trial.historian()?.flush?.p99_us)),
            ("trend_p99_ms", |trial| ms(trial.historian()?.trend.as_ref()?.latency.p99_us)),
            ("pending_mean", |trial| trial.historian()?.pending_mean),
            ("pending_max", |trial| trial.historian()?.pending_max),
        ]
    }

    fn percentile_interval(&self, trial: &Trial, metric: &str) -> Option<PercentileInterval> {
        let kind = match metric {
            "commit_p99_ms" => COMMIT,
            "trend_p99_ms" => TREND,
            _ => return None,
        };
        trial.figures.iter().find(|figures| figures.kind == kind)?.intervals.p99_us
    }

    fn kinds(&self) -> &'static [&'static str] {
        &KINDS
    }

    /// Events are collected by one thread.
    fn calibrated(&self, setup: &Setup, _: u32) -> Option<(Calibration, u32)> {
        Some((setup.historian()?.calibration?, 1))
    }

    /// A record does not fail, but commits, reads and purges do.
    fn attempts<'a>(&self, trial: &'a Trial) -> &'a [Figures] {
        trial.figures.get(1..).unwrap_or_default()
    }

    fn offered_per_s(&self, trial: &Trial) -> Option<f64> {
        trial.historian().and_then(|historian| historian.offered_per_s).or(trial.offered_per_s)
    }

    fn judged<'a>(&self, trial: &'a Trial) -> Option<Judged<'a>> {
        let Historian { stable, unstable_because, drain_s, rows_after, .. } = trial.historian()?;
        Some(Judged { held: *stable, because: unstable_because, drain_s: *drain_s, rows: *rows_after })
    }

    fn written<'a>(&self, trial: &'a Trial) -> [&'a [Written]; 2] {
        trial.historian().map_or([&[], &[]], |historian| [&historian.written, historian.written_measured()])
    }

    fn unaccounted(&self, trial: &Trial) -> Option<String> {
        trial.historian()?.unaccounted()
    }

    fn account(&self, trial: &Trial) -> Option<Account> {
        trial.historian().map(Historian::account)
    }

    fn lost(&self, trial: &Trial) -> Option<u64> {
        trial.historian()?.rows_lost
    }

    fn outages<'a>(&self, trial: &'a Trial) -> Vec<&'a Outage> {
        trial.historian().iter().flat_map(|historian| &historian.outages).collect()
    }

    fn servers<'a>(&self, setup: &'a Setup) -> Vec<&'a Server> {
        setup.historian().map(|historian| &historian.server).into_iter().collect()
    }

    /// Records come in lots, a commit each. At a rate a historian is judged by its pending records, and scatter is no fault.
    fn by_chance(&self, trial: &Trial) -> Option<Chance> {
        let is_open = trial.historian().is_some_and(Historian::is_open);
        if is_open { None } else { Chance::of(self.answers_per_s(trial)?, trial.measured_s) }
    }

    fn answers_per_s(&self, trial: &Trial) -> Option<f64> {
        trial.historian()?.commits_per_s
    }

    /// An invalid trial has said why already.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.historian().is_some() && trial.state != State::Invalid
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    fn waits(&self, trial: &Trial) -> Option<Limit> {
        let says = [", for which writers waited ", " of the time"];
        Limit::of("commits", waited_for_commits(trial), BUSY_SHARE, says)
    }

    /// What a database takes at once is no rate that it holds.
    fn next(&self, report: &Report) -> Option<String> {
        let search = Command::new("historian").with(Parameter::new("search"));
        report.searches.is_empty().then(|| format!("search for the sustained rate: {search}"))
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        finding::all(report)
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        plain::answers(report)
    }

    fn in_short(&self, report: &Report) -> Vec<InShort> {
        plain::in_short(report)
    }

    fn of_commits(&self, report: &Report, per_s: f64) -> Option<String> {
        Some(plain::of_commits(report, per_s))
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        doubt::all(report)
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let Some(main) = table::historians(report) else { return Vec::new() };
        let mut figures = vec![Block::main(main)];
        figures.extend(report.searches.iter().map(|search| Block::Folded {
            summary: format!("Every step: {}", search.configuration),
            table: table::steps(search),
        }));
        let series = report.historian.flush_rows.iter().map(table::flush_rows);
        let others = [table::screens(report), table::maintenance(report), table::storage(report)];
        figures.extend(series.chain(others.into_iter().flatten()).map(Block::Table));
        let published = report.historian.published_historian.iter().flat_map(table::beside);
        vec![
            Section { place: Place::Figures, blocks: figures },
            Section { place: Place::Published, blocks: published.collect() },
        ]
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        lead::chart(report)
    }

    /// Searches and series over the rows of a flush.
    fn overview(&self, report: &Report) -> Vec<Chart> {
        let searches =
            report.searches.iter().filter_map(|search| search_chart::search(search, &report.trials));
        searches.chain(search_chart::flush_rows(&report.historian.flush_rows)).collect()
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        chart::historian(trial)
    }

    fn ink(&self, kind: &str) -> usize {
        if [RECORD, COMMIT].contains(&kind) { 0 } else { 3 }
    }

    fn seconds(&self) -> &'static [Second] {
        &[
            Second { head: "offered/s", value: |_, sample| offered_per_s(sample), print: format::figure },
            Second { head: "records/s", value: per_s, print: format::figure },
            Second { head: "pending", value: |_, s| s.gauges.get(PENDING).copied(), print: format::figure },
            Second {
                head: "pending max",
                value: |_, s| s.gauges.get(PENDING_MAX).copied(),
                print: format::figure,
            },
        ]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.historian().map(facts::facts)
    }

    fn method(&self, report: &Report) -> Vec<String> {
        method::paragraphs(report)
    }

    fn columns(&self) -> &'static [Field] {
        &columns::COLUMNS
    }
}

/// Events due a second in an interval.
fn offered_per_s(sample: &Sample) -> Option<f64> {
    let offered = sample.gauges.get(OFFERED)?;
    (sample.length_s > 0.0).then(|| offered / sample.length_s)
}

/// Share of the time of all writers of a closed loop that they waited for commits.
fn waited_for_commits(trial: &Trial) -> Option<f64> {
    let historian = trial.historian()?;
    let setup = historian.setup.as_ref().filter(|_| !historian.is_open())?;
    let mean_s = historian.flush?.mean_us? / 1e6;
    Some(historian.commits_per_s? * mean_s / f64::from(setup.writers.max(1)))
}
