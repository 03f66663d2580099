//! Clients that change rows by keys that they draw, and what the table must hold then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use database::{Error, Session};
use load::{Counted, Kind, lock};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Parameter, Workload, clients, tables};

use super::statements::Statement;
use super::table::{TRIES, Table};
use crate::clients::{Client, Counting, Done, Names, Place};

/// Kind of operation: one update by key.
const POINT_UPDATE: usize = 0;
/// Counter: updates that were tried again.
const RETRY: usize = 0;
/// Counter: time of updates.
const NET_US: usize = 1;

/// What all clients share.
#[derive(Debug)]
pub(super) struct Updates {
    table: Table,
    /// Updates that were acknowledged, warm-up and all.
    acknowledged: AtomicU64,
    /// Updates whose answer was lost: they may be done or not.
    unanswered: AtomicU64,
    retries: AtomicU64,
    wrong: Mutex<Option<String>>,
}

/// What clients came to.
#[derive(Debug, Default)]
pub(super) struct Updated {
    pub(super) acknowledged: u64,
    pub(super) unanswered: u64,
    pub(super) retries: u64,
    pub(super) wrong: Option<String>,
}

impl Updates {
    pub(super) fn new(table: Table) -> Self {
        Self {
            table,
            acknowledged: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            wrong: Mutex::default(),
        }
    }

    /// What is counted.
    pub(super) fn counted() -> Counted {
        Counted {
            kinds: vec![Kind { name: tables::POINT_UPDATE.to_owned(), open: false }],
            counters: vec![clients::RETRIES.to_owned(), tables::NET_US.to_owned()],
        }
    }

    /// What is told under which names.
    pub(super) fn names() -> Names {
        Names {
            clients: Parameter::new("workload.tables.clients").to_string(),
            turns: Workload::Tables.main(),
            last_100_max: Some([tables::LAST_100_MAX, tables::NET_LAST_100_MAX]),
            net_us: NET_US,
            late: None,
            turns_of_part: tables::target_updates,
            tells_silences: true,
        }
    }

    pub(super) fn came_to(&self) -> Updated {
        Updated {
            acknowledged: self.acknowledged.load(Ordering::Relaxed),
            unanswered: self.unanswered.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            wrong: lock(&self.wrong).clone(),
        }
    }
}

/// One client.
#[derive(Debug)]
pub(super) struct Updater {
    updates: Arc<Updates>,
    session: Session,
    /// For its keys.
    draw: Xoshiro256PlusPlus,
    is_under_way: bool,
}

impl Client for Updater {
    type Load = Updates;
    /// The key.
    type Turn = u64;

    async fn connect(load: &Arc<Updates>, place: Place) -> Result<Self, Error> {
        let session = load.table.session().await?.without_limit();
        let seed = load.table.job.seed ^ u64::from(place.client).wrapping_add(1).rotate_left(17);
        let draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Self { updates: Arc::clone(load), session, draw, is_under_way: false })
    }

    fn next(&mut self) -> (usize, u64) {
        let rows = u128::from(self.updates.table.job.rows);
        let place = (u128::from(self.draw.next_u64()) * rows) >> 64;
        (POINT_UPDATE, place as u64 + 1)
    }

    async fn once(&mut self, key: u64, counting: Counting<'_>) -> Result<Done, Error> {
        self.is_under_way = true;
        for tried in 1.. {
            let asked = &self.updates.table.asked;
            match asked.ask(&mut self.session, Statement::PointUpdate, &[key]).await {
                Ok(changed) => {
                    self.is_under_way = false;
                    self.updates.acknowledged.fetch_add(1, Ordering::Relaxed);
                    // Where a server does not tell how many, the scan after all updates does.
                    if !changed.is_empty() && changed != [1] {
                        let wrong =
                            format!("the update of the row with key {key} changed {} rows", changed[0]);
                        lock(&self.updates.wrong).get_or_insert(wrong);
                    }
                    break;
                }
                Err(Error::Conflict(_)) if tried < TRIES => {
                    self.updates.retries.fetch_add(1, Ordering::Relaxed);
                    counting.recorder.at(counting.clock.now_ns()).count(RETRY);
                }
                Err(error) => {
                    self.is_under_way = error.is_lost();
                    return Err(error);
                }
            }
        }
        Ok(Done::default())
    }

    fn lost(&mut self) {
        if std::mem::take(&mut self.is_under_way) {
            self.updates.unanswered.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        self.session = self.updates.table.session().await?.without_limit();
        Ok(())
    }
}
