//! What levels gain in each percentile of the latency: one chart an axis, and a table.
//!
//! The gains are those of the metrics; nothing is computed here. A percentile that too few operations support is left out.

use stats::Comparison;

use super::chart::{gain_of, intervals, judged_ink, judged_key};
use super::table::change;
use super::{AxisSeries, CONFIGURATION, ComparedAxis, Gain, PointValues, StudyComparison, axis_words};
use crate::change::Change;
use crate::chart::canvas::{Canvas, Ink, Side, TEXT, svg, text_width};
use crate::chart::frame::{Frame, WIDTH};
use crate::chart::gain::GainAxis;
use crate::chart::{Chart, legend};
use crate::format::UNKNOWN;
use crate::percentile::percentile_columns;
use crate::table::{Column, Row, Table, words};

/// The percentiles that a study shows, with what a reader calls them.
fn percentiles(comparison: &StudyComparison) -> Vec<(&'static str, String)> {
    comparison.percentiles.iter().map(|percentile| (percentile.metric().name, percentile.name())).collect()
}

/// Height of one percentile, and of the level above its percentiles.
const ROW: f64 = 22.0;
const HEADING: f64 = 26.0;

/// Levels of one chart.
const LEVELS_MOST: usize = 8;

/// A level with what it gains in each percentile that it has.
struct Level<'a> {
    /// With the axis, unless that is the configurations.
    name: String,
    gains: Vec<(String, &'a Gain)>,
}

/// The values of a percentile of all points, where the study measured it.
fn values<'a>(comparison: &'a StudyComparison, metric: &str, point: usize) -> Option<&'a PointValues> {
    if comparison.metric.name == metric {
        return comparison.points.get(point).map(|point| &point.values);
    }
    comparison.others.iter().find(|other| other.metric.name == metric)?.points.get(point)
}

/// The levels of a series against its reference.
fn levels<'a>(
    comparison: &'a StudyComparison,
    axis: &'a ComparedAxis,
    series: &AxisSeries,
) -> Vec<Level<'a>> {
    let shown = percentiles(comparison);
    let level = |(place, point): (usize, &Option<usize>)| {
        let gain = |metric: &str| {
            let gain = gain_of(axis, values(comparison, metric, (*point)?)?)?;
            gain.gain_pct.map(|_| gain)
        };
        let gains: Vec<(String, &Gain)> =
            shown.iter().filter_map(|(metric, name)| Some((name.clone(), gain(metric)?))).collect();
        (!gains.is_empty()).then(|| Level { name: name(axis, &axis.levels[place]), gains })
    };
    series.points.iter().enumerate().filter_map(level).collect()
}

fn name(axis: &ComparedAxis, level: &str) -> String {
    if axis.name == CONFIGURATION { level.to_owned() } else { format!("{} {level}", axis_words(&axis.name)) }
}

/// The gains of all percentiles of a series in one chart; none where nothing is compared, or no percentile is known.
pub(crate) fn chart(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries) -> Option<Chart> {
    let all = levels(comparison, axis, series);
    let (levels, more) = all.split_at(all.len().min(LEVELS_MOST));
    if levels.is_empty() {
        return None;
    }
    let height = levels.iter().map(|level| HEADING + level.gains.len() as f64 * ROW).sum::<f64>() + 60.0;
    let names = percentiles(comparison);
    let left = names.iter().map(|(_, name)| text_width(name)).fold(0.0, f64::max) + 16.0;
    let frame = Frame { left, right: WIDTH - 16.0, top: 8.0, bottom: height - 44.0 };
    let gains = levels.iter().flat_map(|level| &level.gains);
    let changes: Vec<Change> = gains.filter_map(|(_, gain)| gain.change()).collect();
    let x = GainAxis::of(&changes, frame.left, frame.right);
    let title = format!("Gain in each percentile by {}{}", axis_words(&axis.name), setting(series));
    let svg = svg((WIDTH, height), &title, &describe(levels), |canvas| {
        x.draw(canvas, &frame);
        let mut top = frame.top;
        for level in levels {
            canvas.text(Ink::Text, Side::Right, (0.0, top + TEXT), &level.name);
            top += HEADING;
            for (name, gain) in &level.gains {
                mark(canvas, &x, name, gain, top + ROW / 2.0);
                top += ROW;
            }
        }
    });
    Some(Chart {
        heading: format!("Gain in each percentile{}", setting(series)),
        svg,
        legend: legend(
            levels.iter().flat_map(|level| &level.gains).map(|(_, gain)| judged_key(gain, Ink::Text)),
        ),
        caption: caption(comparison, series, &all, more.len()) + x.remark(),
        table: table_of(axis, &all),
    })
}

fn setting(series: &AxisSeries) -> String {
    if series.setting.is_empty() { String::new() } else { format!(", {}", series.setting) }
}

/// One percentile: its gain as a point with its interval.
fn mark(canvas: &mut Canvas<'_>, x: &GainAxis, name: &str, gain: &Gain, y: f64) {
    let Some(change) = gain.change() else { return };
    let place = |gain_pct: f64| x.at(&change, gain_pct);
    let ink = judged_ink(gain, Ink::Text);
    canvas.text(Ink::Text, Side::Left, (x.axis.scale.from - 8.0, y), name);
    if let Some((low, high)) = change.ends {
        canvas.line(ink, 1.5, (place(low), y), (place(high), y));
        for end in [low, high] {
            canvas.line(ink, 1.5, (place(end), y - 4.0), (place(end), y + 4.0));
        }
    }
    canvas.dot(ink, 3.5, (place(change.gain_pct), y));
}

fn describe(levels: &[Level<'_>]) -> String {
    let gain = |(name, gain): &(String, &Gain)| format!("{name} {}, {}", change(gain), gain.words);
    let level = |level: &Level<'_>| {
        format!("{}: {}", level.name, level.gains.iter().map(gain).collect::<Vec<_>>().join(", "))
    };
    levels.iter().map(level).collect::<Vec<_>>().join("; ")
}

fn caption(comparison: &StudyComparison, series: &AxisSeries, all: &[Level<'_>], more: usize) -> String {
    let gains = || all.iter().flat_map(|level| &level.gains).map(|(_, gain)| *gain);
    let interval = match gains().any(|gain| gain.effect.is_some()) {
        true => format!(" with its {} over {} blocks", intervals(gains()), comparison.blocks.len()),
        false => " in one block, without an interval".to_owned(),
    };
    let more = match more {
        0 => String::new(),
        more => format!(" The table has {more} more levels."),
    };
    format!("Gain over {}{interval}. Lower latency is a gain.{more}", series.reference)
}

fn table_of(axis: &ComparedAxis, levels: &[Level<'_>]) -> Table {
    let columns = [axis_words(&axis.name), "percentile".into(), "gain".into(), "verdict".into()];
    let columns = columns.map(Column::words).into();
    let rows = levels.iter().flat_map(|level| {
        level.gains.iter().map(|(name, gain)| {
            Row::of(vec![level.name.clone(), name.clone(), change(gain), gain.words.clone()])
        })
    });
    Table { title: axis_words(&axis.name), columns, rows: rows.collect() }
}

/// The gains of all percentiles, a level of an axis a row, where the others stay at their references; none where nothing is
/// compared, or no percentile is known.
pub(crate) fn table(comparison: &StudyComparison) -> Option<Table> {
    let mut columns =
        vec![words("against", "the reference of the axis", 3), words("level", "level of the axis", 0)];
    let meaning = "change against the reference, with its interval; positive is better";
    let shown = percentile_columns(&comparison.percentiles, [1, 2, 0, 0]);
    columns.extend(shown.map(|column| Column { meaning, ..column }));
    let names = percentiles(comparison);
    let of_axis = |axis: &'_ ComparedAxis| {
        let of_series = |series: &AxisSeries| {
            let rows = levels(comparison, axis, series).into_iter().map(|level| row(series, &level, &names));
            rows.collect::<Vec<Row>>()
        };
        axis.series.iter().filter(|series| series.at_reference).flat_map(of_series).collect::<Vec<Row>>()
    };
    let rows: Vec<Row> = comparison.axes.iter().flat_map(of_axis).collect();
    let heads: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    let title = "Gain in each percentile of the latency (lower is a gain; * better or worse)";
    Table::of(title, columns, rows).map(|table| table.without_empty_columns(&heads))
}

/// Percentiles that may have a star.
pub(crate) fn starred(comparison: &StudyComparison) -> usize {
    if comparison.blocks.len() < stats::BLOCKS_MIN { 0 } else { percentiles(comparison).len() }
}

fn row(series: &AxisSeries, level: &Level<'_>, names: &[(&'static str, String)]) -> Row {
    let cell = |(_, wanted): &(&'static str, String)| {
        let gain = level.gains.iter().find(|(name, _)| name == wanted).map(|(_, gain)| gain);
        let is_shown = |gain: &&&Gain| {
            gain.judged
                .is_some_and(|judged| matches!(judged.comparison, Comparison::Better | Comparison::Worse))
        };
        let mark = if gain.filter(is_shown).is_some() { "*" } else { "" };
        gain.map_or_else(|| UNKNOWN.to_owned(), |gain| change(gain) + mark)
    };
    let lead = [series.reference.clone(), format!("{}{}", level.name, setting(series))];
    Row::of(lead.into_iter().chain(names.iter().map(cell)).collect())
}
