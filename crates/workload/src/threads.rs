//! Those who make a load: each on a thread of its own, or all of them on one thread in simulated time.
//!
//! Each first connects and says that it is ready; all of them begin at one moment. They wait only by tokio's clock or by
//! [`Clock`], so that the same code runs in both.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, watch};

use crate::TrialError;
use crate::clock::Clock;
use crate::timer::Kept;

/// Who works on a thread.
pub(crate) trait Worker: Clone + PartialEq + Send + 'static {
    /// Name of the thread.
    fn thread(&self) -> String;

    /// As a sentence calls it.
    fn called(&self) -> String;

    /// What to have less of where threads are scarce, if anything.
    fn use_fewer(&self) -> &'static str {
        ""
    }

    /// Whether its CPU time is that of the load.
    fn makes_load(&self) -> bool {
        true
    }

    /// It is over, and should not be.
    fn gone(&self) -> TrialError {
        TrialError::Load(format!("{} ended unexpectedly; this is a bug in prony", self.called()))
    }

    /// It could not begin.
    fn not_started(&self, error: &std::io::Error) -> TrialError {
        TrialError::Load(format!(
            "cannot start a thread for {}: {error}; {}let this user have more threads and memory (`ulimit -u`, `ulimit -v`)",
            self.called(),
            self.use_fewer()
        ))
    }
}

/// The running threads, as a controller sees them.
pub(crate) struct Threads<W: Worker> {
    messages: mpsc::UnboundedReceiver<Message<W>>,
    sender: mpsc::UnboundedSender<Message<W>>,
    begin: watch::Sender<Option<Clock>>,
    threads: Vec<JoinHandle<()>>,
    /// Workers that have not ended.
    left: Vec<W>,
    makers: LoadThreads,
    /// Has all of them stop at once.
    end: Box<dyn Fn()>,
    simulated: bool,
}

/// Kernel's numbers of the threads that make the load; none in simulated time.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadThreads(Arc<Mutex<Vec<i32>>>);

/// A worker's way to its beginning.
#[derive(Debug)]
pub(crate) struct Gate<W> {
    messages: mpsc::UnboundedSender<Message<W>>,
    begin: watch::Receiver<Option<Clock>>,
}

/// How a worker ended.
pub(crate) type Ended<W> = (W, Result<(), TrialError>);

#[derive(Debug)]
enum Message<W> {
    /// It is connected.
    Ready,
    /// It is over; told once by each, whatever happened.
    Ended(Ended<W>),
}

/// Tells that a worker is over, also if it panics.
struct LastWords<W: Worker> {
    worker: W,
    messages: mpsc::UnboundedSender<Message<W>>,
    result: Option<Result<(), TrialError>>,
}

impl<W: Worker> Threads<W> {
    /// None yet; `end` has everybody stop, whatever they are doing.
    pub(crate) fn new(simulated: bool, end: impl Fn() + 'static) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        Self {
            messages,
            sender,
            begin: watch::Sender::new(None),
            threads: Vec::new(),
            left: Vec::new(),
            makers: LoadThreads::default(),
            end: Box::new(end),
            simulated,
        }
    }

    /// Has a worker connect; it begins with [`Threads::begin`].
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub(crate) fn start<F: Future<Output = Result<(), TrialError>> + 'static>(
        &mut self,
        worker: W,
        work: impl FnOnce(Gate<W>) -> F + Send + 'static,
    ) -> Result<(), TrialError> {
        let gate = Gate { messages: self.sender.clone(), begin: self.begin.subscribe() };
        let messages = self.sender.clone();
        let last_words = LastWords { worker: worker.clone(), messages, result: None };
        if self.simulated {
            tokio::task::spawn_local(last_words.after(work(gate)));
        } else {
            let makers = self.makers.clone();
            let on_thread = move || last_words.on_this_thread(&makers, || work(gate));
            let thread = std::thread::Builder::new().name(worker.thread()).spawn(on_thread);
            self.threads.push(thread.map_err(|error| worker.not_started(&error))?);
        }
        self.left.push(worker);
        Ok(())
    }

    /// Awaits everybody's connection.
    ///
    /// # Errors
    /// The first one's that could not be made.
    pub(crate) async fn ready(&mut self) -> Result<(), TrialError> {
        for _ in 0..self.left.len() {
            match self.messages.recv().await {
                Some(Message::Ready) => {}
                Some(Message::Ended((_, Err(error)))) => return Err(error),
                Some(Message::Ended((worker, Ok(())))) => return Err(worker.gone()),
                None => unreachable!("a sender is held here"),
            }
        }
        Ok(())
    }

    /// The load begins now, for all at once.
    pub(crate) fn begin(&self) -> Clock {
        let clock = Clock::starting_now(self.simulated);
        self.begin.send_replace(Some(clock));
        clock
    }

    /// Waits until another one has ended.
    pub(crate) async fn ended(&mut self) -> Ended<W> {
        loop {
            let Some(Message::Ended((worker, result))) = self.messages.recv().await else { continue };
            if let Some(position) = self.left.iter().position(|left| *left == worker) {
                self.left.swap_remove(position);
            }
            return (worker, result);
        }
    }

    /// Whether one like this still runs.
    pub(crate) fn runs(&self, worker: &W) -> bool {
        self.left.contains(worker)
    }

    /// Whether all have ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn makers(&self) -> LoadThreads {
        self.makers.clone()
    }
}

impl<W: Worker> Drop for Threads<W> {
    /// Waits for the threads. Who was not begun ends because nobody can begin it any more, others because they are told to:
    /// whoever conducted them may have left by an error.
    fn drop(&mut self) {
        if !self.all_ended() {
            (self.end)();
        }
        drop(std::mem::replace(&mut self.begin, watch::Sender::new(None)));
        for thread in self.threads.drain(..) {
            // A panic was told by the last words.
            let _ = thread.join();
        }
    }
}

impl<W: Worker> Gate<W> {
    /// Says that everything is ready, and waits for the load to begin; none if it never does.
    pub(crate) async fn pass(mut self) -> Option<Clock> {
        self.messages.send(Message::Ready).ok()?;
        *self.begin.wait_for(Option::is_some).await.ok()?
    }
}

impl<W: Worker> LastWords<W> {
    async fn after(mut self, work: impl Future<Output = Result<(), TrialError>>) {
        self.result = Some(work.await);
    }

    fn on_this_thread<F: Future<Output = Result<(), TrialError>>>(
        mut self,
        makers: &LoadThreads,
        work: impl FnOnce() -> F,
    ) {
        // Made here: where a thread cannot be had, a runtime could not be dropped within the one that waits.
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => {
                if self.worker.makes_load() {
                    makers.lock().push(rustix::thread::gettid().as_raw_nonzero().get());
                }
                runtime.block_on(async {
                    let _timers = Kept::here();
                    self.after(work()).await;
                });
            }
            Err(error) => self.result = Some(Err(self.worker.not_started(&error))),
        }
    }
}

impl<W: Worker> Drop for LastWords<W> {
    fn drop(&mut self) {
        let result = self.result.take().unwrap_or_else(|| Err(self.worker.gone()));
        // Once the controller has left, nobody needs to know.
        let _ = self.messages.send(Message::Ended((self.worker.clone(), result)));
    }
}

impl LoadThreads {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<i32>> {
        load::lock(&self.0)
    }
}
