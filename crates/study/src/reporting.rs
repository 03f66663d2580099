//! Studies of reports.

use load::Workload;
use toml::Value;
use workload::reporting::Settings;

use crate::axis::Axis;
use crate::study::{Order, Study};
use crate::target::Target;

/// Events a second that the published study added while reports ran.
const PUBLISHED_ARRIVALS_PER_S: f64 = 82.5;

impl Study {
    /// A study of reports on this database.
    #[must_use]
    pub fn of_reporting(target: impl Into<Target>) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Reports".to_owned();
        study.slug = "reporting".to_owned();
        study.target = target.into();
        study.workload.reporting = Some(Settings::default());
        study
    }

    /// Fewer messages and reports, for a quick look.
    pub fn hasten_reporting(&mut self) {
        self.quick = true;
        let reporting = self.workload.reporting.get_or_insert_default();
        *reporting = Settings::quick_look(reporting, &[]);
    }

    /// Has each report asked for once while nothing else goes on, and once while events arrive as in the published study.
    pub fn arrive_and_not(&mut self) {
        self.order = Order::Given;
        self.axis.push(Axis {
            key: "workload.reporting.arrivals".to_owned(),
            levels: vec![Value::Float(0.0), Value::Float(PUBLISHED_ARRIVALS_PER_S)],
            names: vec!["none".to_owned(), PUBLISHED_ARRIVALS_PER_S.to_string()],
            reference: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::target::Database;
    use database::{Existing, Url};

    fn study() -> Study {
        let url: Url = "postgres://me:secret@localhost/mydb".parse().unwrap();
        let mut study = Study::of_reporting(vec![Database::at(url)]);
        study.arrive_and_not();
        study
    }

    #[test]
    fn a_report_is_asked_for_with_and_without_arrivals_in_one_database() {
        let plan = Plan::of(&study()).unwrap();
        let levels = plan.trials.iter().map(|trial| trial.planned.levels["arrivals"].clone());
        assert_eq!(levels.collect::<Vec<_>>(), ["none", "82.5"]);
        let databases = plan.databases();
        let [(wanted, _)] = databases.as_slice() else { panic!("{}", databases.len()) };
        assert_eq!((wanted.name.as_str(), wanted.existing), ("prony_reports", Existing::Refuse));
        assert_eq!(plan.trials[1].planned.name, "95828 messages as rows, arrivals 82.5");
    }

    /// Trials of reports leave the messages as they were.
    #[test]
    fn messages_that_are_there_serve_every_trial() {
        let mut study = study();
        study.blocks = 3;
        for database in &mut study.target.database {
            database.existing = Some(Existing::Reuse);
        }
        assert_eq!(Plan::of(&study).unwrap().trials.len(), 6);
    }

    #[test]
    fn one_database_cannot_hold_two_numbers_of_messages() {
        let mut study = study();
        study.axis = vec![Axis {
            key: "workload.reporting.events".to_owned(),
            levels: vec![Value::Integer(100_000), Value::Integer(200_000)],
            names: Vec::new(),
            reference: None,
        }];
        let error = Plan::of(&study).unwrap_err().to_string();
        assert!(error.contains("100000 messages") && error.contains("200000 messages"), "{error}");
    }

    #[test]
    fn a_study_of_reports_is_read_back_without_its_password() {
        let text = study().to_toml().unwrap();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(Study::from_toml(&text).unwrap().to_toml().unwrap(), text);
    }
}
