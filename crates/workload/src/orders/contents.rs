//! What orders hold: digests of what clients sent and were told is committed, against those of what the database has.
//!
//! An order's customer, amounts and time make one digest of 32 bits, its lines and the customer's history another: that one
//! of them was changed goes unnoticed once in four thousand million times. An order is eight bytes here, in blocks of 64.

use std::collections::HashMap;

use database::{Cell, Error, Session};

use super::store::Amounts;
use crate::mix::{SALTS, mix};

/// Orders of a block.
const BLOCK: i64 = 64;

/// Digests of orders by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents(HashMap<i64, Box<[Option<Digest>; BLOCK as usize]>>);

/// Of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    order: u32,
    /// Sum over lines and history, in any order.
    lines: u32,
}

/// Orders that do not hold what was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Customer, amounts or time.
    pub(crate) orders: u64,
    /// Lines, or what they added to the customer's history.
    pub(crate) lines: u64,
}

impl Digest {
    /// Of a purchase as it is sent.
    pub(crate) fn of(customer: i32, cart: &[(i32, i16)], amounts: Amounts, now_us: i64) -> Self {
        let mut digest = Self { order: order_digest(i64::from(customer), amounts, now_us), lines: 0 };
        for (number, &(product, quantity)) in (1..).zip(cart) {
            digest.add_line(line_digest(number, i64::from(product), i64::from(quantity), now_us));
            digest.add_line(history_digest(i64::from(customer), i64::from(product)));
        }
        digest
    }

    fn add_line(&mut self, line: u32) {
        self.lines = self.lines.wrapping_add(line);
    }
}

impl Contents {
    /// Sets what an order holds.
    pub(crate) fn set(&mut self, orderid: i64, digest: Digest) {
        *self.entry(orderid) = Some(digest);
    }

    /// Orders of which other contents are known here than there. Those that are only known on one side are none.
    pub(crate) fn changed(&self, other: &Self) -> Changed {
        let mut changed = Changed::default();
        for (block, digests) in &self.0 {
            let Some(others) = other.0.get(block) else { continue };
            for (one, other) in digests.iter().zip(others.iter()) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                changed.orders += u64::from(one.order != other.order);
                changed.lines += u64::from(one.lines != other.lines);
            }
        }
        changed
    }

    fn entry(&mut self, orderid: i64) -> &mut Option<Digest> {
        let block =
            self.0.entry(orderid.div_euclid(BLOCK)).or_insert_with(|| Box::new([None; BLOCK as usize]));
        &mut block[orderid.rem_euclid(BLOCK) as usize]
    }

    fn add_order(&mut self, row: &[Cell<'_>]) {
        let amounts =
            Amounts { net_cents: whole(row, 3), tax_cents: whole(row, 4), total_cents: whole(row, 5) };
        let order = order_digest(whole(row, 1), amounts, whole(row, 2));
        self.set(whole(row, 0), Digest { order, lines: 0 });
    }

    fn add_line(&mut self, row: &[Cell<'_>]) {
        let line = line_digest(whole(row, 1), whole(row, 2), whole(row, 3), whole(row, 4));
        self.add(whole(row, 0), line);
    }

    fn add_history(&mut self, row: &[Cell<'_>]) {
        self.add(whole(row, 0), history_digest(whole(row, 1), whole(row, 2)));
    }

    /// Lines of an order that is not there belong to none that could be compared.
    fn add(&mut self, orderid: i64, line: u32) {
        if let Some(digest) = self.entry(orderid) {
            digest.add_line(line);
        }
    }
}

/// What the orders beyond an id hold in the database. History has no index over orders: its whole table is read, as it is
/// when a store is brought back.
///
/// # Errors
/// Those of the database.
pub(crate) async fn read(session: &mut Session, orderid_loaded: u64) -> Result<Contents, Error> {
    let orders = format!(
        "SELECT orderid, customerid, orderdate_us, netamount_cents, tax_cents, totalamount_cents FROM orders \
         WHERE orderid > {orderid_loaded}"
    );
    let lines = format!(
        "SELECT orderid, orderlineid, prod_id, quantity, orderdate_us FROM orderlines WHERE orderid > {orderid_loaded}"
    );
    let history =
        format!("SELECT orderid, customerid, prod_id FROM cust_hist WHERE orderid > {orderid_loaded}");
    let contents = session.fold(&orders, &[], Contents::default(), Contents::add_order).await?;
    let contents = session.fold(&lines, &[], contents, Contents::add_line).await?;
    session.fold(&history, &[], contents, Contents::add_history).await
}

fn order_digest(customer: i64, amounts: Amounts, now_us: i64) -> u32 {
    let Amounts { net_cents, tax_cents, total_cents } = amounts;
    digest(&[1, customer, now_us, net_cents, tax_cents, total_cents])
}

fn line_digest(number: i64, product: i64, quantity: i64, now_us: i64) -> u32 {
    digest(&[2, number, product, quantity, now_us])
}

fn history_digest(customer: i64, product: i64) -> u32 {
    digest(&[3, customer, product])
}

fn digest(numbers: &[i64]) -> u32 {
    let add = |sum: u64, number: &i64| mix(sum ^ SALTS[1], number.cast_unsigned() ^ SALTS[2]);
    (numbers.iter().fold(SALTS[0], add) >> 32) as u32
}

/// A number that is missing, such as the customer of an order whose customer is gone, is none that is sent.
fn whole(row: &[Cell<'_>], column: usize) -> i64 {
    row.get(column).and_then(Cell::integer).unwrap_or(i64::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amounts(net_cents: i64) -> Amounts {
        Amounts { net_cents, tax_cents: 8, total_cents: net_cents + 8 }
    }

    /// What the database would give back.
    fn stored(orderid: i64, customer: i32, cart: &[(i32, i16)], amounts: Amounts, now_us: i64) -> Contents {
        let mut contents = Contents::default();
        let row = |numbers: &[i64]| numbers.iter().copied().map(Cell::I64).collect::<Vec<Cell<'_>>>();
        let Amounts { net_cents, tax_cents, total_cents } = amounts;
        let customer = i64::from(customer);
        contents.add_order(&row(&[orderid, customer, now_us, net_cents, tax_cents, total_cents]));
        // In whatever order they come.
        for (number, &(product, quantity)) in (1..).zip(cart).collect::<Vec<_>>().into_iter().rev() {
            contents.add_line(&row(&[orderid, number, product.into(), quantity.into(), now_us]));
            contents.add_history(&row(&[orderid, customer, product.into()]));
        }
        contents
    }

    proptest! {
        #[test]
        fn an_order_is_what_was_sent_until_something_of_it_is_changed(
            orderid in 1i64..1_000,
            customer in 1i32..50,
            cart in prop::collection::vec((1i32..20, 1i16..4), 1..11),
            net in 100i64..10_000,
            at: prop::sample::Index,
        ) {
            let mut sent = Contents::default();
            sent.set(orderid, Digest::of(customer, &cart, amounts(net), 7_000_000));
            let changed = |customer, cart: &[(i32, i16)], net, now_us| {
                sent.changed(&stored(orderid, customer, cart, amounts(net), now_us))
            };
            prop_assert_eq!(changed(customer, &cart, net, 7_000_000), Changed { orders: 0, lines: 0 });
            prop_assert_eq!(changed(customer, &cart, net + 1, 7_000_000), Changed { orders: 1, lines: 0 });
            prop_assert_eq!(changed(customer + 1, &cart, net, 7_000_000), Changed { orders: 1, lines: 1 });
            prop_assert_eq!(changed(customer, &cart, net, 7_000_001), Changed { orders: 1, lines: 1 });
            let at = at.index(cart.len());
            for edit in [0, 1, 2] {
                let mut edited = cart.clone();
                match edit {
                    0 => edited[at].1 += 1,
                    1 => edited[at].0 += 1,
                    _ => { edited.remove(at); }
                }
                prop_assert_eq!(changed(customer, &edited, net, 7_000_000), Changed { orders: 0, lines: 1 });
            }
            let other = stored(orderid + 1, customer, &cart, amounts(net), 7_000_000);
            prop_assert_eq!(sent.changed(&other), Changed::default(), "one that is not there is told otherwise");
        }
    }
}
