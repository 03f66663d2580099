//! A trial of reports that can be run: settings with every default filled in and every contradiction refused.

use database::Dialect;
use load::{JobError, Pacing, Phases, Problems, Span};
use record::Parameter;
use serde::{Deserialize, Serialize};

use super::ask::Access;
use super::data::MessageData;
use super::pattern::Pattern;
use super::query::{PUBLISHED_SHARE, Report, ReportResult};
use super::settings::Settings;
use super::store::Standing;
use super::tables::{CLASSES, DEPARTMENT_NAMES};
use crate::TrialError;

/// Messages where nothing else is said.
const EVENTS: u64 = 1_000_000;
/// Most messages: their numbers times the time between them have to fit.
const EVENTS_MAX: u64 = 1 << 40;
/// Days where nothing else is said, and at most.
const DAYS: u32 = 365;
const DAYS_MAX: u32 = 36_500;
/// Longest subject: with it a row lies on one page of every engine.
const SUBJECT_BYTES_MAX: u32 = 1_900;
/// Reports after the first where nothing else is said, and at most.
const RUNS: u32 = 5;
const RUNS_MAX: u32 = 100_000;
/// Most events a second.
const ARRIVALS_MAX: f64 = 1e6;
/// Seeds where nothing else is said.
const SEED: u64 = 42;
/// Longest report where nothing else is said.
const TIME_LIMIT: Span = Span::seconds(3_600);
/// Rows a second that a report is guessed to read and return, for the plan alone.
const GUESSED_ROWS_PER_S: f64 = 400_000.0;

/// One trial of reports, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The messages that the database holds.
    pub standing: Standing,
    /// Share (0–1) of them within the report's dates.
    pub share: f64,
    /// Of which departments.
    pub department: Pattern,
    /// Of which classifications.
    pub classification: Pattern,
    /// What the report returns.
    pub result: ReportResult,
    /// How it is asked for.
    pub access: Access,
    /// Reports after the first.
    pub runs: u32,
    /// When events arrive while reports run; closed, and so never, where none do.
    pub arrivals: Pacing,
    /// Whether a file is to be cold.
    pub cold_file: bool,
    /// Longest report.
    pub time_limit: Span,
    /// The time before the first report, and a guess of what the reports take.
    pub phases: Phases,
    /// Seed of the arrivals.
    pub seed: u64,
}

impl Job {
    /// Fills in the defaults and checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let mut problems = Problems::default();
        check_numbers(&mut problems, settings);
        problems.none()?;
        let events = settings.events.unwrap_or(EVENTS);
        let share = settings.share.map_or(PUBLISHED_SHARE, |per_cent| per_cent / 100.0);
        let runs = settings.runs.unwrap_or(RUNS);
        let arrivals = match (settings.arrivals.filter(|rate| *rate > 0.0), settings.poisson) {
            (None, _) => Pacing::Closed { think_time: Span::ZERO },
            (Some(rate_per_s), Some(true)) => Pacing::Poisson { rate_per_s },
            (Some(rate_per_s), _) => Pacing::Fixed { rate_per_s },
        };
        Ok(Self {
            standing: Standing {
                events,
                days: settings.days.unwrap_or(DAYS),
                subject_bytes: settings.subject_bytes.unwrap_or(0),
                seed: settings.data_seed.unwrap_or(SEED),
            },
            share,
            department: settings.department.clone().unwrap_or_else(Pattern::any),
            classification: settings.classification.clone().unwrap_or_else(Pattern::any),
            result: settings.result.unwrap_or_default(),
            access: settings.access.unwrap_or_default(),
            runs,
            arrivals,
            cold_file: settings.cold_file.unwrap_or(true),
            time_limit: settings.time_limit.unwrap_or(TIME_LIMIT),
            phases: Phases {
                warm_up: settings.warm_up.unwrap_or(Span::ZERO),
                measure: settings.expected.unwrap_or_else(|| guessed(events as f64 * share, runs)),
            },
            seed: settings.seed.unwrap_or(SEED),
        })
    }

    /// The messages.
    #[must_use]
    pub fn data(&self) -> MessageData {
        MessageData::new(self.standing)
    }

    /// The report over them.
    #[must_use]
    pub fn report(&self, data: &MessageData) -> Report {
        Report {
            department: self.department.clone(),
            classification: self.classification.clone(),
            ..Report::of_share(data, self.share, self.result)
        }
    }
}

/// What is wrong with these settings for a database of this dialect, whose engine is called so.
///
/// # Errors
/// The parameter, and what to do.
pub fn check(settings: &Settings, job: &Job, (dialect, engine): (Dialect, &str)) -> Result<(), TrialError> {
    if !job.access.is_of(dialect) {
        let access = |access: Access| Parameter::new("workload.reporting.access").of(access.name());
        return Err(TrialError::Load(format!(
            "{}: {engine} does not support procedures; use a statement ({})",
            access(job.access),
            access(Access::Statement)
        )));
    }
    if settings.cold_file == Some(true) && dialect != Dialect::Sqlite {
        return Err(TrialError::Load(format!(
            "{} needs a SQLite file, but {engine} is a server: let the study start it with {} and {}, or omit it",
            Parameter::new("workload.reporting.cold_file").of("true"),
            Parameter::new("target.server.NAME.between_trials").of("restart"),
            Parameter::new("target.server.NAME.cold").of("true"),
        )));
    }
    Ok(())
}

/// How long a first report and those after it may take.
fn guessed(rows: f64, runs: u32) -> Span {
    let seconds = (rows / GUESSED_ROWS_PER_S * f64::from(runs + 1)).ceil().max(1.0);
    Span::seconds(seconds as u64)
}

fn check_numbers(problems: &mut Problems, settings: &Settings) {
    problems.within("events", settings.events, 1, EVENTS_MAX);
    problems.within("days", settings.days, 1, DAYS_MAX);
    let (events, days) = (settings.events.unwrap_or(EVENTS), settings.days.unwrap_or(DAYS));
    if events > 0 && events / 24 < u64::from(days) {
        let most = match events / 24 {
            0 => "more events".to_owned(),
            most => format!("at most {most}, or more events"),
        };
        problems.add(
            "days",
            format!("cannot be {days}: with {events} messages this would be less than one message per hour; use {most}"),
        );
    }
    problems.within("share", settings.share, 0.0001, 100.0);
    let matching = [
        ("department", &settings.department, DEPARTMENT_NAMES.to_vec()),
        ("classification", &settings.classification, CLASSES.map(|(name, _)| name).to_vec()),
    ];
    for (parameter, pattern, names) in matching {
        if let Some(pattern) = pattern
            && !names.iter().any(|name| pattern.matches(name))
        {
            problems.add(parameter, format!("`{pattern}` matches none of {}", names.join(", ")));
        }
    }
    problems.within("subject_bytes", settings.subject_bytes, 0, SUBJECT_BYTES_MAX);
    problems.within("runs", settings.runs, 1, RUNS_MAX);
    problems.within("arrivals", settings.arrivals, 0.0, ARRIVALS_MAX);
    problems.some_time("expected", settings.expected);
    problems.some_time("time_limit", settings.time_limit);
    for (parameter, given) in
        [("warm_up", settings.warm_up), ("expected", settings.expected), ("time_limit", settings.time_limit)]
    {
        problems.no_age(parameter, given);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> Result<Job, String> {
        let settings: Settings = toml::from_str(text).unwrap();
        Job::of(&settings)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn nothing_need_be_given() {
        let job = job("").unwrap();
        assert_eq!(job.standing, Standing { events: 1_000_000, days: 365, subject_bytes: 0, seed: 42 });
        assert_eq!((job.runs, job.access, job.result), (5, Access::Statement, ReportResult::Rows));
        assert!(!job.arrivals.is_open() && job.cold_file);
        let data = job.data();
        let messages = job.report(&data).messages;
        assert_eq!(messages.end - messages.start, 95_828);
    }

    #[test]
    fn the_published_size_returns_the_published_rows() {
        let job = job("events = 150000000").unwrap();
        let messages = job.report(&job.data()).messages;
        assert_eq!(messages.end - messages.start, 14_374_260);
        assert_eq!(job.phases.measure, Span::seconds(216), "a guess, for the plan");
    }

    #[test]
    fn arrivals_of_none_are_a_database_that_stays_as_it_is() {
        assert!(!job("arrivals = 0").unwrap().arrivals.is_open());
        assert_eq!(job("arrivals = 82.5").unwrap().arrivals, Pacing::Fixed { rate_per_s: 82.5 });
        let random = job("arrivals = 82.5\npoisson = true").unwrap();
        assert_eq!(random.arrivals, Pacing::Poisson { rate_per_s: 82.5 });
    }

    #[test]
    fn a_pattern_matches_a_name() {
        let told = job("department = \"sale\"\nclassification = \"\"").unwrap_err();
        assert!(told.contains("`sale` matches none of operations-field"), "{told}");
        assert!(told.contains("`` matches none of internal"), "{told}");
        assert!(job("department = \"sales%\"").is_ok());
    }

    #[test]
    fn there_is_a_message_an_hour() {
        let told = job("events = 20000\ndays = 834").unwrap_err();
        assert!(told.contains("at most 833"), "{told}");
        assert_eq!(job("events = 20000\ndays = 833").unwrap().standing.days, 833);
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let told = job("events = 0\ndays = 0\nshare = 101\nruns = 0\narrivals = -1\ntime_limit = \"0s\"")
            .unwrap_err();
        assert_eq!(told.lines().count(), 6, "{told}");
        let told = toml::from_str::<Settings>("department = \"A%\"").unwrap_err().to_string();
        assert!(told.contains("interpret 'A' differently"), "{told}");
    }
}
