//! What the clients of a running trial share: the stores with their books, and the signals.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use database::{Engine, Error, Own};
use load::{Arrivals, Counted, Kind, Recorder};
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
/// Counter: purchases that were rolled back.
pub(super) const ROLLBACK: usize = 0;
/// Counter: what was tried again.
pub(super) const RETRY: usize = 1;

/// What a store's clients count. Orders are due in an open loop; their parts never are.
pub(super) fn counted(open: bool) -> Counted {
    let kinds = [
        orders::ORDER,
        orders::LOGIN,
        orders::NEW_CUSTOMER,
        orders::BROWSE,
        orders::PRICES,
        orders::PURCHASE,
    ];
    let kind = |(kind, name): (usize, &str)| Kind { name: name.to_owned(), open: open && kind == ORDER };
    Counted {
        kinds: kinds.into_iter().enumerate().map(kind).collect(),
        counters: [orders::ROLLBACKS, orders::RETRIES].map(str::to_owned).to_vec(),
    }
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
