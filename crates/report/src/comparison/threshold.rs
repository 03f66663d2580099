//! Whether what had to hold held: a limit is judged by a whole 95% interval, not by its middle.
//!
//! Student's interval of a mean is one from two blocks on. The signed-rank interval of a gain reaches that confidence from six
//! blocks on: below, a gain is told and decides nothing. Of a single block a percentile or a rate has the interval of its run; what
//! has no interval decides nothing, unless the user accepts its value.

use std::borrow::Cow;

use record::{Design, GAIN, Metric, Threshold};
use serde::Serialize;

use super::{CONFIGURATION, Gain, Point, PointValues, StudyComparison, percentile};
use crate::format;

/// Points that a result names before it counts.
const NAMED: usize = 3;

/// What is told of a figure without an interval.
const UNDECIDED: &str = ", which is inconclusive. Measure several times, or accept single values";

/// What became of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The whole interval is on the allowed side, at every point that it is of.
    Held,
    /// Neither is known.
    Inconclusive,
    /// The whole interval of some point is on the other side.
    Failed,
}

/// A threshold and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct ThresholdResult {
    /// The threshold as it was written.
    pub text: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The figures that decided.
    pub why: String,
}

impl Outcome {
    /// The outcome in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "passed",
            Self::Inconclusive => "inconclusive",
            Self::Failed => "failed",
        }
    }
}

/// A figure that is held against a limit.
pub(crate) struct Figure {
    pub(crate) of: String,
    pub(crate) outcome: Outcome,
    pub(crate) says: String,
}

/// What several figures come to, the worst of them, and those that decided; none of no figure.
pub(crate) fn decided(figures: &[Figure]) -> Option<(Outcome, String)> {
    let outcome = figures.iter().map(|figure| figure.outcome).max()?;
    let deciding: Vec<String> = figures
        .iter()
        .filter(|figure| figure.outcome == outcome)
        .map(|figure| match figure.of.as_str() {
            "" => figure.says.clone(),
            of => format!("{of}: {}", figure.says),
        })
        .collect();
    let more = match deciding.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!(" and {more} more"),
        None => String::new(),
    };
    Some((outcome, format!("{}{more}", deciding[..deciding.len().min(NAMED)].join("; "))))
}

/// What became of all thresholds of a design.
pub(crate) fn all(design: &Design, comparison: &StudyComparison) -> Vec<ThresholdResult> {
    design.thresholds.iter().map(|one| result(one, comparison, design.accept_single)).collect()
}

/// A threshold at all points that it is of. A gain is asked of every comparison that a point is in; where the threshold
/// names axes, of those along them.
fn result(threshold: &Threshold, comparison: &StudyComparison, accept_single: bool) -> ThresholdResult {
    let figures = match threshold.metric.as_str() {
        GAIN => gains(threshold, comparison),
        _ => values(threshold, comparison, accept_single),
    };
    let nothing = match threshold.metric == GAIN && comparison.not_compared.is_some() {
        true => "nothing is compared",
        false => "no measured combination matches",
    };
    let (outcome, why) = decided(&figures).unwrap_or((Outcome::Inconclusive, nothing.to_owned()));
    ThresholdResult { text: threshold.to_string(), outcome, why }
}

fn values(threshold: &Threshold, comparison: &StudyComparison, accept_single: bool) -> Vec<Figure> {
    let of: Option<Vec<&PointValues>> = if threshold.metric == comparison.metric.name {
        Some(comparison.points.iter().map(|point| &point.values).collect())
    } else {
        let other = comparison.others.iter().find(|other| other.metric.name == threshold.metric);
        other.map(|other| other.points.iter().collect())
    };
    let unit = match threshold.unit() {
        "%" | "share" => String::new(),
        unit => format!(" {unit}"),
    };
    let concerned = comparison.points.iter().enumerate().filter(|(_, point)| is_of(threshold, point));
    concerned
        .map(|(index, point)| {
            let values = of.as_ref().map(|of| of[index]);
            let ends = values.and_then(ends);
            let value = values.and_then(|v| v.mean);
            let blocks = values.map_or(0, |v| v.by_block.iter().flatten().count());
            let (outcome, says) = match value {
                Some(value) => {
                    let mean = mean_of(&threshold.metric, blocks);
                    let is_judged = ends.is_some() || accept_single;
                    (
                        if is_judged { outcome(threshold, value, ends) } else { Outcome::Inconclusive },
                        mean + &figure(value, ends, &unit)
                            + &from(blocks, ends.is_some())
                            + if is_judged { "" } else { UNDECIDED },
                    )
                }
                None => (Outcome::Inconclusive, lacking(&threshold.metric).to_owned()),
            };
            Figure { of: point.label.clone(), outcome, says }
        })
        .collect()
}

/// Why no block has a figure.
fn lacking(metric: &str) -> &'static str {
    match Metric::named(metric).and_then(Metric::percentile) {
        Some(_) => {
            "no block has enough operations above this percentile. Measure longer, or limit a lower percentile"
        }
        None => "no block has this figure",
    }
}

fn gains(threshold: &Threshold, comparison: &StudyComparison) -> Vec<Figure> {
    let named = comparison.axes.iter().any(|axis| threshold.at.contains_key(&axis.name));
    let concerned = |gain: &&Gain| !named || threshold.at.contains_key(&gain.axis);
    let judged = |point: &Point, gain: &Gain| {
        let reference = &comparison.points[gain.reference].label;
        let (outcome, says) = gain_against(threshold, gain);
        Figure { of: format!("{} over {reference}", point.label), outcome, says }
    };
    let points = comparison.points.iter().filter(|point| is_of(threshold, point));
    points
        .flat_map(|point| point.values.gains.iter().filter(concerned).map(move |gain| (point, gain)))
        .map(|(point, gain)| judged(point, gain))
        .collect()
}

fn is_of(threshold: &Threshold, point: &Point) -> bool {
    debug_assert_eq!(CONFIGURATION, "configuration", "thresholds know it by this name");
    threshold.is_of(&point.configuration, &point.levels)
}

fn gain_against(threshold: &Threshold, gain: &Gain) -> (Outcome, String) {
    let ends = gain.low_pct.zip(gain.high_pct);
    let Some(value) = gain.gain_pct else { return (Outcome::Inconclusive, gain.words.clone()) };
    let says = format!(
        "{}{}",
        gain.change().map(|change| change.beside_limit()).unwrap_or_default(),
        from(gain.blocks, false)
    );
    if gain.blocks < stats::BLOCKS_MIN {
        let needed = stats::BLOCKS_MIN;
        return (
            Outcome::Inconclusive,
            format!("{says}, descriptive only. A gain is judged only with {needed} or more blocks"),
        );
    }
    (outcome(threshold, value, ends), says)
}

/// The ends of the interval over the blocks, or of a percentile of one block's run: the upper one is infinite where it lies beyond
/// all that was measured.
pub(crate) fn ends(values: &PointValues) -> Option<(f64, f64)> {
    let over_blocks = values.interval.map(|interval| (interval.low, interval.high));
    over_blocks.or_else(|| values.run_interval.map(|run| (run.low, run.high.unwrap_or(f64::INFINITY))))
}

/// `120 I/O/s (110–130)`, or `12 ms (from 11 on)`.
fn figure(value: f64, ends: Option<(f64, f64)>, unit: &str) -> String {
    let interval = ends.map(|ends| format!(" ({})", format::open_range(ends))).unwrap_or_default();
    format!("{}{unit}{interval}", format::signed(value))
}

/// Says of a percentile that it is a mean of several.
fn mean_of(metric: &str, blocks: usize) -> String {
    match Metric::named(metric).and_then(|metric| percentile(metric.name)) {
        Some(percentile) if blocks > 1 => format!("mean of the blocks' {percentile} "),
        _ => String::new(),
    }
}

/// How many blocks a figure rests on, where these are few.
fn from(blocks: usize, has_interval: bool) -> Cow<'static, str> {
    match blocks {
        1 if has_interval => " in one block, with the interval of that trial".into(),
        1 => " in one block, without an interval".into(),
        few if few < stats::BLOCKS_MIN => format!(" from {few} blocks").into(),
        _ => "".into(),
    }
}

/// A figure with its interval against the limit. Without an interval its value decides, where that is accepted.
fn outcome(threshold: &Threshold, value: f64, ends: Option<(f64, f64)>) -> Outcome {
    let allows = |value: f64| threshold.bound.allows(value, threshold.limit);
    let (low, high) = ends.unwrap_or((value, value));
    match (allows(low), allows(high)) {
        (true, true) => Outcome::Held,
        (false, false) => Outcome::Failed,
        _ => Outcome::Inconclusive,
    }
}
