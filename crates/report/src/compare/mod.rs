//! Studies against each other: what differs between them first, then what each combination that they share gains.
//!
//! Their trials were not interleaved, so that whatever changed between the studies is part of every effect. Several runs on a side
//! tell how much runs of different times differ by themselves, and the run is then the unit. A verdict is refused where the
//! workload itself differs, between the sides or within one; the figures are shown all the same. For each metric all combinations
//! of two sides are one family, for which the p-values are corrected (Holm).

mod answer;
mod center;
mod chart;
pub(crate) mod gate;
#[cfg(test)]
mod gate_tests;
mod junit;
mod markdown;
mod metric;
mod name;
mod page;
mod side;

pub(crate) mod difference;
pub(crate) mod run;
#[cfg(test)]
pub(crate) mod tests;
mod text;
#[cfg(test)]
mod used_tests;

use record::{Environment, Share, StudyRecord, Workload, shown_json};
use serde::Serialize;

pub use center::Center;
pub use difference::Difference;
pub use gate::{Gates, NotCompared};
pub use metric::MetricAgainst;
pub use side::{MixedWorkload, RunDifferences};
pub use text::CompareRows;

use crate::comparison::{Cell, Key as CombinationKey, Outcome, ThresholdResult, combination};
use crate::format;
use crate::page::{machine, title};
use crate::summary::Reliability;
use crate::trial::Trial;
use metric::{Rules, Spread, by_metric};
use run::Run;
use side::{Cells, Side};

/// Version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// Why the changes are as reliable as they are, in a few words and in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caution {
    /// A clause for a first screen.
    pub(crate) short: &'static str,
    /// All of it, without a full stop at its end.
    pub(crate) whole: &'static str,
}

/// One run on each side.
const NOT_INTERLEAVED: Caution = Caution {
    short: "one run on each side, so the spread between runs is unknown",
    whole: "One run on each side: the spread between runs is unknown. So figures differ or are alike in these two runs, and none is \
            called better, worse or equivalent. To compare both block by block, measure them as two configurations of one study",
};

/// Said before the commands that decide.
const AGAIN: &str = "To decide, measure both sides again, alternately, each with its original setup";
const WITH_SPREAD: &str =
    "Or, if you know the standard deviation between runs of the same setup, for example 2%";

/// Said where it is known how much sessions differ by themselves.
const BETWEEN: Caution = Caution {
    short: "not interleaved, with the given spread between runs",
    whole: "Not interleaved: intervals and verdicts include the given spread between runs. Anything else that differs between the studies also \
            influences each difference",
};

/// Said where several runs of a side show that.
const RUNS: Caution = Caution {
    short: "not interleaved, with the spread between runs of a side",
    whole: "Not interleaved: each run counts as one measurement of its side. Intervals and verdicts follow from the spread between runs of \
            a side, and are wide with few runs. Anything else that differs between the sides also influences each difference",
};

/// The same where the times of the sides do not mix.
const SEPARATED: Caution = Caution {
    short: "all runs of one side were before the other, so drift is part of every effect",
    whole: "Not interleaved: each run counts as one measurement of its side. Intervals and verdicts follow from the spread between runs of \
            a side, and are wide with few runs. Anything else that differs between the sides also influences each difference. All runs of one side started \
            before the first of the other, so every effect also includes drift. Alternate the runs of both sides",
};

/// Several studies, the first of which the others are compared with; or two sides of several runs each.
#[derive(Clone, Debug, Serialize)]
pub struct Compare {
    /// Version of this document's form.
    pub format: u32,
    /// The studies in the order given.
    pub studies: Vec<ComparedStudy>,
    /// Names of the runs that the others are compared with: the first study, or several of it.
    pub first: Vec<String>,
    /// How much sessions differ by themselves (standard deviation), as a share; none where the user did not say.
    pub between: Option<f64>,
    /// What holds of every effect here.
    pub caution: String,
    /// The same in a few words.
    #[serde(skip)]
    pub(crate) caution_short: &'static str,
    /// What would decide between one run and another; none where verdicts allow for runs that differ, or nothing was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deciding: Option<Deciding>,
    /// Each further study against the first, or the other side.
    pub against: Vec<Against>,
    /// Whether each side is one run, and nobody said how much runs of different times differ.
    #[serde(skip)]
    is_spread_unknown: bool,
}

/// Commands that would decide between one run and another, as they are typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deciding {
    /// What measures both sides again, in turn; the last one compares all runs of both sides.
    pub again: Vec<String>,
    /// What compares the two runs where it is known how much runs of different times differ.
    pub with_spread: String,
}

/// A study that is compared.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedStudy {
    /// Name of its results directory.
    pub name: String,
    /// Title.
    pub title: String,
    /// Name and tags that the user gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// Title of the measurement, with its target and machine.
    #[serde(skip)]
    pub(crate) measured: String,
    /// Begin, RFC 3339 in UTC.
    pub started: String,
    /// The machine, in a line.
    pub machine: String,
    /// Name of the machine, if it was recorded.
    #[serde(skip)]
    pub(crate) host: Option<String>,
    /// What of it is damaged or counts for nothing, a sentence each.
    pub not_used: Vec<String>,
    /// How reliable its figures are by themselves, and why.
    #[serde(skip)]
    pub(crate) trust: (Reliability, String),
    /// The next step for this run, apart from the comparison.
    #[serde(skip)]
    pub(crate) next: Option<String>,
    /// Its results directory as it was given.
    #[serde(skip)]
    pub(crate) place: String,
    /// The user's title of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_title: Option<String>,
    /// Name that the user gave it.
    #[serde(skip)]
    pub(crate) own_name: Option<String>,
    /// The machine, as far as it was recorded.
    #[serde(skip)]
    pub(crate) environment: Option<Environment>,
}

/// A study against the first, or a side of several runs against the other.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// Name of its results directory; of several the first with the number of others.
    pub name: String,
    /// Names of its runs; one where studies are compared one by one.
    pub runs: Vec<String>,
    /// In what the further runs of a side differ from its first one, for each that does.
    pub within: Vec<RunDifferences>,
    /// Combinations that some runs of a side lack, a sentence each.
    pub partly: Vec<String>,
    /// In what the machines differ; of several runs those of the first ones.
    pub environment: Vec<Difference>,
    /// In what the targets differ: what was asked to be loaded, and where it was found to be.
    pub target: Vec<Difference>,
    /// In what settings and setups differ.
    pub settings: Vec<Difference>,
    /// Share from which on an effect matters: what the user gave, else that of the first study, else 3%.
    pub smallest_effect: f64,
    /// Why nothing is compared, a sentence each; empty where something is.
    pub not_compared: Vec<String>,
    /// The combinations that both have. Where each has but one of a workload, these are compared whatever their names.
    pub combinations: Vec<Combination>,
    /// Combinations of the first study alone.
    pub only_first: Vec<String>,
    /// Combinations of this study alone.
    pub only_this: Vec<String>,
    /// What must not be of it, and whether it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<ThresholdResult>,
}

/// A combination that two studies share.
#[derive(Clone, Debug, Serialize)]
pub struct Combination {
    /// Its configuration and levels in words.
    pub label: String,
    /// In what its workload differs; a verdict is refused unless this is empty.
    pub workload: Vec<Difference>,
    /// Runs of a side whose workload differs from that of its first one; a verdict is refused unless this is empty.
    pub mixed: Vec<MixedWorkload>,
    /// What its verdict is about, by name.
    pub metric: Option<&'static str>,
    /// All metrics that either study has of it.
    pub metrics: Vec<MetricAgainst>,
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
        let sides: Vec<Side<'_>> = studies.iter().map(|one| Side::of(std::slice::from_ref(one))).collect();
        let (spread, caution) = match between {
            Some(between) => (Spread::Given(between.value()), BETWEEN),
            None => (Spread::Unknown, NOT_INTERLEAVED),
        };
        Self::of_sides(&sides, smallest, spread, caution)
    }

    /// Compares two sides of runs, each with the name of its results directory. Where there are three in all, how much runs of one
    /// side differ tells what may be called better or worse; of one and one nothing is, as [`Self::of`] without more.
    #[must_use]
    pub fn of_runs(
        first: &[(String, &StudyRecord)],
        this: &[(String, &StudyRecord)],
        smallest: Option<Share>,
    ) -> Self {
        let sides = [Side::of(first), Side::of(this)];
        let (spread, caution) = match first.len() + this.len() > 2 {
            false => (Spread::Unknown, NOT_INTERLEAVED),
            true if sides[0].is_apart_from(&sides[1]) => (Spread::Estimated, SEPARATED),
            true => (Spread::Estimated, RUNS),
        };
        Self::of_sides(&sides, smallest, spread, caution)
    }

    fn of_sides(sides: &[Side<'_>], smallest: Option<Share>, spread: Spread, caution: Caution) -> Self {
        let named = |run: &Run<'_>| {
            let (reliability, reason, next) = run.trust();
            ComparedStudy {
                name: run.name.to_owned(),
                title: run.report.title.clone(),
                measured: title::measured(&run.report),
                called: run.report.labels.in_words(),
                machine: machine::in_words(run.report.environment.as_ref()),
                host: run.report.environment.as_ref().map(|environment| environment.host.clone()),
                started: run.report.started.clone(),
                not_used: run.not_used(),
                trust: (reliability, reason),
                next,
                place: run.name.to_owned(),
                user_title: run.report.labels.title.clone(),
                own_name: run.report.labels.name.clone(),
                environment: run.report.environment.clone(),
            }
        };
        let against = match sides.split_first() {
            Some((first, others)) => {
                let own = || first.runs.first().map_or(stats::SMALLEST_EFFECT, Run::smallest_effect);
                let smallest = smallest.map_or_else(own, Share::value);
                others.iter().map(|other| against(first, other, Rules { smallest, spread })).collect()
            }
            None => Vec::new(),
        };
        Self {
            format: DOCUMENT_VERSION,
            studies: sides.iter().flat_map(|side| &side.runs).map(named).collect(),
            first: sides.first().map(Side::names).unwrap_or_default(),
            between: match spread {
                Spread::Given(between) => Some(between),
                Spread::Unknown | Spread::Estimated => None,
            },
            caution: caution.whole.to_owned(),
            caution_short: caution.short,
            deciding: None,
            against,
            is_spread_unknown: spread == Spread::Unknown,
        }
    }

    /// Whether each side is one run, and nobody said how much runs of different times differ.
    #[must_use]
    pub fn is_spread_unknown(&self) -> bool {
        self.is_spread_unknown
    }

    /// The same with what would decide, if that is open and the sides have anything in common.
    #[must_use]
    pub fn with_deciding(self, deciding: Deciding) -> Self {
        let is_open = self.is_spread_unknown && self.outcome() != CompareOutcome::NothingShared;
        Self { deciding: is_open.then_some(deciding), ..self }
    }

    /// What it came to as a whole: the worst of all studies.
    #[must_use]
    pub fn outcome(&self) -> CompareOutcome {
        self.against.iter().map(Against::outcome).max().unwrap_or(CompareOutcome::NothingShared)
    }

    /// What became of all that must not be, the worst of it; none where nothing was asked.
    #[must_use]
    pub fn gate(&self) -> Option<Outcome> {
        self.against.iter().flat_map(|against| &against.gates).map(|gate| gate.outcome).max()
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

impl Deciding {
    /// The commands from their words.
    #[must_use]
    pub fn of(again: &[Vec<String>], with_spread: &[String]) -> Self {
        let line = |words: &Vec<String>| format::command_line(words);
        Self { again: again.iter().map(line).collect(), with_spread: format::command_line(with_spread) }
    }

    /// Sentences, each with the commands below it.
    pub(crate) fn told(&self) -> [(&'static str, Vec<String>); 2] {
        [(AGAIN, self.again.clone()), (WITH_SPREAD, vec![self.with_spread.clone()])]
    }
}

impl Against {
    /// Whether the unit of its effects is the run.
    fn by_runs(&self) -> bool {
        self.combinations
            .iter()
            .flat_map(|combination| &combination.metrics)
            .any(|metric| metric.between_runs.is_some())
    }

    /// What the comparison with this study came to, by the metrics that its workloads are judged by.
    #[must_use]
    pub fn outcome(&self) -> CompareOutcome {
        let of = |combination: &Combination| {
            let verdict = combination.main().and_then(|metric| metric.judged).map(|judged| judged.comparison);
            match verdict {
                _ if combination.is_refused() => CompareOutcome::Refused,
                None | Some(stats::Comparison::Descriptive) => CompareOutcome::Descriptive,
                Some(_) => CompareOutcome::Judged,
            }
        };
        self.combinations.iter().map(of).max().unwrap_or(CompareOutcome::NothingShared)
    }
}

impl Combination {
    fn is_refused(&self) -> bool {
        !self.workload.is_empty() || !self.mixed.is_empty()
    }

    /// What its verdict is about.
    fn main(&self) -> Option<&MetricAgainst> {
        self.metrics.iter().find(|metric| Some(metric.metric.name) == self.metric)
    }
}

/// A combination of both sides, with what was measured of it in each run that has it.
struct Shared<'a> {
    label: String,
    first: &'a [RunCells<'a>],
    this: &'a [RunCells<'a>],
}

/// A combination in one run: the run's place among those of its side, and what was measured.
type RunCells<'a> = (usize, Vec<Cell<'a>>);

impl Shared<'_> {
    /// A trial of each side, which speak for the combination's settings.
    fn trials(&self) -> (&Trial, &Trial) {
        (self.first[0].1[0].trial, self.this[0].1[0].trial)
    }
}

/// The combinations that both have by name, and those that are the only ones of their workload on both sides.
fn shared<'a>(ours: &'a Cells<'a>, theirs: &'a Cells<'a>) -> (Vec<Shared<'a>>, Vec<String>, Vec<String>) {
    let only = |cells: &'a Cells<'a>, workload: Workload| {
        let mut own = cells.iter().filter(|(_, runs)| runs[0].1[0].trial.is(workload));
        own.next().filter(|_| own.next().is_none())
    };
    let mut shared = Vec::new();
    let (mut only_first, mut only_this) = (Vec::new(), Vec::new());
    let mut renamed = Vec::new();
    for (key, first) in ours {
        let workload = first[0].1[0].trial.workload;
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

fn against(first: &Side<'_>, this: &Side<'_>, rules: Rules) -> Against {
    let designed = first.is_designed() && this.is_designed();
    let (ours, theirs) = (first.cells(designed), this.cells(designed));
    let (shared, only_first, only_this) = shared(&ours, &theirs);
    let pairs: Vec<(&Trial, &Trial)> = shared.iter().map(Shared::trials).collect();
    let (one, other) = (&first.runs[0], &this.runs[0]);
    let sides = (one.report.trials.as_slice(), other.report.trials.as_slice());
    let unjudged = |shared: &Shared<'_>| {
        let (one, other) = shared.trials();
        let mut mixed = first.mixed(shared.first);
        mixed.extend(this.mixed(shared.this));
        Combination {
            label: shared.label.clone(),
            workload: difference::workload(one, other),
            mixed,
            metric: first.runs[0].metric(one.workload).map(|metric| metric.name),
            metrics: Vec::new(),
        }
    };
    let mut combinations: Vec<Combination> = shared.iter().map(unjudged).collect();
    let may: Vec<bool> = combinations.iter().map(|combination| !combination.is_refused()).collect();
    let metrics = by_metric(&shared, &may, rules);
    combinations.iter_mut().zip(metrics).for_each(|(combination, metrics)| combination.metrics = metrics);
    Against {
        name: this.label(),
        runs: this.names(),
        within: [first.within(&ours), this.within(&theirs)].concat(),
        partly: [first.partly(&ours), this.partly(&theirs)].concat(),
        environment: difference::environment(one.study, other.study),
        target: difference::target(&pairs, sides),
        settings: difference::settings(one.study, other.study, &pairs, sides),
        smallest_effect: rules.smallest,
        not_compared: not_compared(&[(first, &ours), (this, &theirs)], &shared),
        combinations,
        only_first,
        only_this,
        gates: Vec::new(),
    }
}

/// `A1`, or `A1 and 2 more`.
fn label(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    }
}

/// Why nothing is compared.
fn not_compared(sides: &[(&Side<'_>, &Cells<'_>)], shared: &[Shared<'_>]) -> Vec<String> {
    if !shared.is_empty() {
        return Vec::new();
    }
    let empty = sides.iter().filter(|(_, cells)| cells.is_empty());
    let reasons: Vec<String> = empty.flat_map(|(side, _)| side.runs.iter().map(Run::has_nothing)).collect();
    if !reasons.is_empty() {
        return reasons;
    }
    vec![
        "the two have no measured combination in common. Combinations are paired by configuration name and levels, or, if each \
         study has only one combination of a workload, whatever their names"
            .to_owned(),
    ]
}
