//! Rate, latency and sessions of a trial above each other on one axis of time, so that a reader sees which of them moved together.

use super::canvas::{Canvas, Ink, svg};
use super::frame::{Axis, Frame, TITLE, WIDTH, time_tick};
use super::label::{self, Label};
use super::over_time::{Line, Span, by_second, caption, describe, draw_line, latencies, mark, name, shade};
use super::scale::Scale;
use super::stack::{self, Layer};
use super::{Chart, Key, by_ink};
use crate::format::{self, plain, plain_latency};
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

/// The upper panel: a rate, and what was offered.
pub(crate) struct Rate<'a> {
    /// What the chart is called before `, latency and sessions over time`.
    pub(crate) heading: &'a str,
    pub(crate) lines: Vec<Line>,
    /// Title of its axis.
    pub(crate) axis: &'a str,
    /// Unit in the table.
    pub(crate) unit: &'a str,
    /// What the rate is of.
    pub(crate) remark: &'a str,
}

/// One of the charts above each other. Its vertical scale has no height until it is placed.
struct Panel<'a> {
    y: Axis<'a>,
    data: Data,
}

enum Data {
    Lines(Vec<Line>),
    /// The ends of seconds, and the layers of sessions in them.
    Layers(Vec<f64>, Vec<Layer>),
}

impl Panel<'_> {
    fn lines(&self) -> &[Line] {
        match &self.data {
            Data::Lines(lines) => lines,
            Data::Layers(..) => &[],
        }
    }

    fn layers(&self) -> &[Layer] {
        match &self.data {
            Data::Lines(_) => &[],
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

    fn draw(&self, canvas: &mut Canvas<'_>, frame: &Frame, x: &Scale, outages: &[(f64, f64)]) {
        let y = self.axis(frame).scale;
        match &self.data {
            Data::Lines(lines) => lines.iter().for_each(|line| draw_line(canvas, line, outages, x, &y)),
            Data::Layers(ends_s, layers) => stack::draw_layers(canvas, (x, &y), outages, ends_s, layers),
        }
        let last = |line: &Line| line.values().last().map_or(frame.bottom, |value| y.at(value));
        let labels = self.names().map(|line| Label { ink: line.ink, y: last(line), text: line.name.clone() });
        label::beside(canvas, frame.right + 6.0, (frame.top, frame.bottom), labels.collect());
    }
}

/// The chart, with the latency of this kind of operation. What was not recorded has no panel; none without a rate of two seconds.
pub(crate) fn of(trial: &Trial, kind: &str, rate: Rate<'_>) -> Option<Chart> {
    let table = table(trial, kind, &rate);
    let heading = format!("{}, latency and sessions over time", rate.heading);
    let caption = caption(&rate.lines, rate.remark);
    let panels: Vec<Panel<'_>> =
        [upper(rate.lines, rate.axis), latency(trial, kind), sessions(trial)].into_iter().flatten().collect();
    panels.first()?;
    let marks = Span::of(trial);
    let layers = panels.iter().flat_map(|panel| panel.layers()).enumerate();
    let layers = layers.map(|(index, (name, _))| Key::new(Ink::Series(index), name.clone()));
    Some(Chart {
        svg: draw(trial, &format!("{heading} of {}", trial.name), &panels, &marks),
        heading,
        legend: by_ink(layers.chain(Span::keys(&marks))),
        caption,
        table,
    })
}

fn upper<'a>(lines: Vec<Line>, title: &'a str) -> Option<Panel<'a>> {
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let y = Axis { scale: Scale::from_zero(most * 1.05, 0.0, 0.0), title, print: plain };
    Some(Panel { y, data: Data::Lines(lines) })
}

fn latency(trial: &Trial, kind: &str) -> Option<Panel<'static>> {
    let lines: Vec<Line> =
        latencies(trial, kind).into_iter().filter(|line| line.values().count() > 1).collect();
    let low = lines.iter().flat_map(Line::values).reduce(f64::min)?;
    let high = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let y = Axis { scale: Scale::decades(low, high, 0.0, 0.0), title: "latency", print: plain_latency };
    Some(Panel { y, data: Data::Lines(lines) })
}

fn sessions(trial: &Trial) -> Option<Panel<'static>> {
    let (ends_s, layers) = stack::layers(trial);
    if ends_s.len() < 2 || layers.is_empty() {
        return None;
    }
    let most = stack::highest(&layers).max(1.0);
    let y =
        Axis { scale: Scale::from_zero(most, 0.0, 0.0), title: "sessions by what they did", print: plain };
    Some(Panel { y, data: Data::Layers(ends_s, layers) })
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
    let outages = Span::outages(marks);
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
            panel.draw(canvas, &frame, &x.scale, &outages);
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
fn table(trial: &Trial, kind: &str, rate: &Rate<'_>) -> crate::table::Table {
    let [longest, p99, p50] = latencies(trial, kind);
    let (ends_s, layers) = stack::layers(trial);
    let layer = |(index, (name, values)): (usize, &Layer)| {
        let at = |end_s: f64| ends_s.iter().position(|second| *second == end_s.round());
        Line::of(Ink::Series(index), name, trial, |sample| Some(values[at(sample.end_s)?]))
    };
    let layers: Vec<Line> = layers.iter().enumerate().map(layer).collect();
    let plainly = |line| (line, "", format::figure as fn(f64) -> String);
    let rates = rate.lines.iter().map(|line| (line, rate.unit, format::figure as fn(f64) -> String));
    let latencies = [&p50, &p99, &longest].map(|line| (line, "", format::latency as fn(f64) -> String));
    by_second(&rates.chain(latencies).chain(layers.iter().map(plainly)).collect::<Vec<_>>())
}
