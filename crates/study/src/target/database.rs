//! A database that is loaded: where it is, what it is called, and what becomes of one that is there already.

use std::fmt;
use std::str::FromStr;

use database::{DelayedDurability, Existing, Layout, Recovery, Saving, Url};
use load::{Size, Span};
use serde::{Deserialize, Deserializer, Serialize};

use super::Named;
use super::server::StartedServer;

/// A database. What is not said comes from the workload that uses it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    /// Address of the server or of the file, or the name of a server or cluster of the study. No password is ever written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// Its name there; with SQLite the address names the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many there are: `name_1`, `name_2` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// What happens if there is one of that name already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub existing: Option<Existing>,
    /// Whether it stays at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
    /// Directories of the server's machine, each with a data file; as a text, one.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub data_dir: Vec<String>,
    /// Directory of the server's machine with the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_dir: Option<String>,
    /// Initial size of each data file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_size: Option<Size>,
    /// Initial size of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_size: Option<Size>,
    /// By how much each file grows when it is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Size>,
    /// What the log keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Whether a commit may return before its log is on the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_durability: Option<DelayedDurability>,
    /// How it becomes what it was before each trial, where another way is wanted than to delete what runs added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<Restore>,
    /// Size of a store that is loaded there: an older spelling of the workload's own size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<String>,
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a directory, or an array of them")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

/// How a database becomes what it was before a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restore {
    /// What runs added is deleted, and what they changed is put back.
    Deletion,
    /// From a snapshot beside it.
    Snapshot,
    /// From a backup on the server's machine, which stays there.
    Backup,
}

impl Restore {
    fn saving(self) -> Option<Saving> {
        match self {
            Self::Deletion => None,
            Self::Snapshot => Some(Saving::Snapshot),
            Self::Backup => Some(Saving::Backup),
        }
    }
}

/// What is done with a database of a server that runs already before a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cycle {
    /// It becomes what it was by this.
    pub saving: Option<Saving>,
    /// It is removed and made anew.
    pub anew: bool,
    /// The command that starts its server again.
    pub restart: Option<String>,
    /// Its server forgets what it keeps of files in memory.
    pub cold: bool,
    /// Time in which it is left alone.
    pub rest: Option<Span>,
}

/// Where a database is.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// At an address.
    Address(Url),
    /// At a server or cluster of the study.
    Named(String),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(url) => write!(f, "{url}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl FromStr for At {
    type Err = <Url as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_name = !text.is_empty()
            && text.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '$'));
        if is_name { Ok(Self::Named(text.to_owned())) } else { text.parse().map(Self::Address) }
    }
}

load::serde_as_text!(At);

/// A database that a trial uses, with everything said.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedDatabase {
    /// Address of the server, or of the file. Of a server that is started for it the host is the server's name, until it runs.
    pub url: Url,
    /// The server that is started for it, if one is.
    pub server: Option<StartedServer>,
    /// The name of the cluster that it is on, if it is on one.
    pub cluster: Option<String>,
    /// Its name there.
    pub name: String,
    /// What happens if there is one of that name already.
    pub existing: Existing,
    /// Whether it stays at the end.
    pub keep: bool,
    /// Size of a store that is loaded there, where that was said of the database.
    pub load: Option<String>,
    /// Where its files lie and how it logs.
    pub layout: Layout,
    /// What is done with it before a trial, on a server that runs already.
    pub cycle: Cycle,
}

impl WantedDatabase {
    /// What tells it from others: the database on its server, or the file.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.url.file(), &self.server) {
            (Some(file), _) => file.display().to_string(),
            (None, Some(server)) => format!("{} of {server}", self.name),
            (None, None) => format!("{} of {}", self.name, self.url),
        }
    }

    /// Where it is, without its name: an address, a file, or the server that is started for it.
    #[must_use]
    pub fn at(&self) -> String {
        self.server.as_ref().map_or_else(|| self.url.to_string(), ToString::to_string)
    }

    /// Whether it is the same database, whatever is to become of it.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_server = match (&self.server, &other.server) {
            (Some(own), Some(other)) => own.has_same_data(other),
            (None, None) => self.url.is_same_place(&other.url),
            (Some(_), None) | (None, Some(_)) => false,
        };
        is_same_server && (self.name == other.name || self.url.file().is_some())
    }

    /// Whether what is made is removed at the end.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        !self.keep && !matches!(self.existing, Existing::Reuse | Existing::Use | Existing::AsItIs)
    }
}

impl Database {
    /// A database at an address.
    #[must_use]
    pub fn at(url: Url) -> Self {
        Self { at: Some(At::Address(url)), ..Self::default() }
    }

    /// The same with this name, if one is given.
    #[must_use]
    pub fn named(self, name: Option<&str>) -> Self {
        Self { name: name.map(str::to_owned), ..self }
    }

    /// Address of the server or of the file, where one is given.
    #[must_use]
    pub fn url(&self) -> Option<&Url> {
        match &self.at {
            Some(At::Address(url)) => Some(url),
            Some(At::Named(_)) | None => None,
        }
    }

    /// Whether its place is all that is said of it.
    pub(super) fn is_place_alone(&self) -> bool {
        *self == Self { at: self.at.clone(), ..Self::default() } && self.at.is_some()
    }

    /// With everything said: its name and what becomes of one that is there are as given, or these. None without an address or a
    /// server that can be started.
    pub(crate) fn wanted<'a>(
        &self,
        name: &str,
        existing: Existing,
        named: &impl Fn(&str) -> Option<Named<'a>>,
    ) -> Vec<WantedDatabase> {
        let name = self.name.as_deref().unwrap_or(name);
        let all = (1..=self.count.unwrap_or(1)).filter_map(|number| {
            let mut layout = self.layout();
            let mut cycle = Cycle::default();
            let mut place = String::new();
            let mut cluster = None;
            let (url, server) = match self.at.as_ref()? {
                At::Address(url) => (url.clone(), None),
                At::Named(at) => match named(at)? {
                    Named::Cluster(of) => {
                        cluster = Some(at.clone());
                        (of.attached()?.address().clone(), None)
                    }
                    Named::Server(server) if server.runs() => {
                        let of_server = server.layout();
                        place = suffix(&of_server);
                        cycle = server.cycle();
                        layout = layout.or(of_server);
                        (server.running(number)?.clone(), None)
                    }
                    Named::Server(server) => {
                        let server = StartedServer::of(at, server, number);
                        (server.placeholder()?, Some(server))
                    }
                },
            };
            if let Some(restore) = self.restore {
                cycle.saving = restore.saving();
            }
            // There is nothing yet on a server of the study, and a size says that it is to be loaded. A cluster is as an address is.
            let is_of_study = matches!(self.at, Some(At::Named(_))) && cluster.is_none();
            let is_made = is_of_study || self.load.is_some();
            let existing = self.existing.unwrap_or(if is_made { Existing::Refuse } else { existing });
            // Of one that is used as it is the address names it.
            let named = if existing == Existing::AsItIs { url.database().unwrap_or_default() } else { name };
            let name = self.count.map_or_else(|| named.to_owned(), |_| format!("{named}_{number}"));
            Some(WantedDatabase {
                url,
                server,
                cluster,
                name: format!("{name}{place}"),
                existing,
                keep: self.keep.unwrap_or(false),
                load: self.load.clone(),
                layout,
                cycle,
            })
        });
        all.collect()
    }

    /// Where its files lie and how it logs.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let bytes = |size: Option<Size>| size.map(|size| size.0);
        Layout {
            data_dirs: self.data_dir.clone(),
            log_dir: self.log_dir.clone(),
            data_bytes: bytes(self.data_size),
            log_bytes: bytes(self.log_size),
            growth_bytes: bytes(self.growth),
            recovery: self.recovery,
            delayed_durability: self.delayed_durability,
        }
    }

    /// Keys that only one kind of server takes for a database, as they were given.
    pub(crate) fn laid(&self) -> Vec<&'static str> {
        let all = [
            ("data_dir", !self.data_dir.is_empty()),
            ("log_dir", self.log_dir.is_some()),
            ("data_size", self.data_size.is_some()),
            ("log_size", self.log_size.is_some()),
            ("growth", self.growth.is_some()),
            ("recovery", self.recovery.is_some()),
            ("delayed_durability", self.delayed_durability.is_some()),
            ("restore", self.restore.is_some_and(|restore| restore != Restore::Deletion)),
        ];
        all.into_iter().filter_map(|(key, is_given)| is_given.then_some(key)).collect()
    }

    fn over(&self, lower: &Self, is_named: &impl Fn(&str) -> bool) -> Self {
        let mut upper = self.clone();
        // Of an older spelling, in which it was the name alone.
        if let (Some(At::Named(word)), Some(At::Address(_))) = (&self.at, &lower.at)
            && !is_named(word)
        {
            upper.name = Some(word.clone());
            upper.at = None;
        }
        let mut lower = lower.clone();
        if let (Some(At::Address(_)), Some(At::Named(word))) = (&upper.at, &lower.at)
            && !is_named(word)
        {
            lower.name = lower.name.or(Some(word.clone()));
        }
        // What may happen to the other one, and what is loaded there, was said of that alone.
        if is_other(&upper.at, &lower.at) || is_other(&upper.name, &lower.name) {
            (lower.existing, lower.keep, lower.load) = (None, None, None);
        }
        Self {
            at: upper.at.or(lower.at),
            name: upper.name.or(lower.name),
            count: upper.count.or(lower.count),
            existing: upper.existing.or(lower.existing),
            keep: upper.keep.or(lower.keep),
            data_dir: if upper.data_dir.is_empty() { lower.data_dir } else { upper.data_dir },
            log_dir: upper.log_dir.or(lower.log_dir),
            data_size: upper.data_size.or(lower.data_size),
            log_size: upper.log_size.or(lower.log_size),
            growth: upper.growth.or(lower.growth),
            recovery: upper.recovery.or(lower.recovery),
            delayed_durability: upper.delayed_durability.or(lower.delayed_durability),
            restore: upper.restore.or(lower.restore),
            load: upper.load.or(lower.load),
        }
    }
}

/// What tells databases of one name on a server apart that lie in different places: a few digits of these.
fn suffix(layout: &Layout) -> String {
    if layout.has_default_files() {
        return String::new();
    }
    // FNV-1a: <http://www.isthe.com/chongo/tech/comp/fnv/>.
    let places = layout.data_dirs.iter().map(String::as_str).chain(layout.log_dir.as_deref());
    let bytes = places.flat_map(|place| place.bytes().chain([0]));
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("_{hash:08x}")
}

/// Whether both are given and differ.
fn is_other<T: PartialEq>(upper: &Option<T>, lower: &Option<T>) -> bool {
    upper.as_ref().zip(lower.as_ref()).is_some_and(|(upper, lower)| upper != lower)
}

/// Databases over others: one that says more of those below it is laid over each, anything else takes their place.
pub(super) fn over(
    upper: &[Database],
    lower: &[Database],
    is_named: &impl Fn(&str) -> bool,
) -> Vec<Database> {
    match (upper, lower) {
        ([], lower) => lower.to_vec(),
        ([one], [other]) => vec![one.over(other, is_named)],
        ([one], lower) if one.at.is_none() && !lower.is_empty() => {
            lower.iter().map(|lower| one.over(lower, is_named)).collect()
        }
        (upper, _) => upper.to_vec(),
    }
}
