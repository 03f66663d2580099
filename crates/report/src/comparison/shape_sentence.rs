//! The shape of the metric along an axis of numbers, in sentences: knee, jump, sweet spot, scalability.

use super::gain_sentence::Axis;
use super::scaling;
use crate::change::{gain_range, signed_per_cent};
use crate::comparison::{AxisSeries, ComparedAxis, ComparedMetric, Quantity, StudyComparison};
use crate::format::{self, figure};
use crate::verdict::{Fact, Level, Verdict};

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
            verdicts.push(Verdict::new(Level::Note, "no_knee", reason.as_str()).about(words.clone()));
        }
        (None, None, None) => {}
    }
    match (series.sweet_spot, &series.no_sweet_spot) {
        (Some(place), _) => {
            let (fact, effect) = sweet_spot(axis, &axis.levels[place], place, series.sweet_spot_lowest);
            let verdict = Verdict::new(Level::Finding, "sweet_spot", fact).about(words.clone());
            verdicts.push(verdict.with_effect(effect));
        }
        (None, Some(reason)) => {
            // A sweet spot past the measured levels is news: larger levels may be worth it.
            let level = if series.sweet_spot_lowest.is_some() { Level::Finding } else { Level::Note };
            let verdict = Verdict::new(level, "sweet_spot", reason.as_str()).about(words.clone());
            let below = series.sweet_spot_lowest.filter(|lowest| lowest + 1 < axis.levels.len());
            let effect = below.map(|lowest| format!("level {} is not ruled out", axis.levels[lowest]));
            verdicts.push(Verdict { effect, ..verdict });
        }
        (None, None) => {}
    }
    verdicts.extend(scaling::finding(&comparison.metric, &words, series));
    verdicts.extend(scalability(&words, series));
    verdicts.extend(falls(&comparison.metric, &words, axis, series));
    verdicts
}

/// `p99_ms grows like the time spent in a queue that is full at about 102 (95% CI 98–110). At about 51, p99_ms is twice its value without load`.
fn queue(metric: &ComparedMetric, words: &str, quantity: Quantity, found: &stats::Queueing) -> Verdict {
    let [capacity, low, high, doubled_at] =
        [found.capacity, found.low, found.high, found.doubled_at].map(|value| quantity.print(value));
    let name = metric.name;
    let fact = Fact::around(
        format!("{name} grows like the time spent in a queue that is full at about "),
        capacity,
        format!(" (95% CI {low}–{high}), without a knee"),
    );
    let doubled = format!("at about {doubled_at}, {name} is twice its value without load");
    Verdict::new(Level::Finding, "axis_queue", fact).about(words).with_effect(doubled)
}

/// `216 has 8.2% less IOPS than 72 (paired, 95% CI −9.4 to −7.1%)`.
fn falls(metric: &ComparedMetric, words: &str, axis: &ComparedAxis, series: &AxisSeries) -> Option<Verdict> {
    let place = |number: f64| axis.numbers.iter().position(|other| *other == number);
    let (best, last, ratio, how) = match (&series.falling, series.falling_single) {
        (Some(found), _) => {
            let ratio = found.effect.ratio;
            let range = gain_range((ratio.low - 1.0) * 100.0, (ratio.high - 1.0) * 100.0);
            (place(found.best)?, place(found.last)?, ratio.value, format!("paired, 95% CI {range}"))
        }
        (None, Some((best, last, ratio))) => {
            (best, last, ratio, "single trials with disjoint intervals".to_owned())
        }
        (None, None) => return None,
    };
    let less = format::per_cent(1.0 - ratio);
    let [best, last] = [best, last].map(|place| axis.levels[place].as_str());
    let fact =
        Fact::around(format!("{last} has "), less, format!(" less {} than {best} ({how})", metric.name));
    Some(Verdict::new(Level::Finding, "axis_falls", fact).about(words))
}

/// The sweet spot and what holds beside it. Nothing was measured below a smallest level, so that the sweet spot may be lower.
fn sweet_spot(axis: &ComparedAxis, level: &str, place: usize, lowest: Option<usize>) -> (Fact, String) {
    match lowest.filter(|lowest| *lowest != place) {
        Some(lowest) => {
            let before = format!("sweet spot between {} and ", axis.levels[lowest]);
            (Fact::around(before, level, ""), format!("levels above {level} gain less than 5%"))
        }
        None if place == 0 => (
            Fact::around("the sweet spot is at most ", level, ", the smallest level"),
            "higher levels gain less than 5%, and lower levels were not measured".to_owned(),
        ),
        None => (
            Fact::around("the sweet spot is ", level, ""),
            "every lower level loses at least 5%, and higher levels gain less than 5%".to_owned(),
        ),
    }
}

/// `knee at 96.2 (95% CI 91.7–101): each doubling changes records_per_s by +88% below it and by +1.5% above it`. If less than a doubling
/// was measured on a side, the change of that side replaces it: `from 50 to the knee by +24%`.
fn bend(metric: &ComparedMetric, words: &str, quantity: Quantity, knee: &stats::Knee) -> Verdict {
    let print = |value: f64| quantity.print(value);
    let (low, high) = (print(knee.low), print(knee.high));
    let range = if low == high { String::new() } else { format!(" (95% CI {low}–{high})") };
    let [one, other] = knee.further_levels().map(print);
    let name = metric.name;
    let [doubling_below, doubling_above] = knee.by_doubling().map(|share| signed_per_cent(share * 100.0));
    let changes = knee.changes().map(|changes| changes.map(|share| signed_per_cent(share * 100.0)));
    let [in_all_below, in_all_above] = changes.unwrap_or_default();
    let below = knee.first.filter(|first| knee.at < 2.0 * first).map(print);
    let above = knee.last.filter(|last| *last < 2.0 * knee.at).map(print);
    let course = match (below, above) {
        (None, None) => {
            format!(
                "each doubling changes {name} by {doubling_below} below the knee and by {doubling_above} above it"
            )
        }
        (Some(from), None) => format!(
            "{name} changes by {in_all_below} from {from} to the knee, and by {doubling_above} with each doubling above it"
        ),
        (None, Some(to)) => format!(
            "{name} changes by {doubling_below} with each doubling below the knee, and by {in_all_above} from the knee to {to}"
        ),
        (Some(from), Some(to)) => format!(
            "{name} changes by {in_all_below} from {from} to the knee, and by {in_all_above} from the knee to {to}"
        ),
    };
    let fact = Fact::around("knee at ", print(knee.at), format!("{range}: {course}"));
    let verdict = Verdict::new(Level::Finding, "axis_knee", fact).about(words);
    if one == other {
        verdict
    } else {
        verdict.with_action(format!("to narrow the interval, add levels {one} and {other}"))
    }
}

/// `jump at 24 GiB–28 GiB: query_s falls by 60%, more than anywhere else`.
fn jump(metric: &ComparedMetric, words: &str, quantity: Quantity, jump: &stats::Jump) -> Verdict {
    let [below, above] = [jump.below, jump.above].map(|level| quantity.print(level));
    let [one, other] = jump.further_levels().map(|level| quantity.print(level));
    let turns = if jump.change < 0.0 { "falls" } else { "rises" };
    let (name, change) = (metric.name, format::points(jump.change.abs() * 100.0));
    let fact = Fact::around(
        "jump at ",
        format!("{below}–{above}"),
        format!(": {name} {turns} by {change}%, more than anywhere else"),
    );
    let narrower = format!("to locate the jump more closely, add levels between, such as {one} and {other}");
    Verdict::new(Level::Finding, "axis_jump", fact).about(words).with_action(narrower)
}

fn scalability(words: &str, series: &AxisSeries) -> Option<Verdict> {
    match (&series.scalability, &series.no_scalability) {
        (Some(found), _) => {
            let unit = series.scalability_unit;
            let counted = if unit < 1.0 {
                format!(" (in units of {} CPU)", format::plain(unit))
            } else {
                String::new()
            };
            let peak = match found.peak {
                Some(peak) => format!(
                    "the peak is at about {} (95% CI {})",
                    figure(peak.value * unit),
                    format::range(peak.low * unit, peak.high * unit)
                ),
                None => "these levels show no peak".to_owned(),
            };
            let fact = format!(
                "scales{counted} with contention σ {} (95% CI {}) and coherence κ {} (95% CI {})",
                small(found.sigma.value),
                small_range(&found.sigma),
                small(found.kappa.value),
                small_range(&found.kappa)
            );
            Some(Verdict::new(Level::Finding, "scalability", fact).about(words).with_effect(peak))
        }
        (None, Some(reason)) => Some(Verdict::new(Level::Note, "scalability", reason.as_str()).about(words)),
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
