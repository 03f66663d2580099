//! What was measured of order stores: orders a minute, the CPU share at which a server was held, what they cost.

use super::{UNIT, cost_table, cpu};
use crate::configuration::Configuration;
use crate::format::{self, figure, plain};
use crate::orders::{Cost, CpuTarget, Orders};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::rate::{Held, held, interval, tail};
use crate::verdict::{Fact, Level, Verdict};
use record::Workload;

/// Rule of what a configuration gave.
pub(crate) const ORDER_RATE: &str = "order_rate";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let stores = report.configurations_of(Workload::Orders);
    let mut verdicts: Vec<Verdict> =
        stores.filter_map(|configuration| rate(configuration, &report.trials)).collect();
    verdicts.extend(report.order_stores().filter_map(cpu_target));
    verdicts.extend(reconciled(&report.trials));
    verdicts.extend(report.orders.cost.iter().filter_map(cost));
    verdicts
}

/// `orders: 12,340 orders/min (12,100–12,500), p95 41.0 ms, p99 60.0 ms, 2.3% rolled back: 12,060 orders/min committed`.
fn rate(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let runs: Vec<&Orders> = configuration.measured_in(trials).filter_map(Trial::orders).collect();
    let figure = UNIT.text(figures.per_s?);
    let held = held(configuration, trials);
    let mut parts = vec![format!(" {}", interval(configuration, UNIT.of(1.0)))];
    parts
        .extend(configuration.offered_per_s().map(|rate| format!("{} offered", self::figure(UNIT.of(rate)))));
    if let (Some(p95), Some(_)) = (figures.latency.p95_us, figures.latency.p99_us) {
        parts.push(format!("p95 {}", format::latency(p95)));
    }
    parts.push(tail(configuration, figures));
    parts.extend(rolled_back(&runs));
    if configuration.cut_short {
        parts.push("cut short".to_owned());
    }
    let verdict = Verdict::new(Level::Finding, ORDER_RATE, Held::fact(held, figure, &parts));
    Some(verdict.about(&configuration.name).of_trials(configuration.trials.clone()))
}

/// `2.3% rolled back: 12,060 orders/min committed`; repeats weigh by their orders.
fn rolled_back(runs: &[&Orders]) -> Option<String> {
    let rollbacks: u64 = runs.iter().map(|run| run.rollbacks).sum();
    let orders: u64 = runs.iter().map(|run| run.orders).sum();
    let committed = runs.iter().filter_map(|run| run.committed_per_min).collect::<Vec<f64>>();
    let committed = stats::mean(&committed).filter(|_| rollbacks > 0 && orders > 0)?;
    let share = format::per_cent(rollbacks as f64 / orders as f64);
    Some(format!("{share} rolled back: {} orders/min committed", self::figure(committed)))
}

/// `orders: the CPU target of 70% was reached: the server's control group used 69% of 0.5 processors on average (65%
/// to 74%) with 12.3 of 32 clients
/// active`.
fn cpu_target(trial: &Trial) -> Option<Verdict> {
    let target = trial.orders()?.cpu_target?;
    let CpuTarget { target_share, mean_share, min_share, max_share, active_clients_mean, clients, .. } =
        target;
    let range = min_share
        .zip(max_share)
        .map(|(low, high)| format!(" ({} to {})", format::per_cent(low), format::per_cent(high)));
    let used = mean_share.map_or_else(
        || "the CPU use is unknown".to_owned(),
        |mean| {
            let range = range.unwrap_or_default();
            let whose = cpu::whose(target.read, target.several_servers);
            let of = cpu::of_processors(target.read);
            format!("{whose} used {}{of} on average{range}", format::per_cent(mean))
        },
    );
    let active = active_clients_mean
        .map(|mean| format!(" with {} of {} clients active", self::figure(mean), format::grouped(clients)));
    let (level, how, remedy) = match target.reached {
        Some(true) => (Level::Finding, "reached", ""),
        Some(false) if active_clients_mean.is_some_and(|mean| mean > clients as f64 * 0.95) => {
            (Level::Warning, "not reached", "add clients, or shorten the think time")
        }
        Some(false) if active_clients_mean.is_some_and(|mean| mean < 1.05) => (
            Level::Warning,
            "not reached",
            "one client was already too many: increase the think time, and look for background load",
        ),
        Some(false) => {
            (Level::Warning, "not reached", "increase the warm-up, so that the number of clients settles")
        }
        None => (Level::Warning, "not judged", "run prony on the host of the server"),
    };
    let asked = format::per_cent(target_share);
    let fact = format!("CPU target of {asked} {how}: {used}{}", active.unwrap_or_default());
    let verdict = Verdict::new(level, "cpu_target", fact).about(&trial.name).of_trials(vec![trial.number]);
    Some(if remedy.is_empty() { verdict } else { verdict.with_action(remedy) })
}

/// Trials all of whose databases hold what they acknowledged.
fn reconciled(trials: &[Trial]) -> Option<Verdict> {
    let acknowledged = |trial: &Trial| {
        let found = trial.orders()?.reconciled.as_ref()?;
        (found.holds == Some(true)).then_some(found.acknowledged)
    };
    let sum = format::grouped(trials.iter().filter_map(acknowledged).sum());
    let holds = |trial: &Trial| acknowledged(trial).is_some();
    Doubt::plain(Level::Finding, "reconciled", trials, holds).verdict(figure, |_| {
        format!("all {sum} acknowledged orders are in the databases, and their sales match their lines")
    })
}

/// `0.43 EUR per order/min: 10,500.00 EUR for 24,410 orders/min`.
fn cost(cost: &Cost) -> Option<Verdict> {
    let ours = cost.systems.first()?;
    let unit = ours.currency.as_deref().unwrap_or("(no currency given)");
    let figure = format!("{} {unit}", format::small_money(ours.cost_per_opm?));
    let ends: Vec<String> = [cost.price_steps.first()?, cost.price_steps.last()?]
        .iter()
        .map(|step| format::small_money(step.cost))
        .collect();
    let change = plain(cost.price_steps.last()?.change * 100.0);
    let not_apart = match cost.not_apart.as_slice() {
        [] => String::new(),
        others => format!(". {} may be as fast (overlapping intervals)", format::listed(others)),
    };
    let after = format!(
        " per order/min{}: {} {unit} for {} orders/min. {}–{} with a price {change}% lower or higher{not_apart}",
        cost_table::interval(ours),
        format::money(ours.total),
        self::figure(ours.per_min),
        ends[0],
        ends[1]
    );
    let verdict = Verdict::new(Level::Finding, "order_cost", Fact::around("", figure, after));
    Some(verdict.about(cost.configuration.as_deref()?))
}
