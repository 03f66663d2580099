//! Studies of order stores.

use database::Url;
use load::Span;
use serde::{Deserialize, Serialize};
use workload::orders::{DATABASE, Settings, StoreSize};

use crate::mistake::{StudyError, StudyErrors};
use crate::study::{Configuration, Study};
use crate::target::{Existing, Target};
use crate::work::Given;

/// A store that is driven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Address of the server, or of the file. Its password is never written.
    #[serde(with = "url_text")]
    pub url: Url,
    /// Name of the store's database there; with SQLite the address names the file.
    #[serde(default = "database")]
    pub database: String,
    /// Size of the store that is loaded there before the first trial and removed after the last; none where a loaded one is
    /// there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<StoreSize>,
    /// What happens if there is a database of that name already where one is to be loaded.
    #[serde(default, skip_serializing_if = "is_refuse")]
    pub existing: Existing,
}

fn is_refuse(existing: &Existing) -> bool {
    *existing == Existing::Refuse
}

fn database() -> String {
    DATABASE.to_owned()
}

/// An address as text.
mod url_text {
    use database::Url;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(url)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Store {
    /// A loaded store.
    #[must_use]
    pub fn new(url: Url, name: Option<&str>) -> Self {
        Self {
            url,
            database: name.map_or_else(database, str::to_owned),
            load: None,
            existing: Existing::Refuse,
        }
    }

    /// What tells it from others: the database on its server, or the file.
    #[must_use]
    pub fn place(&self) -> String {
        match self.url.file() {
            Some(file) => file.display().to_string(),
            None => format!("{} of {}", self.database, self.url),
        }
    }
}

impl Study {
    /// A study of one load on these stores with default parameters.
    #[must_use]
    pub fn of_orders(stores: Vec<Store>) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Order store".to_owned();
        study.slug = "orders".to_owned();
        study.target = Target { store: stores, ..Target::default() };
        study.workload.orders = Some(Settings::default());
        study
    }

    /// Adds a short run of a small order store, which is loaded for it, to a study of a disk.
    pub fn add_orders(&mut self, url: Url, duration: Option<Span>) {
        let settings = Settings {
            warmup_time: Some(Span::seconds(2)),
            run_time: Some(duration.unwrap_or(Span::seconds(8))),
            ..Settings::default()
        };
        let store =
            Store { load: Some(StoreSize::DEFAULT), existing: Existing::Leftover, ..Store::new(url, None) };
        self.target.store = vec![store];
        let workload = Given { orders: Some(settings), ..Given::default() };
        self.configuration.push(Configuration {
            name: "orders on SQLite".to_owned(),
            workload,
            ..Configuration::default()
        });
    }
}

/// Refuses two targets that are one store: each would find the other's orders; and what is to happen to an existing one
/// where none is made.
pub(crate) fn check_stores(stores: &[Store]) -> Result<(), StudyErrors> {
    let mut errors = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        let place = store.place();
        if stores[..number].iter().any(|other| other.place() == place) {
            errors.push(StudyError {
                place: "target.store".to_owned(),
                problem: format!(
                    "{place} is given twice: each target needs a store of its own, see --database"
                ),
            });
        }
    }
    for store in stores {
        let problem = match (store.existing, &store.load) {
            (Existing::Refuse, _) | (Existing::Leftover | Existing::Replace, Some(_)) => continue,
            (Existing::Reuse, Some(_)) => "with load: leave out load to drive a store that is loaded already",
            (_, None) => "without load, by which a store is made: leave it out",
        };
        errors.push(StudyError {
            place: "target.store".to_owned(),
            problem: format!("{}: existing has no meaning {problem}", store.place()),
        });
    }
    errors.dedup();
    if errors.is_empty() { Ok(()) } else { Err(StudyErrors(errors)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Work};

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn server() -> Url {
        url("postgres://prony:secret@localhost/postgres")
    }

    #[test]
    fn a_study_of_stores_is_read_back_without_its_passwords() {
        let stores = vec![Store::new(server(), None), Store::new(url("sqlite:/data/orders.db"), None)];
        let study = Study::of_orders(stores);
        let text = study.to_toml().unwrap();
        assert!(!text.contains("secret") && text.contains("prony_orders"), "{text}");
        let read = Study::from_toml(&text).unwrap();
        assert_eq!(read.to_toml().unwrap(), text);
        let plan = Plan::of(&study).unwrap();
        assert!(matches!(plan.trials[0].work, Work::Orders(_)));
        assert_eq!(plan.duration(), Span::seconds(360));
    }

    #[test]
    fn one_store_twice_is_refused() {
        let twice = vec![
            Store::new(server(), Some("a")),
            Store::new(server(), Some("b")),
            Store::new(server(), Some("a")),
        ];
        let error = Plan::of(&Study::of_orders(twice)).unwrap_err().to_string();
        assert!(error.contains("a of postgres://") && error.contains("twice"), "{error}");
        let different = vec![Store::new(server(), Some("a")), Store::new(server(), Some("b"))];
        assert!(Plan::of(&Study::of_orders(different)).is_ok());
    }

    #[test]
    fn a_study_without_a_store_says_what_is_missing() {
        let error = Plan::of(&Study::of_orders(Vec::new())).unwrap_err().to_string();
        assert!(error.contains("target.store"), "{error}");
    }

    #[test]
    fn a_check_has_a_short_run_of_orders() {
        let mut study = Study::of_disk(vec!["/data".into()]);
        study.configuration.push(Configuration {
            name: "disk".to_owned(),
            workload: Given::default(),
            ..Configuration::default()
        });
        study.add_orders(url("sqlite:/data/orders.db"), None);
        let plan = Plan::of(&study).unwrap();
        assert_eq!(plan.trials.len(), 2);
        assert_eq!(plan.trials[1].planned.name, "orders on SQLite");
        assert_eq!(plan.trials[1].work.any().phases().measure, Span::seconds(8));
    }
}
