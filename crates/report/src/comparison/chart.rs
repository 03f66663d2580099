//! What a study compares, a chart an axis: a line with intervals along an axis of numbers, else bars of the gains.
//! Several axes make small charts of one scale, one for each setting of the others.

use stats::{Comparison, Estimate};

use super::percentiles;
use super::table::change;
use crate::change::Change;
use crate::chart::canvas::{Canvas, Ink, Side, TEXT, svg, text_width};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH};
use crate::chart::gain::GainAxis;
use crate::chart::scale::{Scale, Spread};
use crate::chart::{Chart, Key, legend};
use crate::comparison::{
    AxisSeries, CONFIGURATION, ComparedAxis, Gain, Point, PointValues, Quantity, StudyComparison, axis_words,
};
use crate::format::{self, UNKNOWN, figure, plain};
use crate::table::{Column, Row, Table, dash};

/// Values that differ by more than this factor share no even scale.
const EVEN_FACTOR_MAX: f64 = 20.0;

/// Levels that differ by more than this factor are spread by factors.
const EVEN_LEVELS_MAX: f64 = 8.0;

/// Height of a bar with its text.
const ROW: f64 = 40.0;

/// Bars of one chart.
const BARS_MOST: usize = 30;

/// Charts of one axis.
const SETTINGS_MOST: usize = 16;

/// The charts of an axis with what is to be said of them together.
pub(crate) struct AxisCharts {
    pub(crate) heading: String,
    pub(crate) charts: Vec<Chart>,
    /// Settings that have no chart for want of room.
    pub(crate) left_out: usize,
}

/// An entry for each axis that has something to draw.
pub(crate) fn comparison(comparison: &StudyComparison) -> Vec<AxisCharts> {
    let along = |axis: &ComparedAxis| {
        let bars = axis.quantity.is_none() && comparison.not_compared.is_none();
        let chart = |series: &AxisSeries| {
            if bars { gains(comparison, axis, series) } else { curve(comparison, axis, series) }
        };
        let mut charts: Vec<Chart> = axis.series.iter().take(SETTINGS_MOST).filter_map(chart).collect();
        if comparison.not_compared.is_none() {
            let shown = axis.series.iter().filter(|series| series.at_reference);
            charts.extend(shown.filter_map(|series| percentiles::chart(comparison, axis, series)));
        }
        let heading = format!("By {}", axis_words(&axis.name));
        let left_out = axis.series.len().saturating_sub(SETTINGS_MOST);
        (!charts.is_empty()).then_some(AxisCharts { heading, charts, left_out })
    };
    comparison.axes.iter().filter_map(along).collect()
}

/// A level of a series that was measured.
struct Level<'a> {
    text: &'a str,
    number: f64,
    point: &'a Point,
    mean: f64,
}

fn levels<'a>(
    comparison: &'a StudyComparison,
    axis: &'a ComparedAxis,
    series: &AxisSeries,
) -> Vec<Level<'a>> {
    let level = |(place, index): (usize, &Option<usize>)| {
        let point = &comparison.points[(*index)?];
        let number = axis.numbers.get(place).copied().unwrap_or(place as f64);
        Some(Level { text: &axis.levels[place], number, point, mean: point.values.mean? })
    };
    series.points.iter().enumerate().filter_map(level).collect()
}

fn title(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries, what: &str) -> String {
    let at = if series.setting.is_empty() { String::new() } else { format!(", {}", series.setting) };
    let by = if axis.name == CONFIGURATION { "configuration".to_owned() } else { axis_words(&axis.name) };
    format!("{what} by {by}{at}", what = if what.is_empty() { comparison.metric.name } else { what })
}

fn heading(axis: &ComparedAxis, series: &AxisSeries, what: &str) -> String {
    match series.setting.as_str() {
        "" => format!("{what} by {}", axis_words(&axis.name)),
        setting => setting.to_owned(),
    }
}

/// Lowest and highest mean or end of an interval along the axis at any setting, so that all charts have one scale.
fn extent(comparison: &StudyComparison, axis: &ComparedAxis) -> Option<(f64, f64)> {
    let values = || {
        let points = axis.series.iter().flat_map(|series| series.points.iter().flatten());
        points.flat_map(|&index| {
            let values = &comparison.points[index].values;
            let ends = [values.mean, values.interval.map(|e| e.low), values.interval.map(|e| e.high)];
            ends.into_iter().flatten().chain(values.by_block.iter().flatten().copied()).collect::<Vec<f64>>()
        })
    };
    Some((values().filter(|value| *value > 0.0).reduce(f64::min)?, values().reduce(f64::max)?))
}

fn curve(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries) -> Option<Chart> {
    let mut levels = levels(comparison, axis, series);
    levels.sort_by(|a, b| a.number.total_cmp(&b.number));
    if levels.len() < 2 {
        return None;
    }
    let (low, high) = extent(comparison, axis)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let scale = if high / low > EVEN_FACTOR_MAX {
        Scale::decades(low, high, bottom, top)
    } else {
        Scale::from_zero(high * 1.05, bottom, top)
    };
    let y = Axis { scale, title: comparison.metric.unit, print: plain };
    let frame = Frame::new(HEIGHT, &y, []);
    let x = along(&levels, &frame);
    let reference = levels.iter().find(|level| level.text == series.reference);
    let (heading, title) = (heading(axis, series, &name(comparison)), title(comparison, axis, series, ""));
    let svg = svg((WIDTH, HEIGHT), &title, &describe(&levels), |canvas| {
        frame.vertical(canvas, &y);
        level_ticks(canvas, &frame, &x, &levels, &axis_words(&axis.name));
        if let Some(level) = reference {
            let height = y.scale.at(level.mean);
            canvas.dashes(Ink::Axis, (frame.left, height), (frame.right, height));
        }
        knee(canvas, series, axis.quantity, &frame, (&x, &y.scale), &levels);
        jump(canvas, series, &frame, &x);
        line(canvas, &levels, &x, &y.scale);
        if let Some(place) = series.sweet_spot
            && let Some(level) = levels.iter().find(|level| level.text == axis.levels[place])
        {
            canvas.ring(Ink::Series(0), 6.0, (x.at(level.number), y.scale.at(level.mean)));
        }
    });
    Some(Chart {
        heading,
        svg,
        legend: legend(curve_keys(comparison, series)),
        caption: caption(comparison, axis, series),
        table: table(axis, series, &levels),
    })
}

/// What the colours of a curve mean.
fn curve_keys(comparison: &StudyComparison, series: &AxisSeries) -> Vec<Key> {
    let knee = series.knee.as_ref().map(|_| Key::new(Ink::Series(1), "knee with its 95% CI"));
    let jump = series.jump.as_ref().map(|_| Key::new(Ink::Series(1), "jump"));
    [Key::new(Ink::Series(0), comparison.metric.says)].into_iter().chain(knee).chain(jump).collect()
}

pub(super) fn name(comparison: &StudyComparison) -> String {
    let mut letters = comparison.metric.says.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The levels by factors where they are far apart, else evenly, with room at both ends.
fn along(levels: &[Level<'_>], frame: &Frame) -> Scale {
    let low = levels.iter().map(|level| level.number).fold(f64::INFINITY, f64::min);
    let high = levels.iter().map(|level| level.number).fold(f64::NEG_INFINITY, f64::max);
    let (from, to) = (frame.left, frame.right);
    if low > 0.0 && high / low >= EVEN_LEVELS_MAX {
        let room = (high / low).powf(0.04);
        Scale { spread: Spread::Log10, low: low / room, high: high * room, from, to }
    } else {
        let room = if high > low { (high - low) * 0.04 } else { 1.0 };
        Scale { spread: Spread::Linear, low: low - room, high: high + room, from, to }
    }
}

/// A tick at every level, its text where there is room.
fn level_ticks(canvas: &mut Canvas<'_>, frame: &Frame, x: &Scale, levels: &[Level<'_>], title: &str) {
    canvas.line(Ink::Axis, 1.0, (frame.left, frame.bottom), (frame.right, frame.bottom));
    let mut free = 0.0;
    for level in levels {
        let at = x.at(level.number);
        canvas.line(Ink::Axis, 1.0, (at, frame.bottom), (at, frame.bottom + 4.0));
        let half = text_width(level.text) / 2.0;
        if at - half >= free && at + half <= WIDTH {
            canvas.text(Ink::Text, Side::Middle, (at, frame.bottom + 15.0), level.text);
            free = at + half + 4.0;
        }
    }
    canvas.text(Ink::Text, Side::Left, (frame.right, frame.bottom + 34.0), &format!("{title}{}", x.remark()));
}

/// The means with their intervals, the band that these make, and the values of single blocks.
fn line(canvas: &mut Canvas<'_>, levels: &[Level<'_>], x: &Scale, y: &Scale) {
    let ink = Ink::Series(0);
    let ends: Vec<(f64, Estimate)> =
        levels.iter().filter_map(|level| Some((x.at(level.number), level.point.values.interval?))).collect();
    // Two levels have no shaded band, because nothing was measured between them.
    if ends.len() == levels.len() && levels.len() > 2 {
        let upper = ends.iter().map(|(at, interval)| (*at, y.at(interval.high)));
        let lower = ends.iter().rev().map(|(at, interval)| (*at, y.at(interval.low)));
        canvas.area(ink, 0.14, &upper.chain(lower).collect::<Vec<(f64, f64)>>());
    }
    let points: Vec<(f64, f64)> = levels.iter().map(|level| (x.at(level.number), y.at(level.mean))).collect();
    if points.len() > 2 {
        canvas.path(ink, 2.0, &points);
    }
    for (at, interval) in ends {
        let (low, high) = (y.at(interval.low), y.at(interval.high));
        canvas.line(ink, 1.0, (at, low), (at, high));
        for end in [low, high] {
            canvas.line(ink, 1.0, (at - 3.0, end), (at + 3.0, end));
        }
    }
    for level in levels {
        let blocks = level.point.values.by_block.iter().flatten();
        blocks.for_each(|value| canvas.dot(ink, 1.4, (x.at(level.number), y.at(*value))));
    }
    points.into_iter().for_each(|point| canvas.dot(ink, 2.8, point));
}

fn knee(
    canvas: &mut Canvas<'_>,
    series: &AxisSeries,
    quantity: Option<Quantity>,
    frame: &Frame,
    (x, y): (&Scale, &Scale),
    levels: &[Level<'_>],
) {
    let (Some(knee), Some(quantity)) = (&series.knee, quantity) else { return };
    let (low, high) = (x.at(knee.low), x.at(knee.high));
    canvas.rectangle(Ink::Series(1), 0.18, (low - 1.0, frame.top), (high + 1.0, frame.bottom));
    let text = format!("knee {}", quantity.print(knee.at));
    let fits = high + 8.0 + text_width(&text) <= frame.right;
    let (side, at) = if fits { (Side::Right, high + 6.0) } else { (Side::Left, low - 6.0) };
    // The text stands where the curve past the knee does not.
    let past = levels.iter().filter(|level| level.number >= knee.at).map(|level| y.at(level.mean));
    let low_curve = past.fold(frame.top, f64::max) > f64::midpoint(frame.top, frame.bottom);
    let height = if low_curve { frame.top + TEXT } else { frame.bottom - TEXT };
    canvas.text(Ink::Series(1), side, (at, height), &text);
}

/// The width between the two levels of a jump.
fn jump(canvas: &mut Canvas<'_>, series: &AxisSeries, frame: &Frame, x: &Scale) {
    let Some(jump) = &series.jump else { return };
    canvas.rectangle(Ink::Series(1), 0.18, (x.at(jump.below), frame.top), (x.at(jump.above), frame.bottom));
}

fn caption(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries) -> String {
    let blocks = comparison.blocks.len();
    let mean = match comparison.metric.percentile() {
        Some(percentile) => format!("Mean of {percentile}"),
        None => "Mean".to_owned(),
    };
    let mut parts = vec![match blocks {
        1 => "One block, no intervals.".to_owned(),
        _ => format!(
            "{mean} over {blocks} blocks with its 95% CI. Small points: single blocks. Dashed: the reference, {}.",
            series.reference
        ),
    }];
    if let Some(jump) = &series.jump {
        parts.push(format!("Shaded: the jump, {}%.", format::points(jump.change * 100.0)));
    }
    if let Some(place) = series.sweet_spot {
        let is_it = series.sweet_spot_lowest == Some(place) && place > 0;
        let at_most = if is_it { "" } else { "at most " };
        parts.push(format!("Ring: the sweet spot, {at_most}{}.", axis.levels[place]));
    }
    parts.join(" ")
}

fn describe(levels: &[Level<'_>]) -> String {
    let one = |level: &Level<'_>| match level.point.values.interval {
        Some(e) => format!("{}: {} ({})", level.text, figure(level.mean), format::range(e.low, e.high)),
        None => format!("{}: {}", level.text, figure(level.mean)),
    };
    levels.iter().map(one).collect::<Vec<String>>().join("; ")
}

pub(super) fn gain_of<'a>(axis: &ComparedAxis, values: &'a PointValues) -> Option<&'a Gain> {
    values.gains.iter().find(|gain| gain.axis == axis.name)
}

fn table(axis: &ComparedAxis, series: &AxisSeries, levels: &[Level<'_>]) -> Table {
    let columns = vec![
        Column::words(axis_words(&axis.name)),
        Column::number("mean"),
        Column::number("95%"),
        Column::number("gain"),
        Column::words("verdict"),
    ];
    let row = |level: &Level<'_>| {
        let interval = dash(level.point.values.interval.map(|e| format::range(e.low, e.high)));
        let gain = gain_of(axis, &level.point.values);
        let reference = if level.text == series.reference { "reference" } else { "" };
        Row::of(vec![
            level.text.to_owned(),
            figure(level.mean),
            interval,
            gain.map(change).unwrap_or_default(),
            gain.map_or_else(|| reference.to_owned(), |gain| gain.words.clone()),
        ])
    };
    let rows = levels.iter().map(row).collect();
    Table { title: axis_words(&axis.name), columns, rows }
}

/// Bars of the gains against the reference, the best first.
fn gains(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries) -> Option<Chart> {
    let all = levels(comparison, axis, series);
    let pct = |level: &Level<'_>| gain_of(axis, &level.point.values).and_then(|gain| gain.gain_pct);
    let mut bars: Vec<(&Level<'_>, &Gain, f64)> = all
        .iter()
        .filter_map(|level| Some((level, gain_of(axis, &level.point.values)?, pct(level)?)))
        .collect();
    bars.sort_by(|a, b| b.2.total_cmp(&a.2));
    let more = bars.len().saturating_sub(BARS_MOST);
    bars.truncate(BARS_MOST);
    if bars.is_empty() {
        return None;
    }
    let height = bars.len() as f64 * ROW + 64.0;
    let frame = Frame { left: 12.0, right: WIDTH - 16.0, top: 8.0, bottom: height - 44.0 };
    // The same at all settings.
    let x = GainAxis::of(&all_changes(comparison, axis), frame.left, frame.right);
    let describe =
        bars.iter().map(|(level, gain, _)| format!("{}: {}, {}", level.text, change(gain), gain.words));
    let description = describe.collect::<Vec<String>>().join("; ");
    let title = title(comparison, axis, series, "gain");
    let texts = bar_texts(&bars.iter().map(|(level, gain, _)| (level.text, *gain)).collect::<Vec<_>>());
    let svg = svg((WIDTH, height), &title, &description, |canvas| {
        x.draw(canvas, &frame);
        for (index, ((_, gain, _), text)) in bars.iter().zip(&texts).enumerate() {
            bar(canvas, &x, text, gain, frame.top + index as f64 * ROW);
        }
    });
    let left_out = if more > 0 {
        format!(" The table also has the {more} levels with the smallest gain.")
    } else {
        String::new()
    };
    let caption = format!(
        "Gain over {} with its {}. Positive is better.{}{left_out}",
        series.reference,
        intervals(bars.iter().map(|(_, gain, _)| *gain)),
        x.remark()
    );
    let keys = legend(bars.iter().map(|(_, gain, _)| judged_key(gain, Ink::Axis)));
    let heading = heading(axis, series, "Gain");
    Some(Chart { heading, svg, legend: keys, caption, table: table(axis, series, &all) })
}

/// What the colour of a gain means.
pub(super) fn judged_key(gain: &Gain, else_in: Ink) -> Key {
    match judged_ink(gain, else_in) {
        Ink::Series(0) => Key::new(Ink::Series(0), "better"),
        Ink::Series(_) => Key::new(Ink::Series(1), "worse"),
        ink => Key::new(ink, "no relevant difference shown"),
    }
}

pub(super) fn judged_ink(gain: &Gain, else_in: Ink) -> Ink {
    match gain.judged.map(|judged| judged.comparison) {
        Some(Comparison::Better) => Ink::Series(0),
        Some(Comparison::Worse) => Ink::Series(1),
        _ => else_in,
    }
}

/// `95% CI`, or what confidence the intervals of gains have at least.
pub(super) fn intervals<'a>(gains: impl Iterator<Item = &'a Gain>) -> String {
    let confidences = gains.filter_map(|gain| Some(gain.effect?.confidence));
    match confidences.reduce(f64::min) {
        Some(least) if least < 0.95 => format!("CI of at least {:.0}%", least * 100.0),
        _ => "95% CI".to_owned(),
    }
}

/// What is gained along an axis at all settings.
fn all_changes(comparison: &StudyComparison, axis: &ComparedAxis) -> Vec<Change> {
    let gains = comparison.points.iter().filter_map(|point| gain_of(axis, &point.values));
    gains.filter_map(Gain::change).collect()
}

fn bar(canvas: &mut Canvas<'_>, x: &GainAxis, text: &str, gain: &Gain, top: f64) {
    let Some(told) = gain.change() else { return };
    let place = |gain_pct: f64| x.at(&told, gain_pct);
    let ink = judged_ink(gain, Ink::Axis);
    canvas.text(Ink::Text, Side::Right, (x.axis.scale.from, top + TEXT * 0.6), text);
    let (zero, at, y) = (x.none(), place(told.gain_pct), top + 25.0);
    canvas.line(Ink::Axis, 1.5, (zero, y - 10.0), (zero, y + 10.0));
    canvas.rectangle(ink, 0.55, (zero.min(at), y - 6.0), (zero.max(at), y + 6.0));
    if let Some((low, high)) = told.ends {
        canvas.line(Ink::Text, 1.5, (place(low), y), (place(high), y));
        for end in [low, high] {
            canvas.line(Ink::Text, 1.5, (place(end), y - 4.0), (place(end), y + 4.0));
        }
    }
}

/// What stands above the bars. The interval is drawn, and the verdict is in the table: both give way where a name needs their room, since
/// of two names that are cut nobody knows which is which.
fn bar_texts(bars: &[(&str, &Gain)]) -> Vec<String> {
    let has_room =
        |form: &usize| bars.iter().all(|(name, gain)| shortened(name, &behind(gain)[*form]) == **name);
    let form = (0..BAR_FORMS).find(has_room).unwrap_or(BAR_FORMS - 1);
    let text = |(name, gain): &(&str, &Gain)| {
        let behind = &behind(gain)[form];
        format!("{}: {}", shortened(name, behind), behind.join(", "))
    };
    bars.iter().map(text).collect()
}

/// Ways to tell a gain above its bar.
const BAR_FORMS: usize = 3;

/// What stands behind a name, the longest first.
fn behind(gain: &Gain) -> [Vec<String>; BAR_FORMS] {
    let without_interval = gain.change().map_or_else(|| UNKNOWN.to_owned(), |change| change.alone());
    [
        vec![change(gain), gain.words.clone()],
        vec![without_interval.clone(), gain.words.clone()],
        vec![without_interval],
    ]
}

/// As much of a name as leaves room for what stands behind it.
fn shortened(name: &str, behind: &[String]) -> String {
    let taken: f64 = behind.iter().map(|text| text_width(text) + text_width(", ")).sum();
    let room = ((WIDTH - 12.0 - taken) / text_width("m")).max(8.0) as usize;
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
