//! Doubts about an order store: orders that are not what was acknowledged, clients that stopped, times without a database,
//! targets that were not served alike, purchases rolled back unusually often.

use crate::format::{self, grouped, whole};
use crate::orders::{Orders, OrdersTarget, Reconciliation};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::server::length_of;
use crate::verdict::{Level, Verdict};

/// Share of the orders that a store of 10 MB rolls back for want of stock once it has settled, by the rule that stock
/// below three is put back.
const ROLLBACK_SHARE_SETTLED: f64 = 0.023;

/// A share that is more than so many times greater or smaller is told.
const ROLLBACK_FACTOR: f64 = 2.0;

/// Fewer orders than this tell no share of rollbacks.
const ROLLBACK_ORDERS_MIN: u64 = 1_000;

/// Targets that differ by more are told.
const VARIABILITY_MAX: f64 = 0.10;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let mut verdicts: Vec<Verdict> = report.order_stores().flat_map(lost).collect();
    verdicts.extend(report.order_stores().flat_map(differ));
    verdicts.extend(report.order_stores().flat_map(stopped));
    verdicts.extend(report.order_stores().flat_map(outages));
    let doubts = [unknown(trials), targets_differ(trials), rollbacks(trials)];
    verdicts.extend(doubts.into_iter().flatten());
    verdicts
}

fn targets(trial: &Trial) -> impl Iterator<Item = &OrdersTarget> {
    trial.orders().into_iter().flat_map(|orders| &orders.targets)
}

fn reconciled(trial: &Trial) -> impl Iterator<Item = (&OrdersTarget, &Reconciliation)> {
    targets(trial).filter_map(|target| Some((target, target.reconciliation.as_ref()?)))
}

/// The name of the trial, with the target where there are several.
fn subject(trial: &Trial, target: &OrdersTarget) -> String {
    match targets(trial).count() {
        0 | 1 => trial.name.clone(),
        _ => format!("{}, target {}", trial.name, target.number),
    }
}

fn verdict(level: Level, rule: &str, (trial, target): (&Trial, &OrdersTarget), fact: String) -> Verdict {
    Verdict::new(level, rule, fact).about(subject(trial, target)).of_trials(vec![trial.number])
}

/// Nothing is worse than an order that was acknowledged and is gone. The store cannot tell a loss from a delete by others.
fn lost(trial: &Trial) -> Vec<Verdict> {
    let lost = |(target, found): (&OrdersTarget, &Reconciliation)| {
        let lost = found.acknowledged_lost.filter(|&lost| lost > 0)?;
        let sentence =
            format!("{} of {} acknowledged orders are missing", grouped(lost), grouped(found.acknowledged));
        let verdict = verdict(Level::Failure, "orders_lost", (trial, target), sentence);
        let verdict = verdict.with_effect("the database lost them, or another program deleted them");
        Some(verdict.with_action("repeat it while no other program writes to the store"))
    };
    reconciled(trial).filter_map(lost).collect()
}

/// What is wrong besides lost orders, which have a sentence of their own.
fn differ(trial: &Trial) -> Vec<Verdict> {
    let differ = |(target, found): (&OrdersTarget, &Reconciliation)| {
        let lost = usize::from(found.acknowledged_lost.is_some_and(|lost| lost > 0));
        let others = found.mismatches.get(lost..).filter(|others| !others.is_empty())?;
        let sentence = others.join(". ");
        let verdict = verdict(Level::Failure, "orders_differ", (trial, target), sentence);
        Some(verdict.with_effect("writes were doubled or torn, or other programs write to the store"))
    };
    reconciled(trial).filter_map(differ).collect()
}

fn unknown(trials: &[Trial]) -> Option<Verdict> {
    let unknown =
        |trial: &Trial| reconciled(trial).any(|(_, found)| found.holds.is_none() && found.purchases > 0);
    Doubt::plain(Level::Warning, "orders_unknown", trials, unknown)
        .verdict(whole, |_| {
            "the database did not answer at the end, so it is unknown whether it has all acknowledged orders"
                .to_owned()
        })
        .map(|verdict| verdict.with_action("count them when the database answers again"))
}

/// A client that stops takes its load with it.
fn stopped(trial: &Trial) -> Vec<Verdict> {
    let stopped = |target: &OrdersTarget| {
        let first = target.stopped.first()?;
        let all = target.clients_per_min.len().max(target.stopped.len());
        let sentence = format!(
            "{} stopped before the end ({})",
            match (target.stopped.len(), all) {
                (1, 1) => "the only client".to_owned(),
                (stopped, of) => format!("{stopped} of {of} clients"),
            },
            first.trim_end_matches('.')
        );
        let verdict = verdict(Level::Warning, "clients_stopped", (trial, target), sentence);
        Some(verdict.with_effect("the figures are those of a smaller load"))
    };
    targets(trial).filter_map(stopped).collect()
}

fn outages(trial: &Trial) -> Vec<Verdict> {
    let outage = |target: &OrdersTarget| {
        let first = target.outages.first()?;
        let lost = target.reconciliation.as_ref().and_then(|found| Some((found, found.acknowledged_lost?)));
        let lost = match lost {
            Some((found, lost)) => {
                format!("{} of {} acknowledged orders were lost", grouped(lost), grouped(found.acknowledged))
            }
            None => "the number of lost orders is unknown".to_owned(),
        };
        let unanswered = target.reconciliation.as_ref().map_or(0, |found| found.unanswered);
        let sentence = format!(
            "the database was unavailable{} ({}), {} purchases had no answer, {lost}",
            length_of(&target.outages),
            first.error,
            grouped(unanswered)
        );
        Some(verdict(Level::Warning, "outage", (trial, target), sentence))
    };
    targets(trial).filter_map(outage).collect()
}

/// Figures of a trial that was measured.
fn of(trial: &Trial) -> Option<&Orders> {
    trial.orders().filter(|orders| orders.orders > 0)
}

fn targets_differ(trials: &[Trial]) -> Option<Verdict> {
    let differ = |trial: &Trial| {
        let orders = of(trial)?;
        // What is a third more than chance makes on average, chance makes in few runs.
        let by_chance = 4.0 / 3.0 * orders.target_variability_by_chance.unwrap_or(0.0);
        orders.target_variability.filter(|&share| share > VARIABILITY_MAX.max(by_chance))
    };
    Doubt::with_figure(Level::Warning, "targets_differ", trials, differ)
        .verdict(format::per_cent, |share| {
            format!(
                "targets differ by {share} in orders per minute (of the fastest, limit {})",
                format::per_cent(VARIABILITY_MAX)
            )
        })
        .map(|verdict| {
            verdict
                .with_effect("they do not share the machine evenly")
                .with_action("look at each target, not at the mean")
        })
}

fn rollbacks(trials: &[Trial]) -> Option<Verdict> {
    let unusual = |trial: &Trial| {
        let orders = of(trial).filter(|orders| orders.orders >= ROLLBACK_ORDERS_MIN)?;
        let usual = ROLLBACK_SHARE_SETTLED / ROLLBACK_FACTOR..=ROLLBACK_SHARE_SETTLED * ROLLBACK_FACTOR;
        orders.rollback_share.filter(|share| !usual.contains(share))
    };
    Doubt::with_figure(Level::Note, "rollbacks", trials, unusual).verdict(format::per_cent, |share| {
        format!(
            "{share} of the orders were rolled back for lack of stock, and a store of 10 MB settles at {}. A fresh store, another size, or another number of items per order changes the share",
            format::per_cent(ROLLBACK_SHARE_SETTLED)
        )
    })
}
