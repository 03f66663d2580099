//! The course of a trial of registers.

use record::register::{Anomaly, AnomalyKind, Operation, READ, WRITE};
use record::{Phase, Sample};

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
pub(super) fn rate(trial: &Trial) -> Option<Chart> {
    // Nothing begins while the last operations drain.
    let is_loaded = |phase: Phase| phase != Phase::Drain;
    let offered = trial.offered_per_s.map(|rate| {
        Line::of(Ink::Series(2), "offered", trial, move |sample| is_loaded(sample.phase).then_some(rate))
            .broken()
    });
    // Above what was offered, which it hides where all of that is answered.
    let answered = Line::of(Ink::Series(0), "answered", trial, |sample| {
        trial.rate_in(sample).filter(|_| is_loaded(sample.phase))
    });
    let mut lines: Vec<Line> = offered.into_iter().chain([answered.broken()]).collect();
    lines.retain(|line| line.values().count() > 1);
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let unanswered = unanswered(trial);
    let remark = remark(trial, unanswered.is_some());
    lines.extend(unanswered);
    let spans = Span::of(trial).into_iter().chain(loss(trial)).collect();
    let course = Course { lines, band: None::<Band>, spans };
    let y = from_zero(most, "operations per second");
    Some(course.chart(trial, "Operations per second over time", &y, &remark, ("operations/s", figure)))
}

fn remark(trial: &Trial, has_unanswered: bool) -> String {
    let was_away = trial.register().is_some_and(|register| !register.away.times.is_empty());
    let waited = if was_away && trial.offered_per_s.is_some() {
        " A peak after an outage is of operations that waited."
    } else {
        ""
    };
    let dots = if has_unanswered { " Dots: writes without an answer." } else { "" };
    format!("One point per second. Grey seconds do not count.{waited}{dots}")
}

/// Writes without an answer in the seconds in which their clients stopped waiting; none where samples do not tell them from others.
fn unanswered(trial: &Trial) -> Option<Line> {
    let writes = &trial.register()?.writes;
    let errors = |sample: &Sample| sample.operations.get(WRITE).map_or(0, |operation| operation.errors);
    let is_told = trial.samples.iter().map(errors).sum::<u64>() == writes.unanswered;
    (is_told && writes.unanswered > 0).then(|| {
        Line::of(Ink::Series(3), "unanswered", trial, |sample| {
            Some(errors(sample) as f64 / sample.length_s).filter(|per_s| *per_s > 0.0)
        })
    })
}

/// When it was first seen that an acknowledged write was gone, if the load still went on.
fn loss(trial: &Trial) -> Option<Span> {
    let is_loss = |anomaly: &&Anomaly| anomaly.kind == AnomalyKind::LostUpdate;
    let told = trial.register()?.told.iter().filter(is_loss);
    let seen_ns =
        told.filter_map(|anomaly| anomaly.operations.iter().map(Operation::ended_ns).max()).min()?;
    let seen_s = seen_ns as f64 / 1e9;
    let end_s = trial.samples.last().map_or(0.0, |sample| sample.end_s);
    (seen_s <= end_s).then_some(Span { ink: Ink::Text, name: "loss seen", begin_s: seen_s, end_s: seen_s })
}
