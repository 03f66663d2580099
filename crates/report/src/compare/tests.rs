//! Comparisons of studies: what differs, what is refused, and what is said of the rest.

use record::StudyRecord;

use super::{Compare, CompareOutcome};
use crate::fixture::{self, Collected, Designed, Made};

/// A study of two configurations in so many blocks, whose rates are those of the first times this.
fn study(blocks: u32, times: f64, seed: u32) -> StudyRecord {
    Designed::blocks(blocks).configurations(&["SSD", "RAID10"]).study(|at| {
        let rate = if at.configuration == "SSD" { 800.0 } else { 1_200.0 };
        let other = fixture::At { number: at.number + seed, ..at.clone() };
        Some(at.reads(rate * times * other.noise(0.01), 900.0))
    })
}

fn compare(first: &StudyRecord, this: &StudyRecord) -> Compare {
    Compare::of(&[("first".to_owned(), first), ("this".to_owned(), this)], None)
}

#[test]
fn text_of_two_studies() {
    let mut this = study(7, 1.25, 100);
    this.manifest.started = "2026-11-23T07:00:00Z".to_owned();
    if let Some(environment) = &mut this.environment {
        environment.kernel = "6.13.1".to_owned();
        environment.memory.available_bytes = 1;
        environment.taken = "2026-11-23T07:00:00Z".to_owned();
    }
    this.manifest.tool_version = "0.2.0".to_owned();
    insta::assert_snapshot!(compare(&study(7, 1.0, 0), &this).text(Some(110)));
}

#[test]
fn a_verdict_is_refused_where_the_workload_differs() {
    let first = study(7, 1.0, 0);
    let mut this = study(7, 1.25, 100);
    for trial in this.trials.iter_mut().filter(|trial| trial.trial.configuration == "SSD") {
        trial.trial.parameters["outstanding"] = 64.into();
    }
    let found = compare(&first, &this);
    assert_eq!(found.outcome(), CompareOutcome::Refused);
    let [raid, ssd] = found.against[0].combinations.as_slice() else { panic!("{found:?}") };
    let iops = |combination: &super::Combination| combination.main(Some("iops")).cloned().unwrap();
    assert_eq!((raid.label.as_str(), iops(raid).words.as_str()), ("RAID10", "better"));
    assert_eq!((iops(ssd).judged, iops(ssd).words.as_str()), (None, "refused: the workload differs"));
    assert!(iops(ssd).gain_pct.is_some_and(|gain| (gain - 25.0).abs() < 3.0), "the figure stays");
    let text = found.text(None);
    assert!(text.contains("SSD: no verdict, since the workload differs: outstanding 32 and 64."), "{text}");
}

#[test]
fn where_the_target_alone_differs_nothing_is_refused() {
    let (first, mut this) = (study(7, 1.0, 0), study(7, 1.0, 100));
    for trial in &mut this.trials {
        trial.trial.target["paths"] = serde_json::json!(["/mnt/ssd"]);
        if let Some(record::Setup::Disk(setup)) = &mut trial.trial.setup {
            setup.path = "/mnt/ssd".to_owned();
        }
    }
    let found = compare(&first, &this);
    assert_eq!(found.outcome(), CompareOutcome::Judged);
    assert_eq!(found.against[0].settings, []);
    let told: Vec<&str> = found.against[0].target.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(told, ["target.paths.1", "setup.path"], "once for all combinations");
}

#[test]
fn a_default_that_one_side_spells_out_is_no_difference() {
    let (first, mut this) = (study(7, 1.0, 0), study(7, 1.0, 100));
    for trial in &mut this.trials {
        trial.trial.parameters["threads"] = 1.into();
    }
    assert_eq!(compare(&first, &this).outcome(), CompareOutcome::Judged);
    for trial in &mut this.trials {
        trial.trial.parameters["threads"] = 2.into();
        if let Some(record::Setup::Disk(setup)) = &mut trial.trial.setup {
            setup.threads = 2;
        }
    }
    assert_eq!(compare(&first, &this).outcome(), CompareOutcome::Refused);
}

#[test]
fn other_workloads_are_never_judged() {
    let first = study(7, 1.0, 0);
    let this = Designed::blocks(7).configurations(&["SSD", "RAID10"]).study(|at| Some(at.records(900.0)));
    let found = compare(&first, &this);
    assert_eq!(found.outcome(), CompareOutcome::Refused);
    assert_eq!(found.against[0].combinations[0].workload[0].what, "workload");
}

#[test]
fn one_trial_each_gives_a_ratio_and_no_verdict() {
    let single = |rate: f64| {
        fixture::study("quick", vec![Made::read("RND4K").seconds(2).noise(0.0).rate(rate, 500.0).trial(1)])
    };
    let found = compare(&single(1_000.0), &single(1_500.0));
    assert_eq!(found.outcome(), CompareOutcome::Descriptive);
    let iops = found.against[0].combinations[0].main(Some("iops")).unwrap();
    assert_eq!((iops.gain_pct, iops.low_pct, iops.words.as_str()), (Some(50.0), None, "descriptive only"));
}

#[test]
fn what_only_one_study_has_is_named() {
    let other = fixture::study("quick", vec![Made::read("RND4K").seconds(2).trial(1)]);
    let found = compare(&study(2, 1.0, 0), &other);
    assert_eq!(found.outcome(), CompareOutcome::NothingShared);
    assert!(found.text(None).contains("no measured combination in common"));
    assert_eq!(found.against[0].only_this, ["RND4K"]);
}

#[test]
fn each_further_study_is_compared_with_the_first() {
    let (one, two, three) = (study(2, 1.0, 0), study(2, 1.1, 100), study(2, 1.2, 200));
    let found =
        Compare::of(&[("A".to_owned(), &one), ("B".to_owned(), &two), ("C".to_owned(), &three)], None);
    let names: Vec<&str> = found.against.iter().map(|against| against.name.as_str()).collect();
    assert_eq!(names, ["B", "C"]);
    let document: serde_json::Value = serde_json::from_str(&found.json()).unwrap();
    assert_eq!(document["caution"].as_str().map(|text| text.starts_with("Not interleaved")), Some(true));
    assert_eq!(Compare::of(&[], None).outcome(), CompareOutcome::NothingShared);
}

#[test]
fn a_machine_that_was_not_recorded_is_a_difference() {
    let (first, mut this) = (study(2, 1.0, 0), study(2, 1.0, 100));
    this.environment = None;
    let found = compare(&first, &this);
    assert_eq!(found.against[0].environment[0].this.as_deref(), Some("not recorded"));
}

/// A search in each of six blocks that confirms about this rate.
fn searches(rate_per_s: f64) -> StudyRecord {
    let mut study = Designed::blocks(6).axis("writers", &["1"], "1").study(|at| Some(at.records(1.0)));
    study.manifest.search = Some(fixture::search_rules());
    let search = |place: record::TrialRecord| {
        let rate = rate_per_s + f64::from(place.block);
        let steps = [
            Collected::at("historian", rate).probe(),
            Collected::at("historian", rate * 1.02).growing(rate * 0.1).probe(),
            Collected::at("historian", rate).confirm(),
            Collected::at("historian", rate).confirm(),
            Collected::at("historian", rate).confirm(),
        ];
        steps.into_iter().zip(0..).map(move |(step, index)| {
            let mut trial = step.seconds(30).trial(place.number * 10 + index);
            (trial.trial.block, trial.trial.levels) = (place.block, place.levels.clone());
            trial
        })
    };
    study.trials =
        std::mem::take(&mut study.trials).into_iter().flat_map(|made| search(made.trial)).collect();
    study
}

#[test]
fn the_rates_that_two_searches_found_are_no_difference_of_the_workload() {
    let found = compare(&searches(500.0), &searches(900.0));
    let combination = &found.against[0].combinations[0];
    assert_eq!(combination.workload, []);
    assert_eq!(found.outcome(), CompareOutcome::Judged);
    let sustained = combination.main(Some("sustained_per_s")).unwrap();
    assert_eq!(sustained.words, "better");
    assert!(sustained.gain_pct.is_some_and(|gain| (gain - 79.0).abs() < 1.0), "{sustained:?}");
    let settings: Vec<&str> = found.against[0].settings.iter().map(|found| found.what.as_str()).collect();
    assert!(settings.iter().all(|what| !what.contains("rate")), "{settings:?}");
    // A rate that was asked for is one.
    let asked = |rate: f64| {
        Designed::blocks(6)
            .configurations(&["A", "B"])
            .study(|at| Some(at.placed(Collected::at("historian", rate).seconds(2).trial(at.number))))
    };
    assert_eq!(compare(&asked(500.0), &asked(900.0)).outcome(), CompareOutcome::Refused);
}
