//! A figure over the runs: a dot a run, the mean of each piece as a line, a dashed line where a piece begins.

use super::{History, HistorySeries, SeriesCourse, sentence};
use crate::chart::canvas::{Canvas, Ink, Side, svg, text_width};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH};
use crate::chart::scale::{Scale, Spread};
use crate::chart::{Chart, Key};
use crate::format::{self, figure, plain};
use crate::page::parts::instant_text;
use crate::table::{Column, Row, Table};

/// Values that lie within this factor of each other are drawn from below the least and not from 0, where nothing would be seen.
const ZOOM_FACTOR_MAX: f64 = 2.0;

/// The chart of a series; none where no run has the figure.
pub(super) fn of(history: &History, series: &HistorySeries) -> Option<Chart> {
    let known: Vec<(usize, f64)> =
        series.values.iter().enumerate().filter_map(|(run, value)| Some((run, (*value)?))).collect();
    let low = known.iter().map(|(_, value)| *value).reduce(f64::min)?;
    let high = known.iter().map(|(_, value)| *value).reduce(f64::max)?;
    let y = Axis { scale: scale(low, high), title: series.metric.unit, print: plain };
    let frame = Frame::new(HEIGHT, &y, []);
    let last = history.runs.len().saturating_sub(1) as f64;
    let x = Scale { spread: Spread::Linear, low: -0.5, high: last + 0.5, from: frame.left, to: frame.right };
    let heading = sentence::name(series);
    let description = format!(
        "{}, {} to {}, {}",
        format::counted(known.len(), "run", "runs"),
        figure(low),
        figure(high),
        format::counted(series.pieces.len().saturating_sub(1), "change point", "change points")
    );
    let svg = svg((WIDTH, HEIGHT), &heading, &description, |canvas| {
        draw(canvas, (history, series), &known, (&frame, &x, &y));
    });
    let course = match series.course {
        SeriesCourse::Level | SeriesCourse::Steps => "mean between two change points",
        SeriesCourse::Drift { .. } => "drift",
        SeriesCourse::TwoStates { .. } => "median of each state",
    };
    let keys = [Key::new(Ink::Series(0), "a run"), Key::new(Ink::Series(1), course)];
    Some(Chart {
        heading,
        svg,
        legend: keys.into(),
        caption: caption(history, series, low),
        table: table(history, series),
    })
}

/// Draws the runs with their known values.
fn draw(
    canvas: &mut Canvas<'_>,
    (history, series): (&History, &HistorySeries),
    known: &[(usize, f64)],
    (frame, x, y): (&Frame, &Scale, &Axis<'_>),
) {
    frame.vertical(canvas, y);
    runs(canvas, frame, x, history);
    for change in changed(history) {
        triangle(canvas, (x.at(change as f64 - 0.5), frame.bottom));
    }
    for piece in series.pieces.iter().skip(1) {
        let at = x.at(piece.first as f64 - 0.5);
        canvas.dashes(Ink::Axis, (at, frame.top), (at, frame.bottom));
    }
    let place = |(run, height): (f64, f64)| (x.at(run), y.scale.at(height));
    for [from, to] in courses(series) {
        canvas.line(Ink::Series(1), 2.0, place(from), place(to));
    }
    for &(run, value) in known {
        canvas.dot(Ink::Series(0), 2.8, place((run as f64, value)));
    }
    let baseline = history.baseline.and_then(|run| Some((run as f64, series.values[run]?)));
    baseline.into_iter().for_each(|run| canvas.ring(Ink::Series(0), 6.0, place(run)));
}

/// Lines that show the course of a figure, as place and height of both ends.
fn courses(series: &HistorySeries) -> Vec<[(f64, f64); 2]> {
    let level =
        |first: usize, last: usize, height: f64| [(first as f64 - 0.4, height), (last as f64 + 0.4, height)];
    let ends = series.pieces.first().zip(series.pieces.last()).map(|(first, last)| (first.first, last.last));
    match (series.course, ends) {
        (SeriesCourse::Drift { from, to, .. }, Some((first, last))) => {
            vec![[(first as f64, from), (last as f64, to)]]
        }
        (SeriesCourse::TwoStates { low, high, .. }, Some((first, last))) => {
            vec![level(first, last, low), level(first, last, high)]
        }
        _ => series.pieces.iter().map(|piece| level(piece.first, piece.last, piece.mean)).collect(),
    }
}

/// The caption. It explains only the marks that the chart contains.
fn caption(history: &History, series: &HistorySeries, low: f64) -> String {
    let steps = (series.pieces.len() > 1).then(|| "Dashed: a change point.".to_owned());
    let changes = changed(history).next().map(|_| {
        "Triangle: machine, target or settings changed before this run; see What changed.".to_owned()
    });
    let ring = history.baseline.map(|run| format!("Ring: the baseline, {}.", history.runs[run].name));
    let from_zero = (low <= 0.0).then(|| "The scale starts at 0.".to_owned());
    [steps, changes, from_zero, ring].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The runs at which a known change occurred.
fn changed(history: &History) -> impl Iterator<Item = usize> {
    let known = history.changes.iter().filter(|change| change.differences().next().is_some());
    known.map(|change| change.run)
}

/// A triangle on the axis.
fn triangle(canvas: &mut Canvas<'_>, (x, bottom): (f64, f64)) {
    canvas.area(Ink::Text, 1.0, &[(x - 4.0, bottom), (x + 4.0, bottom), (x, bottom - 8.0)]);
}

fn scale(low: f64, high: f64) -> Scale {
    let (top, bottom) = Frame::heights(HEIGHT);
    if low <= 0.0 || high / low > ZOOM_FACTOR_MAX {
        return Scale::from_zero(if high > 0.0 { high * 1.05 } else { 1.0 }, bottom, top);
    }
    let room = ((high - low) * 0.15).max(high * 0.02);
    Scale { spread: Spread::Linear, low: low - room, high: high + room, from: bottom, to: top }
}

/// Writes the start of runs under the axis where it fits: days, or times if all runs are from one day. Equal labels are written once.
fn runs(canvas: &mut Canvas<'_>, frame: &Frame, x: &Scale, history: &History) {
    canvas.line(Ink::Axis, 1.0, (frame.left, frame.bottom), (frame.right, frame.bottom));
    let begun: Vec<&str> = history.runs.iter().map(|run| run.started.as_str()).collect();
    let (ticks, title) = begins(&begun);
    let (mut free, mut last) = (0.0, "");
    for (place, tick) in ticks.iter().enumerate() {
        let at = x.at(place as f64);
        canvas.line(Ink::Axis, 1.0, (at, frame.bottom), (at, frame.bottom + 4.0));
        let half = text_width(tick) / 2.0;
        if *tick != last && at - half >= free && at + half <= WIDTH {
            canvas.text(Ink::Text, Side::Middle, (at, frame.bottom + 15.0), tick);
            free = at + half + 8.0;
            last = tick;
        }
    }
    canvas.text(Ink::Text, Side::Left, (frame.right, frame.bottom + 34.0), &title);
}

/// A label for each start time, and the title of the axis: `12:43:27`, `start of the run, 2026-11-28 (UTC)`.
fn begins<'a>(begun: &[&'a str]) -> (Vec<&'a str>, String) {
    let day = |begun: &'a str| begun.get(..10).unwrap_or(begun);
    let one_day = begun.windows(2).all(|pair| day(pair[0]) == day(pair[1]));
    match begun.first().filter(|_| one_day && begun.len() > 1) {
        Some(first) => {
            let times = begun.iter().map(|begun| begun.get(11..19).unwrap_or(begun)).collect();
            (times, format!("start of the run, {} (UTC)", day(first)))
        }
        None => (begun.iter().map(|begun| day(begun)).collect(), "start of the run".to_owned()),
    }
}

fn table(history: &History, series: &HistorySeries) -> Table {
    let columns = vec![
        Column::words("run"),
        Column::words("started"),
        Column::number(series.metric.unit),
        Column::words(""),
    ];
    let row = |(place, value): (usize, &Option<f64>)| {
        let begins = series.pieces.iter().skip(1).any(|piece| piece.first == place);
        Row {
            cells: vec![
                history.runs[place].name.clone(),
                instant_text(&history.runs[place].started),
                format::figure_or_dash(*value),
                if begins { "change point" } else { "" }.to_owned(),
            ],
            part: false,
        }
    };
    Table {
        title: sentence::name(series),
        columns,
        rows: series.values.iter().enumerate().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::begins;

    /// Runs only seconds apart once had the same date under the axis three times.
    #[test]
    fn runs_of_one_day_have_times_and_others_have_days() {
        let (ticks, title) = begins(&["2026-11-28T12:43:27Z", "2026-11-28T12:43:29Z"]);
        assert_eq!(
            (ticks, title.as_str()),
            (vec!["12:43:27", "12:43:29"], "start of the run, 2026-11-28 (UTC)")
        );
        let (ticks, title) = begins(&["2026-11-27T12:43:27Z", "2026-11-28T12:43:29Z"]);
        assert_eq!((ticks, title.as_str()), (vec!["2026-11-27", "2026-11-28"], "start of the run"));
        assert_eq!(begins(&["2026-11-27T12:43:27Z"]).0, ["2026-11-27"]);
    }
}
