//! Studies against each other: what differs between them first, then what each combination that they share gains.
//!
//! Their trials were not interleaved, so that whatever changed between the studies is part of every effect. A verdict is
//! refused where the workload itself differs; the figures are shown all the same. For each metric all combinations of two
//! studies are one family, for which the p-values are corrected (Holm).

pub(crate) mod difference;
pub(crate) mod side;
#[cfg(test)]
mod tests;
mod text;

use record::{METRICS, Metric, Share, StudyRecord, Workload, shown_json};
use serde::Serialize;
use stats::{Better, Comparison, Effect, Judged};

pub use difference::Difference;

use crate::comparison::{
    Cell, ComparedMetric, Key as CombinationKey, combination, direction, gain_pct, words,
};
use crate::trial::Trial;
use side::{Cells, Side};

/// Version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// Said of every comparison of studies.
const NOT_INTERLEAVED: &str = "Not interleaved: drift not controlled. Whatever changed between the studies, known or not, is part of \
                               every effect, so that figures differ and neither is called better; one study with both as \
                               configurations compares them block by block, or say how much runs of different times differ by \
                               themselves";

/// Said where it is known how much sessions differ by themselves.
const BETWEEN: &str = "Not interleaved: intervals and verdicts allow for sessions that differ by themselves, as given; what else \
                       changed between the studies is part of every effect";

/// Several studies, the first of which the others are compared with.
#[derive(Clone, Debug, Serialize)]
pub struct Compare {
    /// Version of this document's form.
    pub format: u32,
    /// The studies in the order given.
    pub studies: Vec<ComparedStudy>,
    /// How much sessions differ by themselves (standard deviation), as a share; none where the user did not say.
    pub between: Option<f64>,
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
    /// What of it is damaged or counts for nothing, a sentence each.
    pub not_used: Vec<String>,
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
    /// Share from which on an effect matters: what the user gave, else that of the first study, else 3 %.
    pub smallest_effect: f64,
    /// Why nothing is compared, a sentence each; empty where something is.
    pub not_compared: Vec<String>,
    /// The combinations that both have. Where each has but one of a workload, these are compared whatever their names.
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
    /// What its verdict is about, by name.
    pub metric: Option<&'static str>,
    /// All metrics that either study has of it.
    pub metrics: Vec<MetricAgainst>,
}

/// A metric of a combination in two studies.
#[derive(Clone, Debug, Serialize)]
pub struct MetricAgainst {
    /// The metric.
    pub metric: ComparedMetric,
    /// Values of the first study's complete trials; empty where it has none.
    pub first: Vec<f64>,
    /// Values of this study's; empty where it has none.
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
    /// given on, or else from that on which the first study says. Only where it is given how much sessions differ by themselves
    /// is anything called better or worse.
    #[must_use]
    pub fn of(studies: &[(String, &StudyRecord)], smallest: Option<Share>, between: Option<Share>) -> Self {
        let between = between.map(Share::value);
        let sides: Vec<Side<'_>> = studies.iter().map(|(name, study)| Side::of(name, study)).collect();
        let named = |side: &Side<'_>| ComparedStudy {
            name: side.name.to_owned(),
            title: side.report.title.clone(),
            started: side.report.started.clone(),
            not_used: side.not_used(),
        };
        let against = match sides.split_first() {
            Some((first, others)) => {
                let smallest = smallest.map_or_else(|| first.smallest_effect(), Share::value);
                others.iter().map(|other| against(first, other, smallest, between)).collect()
            }
            None => Vec::new(),
        };
        Self {
            format: DOCUMENT_VERSION,
            studies: sides.iter().map(named).collect(),
            between,
            caution: if between.is_some() { BETWEEN } else { NOT_INTERLEAVED }.to_owned(),
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
    /// What the comparison with this study came to, by the metrics that its workloads are judged by.
    #[must_use]
    pub fn outcome(&self) -> CompareOutcome {
        let of = |combination: &Combination| {
            let verdict = combination.main().and_then(|metric| metric.judged).map(|judged| judged.comparison);
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
    /// What its verdict is about.
    fn main(&self) -> Option<&MetricAgainst> {
        self.metrics.iter().find(|metric| Some(metric.metric.name) == self.metric)
    }
}

/// A combination of both studies, with what was measured of it.
struct Shared<'a> {
    label: String,
    first: &'a [Cell<'a>],
    this: &'a [Cell<'a>],
}

impl Shared<'_> {
    /// A trial of each side, which speak for the combination's settings.
    fn trials(&self) -> (&Trial, &Trial) {
        (self.first[0].trial, self.this[0].trial)
    }
}

/// The combinations that both have by name, and those that are the only ones of their workload on both sides.
fn shared<'a>(ours: &'a Cells<'a>, theirs: &'a Cells<'a>) -> (Vec<Shared<'a>>, Vec<String>, Vec<String>) {
    let only = |cells: &'a Cells<'a>, workload: Workload| {
        let mut own = cells.iter().filter(|(_, cells)| cells[0].trial.is(workload));
        own.next().filter(|_| own.next().is_none())
    };
    let mut shared = Vec::new();
    let (mut only_first, mut only_this) = (Vec::new(), Vec::new());
    let mut renamed = Vec::new();
    for (key, first) in ours {
        let workload = first[0].trial.workload;
        let other = only(ours, workload).and_then(|_| only(theirs, workload));
        let other = other.filter(|(other, _)| !ours.contains_key(*other));
        match (theirs.get(key), other) {
            (Some(this), _) => shared.push(Shared { label: combination(key), first, this }),
            (None, Some((other, this))) => {
                let label = format!("{} and {}", combination(key), combination(other));
                shared.push(Shared { label, first, this });
                renamed.push(other);
            }
            (None, None) => only_first.push(combination(key)),
        }
    }
    let is_alone = |key: &&CombinationKey| !ours.contains_key(*key) && !renamed.contains(key);
    only_this.extend(theirs.keys().filter(is_alone).map(combination));
    (shared, only_first, only_this)
}

fn against(first: &Side<'_>, this: &Side<'_>, smallest: f64, between: Option<f64>) -> Against {
    let designed = [first, this].iter().all(|side| side.study.manifest.design.is_some());
    let (ours, theirs) = (first.cells(designed), this.cells(designed));
    let (shared, only_first, only_this) = shared(&ours, &theirs);
    let pairs: Vec<(&Trial, &Trial)> = shared.iter().map(Shared::trials).collect();
    let sides = (first.report.trials.as_slice(), this.report.trials.as_slice());
    let workloads: Vec<Vec<Difference>> =
        pairs.iter().map(|(one, other)| difference::workload(one, other)).collect();
    let metrics = by_metric(&shared, &workloads, smallest, between);
    let of =
        |((shared, workload), metrics): ((&Shared<'_>, Vec<Difference>), Vec<MetricAgainst>)| Combination {
            label: shared.label.clone(),
            workload,
            metric: first.metric(shared.trials().0.workload).map(|metric| metric.name),
            metrics,
        };
    Against {
        name: this.name.to_owned(),
        environment: difference::environment(first.study, this.study),
        target: difference::target(&pairs, sides),
        settings: difference::settings(first.study, this.study, &pairs, sides),
        smallest_effect: smallest,
        not_compared: not_compared(&[(first, &ours), (this, &theirs)], &shared),
        combinations: shared.iter().zip(workloads).zip(metrics).map(of).collect(),
        only_first,
        only_this,
    }
}

/// Why nothing is compared.
fn not_compared(sides: &[(&Side<'_>, &Cells<'_>)], shared: &[Shared<'_>]) -> Vec<String> {
    if !shared.is_empty() {
        return Vec::new();
    }
    let empty = sides.iter().filter(|(_, cells)| cells.is_empty());
    let reasons: Vec<String> = empty.map(|(side, _)| side.has_nothing()).collect();
    if !reasons.is_empty() {
        return reasons;
    }
    vec![
        "the two have no measured combination in common: combinations are paired by the name of their configuration and by \
         their levels, and whatever its name where each study has but one of a workload"
            .to_owned(),
    ]
}

/// All metrics of each shared combination.
fn by_metric(
    shared: &[Shared<'_>],
    workloads: &[Vec<Difference>],
    smallest: f64,
    between: Option<f64>,
) -> Vec<Vec<MetricAgainst>> {
    let mut all: Vec<Vec<MetricAgainst>> = shared.iter().map(|_| Vec::new()).collect();
    for metric in &METRICS {
        let mut family: Vec<(usize, MetricAgainst)> = shared
            .iter()
            .enumerate()
            .filter_map(|(index, of)| Some((index, values(metric, of.first, of.this, between)?)))
            .collect();
        let may = |index: usize| workloads[index].is_empty();
        let judgeable = |(index, one): &(usize, MetricAgainst)| one.effect.filter(|_| may(*index));
        let effects: Vec<Effect> = family.iter().filter_map(judgeable).collect();
        let mut judged = stats::judge(&effects, smallest, direction(metric.better)).into_iter();
        for (index, one) in &mut family {
            if !may(*index) && one.has_both() {
                one.words = "refused: the workload differs".to_owned();
            } else if one.effect.is_some()
                && let Some(mut verdict) = judged.next()
            {
                let is_claim = matches!(verdict.comparison, Comparison::Better | Comparison::Worse);
                if is_claim && between.is_none() {
                    verdict.comparison = Comparison::Differs;
                }
                words(verdict.comparison).clone_into(&mut one.words);
                one.judged = Some(verdict);
            }
        }
        family.into_iter().for_each(|(index, one)| all[index].push(one));
    }
    all
}

/// None where neither side has the metric.
fn values(
    metric: &Metric,
    first: &[Cell<'_>],
    this: &[Cell<'_>],
    between: Option<f64>,
) -> Option<MetricAgainst> {
    let of = |cells: &[Cell<'_>]| cells.iter().filter_map(|cell| cell.value(metric)).collect::<Vec<f64>>();
    let (first, this) = (of(first), of(this));
    let better: Better = direction(metric.better);
    let ratio = match (stats::mean(&first), stats::mean(&this)) {
        (None, None) => return None,
        (first, this) => this.zip(first).map(|(this, first)| this / first),
    };
    let effect = ratio.and_then(|_| match between {
        Some(between) => stats::effect_between_sessions(&first, &this, between),
        None => stats::unpaired_effect(&first, &this),
    });
    let ratio = effect.map(|effect| effect.ratio.value).or(ratio);
    let known = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let pct = |ratio: f64| gain_pct(ratio, better);
    let ends = effect.map(|effect| (pct(effect.ratio.low), pct(effect.ratio.high)));
    let words = match (first.is_empty(), this.is_empty()) {
        (true, _) => "not measured in the first",
        (_, true) => "measured in the first alone",
        _ if known.is_some() => "descriptive only",
        _ => "no ratio, a value is zero",
    };
    Some(MetricAgainst {
        metric: metric.into(),
        gain_pct: known.map(pct),
        low_pct: ends.map(|(a, b)| a.min(b)),
        high_pct: ends.map(|(a, b)| a.max(b)),
        effect,
        judged: None,
        words: words.to_owned(),
        first,
        this,
    })
}

impl MetricAgainst {
    fn has_both(&self) -> bool {
        !self.first.is_empty() && !self.this.is_empty()
    }
}
