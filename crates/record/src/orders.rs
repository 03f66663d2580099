//! The order store: how it was set up, and what became of its orders.

use serde::{Deserialize, Serialize};

pub use crate::clients::{ACTIVE_CLIENTS, RETRIES, SERVER_CPU, SERVER_CPU_S};
use crate::{ClientAway, CpuRead, Loop, Mark, MarkKind, Offered, Outage, Server, SetUpDatabase};

/// Seconds of a minute, in which orders are counted as DVD Store does.
pub const MINUTE_S: f64 = 60.0;

/// Kind of operation: one customer's whole visit, from the login to the purchase. Time to think is not part of it.
pub const ORDER: &str = "order";
/// Kind of operation: a login with its history.
pub const LOGIN: &str = "login";
/// Kind of operation: a new customer.
pub const NEW_CUSTOMER: &str = "new_customer";
/// Kind of operation: one browse.
pub const BROWSE: &str = "browse";
/// Kind of operation: prices of a cart.
pub const PRICES: &str = "prices";
/// Kind of operation: a purchase, whether it was committed or rolled back for want of stock.
pub const PURCHASE: &str = "purchase";

/// All kinds in the order in which they are shown.
pub const KINDS: [&str; 6] = [ORDER, LOGIN, NEW_CUSTOMER, BROWSE, PRICES, PURCHASE];

/// Gauge: purchases of an interval that were rolled back for want of stock.
pub const ROLLBACKS: &str = "rolled_back_orders";
/// Gauge: longest of the last 100 orders at the end of an interval, in milliseconds.
pub const LAST_100_MAX: &str = "order_last_100_max_ms";
/// Gauge: time of an interval's orders without their look-ups of prices, all together, in microseconds. DVD Store's `rt_tot`
/// has no look-up in it.
pub const NET_US: &str = "orders_net_us";
/// Gauge: the longest of the last 100 orders without its look-up of prices, at the end of an interval, in milliseconds.
pub const NET_LAST_100_MAX: &str = "order_net_last_100_max_ms";
/// Gauge: orders of an interval that a target finished, rollbacks included. Targets count from 1.
#[must_use]
pub fn target_orders(number: usize) -> String {
    format!("target_{number}_orders")
}

/// Setup of a trial of the order store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrdersSetup {
    /// Stores that are driven, each by clients of its own.
    pub targets: Vec<StoreTarget>,
    /// Closed: a client's next order after the last one and a mean time to think. Open: orders are due at a rate, that of
    /// all targets together.
    #[serde(flatten)]
    pub pacing: Loop,
    /// Clients of each target.
    pub n_threads: u32,
    /// Clients of a target that begin each second.
    pub ramp_rate_per_s: f64,
    /// Share of orders of customers who are new, 0–100.
    pub pct_newcustomers: f64,
    /// Mean number of browses of an order.
    pub n_searches: u32,
    /// Mean number of products that a browse asks for.
    pub search_batch_size: u32,
    /// Mean number of products of a cart.
    pub n_line_items: u32,
    /// Share (0–1) of the CPU at which the server is held by the number of active clients; none if all are active.
    #[serde(default)]
    pub cpu_target_share: Option<f64>,
    /// Whose CPU time was read each second; in older records the machine's less the load's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_read: Option<CpuRead>,
    /// Seed.
    pub seed: u64,
}

impl OrdersSetup {
    /// Whose CPU time [`SERVER_CPU`] is.
    #[must_use]
    pub fn cpu_read(&self) -> CpuRead {
        self.cpu_read.unwrap_or_default()
    }

    /// The databases of its stores.
    pub fn databases(&self) -> impl Iterator<Item = SetUpDatabase<'_>> {
        self.targets.iter().map(|StoreTarget { database, target, engine, server, .. }| SetUpDatabase {
            name: database,
            address: target,
            engine,
            server,
        })
    }
}

/// A store that is driven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreTarget {
    /// Address without its password.
    pub target: String,
    /// Engine: `sqlite`, `postgres`, `mysql`.
    pub engine: String,
    /// Database of the store; for SQLite the file.
    pub database: String,
    /// The server.
    pub server: Server,
    /// Size of the store: `10MB`.
    pub size: String,
    /// Seed of its rows.
    pub seed: u64,
    /// Whether each operation is a procedure in the database, and not prepared statements.
    pub procedures: bool,
    /// How the store was brought back to its loaded state before the trial, and how long that took, as a sentence; none if
    /// nothing had changed.
    #[serde(default)]
    pub restored: Option<String>,
}

impl OrdersOutcome {
    /// The marks that follow from it.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let outages = self.targets.iter().flat_map(|target| &target.outages);
        outages.map(|outage| Mark::outage(MarkKind::Outage, outage)).collect()
    }
}

/// What became of a trial's orders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrdersOutcome {
    /// Each target, in the order of the setup.
    pub targets: Vec<TargetOutcome>,
    /// Orders that were due before the load ended, and for which no client was free; open loop only.
    #[serde(default)]
    pub unsent: u64,
    /// What an open loop offered, all targets together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// What else is to be known of the trial, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What became of the orders of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetOutcome {
    /// Orders that were finished in the measured window, rollbacks included, by client.
    pub orders_by_client: Vec<u64>,
    /// Those of them that were rolled back for want of stock.
    pub rollbacks: u64,
    /// Operations of the window that were tried again after a deadlock or a serialization failure.
    pub retries: u64,
    /// Mean response time of an order in the window, in milliseconds.
    pub order_mean_ms: Option<f64>,
    /// Purchases that were answered since the load began, warm-up and drain included.
    pub purchases_from_start: u64,
    /// Those of them that were rolled back.
    pub rollbacks_from_start: u64,
    /// Purchases whose answer was lost with the connection: whether they were committed is known only afterwards.
    pub unanswered: u64,
    /// Orders that the database has more than before; none if it could not be asked.
    pub orders_found: Option<u64>,
    /// Orders that were acknowledged and are not in the database; none if it could not be asked.
    pub acknowledged_lost: Option<u64>,
    /// Quantity of the order lines that the database has more than before.
    pub quantity_found: Option<u64>,
    /// By how much the sales in the inventory have risen.
    pub sales_risen: Option<i64>,
    /// Acknowledged orders whose customer, amounts or time are not those that were sent; none if that was not compared.
    #[serde(default)]
    pub orders_changed: Option<u64>,
    /// Acknowledged orders whose lines, or what they added to the customer's history, are not those that were bought.
    #[serde(default)]
    pub lines_changed: Option<u64>,
    /// Clients that stopped before the end, and why: a sentence each.
    pub stopped: Vec<String>,
    /// Times in which the database could not be used.
    pub outages: Vec<Outage>,
    /// What each client saw of times without an answer; empty where none had to wait for long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub away_by_client: Vec<ClientAway>,
    /// Whether the lock on the store was lost, so that another run may have changed it meanwhile.
    #[serde(default)]
    pub lock_lost: bool,
}

impl TargetOutcome {
    /// Orders of the window, rollbacks included.
    #[must_use]
    pub fn orders(&self) -> u64 {
        self.orders_by_client.iter().sum()
    }

    /// Purchases that were acknowledged as committed, since the load began.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.purchases_from_start.saturating_sub(self.rollbacks_from_start)
    }

    /// What is wrong with what was found in the database, a sentence each: new orders must be the acknowledged ones, and the
    /// quantity of their lines the rise of the sales. Of a purchase whose answer was lost either may be true.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        let mut mismatches = Vec::new();
        if let Some(lost) = self.acknowledged_lost.filter(|&lost| lost > 0) {
            let acknowledged = self.acknowledged();
            mismatches.push(format!("{lost} of {acknowledged} acknowledged orders are not in the database"));
        }
        if let (Some(found), Some(lost)) = (self.orders_found, self.acknowledged_lost) {
            let known = self.acknowledged() - lost.min(self.acknowledged());
            let extra = found.saturating_sub(known);
            if extra > self.unanswered {
                mismatches.push(format!(
                    "the database has {extra} new orders beyond the acknowledged ones, and the answer of {} was lost",
                    self.unanswered
                ));
            }
        }
        if let (Some(quantity), Some(sales)) = (self.quantity_found, self.sales_risen)
            && i64::try_from(quantity) != Ok(sales)
        {
            mismatches.push(format!(
                "the new order lines have {quantity} items, but the sales in the inventory rose by {sales}"
            ));
        }
        let changed = [
            (self.orders_changed, "another customer, amount or time than was sent"),
            (self.lines_changed, "other lines, or another history of the customer, than what was bought"),
        ];
        for (count, what) in changed {
            if let Some(count) = count.filter(|&count| count > 0) {
                mismatches.push(format!("{count} acknowledged orders have {what}"));
            }
        }
        mismatches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> TargetOutcome {
        TargetOutcome {
            purchases_from_start: 299,
            rollbacks_from_start: 6,
            unanswered: 2,
            orders_found: Some(294),
            acknowledged_lost: Some(0),
            quantity_found: Some(2_900),
            sales_risen: Some(2_900),
            ..TargetOutcome::default()
        }
    }

    #[test]
    fn orders_whose_answer_was_lost_may_be_there_or_not() {
        for found in 293..=295 {
            let outcome = TargetOutcome { orders_found: Some(found), ..outcome() };
            assert_eq!(outcome.mismatches(), [""; 0], "{found}");
        }
        let one_more = TargetOutcome { orders_found: Some(296), ..outcome() };
        assert!(one_more.mismatches()[0].contains("3 new orders beyond"), "{:?}", one_more.mismatches());
    }

    #[test]
    fn a_lost_order_and_wrong_sales_are_told() {
        let lost = TargetOutcome { acknowledged_lost: Some(1), orders_found: Some(292), ..outcome() };
        assert_eq!(lost.mismatches(), ["1 of 293 acknowledged orders are not in the database"]);
        let sales = TargetOutcome { sales_risen: Some(2_899), ..outcome() };
        assert!(sales.mismatches()[0].contains("2900 items"), "{:?}", sales.mismatches());
    }

    #[test]
    fn orders_that_hold_something_else_are_told() {
        let changed = TargetOutcome { orders_changed: Some(3), lines_changed: Some(0), ..outcome() };
        let told = "3 acknowledged orders have another customer, amount or time than was sent";
        assert_eq!(changed.mismatches(), [told]);
        let lines = TargetOutcome { orders_changed: Some(0), lines_changed: Some(2), ..outcome() };
        assert!(lines.mismatches()[0].starts_with("2 acknowledged orders have other lines"));
    }

    #[test]
    fn a_database_that_could_not_be_asked_tells_nothing() {
        let unknown = TargetOutcome {
            orders_found: None,
            acknowledged_lost: None,
            quantity_found: None,
            sales_risen: None,
            ..outcome()
        };
        assert_eq!(unknown.mismatches(), [""; 0]);
    }
}
