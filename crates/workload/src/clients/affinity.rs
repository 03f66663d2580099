//! Which load thread drives which client: the one on whose processor the client's server works.
//!
//! Where a server is on this machine and both are busy, the kernel leaves a server process where it is, and to ask one on another processor takes
//! both of them more: the caches' lines of the connection go to and fro, and processors interrupt each other. With two processors, eight clients
//! and single-row statements there were about 61,000, 70,000 or 84,000 transactions a second, with 0.10, 0.05 or no interrupts of one processor by the
//! other in each, and it stayed so for seconds or for the whole load. Once each server process was put by hand where its client's thread was, there
//! were none. A client that sees its server work where another
//! thread runs goes on there, if that thread has no more clients than its own.
//!
//! Clients stay where they are that think, or whose turns are due at a rate: the kernel has idle processors to put them on. So do those whose
//! connection does not tell where the server works (encrypted ones, Unix sockets, other machines).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use load::lock;

use super::crew::Caller;
use crate::signal::Signal;

/// Between two looks of a thread's clients at where their servers work.
const LOOK_EVERY_NS: u64 = 2_500_000;
/// A client does not go on elsewhere for so long after it did.
const STAYS_NS: u64 = 100_000_000;
/// Of a thread of which no client has looked yet.
const UNKNOWN: usize = usize::MAX;

/// The load threads of a trial, and the clients that are on their way from one to another.
struct Affinity<T> {
    /// The processor that each thread was last seen on.
    processors: Vec<AtomicUsize>,
    rooms: Mutex<Rooms<T>>,
    /// No thread has clients any more.
    over: Signal,
}

struct Rooms<T>(Vec<Room<T>>);

/// What a thread has.
struct Room<T> {
    /// Clients, those that are on their way to it included.
    clients: usize,
    arrived: Vec<T>,
    /// Whether it takes no more.
    is_closed: bool,
    /// Tells it that somebody arrived.
    caller: Option<Caller>,
}

/// Where a thread's clients come from and go to. Once this is gone, it has none.
pub(super) struct Host<T> {
    affinity: Arc<Affinity<T>>,
    thread: usize,
}

/// Threads with so many clients each.
pub(super) fn hosts<T>(clients: impl IntoIterator<Item = usize>) -> Vec<Host<T>> {
    let room = |clients| Room { clients, arrived: Vec::new(), is_closed: false, caller: None };
    let rooms: Vec<_> = clients.into_iter().map(room).collect();
    let count = rooms.len();
    let processors = rooms.iter().map(|_| AtomicUsize::new(UNKNOWN)).collect();
    let affinity = Arc::new(Affinity { processors, rooms: Mutex::new(Rooms(rooms)), over: Signal::new() });
    (0..count).map(|thread| Host { affinity: Arc::clone(&affinity), thread }).collect()
}

impl<T> Rooms<T> {
    /// Whether a thread may hand a client to another one: it keeps its last, and none has two more than the fewest when it takes one.
    fn may_give(&self, from: usize, to: usize) -> bool {
        let (from, to) = (&self.0[from], &self.0[to]);
        let open = self.0.iter().filter(|room| !room.is_closed);
        let fewest = open.map(|room| room.clients).min().unwrap_or(0);
        !to.is_closed && from.clients >= to.clients.max(2) && to.clients <= fewest + 1
    }
}

impl<T> Affinity<T> {
    fn tell_over(&self, rooms: &Rooms<T>) {
        if rooms.0.iter().all(|room| room.clients == 0) {
            self.over.set();
        }
    }
}

impl<T> Host<T> {
    /// How this thread is told that somebody arrived.
    pub(super) fn call_by(&self, caller: Caller) {
        lock(&self.affinity.rooms).0[self.thread].caller = Some(caller);
    }

    /// Hands a client over; gives it back where it has to stay for now.
    pub(super) fn give(&self, client: T, to: usize) -> Result<(), T> {
        let mut rooms = lock(&self.affinity.rooms);
        if !rooms.may_give(self.thread, to) {
            return Err(client);
        }
        rooms.0[self.thread].clients -= 1;
        let room = &mut rooms.0[to];
        room.clients += 1;
        room.arrived.push(client);
        if let Some(caller) = &room.caller {
            caller.call();
        }
        Ok(())
    }

    /// Clients that were handed to this thread since it asked last.
    pub(super) fn arrived(&self) -> Vec<T> {
        std::mem::take(&mut lock(&self.affinity.rooms).0[self.thread].arrived)
    }

    /// One of its clients ended.
    pub(super) fn ended(&self) {
        let mut rooms = lock(&self.affinity.rooms);
        rooms.0[self.thread].clients -= 1;
        self.affinity.tell_over(&rooms);
    }

    /// Of a thread that has no clients left: those that were handed to it meanwhile. Without any it takes no more, and waits until no thread has
    /// clients: what drives a connection beside its client is left on the thread that made it.
    pub(super) async fn arrived_or_over(&self) -> Vec<T> {
        let arrived = {
            let mut rooms = lock(&self.affinity.rooms);
            let room = &mut rooms.0[self.thread];
            room.is_closed = room.arrived.is_empty();
            std::mem::take(&mut room.arrived)
        };
        if arrived.is_empty() {
            self.affinity.over.wait().await;
        }
        arrived
    }

    /// Of a client that is on this thread, and that looks from a moment on.
    pub(super) fn whereabouts(&self, from_ns: u64) -> Whereabouts<T> {
        let clients = lock(&self.affinity.rooms).0[self.thread].clients;
        Whereabouts {
            affinity: Arc::clone(&self.affinity),
            thread: self.thread,
            look_every_ns: LOOK_EVERY_NS * clients as u64,
            next_look_ns: from_ns,
            seen: None,
        }
    }

    /// A client that came here stays for some time.
    pub(super) fn take_in(&self, client: &mut Whereabouts<T>, now_ns: u64) {
        (client.thread, client.seen, client.next_look_ns) = (self.thread, None, now_ns + STAYS_NS);
    }
}

impl<T> Drop for Host<T> {
    fn drop(&mut self) {
        let mut rooms = lock(&self.affinity.rooms);
        let room = &mut rooms.0[self.thread];
        (room.clients, room.is_closed) = (0, true);
        let arrived = std::mem::take(&mut room.arrived);
        self.affinity.tell_over(&rooms);
        drop(rooms);
        // They hold what this was.
        drop(arrived);
    }
}

/// Where a client is, and when it looks next at where it belongs.
pub(super) struct Whereabouts<T> {
    affinity: Arc<Affinity<T>>,
    thread: usize,
    look_every_ns: u64,
    next_look_ns: u64,
    /// The thread that it belonged to when it looked last, if that was another one.
    seen: Option<usize>,
}

impl<T> Whereabouts<T> {
    /// Whether it is time to look.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_look_ns
    }

    /// The thread that it is to go on on, which it was seen to belong to twice; by the processors that the server was seen on and this thread
    /// is on.
    pub(super) fn look(&mut self, now_ns: u64, processors: Option<(usize, usize)>) -> Option<usize> {
        self.next_look_ns = now_ns + self.look_every_ns;
        let found = processors.and_then(|(server, here)| self.thread_on(server, here));
        let seen = std::mem::replace(&mut self.seen, found);
        found.filter(|_| found == seen)
    }

    /// Another thread that was last seen on the server's processor, and takes a client of this one.
    fn thread_on(&self, server: usize, here: usize) -> Option<usize> {
        let processors = &self.affinity.processors;
        processors[self.thread].store(here, Ordering::Relaxed);
        if server == here {
            return None;
        }
        let rooms = lock(&self.affinity.rooms);
        let mut there =
            (0..processors.len()).filter(|&other| processors[other].load(Ordering::Relaxed) == server);
        there.find(|&other| rooms.may_give(self.thread, other))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::super::crew::{Crew, Event};
    use super::*;

    const LOOK_NS: u64 = 2 * LOOK_EVERY_NS;

    fn pair<T>(clients: usize) -> [Host<T>; 2] {
        hosts([clients; 2]).try_into().unwrap_or_else(|_| panic!("two"))
    }

    #[test]
    fn a_client_goes_where_its_server_was_seen_twice() {
        let [one, two] = pair::<()>(2);
        let (mut client, mut other) = (one.whereabouts(7), two.whereabouts(7));
        assert_eq!((client.is_due(6), client.is_due(7)), (false, true));
        assert_eq!(client.look(7, Some((1, 0))), None, "nobody knows which thread is there");
        assert_eq!(other.look(7, Some((1, 1))), None, "it is at home");
        assert_eq!((client.is_due(LOOK_NS + 6), client.is_due(LOOK_NS + 7)), (false, true));
        assert_eq!(client.look(LOOK_NS, Some((1, 0))), None, "it was seen there once");
        assert_eq!(client.look(2 * LOOK_NS, None), None, "then nothing was seen");
        assert_eq!(client.look(3 * LOOK_NS, Some((1, 0))), None);
        assert_eq!(client.look(4 * LOOK_NS, Some((1, 0))), Some(1));
        two.take_in(&mut client, 4 * LOOK_NS);
        assert_eq!((client.is_due(5 * LOOK_NS), client.is_due(4 * LOOK_NS + STAYS_NS)), (false, true));
        assert_eq!(client.look(4 * LOOK_NS + STAYS_NS, Some((1, 1))), None);
    }

    #[test]
    fn a_thread_has_two_clients_more_than_another_at_most() {
        let [one, two] = pair(2);
        assert_eq!(one.give('a', 1), Ok(()));
        assert_eq!(one.give('b', 1), Err('b'), "the other one has more already");
        assert_eq!(two.arrived(), ['a']);
        assert_eq!(two.give('c', 0), Ok(()), "one comes back for it");
        assert_eq!((one.arrived(), two.arrived()), (vec!['c'], vec![]));
        let [alone, _other] = pair(1);
        assert_eq!(alone.give('a', 1), Err('a'), "a thread keeps its last one");
        let four = hosts([3; 4]);
        assert_eq!((four[0].give('a', 1), four[2].give('b', 3)), (Ok(()), Ok(())));
        assert_eq!(four[3].give('c', 1), Err('c'), "others have two");
    }

    #[tokio::test]
    async fn a_thread_is_called_when_a_client_arrives() {
        let [one, two] = pair(2);
        let mut crew = Crew::<(), ()>::new(false).unwrap();
        crew.add((), std::future::pending());
        two.call_by(crew.caller());
        one.give('a', 1).unwrap();
        let called = crew.next().now_or_never().expect("it was called before");
        assert!(matches!(called.unwrap(), Some(Event::Called)));
    }

    #[tokio::test]
    async fn a_thread_takes_none_once_its_own_have_ended_and_waits_for_the_others() {
        let [one, two] = pair(2);
        one.give('a', 1).unwrap();
        two.ended();
        two.ended();
        assert_eq!(two.arrived_or_over().await, ['a'], "it is there yet");
        two.ended();
        let mut waits = Box::pin(two.arrived_or_over());
        assert!(futures_util::poll!(&mut waits).is_pending());
        assert_eq!(one.give('b', 1), Err('b'), "it is closed");
        one.ended();
        assert!(futures_util::poll!(&mut waits).is_ready());
    }

    /// One that gives up is waited for by nobody, and what was on its way to it is gone with it.
    #[tokio::test]
    async fn a_thread_that_ends_sooner_has_no_clients() {
        let [one, two] = pair(2);
        let client = Arc::new(());
        one.give(Arc::clone(&client), 1).unwrap();
        drop(two);
        assert_eq!(Arc::strong_count(&client), 1);
        assert!(one.give(client, 1).is_err());
        one.ended();
        assert_eq!(one.arrived_or_over().await, []);
    }
}
