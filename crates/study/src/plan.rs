//! The plan: every trial of a study in its order, and the rules by which later ones may be left out.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use database::{Engine, Existing, Saving};
use load::{Span, TargetNeeds};
use record::{Design, DesignAxis, Order, PlannedTrial, SearchRules, StoppingRule};

use crate::bounds;
use crate::check;
use crate::expand::{self, Point};
use crate::mistake::{Place, StudyErrors};
use crate::order::{Entry, ordered, trial_seed};
use crate::study::Study;
use crate::target::{Pristine, Target, WantedDatabase};
use crate::work::Work;

/// The trials of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// In the order in which they run.
    pub trials: Vec<Trial>,
    /// When some of them are left out.
    pub stop: Stop,
    /// What is compared with what; none if nothing is.
    pub design: Option<Design>,
    /// What a user should read of how the study is written.
    pub notes: Vec<String>,
}

/// When trials are left out.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Never.
    Never,
    /// The rest of a series, once the mean latency of one of its trials is past this.
    PastLatency(Span),
    /// All further rounds, once the tracked trial is steady over the last five.
    WhenSteady,
    /// All further blocks, once every comparison is settled; after each block of [`LOOKS`] it is looked whether they are.
    WhenSettled,
}

/// Blocks after the first of which a study that ends once all is settled is looked at first, and that it takes at most.
pub const LOOKS: RangeInclusive<u32> = 6..=100;

/// One trial of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Number, name, block and levels.
    pub planned: PlannedTrial,
    /// Trials of one series differ in the number of outstanding I/Os alone.
    pub series: String,
    /// Whether steady state is judged by it.
    pub tracked: bool,
    /// Rest before it.
    pub pause: Span,
    /// What it is run against.
    pub target: Target,
    /// What is run.
    pub work: Work,
}

impl Trial {
    /// What of its target it uses, for a list.
    #[must_use]
    pub fn places(&self) -> Vec<String> {
        match (self.work.any().needs(), &self.work) {
            (TargetNeeds::Databases { most: Some(1), .. }, _) => {
                self.databases().iter().map(WantedDatabase::at).collect()
            }
            (TargetNeeds::Databases { .. }, _) => {
                self.databases().iter().map(WantedDatabase::place).collect()
            }
            (_, Work::Disk(asked)) if !asked.job.pools.is_empty() => {
                asked.job.pools.iter().map(|pool| pool.path.display().to_string()).collect()
            }
            _ => self.target.paths.iter().map(|path| path.display().to_string()).collect(),
        }
    }

    /// Databases that it uses.
    #[must_use]
    pub fn databases(&self) -> Vec<WantedDatabase> {
        self.target.wanted(self.work.any().needs())
    }

    /// The rules of its search, if it is one, on a server that writes its checkpoints so often.
    #[must_use]
    pub fn search_rules(&self, study: &Study, checkpoint_s: Option<f64>) -> Option<SearchRules> {
        let search = study.search.as_ref().filter(|_| self.work.any().searched().is_some())?;
        Some(search.rules(&self.work, checkpoint_s, study.quick))
    }

    /// The rate at which its search starts. If all searches of a study tried the same rates, they would have the same error, and more
    /// blocks would not remove it (L. Schuchman, "Dither signals and their effect on quantization noise", IEEE Transactions on
    /// Communication Technology 12, 1964). With several blocks, each search therefore starts up to a fifth higher.
    #[must_use]
    pub fn search_start_per_s(&self, study: &Study, rules: &SearchRules) -> f64 {
        let share = trial_seed(study.seed ^ DITHER, self.planned.number) as f64 / u64::MAX as f64;
        let higher = if study.blocks > 1 { DITHER_FACTOR_MAX.powf(share) } else { 1.0 };
        // Of no more digits than a stored record keeps for sure.
        (rules.start_per_s * higher * 100.0).round() / 100.0
    }

    /// The time between two checkpoints of its server as long as nobody has changed it, in seconds; none where they do not go by
    /// time. The server is asked when the study runs.
    #[must_use]
    pub fn default_checkpoint_s(&self) -> Option<f64> {
        let engines = self.databases().into_iter().map(|database| database.url.engine());
        engines.filter_map(default_checkpoint_s).reduce(f64::max)
    }
}

impl Plan {
    /// The plan of a study.
    ///
    /// # Errors
    /// All mistakes of the study at once.
    pub fn of(study: &Study) -> Result<Self, StudyErrors> {
        let too_many = bounds::too_many(study);
        if !too_many.is_empty() {
            return Err(StudyErrors(too_many));
        }
        let mut errors = check::design(study);
        errors.extend(bounds::names(study));
        errors.extend(bounds::passwords(study));
        // What is wrong with an axis is told by it alone, and keeps no other mistake from being told.
        let is_sound = |key: &str| !errors.iter().any(|error| error.place == Place::Axis(key.to_owned()));
        let mut sound = study.clone();
        sound.axis.retain(|axis| is_sound(&axis.key));
        if check::is_too_large(&sound) {
            return Err(StudyErrors(errors));
        }
        let points = expand::points(&sound).unwrap_or_else(|StudyErrors(more)| {
            errors.extend(more);
            Vec::new()
        });
        errors.extend(check::points(study, &points));
        if !errors.is_empty() {
            return Err(StudyErrors(errors));
        }
        let design = design(study, &points);
        let entries = ordered(study, &points, design.is_some() && points.len() > 1);
        let trials: Vec<Trial> =
            (0..entries.len()).map(|position| trial(study, position, &entries)).collect();
        let stop = match (&study.steady, study.latency_tolerance, study.stop) {
            (Some(_), ..) => Stop::WhenSteady,
            (None, Some(tolerance), _) => Stop::PastLatency(tolerance),
            (None, None, StoppingRule::WhenSettled) => Stop::WhenSettled,
            (None, None, StoppingRule::Never) => Stop::Never,
        };
        Ok(Self { trials, stop, design, notes: study.notes() })
    }

    /// The disk tests, by the paths that they load.
    #[must_use]
    pub fn disk_tests(&self) -> Vec<(&[PathBuf], Vec<disk::Job>)> {
        let mut tests: Vec<(&[PathBuf], Vec<disk::Job>)> = Vec::new();
        let mut positions: HashMap<&[PathBuf], usize> = HashMap::new();
        for trial in &self.trials {
            let Some(job) = trial.work.job::<disk::Settings>() else { continue };
            let position = *positions.entry(&trial.target.paths).or_insert_with(|| {
                tests.push((&trial.target.paths, Vec::new()));
                tests.len() - 1
            });
            tests[position].1.push(job.clone());
        }
        tests
    }

    /// Databases that trials use, each once, with the first trial that does.
    #[must_use]
    pub fn databases(&self) -> Vec<(WantedDatabase, &Trial)> {
        let mut databases: Vec<(WantedDatabase, &Trial)> = Vec::new();
        for trial in &self.trials {
            for database in trial.databases() {
                if !databases.iter().any(|(known, _)| known.is_same(&database)) {
                    databases.push((database, trial));
                }
            }
        }
        databases
    }

    /// How a database is brought back before some trial of it; none where it never is.
    #[must_use]
    pub fn saving(&self, database: &WantedDatabase) -> Option<Saving> {
        let all = self.trials.iter().flat_map(Trial::databases);
        all.filter(|other| other.is_same(database)).find_map(|other| other.cycle.saving)
    }

    /// Time that all trials take with their pauses, if none is left out. Making test files comes on top.
    #[must_use]
    pub fn duration(&self) -> Span {
        duration(self.trials.iter())
    }

    /// About how long each trial takes besides its phases, in seconds, with the load of its databases where it is the first that needs
    /// that load.
    #[must_use]
    pub fn around_s(&self) -> Vec<f64> {
        let mut loaded: Vec<(WantedDatabase, String)> = Vec::new();
        let of = |trial: &Trial| {
            let (work, content) = (trial.work.any(), trial.work.any().content());
            let around = |database: &WantedDatabase| work.around(database.url.engine().dialect().name());
            let is_loaded_again = |database: &WantedDatabase| {
                let server = database.server.as_ref();
                server.is_some_and(|server| server.server.between_trials == Some(Pristine::Recreate))
            };
            let is_known = |database: &WantedDatabase| {
                loaded.iter().any(|(known, what)| known.is_same(database) && *what == content)
            };
            // One that is used as it was loaded before takes no time.
            let is_new = |database: &WantedDatabase| {
                database.existing != Existing::Use && (is_loaded_again(database) || !is_known(database))
            };
            let databases = trial.databases();
            let trial_s = databases.first().map_or_else(|| work.around(""), around).trial_s;
            let new: Vec<WantedDatabase> = databases.into_iter().filter(is_new).collect();
            let load_s: f64 = new.iter().map(|database| around(database).load_s).sum();
            loaded.extend(new.into_iter().map(|database| (database, content.clone())));
            trial_s + load_s
        };
        self.trials.iter().map(of).collect()
    }

    /// The same if it ends at its first look; none where it is not looked at.
    #[must_use]
    pub fn shortest_duration(&self) -> Option<Span> {
        let first = self.trials.iter().filter(|trial| trial.planned.block <= *LOOKS.start());
        (self.stop == Stop::WhenSettled).then(|| duration(first))
    }

    /// Time for which trials write at all.
    #[must_use]
    pub fn writing(&self) -> Span {
        let writes = self.trials.iter().filter(|trial| trial.work.any().writes());
        Span { ns: writes.map(|trial| trial.work.any().phases().end_ns()).sum() }
    }
}

fn duration<'a>(trials: impl Iterator<Item = &'a Trial>) -> Span {
    let of = |trial: &Trial| {
        let rests = trial.target.server.values().filter_map(|server| server.rest);
        let rest_ns = rests.map(|rest| rest.ns).max().unwrap_or(0);
        trial.pause.ns.saturating_add(rest_ns).saturating_add(trial.work.any().phases().end_ns())
    };
    Span { ns: trials.map(of).fold(0, u64::saturating_add) }
}

/// What is compared with what, where a study compares: levels with the reference of their axis, named configurations with
/// theirs. Where it does not, what must hold.
fn design(study: &Study, points: &[Point]) -> Option<Design> {
    let nothing_to_judge = points.len() < 2 && study.thresholds.is_empty();
    if nothing_to_judge || (!study.compare && study.thresholds.is_empty()) {
        return None;
    }
    if !study.compare {
        return Some(Design {
            blocks: study.blocks,
            order: Order::Repeats,
            thresholds: study.thresholds.clone(),
            thresholds_only: true,
            accept_single: study.accept_single,
            ..Design::default()
        });
    }
    let axes = study.axis.iter().map(|axis| DesignAxis {
        key: axis.key.clone(),
        name: axis.name().to_owned(),
        levels: check::levels_anywhere(study, axis),
        reference: axis.reference().unwrap_or_default(),
    });
    let configurations: Vec<String> = study.configuration.iter().map(|c| c.name.clone()).collect();
    Some(Design {
        blocks: study.blocks,
        order: study.order,
        stop: study.stop,
        reference: study.reference.clone(),
        configurations,
        axes: axes.collect(),
        metric: study.metric.clone(),
        smallest: study.smallest,
        thresholds: study.thresholds.clone(),
        thresholds_only: false,
        accept_single: study.accept_single,
        published: study.published.clone(),
    })
}

/// Sets the begins of searches apart from the other random choices, and how much higher they are at most.
const DITHER: u64 = 0x4449_5448_4552_2121;
const DITHER_FACTOR_MAX: f64 = 1.2;

/// PostgreSQL's `checkpoint_timeout` is 5 minutes unless it is changed (its documentation, "Write Ahead Log"), SQL Server's
/// `TARGET_RECOVERY_TIME` of a new database one minute
/// (<https://learn.microsoft.com/sql/relational-databases/logs/database-checkpoints-sql-server>).
fn default_checkpoint_s(engine: Engine) -> Option<f64> {
    match engine {
        Engine::Postgres => Some(300.0),
        Engine::SqlServer => Some(60.0),
        Engine::Sqlite | Engine::Mysql | Engine::ClickHouse | Engine::DuckDb | Engine::Fake => None,
    }
}

fn trial(study: &Study, position: usize, entries: &[Entry<'_>]) -> Trial {
    let Entry { block, point, aa } = entries[position];
    // Not by the name of the point, which may hold the depth.
    let fixed = point.levels.iter().filter(|(key, _)| *key != "outstanding");
    let series = fixed.fold(format!("{} #{block}", point.configuration), |series, (key, level)| {
        format!("{series} {key}={level}")
    });
    let tracked = study
        .steady
        .as_ref()
        .is_some_and(|steady| steady.tracked.iter().all(|(key, level)| point.values.get(key) == Some(level)));
    Trial {
        planned: PlannedTrial {
            number: position as u32 + 1,
            name: point.name.clone(),
            block,
            levels: point.levels.clone(),
            configuration: point.configuration.clone(),
            aa,
        },
        series,
        tracked,
        pause: pause(study, position, entries),
        target: point.target.clone(),
        work: work(study, position, &entries[position]),
    }
}

/// Rest before a trial.
fn pause(study: &Study, position: usize, entries: &[Entry<'_>]) -> Span {
    let Some(before) = position.checked_sub(1).map(|before| &entries[before]) else { return Span::ZERO };
    let repeats = std::ptr::eq(before.point, entries[position].point);
    if repeats && !study.rest_between_repeats { Span::ZERO } else { study.cool_down }
}

/// What is run, with a seed of its own.
fn work(study: &Study, position: usize, entry: &Entry<'_>) -> Work {
    let is_first = entry.block == 1 && !entry.aa;
    let warmed =
        study.first_warm_up.filter(|_| is_first).map(|time| entry.point.work.any().with_warm_up(time));
    let work = warmed.as_ref().unwrap_or(&entry.point.work);
    work.any().with_seed(&|seed| trial_seed(seed, position as u32 + 1))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
