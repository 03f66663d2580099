//! Plans: which trials, in which order, with which seeds.

use super::*;
use crate::study::Configuration;
use crate::study::Order;
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
    assert!(nowhere.contains("blocks: not a parameter that can be varied. Keys start"), "{nowhere}");
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

/// Each of the 40 runs had a pause before it, and none of them was a first one that does not count: the plan said 6 min 35 s.
#[test]
fn crystal_disk_mark_rests_between_rows_and_runs_once_before_each() {
    let seconds = |name| Plan::of(&profile(name)).unwrap().duration().as_seconds();
    assert_eq!(seconds("cdm8"), 8.0 * 6.0 * 5.0 + 7.0 * 5.0);
    assert_eq!(seconds("cdm3"), 8.0 * 5.0 * 5.0 + 7.0 * 5.0);
    let plan = Plan::of(&profile("cdm8")).unwrap();
    let rows: Vec<(f64, f64)> = plan.trials[..11]
        .iter()
        .map(|trial| (trial.pause.as_seconds(), trial.work.any().phases().warm_up.as_seconds()))
        .collect();
    let [first, later] = [(0.0, 5.0), (0.0, 0.0)];
    assert_eq!(rows[..5], [first, later, later, later, later]);
    assert_eq!(rows[5..], [(5.0, 5.0), later, later, later, later, (5.0, 5.0)]);
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
