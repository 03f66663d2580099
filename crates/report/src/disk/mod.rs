//! What a report says of a disk: depth sweeps, steady state, an array's expectation, and the doubts about its figures.

mod chart;
mod class;
mod expectation;
mod facts;
mod finding;
mod honesty;
mod lead;
mod medium;
mod method;
mod plain;
mod published;
mod sign;
pub(crate) mod steady;
mod storage;
#[cfg(test)]
mod storage_samples;
mod sweep;
mod sweep_chart;
mod table;
mod verified;
mod verified_chart;

use record::Verified;
use record::{
    Calibration, Command, DiskSetup, Loop, Main, Manifest, MeasuredTrial, Outcome, Parameter, Sample, Setup,
    Workload,
};
use serde::Serialize;
use stats::{Chance, IO_UNSENT_SHARE_MAX};

pub use expectation::{Expectation, ExpectedFigure};
pub use published::{Comparison, PublishedRow};
pub use steady::{MatrixCell, SteadyState};
pub use sweep::{Sweep, SweepPoint};

use crate::chart::{Chart, histogram, over_time, strip};
use crate::configuration::Configuration;
use crate::format;
use crate::lead::Tile;
use crate::metrics::MetricOf;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::{Answer, Reliability};
use crate::trial::{ALL, Trial, per_s};
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::workloads::{Alone, Common, Facts, Limits, Second, Shown, Words, Worked};

/// The disk as a report shows it.
pub(crate) struct Disk;

/// What disks came to together.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Series over the outstanding I/Os.
    pub sweeps: Vec<Sweep>,
    /// Steady state over rounds.
    pub steady_state: Option<SteadyState>,
    /// What the array should give that the device is said to be.
    pub expectation: Option<Expectation>,
    /// Published figures beside the measured ones.
    pub published: Vec<Comparison>,
}

impl Series {
    pub(crate) fn of(
        manifest: &Manifest,
        configurations: &[Configuration],
        trials: &[Trial],
        steady_state: Option<SteadyState>,
    ) -> Self {
        Self {
            sweeps: sweep::all(manifest, configurations, trials),
            steady_state,
            expectation: expectation::of(manifest, configurations),
            published: published::beside(manifest.profile.as_deref(), configurations),
        }
    }
}

impl Trial {
    pub(crate) fn disk(&self) -> Option<&DiskSetup> {
        self.setup.as_ref().and_then(Setup::disk)
    }

    /// What it found where it checked pages.
    pub(crate) fn verified(&self) -> Option<&Verified> {
        match &self.worked {
            Some(Worked::Verified(verified)) => Some(verified),
            _ => None,
        }
    }
}

impl Configuration {
    pub(crate) fn disk(&self) -> Option<&DiskSetup> {
        self.setup.as_ref().and_then(Setup::disk)
    }
}

impl Report {
    /// Trials of disks.
    fn disks(&self) -> impl Iterator<Item = &Trial> {
        self.trials_of(Workload::Disk)
    }
}

/// Whether some configuration was measured more than once.
fn repeats(report: &Report) -> bool {
    report.configurations_of(Workload::Disk).any(|configuration| configuration.trials.len() > 1)
}

static WORDS: Words = Words {
    one: "disk",
    many: "disks",
    anchor: "figures",
    unit: Unit::a_second("IOPS", "I/Os per second", "I/Os"),
    rate_metric: "iops",
    headlines: &[verified::VERIFIED, honesty::HONESTY, finding::RATE],
    replaced: &[finding::RATE, finding::KNEE],
    all_in_flight: |slots| match slots {
        1 => "the one outstanding I/O was in use".to_owned(),
        _ => format!("all {} outstanding were in use", format::grouped(slots)),
    },
};

static LIMITS: Limits = Limits {
    busy_rule: "generator_cpu",
    thread: "the busiest load thread",
    instead: "the CPU of the load thread, not the disk",
    remedy: " and add threads",
    alone: Some(Alone {
        rule: "generator_rate",
        reaches: "the load generator reaches without a device",
        remedy: " and add threads",
    }),
    late_remedy: Some("raise the outstanding I/Os or the threads, or offer a lower rate"),
    is_alone: true,
};

/// Larger I/Os may be split, so that they are more requests than I/Os.
const WHOLE_BYTES: u64 = 64 << 10;

/// Those of I/Os that are sent as one request each: small, past the page cache, and at places that the kernel cannot merge.
fn requests_per_s(measured: &MeasuredTrial) -> Option<[f64; 2]> {
    let Some(Setup::Disk(setup)) = &measured.trial.setup else { return None };
    let is_scattered = setup.pattern.starts_with("random") || setup.pattern.starts_with("zipf");
    let is_whole = is_scattered && !setup.cache.uses_file_cache() && setup.block_bytes <= WHOLE_BYTES;
    let window = || measured.samples.iter().filter(|sample| sample.phase == record::Phase::Measure);
    let seconds: f64 = window().map(|sample| sample.length_s).sum();
    let per_s = |kind: &str| {
        let counts = window().filter_map(|sample| Some(sample.operations.get(kind)?.count));
        counts.sum::<u64>() as f64 / seconds
    };
    (is_whole && seconds > 0.0).then(|| [per_s("read"), per_s("write")])
}

impl Shown for Disk {
    fn question(&self, report: &Report) -> &'static str {
        if report.trials.iter().any(|trial| trial.verified().is_some()) {
            "Does this storage keep the data that it acknowledged?"
        } else {
            "How fast is this storage for a database?"
        }
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[("iops", |trial| trial.main()?.per_s), ("mb_per_s", |trial| trial.main()?.mb_per_s)]
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn loads_device(&self, setup: &Setup) -> bool {
        !matches!(setup, Setup::Disk(disk) if !disk.engine.loads_device())
    }

    fn requests_per_s(&self, measured: &MeasuredTrial) -> Option<[f64; 2]> {
        requests_per_s(measured)
    }

    /// I/Os of a closed loop, or due at even times, do not come by chance.
    fn by_chance(&self, trial: &Trial) -> Option<Chance> {
        match trial.setup.as_ref().map(Setup::pacing) {
            Some(Loop::Open { poisson: true, .. }) => {
                Chance::of(self.answers_per_s(trial)?, trial.measured_s)
            }
            _ => Some(Chance::default()),
        }
    }

    fn cuts_warm_up(&self) -> bool {
        false
    }

    /// More threads than cores send no more than the cores can.
    fn calibrated(&self, setup: &Setup, cores: u32) -> Option<(Calibration, u32)> {
        let disk = setup.disk()?;
        Some((disk.calibration?, disk.threads.min(cores)))
    }

    fn unsent_share_max(&self) -> Option<f64> {
        Some(IO_UNSENT_SHARE_MAX)
    }

    fn fails_by_errors(&self) -> bool {
        true
    }

    /// Unless the generator itself is what is measured.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.disk().is_none_or(|disk| disk.engine.loads_device())
    }

    fn targets(&self, setup: &Setup) -> Vec<String> {
        setup.disk().map(|disk| disk.path.clone()).into_iter().collect()
    }

    fn loads_paths(&self) -> bool {
        true
    }

    fn worked(&self, measured: &MeasuredTrial, _: &Common<'_>) -> Option<Worked> {
        let Some(Outcome::Disk(outcome)) = &measured.trial.outcome else { return None };
        outcome.verified.clone().map(Worked::Verified)
    }

    fn rate(&self, trial: &Trial) -> Option<String> {
        let (value, unit) = finding::headline(trial.disk(), trial.main()?)?;
        Some(format!("{} {unit}", format::figure(value)))
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        let verified = report.trials.iter().filter_map(|trial| verified::answer(report, trial));
        let given = match lead::grid::Grid::of(report) {
            Some(grid) => vec![grid.answer()],
            None => plain::answers(report),
        };
        honesty::answers(report).into_iter().chain(given).chain(verified).collect()
    }

    fn bottom_line(&self, report: &Report, trust: Reliability) -> Vec<Answer> {
        plain::bottom_line(report, trust)
    }

    /// One depth says nothing of the others.
    fn next(&self, report: &Report) -> Option<String> {
        let sweep = Command::new("disk").with(Parameter::new("profile").of("sweep"));
        report.disk.sweeps.is_empty().then(|| format!("measure more requests in flight: {sweep}"))
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        [verified::all(report), honesty::all(report), finding::all(report)].concat()
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        medium::all(report)
    }

    /// A sweep says itself where it stopped.
    fn tells_skipped(&self, report: &Report, trial: &Trial) -> bool {
        let told = |sweep: &Sweep| sweep.passed_at.is_some() && sweep.trials.contains(&trial.number);
        report.disk.sweeps.iter().any(told)
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let main = Some(table::main(report)).filter(|table| !table.rows.is_empty()).map(Block::main);
        let each = repeats(report).then(|| Block::OnPage {
            summary: "Every single trial".to_owned(),
            table: table::trials(report),
        });
        let others = [table::open_loops(report), report.disk.steady_state.as_ref().and_then(table::matrix)];
        let depths = lead::depths(report).map(Block::Table);
        let figures = [honesty::table(report), depths, main, each]
            .into_iter()
            .chain(others.map(|table| table.map(Block::Table)))
            .flatten();
        let published = report.disk.published.iter().flat_map(|comparison| {
            let table = table::published(comparison);
            let (sentences, sources) = (comparison.differences.clone(), comparison.sources.clone());
            [Block::Beside { table, measured: 1 }, Block::Notes { sentences, sources }]
        });
        vec![
            verified::section(report),
            Section { place: Place::Figures, blocks: figures.collect() },
            Section { place: Place::Published, blocks: published.collect() },
        ]
    }

    fn holds_when_busy(&self, report: &Report) -> Option<&'static str> {
        let verified = |trial: &Trial| matches!(trial.worked, Some(Worked::Verified(_)));
        let all = !report.trials.is_empty() && report.trials.iter().all(verified);
        all.then_some("That is about rates and times: the count of damaged pages does not depend on the load")
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        lead::chart(report)
    }

    /// The sweeps. If there is neither a sweep nor a steady state: all latencies on one scale, and the course of each test.
    fn overview(&self, report: &Report) -> Vec<Chart> {
        let mut charts: Vec<Chart> = sweep_chart::sweeps(&report.disk.sweeps).into_iter().flatten().collect();
        if charts.is_empty() && report.disk.steady_state.is_none() {
            charts.extend(lead::other_latencies(report));
            charts.extend(strip::courses(report, Workload::Disk));
        }
        charts
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        let kinds = trial.figures.iter().map(|figures| &figures.kind).filter(|kind| *kind != ALL);
        let verified = trial.verified();
        let fixed = [
            verified.and_then(|verified| verified_chart::longest(trial, verified)),
            verified.and_then(|verified| verified_chart::map(trial, verified)),
            histogram::histogram(trial),
            over_time::throughput(trial),
        ];
        fixed.into_iter().chain(kinds.map(|kind| over_time::latency(trial, kind))).flatten().collect()
    }

    fn ink(&self, kind: &str) -> usize {
        match kind {
            "read" => 0,
            "write" => 1,
            record::disk::FLUSH => 2,
            _ => 3,
        }
    }

    fn seconds(&self) -> &'static [Second] {
        &[
            Second { head: "IOPS", value: per_s, print: format::figure },
            Second { head: "MB/s", value: mb_per_s, print: format::figure },
        ]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.disk().map(facts::facts)
    }

    fn method(&self, report: &Report) -> Vec<String> {
        method::paragraphs(report)
    }
}

fn mb_per_s(_: &Main, sample: &Sample) -> Option<f64> {
    (sample.length_s > 0.0).then(|| sample.bytes() as f64 / 1e6 / sample.length_s)
}

/// Whether block sizes differ. I/Os of different sizes are different work: the smallest blocks always have the most of them.
pub(crate) fn differ_in_block_size(trials: &[&Trial]) -> bool {
    let sizes = || trials.iter().filter_map(|trial| Some(trial.disk()?.block_bytes));
    sizes().min() != sizes().max()
}
