//! The shape of the metric along an axis of numbers, in sentences: knee, jump, sweet spot, scalability.

use super::gain_sentence::Axis;
use super::scaling;
use crate::change::{gain_range, signed_per_cent};
use crate::comparison::{AxisSeries, ComparedAxis, ComparedMetric, Quantity, StudyComparison};
use crate::format::{self, figure};
use crate::verdict::{Level, Verdict};

/// Knee, jump, sweet spot and scalability along an axis of numbers, where the others are at their references, in each scenario.
pub(crate) fn all(comparison: &StudyComparison, axis: &ComparedAxis) -> Vec<Verdict> {
    let Some(quantity) = axis.quantity else { return Vec::new() };
    // A rate that was offered has no shape.
    let is_offered = |series: &AxisSeries| {
        series.points.iter().flatten().any(|index| comparison.points[*index].is_of_held_rate())
    };
    let series = axis.series.iter().filter(|series| series.at_reference && !is_offered(series));
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
    match (&series.knee, &series.jump, &series.no_knee) {
        (Some(knee), ..) => verdicts.push(bend(&comparison.metric, &words, quantity, knee)),
        (None, Some(found), _) => verdicts.push(jump(&comparison.metric, &words, quantity, found)),
        (None, None, Some(_)) if series.queueing.is_some() => {
            let found = series.queueing.iter();
            verdicts.extend(found.map(|found| queue(&comparison.metric, &words, quantity, found)));
        }
        (None, None, Some(reason)) => {
            verdicts.push(Verdict::new(Level::Note, "no_knee", format!("{words}: {reason}")));
        }
        (None, None, None) => {}
    }
    match (series.sweet_spot, &series.no_sweet_spot) {
        (Some(place), _) => {
            let level = &axis.levels[place];
            let sentence = format!("{words}: {}", sweet_spot(axis, place, series.sweet_spot_lowest));
            let figure = Some(level.clone());
            verdicts.push(Verdict { figure, ..Verdict::new(Level::Finding, "sweet_spot", sentence) });
        }
        (None, Some(reason)) => {
            let below = series.sweet_spot_lowest.filter(|lowest| lowest + 1 < axis.levels.len());
            let lowest = below.map(|lowest| format!("; {} is not ruled out", axis.levels[lowest]));
            let sentence = format!("{words}: {reason}{}", lowest.unwrap_or_default());
            // Where it is only past the levels that were measured, that is news: larger ones may be worth it.
            let level = if series.sweet_spot_lowest.is_some() { Level::Finding } else { Level::Note };
            verdicts.push(Verdict::new(level, "sweet_spot", sentence));
        }
        (None, None) => {}
    }
    verdicts.extend(scaling::finding(&comparison.metric, &words, series));
    verdicts.extend(scalability(&words, series));
    verdicts.extend(falls(&comparison.metric, &words, axis, series));
    verdicts
}

/// `p99_ms rises as time in a queue does, without a knee: the queue is full at about 102 (98–110), and p99_ms has doubled at about 51`.
fn queue(metric: &ComparedMetric, words: &str, quantity: Quantity, found: &stats::Queueing) -> Verdict {
    let [capacity, low, high, doubled_at] =
        [found.capacity, found.low, found.high, found.doubled_at].map(|value| quantity.print(value));
    let name = metric.name;
    let sentence = format!(
        "{words}: {name} rises as time in a queue does, without a knee: the queue is full at about {capacity} ({low}–{high}), and \
         {name} has doubled at about {doubled_at}"
    );
    Verdict { figure: Some(capacity), ..Verdict::new(Level::Finding, "axis_queue", sentence) }
}

/// `216 gives 8.2 % less IOPS than 72 (paired: −9.4 to −7.1 %)`.
fn falls(metric: &ComparedMetric, words: &str, axis: &ComparedAxis, series: &AxisSeries) -> Option<Verdict> {
    let place = |number: f64| axis.numbers.iter().position(|other| *other == number);
    let (best, last, ratio, how) = match (&series.falling, series.falling_single) {
        (Some(found), _) => {
            let ratio = found.effect.ratio;
            let range = gain_range((ratio.low - 1.0) * 100.0, (ratio.high - 1.0) * 100.0);
            (place(found.best)?, place(found.last)?, ratio.value, format!("paired: {range}"))
        }
        (None, Some((best, last, ratio))) => {
            (best, last, ratio, "single runs whose intervals exclude each other".to_owned())
        }
        (None, None) => return None,
    };
    let less = format::per_cent(1.0 - ratio);
    let [best, last] = [best, last].map(|place| axis.levels[place].as_str());
    let sentence = format!("{words}: {last} gives {less} less {} than {best} ({how})", metric.name);
    Some(Verdict { figure: Some(less), ..Verdict::new(Level::Finding, "axis_falls", sentence) })
}

/// Of a smallest level nothing was measured below, and nothing is claimed of it.
fn sweet_spot(axis: &ComparedAxis, place: usize, lowest: Option<usize>) -> String {
    let level = &axis.levels[place];
    match lowest.filter(|lowest| *lowest != place) {
        Some(lowest) => format!(
            "the sweet spot is at most {level}, past which more gains less than 5 %; {} is not ruled out",
            axis.levels[lowest]
        ),
        None if place == 0 => format!(
            "the sweet spot is at most {level}, the smallest level: more gains less than 5 %, and less was not measured"
        ),
        None => format!(
            "the sweet spot is {level}; every level below it loses 5 % or more, and more gains less than 5 %"
        ),
    }
}

/// `up to about 2,900–3,100 each doubling changes p99_ms by −50 %, past that by −1 % (knee at 3,000)`. Where less than a doubling was
/// measured on a side, that is told and no doubling: `past that by +24 % up to 95`.
fn bend(metric: &ComparedMetric, words: &str, quantity: Quantity, knee: &stats::Knee) -> Verdict {
    let print = |value: f64| quantity.print(value);
    let (low, high) = (print(knee.low), print(knee.high));
    let range = if low == high { low } else { format!("{low}–{high}") };
    let [one, other] = knee.further_levels().map(print);
    let narrower =
        if one == other { String::new() } else { format!("; levels at {one} and {other} would narrow it") };
    let (name, at) = (metric.name, print(knee.at));
    let [by_doubling_below, by_doubling_above] =
        knee.by_doubling().map(|share| signed_per_cent(share * 100.0));
    let changes = knee.changes().map(|changes| changes.map(|share| signed_per_cent(share * 100.0)));
    let [in_all_below, in_all_above] = changes.unwrap_or_default();
    let below = match knee.first.filter(|first| knee.at < 2.0 * first) {
        Some(first) => format!("from {} to about {range} {name} changes by {in_all_below}", print(first)),
        None => format!("up to about {range} each doubling changes {name} by {by_doubling_below}"),
    };
    let above = match knee.last.filter(|last| *last < 2.0 * knee.at) {
        Some(last) => format!("past that by {in_all_above} up to {}, the last level", print(last)),
        None if knee.first.is_some_and(|first| knee.at < 2.0 * first) => {
            format!("past that each doubling changes it by {by_doubling_above}")
        }
        None => format!("past that by {by_doubling_above}"),
    };
    let sentence = format!("{words}: {below}, {above} (knee at {at}){narrower}");
    Verdict { figure: Some(range), ..Verdict::new(Level::Finding, "axis_knee", sentence) }
}

/// `between 24 GiB and 28 GiB query_s falls by 60 %, more than anywhere else`.
fn jump(metric: &ComparedMetric, words: &str, quantity: Quantity, jump: &stats::Jump) -> Verdict {
    let [below, above] = [jump.below, jump.above].map(|level| quantity.print(level));
    let [one, other] = jump.further_levels().map(|level| quantity.print(level));
    let turns = if jump.change < 0.0 { "falls" } else { "rises" };
    let (name, change) = (metric.name, format::points(jump.change.abs() * 100.0));
    let sentence = format!(
        "{words}: between {below} and {above} {name} {turns} by {change} %, more than anywhere else; levels between, such as \
         {one} and {other}, would place it"
    );
    Verdict {
        figure: Some(format!("{below}–{above}")),
        ..Verdict::new(Level::Finding, "axis_jump", sentence)
    }
}

fn scalability(words: &str, series: &AxisSeries) -> Option<Verdict> {
    match (&series.scalability, &series.no_scalability) {
        (Some(found), _) => {
            let unit = series.scalability_unit;
            let counted = if unit < 1.0 {
                format!(", counted in {} of a processor,", format::plain(unit))
            } else {
                String::new()
            };
            let peak = match found.peak {
                Some(peak) => format!(
                    "the peak is at about {} ({})",
                    figure(peak.value * unit),
                    format::range(peak.low * unit, peak.high * unit)
                ),
                None => "no peak can be told from these levels".to_owned(),
            };
            let sentence = format!(
                "{words}: scales{counted} with contention σ {} ({}) and coherence κ {} ({}); {peak}",
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
