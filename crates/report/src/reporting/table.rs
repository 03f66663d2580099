//! Tables of reports: their times, and what the server used for them.

use record::{QueryPlan, Workload};

use super::words::{time, times};
use super::{Reporting, Used};
use crate::format::{self, figure, grouped};
use crate::report::Report;
use crate::table::{Row, Table, column, dash, level_cells, level_columns, level_keys, words};
use crate::trial::Trial;

/// A row a trial.
pub(crate) fn reports(report: &Report) -> Option<Table> {
    let trials: Vec<&Trial> = report.trials_of(Workload::Reporting).collect();
    let keys = level_keys(trials.iter().copied());
    let mut columns =
        vec![column("#", "number of the trial", 3), words("reports", "name of the configuration", 0)];
    columns.extend(level_columns(&keys));
    columns.extend([
        column("first", "the first report, until its last row was read", 0),
        column("then", "mean of the reports after it", 0),
        column("95%", "interval of that mean, for this run only", 4),
        column("first row", "mean time until the first row, for the reports after the first", 3),
        column("rows", "rows of each answer", 2),
        column("rows/s", "rows per second of the reports after the first", 1),
        column("events/s", "planned events per second during reports", 2),
        column("plan", "hash of the plan; several if the server changed it", 5),
        words("state", "end of the trial, if not complete", 0),
    ]);
    let table = Table::of("Reports", columns, trials.iter().map(|trial| row(trial, &keys)));
    table.map(|table| table.without_empty_columns(&["state", "95%", "first row", "events/s", "plan"]))
}

fn row(trial: &Trial, keys: &[String]) -> Row {
    let mut cells = vec![trial.number.to_string(), trial.name.clone()];
    cells.extend(level_cells(true, &trial.levels, keys));
    let reporting = trial.reporting();
    let seconds = |value: fn(&Reporting) -> Option<f64>| dash(reporting.and_then(value).map(time));
    let plans = |reporting: &Reporting| {
        let hashes: Vec<&str> = reporting.plans.iter().map(|plan| plan.hash.as_str()).collect();
        (!hashes.is_empty()).then(|| hashes.join(", "))
    };
    cells.extend([
        seconds(|reporting| reporting.first_s),
        seconds(|reporting| reporting.mean_s),
        dash(reporting.and_then(|reporting| reporting.interval_s).map(|[low, high]| times(low, high))),
        seconds(|reporting| reporting.to_first_row_s),
        dash(reporting.map(|reporting| grouped(reporting.rows))),
        dash(reporting.and_then(|reporting| reporting.rows_per_s).map(figure)),
        dash(reporting.and_then(|reporting| reporting.setup.arrivals_per_s).map(figure)),
        dash(reporting.and_then(plans)),
        if trial.is_complete() { String::new() } else { format::state(trial.state).to_owned() },
    ]);
    Row::of(cells)
}

/// Each plan once, a line of it in a row.
pub(crate) fn plans(report: &Report) -> Option<Table> {
    let columns = vec![words("plan", "its hash", 0), words("the server's plan", "without estimates", 0)];
    let mut plans: Vec<&QueryPlan> = Vec::new();
    for plan in report
        .trials_of(Workload::Reporting)
        .filter_map(Trial::reporting)
        .flat_map(|reporting| &reporting.plans)
    {
        if !plans.iter().any(|known| known.hash == plan.hash) {
            plans.push(plan);
        }
    }
    let row = |plan: &QueryPlan, number: usize, line: &str| {
        let hash = if number == 0 { plan.hash.clone() } else { String::new() };
        // A page draws spaces at the begin of a line only if they do not break.
        let depth = line.len() - line.trim_start_matches(' ').len();
        let line = format!("{}{}", "\u{a0}".repeat(depth), line.trim_start_matches(' '));
        Row { cells: vec![hash, line], part: number > 0 }
    };
    let rows = plans
        .into_iter()
        .flat_map(|plan| plan.text.lines().enumerate().map(move |(number, line)| row(plan, number, line)));
    Table::of("Plans of the reports", columns, rows)
}

/// Two rows a trial: its first report, and those after it. None where nothing of a server was read.
pub(crate) fn used(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        words("reports", "the first report, or the later ones", 0),
        column("memory", "maximum memory of the server's processes, without the page cache", 0),
        column("CPUs", "mean number of CPUs in use", 0),
        column("of the CPUs that it may use", "the same as a share", 2),
        column("read", "bytes that the server read from devices per report", 1),
        column("reads", "the server's reads from devices per report", 3),
        column("reads/s", "the server's reads from devices per second while reports ran", 2),
        column("device read", "bytes that the device read per report, for all programs", 1),
        column("device reads/s", "reads of the device per second while reports ran, for all programs", 2),
    ];
    let row = |name: String, which: &str, used: &Used, part: bool| Row {
        cells: vec![
            name,
            which.to_owned(),
            dash(used.memory_bytes.map(format::bytes)),
            dash(used.cpu_cores.map(figure)),
            dash(used.cpu_share.map(format::per_cent)),
            dash(used.read_bytes.map(|bytes| format::bytes(bytes.round() as u64))),
            dash(used.reads.map(figure)),
            dash(used.reads_per_s.map(figure)),
            dash(used.device.read_bytes.map(|bytes| format::bytes(bytes.round() as u64))),
            dash(used.device.reads_per_s.map(figure)),
        ],
        part,
    };
    let trials = report.trials_of(Workload::Reporting).filter_map(|trial| Some((trial, trial.reporting()?)));
    let known =
        trials.filter(|(_, of)| of.during_first != Used::default() || of.during_others != Used::default());
    let rows = known.flat_map(|(trial, of)| {
        [
            row(trial.name.clone(), "first", &of.during_first, false),
            row(String::new(), "then", &of.during_others, true),
        ]
    });
    let table = Table::of("Resources of the server for reports", columns, rows)?;
    Some(table.without_empty_columns(&[
        "memory",
        "CPUs",
        "of the CPUs that it may use",
        "read",
        "reads",
        "reads/s",
        "device read",
        "device reads/s",
    ]))
}
