//! Servers that are started for a study, or run already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use database::{Layout, Saving, Url};
use load::{Size, Span};
use serde::{Deserialize, Serialize};
use toml::Value;

use super::database::Cycle;
use super::fault::{Fault, FaultKind, Faults};
use super::quiet::Quiet;

/// A database server that is started, placed and limited for a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// What is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// Addresses of servers that run already, in place of one that is started: as many as there are instances.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "addresses::one_text")]
    pub at: Vec<Url>,
    /// Command that starts them again, of servers that run already; an empty one is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
    /// Directory of its data; of servers that run already, one of their machine, in which databases lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Directory of its log, if that is apart from the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// Directories of tablespaces, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tablespaces: BTreeMap<String, PathBuf>,
    /// Memory that it may use, its part of the file cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// Processors that it may use; parts count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// The processors that it runs on, such as `0-3,8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_set: Option<String>,
    /// Reads a second that its disks answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u64>,
    /// Writes a second that its disks answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u64>,
    /// Bytes a second that are read from its disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<Size>,
    /// Bytes a second that are written to its disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<Size>,
    /// Settings of the server, by their own names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// How many of it are started, each with its part of the databases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// Whether others stand by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// Directories of its nodes' data, each on a volume of its own, in the order of the nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<PathBuf>,
    /// How fast they believe that it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover: Option<Failover>,
    /// Timeouts of that, by the names and in the units of the tool that decides.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub timeouts: BTreeMap<String, Value>,
    /// What is broken of it while a trial runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Commands by which something of it breaks, by the names that faults give.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fault: BTreeMap<String, String>,
    /// What happens to it between trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_trials: Option<Pristine>,
    /// Whether the kernel forgets what it keeps of its files before each trial, for which it is started again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<bool>,
    /// Time in which it is left alone before each trial, from when it runs as the trial asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Span>,
    /// Its devices are waited for before each trial until they are below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_below: Option<Quiet>,
    /// Time for which they are to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_for: Option<Span>,
    /// The longest that they are waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_within: Option<Span>,
}

/// One of the servers that an entry of a study starts.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedServer {
    /// Name of the entry.
    pub name: String,
    /// Its number among the servers of this entry, from 1; none if it is the only one.
    pub number: Option<u32>,
    /// What is said of it, with its share of the limits.
    pub server: Server,
}

impl StartedServer {
    /// One that is started by itself, and not for a study.
    #[must_use]
    pub fn alone(name: &str, server: &Server) -> Self {
        Self { name: name.to_owned(), number: None, server: server.clone() }
    }

    /// The server of a database, the first of which has number 1: databases are spread over the servers in turn.
    pub(super) fn of(name: &str, server: &Server, database: u32) -> Self {
        let instances = server.instances.unwrap_or(1).max(1);
        let number = (instances > 1).then_some((database - 1) % instances + 1);
        Self { name: name.to_owned(), number, server: server.one_of(instances) }
    }

    /// Whether both keep their data in the same place, whatever they may use.
    #[must_use]
    pub fn has_same_data(&self, other: &Self) -> bool {
        let place = |one: &Self| {
            let Server { engine, data, log, tablespaces, nodes, .. } = &one.server;
            // What joins the nodes of a pair, and their clocks, are made with it.
            let made: Vec<FaultKind> =
                one.server.own_faults().filter(|what| what.is_made_with_pair()).cloned().collect();
            let made = if one.server.pair().is_some() { made } else { Vec::new() };
            let pair = (one.server.pair(), one.server.failover, one.server.timeouts_as_text(), made);
            let places = (data.clone(), log.clone(), tablespaces.clone(), nodes.clone());
            (one.name.clone(), one.number, *engine, places, pair)
        };
        place(self) == place(other)
    }

    /// Its name with its number: `pg`, `pg-2`.
    #[must_use]
    pub fn called(&self) -> String {
        self.number.map_or_else(|| self.name.clone(), |number| format!("{}-{number}", self.name))
    }

    /// An address of its engine, as long as nobody knows the port.
    pub(super) fn placeholder(&self) -> Option<Url> {
        let scheme = match self.server.engine? {
            Engine::Postgres => "postgres",
            Engine::Mariadb | Engine::Mysql => "mysql",
            Engine::Sqlserver => return None,
        };
        let host: String =
            self.called().chars().filter(|sign| sign.is_alphanumeric() || *sign == '-').collect();
        format!("{scheme}://prony@{host}").parse().ok()
    }
}

impl fmt::Display for StartedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = self.server.engine.map_or("database", Engine::called);
        write!(f, "the managed {engine} server {}", self.called())
    }
}

/// What is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
    /// SQL Server.
    Sqlserver,
}

impl Engine {
    /// What it is called.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
            Self::Sqlserver => "SQL Server",
        }
    }
}

/// Servers that stand by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pair {
    /// None.
    None,
    /// One, which takes over by itself; a commit is answered when both have it.
    Sync,
    /// One, which follows and takes over when it is told to.
    Async,
    /// Two, of which one must have a commit before it is answered.
    Quorum,
}

impl Pair {
    /// As a study spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sync => "sync",
            Self::Async => "async",
            Self::Quorum => "quorum",
        }
    }

    /// How many nodes have data.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::None => 1,
            Self::Sync | Self::Async => 2,
            Self::Quorum => 3,
        }
    }
}

/// How fast a failure is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failover {
    /// As the tool has it.
    Default,
    /// Within seconds.
    Tuned,
}

/// What happens to a server between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pristine {
    /// It stays as it is.
    Keep,
    /// It is stopped and started again, with its data as they are.
    Restart,
    /// Its data become what they were before the first trial, and it is started again.
    Restore,
    /// It is made and loaded anew.
    Recreate,
}

/// Addresses as texts.
mod addresses {
    use database::Url;
    use serde::{Deserialize, Deserializer, Serializer};

    /// With commas between them; an empty text has none.
    pub(super) mod one_text {
        use super::{Deserialize, Deserializer, Serializer, Url};

        pub(in super::super) fn serialize<S: Serializer>(
            urls: &[Url],
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            let texts: Vec<String> = urls.iter().map(ToString::to_string).collect();
            serializer.serialize_str(&texts.join(","))
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<Url>, D::Error> {
            let text = String::deserialize(deserializer)?;
            if text.is_empty() {
                return Ok(Vec::new());
            }
            Url::split(&text).into_iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
        }
    }
}

/// Less memory than any server starts in.
const MEMORY_MIN_BYTES: u64 = 64 << 20;
/// Fewer bytes a second than this are a size without its unit: not one block of a file system.
const RATE_MIN_BYTES: u64 = 4 << 10;
/// Most servers of one kind that a study starts.
const INSTANCES_MAX: u32 = 1_000;
/// How long devices are to be quiet, and the longest that they are waited for, where nothing else is said.
const QUIET_FOR: Span = Span::seconds(5);
const QUIET_WITHIN: Span = Span::seconds(600);
/// More processors than a machine has.
const CPUS_MAX: u32 = 65_536;

const NO_FAILOVER: &str = "needs automatic failover. Add pair = \"sync\", or remove it";
const NO_NODES: &str = "needs a replicated pair. Add pair, for example \"sync\", or remove it";
const UNASKED: &str = "no effect without quiet_below, the limit for a quiet device, for example \"5%\"";

/// That there are not as many directories as nodes.
fn wrong_number(nodes: usize) -> &'static str {
    if nodes == 3 {
        "must be three directories, one for each node of the quorum, each on its own volume"
    } else {
        "must be two directories, one for each node of the pair, each on its own volume"
    }
}

impl Server {
    /// This one where it says something, else the lower one.
    pub(super) fn over(&self, lower: &Self) -> Self {
        let (mut settings, mut tablespaces) = (lower.settings.clone(), lower.tablespaces.clone());
        settings.extend(self.settings.clone());
        tablespaces.extend(self.tablespaces.clone());
        let (mut fault, mut timeouts) = (lower.fault.clone(), lower.timeouts.clone());
        timeouts.extend(self.timeouts.clone());
        fault.extend(self.fault.clone());
        Self {
            engine: self.engine.or(lower.engine),
            at: if self.at.is_empty() { lower.at.clone() } else { self.at.clone() },
            restart: self.restart.clone().or_else(|| lower.restart.clone()),
            data: self.data.clone().or_else(|| lower.data.clone()),
            log: self.log.clone().or_else(|| lower.log.clone()),
            tablespaces,
            memory: self.memory.or(lower.memory),
            cpus: self.cpus.or(lower.cpus),
            cpu_set: self.cpu_set.clone().or_else(|| lower.cpu_set.clone()),
            read_iops: self.read_iops.or(lower.read_iops),
            write_iops: self.write_iops.or(lower.write_iops),
            read_rate: self.read_rate.or(lower.read_rate),
            write_rate: self.write_rate.or(lower.write_rate),
            settings,
            instances: self.instances.or(lower.instances),
            pair: self.pair.or(lower.pair),
            nodes: if self.nodes.is_empty() { lower.nodes.clone() } else { self.nodes.clone() },
            failover: self.failover.or(lower.failover),
            timeouts,
            faults: self.faults.clone().or_else(|| lower.faults.clone()),
            fault,
            between_trials: self.between_trials.or(lower.between_trials),
            cold: self.cold.or(lower.cold),
            rest: self.rest.or(lower.rest),
            quiet_below: self.quiet_below.or(lower.quiet_below),
            quiet_for: self.quiet_for.or(lower.quiet_for),
            quiet_within: self.quiet_within.or(lower.quiet_within),
        }
    }

    /// Whether somebody else runs it.
    #[must_use]
    pub fn runs(&self) -> bool {
        !self.at.is_empty()
    }

    /// The address of the server that a database is on, the first of which has number 1, of servers that run already.
    pub(super) fn running(&self, database: u32) -> Option<&Url> {
        let instances = self.instances.unwrap_or(1).max(1);
        self.at.get(((database - 1) % instances) as usize)
    }

    /// Where a database lies on such a server.
    pub(super) fn layout(&self) -> Layout {
        let text = |dir: &PathBuf| dir.to_string_lossy().into_owned();
        Layout {
            data_dirs: self.data.iter().map(text).collect(),
            log_dir: self.log.as_ref().map(text),
            ..Layout::default()
        }
    }

    /// What is done on such a server before a trial.
    pub(super) fn cycle(&self) -> Cycle {
        let restart = self.restart.clone().filter(|command| !command.is_empty());
        let is_restarted = self.between_trials == Some(Pristine::Restart);
        Cycle {
            // A snapshot would cost every trial that it is there in.
            saving: (self.between_trials == Some(Pristine::Restore)).then_some(Saving::Backup),
            anew: self.between_trials == Some(Pristine::Recreate),
            restart: restart.filter(|_| is_restarted),
            cold: self.cold.unwrap_or(false),
            rest: self.rest,
        }
    }

    /// For how long its devices are to be quiet, and the longest that they are waited for.
    #[must_use]
    pub fn quiet_times(&self) -> (Span, Span) {
        (self.quiet_for.unwrap_or(QUIET_FOR), self.quiet_within.unwrap_or(QUIET_WITHIN))
    }

    /// One of so many that share the limits.
    fn one_of(&self, instances: u32) -> Self {
        let share = |limit: u64| (limit / u64::from(instances)).max(1);
        let size = |limit: Size| Size(share(limit.0));
        Self {
            memory: self.memory.map(size),
            cpus: self.cpus.map(|cpus| cpus / f64::from(instances)),
            read_iops: self.read_iops.map(share),
            write_iops: self.write_iops.map(share),
            read_rate: self.read_rate.map(size),
            write_rate: self.write_rate.map(size),
            ..self.clone()
        }
    }

    /// The numbers of the processors that it runs on; empty if any may be.
    ///
    /// # Errors
    /// The text that is no list of numbers.
    pub fn cpu_numbers(&self) -> Result<Vec<u32>, &str> {
        let Some(text) = self.cpu_set.as_deref() else { return Ok(Vec::new()) };
        let mut numbers = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
            match range {
                Some((first, last)) if first <= last && last < CPUS_MAX => numbers.extend(first..=last),
                _ => return Err(part),
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// Its settings as texts, as its engine takes them; the name of the first that is neither text, number nor truth.
    ///
    /// # Errors
    /// The name of a setting that no server takes.
    pub fn settings_as_text(&self) -> Result<Vec<(String, String)>, &str> {
        let text = |(name, value): (&'_ String, &Value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Boolean(is_on) => (if *is_on { "on" } else { "off" }).to_owned(),
                Value::Datetime(_) | Value::Array(_) | Value::Table(_) => return None,
            };
            Some((name.clone(), value))
        };
        self.settings.iter().map(|setting| text(setting).ok_or(setting.0.as_str())).collect()
    }

    /// What of it cannot be, by the keys below its own.
    #[must_use]
    pub fn impossible(&self) -> Vec<(&'static str, &'static str)> {
        let of_place =
            if self.runs() { self.wrong_where_it_runs() } else { self.wrong_where_it_is_started() };
        let wrong = self
            .wrong_limits()
            .into_iter()
            .chain(self.wrong_others())
            .chain(self.wrong_pair())
            .chain(of_place);
        wrong.filter(|&(_, is_wrong, _)| is_wrong).map(|(key, _, problem)| (key, problem)).collect()
    }

    /// The others that stand by, if there are any.
    #[must_use]
    pub fn pair(&self) -> Option<Pair> {
        self.pair.filter(|pair| *pair != Pair::None)
    }

    /// What stands by, who decides that it takes over, and how fast: `sync (pg_auto_failover, tuned)`.
    #[must_use]
    pub fn pair_in_words(&self) -> Option<String> {
        let (pair, is_mariadb) = (self.pair()?, self.engine == Some(Engine::Mariadb));
        if pair != Pair::Sync {
            let by = if is_mariadb { "replication by GTID" } else { "streaming replication" };
            return Some(format!("{} ({by})", pair.name()));
        }
        let failover = match self.failover {
            Some(Failover::Tuned) => "tuned",
            Some(Failover::Default) | None => "with its own timeouts",
        };
        let by = if is_mariadb { "Galera with an arbitrator" } else { "pg_auto_failover" };
        let timeouts = self.timeouts_as_text();
        let set = timeouts.iter().map(|(key, value)| format!(", {key} = {value}"));
        Some(format!("{} ({by}, {failover}{})", pair.name(), set.collect::<String>()))
    }

    /// Its timeouts as texts, as the tool takes them.
    #[must_use]
    pub fn timeouts_as_text(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.timeouts.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }

    fn is_limited(&self) -> bool {
        let rates =
            self.read_rate.or(self.write_rate).is_some() || self.read_iops.or(self.write_iops).is_some();
        rates || self.memory.is_some() || self.cpus.is_some() || self.cpu_set.is_some()
    }

    /// Its faults.
    #[must_use]
    pub fn all_faults(&self) -> &[Fault] {
        self.faults.as_ref().map_or(&[], |faults| &faults.0)
    }

    fn wrong_limits(&self) -> Vec<(&'static str, bool, &'static str)> {
        let no_limit = "invalid value 0. Remove it for no limit";
        let no_block = "less than a block of 4KiB per second. A number without a unit is in bytes, so \
             write, for example, 10MiB";
        let is_slip = |rate: Option<Size>| rate.is_some_and(|rate| (1..RATE_MIN_BYTES).contains(&rate.0));
        let zero = |limit: Option<u64>| limit == Some(0);
        let size = |limit: Option<Size>| limit.map(|limit| limit.0);
        let of_each = |memory: Size| memory.0 / u64::from(self.instances.unwrap_or(1).max(1));
        vec![
            (
                "memory",
                self.memory.is_some_and(|memory| of_each(memory) < MEMORY_MIN_BYTES),
                "too little for a server. Give at least 64MiB for each server. A number without a unit is \
                 in bytes, so write, for example, 512MiB",
            ),
            (
                "cpus",
                self.cpus.is_some_and(|cpus| !(0.05..=4096.0).contains(&cpus)),
                "must be a number of CPUs from 0.05 to 4096",
            ),
            ("cpu_set", self.cpu_numbers().is_err(), "must be CPU numbers, for example \"0-3,8\""),
            ("read_iops", zero(self.read_iops), no_limit),
            ("write_iops", zero(self.write_iops), no_limit),
            ("read_rate", zero(size(self.read_rate)), no_limit),
            ("write_rate", zero(size(self.write_rate)), no_limit),
            ("read_rate", is_slip(self.read_rate), no_block),
            ("write_rate", is_slip(self.write_rate), no_block),
        ]
    }

    /// What cannot be of a server with others that stand by.
    fn wrong_pair(&self) -> Vec<(&'static str, bool, &'static str)> {
        let is_pair = self.pair().is_some();
        let nodes = self.pair().map_or(0, Pair::nodes);
        let is_brought_back = self.cold == Some(true)
            || matches!(self.between_trials, Some(Pristine::Restart | Pristine::Restore));
        vec![
            (
                "pair",
                is_pair && self.instances.is_some_and(|number| number > 1),
                "cannot be combined with several instances. Remove instances",
            ),
            (
                "pair",
                is_pair && matches!(self.engine, Some(Engine::Mysql | Engine::Sqlserver)),
                "supported only for PostgreSQL and MariaDB. Remove it, or use engine = \"postgres\" or \
                 \"mariadb\"",
            ),
            (
                "pair",
                self.pair() == Some(Pair::Quorum) && self.engine == Some(Engine::Mariadb),
                "MariaDB does not support \"quorum\". Give \"sync\" (Galera: every node has all \
                 acknowledged data) or \"async\", or use engine = \"postgres\"",
            ),
            (
                "pair",
                is_pair && self.is_limited(),
                "limits are not supported for pairs. Remove memory, cpus, cpu_set, IOPS and rates, or \
                 measure a single server",
            ),
            (
                "pair",
                is_pair && (self.log.is_some() || !self.tablespaces.is_empty()),
                "a pair keeps all data of a node in one directory. Remove log and tablespaces",
            ),
            (
                "pair",
                is_pair && is_brought_back,
                "between trials, a pair can only be kept or created again. Use between_trials = \"recreate\", and remove `cold`",
            ),
            ("nodes", !self.nodes.is_empty() && !is_pair, NO_NODES),
            ("nodes", is_pair && !self.nodes.is_empty() && self.nodes.len() != nodes, wrong_number(nodes)),
            (
                "nodes",
                self.has_nodes_together(),
                "the same directory is given twice. Give each node its own volume",
            ),
            ("failover", self.failover.is_some() && self.pair() != Some(Pair::Sync), NO_FAILOVER),
            ("timeouts", !self.timeouts.is_empty() && self.pair() != Some(Pair::Sync), NO_FAILOVER),
        ]
    }

    fn has_nodes_together(&self) -> bool {
        let all: BTreeSet<&PathBuf> = self.nodes.iter().collect();
        all.len() < self.nodes.len()
    }

    fn wrong_others(&self) -> Vec<(&'static str, bool, &'static str)> {
        vec![
            (
                "settings",
                self.settings_as_text().is_err(),
                "invalid value. Give texts, numbers, true or false",
            ),
            (
                "tablespaces",
                !self.tablespaces.is_empty() && self.engine.is_some_and(|engine| engine != Engine::Postgres),
                "supported only for PostgreSQL. Remove them, or start PostgreSQL",
            ),
            (
                "instances",
                self.instances.is_some_and(|number| !(1..=INSTANCES_MAX).contains(&number)),
                "must be a number of servers from 1 to 1000",
            ),
            ("quiet_for", self.quiet_for.is_some() && self.quiet_below.is_none(), UNASKED),
            ("quiet_within", self.quiet_within.is_some() && self.quiet_below.is_none(), UNASKED),
            (
                "quiet_within",
                self.quiet_times().1 <= self.quiet_times().0,
                "must be longer than quiet_for (5s), the time for which devices must be quiet",
            ),
        ]
    }

    fn wrong_where_it_is_started(&self) -> Vec<(&'static str, bool, &'static str)> {
        let has_command = self.restart.as_ref().is_some_and(|command| !command.is_empty());
        vec![(
            "restart",
            has_command,
            "applies only to a server that runs already, but prony starts this one. Remove this key, or give the server's address as `at`",
        )]
    }

    /// Nobody but whoever runs it changes what it may use, and what is set for all of its databases.
    fn wrong_where_it_runs(&self) -> Vec<(&'static str, bool, &'static str)> {
        let others = "applies only to a server that prony starts, but this one runs already. Remove it, and set it \
             on that server";
        let takes_layout = self.at.iter().all(|url| url.engine().takes_layout());
        let elsewhere = "supported only for SQL Server. Remove it";
        let has_command = self.restart.as_ref().is_some_and(|command| !command.is_empty());
        let is_restarted = self.between_trials == Some(Pristine::Restart);
        vec![
            ("memory", self.memory.is_some(), others),
            ("cpus", self.cpus.is_some(), others),
            ("cpu_set", self.cpu_set.is_some(), others),
            ("read_iops", self.read_iops.is_some(), others),
            ("write_iops", self.write_iops.is_some(), others),
            ("read_rate", self.read_rate.is_some(), others),
            ("write_rate", self.write_rate.is_some(), others),
            ("settings", !self.settings.is_empty(), others),
            ("tablespaces", !self.tablespaces.is_empty(), others),
            ("pair", self.pair().is_some(), others),
            ("nodes", !self.nodes.is_empty(), others),
            ("data", self.data.is_some() && !takes_layout, elsewhere),
            ("log", self.log.is_some() && !takes_layout, elsewhere),
            ("cold", self.cold == Some(true) && !takes_layout, elsewhere),
            (
                "between_trials",
                self.between_trials == Some(Pristine::Restore) && !takes_layout,
                "for a server that runs already, \"restore\" is supported only with SQL Server. For orders, \
                 \"keep\" also deletes the rows that runs added",
            ),
            (
                "between_trials",
                is_restarted && !has_command,
                "for a server that runs already, \"restart\" needs a command. Give this command under the key `restart`",
            ),
            (
                "instances",
                self.instances.is_some_and(|instances| instances as usize > self.at.len()),
                "there are more instances than addresses in `at`. Give one address for each instance, separated by commas",
            ),
        ]
    }
}
