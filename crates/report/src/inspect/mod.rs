//! Advice on the settings of a machine and its servers: what was found, why it matters, what to do, and who says so.
//!
//! Rules are data, a list for each kind of subject, and pure functions of recorded facts: whoever reads the facts judges nothing, a
//! record of last year is judged by the rules of today, and a test plants each mistake in a record that has none. What is not
//! known is no mistake.

mod host;
mod mysql;
pub(crate) mod page;
mod postgres;
mod rule;
mod sqlserver;
mod text;
mod volume;

#[cfg(test)]
mod tests;

use record::{Environment, InspectedServer, Storage, Unread, shown_json};
use serde::{Deserialize, Serialize};

use crate::format;
use rule::{Rule, Subject};

/// Version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// What a setting can do, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Data can be lost or damaged, or the server stops.
    Danger,
    /// It is slower than it could be.
    Costs,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Self; 3] = [Self::Danger, Self::Costs, Self::Note];

    /// The severity in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Danger => "danger",
            Self::Costs => "costs",
            Self::Note => "note",
        }
    }
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What it can do.
    pub severity: Severity,
    /// The rule that it comes from, in one word that stays the same between versions.
    pub rule: &'static str,
    /// The machine, the volumes or the servers that it is about.
    pub of: Vec<String>,
    /// What was found.
    pub found: String,
    /// Why it matters.
    pub why: &'static str,
    /// The command or setting that changes it.
    pub remedy: String,
    /// Where that is said: the product's own documentation, by title and section.
    pub source: &'static str,
}

/// Something that a server did not tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotRead {
    /// The server.
    pub of: String,
    /// What it is, why, and what lets it be read.
    #[serde(flatten)]
    pub unread: Unread,
}

/// What was found of a machine and its servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// Pieces of advice, the worst first; of one severity those of the machine, its volumes and its servers in this order.
    pub advice: Vec<Advice>,
    /// What could not be judged, because servers did not tell it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<NotRead>,
}

impl Inspection {
    /// Judges what was read of a machine; none where it was recorded before its settings were read.
    #[must_use]
    pub fn of(environment: &Environment) -> Option<Self> {
        environment.tuning.as_ref()?;
        let mut advice: Vec<Advice> = Vec::new();
        for (of, subject, rules) in subjects(environment) {
            for rule in rules {
                let Some(found) = (rule.find)(&subject) else { continue };
                let same = |one: &&mut Advice| {
                    one.rule == rule.name && one.found == found.found && one.remedy == found.remedy
                };
                match advice.iter_mut().find(same) {
                    // Data and log on one volume are one mistake.
                    Some(one) if one.of.contains(&of) => {}
                    Some(one) => one.of.push(of.clone()),
                    None => advice.push(Advice {
                        severity: rule.severity,
                        rule: rule.name,
                        of: vec![of.clone()],
                        found: found.found,
                        why: rule.why,
                        remedy: found.remedy,
                        source: rule.source,
                    }),
                }
            }
        }
        advice.sort_by_key(|advice| advice.severity);
        let unread = |server: &InspectedServer| {
            let of = server.name.clone();
            server.unread.clone().into_iter().map(move |unread| NotRead { of: of.clone(), unread })
        };
        Some(Self { advice, unread: environment.inspected.iter().flat_map(unread).collect() })
    }

    /// The worst that was found; none where nothing was.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.advice.first().map(|advice| advice.severity)
    }

    /// Whether nothing was found, and everything was told.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.advice.is_empty() && self.unread.is_empty()
    }

    /// The worst in a few words with how many there are, where data is in danger: a first screen has no room for less.
    pub(crate) fn in_brief(&self) -> Option<String> {
        let worst = self.advice.first().filter(|advice| advice.severity == Severity::Danger)?;
        let of = worst.of.first().map_or("", String::as_str);
        Some(format!("{}: {of}: {}", self.counted(), worst.found))
    }

    /// How many there are of each severity, in words: `2 endanger data, 3 cost performance, one is worth knowing`. Empty if none.
    #[must_use]
    pub fn counted(&self) -> String {
        let count =
            |severity: Severity| self.advice.iter().filter(|advice| advice.severity == severity).count();
        let words = |severity: Severity| match (severity, count(severity)) {
            (_, 0) => None,
            (Severity::Danger, n) => Some(format::counted(n, "endangers data", "endanger data")),
            (Severity::Costs, n) => Some(format::counted(n, "costs performance", "cost performance")),
            (Severity::Note, n) => Some(format::counted(n, "is a note", "are notes")),
        };
        Severity::ALL.into_iter().filter_map(words).collect::<Vec<String>>().join(", ")
    }

    /// The inspection and the facts that it rests on as one JSON document that ends with a newline.
    #[must_use]
    pub fn json(&self, environment: &Environment) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            format: u32,
            worst: Option<Severity>,
            #[serde(flatten)]
            inspection: &'a Inspection,
            environment: &'a Environment,
        }
        let document =
            Document { format: DOCUMENT_VERSION, worst: self.worst(), inspection: self, environment };
        match serde_json::to_string_pretty(&document) {
            Ok(text) => shown_json(&text) + "\n",
            Err(error) => unreachable!("it has string keys and is written to memory: {error}"),
        }
    }
}

/// What is judged, each with its name and a list of rules.
fn subjects(environment: &Environment) -> Vec<(String, Subject<'_>, &'static [Rule])> {
    let machine = Subject { environment, volume: None, server: None };
    let mut all = vec![(environment.host.clone(), machine, host::RULES)];
    for (name, storage) in &environment.volumes {
        let subject = Subject { volume: Some(storage), ..machine };
        all.push((volume_name(name, storage), subject, volume::FILE_SYSTEM));
        all.push((device_name(name, storage), subject, volume::DEVICE));
    }
    for server in &environment.inspected {
        let subject = Subject { server: Some(server), ..machine };
        all.extend(rules_of(&server.engine).into_iter().map(|rules| (server.name.clone(), subject, rules)));
    }
    all
}

/// A rule of settings, without its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingRule {
    /// The word that stays the same between versions.
    pub name: &'static str,
    /// What the rule looks at: the machine, a volume, a product.
    pub subject: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// The documentation that says so.
    pub source: &'static str,
}

/// All rules of settings, in the order in which they are searched.
#[must_use]
pub fn setting_rules() -> Vec<SettingRule> {
    let engines = [("PostgreSQL", "postgres"), ("MariaDB and MySQL", "mysql"), ("SQL Server", "sqlserver")];
    let mut all: Vec<(&'static str, &'static [Rule])> =
        vec![("machine", host::RULES), ("file system", volume::FILE_SYSTEM), ("device", volume::DEVICE)];
    for (subject, engine) in engines {
        all.extend(rules_of(engine).into_iter().map(|rules| (subject, rules)));
    }
    let of = |(subject, rules): (&'static str, &'static [Rule])| {
        rules.iter().map(move |rule| SettingRule {
            name: rule.name,
            subject,
            why: rule.why,
            source: rule.source,
        })
    };
    all.into_iter().flat_map(of).collect()
}

/// The rules of an engine, by its name as records spell it.
fn rules_of(engine: &str) -> Vec<&'static [Rule]> {
    match engine {
        "postgres" => vec![postgres::SAFETY, postgres::MEMORY, postgres::LOG, postgres::WORK],
        "mysql" => vec![mysql::SAFETY, mysql::MEMORY, mysql::IO],
        "sqlserver" => vec![sqlserver::SAFETY, sqlserver::RESOURCES, sqlserver::FILES],
        _ => Vec::new(),
    }
}

/// A volume by where it is mounted, which is what commands take.
fn volume_name(name: &str, storage: &Storage) -> String {
    storage.mount.known().map_or_else(|| name.to_owned(), |mount| mount.path.clone())
}

fn device_name(name: &str, storage: &Storage) -> String {
    storage.device.known().map_or_else(|| volume_name(name, storage), |device| device.name.clone())
}
