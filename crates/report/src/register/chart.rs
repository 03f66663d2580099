//! The course of a trial of registers.

use record::Phase;
use record::register::{READ, WRITE};

use crate::chart::canvas::Ink;
use crate::chart::frame::from_zero;
use crate::chart::over_time::{Band, Course, Line, Span};
use crate::chart::{Chart, histogram, over_time, strip};
use crate::format::figure;
use crate::trial::Trial;

/// The charts of a trial; those of which nothing was recorded are left out.
pub(crate) fn all(trial: &Trial) -> Vec<Chart> {
    let charts = [
        rate(trial),
        over_time::latency(trial, WRITE),
        histogram::of_kind("Response time of a write", trial, WRITE),
        histogram::of_kind("Response time of a read", trial, READ),
        strip::operations(trial, "Writes and reads"),
    ];
    charts.into_iter().flatten().collect()
}

/// Operations a second, beside what was offered: what is missing is an outage.
fn rate(trial: &Trial) -> Option<Chart> {
    // Nothing begins while the last operations drain.
    let is_loaded = |phase: Phase| phase != Phase::Drain;
    let mut lines = vec![
        Line::of(Ink::Series(0), "answered", trial, |sample| {
            trial.rate_in(sample).filter(|_| is_loaded(sample.phase))
        })
        .broken(),
    ];
    lines.extend(trial.offered_per_s.map(|rate| {
        Line::of(Ink::Series(2), "offered", trial, move |sample| is_loaded(sample.phase).then_some(rate))
            .broken()
    }));
    lines.retain(|line| line.values().count() > 1);
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let course = Course { lines, band: None::<Band>, spans: Span::of(trial) };
    let y = from_zero(most, "operations per second");
    let remark = "One point per second. Shaded seconds do not count.";
    Some(course.chart(trial, "Operations per second over time", &y, remark, ("operations/s", figure)))
}
