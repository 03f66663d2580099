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
const MEANING: &str = "Times are seconds since the load began. No answer: from the last answer before to the first one after, if that took half a \
                       second or more; a fault that is begun while nobody is answered shares that time";

/// The faults of a workload's trials.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let columns = vec![
        words("trial", "number", 0),
        words("fault", "as the study asks for it", 0),
        words("of", "server or node", 1),
        column("at", "when it was begun", 0),
        column("broken after", "from when it was begun until it was done", 4),
        column("mended at", "when it was undone", 2),
        column("no answer", "the longest time without an answer", 0),
        column(
            "started within",
            "how long a single server took to start again and to recover from a crash",
            0,
        ),
        column(
            "noticed",
            "from when it was begun until whoever decides who takes over held a node for gone",
            2,
        ),
        column("another node", "from when it was begun until another node took the writes", 0),
        column("redundant", "from when it was begun until a node stood by again", 1),
        column("before", "a second, before the first fault", 2),
        column(
            "meanwhile",
            "a second, from the second in which it was begun to the one in which it was over",
            2,
        ),
        column("after", "a second, once it was over", 2),
        column("mean before", "mean latency before the first fault", 3),
        column("mean meanwhile", "mean latency of what was answered meanwhile", 4),
        column("mean after", "mean latency once it was over", 3),
        column("longest", "the longest latency meanwhile", 3),
        words("failed", "why it was not done as it was asked for", 0),
    ];
    let faults =
        |trial: &Trial| trial.beside.faults.iter().map(|fault| row(trial, fault)).collect::<Vec<Row>>();
    let rows = report.trials_of(workload).flat_map(faults).take(SHOWN_MAX);
    let Some(table) = Table::of("What was broken on purpose", columns, rows) else { return Vec::new() };
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
