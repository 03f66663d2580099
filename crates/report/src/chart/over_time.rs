//! Throughput and latency over the seconds of a trial, warm-up and all.

use maud::Markup;
use record::{Mark, MarkKind, OperationSample, Phase, Sample};

use super::canvas::{Canvas, Ink, SERIES, Side, TEXT, svg, text_width};
use super::frame::{Axis, Frame, HEIGHT, WIDTH, time_tick};
use super::label::{self, Label};
use super::readings::{self, Print, Reading, Times};
use super::reduce::{lines, spans};
use super::scale::Scale;
use super::{Chart, Key, ink_of, legend};
use crate::format::{self, plain, plain_latency};
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Columns that a line is reduced to: one a unit of the chart's width.
pub(super) const COLUMNS: usize = 360;

/// Rows of the table below a chart; the raw numbers have more.
const ROWS: usize = 40;

/// Name of a band for the script of the page.
const BAND: &str = "lowest to highest";

/// Radius of a point that has no neighbours, so that it is seen.
const ALONE: f64 = 3.4;

/// Shorter intervals, where a phase ends, make no rate and no percentile worth a point.
pub(super) const SHORTEST_S: f64 = 0.5;

/// A line: its colour, its name, its values by the end of their second.
#[derive(Clone)]
pub(crate) struct Line {
    pub(super) ink: Ink,
    pub(super) name: String,
    points: Vec<(f64, Option<f64>)>,
    /// Whether a value stands until the next one is known.
    joined: bool,
    /// Leaves a gap while the database answers no session.
    broken: bool,
}

/// A band between the lowest and the highest value of each second.
pub(crate) struct Band {
    ink: Ink,
    /// End of the second, lowest and highest.
    points: Vec<Reading>,
}

/// A time that is marked because something else went on.
pub(crate) struct Span {
    pub(crate) ink: Ink,
    pub(crate) name: &'static str,
    pub(crate) begin_s: f64,
    pub(crate) end_s: f64,
}

/// All that a chart over time shows.
pub(crate) struct Course {
    pub(crate) lines: Vec<Line>,
    pub(crate) band: Option<Band>,
    pub(crate) spans: Vec<Span>,
}

impl Span {
    /// The marks of a trial, sorted by kind. A moment has no length. An outage that overlaps a silence is drawn once.
    pub(crate) fn of(trial: &Trial) -> Vec<Self> {
        let all = &trial.beside.marks;
        let overlaps = |one: &Mark, other: &Mark| {
            let end = |mark: &Mark| mark.end_s.unwrap_or(f64::INFINITY);
            one.begin_s < end(other) && other.begin_s < end(one)
        };
        let silences = || all.iter().filter(|mark| mark.kind == MarkKind::Silence);
        let is_told =
            |mark: &&Mark| mark.kind == MarkKind::Outage && silences().any(|silence| overlaps(mark, silence));
        let mut marks: Vec<&Mark> = all.iter().filter(|mark| !is_told(mark)).collect();
        marks.sort_by_key(|mark| mark.kind);
        marks.into_iter().map(Self::mark).collect()
    }

    fn mark(mark: &Mark) -> Self {
        let ink = match mark.kind {
            MarkKind::Audit | MarkKind::Purge => Ink::Event(0),
            MarkKind::Shrink => Ink::Event(1),
            MarkKind::Silence | MarkKind::Outage => Ink::Series(1),
            MarkKind::ReplicaBehind | MarkKind::SourceOutage => Ink::Series(3),
            MarkKind::Fault | MarkKind::Noticed | MarkKind::Promotion => Ink::Text,
        };
        let end_s = if ink == Ink::Text { mark.begin_s } else { mark.end_s.unwrap_or(f64::INFINITY) };
        Self { ink, name: mark.kind.name(), begin_s: mark.begin_s, end_s }
    }

    /// True for a moment. It is drawn as a dashed line.
    fn is_moment(&self) -> bool {
        self.ink == Ink::Text
    }

    /// True if the database answered no session.
    fn is_outage(&self) -> bool {
        [MarkKind::Silence.name(), MarkKind::Outage.name()].contains(&self.name)
    }

    /// The text above the span. For an outage, it includes the length.
    fn label(&self) -> String {
        let length_s = self.end_s - self.begin_s;
        if self.is_outage() && length_s.is_finite() {
            format!("{} {}", self.name, format::duration(length_s))
        } else {
            self.name.to_owned()
        }
    }

    /// Entries of a legend: one for each colour, and one for all moments.
    pub(super) fn keys(spans: &[Self]) -> Vec<Key> {
        let mut moments: Vec<&str> = Vec::new();
        for span in spans.iter().filter(|span| span.is_moment()) {
            if !moments.contains(&span.name) {
                moments.push(span.name);
            }
        }
        let grounds = spans.iter().filter(|span| !span.is_moment()).map(|span| Key::new(span.ink, span.name));
        let moments = (!moments.is_empty())
            .then(|| Key::new(Ink::Text, format!("dashed line: {}", moments.join(", "))));
        grounds.chain(moments).collect()
    }

    /// The times without an answer.
    pub(super) fn outages(spans: &[Self]) -> Vec<(f64, f64)> {
        spans.iter().filter(|span| span.is_outage()).map(|span| (span.begin_s, span.end_s)).collect()
    }
}

impl Band {
    pub(crate) fn of(
        ink: Ink,
        trial: &Trial,
        low: impl Fn(&Sample) -> Option<f64>,
        high: impl Fn(&Sample) -> Option<f64>,
    ) -> Self {
        let points = trial.samples.iter().filter_map(|s| Some((s.end_s, low(s)?, high(s)?)));
        Self { ink, points: points.collect() }
    }

    pub(crate) fn highest(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().map(|point| point.2)
    }

    /// Draws the band as a group with its readings.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas<'_>,
        (x, y): (&Scale, &Scale),
        times: &Times,
        print: Print<'_>,
    ) {
        canvas.group(times.series((self.ink, BAND), &self.points, print), |canvas| {
            canvas.area(self.ink, 0.22, &self.outline(x, y));
        });
    }

    /// The outline of at most so many columns: the highest there, the lowest back.
    fn outline(&self, x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
        let columns = spans(self.points.len(), COLUMNS).into_iter().map(|span| &self.points[span]);
        let extreme = |points: &[(f64, f64, f64)]| {
            let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(|point| point.2).fold(f64::NEG_INFINITY, f64::max);
            (x.at(points[0].0), y.at(low), y.at(high))
        };
        let columns: Vec<(f64, f64, f64)> = columns.map(extreme).collect();
        let there = columns.iter().map(|&(x, _, high)| (x, high));
        there.chain(columns.iter().rev().map(|&(x, low, _)| (x, low))).collect()
    }
}

impl Course {
    /// Lines, and the times in which audits took the place of the load.
    fn with_audits(lines: Vec<Line>, trial: &Trial) -> Self {
        let audit = MarkKind::Audit.name();
        let spans = Span::of(trial).into_iter().filter(|span| span.name == audit).collect();
        Self { lines, band: None, spans }
    }

    /// The chart; the figures of its table are printed as said, with their unit.
    pub(crate) fn chart(
        &self,
        trial: &Trial,
        heading: &str,
        y: &Axis<'_>,
        remark: &str,
        (unit, print): (&str, fn(f64) -> String),
    ) -> Chart {
        let lines = self.lines.iter().filter(|_| !self.spans.is_empty());
        let lines = lines.map(|line| Key::new(line.ink, line.name.clone()));
        let keys = legend(lines.chain(Span::keys(&self.spans)));
        let caption = caption(&self.lines, remark);
        let svg = draw(trial, &format!("{heading} of {}", trial.name), y, self, (unit, print));
        Chart {
            heading: heading.to_owned(),
            svg,
            legend: keys,
            caption,
            table: table(&self.lines, unit, print),
        }
    }
}

/// The lines that get a colour each: of many those with the highest means. The text says so, and is empty for few lines.
pub(super) fn highest(mut lines: Vec<Line>, what: &str) -> (Vec<Line>, String) {
    lines.retain(|line| line.values().next().is_some());
    let count = lines.len();
    let means: Vec<f64> =
        lines.iter().map(|line| stats::mean(&line.values().collect::<Vec<f64>>()).unwrap_or(0.0)).collect();
    let mut ranked: Vec<usize> = (0..count).collect();
    ranked.sort_by(|&one, &other| means[other].total_cmp(&means[one]));
    let mut places = (0..count).map(|place| ranked.iter().take(SERIES).any(|&chosen| chosen == place));
    lines.retain(|_| places.next() == Some(true));
    for (index, line) in lines.iter_mut().enumerate() {
        line.ink = Ink::Series(index);
    }
    let remark = match count > SERIES {
        true => format!(" The chart shows the highest {SERIES} of {count} {what}."),
        false => String::new(),
    };
    (lines, remark)
}

impl Line {
    pub(crate) fn of(ink: Ink, name: &str, trial: &Trial, value: impl Fn(&Sample) -> Option<f64>) -> Self {
        let long_enough = trial.samples.iter().filter(|sample| sample.length_s >= SHORTEST_S);
        let points = long_enough.map(|sample| (sample.end_s, value(sample))).collect();
        Self { ink, name: name.to_owned(), points, joined: false, broken: false }
    }

    /// A line through readings that are no samples.
    pub(crate) fn through(ink: Ink, name: &str, read: impl Iterator<Item = (f64, f64)>) -> Self {
        let points = read.map(|(end_s, value)| (end_s, Some(value))).collect();
        Self { ink, name: name.to_owned(), points, joined: false, broken: false }
    }

    /// The line of a value that is read now and then: from each reading to the next, with a dot at each.
    pub(crate) fn joined(self) -> Self {
        Self { joined: true, ..self }
    }

    /// Leaves a gap in the line during each time without an answer.
    pub(crate) fn broken(self) -> Self {
        Self { broken: true, ..self }
    }

    /// The points without the seconds that are mostly within one of these gaps. If a gap starts or ends within a second, only the part of
    /// the second outside the gap is drawn.
    fn without(&self, gaps: &[(f64, f64)]) -> Vec<(f64, Option<f64>)> {
        if gaps.is_empty() {
            return self.points.clone();
        }
        let within = |s: f64| gaps.iter().find(|gap| (gap.0..gap.1).contains(&s));
        let mut drawn: Vec<(f64, Option<f64>)> = Vec::new();
        let mut begin_s = self.points.first().map_or(0.0, |point| point.0 - 1.0);
        for &(end_s, value) in &self.points {
            let is_gap = within(f64::midpoint(begin_s, end_s)).is_some();
            match value.filter(|_| !is_gap) {
                None => drawn.push((end_s, None)),
                Some(value) => {
                    let from = within(begin_s).map(|gap| gap.1);
                    drawn.extend(from.map(|_| (begin_s, None)));
                    // The value applies from the start of its second, even if no line leads to it.
                    let is_first = drawn.last().is_some_and(|point| point.1.is_none());
                    drawn.extend(is_first.then_some((from.unwrap_or(begin_s), Some(value))));
                    drawn.push((within(end_s).map_or(end_s, |gap| gap.0), Some(value)));
                }
            }
            begin_s = end_s;
        }
        drawn
    }

    /// The group of the line; see [`Times::series`].
    pub(super) fn group(&self, gaps: &[(f64, f64)], times: &Times, print: Print<'_>) -> Markup {
        let gaps = if self.broken { gaps } else { &[] };
        times.series((self.ink, &self.name), &self.readings(gaps), print)
    }

    /// The readings that are drawn. Unless the line is joined, they exclude the seconds that are mostly within one of these gaps.
    fn readings(&self, gaps: &[(f64, f64)]) -> Vec<Reading> {
        let is_gap = |middle: f64| gaps.iter().any(|gap| (gap.0..gap.1).contains(&middle));
        let begin_s = |index: usize| match index {
            0 => self.points[0].0 - 1.0,
            index => self.points[index - 1].0,
        };
        let points = self.points.iter().enumerate();
        let known = points
            .filter(|(index, point)| self.joined || !is_gap(f64::midpoint(begin_s(*index), point.0)))
            .filter_map(|(_, point)| point.1.map(|value| (point.0, value, value)));
        known.collect()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().filter_map(|point| point.1)
    }
}

/// Operations a second of each kind. None of a trial with fewer than two seconds.
pub(crate) fn throughput(trial: &Trial) -> Option<Chart> {
    let rate = |operation: &OperationSample, sample: &Sample| operation.count as f64 / sample.length_s;
    let line = |kind: &String| {
        Line::of(ink_of(trial, kind), kind, trial, |sample| {
            sample.operations.get(kind).map(|o| rate(o, sample))
        })
    };
    let drawn: Vec<Line> =
        kinds(trial).into_iter().map(line).filter(|line| line.values().count() > 1).collect();
    let most = drawn.iter().flat_map(Line::values).reduce(f64::max)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = Axis {
        scale: Scale::from_zero(most * 1.05, bottom, top),
        title: "operations per second",
        print: plain,
    };
    let title = format!("Throughput over time of {}", trial.name);
    Some(Chart {
        heading: "Throughput over time".to_owned(),
        legend: Vec::new(),
        caption: caption(&drawn, "One point per second. Shaded seconds, such as warm-up, do not count."),
        table: table(&drawn, "IOPS", format::figure),
        svg: draw(trial, &title, &y, &Course::with_audits(drawn, trial), ("IOPS", format::figure)),
    })
}

/// The longest latency, the p99 and the p50 of a kind of operation in each second.
pub(super) fn latencies(trial: &Trial, kind: &str) -> [Line; 3] {
    let of = |ink: Ink, name: &str, value: fn(&OperationSample) -> Option<f64>| {
        Line::of(ink, name, trial, move |sample| sample.operations.get(kind).and_then(value))
    };
    [
        of(Ink::Series(3), "max", |operation| operation.latency.max_us),
        of(Ink::Series(1), "p99", |operation| operation.latency.p99_us),
        of(Ink::Series(0), "p50", |operation| operation.latency.p50_us),
    ]
}

/// p50, p99 and longest latency of a kind of operation. Returns none if the trial has fewer than two seconds.
pub(crate) fn latency(trial: &Trial, kind: &str) -> Option<Chart> {
    let all = latencies(trial, kind);
    let missing = all.iter().any(|line| line.values().count() * 2 < line.points.len());
    let drawn: Vec<Line> = all.into_iter().filter(|line| line.values().count() > 1).collect();
    let low = drawn.iter().flat_map(Line::values).reduce(f64::min)?;
    let high = drawn.iter().flat_map(Line::values).reduce(f64::max)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = Axis { scale: Scale::decades(low, high, bottom, top), title: "latency", print: plain_latency };
    let remark = if missing {
        "One point per second. Shaded seconds do not count. A second with too few operations for a percentile has no point."
    } else {
        "One point per second. Shaded seconds, such as warm-up, do not count."
    };
    Some(Chart {
        heading: format!("Latency over time: {kind}"),
        legend: Vec::new(),
        caption: caption(&drawn, remark),
        table: table(&drawn, "", format::latency),
        svg: draw(
            trial,
            &format!("Latency of {kind} operations over time of {}", trial.name),
            &y,
            &Course::with_audits(drawn, trial),
            ("", format::latency),
        ),
    })
}

/// The kinds of operations in the samples.
fn kinds(trial: &Trial) -> Vec<&String> {
    let mut kinds: Vec<&String> = trial.samples.iter().flat_map(|sample| sample.operations.keys()).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

fn draw(trial: &Trial, title: &str, y: &Axis<'_>, course: &Course, print: Print<'_>) -> String {
    let drawn = &course.lines;
    let labelled = drawn.len() > 1;
    let frame = Frame::new(HEIGHT, y, drawn.iter().filter(|_| labelled).map(|line| line.name.as_str()));
    let (times, end_s) = (Times::of(trial), trial.samples.last().map_or(1.0, |sample| sample.end_s));
    let x = Axis {
        scale: Scale::time(0.0, end_s, frame.left, frame.right),
        title: "since the start of the load",
        print: time_tick,
    };
    svg((WIDTH, HEIGHT), title, &describe(drawn, y.print), |canvas| {
        shade(canvas, trial, &frame, &x.scale);
        mark(canvas, &course.spans, &frame, &x.scale);
        frame.draw(canvas, &x, y);
        if let Some(band) = &course.band {
            band.draw(canvas, (&x.scale, &y.scale), &times, print);
        }
        let gaps = Span::outages(&course.spans);
        for line in drawn {
            canvas.group(line.group(&gaps, &times, print), |canvas| {
                draw_line(canvas, line, &gaps, &x.scale, &y.scale);
            });
        }
        name(canvas, &course.spans, &frame, &x.scale);
        let last = |line: &Line| line.values().last().map_or(frame.bottom, |value| y.scale.at(value));
        let labels = drawn.iter().filter(|_| labelled);
        let labels = labels.map(|line| Label { ink: line.ink, y: last(line), text: line.name.clone() });
        canvas.group(readings::labels(), |canvas| {
            label::beside(canvas, frame.right + 6.0, (frame.top, frame.bottom), labels.collect());
        });
    })
}

pub(super) fn draw_line(canvas: &mut Canvas<'_>, line: &Line, gaps: &[(f64, f64)], x: &Scale, y: &Scale) {
    let drawn = line.without(if line.broken { gaps } else { &[] });
    let known: Vec<(f64, Option<f64>)> =
        drawn.into_iter().filter(|point| !line.joined || point.1.is_some()).collect();
    let sparse = line.joined && known.len() * 2 < line.points.len();
    for part in lines(&known, COLUMNS) {
        let points: Vec<(f64, f64)> =
            part.iter().map(|&(second, value)| (x.at(second), y.at(value))).collect();
        if sparse {
            points.iter().for_each(|&point| canvas.dot(line.ink, ALONE, point));
        }
        match points.as_slice() {
            [only] => canvas.dot(line.ink, ALONE, *only),
            points => canvas.path(line.ink, if line.points.len() > COLUMNS * 2 { 1.0 } else { 1.6 }, points),
        }
    }
}

/// Draws a background for each span, at least wide enough to be visible, and a dashed line at each moment.
pub(super) fn mark(canvas: &mut Canvas<'_>, spans: &[Span], frame: &Frame, x: &Scale) {
    canvas.group(readings::marks(None), |canvas| {
        for span in spans.iter().filter(|span| !span.is_moment()) {
            let (left, right) = (x.at(span.begin_s), x.at(span.end_s));
            canvas.rectangle(span.ink, 0.2, (left, frame.top), (right.max(left + 2.0), frame.bottom));
        }
        for moment in spans.iter().filter(|span| span.is_moment()) {
            let at = x.at(moment.begin_s);
            canvas.dashes(moment.ink, (at, frame.top), (at, frame.bottom));
        }
    });
}

/// Writes the names of spans above the data if there is room. Names of moments are on a line below the names of other spans.
pub(super) fn name(canvas: &mut Canvas<'_>, spans: &[Span], frame: &Frame, x: &Scale) {
    let mut free = [frame.left; 2];
    let mut by_begin: Vec<&Span> = spans.iter().collect();
    by_begin.sort_by(|a, b| a.begin_s.total_cmp(&b.begin_s));
    let has_both = spans.iter().any(Span::is_moment) && !spans.iter().all(Span::is_moment);
    for span in by_begin {
        let (label, line) = (span.label(), usize::from(has_both && span.is_moment()));
        let width = text_width(&label);
        let at = f64::midpoint(x.at(span.begin_s), x.at(span.end_s));
        // The name of a moment is left of its line, because an outage can start at the line.
        let middle = if line == 1 { x.at(span.begin_s) - width / 2.0 - 4.0 } else { at };
        let (least, most) = (frame.left + width / 2.0, frame.right - width / 2.0);
        let middle = middle.min(most).max(least);
        if middle - width / 2.0 >= free[line] {
            let height = frame.top + TEXT * (line as f64 * 1.2 - 0.5);
            canvas.group(readings::marks(Some(at)), |canvas| {
                canvas.text(span.ink, Side::Middle, (middle, height), &label);
            });
            free[line] = middle + width / 2.0 + TEXT / 2.0;
        }
    }
}

/// Draws a background under the seconds that do not count. Its group gives the position of the data and the times of readings.
pub(super) fn shade(canvas: &mut Canvas<'_>, trial: &Trial, frame: &Frame, x: &Scale) {
    let end =
        |phase: Phase| trial.samples.iter().filter(|s| s.phase == phase).map(|s| s.end_s).reduce(f64::max);
    canvas.group(Times::of(trial).plot(frame, x), |canvas| {
        if let Some(warm_s) = end(Phase::WarmUp) {
            canvas.rectangle(Ink::Shade, 1.0, (frame.left, frame.top), (x.at(warm_s), frame.bottom));
        }
        if let (Some(measured_s), Some(drained_s)) = (end(Phase::Measure), end(Phase::Drain)) {
            canvas.rectangle(Ink::Shade, 1.0, (x.at(measured_s), frame.top), (x.at(drained_s), frame.bottom));
        }
    });
}

pub(super) fn describe(drawn: &[Line], print: fn(f64) -> String) -> String {
    let one = |line: &Line| {
        let low = line.values().reduce(f64::min).map(print).unwrap_or_default();
        let high = line.values().reduce(f64::max).map(print).unwrap_or_default();
        format!("{} between {low} and {high}", line.name)
    };
    drawn.iter().map(one).collect::<Vec<String>>().join("; ")
}

pub(super) fn caption(drawn: &[Line], remark: &str) -> String {
    let points = drawn.iter().map(|line| line.points.len()).max().unwrap_or(0);
    if points > COLUMNS * 2 {
        let points = format::grouped(points as u64);
        format!(
            "{points} seconds, reduced to the lowest and highest point of each of {COLUMNS} columns. Shaded seconds do not count."
        )
    } else {
        remark.to_owned()
    }
}

pub(super) fn table(drawn: &[Line], unit: &str, print: fn(f64) -> String) -> Table {
    by_second(&drawn.iter().map(|line| (line, (unit, print))).collect::<Vec<_>>())
}

/// A table of lines with the same seconds. Each line has its unit and the function that prints its values.
pub(super) fn by_second(drawn: &[(&Line, Print<'_>)]) -> Table {
    let mut columns = vec![Column::number("second")];
    columns.extend(
        drawn
            .iter()
            .map(|(line, (unit, _))| Column::number(format!("{} {unit}", line.name).trim_end().to_owned())),
    );
    let seconds = drawn.first().map_or(&[] as &[_], |(line, _)| line.points.as_slice());
    let rows = spans(seconds.len(), ROWS).into_iter().map(|span| {
        let (first, last) = (plain(seconds[span.start].0), plain(seconds[span.end - 1].0));
        let mut cells = vec![range(first, last)];
        cells.extend(drawn.iter().map(|(line, (_, print))| {
            let values = || line.points[span.clone()].iter().filter_map(|point| point.1);
            match (values().reduce(f64::min), values().reduce(f64::max)) {
                (Some(low), Some(high)) => range(print(low), print(high)),
                _ => format::UNKNOWN.to_owned(),
            }
        }));
        Row::of(cells)
    });
    let rows = rows.collect();
    let title =
        if seconds.len() > ROWS { "Lowest and highest value of groups of seconds" } else { "By second" };
    Table { title: title.to_owned(), columns, rows }
}

fn range(low: String, high: String) -> String {
    if low == high { low } else { format!("{low}–{high}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(name: &'static str, ink: Ink, begin_s: f64, end_s: f64) -> Span {
        Span { ink, name, begin_s, end_s }
    }

    #[test]
    fn lines_beyond_the_colours_are_left_out_from_the_lowest_mean_on() {
        let line =
            |value: f64| Line::through(Ink::Series(0), &format!("of {value}"), [(1.0, value)].into_iter());
        let named = |values: &[f64]| {
            let (lines, remark) = highest(values.iter().map(|&value| line(value)).collect(), "devices");
            (lines.into_iter().map(|line| (line.name, line.ink)).collect::<Vec<_>>(), remark)
        };
        let (few, remark) = named(&[3.0, 1.0]);
        assert_eq!(few, [("of 3".to_owned(), Ink::Series(0)), ("of 1".to_owned(), Ink::Series(1))]);
        assert_eq!(remark, "");
        let (many, remark) = named(&[3.0, 1.0, 5.0, 2.0, 2.0, 9.0]);
        let names: Vec<&str> = many.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["of 3", "of 5", "of 2", "of 9"], "in their order, and of equal ones the first");
        assert_eq!(many[3].1, Ink::Series(3));
        assert_eq!(remark, " The chart shows the highest 4 of 6 devices.");
    }

    /// The line once continued through the seconds without an answer.
    #[test]
    fn a_broken_line_has_a_gap_where_nobody_was_answered() {
        let points = [(1.0, Some(5.0)), (2.0, Some(0.0)), (3.0, Some(0.0)), (4.0, Some(7.0))];
        let line = Line {
            ink: Ink::Series(0),
            name: "rate".to_owned(),
            points: points.to_vec(),
            joined: false,
            broken: true,
        };
        let drawn = line.without(&[(1.1, 3.2)]);
        let expected =
            [(1.0, Some(5.0)), (2.0, None), (3.0, None), (3.0, None), (3.2, Some(7.0)), (4.0, Some(7.0))];
        assert_eq!(drawn, expected, "from the first answer on");
        assert_eq!(line.without(&[]), points);
        // If a gap starts or ends within a second, only the part of the second outside the gap is drawn.
        let within = line.without(&[(1.6, 2.4)]);
        let expected = [
            (1.0, Some(5.0)),
            (1.6, Some(0.0)),
            (2.0, None),
            (2.4, Some(0.0)),
            (3.0, Some(0.0)),
            (4.0, Some(7.0)),
        ];
        assert_eq!(within, expected);
    }

    /// A fault and an outage were once one brown block, and the legend listed orange and green twice.
    #[test]
    fn marks_have_a_colour_each_and_moments_share_an_entry() {
        let spans = [
            span("no answer", Ink::Series(1), 10.0, 12.0),
            span("fault", Ink::Text, 10.0, 10.0),
            span("promotion", Ink::Text, 11.0, 11.0),
            span("fault", Ink::Text, 30.0, 30.0),
        ];
        let keys = Span::keys(&spans);
        let told: Vec<(Ink, &str)> = keys.iter().map(|key| (key.ink, key.text.as_str())).collect();
        assert_eq!(told, [(Ink::Series(1), "no answer"), (Ink::Text, "dashed line: fault, promotion")]);
        assert_eq!(spans[0].label(), "no answer 2.00 s");
        assert_eq!(spans[1].label(), "fault");
        assert_eq!(Span::outages(&spans), [(10.0, 12.0)]);
    }
}
