//! Load threads, each with its share of the clients.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::Instant;

use super::running::{Running, lock};
use super::user::{Place, User};
use crate::TrialError;
use crate::clock::Clock;
use crate::orders::store::Client;

/// Time between two looks at what the user wants.
const LOOK: Duration = Duration::from_millis(100);

/// Connections that a thread makes at once: a server that has to let in a thousand together answers some of them too late.
const CONNECTING: usize = 16;

/// Files that are open beside the connections.
const OTHER_FILES: u64 = 64;

/// The running threads, as the controller sees them.
#[derive(Debug)]
pub(super) struct Threads {
    messages: mpsc::UnboundedReceiver<Message>,
    begin: watch::Sender<Option<Instant>>,
    threads: Vec<JoinHandle<()>>,
    running: usize,
    all: Arc<Running>,
}

/// What a thread tells.
#[derive(Debug)]
enum Message {
    /// All of its clients are connected.
    Connected,
    /// One of its clients could not be connected.
    Failed(TrialError),
    /// It has ended; told once by each thread, also if it panics.
    Ended,
}

/// Tells that a thread has ended, also if it panics.
struct LastWord(mpsc::UnboundedSender<Message>);

impl Drop for LastWord {
    fn drop(&mut self) {
        // Once the controller has left, nobody needs to know.
        let _ = self.0.send(Message::Ended);
    }
}

impl Threads {
    /// Starts as many threads as there are processors, or clients if these are fewer. Clients connect; none orders before
    /// [`Threads::begin`].
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub(super) fn start(running: &Arc<Running>) -> Result<Self, TrialError> {
        let places = places(running);
        allow_files(places.len() as u64)?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let count = processors.min(places.len());
        let (sender, messages) = mpsc::unbounded_channel();
        let (begin, begun) = watch::channel(None);
        let mut all = Self {
            messages,
            begin,
            threads: Vec::with_capacity(count),
            running: 0,
            all: Arc::clone(running),
        };
        for number in 0..count {
            let own: Vec<Place> = places.iter().skip(number).step_by(count).copied().collect();
            let (running, begun, last_word) = (Arc::clone(running), begun.clone(), LastWord(sender.clone()));
            let thread = std::thread::Builder::new().name(format!("orders-{number}"));
            let work = move || {
                // Made here: where a thread cannot be had, a runtime could not be dropped within the one that waits.
                let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime,
                    Err(error) => {
                        let _ = last_word.0.send(Message::Failed(not_started(&error)));
                        return;
                    }
                };
                lock(&running.threads).push(rustix::thread::gettid().as_raw_nonzero().get());
                LocalSet::new().block_on(&runtime, drive(&running, &own, begun, &last_word.0));
                drop(last_word);
            };
            all.threads.push(thread.spawn(work).map_err(|error| not_started(&error))?);
            all.running += 1;
        }
        Ok(all)
    }

    /// Awaits every client's connection.
    ///
    /// # Errors
    /// The first one's that could not be made, and when the user ends it.
    pub(super) async fn connected(&mut self, stop: &AtomicBool) -> Result<(), TrialError> {
        let mut connected = 0;
        while connected < self.running {
            let message = tokio::select! {
                message = self.messages.recv() => message,
                () = tokio::time::sleep(LOOK) => {
                    if stop.load(Ordering::Relaxed) {
                        return Err(TrialError::Interrupted);
                    }
                    continue;
                }
            };
            match message {
                Some(Message::Connected) => connected += 1,
                Some(Message::Failed(error)) => return Err(error),
                Some(Message::Ended) | None => {
                    return Err(TrialError::Load(
                        "a load thread ended unexpectedly; this is a mistake of prony's".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The load begins now, for all clients at once.
    pub(super) fn begin(&self) -> Clock {
        let begin = Instant::now();
        self.begin.send_replace(Some(begin));
        Clock::starting_at(begin)
    }

    /// Waits until another thread has ended.
    pub(super) async fn ended(&mut self) {
        if let Some(Message::Ended) = self.messages.recv().await {
            self.running -= 1;
        }
    }

    /// Whether all have ended.
    pub(super) fn all_ended(&self) -> bool {
        self.running == 0
    }
}

impl Drop for Threads {
    /// Waits for the threads. Clients that were not begun end because nobody can begin them any more, others because they are
    /// told to: whoever conducted them may have left by an error.
    fn drop(&mut self) {
        if !self.all_ended() {
            self.all.load_over.set();
            self.all.over.set();
        }
        let (begin, _) = watch::channel(None);
        drop(std::mem::replace(&mut self.begin, begin));
        for thread in self.threads.drain(..) {
            // A panic was told where it was noticed: by the thread that ended too early.
            let _ = thread.join();
        }
    }
}

fn not_started(error: &std::io::Error) -> TrialError {
    TrialError::Load(format!(
        "cannot start a load thread: {error}; let this user have more threads and memory (`ulimit -u`, `ulimit -v`)"
    ))
}

/// Lets this process open a connection for each client. A file of SQLite is three: itself, its log and the log's index.
fn allow_files(clients: u64) -> Result<(), TrialError> {
    let (least, enough) = (clients + OTHER_FILES, 3 * clients + OTHER_FILES);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if limit.current.is_none_or(|current| current >= enough) {
        return Ok(());
    }
    let current = limit.maximum.map_or(enough, |maximum| maximum.min(enough));
    if current < least {
        return Err(TrialError::Load(format!(
            "{clients} clients need a connection each, and this process may open {current} files: raise the limit (`ulimit -n`), \
             or give fewer {}",
            crate::orders::parameter("n_threads")
        )));
    }
    let raised = rustix::process::Rlimit { current: Some(current), ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).map_err(|error| {
        TrialError::Load(format!("cannot raise the limit of open files to {current}: {error}"))
    })
}

/// Every client, a store after the other, so that each thread has clients of each store.
fn places(running: &Running) -> Vec<Place> {
    let clients = 0..running.job.n_threads;
    clients.flat_map(|client| (0..running.stores.len()).map(move |store| Place { store, client })).collect()
}

/// Connects clients, and drives them from the beginning of the load to its end.
async fn drive(
    running: &Arc<Running>,
    places: &[Place],
    mut begun: watch::Receiver<Option<Instant>>,
    messages: &mpsc::UnboundedSender<Message>,
) {
    let connected = tokio::select! {
        biased;
        connected = connect(running, places) => connected,
        // A client may wait for a server that says nothing.
        () = running.over.wait() => return,
    };
    let clients = match connected {
        Ok(clients) => clients,
        Err(error) => {
            let _ = messages.send(Message::Failed(error));
            return;
        }
    };
    let _ = messages.send(Message::Connected);
    let Ok(begin) = begun.wait_for(Option::is_some).await.map(|begin| *begin) else { return };
    let Some(clock) = begin.map(Clock::starting_at) else { return };
    let mut users = JoinSet::new();
    let mut places = HashMap::with_capacity(clients.len());
    for (place, client) in clients {
        let user = users.spawn_local(User::new(Arc::clone(running), place, clock, client).run());
        places.insert(user.id(), place);
    }
    while let Some(ended) = users.join_next_with_id().await {
        let Err(panic) = ended else { continue };
        let Some(place) = places.get(&panic.id()) else { continue };
        let client = place.client + 1;
        let mut books = running.stores[place.store].books();
        books.stopped.push(format!("client {client} ended by a mistake of prony's: {panic}"));
        // What it was doing is not known.
        books.unanswered += 1;
    }
}

async fn connect(running: &Arc<Running>, places: &[Place]) -> Result<Vec<(Place, Client)>, TrialError> {
    let mut connecting = JoinSet::new();
    let mut clients = Vec::with_capacity(places.len());
    let mut left = places.iter();
    loop {
        while connecting.len() < CONNECTING
            && let Some(&place) = left.next()
        {
            let running = Arc::clone(running);
            connecting.spawn_local(async move {
                let client = running.stores[place.store].client(running.job.n_threads).await?;
                Ok::<_, database::Error>((place, client))
            });
        }
        let Some(connected) = connecting.join_next().await else { return Ok(clients) };
        let connected =
            connected.map_err(|panic| TrialError::Load(format!("cannot connect a client: {panic}")))?;
        clients.push(connected?);
    }
}
