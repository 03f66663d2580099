//! The plan: every trial of a study in its order, and the rules by which later ones may be left out.

use std::collections::HashMap;
use std::path::PathBuf;

use load::{Span, TargetNeeds};
use record::{Design, DesignAxis, PlannedTrial, SearchRules};

use crate::axis::Axis;
use crate::bounds;
use crate::check;
use crate::expand::{self, Point};
use crate::mistake::{Place, StudyErrors};
use crate::study::{Order, Study};
use crate::target::{Target, WantedDatabase};
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
                self.databases().iter().map(|database| database.url.to_string()).collect()
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

    /// The rules of its search, if it is one.
    #[must_use]
    pub fn search_rules(&self, study: &Study) -> Option<SearchRules> {
        let search = study.search.as_ref().filter(|_| self.work.any().searched().is_some())?;
        Some(search.rules(&self.work, study.quick))
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
        let trials: Vec<Trial> = ordered(study, &points, design.is_some() && points.len() > 1)
            .into_iter()
            .enumerate()
            .map(|(position, entry)| trial(study, position, &entry))
            .collect();
        let stop = match (&study.steady, study.latency_tolerance) {
            (Some(_), _) => Stop::WhenSteady,
            (None, Some(tolerance)) => Stop::PastLatency(tolerance),
            (None, None) => Stop::Never,
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

    /// Time that all trials take with their pauses, if none is left out. Making test files comes on top.
    #[must_use]
    pub fn duration(&self) -> Span {
        let of = |trial: &Trial| trial.pause.ns.saturating_add(trial.work.any().phases().end_ns());
        Span { ns: self.trials.iter().map(of).fold(0, u64::saturating_add) }
    }

    /// Time for which trials write at all.
    #[must_use]
    pub fn writing(&self) -> Span {
        let writes = self.trials.iter().filter(|trial| trial.work.any().writes());
        Span { ns: writes.map(|trial| trial.work.any().phases().end_ns()).sum() }
    }
}

/// A seed of its own for each trial: repeats that read the same blocks in the same order would measure a cache.
/// SplitMix64's finalizer (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
fn trial_seed(study_seed: u64, number: u32) -> u64 {
    let mut seed = study_seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    seed ^ (seed >> 31)
}

/// A point in its place in the plan.
struct Entry<'a> {
    block: u32,
    point: &'a Point,
    /// Whether it is the reference's second measurement in the block.
    aa: bool,
}

/// What is compared with what, where a study compares: levels with the reference of their axis, named configurations with
/// theirs.
fn design(study: &Study, points: &[Point]) -> Option<Design> {
    let nothing_to_judge = points.len() < 2 && study.thresholds.is_empty();
    if !study.compare || nothing_to_judge {
        return None;
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
        reference: study.reference.clone(),
        configurations,
        axes: axes.collect(),
        metric: study.metric.clone(),
        smallest: study.smallest,
        thresholds: study.thresholds.clone(),
        published: study.published.clone(),
    })
}

/// Points in the order in which they are measured.
fn ordered<'a>(study: &Study, points: &'a [Point], compares: bool) -> Vec<Entry<'a>> {
    if study.order == Order::Repeats {
        let blocks =
            |point: &'a Point| (1..=study.blocks.max(1)).map(move |block| Entry { block, point, aa: false });
        return points.iter().flat_map(blocks).collect();
    }
    let measures_noise = compares && study.noise_floor && study.blocks >= AA_BLOCKS_MIN;
    let again = if measures_noise { references(study, points) } else { Vec::new() };
    let mut entries = Vec::new();
    for block in 1..=study.blocks.max(1) {
        let mut pass: Vec<Entry<'_>> = points.iter().map(|point| Entry { block, point, aa: false }).collect();
        pass.extend(again.iter().map(|point| Entry { block, point, aa: true }));
        match study.order {
            Order::Blocks => shuffle(&mut pass, trial_seed(study.seed ^ SHUFFLE, block)),
            Order::Abba if block % 2 == 0 => pass.reverse(),
            Order::Abba | Order::Given | Order::Repeats => {}
        }
        entries.append(&mut pass);
    }
    entries
}

/// With fewer blocks nothing is claimed, so that a noise floor would be measured for nothing.
const AA_BLOCKS_MIN: u32 = 6;

/// Sets the order of the trials apart from their own random choices.
const SHUFFLE: u64 = 0x5053_4855_4646_4C45;

/// The points that others are compared with along every axis: one, or one in each scenario that varies anything.
fn references<'a>(study: &Study, points: &'a [Point]) -> Vec<&'a Point> {
    let mut scenarios: Vec<&str> = points.iter().map(|point| point.configuration.as_str()).collect();
    scenarios.dedup();
    if let Some(reference) = &study.reference {
        scenarios = vec![reference];
    }
    scenarios.into_iter().filter_map(|scenario| reference(study, points, scenario)).collect()
}

fn reference<'a>(study: &Study, points: &'a [Point], scenario: &str) -> Option<&'a Point> {
    let own: Vec<&Point> = points.iter().filter(|point| point.configuration == scenario).collect();
    if own.len() < 2 && study.reference.is_none() && !scenario.is_empty() {
        return None;
    }
    // A configuration with levels of its own may lack the axis' reference: its first level is one then.
    let of_axis = |axis: &Axis| {
        let wanted = axis.reference();
        let has = |level: &String| own.iter().any(|point| point.levels.get(axis.name()) == Some(level));
        wanted.filter(has).or_else(|| own.first()?.levels.get(axis.name()).cloned())
    };
    let references: Vec<(&str, Option<String>)> =
        study.axis.iter().map(|axis| (axis.name(), of_axis(axis))).collect();
    let is_reference =
        |point: &&Point| references.iter().all(|(name, level)| point.levels.get(*name) == level.as_ref());
    own.iter().copied().find(is_reference)
}

/// Every order is equally likely (Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7, 1964).
fn shuffle<T>(items: &mut [T], seed: u64) {
    for last in (1..items.len()).rev() {
        let random = u128::from(trial_seed(seed, last as u32));
        items.swap(last, ((random * (last as u128 + 1)) >> 64) as usize);
    }
}

fn trial(study: &Study, position: usize, entry: &Entry<'_>) -> Trial {
    let Entry { block, point, aa } = *entry;
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
        pause: if position == 0 { Span::ZERO } else { study.cool_down },
        target: point.target.clone(),
        work: point.work.any().with_seed(&|seed| trial_seed(seed, position as u32 + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Configuration;
    use proptest::prelude::*;

    fn study(text: &str) -> Study {
        Study::from_toml(&format!(
            "title = \"t\"\nslug = \"t\"\nseed = 1\n{text}\n[target]\npaths = [\"/data\"]\n"
        ))
        .unwrap()
    }

    /// A study that compares nothing.
    fn plain(text: &str) -> Study {
        let blocks = if text.contains("blocks") { "" } else { "blocks = 1\n" };
        study(&format!("order = \"repeats\"\ncompare = false\n{blocks}{text}"))
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
        assert_eq!(labels(&plain("")), ["4KiB random read Q1T1  #1"]);
    }

    #[test]
    fn the_last_axis_runs_fastest_and_repeats_follow_the_order() {
        let axes = r#"
            blocks = 2
            axis = [
                { key = "workload.disk.block_size", levels = ["8KiB", "16KiB"] },
                { key = "workload.disk.outstanding", levels = [1, 2] },
            ]"#;
        let mut study = plain(axes);
        let given = labels(&study);
        assert_eq!(given.len(), 8);
        assert_eq!(given[0][given[0].len() - 9..], *"8KiB,1 #1");
        assert_eq!(given[1][given[1].len() - 9..], *"8KiB,1 #2");
        study.order = Order::Given;
        let passes = labels(&study);
        assert!(passes[1].ends_with("8KiB,2 #1") && passes[4].ends_with("8KiB,1 #2"), "{passes:?}");
    }

    #[test]
    fn mistakes_name_the_axis_and_the_value() {
        let error = |axis: &str| Plan::of(&plain(axis)).unwrap_err().to_string();
        let wrong = error(r#"axis = [{ key = "workload.disk.block_size", levels = ["8 apples"] }]"#);
        assert!(wrong.contains("workload.disk.block_size") && wrong.contains("8 apples"), "{wrong}");
        let unknown = error(r#"axis = [{ key = "workload.disk.blocksize", levels = [1] }]"#);
        assert!(unknown.contains("blocksize"), "{unknown}");
        let elsewhere = error(r#"axis = [{ key = "target.paths", levels = [1] }]"#);
        assert!(elsewhere.contains("target.paths"), "{elsewhere}");
        let nowhere = error(r#"axis = [{ key = "blocks", levels = [1] }]"#);
        assert!(nowhere.contains("blocks: is no parameter that can be varied: keys begin"), "{nowhere}");
        let empty = error(r#"axis = [{ key = "workload.disk.outstanding", levels = [] }]"#);
        assert!(empty.contains("no levels"), "{empty}");
    }

    fn profile(name: &str) -> Study {
        crate::ReadyStudy::named(name).unwrap().study(false).unwrap()
    }

    #[test]
    fn a_flag_narrows_an_axis_and_may_not_belie_a_name() {
        let mut sweep = profile("sweep");
        let eight: disk::Settings = toml::from_str("block_size = \"64KiB\"\noutstanding = 4").unwrap();
        sweep.narrow(&eight).unwrap();
        assert_eq!(Plan::of(&sweep).unwrap().trials.len(), 4, "four scenarios at one point");

        let mut cdm = profile("cdm8");
        let message = cdm.narrow(&eight).unwrap_err().to_string();
        assert!(message.contains("block_size") && message.contains("cdm8"), "{message}");
        let shorter: disk::Settings = toml::from_str("duration = \"1s\"").unwrap();
        cdm.narrow(&shorter).unwrap();
        assert!(
            Plan::of(&cdm)
                .unwrap()
                .trials
                .iter()
                .all(|trial| trial.work.any().phases().measure == Span::seconds(1))
        );
    }

    #[test]
    fn repeats_do_not_read_the_same_blocks_again() {
        let mut repeated = plain("");
        repeated.blocks = 5;
        let seeds = |study: &Study| -> Vec<u64> {
            Plan::of(study)
                .unwrap()
                .trials
                .iter()
                .map(|trial| trial.work.job::<disk::Settings>().unwrap().seed)
                .collect()
        };
        let mut distinct = seeds(&repeated);
        assert_eq!(seeds(&repeated), distinct, "the same study gives the same plan");
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 5);
    }

    #[test]
    fn what_only_writes_heed_is_refused_where_nothing_is_written() {
        let through: disk::Settings = toml::from_str("write_through = true\noverwrite = true").unwrap();
        let mut reads = plain("");
        reads.narrow(&through).unwrap();
        let message = Plan::of(&reads).unwrap_err().to_string();
        assert!(message.contains("write_through") && message.contains("overwrite"), "{message}");
        let mut quick = profile("quick");
        quick.narrow(&through).unwrap();
        assert!(Plan::of(&quick).is_ok(), "some of its trials write");
    }

    #[test]
    fn rounds_of_another_block_size_are_tracked_by_it() {
        let mut study = profile("steady");
        study.narrow::<disk::Settings>(&toml::from_str("block_size = \"8KiB\"").unwrap()).unwrap();
        let plan = Plan::of(&study).unwrap();
        assert_eq!(plan.trials.iter().filter(|trial| trial.tracked).count(), 25);
    }

    #[test]
    fn rounds_track_one_trial_each() {
        let plan = Plan::of(&profile("steady")).unwrap();
        assert_eq!(plan.trials.len(), 25 * 56);
        assert_eq!(plan.trials.iter().filter(|trial| trial.tracked).count(), 25);
        assert_eq!(plan.stop, Stop::WhenSteady);
    }

    /// A study of two axes in so many blocks.
    fn factorial(order: &str, blocks: u32) -> Study {
        study(&format!(
            r#"
            order = "{order}"
            blocks = {blocks}
            axis = [
                {{ key = "workload.disk.block_size", levels = ["8KiB", "16KiB"], reference = "16KiB" }},
                {{ key = "workload.disk.outstanding", levels = [1, 2, 4] }},
            ]"#
        ))
    }

    /// Levels of the trials of each block, in order; `=` marks the second measurement of the reference.
    fn blocks(study: &Study) -> Vec<Vec<String>> {
        let plan = Plan::of(study).unwrap();
        let label = |trial: &Trial| {
            let levels: Vec<_> = trial.planned.levels.values().map(String::as_str).collect();
            format!("{}{}", levels.join(" "), if trial.planned.aa { "=" } else { "" })
        };
        (1..=study.blocks)
            .map(|block| plan.trials.iter().filter(|trial| trial.planned.block == block).map(label).collect())
            .collect()
    }

    #[test]
    fn each_block_measures_every_combination_once_and_the_reference_twice() {
        let blocks = blocks(&factorial("blocks", 7));
        for block in &blocks {
            let mut sorted = block.clone();
            sorted.sort();
            assert_eq!(sorted, ["16KiB 1", "16KiB 1=", "16KiB 2", "16KiB 4", "8KiB 1", "8KiB 2", "8KiB 4"]);
        }
        assert!(blocks.iter().any(|block| *block != blocks[0]), "every block has an order of its own");
        assert_eq!(blocks, self::blocks(&factorial("blocks", 7)), "which the seed decides");
    }

    #[test]
    fn each_scenario_has_a_noise_floor_of_its_own() {
        let mut scenarios = factorial("blocks", 6);
        let named = |name: &str| Configuration { name: name.to_owned(), ..Configuration::default() };
        scenarios.configuration = vec![named("reads"), named("more reads")];
        let again = |study: &Study| {
            let plan = Plan::of(study).unwrap();
            let first = plan.trials.iter().filter(|trial| trial.planned.block == 1 && trial.planned.aa);
            let mut names: Vec<String> = first.map(|trial| trial.planned.configuration.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(again(&scenarios), ["more reads", "reads"]);
        let mut single = scenarios.clone();
        single.axis.clear();
        assert_eq!(again(&single), [""; 0], "a scenario that varies nothing is compared with nothing");
        scenarios.reference = Some("reads".to_owned());
        assert_eq!(again(&scenarios), ["reads"], "compared configurations have one reference");
    }

    #[test]
    fn abba_turns_every_second_block_around_and_given_none() {
        let abba = blocks(&factorial("abba", 2));
        assert_eq!(abba[0][0], "8KiB 1");
        assert_eq!(abba[1], abba[0].iter().rev().cloned().collect::<Vec<_>>());
        let given = blocks(&factorial("given", 2));
        assert_eq!(given[0], given[1]);
        assert!(given[0].iter().all(|trial| !trial.ends_with('=')), "no noise floor below six blocks");
    }

    #[test]
    fn a_plan_says_what_is_compared_with_what() {
        let design = Plan::of(&factorial("blocks", 7)).unwrap().design.unwrap();
        assert_eq!((design.blocks, design.order), (7, Order::Blocks));
        let axes: Vec<_> =
            design.axes.iter().map(|axis| (&*axis.name, &*axis.reference, axis.levels.len())).collect();
        assert_eq!(axes, [("block_size", "16KiB", 2), ("outstanding", "1", 3)]);
        assert_eq!(Plan::of(&plain("")).unwrap().design, None);
    }

    #[test]
    fn configurations_and_axes_may_load_other_targets() {
        let mut text = factorial("blocks", 1);
        text.axis.truncate(1);
        text.axis[0] = crate::axis::Axis {
            key: "target.paths".to_owned(),
            levels: vec![toml::Value::from(vec!["/a"]), toml::Value::from(vec!["/a", "/b"])],
            names: vec!["one disk".to_owned(), "two disks".to_owned()],
            reference: None,
        };
        let mut places: Vec<_> =
            Plan::of(&text).unwrap().trials.iter().map(|trial| trial.places().join(" ")).collect();
        places.sort();
        assert_eq!(places, ["/a", "/a /b"]);
        let design = Plan::of(&text).unwrap().design.unwrap();
        assert_eq!(
            (&*design.axes[0].reference, design.axes[0].levels.join(", ")),
            ("one disk", "one disk, two disks".to_owned())
        );
        let configured = study(
            r#"
            blocks = 1
            order = "given"
            reference = "slow"
            [[configuration]]
            name = "fast"
            target.paths = ["/fast"]
            [[configuration]]
            name = "slow""#,
        );
        let plan = Plan::of(&configured).unwrap();
        let of: Vec<_> =
            plan.trials.iter().map(|t| (t.planned.configuration.clone(), t.places().join(" "))).collect();
        assert_eq!(of, [("fast".to_owned(), "/fast".to_owned()), ("slow".to_owned(), "/data".to_owned())]);
        assert_eq!(plan.design.unwrap().reference.as_deref(), Some("slow"));
    }

    proptest! {
        #[test]
        fn a_plan_numbers_its_trials_and_measures_each_point_once_a_block(
            blocks in 1u32..4, depths in prop::collection::btree_set(1u32..300, 1..6), passes: bool,
        ) {
            let mut study = plain("");
            study.blocks = blocks;
            study.order = if passes { Order::Given } else { Order::Repeats };
            let levels: Vec<&u32> = depths.iter().collect();
            study.axis = vec![
                toml::from_str(&format!("key = \"workload.disk.outstanding\"\nlevels = {levels:?}")).unwrap(),
            ];
            let plan = Plan::of(&study).unwrap();
            prop_assert_eq!(plan.trials.len(), depths.len() * blocks as usize);
            for (position, trial) in plan.trials.iter().enumerate() {
                prop_assert_eq!(trial.planned.number as usize, position + 1);
            }
            for block in 1..=blocks {
                let measured: Vec<_> =
                    plan.trials.iter().filter(|t| t.planned.block == block).map(|t| t.work.job::<disk::Settings>().unwrap().outstanding).collect();
                prop_assert_eq!(measured, depths.iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(Study::from_toml(&study.to_toml().unwrap()).unwrap(), study);
        }
    }
}
