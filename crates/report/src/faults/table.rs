//! The table of faults: a row each.

use record::Workload;

use super::{Fault, account, clients};
use crate::format::{self, UNKNOWN, figure};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;

/// Most faults that a table shows; the JSON has all.
pub(super) const SHOWN_MAX: usize = 100;

/// What stands under the table.
const MEANING: &str = "Times are seconds since the load began. No answer: the time from the last answer before the fault to the first one after it, if at least 0.5 s. Faults that start within the same gap share this figure";

/// The faults of a workload's trials.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let columns = vec![
        words("trial", "number", 0),
        words("fault", "the fault as the study describes it", 0),
        words("of", "server or node", 1),
        column("at", "start of the fault", 0),
        column("done after", "time from the start of the fault until it was complete", 4),
        column("repaired at", "time of its repair", 2),
        column("no answer", "longest time without an answer", 0),
        column("started within", "time that a single server took to start and recover", 0),
        column(
            "noticed",
            "time from the start of the fault until the failover software declared the node dead",
            2,
        ),
        column("another node", "time from the start of the fault until another node accepted writes", 0),
        column("redundant", "time from the start of the fault until a standby was ready again", 1),
        column("before", "per second, before the first fault", 2),
        column(
            "meanwhile",
            "per second, from the second in which the fault started to the second in which it ended",
            2,
        ),
        column("after", "per second, after the end of the fault", 2),
        column("mean before", "mean latency before the first fault", 3),
        column("mean meanwhile", "mean latency of operations answered during the fault", 4),
        column("mean after", "mean latency after the end of the fault", 3),
        column("longest", "longest latency during the fault", 3),
        words("failed", "reason for a difference from the study", 0),
    ];
    let faults =
        |trial: &Trial| trial.beside.faults.iter().map(|fault| row(trial, fault)).collect::<Vec<Row>>();
    let rows = report.trials_of(workload).flat_map(faults).take(SHOWN_MAX);
    let Some(table) = Table::of("Injected faults", columns, rows) else { return Vec::new() };
    let table =
        table.without_empty_columns(&["started within", "noticed", "another node", "redundant", "failed"]);
    let account = account::table(report, workload).map(Block::Table);
    let clients = clients::table(report, workload).map(Block::Table);
    let shown = [Block::Table(table), Block::Remark(format!("{MEANING}."))];
    shown.into_iter().chain(clients).chain(account).collect()
}

fn row(trial: &Trial, fault: &Fault) -> Row {
    let done = &fault.done;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let at = |seconds: Option<f64>| or_dash(seconds.map(|seconds| format!("{seconds:.2} s")));
    let since = |seconds: Option<f64>| {
        or_dash(seconds.zip(done.begun_s).map(|(then_s, begun_s)| format::duration(then_s - begun_s)))
    };
    let latency = |ms: Option<f64>| or_dash(ms.map(|ms| format::latency(ms * 1e3)));
    let silence = fault.silence.map(|silence| {
        let goes_on = if silence.end_s.is_none() { " to the end" } else { "" };
        format!("{}{goes_on}", format::duration(silence.length_s))
    });
    Row::of(vec![
        trial.number.to_string(),
        done.asked.clone(),
        done.of.clone(),
        at(done.begun_s),
        since(done.broken_s),
        at(done.mended_s),
        or_dash(silence),
        or_dash(done.started_within_s.map(format::duration)),
        since(done.noticed_s),
        since(done.promoted_s),
        since(done.redundant_s),
        or_dash(fault.per_s_before.map(figure)),
        or_dash(fault.per_s_meanwhile.map(figure)),
        or_dash(fault.per_s_after.map(figure)),
        latency(fault.mean_ms_before),
        latency(fault.mean_ms_meanwhile),
        latency(fault.mean_ms_after),
        latency(fault.max_ms_meanwhile),
        done.failed.clone().unwrap_or_default(),
    ])
}
