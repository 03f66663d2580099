//! Connections that work where they are called, on threads that they share: of SQLite and of DuckDB, which have no servers.
//!
//! A connection has a thread while it works. Beyond a number of threads connections wait for one in their order. Who may hold a lock that
//! others wait for goes first and has some threads more, so that those who wait cannot keep the holder from letting go.
//!
//! Nothing here knows an engine or a statement.

mod at_work;
mod pool;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::Error;
use crate::error::{Attempt, Doing, remedy};

pub(crate) use pool::Pool;

use at_work::Activity;

/// How often something that nobody waits for any more is interrupted until it ends.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(1);

/// A connection `C` that is used on the threads of a pool, and closed with this.
pub(crate) struct Threaded<C: Send + 'static> {
    target: String,
    pool: &'static Pool,
    line: Arc<Line<C>>,
    interrupt: Interrupt,
}

/// Something to be done. It gives what tells whoever waits for it.
type Command<C> = Box<dyn FnOnce(&C) -> Reply + Send>;
type Reply = Box<dyn FnOnce() + Send>;

/// Ends what runs on a connection. It is called only while something runs there, and so while there is one.
pub(crate) type Interrupt = Box<dyn Fn() + Send + Sync>;

/// A connection, and what it has to do.
struct Line<C> {
    state: Mutex<State<C>>,
    /// Rings when a command has ended.
    ended: Condvar,
    /// Whether others may wait for a lock of this connection.
    holds: AtomicBool,
    activity: Arc<Activity>,
}

struct State<C> {
    /// None while a command runs, and once it is closed.
    connection: Option<C>,
    runs: bool,
    commands: VecDeque<Command<C>>,
    /// Whether a thread works on the commands, or is to.
    has_thread: bool,
}

impl<C: Send + 'static> Threaded<C> {
    /// Opens a connection to what is called `target`, on a thread of the pool.
    ///
    /// # Errors
    /// Those of opening, and that there is no thread to be had.
    pub(crate) async fn open(
        pool: &'static Pool,
        target: String,
        open: impl FnOnce(Attempt<'_>) -> Result<(C, Interrupt), Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let (ready, opened) = oneshot::channel();
        let place = target.clone();
        let opening = move || {
            if ready.is_closed() {
                return;
            }
            // One that nobody waits for any more is closed here.
            let _ = ready.send(open(Attempt { doing: Doing::Connect, target: &place }));
        };
        let attempt = Attempt { doing: Doing::Connect, target: &target };
        pool.run(Box::new(opening), false)
            .map_err(|error| Error::Unreachable(attempt.text(error, remedy::THREADS)))?;
        let (connection, interrupt) = opened.await.unwrap_or_else(|_| Err(gone(attempt)))?;
        let state =
            State { connection: Some(connection), runs: false, commands: VecDeque::new(), has_thread: false };
        let line = Line {
            state: Mutex::new(state),
            ended: Condvar::new(),
            holds: AtomicBool::new(false),
            activity: pool.at_work.connect(),
        };
        Ok(Self { target, pool, line: Arc::new(line), interrupt })
    }

    /// Has a thread do something after all that it has to do already, and gives what came of it.
    ///
    /// # Errors
    /// Those of what is done, and that the connection is gone.
    pub(crate) async fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&C, &str) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let target = self.target.clone();
        let sent = self.send(move |connection| work(connection, &target), |result| drop(reply.send(result)));
        let attempt = Attempt { doing: Doing::Connect, target: &self.target };
        if !sent {
            return Err(gone(attempt));
        }
        answer.await.unwrap_or_else(|_| Err(gone(attempt)))
    }

    /// Has a thread do something before anything else that it is given later. Nobody waits for it. What did not begin when the connection
    /// is closed is not done: what was open there ends with it.
    pub(crate) fn leave(&self, work: impl FnOnce(&C) + Send + 'static) {
        let _ = self.send(work, drop);
    }

    /// Whether others may wait for a lock of this connection, from now on.
    pub(crate) fn holds(&self, holds: bool) {
        self.line.holds.store(holds, Ordering::Relaxed);
    }

    /// False if there is no connection any more, or no thread for it.
    fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&C) -> T + Send + 'static,
        done: impl FnOnce(T) + Send + 'static,
    ) -> bool {
        let mut state = self.line.lock();
        if state.connection.is_none() && !state.runs {
            return false;
        }
        state.commands.push_back(Box::new(move |connection| {
            let result = work(connection);
            Box::new(move || done(result))
        }));
        if std::mem::replace(&mut state.has_thread, true) {
            return true;
        }
        drop(state);
        let (line, pool) = (Arc::clone(&self.line), self.pool);
        let is_first = self.line.holds.load(Ordering::Relaxed);
        let has_thread = pool.run(Box::new(move || line.work(pool)), is_first).is_ok();
        if !has_thread {
            let mut state = self.line.lock();
            state.has_thread = false;
            state.commands.clear();
        }
        has_thread
    }
}

impl<C> Line<C> {
    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs all commands that there are.
    fn work(&self, pool: &Pool) {
        loop {
            let mut state = self.lock();
            let Some(command) = state.commands.pop_front() else {
                state.has_thread = false;
                return;
            };
            let Some(connection) = state.connection.take() else {
                state.commands.clear();
                state.has_thread = false;
                return;
            };
            state.runs = true;
            drop(state);
            pool.at_work.begins(&self.activity);
            let ran = catch_unwind(AssertUnwindSafe(|| command(&connection)));
            pool.at_work.ends(&self.activity);
            let mut state = self.lock();
            state.runs = false;
            // After a panic nobody knows what state it is in. Whoever waits for its answer learns that it is gone.
            let (reply, panicked) = match ran {
                Ok(reply) => {
                    state.connection = Some(connection);
                    (Some(reply), None)
                }
                Err(_) => (None, Some(connection)),
            };
            self.ended.notify_all();
            drop(state);
            drop(panicked);
            // Before anybody is told, who may go at once: what is interrupted then would be the closing of the connection.
            if let Some(reply) = reply {
                reply();
            }
        }
    }
}

impl<C: Send + 'static> Drop for Threaded<C> {
    /// Closes the connection, so that its file is nobody's afterwards if this was the last one.
    fn drop(&mut self) {
        let mut state = self.line.lock();
        state.commands.clear();
        // What runs is interrupted again and again: it may be about to begin.
        while state.runs {
            (self.interrupt)();
            let waited = self.line.ended.wait_timeout(state, INTERRUPT_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let connection = state.connection.take();
        drop(state);
        drop(connection);
    }
}

fn gone(attempt: Attempt<'_>) -> Error {
    Error::Lost(attempt.text("the thread of this session has ended", remedy::LOST))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    static POOL: Pool = Pool::new("counting");

    /// A connection that says when it is closed.
    struct Counting {
        done: Cell<u32>,
        closed: Arc<AtomicUsize>,
    }

    impl Drop for Counting {
        fn drop(&mut self) {
            self.closed.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn opened(interrupts: &Arc<AtomicUsize>, closed: &Arc<AtomicUsize>) -> Threaded<Counting> {
        let (interrupts, closed) = (Arc::clone(interrupts), Arc::clone(closed));
        let open = move |_: Attempt<'_>| -> Result<(Counting, Interrupt), Error> {
            let interrupt: Interrupt = Box::new(move || {
                interrupts.fetch_add(1, Ordering::SeqCst);
            });
            Ok((Counting { done: Cell::new(0), closed }, interrupt))
        };
        Threaded::open(&POOL, "a:b".to_owned(), open).await.unwrap()
    }

    /// A replay that was given up opened thousands of connections that nobody waited for.
    #[test]
    fn a_connection_that_nobody_waits_for_is_not_opened() {
        static BUSY: Pool = Pool::new("busy");
        let (gate, opens) = std::sync::mpsc::channel::<()>();
        let opens = Arc::new(Mutex::new(opens));
        for _ in 0..pool::THREADS_MAX {
            let opens = Arc::clone(&opens);
            BUSY.run(Box::new(move || assert!(opens.lock().unwrap().recv().is_err())), false).unwrap();
        }
        let opened = Arc::new(AtomicUsize::new(0));
        let open_one = || {
            let opened = Arc::clone(&opened);
            let open = move |attempt: Attempt<'_>| -> Result<(Counting, Interrupt), Error> {
                opened.fetch_add(1, Ordering::SeqCst);
                Err(gone(attempt))
            };
            Threaded::open(&BUSY, "a:b".to_owned(), open)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let given_up = tokio::time::timeout(Duration::from_millis(1), open_one());
            assert!(given_up.await.is_err());
            drop(gate);
            assert!(open_one().await.is_err());
        });
        assert_eq!(opened.load(Ordering::SeqCst), 1, "only the one that was waited for");
    }

    /// An interrupt that came after an answer had the closing of SQLite leave its log behind.
    #[tokio::test]
    async fn who_goes_with_an_answer_interrupts_nothing() {
        let (interrupts, closed) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        for number in 1..=200 {
            let mut threaded = opened(&interrupts, &closed).await;
            threaded.leave(|counting| counting.done.set(6));
            let done =
                threaded.run(|counting, target| Ok((counting.done.get() + 1, target.to_owned()))).await;
            assert_eq!(done, Ok((7, "a:b".to_owned())));
            drop(threaded);
            assert_eq!(closed.load(Ordering::SeqCst), number, "it is closed once it is dropped");
        }
        assert_eq!(interrupts.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_is_interrupted_until_it_ends() {
        let (interrupts, closed) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let threaded = opened(&interrupts, &closed).await;
        let seen = Arc::clone(&interrupts);
        let (begins, begun) = std::sync::mpsc::channel();
        threaded.leave(move |_| {
            begins.send(()).unwrap();
            while seen.load(Ordering::SeqCst) < 3 {
                std::thread::yield_now();
            }
        });
        begun.recv().unwrap();
        drop(threaded);
        assert!(interrupts.load(Ordering::SeqCst) >= 3);
        assert_eq!(closed.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_cannot_be_opened_says_why() {
        let open = |attempt: Attempt<'_>| -> Result<((), Interrupt), Error> {
            Err(Error::NoDatabase(attempt.text("it is not there", "")))
        };
        let told = Threaded::open(&POOL, "a:b".to_owned(), open).await.map(drop).unwrap_err();
        assert!(matches!(&told, Error::NoDatabase(text) if text.contains("a:b")), "{told}");
    }

    /// What panics has no answer, and the next one is told too; others go on.
    #[tokio::test]
    async fn a_connection_that_panics_is_gone() {
        let (interrupts, closed) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let mut threaded = opened(&interrupts, &closed).await;
        let mut other = opened(&interrupts, &closed).await;
        let panicked = threaded.run(|_, _| -> Result<(), Error> { panic!("as it should") }).await;
        assert!(matches!(&panicked, Err(Error::Lost(_))), "{panicked:?}");
        assert!(matches!(threaded.run(|_, _| Ok(())).await, Err(Error::Lost(_))));
        assert_eq!(other.run(|_, _| Ok(3)).await, Ok(3));
    }
}
