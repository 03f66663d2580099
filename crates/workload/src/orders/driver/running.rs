//! What the clients of a running trial share: the stores with their books, and the signals.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use database::{Engine, Error, Own};
use load::{Arrivals, Kind, Recorder};
use record::orders;
use tokio::sync::watch;

use super::books::Books;
use super::last_100::Last100;
use crate::orders::job::Job;
use crate::orders::store::{Client, Loaded, Style};
use crate::signal::Signal;

/// Kind of operation: a whole visit.
pub(super) const ORDER: usize = 0;
pub(super) const LOGIN: usize = 1;
pub(super) const NEW_CUSTOMER: usize = 2;
pub(super) const BROWSE: usize = 3;
pub(super) const PRICES: usize = 4;
pub(super) const PURCHASE: usize = 5;
/// No operation: counts purchases that were rolled back, so that they are cut into intervals exactly as these.
pub(super) const ROLLBACK: usize = 6;
/// No operation: counts what was tried again.
pub(super) const RETRY: usize = 7;

/// Kinds of a trial in an open loop, in the order of their numbers.
pub(super) const OPEN: &[Kind] = &kinds(true);
/// Kinds of a trial in a closed loop.
pub(super) const CLOSED: &[Kind] = &kinds(false);

const fn kinds(open: bool) -> [Kind; 8] {
    const fn part(name: &'static str) -> Kind {
        Kind { name, open: false }
    }
    [
        Kind { name: orders::ORDER, open },
        part(orders::LOGIN),
        part(orders::NEW_CUSTOMER),
        part(orders::BROWSE),
        part(orders::PRICES),
        part(orders::PURCHASE),
        part(orders::ROLLBACKS),
        part(orders::RETRIES),
    ]
}

/// Everything that is shared.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    pub(super) stores: Vec<Driven>,
    /// Clients of each store that order.
    pub(super) active: watch::Sender<u32>,
    pub(super) last_100: Mutex<Last100>,
    /// Kernel's numbers of the load threads.
    pub(super) threads: Mutex<Vec<i32>>,
    /// The load is over: no new order begins.
    pub(super) load_over: Signal,
    /// Clients stop, whatever they are doing.
    pub(super) over: Signal,
}

/// A store while it is driven.
#[derive(Debug)]
pub(super) struct Driven {
    pub(super) own: Own,
    pub(super) loaded: Loaded,
    pub(super) style: Style,
    pub(super) recorder: Recorder,
    pub(super) books: Mutex<Books>,
    /// When its orders are due; none in a closed loop.
    pub(super) due: Option<Mutex<Arrivals>>,
    /// The same from the beginning, to count them by.
    pub(super) all_due: Option<Arrivals>,
    /// Orders that each client finished in the measured window.
    pub(super) orders_by_client: Vec<AtomicU64>,
}

/// Page caches of all clients of a file of SQLite together, in KiB, where a client's own would be more: each has one.
const CACHES_KIB: u32 = 1 << 20;
/// Page cache of a session of SQLite.
const CACHE_KIB: u32 = 64 << 10;

impl Driven {
    /// One of so many clients, connected.
    pub(super) async fn client(&self, clients: u32) -> Result<Client, Error> {
        let mut session = self.own.session().await?;
        if self.own.url().engine() == Engine::Sqlite && clients > CACHES_KIB / CACHE_KIB {
            let cache_kib = (CACHES_KIB / clients).max(1_024);
            session.script(&format!("PRAGMA cache_size = -{cache_kib}")).await?;
        }
        // Its load is measured, and the controller ends what takes too long.
        Client::new(session.without_limit(), self.style)
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }
}

// A client that panicked left counts that are whole: each is one addition.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
