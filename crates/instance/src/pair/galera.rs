//! MariaDB by Galera: two nodes that hold the same, and an arbitrator that holds nothing and makes a majority with either. Each node takes
//! writes; clients are to write to one, since two would meet each other's locks only at commit.
//! <https://galeracluster.com/library/documentation/arbitrator.html>

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::ask::LOOK_WITHIN;
use super::cluster::Cluster;
use super::error::PairError;
use super::ground::{Ground, Seat};
use super::mariadb::{Programs, stop, url_of};
use super::options::{Timeout, TimeoutOf, TimeoutUnit};
use crate::mysqld::argument;
use crate::server::{STARTS_WITHIN, STOPS_WITHIN};
use crate::{InstanceError, program};

const NAME: &str = "prony";
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// <https://galeracluster.com/library/documentation/galera-parameters.html>
pub(crate) const TIMEOUTS: [Timeout; 6] = [
    timeout("evs.keepalive_period", Some("PT0.3S")),
    timeout("evs.inactive_check_period", Some("PT0.2S")),
    timeout("evs.suspect_timeout", Some("PT1S")),
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
}

/// Where a node talks to others.
#[derive(Clone, Copy, Debug)]
struct Ports {
    group: u16,
    whole: u16,
    missed: u16,
}

impl Galera {
    pub(crate) fn new(ground: &Ground) -> Result<Self, InstanceError> {
        let timeouts = ground.options.timeouts(&TIMEOUTS)?;
        let (provider, arbitrator) = (program::galera()?, program::garbd()?);
        Ok(Self { programs: Programs::find()?, provider, arbitrator, timeouts, ports: Vec::new() })
    }

    pub(crate) fn look() -> Result<(), InstanceError> {
        Programs::find()?;
        program::galera()?;
        program::garbd()?;
        program::rsync().map(drop)
    }

    /// Where the members of the group are.
    fn group(&self) -> String {
        let all: Vec<String> = self.ports.iter().map(|ports| format!("127.0.0.1:{}", ports.group)).collect();
        format!("gcomm://{}", all.join(","))
    }

    fn options_of(&self, listen: u16) -> String {
        let timeouts = self.timeouts.iter().map(|(key, value)| format!(";{key}={value}"));
        format!(
            "gmcast.listen_addr=tcp://127.0.0.1:{listen};base_port={listen}{}",
            timeouts.collect::<String>()
        )
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
            format!("--wsrep-node-address=127.0.0.1:{}", ports.group).into(),
            format!("--wsrep-sst-receive-address=127.0.0.1:{}", ports.whole).into(),
            format!(
                "--wsrep-provider-options={};ist.recv_addr=127.0.0.1:{}",
                self.options_of(ports.group),
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
        garbd.args(["--options", &self.options_of(seat.port)]).arg("--workdir").arg(&seat.place);
        ground.witness.as_mut().map_or(Ok(()), |seat| seat.start("garbd", garbd))
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

    fn is_member(&self, seat: &Seat) -> bool {
        let status = self.status(seat).unwrap_or_default();
        let is = |name: &str, wanted: &str| status.get(name).is_some_and(|value| value == wanted);
        is("wsrep_ready", "ON") && is("wsrep_cluster_status", "Primary")
    }
}

/// Whether a node was the last that was stopped in order, and so has all.
fn was_last(seat: &Seat) -> bool {
    let text = std::fs::read_to_string(seat.data().join("grastate.dat")).unwrap_or_default();
    text.lines().any(|line| line.replace(' ', "") == "safe_to_bootstrap:1")
}

impl Cluster for Galera {
    fn assemble(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        for name in ["node1", "node2"] {
            let seat = ground.seat(name, true)?;
            ground.nodes.push(seat);
            let (group, whole, missed) = (ground.free_port()?, ground.free_port()?, ground.free_port()?);
            self.ports.push(Ports { group, whole, missed });
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
        others.into_iter().try_for_each(|number| self.start_node(ground, number))
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

    /// Of several members the first is the one to write to.
    fn accepts_writes(&self, ground: &Ground, number: usize) -> bool {
        let is_after_another = ground.nodes[..number].iter().any(|seat| self.is_member(seat));
        !is_after_another && self.is_member(&ground.nodes[number])
    }

    fn is_redundant(&self, ground: &Ground) -> Result<bool, InstanceError> {
        let mut all = true;
        for seat in &ground.nodes {
            let status = self.status(seat)?;
            let is = |name: &str, wanted: &str| status.get(name).is_some_and(|value| value == wanted);
            all &= is("wsrep_local_state_comment", "Synced")
                && is("wsrep_cluster_size", "3")
                && is("wsrep_ready", "ON");
        }
        Ok(all)
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

    /// There is nothing to switch: whoever writes to the other node has switched.
    fn switchover(&mut self, _: &mut Ground) -> Result<(), InstanceError> {
        let why = "every node of Galera takes writes: stop the first, or write to another".to_owned();
        Err(PairError::NoSwitchover { action: "switch over", why }.into())
    }

    fn promote(&mut self, ground: &mut Ground, _: usize) -> Result<(), InstanceError> {
        self.switchover(ground)
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
