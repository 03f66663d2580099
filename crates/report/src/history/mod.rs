//! One configuration measured again and again: each of its figures over the runs, whether they step, drift, alternate or stand out once,
//! what changed in machine and settings at a step, and whether they are worse than at a baseline.
//!
//! A run counts here by the mean of its complete trials. Runs of another workload than the first are left out and told. A
//! change of the machine at a change point is no proof that it is the cause.

mod chart;
mod page;
mod sentence;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use std::collections::BTreeMap;
use std::fmt;

use record::{METRICS, Metric, Share, StudyRecord, csv_field, shown_json};
use serde::Serialize;
pub use stats::SinceVerdict;
use stats::{ChangePoint, Course, Effect, HistoryShape, history_shape};

use crate::change::Change;
use crate::compare::difference::{self, Difference};
use crate::compare::run::{Cells, Run};
use crate::comparison::{Cell, ComparedMetric, Key as CombinationKey, combination, direction, gain_pct};
use crate::metrics::of_study;
use crate::page::title;
use crate::trial::Trial;

/// Version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// Seed of the permutations, so that the same runs always give the same change points.
const SEED: u64 = 1;

/// What is followed beside the metric that a combination is judged by.
const BESIDE: [&str; 1] = ["p99_ms"];

/// The runs of one configuration, the oldest first.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// Version of this document's form.
    pub format: u32,
    /// Title of the last run, with its target.
    pub measured: String,
    /// The runs in the order of their begin.
    pub runs: Vec<HistoryRun>,
    /// Results directories that are no run of this configuration.
    pub left_out: Vec<LeftOut>,
    /// Each figure over the runs.
    pub series: Vec<HistorySeries>,
    /// Changes of machine, target and settings. There is an entry for each run that starts a new piece of a series, and for each other run
    /// with a change.
    pub changes: Vec<HistoryChange>,
    /// Place of the run that the last ones are compared with.
    pub baseline: Option<usize>,
    /// Share from which on a change matters.
    pub smallest_effect: f64,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryRun {
    /// Name of its results directory.
    pub name: String,
    /// Begin, RFC 3339 in UTC.
    pub started: String,
}

/// A results directory that is not followed, and why.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why it is not.
    pub reason: String,
}

/// A figure of one combination over the runs.
#[derive(Clone, Debug, Serialize)]
pub struct HistorySeries {
    /// The combination in words.
    pub label: String,
    /// The metric.
    pub metric: ComparedMetric,
    /// Its value in each run, in the metric's unit; none where the run does not have it.
    pub values: Vec<Option<f64>>,
    /// The pieces between its change points; one where it does not step.
    pub pieces: Vec<Piece>,
    /// What it does over all runs; the steps are the pieces.
    pub course: SeriesCourse,
    /// Runs that stand out by themselves.
    pub spikes: Vec<Spike>,
    /// How much its runs resemble the ones before, between two change points; none of few runs, or where it is not positive.
    pub resemblance: Option<stats::Resemblance>,
    /// How the last piece compares with that of the baseline; none without a baseline.
    pub since_baseline: Option<Since>,
}

impl HistorySeries {
    /// A change of its figure as it is told.
    fn change(&self, gain_pct: Option<f64>) -> Option<Change> {
        Change::of(gain_pct, None, self.metric.sense(), None)
    }
}

/// What a figure does over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SeriesCourse {
    /// Nothing is shown but chance, or there are too few runs.
    Level,
    /// It changes with some runs and stays so.
    Steps,
    /// It rises or falls all along.
    Drift {
        /// Its value at the begin, on a straight line.
        from: f64,
        /// Its value at the end.
        to: f64,
        /// Change from the begin to the end, in per cent, positive is better; none where there is no ratio.
        gain_pct: Option<f64>,
        /// Probability that runs in any order drift as evenly.
        chance: f64,
    },
    /// It alternates between two states.
    TwoStates {
        /// Median of the runs in the lower state.
        low: f64,
        /// Median of the runs in the upper state.
        high: f64,
        /// Runs in the upper state.
        high_runs: usize,
        /// How often it goes from one to the other.
        switches: usize,
        /// Probability that runs of one state fall apart as clearly.
        chance: f64,
    },
}

/// A run that stands out by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spike {
    /// Place of the run.
    pub run: usize,
    /// Its value.
    pub value: f64,
    /// Median of the runs beside it.
    pub usual: f64,
}

/// Runs between two change points.
#[derive(Clone, Debug, Serialize)]
pub struct Piece {
    /// Place of its first run.
    pub first: usize,
    /// Place of its last run.
    pub last: usize,
    /// Runs in it that have the figure.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Change against the piece before, in per cent, positive is better; none of the first piece or where there is no ratio.
    pub gain_pct: Option<f64>,
    /// Probability that runs in any order change as clearly; none of the first piece.
    pub chance: Option<f64>,
}

/// The last runs against those of the baseline.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Since {
    /// Change in per cent, positive is better; none where nothing changed, or there is no ratio.
    pub gain_pct: Option<f64>,
    /// Lower end of its interval.
    pub low_pct: Option<f64>,
    /// Upper end of its interval.
    pub high_pct: Option<f64>,
    /// The ratio with its interval of 99.8%, since a history is looked at after each run.
    pub effect: Option<Effect>,
    /// What it comes to.
    pub verdict: SinceVerdict,
}

/// What changed with a run that begins something new.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryChange {
    /// Place of the run.
    pub run: usize,
    /// In what the machine differs from that of the run before.
    pub environment: Vec<Difference>,
    /// In what the targets differ.
    pub target: Vec<Difference>,
    /// In what settings and setups differ.
    pub settings: Vec<Difference>,
}

impl HistoryChange {
    /// All differences.
    fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.environment.iter().chain(&self.target).chain(&self.settings)
    }
}

/// What a history came to as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryOutcome {
    /// Nothing is worse than at the baseline, or none was named.
    Passed,
    /// A figure is worse.
    Regressed,
    /// No figure is known to be worse, and of some it could not be judged.
    Inconclusive,
}

/// Why there is no history; displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoHistory {
    /// Nothing was measured in any of them.
    NothingMeasured,
    /// The baseline measured something else.
    Baseline {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for NoHistory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingMeasured => {
                formatter.write_str("no history: none of these results directories has a complete trial")
            }
            Self::Baseline { name, reason } => {
                write!(formatter, "the baseline {name} cannot be compared: {reason}")
            }
        }
    }
}

impl std::error::Error for NoHistory {}

impl History {
    /// The history of studies, each with the name of its results directory. The oldest that measured anything says what is
    /// followed. `baseline` is one of the names.
    ///
    /// # Errors
    /// Where nothing was measured, or the baseline measured something else.
    pub fn of(
        studies: &[(String, &StudyRecord)],
        baseline: Option<&str>,
        smallest: Option<Share>,
    ) -> Result<Self, NoHistory> {
        let mut sides: Vec<Run<'_>> = studies.iter().map(|(name, study)| Run::of(name, study)).collect();
        sides.sort_by(|one, other| one.report.started.cmp(&other.report.started));
        let designed = sides.iter().all(|side| side.study.manifest.compared().is_some());
        let cells: Vec<Cells<'_>> = sides.iter().map(|side| side.cells(designed)).collect();
        let first = cells.iter().position(|cells| !cells.is_empty()).ok_or(NoHistory::NothingMeasured)?;
        let (mut runs, mut left_out) = (Vec::new(), Vec::new());
        for (place, side) in sides.iter().enumerate() {
            match other_than(&cells[first], &cells[place]) {
                None => runs.push(place),
                Some(reason) => left_out.push(LeftOut { name: side.name.to_owned(), reason }),
            }
        }
        if let Some(out) = left_out.iter().find(|out| Some(out.name.as_str()) == baseline) {
            return Err(NoHistory::Baseline { name: out.name.clone(), reason: out.reason.clone() });
        }
        let baseline = runs.iter().position(|&place| Some(sides[place].name) == baseline);
        let smallest = smallest.map_or_else(|| sides[first].smallest_effect(), Share::value);
        let of_runs: Vec<&Cells<'_>> = runs.iter().map(|&place| &cells[place]).collect();
        let series: Vec<HistorySeries> = cells[first]
            .iter()
            .flat_map(|(key, own)| metrics(&sides[first], own).into_iter().map(move |metric| (key, metric)))
            .map(|(key, metric)| series(key, metric, &of_runs, baseline, smallest))
            .collect();
        let sides: Vec<&Run<'_>> = runs.iter().map(|&place| &sides[place]).collect();
        Ok(Self {
            format: DOCUMENT_VERSION,
            measured: sides.last().map(|last| title::measured(&last.report)).unwrap_or_default(),
            changes: changes(&series, &sides, &of_runs),
            runs: sides
                .iter()
                .map(|side| HistoryRun { name: side.name.to_owned(), started: side.report.started.clone() })
                .collect(),
            left_out,
            series,
            baseline,
            smallest_effect: smallest,
        })
    }

    /// What it came to as a whole: worse than the baseline if any figure is.
    #[must_use]
    pub fn outcome(&self) -> HistoryOutcome {
        let has = |verdict| {
            self.series
                .iter()
                .any(|series| series.since_baseline.is_some_and(|since| since.verdict == verdict))
        };
        match () {
            () if has(SinceVerdict::Regressed) => HistoryOutcome::Regressed,
            () if has(SinceVerdict::Unknown) => HistoryOutcome::Inconclusive,
            () => HistoryOutcome::Passed,
        }
    }

    /// The history as one JSON document that ends with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        match serde_json::to_string_pretty(self) {
            Ok(text) => shown_json(&text) + "\n",
            Err(error) => unreachable!("the model has string keys and writes to memory: {error}"),
        }
    }

    /// A line for each figure of each run, with a header line. The piece counts from 1; digits are not rounded.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = "run,started,combination,metric,unit,value,piece\r\n".to_owned();
        for series in &self.series {
            for (place, value) in series.values.iter().enumerate() {
                let run = &self.runs[place];
                let piece =
                    series.pieces.iter().position(|piece| (piece.first..=piece.last).contains(&place));
                let fields = [
                    run.name.clone(),
                    run.started.clone(),
                    series.label.clone(),
                    series.metric.name.to_owned(),
                    series.metric.unit.to_owned(),
                    value.map(|value| value.to_string()).unwrap_or_default(),
                    piece.map(|piece| (piece + 1).to_string()).unwrap_or_default(),
                ];
                text.push_str(&fields.map(|field| csv_field(&field)).join(","));
                text.push_str("\r\n");
            }
        }
        text
    }
}

/// Why a run is not of the configuration that the first one has: nothing in common, or another workload.
fn other_than(first: &Cells<'_>, this: &Cells<'_>) -> Option<String> {
    if this.is_empty() {
        return Some("it has no complete trial".to_owned());
    }
    let shared: Vec<(&CombinationKey, &[Cell<'_>], &[Cell<'_>])> = first
        .iter()
        .filter_map(|(key, cells)| Some((key, cells.as_slice(), this.get(key)?.as_slice())))
        .collect();
    if shared.is_empty() {
        return Some("it has no combination in common with the first run".to_owned());
    }
    shared.into_iter().find_map(|(key, own, other)| {
        let found = difference::workload(own[0].trial, other[0].trial);
        let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
        let one =
            |found: &Difference| format!("{} {} and {}", found.what, told(&found.first), told(&found.this));
        let differs: Vec<String> = found.iter().map(one).collect();
        (!differs.is_empty())
            .then(|| format!("the workload of {} differs: {}", combination(key), differs.join("; ")))
    })
}

/// What a combination is judged by, and what is followed beside.
fn metrics(side: &Run<'_>, cells: &[Cell<'_>]) -> Vec<&'static Metric> {
    let design = side.study.manifest.design.clone().unwrap_or_default();
    let own = of_study(&design, std::iter::once(cells[0].trial));
    let beside = METRICS.iter().filter(|metric| BESIDE.contains(&metric.name));
    let mut metrics: Vec<&'static Metric> = own.into_iter().chain(beside).collect();
    metrics.dedup_by_key(|metric| metric.name);
    metrics.retain(|metric| cells.iter().any(|cell| cell.value(metric).is_some()));
    metrics
}

fn series(
    key: &CombinationKey,
    metric: &'static Metric,
    runs: &[&Cells<'_>],
    baseline: Option<usize>,
    smallest: f64,
) -> HistorySeries {
    let value = |cells: &&Cells<'_>| {
        let values: Vec<f64> = cells.get(key)?.iter().filter_map(|cell| cell.value(metric)).collect();
        stats::mean(&values)
    };
    let values: Vec<Option<f64>> = runs.iter().map(value).collect();
    let known: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?))).collect();
    let figures: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let shape = history_shape(&figures, SEED).unwrap_or_default();
    let HistoryShape { course, spikes } = &shape;
    let better = direction(metric.better);
    let points = match course {
        Course::Steps { points } => points.as_slice(),
        Course::Level | Course::Drift { .. } | Course::TwoStates { .. } => &[],
    };
    let pieces = pieces(&known, points, |ratio| gain_pct(ratio, better));
    let since_baseline = baseline.map(|baseline| since(&known, &shape, baseline, better, smallest));
    let resemblance = stats::history_resemblance(&figures, &shape, SEED);
    let spikes = spikes.iter().map(|at| spike(&known, *at)).collect();
    let course = series_course(course, |ratio| gain_pct(ratio, better));
    HistorySeries {
        label: combination(key),
        metric: metric.into(),
        values,
        pieces,
        course,
        spikes,
        resemblance,
        since_baseline,
    }
}

fn series_course(course: &Course, gain: impl Fn(f64) -> f64) -> SeriesCourse {
    match *course {
        Course::Level => SeriesCourse::Level,
        Course::Steps { .. } => SeriesCourse::Steps,
        Course::Drift { from, to, chance } => {
            let ratio = Some(to / from).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            SeriesCourse::Drift { from, to, gain_pct: ratio.map(gain), chance }
        }
        Course::TwoStates { low, high, high_runs, switches, chance } => {
            SeriesCourse::TwoStates { low, high, high_runs, switches, chance }
        }
    }
}

/// Runs on each side of one that stands out, which say what is usual.
const BESIDE_SPIKE: usize = 3;

fn spike(known: &[(usize, f64)], at: usize) -> Spike {
    let from = at.saturating_sub(BESIDE_SPIKE);
    let beside =
        known.iter().enumerate().skip(from).take(2 * BESIDE_SPIKE + 1).filter(|(place, _)| *place != at);
    let values: Vec<f64> = beside.map(|(_, (_, value))| *value).collect();
    let (run, value) = known[at];
    Spike { run, value, usual: stats::median(&values).unwrap_or(value) }
}

fn pieces(known: &[(usize, f64)], points: &[ChangePoint], gain: impl Fn(f64) -> f64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let starts = std::iter::once((0, None)).chain(points.iter().map(|point| (point.at, Some(point.chance))));
    let ends = points.iter().map(|point| point.at).chain([known.len()]);
    for ((from, chance), to) in starts.zip(ends) {
        let of = &known[from..to];
        let values: Vec<f64> = of.iter().map(|(_, value)| *value).collect();
        let (Some(first), Some(last), Some(mean)) = (of.first(), of.last(), stats::mean(&values)) else {
            continue;
        };
        let ratio = pieces.last().map(|before| mean / before.mean);
        let gain_pct = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0).map(&gain);
        pieces.push(Piece { first: first.0, last: last.0, runs: of.len(), mean, gain_pct, chance });
    }
    pieces
}

/// The last runs against those around the baseline.
fn since(
    known: &[(usize, f64)],
    shape: &HistoryShape,
    baseline: usize,
    better: stats::Better,
    smallest: f64,
) -> Since {
    let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let found = known
        .iter()
        .position(|(run, _)| *run == baseline)
        .map(|at| stats::history_since(&values, shape, at, smallest, better));
    let verdict = found.map_or(SinceVerdict::Unknown, |found| found.verdict);
    let effect = found.and_then(|found| found.effect);
    let gain = |of: fn(&Effect) -> f64| effect.as_ref().map(|effect| gain_pct(of(effect), better));
    let ends = gain(|effect| effect.ratio.low).zip(gain(|effect| effect.ratio.high));
    Since {
        gain_pct: gain(|effect| effect.ratio.value),
        low_pct: ends.map(|(one, other)| one.min(other)),
        high_pct: ends.map(|(one, other)| one.max(other)),
        effect,
        verdict,
    }
}

/// The changes at each run that starts a new piece of a series, and at each other run with a change.
fn changes(series: &[HistorySeries], sides: &[&Run<'_>], cells: &[&Cells<'_>]) -> Vec<HistoryChange> {
    let begins: BTreeMap<usize, usize> = series
        .iter()
        .flat_map(|series| series.pieces.windows(2).map(|pair| (pair[1].first, pair[0].last)))
        .collect();
    let change = |run: usize| {
        // The last run of the piece before is not always the run directly before.
        let before = begins.get(&run).copied();
        let found = between((sides, cells), before.unwrap_or(run - 1), run);
        (before.is_some() || found.differences().next().is_some()).then_some(found)
    };
    (1..sides.len()).filter_map(change).collect()
}

fn between((sides, cells): (&[&Run<'_>], &[&Cells<'_>]), before: usize, run: usize) -> HistoryChange {
    let shared = cells[before].iter().filter_map(|(key, own)| Some((own, cells[run].get(key)?)));
    let pairs: Vec<(&Trial, &Trial)> = shared.map(|(own, other)| (own[0].trial, other[0].trial)).collect();
    let trials = (sides[before].report.trials.as_slice(), sides[run].report.trials.as_slice());
    let (one, other) = (sides[before].study, sides[run].study);
    HistoryChange {
        run,
        environment: difference::environment(one, other),
        target: difference::target(&pairs, trials),
        settings: difference::settings(one, other, &pairs, trials),
    }
}
