//! A trial of a table that can be run: settings with every default filled in and every contradiction refused.

use database::Dialect;
use load::{JobError, Pacing, Phases, Problems, Span};
use record::Parameter;
use serde::{Deserialize, Serialize};

use super::kind::{Access, Kind};
use super::made::LEVELS;
use super::settings::Settings;
use crate::TrialError;
use crate::clients::Schedule;

/// Rows where nothing else is said.
const ROWS: u64 = 1_000_000;
/// Most rows: keys and sums of amounts are exact in what every engine sends.
const ROWS_MAX: u64 = 10_000_000_000;
/// Most clients.
const CLIENTS_MAX: u32 = 100_000;
/// Rows of a statement that changes all.
const BATCH_ROWS: u64 = 1_000_000;
/// Seed where nothing else is said.
const SEED: u64 = 42;
/// Part of the rows that clients delete by their keys.
const DELETED_PART: u64 = 100;
/// Warm-up where nothing else is said.
const WARM_UP: Span = Span::seconds(2);
/// Length of the window where nothing else is said.
const DURATION: Span = Span::seconds(10);
/// Clients that begin each second: all of them, at once.
const RAMP_RATE: f64 = 1e8;

/// One trial of a table, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Kind of table.
    pub kind: Kind,
    /// How statements come to the server.
    pub access: Access,
    /// Level at which archive tables are compressed where the engine has levels; none where nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zstd_level: Option<u8>,
    /// Rows.
    pub rows: u64,
    /// Most rows that one statement changes.
    pub batch_rows: u64,
    /// Clients.
    pub clients: u32,
    /// Rows that clients delete.
    pub point_deletes: u64,
    /// Warm-up and window of updates by key.
    pub phases: Phases,
    /// Whether it is tried what survives a kill; none where that can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<bool>,
    /// Seed of what clients draw.
    pub seed: u64,
    /// Seed of the rows: the same for all trials of a study, so that all kinds of tables hold the same rows.
    pub data_seed: u64,
}

impl Job {
    /// Fills in the defaults and checks everything that can be known without a database.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let rows = settings.rows.unwrap_or(ROWS);
        let mut problems = Problems::default();
        problems.within("rows", settings.rows, 1, ROWS_MAX);
        problems.within("zstd_level", settings.zstd_level, *LEVELS.start(), *LEVELS.end());
        problems.within("batch_rows", settings.batch_rows, 1, ROWS_MAX);
        problems.within("clients", settings.clients, 1, CLIENTS_MAX);
        problems.within("point_deletes", settings.point_deletes, 0, rows);
        problems.some_time("duration", settings.duration);
        problems.no_age("duration", settings.duration);
        problems.no_age("warm_up", settings.warm_up);
        problems.none()?;
        Ok(Self {
            kind: settings.kind.unwrap_or_default(),
            access: settings.access.unwrap_or_default(),
            zstd_level: settings.zstd_level,
            rows,
            batch_rows: settings.batch_rows.unwrap_or(BATCH_ROWS),
            clients: settings.clients.unwrap_or(8),
            point_deletes: settings.point_deletes.unwrap_or(rows / DELETED_PART),
            phases: Phases {
                warm_up: settings.warm_up.unwrap_or(WARM_UP),
                measure: settings.duration.unwrap_or(DURATION),
            },
            crash: settings.crash,
            seed: settings.seed.unwrap_or(SEED),
            data_seed: settings.seed.unwrap_or(SEED),
        })
    }

    /// When clients update rows by their keys.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            clients: self.clients,
            ramp_rate_per_s: RAMP_RATE,
            pacing: Pacing::Closed { think_time: Span::ZERO },
            cpu_target: None,
            phases: self.phases,
            latency_limit: None,
            seed: self.seed,
        }
    }
}

/// Whether an engine can do what a job asks of every database of this dialect, of which some can be killed.
///
/// # Errors
/// Names the parameter, its value and what there is. A kind that a dialect lacks is no error: its trial is left out, with the reason.
pub fn check(job: &Job, dialect: Dialect, can_be_killed: bool) -> Result<(), TrialError> {
    if job.crash == Some(true) && !can_be_killed {
        let parameter = Parameter::new("workload.tables.crash");
        return Err(TrialError::Load(format!(
            "{}: prony kills only servers that it started: use {}, or omit it",
            parameter.of(true),
            Parameter::new("target.server.managed.engine")
        )));
    }
    if let Some(level) = job.zstd_level.filter(|_| dialect != Dialect::ClickHouse) {
        let parameter = Parameter::new("workload.tables.zstd_level").of(level);
        return Err(TrialError::Load(format!(
            "{parameter}: a ZSTD level applies only to archive tables of ClickHouse: omit it"
        )));
    }
    match job.access.lacks(dialect) {
        Some(lacks) => {
            let parameter = Parameter::new("workload.tables.access").of(job.access);
            Err(TrialError::Load(format!("{parameter}: {lacks}")))
        }
        None => Ok(()),
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
    fn nothing_has_to_be_said() {
        let job = job("").unwrap();
        assert_eq!(
            (job.kind, job.access, job.rows, job.point_deletes),
            (Kind::Row, Access::Prepared, ROWS, 10_000)
        );
        assert_eq!(job.phases, Phases { warm_up: WARM_UP, measure: DURATION });
    }

    /// Each trial draws a seed of its own. Once its rows were made from that, so that no two kinds held the same rows.
    #[test]
    fn rows_of_all_trials_are_those_of_the_study() {
        use load::Workload as _;
        let mut job = job("seed = 7").unwrap();
        *Settings::seed_of(&mut job) = 99;
        assert_eq!((job.seed, job.data_seed), (99, 7));
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let told =
            job("rows = 0\nclients = 0\nbatch_rows = 0\nduration = \"0s\"\npoint_deletes = 9").unwrap_err();
        assert_eq!(told.lines().count(), 5, "{told}");
        assert!(told.contains("point_deletes cannot be 9: give 0 to 0"), "{told}");
    }

    #[test]
    fn procedures_are_refused_where_there_are_none() {
        let job = job("access = \"procedure\"").unwrap();
        assert!(
            check(&job, Dialect::Sqlite, true).unwrap_err().to_string().contains("SQLite has no procedures")
        );
        check(&job, Dialect::Postgres, false).unwrap();
    }

    #[test]
    fn a_level_is_one_of_zstd_and_asked_of_who_has_levels() {
        assert!(job("zstd_level = 23").unwrap_err().contains("zstd_level cannot be 23: give 1 to 22"));
        let job = job("kind = \"archive\"\naccess = \"ad-hoc\"\nzstd_level = 19").unwrap();
        check(&job, Dialect::ClickHouse, false).unwrap();
        let told = check(&job, Dialect::SqlServer, false).unwrap_err().to_string();
        assert!(told.contains("zstd") && told.contains("19") && told.contains("of ClickHouse"), "{told}");
    }

    #[test]
    fn a_server_of_somebody_else_is_not_to_be_killed() {
        let job = job("crash = true").unwrap();
        let told = check(&job, Dialect::Postgres, false).unwrap_err().to_string();
        assert!(told.contains("prony kills only servers that it started"), "{told}");
        check(&job, Dialect::Postgres, true).unwrap();
    }
}
