//! What the clients of a running trial share: the job, and the history that they write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use database::{Error, Lease, Session};
use load::{Counted, Kind, lock};
use record::register::{self, Did, Operation};

use crate::clock::Clock;
use crate::register::Job;

/// Kind of operation.
pub(super) const WRITE: usize = 0;
/// Kind of operation.
pub(super) const READ: usize = 1;
/// Counter: operations that the server refused.
pub(super) const CONFLICT: usize = 0;
/// Counter: time of operations.
pub(super) const NET_US: usize = 1;

/// What is counted.
pub(super) fn counted() -> Counted {
    let kinds = [register::WRITE, register::READ];
    Counted {
        kinds: kinds.map(|name| Kind { name: name.to_owned(), open: true }).to_vec(),
        counters: [register::CONFLICTS, register::NET_US].map(str::to_owned).to_vec(),
    }
}

/// Everything that is shared.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    pub(super) lease: Lease,
    /// Of the load, from its begin on.
    pub(super) clock: OnceLock<Clock>,
    /// Of each client: whether it has no connection.
    pub(super) is_away: Vec<AtomicBool>,
    history: Mutex<Vec<Operation>>,
}

impl Running {
    pub(super) fn new(job: &Job, lease: &Lease) -> Self {
        // Those of the end are few.
        let room = job.operations() as usize + job.keys as usize;
        Self {
            job: job.clone(),
            lease: lease.clone(),
            clock: OnceLock::new(),
            is_away: (0..job.clients).map(|_| AtomicBool::new(false)).collect(),
            history: Mutex::new(Vec::with_capacity(room)),
        }
    }

    /// Of each client: until when it was without a connection when the load was over; none of one that had one.
    pub(super) fn waited_until(&self, load_end_ns: u64) -> Vec<Option<u64>> {
        let of = |is_away: &AtomicBool| is_away.load(Ordering::Relaxed).then_some(load_end_ns);
        self.is_away.iter().map(of).collect()
    }

    /// Adds an operation to the history.
    pub(super) fn add(&self, operation: Operation) {
        lock(&self.history).push(operation);
    }

    /// The history, which is empty then.
    pub(super) fn take_history(&self) -> Vec<Operation> {
        std::mem::take(&mut *lock(&self.history))
    }

    /// One that is connected within the time that an operation has.
    pub(super) async fn session(&self) -> Result<Session, Error> {
        self.soon(self.lease.session()).await.map(Session::without_limit)
    }

    /// Awaits what a server is to answer within the time that an operation has.
    pub(super) async fn soon<T>(&self, exchange: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let limit = self.job.timeout;
        tokio::time::timeout(Duration::from_nanos(limit.ns), exchange).await.unwrap_or_else(|_| {
            Err(Error::Lost(format!("{} did not answer within {limit}", self.lease.url())))
        })
    }
}

/// An operation that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) client: u32,
    pub(super) key: u32,
    pub(super) invoked_ns: u64,
    /// What is written; none is read.
    pub(super) value: Option<u64>,
}

impl Sent {
    pub(super) fn ended(self, did: Did) -> Operation {
        let Self { client, key, invoked_ns, .. } = self;
        Operation { client, key, invoked_ns, did }
    }

    /// It had no answer when its client stopped waiting.
    pub(super) fn unanswered(self, at_ns: u64) -> Operation {
        self.ended(match self.value {
            Some(value) => Did::Unanswered { value, at_ns },
            None => Did::ReadNothing { at_ns },
        })
    }

    /// The server said that it was not done.
    pub(super) fn refused(self, at_ns: u64) -> Operation {
        self.ended(match self.value {
            Some(value) => Did::Refused { value, at_ns },
            None => Did::ReadNothing { at_ns },
        })
    }
}
