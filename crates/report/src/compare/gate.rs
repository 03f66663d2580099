//! What must not be of a comparison: changes beyond a limit, and figures that are worse than at a baseline.
//!
//! A limit is judged by the interval of the change: broken where all of it lies beyond, kept where none of it does, else not
//! judged. Each is judged by itself, without a correction for their number. One run on each side is not judged: its interval does
//! not know how much runs of different times differ. Several runs on a side, or a given spread, have that in the interval.

use std::fmt;

use record::ChangeLimit;
use stats::{Comparison, Estimate};

use super::text::PRACTICAL;
use super::{Against, Combination, Compare, MetricAgainst};
use crate::change::{told_or_dash, with_sign};
use crate::comparison::{Figure, Outcome, ThresholdResult, decided};
use crate::table::{Column, Row, Table};

/// An interval of less confidence decides nothing.
const CONFIDENCE: f64 = 0.95;

/// What is asked of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gates<'a> {
    /// Changes that must not be.
    pub fail_if: &'a [ChangeLimit],
    /// Whether one run on each side is judged as if runs of different times did not differ: by its interval, or by its value where it
    /// was measured once.
    pub accept_single: bool,
    /// Whether the first study is a baseline, than which no other may be worse.
    pub is_baseline: bool,
}

/// What is known of the sides besides their values.
#[derive(Clone, Copy)]
struct Sides {
    accept_single: bool,
    /// Whether each side is one run, and nobody said how much runs of different times differ.
    is_spread_unknown: bool,
}

/// A metric of which a change is limited, and which no combination has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// The metric.
    pub metric: &'static str,
    /// Those that there are.
    pub there: Vec<&'static str>,
}

impl fmt::Display for NotCompared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no compared combination has the metric {}. Available: {}",
            self.metric,
            self.there.join(", ")
        )
    }
}

impl std::error::Error for NotCompared {}

impl Compare {
    /// The same, with what became of all that must not be.
    ///
    /// # Errors
    /// Where no combination has a metric whose change is limited, though some are compared.
    pub fn judged_by(mut self, gates: &Gates<'_>) -> Result<Self, NotCompared> {
        let there = self.metrics();
        let lacking = gates.fail_if.iter().find(|limit| !there.contains(&limit.metric.name));
        if let (Some(limit), false) = (lacking, there.is_empty()) {
            return Err(NotCompared { metric: limit.metric.name, there });
        }
        let sides = Sides { accept_single: gates.accept_single, is_spread_unknown: self.is_spread_unknown() };
        for against in &mut self.against {
            let limits = gates.fail_if.iter().map(|limit| limited(limit, against, sides));
            let worse = gates.is_baseline.then(|| baseline(against));
            against.gates = limits.chain(worse).collect();
        }
        Ok(self)
    }

    fn metrics(&self) -> Vec<&'static str> {
        let combinations = self.against.iter().flat_map(|against| &against.combinations);
        let mut names = Vec::new();
        for metric in combinations.flat_map(|combination| &combination.metrics) {
            if !names.contains(&metric.metric.name) {
                names.push(metric.metric.name);
            }
        }
        names
    }
}

/// What became of each, a row each; none without any.
pub(super) fn table(against: &Against) -> Option<Table> {
    let columns = vec![Column::words("limit"), Column::words("outcome"), Column::words("figures")];
    let row = |gate: &ThresholdResult| {
        Row::of(vec![gate.text.clone(), word(gate.outcome).to_owned(), gate.why.clone()])
    };
    Table::of(&format!("Limits of {}", against.name), columns, against.gates.iter().map(row))
}

/// What became of something that must not be, in a word or two.
pub(crate) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "passed",
        Outcome::Inconclusive => "not judged",
        Outcome::Failed => "failed",
    }
}

/// A limit at all combinations that have its metric.
fn limited(limit: &ChangeLimit, against: &Against, sides: Sides) -> ThresholdResult {
    let of = |combination: &Combination| {
        let metric = combination.metrics.iter().find(|metric| metric.metric.name == limit.metric.name)?;
        let (outcome, says) = match combination.is_refused() {
            true => (Outcome::Inconclusive, "the workload differs".to_owned()),
            false => change(limit, metric, sides),
        };
        Some(Figure { of: combination.label.clone(), outcome, says })
    };
    let figures: Vec<Figure> = against.combinations.iter().filter_map(of).collect();
    result(limit.to_string(), &figures)
}

fn result(text: String, figures: &[Figure]) -> ThresholdResult {
    let nothing = || (Outcome::Inconclusive, "no combination has it on both sides".to_owned());
    let (outcome, why) = decided(figures).unwrap_or_else(nothing);
    ThresholdResult { text, outcome, why }
}

/// The change of a metric against a limit.
fn change(limit: &ChangeLimit, metric: &MetricAgainst, sides: Sides) -> (Outcome, String) {
    let of = |values: &[f64], center| if limit.in_per_cent { center } else { stats::mean(values) };
    let values = (of(&metric.first, metric.first_value), of(&metric.this, metric.this_value));
    let (Some(first), Some(this)) = values else {
        return (Outcome::Inconclusive, metric.words.clone());
    };
    let value = if limit.in_per_cent { per_cent(this / first) } else { this - first };
    if !value.is_finite() {
        let why = "a value is zero, so the ratio is undefined. Give the limit in the unit of the metric";
        return (Outcome::Inconclusive, why.to_owned());
    }
    let is_single = metric.first.len().min(metric.this.len()) == 1;
    let effect = metric.effect.filter(|_| limit.in_per_cent && !(is_single && sides.is_spread_unknown));
    let difference = metric.difference.filter(|_| !limit.in_per_cent);
    let is_of_two_times = sides.is_spread_unknown && !sides.accept_single;
    match (effect, difference) {
        (Some(effect), _) => {
            let Estimate { value, low, high } = effect.ratio;
            let [value, low, high] = [value, low, high].map(per_cent);
            let interval = Estimate { value, low, high };
            if is_of_two_times {
                return of_two_times(limit, &interval);
            }
            let settled = repeats(metric, (1.0 + limit.limit / 100.0).ln(), &logarithms(&effect.ratio));
            by_interval(limit, &interval, effect.confidence, &settled)
        }
        (None, Some(difference)) if is_of_two_times => of_two_times(limit, &difference),
        (None, Some(difference)) => {
            by_interval(limit, &difference, CONFIDENCE, &repeats(metric, limit.limit, &difference))
        }
        (None, None) => by_value(limit, value, is_single, sides.accept_single),
    }
}

fn logarithms(ratio: &Estimate) -> Estimate {
    Estimate { value: ratio.value.ln(), low: ratio.low.ln(), high: ratio.high.ln() }
}

/// A change between one run and another whose times may differ by any amount.
fn of_two_times(limit: &ChangeLimit, change: &Estimate) -> (Outcome, String) {
    let why = format!(
        "{} between these two runs, but the spread between runs is unknown. Compare several runs of each side, or give the spread",
        with_interval(limit.unit(), change, CONFIDENCE)
    );
    (Outcome::Inconclusive, why)
}

/// How a change that may lie on either side of a limit would be settled.
fn repeats(metric: &MetricAgainst, limit: f64, change: &Estimate) -> String {
    if metric.between_runs.is_none() {
        return "More trials do not reduce the spread between runs. Compare several runs of each side"
            .to_owned();
    }
    let half_width = (change.high - change.low) / 2.0;
    let runs = metric.runs.0.min(metric.runs.1);
    let needed = stats::repeats_to_settle((change.value - limit).abs(), half_width, runs, true);
    match needed.filter(|needed| *needed <= PRACTICAL) {
        Some(needed) => format!("About {needed} runs per side may decide it"),
        None => "More runs will not help: the change is too close to the limit".to_owned(),
    }
}

fn per_cent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

/// `+12% (+11 to +13%)` against a limit.
fn by_interval(limit: &ChangeLimit, change: &Estimate, confidence: f64, settled: &str) -> (Outcome, String) {
    let is_enough = confidence >= CONFIDENCE;
    let beyond = |value: f64| limit.bound.allows(value, limit.limit);
    let outcome = match (beyond(change.low), beyond(change.high)) {
        (true, true) if is_enough => Outcome::Failed,
        (false, false) if is_enough => Outcome::Held,
        _ => Outcome::Inconclusive,
    };
    let why = match outcome {
        Outcome::Inconclusive if is_enough => format!(". The limit is inside the interval. {settled}"),
        Outcome::Inconclusive => ", which is inconclusive. Measure each side at least four times".to_owned(),
        Outcome::Held | Outcome::Failed => String::new(),
    };
    (outcome, format!("{}{why}", with_interval(limit.unit(), change, confidence)))
}

/// `+12% (95% CI +11 to +13%)`, `−240 I/O/s (95% CI −260 to −220 I/O/s)`.
fn with_interval(unit: &str, change: &Estimate, confidence: f64) -> String {
    let [value, low, high] = [change.value, change.low, change.high].map(with_sign);
    let unit = if unit == "%" { unit.to_owned() } else { format!(" {unit}") };
    format!("{value}{unit} ({:.0}% CI {low} to {high}{unit})", confidence.min(CONFIDENCE) * 100.0)
}

/// A change without an interval, which decides nothing unless it is one of single values and these are accepted.
fn by_value(limit: &ChangeLimit, value: f64, is_single: bool, accept_single: bool) -> (Outcome, String) {
    let outcome = match limit.bound.allows(value, limit.limit) {
        _ if !(is_single && accept_single) => Outcome::Inconclusive,
        true => Outcome::Failed,
        false => Outcome::Held,
    };
    let why = match (is_single, accept_single) {
        (true, true) => "",
        (true, false) => ", which is inconclusive. Measure several times, or accept single values",
        (false, _) => ", which is inconclusive. A value is zero, so give the limit in the unit of the metric",
    };
    let unit = limit.unit();
    let unit = if unit == "%" { unit.to_owned() } else { format!(" {unit}") };
    (outcome, format!("{}{unit} without an interval{why}", with_sign(value)))
}

/// Whether a combination is worse, by the metric that its workload is judged by.
fn baseline(against: &Against) -> ThresholdResult {
    let of = |combination: &Combination| {
        let (outcome, says) = match combination.main() {
            _ if combination.is_refused() => (Outcome::Inconclusive, "the workload differs".to_owned()),
            None => (Outcome::Inconclusive, "the figure for the verdict was not measured".to_owned()),
            Some(metric) => {
                let change = told_or_dash(metric.change());
                (
                    worse(metric, against.smallest_effect),
                    format!("{} {change}, {}", metric.metric.name, metric.words),
                )
            }
        };
        Figure { of: combination.label.clone(), outcome, says }
    };
    let figures: Vec<Figure> = against.combinations.iter().map(of).collect();
    result("worse than the baseline".to_owned(), &figures)
}

/// What cannot be told from worse is not judged: what may be as bad as matters, and what differs for the worse or is alike where times
/// alone may make or hide such a difference.
fn worse(metric: &MetricAgainst, smallest: f64) -> Outcome {
    let Some(judged) = metric.judged else { return Outcome::Inconclusive };
    let is_loss = metric.gain_pct.is_some_and(|gain| gain < 0.0);
    let may_matter = metric.low_pct.is_none_or(|low| low <= -100.0 * smallest);
    match judged.comparison {
        Comparison::Worse => Outcome::Failed,
        Comparison::Descriptive => Outcome::Inconclusive,
        Comparison::Differs if is_loss => Outcome::Inconclusive,
        Comparison::Alike => Outcome::Inconclusive,
        Comparison::NotResolvable if may_matter => Outcome::Inconclusive,
        Comparison::Differs
        | Comparison::NotResolvable
        | Comparison::Better
        | Comparison::Small
        | Comparison::Equivalent
        | Comparison::WithinNoise => Outcome::Held,
    }
}
