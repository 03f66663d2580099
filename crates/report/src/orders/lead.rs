//! The top of a page on order stores: the rate and its latency, lost orders, the cost, and the course of a trial.

use record::Workload;

use super::{Cost, cost_table};
use crate::chart::Chart;
use crate::format::{self, grouped};
use crate::lead::{self, Tail, Tile, Tone};
use crate::report::Report;
use crate::trial::Trial;

/// The figures of a single configuration, or the rates of several.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let mut tiles = lead::rates(report, Workload::Orders, &[Tail::P99]);
    if let Some((only, _)) = lead::only(report, Workload::Orders) {
        let trials: Vec<&Trial> = only.measured_in(&report.trials).collect();
        tiles.extend(lost(&trials));
        tiles.extend(report.orders.cost.as_ref().and_then(cost).or_else(|| failed(&trials)));
    }
    tiles
}

/// Acknowledged orders that are missing. Returns none if a database could not be checked.
fn lost(trials: &[&Trial]) -> Option<Tile> {
    let found = trials.iter().map(|trial| trial.orders()?.reconciled.as_ref());
    let found: Vec<_> = found.collect::<Option<_>>()?;
    let lost: u64 = found.iter().map(|one| one.acknowledged_lost).sum::<Option<u64>>()?;
    let acknowledged: u64 = found.iter().map(|one| one.acknowledged).sum();
    let of = format!("of {} acknowledged orders", grouped(acknowledged));
    let tile = Tile::new("Lost orders", grouped(lost), "");
    Some(match (lost, found.iter().all(|one| one.holds == Some(true))) {
        (0, true) => tile.beside(of).tone(Tone::Good),
        (0, false) => tile.beside(format!("{of}, but the database disagrees")).tone(Tone::Bad),
        _ => tile.beside(of).tone(Tone::Bad),
    })
}

/// Orders that ended with an error.
fn failed(trials: &[&Trial]) -> Option<Tile> {
    let orders: Vec<_> = trials.iter().filter_map(|trial| trial.orders()).collect();
    let failed: u64 = orders.iter().map(|orders| orders.errors).sum();
    let finished: u64 = orders.iter().map(|orders| orders.orders).sum();
    let tile = Tile::new("Failed orders", grouped(failed), "")
        .beside(format!("{} finished in the measured window", grouped(finished)));
    (!orders.is_empty()).then(|| tile.tone(if failed == 0 { Tone::Plain } else { Tone::Bad }))
}

/// The cost per order per minute.
fn cost(cost: &Cost) -> Option<Tile> {
    let ours = cost.systems.first().filter(|row| !row.is_published)?;
    let unit = format!("{} per order/min", ours.currency.as_deref().unwrap_or_default());
    let interval = cost_table::interval(ours);
    let total = format!("{} {}", format::money(ours.total), ours.currency.as_deref().unwrap_or_default());
    let beside = match interval.trim().trim_matches(['(', ')']) {
        "" => format!("of {}", total.trim_end()),
        interval => format!("{interval}, of {}", total.trim_end()),
    };
    Some(Tile::new("Cost", format::small_money(ours.cost_per_opm?), unit.trim_start()).beside(beside))
}

/// The course of the trial with the median rate. Returns none for several configurations.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let (only, trial) = lead::only(report, Workload::Orders)?;
    Some(lead::chart_of(trial, only.trials.len(), super::chart::course(trial)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Sold, prices};

    fn told(report: &Report) -> Vec<(String, String, Tone)> {
        tiles(report).into_iter().map(|tile| (tile.label, tile.figure, tile.tone)).collect()
    }

    #[test]
    fn a_store_shows_its_rate_its_losses_and_what_an_order_costs() {
        let mut study = fixture::study("orders", vec![Sold::at("store", &[120.0]).trial(1)]);
        let report = Report::of(&study);
        let found = told(&report);
        let labels: Vec<&str> = found.iter().map(|tile| tile.0.as_str()).collect();
        assert_eq!(labels, ["store", "p99 latency", "Lost orders", "Failed orders"]);
        assert_eq!((found[2].1.as_str(), found[2].2), ("0", Tone::Good));
        assert_eq!((found[3].1.as_str(), found[3].2), ("0", Tone::Plain));
        study.manifest.prices = Some(prices());
        let priced = Report::of(&study);
        let cost = &tiles(&priced)[3];
        let row = &priced.orders.cost.as_ref().unwrap().systems[0];
        assert_eq!(cost.figure, format::small_money(row.cost_per_opm.unwrap()));
        assert!(cost.beside.contains(&format::money(row.total)), "{cost:?}");
    }

    #[test]
    fn a_lost_order_is_a_bad_figure_and_one_that_is_not_known_is_none() {
        let with = |change: fn(&mut record::OrdersOutcome)| {
            let trial = Sold::at("store", &[120.0]).outcome(change).trial(1);
            Report::of(&fixture::study("orders", vec![trial]))
        };
        let lost = told(&with(|outcome| {
            outcome.targets[0].acknowledged_lost = Some(2);
            outcome.targets[0].orders_found = outcome.targets[0].orders_found.map(|found| found - 2);
        }));
        assert_eq!((lost[2].1.as_str(), lost[2].2), ("2", Tone::Bad));
        let unknown = told(&with(|outcome| {
            outcome.targets[0].acknowledged_lost = None;
            outcome.targets[0].orders_found = None;
        }));
        assert!(unknown.iter().all(|tile| tile.0 != "Lost orders"), "{unknown:?}");
    }

    #[test]
    fn of_three_trials_the_one_with_the_median_rate_is_drawn() {
        let trial = |number, per_s| Sold::at("store", &[per_s]).trial(number);
        let trials = vec![trial(1, 130.0), trial(2, 90.0), trial(3, 120.0)];
        let drawn = chart(&Report::of(&fixture::study("orders", trials))).unwrap();
        assert_eq!(
            drawn.heading,
            "Orders per minute and latency over time: trial 3 of 3, with the median rate"
        );
    }
}
