//! Rate, latency and sessions of a trial above each other on one axis of time, so that a reader sees which of them moved together.

use super::canvas::{Canvas, Ink, svg};
use super::frame::{Axis, Frame, TITLE, WIDTH, time_tick};
use super::label::{self, Label};
use super::over_time::{
    Band, Line, Span, by_second, caption, describe, draw_line, latencies, mark, name, shade,
};
use super::readings::{self, Print, Times};
use super::scale::Scale;
use super::stack::{self, Layer};
use super::{Chart, Key, by_ink};
use crate::format::{self, plain, plain_latency};
use crate::table::Table;
use crate::trial::Trial;

/// Height of the data of each panel.
const DATA: f64 = 86.0;
/// Room above the first panel, for its title and the names of marks.
const ABOVE: f64 = 36.0;
/// Room between two panels, for the title of the lower one.
const BETWEEN: f64 = 34.0;
/// How far the title of a lower panel stands above its data.
const TITLE_ABOVE: f64 = 16.0;
/// Room for the axis of time.
const BELOW: f64 = 44.0;

/// One of the charts above each other. Its vertical scale has no height until it is placed.
pub(crate) struct Panel<'a> {
    /// Its name in the heading.
    name: &'a str,
    y: Axis<'a>,
    data: Data,
    /// How its figures are printed in the table, and where a reader points.
    print: Print<'a>,
}

enum Data {
    /// Lines, and a band behind them.
    Lines(Vec<Line>, Option<Band>),
    /// The ends of seconds, and the layers of sessions in them.
    Layers(Vec<f64>, Vec<Layer>),
}

impl<'a> Panel<'a> {
    /// A rate from zero, with this title of the axis and this unit; none of lines without a value.
    pub(crate) fn rate(lines: Vec<Line>, title: &'a str, unit: &'a str) -> Option<Self> {
        let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
        let y = Axis { scale: Scale::from_zero(most * 1.05, 0.0, 0.0), title, print: plain };
        Some(Self { name: title, y, data: Data::Lines(lines, None), print: (unit, format::figure) })
    }

    /// A count with the lowest and the highest value of each second.
    pub(crate) fn count(line: Line, band: Band, title: &'a str) -> Option<Self> {
        let most = line.values().chain(band.highest()).reduce(f64::max)?;
        let y = Axis { scale: Scale::from_zero(most.max(1.0) * 1.05, 0.0, 0.0), title, print: plain };
        Some(Self { name: title, y, data: Data::Lines(vec![line], Some(band)), print: ("", format::count) })
    }

    /// The percentiles of a kind of operation.
    pub(crate) fn latency(trial: &Trial, kind: &str) -> Option<Self> {
        let lines: Vec<Line> =
            latencies(trial, kind).into_iter().filter(|line| line.values().count() > 1).collect();
        let low = lines.iter().flat_map(Line::values).reduce(f64::min)?;
        let high = lines.iter().flat_map(Line::values).reduce(f64::max)?;
        let y = Axis { scale: Scale::decades(low, high, 0.0, 0.0), title: "latency", print: plain_latency };
        Some(Self { name: "latency", y, data: Data::Lines(lines, None), print: ("", format::latency) })
    }

    /// What the sessions of a trial did; none where no server told.
    pub(crate) fn sessions(trial: &Trial) -> Option<Self> {
        let (ends_s, layers) = stack::layers(trial);
        if ends_s.len() < 2 || layers.is_empty() {
            return None;
        }
        let scale = Scale::from_zero(stack::highest(&layers).max(1.0), 0.0, 0.0);
        let y = Axis { scale, title: "sessions by what they did", print: plain };
        Some(Self { name: "sessions", y, data: Data::Layers(ends_s, layers), print: ("", format::figure) })
    }

    fn lines(&self) -> &[Line] {
        match &self.data {
            Data::Lines(lines, _) => lines,
            Data::Layers(..) => &[],
        }
    }

    fn layers(&self) -> &[Layer] {
        match &self.data {
            Data::Lines(..) => &[],
            Data::Layers(_, layers) => layers,
        }
    }

    /// Lines with a name beside them: the axis names a single one.
    fn names(&self) -> impl Iterator<Item = &Line> {
        self.lines().iter().filter(|_| self.lines().len() > 1)
    }

    fn described(&self) -> String {
        let mean = |values: &[f64]| format::figure(stats::mean(values).unwrap_or(0.0));
        let layers = self.layers().iter();
        let layers = layers.map(|(name, values)| format!("{name}: {} sessions on average", mean(values)));
        let lines = (!self.lines().is_empty()).then(|| describe(self.lines(), self.y.print));
        lines.into_iter().chain(layers).collect::<Vec<_>>().join("; ")
    }

    /// Its axis at the height of this frame.
    fn axis(&self, frame: &Frame) -> Axis<'_> {
        let scale = Scale { from: frame.bottom, to: frame.top, ..self.y.scale };
        Axis { scale, title: self.y.title, print: self.y.print }
    }

    /// Its lines for the table, of the seconds of the trial.
    fn figures(&self, trial: &Trial) -> Vec<Line> {
        match &self.data {
            // They are drawn with the longest at the top, and read with the shortest first.
            Data::Lines(lines, _) => lines.iter().rev().cloned().collect(),
            Data::Layers(ends_s, layers) => {
                let layer = |(index, (name, values)): (usize, &Layer)| {
                    let at = |end_s: f64| ends_s.iter().position(|second| *second == end_s.round());
                    Line::of(Ink::Series(index), name, trial, |sample| Some(values[at(sample.end_s)?]))
                };
                layers.iter().enumerate().map(layer).collect()
            }
        }
    }

    fn draw(&self, canvas: &mut Canvas<'_>, frame: &Frame, x: &Scale, outages: &[(f64, f64)], times: &Times) {
        let y = self.axis(frame).scale;
        match &self.data {
            Data::Lines(lines, band) => {
                band.iter().for_each(|band| band.draw(canvas, (x, &y), times, self.print));
                for line in lines {
                    let group = line.group(outages, times, self.print);
                    canvas.group(group, |canvas| draw_line(canvas, line, outages, x, &y));
                }
            }
            Data::Layers(ends_s, layers) => {
                stack::draw_layers(canvas, (x, &y), outages, (ends_s, layers), times);
            }
        }
        let last = |line: &Line| line.values().last().map_or(frame.bottom, |value| y.at(value));
        let labels = self.names().map(|line| Label { ink: line.ink, y: last(line), text: line.name.clone() });
        canvas.group(readings::labels(), |canvas| {
            label::beside(canvas, frame.right + 6.0, (frame.top, frame.bottom), labels.collect());
        });
    }
}

/// The chart, whose heading names its panels. Figures that were not recorded have no panel. Returns none without the first panel.
pub(crate) fn of<'a>(
    trial: &Trial,
    panels: impl IntoIterator<Item = Option<Panel<'a>>>,
    remark: &str,
) -> Option<Chart> {
    let mut panels = panels.into_iter();
    let first = panels.next()??;
    let caption = caption(first.lines(), remark);
    let panels: Vec<Panel<'_>> = std::iter::once(first).chain(panels.flatten()).collect();
    let heading = heading(&panels.iter().map(|panel| panel.name).collect::<Vec<&str>>());
    let marks = Span::of(trial);
    let layers = panels.iter().flat_map(|panel| panel.layers()).enumerate();
    let layers = layers.map(|(index, (name, _))| Key::new(Ink::Series(index), name.clone()));
    Some(Chart {
        svg: draw(trial, &format!("{heading} of {}", trial.name), &panels, &marks),
        heading,
        legend: by_ink(layers.chain(Span::keys(&marks))),
        caption,
        table: table(trial, &panels),
    })
}

/// `Orders per minute, latency and sessions over time`.
fn heading(names: &[&str]) -> String {
    let listed = match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        names => names.concat(),
    };
    format!("{} over time", format::capital(&listed))
}

/// Each panel in its place; the axis of time stands below the last one.
fn draw(trial: &Trial, title: &str, panels: &[Panel<'_>], marks: &[Span]) -> String {
    let count = panels.len() as f64;
    let height = ABOVE + count * DATA + (count - 1.0) * BETWEEN + BELOW;
    let frames = panels.iter().map(|panel| {
        let names = panel.names().map(|line| line.name.as_str());
        Frame::new(height, &panel.y, names)
    });
    let frames: Vec<Frame> = frames.collect();
    let left = frames.iter().map(|frame| frame.left).fold(0.0, f64::max);
    let right = frames.iter().map(|frame| frame.right).fold(WIDTH, f64::min);
    let end_s = trial.samples.last().map_or(1.0, |sample| sample.end_s);
    let x = Axis {
        scale: Scale::time(0.0, end_s, left, right),
        title: "since the start of the load",
        print: time_tick,
    };
    let (outages, times) = (Span::outages(marks), Times::of(trial));
    let described: Vec<String> = panels.iter().map(Panel::described).collect();
    svg((WIDTH, height), title, &described.join("; "), |canvas| {
        for (index, panel) in panels.iter().enumerate() {
            let top = ABOVE + index as f64 * (DATA + BETWEEN);
            let frame = Frame { left, right, top, bottom: top + DATA };
            let is_first = index == 0;
            let at = if is_first { TITLE } else { top - TITLE_ABOVE };
            shade(canvas, trial, &frame, &x.scale);
            mark(canvas, marks, &frame, &x.scale);
            frame.vertical_titled(canvas, &panel.axis(&frame), at);
            panel.draw(canvas, &frame, &x.scale, &outages, &times);
            if is_first {
                name(canvas, marks, &frame, &x.scale);
            }
            if index + 1 == panels.len() {
                frame.horizontal(canvas, &x);
            } else {
                canvas.line(Ink::Axis, 1.0, (left, frame.bottom), (right, frame.bottom));
            }
        }
    })
}

/// Every figure of the chart by second.
fn table(trial: &Trial, panels: &[Panel<'_>]) -> Table {
    let figures: Vec<(Vec<Line>, &Panel<'_>)> =
        panels.iter().map(|panel| (panel.figures(trial), panel)).collect();
    let each = figures.iter().flat_map(|(lines, panel)| lines.iter().map(|line| (line, panel.print)));
    by_second(&each.collect::<Vec<_>>())
}
