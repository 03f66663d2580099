//! Which load thread drives which client: the one on whose processor the client's server works.
//!
//! Where a server is on this machine and both are busy, the kernel leaves a server process where it is, and to ask one on another processor takes
//! both of them more: the caches' lines of the connection go to and fro, and processors interrupt each other. With two processors, eight clients
//! and single-row statements there were 61,000, 70,000 or 84,000 transactions a second, as four, two or none of the server's processes were
//! apart from their clients' threads, and it stayed so for seconds or for the whole load. A client that sees its server work where another
//! thread runs goes on there, if that thread has no more clients than its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use load::lock;

use super::crew::Caller;
use crate::signal::Signal;

/// Between two looks of a client at where its server works.
const LOOK_EVERY_NS: u64 = 10_000_000;
/// A client does not go on elsewhere for so long after it did.
const STAYS_NS: u64 = 100_000_000;
/// Of a thread of which no client has looked yet.
const UNKNOWN: usize = usize::MAX;

/// The load threads of a trial, and the clients that are on their way from one to another.
#[derive(Debug)]
pub(super) struct Affinity<T> {
    threads: Vec<Thread>,
    rooms: Mutex<Vec<Room<T>>>,
    /// Clients that have not ended.
    left: AtomicUsize,
    /// All have.
    over: Signal,
}

#[derive(Debug)]
struct Thread {
    /// The processor that it was last seen on.
    processor: AtomicUsize,
    caller: OnceLock<Caller>,
}

#[derive(Debug)]
struct Room<T> {
    /// Clients that it has, those that are on their way to it included.
    clients: usize,
    arrived: Vec<T>,
    /// Whether it takes no more.
    is_closed: bool,
}

impl<T> Room<T> {
    /// Whether it takes a client of another one, which keeps its last.
    fn takes_from(&self, other: &Self) -> bool {
        !self.is_closed && other.clients >= self.clients.max(2)
    }
}

impl<T> Affinity<T> {
    /// Of threads with so many clients each.
    pub(super) fn new(clients: impl IntoIterator<Item = usize>) -> Self {
        let room = |clients| Room { clients, arrived: Vec::new(), is_closed: false };
        let rooms: Vec<_> = clients.into_iter().map(room).collect();
        let unknown = || Thread { processor: AtomicUsize::new(UNKNOWN), caller: OnceLock::new() };
        Self {
            threads: rooms.iter().map(|_| unknown()).collect(),
            left: AtomicUsize::new(rooms.iter().map(|room| room.clients).sum()),
            rooms: Mutex::new(rooms),
            over: Signal::new(),
        }
    }

    /// How a thread is told that somebody arrived.
    pub(super) fn call_by(&self, thread: usize, caller: Caller) {
        // It is told once, by the thread itself.
        let _ = self.threads[thread].caller.set(caller);
    }

    /// Another thread than this one, which runs on `here`, that was last seen on the processor.
    fn thread_on(&self, processor: usize, (thread, here): (usize, usize)) -> Option<usize> {
        self.threads[thread].processor.store(here, Ordering::Relaxed);
        if processor == here {
            return None;
        }
        self.threads.iter().position(|other| other.processor.load(Ordering::Relaxed) == processor)
    }

    /// Whether a thread may hand a client to another one.
    fn may_give(&self, (from, to): (usize, usize)) -> bool {
        let rooms = lock(&self.rooms);
        rooms[to].takes_from(&rooms[from])
    }

    /// Hands a client over; gives it back where the other thread has more clients already, or takes none any more.
    pub(super) fn give(&self, client: T, (from, to): (usize, usize)) -> Result<(), T> {
        let mut rooms = lock(&self.rooms);
        if !rooms[to].takes_from(&rooms[from]) {
            return Err(client);
        }
        rooms[from].clients -= 1;
        rooms[to].clients += 1;
        rooms[to].arrived.push(client);
        drop(rooms);
        if let Some(caller) = self.threads[to].caller.get() {
            caller.call();
        }
        Ok(())
    }

    /// Clients that were handed to a thread since it asked last.
    pub(super) fn arrived(&self, thread: usize) -> Vec<T> {
        std::mem::take(&mut lock(&self.rooms)[thread].arrived)
    }

    /// A client of a thread ended.
    pub(super) fn ended(&self, thread: usize) {
        lock(&self.rooms)[thread].clients -= 1;
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.over.set();
        }
    }

    /// A thread has no clients left: gives those that were handed to it meanwhile. Without any it takes no more, and waits until all threads'
    /// have ended: what drives a connection beside its client is left on the thread that made it.
    pub(super) async fn last(&self, thread: usize) -> Vec<T> {
        let arrived = {
            let mut rooms = lock(&self.rooms);
            let arrived = std::mem::take(&mut rooms[thread].arrived);
            rooms[thread].is_closed = arrived.is_empty();
            arrived
        };
        if arrived.is_empty() {
            self.over.wait().await;
        }
        arrived
    }
}

/// Where a client is, and when it looks next at where it belongs.
#[derive(Debug)]
pub(super) struct Whereabouts<T> {
    affinity: Arc<Affinity<T>>,
    thread: usize,
    next_look_ns: u64,
    /// The thread that it belonged to when it looked last, if that was another one.
    seen: Option<usize>,
}

impl<T> Whereabouts<T> {
    pub(super) fn new(affinity: Arc<Affinity<T>>, thread: usize) -> Self {
        Self { affinity, thread, next_look_ns: 0, seen: None }
    }

    /// Whether it is time to look.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_look_ns
    }

    /// The thread that it is to go on on, which it was seen to belong to twice. Here is the processor that this one runs on.
    pub(super) fn look(&mut self, now_ns: u64, server: Option<usize>, here: usize) -> Option<usize> {
        self.next_look_ns = now_ns + LOOK_EVERY_NS;
        let found = server.and_then(|server| self.affinity.thread_on(server, (self.thread, here)));
        let seen = std::mem::replace(&mut self.seen, found);
        found.filter(|to| found == seen && self.affinity.may_give((self.thread, *to)))
    }

    /// It goes on on a thread from now on.
    pub(super) fn is_on(&mut self, thread: usize, now_ns: u64) {
        (self.thread, self.seen, self.next_look_ns) = (thread, None, now_ns + STAYS_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_goes_where_its_server_was_seen_twice() {
        let affinity = Arc::new(Affinity::<()>::new([2, 2]));
        let mut one = Whereabouts::new(Arc::clone(&affinity), 0);
        let mut other = Whereabouts::new(affinity, 1);
        assert_eq!(one.look(0, Some(1), 0), None, "nobody knows which thread is there");
        assert_eq!(other.look(0, Some(1), 1), None, "it is at home");
        assert_eq!((one.is_due(LOOK_EVERY_NS - 1), one.is_due(LOOK_EVERY_NS)), (false, true));
        assert_eq!(one.look(LOOK_EVERY_NS, Some(1), 0), None, "it was seen there once");
        assert_eq!(one.look(2 * LOOK_EVERY_NS, None, 0), None, "then nothing was seen");
        assert_eq!(one.look(3 * LOOK_EVERY_NS, Some(1), 0), None);
        assert_eq!(one.look(4 * LOOK_EVERY_NS, Some(1), 0), Some(1));
        one.is_on(1, 4 * LOOK_EVERY_NS);
        assert_eq!((one.is_due(5 * LOOK_EVERY_NS), one.is_due(4 * LOOK_EVERY_NS + STAYS_NS)), (false, true));
        assert_eq!(one.look(4 * LOOK_EVERY_NS + STAYS_NS, Some(1), 1), None);
    }

    #[test]
    fn a_thread_has_two_clients_more_than_another_at_most() {
        let affinity = Affinity::new([2, 2]);
        assert_eq!(affinity.give('a', (0, 1)), Ok(()));
        assert_eq!(affinity.give('b', (0, 1)), Err('b'), "the other one has more already");
        assert_eq!(affinity.arrived(1), ['a']);
        assert_eq!(affinity.give('c', (1, 0)), Ok(()), "one comes back for it");
        assert_eq!((affinity.arrived(0), affinity.arrived(1)), (vec!['c'], vec![]));
        let alone = Affinity::new([1, 1]);
        assert_eq!(alone.give('a', (0, 1)), Err('a'), "a thread keeps its last one");
    }

    #[tokio::test]
    async fn a_thread_takes_none_once_its_own_have_ended_and_waits_for_the_others() {
        let affinity = Affinity::new([2, 2]);
        affinity.give('a', (0, 1)).unwrap();
        affinity.ended(1);
        affinity.ended(1);
        assert_eq!(affinity.last(1).await, ['a'], "it is there yet");
        affinity.ended(1);
        let waits = async {
            affinity.last(1).await;
        };
        tokio::pin!(waits);
        assert!(futures_util::poll!(&mut waits).is_pending());
        assert_eq!(affinity.give('b', (0, 1)), Err('b'), "it is closed");
        affinity.ended(0);
        assert!(futures_util::poll!(&mut waits).is_ready());
    }
}
