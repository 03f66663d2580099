//! What the roles of a running trial share: the buffer, the counts, the signals, and where the database is.

use std::sync::Mutex;

use database::{Connection, Error, Holder, Lease, Session, Sizes};
use load::{Counted, Kind, Phases, Recorder};
use record::historian as names;

use super::buffer::Buffer;
use super::job::Job;
use super::ledger::Ledger;
use super::store::Store;
use crate::signal::Signal;

/// Kind of operation: a row committed.
pub(crate) const RECORD: usize = 0;
/// Kind of operation: a flush.
pub(crate) const COMMIT: usize = 1;
/// Kind of operation: a purge's statement.
pub(crate) const PURGE: usize = 2;
/// Kind of operation: a shrink.
pub(crate) const SHRINK: usize = 3;
/// Kind of operation: a screen's trends.
pub(crate) const TREND: usize = 4;
/// Kind of operation: a screen's latest values.
pub(crate) const LATEST: usize = 5;

/// Names of the kinds, in the order of their numbers.
pub(crate) const KINDS: [&str; 6] =
    [names::RECORD, names::COMMIT, names::PURGE, names::SHRINK, names::TREND, names::LATEST];

/// Everything that the roles share.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) job: Job,
    /// Where the database is.
    pub(crate) lease: Lease,
    /// Whom to ask whether it is still this run's own.
    pub(crate) holder: Holder,
    pub(crate) store: Store,
    /// Warm-up and window, which are shorter than the job's if a recording ends before.
    pub(crate) phases: Phases,
    /// Time of an event that is due when the load begins, in microseconds since 1970.
    pub(crate) epoch_us: i64,
    pub(crate) buffer: Buffer,
    pub(crate) recorder: Recorder,
    pub(crate) ledger: Ledger,
    pub(crate) measured: Mutex<Measured>,
    /// The load ends before its time. At its own time the source ends by itself, after all that was due.
    pub(crate) stopped: Signal,
    /// The load is over: no more reads and purges.
    pub(crate) load_over: Signal,
    /// Writers stop, whatever is left.
    pub(crate) give_up: Signal,
    /// Everything stops, whatever it is doing.
    pub(crate) over: Signal,
    /// The database is not this run's own any more: nothing that is written from now on would be where it belongs.
    pub(crate) taken: Signal,
}

/// What is measured beside operations, for the gauges.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Sizes, and when they were read.
    pub(crate) sizes: Vec<(u64, Sizes)>,
    /// Begin and end of each purge with its shrink; the last one may go on.
    pub(crate) maintenance_ns: Vec<(u64, Option<u64>)>,
    /// Flushes that were under way when their writer had to stop.
    pub(crate) unfinished: Vec<super::writer::Unfinished>,
    /// Connection of maintenance that was under way when everything had to stop.
    pub(crate) given_up: Option<Connection>,
}

impl Running {
    pub(crate) fn measured(&self) -> std::sync::MutexGuard<'_, Measured> {
        load::lock(&self.measured)
    }

    /// A session for a role. Its load is measured, and the controller ends what takes too long.
    pub(crate) async fn session(&self) -> Result<Session, Error> {
        Ok(self.lease.session().await?.without_limit())
    }

    /// Has everything stop at once.
    pub(crate) fn end(&self) {
        [&self.stopped, &self.load_over, &self.give_up, &self.over].into_iter().for_each(Signal::set);
    }

    /// Time of an event at a moment of the load, in microseconds since 1970.
    pub(crate) fn time_us(&self, now_ns: u64) -> i64 {
        self.epoch_us + (now_ns / 1_000) as i64
    }
}

/// What a trial counts. Records are due in an open loop only, screens in every one.
pub(crate) fn counted(open: bool) -> Counted {
    let is_due = |kind| (kind == RECORD && open) || kind == TREND || kind == LATEST;
    let kinds = KINDS.iter().enumerate();
    Counted {
        kinds: kinds.map(|(kind, &name)| Kind { name: name.to_owned(), open: is_due(kind) }).collect(),
        counters: Vec::new(),
    }
}
