//! Rate and latency over the outstanding I/Os, the series of one kind in one pair of charts.

use crate::chart::Chart;
use crate::chart::canvas::{Canvas, Ink, SERIES, Side, TEXT, svg, text_width};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH};
use crate::chart::label::{self, Label};
use crate::chart::scale::Scale;
use crate::disk::{Sweep, SweepPoint};
use crate::format::{self, plain, plain_latency};
use crate::table::{Column, Row, Table};

/// Rates that differ by more than this factor share no even scale.
pub(super) const EVEN_FACTOR_MAX: f64 = 20.0;

/// Series whose intervals and marks have room in one chart.
const MARKED: usize = 2;

/// A pair of charts, rate and latency, for each group; a group with many series makes several pairs. All rates have one scale
/// and all latencies another, so that charts are compared by eye.
pub(crate) fn sweeps(all: &[Sweep]) -> Vec<[Chart; 2]> {
    let mut groups: Vec<Vec<&Sweep>> = Vec::new();
    for sweep in all {
        match groups.iter_mut().find(|group| group[0].group == sweep.group && group.len() < SERIES) {
            Some(group) => group.push(sweep),
            None => groups.push(vec![sweep]),
        }
    }
    let all: Vec<&Sweep> = all.iter().collect();
    groups.iter().filter_map(|group| Some([rate(group, &all)?, latency(group, &all)?])).collect()
}

fn rate(group: &[&Sweep], all: &[&Sweep]) -> Option<Chart> {
    let value = |point: &SweepPoint| Some(point.per_s);
    extent(group, value)?;
    let (low, high) = extent(all, value)?;
    let ends = all.iter().flat_map(|sweep| &sweep.points).filter_map(|point| Some(point.interval?.high));
    let high = ends.fold(high, f64::max);
    let (top, bottom) = Frame::heights(HEIGHT);
    let scale = if high / low > EVEN_FACTOR_MAX {
        Scale::decades(low, high, bottom, top)
    } else {
        Scale::from_zero(high * 1.08, bottom, top)
    };
    let y = Axis { scale, title: "IOPS", print: plain };
    let heading = format!("Rate by outstanding I/Os: {}", name(group));
    let svg = draw(&heading, group, &y, value, |canvas, frame, x| {
        for (index, sweep) in group.iter().enumerate() {
            sweep.points.iter().for_each(|point| scatter(canvas, point, Ink::Series(index), (x, &y.scale)));
            knee(canvas, sweep, Ink::Series(index), frame, (x, &y.scale), group.len() <= MARKED);
        }
    });
    let caption = match (group.iter().any(|sweep| sweep.knee.is_some()), group.len() <= MARKED) {
        (true, true) => "Ring: the knee. Shaded: its 95% interval. Above the knee, extra depth gains less.",
        (true, false) => {
            "Ring: the knee. Above it, extra depth gains less. The table of all series gives its interval."
        }
        (false, _) => "These series have no clear knee. The table of all series gives the reason.",
    };
    Some(Chart {
        heading,
        svg,
        legend: Vec::new(),
        caption: format!("{caption}{}", bars_in_words(group)),
        table: table(group, "IOPS", |point| format::figure(point.per_s)),
    })
}

fn latency(group: &[&Sweep], all: &[&Sweep]) -> Option<Chart> {
    let value = |point: &SweepPoint| point.mean_us;
    extent(group, value)?;
    let (low, high) = extent(all, value)?;
    let tolerance_us = all.iter().find_map(|sweep| sweep.tolerance_us);
    // The tolerance is drawn where the curves come near it; a distant one would only flatten them.
    let shown = tolerance_us.filter(|us| *us < high * 10.0 && *us > low / 10.0);
    let (top, bottom) = Frame::heights(HEIGHT);
    let scale = Scale::decades(low.min(shown.unwrap_or(low)), high.max(shown.unwrap_or(high)), bottom, top);
    let y = Axis { scale, title: "mean latency", print: plain_latency };
    let heading = format!("Latency by outstanding I/Os: {}", name(group));
    let svg = draw(&heading, group, &y, value, |canvas, frame, _| {
        if let Some(us) = shown {
            let at = y.scale.at(us);
            canvas.dashes(Ink::Text, (frame.left, at), (frame.right, at));
            canvas.text(
                Ink::Text,
                Side::Right,
                (frame.left + 4.0, at + TEXT * 0.8),
                &format!("tolerance {}", plain_latency(us)),
            );
        }
    });
    let caption = match tolerance_us {
        Some(us) if shown.is_none() => {
            format!("The tolerance of {} is outside this chart.", plain_latency(us))
        }
        Some(us) => {
            format!("A series stops at the first depth with a mean latency above {}.", plain_latency(us))
        }
        None => "Mean of all operations of a depth.".to_owned(),
    };
    let cell = |point: &SweepPoint| {
        format!("{} / {}", format::latency_or_dash(point.mean_us), format::latency_or_dash(point.p99_us))
    };
    Some(Chart { heading, svg, legend: Vec::new(), caption, table: table(group, "mean / p99", cell) })
}

/// The interval of a rate as a bar, and its repeats as small points.
fn scatter(canvas: &mut Canvas<'_>, point: &SweepPoint, ink: Ink, (x, y): (&Scale, &Scale)) {
    let at = x.at(f64::from(point.outstanding));
    if let Some(interval) = point.interval {
        let (low, high) = (y.at(interval.low.max(0.0)), y.at(interval.high));
        canvas.line(ink, 1.0, (at, low), (at, high));
        for end in [low, high] {
            canvas.line(ink, 1.0, (at - 4.0, end), (at + 4.0, end));
        }
    }
    point.repeats.iter().for_each(|rate| canvas.dot(ink, 1.4, (at, y.at(*rate))));
}

/// What the bars of the group are; nothing where there is none.
fn bars_in_words(group: &[&Sweep]) -> &'static str {
    let points = || group.iter().flat_map(|sweep| &sweep.points);
    match (points().any(|point| point.interval.is_some()), points().any(|point| !point.repeats.is_empty())) {
        (true, true) => " Bars: 95% intervals over the repeats. Small points: the repeats.",
        (true, false) => " Bars: 95% intervals of that run only.",
        (false, true) => " Small points: the repeats.",
        (false, false) => " No run was long enough for an interval.",
    }
}

/// What the series of a group share.
fn name(group: &[&Sweep]) -> String {
    match group {
        [only] => only.series.clone(),
        several if several[0].group.is_empty() => "all series".to_owned(),
        several => several[0].group.clone(),
    }
}

fn extent(group: &[&Sweep], value: impl Fn(&SweepPoint) -> Option<f64>) -> Option<(f64, f64)> {
    let values =
        || group.iter().flat_map(|sweep| &sweep.points).filter_map(&value).filter(|value| *value > 0.0);
    Some((values().reduce(f64::min)?, values().reduce(f64::max)?))
}

fn draw(
    heading: &str,
    group: &[&Sweep],
    y: &Axis<'_>,
    value: impl Fn(&SweepPoint) -> Option<f64>,
    marks: impl FnOnce(&mut Canvas<'_>, &Frame, &Scale),
) -> String {
    let labelled = group.len() > 1;
    let frame = Frame::new(HEIGHT, y, group.iter().filter(|_| labelled).map(|sweep| sweep.label.as_str()));
    let depths = || group.iter().flat_map(|sweep| &sweep.points).map(|point| f64::from(point.outstanding));
    let (low, high) = (depths().fold(f64::INFINITY, f64::min), depths().fold(1.0, f64::max));
    let x = Axis {
        scale: Scale::doublings(low, high, frame.left, frame.right),
        title: "outstanding I/Os per thread",
        print: plain,
    };
    svg((WIDTH, HEIGHT), heading, &describe(group, &value, y.print), |canvas| {
        frame.draw(canvas, &x, y);
        marks(canvas, &frame, &x.scale);
        let mut labels = Vec::new();
        for (index, sweep) in group.iter().enumerate() {
            let at = |point: &SweepPoint| {
                Some((x.scale.at(f64::from(point.outstanding)), y.scale.at(value(point)?)))
            };
            for pair in sweep.points.windows(2) {
                let ends = at(&pair[0]).zip(at(&pair[1]));
                let drawn = ends.filter(|_| !sweep.lacks_between(pair[0].outstanding, pair[1].outstanding));
                drawn.iter().for_each(|(from, to)| canvas.path(Ink::Series(index), 2.0, &[*from, *to]));
            }
            let points: Vec<(f64, f64)> = sweep.points.iter().filter_map(at).collect();
            points.iter().for_each(|&point| canvas.dot(Ink::Series(index), 2.6, point));
            if let (true, Some(last)) = (labelled, points.last()) {
                labels.push(Label { ink: Ink::Series(index), y: last.1, text: sweep.label.clone() });
            }
        }
        label::beside(canvas, frame.right + 4.0, (frame.top, frame.bottom), labels);
    })
}

/// A ring on the curve at the knee; its interval and its figure too where there is room.
fn knee(
    canvas: &mut Canvas<'_>,
    sweep: &Sweep,
    ink: Ink,
    frame: &Frame,
    (x, y): (&Scale, &Scale),
    marked: bool,
) {
    let Some(knee) = &sweep.knee else { return };
    let Some(height) = height_at(sweep, knee.at) else { return };
    let at = (x.at(knee.at), y.at(height));
    if marked {
        canvas.rectangle(ink, 0.14, (x.at(knee.low) - 1.0, frame.top), (x.at(knee.high) + 1.0, frame.bottom));
        let text = format!(
            "knee {} ({}–{})",
            format::figure(knee.at),
            format::figure(knee.low),
            format::figure(knee.high)
        );
        let fits = at.0 + 8.0 + text_width(&text) <= frame.right;
        let (side, beside) = if fits { (Side::Right, at.0 + 8.0) } else { (Side::Left, at.0 - 8.0) };
        canvas.text(ink, side, (beside, (at.1 + TEXT * 1.4).min(frame.bottom - TEXT)), &text);
    }
    canvas.ring(ink, 6.0, at);
}

/// Height of the drawn curve between its points, by factors as it is drawn.
fn height_at(sweep: &Sweep, depth: f64) -> Option<f64> {
    let after = sweep.points.iter().position(|point| f64::from(point.outstanding) >= depth)?;
    let (high, low) = (&sweep.points[after], &sweep.points[after.saturating_sub(1)]);
    let (from, to) = (f64::from(low.outstanding), f64::from(high.outstanding));
    let share = if to > from { (depth / from).ln() / (to / from).ln() } else { 0.0 };
    Some(low.per_s + (high.per_s - low.per_s) * share)
}

fn describe(
    group: &[&Sweep],
    value: impl Fn(&SweepPoint) -> Option<f64>,
    print: fn(f64) -> String,
) -> String {
    let one = |sweep: &&Sweep| {
        let end = |point: Option<&SweepPoint>| {
            let point = point?;
            Some(format!("{} at {}", print(value(point)?), point.outstanding))
        };
        let (first, last) = (end(sweep.points.first()), end(sweep.points.last()));
        format!("{}: {} to {}", sweep.series, first.unwrap_or_default(), last.unwrap_or_default())
    };
    group.iter().map(one).collect::<Vec<String>>().join("; ")
}

fn table(group: &[&Sweep], unit: &str, print: impl Fn(&SweepPoint) -> String) -> Table {
    let mut columns = vec![Column::number("outstanding")];
    columns.extend(group.iter().map(|sweep| Column::number(sweep.label.clone())));
    let mut depths: Vec<u32> =
        group.iter().flat_map(|sweep| &sweep.points).map(|point| point.outstanding).collect();
    depths.sort_unstable();
    depths.dedup();
    let rows = depths.into_iter().map(|depth| {
        let cell = |sweep: &&Sweep| {
            let point = sweep.points.iter().find(|point| point.outstanding == depth);
            point.map_or_else(|| format::UNKNOWN.to_owned(), &print)
        };
        Row::of([depth.to_string()].into_iter().chain(group.iter().map(cell)).collect())
    });
    let rows = rows.collect();
    Table { title: unit.to_owned(), columns, rows }
}
