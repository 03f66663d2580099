//! What a report says of an order store: orders a minute, where their time went, what the databases hold, what they cost.

mod chart;
mod columns;
mod cost;
mod cost_table;
mod cpu;
mod doubt;
mod facts;
mod finding;
mod lead;
mod method;
mod model;
mod plain;
mod published;
mod table;

use record::orders::{ACTIVE_CLIENTS, KINDS, LAST_100_MAX, ORDER, PURCHASE, RETRIES, ROLLBACKS};
use record::{ClientAway, Manifest, MeasuredTrial, Outage, Sample, Server, Setup, State, Workload};
use serde::Serialize;
use stats::{Chance, ORDERS_UNSENT_SHARE_MAX};

pub use cost::{Cost, CostItem, CostRow};
pub use model::{ClientSpread, CpuTarget, OrderTime, Orders, OrdersTarget, Reconciliation};
pub use published::{OrdersComparison, OrdersRow};

use crate::chart::{Chart, strip};
use crate::configuration::Configuration;
use crate::csv::Field;
use crate::faults::Account;
use crate::format;
use crate::lead::Tile;
use crate::limit::Limit;
use crate::metrics::MetricOf;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::trial::{Trial, per_s};
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::workloads::{Common, Facts, InShort, Limits, Second, Shown, Words, Worked};

/// The order store as a report shows it.
pub(crate) struct OfOrders;

/// What order stores came to together.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Published figures beside the measured ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_orders: Option<OrdersComparison>,
    /// What the measured system costs, and what an order a minute does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Series {
    pub(crate) fn of(manifest: &Manifest, configurations: &[Configuration], trials: &[Trial]) -> Self {
        Self {
            published_orders: published::beside(configurations, trials),
            cost: cost::of(manifest, configurations),
        }
    }
}

impl Trial {
    /// Figures of an order store.
    #[must_use]
    pub fn orders(&self) -> Option<&Orders> {
        match &self.worked {
            Some(Worked::Orders(orders)) => Some(orders),
            _ => None,
        }
    }
}

impl Report {
    /// Trials of order stores.
    fn order_stores(&self) -> impl Iterator<Item = &Trial> {
        self.trials_of(Workload::Orders)
    }
}

/// Share of the orders of which an operation was tried again from which on locks are told.
const RETRIED_SHARE: f64 = 0.05;
/// Share of an order's time that it waits for the database from which on that is told.
const WAITED_SHARE: f64 = 0.8;

/// What orders are counted in, as DVD Store does.
const UNIT: Unit = Unit::a_minute("orders/min", "orders per minute", "orders");

static WORDS: Words = Words {
    one: "order store",
    many: "order stores",
    anchor: "orders",
    unit: UNIT,
    rate_metric: "orders_per_min",
    headlines: &[finding::ORDER_RATE],
    replaced: &[finding::ORDER_RATE],
    all_in_flight: |slots| match slots {
        1 => "the one client was waiting for the database".to_owned(),
        _ => format!("all {} clients were waiting for the database", format::grouped(slots)),
    },
};

static LIMITS: Limits = Limits {
    busy_rule: "orders_cpu",
    thread: "the busiest load thread",
    instead: "the clients' CPU, not the database",
    remedy: ", and give the load more threads or its own machine",
    alone: None,
    late_remedy: Some("add clients, or offer a lower rate"),
    is_alone: false,
};

impl Shown for OfOrders {
    fn question(&self, _: &Report) -> &'static str {
        "How many orders per minute does this database complete, and how fast?"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn worked(&self, measured: &MeasuredTrial, common: &Common<'_>) -> Option<Worked> {
        Orders::of(measured, common).map(|orders| Worked::Orders(Box::new(orders)))
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[
            ("orders_per_min", |trial| trial.orders()?.per_min),
            ("committed_orders_per_min", |trial| trial.orders()?.committed_per_min),
            ("variability_pct", |trial| trial.orders()?.variability().map(|share| share * 100.0)),
        ]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &KINDS
    }

    fn unsent_share_max(&self) -> Option<f64> {
        Some(ORDERS_UNSENT_SHARE_MAX)
    }

    fn away_by_client(&self, trial: &Trial) -> Vec<ClientAway> {
        let targets = trial.orders().into_iter().flat_map(|orders| &orders.targets);
        targets.flat_map(|target| target.away_by_client.iter().copied()).collect()
    }

    fn account(&self, trial: &Trial) -> Option<Account> {
        Some(trial.orders()?.reconciled.as_ref()?.account())
    }

    fn is_priced(&self, report: &Report) -> bool {
        report.orders.cost.is_some()
    }

    fn lost(&self, trial: &Trial) -> Option<u64> {
        trial.orders()?.reconciled.as_ref()?.acknowledged_lost
    }

    fn outages<'a>(&self, trial: &'a Trial) -> Vec<&'a Outage> {
        let targets = trial.orders().into_iter().flat_map(|orders| &orders.targets);
        targets.flat_map(|target| &target.outages).collect()
    }

    fn servers<'a>(&self, setup: &'a Setup) -> Vec<&'a Server> {
        let targets = setup.orders().into_iter().flat_map(|orders| &orders.targets);
        targets.map(|target| &target.server).collect()
    }

    /// Orders are few and independent of each other.
    fn by_chance(&self, trial: &Trial) -> Option<Chance> {
        Chance::of(self.answers_per_s(trial)?, trial.measured_s)
    }

    /// An invalid trial has said why already.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.orders().is_some() && trial.state != State::Invalid
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        finding::all(report)
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        plain::answers(report)
    }

    fn in_short(&self, report: &Report) -> Vec<InShort> {
        plain::in_short(report)
    }

    fn of_commits(&self, report: &Report, per_s: f64) -> Option<String> {
        Some(plain::of_commits(report, per_s))
    }

    /// Locks, else the database as a whole.
    fn waits(&self, trial: &Trial) -> Option<Limit> {
        let orders = trial.orders().filter(|orders| orders.orders > 0)?;
        let retried = orders.retries as f64 / orders.orders as f64;
        let locks = Limit::of(
            "locks",
            Some(retried),
            RETRIED_SHARE,
            [": ", " of the orders had a retried operation"],
        );
        let waited = orders.time.database_share.filter(|_| !orders.is_open());
        let says =
            [", for which an order waited ", " of its time; the server's work in that time is unknown"];
        locks.or_else(|| Limit::of("the database", waited, WAITED_SHARE, says))
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        doubt::all(report)
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let main = table::orders(report).map(Block::main);
        let details = if main.is_some() { table::order_details(report) } else { Vec::new() };
        let figures = main.into_iter().chain(details.into_iter().map(Block::Table));
        let cost = report.orders.cost.iter().flat_map(cost_table::blocks);
        let published = report.orders.published_orders.iter().flat_map(table::beside);
        vec![
            Section { place: Place::Figures, blocks: figures.collect() },
            Section { place: Place::Own { anchor: "cost", heading: "Cost" }, blocks: cost.collect() },
            Section { place: Place::Published, blocks: published.collect() },
        ]
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        lead::chart(report)
    }

    fn overview(&self, report: &Report) -> Vec<Chart> {
        let heading = "Response time of an order of each configuration";
        strip::strip(report, Workload::Orders, heading).into_iter().collect()
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        chart::orders(trial)
    }

    fn draws_sessions(&self) -> bool {
        true
    }

    fn ink(&self, kind: &str) -> usize {
        match kind {
            ORDER => 0,
            PURCHASE => 1,
            _ => 3,
        }
    }

    fn remarks(&self, trial: &Trial) -> Vec<String> {
        let Some(orders) = trial.orders() else { return Vec::new() };
        let mismatches = orders.targets.iter().flat_map(|target| {
            let found = target.reconciliation.iter().flat_map(|found| &found.mismatches);
            found.map(|mismatch| format!("Target {}: {mismatch}.", target.number))
        });
        mismatches.chain(orders.notes.iter().cloned()).collect()
    }

    fn seconds(&self) -> &'static [Second] {
        &[
            Second {
                head: "orders/min",
                value: |main, s| per_s(main, s).map(|per_s| UNIT.of(per_s)),
                print: format::figure,
            },
            Second { head: "rolled back", value: |_, s| gauge(s, ROLLBACKS), print: format::figure },
            Second { head: "retries", value: |_, s| gauge(s, RETRIES), print: format::figure },
            Second { head: "active clients", value: |_, s| gauge(s, ACTIVE_CLIENTS), print: format::figure },
            Second {
                head: "longest of 100",
                value: |_, s| gauge(s, LAST_100_MAX).map(|ms| ms * 1e3),
                print: format::latency,
            },
        ]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.orders().map(facts::facts)
    }

    fn method(&self, report: &Report) -> Vec<String> {
        method::paragraphs(report)
    }

    fn columns(&self) -> &'static [Field] {
        &columns::COLUMNS
    }
}

fn gauge(sample: &Sample, name: &str) -> Option<f64> {
    sample.gauges.get(name).copied()
}
