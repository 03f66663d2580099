//! After a run: what is in the database against what clients were told.

use database::{Error, Session, Value};

use super::contents::{self, Changed, Contents, Digest};
use super::number::query_number;
use super::store::{Loaded, orders_after};

/// Orders that are read at once.
const PAGE_ROWS: usize = 50_000;

/// Orders that clients were told are committed: a bit for each id beyond those that were loaded.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledged {
    orderid_loaded: u64,
    bits: Vec<u64>,
    answers: u64,
    contents: Contents,
}

/// What is in the database beyond what was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) orders_found: u64,
    /// Orders that were acknowledged and are not there.
    pub(crate) acknowledged_lost: u64,
    /// Quantity of the order lines.
    pub(crate) quantity_found: u64,
    /// By how much the sales in the inventory have risen.
    pub(crate) sales_risen: i64,
    /// Acknowledged orders that do not hold what was sent.
    pub(crate) changed: Changed,
}

impl Acknowledged {
    /// None yet, of a store with these orders.
    pub(crate) fn new(loaded: &Loaded) -> Self {
        let [_, orderid_loaded, _] = loaded.ids_max;
        Self { orderid_loaded, bits: Vec::new(), answers: 0, contents: Contents::default() }
    }

    /// Adds an order. One that was loaded, or that was added before, can stand for no order of its own: it is counted, and
    /// will be found lost.
    pub(crate) fn add(&mut self, orderid: i32) {
        self.answers += 1;
        let Some((word, bit)) = self.place(orderid) else { return };
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bit;
    }

    /// Says what an order that was added holds.
    pub(crate) fn bought(&mut self, orderid: i32, digest: Digest) {
        self.contents.set(i64::from(orderid), digest);
    }

    /// How many were added.
    pub(crate) fn len(&self) -> u64 {
        self.answers
    }

    /// Whether an order beyond those that were loaded was added.
    pub(crate) fn contains(&self, orderid: i32) -> bool {
        let place = self.place(orderid);
        place.is_some_and(|(word, bit)| self.bits.get(word).is_some_and(|bits| bits & bit != 0))
    }

    /// Word and bit of an order; none if it was loaded.
    fn place(&self, orderid: i32) -> Option<(usize, u64)> {
        let index = u64::try_from(orderid).ok()?.checked_sub(self.orderid_loaded + 1)?;
        Some(((index / 64) as usize, 1 << (index % 64)))
    }
}

/// Counts what runs added to the store since it was as it was loaded, and looks for each acknowledged order and what it holds.
///
/// # Errors
/// Those of the database.
pub(crate) async fn reconcile(
    session: &mut Session,
    loaded: &Loaded,
    acknowledged: &Acknowledged,
) -> Result<Found, Error> {
    let [_, orderid_loaded, _] = loaded.ids_max;
    let (orders_found, acknowledged_found) = count_orders(session, acknowledged, PAGE_ROWS).await?;
    let quantity = format!("SELECT sum(quantity) FROM orderlines WHERE orderid > {orderid_loaded}");
    let sales = query_number(session, "SELECT sum(sales) FROM inventory").await?;
    Ok(Found {
        orders_found,
        acknowledged_lost: acknowledged.len() - acknowledged_found,
        quantity_found: query_number(session, &quantity).await?.cast_unsigned(),
        sales_risen: sales - loaded.sales_sum.cast_signed(),
        changed: acknowledged.contents.changed(&contents::read(session, orderid_loaded).await?),
    })
}

/// New orders in the database, and those of them that were acknowledged; so many are read at once.
async fn count_orders(
    session: &mut Session,
    acknowledged: &Acknowledged,
    page_rows: usize,
) -> Result<(u64, u64), Error> {
    let (mut found, mut acknowledged_found) = (0, 0);
    let mut last = acknowledged.orderid_loaded.cast_signed();
    loop {
        let sql = orders_after(session.dialect(), last, page_rows);
        let page = session.query(&sql, &[]).await?;
        for row in &page {
            let Some(&Value::I64(orderid)) = row.first() else {
                return Err(Error::Statement(format!("`{sql}` answered with {row:?} instead of a number")));
            };
            last = orderid;
            found += 1;
            let is_known = i32::try_from(orderid).is_ok_and(|orderid| acknowledged.contains(orderid));
            acknowledged_found += u64::from(is_known);
        }
        if page.len() < page_rows {
            return Ok((found, acknowledged_found));
        }
    }
}

#[cfg(test)]
#[path = "reconcile_tests.rs"]
mod tests;
