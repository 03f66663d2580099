//! The table of faults: a row each.

use record::Workload;

use super::Fault;
use crate::format::{self, UNKNOWN, figure};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;

/// Most faults that a table shows; the JSON has all.
const SHOWN_MAX: usize = 100;

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
        column("another node", "from when it was begun until another node took the writes", 0),
        column("redundant", "from when it was begun until a node stood by again", 1),
        column("before", "a second, before the first fault", 2),
        column("after", "a second, once it was over", 2),
        column("longest", "the longest latency meanwhile", 3),
        words("failed", "why it was not done as it was asked for", 0),
    ];
    let faults =
        |trial: &Trial| trial.beside.faults.iter().map(|fault| row(trial, fault)).collect::<Vec<Row>>();
    let rows = report.trials_of(workload).flat_map(faults).take(SHOWN_MAX);
    let Some(table) = Table::of("What was broken on purpose", columns, rows) else { return Vec::new() };
    let table = table.without_empty_columns(&["another node", "redundant", "failed"]);
    vec![Block::Table(table), Block::Remark(format!("{MEANING}."))]
}

fn row(trial: &Trial, fault: &Fault) -> Row {
    let done = &fault.done;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let at = |seconds: Option<f64>| or_dash(seconds.map(|seconds| format!("{seconds:.2} s")));
    let since = |seconds: Option<f64>| {
        or_dash(seconds.zip(done.begun_s).map(|(then_s, begun_s)| format::duration(then_s - begun_s)))
    };
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
        since(done.promoted_s),
        since(done.redundant_s),
        or_dash(fault.per_s_before.map(figure)),
        or_dash(fault.per_s_after.map(figure)),
        or_dash(fault.max_ms_meanwhile.map(|ms| format::latency(ms * 1e3))),
        done.failed.clone().unwrap_or_default(),
    ])
}
