//! Waits for the connections of one thread, by an epoll of their own, <https://man7.org/linux/man-pages/man7/epoll.7.html>, or by poll(2).
//!
//! What a general runtime does between the byte that came and the task that waits for it was a quarter to a third of the user time of a
//! load of scripts. A thread that has many clients, and nothing to do but to wait for their servers, waits here; connections that are
//! encrypted or that a driver moves go on through the runtime, and so does whatever else is waited for.
//!
//! A few connections are polled for as long as the thread waits for them alone; the runtime can wait for an epoll only. An epoll is told of what
//! comes also while the thread is awake, by whoever sends it; poll(2) is not, which may be why a server on the same machine took 4 to 9 % less
//! CPU a transaction with it (one series of 8 to 12 rounds each at 1, 4, 16 and 32 connections a thread; medians, without
//! intervals, and from before clients went where their servers work, which moves such figures by more).

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
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
/// What a connection is polled for that can take more.
const POLLED: PollFlags = PollFlags::IN.union(PollFlags::RDHUP);
/// What tells of one that is polled for that nothing more will come.
const POLLED_ENDED: PollFlags = PollFlags::RDHUP.union(PollFlags::HUP).union(PollFlags::ERR);
/// So many connections are polled for at most: more were not measured.
const FEW: usize = 32;
/// What the epoll tells of an alarm, which is no connection's number.
const ALARM: u64 = u64::MAX;

thread_local! {
    static HERE: RefCell<Option<Arc<Poller>>> = const { RefCell::new(None) };
}

/// Waits for connections of this thread.
pub struct Reactor {
    poller: Arc<Poller>,
    events: Vec<Event>,
}

/// Ends a wait of a reactor, from whatever thread.
#[derive(Clone, Debug)]
pub struct Alarm(Arc<OwnedFd>);

impl Alarm {
    fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Ends the wait that goes on, or else the next one.
    pub fn raise(&self) {
        // It can fail only where it was raised so often that it is raised anyway.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    fn clear(&self) {
        let _ = rustix::io::read(&*self.0, &mut [0; 8]);
    }
}

struct Poller {
    epoll: OwnedFd,
    alarm: Alarm,
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
    /// Whether those that are awaited are polled for, and the epoll knows none.
    is_polled: bool,
    /// Room for what came.
    came: Vec<(usize, PollFlags)>,
}

/// How a connection stands.
struct Waiting {
    socket: Arc<dyn AsFd + Send + Sync>,
    /// Whether it can take no more.
    is_full: bool,
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
        let (epoll, alarm) = (epoll::create(CreateFlags::CLOEXEC)?, Alarm::new()?);
        epoll::add(&epoll, &alarm.0, EventData::new_u64(ALARM), EventFlags::IN)?;
        let poller = Arc::new(Poller { epoll, alarm, lines: Mutex::default() });
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

    /// What ends its waits.
    #[must_use]
    pub fn alarm(&self) -> Alarm {
        self.poller.alarm.clone()
    }

    /// Connections of which something is awaited.
    #[must_use]
    pub fn awaited(&self) -> usize {
        self.poller.lines().awaited
    }

    /// Connections are polled for from now on, if they are few. The descriptor tells of none then.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn use_poll(&mut self) -> io::Result<()> {
        let mut lines = self.poller.lines();
        if lines.is_polled || lines.count() > FEW {
            return Ok(());
        }
        lines.is_polled = true;
        lines.all.iter().flatten().try_for_each(|line| Ok(epoll::delete(&self.poller.epoll, &line.socket)?))
    }

    /// The descriptor tells of all connections from now on, also of what came before.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn use_epoll(&mut self) -> io::Result<()> {
        let mut lines = self.poller.lines();
        if lines.is_polled { self.poller.register_all(&mut lines) } else { Ok(()) }
    }

    /// Waits until something comes, for so long at most, and wakes whoever awaits it. Tells whether somebody was woken, or the wait was interrupted.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn wait(&mut self, limit: Duration) -> io::Result<bool> {
        self.events.clear();
        let limit = Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
        let mut lines = self.poller.lines();
        if lines.is_polled {
            return lines.poll(&self.poller.alarm, limit);
        }
        drop(lines);
        match epoll::wait(&self.poller.epoll, spare_capacity(&mut self.events), Some(&limit)) {
            Ok(_) => {}
            // A signal, which is answered elsewhere.
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let mut lines = self.poller.lines();
        let mut woken = 0;
        for &Event { flags, data } in &self.events {
            if data.u64() == ALARM {
                self.poller.alarm.clear();
                woken += 1;
                continue;
            }
            woken += usize::from(lines.tell(data.u64() as usize, flags.intersects(ENDED)));
        }
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

    /// Takes a place for one more.
    fn add(&self, socket: Arc<dyn AsFd + Send + Sync>) -> io::Result<usize> {
        let mut lines = self.lines();
        let number = lines.add(socket);
        let added = match lines.is_polled {
            true if lines.count() > FEW => self.register_all(&mut lines),
            true => Ok(()),
            false => self.register(&lines, number),
        };
        if added.is_err() {
            drop(lines.remove(number));
        }
        added.map(|()| number)
    }

    fn remove(&self, number: usize) {
        let mut lines = self.lines();
        let Some(removed) = lines.remove(number) else { return };
        if !lines.is_polled {
            // Of one that cannot be taken out nothing is awaited.
            let _ = epoll::delete(&self.epoll, &removed.socket);
        }
    }

    /// Has the epoll know all.
    fn register_all(&self, lines: &mut Lines) -> io::Result<()> {
        (0..lines.all.len()).try_for_each(|number| self.register(lines, number))?;
        lines.is_polled = false;
        Ok(())
    }

    /// Has the epoll know one. What came before is told.
    fn register(&self, lines: &Lines, number: usize) -> io::Result<()> {
        let Some(line) = &lines.all[number] else { return Ok(()) };
        let data = EventData::new_u64(number as u64);
        Ok(epoll::add(&self.epoll, &line.socket, data, line.wanted())?)
    }

    /// Whether one can take no more.
    fn set_full(&self, number: usize, is_full: bool) -> io::Result<()> {
        let mut lines = self.lines();
        let is_polled = lines.is_polled;
        let Some(line) = &mut lines.all[number] else { return Ok(()) };
        line.is_full = is_full;
        if is_polled {
            return Ok(());
        }
        let data = EventData::new_u64(number as u64);
        Ok(epoll::modify(&self.epoll, &line.socket, data, line.wanted())?)
    }
}

impl Waiting {
    fn wanted(&self) -> EventFlags {
        if self.is_full { WANTED_OF_FULL } else { WANTED }
    }
}

impl Lines {
    fn count(&self) -> usize {
        self.all.len() - self.free.len()
    }

    fn add(&mut self, socket: Arc<dyn AsFd + Send + Sync>) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        let (is_full, is_awaited, has_news, is_ended) = (false, false, [false; 2], false);
        self.all[number] = Some(Waiting { socket, is_full, waker: None, is_awaited, has_news, is_ended });
        number
    }

    fn remove(&mut self, number: usize) -> Option<Waiting> {
        let removed = self.all[number].take()?;
        self.free.push(number);
        self.awaited -= usize::from(removed.is_awaited);
        Some(removed)
    }

    /// Polls for those that are awaited.
    fn poll(&mut self, alarm: &Alarm, limit: Timespec) -> io::Result<bool> {
        let awaited = self.all.iter().enumerate().filter_map(|(number, line)| {
            let line = line.as_ref().filter(|line| line.is_awaited)?;
            let out = if line.is_full { PollFlags::OUT } else { PollFlags::empty() };
            Some((number, PollFd::new(&line.socket, out | POLLED)))
        });
        let (numbers, mut asked): (Vec<usize>, Vec<PollFd<'_>>) = awaited.unzip();
        asked.push(PollFd::new(&alarm.0, PollFlags::IN));
        match poll(&mut asked, Some(&limit)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let mut came = std::mem::take(&mut self.came);
        let told = numbers.into_iter().zip(asked.iter().map(PollFd::revents));
        came.extend(told.filter(|(_, what)| !what.is_empty()));
        let is_interrupted = asked.last().is_some_and(|last| !last.revents().is_empty());
        if is_interrupted {
            alarm.clear();
        }
        let is_woken = is_interrupted || !came.is_empty();
        for (number, what) in came.drain(..) {
            self.tell(number, what.intersects(POLLED_ENDED));
        }
        self.came = came;
        Ok(is_woken)
    }

    /// Something happened, and nothing more will if that was its end. Tells whether somebody awaited it.
    fn tell(&mut self, number: usize, is_end: bool) -> bool {
        // One that has ended since.
        let Some(Some(waiting)) = self.all.get_mut(number) else { return false };
        waiting.has_news = [true; 2];
        waiting.is_ended |= is_end;
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

/// Where a connection is waited for, as long as this lives.
struct Place {
    poller: Arc<Poller>,
    number: usize,
}

/// A socket that is waited for here.
pub(crate) struct Line<S> {
    socket: Arc<S>,
    place: Place,
    /// Whether all was received that had come.
    is_drained: bool,
    /// Whether no more could be sent.
    is_full: bool,
}

/// Whether this thread has a reactor.
pub(crate) fn is_here() -> bool {
    HERE.with_borrow(Option::is_some)
}

impl<S: AsFd + Send + Sync + 'static> Line<S> {
    /// A socket that does not block, waited for by this thread's reactor; the socket itself where there is none.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn of(socket: S) -> io::Result<Result<Self, S>> {
        let Some(poller) = HERE.with_borrow(Clone::clone) else { return Ok(Err(socket)) };
        let socket = Arc::new(socket);
        let number = poller.add(Arc::<S>::clone(&socket))?;
        Ok(Ok(Self { socket, place: Place { poller, number }, is_drained: false, is_full: false }))
    }

    pub(crate) fn socket(&self) -> &S {
        &self.socket
    }

    /// The socket, which is not waited for any more.
    pub(crate) fn into_socket(self) -> Option<S> {
        let Self { socket, place, .. } = self;
        drop(place);
        Arc::into_inner(socket)
    }

    pub(crate) fn send(&mut self, context: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            if self.is_full && !self.place.poller.lines().news(self.place.number, Way::Out, context) {
                return Poll::Pending;
            }
            match rustix::net::send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    if std::mem::take(&mut self.is_full) {
                        self.place.poller.set_full(self.place.number, false)?;
                    }
                    return Poll::Ready(Ok(sent));
                }
                Err(Errno::AGAIN) => {
                    if !std::mem::replace(&mut self.is_full, true) {
                        self.place.poller.set_full(self.place.number, true)?;
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    pub(crate) fn receive(&mut self, context: &Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            if self.is_drained && !self.place.poller.lines().news(self.place.number, Way::In, context) {
                return Poll::Pending;
            }
            let length = room.len();
            match rustix::net::recv(&self.socket, &mut *room, RecvFlags::DONTWAIT) {
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
}

impl Drop for Place {
    fn drop(&mut self) {
        self.poller.remove(self.number);
    }
}

#[cfg(test)]
mod tests;
