//! A target as a study file has it: one database as its address alone, and keys of an older spelling, for one version more.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use database::{Existing, Url};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
use workload::orders::StoreSize;

use super::{At, Cluster, Database, Engine, Server, Target};

/// All keys that a target can have.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Written {
    paths: Vec<PathBuf>,
    database: Databases,
    server: BTreeMap<String, Server>,
    cluster: BTreeMap<String, Cluster>,
    // An older spelling.
    url: Option<Text<Url>>,
    existing: Option<Existing>,
    keep: Option<bool>,
    store: Vec<Store>,
    postgres: Option<Server>,
    mariadb: Option<Server>,
}

/// A store of the older spelling.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    url: Text<Url>,
    database: Option<String>,
    load: Option<Text<StoreSize>>,
    existing: Option<Existing>,
}

/// What is written as a text.
struct Text<T>(T);

impl<'de, T: std::str::FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

/// An address or a name, a table, or an array of them.
#[derive(Default)]
struct Databases(Vec<Database>);

impl<'de> Deserialize<'de> for Databases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany)
    }
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = Databases;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an address, the name of a server, a table, or an array of these")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Databases, E> {
        let at = At::deserialize(StrDeserializer::new(text))?;
        Ok(Databases(vec![Database { at: Some(at), ..Database::default() }]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Databases, A::Error> {
        Database::deserialize(MapAccessDeserializer::new(map)).map(|database| Databases(vec![database]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Databases, A::Error> {
        let all: Vec<Databases> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
        Ok(Databases(all.into_iter().flat_map(|databases| databases.0).collect()))
    }
}

/// Writes databases as briefly as they can be read.
pub(super) fn databases<S: Serializer>(databases: &[Database], serializer: S) -> Result<S::Ok, S::Error> {
    match databases {
        [one] if one.is_place_alone() => one.at.serialize(serializer),
        [one] => one.serialize(serializer),
        many => {
            let mut seq = serializer.serialize_seq(Some(many.len()))?;
            many.iter().try_for_each(|one| seq.serialize_element(one))?;
            seq.end()
        }
    }
}

impl TryFrom<Written> for Target {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        written.check_one_spelling()?;
        let older = written.older();
        let Written { paths, database: Databases(mut database), mut server, cluster, .. } = written;
        if let Some(Text(url)) = written.url {
            let mut of_url = Database::at(url);
            // A text beside it is the name of the database.
            of_url.name = match database.first().and_then(|first| first.at.clone()) {
                Some(At::Named(name)) => Some(name),
                Some(At::Address(_)) | None => None,
            };
            database = vec![of_url];
        }
        for (name, engine, given) in
            [("postgres", Engine::Postgres, written.postgres), ("mariadb", Engine::Mariadb, written.mariadb)]
        {
            let Some(given) = given else { continue };
            server.insert(name.to_owned(), Server { engine: Some(engine), ..given });
            if database.is_empty() {
                database.push(Database { at: Some(At::Named(name.to_owned())), ..Database::default() });
            }
        }
        if written.existing.is_some() || written.keep.is_some() {
            if database.is_empty() {
                database.push(Database::default());
            }
            for database in &mut database {
                database.existing = database.existing.or(written.existing);
                database.keep = database.keep.or(written.keep);
            }
        }
        database.extend(written.store.into_iter().map(|store| Database {
            name: store.database,
            existing: store.existing,
            load: store.load.map(|load| load.0.to_string()),
            ..Database::at(store.url.0)
        }));
        Ok(Self { paths, database, server, cluster, older })
    }
}

impl Written {
    /// One of two spellings of one thing would be ignored: a database that was to stay would be replaced.
    fn check_one_spelling(&self) -> Result<(), String> {
        let Databases(databases) = &self.database;
        // Beside an address of the older spelling, a text is the name of the database.
        let is_name = |one: &Database| one.is_place_alone() && matches!(one.at, Some(At::Named(_)));
        let is_newer = match databases.as_slice() {
            [] => false,
            [one] if self.url.is_some() => !is_name(one),
            _ => true,
        };
        let servers = ["target.postgres", "target.mariadb"];
        let older: Vec<&str> = self.older().into_iter().filter(|key| !servers.contains(key)).collect();
        match older.as_slice() {
            [_, ..] if is_newer => Err(format!(
                "{} is an old spelling of target.database, which is also given. Give `at`, `name`, `existing` and `keep` only in target.database",
                older.join(", ")
            )),
            _ => Ok(()),
        }
    }

    /// Keys of the older spelling that are there.
    fn older(&self) -> Vec<&'static str> {
        let given = [
            ("target.url", self.url.is_some()),
            ("target.existing", self.existing.is_some()),
            ("target.keep", self.keep.is_some()),
            ("target.store", !self.store.is_empty()),
            ("target.postgres", self.postgres.is_some()),
            ("target.mariadb", self.mariadb.is_some()),
        ];
        given.into_iter().filter_map(|(key, is_given)| is_given.then_some(key)).collect()
    }
}
