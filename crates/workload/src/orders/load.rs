//! Loads a store: loaders make rows and append them, each over a session of its own and with no files in between. Keys,
//! procedures and statistics follow.
//!
//! The row that describes the load is written first, so an interrupted load can be recognized.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use database::{Claim, Own, Rows, Session, Url, WriteMethod};
use load::Tell;
use record::{Preparation, Unit};

use super::data::{Piece, RowSink, StoreData, StoreTable};
use super::store::{self, Abilities, Loaded, State};
use crate::waiting::{self, Making, telling, unless_stopped};

/// Rows of a transaction: a few MiB, which PostgreSQL takes in about 50 ms.
const PIECE_ROWS: u32 = 10_000;

/// Why a store is not there.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The database did not take it.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The user ended it.
    #[error("interrupted before the store was complete")]
    Interrupted,
    /// What was begun is still there.
    #[error("{why}; {left}")]
    Left {
        /// Why it is not complete.
        why: Box<LoadError>,
        /// Why it could not be removed.
        left: database::Error,
    },
    /// This machine did not let a loader begin.
    #[error(
        "cannot start a loader: {0}; use fewer {threads}, or let this user have more threads and memory (`ulimit -u`, `ulimit -v`)",
        threads = record::Parameter::new("threads")
    )]
    Loader(#[from] std::io::Error),
}

/// Looks whether [`load`] will be refused, and touches nothing.
///
/// # Errors
/// When what is there is not to be replaced, or the server cannot be reached or does not let us in.
pub fn look((url, name): (&Url, &str), claim: &Claim) -> Result<(), LoadError> {
    database::look(url, claim.existing, claim.instead)?;
    Ok(runtime()?.block_on(database::look_as(url, name, claim)).map(drop)?)
}

/// [`load_held`] of a store that is let go of when it is loaded.
///
/// # Errors
/// As there.
pub fn load(
    making: Making<'_>,
    data: &StoreData,
    threads: usize,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<Loaded, LoadError> {
    load_held(making, data, threads, stop, tell).map(|(_, loaded)| loaded)
}

/// Makes a database and loads a store into it. `tell` hears how far it is. While what is given is held, no other run can take it.
///
/// # Errors
/// When it exists and is not to be replaced, the database refuses something, or `stop` was set. The database is removed then.
pub fn load_held(
    making: Making<'_>,
    data: &StoreData,
    threads: usize,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<(Own, Loaded), LoadError> {
    let runtime = runtime()?;
    let own = runtime.block_on(waiting::make(making, stop, tell)).ok_or(LoadError::Interrupted)??;
    match fill(&own, data, threads, stop, tell) {
        Ok(loaded) => Ok((own, loaded)),
        Err(why) => Err(match runtime.block_on(waiting::remove(own, stop)) {
            Ok(()) => why,
            Err(left) => LoadError::Left { why: Box::new(why), left },
        }),
    }
}

/// Loads a store into an empty database. What is there after an error is marked as incomplete.
fn fill(
    own: &Own,
    data: &StoreData,
    threads: usize,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<Loaded, LoadError> {
    let runtime = runtime()?;
    let name = own.name();
    tell(Preparation::waiting(format!("computing the checksums of a store of {}", data.size())));
    let mut loaded = outcome(data, threads, stop).ok_or(LoadError::Interrupted)?;
    let begin = async {
        let mut session = own.session().await?;
        store::create_tables(&mut session, data.size()).await?;
        store::write_loaded(&mut session, &loaded).await
    };
    runtime.block_on(unless_stopped(stop, begin)).ok_or(LoadError::Interrupted)??;
    // A file of SQLite has one writer at a time.
    let loaders = if own.url().engine().is_file() { 1 } else { threads.max(1) };
    let rows: u64 = loaded.rows.iter().sum();
    let mut committed = 0;
    append_all(own, data, loaders, stop, &mut |more| {
        committed += more;
        tell(Preparation::new(format!("loading rows into {name}"), committed, rows, Unit::Rows));
    })?;
    loaded.state = State::Loaded;
    let finish = async {
        let mut session = own.session().await?;
        build_indexes(&mut session, name, tell).await?;
        store::write_loaded(&mut session, &loaded).await
    };
    runtime.block_on(unless_stopped(stop, finish)).ok_or(LoadError::Interrupted)??;
    Ok(loaded)
}

/// Makes keys, indexes and statistics.
async fn build_indexes(
    session: &mut Session,
    name: &str,
    tell: &mut Tell<'_>,
) -> Result<(), database::Error> {
    let steps = store::after_load(session.dialect(), Abilities::of(session).await?);
    let total = steps.len() as u64;
    let at = |done| Preparation::new(format!("building indexes of {name}"), done, total, Unit::Statements);
    for (done, step) in steps.into_iter().enumerate() {
        telling(tell, at(done as u64), session.script(&step)).await?;
    }
    tell(at(total));
    Ok(())
}

/// What a load comes to, counted from the data and not in the database; none if `stop` was set.
fn outcome(data: &StoreData, threads: usize, stop: &AtomicBool) -> Option<Loaded> {
    let totals = data.count(threads, stop)?;
    let rows = |table| match table {
        StoreTable::OrderLines | StoreTable::CustHist => totals.lines,
        StoreTable::Categories
        | StoreTable::Products
        | StoreTable::Inventory
        | StoreTable::Customers
        | StoreTable::Orders => data.expected_rows(table),
    };
    let last = |table| u64::from(data.numbers(table).end - 1);
    let mut stock = StockSum::default();
    data.pieces(StoreTable::Inventory, PIECE_ROWS).for_each(|piece| data.write(&piece, &mut stock));
    Some(Loaded {
        size: data.size().to_string(),
        seed: data.seed(),
        state: State::Loading,
        rows: [
            StoreTable::Customers,
            StoreTable::Orders,
            StoreTable::OrderLines,
            StoreTable::CustHist,
            StoreTable::Products,
            StoreTable::Inventory,
            StoreTable::Categories,
        ]
        .map(rows),
        ids_max: [StoreTable::Customers, StoreTable::Orders, StoreTable::Products].map(last),
        quan_in_stock_sum: stock.sum,
        sales_sum: totals.quantity,
    })
}

/// Adds up the second column of inventory.
#[derive(Default)]
struct StockSum {
    column: u32,
    sum: u64,
}

impl RowSink for StockSum {
    fn null(&mut self) {
        self.column += 1;
    }

    fn small(&mut self, number: i16) {
        self.integer(i32::from(number));
    }

    fn integer(&mut self, number: i32) {
        self.column += 1;
        if self.column == 2 {
            self.sum += u64::from(number.cast_unsigned());
        }
    }

    fn big(&mut self, _number: i64) {
        self.column += 1;
    }

    fn text(&mut self, _text: &str) {
        self.column += 1;
    }

    fn end_row(&mut self) {
        self.column = 0;
    }
}

/// Runs so many loaders until every piece is committed, or one of them fails. `on_rows` hears of rows that were committed.
fn append_all(
    own: &Own,
    data: &StoreData,
    loaders: usize,
    stop: &AtomicBool,
    on_rows: &mut dyn FnMut(u64),
) -> Result<(), LoadError> {
    let pieces = Mutex::new(StoreTable::ALL.into_iter().flat_map(|table| data.pieces(table, PIECE_ROWS)));
    let failed = AtomicBool::new(false);
    let next = || {
        if stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(Err(LoadError::Interrupted));
        }
        let piece = if failed.load(Ordering::Relaxed) { None } else { load::lock(&pieces).next() };
        piece.map_or(ControlFlow::Break(Ok(())), ControlFlow::Continue)
    };
    let (next, failed) = (&next, &failed);
    let loader = move |committed: SyncSender<u64>| {
        let result = append_pieces(own, data, next, stop, &committed);
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    };
    thread::scope(|scope| {
        // A loader is at most one piece ahead of what was told.
        let (sender, committed) = sync_channel(0);
        let start = |_| {
            let (loader, sender) = (&loader, sender.clone());
            thread::Builder::new().name("loader".to_owned()).spawn_scoped(scope, move || loader(sender))
        };
        let started: Result<Vec<_>, _> = (0..loaders).map(start).collect();
        let started = started.inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        // Ends when the last loader has.
        drop(sender);
        committed.into_iter().for_each(on_rows);
        // A panic of a loader is one of ours, and is ours to show.
        let ended = |loader: thread::ScopedJoinHandle<'_, _>| {
            loader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().try_for_each(ended)
    })
}

/// One loader: appends the pieces that it is given.
fn append_pieces(
    own: &Own,
    data: &StoreData,
    next: &(dyn Fn() -> ControlFlow<Result<(), LoadError>, Piece> + Sync),
    stop: &AtomicBool,
    committed: &SyncSender<u64>,
) -> Result<(), LoadError> {
    let load = async {
        let mut session = own.session().await?;
        store::prepare_load(&mut session).await?;
        let mut held: Option<(StoreTable, Rows)> = None;
        loop {
            let piece = match next() {
                ControlFlow::Continue(piece) => piece,
                ControlFlow::Break(result) => return result,
            };
            let table = piece.table.table();
            let (_, rows) = match &mut held {
                Some(held) if held.0 == piece.table => held,
                held => held.insert((piece.table, Rows::with_capacity(table.columns.len(), 0))),
            };
            rows.clear();
            data.write(&piece, rows);
            session.append(table, rows, WriteMethod::Bulk).await?;
            // Who hears it is there until the last loader has ended.
            let _ = committed.send(rows.len() as u64);
        }
    };
    let load: Option<Result<(), LoadError>> = runtime()?.block_on(unless_stopped(stop, load));
    load.unwrap_or(Err(LoadError::Interrupted))
}

pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
