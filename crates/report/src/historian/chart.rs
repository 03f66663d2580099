//! The course of a historian: pending records, offered and written records, screens and sizes over the seconds of a
//! trial, with purges and outages marked as spans.

use record::{PENDING, PENDING_MAX, PENDING_MIN, Phase, Sample};

use crate::chart::Chart;
use crate::chart::aligned::{self, Panel};
use crate::chart::canvas::Ink;
use crate::chart::frame::{Axis, Frame, HEIGHT, from_zero};
use crate::chart::over_time::{Band, Course, Line, Span};
use crate::chart::scale::Scale;
use crate::format::{self, plain_latency};
use crate::historian::UNIT;
use crate::trial::Trial;
use record::historian::{COMMIT, DATABASE_BYTES, LATEST, LOG_BYTES, RECORD, TREND};

/// The charts of a trial; those of which nothing was recorded are left out.
pub(crate) fn historian(trial: &Trial) -> Vec<Chart> {
    let charts = [
        course(trial),
        crate::chart::histogram::of_kind("Flush latency", trial, COMMIT),
        screens(trial),
        sizes(trial),
    ];
    charts.into_iter().flatten().collect()
}

fn gauge(name: &'static str) -> impl Fn(&Sample) -> Option<f64> {
    move |sample| sample.gauges.get(name).copied()
}

/// Offered and written records, the backlog, and the latency of a record.
pub(super) fn course(trial: &Trial) -> Option<Chart> {
    // Nothing is offered while what is pending drains.
    let loaded = |sample: &Sample| sample.phase != Phase::Drain;
    let offered = Line::of(Ink::Series(2), "offered", trial, |sample| {
        super::offered_per_s(sample).filter(|_| loaded(sample))
    });
    let written =
        Line::of(Ink::Series(0), "written", trial, |sample| trial.rate_in(sample).filter(|_| loaded(sample)));
    let rates = [offered, written.broken()].into_iter().filter(|line| line.values().count() > 1).collect();
    let mean = Line::of(Ink::Series(0), "mean pending", trial, gauge(PENDING));
    let band = Band::of(Ink::Series(0), trial, gauge(PENDING_MIN), gauge(PENDING_MAX));
    let panels = [
        Panel::rate(rates, UNIT.long, UNIT.short),
        Panel::count(mean, band, "pending records"),
        Panel::latency(trial, RECORD),
    ];
    let remark = "Pending: accepted and not yet committed, the mean of each second and its lowest to highest value. A rate is sustained if the backlog keeps returning to nearly zero. Shaded seconds, such as warm-up, do not count.";
    aligned::of(trial, panels, remark)
}

/// The longest read of each second in which a screen read.
fn screens(trial: &Trial) -> Option<Chart> {
    let longest = |ink: Ink, kind: &'static str| {
        Line::of(ink, kind, trial, move |sample| sample.operations.get(kind)?.latency.max_us)
    };
    let lines = [longest(Ink::Series(0), TREND), longest(Ink::Series(1), LATEST)];
    let lines: Vec<Line> = lines.into_iter().filter(|line| line.values().count() > 1).collect();
    let low = lines.iter().flat_map(Line::values).reduce(f64::min)?;
    let high = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = Axis {
        scale: Scale::decades(low, high, bottom, top),
        title: "longest read of each second",
        print: plain_latency,
    };
    let course = Course { lines, band: None, spans: Span::of(trial) };
    Some(course.chart(
        trial,
        "Screens",
        &y,
        "Trend: a time window of the tags on a screen. Latest: their latest values. Seconds without a read have no point.",
        ("", format::latency),
    ))
}

/// Sizes that differ by more than this factor share no even scale.
const EVEN_FACTOR_MAX: f64 = 20.0;

/// The least or the greatest value above zero of all lines.
fn of_all(lines: &[Line], choose: fn(f64, f64) -> f64) -> Option<f64> {
    lines.iter().flat_map(Line::values).filter(|value| *value > 0.0).reduce(choose)
}

fn sizes(trial: &Trial) -> Option<Chart> {
    let size = |ink: Ink, name: &str, of: &'static str| Line::of(ink, name, trial, gauge(of)).joined();
    let lines = [size(Ink::Series(0), "database", DATABASE_BYTES), size(Ink::Series(1), "log", LOG_BYTES)];
    let lines: Vec<Line> = lines.into_iter().filter(|line| line.values().count() > 1).collect();
    let (low, most) = (of_all(&lines, f64::min)?, of_all(&lines, f64::max)?);
    let course = Course { lines, band: None, spans: Span::of(trial) };
    // Beside a log that is far larger, nothing of a database would be seen on an even scale.
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = match low > 0.0 && most / low > EVEN_FACTOR_MAX {
        true => {
            Axis { scale: Scale::decades(low, most, bottom, top), title: "size", print: format::plain_bytes }
        }
        false => Axis { print: format::plain_bytes, ..from_zero(most, "size") },
    };
    let remark = "Sizes of the database and of its log, if the server reports them. Each dot is a reading.";
    Some(course.chart(trial, "Size over time", &y, remark, ("", format::decimal_bytes)))
}
