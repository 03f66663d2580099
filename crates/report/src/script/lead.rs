//! The top of a page on scripts: the rate and its latency, failed transactions, and the course of a trial.

use record::Workload;

use super::Script;
use crate::chart::Chart;
use crate::format::grouped;
use crate::lead::{self, Tail, Tile, Tone};
use crate::report::Report;

/// The figures of a single configuration, or the rates of several.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let mut tiles = lead::rates(report, Workload::Script, &[Tail::P99]);
    if let Some((only, _)) = lead::only(report, Workload::Script) {
        let scripts: Vec<&Script> =
            only.measured_in(&report.trials).filter_map(|trial| trial.script()).collect();
        tiles.push(failed(&scripts));
        tiles.extend(late(&scripts));
    }
    tiles
}

fn failed(scripts: &[&Script]) -> Tile {
    let sum = |of: fn(&Script) -> u64| scripts.iter().map(|script| of(script)).sum::<u64>();
    let (failed, finished) = (sum(|script| script.failed), sum(|script| script.transactions));
    Tile::new("Failed transactions", grouped(failed), "")
        .beside(format!("{} finished in the measured window", grouped(finished)))
        .tone(if failed == 0 { Tone::Plain } else { Tone::Bad })
}

/// Late transactions. Returns none without a limit.
fn late(scripts: &[&Script]) -> Option<Tile> {
    let late: Vec<_> = scripts.iter().map(|script| script.late.as_ref()).collect::<Option<_>>()?;
    let limit_ms = late.first()?.limit_ms;
    let count: u64 = late.iter().map(|late| late.late + late.skipped).sum();
    let beside = format!("longer than {}, or not sent", crate::format::latency(limit_ms * 1e3));
    let tile = Tile::new("Late transactions", grouped(count), "").beside(beside);
    Some(tile.tone(if count == 0 { Tone::Good } else { Tone::Bad }))
}

/// The course of the trial with the median rate. Returns none for several configurations.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let (only, trial) = lead::only(report, Workload::Script)?;
    Some(lead::chart_of(trial, only.trials.len(), super::chart::course(trial)?))
}
