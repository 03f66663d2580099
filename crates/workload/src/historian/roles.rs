//! The roles of a trial, each on a thread of its own, or all of them on one thread in simulated time.
//!
//! Each role first makes its connection and says that it is ready; all of them begin at one moment. A role waits only by
//! tokio's clock, so that the same code runs in both.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::job::{Maintenance, Readers};
use super::maintenance::Keeper;
use super::reader::Reader;
use super::running::Running;
use super::source::Source;
use super::writer::Writer;
use crate::TrialError;
use crate::clock::Clock;

/// Time between two looks at the size of the database.
const SIZES_INTERVAL: Duration = Duration::from_secs(10);

/// What a role does.
#[derive(Debug)]
pub(crate) enum Role {
    Source(Box<Source>),
    Writer,
    Reader(Readers),
    Keeper(Maintenance),
    /// Looks at the size of the database.
    Sampler,
}

/// What a role is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Source,
    Writer,
    Reader,
    Keeper,
    Sampler,
}

/// What a role tells the controller.
#[derive(Debug)]
pub(crate) enum Message {
    /// It is connected.
    Ready,
    /// It is over; told once by each role, whatever happened.
    Ended(Name, Result<(), TrialError>),
}

/// The running roles, as the controller sees them.
#[derive(Debug)]
pub(crate) struct Roles {
    pub(crate) messages: mpsc::UnboundedReceiver<Message>,
    begin: watch::Sender<Option<Instant>>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// Roles that have not ended, by their names.
    left: Vec<Name>,
    running: Arc<Running>,
}

/// A role's way to its beginning.
#[derive(Debug)]
struct Gate {
    messages: mpsc::UnboundedSender<Message>,
    begin: watch::Receiver<Option<Instant>>,
}

/// Tells the controller that a role is over, also if it panics.
struct LastWords {
    name: Name,
    messages: mpsc::UnboundedSender<Message>,
    result: Option<Result<(), TrialError>>,
}

impl Roles {
    /// Starts every role; none begins before [`Roles::begin`].
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub(crate) fn start(
        running: &Arc<Running>,
        roles: Vec<Role>,
        simulated: bool,
    ) -> Result<Self, TrialError> {
        let (sender, messages) = mpsc::unbounded_channel();
        let (begin, begun) = watch::channel(None);
        let mut all =
            Self { messages, begin, threads: Vec::new(), left: Vec::new(), running: Arc::clone(running) };
        for role in roles {
            let name = role.name();
            let gate = Gate { messages: sender.clone(), begin: begun.clone() };
            let running = Arc::clone(running);
            if simulated {
                tokio::task::spawn_local(role.play(running, gate));
            } else {
                all.threads.push(on_thread(name, role, running, gate)?);
            }
            all.left.push(name);
        }
        Ok(all)
    }

    /// Awaits every role's connection.
    ///
    /// # Errors
    /// The first one's that could not be made.
    pub(crate) async fn ready(&mut self) -> Result<(), TrialError> {
        for _ in 0..self.left.len() {
            match self.messages.recv().await {
                Some(Message::Ready) => {}
                Some(Message::Ended(_, Err(error))) => return Err(error),
                Some(Message::Ended(name, Ok(()))) => return Err(name.gone()),
                None => {
                    return Err(TrialError::Load("no role is left; this is a mistake of prony's".to_owned()));
                }
            }
        }
        Ok(())
    }

    /// The load begins now, for all roles at once.
    pub(crate) fn begin(&self) -> Clock {
        let begin = Instant::now();
        self.begin.send_replace(Some(begin));
        Clock::starting_at(begin)
    }

    /// A role has ended.
    pub(crate) fn ended(&mut self, name: Name) {
        if let Some(position) = self.left.iter().position(|left| *left == name) {
            self.left.swap_remove(position);
        }
    }

    /// Whether a role of this name still runs.
    pub(crate) fn runs(&self, name: Name) -> bool {
        self.left.contains(&name)
    }

    /// Whether all have ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.left.is_empty()
    }
}

impl Drop for Roles {
    /// Waits for the threads. Roles that were not begun end because nobody can begin them any more, others because they are
    /// told to: whoever conducted them may have left by an error.
    fn drop(&mut self) {
        if !self.all_ended() {
            self.running.end();
        }
        let (begin, _) = watch::channel(None);
        drop(std::mem::replace(&mut self.begin, begin));
        for thread in self.threads.drain(..) {
            // A panic was told by the role's last words.
            let _ = thread.join();
        }
    }
}

impl Name {
    fn thread(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Keeper => "maintenance",
            Self::Sampler => "sizes",
        }
    }

    /// Whether its CPU time is that of the load. Looking at sizes is not part of the load.
    fn makes_load(self) -> bool {
        self != Self::Sampler
    }

    fn gone(self) -> TrialError {
        TrialError::Load(format!("the {} ended unexpectedly; this is a mistake of prony's", self.thread()))
    }
}

impl Role {
    fn name(&self) -> Name {
        match self {
            Self::Source(_) => Name::Source,
            Self::Writer => Name::Writer,
            Self::Reader(_) => Name::Reader,
            Self::Keeper(_) => Name::Keeper,
            Self::Sampler => Name::Sampler,
        }
    }

    async fn play(self, running: Arc<Running>, gate: Gate) {
        let mut last_words = LastWords { name: self.name(), messages: gate.messages.clone(), result: None };
        let result = tokio::select! {
            biased;
            result = self.act(&running, gate) => result,
            () = running.over.wait() => Ok(()),
        };
        last_words.result = Some(result);
    }

    async fn act(self, running: &Arc<Running>, gate: Gate) -> Result<(), TrialError> {
        if let Self::Source(mut source) = self {
            source.connect().await?;
            let Some(clock) = gate.pass().await else { return Ok(()) };
            return source.run(running, clock).await;
        }
        let session = running.session().await?;
        let Some(clock) = gate.pass().await else { return Ok(()) };
        let running = Arc::clone(running);
        match self {
            Self::Source(_) => {}
            Self::Writer => Writer::new(running, clock, session).run().await,
            Self::Reader(readers) => Reader::new(running, readers, clock, session).run().await,
            Self::Keeper(maintenance) => Keeper::new(running, maintenance, clock, session).run().await,
            Self::Sampler => sample_sizes(&running, clock, session).await,
        }
        Ok(())
    }
}

impl Gate {
    /// Says that the role is ready, and waits for the load to begin; none if it never does.
    async fn pass(mut self) -> Option<Clock> {
        self.messages.send(Message::Ready).ok()?;
        let begin = *self.begin.wait_for(Option::is_some).await.ok()?;
        begin.map(Clock::starting_at)
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        let result = self.result.take().unwrap_or_else(|| Err(self.name.gone()));
        // Once the controller has left, nobody needs to know.
        let _ = self.messages.send(Message::Ended(self.name, result));
    }
}

fn on_thread(
    name: Name,
    role: Role,
    running: Arc<Running>,
    gate: Gate,
) -> Result<std::thread::JoinHandle<()>, TrialError> {
    let failed = move |error: std::io::Error| {
        TrialError::Load(format!(
            "cannot start a thread for the {}: {error}; use fewer writers, or let this user have more threads and memory \
             (`ulimit -u`, `ulimit -v`)",
            name.thread()
        ))
    };
    std::thread::Builder::new()
        .name(format!("historian-{}", name.thread()))
        .spawn(move || {
            // Made here: where a thread cannot be had, a runtime could not be dropped within the one that waits.
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = gate.messages.send(Message::Ended(name, Err(failed(error))));
                    return;
                }
            };
            if name.makes_load() {
                running.measured().threads.push(rustix::thread::gettid().as_raw_nonzero().get());
            }
            runtime.block_on(role.play(running, gate));
        })
        .map_err(failed)
}

/// Looks at the sizes of the database again and again until the load ends.
async fn sample_sizes(running: &Running, clock: Clock, session: database::Session) {
    let mut session = Some(session);
    loop {
        let sizes = match &mut session {
            Some(session) => session.sizes().await,
            None => match running.session().await {
                Ok(opened) => session.insert(opened).sizes().await,
                Err(error) => Err(error),
            },
        };
        match sizes {
            Ok(sizes) => running.measured().sizes.push((clock.now_ns(), sizes)),
            // Sizes are missing while the database is away, which the outage tells.
            Err(_) => session = None,
        }
        tokio::select! {
            () = tokio::time::sleep(SIZES_INTERVAL) => {}
            () = running.load_over.wait() => return,
        }
    }
}
