//! Whether what had to hold held: a limit is judged by a whole 95 % interval, not by its middle.

use record::{GAIN, Threshold};
use serde::Serialize;

use super::{CONFIGURATION, Gain, Point, PointValues, StudyComparison};
use crate::format;

/// Points that a result names before it counts.
const NAMED: usize = 3;

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
            Self::Held => "held",
            Self::Inconclusive => "inconclusive",
            Self::Failed => "failed",
        }
    }
}

impl StudyComparison {
    /// What became of all thresholds together: failed if one failed, else inconclusive if one was; none without any.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.thresholds.iter().map(|threshold| threshold.outcome).max()
    }
}

/// A figure that a threshold is held against.
struct Figure {
    of: String,
    outcome: Outcome,
    says: String,
}

/// A threshold at all points that it is of. A gain is asked of every comparison that a point is in; where the threshold
/// names axes, of those along them.
pub(super) fn result(threshold: &Threshold, comparison: &StudyComparison) -> ThresholdResult {
    let figures =
        if threshold.metric == GAIN { gains(threshold, comparison) } else { values(threshold, comparison) };
    let outcome = figures.iter().map(|figure| figure.outcome).max().unwrap_or(Outcome::Inconclusive);
    let deciding: Vec<String> = figures
        .iter()
        .filter(|figure| figure.outcome == outcome)
        .map(|figure| format!("{}: {}", figure.of, figure.says))
        .collect();
    let more = match deciding.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("; and {more} more"),
        None => String::new(),
    };
    let why = match deciding.len() {
        0 if threshold.metric == GAIN && comparison.not_compared.is_some() => {
            "nothing is compared".to_owned()
        }
        0 => "no measured combination is what it is of".to_owned(),
        _ => format!("{}{more}", deciding[..deciding.len().min(NAMED)].join("; ")),
    };
    ThresholdResult { text: threshold.to_string(), outcome, why }
}

fn values(threshold: &Threshold, comparison: &StudyComparison) -> Vec<Figure> {
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
            let ends = values.and_then(|v| v.interval).map(|interval| (interval.low, interval.high));
            let (outcome, says) = held_against(threshold, values.and_then(|v| v.mean), ends, &unit);
            Figure { of: point.label.clone(), outcome, says }
        })
        .collect()
}

fn gains(threshold: &Threshold, comparison: &StudyComparison) -> Vec<Figure> {
    let named = comparison.axes.iter().any(|axis| threshold.at.contains_key(&axis.name));
    let concerned = |gain: &&Gain| !named || threshold.at.contains_key(&gain.axis);
    let figure = |point: &Point, gain: &Gain| {
        let reference = &comparison.points[gain.reference].label;
        let ends = gain.low_pct.zip(gain.high_pct);
        let (outcome, mut says) = held_against(threshold, gain.gain_pct, ends, " %");
        if gain.blocks > 1 && gain.blocks < stats::BLOCKS_MIN {
            says = format!("{says}, {} blocks only", gain.blocks);
        }
        Figure { of: format!("{} over {reference}", point.label), outcome, says }
    };
    let points = comparison.points.iter().filter(|point| is_of(threshold, point));
    points
        .flat_map(|point| point.values.gains.iter().filter(concerned).map(move |gain| (point, gain)))
        .map(|(point, gain)| figure(point, gain))
        .collect()
}

fn is_of(threshold: &Threshold, point: &Point) -> bool {
    debug_assert_eq!(CONFIGURATION, "configuration", "thresholds know it by this name");
    threshold.is_of(&point.configuration, &point.levels)
}

/// A figure with its interval against the limit. A single block has no interval, and its value decides.
fn held_against(
    threshold: &Threshold,
    value: Option<f64>,
    ends: Option<(f64, f64)>,
    unit: &str,
) -> (Outcome, String) {
    let allows = |value: f64| threshold.bound.allows(value, threshold.limit);
    let Some(value) = value else { return (Outcome::Inconclusive, "not measured".to_owned()) };
    let Some((low, high)) = ends else {
        let outcome = if allows(value) { Outcome::Held } else { Outcome::Failed };
        return (outcome, format!("{}{unit} in one block, without an interval", format::signed(value)));
    };
    let outcome = match (allows(low), allows(high)) {
        (true, true) => Outcome::Held,
        (false, false) => Outcome::Failed,
        _ => Outcome::Inconclusive,
    };
    (outcome, format!("{}{unit} ({})", format::signed(value), format::range(low, high)))
}
