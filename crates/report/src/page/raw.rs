//! The seconds of each trial as numbers. Long trials are reduced, and say so.

use maud::{Markup, html};
use record::{Main, Sample};

use super::parts;
use crate::chart::spans;
use crate::format;
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;
use crate::workloads::Second;

/// Rows of a trial; what is longer is reduced to ranges.
const ROWS: usize = 120;

/// What the raw numbers hold.
pub(crate) fn inside(report: &Report) -> String {
    format!("the seconds of {}", format::counted(report.trials.len(), "trial", "trials"))
}

pub(crate) fn seconds(report: &Report) -> Markup {
    html! {
        p { "The results directory has every second of every trial with its histograms: " code { "samples.ndjson" } " and " code { "latency.hlog" } "." }
        @let shown = report.trials.len() <= super::evidence::CHARTS_MOST;
        @for trial in report.trials.iter().filter(|trial| shown && !trial.samples.is_empty()) {
            details {
                summary { (trial.number) ". " (trial.name) }
                @for table in tables(trial) { (parts::table(&table)) }
            }
        }
    }
}

/// Maximum kinds of operations with latencies in one table: a page of 1,280 pixels has no room for more.
const KINDS_MOST: usize = 4;

/// The seconds of a trial. Few kinds of operations fit in one table. Otherwise one table has rates, and each further one some latencies.
fn tables(trial: &Trial) -> Vec<Table> {
    let mut kinds: Vec<&String> = trial.samples.iter().flat_map(|sample| sample.operations.keys()).collect();
    kinds.sort();
    kinds.dedup();
    let own = trial.shown().seconds();
    if kinds.len() <= KINDS_MOST {
        return vec![table(trial, own, &kinds)];
    }
    let rates = table(trial, own, &[]);
    std::iter::once(rates).chain(kinds.chunks(KINDS_MOST).map(|kinds| table(trial, &[], kinds))).collect()
}

fn table(trial: &Trial, own: &[Second], kinds: &[&String]) -> Table {
    let mut columns = vec![Column::number("second"), Column::words("phase")];
    columns.extend(own.iter().map(|second| Column::number(second.head)));
    for kind in kinds {
        columns.extend(["p50", "p99", "max"].map(|name| Column::number(format!("{kind} {name}"))));
    }
    columns.push(Column::number("busiest thread"));
    // A row never spans two phases.
    let phases: Vec<&[Sample]> = trial.samples.chunk_by(|a, b| a.phase == b.phase).collect();
    let rows = phases.iter().flat_map(|samples| {
        spans(samples.len(), ROWS).into_iter().map(|span| row(&samples[span], &trial.about, own, kinds))
    });
    let rows = rows.collect();
    let reduced = phases.iter().any(|samples| samples.len() > ROWS);
    let title = if reduced { "Lowest and highest value of groups of seconds" } else { "By second" };
    Table { title: format!("{}: {}", trial.name, title.to_lowercase()), columns, rows }
}

fn row(samples: &[Sample], main: &Main, own: &[Second], kinds: &[&String]) -> Row {
    let range = |value: &dyn Fn(&Sample) -> Option<f64>, print: fn(f64) -> String| {
        let values = || samples.iter().filter_map(value);
        match (values().reduce(f64::min).map(print), values().reduce(f64::max).map(print)) {
            (Some(low), Some(high)) if low == high => low,
            (Some(low), Some(high)) => format!("{low}–{high}"),
            _ => format::UNKNOWN.to_owned(),
        }
    };
    let phase = samples.first().map_or("", |sample| sample.phase.word());
    let mut cells =
        vec![range(&|sample| Some(sample.end_s), |second| format!("{second:.0}")), phase.to_owned()];
    cells.extend(own.iter().map(|second| range(&|sample| (second.value)(main, sample), second.print)));
    for kind in kinds {
        let of = |sample: &Sample| sample.operations.get(*kind).map(|operation| operation.latency);
        cells.push(range(&|sample| of(sample)?.p50_us, format::latency));
        cells.push(range(&|sample| of(sample)?.p99_us, format::latency));
        cells.push(range(&|sample| of(sample)?.max_us, format::latency));
    }
    cells.push(range(&|sample| Some(sample.generator_busiest_share), format::per_cent));
    Row::of(cells)
}
