//! Pairs of servers: started, broken and stopped as one thing with several nodes.
//!
//! What breaks is a node, by its name. Who takes over is the business of the pair's own tool (pg_auto_failover, Galera) or of whoever
//! calls [`Pair::switchover`]; nothing here decides it. All nodes are on one machine, on loopback
//! unless they are to have a [network](network) of their own that can be cut.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

mod ask;
mod autoctl;
mod cluster;
mod error;
mod galera;
mod ground;
mod guard;
mod mariadb;
mod network;
mod options;
mod postgres;
pub(crate) mod processes;
mod replicas;
mod streaming;
#[cfg(test)]
mod tests;
mod volume;
mod watch;

pub use error::PairError;
pub use network::NetworkNeed;
pub use options::{Failover, PairKind, PairOptions, Timeout, TimeoutUnit};
pub use watch::{Seen, Watch};

use crate::clock::Clock;
use crate::directory::Directory;
use crate::process::Handle;
use crate::server::{DIES_WITHIN, PASSWORD, USER};
use crate::user::User;
use crate::{Engine, Entry, Group, InstanceError, KnownNode, Options, limits, program};
use autoctl::Autoctl;
use cluster::Cluster;
use galera::Galera;
use ground::{Ground, Seat};
use guard::Guard;
use network::Network;
use processes::{Member, Stand};
use replicas::Replicas;
use streaming::Streaming;
use watch::Watched;

pub(crate) use ground::end_all;

/// A pair is there at the latest after this, or it is an error.
const REDUNDANT_WITHIN: Duration = Duration::from_secs(300);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Servers that stand for each other. All are ended and their directories removed when this is dropped, unless it is left.
#[derive(Debug)]
pub struct Pair {
    engine: Engine,
    kind: PairKind,
    cluster: Box<dyn Cluster>,
    /// Dropped first: what it would end is ended in order.
    guard: Option<Guard>,
    ground: Ground,
    /// How others find it; removed after the directory.
    entry: Option<Entry>,
}

/// What a node of a pair is at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `node1`, `node2`, …; `monitor` or `arbitrator` of the one that has no data.
    pub name: String,
    /// Where it listens: host and port.
    pub address: String,
    /// Whether it takes writes now.
    pub is_primary: bool,
    /// Whether it is the witness, which has no data.
    pub is_witness: bool,
    /// The first process of its server, if that runs.
    pub server_pid: Option<u32>,
    /// What keeps its server, if anything does and runs.
    pub keeper_pid: Option<u32>,
    /// Where its data are.
    pub data: PathBuf,
}

/// What of a node can be frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All processes of its server.
    Server,
    /// The server and what keeps it, as a machine that hangs.
    Node,
    /// What receives the log of the primary: a process of PostgreSQL, and of MariaDB that replicates a thread, which is ended and begun again.
    WalReceiver,
}

/// Whether anything stands in the directory of a pair, or in those that its nodes have elsewhere.
pub(crate) fn has_members(home: &Path, others: &[&Path]) -> bool {
    let Ok(Some(home)) = Stand::of(home) else { return false };
    let others = others.iter().map(|other| home.of_same(other));
    let stands: Vec<Stand> = std::iter::once(home.clone()).chain(others).collect();
    processes::in_any(&stands).is_ok_and(|members| !members.is_empty())
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Server => "the server",
            Self::Node => "all processes",
            Self::WalReceiver => "the WAL receiver",
        }
    }
}

impl Pair {
    /// Looks whether one could be started: whether its programs are there, and whether each node can be placed and limited so.
    /// Nothing is left. As [`crate::Instance::look`], it may begin the program anew.
    ///
    /// # Errors
    /// What is missing, and what brings it.
    pub fn look(engine: Engine, kind: PairKind, options: &PairOptions) -> Result<(), InstanceError> {
        refuse(engine, kind, options)?;
        volume::refuse(kind, options)?;
        let user = user_of(engine)?;
        program::setpriv()?;
        program::setsid()?;
        limits::enter_scope(options.node().limited())?;
        if options.node().has_clock() {
            Clock::look()?;
        }
        let mut entry = Entry::of_look(engine.name())?;
        entry.is_pair(kind.name())?;
        let looked = Directory::make(options.node(), user, Some(&mut entry))
            .and_then(|home| Network::make(home.path(), options.network()).map(drop));
        entry.remove_with_directories()?;
        looked
    }

    /// Makes all nodes in a directory of their own, starts them, and waits until the pair is redundant: 5 to 30 s.
    ///
    /// # Errors
    /// As [`Self::look`]; a node does not start, or the pair is not redundant within 5 minutes: then its state and the ends of its
    /// logs are in the error.
    pub fn start(engine: Engine, kind: PairKind, options: &PairOptions) -> Result<Self, InstanceError> {
        refuse(engine, kind, options)?;
        volume::refuse(kind, options)?;
        let user = user_of(engine)?;
        let mut entry = Entry::of(options.node(), engine.name())?;
        let begun = entry.as_mut().map_or(Ok(()), |entry| entry.is_pair(kind.name()));
        let home = begun.and_then(|()| Directory::make(options.node(), user, entry.as_mut()));
        let ground = home.and_then(|home| {
            entry.as_mut().map_or(Ok(()), |entry| entry.set_log(home.log()))?;
            let mut ground = Ground::new(home, options, entry.as_mut())?;
            let groups = ground.plan_groups()?;
            entry.as_mut().map_or(Ok(()), |entry| entry.set_groups(groups))?;
            Ok(ground)
        });
        let of_ground = ground.and_then(|ground| {
            let cluster = cluster_of(engine, kind, &ground)?;
            let guard = if ground.lives_on { None } else { Some(Guard::over(&ground.stands()?)?) };
            Ok((ground, cluster, guard))
        });
        let (ground, cluster, guard) = match of_ground {
            Ok(of_ground) => of_ground,
            Err(error) => {
                entry.map_or(Ok(()), |entry| entry.remove_with_directories())?;
                return Err(error);
            }
        };
        let mut pair = Self { engine, kind, cluster, guard, ground, entry };
        pair.cluster.assemble(&mut pair.ground)?;
        pair.wait_until_redundant(REDUNDANT_WITHIN, &AtomicBool::new(false))?;
        pair.cluster.started(&mut pair.ground)?;
        pair.update_entry()?;
        Ok(pair)
    }

    /// Where clients connect to, with a user who may do everything: an address of all nodes, whose client takes the one that writes.
    #[must_use]
    pub fn url(&self) -> String {
        self.cluster.url(&self.ground)
    }

    /// The timeouts of failover that such a pair has; none where nothing fails over by itself.
    #[must_use]
    pub fn timeouts(engine: Engine, kind: PairKind) -> &'static [Timeout] {
        timeouts(engine, kind)
    }

    /// The address of one node alone, whatever it is now.
    ///
    /// # Errors
    /// There is no such node.
    pub fn url_of(&self, node: &str) -> Result<String, InstanceError> {
        let address = self.ground.nodes[self.number(node)?].address();
        let (scheme, database) = match self.engine {
            Engine::Postgres => ("postgres", "postgres"),
            Engine::MariaDb | Engine::MySql => ("mysql", "mysql"),
        };
        Ok(format!("{scheme}://{USER}:{PASSWORD}@{address}/{database}"))
    }

    /// What each node is now, the witness last. Nodes that do not answer are no primaries; that takes up to 3 s each.
    pub fn nodes(&mut self) -> Vec<Node> {
        let writing = self.cluster.writers(&self.ground);
        let (cluster, ground) = (&self.cluster, &mut self.ground);
        let mut all: Vec<Node> = Vec::new();
        for (seat, is_primary) in ground.nodes.iter_mut().zip(writing) {
            let server_pid = cluster.server_pid(seat);
            all.push(node_of(seat, server_pid, is_primary, false));
        }
        if let Some(seat) = &mut ground.witness {
            let server_pid = cluster.server_pid(seat);
            all.push(node_of(seat, server_pid, false, true));
        }
        all
    }

    /// The nodes that take writes now, by their names: one, or none while the pair fails over. Two are a split brain. Of Galera, all of
    /// whose nodes take writes, it is the one whose clients these are.
    #[must_use]
    pub fn primaries(&self) -> Vec<String> {
        let writing = self.ground.nodes.iter().zip(self.cluster.writers(&self.ground));
        writing.filter(|(_, writes)| *writes).map(|(seat, _)| seat.name.to_owned()).collect()
    }

    /// The node that takes writes now; none while the pair fails over.
    ///
    /// # Errors
    /// There are two of them.
    pub fn primary(&self) -> Result<Option<String>, InstanceError> {
        let mut primaries = self.primaries();
        if primaries.len() > 1 {
            return Err(PairError::SeveralPrimaries { nodes: primaries.join(" and ") }.into());
        }
        Ok(primaries.pop())
    }

    /// Whether every node is there and follows the primary, so that one more can fail.
    ///
    /// # Errors
    /// Whoever must be asked does not answer.
    pub fn is_redundant(&self) -> Result<bool, InstanceError> {
        self.cluster.is_redundant(&self.ground)
    }

    /// Waits until [`Self::is_redundant`], or until a flag is set.
    ///
    /// # Errors
    /// It is not when the limit is over: then the state of each node and the ends of the logs are in the error. It was interrupted.
    pub fn wait_until_redundant(&mut self, limit: Duration, stop: &AtomicBool) -> Result<(), InstanceError> {
        // Who does not answer yet may answer next time.
        self.wait("redundant", limit, stop, |pair| pair.is_redundant().unwrap_or(false).then_some(()))
    }

    /// Waits until a node takes writes that is not the given one, and says which.
    ///
    /// # Errors
    /// As [`Self::wait_until_redundant`].
    pub fn wait_for_other_primary(
        &mut self,
        than: &str,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<String, InstanceError> {
        let other = |pair: &Self| pair.primaries().into_iter().find(|name| name != than);
        self.wait("writable at another node", limit, stop, other)
    }

    fn wait<T>(
        &mut self,
        what: &'static str,
        limit: Duration,
        stop: &AtomicBool,
        look: impl Fn(&Self) -> Option<T>,
    ) -> Result<T, InstanceError> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(found) = look(self) {
                return Ok(found);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(PairError::Interrupted.into());
            }
            if Instant::now() > deadline {
                let state = self.state();
                return Err(self.ground.not_reached(what, limit, state));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// What looks at its nodes from any thread, whatever is done to them meanwhile.
    #[must_use]
    pub fn watch(&self) -> Watch {
        let node = |seat: &Seat| Watched { name: seat.name, port: seat.port, socket: mariadb::socket(seat) };
        let nodes = self.ground.nodes.iter().map(node).collect();
        Watch::new(self.cluster.watch(), nodes, self.ground.witness.as_ref().map(node))
    }

    /// What each node is, in one line, by whoever knows it best.
    #[must_use]
    pub fn state(&self) -> String {
        self.cluster.state(&self.ground)
    }

    /// Timeouts, what else decides how it fails over, and versions, as they are read from it.
    ///
    /// # Errors
    /// Whoever must be asked does not answer.
    pub fn settings(&self) -> Result<Vec<(String, String)>, InstanceError> {
        self.cluster.settings(&self.ground)
    }

    /// The control group of a node, if it is limited.
    ///
    /// # Errors
    /// There is no such node.
    pub fn group(&self, node: &str) -> Result<Option<&Group>, InstanceError> {
        Ok(self.ground.nodes[self.number(node)?].group.as_ref())
    }

    /// Kills the first process of a node's server. What keeps it, if anything does, may start it again.
    ///
    /// # Errors
    /// There is no such node, or its server does not run.
    pub fn kill_server(&mut self, node: &str) -> Result<(), InstanceError> {
        let number = self.number(node)?;
        let seat = &mut self.ground.nodes[number];
        let pid = self.cluster.server_pid(seat);
        let not_running = || not_running("kill", "the server", node);
        let handle = pid.map(Handle::open).transpose()?.flatten().ok_or_else(not_running)?;
        handle.signal(Signal::KILL)?;
        handle.wait(DIES_WITHIN)?;
        // Of a server that nothing keeps it is our own child.
        if seat.process.as_ref().is_some_and(|own| Some(own.id()) == pid) {
            seat.reap()?;
        }
        Ok(())
    }

    /// Kills all processes of a node, its keeper's too.
    ///
    /// # Errors
    /// There is no such node, or nothing of it runs.
    pub fn kill_node(&mut self, node: &str) -> Result<(), InstanceError> {
        let number = self.number(node)?;
        let seat = &mut self.ground.nodes[number];
        if seat.members()?.is_empty() {
            return Err(not_running("kill", "all processes", node));
        }
        seat.kill()
    }

    /// Stands a part of a node still: it answers nobody, and keeps its connections.
    ///
    /// # Errors
    /// There is no such node, or nothing of that part runs.
    pub fn freeze(&mut self, node: &str, part: Part) -> Result<(), InstanceError> {
        if part == Part::WalReceiver && self.hold_receiver(node, true)? {
            return Ok(());
        }
        self.signal_part(node, part, "freeze", Signal::STOP)
    }

    /// Lets it go on. A receiver may be gone by then: its node has taken over, or was started anew.
    ///
    /// # Errors
    /// As there.
    pub fn thaw(&mut self, node: &str, part: Part) -> Result<(), InstanceError> {
        if part == Part::WalReceiver {
            if self.hold_receiver(node, false)? {
                return Ok(());
            }
            let number = self.number(node)?;
            let seat = &mut self.ground.nodes[number];
            let pid = self.cluster.server_pid(seat);
            if wal_receiver(seat, pid)?.is_none() {
                return Ok(());
            }
        }
        self.signal_part(node, part, "thaw", Signal::CONT)
    }

    fn hold_receiver(&mut self, node: &str, is_held: bool) -> Result<bool, InstanceError> {
        let number = self.number(node)?;
        self.cluster.hold_receiver(&self.ground, number, is_held)
    }

    fn signal_part(
        &mut self,
        node: &str,
        part: Part,
        action: &'static str,
        signal: Signal,
    ) -> Result<(), InstanceError> {
        let number = self.number(node)?;
        let seat = &mut self.ground.nodes[number];
        let pid = self.cluster.server_pid(seat);
        let not_running = || not_running(action, part.name(), node);
        match part {
            Part::Node if seat.members()?.is_empty() => Err(not_running()),
            Part::Node => processes::signal_all(&seat.stands()?, signal),
            Part::Server => {
                pid.ok_or_else(not_running)?;
                processes::signal_all(Stand::of(&seat.data())?.as_slice(), signal)
            }
            Part::WalReceiver => {
                let found = wal_receiver(seat, pid)?.ok_or_else(not_running)?;
                processes::signal(&[found], signal)
            }
        }
    }

    /// Cuts a node from the others and the witness, and from clients too if these are not `spared`: packets vanish.
    ///
    /// # Errors
    /// There is no such node, or the pair has no network of its own.
    pub fn cut(&mut self, node: &str, are_clients_spared: bool) -> Result<(), InstanceError> {
        self.number(node)?;
        let network = self.network()?;
        network.cut(node)?;
        if are_clients_spared { Ok(()) } else { network.set_clients(node, false) }
    }

    /// Joins it to all again.
    ///
    /// # Errors
    /// As there.
    pub fn join(&mut self, node: &str) -> Result<(), InstanceError> {
        self.number(node)?;
        let network = self.network()?;
        network.join_again(node).and(network.set_clients(node, true))
    }

    /// Has each packet between a node and the others take so much longer, each way; or no longer.
    ///
    /// # Errors
    /// As there, or the kernel holds back no packets.
    pub fn delay(&mut self, node: &str, by: Option<Duration>) -> Result<(), InstanceError> {
        self.number(node)?;
        let network = self.network()?;
        by.map_or_else(|| network.undelay(node), |by| network.delay(node, by))
    }

    /// Has the clock of a node differ from the machine's by so much, within a second.
    ///
    /// # Errors
    /// There is no such node, or the pair was started without clocks of its own.
    pub fn set_clock(&mut self, node: &str, difference_s: i64) -> Result<(), InstanceError> {
        let seat = &self.ground.nodes[self.number(node)?];
        seat.clock.as_ref().ok_or(InstanceError::NoClock)?.set(difference_s)
    }

    fn network(&self) -> Result<&Network, InstanceError> {
        self.ground.network.as_ref().ok_or_else(|| PairError::OnLoopback.into())
    }

    /// Starts a node that was killed, as whatever it is to be now. It may not yet follow when this returns.
    ///
    /// # Errors
    /// There is no such node, it runs, or it does not start.
    pub fn restart_node(&mut self, node: &str) -> Result<(), InstanceError> {
        let number = self.number(node)?;
        self.cluster.start_node(&mut self.ground, number)
    }

    /// Has another node take over, in order: by the pair's own tool, or by stopping the primary and promoting the first standby. A
    /// primary that is gone is replaced so too, where nothing does it by itself.
    ///
    /// # Errors
    /// There is nobody who could, or it fails.
    pub fn switchover(&mut self) -> Result<(), InstanceError> {
        self.cluster.switchover(&mut self.ground)
    }

    /// Has a node take writes, whatever the others do: a primary that still runs is a second one then.
    ///
    /// # Errors
    /// There is no such node, it does not run, it is the primary, or the pair's own tool decides.
    pub fn promote(&mut self, node: &str) -> Result<(), InstanceError> {
        let number = self.number(node)?;
        self.cluster.promote(&mut self.ground, number)
    }

    /// Kills all processes of all nodes and of the witness.
    ///
    /// # Errors
    /// Something does not end.
    pub fn kill_everything(&mut self) -> Result<(), InstanceError> {
        processes::kill_all(&self.ground.stands()?, DIES_WITHIN)?;
        self.ground.seats_mut().try_for_each(Seat::reap)
    }

    /// Stops all nodes in order, then the witness.
    ///
    /// # Errors
    /// One is not down after 10 minutes.
    pub fn stop(&mut self) -> Result<(), InstanceError> {
        self.cluster.stop_all(&mut self.ground)
    }

    /// Starts everything after [`Self::stop`] or [`Self::kill_everything`]. It may not yet be redundant when this returns.
    ///
    /// # Errors
    /// Something runs, or does not start.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        self.cluster.start_all(&mut self.ground)
    }

    /// Stops everything in order and starts it again.
    ///
    /// # Errors
    /// As [`Self::stop`] and [`Self::start_again`].
    pub fn restart_everything(&mut self) -> Result<(), InstanceError> {
        self.stop()?;
        self.start_again()
    }

    /// What it is: its engine and kind.
    #[must_use]
    pub fn what(&self) -> (Engine, PairKind) {
        (self.engine, self.kind)
    }

    /// Leaves it running with all that it has, for [`crate::Known`] to find: it was to live on.
    pub fn leave(mut self) {
        self.ground.keep();
        for seat in self.ground.seats_mut() {
            seat.process = None;
            if let Some(group) = seat.group.take() {
                group.leave();
            }
        }
        self.entry = None;
        if let Some(network) = &mut self.ground.network {
            network.leave();
        }
        self.ground.lives_on = true;
        self.ground.is_left = true;
    }

    fn number(&self, node: &str) -> Result<usize, InstanceError> {
        let nodes = &self.ground.nodes;
        nodes.iter().position(|seat| seat.name == node).ok_or_else(|| {
            let known = nodes.iter().map(|seat| seat.name).collect::<Vec<_>>().join(", ");
            PairError::NoNode { name: node.to_owned(), known }.into()
        })
    }

    fn update_entry(&mut self) -> Result<(), InstanceError> {
        let url = self.url();
        let Some(entry) = &mut self.entry else { return Ok(()) };
        let known = |seat: &Seat| KnownNode {
            name: seat.name.to_owned(),
            address: seat.address(),
            log: seat.log().to_owned(),
        };
        entry.set_nodes(self.ground.seats().map(known).collect());
        let groups = self.ground.nodes.iter().filter_map(|seat| seat.group.as_ref());
        let groups = groups.flat_map(Group::directories).collect();
        let pid = self.ground.nodes.first_mut().and_then(Seat::pid);
        entry.update(pid, url, groups)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if self.ground.is_left {
            return;
        }
        // Nobody is left who could be told.
        let _ = self.ground.end();
        self.guard = None;
        self.ground.network = None;
        for seat in self.ground.seats_mut() {
            seat.group = None;
        }
        let is_gone = self.ground.clear();
        if let Some(entry) = self.entry.as_ref().filter(|_| is_gone) {
            let _ = entry.remove();
        }
    }
}

fn node_of(seat: &mut Seat, server_pid: Option<u32>, is_primary: bool, is_witness: bool) -> Node {
    let keeper_pid = seat.pid().filter(|&pid| Some(pid) != server_pid);
    Node {
        name: seat.name.to_owned(),
        address: seat.address(),
        is_primary,
        is_witness,
        server_pid,
        keeper_pid,
        data: seat.data(),
    }
}

fn not_running(action: &'static str, what: &'static str, node: &str) -> InstanceError {
    PairError::NotRunning { action, what, node: node.to_owned() }.into()
}

/// The process of a PostgreSQL, whose first process is given, that receives the log of the primary.
fn wal_receiver(seat: &Seat, server_pid: Option<u32>) -> Result<Option<Member>, InstanceError> {
    let members = processes::below(&seat.data())?;
    let is_it = |one: &Member| Some(one.parent) == server_pid && is_wal_receiver(one.pid);
    Ok(members.into_iter().find(is_it))
}

/// As PostgreSQL calls its processes: `postgres: walreceiver streaming 0/3000148`.
fn is_wal_receiver(pid: u32) -> bool {
    let title = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&title).contains("walreceiver")
}

fn user_of(engine: Engine) -> Result<Option<User>, InstanceError> {
    User::unprivileged(match engine {
        Engine::Postgres => "postgres",
        Engine::MariaDb | Engine::MySql => "mysql",
    })
}

/// What there is no pair of, or what a pair cannot have, or what is not installed.
fn refuse(engine: Engine, kind: PairKind, options: &PairOptions) -> Result<(), InstanceError> {
    refuse_places(options.node())?;
    options.timeouts(timeouts(engine, kind))?;
    match (engine, kind) {
        (Engine::Postgres, PairKind::Sync) => Autoctl::look(),
        (Engine::Postgres, PairKind::Async | PairKind::Quorum) => Streaming::look().map(drop),
        (Engine::MariaDb, PairKind::Sync) => Galera::look(),
        (Engine::MariaDb, PairKind::Async) => Replicas::look(),
        (Engine::MariaDb, PairKind::Quorum) | (Engine::MySql, _) => Err(no_such_pair(engine, kind)),
    }
}

fn timeouts(engine: Engine, kind: PairKind) -> &'static [Timeout] {
    match (engine, kind) {
        (Engine::Postgres, PairKind::Sync) => &autoctl::TIMEOUTS,
        (Engine::MariaDb, PairKind::Sync) => &galera::TIMEOUTS,
        (Engine::Postgres | Engine::MariaDb | Engine::MySql, _) => &[],
    }
}

fn refuse_places(node: &Options) -> Result<(), PairError> {
    if node.log_place().is_some() {
        return Err(PairError::NotOfPairs { what: "a separate log directory" });
    }
    if !node.tablespaces().is_empty() {
        return Err(PairError::NotOfPairs { what: "tablespaces" });
    }
    Ok(())
}

fn no_such_pair(engine: Engine, kind: PairKind) -> InstanceError {
    let instead = match engine {
        Engine::MariaDb => "PostgreSQL, or `sync` or `async`",
        Engine::Postgres | Engine::MySql => "PostgreSQL or MariaDB",
    };
    PairError::NoSuchPair { engine: engine.name(), kind: kind.name(), instead }.into()
}

fn cluster_of(engine: Engine, kind: PairKind, ground: &Ground) -> Result<Box<dyn Cluster>, InstanceError> {
    match (engine, kind) {
        (Engine::Postgres, PairKind::Sync) => Ok(Box::new(Autoctl::new(ground)?)),
        (Engine::Postgres, PairKind::Async | PairKind::Quorum) => Ok(Box::new(Streaming::new(kind, ground)?)),
        (Engine::MariaDb, PairKind::Sync) => Ok(Box::new(Galera::new(ground)?)),
        (Engine::MariaDb, PairKind::Async) => Ok(Box::new(Replicas::new()?)),
        (Engine::MariaDb, PairKind::Quorum) | (Engine::MySql, _) => Err(no_such_pair(engine, kind)),
    }
}
