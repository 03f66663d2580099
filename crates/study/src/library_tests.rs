//! Ready studies have the plans that they are known for.

use std::fmt::Write;

use load::Span;

use super::*;
use crate::Plan;

/// Blocks of a plan that its fixture holds: all others are like them.
const BLOCKS_TOLD: u32 = 2;

/// The trials of a plan, a line each, and how many there are.
fn told(study: &Study) -> String {
    let plan = Plan::of(study).unwrap();
    let mut text = String::new();
    for trial in plan.trials.iter().filter(|trial| trial.planned.block <= BLOCKS_TOLD) {
        let planned = &trial.planned;
        let pause_s = trial.pause.as_seconds();
        let parameters = serde_json::to_string(&trial.work.any().parameters()).unwrap();
        writeln!(text, "{} {}; {pause_s} s; {parameters}", planned.block, planned.name).unwrap();
    }
    writeln!(text, "{} trials", plan.trials.len()).unwrap();
    text
}

/// The fixtures are of the time when profiles were functions: files that took their place had to give the same trials.
#[test]
fn profiles_plan_what_they_always_have() {
    macro_rules! check {
        ($($fixture:literal: $name:literal, $quick:literal;)*) => {$(
            let study = ReadyStudy::named($name).unwrap().study($quick).unwrap();
            assert_eq!(told(&study), include_str!(concat!("../fixtures/plans/", $fixture, ".txt")), $fixture);
            assert_eq!((study.profile.as_deref(), study.quick), (Some($name), $quick));
            assert_eq!(Study::from_toml(&study.to_toml().unwrap()).unwrap(), study, "{}", $fixture);
        )*};
    }
    check! {
        "quick": "quick", false;
        "cdm3": "cdm3", false;
        "cdm8": "cdm8", false;
        "sqlserver": "sqlserver", false;
        "sweep": "sweep", false;
        "steady": "steady", false;
        "flush-rows": "flush-rows", false;
        "flush-rows-quick": "flush-rows", true;
        "real-project": "real-project", false;
        "real-project-quick": "real-project", true;
    }
}

#[test]
fn quick_takes_about_a_minute() {
    let plan = Plan::of(&ReadyStudy::named("quick").unwrap().study(false).unwrap()).unwrap();
    let seconds = plan.duration().as_seconds();
    assert!((50.0..75.0).contains(&seconds), "{seconds}");
}

#[test]
fn what_a_study_answers_is_its_first_sentence() {
    let answers = |name| ReadyStudy::named(name).unwrap().answers();
    assert_eq!(answers("quick"), "Disk performance for a database: eight tests in about one minute");
    assert!(answers("hds-flush-rows").starts_with("How many rows a historian should write"));
    assert!(ReadyStudy::all().all(|study| study.answers().len() > 40));
}

#[test]
fn names_of_ready_studies_are_their_own() {
    let mut names: Vec<&str> = ReadyStudy::all().map(|study| study.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn the_real_project_purges_three_times_after_its_first_hour() {
    let plan = Plan::of(&ReadyStudy::named("real-project").unwrap().study(false).unwrap()).unwrap();
    let job = plan.trials[1].work.job::<workload::historian::Settings>().unwrap();
    let maintenance = job.maintenance.unwrap();
    assert_eq!(job.phases.measure.ns / maintenance.interval.ns, 3);
    assert_eq!(maintenance.purge_rows, Some(60_000));
    assert!(maintenance.shrink && job.readers.is_some());
    assert_eq!(job.phases.warm_up, Span::seconds(3_600));
}

/// Where all places of a laboratory would be.
fn lab() -> crate::GivenLab {
    crate::GivenLab { directory: "/data".into(), mounts: "/run/lab".into(), tag: "t".to_owned() }
}

#[test]
fn published_studies_of_places_run_in_a_laboratory_without_any_other_place() {
    let volumes = |name: &str, set: &[(&str, toml::Value)]| {
        let ready = ReadyStudy::named(name).unwrap();
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let file = StudyFile { name, text: ready.file, lab: Some(lab()), set, ..StudyFile::default() };
        let study = file.study().unwrap();
        assert_eq!(
            Study::from_toml(&study.to_toml().unwrap()).unwrap(),
            study,
            "what is stored is taken up again"
        );
        study.lab.unwrap().volume
    };
    let placement = volumes("hds-placement", &[]);
    let devices = |name: &str| placement[name].is.devices.unwrap_or(1);
    assert_eq!(placement.len(), 6);
    assert_eq!((placement["t-array"].mount.to_str(), devices("t-disk_a")), (Some("/run/lab/t-array"), 1));
    let blocks = volumes("primequest-blocks", &[]);
    assert_eq!((blocks.len(), blocks["t-s4k_b64k-v4"].mount.to_str()), (24, Some("/run/lab/t-s4k_b64k/v4")));
}

#[test]
fn a_place_that_is_named_is_not_made_and_one_that_is_not_used_neither() {
    let text = "blocks = 1\n[places.a]\nwhat = \"a\"\nlab = {}\n[places.b]\nwhat = \"b\"\nlab = { size = \"1GiB\" }\n\
                [places.c]\nwhat = \"c\"\nlab = {}\n[target]\npaths = [\"$a\", \"$b/x\"]\n[workload.disk]\n";
    let places = [("a".to_owned(), "/named".to_owned())].into();
    let study =
        StudyFile { name: "n", text, lab: Some(lab()), places, ..StudyFile::default() }.study().unwrap();
    assert_eq!(study.target.paths, [std::path::Path::new("/named"), std::path::Path::new("/run/lab/t-b/x")]);
    let made: Vec<String> = study.lab.unwrap().volume.into_keys().collect();
    assert_eq!(made, ["t-b"]);
    let unknown = StudyFile {
        name: "n",
        text: "blocks = 1\n[places.a]\nwhat = \"a\"\nlab = { sise = \"1GiB\" }\n",
        ..StudyFile::default()
    };
    let told = unknown.study().unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(told.contains("sise"), "{told}");
}
