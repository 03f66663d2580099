//! Load threads, each with its share of the clients.

use std::sync::Arc;

use tokio::task::{JoinSet, LocalSet};

use super::affinity::{Affinity, Whereabouts};
use super::crew::{Crew, Event};
use super::shared::Clients;
use super::turns::{Rests, Turns};
use super::{Client, Place};
use crate::TrialError;
use crate::clock::Clock;
use crate::threads::{Gate, Threads, Worker};

/// Connections that a thread makes at once: a server that has to let in a thousand together answers some of them too late.
const CONNECTING: usize = 16;

/// Files that are open beside the connections.
const OTHER_FILES: u64 = 64;

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
        allow_files(connections, &clients.names.clients)?;
    }
    let ending = Arc::clone(clients);
    let mut threads = Threads::new(simulated, move || {
        ending.load_over.set();
        ending.over.set();
    });
    let of_thread = |number: usize| places.iter().skip(number).step_by(count);
    let may_move = C::WAITS_FOR_LINES && !simulated && clients.schedule.never_rests();
    let affinity =
        may_move.then(|| Arc::new(Affinity::new((0..count).map(|number| of_thread(number).count()))));
    for number in 0..count {
        let lane = number % clients.lanes();
        let own = of_thread(number).map(|&place| Place { lane, ..place }).collect();
        let driven = Driven::<C> {
            number,
            load: Arc::clone(load),
            clients: Arc::clone(clients),
            own,
            affinity: affinity.clone(),
        };
        threads.start(LoadThread(number), move |gate| async move {
            LocalSet::new().run_until(driven.drive(gate)).await
        })?;
    }
    Ok(threads)
}

/// What a load thread drives.
struct Driven<C: Client> {
    number: usize,
    load: Arc<C::Load>,
    clients: Arc<Clients>,
    /// Its clients, at first.
    own: Vec<Place>,
    /// None where clients stay on their threads.
    affinity: Option<Arc<Affinity<Box<Turns<C>>>>>,
}

/// Load threads of so many clients.
pub(super) fn load_threads(clients: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(clients)
}

/// Lets this process open a connection for each client. A file of SQLite is three: itself, its log and the log's index.
fn allow_files(clients: u64, parameter: &str) -> Result<(), TrialError> {
    let (least, enough) = (clients + OTHER_FILES, 3 * clients + OTHER_FILES);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if limit.current.is_none_or(|current| current >= enough) {
        return Ok(());
    }
    let current = limit.maximum.map_or(enough, |maximum| maximum.min(enough));
    if current < least {
        return Err(TrialError::Load(format!(
            "{clients} clients need a connection each, and this process may open {current} files: raise the limit (`ulimit -n`), \
             or give fewer {parameter}"
        )));
    }
    let raised = rustix::process::Rlimit { current: Some(current), ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).map_err(|error| {
        TrialError::Load(format!("cannot raise the limit of open files to {current}: {error}"))
    })
}

/// Every client, a part after the other, so that each thread has clients of each part.
fn places(clients: &Clients) -> Vec<Place> {
    let parts = clients.parts.len();
    let numbers = 0..clients.schedule.clients;
    numbers.flat_map(|client| (0..parts).map(move |part| Place { part, client, lane: 0 })).collect()
}

impl<C: Client> Driven<C> {
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
        if let Some(affinity) = &self.affinity {
            affinity.call_by(self.number, running.caller());
        }
        for (place, client) in connected {
            let whereabouts = self.affinity.clone().map(|affinity| Whereabouts::new(affinity, self.number));
            running.add(place, Turns::new(Arc::clone(clients), (place, whereabouts), clock, client).run());
        }
        loop {
            if let Some(event) = running.next().await.map_err(no_reactor)? {
                self.answer(event, (&mut running, clock));
                continue;
            }
            let Some(affinity) = &self.affinity else { return Ok(()) };
            let arrived = tokio::select! {
                biased;
                arrived = affinity.last(self.number) => arrived,
                () = clients.over.wait() => return Ok(()),
            };
            if arrived.is_empty() {
                return Ok(());
            }
            self.take_in(arrived, (&mut running, clock));
        }
    }

    fn answer(
        &self,
        event: Event<Place, Rests<C>>,
        (running, clock): (&mut Crew<'_, Place, Rests<C>>, Clock),
    ) {
        match (event, &self.affinity) {
            (Event::Called, Some(affinity)) => self.take_in(affinity.arrived(self.number), (running, clock)),
            (Event::Called, None) => {}
            (Event::Ended(_, Ok(Rests::Over)), _) => self.ended(),
            (Event::Ended(place, Err(panic)), _) => {
                self.clients.parts[place.part].panicked(place.client, &panic);
                self.ended();
            }
            (Event::Ended(_, Ok(Rests::Moves { turns, to })), affinity) => {
                let given = match affinity {
                    Some(affinity) => affinity.give(turns, (self.number, to)),
                    None => Err(turns),
                };
                // The other thread takes none just now.
                if let Err(turns) = given {
                    self.take_in(vec![turns], (running, clock));
                }
            }
        }
    }

    fn take_in(
        &self,
        arrived: Vec<Box<Turns<C>>>,
        (running, clock): (&mut Crew<'_, Place, Rests<C>>, Clock),
    ) {
        for turns in arrived {
            let lane = self.number % self.clients.lanes();
            let turns = turns.on((self.number, lane), clock.now_ns());
            running.add(turns.place(), turns.run());
        }
    }

    fn ended(&self) {
        if let Some(affinity) = &self.affinity {
            affinity.ended(self.number);
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
