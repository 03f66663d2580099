//! What a report says of reports over messages: how long the first one takes and those after it, what the server uses for them, and by
//! which plan it goes about them.

mod chart;
mod facts;
mod finding;
mod lead;
mod model;
mod table;
mod words;

use record::reporting::{EVENT, FIRST_REPORT, REPORT};
use record::{MeasuredTrial, OperationInterval, Server, Setup, State, Workload};
use stats::Chance;

pub use model::{DeviceReads, Reporting, Used};

use crate::chart::{Chart, strip};
use crate::configuration::Configuration;
use crate::csv::{Field, number};
use crate::lead::Tile;
use crate::metrics::MetricOf;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::trial::Trial;
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::workloads::{Common, Facts, Limits, Second, Shown, Words, Worked};

/// Reports as a report shows them.
pub(crate) struct OfReporting;

impl Trial {
    /// Figures of reports.
    #[must_use]
    pub fn reporting(&self) -> Option<&Reporting> {
        match &self.worked {
            Some(Worked::Reporting(reporting)) => Some(reporting),
            _ => None,
        }
    }
}

/// What reports are counted in.
const UNIT: Unit = Unit::a_minute("reports/min", "reports per minute", "reports");

static WORDS: Words = Words {
    one: "report",
    many: "reports",
    anchor: "reports",
    unit: UNIT,
    rate_metric: "report_s",
    headlines: &[finding::REPORT_TIME],
    replaced: &[finding::REPORT_TIME],
    all_in_flight: |_| "the client was waiting for the database".to_owned(),
};

static LIMITS: Limits = Limits {
    busy_rule: "reading_cpu",
    thread: "the thread that reads rows",
    instead: "the client's CPU, not the database",
    remedy: "; let the database aggregate, or use another machine for the client",
    alone: None,
    late_remedy: None,
    is_alone: false,
};

const MIB: f64 = 1_048_576.0;

impl Shown for OfReporting {
    fn question(&self, _: &Report) -> &'static str {
        "How long does a report take, cold and warm?"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn worked(&self, measured: &MeasuredTrial, _: &Common<'_>) -> Option<Worked> {
        Reporting::of(measured).map(|reporting| Worked::Reporting(Box::new(reporting)))
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[
            ("report_s", |trial| trial.reporting()?.mean_s),
            ("first_report_s", |trial| trial.reporting()?.first_s),
            ("first_row_s", |trial| trial.reporting()?.to_first_row_s),
            ("server_memory_mib", |trial| {
                trial.reporting()?.during_others.memory_bytes.map(|bytes| bytes as f64 / MIB)
            }),
            ("server_cpu_pct", |trial| trial.reporting()?.during_others.cpu_share.map(|share| share * 100.0)),
            ("read_mib_per_report", |trial| {
                trial.reporting()?.during_others.read_bytes.map(|bytes| bytes / MIB)
            }),
            ("report_read_iops", |trial| trial.reporting()?.during_others.reads_per_s),
        ]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[REPORT, FIRST_REPORT, EVENT]
    }

    fn servers<'a>(&self, setup: &'a Setup) -> Vec<&'a Server> {
        setup.reporting().map(|setup| &setup.server).into_iter().collect()
    }

    fn rate(&self, trial: &Trial) -> Option<String> {
        trial.reporting()?.mean_s.map(words::time)
    }

    /// Reports follow each other, and between two of them the plan is asked for: that is none of their time.
    fn per_s(&self, kind: &str, operation: &OperationInterval, measured_s: f64) -> Option<f64> {
        let took_us =
            operation.service.mean_us().filter(|us| kind != EVENT && operation.count > 0 && *us > 0.0);
        took_us.map(|us| 1e6 / us).or_else(|| (measured_s > 0.0).then(|| operation.count as f64 / measured_s))
    }

    fn rate_text(&self, per_s: f64) -> String {
        match per_s > 0.0 {
            true => format!("{} per report", words::time(1.0 / per_s)),
            false => "no report".to_owned(),
        }
    }

    /// Reports are so few that single seconds say nothing.
    fn by_chance(&self, _: &Trial) -> Option<Chance> {
        None
    }

    /// An invalid trial has said why already.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.reporting().is_some() && trial.state != State::Invalid
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        finding::all(report)
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        answers(report)
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        finding::doubts(report)
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let main = table::reports(report).map(Block::main);
        let used = table::used(report).map(Block::Table);
        let plans = table::plans(report)
            .map(|table| Block::Folded { summary: "Plans of the reports".to_owned(), table });
        vec![Section { place: Place::Figures, blocks: main.into_iter().chain(used).chain(plans).collect() }]
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        lead::chart(report)
    }

    fn overview(&self, report: &Report) -> Vec<Chart> {
        let heading = "Time of a report of each configuration";
        strip::strip(report, Workload::Reporting, heading).into_iter().collect()
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        chart::all(trial)
    }

    fn ink(&self, kind: &str) -> usize {
        match kind {
            REPORT => 0,
            FIRST_REPORT => 1,
            _ => 3,
        }
    }

    /// How the first report's memory was made cold.
    fn remarks(&self, trial: &Trial) -> Vec<String> {
        let cold = trial.reporting().and_then(|reporting| reporting.cold.as_ref());
        cold.map(|cold| format!("The first report started with cold memory: {cold}.")).into_iter().collect()
    }

    fn seconds(&self) -> &'static [Second] {
        &[Second {
            head: "rows read",
            value: |_, sample| {
                let rows = |kind: &str| sample.operations.get(kind).map_or(0, |operation| operation.rows);
                Some((rows(REPORT) + rows(FIRST_REPORT)) as f64)
            },
            print: crate::format::figure,
        }]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.reporting().map(facts::facts)
    }

    fn method(&self, _: &Report) -> Vec<String> {
        METHOD.iter().map(|&text| text.to_owned()).collect()
    }

    fn columns(&self) -> &'static [Field] {
        &[
            ("first_report_s", |trial| number(trial.reporting()?.first_s?)),
            ("report_s", |trial| number(trial.reporting()?.mean_s?)),
            ("first_row_s", |trial| number(trial.reporting()?.to_first_row_s?)),
            ("report_rows", |trial| Some(trial.reporting()?.rows.to_string())),
            ("server_memory_bytes", |trial| Some(trial.reporting()?.during_others.memory_bytes?.to_string())),
            ("read_bytes_per_report", |trial| number(trial.reporting()?.during_others.read_bytes?)),
            ("events_committed", |trial| Some(trial.reporting()?.events_committed.to_string())),
            ("plan", |trial| Some(trial.reporting()?.plans.first()?.hash.clone())),
        ]
    }
}

const METHOD: [&str; 2] = [
    "The time of a report is from its sending until its last row was read. prony reads all rows and keeps none. Their number and a \
    sum that does not depend on their order must match the generated messages, otherwise the trial fails. The first report has its \
    own row. The mean is over the later ones, which run one after the other.",
    "Events that arrive during a report have planned times that do not depend on answers. Each is committed alone, or with those \
    that waited for the previous commit. The time of an event is counted from its planned time. Events have later dates than the report, so they do not change its answer. prony deletes them after the trial. After each report, the server shows its plan for the same statement. prony removes the estimates, and computes a hash of the plan.",
];

/// None where configurations are compared, or are more than a few sentences can hold.
fn answers(report: &Report) -> Vec<Answer> {
    /// More configurations are a table's.
    const MOST: usize = 2;
    let all: Vec<&Configuration> = report.configurations_of(Workload::Reporting).collect();
    if report.comparison.is_some() || all.len() > MOST {
        return Vec::new();
    }
    let answers = all.iter().map(|one| finding::answer(one, &report.trials));
    answers.collect::<Option<Vec<Answer>>>().unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
