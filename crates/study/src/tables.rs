//! Studies of kinds of tables.

use database::Dialect;
use load::Workload;
use toml::Value;
use workload::tables::{Access, Settings, kinds_of};

use crate::axis::Axis;
use crate::study::{Order, Study};
use crate::target::Target;

impl Study {
    /// A study of the kinds of tables that a dialect can have, each compared with rows on disk.
    #[must_use]
    pub fn of_tables(target: impl Into<Target>, dialect: Dialect) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Kinds of tables".to_owned();
        study.slug = "tables".to_owned();
        study.target = target.into();
        let access = Access::usual(dialect);
        study.workload.tables =
            Some(Settings { access: (access != Access::default()).then_some(access), ..Settings::default() });
        (study.compare, study.order) = (true, Order::Blocks);
        study.axis = vec![Axis {
            key: "workload.tables.kind".to_owned(),
            levels: kinds_of(dialect).into_iter().map(|kind| Value::String(kind.to_string())).collect(),
            names: Vec::new(),
            reference: None,
        }];
        study
    }

    /// Shortens trials of tables to a quick look.
    pub fn hasten_tables(&mut self) {
        self.quick = true;
        let tables = self.workload.tables.get_or_insert_default();
        let look = Settings::quick_look(tables, &[]);
        (tables.rows, tables.warm_up, tables.duration) = (look.rows, look.warm_up, look.duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Database;
    use crate::{Plan, Work};
    use database::Url;
    use workload::tables::Kind;

    fn study(target: &str) -> Study {
        let url: Url = target.parse().unwrap();
        let dialect = url.engine().dialect();
        Study::of_tables(vec![Database::at(url)], dialect)
    }

    fn kinds(study: &Study) -> Vec<Kind> {
        let plan = Plan::of(study).unwrap();
        let kind = |work: &Work| work.job::<Settings>().unwrap().kind;
        plan.trials.iter().map(|trial| kind(&trial.work)).collect()
    }

    #[test]
    fn every_kind_of_the_engine_is_a_trial_and_the_first_is_the_reference() {
        let study = study("postgres://me@localhost");
        let levels = ["row", "volatile", "relaxed", "covering"];
        assert_eq!(study.axis[0].levels, levels.map(|level| Value::String(level.to_owned())));
        // Blocks have an order of their own.
        let mut names: Vec<&str> = kinds(&study).into_iter().map(Kind::name).collect();
        names.sort_unstable();
        assert_eq!(names, ["covering", "relaxed", "row", "volatile"]);
        let text = study.to_toml().unwrap();
        assert_eq!(Study::from_toml(&text).unwrap().to_toml().unwrap(), text);
    }

    #[test]
    fn a_kind_that_is_given_is_the_only_one() {
        let mut study = study("postgres://me@localhost");
        study.narrow(&Settings { kind: Some(Kind::Relaxed), ..Settings::default() }).unwrap();
        assert_eq!(kinds(&study), [Kind::Relaxed]);
    }

    #[test]
    fn every_parameter_is_an_axis() {
        let mut study = study("sqlite:/data/tables.db");
        let levels = ["ad-hoc", "prepared"].map(|level| Value::String(level.to_owned()));
        let axis = Axis {
            key: "workload.tables.access".to_owned(),
            levels: levels.into(),
            names: Vec::new(),
            reference: None,
        };
        study.axis.push(axis);
        assert_eq!(Plan::of(&study).unwrap().trials.len(), 10);
    }

    /// What a page tells its readers to write.
    #[test]
    fn rows_of_one_engine_are_set_against_columns_of_another() {
        let page = include_str!("../../../studies/primequest-columnstore.md");
        let lines: Vec<&str> = page.lines().skip_while(|line| !line.starts_with("    title")).collect();
        let parts = lines.split(|line| !line.starts_with("    ")).filter(|part| !part.is_empty());
        let mut parts = parts.map(|part| part.join("\n"));
        let text = parts.next().unwrap();
        let plan = Plan::of(&Study::from_toml(&text).unwrap()).unwrap();
        let databases: std::collections::BTreeSet<String> =
            plan.databases().iter().map(|(database, ..)| database.url.to_string()).collect();
        let expected = ["clickhouse://me@localhost/default", "postgres://me@localhost/postgres"];
        assert_eq!(databases.into_iter().collect::<Vec<String>>(), expected);
        let more = format!("{text}\n{}", parts.next().unwrap());
        match (Plan::of(&Study::from_toml(&more).unwrap()), database::Engine::DuckDb.left_out()) {
            (Ok(plan), None) => assert_eq!(plan.databases().len(), 3),
            (Err(errors), Some(why)) => assert!(errors.to_string().contains(why), "{errors}"),
            (planned, left_out) => panic!("{left_out:?}, and {planned:?}"),
        }
    }
}
