//! Tables of registers: each trial, what no register does with what proves it, and each time without an answer.

use record::Workload;
use record::register::Away;

use super::finding::told;
use super::{AwayTimes, Register};
use crate::format::{self, figure_or_dash, grouped, latency_or_dash};
use crate::report::Report;
use crate::table::{Row, Table, column, dash, level_cells, level_columns, level_keys, words};
use crate::trial::Trial;

/// A row a trial.
pub(crate) fn registers(report: &Report) -> Option<Table> {
    let trials: Vec<&Trial> = report.trials_of(Workload::Register).collect();
    let keys = level_keys(trials.iter().copied());
    let mut columns =
        vec![column("#", "number of the trial", 3), words("registers", "name of the configuration", 0)];
    columns.extend(level_columns(&keys));
    columns.extend([
        column("offered/s", "planned operations per second", 4),
        column("operations/s", "writes and reads answered per second", 1),
        column("p99", "99th percentile of the operations", 2),
        column("max", "longest operation", 3),
        column("away", "longest time without any answer", 0),
        column("writes away", "longest time without an acknowledged write", 2),
        column("reads away", "longest time without an answered read", 2),
        column("acknowledged", "acknowledged writes, including warm-up", 1),
        column("lost", "lost acknowledged writes", 0),
        column("unanswered", "writes without an answer: they may or may not have been done", 1),
        column("were done", "unanswered writes that a client read", 4),
        column("refused", "writes that the server refused", 4),
        words("anomalies", "violations of consistency", 0),
        words("state", "end of the trial, if not complete", 0),
    ]);
    let table = Table::of("Registers", columns, trials.iter().map(|trial| row(trial, &keys)));
    table.map(|table| table.without_empty_columns(&["state"]))
}

fn row(trial: &Trial, keys: &[String]) -> Row {
    let mut cells = vec![trial.number.to_string(), trial.name.clone()];
    cells.extend(level_cells(true, &trial.levels, keys));
    let register = trial.register();
    let latency = trial.main().map(|figures| &figures.latency);
    let count = |value: fn(&Register) -> u64| dash(register.map(value).map(grouped));
    let longest = |away: fn(&Register) -> &AwayTimes| {
        let away = register.map(away).filter(|away| !away.times.is_empty());
        dash(away.map(|away| format::duration(away.longest_s)))
    };
    cells.extend([
        figure_or_dash(trial.offered_per_s),
        figure_or_dash(trial.main().and_then(|figures| figures.per_s)),
        latency_or_dash(latency.and_then(|latency| latency.p99_us)),
        latency_or_dash(latency.and_then(|latency| latency.max_us)),
        longest(|register| &register.away),
        longest(|register| &register.writes_away),
        longest(|register| &register.reads_away),
        count(|register| register.writes.acknowledged),
        count(|register| register.writes.lost),
        count(|register| register.writes.unanswered),
        count(|register| register.writes.unanswered_seen),
        count(|register| register.writes.refused),
        dash(register.map(|one| if one.is_register() { "none".to_owned() } else { told(one) })),
        if trial.is_complete() { String::new() } else { format::state(trial.state).to_owned() },
    ]);
    Row::of(cells)
}

/// A row an anomaly that is told, with the operations that prove it.
pub(crate) fn anomalies(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 1),
        words("anomaly", "kind of violation", 0),
        column("register", "its number", 0),
        words("operations that prove it", "client, operation, and the seconds of sending and answer", 0),
    ];
    let trials = report.trials_of(Workload::Register);
    let rows = trials.flat_map(|trial| {
        let mut told: Vec<_> = trial.register().into_iter().flat_map(|register| &register.told).collect();
        told.sort_by_key(|anomaly| anomaly.kind);
        told.into_iter().map(|anomaly| {
            let operations: Vec<String> = anomaly.operations.iter().map(ToString::to_string).collect();
            let kind = anomaly.kind.to_string();
            Row::of(vec![trial.name.clone(), kind, anomaly.key.to_string(), operations.join("; ")])
        })
    });
    Table::of("Violations of consistency", columns, rows.collect::<Vec<Row>>())
}

/// Most times without an answer of a trial that a table shows.
const SHOWN_MAX: usize = 20;

/// A row a time without an answer.
pub(crate) fn away(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 1),
        words("without an answer", "operations without an answer", 0),
        column("from", "seconds since the load began", 0),
        column("to", "seconds since the load began", 1),
        column("length", "until the next answer, or the end of the load", 0),
    ];
    let row = |trial: &Trial, what: &str, away: &Away| {
        let end_s = trial.samples.last().map_or(0.0, |sample| sample.end_s);
        let seconds = |s: f64| format!("{s:.3} s");
        let to = away.end_s.map_or_else(|| "the end".to_owned(), seconds);
        let length = format::duration(away.length_s(end_s));
        Row::of(vec![trial.name.clone(), what.to_owned(), seconds(away.start_s), to, length])
    };
    let trials = report.trials_of(Workload::Register);
    let rows = trials.flat_map(|trial| {
        let kinds = trial.register().into_iter().flat_map(|register| {
            [
                ("all operations", &register.away),
                ("writes", &register.writes_away),
                ("reads", &register.reads_away),
            ]
        });
        kinds.flat_map(move |(what, away)| {
            away.times.iter().take(SHOWN_MAX).map(move |away| row(trial, what, away))
        })
    });
    Table::of("Times without an answer", columns, rows.collect::<Vec<Row>>())
}
