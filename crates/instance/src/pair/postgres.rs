//! What pairs of PostgreSQL have in common: their clusters, who may connect, and what their nodes are asked.

use std::path::{Path, PathBuf};

use super::ask::{LOOK_WITHIN, Psql};
use super::error::PairError;
use super::ground::{Ground, Seat};
use super::network::ADDRESSES;
use crate::InstanceError;
use crate::process::command;
use crate::server::{PASSWORD, USER};

/// Who may connect. The socket lies in a directory of the servers' user alone. The monitor's user can do nothing but connect, and
/// has a password that everybody knows.
const HBA: &str = "local all all trust\n\
                   local replication all trust\n\
                   host all pgautofailover_monitor {from} trust\n\
                   host all all {from} scram-sha-256\n\
                   host replication all {from} scram-sha-256\n";

/// Settings that a keeper computes from the size of the machine; these are PostgreSQL's own, so that a pair is what a single server
/// is. What a user sets wins.
const OWN_DEFAULTS: [(&str, &str); 8] = [
    ("track_functions", "none"),
    ("shared_buffers", "128MB"),
    ("work_mem", "4MB"),
    ("maintenance_work_mem", "64MB"),
    ("effective_cache_size", "4GB"),
    ("autovacuum_vacuum_scale_factor", "0.2"),
    ("autovacuum_analyze_scale_factor", "0.1"),
    ("log_lock_waits", "off"),
];

/// The programs of one version, and how its servers are asked.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) directory: PathBuf,
    pub(crate) psql: Psql,
}

impl Programs {
    pub(crate) fn of(directory: PathBuf, sockets: &Path) -> Self {
        let psql = Psql { program: directory.join("psql"), sockets: sockets.to_owned() };
        Self { directory, psql }
    }

    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.directory.join(program)
    }

    /// Writes what all nodes share: who may connect, and the password.
    pub(crate) fn write_shared(&self, ground: &Ground) -> Result<(), InstanceError> {
        let from = if ground.network.is_some() { ADDRESSES } else { "127.0.0.1/32" };
        ground.home.write("hba.conf", &HBA.replace("{from}", from))?;
        ground.home.write("password", &format!("{PASSWORD}\n")).map(drop)
    }

    /// Makes an empty cluster in a node's place and has it keep settings, also those of a library that is `preloaded`. Nothing of an
    /// empty cluster is worth waiting for a disk.
    pub(crate) fn make_cluster(
        &self,
        ground: &Ground,
        seat: &Seat,
        settings: &[(&str, &str)],
        statements: &[String],
        preloaded: &str,
    ) -> Result<(), InstanceError> {
        let mut initdb = command(&self.path("initdb"), ground.home.user(), None)?;
        initdb.args(["--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8"]);
        initdb.arg("--auth=scram-sha-256").arg(format!("--username={USER}"));
        initdb.arg("--pwfile").arg(ground.home.path().join("password")).arg("--pgdata").arg(seat.data());
        ground.prepare(seat, "initdb", initdb)?;
        let home = ground.home.path();
        let shared = [
            format!("ALTER SYSTEM SET hba_file = '{}';", home.join("hba.conf").display()),
            format!("ALTER SYSTEM SET unix_socket_directories = '{}';", home.display()),
        ];
        let set = settings.iter().map(|(name, value)| {
            format!("ALTER SYSTEM SET {} = '{}';", quoted(name), value.replace('\'', "''"))
        });
        let all: Vec<String> = shared.into_iter().chain(set).chain(statements.iter().cloned()).collect();
        self.tell_alone(ground, seat, &all, preloaded)
    }

    /// Has a server of one user do statements, each on a line. It goes on after a mistake: what it said is looked through.
    fn tell_alone(
        &self,
        ground: &Ground,
        seat: &Seat,
        statements: &[String],
        preloaded: &str,
    ) -> Result<(), InstanceError> {
        let file = ground.home.write(&format!("{}.sql", seat.name), &(statements.join("\n") + "\n"))?;
        let input = std::fs::File::open(&file).map_err(InstanceError::file("open", file))?;
        let mut single = command(&self.path("postgres"), ground.home.user(), None)?;
        single.args(["--single", "-D"]).arg(seat.data()).args(["-c", "log_checkpoints=off"]);
        single.arg("-c").arg(format!("shared_preload_libraries={preloaded}")).arg("postgres");
        ground.prepare_from(seat, "postgres --single", single, input)
    }

    /// Whether a node's server takes writes now. One that does not answer does not.
    pub(crate) fn accepts_writes(&self, seat: &Seat) -> bool {
        let asked =
            "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'";
        let told = self.psql.ask((seat.name, seat.port), "postgres", asked, LOOK_WITHIN);
        told.is_ok_and(|told| told == "t")
    }

    /// How many standbys of a node stream, by how their commits are awaited: `(synchronous, all)`.
    pub(crate) fn standbys(&self, seat: &Seat) -> Result<(usize, usize), InstanceError> {
        let asked = "SELECT count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')), count(*) \
                     FROM pg_stat_replication WHERE state = 'streaming' AND application_name <> 'pg_basebackup'";
        let told = self.psql.ask((seat.name, seat.port), "postgres", asked, LOOK_WITHIN)?;
        let counts =
            told.split_once('|').and_then(|(some, all)| Some((some.parse().ok()?, all.parse().ok()?)));
        counts.ok_or_else(|| {
            PairError::Asked { program: "psql", node: seat.name.to_owned(), said: told.clone() }.into()
        })
    }

    /// Values of settings as a node's server has them.
    pub(crate) fn settings(
        &self,
        seat: &Seat,
        database: &str,
        condition: &str,
    ) -> Result<Vec<(String, String)>, InstanceError> {
        let asked = format!(
            "SELECT name, setting || coalesce(' ' || unit, '') FROM pg_settings WHERE {condition} ORDER BY name"
        );
        let told = self.psql.ask((seat.name, seat.port), database, &asked, LOOK_WITHIN)?;
        let pairs = told.lines().filter_map(|line| line.split_once('|'));
        Ok(pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    /// What a node is started with, a user's settings after our own.
    pub(crate) fn settings_of(ground: &Ground) -> Vec<(&str, &str)> {
        OWN_DEFAULTS.into_iter().chain(ground.options.node().settings()).collect()
    }
}

/// A setting's name as an identifier, a part before a dot apart.
fn quoted(name: &str) -> String {
    let parts: Vec<String> =
        name.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect();
    parts.join(".")
}

/// Address of all nodes, of which the one that writes is taken.
pub(crate) fn url_of(ground: &Ground) -> String {
    let hosts: Vec<String> = ground.nodes.iter().map(Seat::address).collect();
    format!("postgres://{USER}:{PASSWORD}@{}/postgres?target_session_attrs=read-write", hosts.join(","))
}

/// The first process of a node's server, if it runs.
pub(crate) fn server_pid(seat: &Seat) -> Option<u32> {
    let data = seat.data();
    let (pid, _) = crate::postgres::postmaster_of(&data)?;
    let members = super::processes::below(&data).ok()?;
    members.iter().any(|one| one.pid == pid).then_some(pid)
}
