//! MariaDB by its own replication with global transaction ids, asynchronous: one node writes, the other follows and takes over when it
//! is told to. <https://mariadb.com/kb/en/gtid/>

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use super::ask::{DONE_WITHIN, LOOK_WITHIN, MariaDbClient};
use super::cluster::Cluster;
use super::error::PairError;
use super::ground::{Ground, Seat};
use super::mariadb::{Programs, socket, stop, url_of};
use super::watch::Asked;
use crate::InstanceError;
use crate::server::{PASSWORD, STOPS_WITHIN, USER};

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Nodes of which one leads. Each keeps all that was ever written in its binary log, so that an empty one can follow from the beginning.
#[derive(Debug)]
pub(crate) struct Replicas {
    programs: Programs,
    leader: usize,
    /// How often another node has taken over, and up to which of these each node has followed. What has not followed may have what the
    /// leader does not, and begins anew.
    terms: u32,
    followed: [u32; 2],
    /// The server id of each node, and the last that was given: one that begins anew gets another, since it would pass over all that it wrote
    /// itself in an earlier life.
    ids: [u32; 2],
    last_id: u32,
}

impl Replicas {
    pub(crate) fn new() -> Result<Self, InstanceError> {
        Ok(Self {
            programs: Programs::find()?,
            leader: 0,
            terms: 0,
            followed: [0; 2],
            ids: [1, 0],
            last_id: 1,
        })
    }

    pub(crate) fn look() -> Result<(), InstanceError> {
        Programs::find().map(drop)
    }

    fn run(&self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        let read_only = u8::from(number != self.leader);
        let own = [
            format!("--server-id={}", self.ids[number]),
            "--log-bin=binlog".to_owned(),
            "--log-slave-updates=1".to_owned(),
            // What the binary log does not have after a crash is taken back, whatever was acknowledged.
            "--sync-binlog=1".to_owned(),
            "--gtid-strict-mode=1".to_owned(),
            format!("--read-only={read_only}"),
        ];
        self.programs.start(ground, number, &own.map(OsString::from))?;
        self.programs.await_greeting(ground, number)
    }

    /// Has a node that runs follow the leader, from what it has itself.
    fn follow(&mut self, ground: &Ground, number: usize) -> Result<(), InstanceError> {
        let leader = &ground.nodes[self.leader];
        let (host, port) = (leader.host(), leader.port);
        let follow = format!(
            "STOP SLAVE; SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_current_pos; \
             CHANGE MASTER TO MASTER_HOST = '{host}', MASTER_PORT = {port}, MASTER_USER = '{USER}', \
             MASTER_PASSWORD = '{PASSWORD}', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos; START SLAVE"
        );
        self.programs.ask(&ground.nodes[number], &follow, DONE_WITHIN)?;
        self.followed[number] = self.terms;
        Ok(())
    }

    /// Makes a node anew, which then gets all from the leader's binary log.
    fn make_anew(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        self.last_id += 1;
        self.ids[number] = self.last_id;
        ground.nodes[number].empty()?;
        self.programs.make_empty(ground, &ground.nodes[number])?;
        self.run(ground, number)?;
        self.follow(ground, number)
    }

    /// What a follower says of itself.
    fn following(&self, seat: &Seat) -> Result<Following, InstanceError> {
        Following::ask(self.programs.client(), (seat.name, &socket(seat)), LOOK_WITHIN)
    }

    /// Ends the leader once its follower has what it wrote, if that follows.
    fn stop_leader(&self, ground: &mut Ground) -> Result<(), InstanceError> {
        let leader = &mut ground.nodes[self.leader];
        if leader.pid().is_none() {
            return Ok(());
        }
        self.programs.ask(leader, "SHUTDOWN WAIT FOR ALL SLAVES", DONE_WITHIN)?;
        leader.await_end("mariadbd", STOPS_WITHIN)
    }

    /// Waits until a follower has done all that it has received.
    fn await_applied(&self, seat: &Seat) -> Result<(), InstanceError> {
        self.programs.ask(seat, "STOP SLAVE IO_THREAD", DONE_WITHIN)?;
        let deadline = Instant::now() + STOPS_WITHIN;
        loop {
            let following = self.following(seat)?;
            if following.has_applied_all() {
                return Ok(());
            }
            let is_late = Instant::now() > deadline;
            if is_late || !following.applies {
                let why = format!(
                    "{} has not applied all changes that it received: {}",
                    seat.name, following.error
                );
                return Err(PairError::NoSwitchover { action: "promote", why }.into());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    fn lead(&mut self, ground: &Ground, number: usize) -> Result<(), InstanceError> {
        let seat = &ground.nodes[number];
        self.await_applied(seat)?;
        self.programs.ask(seat, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0", DONE_WITHIN)?;
        self.leader = number;
        self.terms += 1;
        self.followed[number] = self.terms;
        Ok(())
    }
}

/// Up to where a node that takes writes has written, if it is one.
pub(super) fn leads_at(client: &MariaDbClient, at: (&str, &Path), limit: Duration) -> Option<String> {
    let told = client.ask(at, "SELECT @@GLOBAL.read_only, @@GLOBAL.gtid_binlog_pos", limit).ok()?;
    told.strip_prefix("0").map(|position| position.trim().to_owned())
}

/// The number of a transaction among all that were ever written: the last part of `0-1-7`. Nothing was written yet of an empty one.
fn sequence(position: &str) -> u64 {
    position.rsplit('-').next().and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Of `SHOW SLAVE STATUS`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Following {
    receives: bool,
    applies: bool,
    received: String,
    state: String,
    error: String,
}

impl Following {
    /// What a node says when it is asked by its socket.
    pub(super) fn ask(
        client: &MariaDbClient,
        at: (&str, &Path),
        limit: Duration,
    ) -> Result<Self, InstanceError> {
        client.ask_of_row(at, "SHOW SLAVE STATUS", limit).map(|told| Self::of(&told))
    }

    /// Whether it follows, and has received all that had been written up to a position. What it has received it has.
    pub(super) fn has_received(&self, written: &str) -> bool {
        self.receives && self.applies && sequence(&self.received) >= sequence(written)
    }

    fn of(told: &str) -> Self {
        let value = |name: &str| {
            let lines = told.lines().filter_map(|line| line.trim().split_once(": "));
            lines
                .into_iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.trim().to_owned())
                .unwrap_or_default()
        };
        Self {
            receives: value("Slave_IO_Running") == "Yes",
            applies: value("Slave_SQL_Running") == "Yes",
            received: value("Gtid_IO_Pos"),
            state: value("Slave_SQL_Running_State"),
            error: value("Last_SQL_Error"),
        }
    }

    /// As its own thread says.
    fn has_applied_all(&self) -> bool {
        self.applies && self.state.starts_with("Slave has read all relay log")
    }
}

impl Cluster for Replicas {
    fn assemble(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        for name in ["node1", "node2"] {
            let seat = ground.seat_node(name, true)?;
            ground.nodes.push(seat);
        }
        self.programs.make_empty(ground, &ground.nodes[0])?;
        ground.limit()?;
        self.run(ground, 0)?;
        self.make_anew(ground, 1)
    }

    fn started(&mut self, _: &mut Ground) -> Result<(), InstanceError> {
        Ok(())
    }

    fn start_node(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        if let Some(pid) = ground.nodes[number].pid() {
            return Err(InstanceError::Running { program: "mariadbd", pid });
        }
        if number != self.leader && self.followed[number] != self.terms {
            return self.make_anew(ground, number);
        }
        // A follower goes on by itself.
        self.run(ground, number)
    }

    fn leader(&self) -> Option<usize> {
        Some(self.leader)
    }

    fn start_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        self.start_nodes(ground, &[0, 1])
    }

    fn stop_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        stop(&mut ground.nodes[self.leader])?;
        stop(&mut ground.nodes[1 - self.leader])
    }

    fn stop_seat(&mut self, seat: &mut Seat) -> Result<(), InstanceError> {
        stop(seat)
    }

    fn writers(&self, ground: &Ground) -> Vec<bool> {
        let leads = |seat: &Seat| leads_at(self.programs.client(), (seat.name, &socket(seat)), LOOK_WITHIN);
        ground.nodes.iter().map(|seat| leads(seat).is_some()).collect()
    }

    fn is_redundant(&self, ground: &Ground) -> Result<bool, InstanceError> {
        let leader = &ground.nodes[self.leader];
        let written = self.programs.ask(leader, "SELECT @@GLOBAL.gtid_binlog_pos", LOOK_WITHIN)?;
        Ok(self.following(&ground.nodes[1 - self.leader])?.has_received(&written))
    }

    fn state(&self, ground: &Ground) -> String {
        let told = ground.nodes.iter().map(|seat| match self.following(seat) {
            Ok(following) if following == Following::default() => format!("{} follows nobody", seat.name),
            Ok(following) => {
                let Following { receives, applies, received, state, error } = following;
                format!(
                    "{} receives: {receives}, applies: {applies}, up to {received}: {state} {error}",
                    seat.name
                )
            }
            Err(_) => format!("{} does not answer", seat.name),
        });
        told.collect::<Vec<_>>().join("; ")
    }

    fn switchover(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let (before, next) = (self.leader, 1 - self.leader);
        let was_running = ground.nodes[before].pid().is_some();
        self.stop_leader(ground)?;
        self.lead(ground, next)?;
        if !was_running {
            return Ok(());
        }
        self.run(ground, before)?;
        self.follow(ground, before)
    }

    fn promote(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        self.lead(ground, number)
    }

    fn watch(&self) -> Asked {
        Asked::Replicas(self.programs.client().clone())
    }

    /// What receives is a thread here. One that leads has none any more.
    fn hold_receiver(
        &mut self,
        ground: &Ground,
        number: usize,
        is_held: bool,
    ) -> Result<bool, InstanceError> {
        if number == self.leader {
            return Ok(true);
        }
        let what = if is_held { "STOP SLAVE IO_THREAD" } else { "START SLAVE IO_THREAD" };
        self.programs.ask(&ground.nodes[number], what, DONE_WITHIN)?;
        Ok(true)
    }

    fn settings(&self, ground: &Ground) -> Result<Vec<(String, String)>, InstanceError> {
        let leader = &ground.nodes[self.leader];
        let mut all = Vec::new();
        for name in
            ["version", "sync_binlog", "slave_net_timeout", "innodb_flush_log_at_trx_commit", "binlog_format"]
        {
            all.extend(self.programs.values(leader, "VARIABLES", name)?);
        }
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

    #[test]
    fn a_follower_is_read_from_what_it_says() {
        let told = "*** 1. row ***\n  Slave_IO_Running: No\n Slave_SQL_Running: Yes\n Last_SQL_Error: \n Gtid_IO_Pos: 0-1-7\n\
                    Slave_SQL_Running_State: Slave has read all relay log; waiting for more updates\n";
        let following = Following::of(told);
        assert!(!following.receives && following.has_applied_all() && following.received == "0-1-7");
        assert_eq!(Following::of(""), Following::default());
        let follows = Following { receives: true, ..following };
        assert!(
            follows.has_received("0-1-7") && follows.has_received("0-2-6") && !follows.has_received("0-1-10")
        );
        assert!(follows.has_received(""), "nothing was written yet");
    }
}
