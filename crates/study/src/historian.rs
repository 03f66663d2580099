//! Studies of a historian that are ready to run: those that were published.

use database::Url;
use load::Span;
use toml::Value;
use workload::historian::{Rate, Settings};

use crate::axis::Axis;
use crate::search::Search;
use crate::study::{Configuration, Study};
use crate::target::{Existing, Target};
use crate::work::Given;

/// Records a second of the published sweep over the rows of a flush.
const PUBLISHED_RATE_PER_S: f64 = 5_100.0;
/// Rows of a flush in that sweep.
const PUBLISHED_FLUSH_ROWS: [i64; 6] = [10, 40, 100, 500, 1_000, 5_000];
/// Name of the database that is made where nothing else is said.
pub(crate) const DATABASE: &str = "prony_historian";

/// A named study of a historian.
#[derive(Clone, Copy, Debug)]
pub struct HistorianProfile {
    /// Name on the command line.
    pub name: &'static str,
    /// What it answers, in one line.
    pub answers: &'static str,
    fill_in: fn(&mut Study),
    hasten: fn(&mut Study),
}

/// All profiles.
#[must_use]
pub fn historian_profiles() -> [HistorianProfile; 2] {
    [
        HistorianProfile {
            name: "flush-rows",
            answers: "How many rows a flush should write: 10 to 5,000, at 5,100 records/s and as fast as it goes",
            fill_in: flush_rows,
            hasten: shorten,
        },
        HistorianProfile {
            name: "real-project",
            answers: "5,000 tags at 3,700 records/s with screens, hourly purge and shrink. Takes eight hours",
            fill_in: real_project,
            hasten: minutes_for_hours,
        },
    ]
}

impl HistorianProfile {
    /// The study of a target. Quick: with shorter times, and it says so.
    #[must_use]
    pub fn study(&self, url: Url, quick: bool) -> Study {
        let mut study = Study::of_historian(url);
        study.title = format!("Historian, profile {}", self.name);
        study.slug = format!("historian-{}", self.name);
        study.profile = Some(self.name.to_owned());
        (self.fill_in)(&mut study);
        if quick {
            study.quick = true;
            (self.hasten)(&mut study);
        }
        study
    }
}

impl Study {
    /// A study of one historian with default parameters.
    #[must_use]
    pub fn of_historian(url: Url) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Historian".to_owned();
        study.slug = "historian".to_owned();
        study.target = Target { url: Some(url), database: Some(DATABASE.to_owned()), ..Target::default() };
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
        shorten(self);
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
        self.target.url = Some(url);
        self.target.existing = Existing::Leftover;
        self.configuration.push(configuration("historian on SQLite", settings));
    }

    fn historian(&mut self) -> &mut Settings {
        self.workload.historian.get_or_insert_default()
    }
}

fn shorten(study: &mut Study) {
    let historian = study.historian();
    historian.warm_up = Some(Span::seconds(4));
    historian.duration = Some(Span::seconds(10));
}

fn configuration(name: &str, settings: Settings) -> Configuration {
    let workload = Given { historian: Some(settings), ..Given::default() };
    Configuration { name: name.to_owned(), workload, ..Configuration::default() }
}

/// The sweep of the published test, and the same without a rate: it shows what each setting gives.
fn flush_rows(study: &mut Study) {
    let historian = study.historian();
    historian.warm_up = Some(Span::seconds(15));
    historian.duration = Some(Span::seconds(30));
    historian.screens = Some(0);
    let at = |rate: Rate| Settings { rate: Some(rate), ..Settings::default() };
    study.configuration = vec![
        configuration("5100/s", at(Rate::PerSecond(PUBLISHED_RATE_PER_S))),
        configuration("max", at(Rate::Max)),
    ];
    study.axis = vec![Axis::of::<Settings>("flush_rows", PUBLISHED_FLUSH_ROWS.map(Value::from))];
}

/// The published "real project", after an hour of filling, over three purges.
fn real_project(study: &mut Study) {
    let historian = study.historian();
    historian.tags = Some(5_000);
    historian.rate = Some(Rate::PerSecond(3_700.0));
    historian.max_buffered_events = Some(200_000);
    historian.flush_rows = Some(100);
    historian.shrink = Some(true);
    historian.warm_up = Some(Span::seconds(3_600));
    historian.duration = Some(Span::seconds(3 * 3_600));
    historian.maintenance_interval = Some(Span::seconds(3_600));
    historian.retention = Some(Span::seconds(3_600));
    study.configuration = [30_000, 60_000]
        .map(|rows| {
            configuration(
                &format!("purge in blocks of {rows}"),
                Settings { purge_rows: Some(rows), ..Settings::default() },
            )
        })
        .to_vec();
}

/// A third of a minute for each hour: the proportions stay, the amount of data does not.
fn minutes_for_hours(study: &mut Study) {
    let historian = study.historian();
    let hour = Span::seconds(20);
    historian.warm_up = Some(hour);
    historian.duration = Some(Span::seconds(60));
    historian.maintenance_interval = Some(hour);
    historian.retention = Some(hour);
    historian.trend_window = Some(hour);
    historian.screen_interval = Some(Span::seconds(2));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    fn url() -> Url {
        "sqlite:/data/historian.db".parse().unwrap()
    }

    #[test]
    fn every_profile_has_a_plan_and_survives_its_file() {
        for profile in historian_profiles() {
            for quick in [false, true] {
                let study = profile.study(url(), quick);
                assert!(!Plan::of(&study).unwrap().trials.is_empty(), "{}", profile.name);
                assert_eq!(Study::from_toml(&study.to_toml().unwrap()).unwrap(), study);
                assert_eq!(study.quick, quick);
            }
        }
    }

    #[test]
    fn the_flush_rows_are_the_published_ones_at_both_paces() {
        let study = historian_profiles()[0].study(url(), false);
        let plan = Plan::of(&study).unwrap();
        let found: Vec<_> = plan
            .trials
            .iter()
            .map(|trial| {
                let job = trial.work.job::<Settings>().unwrap();
                (job.flush_rows, job.rate_per_s())
            })
            .collect();
        assert_eq!(found.len(), 12);
        assert_eq!(found[1], (40, Some(5_100.0)));
        assert_eq!(found[11], (5_000, None));
        assert_eq!(plan.trials[1].planned.name, "5100/s, flush rows 40", "sentences are told apart by it");
    }

    #[test]
    fn the_real_project_purges_three_times_after_its_first_hour() {
        let plan = Plan::of(&historian_profiles()[1].study(url(), false)).unwrap();
        let job = plan.trials[1].work.job::<Settings>().unwrap();
        let maintenance = job.maintenance.unwrap();
        assert_eq!(job.phases.measure.ns / maintenance.interval.ns, 3);
        assert_eq!(maintenance.purge_rows, Some(60_000));
        assert!(maintenance.shrink && job.readers.is_some());
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
