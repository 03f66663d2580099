//! What a study loads: paths; databases, by address or at a named server; servers that prony starts; clusters of others.
//!
//! A target is partial, as all parameters are: what one layer does not say comes from the one below. Addresses keep their
//! passwords here, and no text of a target holds one.

mod cluster;
mod database;
mod fault;
mod fault_check;
mod quiet;
mod server;
mod written;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use ::database::Existing;
use load::TargetNeeds;
use serde::{Deserialize, Serialize};
use toml::Value;

pub use cluster::Cluster;
pub use database::{At, Cycle, Database, Restore, WantedDatabase};
pub use fault::{Fault, FaultError, FaultKind, FaultNode, Faults};
pub use quiet::Quiet;
pub use server::{Engine, Failover, Pair, Pristine, Server, StartedServer};

/// What is loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "written::Written")]
pub struct Target {
    /// Directories, files or devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathBuf>,
    /// Databases, each with clients of its own. One may be written as its address alone.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "written::databases")]
    pub database: Vec<Database>,
    /// Servers that are started for the study, by the names that databases give.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub server: BTreeMap<String, Server>,
    /// Clusters that somebody else runs and that have more than an address, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cluster: BTreeMap<String, Cluster>,
    /// Keys of an older spelling that it was written in.
    #[serde(skip)]
    older: Vec<&'static str>,
}

/// What the name of a database's place is of.
#[derive(Clone, Copy)]
pub(crate) enum Named<'a> {
    /// A server that is started, or runs already.
    Server(&'a Server),
    /// A cluster that somebody else runs.
    Cluster(&'a Cluster),
}

impl From<::database::Url> for Target {
    fn from(url: ::database::Url) -> Self {
        Self::of_databases(vec![Database::at(url)])
    }
}

impl From<Vec<Database>> for Target {
    fn from(databases: Vec<Database>) -> Self {
        Self::of_databases(databases)
    }
}

impl Target {
    /// Directories, files or devices.
    #[must_use]
    pub fn of_paths(paths: Vec<PathBuf>) -> Self {
        Self { paths, ..Self::default() }
    }

    /// Databases.
    #[must_use]
    pub fn of_databases(database: Vec<Database>) -> Self {
        Self { database, ..Self::default() }
    }

    /// This one where it says something, else the lower one.
    #[must_use]
    pub(crate) fn over(&self, lower: &Self) -> Self {
        let named =
            |lower: &Self, name: &str| lower.server.contains_key(name) || lower.cluster.contains_key(name);
        let is_named = |name: &str| named(self, name) || named(lower, name);
        let mut server = lower.server.clone();
        for (name, upper) in &self.server {
            let laid = lower.server.get(name).map_or_else(|| upper.clone(), |lower| upper.over(lower));
            server.insert(name.clone(), laid);
        }
        let mut cluster = lower.cluster.clone();
        for (name, upper) in &self.cluster {
            let laid = lower.cluster.get(name).map_or_else(|| upper.clone(), |lower| upper.over(lower));
            cluster.insert(name.clone(), laid);
        }
        Self {
            paths: if self.paths.is_empty() { lower.paths.clone() } else { self.paths.clone() },
            database: database::over(&self.database, &lower.database, &is_named),
            server,
            cluster,
            older: lower.older.clone(),
        }
    }

    /// A target of which one parameter is given, by its key below `target.`: `database`, `server.pg.memory`.
    pub(crate) fn with_only(key: &str, value: &Value) -> Result<Self, String> {
        let nested = key.rsplit('.').fold(value.clone(), |value, part| {
            Value::Table(toml::Table::from_iter([(part.to_owned(), value)]))
        });
        nested.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }

    /// The databases that a workload with these needs uses, with everything said.
    pub(crate) fn wanted(&self, needs: TargetNeeds) -> Vec<WantedDatabase> {
        let TargetNeeds::Databases { name, loaded, as_it_is, .. } = needs else { return Vec::new() };
        let existing = match (as_it_is, loaded) {
            (true, _) => Existing::AsItIs,
            (false, true) => Existing::Use,
            (false, false) => Existing::Refuse,
        };
        let named = |name: &str| match (self.server.get(name), self.cluster.get(name)) {
            (Some(server), _) => Some(Named::Server(server)),
            (None, cluster) => cluster.map(Named::Cluster),
        };
        self.databases().iter().flat_map(|database| database.wanted(name, existing, &named)).collect()
    }

    /// Its databases; of one server or cluster, and no database said, that one's.
    pub(crate) fn databases(&self) -> Cow<'_, [Database]> {
        let mut names = self.server.keys().chain(self.cluster.keys());
        match (names.next(), names.next()) {
            (Some(name), None) if self.database.is_empty() => {
                Cow::Owned(vec![Database { at: Some(At::Named(name.clone())), ..Database::default() }])
            }
            _ => Cow::Borrowed(&self.database),
        }
    }

    /// The clusters that its databases are on, by their names.
    pub fn loaded_clusters(&self) -> impl Iterator<Item = (&String, &Cluster)> {
        let databases = self.databases().into_owned();
        let is_loaded = move |name: &String| {
            databases.iter().any(|one| matches!(&one.at, Some(At::Named(at)) if at == name))
        };
        self.cluster.iter().filter(move |(name, _)| is_loaded(name))
    }

    /// The one database that is described here, to be said more of.
    pub fn database_mut(&mut self) -> &mut Database {
        if self.database.is_empty() {
            self.database.push(Database::default());
        }
        &mut self.database[0]
    }

    /// How it is spelled now, where it was written in an older spelling: a sentence.
    pub(crate) fn older_spelling(&self) -> Option<String> {
        if self.older.is_empty() {
            return None;
        }
        let (now, sizes) = self.without_sizes();
        let now = Value::try_from(now).ok()?;
        let parts = now.as_table()?.iter().filter(|(key, _)| *key != "paths");
        let now: Vec<String> = parts.map(|(key, value)| format!("{key} = {value}")).collect();
        let sizes = match sizes.as_slice() {
            [] => String::new(),
            [size] => format!(", and [workload.orders] size = \"{size}\""),
            sizes => format!(
                ", and for each of the sizes {} a [[configuration]] with its databases and workload.orders.size",
                sizes.join(", ")
            ),
        };
        let spelling = match self.older.as_slice() {
            [_] => "uses an old spelling. Write it",
            _ => "use an old spelling. Write them",
        };
        Some(format!("{} {spelling} as [target] {}{sizes}", self.older.join(", "), now.join(", ")))
    }

    /// The same without the sizes of stores that an older spelling loads, which are the workload's; and these.
    fn without_sizes(&self) -> (Self, Vec<String>) {
        let mut now = self.clone();
        let mut sizes = Vec::new();
        for database in &mut now.database {
            let Some(size) = database.load.take() else { continue };
            // A size said that it was to be loaded.
            database.existing.get_or_insert(Existing::Refuse);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        (now, sizes)
    }
}

/// The key that an axis of an older spelling has now, both without `target.`.
pub(crate) fn key_now(key: &str) -> Option<String> {
    let (first, rest) = key.split_once('.').map_or((key, ""), |(first, rest)| (first, rest));
    match first {
        "url" | "store" => Some("database".to_owned()),
        "existing" | "keep" => Some(format!("database.{first}")),
        "postgres" | "mariadb" => Some(format!("server.{first}.{rest}")),
        _ => None,
    }
}
