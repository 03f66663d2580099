//! The course of a trial of scripts.

use record::Phase;
use record::script::TRANSACTION;

use super::{UNIT, is_replay};
use crate::chart::aligned::{self, Panel};
use crate::chart::canvas::Ink;
use crate::chart::over_time::Line;
use crate::chart::{Chart, histogram, strip};
use crate::trial::Trial;

/// The charts of a trial; those of which nothing was recorded are left out.
pub(crate) fn all(trial: &Trial) -> Vec<Chart> {
    let charts = [
        course(trial),
        histogram::of_kind("Response time of a transaction", trial, TRANSACTION),
        strip::operations(trial, "A transaction and its statements"),
    ];
    charts.into_iter().flatten().collect()
}

/// Transactions per second, finished and offered, their response time, and the activity of sessions.
pub(super) fn course(trial: &Trial) -> Option<Chart> {
    // Nothing begins while the last transactions drain.
    let is_loaded = |phase: Phase| phase != Phase::Drain;
    let finished = Line::of(Ink::Series(0), "finished", trial, |sample| {
        trial.rate_in(sample).filter(|_| is_loaded(sample.phase))
    });
    // What a log has in a second is another thing than its mean.
    let offered = trial.offered_per_s.filter(|_| !is_replay(trial)).map(|rate| {
        Line::of(Ink::Series(2), "offered", trial, move |sample| is_loaded(sample.phase).then_some(rate))
    });
    let lines = offered.into_iter().chain([finished.broken()]);
    let lines: Vec<Line> = lines.filter(|line| line.values().count() > 1).collect();
    let remark = "Without failed transactions. One point per second; shaded seconds do not count.";
    let panels = [
        Panel::rate(lines, UNIT.long, UNIT.short),
        Panel::latency(trial, TRANSACTION),
        Panel::sessions(trial),
    ];
    aligned::of(trial, panels, remark)
}
