//! The study of one historian, and what makes a search or a quick look of it.

use load::{Span, Workload};
use workload::historian::{Rate, Settings};

use crate::search::Search;
use crate::study::{Configuration, Study};
use crate::target::Target;
use crate::work::Given;

impl Study {
    /// A study of one historian with default parameters.
    #[must_use]
    pub fn of_historian(target: impl Into<Target>) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Historian".to_owned();
        study.slug = "historian".to_owned();
        study.target = target.into();
        study.workload.historian = Some(Settings::default());
        study
    }

    /// Makes it a search for the highest rate that is held.
    pub fn search_rate(&mut self, quick: bool) {
        self.title = "Historian, highest sustained rate".to_owned();
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

    /// Adds a short historian on this engine to a study of a disk: as fast as it goes, since a short look judges no rate.
    pub fn add_historian(&mut self, engine: &str, target: Target, duration: Option<Span>) {
        let settings = Settings {
            rate: Some(Rate::Max),
            screens: Some(0),
            warm_up: Some(Span::seconds(2)),
            duration: Some(duration.unwrap_or(Span::seconds(8))),
            ..Settings::default()
        };
        let workload = Given { historian: Some(settings), ..Given::default() };
        let name = format!("historian on {engine}");
        self.configuration.push(Configuration { name, target, workload, ..Configuration::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use database::Url;

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
        assert!(refused("rate = 100.0").contains("‹search›"));
        assert!(refused("source = \"counters\"").contains("random"));
    }

    #[test]
    fn steps_of_a_search_hold_the_cycles_of_its_server() {
        let mut study = Study::of_historian(url());
        study.search_rate(false);
        let lengths = |study: &Study, checkpoint_s: Option<f64>| {
            let plan = Plan::of(study).unwrap();
            let rules = plan.trials[0].search_rules(study, checkpoint_s).unwrap();
            (rules.step_s, rules.confirm_s)
        };
        assert_eq!(lengths(&study, None), (120.0, 540.0), "a minute is assumed");
        assert_eq!(lengths(&study, Some(300.0)), (340.0, 780.0), "40 s and one cycle, 180 s and two");
        assert_eq!(lengths(&study, Some(900.0)), (120.0, 1_980.0), "only confirming steps hold a long cycle");
        study.narrow::<Settings>(&toml::from_str("maintenance_interval = \"240s\"").unwrap()).unwrap();
        assert_eq!(lengths(&study, None), (280.0, 660.0));
        study.search.as_mut().unwrap().confirm = Some(Span::seconds(90));
        assert_eq!(lengths(&study, Some(300.0)), (120.0, 90.0), "lengths that are given are kept");
    }

    #[test]
    fn a_long_step_is_longer_than_those_before_it_and_counts_in_the_time_of_the_search() {
        let mut study = Study::of_historian(url());
        study.search_rate(false);
        let rules = |study: &Study, checkpoint_s: Option<f64>| {
            let plan = Plan::of(study).map_err(|error| error.to_string())?;
            Ok::<_, String>(plan.trials[0].search_rules(study, checkpoint_s).unwrap())
        };
        let without = rules(&study, None).unwrap();
        assert_eq!(without.confirm_for_s, None);
        study.search.as_mut().unwrap().confirm_for = Some(Span::seconds(3_600));
        let with = rules(&study, None).unwrap();
        assert_eq!(with.confirm_for_s, Some(3_600.0));
        let more_s = with.time_on_s(1_000.0) - without.time_on_s(1_000.0);
        assert_eq!(more_s, 3_600.0 + 5.0 + 1.0, "itself, its rest, and what a step takes besides");
        assert!(with.time_at_most_s() > without.time_at_most_s() + 11.0 * 3_600.0);
        let long_cycle = rules(&study, Some(1_800.0)).unwrap();
        assert_eq!(long_cycle.confirm_for_s, Some(3_780.0), "no shorter than a confirming step");
        study.search.as_mut().unwrap().confirm_for = Some(Span::seconds(540));
        let refused = rules(&study, None).unwrap_err();
        assert!(
            refused.contains(
                "search.confirm_for: invalid value 9m: must be longer than the earlier confirmation steps, which take 9m"
            ),
            "{refused}"
        );
        study.search.as_mut().unwrap().confirm = Some(Span::seconds(60));
        assert!(rules(&study, None).is_ok());
    }

    #[test]
    fn three_of_four_confirmations_must_be_held_unless_it_is_said() {
        let of = |text: &str| {
            let mut study = Study::of_historian(url());
            study.search = Some(toml::from_str(text).unwrap());
            let plan = Plan::of(&study).map_err(|error| error.to_string())?;
            let rules = plan.trials[0].search_rules(&study, None).unwrap();
            Ok::<_, String>((rules.confirmations, rules.confirmations_of))
        };
        assert_eq!(of(""), Ok((3, 4)));
        assert_eq!(of("confirmations = 1"), Ok((1, 1)));
        assert_eq!(of("confirmations = 2\nconfirmations_of = 5"), Ok((2, 5)));
        let refused = of("confirmations = 5\nconfirmations_of = 4").unwrap_err();
        assert!(
            refused.contains("confirmations_of: invalid value 4: it cannot be less than confirmations, 5"),
            "{refused}"
        );
    }

    #[test]
    fn searches_of_several_blocks_begin_at_rates_of_their_own() {
        let mut study = Study::of_historian(url());
        study.search_rate(false);
        let starts = |study: &Study| -> Vec<f64> {
            let plan = Plan::of(study).unwrap();
            let start = |trial: &crate::Trial| {
                trial.search_start_per_s(study, &trial.search_rules(study, None).unwrap())
            };
            plan.trials.iter().map(start).collect()
        };
        assert_eq!(starts(&study), [1_000.0], "one search begins where it is told");
        study.blocks = 7;
        let seven = starts(&study);
        assert!(seven.iter().all(|start| (1_000.0..=1_200.0).contains(start)), "{seven:?}");
        assert!(seven.windows(2).all(|pair| pair[0] != pair[1]), "{seven:?}");
        assert_eq!(starts(&study), seven, "which the seed decides");
    }

    #[test]
    fn a_password_is_not_written_to_the_study_file() {
        let study = Study::of_historian("postgres://prony:secret@localhost/postgres".parse::<Url>().unwrap());
        let text = study.to_toml().unwrap();
        assert!(!text.contains("secret") && text.contains("localhost"), "{text}");
    }
}
