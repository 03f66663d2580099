//! The course of the updates by key of a trial.

use record::Phase;
use record::tables::POINT_UPDATE;

use crate::chart::canvas::Ink;
use crate::chart::frame::from_zero;
use crate::chart::over_time::{Band, Course, Line, Span};
use crate::chart::{Chart, histogram, over_time};
use crate::format::figure;
use crate::trial::Trial;

/// The charts of a trial; those of which nothing was recorded are left out.
pub(crate) fn all(trial: &Trial) -> Vec<Chart> {
    let charts = [
        rate(trial),
        histogram::of_kind("Response time of an update by key", trial, POINT_UPDATE),
        over_time::latency(trial, POINT_UPDATE),
    ];
    charts.into_iter().flatten().collect()
}

/// Updates by key a second.
fn rate(trial: &Trial) -> Option<Chart> {
    // Nothing begins while the last updates drain.
    let line = Line::of(Ink::Series(0), "finished", trial, |sample| {
        trial.rate_in(sample).filter(|_| sample.phase != Phase::Drain)
    });
    let lines: Vec<Line> = [line].into_iter().filter(|line| line.values().count() > 1).collect();
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let course = Course { lines, band: None::<Band>, spans: Span::of(trial) };
    let y = from_zero(most, "updates by key per second");
    let remark = "One point per second. Shaded seconds do not count.";
    Some(course.chart(trial, "Updates by key per second over time", &y, remark, ("updates/s", figure)))
}
