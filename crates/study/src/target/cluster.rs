//! Clusters that somebody else runs: loaded at one address, looked at from outside, and broken by commands of the study alone.

use std::collections::BTreeMap;

use database::{Engine, Existing, Interface, Url, address_of_nodes};
use load::Span;
use serde::{Deserialize, Serialize};

use super::fault::{Fault, FaultKind, Faults};
use super::fault_check::{late, own_affair};

/// A cluster that somebody else runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cluster {
    /// Where sessions go; of PostgreSQL all nodes, of which the one that takes writes is taken, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none", with = "texts::one")]
    pub address: Option<Url>,
    /// Addresses of its members.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "texts")]
    pub nodes: Vec<Url>,
    /// Addresses of Patroni's REST interface, of one member or of several.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "texts")]
    pub patroni: Vec<Interface>,
    /// Command by which another member takes the writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switchover: Option<String>,
    /// What is broken of it while a trial runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Commands by which something of it breaks, by the names that faults give.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fault: BTreeMap<String, String>,
}

impl Cluster {
    /// This one where it says something, else the lower one.
    pub(super) fn over(&self, lower: &Self) -> Self {
        let mut fault = lower.fault.clone();
        fault.extend(self.fault.clone());
        Self {
            address: self.address.clone().or_else(|| lower.address.clone()),
            nodes: if self.nodes.is_empty() { lower.nodes.clone() } else { self.nodes.clone() },
            patroni: if self.patroni.is_empty() { lower.patroni.clone() } else { self.patroni.clone() },
            switchover: self.switchover.clone().or_else(|| lower.switchover.clone()),
            faults: self.faults.clone().or_else(|| lower.faults.clone()),
            fault,
        }
    }

    /// How it is loaded and looked at; none where nothing says where sessions go.
    #[must_use]
    pub fn attached(&self) -> Option<database::Cluster> {
        let address = self.address.clone().or_else(|| address_of_nodes(&self.nodes))?;
        Some(database::Cluster::new(&address, &self.nodes, &self.patroni))
    }

    /// Its faults.
    #[must_use]
    pub fn all_faults(&self) -> &[Fault] {
        self.faults.as_ref().map_or(&[], |faults| &faults.0)
    }

    /// The commands that do them, by their names.
    #[must_use]
    pub fn commands(&self) -> BTreeMap<String, String> {
        let switchover = self.switchover.clone().filter(|command| !command.is_empty());
        let switchover = switchover.map(|command| (FaultKind::Switchover.name().to_owned(), command));
        self.fault.clone().into_iter().chain(switchover).collect()
    }

    /// What cannot be of its faults, under a load that ends so long after it began.
    pub(crate) fn impossible_faults(&self, load_end: Span) -> Vec<String> {
        let commands = self.commands();
        let problem = |fault: &Fault| {
            let what = fault.what.name();
            if !commands.contains_key(what) {
                let known: Vec<&str> = commands.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let key = if fault.what == FaultKind::Switchover { "switchover" } else { "fault.NAME" };
                return Some(format!(
                    "`{what}` on a cluster that prony did not start needs a command (known: {known}). Define the command as {key}, \
                    and write its name here"
                ));
            }
            own_affair(fault).or_else(|| late(fault, load_end))
        };
        self.all_faults().iter().filter_map(problem).collect()
    }

    /// What of it cannot be, by the keys below its own.
    pub(crate) fn impossible(&self) -> Vec<(&'static str, String)> {
        let mut wrong = self.wrong_places();
        let several = self.nodes.iter().find(|node| node.host().is_some_and(|host| host.contains(',')));
        wrong.extend(
            several.map(|node| ("nodes", format!("{node} has several hosts. Give each of them separately"))),
        );
        let is_empty = |command: &String| command.trim().is_empty();
        if self.fault.values().any(is_empty) || self.switchover.as_ref().is_some_and(is_empty) {
            wrong.push(("fault", "empty command. Give a shell command, or remove it".to_owned()));
        }
        wrong
    }

    fn wrong_places(&self) -> Vec<(&'static str, String)> {
        let Some(attached) = self.attached() else {
            let problem = match self.nodes.first() {
                None => {
                    "missing. Give the address to which clients connect, for example \"postgres://app@pg1,pg2/shop\", or list the \
                    cluster's servers under `nodes`"
                        .to_owned()
                }
                Some(node) => format!(
                    "missing. Give the address to which clients connect, because {} accepts only one: the primary, a proxy or a listener",
                    node.engine().dialect().name()
                ),
            };
            return vec![("address", problem)];
        };
        let address = attached.address();
        let mut wrong = Vec::new();
        if !matches!(address.engine(), Engine::Postgres | Engine::Mysql | Engine::SqlServer) {
            wrong.push((
                "address",
                format!(
                    "{address} cannot be a cluster. Give an address of PostgreSQL, MariaDB, MySQL or \
                     SQL Server"
                ),
            ));
        }
        if let Some(other) = self.nodes.iter().find(|node| node.engine() != address.engine()) {
            wrong.push((
                "nodes",
                format!("{other} and {address} have different engines. Give addresses of one cluster"),
            ));
        }
        let mut numbered = self.nodes.iter().enumerate();
        let twice =
            numbered.find(|(number, node)| self.nodes[..*number].iter().any(|one| one.is_same_place(node)));
        if let Some((_, twice)) = twice {
            wrong.push(("nodes", format!("{twice} is given twice. Give each node once, each with one host")));
        }
        if !self.patroni.is_empty() && address.engine() != Engine::Postgres {
            wrong.push(("patroni", format!("Patroni manages PostgreSQL, not {address}. Remove it")));
        }
        wrong
    }

    /// Why a database that is to be so cannot be on it, if so: one that prony makes is in no availability group.
    pub(crate) fn refuses(&self, existing: Existing) -> Option<String> {
        let of_group = self.attached()?.address().engine() == Engine::SqlServer;
        let is_made = !matches!(existing, Existing::Use | Existing::Reuse | Existing::AsItIs);
        (of_group && is_made).then(|| {
            "prony would create a database outside the availability group, so the other replicas would lack it. Create it yourself, \
            add it to the group, and use existing = \"use\" or \"reuse\""
                .to_owned()
        })
    }
}

/// Addresses as texts: one, or an array of them.
mod texts {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    /// At most one.
    pub(super) mod one {
        use super::{Deserialize, Deserializer, Display, FromStr, Serializer};

        pub(in super::super) fn serialize<T: Display, S: Serializer>(
            one: &Option<T>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match one {
                Some(one) => serializer.collect_str(one),
                None => serializer.serialize_none(),
            }
        }

        pub(in super::super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<T>, D::Error> {
            String::deserialize(deserializer)?.parse().map(Some).map_err(serde::de::Error::custom)
        }
    }

    pub(super) fn serialize<T: Display, S: Serializer>(all: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an address, or an array of them")]
        enum OneOrMany {
            One(String),
            Many(Vec<String>),
        }
        let texts = match OneOrMany::deserialize(deserializer)? {
            OneOrMany::One(text) => vec![text],
            OneOrMany::Many(texts) => texts,
        };
        texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
    }
}
