//! What cannot be run is refused before anything is announced: by a run on order stores, and by a study that is taken up again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::servers::{mariadb, postgres};
use crate::workbench::{Outcome, Workbench};

/// One line, and nothing before it.
#[track_caller]
fn alone(outcome: Outcome) -> Outcome {
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    outcome
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// "writes orders into the stores" stood above the refusal of a database in which there is no store.
fn a_database_without_a_store(url: &str, name: &str) {
    let bench = Workbench::new();
    let place = if url.starts_with("sqlite") { String::new() } else { format!("--database {name}") };
    let historian =
        format!("historian --rate 10 --duration 1s --screens 0 --keep --target {url} {place} --results h");
    let load = format!("orders load --size 1MB --replace --target {url} {place}");
    let run = format!("orders run --target {url} {place}");
    alone(
        bench.run(&words(&run)).ended_with(2).says("has no order store: create one with prony orders load"),
    );
    bench.run(&words(&historian));
    alone(bench.run(&words(&run)).ended_with(2).says("has no complete order store"));
    bench.run(&words(&load)).ended_with(0);
    let larger = format!("{run} --size 10MB");
    alone(bench.run(&words(&larger)).ended_with(2).says("is a store of 1MB, not 10MB"));
    let seeded = format!("{run} --store-seed 77");
    alone(bench.run(&words(&seeded)).ended_with(2).says("not 77"));
    assert_eq!(bench.results(), None);
    let verify = format!("orders verify --target {url} {place}");
    bench.run(&words(&verify)).ended_with(0).says("all counts and sums match the loaded data");
}

#[test]
fn a_file_without_a_store_is_refused_before_anything_is_announced() {
    a_database_without_a_store("sqlite:there", "");
}

#[test]
fn a_server_without_a_store_is_refused_before_anything_is_announced() {
    a_database_without_a_store(&postgres().url(), "prony_without_a_store");
    a_database_without_a_store(&mariadb().url(), "prony_without_a_store");
}

/// A study of a historian that its second trial's command ended, so that a trial is left.
fn half_measured(bench: &Workbench, database: &str) -> PathBuf {
    bench.write(
        "study.toml",
        format!(
            "blocks = 1\norder = \"given\"\nbefore = \"test $PRONY_TRIAL -lt 2\"\n\
             workload.historian = {{ rate = 200, warm_up = \"0s\", duration = \"1s\", screens = 0 }}\n\
             target.database = {database}\naxis = [{{ key = \"workload.historian.flush_rows\", levels = [10, 40] }}]\n"
        ),
    );
    bench.run(&["study", "run", "study.toml"]).ended_with(1).says("the command before trial 2");
    bench.results().unwrap()
}

#[track_caller]
fn resumed(bench: &Workbench, results: &Path, code: i32) -> Outcome {
    let before = fs::read(results.join("manifest.json")).unwrap();
    // Passwords are not stored.
    let password = [("PGPASSWORD", "secret")];
    let resume = ["study", "resume", results.to_str().unwrap()];
    let outcome = alone(bench.run_with(&password, &resume).ended_with(code));
    assert_eq!(fs::read(results.join("manifest.json")).unwrap(), before, "what was measured is left alone");
    outcome
}

/// "1 of 2 trials is left" and the commands that would be run stood above the refusal.
#[test]
fn a_study_whose_server_is_away_is_not_taken_up_again() {
    let bench = Workbench::new();
    let server = instance::Postgres::start(&instance::Options::default()).unwrap();
    let results = half_measured(&bench, &format!("\"{}\"", server.url()));
    drop(server);
    resumed(&bench, &results, 1).says("127.0.0.1");
}

#[test]
fn a_study_whose_target_is_another_s_by_now_is_not_taken_up_again() {
    let bench = Workbench::new();
    let url = postgres().url();
    let results = half_measured(&bench, &format!("{{ at = \"{url}\", name = \"prony_taken_since\" }}"));
    let keep = format!(
        "historian --rate 10 --duration 1s --screens 0 --keep --target {url} --database prony_taken_since --results other"
    );
    bench.run(&words(&keep));
    resumed(&bench, &results, 2).says("exists from an earlier run of prony");
    let changed = fs::read_to_string(results.join("study.toml")).unwrap().replace("taken_since", "elsewhere");
    fs::write(results.join("study.toml"), changed).unwrap();
    resumed(&bench, &results, 2).says("study.toml differs from the target");
}

#[test]
fn a_study_whose_directory_is_missing_is_not_taken_up_again() {
    let bench = Workbench::new();
    fs::create_dir(bench.path("data")).unwrap();
    let results = half_measured(&bench, "\"sqlite:data/h.db\"");
    fs::remove_dir(bench.path("data")).unwrap();
    resumed(&bench, &results, 2).says("does not exist");
    fs::create_dir(bench.path("data")).unwrap();
    bench.foreign("data/h.db", 1);
    resumed(&bench, &results, 2).says("was not created by prony and is left as it is");
    bench.run(&["study", "resume", "nowhere"]).ended_with(2).says("nowhere");
}
