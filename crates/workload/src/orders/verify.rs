//! Verifies a loaded store: what is in its tables against what the load came to, and each row against its parent.

use std::sync::atomic::AtomicBool;

use database::{Error, RunId, Session, Url};
use load::Tell;
use record::{Preparation, Unit};

use super::load::{LoadError, runtime};
use super::number::query_number;
use super::open_store::take_up;
use super::store::Loaded;
use crate::waiting::{telling, unless_stopped_for_long};

/// One thing that was counted in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was counted.
    pub what: &'static str,
    /// What a loaded store has.
    pub expected: u64,
    /// What is there.
    pub found: u64,
}

impl Check {
    /// Whether it is as it should be.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.expected == self.found
    }
}

/// What a query counts, and the query, in every dialect; an expectation of the load, or none of such rows at all.
pub(super) type Query = (&'static str, &'static str, fn(&Loaded) -> u64);

/// What runs change.
pub(super) const CHANGED_BY_RUNS: [Query; 10] = [
    ("customers", "SELECT count(*) FROM customers", |loaded| loaded.rows[0]),
    ("orders", "SELECT count(*) FROM orders", |loaded| loaded.rows[1]),
    ("order lines", "SELECT count(*) FROM orderlines", |loaded| loaded.rows[2]),
    ("rows of history", "SELECT count(*) FROM cust_hist", |loaded| loaded.rows[3]),
    ("rows of inventory", "SELECT count(*) FROM inventory", |loaded| loaded.rows[5]),
    ("rows of reorder", "SELECT count(*) FROM reorder", |_| 0),
    ("last customer", "SELECT max(customerid) FROM customers", |loaded| loaded.ids_max[0]),
    ("last order", "SELECT max(orderid) FROM orders", |loaded| loaded.ids_max[1]),
    ("items in stock", "SELECT sum(quan_in_stock) FROM inventory", |loaded| loaded.quan_in_stock_sum),
    ("items sold", "SELECT sum(sales) FROM inventory", |loaded| loaded.sales_sum),
];

/// What stays as it was loaded, whatever a run does, and what each row needs elsewhere; but for the items of the order
/// lines, which are those of the inventory.
const OTHERS: [Query; 8] = [
    ("items of all order lines", "SELECT sum(quantity) FROM orderlines", |loaded| loaded.sales_sum),
    ("products", "SELECT count(*) FROM products", |loaded| loaded.rows[4]),
    ("categories", "SELECT count(*) FROM categories", |loaded| loaded.rows[6]),
    ("last product", "SELECT max(prod_id) FROM products", |loaded| loaded.ids_max[2]),
    (
        "orders without a customer",
        "SELECT count(*) FROM orders o LEFT JOIN customers c ON c.customerid = o.customerid \
         WHERE c.customerid IS NULL",
        |_| 0,
    ),
    (
        "order lines without their order",
        "SELECT count(*) FROM orderlines l LEFT JOIN orders o ON o.orderid = l.orderid WHERE o.orderid IS NULL",
        |_| 0,
    ),
    (
        "rows of history without a customer",
        "SELECT count(*) FROM cust_hist h LEFT JOIN customers c ON c.customerid = h.customerid \
         WHERE c.customerid IS NULL",
        |_| 0,
    ),
    (
        "products without inventory",
        "SELECT count(*) FROM products p LEFT JOIN inventory i ON i.prod_id = p.prod_id WHERE i.prod_id IS NULL",
        |_| 0,
    ),
];

/// Counts everything in the store `name` on the server of `url`, as [`super::load`] made it; none if there is no store.
///
/// # Errors
/// Those of the database, when somebody else uses it, and when `stop` was set.
pub fn verify(
    url: &Url,
    name: &str,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<Option<(Loaded, Vec<Check>)>, LoadError> {
    let run = RunId::new()?;
    let verified = async {
        let Some((own, loaded)) = take_up(url, name, &run).await? else { return Ok(None) };
        let mut session = own.session().await?;
        let queries: Vec<&Query> = CHANGED_BY_RUNS.iter().chain(&OTHERS).collect();
        let checks = check_all(&mut session, own.name(), &queries, &loaded, tell).await?;
        Ok(Some((loaded, checks)))
    };
    let verified: Option<Result<_, Error>> = runtime()?.block_on(unless_stopped_for_long(stop, verified));
    verified.ok_or(LoadError::Interrupted)?.map_err(LoadError::Database)
}

/// Counts one thing after the other.
async fn check_all(
    session: &mut Session,
    name: &str,
    queries: &[&Query],
    loaded: &Loaded,
    tell: &mut Tell<'_>,
) -> Result<Vec<Check>, Error> {
    let total = queries.len() as u64;
    let at = |done| Preparation::new(format!("verifying {name}"), done, total, Unit::Checks);
    let mut checks = Vec::with_capacity(queries.len());
    for (done, query) in queries.iter().enumerate() {
        checks.push(telling(tell, at(done as u64), check(session, query, loaded)).await?);
    }
    tell(at(total));
    Ok(checks)
}

/// Counts one thing.
pub(super) async fn check(
    session: &mut Session,
    &(what, sql, expected): &Query,
    loaded: &Loaded,
) -> Result<Check, Error> {
    let found = query_number(session, sql).await?.cast_unsigned();
    Ok(Check { what, expected: expected(loaded), found })
}
