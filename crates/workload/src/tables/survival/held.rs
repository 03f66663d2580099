//! What holds a table that is changed, and how it is killed: a server, or a process of this program.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use database::Error;
use record::Killed;
use tokio::time::sleep;

use super::changing::{READY, Tally, Told, Work, change};
use super::ledger::Changes;
use super::{Break, CHANGES, LOOK, Table, runtime};
use crate::TrialError;

/// How long clients may take to find that they are alone, and a process to end in order.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// A table that clients change.
pub(super) enum Held<'a> {
    Server(Server<'a>),
    Process(Process),
}

impl Held<'_> {
    /// What is killed.
    pub(super) fn killed(&self) -> Killed {
        match self {
            Self::Server(_) => Killed::Server,
            Self::Process(_) => Killed::Program,
        }
    }

    /// Whether clients ended, although nobody killed anything.
    pub(super) fn has_ended(&mut self) -> bool {
        match self {
            Self::Server(server) => server.changing.is_finished(),
            Self::Process(process) => !matches!(process.child.try_wait(), Ok(None)),
        }
    }

    /// Kills what holds the table, and brings it back. Nothing is acknowledged any more then. Gives when it was dead.
    ///
    /// # Errors
    /// What could not be killed, or did not come back.
    pub(super) async fn kill(self) -> Result<Instant, TrialError> {
        match self {
            Self::Server(server) => server.kill().await,
            Self::Process(process) => process.kill(),
        }
    }

    /// Has clients end by themselves, which the tally has told them.
    ///
    /// # Errors
    /// Why they ended already, if so.
    pub(super) async fn end(self) -> Result<(), TrialError> {
        match self {
            Self::Server(server) => Ok(ended(server.changing).await??),
            Self::Process(process) => process.end().await,
        }
    }
}

/// A server, with clients on a thread of their own.
pub(super) struct Server<'a> {
    ask: &'a mut dyn FnMut(Break) -> Result<(), String>,
    changing: JoinHandle<Result<(), Error>>,
}

impl<'a> Server<'a> {
    /// Has clients change the rows of a table that is loaded.
    pub(super) fn begin(
        ask: &'a mut dyn FnMut(Break) -> Result<(), String>,
        table: &Table,
        changes: Changes,
        tally: &Arc<Tally>,
    ) -> Result<Self, TrialError> {
        let (table, counted, runtime) = (table.clone(), Arc::clone(tally), runtime()?);
        let work = move || {
            let told: Told = {
                let counted = Arc::clone(&counted);
                Rc::new(move |client| counted.add(client))
            };
            runtime.block_on(change(&table, changes, &counted.is_over, told))
        };
        let changing = std::thread::Builder::new().name("changes".to_owned()).spawn(work);
        let changing = changing.map_err(|error| no_thread(&error))?;
        tally.has_begun.store(true, Ordering::Relaxed);
        Ok(Self { ask, changing })
    }

    async fn kill(self) -> Result<Instant, TrialError> {
        (self.ask)(Break::Kill)
            .map_err(|why| TrialError::Load(format!("the server could not be killed: {why}")))?;
        let dead = Instant::now();
        // It comes back whatever became of the clients: the next trial wants it.
        let ended = ended(self.changing).await;
        (self.ask)(Break::StartAgain).map_err(|why| {
            TrialError::Load(format!("the server did not come back after it was killed with -9: {why}"))
        })?;
        // How they ended is what the kill did.
        ended.map(|_| dead)
    }
}

/// What a thread of clients came to, once it has ended.
async fn ended(changing: JoinHandle<Result<(), Error>>) -> Result<Result<(), Error>, TrialError> {
    let begin = Instant::now();
    while !changing.is_finished() {
        if begin.elapsed() > ENDS_WITHIN {
            let words = format!("clients that changed rows did not end within {} s", ENDS_WITHIN.as_secs());
            return Err(TrialError::Load(words));
        }
        sleep(LOOK).await;
    }
    changing.join().map_err(|_| {
        TrialError::Load("a client that changed rows ended unexpectedly. This is a bug in prony".to_owned())
    })
}

fn no_thread(error: &std::io::Error) -> TrialError {
    TrialError::Load(format!("cannot make a thread for changes: {error}"))
}

/// A process of this program that has the table within it.
pub(super) struct Process {
    child: Child,
    /// It ends when this is closed, also where this process is killed itself.
    input: Option<ChildStdin>,
    reading: Option<JoinHandle<()>>,
}

impl Process {
    /// Begins one, which makes and loads the table, and changes it.
    pub(super) fn begin(program: &Path, table: &Table, tally: &Arc<Tally>) -> Result<Self, TrialError> {
        let fault = |error: std::io::Error| {
            TrialError::Load(format!("cannot run {} once more: {error}", program.display()))
        };
        let work = Work { job: table.job.clone(), lease: table.lease.clone() };
        let work = serde_json::to_string(&work).map_err(|error| fault(error.into()))?;
        let mut command = Command::new(program);
        command.arg(CHANGES).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(fault)?;
        let mut process = Self { child, input: None, reading: None };
        let (input, output) = (process.child.stdin.take(), process.child.stdout.take());
        let (Some(mut input), Some(output)) = (input, output) else { unreachable!("both are piped") };
        // One that has ended already says why.
        let _ = input
            .write_all(work.as_bytes())
            .and_then(|()| input.write_all(b"\n"))
            .and_then(|()| input.flush());
        process.input = Some(input);
        let tally = Arc::clone(tally);
        let read = move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                match line.parse() {
                    Ok(client) => tally.add(client),
                    Err(_) if line == READY => tally.has_begun.store(true, Ordering::Relaxed),
                    Err(_) => {}
                }
            }
        };
        let reading = std::thread::Builder::new().name("changes".to_owned()).spawn(read);
        process.reading = Some(reading.map_err(|error| no_thread(&error))?);
        Ok(process)
    }

    /// What it said before it was killed is read to its end: it had been acknowledged.
    fn kill(mut self) -> Result<Instant, TrialError> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map_err(|error| {
            TrialError::Load(format!("the process with the table could not be killed: {error}"))
        })?;
        let dead = Instant::now();
        self.read_to_end().map(|()| dead)
    }

    fn read_to_end(&mut self) -> Result<(), TrialError> {
        let read = self.reading.take().map_or(Ok(()), JoinHandle::join);
        read.map_err(|_| {
            TrialError::Load("the output of the process that changes the table could not be read".to_owned())
        })
    }

    async fn end(mut self) -> Result<(), TrialError> {
        self.input = None;
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if begin.elapsed() < ENDS_WITHIN => sleep(LOOK).await,
                Ok(None) => return self.kill().map(drop),
                Err(error) => {
                    return Err(TrialError::Load(format!("a process could not be waited for: {error}")));
                }
            }
        };
        self.read_to_end()?;
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        // Nothing said is said so.
        let _ = self.child.stderr.take().map(|mut errors| errors.read_to_string(&mut said));
        Err(TrialError::Load(format!("the process that changes the table ended ({status}): {}", said.trim())))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody is left who could be told; one that has ended is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
