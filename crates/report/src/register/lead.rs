//! The head of a page on registers: how long nobody was answered, what was lost, what nobody knows, and the rate.

use record::Workload;

use super::Register;
use crate::configuration::Configuration;
use crate::format::{self, figure, grouped};
use crate::lead::{Tile, Tone};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::rate::interval;

/// The figures of a single configuration, the worst of its trials; none of several, which are compared.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let all: Vec<&Configuration> = report.configurations_of(Workload::Register).collect();
    let [only] = all.as_slice() else { return Vec::new() };
    let runs: Vec<&Register> = only.measured_in(&report.trials).filter_map(Trial::register).collect();
    if runs.is_empty() || only.is_failed() {
        return Vec::new();
    }
    let rate = only.main().and_then(|main| main.per_s).map(|per_s| {
        Tile::new("Operations", figure(per_s), "operations/s")
            .beside(interval(only, 1.0).trim_matches(['(', ')']))
    });
    [outage(&runs), lost(&runs), unknown(&runs)].into_iter().chain(rate).collect()
}

fn outage(runs: &[&Register]) -> Tile {
    let longest_s = runs.iter().map(|run| run.away.longest_s).fold(0.0, f64::max);
    let least = format::latency(runs[0].setup.outage_ms * 1e3);
    if longest_s == 0.0 {
        return Tile::new("Longest time without an answer", "none", "")
            .beside(format!("none of {least} or longer"))
            .tone(Tone::Good);
    }
    let text = format::duration(longest_s);
    let (length, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let times: usize = runs.iter().map(|run| run.away.times.len()).sum();
    Tile::new("Longest time without an answer", length, unit)
        .beside(format::counted(times, "outage", "outages"))
}

fn lost(runs: &[&Register]) -> Tile {
    let (lost, acknowledged): (u64, u64) =
        runs.iter().fold((0, 0), |(lost, all), run| (lost + run.writes.lost, all + run.writes.acknowledged));
    let checked = runs.iter().all(|run| run.is_audited && run.unchecked.is_none());
    let of = format!("of {} acknowledged writes", grouped(acknowledged));
    let tile = Tile::new("Lost writes", grouped(lost), "");
    match (lost, checked) {
        (0, true) => tile.beside(of).tone(Tone::Good),
        (0, false) => tile.beside(format!("{of}, not all checked")),
        _ => tile.beside(of).tone(Tone::Bad),
    }
}

fn unknown(runs: &[&Register]) -> Tile {
    let unknown: u64 = runs.iter().map(|run| run.writes.unanswered).sum();
    Tile::new("Writes without an answer", grouped(unknown), "").beside("each was done or not")
}
