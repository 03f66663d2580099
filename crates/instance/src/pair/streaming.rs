//! PostgreSQL by streaming replication without anybody who decides: one node writes, the others follow it, and one of them takes
//! over when it is told to. Asynchronous, or with a quorum of two standbys.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::ask::{DONE_WITHIN, LOOK_WITHIN};
use super::cluster::Cluster;
use super::error::PairError;
use super::ground::{Ground, Seat};
use super::options::PairKind;
use super::postgres::{Programs, server_pid, url_of};
use super::watch::Asked;
use super::{processes, wal_receiver};
use crate::directory::give_to;
use crate::postgres::postmaster_of;
use crate::server::{PASSWORD, STARTS_WITHIN, STOPS_WITHIN, USER};
use crate::{InstanceError, program};

const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The file whose presence makes a server a standby.
const STANDBY: &str = "standby.signal";

/// Nodes of which one leads.
#[derive(Debug)]
pub(crate) struct Streaming {
    programs: Programs,
    names: &'static [&'static str],
    /// Whether a commit waits for a standby.
    is_synchronous: bool,
    /// Ours, before those of a user.
    settings: &'static [(&'static str, &'static str)],
    /// Number of the node that the others are to follow.
    leader: usize,
    /// How often another node has taken over, and up to which of these each node has followed. What has not followed may have what the
    /// leader does not, and begins with a new copy.
    terms: u32,
    followed: Vec<u32>,
}

impl Streaming {
    pub(crate) fn new(kind: PairKind, ground: &Ground) -> Result<Self, InstanceError> {
        let (names, settings): (&'static [_], &'static [_]) = match kind {
            // Whoever waits for a quorum names all: a node never is its own standby.
            PairKind::Quorum => (
                &["node1", "node2", "node3"],
                &[("synchronous_standby_names", "ANY 1 (node1, node2, node3)")],
            ),
            PairKind::Async | PairKind::Sync => (&["node1", "node2"], &[("synchronous_commit", "local")]),
        };
        let programs = Programs::of(Self::look()?, ground.home.path());
        let is_synchronous = kind != PairKind::Async;
        let followed = vec![0; names.len()];
        Ok(Self { programs, names, is_synchronous, settings, leader: 0, terms: 0, followed })
    }

    /// The directory of the programs.
    pub(crate) fn look() -> Result<PathBuf, InstanceError> {
        let server = program::of_postgres("postgres")?;
        // What is linked into PATH stands beside the others; those of Debian's PATH are a wrapper of several versions.
        let server = std::fs::canonicalize(&server).map_err(InstanceError::file("look at", server))?;
        let beside = server.parent().map(PathBuf::from).unwrap_or_default();
        let missing =
            ["initdb", "psql", "pg_basebackup"].into_iter().find(|name| !beside.join(name).is_file());
        missing.map_or(Ok(beside), |program| {
            let searched = "the directory of the server `postgres`";
            Err(InstanceError::NotInstalled { program, searched, package: "postgresql" })
        })
    }

    /// Starts a node as what its data say that it is, and waits until it answers.
    fn run(&self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        let seat = &ground.nodes[number];
        let mut command = ground.command(seat, &self.programs.path("postgres"))?;
        command.arg("-D").arg(seat.data()).args(["-p", &seat.port.to_string()]);
        command.arg("-c").arg(format!("listen_addresses={}", seat.listens_at()));
        if number != self.leader {
            command.args(["-c", &format!("primary_conninfo={}", self.leader_address(ground, number))]);
            command.args(["-c", &format!("primary_slot_name={}", seat.name)]);
        }
        let seat = &mut ground.nodes[number];
        seat.start("postgres", command)?;
        let (data, pid) = (seat.data(), seat.pid());
        let is_ready =
            || postmaster_of(&data).is_some_and(|(of_file, is_ready)| is_ready && Some(of_file) == pid);
        let deadline = Instant::now() + STARTS_WITHIN;
        while !is_ready() {
            ground.refuse_if_ended_at(number, "postgres")?;
            if Instant::now() > deadline {
                return Err(ground.not_reached("ready", STARTS_WITHIN, self.state(ground)));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// Where the leader is, for a node that follows it under its own name.
    fn leader_address(&self, ground: &Ground, number: usize) -> String {
        let (leader, follower) = (&ground.nodes[self.leader], &ground.nodes[number]);
        format!(
            "host={} port={} user={USER} password={PASSWORD} application_name={} connect_timeout=5",
            leader.host(),
            leader.port,
            follower.name
        )
    }

    fn ask(&self, seat: &Seat, statement: &str, limit: Duration) -> Result<String, InstanceError> {
        self.programs.psql.ask((seat.name, seat.port), "postgres", statement, limit)
    }

    /// Has the leader keep what a follower has not got yet. It writes nothing that would have to be acknowledged.
    fn keep_slot(&self, ground: &Ground, number: usize) -> Result<(), InstanceError> {
        let name = ground.nodes[number].name;
        let make = format!(
            "SELECT pg_create_physical_replication_slot('{name}', true) \
             WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = '{name}')"
        );
        self.ask(&ground.nodes[self.leader], &make, DONE_WITHIN).map(drop)
    }

    /// Makes a node anew of a copy of the leader.
    fn copy(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        self.keep_slot(ground, number)?;
        let seat = &ground.nodes[number];
        seat.empty()?;
        let mut copying = ground.command(seat, &self.programs.path("pg_basebackup"))?;
        copying.arg("--dbname").arg(self.leader_address(ground, number)).arg("--pgdata").arg(seat.data());
        copying.args([
            "--checkpoint=fast",
            "--wal-method=stream",
            "--no-sync",
            &format!("--slot={}", seat.name),
        ]);
        ground.prepare(seat, "pg_basebackup", copying)?;
        self.followed[number] = self.terms;
        self.make_standby(ground, number)
    }

    fn make_standby(&self, ground: &Ground, number: usize) -> Result<(), InstanceError> {
        let seat = &ground.nodes[number];
        let path = seat.data().join(STANDBY);
        let data = ownership::open_trusted(&seat.data()).map_err(InstanceError::file("open", seat.data()))?;
        match data.create_private(OsStr::new(STANDBY)) {
            Ok((file, _)) => give_to(ground.home.user(), &file, &path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(InstanceError::file("make", path)(error)),
        }
    }

    /// The follower that runs and has the most of what the leader wrote.
    fn foremost(&self, ground: &Ground) -> Result<usize, InstanceError> {
        let reached = |number: &usize| {
            let asked =
                "SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn";
            let told = self.ask(&ground.nodes[*number], asked, LOOK_WITHIN).ok()?;
            told.parse::<u64>().ok().map(|reached| (reached, std::cmp::Reverse(*number)))
        };
        let all = (0..ground.nodes.len()).filter(|&number| number != self.leader);
        let reached: Vec<_> = all.filter_map(|number| reached(&number)).collect();
        reached.into_iter().max().map(|(_, std::cmp::Reverse(number))| number).ok_or_else(|| {
            let (action, why) =
                ("switch over", format!("no standby answers; its nodes: {}", self.state(ground)));
            PairError::NoSwitchover { action, why }.into()
        })
    }

    fn lead(&mut self, ground: &Ground, number: usize) -> Result<(), InstanceError> {
        let seat = &ground.nodes[number];
        let has_ended = end_held_receiver(seat)?;
        let deadline = Instant::now() + STARTS_WITHIN;
        loop {
            match self.promote_once(seat) {
                Ok(()) => break,
                // It begins anew, and the answer may have been lost with the session.
                Err(_) if has_ended && self.programs.accepts_writes(seat) => break,
                Err(_) if has_ended && Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
                Err(error) => return Err(error),
            }
        }
        self.leader = number;
        self.terms += 1;
        self.followed[number] = self.terms;
        Ok(())
    }

    fn promote_once(&self, seat: &Seat) -> Result<(), InstanceError> {
        let limit = DONE_WITHIN.as_secs();
        let told = self.ask(seat, &format!("SELECT pg_promote(true, {limit})"), DONE_WITHIN + LOOK_WITHIN)?;
        let why = || format!("{} did not become a primary within {limit} s", seat.name);
        (told == "t")
            .then_some(())
            .ok_or_else(|| PairError::NoSwitchover { action: "promote", why: why() }.into())
    }

    /// Has a node that has nothing which the leader has not follow it from now on.
    fn follow(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        self.stop_seat(&mut ground.nodes[number])?;
        self.keep_slot(ground, number)?;
        self.make_standby(ground, number)?;
        self.followed[number] = self.terms;
        self.run(ground, number)?;
        // Those for its own followers of before would keep its log for ever.
        let forget = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active";
        self.ask(&ground.nodes[number], forget, DONE_WITHIN).map(drop)
    }
}

/// A promotion waits for the end of what receives the log, and what stands still does not end when it is asked to: it is killed, and the
/// server begins anew with what it has written. Whether that was done.
fn end_held_receiver(seat: &Seat) -> Result<bool, InstanceError> {
    let pid = server_pid(seat);
    let held = wal_receiver(seat, pid)?.filter(|one| processes::is_stopped(one.pid));
    let Some(held) = held else { return Ok(false) };
    processes::signal(&[held], Signal::KILL)?;
    Ok(true)
}

impl Cluster for Streaming {
    fn assemble(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        ground.options.timeouts(&[])?;
        self.programs.write_shared(ground)?;
        for name in self.names {
            let seat = ground.seat_node(name, true)?;
            ground.nodes.push(seat);
        }
        let mut settings = self.settings.to_vec();
        settings.extend(ground.options.node().settings());
        self.programs.make_cluster(ground, &ground.nodes[0], &settings, &[], "")?;
        ground.limit()?;
        self.run(ground, 0)?;
        for number in 1..ground.nodes.len() {
            self.copy(ground, number)?;
            self.run(ground, number)?;
        }
        Ok(())
    }

    fn started(&mut self, _: &mut Ground) -> Result<(), InstanceError> {
        Ok(())
    }

    fn start_node(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        if let Some(pid) = ground.nodes[number].pid() {
            return Err(InstanceError::Running { program: "postgres", pid });
        }
        ground.nodes[number].await_rest()?;
        if number != self.leader && self.followed[number] != self.terms {
            self.copy(ground, number)?;
        }
        self.run(ground, number)
    }

    fn leader(&self) -> Option<usize> {
        Some(self.leader)
    }

    fn start_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let all: Vec<usize> = (0..ground.nodes.len()).collect();
        self.start_nodes(ground, &all)
    }

    /// The leader first, since it waits until the others have what it wrote.
    fn stop_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        self.stop_seat(&mut ground.nodes[self.leader])?;
        ground.nodes.iter_mut().try_for_each(|seat| self.stop_seat(seat))
    }

    fn writers(&self, ground: &Ground) -> Vec<bool> {
        ground.nodes.iter().map(|seat| self.programs.accepts_writes(seat)).collect()
    }

    fn is_redundant(&self, ground: &Ground) -> Result<bool, InstanceError> {
        let (_, all) = self.programs.standbys(&ground.nodes[self.leader])?;
        Ok(all + 1 == ground.nodes.len())
    }

    fn state(&self, ground: &Ground) -> String {
        let asked = "SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE 'a primary' END || ', followed by ' || count(*) \
                     FROM pg_stat_replication WHERE state = 'streaming'";
        let told = ground.nodes.iter().map(|seat| match self.ask(seat, asked, LOOK_WITHIN) {
            Ok(told) => format!("{} is {told}", seat.name),
            Err(_) => format!("{} does not answer", seat.name),
        });
        told.collect::<Vec<_>>().join("; ")
    }

    fn switchover(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let before = self.leader;
        let was_running = ground.nodes[before].pid().is_some();
        // It ends once its standbys have what it wrote.
        self.stop_seat(&mut ground.nodes[before])?;
        let next = self.foremost(ground)?;
        self.lead(ground, next)?;
        for number in 0..ground.nodes.len() {
            let follows = if number == before { was_running } else { ground.nodes[number].pid().is_some() };
            if number != next && follows {
                self.follow(ground, number)?;
            }
        }
        Ok(())
    }

    fn promote(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        self.lead(ground, number)
    }

    fn settings(&self, ground: &Ground) -> Result<Vec<(String, String)>, InstanceError> {
        let condition = "name IN ('server_version', 'synchronous_standby_names', 'synchronous_commit', \
                         'wal_receiver_timeout', 'wal_sender_timeout', 'wal_receiver_status_interval', 'hot_standby_feedback')";
        self.programs.settings(&ground.nodes[self.leader], "postgres", condition)
    }

    fn watch(&self) -> Asked {
        Asked::Postgres { psql: self.programs.psql.clone(), is_synchronous: self.is_synchronous }
    }

    fn url(&self, ground: &Ground) -> String {
        url_of(ground)
    }

    fn server_pid(&self, seat: &mut Seat) -> Option<u32> {
        server_pid(seat)
    }

    fn stop_seat(&mut self, seat: &mut Seat) -> Result<(), InstanceError> {
        seat.stop("postgres", Signal::INT, STOPS_WITHIN)
    }
}
