//! What sessions did over the seconds of a trial, a layer a class, one upon the other: the whole is how many there were.

use std::ops::Range;

use super::canvas::{Canvas, Ink, svg};
use super::frame::{Axis, Frame, HEIGHT, WIDTH, from_zero, time_tick};
use super::over_time::{Line, Span, mark, name, shade, table};
use super::readings::Times;
use super::reduce::spans;
use super::scale::Scale;
use super::{Chart, Key, legend};
use crate::budget;
use crate::format;
use crate::trial::Trial;

/// Columns that layers are reduced to.
const COLUMNS: usize = 240;

/// Maximum number of layers that readers can distinguish by colour.
const LAYERS: usize = 4;

/// The layers of a trial whose servers told what their sessions did; none of a single second.
pub(crate) fn sessions(trial: &Trial) -> Option<Chart> {
    let (ends_s, layers) = layers(trial);
    if ends_s.len() < 2 || layers.is_empty() {
        return None;
    }
    let most = highest(&layers);
    let inked = || layers.iter().enumerate().map(|(index, layer)| (Ink::Series(index), layer));
    let line = |(ink, (name, values)): (Ink, &Layer)| {
        Line::through(ink, name, ends_s.iter().copied().zip(values.iter().copied()))
    };
    let lines: Vec<Line> = inked().map(line).collect();
    let mean = |values: &[f64]| stats::mean(values).unwrap_or(0.0);
    let description: Vec<String> = layers
        .iter()
        .map(|(name, values)| format!("{name}: {} sessions on average", format::figure(mean(values))))
        .collect();
    let heading = "Sessions over time by activity";
    let y = from_zero(most, "sessions");
    let title = format!("{heading}, {}", trial.name);
    let svg = svg((WIDTH, HEIGHT), &title, &description.join("; "), |canvas| {
        draw(canvas, trial, &y, &ends_s, &layers);
    });
    Some(Chart {
        heading: heading.to_owned(),
        svg,
        legend: legend(inked().map(|(ink, (name, _))| Key::new(ink, name.clone()))),
        caption: "Stacked layers. Each point is the mean of ten samples per second of the server. Shaded seconds do not count. Compare with the throughput of the same seconds."
            .to_owned(),
        table: table(&lines, "", format::figure),
    })
}

/// The highest sum of all layers.
pub(super) fn highest(layers: &[Layer]) -> f64 {
    let seconds = layers.first().map_or(0, |(_, values)| values.len());
    let upper = |index: usize| layers.iter().map(|(_, values)| values[index]).sum::<f64>();
    (0..seconds).map(upper).fold(0.0, f64::max)
}

/// A name, and a value for each second.
pub(super) type Layer = (String, Vec<f64>);

/// The classes of a trial that its colours suffice for; the smallest are one layer.
pub(super) fn layers(trial: &Trial) -> (Vec<f64>, Vec<Layer>) {
    let seconds = budget::seconds(trial);
    let ends_s = seconds.iter().map(|(end_s, _)| *end_s).collect();
    let values = |class| -> Vec<f64> {
        seconds.iter().map(|(_, of)| of.get(&class).copied().unwrap_or(0.0)).collect()
    };
    let all = budget::Class::ALL.map(|class| (class.words().to_owned(), values(class)));
    let mut all: Vec<Layer> = all.into_iter().filter(|(_, values)| values.iter().any(|v| *v > 0.0)).collect();
    if all.len() > LAYERS {
        let sum = |(_, values): &Layer| values.iter().sum::<f64>();
        all.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
        let rest = all.split_off(LAYERS - 1);
        let summed = (0..seconds.len()).map(|index| rest.iter().map(|(_, values)| values[index]).sum());
        all.push(("others".to_owned(), summed.collect()));
    }
    (ends_s, all)
}

fn draw(canvas: &mut Canvas<'_>, trial: &Trial, y: &Axis<'_>, ends_s: &[f64], layers: &[Layer]) {
    let frame = Frame::new(HEIGHT, y, []);
    let end_s = trial.samples.last().map_or(1.0, |sample| sample.end_s);
    let x = Axis {
        scale: Scale::time(0.0, end_s, frame.left, frame.right),
        title: "since the start of the load",
        print: time_tick,
    };
    let (marks, times) = (Span::of(trial), Times::of(trial));
    shade(canvas, trial, &frame, &x.scale);
    mark(canvas, &marks, &frame, &x.scale);
    frame.draw(canvas, &x, y);
    draw_layers(canvas, (&x.scale, &y.scale), &Span::outages(&marks), (ends_s, layers), &times);
    name(canvas, &marks, &frame, &x.scale);
}

/// Draws each layer as a group, on top of the layers before it.
pub(super) fn draw_layers(
    canvas: &mut Canvas<'_>,
    (x, y): (&Scale, &Scale),
    outages: &[(f64, f64)],
    (ends_s, layers): (&[f64], &[Layer]),
    times: &Times,
) {
    let runs = unbroken(ends_s, outages);
    let outlines: Vec<Vec<Outline>> = runs.iter().map(|run| outlines(run, (x, y), ends_s, layers)).collect();
    for (index, (name, values)) in layers.iter().enumerate() {
        let ink = Ink::Series(index);
        let known = runs.iter().cloned().flatten();
        let known: Vec<_> = known.map(|second| (ends_s[second], values[second], values[second])).collect();
        canvas.group(times.series((ink, name), &known, ("sessions", format::figure)), |canvas| {
            outlines.iter().for_each(|run| canvas.area(ink, 0.8, &run[index]));
        });
    }
}

/// Longest time between two readings that are joined. Times are rounded, so consecutive readings can be two seconds apart.
const GAP_S: f64 = 2.5;

/// Ranges of consecutive seconds. Nothing is drawn while the server was not read, or did not answer.
fn unbroken(ends_s: &[f64], outages: &[(f64, f64)]) -> Vec<Range<usize>> {
    let is_out =
        |index: usize| outages.iter().any(|&(begin, end)| (begin..end).contains(&(ends_s[index] - 0.5)));
    let mut runs: Vec<Range<usize>> = Vec::new();
    for index in (0..ends_s.len()).filter(|&index| !is_out(index)) {
        match runs.last_mut() {
            Some(run) if run.end == index && ends_s[index] - ends_s[index - 1] <= GAP_S => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

type Outline = Vec<(f64, f64)>;

/// The outline of each layer within a range of consecutive seconds.
fn outlines(run: &Range<usize>, (x, y): (&Scale, &Scale), ends_s: &[f64], layers: &[Layer]) -> Vec<Outline> {
    let most = (COLUMNS * run.len()).div_ceil(ends_s.len());
    let columns: Vec<Range<usize>> =
        spans(run.len(), most).into_iter().map(|span| span.start + run.start..span.end + run.start).collect();
    let mean = |values: &[f64]| stats::mean(values).unwrap_or(0.0);
    let at: Vec<f64> = columns.iter().map(|span| x.at(ends_s[span.end - 1])).collect();
    let edge =
        |values: &[f64]| -> Outline { at.iter().zip(values).map(|(&x, &value)| (x, y.at(value))).collect() };
    let mut below = vec![0.0; columns.len()];
    let outline = |(_, values): &Layer| {
        let heights = columns.iter().map(|span| mean(&values[span.clone()]));
        let above: Vec<f64> = below.iter().zip(heights).map(|(below, height)| below + height).collect();
        let outline = edge(&above).into_iter().chain(edge(&below).into_iter().rev()).collect();
        below = above;
        outline
    };
    layers.iter().map(outline).collect()
}

#[cfg(test)]
mod tests {
    use super::unbroken;

    /// A straight ramp was once drawn across the time in which the server was down.
    #[test]
    fn nothing_is_drawn_where_nothing_was_read_or_nobody_was_answered() {
        assert_eq!(unbroken(&[1.0, 2.0, 3.0], &[]).first(), Some(&(0..3)));
        assert_eq!(unbroken(&[1.0, 2.0, 7.0, 8.0], &[]), [0..2, 2..4]);
        assert_eq!(unbroken(&[1.0, 2.0, 3.0, 4.0, 5.0], &[(2.1, 3.9)]), [0..2, 4..5]);
        assert!(unbroken(&[], &[]).is_empty());
    }
}
