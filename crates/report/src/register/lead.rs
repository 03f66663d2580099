//! The head of a page on registers: the longest outage, lost writes, writes without an answer, and the rate.

use record::Workload;

use super::{AwayTimes, Register};
use crate::chart::Chart;
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

/// The longest time in which something was not answered: all operations, or writes or reads alone.
fn outage(runs: &[&Register]) -> Tile {
    let longest =
        |of: fn(&Register) -> &AwayTimes| runs.iter().map(|run| of(run).longest_s).fold(0.0, f64::max);
    let all_s = longest(|run| &run.away);
    let alone = [("writes", longest(|run| &run.writes_away)), ("reads", longest(|run| &run.reads_away))];
    let (what, longest_s) = alone.into_iter().fold(("", all_s), |most, one| {
        // What is the same to the digits that are shown is told once.
        let is_longer = one.1 > most.1 && format::duration(one.1) != format::duration(most.1);
        if is_longer { one } else { most }
    });
    let least = format::latency(runs[0].setup.outage_ms * 1e3);
    if longest_s == 0.0 {
        return Tile::new("Longest time without an answer", "none", "")
            .beside(format!("none of {least} or longer"))
            .tone(Tone::Good);
    }
    let text = format::duration(longest_s);
    let (length, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let times: usize = runs.iter().map(|run| run.away.times.len()).sum();
    let beside = match (what, all_s) {
        ("", _) => format::counted(times, "outage", "outages"),
        (what, 0.0) => format!("of {what}; others were answered"),
        (what, all_s) => format!("of {what}; all operations: {}", format::duration(all_s)),
    };
    Tile::new("Longest time without an answer", length, unit).beside(beside)
}

fn lost(runs: &[&Register]) -> Tile {
    let (lost, acknowledged): (u64, u64) =
        runs.iter().fold((0, 0), |(lost, all), run| (lost + run.writes.lost, all + run.writes.acknowledged));
    let checked = runs.iter().all(|run| run.is_audited && run.unchecked.is_none());
    // What a crash took and a write covered before anybody read it leaves no trace.
    let was_away = runs.iter().any(|run| !run.away.times.is_empty());
    let seen = if was_away && checked { " that reads could check" } else { "" };
    let of = format!("of {} acknowledged writes{seen}", grouped(acknowledged));
    let tile = Tile::new("Lost writes", grouped(lost), "");
    match (lost, checked) {
        (0, true) => tile.beside(of).tone(Tone::Good),
        (0, false) => tile.beside(format!("{of}, not all checked")),
        _ => tile.beside(of).tone(Tone::Bad),
    }
}

fn unknown(runs: &[&Register]) -> Tile {
    let sum = |of: fn(&Register) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
    let (unknown, done) = (sum(|run| run.writes.unanswered), sum(|run| run.writes.unanswered_seen));
    let beside = match (unknown, done) {
        (0, _) => "all were answered".to_owned(),
        (_, 0) => "each was done or not".to_owned(),
        (_, done) => format!("{} done, the others were done or not", grouped(done)),
    };
    Tile::new("Writes without an answer", grouped(unknown), "").beside(beside)
}

/// The course of the trial with the longest outage; none of several configurations.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let all: Vec<&Configuration> = report.configurations_of(Workload::Register).collect();
    let [only] = all.as_slice() else { return None };
    let away_s = |trial: &Trial| trial.register().map_or(0.0, |register| register.away.longest_s);
    // Of equal ones the first.
    let longest = only
        .measured_in(&report.trials)
        .reduce(|most, one| if away_s(one) > away_s(most) { one } else { most })?;
    let chart = super::chart::rate(longest)?;
    let heading = match only.trials.len() {
        1 => chart.heading,
        trials if away_s(longest) > 0.0 => {
            format!("{}: trial {}, the longest outage of {trials}", chart.heading, longest.number)
        }
        trials => format!("{}: trial {} of {trials}", chart.heading, longest.number),
    };
    Some(Chart { heading, ..chart })
}
