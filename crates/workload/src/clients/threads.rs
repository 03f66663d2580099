//! Load threads, each with its share of the clients.

use std::sync::Arc;

use tokio::task::{JoinSet, LocalSet};

use super::crew::Crew;
use super::shared::Clients;
use super::turns::Turns;
use super::{Client, Place};
use crate::TrialError;
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
    for number in 0..count {
        let lane = number % clients.lanes();
        let own = places.iter().skip(number).step_by(count);
        let own: Vec<Place> = own.map(|&place| Place { lane, ..place }).collect();
        let (load, clients) = (Arc::clone(load), Arc::clone(clients));
        threads.start(LoadThread(number), move |gate| async move {
            LocalSet::new().run_until(drive::<C>(&load, &clients, &own, gate)).await
        })?;
    }
    Ok(threads)
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

/// Connects clients, and drives them from the beginning of the load to its end.
async fn drive<C: Client>(
    load: &Arc<C::Load>,
    clients: &Arc<Clients>,
    places: &[Place],
    gate: Gate<LoadThread>,
) -> Result<(), TrialError> {
    let connected = tokio::select! {
        biased;
        connected = connect::<C>(load, places) => connected?,
        // A client may wait for a server that says nothing.
        () = clients.over.wait() => return Ok(()),
    };
    let Some(clock) = gate.pass().await else { return Ok(()) };
    let mut running = Crew::new(C::WAITS_FOR_LINES).map_err(no_reactor)?;
    for (place, client) in connected {
        running.add(place, Turns::new(Arc::clone(clients), place, clock, client).run());
    }
    while let Some((place, ended)) = running.next().await.map_err(no_reactor)? {
        if let Err(panic) = ended {
            clients.parts[place.part].panicked(place.client, &panic);
        }
    }
    Ok(())
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
