//! One trial's figures: a row for each kind of operation, and how far they can be trusted.

use std::collections::BTreeMap;

use record::{
    AttachedCluster, Loop, Main, Manifest, Mark, MarkKind, MeasuredTrial, OperationInterval, Pauses,
    Percentile, Phase, Placed, Resources, Sample, SearchStep, Setup, StartedServer, State, Summary, Tail,
    Tails, Workload,
};
use serde::Serialize;
use stats::{Dependence, Estimate, Gap, PooledCorrelation};

use crate::backlog::{Backlog, OpenWindow, own_count};
use crate::bins::Bins;
use crate::budget::Budget;
use crate::limit::LimitedBy;
use crate::machine::{Beside, Machine, during, machine_of};
use crate::percentile::{OwnPercentile, PercentileIntervals};
use crate::rate::OfferedRate;
use crate::search::RateRange;
use crate::stability::Stability;
use crate::workloads::{self, Common, Shown, Worked};

/// Name of the row that takes reads and writes together.
pub(crate) const ALL: &str = "all";

/// An interval shorter than this makes no rate: a few operations more or less would look like noise.
const SHORTEST_RATE_INTERVAL_S: f64 = 0.5;

/// Figures of one kind of operation over a measured window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Name of the operation, or `all` for several that are added up, as reads and writes of a disk.
    pub kind: String,
    /// Operations completed.
    pub operations: u64,
    /// Operations that ended with an error.
    pub errors: u64,
    /// Operations a second.
    pub per_s: Option<f64>,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// Latency: the response time in an open loop, the service time in a closed one.
    pub latency: Summary,
    /// The intervals of its percentiles, of this run; none of several trials together.
    pub intervals: PercentileIntervals,
    /// Percentiles that were asked for besides, in rising order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_percentiles: Vec<OwnPercentile>,
    /// Completion − sending; open loop only, elsewhere it is the latency.
    pub service: Option<Summary>,
    /// Sending − due time; open loop only.
    pub lag: Option<Summary>,
    /// Mean number in flight, by Little's law.
    pub in_flight: Option<f64>,
}

/// What the load generator took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Generator {
    /// CPU time of all load threads, user and system, an operation.
    pub cpu_us_per_operation: Option<f64>,
    /// Share (0–1) of a core that the busiest load thread used.
    pub busiest_share: Option<f64>,
    /// Share (0–1) of all cores that the load threads used together.
    pub all_cores_share: Option<f64>,
    /// Operations a second that its threads can send when nothing answers slowly.
    pub calibrated_per_s: Option<f64>,
    /// Share (0–1) of that rate at which it worked.
    #[serde(skip)]
    pub(crate) calibrated_share: Option<f64>,
    /// Longest time in which the generator itself stood still, in milliseconds; none where that was not measured.
    pub pause_longest_ms: Option<f64>,
    /// All such times together, in milliseconds.
    pub paused_ms: Option<f64>,
}

/// One trial.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// Number within the study.
    pub number: u32,
    /// Name of the configuration.
    pub name: String,
    /// Block, run or round.
    pub block: u32,
    /// Values of the axes.
    pub levels: BTreeMap<String, String>,
    /// Named configuration that it is of; empty where a study has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub configuration: String,
    /// Whether it is the second measurement of the reference in its block. It tells the noise floor and nothing else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
    /// State.
    pub state: State,
    /// Why it failed, is invalid or was skipped.
    pub reason: Option<String>,
    /// What the engine remarked.
    pub notes: Vec<String>,
    /// Begin of the load.
    pub started: Option<String>,
    /// Length of the measured window.
    pub measured_s: f64,
    /// The first row is what the trial is about; a row for each kind follows where there are several.
    pub figures: Vec<Figures>,
    /// I/Os a second with the interval of this run from its per-second rates; none where there are too few of them.
    pub rate_per_s: Option<Estimate>,
    /// How much these rates depend on each other, and whether they are too few for that; none if there are too few for an interval.
    pub rate_dependence: Option<Dependence>,
    /// Steadiness of the rate.
    pub stability: Stability,
    /// The longest time without an answer in the measured window; none where nothing points at one of 0.8 s.
    pub longest_gap: Option<Gap>,
    /// The load generator.
    pub generator: Generator,
    /// The machine.
    pub machine: Machine,
    /// Where the time of its sessions went; none where no server told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What limited it; none where nothing was looked at that could tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<LimitedBy>,
    /// What else was loaded, and what else went on.
    #[serde(flatten)]
    pub beside: Beside,
    /// Operations due a second, as set; open loop only.
    pub offered_per_s: Option<f64>,
    /// Operations that were due and not sent; open loop only.
    pub unsent: u64,
    /// Whether the rate that was offered to a disk or an order store was held; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_rate: Option<OfferedRate>,
    /// What the warm-up left to the window of an open loop; none where that is nothing of note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<Backlog>,
    /// Parameters as asked.
    pub parameters: serde_json::Value,
    /// What was asked to be loaded.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub target: serde_json::Value,
    /// Where that was found to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placed: Vec<Placed>,
    /// Servers that were started for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started_servers: Vec<StartedServer>,
    /// Clusters of others that it loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<AttachedCluster>,
    /// What was really set up.
    pub setup: Option<Setup>,
    /// What only trials of its workload have, by the workload's name.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub worked: Option<Worked>,
    /// Its part in a search for the highest sustainable rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchStep>,
    /// What the search came to that it speaks for, and whether that was confirmed; none of other trials.
    #[serde(skip)]
    pub(crate) searched: Option<(RateRange, bool)>,
    /// What it is of, even if it left nothing.
    #[serde(skip)]
    pub(crate) workload: Workload,
    /// The operations that its rate is of.
    #[serde(skip)]
    pub(crate) about: Main,
    /// Latencies by kind, in bins for drawing.
    #[serde(skip)]
    pub(crate) bins: Vec<(String, Bins)>,
    /// All intervals, for the charts over time; a reader of the JSON finds them in `samples.ndjson`.
    #[serde(skip)]
    pub(crate) samples: Vec<Sample>,
}

impl Generator {
    /// With how near it came to the rate that it reaches alone, and how long it stood still.
    fn beside(self, per_s: Option<f64>, pauses: Option<Pauses>) -> Self {
        Self {
            calibrated_share: per_s.zip(self.calibrated_per_s).map(|(rate, alone)| rate / alone),
            pause_longest_ms: pauses.map(|pauses| pauses.longest_ms),
            paused_ms: pauses.map(|pauses| pauses.sum_ms),
            ..self
        }
    }
}

impl Trial {
    /// The model of a trial on a machine of so many usable cores, if their number is known.
    pub(crate) fn of(
        measured: &MeasuredTrial,
        manifest: &Manifest,
        cores: Option<u32>,
        pool: Option<PooledCorrelation>,
    ) -> Self {
        let (record, shown) = (&measured.trial, workloads::of(measured.trial.workload));
        let (setup, whole, own) = (record.setup.clone(), measured.window(), manifest.own_percentiles());
        let window: Vec<&Sample> = measured.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        let (measured_s, kinds) = (whole.seconds(), worked_in(whole.kinds()));
        let figures = figures_of(shown, &record.main, &kinds, measured_s, (&measured.tails, &own));
        let (rated, operations) = (Rated::of(measured, &window, figures, pool), worked(&record.main, &kinds));
        let alone = generator_of(&window, operations, setup.as_ref(), cores);
        let (generator, during) =
            (alone.beside(rated.per_s, whole.pauses()), during(&measured.resources, &window));
        let machine = machine_of(&during, (operations, measured_s), generator, setup.as_ref());
        Self {
            number: record.number,
            name: record.name.clone(),
            block: record.block,
            levels: record.levels.clone(),
            configuration: record.configuration.clone(),
            aa: record.aa,
            state: record.state,
            reason: record.reason.clone(),
            notes: record.notes.clone(),
            started: record.started.clone(),
            measured_s,
            rate_per_s: rated.rate_per_s,
            rate_dependence: rated.dependence,
            stability: Stability::of(&rated.without_audits, shown.cuts_warm_up()),
            longest_gap: stats::longest_gap(&rated.rates, &longest_s(&window)),
            generator,
            budget: Budget::of(record, &during, &machine, rated.per_s),
            limited_by: None,
            machine,
            beside: Beside::of(measured, &during),
            offered_per_s: setup.as_ref().and_then(offered),
            unsent: record.unsent(),
            offered_rate: OfferedRate::of(measured, rated.figures.first(), shown.unsent_share_max()),
            backlog: rated.backlog,
            parameters: record.parameters.clone(),
            target: record.target.clone(),
            placed: record.placed.clone(),
            started_servers: record.servers.clone(),
            clusters: record.clusters.clone(),
            searched: None,
            bins: kinds.iter().map(|(kind, o)| (kind.clone(), Bins::of(o.latency()))).collect(),
            samples: measured.samples.clone(),
            worked: shown.worked(measured, &Common::of(&kinds, rated.rate(), &generator, manifest)),
            search: record.search,
            workload: record.workload,
            about: record.main.clone(),
            figures: rated.figures,
            setup,
        }
    }

    /// What was read of the machine in the measured window.
    pub(crate) fn during(&self) -> Vec<&Resources> {
        let window: Vec<&Sample> = self.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        during(&self.beside.resources, &window)
    }

    /// The row the trial is about.
    pub(crate) fn main(&self) -> Option<&Figures> {
        self.figures.first()
    }

    pub(crate) fn is(&self, workload: Workload) -> bool {
        self.workload == workload
    }

    /// What is said of its workload.
    pub(crate) fn shown(&self) -> &'static dyn Shown {
        workloads::of(self.workload)
    }

    /// What it is about a second in an interval; none of an interval without length.
    pub(crate) fn rate_in(&self, sample: &Sample) -> Option<f64> {
        per_s(&self.about, sample)
    }

    /// Whether it was left out on purpose.
    pub(crate) fn is_skipped(&self) -> bool {
        self.state == State::Skipped
    }

    /// Whether operations ended with an error after which no figure of it is to be trusted. A database's errors are counted
    /// beside its figures, which are of what it acknowledged.
    pub(crate) fn is_void(&self) -> bool {
        let failed = |figures: &Figures| figures.errors > 0 && figures.kind != ALL;
        self.shown().fails_by_errors() && self.figures.iter().any(failed)
    }

    /// What is wrong with what the database acknowledged; none where it holds all of that, or was not asked to. A rate that was not held
    /// says so itself.
    #[must_use]
    pub fn unaccounted(&self) -> Option<String> {
        self.shown().unaccounted(self)
    }

    /// Whether its study asked for faults.
    pub(crate) fn is_broken_on_purpose(&self) -> bool {
        !self.beside.faults.is_empty()
    }

    /// Whether it was begun: whatever became of it, it is one of the trials that sentences count.
    pub(crate) fn has_run(&self) -> bool {
        !matches!(self.state, State::Skipped | State::Planned)
    }

    /// Whether its figures may speak for the configuration.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }
}

pub(crate) fn offered(setup: &Setup) -> Option<f64> {
    match setup.pacing() {
        Loop::Open { rate_per_s, .. } => Some(rate_per_s),
        Loop::Closed { .. } => None,
    }
}

/// Operations that the CPU time is shared among: those that carry the others, or all.
fn worked(main: &Main, kinds: &BTreeMap<String, OperationInterval>) -> u64 {
    match main {
        Main::Kind(kind) => kinds.get(kind).map_or(0, |operation| operation.count),
        Main::AllBut(_) => kinds.values().map(|operation| operation.count).sum(),
    }
}

/// The kinds of which there was any operation.
fn worked_in(kinds: &BTreeMap<String, OperationInterval>) -> BTreeMap<String, OperationInterval> {
    let of = kinds.iter().filter(|(_, operation)| operation.count > 0 || operation.errors > 0);
    of.map(|(kind, operation)| (kind.clone(), operation.clone())).collect()
}

/// `FILE:LINE` of what has a line: the second comes before the tenth.
fn line_of(kind: &str) -> (&str, u64) {
    let parts = kind.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    parts.unwrap_or((kind, 0))
}

/// The row that a trial is about, then a row for each kind: where several kinds are added up, the others last.
pub(crate) fn figures_of(
    shown: &dyn Shown,
    main: &Main,
    kinds: &BTreeMap<String, OperationInterval>,
    measured_s: f64,
    (tails, own): (&Tails, &[Percentile]),
) -> Vec<Figures> {
    let row = |kind: &str, operation: &OperationInterval, tail| {
        row(kind, operation, (shown.per_s(kind, operation, measured_s), measured_s), (tail, own))
    };
    let of_kind = |(kind, o): (&String, &OperationInterval)| row(kind, o, tails.kinds.get(kind));
    let mut rows: Vec<Figures> = kinds.iter().map(of_kind).collect();
    if !shown.moves_bytes() {
        // Values in memory are no throughput.
        rows.iter_mut().for_each(|row| row.mb_per_s = None);
    }
    rows.sort_by_cached_key(|row| {
        let (file, line) = line_of(&row.kind);
        (!main.has(&row.kind), rank(shown.kinds(), &row.kind), file.to_owned(), line)
    });
    match main {
        Main::Kind(kind) if !kinds.is_empty() && !kinds.contains_key(kind) => {
            rows.insert(0, row(kind, &OperationInterval::default(), None));
        }
        Main::AllBut(_) if main.among(kinds).count() > 1 => {
            let mut all = OperationInterval::default();
            main.among(kinds).for_each(|(_, operation)| all.merge(operation));
            rows.insert(0, row(ALL, &all, tails.main.as_ref()));
        }
        Main::Kind(_) | Main::AllBut(_) => {}
    }
    rows
}

/// Place of a kind among those of its workload; names that it does not know follow in their own order.
fn rank(known: &[&str], kind: &str) -> usize {
    known.iter().position(|other| *other == kind).unwrap_or(known.len())
}

fn row(
    kind: &str,
    operation: &OperationInterval,
    (per_s, measured_s): (Option<f64>, f64),
    (tail, own): (Option<&Tail>, &[Percentile]),
) -> Figures {
    let open = operation.response.is_some();
    let mean_service_us = operation.service.mean_us();
    Figures {
        kind: kind.to_owned(),
        operations: operation.count,
        errors: operation.errors,
        per_s,
        mb_per_s: (measured_s > 0.0 && operation.bytes > 0)
            .then(|| operation.bytes as f64 / 1e6 / measured_s),
        latency: Summary::of(operation.latency()),
        intervals: PercentileIntervals::of(operation.latency(), tail),
        own_percentiles: own.iter().map(|&own| OwnPercentile::of(operation.latency(), tail, own)).collect(),
        service: open.then(|| Summary::of(&operation.service)),
        lag: operation.lag.as_ref().map(Summary::of),
        in_flight: per_s.zip(mean_service_us).map(|(rate, mean)| stats::mean_in_flight(rate, mean)),
    }
}

/// The interval around the rate that is printed: seconds that are not whole count in the one and not in the other.
fn around(per_s: Option<f64>, estimate: Option<Estimate>) -> Option<Estimate> {
    let (per_s, estimate) = (per_s?, estimate?);
    let shift = per_s - estimate.value;
    Some(Estimate { value: per_s, low: (estimate.low + shift).max(0.0), high: estimate.high + shift })
}

/// The interval cut at the rate that is offered: nothing is answered that was not sent. Poisson arrivals may be more.
pub(crate) fn at_most_offered(rate: Estimate, setup: Option<&Setup>) -> Estimate {
    match setup.map(Setup::pacing) {
        Some(Loop::Open { rate_per_s, poisson: false }) => {
            Estimate { high: rate.high.min(rate_per_s.max(rate.value)), ..rate }
        }
        Some(Loop::Open { poisson: true, .. } | Loop::Closed { .. }) | None => rate,
    }
}

/// How long the slowest operation of any kind took that was answered in an interval, in seconds.
fn longest_s(window: &[&Sample]) -> Vec<f64> {
    let longest_us = |sample: &Sample| {
        let longest = sample.operations.values().filter_map(|operation| operation.latency.max_us);
        longest.fold(0.0, f64::max)
    };
    long_enough(window).map(|sample| longest_us(sample) / 1e6).collect()
}

/// Intervals that make rates.
fn long_enough<'a>(window: &'a [&Sample]) -> impl Iterator<Item = &'a Sample> {
    window.iter().copied().filter(|sample| sample.length_s >= SHORTEST_RATE_INTERVAL_S)
}

/// What a trial came to per second.
struct Rated {
    figures: Vec<Figures>,
    /// Rate of what it is about.
    per_s: Option<f64>,
    rate_per_s: Option<Estimate>,
    dependence: Option<Dependence>,
    rates: Vec<f64>,
    /// The same without the intervals in which an audit took the place of the load.
    without_audits: Vec<f64>,
    backlog: Option<Backlog>,
}

impl Rated {
    fn rate(&self) -> (Option<f64>, Option<Estimate>) {
        (self.per_s, self.rate_per_s)
    }

    fn of(
        measured: &MeasuredTrial,
        window: &[&Sample],
        mut figures: Vec<Figures>,
        pooled: Option<PooledCorrelation>,
    ) -> Self {
        let record = &measured.trial;
        let open = OpenWindow::of(measured);
        open.iter().for_each(|open| open.adjust(&mut figures, &record.main));
        let backlog = open.and_then(|open| open.left_by_warm_up());
        let counted = Counted { main: &record.main, has_backlog: backlog.is_some() };
        let rates = counted.rates(window);
        let (per_s, mean) = (figures.first().and_then(|main| main.per_s), stats::run_mean(&rates, pooled));
        let dependence = mean.as_ref().map(|mean| mean.dependence);
        let rate_per_s = around(per_s, mean.map(|mean| mean.estimate));
        Self {
            rate_per_s: rate_per_s
                .map(|rate| open.map_or(rate, |open| open.within(rate)))
                .map(|rate| at_most_offered(rate, record.setup.as_ref())),
            without_audits: counted.rates_without_audits(window, &record.marks),
            figures,
            per_s,
            dependence,
            rates,
            backlog,
        }
    }
}

/// The rates of the single seconds of a trial's window.
pub(crate) fn rates_of(measured: &MeasuredTrial) -> Vec<f64> {
    let window: Vec<&Sample> = measured.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
    let backlog = OpenWindow::of(measured).and_then(|open| open.left_by_warm_up());
    Counted { main: &measured.trial.main, has_backlog: backlog.is_some() }.rates(&window)
}

/// What counts in a rate.
struct Counted<'a> {
    main: &'a Main,
    /// Whether operations that were due before the window are so many that they are no part of it.
    has_backlog: bool,
}

impl Counted<'_> {
    /// What a trial is about a second, an interval each.
    fn rates(&self, window: &[&Sample]) -> Vec<f64> {
        let count = |sample: &Sample| match self.has_backlog {
            true => own_count(sample, self.main),
            false => sample.count_of(self.main),
        };
        long_enough(window).map(|sample| count(sample) as f64 / sample.length_s).collect()
    }

    /// The same without the intervals in which an audit took the place of the load: a rate that falls there is not unsteady.
    fn rates_without_audits(&self, window: &[&Sample], marks: &[Mark]) -> Vec<f64> {
        let audits: Vec<&Mark> = marks.iter().filter(|mark| mark.kind == MarkKind::Audit).collect();
        let is_within = |sample: &Sample, mark: &Mark| {
            mark.begin_s < sample.end_s
                && mark.end_s.is_none_or(|end_s| end_s > sample.end_s - sample.length_s)
        };
        let loaded =
            window.iter().copied().filter(|sample| !audits.iter().any(|mark| is_within(sample, mark)));
        self.rates(&loaded.collect::<Vec<_>>())
    }
}

/// What a trial is about a second in an interval; none of an interval without length.
pub(crate) fn per_s(about: &Main, sample: &Sample) -> Option<f64> {
    (sample.length_s > 0.0).then(|| sample.count_of(about) as f64 / sample.length_s)
}

/// Mean of a gauge over the seconds in which it was read.
pub(crate) fn gauge_mean(window: &[&Sample], name: &str) -> Option<f64> {
    stats::weighted_mean(window.iter().filter_map(|s| Some((s.gauges.get(name).copied()?, s.length_s))))
}

fn generator_of(window: &[&Sample], operations: u64, setup: Option<&Setup>, cores: Option<u32>) -> Generator {
    let cpu_us: u64 = window.iter().map(|sample| sample.generator_cpu_us).sum();
    let seconds = window.iter().map(|sample| (sample.generator_busiest_share, sample.length_s));
    let calibration =
        setup.and_then(|setup| workloads::of(setup.workload()).calibrated(setup, cores.unwrap_or(u32::MAX)));
    let window_s: f64 = window.iter().map(|sample| sample.length_s).sum();
    let all_cores_us = cores.map(|cores| f64::from(cores) * window_s * 1e6).filter(|&us| us > 0.0);
    Generator {
        cpu_us_per_operation: (operations > 0 && cpu_us > 0).then(|| cpu_us as f64 / operations as f64),
        busiest_share: stats::weighted_mean(seconds),
        all_cores_share: all_cores_us.map(|all_us| cpu_us as f64 / all_us),
        calibrated_per_s: calibration
            .and_then(|(calibration, threads)| Some(calibration.per_s()? * f64::from(threads))),
        ..Generator::default()
    }
}
