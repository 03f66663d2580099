//! What a study loads: paths, the address of a database, order stores, or a server that is started for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use database::Url;
use load::Size;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::orders::Store;

/// What is loaded: paths by the disk workload, a database by a historian, stores by orders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Directories, files or devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathBuf>,
    /// Address of a database. Its password is never written.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "url_text")]
    pub url: Option<Url>,
    /// Name of the database of our own that is made there; with SQLite the address names the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// What happens if there is one of that name already.
    #[serde(default, skip_serializing_if = "is_default")]
    pub existing: Existing,
    /// Whether it stays at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// Order stores that are driven, each by clients of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub store: Vec<Store>,
    /// A PostgreSQL server that is started for the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<Instance>,
    /// A MariaDB server that is started for the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mariadb: Option<Instance>,
}

/// A database server that is started, placed and limited for a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Instance {
    /// Directory of its data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Directory of its log, if that is apart from the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// Memory that it may use, its part of the file cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// Processors that it may use; parts count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Reads a second that its disks answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u64>,
    /// Writes a second that its disks answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u64>,
    /// Settings of the server, by their own names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Target {
    /// This one where it says something, else the lower one. Addresses keep their passwords, which their text has not.
    #[must_use]
    pub(crate) fn over(&self, lower: &Self) -> Self {
        let instance = |upper: &Option<Instance>, lower: &Option<Instance>| match (upper, lower) {
            (Some(upper), Some(lower)) => Some(upper.over(lower)),
            (upper, lower) => upper.clone().or_else(|| lower.clone()),
        };
        Self {
            paths: given(&self.paths, &lower.paths),
            url: self.url.clone().or_else(|| lower.url.clone()),
            database: self.database.clone().or_else(|| lower.database.clone()),
            existing: given(&self.existing, &lower.existing),
            keep: self.keep || lower.keep,
            store: given(&self.store, &lower.store),
            postgres: instance(&self.postgres, &lower.postgres),
            mariadb: instance(&self.mariadb, &lower.mariadb),
        }
    }

    /// A target of which one parameter is given, by its key below `target.`: `url`, `postgres.memory`.
    pub(crate) fn with_only(key: &str, value: &Value) -> Result<Self, String> {
        let nested = key.rsplit('.').fold(value.clone(), |value, part| {
            Value::Table(toml::Table::from_iter([(part.to_owned(), value)]))
        });
        nested.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }

    /// The server that is started for it, with the key that says so.
    pub(crate) fn instances(&self) -> impl Iterator<Item = (&'static str, &Instance)> {
        [("target.postgres", &self.postgres), ("target.mariadb", &self.mariadb)]
            .into_iter()
            .filter_map(|(key, instance)| Some((key, instance.as_ref()?)))
    }

    /// Whether what is made there is removed at the end.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        !self.keep && self.existing != Existing::Reuse
    }

    /// Whether a historian would use the same database there.
    #[must_use]
    pub fn is_same_database(&self, other: &Self) -> bool {
        self.url == other.url && self.database == other.database
    }
}

impl Instance {
    fn over(&self, lower: &Self) -> Self {
        let mut settings = lower.settings.clone();
        settings.extend(self.settings.clone());
        Self {
            data: self.data.clone().or_else(|| lower.data.clone()),
            log: self.log.clone().or_else(|| lower.log.clone()),
            memory: self.memory.or(lower.memory),
            cpus: self.cpus.or(lower.cpus),
            read_iops: self.read_iops.or(lower.read_iops),
            write_iops: self.write_iops.or(lower.write_iops),
            settings,
        }
    }

    /// Limits that cannot be, by their keys below the instance's own.
    pub(crate) fn impossible(&self) -> Vec<(&'static str, &'static str)> {
        let zero = |size: Option<u64>| size == Some(0);
        let mut wrong = Vec::new();
        if self.memory.is_some_and(|memory| memory.0 < MEMORY_MIN_BYTES) {
            wrong.push(("memory", "is too little for a server: give at least 64MiB"));
        }
        if self.cpus.is_some_and(|cpus| !(0.05..=4096.0).contains(&cpus)) {
            wrong.push(("cpus", "must be a number of processors from 0.05 to 4096"));
        }
        if zero(self.read_iops) {
            wrong.push(("read_iops", "cannot be 0: leave it out for no limit"));
        }
        if zero(self.write_iops) {
            wrong.push(("write_iops", "cannot be 0: leave it out for no limit"));
        }
        wrong
    }
}

/// Less memory than any server starts in.
const MEMORY_MIN_BYTES: u64 = 64 << 20;

/// The upper value unless it says nothing.
fn given<T: Default + PartialEq + Clone>(upper: &T, lower: &T) -> T {
    if is_default(upper) { lower.clone() } else { upper.clone() }
}

/// What is done with a database of our own name that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existing {
    /// It is an error, unless this very study made it and was interrupted.
    #[default]
    Refuse,
    /// As refuse, but what a run that was killed had made only for itself is removed and made anew.
    Leftover,
    /// It is taken up again with what is in it.
    Reuse,
    /// It is removed and made anew, if it is ours and nobody uses it.
    Replace,
}

impl From<Existing> for database::Existing {
    fn from(existing: Existing) -> Self {
        match existing {
            Existing::Refuse => Self::Refuse,
            Existing::Leftover => Self::Leftover,
            Existing::Reuse => Self::Reuse,
            Existing::Replace => Self::Replace,
        }
    }
}

/// An address as text.
mod url_text {
    use database::Url;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(url: &Option<Url>, serializer: S) -> Result<S::Ok, S::Error> {
        match url {
            Some(url) => serializer.collect_str(url),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}
