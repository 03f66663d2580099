//! The clients of one load thread, each asked to go on when what it waits for has come.
//!
//! As long as all of them wait for their connections alone, the thread waits for these and for nothing else, so that no runtime has to find
//! out who is to go on. Whatever else one of them waits for, a time or a signal, is waited for by the runtime, which is then asked between.

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::{Duration, Instant};

use database::Reactor;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, Stream as _};
use load::lock;
use tokio::io::unix::AsyncFd;
use tokio::task::unconstrained;

/// Longest time in which only connections are waited for, and in which a signal is not heard.
const LINES_ALONE: Duration = Duration::from_millis(50);
/// Longest time without asking the runtime where somebody waits for that.
const WITHOUT_RUNTIME: Duration = Duration::from_micros(200);

/// Why a client panicked.
pub(super) type Panic = Box<dyn Any + Send>;

/// How a client ended.
type Ended = Result<(), Panic>;

type Member<'a, T> = Pin<Box<dyn Future<Output = (T, Ended)> + 'a>>;

/// Clients, each with what it is told apart by.
pub(super) struct Crew<'a, T> {
    members: FuturesUnordered<Member<'a, T>>,
    lines: Option<Lines>,
    bell: Arc<Bell>,
    waker: Waker,
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
    has_rung: AtomicBool,
    /// Whether the thread looks at it by itself.
    is_watched: AtomicBool,
    runtime: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::SeqCst);
        if !self.is_watched.load(Ordering::SeqCst)
            && let Some(runtime) = &*lock(&self.runtime)
        {
            runtime.wake_by_ref();
        }
    }
}

impl<'a, T: 'a> Crew<'a, T> {
    /// Nobody yet; whether they wait for their connections alone.
    ///
    /// # Errors
    /// When their connections could not be waited for.
    pub(super) fn new(waits_for_lines: bool) -> io::Result<Self> {
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let lines = waits_for_lines.then(Lines::new).transpose()?;
        Ok(Self { members: FuturesUnordered::new(), lines, bell, waker })
    }

    /// Adds one.
    pub(super) fn add(&mut self, of: T, client: impl Future<Output = ()> + 'a) {
        // All of them are one task of the runtime, which allows one task only so much at once.
        let client = unconstrained(AssertUnwindSafe(client).catch_unwind());
        self.members.push(Box::pin(async { (of, client.await) }));
    }

    /// The next one that ends; none once all have.
    ///
    /// # Errors
    /// When their connections cannot be waited for.
    pub(super) async fn next(&mut self) -> io::Result<Option<(T, Ended)>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, runtime: &mut Context<'_>) -> Poll<io::Result<Option<(T, Ended)>>> {
        let mut known = lock(&self.bell.runtime);
        if !known.as_ref().is_some_and(|known| known.will_wake(runtime.waker())) {
            *known = Some(runtime.waker().clone());
        }
        drop(known);
        self.bell.is_watched.store(true, Ordering::SeqCst);
        let next = self.poll_members(runtime);
        self.bell.is_watched.store(false, Ordering::SeqCst);
        if next.is_pending() && self.bell.has_rung.load(Ordering::SeqCst) {
            // Meanwhile, or because the runtime is to be asked between.
            runtime.waker().wake_by_ref();
        }
        next
    }

    /// Has all go on that can, and waits for connections as long as nothing else is waited for.
    fn poll_members(&mut self, runtime: &mut Context<'_>) -> Poll<io::Result<Option<(T, Ended)>>> {
        let begin = Instant::now();
        loop {
            self.bell.has_rung.store(false, Ordering::SeqCst);
            let mut context = Context::from_waker(&self.waker);
            if let Poll::Ready(next) = Pin::new(&mut self.members).poll_next(&mut context) {
                return Poll::Ready(Ok(next));
            }
            let Some(Lines { reactor, readable }) = &mut self.lines else { return Poll::Pending };
            let is_alone = reactor.awaited() == self.members.len();
            let is_idle = !self.bell.has_rung.load(Ordering::SeqCst)
                && !reactor.wait(if is_alone { LINES_ALONE } else { Duration::ZERO })?
                && !self.bell.has_rung.load(Ordering::SeqCst);
            if is_idle && !is_alone {
                ready!(readable.poll_read_ready(runtime))?.clear_ready();
            } else if begin.elapsed() >= if is_alone { LINES_ALONE } else { WITHOUT_RUNTIME } {
                // It is asked, and then this goes on.
                self.bell.has_rung.store(true, Ordering::SeqCst);
                return Poll::Pending;
            }
        }
    }
}
