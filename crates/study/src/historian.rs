//! The study of one historian, and what makes a search or a quick look of it.

use database::{Existing, Url};
use load::{Span, Workload};
use workload::historian::{Rate, Settings};

use crate::search::Search;
use crate::study::{Configuration, Study};
use crate::target::{Database, Target};
use crate::work::Given;

impl Study {
    /// A study of one historian with default parameters.
    #[must_use]
    pub fn of_historian(url: Url) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Historian".to_owned();
        study.slug = "historian".to_owned();
        study.target = Target::of_databases(vec![Database::at(url)]);
        study.workload.historian = Some(Settings::default());
        study
    }

    /// Makes it a search for the highest rate that is held.
    pub fn search_rate(&mut self, quick: bool) {
        self.title = "Historian, highest sustainable rate".to_owned();
        self.slug = "historian-max".to_owned();
        self.search = Some(if quick { Search::quick() } else { Search::default() });
        if quick {
            self.hasten();
        }
    }

    /// Shortens the steps to a quick look.
    pub fn hasten(&mut self) {
        self.quick = true;
        let historian = self.workload.historian.get_or_insert_default();
        let look = Settings::quick_look(historian, &[]);
        (historian.warm_up, historian.duration) = (look.warm_up, look.duration);
    }

    /// Adds a short historian to a study of a disk: as fast as it goes, since a short look judges no rate.
    pub fn add_historian(&mut self, url: Url, duration: Option<Span>) {
        let settings = Settings {
            rate: Some(Rate::Max),
            screens: Some(0),
            warm_up: Some(Span::seconds(2)),
            duration: Some(duration.unwrap_or(Span::seconds(8))),
            ..Settings::default()
        };
        let database = Database { existing: Some(Existing::Leftover), ..Database::at(url) };
        let target = Target::of_databases(vec![database]);
        let workload = Given { historian: Some(settings), ..Given::default() };
        let name = "historian on SQLite".to_owned();
        self.configuration.push(Configuration { name, target, workload, ..Configuration::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    fn url() -> Url {
        "sqlite:/data/historian.db".parse().unwrap()
    }

    #[test]
    fn a_search_refuses_what_it_looks_for_itself() {
        let refused = |text: &str| {
            let mut study = Study::of_historian(url());
            study.search_rate(false);
            study.narrow::<Settings>(&toml::from_str(text).unwrap()).unwrap();
            Plan::of(&study).unwrap_err().to_string()
        };
        assert!(refused("rate = 100.0").contains("‹\u{2063}search\u{2063}›"));
        assert!(refused("source = \"counters\"").contains("random"));
    }

    #[test]
    fn a_confirmation_lasts_five_purges_or_five_minutes() {
        let mut study = Study::of_historian(url());
        study.search_rate(false);
        let confirm_s = |study: &Study| {
            let plan = Plan::of(study).unwrap();
            study.search.as_ref().unwrap().rules(&plan.trials[0].work, false).confirm_s
        };
        assert_eq!(confirm_s(&study), 300.0);
        study.narrow::<Settings>(&toml::from_str("maintenance_interval = \"110s\"").unwrap()).unwrap();
        assert_eq!(confirm_s(&study), 550.0);
    }

    #[test]
    fn a_password_is_not_written_to_the_study_file() {
        let study = Study::of_historian("postgres://prony:secret@localhost/postgres".parse().unwrap());
        let text = study.to_toml().unwrap();
        assert!(!text.contains("secret") && text.contains("localhost"), "{text}");
    }
}
