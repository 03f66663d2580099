//! A database that is loaded: where it is, what it is called, and what becomes of one that is there already.

use std::fmt;
use std::str::FromStr;

use database::{Existing, Url};
use serde::{Deserialize, Serialize};

use super::server::{Server, StartedServer};

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
    /// Size of a store that is loaded there: an older spelling of the workload's own size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<String>,
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
    /// Its name there.
    pub name: String,
    /// What happens if there is one of that name already.
    pub existing: Existing,
    /// Whether it stays at the end.
    pub keep: bool,
    /// Size of a store that is loaded there, where that was said of the database.
    pub load: Option<String>,
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
        !self.keep && !matches!(self.existing, Existing::Reuse | Existing::Use)
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
        servers: &impl Fn(&str) -> Option<&'a Server>,
    ) -> Vec<WantedDatabase> {
        let name = self.name.as_deref().unwrap_or(name);
        let all = (1..=self.count.unwrap_or(1)).filter_map(|number| {
            let (url, server) = match self.at.as_ref()? {
                At::Address(url) => (url.clone(), None),
                At::Named(at) => {
                    let server = StartedServer::of(at, servers(at)?, number);
                    (server.placeholder()?, Some(server))
                }
            };
            // There is nothing yet on a server that is started, and a size says that it is to be loaded.
            let is_made = server.is_some() || self.load.is_some();
            Some(WantedDatabase {
                url,
                server,
                name: self.count.map_or_else(|| name.to_owned(), |_| format!("{name}_{number}")),
                existing: self.existing.unwrap_or(if is_made { Existing::Refuse } else { existing }),
                keep: self.keep.unwrap_or(false),
                load: self.load.clone(),
            })
        });
        all.collect()
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
            load: upper.load.or(lower.load),
        }
    }
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
