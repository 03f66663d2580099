//! Tables of scripts: their transactions, and each statement of them.

use std::collections::BTreeMap;

use record::Workload;

use super::Script;
use crate::format::{self, figure, figure_or_dash, grouped, latency_or_dash};
use crate::report::Report;
use crate::table::{Row, Table, column, dash, level_cells, level_columns, level_keys, words};
use crate::trial::{Figures, Trial};

/// A row a trial.
pub(crate) fn transactions(report: &Report) -> Option<Table> {
    let trials: Vec<&Trial> = report.trials_of(Workload::Script).collect();
    let keys = level_keys(trials.iter().copied());
    let mut columns =
        vec![column("#", "number of the trial", 3), words("scripts", "name of the configuration", 0)];
    columns.extend(level_columns(&keys));
    columns.extend([
        column("offered/s", "planned transactions per second", 0),
        column("transactions/s", "transactions finished per second, without failed ones", 0),
        column("95%", "interval of the transactions per second, for this run only", 5),
        column("mean", "mean response time of a transaction, without think time", 2),
        column("p95", "95th percentile of the transactions", 1),
        column("p99", "99th percentile of the transactions", 0),
        column("max", "longest transaction", 4),
        column(
            "failed",
            "abandoned after a conflict, or because an expectation of their script was not met",
            2,
        ),
        column("late", "later than the limit, or not sent because they were already late", 1),
        column("retries", "retried after a deadlock or a serialization failure", 4),
        column("clients differ", "(max − min) / max of the clients' transactions", 5),
        words("state", "end of the trial, if not complete", 0),
    ]);
    let table = Table::of("Scripts", columns, trials.iter().map(|trial| row(trial, &keys)));
    table.map(|table| table.without_empty_columns(&["state", "95%", "offered/s", "late"]))
}

fn row(trial: &Trial, keys: &[String]) -> Row {
    let mut cells = vec![trial.number.to_string(), trial.name.clone()];
    cells.extend(level_cells(true, &trial.levels, keys));
    let script = trial.script();
    let latency = trial.figures.first().map(|figures| &figures.latency);
    let count = |value: fn(&Script) -> u64| dash(script.map(value).map(grouped));
    cells.extend([
        figure_or_dash(trial.offered_per_s),
        figure_or_dash(script.and_then(|script| script.per_s)),
        dash(trial.rate_per_s.map(|e| format!("{}–{}", figure(e.low), figure(e.high)))),
        latency_or_dash(latency.and_then(|latency| latency.mean_us)),
        latency_or_dash(latency.and_then(|latency| latency.p95_us)),
        latency_or_dash(latency.and_then(|latency| latency.p99_us)),
        latency_or_dash(latency.and_then(|latency| latency.max_us)),
        count(|script| script.failed),
        dash(script.and_then(|script| script.late.as_ref()?.share).map(format::per_cent)),
        count(|script| script.retries),
        dash(script.and_then(|script| script.client_variability).map(format::per_cent)),
        if trial.is_complete() { String::new() } else { format::state(trial.state).to_owned() },
    ]);
    Row::of(cells)
}

/// A transaction as a whole, then each script where there are several, then each statement.
pub(crate) fn statements(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        words("operation", "a whole transaction, or the file and line of a statement", 0),
        words("statement", "its first words", 2),
        column("count", "completed in the measured window", 1),
        column("errors", "ended with an error, or failed", 2),
        column("mean", "mean latency", 0),
        column("p50", "median", 2),
        column("p95", "95th percentile", 1),
        column("p99", "99th percentile", 0),
        column("max", "longest", 3),
    ];
    let operation = |trial: &Trial, words: &BTreeMap<&str, &str>, index: usize, figures: &Figures| {
        let latency = &figures.latency;
        let name = if index == 0 { trial.name.clone() } else { String::new() };
        let begins = words.get(figures.kind.as_str()).map(|&words| words.to_owned()).unwrap_or_default();
        let times = [latency.mean_us, latency.p50_us, latency.p95_us, latency.p99_us, latency.max_us]
            .map(latency_or_dash);
        let counts = [grouped(figures.operations), grouped(figures.errors)];
        let lead = [name, figures.kind.clone(), begins];
        Row { cells: lead.into_iter().chain(counts).chain(times).collect(), part: index > 0 }
    };
    let rows = report.trials_of(Workload::Script).flat_map(|trial| {
        let statements = trial.script().map(|script| script.statements.as_slice()).unwrap_or_default();
        let words: BTreeMap<&str, &str> =
            statements.iter().map(|statement| (statement.kind.as_str(), statement.begins.as_str())).collect();
        let rows = trial.figures.iter().enumerate();
        rows.map(|(index, figures)| operation(trial, &words, index, figures)).collect::<Vec<Row>>()
    });
    Table::of("A transaction and its statements", columns, rows)
}
