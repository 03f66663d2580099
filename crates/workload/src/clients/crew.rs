//! The clients of one load thread, each asked to go on when what it waits for has come.
//!
//! As long as all of them wait for their connections alone, the thread waits for these and for nothing else, so that no runtime has to find
//! out who is to go on. Whatever else one of them waits for, a time or a signal, is waited for by the runtime, which is then asked between.

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::{Duration, Instant};

use database::Reactor;
use futures_util::FutureExt as _;
use load::lock;
use rustix::time::{ClockId, clock_gettime};
use tokio::io::unix::AsyncFd;
use tokio::task::unconstrained;

/// Longest time in which only connections are waited for, and in which a signal is not heard.
const LINES_ALONE: Duration = Duration::from_millis(50);
/// Longest time without asking the runtime where somebody waits for that.
const WITHOUT_RUNTIME: Duration = Duration::from_micros(200);

/// Why a client panicked.
pub(super) type Panic = Box<dyn Any + Send>;

/// What a client came to.
type Ended<R> = Result<R, Panic>;

/// Clients, each with what it is told apart by.
pub(super) struct Crew<'a, T, R> {
    /// By their numbers; none of one that ended.
    members: Vec<Option<Member<'a, T, R>>>,
    /// Numbers of those that ended.
    free: Vec<usize>,
    left: usize,
    /// Numbers of those that are to go on, in the order in which they were woken.
    next: VecDeque<usize>,
    lines: Option<Lines>,
    bell: Arc<Bell>,
    /// When the runtime was asked last, the second time to some milliseconds; none once it is to be.
    asked: Option<(Instant, Duration)>,
}

/// What happens to a crew.
pub(super) enum Event<T, R> {
    /// A client ended.
    Ended(T, Ended<R>),
    /// It was called.
    Called,
}

struct Member<'a, T, R> {
    of: T,
    client: Pin<Box<dyn Future<Output = Ended<R>> + 'a>>,
    seat: Arc<Seat>,
    waker: Waker,
}

/// Where one is woken.
struct Seat {
    number: usize,
    is_woken: AtomicBool,
    bell: Arc<Bell>,
}

/// What waits for their connections.
struct Lines {
    reactor: Reactor,
    /// Can be read as long as something came: for the runtime.
    readable: AsyncFd<OwnedFd>,
}

impl Lines {
    fn new() -> io::Result<Self> {
        let reactor = Reactor::here()?;
        #[expect(
            deprecated,
            reason = "the descriptor is owned, which is all that its successor wants to be promised"
        )]
        let readable = AsyncFd::new(reactor.descriptor()?)?;
        Ok(Self { reactor, readable })
    }
}

/// Rings when somebody can go on.
#[derive(Default)]
struct Bell {
    /// Whether it has since this was looked at.
    has_rung: AtomicBool,
    /// Whether the crew itself is called.
    is_called: AtomicBool,
    /// Their numbers.
    woken: Mutex<Vec<usize>>,
    /// Whether the thread looks at it by itself.
    is_watched: AtomicBool,
    runtime: Mutex<Option<Waker>>,
}

impl Bell {
    fn wake(&self, number: usize) {
        lock(&self.woken).push(number);
        self.ring();
    }

    fn ring(&self) {
        self.has_rung.store(true, Ordering::SeqCst);
        if !self.is_watched.load(Ordering::SeqCst)
            && let Some(runtime) = &*lock(&self.runtime)
        {
            runtime.wake_by_ref();
        }
    }

    fn has_rung(&self) -> bool {
        self.has_rung.load(Ordering::SeqCst)
    }
}

/// Calls a crew, from another thread.
pub(super) struct Caller {
    bell: Arc<Bell>,
    /// What the thread hears while it waits for connections.
    line: Option<database::Alarm>,
}

impl Caller {
    pub(super) fn call(&self) {
        self.bell.is_called.store(true, Ordering::SeqCst);
        self.bell.ring();
        if let Some(line) = &self.line {
            line.raise();
        }
    }
}

impl Wake for Seat {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.bell.wake(self.number);
        }
    }
}

impl<'a, T: 'a, R: 'a> Crew<'a, T, R> {
    /// Nobody yet; whether they wait for their connections alone.
    ///
    /// # Errors
    /// When their connections could not be waited for.
    pub(super) fn new(waits_for_lines: bool) -> io::Result<Self> {
        let lines = waits_for_lines.then(Lines::new).transpose()?;
        Ok(Self {
            members: Vec::new(),
            free: Vec::new(),
            left: 0,
            next: VecDeque::new(),
            lines,
            bell: Arc::new(Bell::default()),
            asked: None,
        })
    }

    /// What calls it.
    pub(super) fn caller(&self) -> Caller {
        let line = self.lines.as_ref().map(|lines| lines.reactor.alarm());
        Caller { bell: Arc::clone(&self.bell), line }
    }

    /// Adds one.
    pub(super) fn add(&mut self, of: T, client: impl Future<Output = R> + 'a) {
        // Who was woken by a number that another one had goes on for nothing, once.
        let number = self.free.pop().unwrap_or_else(|| {
            self.members.push(None);
            self.members.len() - 1
        });
        let seat = Arc::new(Seat { number, is_woken: AtomicBool::new(true), bell: Arc::clone(&self.bell) });
        let client = Box::pin(AssertUnwindSafe(client).catch_unwind());
        let waker = Waker::from(Arc::clone(&seat));
        self.members[number] = Some(Member { of, client, seat, waker });
        self.left += 1;
        self.next.push_back(number);
    }

    /// What happens next; nothing once all have ended.
    ///
    /// # Errors
    /// When their connections cannot be waited for.
    pub(super) async fn next(&mut self) -> io::Result<Option<Event<T, R>>> {
        // All of them are one task of the runtime, which allows one task only so much at once.
        unconstrained(std::future::poll_fn(|context| self.poll_next(context))).await
    }

    fn poll_next(&mut self, runtime: &mut Context<'_>) -> Poll<io::Result<Option<Event<T, R>>>> {
        let mut known = lock(&self.bell.runtime);
        if !known.as_ref().is_some_and(|known| known.will_wake(runtime.waker())) {
            *known = Some(runtime.waker().clone());
        }
        drop(known);
        self.bell.is_watched.store(true, Ordering::SeqCst);
        let next = self.poll_members(runtime);
        self.bell.is_watched.store(false, Ordering::SeqCst);
        if next.is_pending() {
            self.asked = None;
            if self.bell.has_rung() {
                runtime.waker().wake_by_ref();
            }
        }
        next
    }

    /// Has all go on that can, and waits for connections as long as nothing else is waited for.
    fn poll_members(&mut self, runtime: &mut Context<'_>) -> Poll<io::Result<Option<Event<T, R>>>> {
        // What happens here does not go on without the runtime for longer.
        let (asked, asked_about) = *self.asked.get_or_insert_with(|| (Instant::now(), about_now()));
        loop {
            if let Some(event) = self.go_on() {
                return Poll::Ready(Ok(Some(event)));
            }
            if self.left == 0 {
                return Poll::Ready(Ok(None));
            }
            let Some(Lines { reactor, readable }) = &mut self.lines else { return Poll::Pending };
            let is_alone = reactor.awaited() == self.left;
            let is_idle = !self.bell.has_rung()
                && !reactor.wait(if is_alone { LINES_ALONE } else { Duration::ZERO })?
                && !self.bell.has_rung();
            if is_idle && !is_alone {
                reactor.use_epoll()?;
                ready!(readable.poll_read_ready(runtime))?.clear_ready();
                continue;
            }
            let is_enough = match is_alone {
                true => about_now().saturating_sub(asked_about) >= LINES_ALONE,
                false => asked.elapsed() >= WITHOUT_RUNTIME,
            };
            if is_enough {
                if is_alone {
                    reactor.use_poll()?;
                }
                // It is asked, and then this goes on.
                runtime.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }

    /// Has those go on that were woken, each once, until one ends.
    fn go_on(&mut self) -> Option<Event<T, R>> {
        if self.bell.has_rung.swap(false, Ordering::SeqCst) {
            self.next.extend(lock(&self.bell.woken).drain(..));
            if self.bell.is_called.swap(false, Ordering::SeqCst) {
                return Some(Event::Called);
            }
        }
        while let Some(number) = self.next.pop_front() {
            // One that ended may have been woken before.
            let Some(member) = &mut self.members[number] else { continue };
            // Whoever finds it woken from here on did so before, and what was done by then is seen.
            member.seat.is_woken.swap(false, Ordering::AcqRel);
            if let Poll::Ready(ended) = member.client.as_mut().poll(&mut Context::from_waker(&member.waker)) {
                self.left -= 1;
                self.free.push(number);
                return self.members[number].take().map(|member| Event::Ended(member.of, ended));
            }
        }
        None
    }
}

/// The time to some milliseconds: the kernel keeps it, and to read it costs next to nothing.
fn about_now() -> Duration {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    Duration::new(now.tv_sec.cast_unsigned(), now.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn a_crew_that_waits_is_called_from_another_thread() {
        for waits_for_lines in [false, true] {
            let mut crew = Crew::new(waits_for_lines).unwrap();
            crew.add('a', pending::<()>());
            let caller = crew.caller();
            let calling = std::thread::spawn(move || caller.call());
            assert!(matches!(crew.next().await.unwrap(), Some(Event::Called)));
            calling.join().unwrap();
            let again = crew.next();
            tokio::pin!(again);
            assert!(futures_util::poll!(again).is_pending(), "once");
        }
    }

    /// Who is woken by the number of one that ended asks in vain.
    #[tokio::test]
    async fn places_of_those_that_ended_are_taken_by_others() {
        let mut crew = Crew::new(false).unwrap();
        let kept = Arc::new(Mutex::new(None::<Waker>));
        let keeps = Arc::clone(&kept);
        crew.add(
            'a',
            std::future::poll_fn(move |context| {
                let waker = lock(&keeps).replace(context.waker().clone());
                if waker.is_some() {
                    Poll::Ready(1)
                } else {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            }),
        );
        assert!(matches!(crew.next().await.unwrap(), Some(Event::Ended('a', Ok(1)))));
        crew.add('b', ready(2));
        lock(&kept).take().unwrap().wake();
        assert!(matches!(crew.next().await.unwrap(), Some(Event::Ended('b', Ok(2)))));
        assert!(crew.next().await.unwrap().is_none());
        assert_eq!(crew.members.len(), 1);
    }
}
