//! The tables of disks: configurations or trials, open loops, the matrix of a steady state, and what was published.

use std::borrow::Cow;

use record::{Percentiles, Summary, Workload};

use super::SteadyState;
use super::published::Comparison;
use crate::configuration::Configuration;
use crate::format::{self, figure_or_dash, latency_or_dash};
use crate::machine::Machine;
use crate::percentile::{PercentileIntervals, percentile_columns};
use crate::report::Report;
use crate::table::{
    Column, Row, Table, column, dash, level_cells, level_columns, level_keys, number_column, words,
};
use crate::trial::{Figures, Generator, Trial};

/// The main table: a configuration a row where there are repeats, else a trial a row.
pub(crate) fn main(report: &Report) -> Table {
    if super::repeats(report) { configurations(report) } else { trials(report) }
}

/// Every trial of a disk.
pub(crate) fn trials(report: &Report) -> Table {
    let mut columns = vec![
        number_column(report.disks().filter(|trial| !trial.is_skipped())),
        words("trial", "name of the configuration", 0),
    ];
    let keys = level_keys(report.disks());
    columns.extend(level_columns(&keys));
    columns.extend(figure_columns(OF_THIS_RUN, &report.percentiles));
    columns.push(words("state", "end of the trial, if not complete", 0));
    let rows = report
        .disks()
        .filter(|trial| !trial.is_skipped())
        .flat_map(|trial| trial_rows(trial, &keys, &report.percentiles))
        .collect();
    Table { title: "Trials".to_owned(), columns, rows }.without_empty_columns(&["state", "95%"])
}

fn trial_rows(trial: &Trial, keys: &[String], percentiles: &Percentiles) -> Vec<Row> {
    let state = if trial.is_complete() { String::new() } else { format::state(trial.state).to_owned() };
    let empty = Figures {
        kind: String::new(),
        operations: 0,
        errors: 0,
        per_s: None,
        mb_per_s: None,
        latency: Summary::default(),
        intervals: PercentileIntervals::default(),
        own_percentiles: Vec::new(),
        service: None,
        lag: None,
        in_flight: None,
    };
    let figures: Vec<&Figures> =
        if trial.figures.is_empty() { vec![&empty] } else { trial.figures.iter().collect() };
    let row = |(index, figures): (usize, &&Figures)| {
        let main = index == 0;
        let mut cells = lead(main, trial.number.to_string(), &trial.name, &figures.kind);
        cells.extend(level_cells(main, &trial.levels, keys));
        let interval = trial.rate_per_s.filter(|_| main).map(|e| (e.low, e.high));
        let cost = main.then_some((&trial.generator, &trial.machine));
        cells.extend(figure_cells(figures, interval, cost, percentiles));
        cells.push(if main { state.clone() } else { String::new() });
        Row { cells, part: !main }
    };
    figures.iter().enumerate().map(row).collect()
}

/// The first cells: number and name; of a part, the kind of operation in the name's place.
fn lead(main: bool, number: String, name: &str, kind: &str) -> Vec<String> {
    if main { vec![number, name.to_owned()] } else { vec![String::new(), format!("· {kind}")] }
}

/// Configurations with their repeats taken together.
fn configurations(report: &Report) -> Table {
    let mut columns = vec![column("runs", "repeats in this row", 3), words("configuration", "name", 0)];
    let keys = level_keys(report.disks());
    columns.extend(level_columns(&keys));
    columns.extend(figure_columns(OVER_REPEATS, &report.percentiles));
    columns.push(column("best", "I/Os per second of the best repeat", 1));
    columns.push(column(
        "best MB/s",
        "10^6 bytes per second of the best repeat, as CrystalDiskMark prints",
        1,
    ));
    columns.push(words("not complete", "trials that do not count, if any", 0));
    let rows = report
        .configurations_of(Workload::Disk)
        .flat_map(|configuration| configuration_rows(configuration, &keys, &report.percentiles))
        .collect();
    let title = match report.disk.steady_state.as_ref().and_then(|state| state.window) {
        Some((first, last)) => format!("Configurations: rounds {first} to {last} together"),
        None => "Configurations: all repeats together".to_owned(),
    };
    Table { title, columns, rows }.without_empty_columns(&["95%", "not complete"])
}

fn configuration_rows(configuration: &Configuration, keys: &[String], percentiles: &Percentiles) -> Vec<Row> {
    let row = |(index, figures): (usize, &Figures)| {
        let main = index == 0;
        let runs = configuration.trials.len().to_string();
        let mut cells = lead(main, runs, &configuration.name, &figures.kind);
        cells.extend(level_cells(main, &configuration.levels, keys));
        let interval = configuration.rate_per_s.filter(|_| main).map(|e| (e.low.max(0.0), e.high));
        cells.extend(figure_cells(
            figures,
            interval,
            main.then_some((&configuration.generator, &configuration.machine)),
            percentiles,
        ));
        let best = |value: Option<f64>| if main { figure_or_dash(value) } else { String::new() };
        cells.extend([best(configuration.best_per_s), best(configuration.best_mb_per_s)]);
        cells.push(if main { configuration.not_complete.clone() } else { String::new() });
        Row { cells, part: !main }
    };
    configuration.figures.iter().enumerate().map(row).collect()
}

/// What an interval of one trial is of.
const OF_THIS_RUN: &str = "interval of the operations per second, for this run only";

/// What an interval of several trials is of.
const OVER_REPEATS: &str =
    "interval of the operations per second: over the repeats; with one repeat, for this run only";

fn figure_columns(interval: &'static str, percentiles: &Percentiles) -> Vec<Column> {
    let mut columns = vec![
        column("IOPS", "operations per second", 0),
        column("95%", interval, 5),
        column("MB/s", "10^6 bytes per second", 0),
        column("mean", "mean latency", 0),
    ];
    columns.extend(percentile_columns(percentiles, [2, 4, 0, 3]));
    columns.extend([
        column("max", "longest latency", 1),
        column("in flight", "mean number of operations in flight, by Little's law", 2),
        column("CPU µs", "CPU time of the load generator per operation, in microseconds", 2),
        column("all CPU µs", "CPU time of the whole machine per operation, in microseconds", 6),
    ]);
    columns
}

fn figure_cells(
    figures: &Figures,
    interval: Option<(f64, f64)>,
    cost: Option<(&Generator, &Machine)>,
    percentiles: &Percentiles,
) -> Vec<String> {
    let cpu = |value: Option<f64>| if cost.is_some() { figure_or_dash(value) } else { String::new() };
    let mut cells = vec![
        figure_or_dash(figures.per_s),
        dash(interval.map(|(low, high)| format!("{}–{}", format::figure(low), format::figure(high)))),
        figure_or_dash(figures.mb_per_s),
        latency_or_dash(figures.latency.mean_us),
    ];
    cells.extend(percentiles.iter().map(|percentile| latency_or_dash(figures.percentile(percentile).0)));
    cells.extend([
        latency_or_dash(figures.latency.max_us),
        figure_or_dash(figures.in_flight),
        cpu(cost.and_then(|(generator, _)| generator.cpu_us_per_operation)),
        cpu(cost.and_then(|(_, machine)| machine.cpu_us_per_operation)),
    ]);
    cells
}

/// Open loops: what was offered and what came, with the three times apart. None where all loops were closed.
pub(crate) fn open_loops(report: &Report) -> Option<Table> {
    let open: Vec<(&Trial, &Figures)> = report
        .disks()
        .filter(|trial| trial.offered_per_s.is_some())
        .filter_map(|trial| Some((trial, trial.main()?)))
        .collect();
    let columns = vec![
        words("trial", "name of the configuration", 0),
        column("offered /s", "planned operations per second", 0),
        column("achieved /s", "operations completed per second", 0),
        column("unsent", "planned, but not sent at the end of the window", 0),
        column("response p50", "completion − planned time, median", 2),
        column("response p99", "completion − planned time, 99th percentile", 0),
        column("service p50", "completion − sending, median", 3),
        column("service p99", "completion − sending, 99th percentile", 1),
        column("lag p50", "sending − planned time, median", 4),
        column("lag p99", "sending − planned time, 99th percentile", 1),
    ];
    let times = |summary: Option<Summary>| {
        let summary = summary.unwrap_or_default();
        [latency_or_dash(summary.p50_us), latency_or_dash(summary.p99_us)]
    };
    let row = |(trial, figures): &(&Trial, &Figures)| {
        let mut cells = vec![
            trial.name.clone(),
            figure_or_dash(trial.offered_per_s),
            figure_or_dash(figures.per_s),
            format::grouped(trial.unsent),
        ];
        cells.extend(times(Some(figures.latency)));
        cells.extend(times(figures.service));
        cells.extend(times(figures.lag));
        Row::of(cells)
    };
    let rows: Vec<Row> = open.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table { title: "Open loops: offered and achieved".to_owned(), columns, rows })
}

/// The IOPS matrix: block sizes down, shares of reads across. None where no window was measured.
pub(crate) fn matrix(state: &SteadyState) -> Option<Table> {
    let mut mixes: Vec<f64> = state.matrix.iter().map(|cell| cell.read_per_cent).collect();
    mixes.sort_by(|a, b| b.total_cmp(a));
    mixes.dedup();
    let mut blocks: Vec<u64> = state.matrix.iter().map(|cell| cell.block_bytes).collect();
    blocks.dedup();
    let (first, last) = state.window?;
    let mut columns = vec![words("block", "bytes of one I/O", 0)];
    columns.extend(
        mixes.iter().map(|&mix| Column {
            head: Cow::Owned(format!("{mix}% read")),
            ..column("", "share of reads", 0)
        }),
    );
    let at = |block: u64, mix: f64| {
        let cell = state.matrix.iter().find(|cell| cell.block_bytes == block && cell.read_per_cent == mix);
        figure_or_dash(cell.map(|cell| cell.per_s))
    };
    let row = |&block: &u64| {
        let cells = mixes.iter().map(|&mix| at(block, mix));
        Row::of([format::bytes(block)].into_iter().chain(cells).collect())
    };
    let rows: Vec<Row> = blocks.iter().map(row).collect();
    let title = format!("IOPS by block size and share of reads, mean of rounds {first} to {last}");
    (!rows.is_empty()).then_some(Table { title, columns, rows })
}

/// The measured row and the published ones.
pub(crate) fn published(comparison: &Comparison) -> Table {
    let columns = vec![
        words("device", "what was loaded", 0),
        words("load", "block, threads, outstanding I/Os", 1),
        column("IOPS", "I/Os per second", 0),
        column("MB/s", "10^6 bytes per second", 0),
        column("mean", "mean latency", 0),
        column("max", "longest latency", 0),
    ];
    let rows = comparison.rows.iter().map(|row| {
        let over = |value: Option<f64>| match (row.at_least, value) {
            (true, Some(value)) => format!("> {}", format::figure(value)),
            (_, value) => figure_or_dash(value),
        };
        // SQLIO prints whole milliseconds, so that 0 means less than one.
        let ms = |value: Option<f64>| match value {
            Some(ms) if ms <= 0.0 => "< 1 ms".to_owned(),
            value => latency_or_dash(value.map(|ms| ms * 1e3)),
        };
        let note =
            row.note.as_ref().map(|note| format!(" ({})", note.trim_end_matches('.'))).unwrap_or_default();
        Row::of(vec![
            row.device.clone(),
            format!("{}{note}", row.load),
            over(row.per_s),
            over(row.mb_per_s),
            ms(row.mean_ms),
            ms(row.max_ms),
        ])
    });
    let rows = rows.collect();
    Table { title: format!("{}: compared with published figures", comparison.configuration), columns, rows }
}
