//! A connection that works where it is called, on a thread of its own: of SQLite and of DuckDB, which have no servers.
//!
//! Nothing here knows an engine or a statement.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::Error;
use crate::error::{Attempt, Doing, remedy};

/// How often something that nobody waits for any more is interrupted until it ends.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(1);

/// The thread of a connection `C`, which is opened, used and closed there.
pub(crate) struct Threaded<C: 'static> {
    target: String,
    commands: Option<mpsc::Sender<Command<C>>>,
    thread: Option<JoinHandle<()>>,
    interrupt: Interrupt,
    works: Works,
}

type Command<C> = Box<dyn FnOnce(&C) + Send>;

/// Ends what runs on a connection. It is called only while something is to run there, and so while there is one.
pub(crate) type Interrupt = Box<dyn Fn() + Send + Sync>;

/// How much the thread has to do, also what nobody waits for any more. Who interrupts it holds this, so that the connection is there
/// meanwhile.
#[derive(Clone, Default)]
struct Works(Arc<Mutex<usize>>);

impl Works {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: 'static> Threaded<C> {
    /// Begins a thread of this name that opens a connection to what is called `target`.
    ///
    /// # Errors
    /// Those of opening, and that there is no thread to be had.
    pub(crate) async fn open(
        name: &str,
        target: String,
        open: impl FnOnce(Attempt<'_>) -> Result<(C, Interrupt), Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let (commands, queue) = mpsc::channel::<Command<C>>();
        let (ready, opened) = oneshot::channel();
        let place = target.clone();
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let connection = match open(Attempt { doing: Doing::Connect, target: &place }) {
                Ok((connection, interrupt)) => ready.send(Ok(interrupt)).is_ok().then_some(connection),
                Err(error) => {
                    let _ = ready.send(Err(error));
                    None
                }
            };
            // Nobody waits for one that was not opened.
            let Some(connection) = connection else { return };
            for command in queue {
                command(&connection);
            }
        });
        let attempt = Attempt { doing: Doing::Connect, target: &target };
        let thread = spawned.map_err(|error| Error::Unreachable(attempt.text(error, remedy::THREADS)))?;
        let interrupt = opened.await.unwrap_or_else(|_| Err(gone(attempt)))?;
        let (commands, thread, works) = (Some(commands), Some(thread), Works::default());
        Ok(Self { target, commands, thread, interrupt, works })
    }

    /// Has the thread do something after all that it has to do already, and gives what came of it.
    ///
    /// # Errors
    /// Those of what is done, and that the thread has ended.
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

    /// Has the thread do something before anything else that it is given later. Nobody waits for it. Without its thread the connection is
    /// closed, and what is left open there with it.
    pub(crate) fn leave(&self, work: impl FnOnce(&C) + Send + 'static) {
        let _ = self.send(work, drop);
    }

    /// False if there is no thread any more.
    fn send<T: 'static>(
        &self,
        work: impl FnOnce(&C) -> T + Send + 'static,
        done: impl FnOnce(T) + Send + 'static,
    ) -> bool {
        let works = self.works.clone();
        *works.lock() += 1;
        let command: Command<C> = Box::new(move |connection| {
            let result = work(connection);
            // Before anybody is told, who may go at once: what is interrupted then would be the closing of the connection.
            *works.lock() -= 1;
            done(result);
        });
        self.commands.as_ref().is_some_and(|commands| commands.send(command).is_ok())
    }
}

impl<C: 'static> Drop for Threaded<C> {
    /// Waits until the connection is closed, so that its file is nobody's afterwards if this was the last one.
    fn drop(&mut self) {
        drop(self.commands.take());
        let Some(thread) = self.thread.take() else { return };
        // Only what runs is interrupted, and what nobody waits for may be about to begin: so, again and again.
        loop {
            let works = self.works.lock();
            if *works == 0 || thread.is_finished() {
                break;
            }
            (self.interrupt)();
            drop(works);
            std::thread::sleep(INTERRUPT_INTERVAL);
        }
        // A panic of that thread is one of ours, and was shown when it came.
        let _ = thread.join();
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

    /// A connection that says when it is closed, on its thread.
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
        Threaded::open("counting", "a:b".to_owned(), open).await.unwrap()
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
        threaded.leave(move |_| {
            while seen.load(Ordering::SeqCst) < 3 {
                std::thread::yield_now();
            }
        });
        drop(threaded);
        assert!(interrupts.load(Ordering::SeqCst) >= 3);
        assert_eq!(closed.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_cannot_be_opened_says_why() {
        let open = |attempt: Attempt<'_>| -> Result<((), Interrupt), Error> {
            Err(Error::NoDatabase(attempt.text("it is not there", "")))
        };
        let told = Threaded::open("none", "a:b".to_owned(), open).await.map(drop).unwrap_err();
        assert!(matches!(&told, Error::NoDatabase(text) if text.contains("a:b")), "{told}");
    }
}
