//! Studies of order stores.

use load::Span;
use workload::orders::{Settings, StoreSize};

use crate::study::{Configuration, Study};
use crate::target::Target;
use crate::work::Given;

impl Study {
    /// A study of one load on these stores with default parameters.
    #[must_use]
    pub fn of_orders(target: impl Into<Target>) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Order store".to_owned();
        study.slug = "orders".to_owned();
        study.target = target.into();
        study.workload.orders = Some(Settings::default());
        study
    }

    /// Adds a short run of a small order store on this engine, which is loaded for it, to a study of a disk: of so many clients.
    pub fn add_orders(
        &mut self,
        engine: &str,
        target: Target,
        (clients, duration): (Option<u32>, Option<Span>),
    ) {
        let settings = Settings {
            n_threads: clients,
            warmup_time: Some(Span::seconds(2)),
            run_time: Some(duration.unwrap_or(Span::seconds(8))),
            size: Some(StoreSize::DEFAULT),
            ..Settings::default()
        };
        let workload = Given { orders: Some(settings), ..Given::default() };
        let name = format!("orders on {engine}");
        self.configuration.push(Configuration { name, target, workload, ..Configuration::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Database;
    use crate::{Plan, Work};
    use database::Url;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn server() -> Url {
        url("postgres://prony:secret@localhost/postgres")
    }

    fn named(name: &str) -> Database {
        Database { name: Some(name.to_owned()), ..Database::at(server()) }
    }

    #[test]
    fn a_study_of_stores_is_read_back_without_its_passwords() {
        let stores = vec![named("orders"), Database::at(url("sqlite:/data/orders.db"))];
        let study = Study::of_orders(stores);
        let text = study.to_toml().unwrap();
        assert!(!text.contains("secret") && text.contains("name = \"orders\""), "{text}");
        let read = Study::from_toml(&text).unwrap();
        assert_eq!(read.to_toml().unwrap(), text);
        let plan = Plan::of(&study).unwrap();
        assert!(matches!(plan.trials[0].work, Work::Orders(_)));
        assert_eq!(plan.duration(), Span::seconds(360));
    }

    #[test]
    fn one_store_twice_is_refused() {
        let twice = vec![named("a"), named("b"), named("a")];
        let error = Plan::of(&Study::of_orders(twice)).unwrap_err().to_string();
        assert!(error.contains("a of postgres://") && error.contains("twice"), "{error}");
        let different = vec![named("a"), named("b")];
        assert!(Plan::of(&Study::of_orders(different)).is_ok());
    }

    #[test]
    fn a_study_without_a_store_says_what_is_missing() {
        let error = Plan::of(&Study::of_orders(Vec::new())).unwrap_err().to_string();
        assert!(error.contains("target.database: missing"), "{error}");
    }

    #[test]
    fn a_check_has_a_short_run_of_orders() {
        let mut study = Study::of_disk(vec!["/data".into()]);
        study.configuration.push(Configuration {
            name: "disk".to_owned(),
            workload: Given::default(),
            ..Configuration::default()
        });
        study.add_orders("SQLite", url("sqlite:/data/orders.db").into(), (None, None));
        let plan = Plan::of(&study).unwrap();
        assert_eq!(plan.trials.len(), 2);
        assert_eq!(plan.trials[1].planned.name, "orders on SQLite");
        assert_eq!(plan.trials[1].work.any().phases().measure, Span::seconds(8));
    }
}
