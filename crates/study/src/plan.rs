//! The plan: every trial of a study in its order, and the rules by which later ones may be left out.

use load::{Phases, Span};
use record::{PlannedTrial, SearchRules};
use workload::{historian, orders};

use crate::expand::{self, Point};
use crate::orders::check_stores;
use crate::study::{Existing, Order, Study, StudyError, StudyErrors, one_error};

/// The trials of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// In the order in which they run.
    pub trials: Vec<Trial>,
    /// When some of them are left out.
    pub stop: Stop,
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
}

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
    /// What is run.
    pub work: Work,
}

impl Trial {
    /// The rules of its search, if it is one.
    #[must_use]
    pub fn search_rules(&self, study: &Study) -> Option<SearchRules> {
        match (&study.search, &self.work) {
            (Some(search), Work::Historian { settings, job }) => {
                Some(search.rules(settings, job, study.quick))
            }
            _ => None,
        }
    }
}

/// What one trial runs: parameters as given, and what they come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// A disk test.
    Disk {
        /// Parameters as given.
        settings: Box<disk::Settings>,
        /// What they come to.
        job: Box<disk::Job>,
    },
    /// A historian, or a search of one.
    Historian {
        /// Parameters as given.
        settings: Box<historian::Settings>,
        /// What they come to; in a search that of the first step.
        job: Box<historian::Job>,
    },
    /// A load of orders.
    Orders {
        /// Parameters as given.
        settings: Box<orders::Settings>,
        /// What they come to.
        job: Box<orders::Job>,
    },
}

impl Work {
    /// The disk test, if it is one.
    #[must_use]
    pub fn disk(&self) -> Option<&disk::Job> {
        match self {
            Self::Disk { job, .. } => Some(job),
            Self::Historian { .. } | Self::Orders { .. } => None,
        }
    }

    /// The historian, if it is one.
    #[must_use]
    pub fn historian(&self) -> Option<&historian::Job> {
        match self {
            Self::Historian { job, .. } => Some(job),
            Self::Disk { .. } | Self::Orders { .. } => None,
        }
    }

    /// The load of orders, if it is one.
    #[must_use]
    pub fn orders(&self) -> Option<&orders::Job> {
        match self {
            Self::Orders { job, .. } => Some(job),
            Self::Disk { .. } | Self::Historian { .. } => None,
        }
    }

    /// Warm-up and window.
    #[must_use]
    pub fn phases(&self) -> Phases {
        match self {
            Self::Disk { job, .. } => job.phases,
            Self::Historian { job, .. } => job.phases,
            Self::Orders { job, .. } => job.phases,
        }
    }

    /// The same with a seed of its own.
    fn with_seed_of(mut self, number: u32) -> Self {
        match &mut self {
            Self::Disk { job, .. } => job.seed = trial_seed(job.seed, number),
            Self::Historian { job, .. } => job.seed = trial_seed(job.seed, number),
            Self::Orders { job, .. } => job.seed = trial_seed(job.seed, number),
        }
        self
    }
}

impl Plan {
    /// The plan of a study.
    ///
    /// # Errors
    /// All mistakes of the study at once.
    pub fn of(study: &Study) -> Result<Self, StudyErrors> {
        let points = expand::points(study)?;
        check_effect(&points)?;
        check_target(study, &points)?;
        check_prices(study, &points)?;
        let blocks = 1..=study.blocks.max(1);
        let ordered: Vec<(u32, &Point)> = match study.order {
            Order::Given => {
                points.iter().flat_map(|point| blocks.clone().map(move |block| (block, point))).collect()
            }
            Order::Passes => {
                blocks.flat_map(|block| points.iter().map(move |point| (block, point))).collect()
            }
        };
        let trials = ordered
            .into_iter()
            .enumerate()
            .map(|(position, (block, point))| trial(study, position, block, point))
            .collect::<Vec<_>>();
        check_reuse(study, &trials)?;
        let stop = match (&study.steady, study.latency_tolerance) {
            (Some(_), _) => Stop::WhenSteady,
            (None, Some(tolerance)) => Stop::PastLatency(tolerance),
            (None, None) => Stop::Never,
        };
        Ok(Self { trials, stop })
    }

    /// The disk tests among the trials.
    #[must_use]
    pub fn disk_jobs(&self) -> Vec<disk::Job> {
        self.trials.iter().filter_map(|trial| trial.work.disk().cloned()).collect()
    }

    /// Whether a trial needs the database of the target.
    #[must_use]
    pub fn needs_database(&self) -> bool {
        self.trials.iter().any(|trial| trial.work.historian().is_some())
    }

    /// The loads of orders among the trials.
    pub fn orders_jobs(&self) -> impl Iterator<Item = &orders::Job> {
        self.trials.iter().filter_map(|trial| trial.work.orders())
    }

    /// Time that all trials take with their pauses, if none is left out. Making test files comes on top.
    #[must_use]
    pub fn duration(&self) -> Span {
        Span { ns: self.trials.iter().map(|trial| trial.pause.ns + trial.work.phases().end_ns()).sum() }
    }

    /// Time for which trials write at all.
    #[must_use]
    pub fn writing(&self) -> Span {
        let writes = |trial: &&Trial| trial.work.disk().is_none_or(|job| job.writes() && job.needs_files());
        Span { ns: self.trials.iter().filter(writes).map(|trial| trial.work.phases().end_ns()).sum() }
    }
}

/// Refuses a study that does not say what is to be loaded.
fn check_target(study: &Study, points: &[Point]) -> Result<(), StudyErrors> {
    if study.target.url.is_none() && points.iter().any(|point| point.work.historian().is_some()) {
        let problem = "is missing; give the address of a database, such as sqlite:historian.db";
        return Err(one_error("target.url", problem));
    }
    if study.target.store.is_empty() && points.iter().any(|point| point.work.orders().is_some()) {
        let problem = "is missing; give a store that was loaded by prony orders load, such as url = \"sqlite:orders.db\"";
        return Err(one_error("target.store", problem));
    }
    if study.search.is_some() && points.iter().any(|point| point.work.historian().is_none()) {
        return Err(one_error(
            "search",
            "is of a historian's rate, and there is a trial of something else; leave one of them out",
        ));
    }
    check_stores(&study.target.store)
}

/// Refuses prices that come to nothing, or that nothing is set against.
fn check_prices(study: &Study, points: &[Point]) -> Result<(), StudyErrors> {
    let Some(prices) = &study.prices else { return Ok(()) };
    if points.iter().all(|point| point.work.orders().is_none()) {
        return Err(one_error("prices", "have no effect where there are no orders: leave them out"));
    }
    let mistakes = prices.check().into_iter();
    let errors: Vec<StudyError> = mistakes
        .map(|mistake| StudyError { place: "prices".to_owned(), problem: mistake.to_string() })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(StudyErrors(errors)) }
}

/// A database that is taken up has one trial: the next one would begin with empty tables.
fn check_reuse(study: &Study, trials: &[Trial]) -> Result<(), StudyErrors> {
    let historians = trials.iter().filter(|trial| trial.work.historian().is_some()).count();
    if study.target.existing != Existing::Reuse || (historians <= 1 && study.search.is_none()) {
        return Ok(());
    }
    let problem = "is taken up again by one trial only, since every further one begins with empty tables: leave out \
                   --reuse, or measure one rate";
    Err(one_error("target.existing", problem))
}

/// Refuses what only writes can heed where no trial writes: it would be ignored in silence.
fn check_effect(points: &[Point]) -> Result<(), StudyErrors> {
    if points.iter().filter_map(|point| point.work.disk()).any(disk::Job::writes) {
        return Ok(());
    }
    let given = |settings: &disk::Settings| {
        // SQLIO's front end asks for it in general, and names the files themselves as pools.
        let own_files = settings.pools.is_none();
        [
            ("flush_every", settings.flush_every.is_some()),
            ("write_through", settings.write_through == Some(true)),
            ("overwrite", settings.overwrite == Some(true) && own_files),
            ("destroy", settings.destroy.is_some() && own_files),
        ]
    };
    let mut without_effect: Vec<&str> = points
        .iter()
        .filter_map(|point| match &point.work {
            Work::Disk { settings, .. } => Some(given(settings)),
            Work::Historian { .. } | Work::Orders { .. } => None,
        })
        .flatten()
        .filter_map(|(parameter, is_given)| is_given.then_some(parameter))
        .collect();
    without_effect.sort_unstable();
    without_effect.dedup();
    let errors: Vec<StudyError> = without_effect
        .into_iter()
        .map(|parameter| StudyError {
            place: parameter.to_owned(),
            problem: "has no effect where nothing is written; give a read_share below 100".to_owned(),
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(StudyErrors(errors)) }
}

/// A seed of its own for each trial: repeats that read the same blocks in the same order would measure a cache.
/// SplitMix64's finalizer (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
fn trial_seed(study_seed: u64, number: u32) -> u64 {
    let mut seed = study_seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    seed ^ (seed >> 31)
}

fn trial(study: &Study, position: usize, block: u32, point: &Point) -> Trial {
    let fixed = point.levels.iter().filter(|(key, _)| *key != "outstanding");
    let series = fixed
        .fold(format!("{} #{block}", point.name), |series, (key, level)| format!("{series} {key}={level}"));
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
            configuration: String::new(),
            aa: false,
        },
        series,
        tracked,
        pause: if position == 0 { Span::ZERO } else { study.pause },
        work: point.work.clone().with_seed_of(position as u32 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profiles;
    use proptest::prelude::*;

    fn study(text: &str) -> Study {
        Study::from_toml(&format!(
            "title = \"t\"\nslug = \"t\"\nseed = 1\n{text}\n[target]\npaths = [\"/data\"]\n"
        ))
        .unwrap()
    }

    fn labels(study: &Study) -> Vec<String> {
        let plan = Plan::of(study).unwrap();
        plan.trials
            .iter()
            .map(|trial| {
                let levels: Vec<_> = trial.planned.levels.values().map(String::as_str).collect();
                format!("{} {} #{}", trial.planned.name, levels.join(","), trial.planned.block)
            })
            .collect()
    }

    #[test]
    fn one_trial_is_a_study_too() {
        assert_eq!(labels(&study("")), ["4KiB random read Q1T1  #1"]);
    }

    #[test]
    fn the_last_axis_runs_fastest_and_repeats_follow_the_order() {
        let axes = r#"
            blocks = 2
            axis = [
                { key = "workload.disk.block_size", levels = ["8KiB", "16KiB"] },
                { key = "workload.disk.outstanding", levels = [1, 2] },
            ]"#;
        let mut study = study(axes);
        let given = labels(&study);
        assert_eq!(given.len(), 8);
        assert_eq!(given[0][given[0].len() - 9..], *"8KiB,1 #1");
        assert_eq!(given[1][given[1].len() - 9..], *"8KiB,1 #2");
        study.order = Order::Passes;
        let passes = labels(&study);
        assert!(passes[1].ends_with("8KiB,2 #1") && passes[4].ends_with("8KiB,1 #2"), "{passes:?}");
    }

    #[test]
    fn mistakes_name_the_axis_and_the_value() {
        let error = |axis: &str| Plan::of(&study(axis)).unwrap_err().to_string();
        let wrong = error(r#"axis = [{ key = "workload.disk.block_size", levels = ["8 apples"] }]"#);
        assert!(wrong.contains("workload.disk.block_size") && wrong.contains("8 apples"), "{wrong}");
        let unknown = error(r#"axis = [{ key = "workload.disk.blocksize", levels = [1] }]"#);
        assert!(unknown.contains("blocksize"), "{unknown}");
        let elsewhere = error(r#"axis = [{ key = "target.paths", levels = [1] }]"#);
        assert!(elsewhere.contains("target.paths"), "{elsewhere}");
        let empty = error(r#"axis = [{ key = "workload.disk.outstanding", levels = [] }]"#);
        assert!(empty.contains("no levels"), "{empty}");
    }

    #[test]
    fn a_flag_narrows_an_axis_and_may_not_belie_a_name() {
        let profile = |name: &str| profiles().into_iter().find(|profile| profile.name == name).unwrap();
        let mut sweep = profile("sweep").study(vec!["/data".into()]);
        let eight: disk::Settings = toml::from_str("block_size = \"64KiB\"\noutstanding = 4").unwrap();
        sweep.narrow(&eight).unwrap();
        assert_eq!(Plan::of(&sweep).unwrap().trials.len(), 4, "four scenarios at one point");

        let mut cdm = profile("cdm8").study(vec!["/data".into()]);
        let message = cdm.narrow(&eight).unwrap_err().to_string();
        assert!(message.contains("block_size") && message.contains("cdm8"), "{message}");
        let shorter: disk::Settings = toml::from_str("duration = \"1s\"").unwrap();
        cdm.narrow(&shorter).unwrap();
        assert!(
            Plan::of(&cdm)
                .unwrap()
                .trials
                .iter()
                .all(|trial| trial.work.phases().measure == Span::seconds(1))
        );
    }

    #[test]
    fn repeats_do_not_read_the_same_blocks_again() {
        let mut repeated = study("");
        repeated.blocks = 5;
        let seeds = |study: &Study| -> Vec<u64> {
            Plan::of(study).unwrap().trials.iter().map(|trial| trial.work.disk().unwrap().seed).collect()
        };
        let mut distinct = seeds(&repeated);
        assert_eq!(seeds(&repeated), distinct, "the same study gives the same plan");
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 5);
    }

    #[test]
    fn what_only_writes_heed_is_refused_where_nothing_is_written() {
        let profile = |name: &str| profiles().into_iter().find(|profile| profile.name == name).unwrap();
        let through: disk::Settings = toml::from_str("write_through = true\noverwrite = true").unwrap();
        let mut reads = study("");
        reads.narrow(&through).unwrap();
        let message = Plan::of(&reads).unwrap_err().to_string();
        assert!(message.contains("write_through") && message.contains("overwrite"), "{message}");
        let mut quick = profile("quick").study(vec!["/data".into()]);
        quick.narrow(&through).unwrap();
        assert!(Plan::of(&quick).is_ok(), "some of its trials write");
    }

    #[test]
    fn rounds_of_another_block_size_are_tracked_by_it() {
        let steady = profiles().into_iter().find(|profile| profile.name == "steady").unwrap();
        let mut study = steady.study(vec!["/data".into()]);
        study.narrow::<disk::Settings>(&toml::from_str("block_size = \"8KiB\"").unwrap()).unwrap();
        let plan = Plan::of(&study).unwrap();
        assert_eq!(plan.trials.iter().filter(|trial| trial.tracked).count(), 25);
    }

    #[test]
    fn rounds_track_one_trial_each() {
        let steady = profiles().into_iter().find(|profile| profile.name == "steady").unwrap();
        let plan = Plan::of(&steady.study(vec!["/data".into()])).unwrap();
        assert_eq!(plan.trials.len(), 25 * 56);
        assert_eq!(plan.trials.iter().filter(|trial| trial.tracked).count(), 25);
        assert_eq!(plan.stop, Stop::WhenSteady);
    }

    proptest! {
        #[test]
        fn a_plan_numbers_its_trials_and_measures_each_point_once_a_block(
            blocks in 1u32..4, depths in prop::collection::btree_set(1u32..300, 1..6), passes: bool,
        ) {
            let mut study = study("");
            study.blocks = blocks;
            study.order = if passes { Order::Passes } else { Order::Given };
            study.axis =
                vec![crate::study::Axis::of::<disk::Settings>("outstanding", depths.iter().map(|&depth| i64::from(depth).into()))];
            let plan = Plan::of(&study).unwrap();
            prop_assert_eq!(plan.trials.len(), depths.len() * blocks as usize);
            for (position, trial) in plan.trials.iter().enumerate() {
                prop_assert_eq!(trial.planned.number as usize, position + 1);
            }
            for block in 1..=blocks {
                let measured: Vec<_> =
                    plan.trials.iter().filter(|t| t.planned.block == block).map(|t| t.work.disk().unwrap().outstanding).collect();
                prop_assert_eq!(measured, depths.iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(Study::from_toml(&study.to_toml().unwrap()).unwrap(), study);
        }
    }
}
