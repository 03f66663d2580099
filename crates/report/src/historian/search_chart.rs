//! Charts of the steps of a search, and of series over the records per batch. Shapes show the result without colours: a dot for a
//! sustained rate, a cross for another one, a ring for a step without a verdict.

use super::table;
use crate::chart::canvas::{Canvas, Ink, SERIES, Side, TEXT, svg, text_width};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH, time_tick};
use crate::chart::label::{self, Label};
use crate::chart::scale::Scale;
use crate::chart::{Chart, Key, legend};
use crate::format::{self, plain};
use crate::historian::{FlushPoint, FlushSeries};
use crate::search::{Search, SearchedStep};
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Rates that differ by more than this factor share no even scale.
const EVEN_FACTOR_MAX: f64 = 20.0;

/// Half the size of a mark, in units.
const MARK: f64 = 4.0;

/// Distance between the bars of two steps, and the least width of a bar, in units.
const BAR_APART: f64 = 2.0;
const BAR_LEAST: f64 = 1.5;

/// Height of the chart of a search, and where its panel of backlogs begins.
const SEARCH_HEIGHT: f64 = 330.0;
const RATES_BOTTOM: f64 = 206.0;
const BACKLOG_TOP: f64 = 240.0;

/// The begin and the end of a step in the time under load of a search, in seconds.
type Window = (f64, f64);

/// The rate of each step over time, by factors, and the highest backlog of each step below. Returns none for a single step.
pub(crate) fn search(search: &Search, trials: &[Trial]) -> Option<Chart> {
    let rates = || search.steps.iter().map(|step| step.rate_per_s);
    let positive = || rates().filter(|rate| *rate > 0.0);
    let (low, high) = (positive().reduce(f64::min)?, positive().reduce(f64::max)?);
    let (top, bottom) = Frame::heights(SEARCH_HEIGHT);
    let y = Axis {
        scale: Scale::factors(low, high, RATES_BOTTOM, top),
        title: "records/s offered",
        print: plain,
    };
    if search.steps.len() < 2 {
        return None;
    }
    let windows = windows(search, trials);
    let backlog = backlogs(search, trials);
    let most = backlog.iter().flatten().copied().reduce(f64::max).unwrap_or(0.0);
    let pending = Axis {
        scale: Scale::from_zero(most.max(1.0), bottom, BACKLOG_TOP),
        title: "most records pending",
        print: plain,
    };
    let wide = |axis: &Axis<'_>| Frame::new(SEARCH_HEIGHT, axis, []);
    let frame = Frame { bottom: RATES_BOTTOM, left: wide(&y).left.max(wide(&pending).left), ..wide(&y) };
    let below = Frame { top: BACKLOG_TOP, bottom, ..frame };
    let (from, to) = (frame.left, frame.right);
    let scale = Scale::time(0.0, windows.last().map_or(1.0, |last| last.1), from, to);
    let x = Axis { scale, title: "time under load", print: time_tick };
    let heading = format!("Search: {}", search.configuration);
    let svg = svg((WIDTH, SEARCH_HEIGHT), &heading, &describe(search), |canvas| {
        shade(canvas, search, &windows, (&frame, &scale));
        frame.vertical(canvas, &y);
        draw_steps(canvas, search, &windows, &frame, (&scale, &y.scale));
        draw_backlogs(canvas, (&backlog, &windows), &below, (&scale, &pending));
        below.horizontal(canvas, &x);
    });
    Some(Chart {
        heading,
        svg,
        legend: legend(search.steps.iter().map(|step| key(step.stable))),
        caption: "Each line is a step. Dot: kept up in this step. Cross: did not. Ring: could not be judged. Shaded: confirming steps, which alone make a rate sustained. Bars: the backlog of each step. The axis skips pauses between steps."
            .to_owned(),
        table: with_backlogs(table::steps(search), &backlog),
    })
}

/// Steps follow each other without the pauses between them, which may be long in a search that was resumed.
fn windows(search: &Search, trials: &[Trial]) -> Vec<Window> {
    let length_s = |number: u32, measured_s: f64| {
        let trial = trials.iter().find(|trial| trial.number == number);
        trial.and_then(|trial| Some(trial.samples.last()?.end_s)).unwrap_or(measured_s)
    };
    let mut end_s = 0.0;
    let window = |step: &SearchedStep| {
        let begin_s = end_s;
        end_s += length_s(step.trial, step.measured_s);
        (begin_s, end_s)
    };
    search.steps.iter().map(window).collect()
}

/// The most records that were pending in each step, where that was counted.
fn backlogs(search: &Search, trials: &[Trial]) -> Vec<Option<f64>> {
    let of = |number: u32| trials.iter().find(|trial| trial.number == number)?.historian()?.pending_max;
    search.steps.iter().map(|step| of(step.trial)).collect()
}

fn with_backlogs(mut table: Table, backlog: &[Option<f64>]) -> Table {
    let last = table.columns.len() - 1;
    table.columns.insert(last, Column::number("most pending"));
    for (row, pending) in table.rows.iter_mut().zip(backlog) {
        row.cells.insert(last, format::figure_or_dash(*pending));
    }
    table
}

fn draw_steps(
    canvas: &mut Canvas<'_>,
    search: &Search,
    windows: &[Window],
    frame: &Frame,
    (x, y): (&Scale, &Scale),
) {
    if let Some(rate) = search.held_at() {
        line_at(canvas, frame, y.at(rate), search.stable_at.is_some(), rate);
    }
    let ends = search.steps.iter().zip(windows).flat_map(|(step, &(begin_s, end_s))| {
        [begin_s, end_s].map(|at_s| (x.at(at_s), y.at(step.rate_per_s)))
    });
    let ends: Vec<(f64, f64)> = ends.collect();
    canvas.path(Ink::Axis, 1.0, &ends);
    for (step, of) in search.steps.iter().zip(ends.chunks_exact(2)) {
        let ink = match step.stable {
            Some(true) => Ink::Series(0),
            Some(false) => Ink::Series(1),
            None => Ink::Axis,
        };
        canvas.line(ink, 2.5, of[0], of[1]);
        let middle = ((of[0].0 + of[1].0) / 2.0, of[0].1);
        mark(canvas, Ink::Series(0), Ink::Series(1), step.stable, middle);
    }
}

/// Draws a bar for each step whose backlog is known.
fn draw_backlogs(
    canvas: &mut Canvas<'_>,
    (backlog, windows): (&[Option<f64>], &[Window]),
    below: &Frame,
    (x, pending): (&Scale, &Axis<'_>),
) {
    canvas.text(Ink::Text, Side::Right, (0.0, below.top - TEXT), pending.title);
    let highest = pending.scale.high;
    for (value, height) in [(0.0, below.bottom), (highest, below.top)] {
        canvas.line(Ink::Grid, 1.0, (below.left, height), (below.right, height));
        canvas.text(Ink::Text, Side::Left, (below.left - 2.0 * MARK, height), &plain(value));
    }
    for (&(begin_s, end_s), pending_max) in windows.iter().zip(backlog) {
        let Some(pending_max) = pending_max else { continue };
        let (left, right) = (x.at(begin_s), x.at(end_s));
        // Neighbours stand apart, and a short step keeps a width.
        let right = (right - BAR_APART).max(left + BAR_LEAST);
        canvas.rectangle(Ink::Axis, 0.8, (left, pending.scale.at(*pending_max)), (right, below.bottom));
    }
}

/// Shades the steps that confirm a rate.
fn shade(canvas: &mut Canvas<'_>, search: &Search, windows: &[Window], (frame, x): (&Frame, &Scale)) {
    for (_, &(begin_s, end_s)) in search.steps.iter().zip(windows).filter(|(step, _)| step.confirms) {
        canvas.rectangle(Ink::Shade, 1.0, (x.at(begin_s), frame.top), (x.at(end_s), frame.bottom));
    }
}

fn line_at(canvas: &mut Canvas<'_>, frame: &Frame, height: f64, confirmed: bool, rate: f64) {
    canvas.dashes(Ink::Text, (frame.left, height), (frame.right, height));
    let word = if confirmed { "sustained:" } else { "sustained, not confirmed:" };
    let below = height + TEXT;
    let at = if below > frame.bottom - TEXT / 2.0 { height - TEXT * 0.8 } else { below };
    let text = format!("{word} {}", plain(rate));
    canvas.text(Ink::Text, Side::Right, (frame.right - text_width(&text), at), &text);
}

fn key(held: Option<bool>) -> Key {
    match held {
        Some(true) => Key::new(Ink::Series(0), "kept up"),
        Some(false) => Key::new(Ink::Series(1), "did not keep up"),
        None => Key::new(Ink::Axis, "could not be judged"),
    }
}

fn describe(search: &Search) -> String {
    let each = search.steps.iter().map(|step| {
        let how = match step.stable {
            Some(true) => "kept up",
            Some(false) => "did not keep up",
            None => "not judged",
        };
        format!("{} {how}", plain(step.rate_per_s))
    });
    each.collect::<Vec<String>>().join("; ")
}

/// Records per second over the records per batch. Returns none without a series. The table has the series that get no colour.
pub(crate) fn flush_rows(every: &[FlushSeries]) -> Option<Chart> {
    let all = &every[..every.len().min(SERIES)];
    let points = || all.iter().flat_map(|series| &series.points);
    let y = Axis {
        scale: rate_scale(points().map(|point| point.records_per_s))?,
        title: "records/s written",
        print: plain,
    };
    let names: Vec<String> = all.iter().map(short).collect();
    let labelled = all.len() > 1;
    let frame = Frame::new(HEIGHT, &y, names.iter().filter(|_| labelled).map(String::as_str));
    let rows = || points().map(|point| f64::from(point.flush_rows));
    let (low, high) = (rows().reduce(f64::min)?, rows().reduce(f64::max)?);
    let scale = Scale::decades(low / 1.2, high * 1.2, frame.left, frame.right);
    let x = Axis { scale, title: "records per batch", print: plain };
    let heading = "Records/s by records per batch".to_owned();
    let at = |point: &FlushPoint| (x.scale.at(f64::from(point.flush_rows)), y.scale.at(point.records_per_s));
    let svg = svg((WIDTH, HEIGHT), &heading, &described(all), |canvas| {
        frame.draw(canvas, &x, &y);
        let mut labels = Vec::new();
        for (index, (series, name)) in all.iter().zip(&names).enumerate() {
            let ink = Ink::Series(index);
            let line: Vec<(f64, f64)> = series.points.iter().map(at).collect();
            canvas.path(ink, 2.0, &line);
            for (point, &place) in series.points.iter().zip(&line) {
                mark(canvas, ink, ink, Some(point.stable != Some(false)), place);
            }
            labels.extend(line.last().map(|last| Label { ink, y: last.1, text: name.clone() }));
        }
        if labelled {
            label::beside(canvas, frame.right + 6.0, (frame.top, frame.bottom), labels);
        }
    });
    Some(Chart {
        heading,
        svg,
        legend: Vec::new(),
        caption: format!(
            "Cross: offered, but not sustained. The tables give the gain over batches of 40, the default.{}",
            if every.len() > SERIES { " The table below has all series." } else { "" }
        ),
        table: together(every),
    })
}

/// A name that fits beside the chart.
fn short(series: &FlushSeries) -> String {
    series.offered_per_s.map_or_else(|| "fastest".to_owned(), |rate| format!("at {}/s", plain(rate)))
}

fn described(all: &[FlushSeries]) -> String {
    let one = |series: &FlushSeries| {
        let each = series
            .points
            .iter()
            .map(|p| format!("{} with {}", format::figure(p.records_per_s), p.flush_rows));
        format!("{}: {}", series.series, each.collect::<Vec<String>>().join(", "))
    };
    all.iter().map(one).collect::<Vec<String>>().join("; ")
}

/// The points of all series in one table.
fn together(all: &[FlushSeries]) -> Table {
    let columns =
        vec![Column::words("series"), Column::number("records per batch"), Column::number("records/s")];
    let rows = all.iter().flat_map(|series| {
        series.points.iter().map(|point| {
            Row::of(vec![
                series.series.clone(),
                plain(f64::from(point.flush_rows)),
                format::figure(point.records_per_s),
            ])
        })
    });
    let rows = rows.collect();
    Table { title: "Records/s by records per batch".to_owned(), columns, rows }
}

/// From zero, or by factors where the rates lie far apart.
fn rate_scale(rates: impl Iterator<Item = f64> + Clone) -> Option<Scale> {
    let rates = || rates.clone().filter(|rate| *rate > 0.0);
    let (low, high) = (rates().reduce(f64::min)?, rates().reduce(f64::max)?);
    let (top, bottom) = Frame::heights(HEIGHT);
    Some(if high / low > EVEN_FACTOR_MAX {
        Scale::decades(low, high, bottom, top)
    } else {
        Scale::from_zero(high * 1.08, bottom, top)
    })
}

fn mark(canvas: &mut Canvas<'_>, ink: Ink, failed: Ink, held: Option<bool>, (x, y): (f64, f64)) {
    match held {
        Some(true) => canvas.dot(ink, MARK, (x, y)),
        Some(false) => {
            canvas.line(failed, 2.5, (x - MARK, y - MARK), (x + MARK, y + MARK));
            canvas.line(failed, 2.5, (x - MARK, y + MARK), (x + MARK, y - MARK));
        }
        None => canvas.ring(Ink::Axis, MARK, (x, y)),
    }
}
