//! The workloads that a report knows: what each must say of itself, and the one place that lists them.
//!
//! Printers, charts and the rules that hold for all workloads ask through [`Shown`] and name none. What a workload has
//! nothing to say of it leaves out.

use std::collections::BTreeMap;

use record::{
    Calibration, ClientAway, Main, Manifest, MeasuredTrial, OperationInterval, Outage, Sample, Server, Setup,
    Verified, Window, Workload,
};
use serde::Serialize;
use stats::{Chance, Estimate, Written};

use crate::chart::Chart;
use crate::csv::Field;
use crate::disk::Disk;
use crate::faults::Account;
use crate::historian::{Historian, OfHistorian};
use crate::lead::Tile;
use crate::limit::Limit;
use crate::metrics::MetricOf;
use crate::orders::{OfOrders, Orders};
use crate::percentile::PercentileInterval;
use crate::register::{OfRegister, Register};
use crate::report::Report;
use crate::reporting::{OfReporting, Reporting};
use crate::script::{OfScript, Script};
use crate::section::Section;
use crate::summary::{Answer, Reliability};
use crate::tables::{OfTables, Tables};
use crate::trial::{Figures, Generator, Trial};
use crate::unit::Unit;
use crate::verdict::Verdict;

/// What a report says of a workload.
pub(crate) trait Shown: Sync {
    fn words(&self) -> &'static Words;

    /// The question that this workload answers.
    fn question(&self, report: &Report) -> &'static str;

    /// Its own figures of a trial; none if it was never set up, or has none but those that every trial has.
    fn worked(&self, _: &MeasuredTrial, _: &Common<'_>) -> Option<Worked> {
        None
    }

    /// Its kinds of operations in the order in which they are shown, where their names are not the user's.
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether bytes of its operations make a throughput. Values in memory make none.
    fn moves_bytes(&self) -> bool {
        false
    }

    /// Whether what was set up has a device do anything.
    fn loads_device(&self, _: &Setup) -> bool {
        true
    }

    /// Reads and writes per second that it had the device do, where each operation is one request; none where the kernel may split or
    /// merge them, or where that is not known.
    fn requests_per_s(&self, _: &MeasuredTrial) -> Option<[f64; 2]> {
        None
    }

    /// Whether it may warm up for minutes, so that it is also judged without that.
    fn cuts_warm_up(&self) -> bool {
        true
    }

    /// How long the generator takes for an operation alone, and how many of its threads there are at once on so many cores;
    /// none where that was not measured.
    fn calibrated(&self, _: &Setup, _cores: u32) -> Option<(Calibration, u32)> {
        None
    }

    /// Its metrics besides those of every workload, each with how it is computed.
    fn metrics(&self) -> &'static [MetricOf] {
        &[]
    }

    /// Rows of the operations that can fail. The first row is what a trial is about.
    fn attempts<'a>(&self, trial: &'a Trial) -> &'a [Figures] {
        trial.figures.get(..1).unwrap_or_default()
    }

    /// Operations due a second, as set or as counted; none of a closed loop.
    fn offered_per_s(&self, trial: &Trial) -> Option<f64> {
        trial.offered_per_s
    }

    /// Share of the operations that fell due and may be unsent where a rate is held; none where that is judged by
    /// [`Shown::judged`] instead.
    fn unsent_share_max(&self) -> Option<f64> {
        None
    }

    /// Whether a rate was held, where the workload has a rule of its own for that.
    fn judged<'a>(&self, _: &'a Trial) -> Option<Judged<'a>> {
        None
    }

    /// What is wrong with what was acknowledged, or that nobody knows; nothing of a trial whose state says so.
    fn unaccounted(&self, _: &Trial) -> Option<String> {
        None
    }

    /// What each client saw of times without an answer; nothing where none had to wait for long, or nobody knows.
    fn away_by_client(&self, _: &Trial) -> Vec<ClientAway> {
        Vec::new()
    }

    /// What was written in each interval: of the whole load, and of the measured window. Nothing if nobody counted.
    fn written<'a>(&self, _: &'a Trial) -> [&'a [Written]; 2] {
        [&[], &[]]
    }

    /// Whether the report has a price of what was done.
    fn is_priced(&self, _: &Report) -> bool {
        false
    }

    /// What became of what was asked for, over the whole load; none where nobody counted.
    fn account(&self, _: &Trial) -> Option<Account> {
        None
    }

    /// How much of what was acknowledged is gone; none where nobody counted.
    fn lost(&self, _: &Trial) -> Option<u64> {
        None
    }

    /// Times without a database.
    fn outages<'a>(&self, _: &'a Trial) -> Vec<&'a Outage> {
        Vec::new()
    }

    /// The interval of a metric of its own that is a percentile of one run.
    fn percentile_interval(&self, _: &Trial, _: &str) -> Option<PercentileInterval> {
        None
    }

    /// Whether commits that may be lost are what was asked for of a trial, and told among its findings.
    fn tells_durability(&self, _: &Trial) -> bool {
        false
    }

    /// Whether an operation that failed leaves no figure to be trusted.
    fn fails_by_errors(&self) -> bool {
        false
    }

    /// The servers that it was run against.
    fn servers<'a>(&self, _: &'a Setup) -> Vec<&'a Server> {
        Vec::new()
    }

    /// What it was run against, in as few words as a title has room for.
    fn targets(&self, setup: &Setup) -> Vec<String> {
        self.servers(setup).into_iter().map(|server| server.version.clone()).collect()
    }

    /// True if its targets are paths.
    fn loads_paths(&self) -> bool {
        false
    }

    /// The rate of a trial as its headline gives it: `1,704 MB/s`, where bytes are what is asked for.
    fn rate(&self, trial: &Trial) -> Option<String> {
        trial.main()?.per_s.map(|per_s| self.words().unit.text(per_s))
    }

    /// Operations of a kind a second of a window so long, in seconds; none of a window without length.
    fn per_s(&self, _kind: &str, operation: &OperationInterval, measured_s: f64) -> Option<f64> {
        (measured_s > 0.0).then(|| operation.count as f64 / measured_s)
    }

    /// A rate a second as its lines of progress print it.
    fn rate_text(&self, per_s: f64) -> String {
        self.words().unit.text(per_s)
    }

    /// What chance alone may make of the rates of single seconds; none where these say nothing.
    fn by_chance(&self, _: &Trial) -> Option<Chance> {
        Some(Chance::default())
    }

    /// Answers a second, each of which may carry much.
    fn answers_per_s(&self, trial: &Trial) -> Option<f64> {
        trial.main()?.per_s
    }

    /// Whether the load generator of a trial can have set its figure.
    fn is_loaded(&self, trial: &Trial) -> bool;

    fn limits(&self) -> &'static Limits;

    /// What to do against operations of a trial that are sent late; none where that is judged otherwise.
    fn late_remedy(&self, _: &Trial) -> Option<&'static str> {
        self.limits().late_remedy
    }

    /// What was measured.
    fn findings(&self, report: &Report) -> Vec<Verdict>;

    /// What speaks against it.
    fn doubts(&self, report: &Report) -> Vec<Verdict>;

    /// Its result in plain words, instead of its headlines; none where the headlines say it best.
    fn answers(&self, _: &Report) -> Vec<Answer> {
        Vec::new()
    }

    /// The same in a few words a database, for a sentence that holds what several workloads came to there.
    fn in_short(&self, _: &Report) -> Vec<InShort> {
        Vec::new()
    }

    /// What so many commits a second, one after the other, allow at most: `18,800 orders a minute`.
    fn of_commits(&self, _: &Report, _per_s: f64) -> Option<String> {
        None
    }

    /// What its answers say of the machine, as far as they can be trusted; told once all workloads have answered.
    fn bottom_line(&self, _: &Report, _: Reliability) -> Vec<Answer> {
        Vec::new()
    }

    /// What the operations of a trial waited for, as far as its record tells; the machine has been looked at before.
    fn waits(&self, _: &Trial) -> Option<Limit> {
        None
    }

    /// What answers the next question, where nothing speaks against the figures: a sentence with its command.
    fn next(&self, _: &Report) -> Option<String> {
        None
    }

    /// Whether a finding says already that a trial was left out.
    fn tells_skipped(&self, _: &Report, _: &Trial) -> bool {
        false
    }

    /// Its tables, in the order in which they are read.
    fn sections(&self, report: &Report) -> Vec<Section>;

    /// The most important figures for the top of the page, in order of importance. At most four are shown.
    fn tiles(&self, _: &Report) -> Vec<Tile> {
        Vec::new()
    }

    /// The main chart, for the first screen. [`Shown::overview`] does not repeat it.
    fn lead(&self, _: &Report) -> Option<Chart> {
        None
    }

    /// The part of the answer that is valid on a busy machine too. The reliability applies only to rates and times.
    fn holds_when_busy(&self, _: &Report) -> Option<&'static str> {
        None
    }

    /// True if the workload's own figures and chart are at the top of a study's page, instead of the study's chart.
    fn leads_study(&self, _: &Report) -> bool {
        false
    }

    /// Charts of all trials together.
    fn overview(&self, _: &Report) -> Vec<Chart> {
        Vec::new()
    }

    /// Charts of one trial.
    fn course(&self, trial: &Trial) -> Vec<Chart>;

    /// True if the workload's own charts of a trial show the activity of sessions.
    fn draws_sessions(&self) -> bool {
        false
    }

    /// Number of the colour of a kind of operation, the same in all charts.
    fn ink(&self, kind: &str) -> usize;

    /// What else is to be known of one trial, besides the figures and what [`Shown::judged`] says: sentences.
    fn remarks(&self, _: &Trial) -> Vec<String> {
        Vec::new()
    }

    /// Columns of a trial's seconds before those of latencies.
    fn seconds(&self) -> &'static [Second];

    /// How it was really set up.
    fn facts(&self, setup: &Setup) -> Option<Facts>;

    /// How its figures came to be, a paragraph each.
    fn method(&self, report: &Report) -> Vec<String>;

    /// Its columns in the CSV file, each with how it is computed.
    fn columns(&self) -> &'static [Field] {
        &[]
    }
}

/// All workloads, in the order in which they are shown.
pub(crate) fn all() -> impl Iterator<Item = (Workload, &'static dyn Shown)> {
    Workload::ALL.into_iter().map(|workload| (workload, of(workload)))
}

/// What is said of a workload.
pub(crate) fn of(workload: Workload) -> &'static dyn Shown {
    match workload {
        Workload::Disk => &Disk,
        Workload::Historian => &OfHistorian,
        Workload::Orders => &OfOrders,
        Workload::Script => &OfScript,
        Workload::Reporting => &OfReporting,
        Workload::Register => &OfRegister,
        Workload::Tables => &OfTables,
    }
}

/// The rate of a window as reports of its workload print it: `12,340 orders/min`.
#[must_use]
pub fn rate_text(workload: Workload, window: &Window) -> String {
    let (shown, mut operations) = (of(workload), window.operations());
    // What a slow warm-up left is no rate of the window. A few of them are always in flight.
    let due_before = operations.due_before.filter(|due_before| due_before * 100 > operations.count);
    operations.count = operations.count.saturating_sub(due_before.unwrap_or(0));
    let kind = match window.main() {
        Main::Kind(kind) => kind,
        Main::AllBut(_) => crate::trial::ALL,
    };
    shown.rate_text(shown.per_s(kind, &operations, window.seconds()).unwrap_or(0.0))
}

/// What a workload came to on a database, in a few words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InShort {
    /// Product: `SQLite`.
    pub(crate) database: String,
    /// `17,200 records/s`.
    pub(crate) does: String,
    /// What stands in brackets behind that: `40 a commit`, what limited it.
    pub(crate) with: Vec<String>,
}

/// What only trials of one workload have. The JSON has it beside what all trials have, by the workload's name.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Worked {
    /// Of a historian.
    Historian(Box<Historian>),
    /// Of an order store.
    Orders(Box<Orders>),
    /// Of scripts.
    Script(Box<Script>),
    /// Of reports.
    Reporting(Box<Reporting>),
    /// Of registers.
    Register(Box<Register>),
    /// Of a table.
    Tables(Box<Tables>),
    /// Of a disk whose pages were checked.
    Verified(Box<Verified>),
}

/// What figures of a workload are computed from, besides the record.
pub(crate) struct Common<'a> {
    /// Operations of the measured window by kind.
    pub(crate) kinds: &'a BTreeMap<String, OperationInterval>,
    /// Rate of what the trial is about, per second.
    pub(crate) per_s: Option<f64>,
    /// The same with its interval.
    pub(crate) rate_per_s: Option<Estimate>,
    /// CPU time of the load threads an operation.
    pub(crate) cpu_us_per_operation: Option<f64>,
    /// Size of the disk that is to hold what grows, if it was given.
    pub(crate) disk_bytes: Option<u64>,
}

impl<'a> Common<'a> {
    pub(crate) fn of(
        kinds: &'a BTreeMap<String, OperationInterval>,
        (per_s, rate_per_s): (Option<f64>, Option<Estimate>),
        generator: &Generator,
        manifest: &Manifest,
    ) -> Self {
        let (cpu_us_per_operation, disk_bytes) = (generator.cpu_us_per_operation, manifest.disk_bytes);
        Self { kinds, per_s, rate_per_s, cpu_us_per_operation, disk_bytes }
    }
}

/// What a workload is called, and what its rate is.
pub(crate) struct Words {
    /// In the singular: `order store`.
    pub(crate) one: &'static str,
    /// In the plural: `order stores`.
    pub(crate) many: &'static str,
    /// Where its figures stand on the page.
    pub(crate) anchor: &'static str,
    /// What its rate is counted in.
    pub(crate) unit: Unit,
    /// Metric that its rate is.
    pub(crate) rate_metric: &'static str,
    /// Rules of the findings that tell it, whose figures are headlines.
    pub(crate) headlines: &'static [&'static str],
    /// Rules of the findings that the table of a comparison replaces.
    pub(crate) replaced: &'static [&'static str],
    /// That all that may be in flight was, from how much that is.
    pub(crate) all_in_flight: fn(u64) -> String,
}

/// Whether an offered rate was held, and why not or why that is not known.
pub(crate) struct Judged<'a> {
    pub(crate) held: Option<bool>,
    pub(crate) because: &'a [String],
    /// Time from the end of the load until nothing was left; none where that was not reached.
    pub(crate) drain_s: Option<f64>,
    /// Rows in the table at the end.
    pub(crate) rows: Option<u64>,
}

/// Words of the doubts whether the load generator, and not the target, set a figure.
pub(crate) struct Limits {
    /// Rule of a thread that uses nearly all of a core.
    pub(crate) busy_rule: &'static str,
    /// Which thread that is.
    pub(crate) thread: &'static str,
    /// What may have set the figure then.
    pub(crate) instead: &'static str,
    /// What to do then.
    pub(crate) remedy: &'static str,
    /// The rate that the generator reaches alone; none where that is not measured.
    pub(crate) alone: Option<Alone>,
    /// What to do against operations that are sent late; none where that is judged otherwise.
    pub(crate) late_remedy: Option<&'static str>,
    /// Whether the rest of the machine is to be idle; no, where a server may work on it.
    pub(crate) is_alone: bool,
}

/// Words of the doubt whether a rate is too near to what the generator reaches alone.
pub(crate) struct Alone {
    pub(crate) rule: &'static str,
    /// Who reaches what: `the load generator reaches without a device`.
    pub(crate) reaches: &'static str,
    pub(crate) remedy: &'static str,
}

/// Names and values.
pub(crate) type Facts = Vec<(String, String)>;

/// A column of a trial's seconds.
pub(crate) struct Second {
    pub(crate) head: &'static str,
    /// Of the operations that a trial is about, and an interval.
    pub(crate) value: fn(&Main, &Sample) -> Option<f64>,
    pub(crate) print: fn(f64) -> String,
}
