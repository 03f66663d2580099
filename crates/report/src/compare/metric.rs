//! A metric of a combination on two sides: its values, what it gains, and what that supports.

use record::Metric;
use serde::Serialize;
use stats::{Better, Comparison, Effect, Estimate, Judged};

use super::{Center, RunCells, Shared};
use crate::change::{Change, Sense};
use crate::comparison::{Cell, ComparedMetric, direction, gain_pct, words};
use crate::metrics::{self, SUSTAINED};
use crate::search::RateRange;

/// A metric of a combination on two sides.
#[derive(Clone, Debug, Serialize)]
pub struct MetricAgainst {
    /// The metric.
    pub metric: ComparedMetric,
    /// Values of the first study's complete trials, of several runs one after the other; empty where it has none.
    pub first: Vec<f64>,
    /// Values of this study's; empty where it has none.
    pub this: Vec<f64>,
    /// What stands for the values of a side: what the gain follows from.
    pub center: Center,
    /// That of the first; none where it has no value.
    pub first_value: Option<f64>,
    /// That of this one.
    pub this_value: Option<f64>,
    /// Of the rate that searches find: the center of what was held in the first study, and of what failed above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_sustained: Option<RateRange>,
    /// The same of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub this_sustained: Option<RateRange>,
    /// Of how many runs these are, on either side.
    pub runs: (usize, usize),
    /// How much the runs of one side differ by themselves (standard deviation), as a share; none where no side has several.
    pub between_runs: Option<f64>,
    /// Change in per cent, positive is better; none where there is no ratio.
    pub gain_pct: Option<f64>,
    /// Lower end of its interval; none with a single trial on a side whose figure has no interval of its own.
    pub low_pct: Option<f64>,
    /// Upper end of its interval.
    pub high_pct: Option<f64>,
    /// The ratio with its interval.
    pub effect: Option<Effect>,
    /// This mean less the first, in the metric's unit, with its 95% interval; none with a single trial on a side.
    pub difference: Option<Estimate>,
    /// What it supports; none where a verdict is refused.
    pub judged: Option<Judged>,
    /// The verdict in words, or why there is none.
    pub words: String,
}

impl MetricAgainst {
    /// The change as it is told; none where there is no ratio.
    pub(crate) fn change(&self) -> Option<Change> {
        let sense = Sense::of(self.metric.better, self.metric.unit);
        Change::of(self.gain_pct, self.low_pct.zip(self.high_pct), sense, self.effect.as_ref())
    }
}

/// What verdicts follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Share from which on an effect matters.
    pub(super) smallest: f64,
    /// How much runs of different times differ by themselves.
    pub(super) spread: Spread,
}

/// What is known of how much runs of different times differ by themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    /// Nothing, so that runs differ or are alike, and neither is called better or equivalent.
    Unknown,
    /// What the user says, as a share.
    Given(f64),
    /// What several runs a side tell; the run is the unit then.
    Estimated,
}

/// All metrics of each shared combination; `may` says of which a verdict may be given.
pub(super) fn by_metric(shared: &[Shared<'_>], may: &[bool], rules: Rules) -> Vec<Vec<MetricAgainst>> {
    let mut all: Vec<Vec<MetricAgainst>> = shared.iter().map(|_| Vec::new()).collect();
    let trials = shared.iter().flat_map(|of| of.first.iter().chain(of.this));
    let trials = trials.flat_map(|(_, cells)| cells).map(|cell| cell.trial);
    for metric in metrics::all(trials) {
        let mut family: Vec<(usize, MetricAgainst)> = shared
            .iter()
            .enumerate()
            .filter_map(|(index, of)| Some((index, values(metric, of, rules.spread)?)))
            .collect();
        judge(&mut family, may, direction(metric.better), rules);
        family.into_iter().for_each(|(index, one)| all[index].push(one));
    }
    all
}

/// Judges a metric of all combinations as one family.
fn judge(family: &mut [(usize, MetricAgainst)], may: &[bool], better: Better, rules: Rules) {
    let judgeable = |(index, one): &(usize, MetricAgainst)| one.effect.filter(|_| may[*index]);
    let effects: Vec<Effect> = family.iter().filter_map(judgeable).collect();
    let judged = match rules.spread {
        Spread::Unknown => stats::judge_two_times,
        Spread::Given(_) => stats::judge,
        Spread::Estimated => stats::judge_sessions,
    };
    let mut judged = judged(&effects, rules.smallest, better).into_iter();
    for (index, one) in family {
        if !may[*index] && one.has_both() {
            one.words = "refused: the workload differs".to_owned();
        } else if one.effect.is_some()
            && let Some(verdict) = judged.next()
        {
            let verdict = match rules.spread {
                // More trials do not narrow what runs of different times differ by themselves.
                Spread::Given(_) => Judged { blocks_needed: None, ..verdict },
                Spread::Unknown | Spread::Estimated => verdict,
            };
            words(verdict.comparison).clone_into(&mut one.words);
            one.judged = Some(verdict);
        }
    }
}

/// None where neither side has the metric.
fn values(metric: &Metric, shared: &Shared<'_>, spread: Spread) -> Option<MetricAgainst> {
    let (ours, theirs) = (by_run(metric, shared.first), by_run(metric, shared.this));
    let (first, this) = (ours.concat(), theirs.concat());
    let better: Better = direction(metric.better);
    let center = Center::of(spread, first.iter().chain(&this).copied());
    let (first_value, this_value) = (center.value(&ours), center.value(&theirs));
    let ratio = match (first_value, this_value) {
        (None, None) => return None,
        (first, this) => this.zip(first).map(|(this, first)| this / first),
    };
    let sessions = match spread {
        Spread::Estimated => stats::effect_of_sessions(&ours, &theirs),
        Spread::Unknown | Spread::Given(_) => None,
    };
    let effect = match spread {
        Spread::Unknown => stats::unpaired_effect(&first, &this).or_else(|| of_single_trials(metric, shared)),
        Spread::Given(between) => stats::effect_between_sessions(&first, &this, between),
        Spread::Estimated => sessions.map(|sessions| sessions.effect),
    };
    let difference = match spread {
        Spread::Unknown => stats::difference(&first, &this, 0.0),
        Spread::Given(between) => stats::difference(&first, &this, between),
        Spread::Estimated => stats::difference_of_sessions(&ours, &theirs),
    };
    let ratio = effect.map(|effect| effect.ratio.value).or(ratio);
    let known = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let pct = |ratio: f64| gain_pct(ratio, better);
    let ends = effect.map(|effect| (pct(effect.ratio.low), pct(effect.ratio.high)));
    Some(MetricAgainst {
        metric: metric.into(),
        center,
        first_value,
        this_value,
        first_sustained: sustained(metric, shared.first, center),
        this_sustained: sustained(metric, shared.this, center),
        runs: (ours.len(), theirs.len()),
        between_runs: sessions.map(|sessions| sessions.spread),
        gain_pct: known.map(pct),
        low_pct: ends.map(|(a, b)| a.min(b)),
        high_pct: ends.map(|(a, b)| a.max(b)),
        effect,
        difference,
        judged: None,
        words: without_verdict(&first, &this, known.is_some()).to_owned(),
        first,
        this,
    })
}

/// The effect between two single trials, by the intervals of these.
fn of_single_trials(metric: &Metric, shared: &Shared<'_>) -> Option<Effect> {
    let only = |runs: &[RunCells<'_>]| {
        let mut cells = runs.iter().flat_map(|(_, cells)| cells).filter(|cell| cell.value(metric).is_some());
        let cell = cells.next().filter(|_| cells.next().is_none())?;
        let (low, high) = cell.interval(metric)?;
        Some(Estimate { value: cell.value(metric)?, low, high })
    };
    stats::effect_of_intervals(only(shared.first)?, only(shared.this)?)
}

/// The values of each run that has any.
fn by_run(metric: &Metric, runs: &[RunCells<'_>]) -> Vec<Vec<f64>> {
    let of = |(_, cells): &RunCells<'_>| cells.iter().filter_map(|cell| cell.value(metric)).collect();
    runs.iter().map(of).filter(|values: &Vec<f64>| !values.is_empty()).collect()
}

/// Where the greatest rate lies, of all searches of a side; none of another metric.
fn sustained(metric: &Metric, runs: &[RunCells<'_>], center: Center) -> Option<RateRange> {
    let of_run = |(_, cells): &RunCells<'_>| cells.iter().filter_map(Cell::sustained).collect::<Vec<_>>();
    let runs = runs.iter().filter(|_| metric.name == SUSTAINED).map(of_run);
    let runs: Vec<Vec<RateRange>> = runs.filter(|ranges| !ranges.is_empty()).collect();
    RateRange::of_several(&runs, |values| center.value(values))
}

/// What stands for a verdict as long as there is none.
fn without_verdict(first: &[f64], this: &[f64], has_ratio: bool) -> &'static str {
    match (first.is_empty(), this.is_empty()) {
        (true, _) => "not measured in the first",
        (_, true) => "measured only in the first",
        _ if has_ratio => "descriptive only",
        _ => "no ratio, a value is zero",
    }
}

impl MetricAgainst {
    /// Whether the sides are shown not to be alike, or one of them lacks it.
    pub(super) fn is_change(&self) -> bool {
        let shown = self.judged.is_some_and(|judged| match judged.comparison {
            Comparison::Better | Comparison::Worse | Comparison::Differs | Comparison::Small => true,
            Comparison::Equivalent
            | Comparison::Alike
            | Comparison::WithinNoise
            | Comparison::NotResolvable
            | Comparison::Descriptive => false,
        });
        let from_zero = !self.has_ratio() && self.has_both() && self.first_value != self.this_value;
        shown || from_zero || !self.has_both()
    }

    fn has_ratio(&self) -> bool {
        self.gain_pct.is_some()
    }

    pub(super) fn has_both(&self) -> bool {
        !self.first.is_empty() && !self.this.is_empty()
    }
}
