//! Waits for the connections of one thread, by an epoll of their own: <https://man7.org/linux/man-pages/man7/epoll.7.html>.
//!
//! What a general runtime does between the byte that came and the task that waits for it was a quarter to a third of the user time of a
//! load of scripts. A thread that has many clients, and nothing to do but to wait for their servers, waits here; connections that are
//! encrypted or that a driver moves go on through the runtime, and so does whatever else is waited for.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::time::Timespec;

/// Events that are taken at once.
const EVENTS: usize = 256;
/// What a connection is waited for; told when it comes, and not as long as it is there.
const WANTED: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
/// The same of one that can take no more.
const WANTED_OF_FULL: EventFlags = WANTED.union(EventFlags::OUT);
/// What tells that nothing more will come.
const ENDED: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

thread_local! {
    static HERE: RefCell<Option<Arc<Poller>>> = const { RefCell::new(None) };
}

/// Waits for connections of this thread.
pub struct Reactor {
    poller: Arc<Poller>,
    events: Vec<Event>,
}

struct Poller {
    epoll: OwnedFd,
    lines: Mutex<Lines>,
}

/// The connections, by the numbers that their events have.
#[derive(Default)]
struct Lines {
    all: Vec<Option<Waiting>>,
    /// Numbers below that are free.
    free: Vec<usize>,
    /// Those of which something is awaited.
    awaited: usize,
}

/// How a connection stands.
#[derive(Default)]
struct Waiting {
    /// Who waited for it last.
    waker: Option<Waker>,
    is_awaited: bool,
    /// Whether something happened that nobody has looked at, who receives and who sends.
    has_news: [bool; 2],
    /// Whether nothing more comes than what is there: that is told once.
    is_ended: bool,
}

/// What of a connection is awaited.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

impl Reactor {
    /// Connections of PostgreSQL that this thread uses from now on are waited for here, as long as this lives.
    ///
    /// # Errors
    /// When the kernel has none.
    pub fn here() -> io::Result<Self> {
        let poller =
            Arc::new(Poller { epoll: epoll::create(CreateFlags::CLOEXEC)?, lines: Mutex::default() });
        HERE.set(Some(Arc::clone(&poller)));
        Ok(Self { poller, events: Vec::with_capacity(EVENTS) })
    }

    /// What can be read as long as something came that was not waited for.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        self.poller.epoll.try_clone()
    }

    /// Connections of which something is awaited.
    #[must_use]
    pub fn awaited(&self) -> usize {
        self.poller.lines().awaited
    }

    /// Waits until something comes, for so long at most, and wakes whoever awaits it. Tells whether somebody was woken.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn wait(&mut self, limit: Duration) -> io::Result<bool> {
        self.events.clear();
        let limit = Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
        match epoll::wait(&self.poller.epoll, spare_capacity(&mut self.events), Some(&limit)) {
            Ok(_) => {}
            // A signal, which is answered elsewhere.
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let mut lines = self.poller.lines();
        let woken = self.events.iter().filter(|event| lines.tell(event.data.u64(), event.flags)).count();
        // There may be more than were taken.
        Ok(woken > 0 || self.events.len() == EVENTS)
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        HERE.with_borrow_mut(|here| {
            if here.as_ref().is_some_and(|here| Arc::ptr_eq(here, &self.poller)) {
                *here = None;
            }
        });
    }
}

impl fmt::Debug for Reactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactor").field("awaited", &self.awaited()).finish_non_exhaustive()
    }
}

impl Poller {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Takes a place for one more.
    fn add(&mut self) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        self.all[number] = Some(Waiting::default());
        number
    }

    fn remove(&mut self, number: usize) {
        let removed = self.all[number].take();
        self.free.push(number);
        self.awaited -= usize::from(removed.is_some_and(|waiting| waiting.is_awaited));
    }

    /// Something happened. Tells whether somebody awaited it.
    fn tell(&mut self, number: u64, what: EventFlags) -> bool {
        let place = usize::try_from(number).ok().and_then(|number| self.all.get_mut(number));
        // One that has ended since.
        let Some(Some(waiting)) = place else { return false };
        waiting.has_news = [true; 2];
        waiting.is_ended |= what.intersects(ENDED);
        let was_awaited = std::mem::take(&mut waiting.is_awaited);
        self.awaited -= usize::from(was_awaited);
        if let Some(waker) = waiting.waker.as_ref().filter(|_| was_awaited) {
            waker.wake_by_ref();
        }
        was_awaited
    }

    /// Whether something happened since this was asked last. If not, the next thing that does is awaited.
    fn news(&mut self, number: usize, way: Way, context: &Context<'_>) -> bool {
        let Some(waiting) = &mut self.all[number] else { return true };
        if std::mem::take(&mut waiting.has_news[way as usize]) || waiting.is_ended {
            return true;
        }
        if !waiting.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            waiting.waker = Some(context.waker().clone());
        }
        self.awaited += usize::from(!std::mem::replace(&mut waiting.is_awaited, true));
        false
    }
}

/// A socket that is waited for here.
pub(crate) struct Line<S: AsFd> {
    /// None once it was given back.
    socket: Option<S>,
    poller: Arc<Poller>,
    number: usize,
    /// Whether all was received that had come.
    is_drained: bool,
    /// Whether no more could be sent.
    is_full: bool,
}

/// Whether this thread has a reactor.
pub(crate) fn is_here() -> bool {
    HERE.with_borrow(Option::is_some)
}

impl<S: AsFd> Line<S> {
    /// A socket that does not block, waited for by this thread's reactor; the socket itself where there is none.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn of(socket: S) -> io::Result<Result<Self, S>> {
        let Some(poller) = HERE.with_borrow(Clone::clone) else { return Ok(Err(socket)) };
        let number = poller.lines().add();
        let added = epoll::add(&poller.epoll, &socket, EventData::new_u64(number as u64), WANTED);
        // From here on its place is given back whatever happens.
        let line = Self { socket: Some(socket), poller, number, is_drained: false, is_full: false };
        added?;
        Ok(Ok(line))
    }

    /// The socket, which is not waited for any more.
    pub(crate) fn into_socket(mut self) -> Option<S> {
        let socket = self.socket.take()?;
        // Of one that cannot be taken out nothing is awaited.
        let _ = epoll::delete(&self.poller.epoll, &socket);
        Some(socket)
    }

    pub(crate) fn send(&mut self, context: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            if self.is_full && !self.poller.lines().news(self.number, Way::Out, context) {
                return Poll::Pending;
            }
            match rustix::net::send(self.socket()?, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    if std::mem::take(&mut self.is_full) {
                        self.want(WANTED)?;
                    }
                    return Poll::Ready(Ok(sent));
                }
                Err(Errno::AGAIN) => {
                    if !std::mem::replace(&mut self.is_full, true) {
                        self.want(WANTED_OF_FULL)?;
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    pub(crate) fn receive(&mut self, context: &Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            if self.is_drained && !self.poller.lines().news(self.number, Way::In, context) {
                return Poll::Pending;
            }
            let length = room.len();
            match rustix::net::recv(self.socket()?, &mut *room, RecvFlags::DONTWAIT) {
                Ok((received, _)) => {
                    // The end is told again and again.
                    self.is_drained = received > 0 && received < length;
                    return Poll::Ready(Ok(received));
                }
                Err(Errno::AGAIN) => self.is_drained = true,
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn want(&self, what: EventFlags) -> io::Result<()> {
        let number = EventData::new_u64(self.number as u64);
        Ok(epoll::modify(&self.poller.epoll, self.socket()?, number, what)?)
    }

    fn socket(&self) -> io::Result<&S> {
        self.socket.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<S: AsFd> Drop for Line<S> {
    fn drop(&mut self) {
        self.poller.lines().remove(self.number);
    }
}

#[cfg(test)]
mod tests;
