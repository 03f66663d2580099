//! The tables of historians: a trial a row, its screens, purges and sizes, and what was published of another one.

use record::Summary;

use super::model::{DAY_S, HOUR_S};
use crate::format::{self, figure, figure_or_dash, grouped, latency_or_dash, plain, whole, yes};
use crate::historian::{FlushSeries, Historian, Maintenance, Reads};
use crate::historian::{HistorianComparison, RealProject};
use crate::report::Report;
use crate::search::{Search, SearchedStep};
use crate::section::Block;
use crate::table::{
    Column, Row, Table, column, dash, is_shared, level_cells, level_columns, level_keys, number_column, words,
};
use crate::trial::Trial;

/// Every historian trial; none where there is none.
pub(crate) fn historians(report: &Report) -> Option<Table> {
    let trials: Vec<&Trial> = report.historians().filter(|trial| !trial.is_skipped()).collect();
    let mut columns =
        vec![number_column(trials.iter().copied()), words("trial", "name of the configuration", 0)];
    let keys = level_keys(trials.iter().copied());
    columns.extend(level_columns(&keys));
    columns.extend([
        column("offered/s", "planned events per second; a dash if they came as fast as the buffer accepted them", 0),
        column("records/s", "records committed per second", 0),
        column("95%", "interval of the records per second, for this run only", 5),
        column("commits/s", "transactions per second", 4),
        column("flush p50", "median of the transactions", 6),
        column("flush p99", "99th percentile of the transactions", 3),
        column("record p99", "99th percentile from event to commit", 1),
        column("pending max", "maximum backlog: records accepted but not yet committed", 2),
        column("refused", "events refused because the buffer was full, over the whole trial. They decide whether a rate is sustained", 2),
        column("held", "whether the offered rate was sustained", 0),
        words("state", "end of the trial, if not complete", 0),
    ]);
    let table = Table::of("Historian", columns, trials.iter().map(|trial| row(trial, &keys)));
    table.map(|table| table.without_empty_columns(&["state", "95%", "held"]))
}

fn row(trial: &Trial, keys: &[String]) -> Row {
    let mut cells = vec![trial.number.to_string(), name(trial)];
    cells.extend(level_cells(true, &trial.levels, keys));
    let historian = trial.historian();
    let of = |value: fn(&Historian) -> Option<f64>| figure_or_dash(historian.and_then(value));
    let time = |value: fn(&Summary) -> Option<f64>, of: fn(&Historian) -> Option<Summary>| {
        latency_or_dash(historian.and_then(of).as_ref().and_then(value))
    };
    let interval = historian.and_then(|historian| historian.records_interval);
    cells.extend([
        of(|h| h.offered_per_s),
        of(|h| h.records_per_s),
        dash(interval.map(|e| format!("{}–{}", figure(e.low), figure(e.high)))),
        of(|h| h.commits_per_s),
        time(|s| s.p50_us, |h| h.flush),
        time(|s| s.p99_us, |h| h.flush),
        time(|s| s.p99_us, |h| h.record),
        historian.and_then(|h| h.pending_max).map_or_else(|| format::UNKNOWN.to_owned(), whole),
        historian.map_or_else(|| format::UNKNOWN.to_owned(), refused),
        historian.and_then(|h| h.stable).map_or_else(|| format::UNKNOWN.to_owned(), yes),
        if trial.is_complete() { String::new() } else { format::state(trial.state).to_owned() },
    ]);
    Row::of(cells)
}

/// `13,894`; where the window by which the rate is judged had fewer, `13,894, 0 measured`.
fn refused(historian: &Historian) -> String {
    let all = grouped(historian.refused);
    match historian.refused_measured.filter(|&measured| measured < historian.refused) {
        Some(measured) => format!("{all}, {} measured", grouped(measured)),
        None => all,
    }
}

/// The name; of a step of a search, also which step it is.
fn name(trial: &Trial) -> String {
    match trial.search {
        Some(record::SearchStep::Probe { .. }) => format!("{}: step", trial.name),
        Some(record::SearchStep::Confirm { .. }) => format!("{}: confirming", trial.name),
        Some(record::SearchStep::Long { .. }) => format!("{}: longer confirmation", trial.name),
        None => trial.name.clone(),
    }
}

/// What tells the rows of a table apart that stands beside the first one: name, levels, and of steps of a search the rate.
struct Which {
    keys: Vec<String>,
    searches: bool,
}

impl Which {
    fn of(report: &Report) -> Self {
        let searches = report.historians().any(|trial| trial.search.is_some());
        let keys = level_keys(report.historians());
        // Names of most trials say their levels.
        let tells = |key: &String| {
            let other = |a: &Trial, b: &Trial| a.name == b.name && a.levels.get(key) != b.levels.get(key);
            report.historians().any(|a| report.historians().any(|b| other(a, b)))
        };
        Self { keys: keys.into_iter().filter(tells).collect(), searches }
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![words("trial", "name of the configuration", 0)];
        columns.extend(level_columns(&self.keys));
        columns
            .extend(self.searches.then(|| column("offered/s", "planned events per second in this step", 0)));
        columns
    }

    fn cells(&self, report: &Report, trial: &Trial) -> Vec<String> {
        let shared = is_shared(trial, report.historians());
        let name = if shared { format!("{}, #{}", name(trial), trial.number) } else { name(trial) };
        let mut cells = vec![name];
        cells.extend(level_cells(true, &trial.levels, &self.keys));
        let rate = || figure_or_dash(trial.search.map(|step| step.rate_per_s()));
        cells.extend(self.searches.then(rate));
        cells
    }
}

/// Reads of screens while rows were written; none where nobody read.
pub(crate) fn screens(report: &Report) -> Option<Table> {
    let which = Which::of(report);
    let mut columns = which.columns();
    columns.extend([
        words("read", "trend: a time window of a screen's tags; latest: their latest values", 0),
        column("reads", "how many", 0),
        column("errors", "reads that failed", 2),
        column("rows a read", "rows received", 1),
        column("p50", "median of the reads", 1),
        column("p99", "99th percentile of the reads", 3),
        column("mean", "mean latency", 4),
        column("longest", "longest latency", 0),
    ]);
    let read = |trial: &Trial, kind: &str, reads: &Reads| {
        let mut cells = which.cells(report, trial);
        cells.extend([
            kind.to_owned(),
            grouped(reads.reads),
            grouped(reads.errors),
            figure_or_dash(reads.rows_per_read),
            latency_or_dash(reads.latency.p50_us),
            latency_or_dash(reads.latency.p99_us),
            latency_or_dash(reads.latency.mean_us),
            latency_or_dash(reads.latency.max_us),
        ]);
        Row::of(cells)
    };
    let read = &read;
    let rows = report.historians().filter_map(|trial| Some((trial, trial.historian()?))).flat_map(
        |(trial, historian)| {
            let kinds = [("trend", &historian.trend), ("latest", &historian.latest)];
            kinds.into_iter().filter_map(move |(kind, reads)| Some(read(trial, kind, reads.as_ref()?)))
        },
    );
    let table = Table::of("Screens that read during the load", columns, rows);
    table.map(|table| table.without_empty_columns(&["p50", "p99"]))
}

/// Purges and shrinks; none where none ran.
pub(crate) fn maintenance(report: &Report) -> Option<Table> {
    let which = Which::of(report);
    let mut columns = which.columns();
    columns.extend([
        column("begin", "since the load began", 1),
        column("purge", "length of the purge", 0),
        column("rows", "rows purged", 0),
        column("statements", "statements of the purge", 4),
        column("shrink", "length of the shrink", 0),
        column("share", "purge and shrink, as a share of the time between purges", 0),
        column("pending mean", "mean backlog during the purge", 2),
        column("pending max", "maximum backlog during the purge", 0),
        column("size before", "of the database", 3),
        column("after", "size of the database", 3),
        words("error", "reason why it did not finish", 0),
    ]);
    let runs = report.historians().flat_map(|trial| {
        trial
            .historian()
            .into_iter()
            .flat_map(|historian| &historian.maintenance)
            .map(move |run| (trial, run))
    });
    let table = Table::of("Purges", columns, runs.map(|(trial, run)| purge(which.cells(report, trial), run)));
    table.map(|table| table.without_empty_columns(&["shrink", "size before", "after", "error"]))
}

fn purge(mut cells: Vec<String>, maintenance: &Maintenance) -> Row {
    let run = &maintenance.run;
    cells.extend([
        format::duration(run.start_s),
        format::duration(run.purge_s),
        grouped(run.purged_rows),
        grouped(run.statements),
        dash(run.shrink_s.map(format::duration)),
        dash(maintenance.interval_share.map(format::per_cent)),
        whole(run.pending_mean),
        grouped(run.pending_max),
        dash(run.database_bytes_before.map(format::bytes)),
        dash(run.database_bytes_after.map(format::bytes)),
        run.error.clone().unwrap_or_default(),
    ]);
    Row::of(cells)
}

/// Sizes, growth, and rows found again; none where nothing was stored. Of a search, the last step that confirmed its
/// rate, and steps whose rows are not what was acknowledged.
pub(crate) fn storage(report: &Report) -> Option<Table> {
    let which = Which::of(report);
    let mut columns = which.columns();
    columns.extend([
        column("acknowledged", "records with an answered commit", 1),
        column("expected", "acknowledged rows that no purge may have deleted", 0),
        column("found", "acknowledged rows that were found", 0),
        column("size after", "of the database", 3),
        column("log written", "bytes that the server wrote to its log", 4),
        column("bytes/record", "used pages per record, with indexes", 0),
        column("an hour", "growth at the achieved rate", 2),
        column("a day", "growth at the achieved rate", 0),
        column("a week", "growth at the achieved rate", 1),
        column("disk full in", "time until the given disk is full", 0),
    ]);
    let row = |trial: &Trial| storage_row(report, trial, &which);
    let rows = report.historians().filter_map(row);
    let table = Table::of("Rows, sizes and growth without a purge", columns, rows);
    table.map(|table| table.without_empty_columns(&["log written", "disk full in"]))
}

fn storage_row(report: &Report, trial: &Trial, which: &Which) -> Option<Row> {
    let speaks = report.searches.iter().any(|search| {
        let held =
            |step: &&SearchedStep| step.stable == Some(true) && Some(step.rate_per_s) == search.held_at();
        search.steps.iter().rfind(held).is_some_and(|step| step.trial == trial.number)
    });
    let historian = trial.historian().filter(|historian| historian.acknowledged > 0)?;
    if trial.search.is_some()
        && !speaks
        && historian.rows_found == Some(historian.rows_expected)
        && historian.rows_mismatch.is_none()
    {
        return None;
    }
    let storage = &historian.storage;
    let over = |seconds: f64| dash(storage.growth(historian.records_per_s, seconds));
    let mut cells = which.cells(report, trial);
    cells.extend([
        grouped(historian.acknowledged),
        grouped(historian.rows_expected),
        dash(historian.rows_found.map(grouped)),
        dash(storage.database_bytes_after.map(format::bytes)),
        dash(storage.log_bytes_written.map(format::bytes)),
        dash(storage.per_record()),
        over(HOUR_S),
        over(DAY_S),
        over(7.0 * DAY_S),
        dash(storage.years_until_full.map(format::time_until)),
    ]);
    Some(Row::of(cells))
}

/// The steps of a search in their order.
pub(crate) fn steps(search: &Search) -> Table {
    let columns = vec![
        Column::number("#"),
        Column::words("step"),
        Column::number("records/s"),
        Column::words("held"),
        Column::words("because"),
    ];
    let rows = search.steps.iter().map(|step| {
        Row::of(vec![
            step.trial.to_string(),
            match (step.confirms, step.long) {
                (_, true) => "confirming for longer",
                (true, false) => "confirming",
                (false, false) => "looking",
            }
            .to_owned(),
            plain(step.rate_per_s),
            step.stable.map_or_else(|| "unknown".to_owned(), yes),
            because(&step.because),
        ])
    });
    Table { title: format!("Search: {}", search.configuration), columns, rows: rows.collect() }
}

/// The first reason, and how many more there are.
fn because(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
    }
}

/// A series over the rows of a flush, with the gain over 40 rows.
pub(crate) fn flush_rows(series: &FlushSeries) -> Table {
    let columns = vec![
        column("records per batch", "rows of one transaction", 0),
        column("records/s", "records committed per second", 0),
        column("gain over 40", "gain in records per second over batches of 40", 0),
        column("commits/s", "transactions per second", 1),
        column("flush p99", "99th percentile of the transactions", 2),
        column("pending max", "maximum backlog: records accepted but not yet committed", 1),
        column("held", "whether the offered rate was sustained", 0),
    ];
    let rows = series.points.iter().map(|point| {
        Row::of(vec![
            plain(f64::from(point.flush_rows)),
            figure(point.records_per_s),
            dash(point.gain_share.map(signed)),
            figure_or_dash(point.commits_per_s),
            latency_or_dash(point.flush_p99_us),
            dash(point.pending_max.map(whole)),
            dash(point.stable.map(yes)),
        ])
    });
    Table { title: format!("Records per batch, {}", series.series), columns, rows: rows.collect() }
        .without_empty_columns(&["gain over 40", "held"])
}

fn signed(share: f64) -> String {
    match share {
        share if share >= 9.995 => format!("+{}%", plain((share * 100.0).round())),
        share if share > 0.0005 => format!("+{}", format::per_cent(share)),
        share => format::per_cent(share),
    }
}

/// What was published of another historian, beside ours.
pub(crate) fn beside(comparison: &HistorianComparison) -> Vec<Block> {
    let (placements, measured) = placements(comparison);
    let others = [published_flush(comparison), real_project(comparison)];
    let sentences = comparison.differences.iter().cloned().chain([growth(comparison)]).collect();
    let mut blocks = vec![Block::Beside { table: placements, measured }];
    blocks.extend(others.into_iter().flatten().map(Block::Table));
    blocks.push(Block::Notes { sentences, sources: vec![comparison.source.clone()] });
    blocks
}

/// Ours first, then the published placements; how many rows are ours.
fn placements(comparison: &HistorianComparison) -> (Table, usize) {
    let columns = vec![
        words("server", "program, and place of the files", 0),
        column("records/s", "records committed per second", 0),
        Column {
            meaning: "over the best published placement",
            ..Column::number(over(comparison.best_per_s))
        },
        Column { meaning: "over the published disk", ..Column::number(over(comparison.single_disk_per_s)) },
    ];
    let ratio = |of: f64| format!("{} ×", figure(of));
    let ours = comparison.ours.iter().map(|rate| {
        Row::of(vec![
            format!("measured here: {}, {} ({})", rate.configuration, rate.server, rate.how),
            figure(rate.records_per_s),
            ratio(rate.over_best),
            ratio(rate.over_single_disk),
        ])
    });
    let published = comparison.placements.iter().map(|placement| {
        Row::of(
            vec![
                format!("{}: data on {}, log on {}", placement.id, placement.data, placement.log),
                plain(placement.records_per_s),
            ]
            .into_iter()
            .chain(comparison.ratios(placement.records_per_s).map(ratio))
            .collect(),
        )
    });
    let rows: Vec<Row> = ours.chain(published).collect();
    let title = "Records/s sustained by a 2013 server, and measured here".to_owned();
    (Table { title, columns, rows }, comparison.ours.len())
}

fn over(rate: f64) -> String {
    format!("over {}", plain(rate))
}

/// The published rows of a flush beside ours; none where we measured none of them.
fn published_flush(comparison: &HistorianComparison) -> Option<Table> {
    let first = comparison.flush_rows.first()?;
    let mut columns = vec![
        column("records per batch", "rows of one transaction", 0),
        Column::words(format!("published at {}/s", plain(comparison.best_per_s))),
        Column::words("published pending records"),
    ];
    for series in &first.series {
        columns.push(Column::number(format!("here: {series}")));
        columns.push(Column::number("pending max"));
    }
    let rows =
        comparison.flush_rows.iter().map(|level| {
            let stable = if level.published_stable { "held" } else { "not held" };
            let mut cells =
                vec![plain(f64::from(level.rows)), stable.to_owned(), level.published_pending.clone()];
            for ours in &level.ours {
                let how = |stable| if stable { ", held" } else { ", not held" };
                cells.push(dash(ours.as_ref().map(|point| {
                    format!("{}/s{}", figure(point.records_per_s), point.stable.map_or("", how))
                })));
                cells.push(dash(ours.as_ref().and_then(|point| point.pending_max).map(whole)));
            }
            Row::of(cells)
        });
    let rows = rows.collect();
    Some(Table { title: "Records per batch, published and measured".to_owned(), columns, rows })
}

/// The published project beside our trials with purges; none where no purge ran here.
fn real_project(comparison: &HistorianComparison) -> Option<Table> {
    let columns = vec![
        words("run", "published, or name of the trial", 0),
        column("rows a statement", "deleted by one statement of a purge", 1),
        column("records/s", "records committed per second", 0),
        column("purge", "length of the longest purge", 0),
        column("shrink", "length of the longest shrink", 0),
        column("every", "time between purges", 0),
        column("pending max", "most pending records", 0),
        column("pending mean", "mean backlog", 1),
        column("database max", "maximum size of the database", 0),
        column("held", "whether the rate was sustained", 0),
    ];
    let row = |run: &RealProject| {
        Row::of(vec![
            run.run.clone(),
            dash(run.purge_rows.map(grouped)),
            figure_or_dash(run.records_per_s),
            format::duration(run.purge_s),
            dash(run.shrink_s.map(format::duration)),
            dash(run.interval_s.map(format::duration)),
            dash(run.pending_max.map(whole)),
            dash(run.pending_mean.map(whole)),
            dash(run.database_bytes_max.map(|bytes| format::bytes(bytes as u64))),
            dash(run.stable.map(yes)),
        ])
    };
    let rows: Vec<Row> = comparison.real_project.iter().map(row).collect();
    let title = "A real project with hourly purge and shrink, published and measured".to_owned();
    (!rows.is_empty()).then_some(Table { title, columns, rows })
}

/// How fast the published database grew.
fn growth(comparison: &HistorianComparison) -> String {
    format!(
        "The published database of the real project grew by {} GB per hour and {} GB per day at 3,700 records/s.",
        plain(comparison.growth.gb_per_hour),
        plain(comparison.growth.gb_per_day)
    )
}
