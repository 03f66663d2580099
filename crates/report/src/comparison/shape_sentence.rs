//! The shape of the metric along an axis of numbers, in sentences: knee, sweet spot, scalability.

use record::Direction;

use super::gain_sentence::Axis;
use crate::comparison::{AxisSeries, ComparedAxis, ComparedMetric, Quantity, StudyComparison};
use crate::format::{self, figure};
use crate::verdict::{Level, Verdict};

/// Knee, sweet spot and scalability along an axis of numbers, where the others are at their references, in each scenario.
pub(crate) fn all(comparison: &StudyComparison, axis: &ComparedAxis) -> Vec<Verdict> {
    let Some(quantity) = axis.quantity else { return Vec::new() };
    let series = axis.series.iter().filter(|series| series.at_reference);
    series.flat_map(|series| shape_of(comparison, axis, series, quantity)).collect()
}

fn shape_of(
    comparison: &StudyComparison,
    axis: &ComparedAxis,
    series: &AxisSeries,
    quantity: Quantity,
) -> Vec<Verdict> {
    let words = Axis { name: &axis.name, setting: &series.setting, reference: &series.reference }.words();
    let mut verdicts = Vec::new();
    match (&series.knee, &series.no_knee) {
        (Some(knee), _) => verdicts.push(bend(&comparison.metric, &words, quantity, knee)),
        (None, Some(reason)) => {
            verdicts.push(Verdict::new(Level::Note, "no_knee", format!("{words}: {reason}")));
        }
        (None, None) => {}
    }
    match (series.sweet_spot, &series.no_sweet_spot) {
        (Some(place), _) => {
            let level = &axis.levels[place];
            let sentence = format!("{words}: the sweet spot is {level}; more gains less than 5 %");
            let figure = Some(level.clone());
            verdicts.push(Verdict { figure, ..Verdict::new(Level::Finding, "sweet_spot", sentence) });
        }
        (None, Some(reason)) => {
            verdicts.push(Verdict::new(Level::Note, "sweet_spot", format!("{words}: {reason}")));
        }
        (None, None) => {}
    }
    verdicts.extend(scalability(&words, series));
    verdicts
}

/// `p99_ms rises sharply below about 3,200–3,700`, or where more begins to gain less.
fn bend(metric: &ComparedMetric, words: &str, quantity: Quantity, knee: &stats::Knee) -> Verdict {
    let print = |value: f64| quantity.print(value);
    let (low, high) = (print(knee.low), print(knee.high));
    let range = if low == high { low } else { format!("{low}–{high}") };
    let (below, above) = (knee.slope_below, knee.slope_above);
    let name = metric.name;
    let how = match metric.better {
        Direction::Higher if below > 0.0 && above <= 0.0 => {
            format!("past about {range}, {name} grows no more")
        }
        Direction::Higher if below > above && above > 0.0 => {
            format!("past about {range}, {name} grows at a lower rate")
        }
        _ if below.abs() > above.abs() => {
            // Below the knee a curve is followed downwards: what falls with the level rises there.
            let turns = if below < 0.0 { "rises" } else { "falls" };
            format!("{name} {turns} sharply below about {range}")
        }
        _ => format!("{name} {} sharply above about {range}", if above > 0.0 { "rises" } else { "falls" }),
    };
    let [one, other] = knee.further_levels().map(print);
    let narrower =
        if one == other { String::new() } else { format!("; levels at {one} and {other} would narrow it") };
    let sentence = format!("{words}: {how} (knee at {}){narrower}", print(knee.at));
    Verdict { figure: Some(range), ..Verdict::new(Level::Finding, "axis_knee", sentence) }
}

fn scalability(words: &str, series: &AxisSeries) -> Option<Verdict> {
    match (&series.scalability, &series.no_scalability) {
        (Some(found), _) => {
            let peak = match found.peak {
                Some(peak) => format!("the peak is at about {}", figure(peak)),
                None => "no peak can be told from these levels".to_owned(),
            };
            let sentence = format!(
                "{words}: scales with contention σ {} ({}) and coherence κ {} ({}); {peak}",
                small(found.sigma.value),
                small_range(&found.sigma),
                small(found.kappa.value),
                small_range(&found.kappa)
            );
            Some(Verdict::new(Level::Finding, "scalability", sentence))
        }
        (None, Some(reason)) => Some(Verdict::new(Level::Note, "scalability", format!("{words}: {reason}"))),
        (None, None) => None,
    }
}

/// Coefficients are often far below one.
fn small(value: f64) -> String {
    match value.abs() {
        size if size < 1e-9 => "0".to_owned(),
        size if size < 0.01 => format!("{value:.1e}").replace('-', "−"),
        _ => format::signed(value),
    }
}

fn small_range(estimate: &stats::Estimate) -> String {
    format!("{}–{}", small(estimate.low), small(estimate.high))
}
