//! The course of a trial of reports.

use record::Resources;
use record::reporting::EVENT;

use super::Reporting;
use crate::chart::canvas::Ink;
use crate::chart::frame::from_zero;
use crate::chart::over_time::{Band, Course, Line, Span};
use crate::chart::{Chart, over_time};
use crate::format::figure;
use crate::trial::Trial;

/// The charts of a trial; those of which nothing was recorded are left out.
pub(crate) fn all(trial: &Trial) -> Vec<Chart> {
    let reporting = trial.reporting();
    [reporting.and_then(|reporting| times(trial, reporting)), memory(trial), over_time::latency(trial, EVENT)]
        .into_iter()
        .flatten()
        .collect()
}

/// What each report took, at its end.
fn times(trial: &Trial, reporting: &Reporting) -> Option<Chart> {
    let longest_s = reporting.runs.iter().map(|run| run.took_s).reduce(f64::max)?;
    // On an axis of whole seconds reports of milliseconds lie on its floor.
    let (unit, title, per_s) = match longest_s < 1.0 {
        true => ("ms", "milliseconds per report", 1e3),
        false => ("s", "seconds per report", 1.0),
    };
    let ends = reporting.runs.iter().map(|run| (run.begin_s + run.took_s, run.took_s * per_s));
    let line = Line::through(Ink::Series(0), unit, ends).joined();
    let most = line.values().reduce(f64::max).filter(|_| line.values().count() > 1)?;
    let course = Course { lines: vec![line], band: None::<Band>, spans: Span::of(trial) };
    let y = from_zero(most, title);
    let remark =
        "One point per report, at the time when its last row was read. The first one is not in the mean.";
    Some(course.chart(trial, "Time of each report", &y, remark, (unit, figure)))
}

/// Memory of the server's processes.
fn memory(trial: &Trial) -> Option<Chart> {
    const MIB: f64 = 1_048_576.0;
    let sum = |resources: &Resources| {
        let bytes: u64 = resources.servers.values().map(|server| server.memory_bytes).sum();
        (!resources.servers.is_empty()).then_some((resources.end_s, bytes as f64 / MIB))
    };
    let line = Line::through(Ink::Series(1), "memory", trial.beside.resources.iter().filter_map(sum));
    let most = line.values().reduce(f64::max).filter(|_| line.values().count() > 1)?;
    let course = Course { lines: vec![line], band: None::<Band>, spans: Span::of(trial) };
    let y = from_zero(most, "MiB");
    Some(course.chart(
        trial,
        "Memory of the server's processes",
        &y,
        "Without the page cache.",
        ("MiB", figure),
    ))
}
