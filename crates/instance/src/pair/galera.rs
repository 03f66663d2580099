//! MariaDB by Galera: two nodes that hold the same, and an arbitrator that holds nothing and makes a majority with either. Each node takes
//! writes; clients are to write to one, since two would meet each other's locks only at commit. So the writer is where the clients are, and a
//! switch-over has them go: what they are told is that the first node only reads.
//! <https://galeracluster.com/library/documentation/arbitrator.html>

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::ask::{DONE_WITHIN, LOOK_WITHIN, MariaDbClient};
use super::cluster::Cluster;
use super::error::PairError;
use super::ground::{Ground, Seat};
use super::mariadb::{Programs, socket, stop, url_of};
use super::options::{Timeout, TimeoutOf, TimeoutUnit};
use super::watch::Asked;
use crate::mysqld::argument;
use crate::server::{STARTS_WITHIN, STOPS_WITHIN};
use crate::{InstanceError, program};

const NAME: &str = "prony";
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Clients that were sent to the other node are there by then, or have nothing to do there.
const MOVED_WITHIN: Duration = Duration::from_secs(5);
/// An arbitrator is a member by then, or something else is in its way.
const ARBITRATES_WITHIN: Duration = Duration::from_secs(60);
/// Members of a whole group: two nodes and the arbitrator.
const MEMBERS: u32 = 3;

/// <https://galeracluster.com/library/documentation/galera-parameters.html>
pub(crate) const TIMEOUTS: [Timeout; 7] = [
    timeout("evs.keepalive_period", Some("PT0.3S")),
    timeout("evs.inactive_check_period", Some("PT0.2S")),
    timeout("evs.suspect_timeout", Some("PT1S")),
    // While a group is formed anew its members say nothing else: at its own second they would suspect each other.
    timeout("evs.join_retrans_period", Some("PT0.3S")),
    timeout("evs.inactive_timeout", Some("PT3S")),
    // Less than a member may be silent, or the provider refuses it.
    timeout("evs.install_timeout", Some("PT2S")),
    timeout("gmcast.peer_timeout", Some("PT1S")),
];

const fn timeout(key: &'static str, tuned: Option<&'static str>) -> Timeout {
    Timeout { key, unit: TimeoutUnit::Period, tuned, of: TimeoutOf::Provider }
}

/// Two nodes and an arbitrator.
#[derive(Debug)]
pub(crate) struct Galera {
    programs: Programs,
    provider: PathBuf,
    arbitrator: PathBuf,
    timeouts: BTreeMap<&'static str, String>,
    /// Of each node, beside the port for clients.
    ports: Vec<Ports>,
    /// Number of the node that was seen to be written to last.
    writer: Arc<AtomicUsize>,
}

/// Where a node talks to others.
#[derive(Clone, Copy, Debug)]
struct Ports {
    host: Ipv4Addr,
    group: u16,
    whole: u16,
    missed: u16,
}

impl Galera {
    pub(crate) fn new(ground: &Ground) -> Result<Self, InstanceError> {
        let timeouts = ground.options.timeouts(&TIMEOUTS)?;
        let (provider, arbitrator) = (program::galera()?, program::garbd()?);
        Ok(Self {
            programs: Programs::find()?,
            provider,
            arbitrator,
            timeouts,
            ports: Vec::new(),
            writer: Arc::default(),
        })
    }

    pub(crate) fn look() -> Result<(), InstanceError> {
        Programs::find()?;
        program::galera()?;
        program::garbd()?;
        program::rsync().map(drop)
    }

    /// Where the members of the group are.
    fn group(&self) -> String {
        let all: Vec<String> =
            self.ports.iter().map(|ports| format!("{}:{}", ports.host, ports.group)).collect();
        format!("gcomm://{}", all.join(","))
    }

    fn options_of(&self, host: Ipv4Addr, listen: u16) -> String {
        let timeouts = self.timeouts.iter().map(|(key, value)| format!(";{key}={value}"));
        format!("gmcast.listen_addr=tcp://{host}:{listen};base_port={listen}{}", timeouts.collect::<String>())
    }

    /// Starts a node, which gets what it missed, or all. A member of a new group waits for nobody.
    fn start_member(
        &self,
        ground: &mut Ground,
        number: usize,
        is_new_group: bool,
    ) -> Result<(), InstanceError> {
        let mut own = self.member_options(&ground.nodes[number], self.ports[number]);
        let position = self.position(ground, &ground.nodes[number], &own)?;
        own.extend(position.map(|position| format!("--wsrep-start-position={position}").into()));
        own.extend(is_new_group.then(|| "--wsrep-new-cluster".into()));
        self.programs.start(ground, number, &own)
    }

    fn member_options(&self, seat: &Seat, ports: Ports) -> Vec<OsString> {
        let mut own: Vec<OsString> = [
            "--binlog-format=ROW",
            "--default-storage-engine=InnoDB",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON",
            "--wsrep-sst-method=rsync",
        ]
        .map(OsString::from)
        .to_vec();
        own.push(argument("wsrep-provider", &self.provider));
        own.extend([
            format!("--wsrep-cluster-name={NAME}").into(),
            format!("--wsrep-cluster-address={}", self.group()).into(),
            format!("--wsrep-node-name={}", seat.name).into(),
            format!("--wsrep-node-address={}:{}", ports.host, ports.group).into(),
            format!("--wsrep-sst-receive-address={}:{}", ports.host, ports.whole).into(),
            format!(
                "--wsrep-provider-options={};ist.recv_addr={}:{}",
                self.options_of(ports.host, ports.group),
                ports.host,
                ports.missed
            )
            .into(),
        ]);
        own
    }

    /// How far a node that was killed had come: with that it gets only what it missed, as after a start by its package.
    fn position(
        &self,
        ground: &Ground,
        seat: &Seat,
        own: &[OsString],
    ) -> Result<Option<String>, InstanceError> {
        if !seat.data().join("grastate.dat").is_file() || !seat.data().join("ibdata1").is_file() {
            return Ok(None);
        }
        let mut recover = self.programs.command(ground, seat, own)?;
        recover.arg("--wsrep-recover");
        ground.prepare(seat, "mariadbd --wsrep-recover", recover)?;
        let told = seat.log_text();
        let found = told.lines().rev().find_map(|line| line.split_once("Recovered position: "));
        Ok(found
            .map(|(_, position)| position.trim().to_owned())
            .filter(|position| !position.ends_with(":-1")))
    }

    fn start_arbitrator(&self, ground: &mut Ground) -> Result<(), InstanceError> {
        let Some(seat) = &ground.witness else { return Ok(()) };
        let mut garbd = ground.command(seat, &self.arbitrator)?;
        garbd.args(["--address", &self.group(), "--group", NAME, "--name", seat.name]);
        garbd.args(["--options", &self.options_of(seat.host(), seat.port)]).arg("--workdir").arg(&seat.place);
        ground.witness.as_mut().map_or(Ok(()), |seat| seat.start("garbd", garbd))
    }

    /// Starts the arbitrator again as long as it ends: it does where the group it asks is still being made up, also when nodes count it
    /// already. One that is no member when the time is over is missed by whoever waits for the pair.
    fn keep_arbitrator(&self, ground: &mut Ground) -> Result<(), InstanceError> {
        let deadline = Instant::now() + ARBITRATES_WITHIN;
        while Instant::now() < deadline {
            let members = self.members(ground);
            let has_ended = ground.witness.as_mut().is_some_and(|seat| seat.has_ended().is_some());
            if has_ended {
                ground.witness.as_mut().map_or(Ok(()), Seat::reap)?;
                self.start_arbitrator(ground)?;
            } else if is_whole(&members) {
                return Ok(());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// Waits until a node takes writes.
    fn await_member(&self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        let deadline = Instant::now() + STARTS_WITHIN;
        while !self.is_member(&ground.nodes[number]) {
            ground.refuse_if_ended_at(number, "mariadbd")?;
            if Instant::now() > deadline {
                return Err(ground.not_reached("joined", STARTS_WITHIN, self.state(ground)));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    fn status(&self, seat: &Seat) -> Result<BTreeMap<String, String>, InstanceError> {
        Ok(self.programs.values(seat, "STATUS", "wsrep%")?.into_iter().collect())
    }

    fn member(&self, seat: &Seat) -> Result<Member, InstanceError> {
        Member::ask(self.programs.client(), (seat.name, &socket(seat)), LOOK_WITHIN)
    }

    /// What each node says of itself; nothing of one that does not answer.
    fn members(&self, ground: &Ground) -> Vec<Option<Member>> {
        ground.nodes.iter().map(|seat| self.member(seat).ok()).collect()
    }

    fn is_member(&self, seat: &Seat) -> bool {
        self.member(seat).is_ok_and(|member| member.is_ready)
    }

    /// The node that is written to.
    fn writer(&self, ground: &Ground) -> Option<usize> {
        writer_of(&self.members(ground), &self.writer)
    }

    /// Ends the sessions that clients have at a node, so that they look for another one. Gives how many these were.
    fn end_clients(&self, seat: &Seat) -> Result<usize, InstanceError> {
        const IDS: &str = "SELECT id FROM information_schema.processlist WHERE host LIKE '%:%'";
        let ids = || {
            let told = self.programs.ask(seat, IDS, LOOK_WITHIN)?;
            Ok::<_, InstanceError>(told.lines().map(str::to_owned).collect::<Vec<String>>())
        };
        let first = ids()?;
        let deadline = Instant::now() + DONE_WITHIN;
        loop {
            let mut left = ids()?;
            left.retain(|id| first.contains(id));
            if left.is_empty() {
                return Ok(first.len());
            }
            if Instant::now() > deadline {
                let why = format!("{} sessions at {} do not end", left.len(), seat.name);
                return Err(PairError::NoSwitchover { action: "switch over", why }.into());
            }
            let kills: Vec<String> = left.iter().map(|id| format!("KILL {id}")).collect();
            // One that ended by itself meanwhile leaves the rest for the next round.
            let _ = self.programs.ask(seat, &kills.join("; "), LOOK_WITHIN);
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits until a node has so many clients, for as long as clients may take to come: some come only when they have something to do.
    fn await_clients(&self, seat: &Seat, clients: usize) {
        let deadline = Instant::now() + MOVED_WITHIN;
        let came = || self.member(seat).is_ok_and(|member| member.clients as usize >= clients);
        while Instant::now() < deadline && !came() {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

/// What a node says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    /// Whether it is one of the majority, and takes statements.
    is_ready: bool,
    /// Whether it has all that the group has.
    is_synced: bool,
    only_reads: bool,
    /// Members of its group.
    members: u32,
    /// Sessions of clients.
    clients: u32,
}

impl Member {
    /// What a node says when it is asked by its socket.
    pub(super) fn ask(
        client: &MariaDbClient,
        at: (&str, &Path),
        limit: Duration,
    ) -> Result<Self, InstanceError> {
        // Those of clients have a port; nobody else has one.
        const ASKED: &str = "SELECT variable_name, variable_value FROM information_schema.global_status WHERE variable_name IN \
                             ('WSREP_READY', 'WSREP_CLUSTER_STATUS', 'WSREP_CLUSTER_SIZE', 'WSREP_LOCAL_STATE_COMMENT') \
                             UNION ALL SELECT 'READ_ONLY', @@GLOBAL.read_only \
                             UNION ALL SELECT 'CLIENTS', count(*) FROM information_schema.processlist WHERE host LIKE '%:%'";
        client.ask(at, ASKED, limit).map(|told| Self::of(&told))
    }

    fn of(told: &str) -> Self {
        let value = |name: &str| {
            let mut lines = told.lines().filter_map(|line| line.split_once('\t'));
            lines.find(|(key, _)| *key == name).map_or("", |(_, value)| value.trim())
        };
        let number = |name: &str| value(name).parse().unwrap_or(0);
        Self {
            is_ready: value("WSREP_READY") == "ON" && value("WSREP_CLUSTER_STATUS") == "Primary",
            is_synced: value("WSREP_LOCAL_STATE_COMMENT") == "Synced",
            only_reads: value("READ_ONLY") != "0",
            members: number("WSREP_CLUSTER_SIZE"),
            clients: number("CLIENTS"),
        }
    }
}

/// The number of the node that is written to: where clients are. Where none are it is the one that it was. If that does not answer, another one
/// is it only once the group has lost a member: until then nothing is agreed upon, whoever has connected there.
pub(super) fn writer_of(members: &[Option<Member>], before: &AtomicUsize) -> Option<usize> {
    let was = before.load(Ordering::Relaxed);
    let takes = |(number, member): (usize, &Option<Member>)| {
        let member = member.as_ref().filter(|member| member.is_ready && !member.only_reads)?;
        let is_left_over = member.members < MEMBERS;
        let rank = (member.clients, number == was, std::cmp::Reverse(number));
        let is_chosen = member.clients > 0 && members.get(was).is_some_and(Option::is_some);
        (is_chosen || number == was || is_left_over).then_some((rank, number))
    };
    let found = members.iter().enumerate().filter_map(takes).max().map(|(_, number)| number);
    before.store(found.unwrap_or(was), Ordering::Relaxed);
    found
}

/// Whether all nodes and the arbitrator are there, and each node could be written to.
pub(super) fn is_whole(members: &[Option<Member>]) -> bool {
    let is_one = |member: &Member| {
        member.is_ready && member.is_synced && !member.only_reads && member.members == MEMBERS
    };
    members.iter().all(|member| member.as_ref().is_some_and(is_one))
}

/// Whether the group has gone on without one of them.
pub(super) fn has_lost_one(members: &[Option<Member>]) -> bool {
    members.iter().flatten().any(|member| member.is_ready && member.members < MEMBERS)
}

/// Whether a node was the last that was stopped in order, and so has all.
fn was_last(seat: &Seat) -> bool {
    let text = std::fs::read_to_string(seat.data().join("grastate.dat")).unwrap_or_default();
    text.lines().any(|line| line.replace(' ', "") == "safe_to_bootstrap:1")
}

impl Cluster for Galera {
    fn assemble(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        for name in ["node1", "node2"] {
            let seat = ground.seat_node(name, true)?;
            let host = seat.host();
            ground.nodes.push(seat);
            let (group, whole, missed) = (ground.free_port()?, ground.free_port()?, ground.free_port()?);
            self.ports.push(Ports { host, group, whole, missed });
        }
        ground.witness = Some(ground.seat("arbitrator", false)?);
        self.programs.make_empty(ground, &ground.nodes[0])?;
        ground.limit()?;
        self.start_member(ground, 0, true)?;
        self.await_member(ground, 0)?;
        self.start_member(ground, 1, false)?;
        self.await_member(ground, 1)?;
        self.start_arbitrator(ground)
    }

    fn started(&mut self, _: &mut Ground) -> Result<(), InstanceError> {
        Ok(())
    }

    fn start_node(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        if let Some(pid) = ground.nodes[number].pid() {
            return Err(InstanceError::Running { program: "mariadbd", pid });
        }
        ground.nodes[number].await_rest()?;
        self.start_member(ground, number, false)
    }

    /// After an end in order the last node begins a new group; after a crash the members restore theirs, once all of them are there.
    fn start_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let first = ground.nodes.iter().position(was_last);
        if let Some(first) = first {
            self.start_member(ground, first, true)?;
            self.await_member(ground, first)?;
        }
        self.start_arbitrator(ground)?;
        let others: Vec<usize> = (0..ground.nodes.len()).filter(|&number| Some(number) != first).collect();
        others.into_iter().try_for_each(|number| self.start_node(ground, number))?;
        self.keep_arbitrator(ground)
    }

    fn stop_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        if let Some(arbitrator) = &mut ground.witness {
            arbitrator.stop("garbd", Signal::TERM, STOPS_WITHIN)?;
        }
        ground.nodes.iter_mut().rev().try_for_each(stop)
    }

    fn stop_seat(&mut self, seat: &mut Seat) -> Result<(), InstanceError> {
        stop(seat)
    }

    fn writers(&self, ground: &Ground) -> Vec<bool> {
        let writer = self.writer(ground);
        (0..ground.nodes.len()).map(|number| writer == Some(number)).collect()
    }

    fn is_redundant(&self, ground: &Ground) -> Result<bool, InstanceError> {
        let members: Result<Vec<Option<Member>>, InstanceError> =
            ground.nodes.iter().map(|seat| self.member(seat).map(Some)).collect();
        members.map(|members| is_whole(&members))
    }

    fn state(&self, ground: &Ground) -> String {
        let told = ground.nodes.iter().map(|seat| match self.status(seat) {
            Ok(status) => {
                let value = |name: &str| status.get(name).map_or("unknown", String::as_str);
                let (state, size) = (value("wsrep_local_state_comment"), value("wsrep_cluster_size"));
                format!("{} is {state} in a group of {size} ({})", seat.name, value("wsrep_cluster_status"))
            }
            Err(_) => format!("{} does not answer", seat.name),
        });
        told.collect::<Vec<_>>().join("; ")
    }

    /// The first node only reads until its clients are at the other one. Both take writes again then, or none would be left for a failure.
    fn switchover(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let action = "switch over";
        let before = self.writer(ground).ok_or(PairError::NoPrimary { action })?;
        let next =
            (0..ground.nodes.len()).find(|&number| number != before && self.is_member(&ground.nodes[number]));
        let next = next.ok_or_else(|| {
            let why = format!("no other node is a member of the group; its nodes: {}", self.state(ground));
            PairError::NoSwitchover { action, why }
        })?;
        let (from, to) = (&ground.nodes[before], &ground.nodes[next]);
        // It waits for commits that are under way.
        self.programs.ask(from, "SET GLOBAL read_only = 1", DONE_WITHIN)?;
        let clients = self.end_clients(from);
        if let Ok(clients) = clients {
            self.await_clients(to, clients.div_ceil(2));
            self.writer.store(next, Ordering::Relaxed);
        }
        self.programs.ask(from, "SET GLOBAL read_only = 0", DONE_WITHIN)?;
        clients.map(drop)
    }

    fn promote(&mut self, _: &mut Ground, _: usize) -> Result<(), InstanceError> {
        let why =
            "every Galera node accepts writes, and clients choose the node: use a switchover".to_owned();
        Err(PairError::NoSwitchover { action: "promote a node", why }.into())
    }

    fn watch(&self) -> Asked {
        Asked::Galera { client: self.programs.client().clone(), writer: Arc::clone(&self.writer) }
    }

    fn settings(&self, ground: &Ground) -> Result<Vec<(String, String)>, InstanceError> {
        let node = ground.nodes.iter().find(|seat| self.is_member(seat)).unwrap_or(&ground.nodes[0]);
        let options = self.programs.values(node, "VARIABLES", "wsrep_provider_options")?;
        let options = options.first().map(|(_, value)| value.clone()).unwrap_or_default();
        let known =
            |key: &str| ["evs.", "gmcast.peer_timeout", "pc."].iter().any(|begin| key.starts_with(begin));
        let options = options.split(';').filter_map(|one| one.split_once('='));
        let options = options.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        let mut all: Vec<(String, String)> = options.filter(|(key, _)| known(key)).collect();
        let status = self.status(node)?;
        all.extend(status.get("wsrep_provider_version").map(|value| ("galera".to_owned(), value.clone())));
        let version = self.programs.ask(node, "SELECT @@version", LOOK_WITHIN)?;
        all.push(("version".to_owned(), version));
        Ok(all)
    }

    fn url(&self, ground: &Ground) -> String {
        url_of(ground)
    }

    fn server_pid(&self, seat: &mut Seat) -> Option<u32> {
        seat.pid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(clients: u32, members: u32) -> Option<Member> {
        Some(Member { is_ready: true, is_synced: true, only_reads: false, members, clients })
    }

    #[test]
    fn a_member_is_read_from_what_it_says() {
        let told = "WSREP_CLUSTER_SIZE\t3\nWSREP_CLUSTER_STATUS\tPrimary\nWSREP_LOCAL_STATE_COMMENT\tSynced\nWSREP_READY\tON\n\
                    READ_ONLY\t0\nCLIENTS\t4";
        assert_eq!(Some(Member::of(told)), member(4, 3));
        assert!(!Member::of(&told.replace("Primary", "non-Primary")).is_ready);
        assert!(Member::of(&told.replace("READ_ONLY\t0", "READ_ONLY\t1")).only_reads);
        assert!(is_whole(&[member(4, 3), member(0, 3)]));
        assert!(!is_whole(&[member(4, 2), None]) && !is_whole(&[member(4, 2), member(0, 2)]));
    }

    /// A node that hangs for less than the group's patience has its clients still; the other one is not written to.
    #[test]
    fn the_writer_is_where_clients_are_and_stays_until_they_go() {
        let reads = |member: Option<Member>| member.map(|member| Member { only_reads: true, ..member });
        let before = AtomicUsize::new(0);
        for (members, writer) in [
            ([member(0, 3), member(0, 3)], Some(0)),
            ([None, member(0, 3)], None),
            ([None, member(7, 3)], None),
            ([None, member(0, 2)], Some(1)),
            ([member(0, 3), member(7, 3)], Some(1)),
            ([member(0, 3), member(0, 3)], Some(1)),
            ([member(3, 3), member(1, 3)], Some(0)),
            ([reads(member(3, 3)), member(0, 3)], None),
            ([reads(member(0, 3)), member(3, 3)], Some(1)),
            ([None, None], None),
        ] {
            assert_eq!(writer_of(&members, &before), writer, "{members:?}");
        }
    }
}
