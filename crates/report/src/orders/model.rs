//! What a trial of the order store came to: orders a minute, how evenly targets and clients were served, where the time of
//! an order went, and whether the database holds what it acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use record::orders::{ACTIVE_CLIENTS, KINDS, ORDER, RETRIES, ROLLBACKS, SERVER_CPU, target_orders};
use record::{
    ClientAway, CpuRead, Loop, MeasuredTrial, OperationInterval, OrdersOutcome, OrdersSetup, Outage, Outcome,
    Phase, Sample, Setup, Summary, TargetOutcome,
};
use serde::Serialize;
use stats::Estimate;

use super::UNIT;
use super::cpu::ServerCpu;
use crate::faults::Account;
use crate::trial::gauge_mean;
use crate::workloads::Common;

/// A CPU target is reached if the mean share lies within so much of it.
const CPU_TARGET_WITHIN: f64 = 0.03;

/// Figures of a trial of the order store. Those of the reconciliation are of the whole trial, all others of the measured
/// window.
#[derive(Clone, Debug, Serialize)]
pub struct Orders {
    /// Orders finished, rollbacks included.
    pub orders: u64,
    /// Orders a minute, rollbacks included, as DVD Store counts.
    pub per_min: Option<f64>,
    /// The same with its interval over the seconds; none where there are too few of them.
    pub per_min_interval: Option<Estimate>,
    /// Orders a minute that were committed.
    pub committed_per_min: Option<f64>,
    /// Orders due a minute; none of a closed loop.
    pub offered_per_min: Option<f64>,
    /// Orders that were rolled back for want of stock.
    pub rollbacks: u64,
    /// Their share (0–1) of all orders.
    pub rollback_share: Option<f64>,
    /// Operations that were tried again after a deadlock or a serialization failure.
    pub retries: u64,
    /// Orders that ended with an error.
    pub errors: u64,
    /// Response time of an order, time to think left out.
    pub response: Summary,
    /// Each target, in the order of the setup.
    pub targets: Vec<OrdersTarget>,
    /// (max − min) / max of the targets' orders a minute; none of a single target.
    pub target_variability: Option<f64>,
    /// What of it chance alone makes between as many targets with as many orders.
    pub target_variability_by_chance: Option<f64>,
    /// What all targets together were found to hold; none if that is not known of each.
    #[serde(skip)]
    pub(crate) reconciled: Option<Reconciliation>,
    /// How evenly clients were served; none where it is not known.
    pub clients: Option<ClientSpread>,
    /// Where the time of an order went.
    pub time: OrderTime,
    /// The CPU share at which the server was to be held; none if there was none.
    pub cpu_target: Option<CpuTarget>,
    /// What else is to be known of the trial.
    pub notes: Vec<String>,
    /// Setup, for the sentences on it.
    #[serde(skip)]
    pub(crate) setup: Option<OrdersSetup>,
}

/// One target of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct OrdersTarget {
    /// Number, from 1.
    pub number: usize,
    /// Database of the store; for SQLite the file.
    pub database: String,
    /// Orders finished, rollbacks included; none if that was not recorded.
    pub orders: Option<u64>,
    /// The same a minute.
    pub per_min: Option<f64>,
    /// Mean response time of an order, in microseconds.
    pub mean_us: Option<f64>,
    /// Orders that were rolled back for want of stock.
    pub rollbacks: Option<u64>,
    /// Operations that were tried again.
    pub retries: Option<u64>,
    /// How evenly its clients were served; none where it is not known.
    pub clients: Option<ClientSpread>,
    /// Orders a minute of each client.
    #[serde(skip)]
    pub(crate) clients_per_min: Vec<f64>,
    /// What was found in the database; none if the trial left nothing of it.
    pub reconciliation: Option<Reconciliation>,
    /// Clients that stopped before the end, and why.
    pub stopped: Vec<String>,
    /// Times in which the database could not be used.
    pub outages: Vec<Outage>,
    /// What each client saw of times without an answer; empty where none had to wait for long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub away_by_client: Vec<ClientAway>,
}

/// What was acknowledged and what the database holds, since the load began.
#[derive(Clone, Debug, Serialize)]
pub struct Reconciliation {
    /// Purchases that were answered.
    pub purchases: u64,
    /// Those of them that were rolled back.
    pub rollbacks: u64,
    /// Purchases whose answer was lost.
    pub unanswered: u64,
    /// Purchases − rollbacks: orders that must be there.
    pub acknowledged: u64,
    /// Orders that the database has more than before; none if it could not be asked.
    pub orders_found: Option<u64>,
    /// Orders that were acknowledged and are not there; none if it could not be asked.
    pub acknowledged_lost: Option<u64>,
    /// Quantity of the new order lines.
    pub quantity_found: Option<u64>,
    /// By how much the sales in the inventory have risen.
    pub sales_risen: Option<i64>,
    /// Whether the database holds what it acknowledged; none if it could not be asked.
    pub holds: Option<bool>,
    /// What is wrong, a sentence each.
    pub mismatches: Vec<String>,
}

/// Orders a minute of single clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClientSpread {
    /// Clients.
    pub clients: usize,
    /// Of the slowest client.
    pub min_per_min: f64,
    /// Of the client in the middle.
    pub median_per_min: f64,
    /// Of the fastest client.
    pub max_per_min: f64,
    /// (max − min) / max; none of a single client, and where no client finished an order.
    pub variability: Option<f64>,
    /// What of it chance alone makes between as many clients with as many orders.
    pub variability_by_chance: Option<f64>,
}

/// Where the time of an order went, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OrderTime {
    /// From sending to the end of an order, time to think left out: the mean.
    pub order_us: Option<f64>,
    /// Time in which the client waited for the database: the mean service of each operation times how often an order needs
    /// it.
    pub database_us: Option<f64>,
    /// Its share (0–1) of the order.
    pub database_share: Option<f64>,
    /// CPU time of the load.
    pub client_cpu_us: Option<f64>,
    /// CPU time of the processes of all its servers, or of this program's other threads where the database runs in them; none
    /// where it could not be seen.
    pub server_cpu_us: Option<f64>,
    /// CPU time of this machine less that of the load, other programs included: where servers are here and their processes
    /// could not be seen.
    pub machine_less_load_cpu_us: Option<f64>,
    /// Whether the database runs in threads of this program.
    pub is_in_process: bool,
    /// CPU time of the load over that of the servers.
    pub client_over_server: Option<f64>,
}

/// How near the server was held to its share of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuTarget {
    /// Share (0–1) that was asked for.
    pub target_share: f64,
    /// Whose share it is, and of how many processors.
    pub read: CpuRead,
    /// Whether it is that of several servers together.
    pub several_servers: bool,
    /// Mean share.
    pub mean_share: Option<f64>,
    /// Least share of an interval.
    pub min_share: Option<f64>,
    /// Greatest share of an interval.
    pub max_share: Option<f64>,
    /// Mean number of clients that were driving.
    pub active_clients_mean: Option<f64>,
    /// Clients there were, all targets together.
    pub clients: u64,
    /// Whether the mean lies within 3 percentage points of the target; none where it is not known.
    pub reached: Option<bool>,
}

impl Orders {
    /// The figures of a trial; none if it is none of the order store or was never set up.
    pub(crate) fn of(
        measured: &MeasuredTrial,
        Common { kinds, rate_per_s, cpu_us_per_operation, .. }: &Common<'_>,
    ) -> Option<Self> {
        let setup = measured.trial.setup.as_ref().and_then(Setup::orders)?;
        let window: Vec<&Sample> = measured.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        let seconds = window.iter().map(|sample| sample.length_s).sum::<f64>();
        let outcome = measured.trial.outcome.as_ref().and_then(Outcome::orders);
        let per_min = |count: u64| UNIT.within(count, seconds);
        let empty = OperationInterval::default();
        let order = kinds.get(ORDER).unwrap_or(&empty);
        let counted = |gauge: &str, of: fn(&TargetOutcome) -> u64| {
            outcome.map_or_else(|| sum(&window, gauge).unwrap_or(0), |o| o.targets.iter().map(of).sum())
        };
        let rollbacks = counted(ROLLBACKS, |target| target.rollbacks);
        let targets = targets(setup, outcome, &window, seconds);
        let per_target: Option<Vec<f64>> = targets.iter().map(|target| target.per_min).collect();
        Some(Self {
            orders: order.count,
            per_min: per_min(order.count),
            per_min_interval: rate_per_s.map(|estimate| UNIT.estimate(estimate)),
            committed_per_min: per_min(order.count.saturating_sub(rollbacks)),
            offered_per_min: offered(setup),
            rollbacks,
            rollback_share: (order.count > 0).then(|| rollbacks as f64 / order.count as f64),
            retries: counted(RETRIES, |target| target.retries),
            errors: order.errors,
            response: Summary::of(order.latency()),
            target_variability_by_chance: by_chance(per_target.as_deref().unwrap_or_default(), seconds),
            target_variability: per_target.and_then(|rates| stats::variability(&rates)),
            // Clients that rest to keep a CPU target are not served less evenly.
            clients: clients(&targets, seconds).filter(|_| setup.cpu_target_share.is_none()),
            reconciled: reconciled(&targets),
            targets,
            time: time(kinds, *cpu_us_per_operation, ServerCpu::of(measured, &window), order.count),
            cpu_target: setup.cpu_target_share.map(|share| cpu_target(share, setup, &window)),
            notes: outcome.map(|outcome| outcome.notes.clone()).unwrap_or_default(),
            setup: Some(setup.clone()),
        })
    }

    /// Between the targets; of a single target, between its clients.
    pub(crate) fn variability(&self) -> Option<f64> {
        if self.targets.len() > 1 { self.target_variability } else { self.clients?.variability }
    }

    /// Whether orders were due at a rate.
    pub(crate) fn is_open(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| matches!(setup.pacing, Loop::Open { .. }))
    }
}

fn offered(setup: &OrdersSetup) -> Option<f64> {
    match setup.pacing {
        Loop::Open { rate_per_s, .. } => Some(UNIT.of(rate_per_s)),
        Loop::Closed { .. } => None,
    }
}

/// Sum of a gauge that counts; none where no interval has it.
fn sum(window: &[&Sample], gauge: &str) -> Option<u64> {
    let counts = window.iter().filter_map(|sample| sample.gauges.get(gauge)).copied();
    counts.reduce(|sum, count| sum + count).map(|sum| sum.round() as u64)
}

fn targets(
    setup: &OrdersSetup,
    outcome: Option<&OrdersOutcome>,
    window: &[&Sample],
    seconds: f64,
) -> Vec<OrdersTarget> {
    let per_min = |count: u64| UNIT.within(count, seconds);
    let target = |(index, database): (usize, &String)| {
        let number = index + 1;
        let left = outcome.and_then(|outcome| outcome.targets.get(index));
        // A trial that was killed has no outcome, but its samples.
        let orders = left.map(TargetOutcome::orders).or_else(|| sum(window, &target_orders(number)));
        let by_client = left.map(|left| left.orders_by_client.as_slice()).unwrap_or_default();
        let clients_per_min: Vec<f64> = by_client.iter().filter_map(|&count| per_min(count)).collect();
        OrdersTarget {
            number,
            database: database.clone(),
            orders,
            per_min: orders.and_then(per_min),
            mean_us: left.and_then(|left| left.order_mean_ms).map(|ms| ms * 1e3),
            rollbacks: left.map(|left| left.rollbacks),
            retries: left.map(|left| left.retries),
            clients: spread(&clients_per_min, seconds),
            clients_per_min,
            reconciliation: left.map(reconciliation),
            stopped: left.map(|left| left.stopped.clone()).unwrap_or_default(),
            outages: left.map(|left| left.outages.clone()).unwrap_or_default(),
            away_by_client: left.map(|left| left.away_by_client.clone()).unwrap_or_default(),
        }
    };
    setup.targets.iter().map(|target| &target.database).enumerate().map(target).collect()
}

fn reconciliation(left: &TargetOutcome) -> Reconciliation {
    let mismatches = left.mismatches();
    let asked = left.orders_found.is_some() && left.acknowledged_lost.is_some();
    Reconciliation {
        purchases: left.purchases_from_start,
        rollbacks: left.rollbacks_from_start,
        unanswered: left.unanswered,
        acknowledged: left.acknowledged(),
        orders_found: left.orders_found,
        acknowledged_lost: left.acknowledged_lost,
        quantity_found: left.quantity_found,
        sales_risen: left.sales_risen,
        holds: (asked || !mismatches.is_empty()).then_some(mismatches.is_empty()),
        mismatches,
    }
}

impl Reconciliation {
    /// What became of the orders. One that is there beyond the acknowledged ones is that of a purchase without an answer, as long as
    /// there are such.
    pub(crate) fn account(&self) -> Account {
        let there = self.acknowledged_lost.map(|lost| self.acknowledged.saturating_sub(lost));
        let more = self.orders_found.zip(there).map(|(found, there)| found.saturating_sub(there));
        Account {
            acknowledged: self.acknowledged,
            there,
            lost: self.acknowledged_lost,
            unanswered: self.unanswered,
            unanswered_there: more.map(|more| more.min(self.unanswered)),
            beyond: more.map(|more| more.saturating_sub(self.unanswered)),
            refused: None,
        }
    }
}

/// What all targets together were found to hold; a sum of which a part is unknown is unknown.
fn reconciled(targets: &[OrdersTarget]) -> Option<Reconciliation> {
    let found: Vec<&Reconciliation> =
        targets.iter().map(|target| target.reconciliation.as_ref()).collect::<Option<_>>()?;
    let known =
        |of: fn(&Reconciliation) -> Option<u64>| found.iter().map(|part| of(part)).sum::<Option<u64>>();
    let sum = |of: fn(&Reconciliation) -> u64| found.iter().map(|part| of(part)).sum::<u64>();
    let holds = || found.iter().map(|part| part.holds);
    (!found.is_empty()).then(|| Reconciliation {
        purchases: sum(|part| part.purchases),
        rollbacks: sum(|part| part.rollbacks),
        unanswered: sum(|part| part.unanswered),
        acknowledged: sum(|part| part.acknowledged),
        orders_found: known(|part| part.orders_found),
        acknowledged_lost: known(|part| part.acknowledged_lost),
        quantity_found: known(|part| part.quantity_found),
        sales_risen: found.iter().map(|part| part.sales_risen).sum(),
        // One that does not hold is enough to know.
        holds: if holds().any(|holds| holds == Some(false)) { Some(false) } else { holds().min().flatten() },
        mismatches: found.iter().flat_map(|part| part.mismatches.clone()).collect(),
    })
}

fn clients(targets: &[OrdersTarget], seconds: f64) -> Option<ClientSpread> {
    let rates = targets.iter().flat_map(|target| &target.clients_per_min).copied();
    spread(&rates.collect::<Vec<f64>>(), seconds)
}

/// How far parts with these orders a minute would differ by chance, were they served alike.
fn by_chance(rates: &[f64], seconds: f64) -> Option<f64> {
    stats::variability_by_chance(rates.len(), stats::mean(rates)? / UNIT.within(1, seconds)?)
}

fn spread(rates: &[f64], seconds: f64) -> Option<ClientSpread> {
    Some(ClientSpread {
        clients: rates.len(),
        min_per_min: rates.iter().copied().reduce(f64::min)?,
        median_per_min: stats::median(rates)?,
        max_per_min: rates.iter().copied().reduce(f64::max)?,
        variability: stats::variability(rates),
        variability_by_chance: by_chance(rates, seconds),
    })
}

fn time(
    kinds: &BTreeMap<String, OperationInterval>,
    client_cpu_us: Option<f64>,
    server: ServerCpu,
    orders: u64,
) -> OrderTime {
    let order = kinds.get(ORDER).filter(|order| order.count > 0);
    let order_us = order.and_then(|order| order.service.mean_us());
    let waited = |kind: &&str| {
        let operation = kinds.get(*kind)?;
        Some(operation.service.mean_us()? * operation.count as f64)
    };
    let waited = KINDS.iter().filter(|kind| **kind != ORDER).filter_map(waited).reduce(|sum, us| sum + us);
    let database_us = order.zip(waited).map(|(order, us)| us / order.count as f64);
    let share = |part: Option<f64>, whole: Option<f64>| {
        part.zip(whole.filter(|&whole| whole > 0.0)).map(|(part, whole)| part / whole)
    };
    let per_order = |seconds: Option<f64>| seconds.filter(|_| orders > 0).map(|s| s * 1e6 / orders as f64);
    let server_cpu_us = per_order(server.servers_s);
    OrderTime {
        order_us,
        database_us,
        database_share: share(database_us, order_us),
        client_cpu_us,
        server_cpu_us,
        machine_less_load_cpu_us: per_order(server.machine_less_load_s),
        is_in_process: server.is_in_process,
        client_over_server: share(client_cpu_us, server_cpu_us),
    }
}

fn cpu_target(target_share: f64, setup: &OrdersSetup, window: &[&Sample]) -> CpuTarget {
    let shares = || window.iter().filter_map(|sample| sample.gauges.get(SERVER_CPU)).copied();
    let mean_share = gauge_mean(window, SERVER_CPU);
    let places: BTreeSet<Option<String>> = setup.databases().map(|database| database.place()).collect();
    // What is a percentage point of a decimal fraction is not one of a binary one.
    let within = |mean: f64| (mean - target_share).abs() <= CPU_TARGET_WITHIN + 1e-9;
    CpuTarget {
        target_share,
        read: setup.cpu_read(),
        several_servers: places.len() > 1,
        mean_share,
        min_share: shares().reduce(f64::min),
        max_share: shares().reduce(f64::max),
        active_clients_mean: gauge_mean(window, ACTIVE_CLIENTS),
        clients: u64::from(setup.n_threads) * setup.targets.len() as u64,
        reached: mean_share.map(within),
    }
}
