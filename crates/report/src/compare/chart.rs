//! The gain of each figure over the first side: a ring for the first side, and a dot with an interval for this one. Gains are in per
//! cent, or factors if a change is printed as a factor.

use stats::Comparison;

use super::{Combination, MetricAgainst};
use crate::change::Change;
use crate::chart::canvas::{Canvas, Ink, Side, TEXT, svg, text_width};
use crate::chart::frame::{Frame, WIDTH};
use crate::chart::gain::GainAxis;
use crate::chart::{Chart, Key, legend};
use crate::format::{self, figure_or_dash};
use crate::table::{Column, Row, Table};

/// Height of a bar with its text.
const ROW: f64 = 40.0;

/// Ends of the scale.
const LEFT: f64 = 12.0;
const RIGHT: f64 = WIDTH - 16.0;

/// Charts of one comparison: a combination each.
const CHARTS_MOST: usize = 12;

/// A figure that has a ratio.
struct Bar<'a> {
    metric: &'a MetricAgainst,
    change: Change,
}

/// A chart of these figures for each combination that may have a verdict, all on one scale, and how many more there are.
pub(super) fn of(rows: &[(&Combination, &MetricAgainst)], heading: &str) -> (Vec<Chart>, usize) {
    let mut groups: Vec<(&str, Vec<Bar<'_>>)> = Vec::new();
    for &(combination, metric) in rows.iter().filter(|(combination, _)| !combination.is_refused()) {
        let Some(change) = metric.change() else { continue };
        match groups.last_mut().filter(|(label, _)| *label == combination.label) {
            Some((_, bars)) => bars.push(Bar { metric, change }),
            None => groups.push((&combination.label, vec![Bar { metric, change }])),
        }
    }
    let all: Vec<Change> = groups.iter().flat_map(|(_, bars)| bars).map(|bar| bar.change).collect();
    let x = GainAxis::of(&all, LEFT, RIGHT);
    let named =
        |label: &str| if label.is_empty() { heading.to_owned() } else { format!("{heading}: {label}") };
    let charts = groups.iter().take(CHARTS_MOST).map(|(label, bars)| chart(&named(label), bars, &x));
    (charts.collect(), groups.len().saturating_sub(CHARTS_MOST))
}

fn chart(heading: &str, bars: &[Bar<'_>], x: &GainAxis) -> Chart {
    let height = bars.len() as f64 * ROW + 64.0;
    let frame = Frame { left: LEFT, right: RIGHT, top: 8.0, bottom: height - 44.0 };
    let describe = bars.iter().map(|bar| format!("{}, {}", told(bar), bar.metric.words));
    let description = describe.collect::<Vec<String>>().join("; ");
    let svg = svg((WIDTH, height), heading, &description, |canvas| {
        x.draw(canvas, &frame);
        for (index, bar) in bars.iter().enumerate() {
            draw(canvas, x, bar, frame.top + index as f64 * ROW);
        }
    });
    Chart {
        heading: heading.to_owned(),
        svg,
        legend: legend(bars.iter().map(|bar| key(bar.metric))),
        caption: caption(bars, x),
        table: table(bars, heading),
    }
}

fn caption(bars: &[Bar<'_>], x: &GainAxis) -> String {
    let axis = match x.remark() {
        "" => "Right of the line at 0% is better, also for a latency.",
        factors => factors.trim_start(),
    };
    let confidences = bars.iter().filter_map(|bar| Some(bar.metric.effect?.confidence));
    let interval = match confidences.reduce(f64::min) {
        None => "No interval: it needs several trials per side.".to_owned(),
        Some(least) if least < 0.95 => {
            format!("Thin lines: CI of at least {:.0}%.", least * 100.0)
        }
        Some(_) => "Thin lines: 95% CI.".to_owned(),
    };
    format!("Ring: before. Dot: after. {axis} {interval}")
}

fn draw(canvas: &mut Canvas<'_>, x: &GainAxis, bar: &Bar<'_>, top: f64) {
    let place = |gain_pct: f64| x.at(&bar.change, gain_pct);
    canvas.text(Ink::Text, Side::Right, (LEFT, top + TEXT * 0.6), &label(bar));
    let (none, at, y) = (x.none(), place(bar.change.gain_pct), top + 25.0);
    let ink = key(bar.metric).ink;
    canvas.line(ink, 3.0, (none, y), (at, y));
    if let Some((low, high)) = bar.change.ends {
        canvas.line(Ink::Text, 1.5, (place(low), y), (place(high), y));
        for end in [low, high] {
            canvas.line(Ink::Text, 1.5, (place(end), y - 4.0), (place(end), y + 4.0));
        }
    }
    canvas.ring(ink, 5.0, (none, y));
    canvas.dot(ink, 6.0, (at, y));
}

/// `p99_ms: 1.20 → 1.50 ms, +25% (+24 to +26%)`.
/// The label of a bar, as long as there is room: without the interval, which the bar shows, and then with the short name of the metric.
fn label(bar: &Bar<'_>) -> String {
    let says = format::capital(bar.metric.metric.says);
    let brief = labelled(bar, &says, &bar.change.alone());
    let fits = |text: &String| text_width(text) <= RIGHT - LEFT;
    let short = || labelled(bar, bar.metric.metric.name, &bar.change.told());
    [told(bar), brief].into_iter().find(fits).unwrap_or_else(short)
}

fn told(bar: &Bar<'_>) -> String {
    labelled(bar, &format::capital(bar.metric.metric.says), &bar.change.told())
}

fn labelled(bar: &Bar<'_>, name: &str, change: &str) -> String {
    let of = &bar.metric.metric;
    let [first, this] = [bar.metric.first_value, bar.metric.this_value].map(figure_or_dash);
    let values = format!("{first} → {this} {}", of.unit);
    format!("{name}: {}, {change}", values.trim_end())
}

/// What the colour of a bar means.
fn key(metric: &MetricAgainst) -> Key {
    match metric.judged.map(|judged| judged.comparison) {
        Some(Comparison::Better) => Key::new(Ink::Series(0), "better"),
        Some(Comparison::Worse) => Key::new(Ink::Series(1), "worse"),
        Some(Comparison::Differs) => {
            Key::new(Ink::Series(3), "differs, without a verdict on which is better")
        }
        _ => Key::new(Ink::Axis, "no relevant difference shown"),
    }
}

fn table(bars: &[Bar<'_>], heading: &str) -> Table {
    let columns = ["figure", "gain", "verdict"].map(Column::words).into();
    let row = |bar: &Bar<'_>| {
        Row::of(vec![bar.metric.metric.name.to_owned(), bar.change.told(), bar.metric.words.clone()])
    };
    Table { title: heading.to_owned(), columns, rows: bars.iter().map(row).collect() }
}
