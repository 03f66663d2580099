//! The latency distribution of a trial.

use super::canvas::{Canvas, Ink, Side, TEXT, svg, text_width};
use super::frame::{Axis, Frame, HEIGHT, WIDTH};
use super::scale::Scale;
use super::{Chart, ink_of, label};
use crate::bins::Bins;
use crate::format::{self, plain, plain_latency};
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Share of the height that stays free for the marks of the percentiles.
const HEADROOM: f64 = 1.35;

/// A kind of operation with its colour.
struct Drawn<'a> {
    ink: Ink,
    kind: &'a str,
    bins: &'a Bins,
}

/// Latencies of all kinds. None where no latencies were kept.
pub(crate) fn histogram(trial: &Trial) -> Option<Chart> {
    drawn("Latency", trial, &kinds(trial, |_| true))
}

/// Latencies of one kind.
pub(crate) fn of_kind(heading: &str, trial: &Trial, wanted: &str) -> Option<Chart> {
    drawn(heading, trial, &kinds(trial, |kind| kind == wanted))
}

fn kinds(trial: &Trial, wanted: impl Fn(&str) -> bool) -> Vec<Drawn<'_>> {
    let there = trial.bins.iter().filter(|(kind, bins)| wanted(kind) && bins.count > 0);
    there.map(|(kind, bins)| Drawn { ink: ink_of(trial, kind), kind, bins }).collect()
}

fn drawn(heading: &str, trial: &Trial, kinds: &[Drawn<'_>]) -> Option<Chart> {
    let shares = || kinds.iter().flat_map(|drawn| drawn.bins.shares());
    let low = shares().map(|bin| bin.0).reduce(f64::min)?;
    let high = shares().map(|bin| bin.1).reduce(f64::max)?;
    let peak = shares().map(|bin| bin.2).reduce(f64::max)? * 100.0;
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = Axis {
        scale: Scale::from_zero(peak * HEADROOM, bottom, top),
        title: "share of operations",
        print: per_cent,
    };
    let frame = Frame::new(HEIGHT, &y, []);
    let x = Axis {
        scale: Scale::decades(low, high, frame.left, frame.right),
        title: "latency",
        print: plain_latency,
    };
    let title = format!("{heading} histogram of {}", trial.name);
    let description = describe(kinds);
    let svg = svg((WIDTH, HEIGHT), &title, &description, |canvas| {
        frame.draw(canvas, &x, &y);
        for Drawn { ink, bins, .. } in kinds {
            bars(canvas, *ink, bins, &x.scale, &y.scale, kinds.len() == 1);
        }
        match kinds {
            [only] => percentiles(canvas, only, &frame, &x.scale),
            several => names(canvas, several, &frame, &x.scale, &y.scale),
        }
    });
    Some(Chart {
        heading: heading.to_owned(),
        svg,
        legend: Vec::new(),
        caption: "Share of operations by latency. Each bar spans a factor of 1.21.".to_owned(),
        table: table(kinds),
    })
}

fn per_cent(value: f64) -> String {
    format!("{}%", plain(value))
}

fn describe(kinds: &[Drawn<'_>]) -> String {
    let one = |Drawn { kind, bins, .. }: &Drawn<'_>| {
        format!(
            "{} latencies of {kind} operations, those in flight at the end included, p50 {}, p99 {}",
            format::grouped(bins.count),
            format::latency_or_dash(bins.p50_us),
            format::latency_or_dash(bins.p99_us)
        )
    };
    kinds.iter().map(one).collect::<Vec<String>>().join("; ")
}

/// Bars of one kind: filled where it is alone, else an outline over a light ground.
fn bars(canvas: &mut Canvas<'_>, ink: Ink, bins: &Bins, x: &Scale, y: &Scale, alone: bool) {
    let mut outline = Vec::new();
    for (low, high, share) in bins.shares() {
        let (left, right, height) = (x.at(low), x.at(high), y.at(share * 100.0));
        if share > 0.0 {
            // Half a unit between bars; a bar that was measured never vanishes.
            let (right, height) =
                if alone { (right - 0.5, height.min(y.from - 1.0)) } else { (right, height) };
            canvas.rectangle(ink, if alone { 0.85 } else { 0.15 }, (left, height), (right, y.from));
        }
        outline.extend([(left, height), (right, height)]);
    }
    if let (false, Some(first), Some(last)) = (alone, outline.first().copied(), outline.last().copied()) {
        let closed: Vec<(f64, f64)> =
            [(first.0, y.from)].into_iter().chain(outline).chain([(last.0, y.from)]).collect();
        canvas.path(ink, 2.0, &closed);
    }
}

/// Marks of p50 and p99, each on its own line of text; neither text crosses the other's mark.
fn percentiles(canvas: &mut Canvas<'_>, Drawn { ink, bins, .. }: &Drawn<'_>, frame: &Frame, x: &Scale) {
    let mut right = frame.right;
    for (row, (name, us)) in [("p99", bins.p99_us), ("p50", bins.p50_us)].into_iter().enumerate() {
        let Some(us) = us else { continue };
        let text = format!("{name} {}", format::latency(us));
        let (at, y) = (x.at(us), frame.top + TEXT * (0.4 + 1.4 * row as f64));
        canvas.line(Ink::Axis, 1.0, (at, y - TEXT * 0.6), (at, frame.bottom));
        let fits = at + 5.0 + text_width(&text) <= right;
        let (side, beside) = if fits { (Side::Right, at + 5.0) } else { (Side::Left, at - 5.0) };
        canvas.text(*ink, side, (beside, y), &text);
        right = at;
    }
}

/// The name of each kind, right of the data at its peak's height.
fn names(canvas: &mut Canvas<'_>, kinds: &[Drawn<'_>], frame: &Frame, x: &Scale, y: &Scale) {
    let peak = |bins: &Bins| bins.shares().max_by(|a, b| a.2.total_cmp(&b.2));
    let widest = kinds.iter().map(|drawn| text_width(drawn.kind)).fold(0.0, f64::max);
    let mut peaks: Vec<(f64, f64, Ink, &str)> = kinds
        .iter()
        .filter_map(|Drawn { ink, kind, bins }| {
            let (low, high, share) = peak(bins)?;
            Some((x.at((low * high).sqrt()), y.at(share * 100.0), *ink, *kind))
        })
        .collect();
    peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let near = peaks.windows(2).any(|pair| pair[1].0 - pair[0].0 < widest + 12.0);
    if near {
        let labels = peaks.iter().map(|&(_, y, ink, kind)| label::Label { ink, y, text: kind.to_owned() });
        let at = (peaks.iter().map(|peak| peak.0).fold(0.0, f64::max) + 14.0).min(frame.right - widest);
        label::beside(canvas, at, (frame.top, frame.bottom - TEXT), labels.collect());
    } else {
        for (at, height, ink, kind) in peaks {
            canvas.text(ink, Side::Middle, (at, height - TEXT * 0.8), kind);
        }
    }
}

fn table(kinds: &[Drawn<'_>]) -> Table {
    let mut columns = vec![Column::number("from"), Column::number("to")];
    columns.extend(kinds.iter().map(|drawn| Column::number(format!("share of {}s", drawn.kind))));
    let mut edges: Vec<(f64, f64)> = kinds
        .iter()
        .flat_map(|drawn| drawn.bins.shares())
        .filter(|bin| bin.2 > 0.0)
        .map(|bin| (bin.0, bin.1))
        .collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    edges.dedup_by(|a, b| (a.0 / b.0 - 1.0).abs() < 1e-9);
    let share = |bins: &Bins, low: f64| {
        let bin = bins.shares().find(|bin| (bin.0 / low - 1.0).abs() < 1e-9);
        bin.map_or(0.0, |bin| bin.2)
    };
    let rows = edges.iter().map(|&(low, high)| {
        let mut cells = vec![format::latency(low), format::latency(high)];
        cells.extend(kinds.iter().map(|drawn| format!("{:.3}%", share(drawn.bins, low) * 100.0)));
        Row::of(cells)
    });
    let rows = rows.collect();
    Table { title: "Latency by share".to_owned(), columns, rows }
}
