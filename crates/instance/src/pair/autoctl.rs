//! PostgreSQL by pg_auto_failover: a monitor, and two nodes of which each has a keeper. The keepers start, promote and demote their
//! servers as the monitor tells them: <https://pg-auto-failover.readthedocs.io/en/main/failover-state-machine.html>.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::ask::{DONE_WITHIN, LOOK_WITHIN, answer};
use super::cluster::Cluster;
use super::error::PairError;
use super::ground::{Ground, Seat};
use super::options::{Timeout, TimeoutOf, TimeoutUnit};
use super::postgres::Programs;
use super::watch::Asked;
use crate::server::{PASSWORD, STARTS_WITHIN, STOPS_WITHIN, USER};
use crate::{InstanceError, program};

/// Where a keeper says who it is, in its node's place.
pub(crate) const RUNTIME: &str = "run";
/// The database of the monitor.
pub(super) const DATABASE: &str = "pg_auto_failover";
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// A switchover waits for the monitor to go through all its states.
const SWITCHES_WITHIN: Duration = Duration::from_secs(120);

/// What decides how fast a failure is believed: <https://pg-auto-failover.readthedocs.io/en/main/ref/configuration.html>.
pub(crate) const TIMEOUTS: [Timeout; 12] = [
    monitor("health_check_period", TimeoutUnit::Milliseconds, Some("500")),
    monitor("health_check_timeout", TimeoutUnit::Milliseconds, Some("500")),
    monitor("health_check_max_retries", TimeoutUnit::Times, Some("2")),
    monitor("health_check_retry_delay", TimeoutUnit::Milliseconds, Some("200")),
    monitor("node_considered_unhealthy_timeout", TimeoutUnit::Milliseconds, Some("2000")),
    monitor("primary_demote_timeout", TimeoutUnit::Milliseconds, Some("1000")),
    monitor("startup_grace_period", TimeoutUnit::Milliseconds, None),
    keeper("network_partition_timeout", TimeoutUnit::Seconds),
    keeper("prepare_promotion_catchup", TimeoutUnit::Seconds),
    keeper("prepare_promotion_walreceiver", TimeoutUnit::Seconds),
    keeper("postgresql_restart_failure_timeout", TimeoutUnit::Seconds),
    keeper("postgresql_restart_failure_max_retries", TimeoutUnit::Times),
];

const fn monitor(key: &'static str, unit: TimeoutUnit, tuned: Option<&'static str>) -> Timeout {
    Timeout { key, unit, tuned, of: TimeoutOf::Monitor }
}

const fn keeper(key: &'static str, unit: TimeoutUnit) -> Timeout {
    Timeout { key, unit, tuned: None, of: TimeoutOf::Keeper }
}

/// A pair that fails over by itself.
#[derive(Debug)]
pub(crate) struct Autoctl {
    keeper: PathBuf,
    programs: Programs,
}

/// A node as the monitor has it.
#[derive(Debug)]
struct Watched {
    name: String,
    reported: String,
    goal: String,
    is_healthy: bool,
}

impl Autoctl {
    pub(crate) fn new(ground: &Ground) -> Result<Self, InstanceError> {
        let programs = Programs::of(program::postgres_of_monitor()?, ground.home.path());
        Ok(Self { keeper: program::pg_autoctl()?, programs })
    }

    /// What must be there.
    pub(crate) fn look() -> Result<(), InstanceError> {
        program::pg_autoctl()?;
        program::postgres_of_monitor().map(drop)
    }

    /// A command of `pg_autoctl` about a node. It keeps what it knows in the node's own place, and knows PostgreSQL by PATH.
    fn command(&self, ground: &Ground, seat: &Seat, words: &[&str]) -> Result<Command, InstanceError> {
        let mut command = ground.command(seat, &self.keeper)?;
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", self.programs.directory.display());
        command.env("PATH", path).env("HOME", &seat.place);
        command
            .env("XDG_CONFIG_HOME", seat.kept().join("config"))
            .env("XDG_DATA_HOME", seat.kept().join("state"));
        command.env("XDG_RUNTIME_DIR", seat.place.join(RUNTIME));
        command.env("PGUSER", USER).env("PGPASSWORD", PASSWORD).env("PGHOST", ground.home.path());
        command.args(words).arg("--pgdata").arg(seat.data());
        Ok(command)
    }

    fn monitor_seat<'a>(&self, ground: &'a Ground) -> Result<&'a Seat, InstanceError> {
        ground.witness.as_ref().ok_or_else(|| no_node("monitor"))
    }

    /// Makes the monitor, with its timeouts, and has it run.
    fn start_monitor(
        &self,
        ground: &mut Ground,
        timeouts: &BTreeMap<&'static str, String>,
    ) -> Result<(), InstanceError> {
        let seat = ground.seat("monitor", true)?;
        make_keeper(ground, &seat)?;
        let set = timeouts_of(timeouts, TimeoutOf::Monitor)
            .map(|(key, value)| (format!("pgautofailover.{key}"), value));
        let set: Vec<(String, &str)> = set.collect();
        let mut settings = vec![("shared_buffers", "16MB")];
        settings.extend(set.iter().map(|(key, value)| (key.as_str(), *value)));
        let user = format!("CREATE USER autoctl_node PASSWORD '{PASSWORD}';");
        self.programs.make_cluster(ground, &seat, &settings, &[user], "pgautofailover")?;
        let mut create = self.command(ground, &seat, &["create", "monitor"])?;
        create.args([
            "--pgport",
            &seat.port.to_string(),
            "--hostname",
            &seat.host().to_string(),
            "--skip-pg-hba",
            "--no-ssl",
        ]);
        ground.prepare(&seat, "pg_autoctl create monitor", create)?;
        self.configure(ground, &seat, "postgresql.listen_addresses", seat.listens_at())?;
        let mut seat = seat;
        seat.start("pg_autoctl", self.command(ground, &seat, &["run"])?)?;
        ground.witness = Some(seat);
        Ok(())
    }

    /// Sets what `pg_autoctl` reads when it starts.
    fn configure(&self, ground: &Ground, seat: &Seat, key: &str, value: &str) -> Result<(), InstanceError> {
        let mut set = self.command(ground, seat, &["config", "set"])?;
        set.args([key, value]);
        answer("pg_autoctl config set", seat.name, set, DONE_WITHIN).map(drop)
    }

    /// Makes a node whose keeper runs on, and registers with the monitor.
    fn start_new(&self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        let monitor = self.monitor_seat(ground)?;
        let monitor = format!("{}:{}", monitor.host(), monitor.port);
        let seat = &ground.nodes[number];
        let mut create = self.command(ground, seat, &["create", "postgres"])?;
        create.args(["--pgport", &seat.port.to_string(), "--listen", seat.listens_at(), "--username", USER]);
        create
            .arg("--pghost")
            .arg(ground.home.path())
            .args(["--hostname", &seat.host().to_string()])
            .args(["--name", seat.name]);
        create.args(["--skip-pg-hba", "--no-ssl", "--run", "--monitor"]);
        create.arg(format!("postgres://autoctl_node:{PASSWORD}@{monitor}/{DATABASE}?sslmode=prefer"));
        ground.nodes[number].start("pg_autoctl", create)
    }

    /// Waits until the first node is known: the second to register follows it.
    fn await_first(&self, ground: &mut Ground) -> Result<(), InstanceError> {
        let deadline = Instant::now() + STARTS_WITHIN;
        loop {
            if self.watched(ground).is_ok_and(|nodes| nodes.iter().any(|node| node.reported == "single")) {
                return Ok(());
            }
            ground.refuse_if_ended("pg_autoctl")?;
            if Instant::now() > deadline {
                return Err(ground.not_reached("registered", STARTS_WITHIN, self.state(ground)));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// The monitor's own table of the nodes.
    fn watched(&self, ground: &Ground) -> Result<Vec<Watched>, InstanceError> {
        let monitor = self.monitor_seat(ground)?;
        let asked =
            "SELECT nodename, reportedstate, goalstate, health FROM pgautofailover.node ORDER BY nodename";
        let told = self.programs.psql.ask((monitor.name, monitor.port), DATABASE, asked, LOOK_WITHIN)?;
        let rows = told.lines().map(|line| line.split('|').collect::<Vec<&str>>());
        Ok(rows.filter_map(|row| watched(&row)).collect())
    }
}

/// Makes the directories of a keeper: what it is to know after a loss of power lies with the data.
fn make_keeper(ground: &Ground, seat: &Seat) -> Result<(), InstanceError> {
    for kept in ["config", "state"] {
        seat.make(kept, ground.home.user())?;
    }
    seat.make_here(RUNTIME, ground.home.user()).map(drop)
}

fn watched(row: &[&str]) -> Option<Watched> {
    let [name, reported, goal, health] = row else { return None };
    let [name, reported, goal] = [name, reported, goal].map(|word| (*word).to_owned());
    Some(Watched { name, reported, goal, is_healthy: *health == "1" })
}

fn timeouts_of<'a>(
    timeouts: &'a BTreeMap<&'static str, String>,
    of: TimeoutOf,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    let is_of = move |key: &str| TIMEOUTS.iter().any(|one| one.key == key && one.of == of);
    timeouts.iter().filter(move |(key, _)| is_of(key)).map(|(key, value)| (*key, value.as_str()))
}

fn no_node(name: &str) -> InstanceError {
    PairError::NoNode { name: name.to_owned(), known: "no monitor".to_owned() }.into()
}

impl Cluster for Autoctl {
    fn assemble(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let timeouts = ground.options.timeouts(&TIMEOUTS)?;
        self.programs.write_shared(ground)?;
        self.start_monitor(ground, &timeouts)?;
        for (name, has_data) in [("node1", true), ("node2", false)] {
            let seat = ground.seat_node(name, has_data)?;
            make_keeper(ground, &seat)?;
            ground.nodes.push(seat);
        }
        let settings = Programs::settings_of(ground);
        let replicator = format!("CREATE USER pgautofailover_replicator REPLICATION PASSWORD '{PASSWORD}';");
        self.programs.make_cluster(ground, &ground.nodes[0], &settings, &[replicator], "")?;
        ground.limit()?;
        self.start_new(ground, 0)?;
        self.await_first(ground)?;
        self.start_new(ground, 1)
    }

    fn started(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let timeouts = ground.options.timeouts(&TIMEOUTS)?;
        let of_keepers: Vec<_> = timeouts_of(&timeouts, TimeoutOf::Keeper).collect();
        if of_keepers.is_empty() {
            return Ok(());
        }
        for seat in &ground.nodes {
            for (key, value) in &of_keepers {
                self.configure(ground, seat, &format!("timeout.{key}"), value)?;
            }
        }
        ground.nodes.iter_mut().try_for_each(|seat| seat.signal(Signal::HUP))
    }

    fn start_node(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        let command = self.command(ground, &ground.nodes[number], &["run"])?;
        ground.nodes[number].start("pg_autoctl", command)
    }

    fn start_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let command = self.command(ground, self.monitor_seat(ground)?, &["run"])?;
        ground.witness.as_mut().map_or(Ok(()), |seat| seat.start("pg_autoctl", command))?;
        (0..ground.nodes.len()).try_for_each(|number| self.start_node(ground, number))
    }

    /// The last first: the first node is the primary as a rule, and goes when nobody is left to take over.
    fn stop_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let order = ground.nodes.iter_mut().rev().chain(&mut ground.witness);
        order.into_iter().try_for_each(|seat| self.stop_seat(seat))
    }

    fn stop_seat(&mut self, seat: &mut Seat) -> Result<(), InstanceError> {
        seat.stop("pg_autoctl", Signal::TERM, STOPS_WITHIN)
    }

    fn writers(&self, ground: &Ground) -> Vec<bool> {
        ground.nodes.iter().map(|seat| self.programs.accepts_writes(seat)).collect()
    }

    fn is_redundant(&self, ground: &Ground) -> Result<bool, InstanceError> {
        let nodes = self.watched(ground)?;
        let is = |state: &str| {
            let found = nodes.iter().find(|node| node.reported == state && node.goal == state);
            found.filter(|node| node.is_healthy)
        };
        let (Some(primary), Some(_)) = (is("primary"), is("secondary")) else { return Ok(false) };
        let Some(seat) = ground.nodes.iter().find(|seat| seat.name == primary.name) else { return Ok(false) };
        Ok(self.programs.standbys(seat)?.0 > 0)
    }

    fn state(&self, ground: &Ground) -> String {
        match self.watched(ground) {
            Ok(nodes) if nodes.is_empty() => "none has registered with the monitor".to_owned(),
            Ok(nodes) => {
                let told = nodes.iter().map(|node| {
                    let health = if node.is_healthy { "healthy" } else { "not healthy" };
                    format!("{} is {} (goal: {}), {health}", node.name, node.reported, node.goal)
                });
                told.collect::<Vec<_>>().join("; ")
            }
            Err(error) => format!("the monitor does not answer: {error}"),
        }
    }

    fn switchover(&mut self, ground: &mut Ground) -> Result<(), InstanceError> {
        let monitor = self.monitor_seat(ground)?;
        let switch = self.command(ground, monitor, &["perform", "switchover"])?;
        answer("pg_autoctl perform switchover", monitor.name, switch, SWITCHES_WITHIN).map(drop)
    }

    fn promote(&mut self, _: &mut Ground, _: usize) -> Result<(), InstanceError> {
        let why = "the monitor decides which node is the primary: use a switchover".to_owned();
        Err(PairError::NoSwitchover { action: "promote a node", why }.into())
    }

    fn settings(&self, ground: &Ground) -> Result<Vec<(String, String)>, InstanceError> {
        let monitor = self.monitor_seat(ground)?;
        let of_monitor = self.programs.settings(monitor, DATABASE, "name LIKE 'pgautofailover.%'")?;
        let mut all: Vec<(String, String)> = of_monitor;
        let node = &ground.nodes[0];
        for timeout in TIMEOUTS.iter().filter(|one| one.of == TimeoutOf::Keeper) {
            let mut get = self.command(ground, node, &["config", "get"])?;
            get.arg(format!("timeout.{}", timeout.key));
            let value = answer("pg_autoctl config get", node.name, get, LOOK_WITHIN)?;
            all.push((format!("timeout.{}", timeout.key), value));
        }
        let mut version = ground.command(node, &self.keeper)?;
        version.arg("--version");
        let told = answer("pg_autoctl version", node.name, version, LOOK_WITHIN)?;
        all.extend(told.lines().next().map(|line| ("version".to_owned(), line.to_owned())));
        Ok(all)
    }

    fn watch(&self) -> Asked {
        Asked::Postgres { psql: self.programs.psql.clone(), is_synchronous: true }
    }

    fn url(&self, ground: &Ground) -> String {
        super::postgres::url_of(ground)
    }

    fn server_pid(&self, seat: &mut Seat) -> Option<u32> {
        super::postgres::server_pid(seat)
    }
}
