//! Brings a store that was used back to its loaded state, so that each trial begins with the same rows: what clients added
//! is removed, and the inventory is loaded again.
//!
//! It goes in transactions of bounded size. A store stays marked as used until the last one, so that a restore that was
//! broken off anywhere is finished by the next.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use database::{Lease, Rows, Session, WriteMethod};
use load::Tell;
use record::{Preparation, Unit};
use tokio::time::Instant;

use super::data::{StoreData, StoreTable};
use super::number::query_number;
use super::size::StoreSize;
use super::store::{self, Loaded, Removed, State, read_loaded};
use super::verify::{CHANGED_BY_RUNS, check};
use crate::waiting::going_on;

/// Orders, customers or products of one transaction.
const BLOCK_ROWS: u32 = 10_000;

/// What it took to bring a store back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Restored {
    /// Orders that were removed, each with its lines and history.
    pub orders: u64,
    /// Customers that were removed.
    pub customers: u64,
    /// Rows of `reorder` that were removed.
    pub reorder_rows: u64,
    /// Time, in seconds.
    pub seconds: f64,
}

/// Why a store is not as it was loaded.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The database did not take it.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The user ended it.
    #[error(
        "interrupted while the store was being restored to its loaded state; the next run continues this"
    )]
    Interrupted,
    /// Something else than runs changed it.
    #[error(
        "{place}: the store of {size} cannot be restored to its loaded state: {differences}; load it again with \
         {}, its seed, and {}",
        super::load_again(size),
        super::the_same_place()
    )]
    Different {
        /// Its address.
        place: String,
        /// Its size.
        size: String,
        /// What differs, and by how much.
        differences: String,
    },
}

/// Brings the store back to what `loaded` says; none if it is so already. Its state is read anew, because a run may have
/// begun since `loaded` was read. `tell` hears how far it is.
///
/// # Errors
/// When it differs from what was loaded in a way that no run makes it, the database refuses something, or `stop` was set.
pub async fn restore(
    lease: &Lease,
    loaded: &Loaded,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<Option<Restored>, RestoreError> {
    restore_at(lease, loaded, &mut Pace { block_rows: BLOCK_ROWS, stop, tell }).await
}

/// How much is done between two looks at whether to stop.
struct Pace<'a, 't> {
    block_rows: u32,
    stop: &'a AtomicBool,
    /// Hears each time that it will be looked.
    tell: &'a mut Tell<'t>,
}

impl Pace<'_, '_> {
    fn go_on(&mut self, at: Preparation) -> Result<(), RestoreError> {
        (self.tell)(at);
        if self.stop.load(Ordering::Relaxed) { Err(RestoreError::Interrupted) } else { Ok(()) }
    }

    /// One statement that may take long, unless it is to stop.
    async fn step<T>(
        &mut self,
        at: Preparation,
        work: impl Future<Output = Result<T, database::Error>>,
    ) -> Result<T, RestoreError> {
        self.go_on(at.clone())?;
        Ok(going_on(self.tell, &at, work).await?)
    }
}

async fn restore_at(
    lease: &Lease,
    loaded: &Loaded,
    pace: &mut Pace<'_, '_>,
) -> Result<Option<Restored>, RestoreError> {
    let begin = Instant::now();
    let different = |differences: String| RestoreError::Different {
        place: lease.url().to_string(),
        size: loaded.size.clone(),
        differences,
    };
    let mut session = lease.session().await?;
    match read_loaded(&mut session).await?.map(|now| now.state) {
        Some(State::Loaded) if has_loaded_ids(&mut session, loaded).await? => return Ok(None),
        Some(State::Loaded | State::Used) => store::mark_used(&mut session).await?,
        Some(State::Loading) | None => return Err(different("its load was interrupted".to_owned())),
    }
    let size: StoreSize = loaded.size.parse().map_err(|error| different(format!("{error}")))?;
    let data = StoreData::new(size, loaded.seed);
    let name = lease.name();
    let removed = undo(&mut session, loaded, &data, name, pace).await?;
    let clearing = Preparation::waiting(format!("clearing up {name}"));
    pace.step(clearing, store::finish_undo(&mut session)).await?;
    let checks = CHANGED_BY_RUNS.len() as u64;
    for (done, query) in CHANGED_BY_RUNS.iter().enumerate() {
        let at = Preparation::new(format!("verifying {name}"), done as u64, checks, Unit::Checks);
        let check = pace.step(at, check(&mut session, query, loaded)).await?;
        if !check.holds() {
            return Err(different(format!("{}: {} instead of {}", check.what, check.found, check.expected)));
        }
    }
    store::mark(&mut session, State::Loaded).await?;
    Ok(Some(Restored { seconds: begin.elapsed().as_secs_f64(), ..removed }))
}

/// Whether the last customer and the last order are those that were loaded.
async fn has_loaded_ids(session: &mut Session, loaded: &Loaded) -> Result<bool, database::Error> {
    let [customerid_max, orderid_max, _] = loaded.ids_max;
    let customer = query_number(session, "SELECT max(customerid) FROM customers").await?;
    let order = query_number(session, "SELECT max(orderid) FROM orders").await?;
    Ok([customer, order].map(i64::cast_unsigned) == [customerid_max, orderid_max])
}

/// Removes what clients added and loads the inventory.
async fn undo(
    session: &mut Session,
    loaded: &Loaded,
    data: &StoreData,
    name: &str,
    pace: &mut Pace<'_, '_>,
) -> Result<Restored, RestoreError> {
    let [customerid_max, orderid_max, _] = loaded.ids_max;
    store::prepare_undo(session).await?;
    let mut restored = Restored::default();
    let [orders, customers] = added_ids(session, loaded).await?;
    let rows = orders + customers + loaded.rows[5];
    let at = |done| Preparation::new(format!("restoring {name}"), done, rows, Unit::Rows);
    let mut after = orderid_max;
    while let Some(Removed { rows, last }) = store::remove_orders(session, after, pace.block_rows).await? {
        restored.orders += rows;
        after = last;
        pace.go_on(at(last - orderid_max))?;
    }
    let mut after = customerid_max;
    while let Some(Removed { rows, last }) = store::remove_customers(session, after, pace.block_rows).await? {
        restored.customers += rows;
        after = last;
        pace.go_on(at(orders + last - customerid_max))?;
    }
    store::reset_ids(session, customerid_max, orderid_max).await?;
    restored.reorder_rows = query_number(session, "SELECT count(*) FROM reorder").await?.cast_unsigned();
    load_inventory(session, data, pace, &|done| at(orders + customers + done)).await?;
    Ok(restored)
}

/// By how many the last order and the last customer are beyond those that were loaded.
async fn added_ids(session: &mut Session, loaded: &Loaded) -> Result<[u64; 2], database::Error> {
    let [customerid_max, orderid_max, _] = loaded.ids_max;
    let order = query_number(session, "SELECT max(orderid) FROM orders").await?.cast_unsigned();
    let customer = query_number(session, "SELECT max(customerid) FROM customers").await?.cast_unsigned();
    Ok([order.saturating_sub(orderid_max), customer.saturating_sub(customerid_max)])
}

/// Loads the inventory in place of the one that is there.
async fn load_inventory(
    session: &mut Session,
    data: &StoreData,
    pace: &mut Pace<'_, '_>,
    at: &dyn Fn(u64) -> Preparation,
) -> Result<(), RestoreError> {
    // The sales that were loaded are those of all loaded orders.
    let threads = thread::available_parallelism().map_or(1, usize::from);
    data.count(threads, pace.stop).ok_or(RestoreError::Interrupted)?;
    store::empty_inventory(session).await?;
    let table = StoreTable::Inventory.table();
    let mut rows = Rows::with_capacity(table.columns.len(), 0);
    let mut loaded = 0;
    for piece in data.pieces(StoreTable::Inventory, pace.block_rows) {
        pace.go_on(at(loaded))?;
        rows.clear();
        data.write(&piece, &mut rows);
        loaded += rows.len() as u64;
        session.append(table, &mut rows, WriteMethod::Bulk).await?;
    }
    (pace.tell)(at(loaded));
    Ok(())
}

impl fmt::Display for Restored {
    /// `removed 4,812 orders and 973 customers and reloaded the inventory in 0.8 s`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (orders, customers) = (counted(self.orders, "order"), counted(self.customers, "customer"));
        let seconds = self.seconds;
        write!(f, "removed {orders} and {customers} and reloaded the inventory in {seconds:.1} s")
    }
}

/// `1 order`, `4,812 orders`.
fn counted(number: u64, noun: &str) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + noun.len() + 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + " " + noun + if number == 1 { "" } else { "s" }
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
