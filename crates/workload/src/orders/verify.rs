//! Verifies a loaded store: what is in its tables against what the load came to, and each row against its parent.

use database::{Error, Existing, Own, Session, Url, Value};

use super::load::{LoadError, runtime};
use super::store::{Loaded, read_loaded};

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
type Query = (&'static str, &'static str, fn(&Loaded) -> u64);

const QUERIES: [Query; 18] = [
    ("customers", "SELECT count(*) FROM customers", |loaded| loaded.rows[0]),
    ("orders", "SELECT count(*) FROM orders", |loaded| loaded.rows[1]),
    ("order lines", "SELECT count(*) FROM orderlines", |loaded| loaded.rows[2]),
    ("rows of history", "SELECT count(*) FROM cust_hist", |loaded| loaded.rows[3]),
    ("products", "SELECT count(*) FROM products", |loaded| loaded.rows[4]),
    ("rows of inventory", "SELECT count(*) FROM inventory", |loaded| loaded.rows[5]),
    ("categories", "SELECT count(*) FROM categories", |loaded| loaded.rows[6]),
    ("rows of reorder", "SELECT count(*) FROM reorder", |_| 0),
    ("last customer", "SELECT max(customerid) FROM customers", |loaded| loaded.ids_max[0]),
    ("last order", "SELECT max(orderid) FROM orders", |loaded| loaded.ids_max[1]),
    ("last product", "SELECT max(prod_id) FROM products", |loaded| loaded.ids_max[2]),
    ("items in stock", "SELECT sum(quan_in_stock) FROM inventory", |loaded| loaded.quan_in_stock_sum),
    ("items sold", "SELECT sum(sales) FROM inventory", |loaded| loaded.sales_sum),
    ("items of all order lines", "SELECT sum(quantity) FROM orderlines", |loaded| loaded.sales_sum),
    (
        "orders without a customer",
        "SELECT count(*) FROM orders o LEFT JOIN customers c ON c.customerid = o.customerid \
         WHERE c.customerid IS NULL",
        |_| 0,
    ),
    (
        "order lines without an order",
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
/// Those of the database, and when somebody else uses it.
pub fn verify(url: &Url, name: &str) -> Result<Option<(Loaded, Vec<Check>)>, LoadError> {
    let verified = async {
        let own = Own::make(url, name, Existing::Reuse).await?;
        if !own.was_there() {
            own.remove().await?;
            return Ok(None);
        }
        let mut session = own.session().await?;
        count(&mut session).await
    };
    runtime()?.block_on(verified).map_err(LoadError::Database)
}

async fn count(session: &mut Session) -> Result<Option<(Loaded, Vec<Check>)>, Error> {
    let Some(loaded) = read_loaded(session).await? else { return Ok(None) };
    let mut checks = Vec::with_capacity(QUERIES.len());
    for (what, sql, expected) in QUERIES {
        let found = match session.query(sql, &[]).await?.first().and_then(|row| row.first()) {
            Some(Value::I64(number)) => number.cast_unsigned(),
            // MySQL's sums are decimal numbers.
            Some(Value::F64(number)) => *number as u64,
            // The sum or the largest of nothing.
            Some(Value::Null) => 0,
            other => {
                return Err(Error::Statement(format!("`{sql}` answered with {other:?} instead of a number")));
            }
        };
        checks.push(Check { what, expected: expected(&loaded), found });
    }
    Ok(Some((loaded, checks)))
}
