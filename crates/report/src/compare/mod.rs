//! Studies against each other: what differs between them first, then what each combination that they share gains.
//!
//! Their trials were not interleaved, so that whatever changed between the studies is part of every effect. A verdict is
//! refused where the workload itself differs; the figures are shown all the same. For each metric all combinations of two
//! studies are one family, for which the p-values are corrected (Holm).

mod difference;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use record::{METRICS, Metric, Share, StudyRecord, shown_json};
use serde::Serialize;
use stats::{Better, Effect, Judged};

pub use difference::Difference;

use crate::comparison::{Cell, ComparedMetric, Key, combination, direction, gain_pct, words};
use crate::metrics::{SUSTAINED, of_study};
use crate::report::Report;
use crate::trial::Trial;

/// Version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// Said of every comparison of studies.
const NOT_INTERLEAVED: &str = "Not interleaved: drift not controlled. Whatever changed between the studies, known or not, is part of \
                               every effect; one study with both as configurations compares them block by block";

/// Several studies, the first of which the others are compared with.
#[derive(Clone, Debug, Serialize)]
pub struct Compare {
    /// Version of this document's form.
    pub format: u32,
    /// The studies in the order given.
    pub studies: Vec<ComparedStudy>,
    /// What holds of every effect here.
    pub caution: String,
    /// Each further study against the first.
    pub against: Vec<Against>,
}

/// A study that is compared.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedStudy {
    /// Name of its results directory.
    pub name: String,
    /// Title.
    pub title: String,
    /// Begin, RFC 3339 in UTC.
    pub started: String,
}

/// A study against the first.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// Name of its results directory.
    pub name: String,
    /// In what the machines differ.
    pub environment: Vec<Difference>,
    /// In what the targets differ: what was asked to be loaded, and where it was found to be.
    pub target: Vec<Difference>,
    /// In what settings and setups differ.
    pub settings: Vec<Difference>,
    /// What the verdicts are about, by name.
    pub metric: Option<&'static str>,
    /// Share from which on an effect matters: what the user gave, else that of the first study, else 3 %.
    pub smallest_effect: f64,
    /// The combinations that both have.
    pub combinations: Vec<Combination>,
    /// Combinations of the first study alone.
    pub only_first: Vec<String>,
    /// Combinations of this study alone.
    pub only_this: Vec<String>,
}

/// A combination that two studies share.
#[derive(Clone, Debug, Serialize)]
pub struct Combination {
    /// Its configuration and levels in words.
    pub label: String,
    /// In what its workload differs; a verdict is refused unless this is empty.
    pub workload: Vec<Difference>,
    /// Its metrics.
    pub metrics: Vec<MetricAgainst>,
}

/// A metric of a combination in two studies.
#[derive(Clone, Debug, Serialize)]
pub struct MetricAgainst {
    /// The metric.
    pub metric: ComparedMetric,
    /// Values of the first study's complete trials.
    pub first: Vec<f64>,
    /// Values of this study's.
    pub this: Vec<f64>,
    /// Change in per cent, positive is better; none where there is no ratio.
    pub gain_pct: Option<f64>,
    /// Lower end of its interval; none with a single trial on a side.
    pub low_pct: Option<f64>,
    /// Upper end of its interval.
    pub high_pct: Option<f64>,
    /// The ratio with its interval.
    pub effect: Option<Effect>,
    /// What it supports; none where a verdict is refused.
    pub judged: Option<Judged>,
    /// The verdict in words, or why there is none.
    pub words: String,
}

/// What a comparison of studies came to as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareOutcome {
    /// All shared combinations have a verdict.
    Judged,
    /// Some have too few trials for one.
    Descriptive,
    /// Of some a verdict is refused, since the workload differs.
    Refused,
    /// A study shares no combination with the first.
    NothingShared,
}

impl Compare {
    /// Compares studies, each with the name of its results directory, with the first of them. Effects matter from the share
    /// given on, or else from that on which the first study says.
    #[must_use]
    pub fn of(studies: &[(String, &StudyRecord)], smallest: Option<Share>) -> Self {
        let sides: Vec<Side<'_>> = studies.iter().map(|(name, study)| Side::of(name, study)).collect();
        let named = |side: &Side<'_>| ComparedStudy {
            name: side.name.to_owned(),
            title: side.report.title.clone(),
            started: side.report.started.clone(),
        };
        let against = match sides.split_first() {
            Some((first, others)) => {
                let smallest = smallest.map_or_else(|| first.smallest_effect(), Share::value);
                others.iter().map(|other| against(first, other, smallest)).collect()
            }
            None => Vec::new(),
        };
        Self {
            format: DOCUMENT_VERSION,
            studies: sides.iter().map(named).collect(),
            caution: NOT_INTERLEAVED.to_owned(),
            against,
        }
    }

    /// What it came to as a whole: the worst of all studies.
    #[must_use]
    pub fn outcome(&self) -> CompareOutcome {
        self.against.iter().map(Against::outcome).max().unwrap_or(CompareOutcome::NothingShared)
    }

    /// The comparison as one JSON document that ends with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        match serde_json::to_string_pretty(self) {
            Ok(text) => shown_json(&text) + "\n",
            Err(error) => unreachable!("the model has string keys and writes to memory: {error}"),
        }
    }
}

impl Against {
    /// What the comparison with this study came to, by the metric that it is about.
    #[must_use]
    pub fn outcome(&self) -> CompareOutcome {
        let of = |combination: &Combination| {
            let main = combination.main(self.metric);
            let verdict = main.and_then(|metric| metric.judged).map(|judged| judged.comparison);
            match verdict {
                _ if !combination.workload.is_empty() => CompareOutcome::Refused,
                None | Some(stats::Comparison::Descriptive) => CompareOutcome::Descriptive,
                Some(_) => CompareOutcome::Judged,
            }
        };
        self.combinations.iter().map(of).max().unwrap_or(CompareOutcome::NothingShared)
    }
}

impl Combination {
    /// The metric of a name.
    pub(crate) fn main(&self, name: Option<&'static str>) -> Option<&MetricAgainst> {
        self.metrics.iter().find(|metric| Some(metric.metric.name) == name)
    }
}

/// A study with its trials by combination.
struct Side<'a> {
    name: &'a str,
    study: &'a StudyRecord,
    report: Report,
}

impl<'a> Side<'a> {
    fn of(name: &'a str, study: &'a StudyRecord) -> Self {
        Self { name, study, report: Report::of(study) }
    }

    /// What was measured of each combination. Named configurations are known by their name, single trials by that of the
    /// trial.
    fn cells(&self, designed: bool) -> BTreeMap<Key, Vec<Cell<'_>>> {
        let mut cells: BTreeMap<Key, Vec<Cell<'_>>> = BTreeMap::new();
        let key = |trial: &Trial| {
            let name = if designed { &trial.configuration } else { &trial.name };
            (name.clone(), trial.levels.clone())
        };
        let single = |trial: &&Trial| {
            trial.is_complete() && !trial.aa && trial.search.is_none() && trial.main().is_some()
        };
        for trial in self.report.trials.iter().filter(single) {
            cells.entry(key(trial)).or_default().push(Cell::of(trial));
        }
        for search in &self.report.searches {
            let held = search.stable_at.zip(search.held_in());
            let step = |number: u32| self.report.trials.iter().find(|trial| trial.number == number);
            if let Some((rate, trial)) = held.and_then(|(rate, number)| Some((rate, step(number)?))) {
                cells.entry(key(trial)).or_default().push(Cell::searched(trial, rate));
            }
        }
        cells
    }

    fn metric(&self) -> Option<&'static Metric> {
        let design = self.study.manifest.design.clone().unwrap_or_default();
        of_study(&design, &self.report.trials)
    }

    /// The share from which on an effect matters to whoever made this study.
    fn smallest_effect(&self) -> f64 {
        let own = self.study.manifest.design.as_ref().and_then(|design| design.smallest);
        own.map_or(stats::SMALLEST_EFFECT, Share::value)
    }
}

fn against(first: &Side<'_>, this: &Side<'_>, smallest: f64) -> Against {
    let designed = [first, this].iter().all(|side| side.study.manifest.design.is_some());
    let (ours, theirs) = (first.cells(designed), this.cells(designed));
    let shared: Vec<(&Key, &[Cell<'_>], &[Cell<'_>])> = ours
        .iter()
        .filter_map(|(key, cells)| Some((key, cells.as_slice(), theirs.get(key)?.as_slice())))
        .collect();
    let workloads: Vec<Vec<Difference>> =
        shared.iter().map(|(_, a, b)| difference::workload(a[0].trial, b[0].trial)).collect();
    let metrics = by_metric(&shared, &workloads, smallest);
    let combinations = shared.iter().zip(workloads).zip(metrics);
    let alone = |own: &BTreeMap<Key, Vec<Cell<'_>>>, other: &BTreeMap<Key, Vec<Cell<'_>>>| {
        own.keys().filter(|key| !other.contains_key(*key)).map(combination).collect::<Vec<String>>()
    };
    let pairs = || shared.iter().map(|(_, a, b)| (a[0].trial, b[0].trial));
    let metric = first.metric().map(|metric| metric.name);
    Against {
        name: this.name.to_owned(),
        environment: difference::environment(first.study, this.study),
        target: difference::target(pairs()),
        settings: difference::settings(first.study, this.study, pairs()),
        metric,
        smallest_effect: smallest,
        combinations: combinations
            .map(|(((key, ..), workload), metrics)| Combination {
                label: combination(key),
                workload,
                metrics,
            })
            .collect(),
        only_first: alone(&ours, &theirs),
        only_this: alone(&theirs, &ours),
    }
}

/// All metrics of each shared combination.
fn by_metric(
    shared: &[(&Key, &[Cell<'_>], &[Cell<'_>])],
    workloads: &[Vec<Difference>],
    smallest: f64,
) -> Vec<Vec<MetricAgainst>> {
    let mut all: Vec<Vec<MetricAgainst>> = shared.iter().map(|_| Vec::new()).collect();
    for metric in &METRICS {
        let mut family: Vec<(usize, MetricAgainst)> = shared
            .iter()
            .enumerate()
            .filter_map(|(index, (_, first, this))| Some((index, values(metric, first, this)?)))
            .collect();
        let may = |index: usize| workloads[index].is_empty();
        let judgeable = |(index, one): &(usize, MetricAgainst)| one.effect.filter(|_| may(*index));
        let effects: Vec<Effect> = family.iter().filter_map(judgeable).collect();
        let mut judged = stats::judge(&effects, smallest, direction(metric.better)).into_iter();
        for (index, one) in &mut family {
            if !may(*index) {
                one.words = "refused: the workload differs".to_owned();
            } else if one.effect.is_some()
                && let Some(verdict) = judged.next()
            {
                words(verdict.comparison).clone_into(&mut one.words);
                one.judged = Some(verdict);
            }
        }
        family.into_iter().for_each(|(index, one)| all[index].push(one));
    }
    all
}

/// None where a side does not have the metric.
fn values(metric: &Metric, first: &[Cell<'_>], this: &[Cell<'_>]) -> Option<MetricAgainst> {
    let of = |cells: &[Cell<'_>]| cells.iter().filter_map(|cell| cell.value(metric)).collect::<Vec<f64>>();
    let (first, this) = (of(first), of(this));
    let better: Better = direction(metric.better);
    let ratio = stats::mean(&this)? / stats::mean(&first)?;
    let effect = stats::unpaired_effect(&first, &this);
    let ratio = effect.map_or(ratio, |effect| effect.ratio.value);
    let pct = |ratio: f64| gain_pct(ratio, better);
    let ends = effect.map(|effect| (pct(effect.ratio.low), pct(effect.ratio.high)));
    let known = ratio.is_finite() && ratio > 0.0;
    Some(MetricAgainst {
        metric: metric.into(),
        gain_pct: known.then(|| pct(ratio)),
        low_pct: ends.map(|(a, b)| a.min(b)),
        high_pct: ends.map(|(a, b)| a.max(b)),
        effect,
        judged: None,
        words: if known { "descriptive only" } else { "no ratio, a value is zero" }.to_owned(),
        first,
        this,
    })
}

/// Whether a metric is that of a whole search.
pub(crate) fn is_searched(metric: &ComparedMetric) -> bool {
    metric.name == SUSTAINED
}
