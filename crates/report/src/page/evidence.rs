//! What each verdict rests on: the histogram and the course of each trial.

use maud::{Markup, html};
use record::{DeviceLoad, ServerLoad, State};

use super::parts;
use crate::budget;
use crate::chart::{self, Chart};
use crate::format;
use crate::lead::Lead;
use crate::machine::Part;
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// With more trials than this, each is folded.
const OPEN_MOST: usize = 2;

/// With more trials than this, their list is folded too.
const LISTED_MOST: usize = 16;

/// With more trials than this, none has charts.
pub(crate) const CHARTS_MOST: usize = parts::ROWS_MOST;

/// What is left of very many trials: a line each.
fn without_charts(report: &Report) -> Markup {
    let columns = ["#", "block"].map(Column::number).into_iter();
    let columns = columns.chain(["trial", "result", "measured", "remark"].map(Column::words)).collect();
    let row = |trial: &Trial| {
        Row::of(vec![
            trial.number.to_string(),
            trial.block.to_string(),
            if trial.aa { format!("{} (A/A)", trial.name) } else { trial.name.clone() },
            summary(trial),
            if trial.measured_s > 0.0 { format::duration(trial.measured_s) } else { String::new() },
            trial.reason.clone().unwrap_or_default(),
        ])
    };
    let rows = report.trials.iter().map(row).collect();
    let table = Table { title: "Every trial".to_owned(), columns, rows };
    html! {
        p { "A report of more than " (CHARTS_MOST) " trials has no chart for each trial. Samples and histograms of each trial are in the results directory." }
        details { summary { (format::counted(report.trials.len(), "trial", "trials")) } (parts::table(&table)) }
    }
}

/// What the list of the trials holds, where it is so long that it is folded.
pub(crate) fn folded(report: &Report) -> Option<String> {
    let count = report.trials.len();
    let words = |inside| format!("{}, each with {inside}", format::counted(count, "trial", "trials"));
    match count {
        count if count > CHARTS_MOST => None,
        count if count > LISTED_MOST => Some(words("charts and method")),
        _ => None,
    }
}

pub(crate) fn trials(report: &Report) -> Markup {
    if report.trials.len() > CHARTS_MOST {
        return without_charts(report);
    }
    let open = report.trials.len() <= OPEN_MOST;
    // With a single trial, a chart at the top of the page is not repeated here.
    let lead = (report.trials.len() == 1).then(|| Lead::of(report));
    let is_new = |chart: &Chart| lead.as_ref().is_none_or(|lead| !lead.has(chart));
    let skipped: Vec<&Trial> = report.trials.iter().filter(|trial| trial.state == State::Skipped).collect();
    html! {
        @for trial in report.trials.iter().filter(|trial| trial.state != State::Skipped) {
            details.trial open[open] {
                summary { h3 { (trial.number) ". " (trial.name) @if trial.aa { " (A/A)" } } span.rest { (summary(trial)) } }
                p.meta { (facts(trial)) }
                @if let Some(reason) = &trial.reason { p { (reason) } }
                @for remark in remarks(trial) { p { (remark) } }
                (parts::small_charts(&charts(trial).into_iter().filter(is_new).collect::<Vec<_>>()))
                @if let Some(budget) = budget::table(trial) { (parts::table(&budget)) }
                @for counted in budget::counted_tables(trial) { (parts::table(&counted)) }
                @if let Some(devices) = chart::machine::device_table(trial) { (parts::table(&devices)) }
            }
        }
        @if !skipped.is_empty() {
            details.trial {
                summary { (format::counted(skipped.len(), "skipped trial", "skipped trials")) }
                ul { @for trial in skipped {
                    li { (trial.number) ". " (trial.name) @if let Some(reason) = &trial.reason { ": " (reason) } }
                } }
            }
        }
    }
}

/// Why its rate was not held, and what else is to be known.
fn remarks(trial: &Trial) -> Vec<String> {
    let judged = trial.shown().judged(trial).filter(|judged| !judged.because.is_empty());
    let not_held = judged.map(|judged| format!("Not held: {}.", judged.because.join("; ")));
    not_held.into_iter().chain(trial.shown().remarks(trial)).collect()
}

/// Those of its workload, of what its sessions did, and of the machine's devices where there are several.
fn charts(trial: &Trial) -> Vec<Chart> {
    let mut charts = trial.shown().course(trial);
    charts.extend(chart::stack::sessions(trial).filter(|_| !trial.shown().draws_sessions()));
    charts.extend(chart::machine::devices(trial));
    charts.extend(chart::machine::started(trial));
    charts
}

fn summary(trial: &Trial) -> String {
    let shown = trial.shown();
    let held =
        shown.judged(trial).and_then(|judged| judged.held).or(trial.offered_rate.map(|rate| rate.held));
    let offered = shown.offered_per_s(trial).map(|per_s| shown.words().unit.text(per_s));
    let rate = shown.rate(trial).map(|rate| match (offered, held) {
        (Some(offered), Some(true)) => format!("{rate} of {offered} offered, sustained"),
        (Some(offered), Some(false)) => format!("{rate} of {offered} offered, not sustained"),
        (None, Some(true)) => format!("{rate}, held"),
        (None, Some(false)) => format!("{rate}, not held"),
        (_, None) => rate,
    });
    match (trial.is_complete(), rate) {
        (true, Some(rate)) => rate,
        (false, Some(rate)) => format!("{}, {rate}", format::state(trial.state)),
        (_, None) => format::state(trial.state).to_owned(),
    }
}

/// How it was measured and how far it can be trusted, in one line.
fn facts(trial: &Trial) -> Markup {
    let measured = match trial.measured_s {
        seconds if seconds > 0.0 => format!("Measured for {}", format::duration(seconds)),
        _ => "Not measured".to_owned(),
    };
    html! {
        (measured)
        @if let Some(started) = &trial.started { ", begun " (parts::instant(started)) }
        @for fact in further_facts(trial) { ", " (fact) }
    }
}

fn further_facts(trial: &Trial) -> Vec<String> {
    let mut facts = Vec::new();
    if trial.block > 1 {
        facts.push(format!("block {}", trial.block));
    }
    facts.extend(trial.setup.as_ref().map(|setup| format::pacing(setup.pacing())));
    if let Some(cv) = trial.stability.coefficient_of_variation {
        facts.push(format!("coefficient of variation {}", format::per_cent(cv)));
    }
    let drain_s = trial.shown().judged(trial).and_then(|judged| judged.drain_s);
    facts.extend(drain_s.map(|seconds| format!("drained in {}", format::latency(seconds * 1e6))));
    if let Some(fifths) = trial.stability.fifths {
        let steady = if fifths.steady { "steady" } else { "not steady" };
        facts.push(format!("{steady} (fifths within {})", format::per_cent(fifths.range_share)));
    }
    if let Some(share) = trial.generator.busiest_share {
        facts.push(format!("busiest load thread used {} of a CPU", format::per_cent(share)));
    }
    if let Some(depth) = trial.machine.device_queue_depth {
        facts.push(format!("device queue {}", format::figure(depth)));
    }
    let queue = |device: &Part<DeviceLoad>| {
        format!("queue of {} {}", device.name, format::figure(device.mean.queue_depth))
    };
    facts.extend(trial.beside.devices.iter().map(queue));
    let server = |server: &Part<ServerLoad>| {
        let (cores, bytes) = (format::figure(server.mean.cpu_cores), format::bytes(server.mean.memory_bytes));
        format!("server of {} used {cores} cores and {bytes}", server.name)
    };
    facts.extend(trial.beside.servers.iter().map(server));
    if let Some(steal) = trial.machine.steal_share.filter(|share| *share >= 0.001) {
        facts.push(format!("steal {}", format::per_cent(steal)));
    }
    facts
}
