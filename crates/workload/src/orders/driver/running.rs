//! What the clients of a running trial share: the stores with their books.

use std::sync::{Mutex, MutexGuard};

use database::{Error, Holder, Lease};
use load::{Counted, Kind};
use record::orders;

use super::books::Books;
use crate::orders::job::Job;
use crate::orders::store::{Client, Loaded, Style};

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
/// Counter: time of orders without their look-ups of prices.
pub(super) const NET_US: usize = 2;

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
        counters: [orders::ROLLBACKS, orders::RETRIES, orders::NET_US].map(str::to_owned).to_vec(),
    }
}

/// Everything that is shared.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    pub(super) stores: Vec<Driven>,
}

/// A store while it is driven.
#[derive(Debug)]
pub(super) struct Driven {
    pub(super) lease: Lease,
    pub(super) holder: Holder,
    pub(super) loaded: Loaded,
    pub(super) style: Style,
    pub(super) books: Mutex<Books>,
}

/// Page caches of all clients of a file of SQLite together, in KiB, where a client's own would be more: each has one.
const CACHES_KIB: u32 = 1 << 20;
/// Page cache of a session of SQLite.
const CACHE_KIB: u32 = 64 << 10;

impl Driven {
    /// One of so many clients, connected.
    pub(super) async fn client(&self, clients: u32) -> Result<Client, Error> {
        let mut session = self.lease.session().await?;
        if self.lease.url().engine().is_file() && clients > CACHES_KIB / CACHE_KIB {
            let cache_kib = (CACHES_KIB / clients).max(1_024);
            session.script(&format!("PRAGMA cache_size = -{cache_kib}")).await?;
        }
        // Its load is measured, and the controller ends what takes too long.
        Client::new(session.without_limit(), self.style)
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        load::lock(&self.books)
    }
}
