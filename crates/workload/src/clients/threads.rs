//! Load threads, each with its share of the clients.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::task::{JoinSet, LocalSet};

use super::affinity::{self, Host};
use super::crew::{Crew, Event};
use super::shared::Clients;
use super::turns::{Rests, Turns};
use super::{Client, Place};
use crate::clock::Clock;
use crate::threads::{Gate, Threads, Worker};
use crate::{TrialError, timer};

/// Connections that a thread makes at once: a server that has to let in a thousand together answers some of them too late.
const CONNECTING: usize = 16;

/// Files that are open beside the connections.
const OTHER_FILES: u64 = 64;
/// Those of a load thread: what its runtime and its reactor wait by.
const OF_THREAD: u64 = 8;

/// A load thread, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoadThread(usize);

impl Worker for LoadThread {
    fn thread(&self) -> String {
        format!("clients-{}", self.0)
    }

    fn called(&self) -> String {
        format!("load thread {}", self.0 + 1)
    }
}

/// Starts as many threads as there are processors, or clients if these are fewer; one in simulated time. Clients connect;
/// none begins before they all are told to.
///
/// # Errors
/// When a thread cannot be had.
pub(super) fn start<C: Client>(
    load: &Arc<C::Load>,
    clients: &Arc<Clients>,
    simulated: bool,
) -> Result<Threads<LoadThread>, TrialError> {
    let places = places(clients);
    let count = if simulated { 1 } else { load_threads(places.len()) };
    if !simulated {
        let connections = clients.connections.map_or(places.len() as u64, u64::from);
        allow_files(connections, count, &clients.names.clients)?;
    }
    let ending = Arc::clone(clients);
    let mut threads = Threads::new(simulated, move || {
        ending.load_over.set();
        ending.over.set();
    });
    let of_thread = |number: usize| places.iter().skip(number).step_by(count);
    let hosts = affinity::hosts((0..count).map(|number| of_thread(number).count()));
    for (number, host) in hosts.into_iter().enumerate() {
        let lane = number % clients.lanes();
        let own = of_thread(number).map(|&place| Place { lane, ..place }).collect();
        let may_move = C::WAITS_FOR_LINES && count > 1 && clients.schedule.never_rests();
        let (load, clients) = (Arc::clone(load), Arc::clone(clients));
        let share = Share::<C> { load, clients, own, lane, host, may_move };
        threads.start(LoadThread(number), move |gate| async move {
            LocalSet::new().run_until(share.drive(gate)).await
        })?;
    }
    Ok(threads)
}

/// What a load thread drives.
struct Share<C: Client> {
    load: Arc<C::Load>,
    clients: Arc<Clients>,
    /// Its clients, at first.
    own: Vec<Place>,
    lane: usize,
    host: Host<Box<Turns<C>>>,
    /// Whether clients may go on on other threads.
    may_move: bool,
}

/// Load threads of so many clients.
pub(super) fn load_threads(clients: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(clients)
}

/// Lets this process open a connection for each client, on so many threads. A file of SQLite is three: itself, its log and the log's index; what
/// is left is for timers.
fn allow_files(clients: u64, threads: usize, parameter: &str) -> Result<(), TrialError> {
    let others = OTHER_FILES + OF_THREAD * threads as u64;
    let (least, enough) = (clients + others, 4 * clients + others);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let timers =
        |current: u64| timer::allow(usize::try_from(current.saturating_sub(least)).unwrap_or(usize::MAX));
    if limit.current.is_none_or(|current| current >= enough) {
        timers(limit.current.unwrap_or(u64::MAX));
        return Ok(());
    }
    let current = limit.maximum.map_or(enough, |maximum| maximum.min(enough));
    if current < least {
        return Err(TrialError::Load(format!(
            "{clients} clients need a connection each, but this process may open only {current} files: raise the limit (`ulimit -n`), \
             or give fewer {parameter}"
        )));
    }
    let raised = rustix::process::Rlimit { current: Some(current), ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).map_err(|error| {
        TrialError::Load(format!("cannot raise the limit of open files to {current}: {error}"))
    })?;
    timers(current);
    Ok(())
}

/// Every client, a part after the other, so that each thread has clients of each part.
fn places(clients: &Clients) -> Vec<Place> {
    let parts = clients.parts.len();
    let numbers = 0..clients.schedule.clients;
    numbers.flat_map(|client| (0..parts).map(move |part| Place { part, client, lane: 0 })).collect()
}

impl<C: Client> Share<C> {
    /// Connects clients, and drives them from the beginning of the load to its end.
    async fn drive(self, gate: Gate<LoadThread>) -> Result<(), TrialError> {
        let clients = &self.clients;
        let connected = tokio::select! {
            biased;
            connected = connect::<C>(&self.load, &self.own) => connected?,
            // A client may wait for a server that says nothing.
            () = clients.over.wait() => return Ok(()),
        };
        let Some(clock) = gate.pass().await else { return Ok(()) };
        let mut running = Crew::new(C::WAITS_FOR_LINES).map_err(no_reactor)?;
        self.host.call_by(running.caller());
        let from_ns = clients.schedule.ramp().ns;
        for (place, client) in connected {
            let whereabouts = self.may_move.then(|| self.host.whereabouts(from_ns));
            running.add(place, Turns::new(Arc::clone(clients), (place, whereabouts), clock, client).run());
        }
        loop {
            if let Some(event) = running.next().await.map_err(no_reactor)? {
                self.answer(event, (&mut running, clock));
                continue;
            }
            let arrived = tokio::select! {
                biased;
                arrived = self.host.arrived_or_over() => arrived,
                () = clients.over.wait() => return Ok(()),
            };
            if arrived.is_empty() {
                return Ok(());
            }
            self.take_in(arrived, (&mut running, clock));
        }
    }

    fn answer(&self, event: Event<Place, Rests<C>>, running: (&mut Crew<'_, Place, Rests<C>>, Clock)) {
        match event {
            Event::Called => self.take_in(self.host.arrived(), running),
            Event::Ended(_, Ok(Rests::Over)) => self.host.ended(),
            Event::Ended(_, Ok(Rests::Moves { turns, to })) => match self.host.give(turns, to) {
                Ok(()) => _ = self.clients.moved.fetch_add(1, Ordering::Relaxed),
                Err(turns) => self.take_in(vec![turns], running),
            },
            Event::Ended(place, Err(panic)) => {
                self.clients.parts[place.part].panicked(place.client, &panic);
                self.host.ended();
            }
        }
    }

    /// Has clients go on on this thread.
    fn take_in(
        &self,
        arrived: Vec<Box<Turns<C>>>,
        (running, clock): (&mut Crew<'_, Place, Rests<C>>, Clock),
    ) {
        for mut turns in arrived {
            turns.go_on_at(&self.host, self.lane, clock.now_ns());
            running.add(turns.place(), turns.run());
        }
    }
}

fn no_reactor(error: std::io::Error) -> TrialError {
    TrialError::Load(format!("cannot wait for connections: {error}"))
}

async fn connect<C: Client>(load: &Arc<C::Load>, places: &[Place]) -> Result<Vec<(Place, C)>, TrialError> {
    let mut connecting = JoinSet::new();
    let mut connected = Vec::with_capacity(places.len());
    let mut left = places.iter();
    loop {
        while connecting.len() < CONNECTING
            && let Some(&place) = left.next()
        {
            let load = Arc::clone(load);
            connecting
                .spawn_local(async move { C::connect(&load, place).await.map(|client| (place, client)) });
        }
        let Some(next) = connecting.join_next().await else { return Ok(connected) };
        let next = next.map_err(|panic| TrialError::Load(format!("cannot connect a client: {panic}")))?;
        connected.push(next?);
    }
}
