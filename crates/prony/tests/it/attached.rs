//! Servers that run already and stand in a study for those that prony starts: nothing of them is changed but what was asked for.

use std::fs;

use serde_json::Value;

use crate::servers::postgres;
use crate::workbench::{Outcome, Workbench, json_file};

/// A study of a small store on a server that runs, with these keys of the server, measured after each of these ways to leave it.
fn run(bench: &Workbench, name: &str, server: &str, ways: &[&str]) -> Outcome {
    let url = postgres().url();
    let ways = ways.iter().map(|way| {
        format!("[[configuration]]\nname = \"{way}\"\ntarget.server.pg.between_trials = \"{way}\"\n")
    });
    let file = format!(
        "blocks = 1\norder = \"given\"\n[workload.orders]\nsize = \"1MB\"\nn_threads = 2\nramp_rate = 1000\nwarmup_time = \"200ms\"\nrun_time = \"1s\"\n\
         [target]\ndatabase = {{ at = \"pg\", name = \"{name}\" }}\n[target.server.pg]\nat = \"{url}\"\n{server}\n{}",
        ways.collect::<String>()
    );
    bench.write("study.toml", &file);
    bench.run(&["study", "run", "study.toml"])
}

fn trials(bench: &Workbench) -> Vec<Value> {
    let trials = bench.results().unwrap().join("trials");
    let mut paths: Vec<_> = fs::read_dir(trials).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|trial| json_file(trial.join("trial.json"))).collect()
}

fn is_noted(trial: &Value, words: &str) -> bool {
    let notes = trial["notes"].as_array().into_iter().flatten();
    notes.filter_map(Value::as_str).any(|note| note.contains(words))
}

/// How the store of a trial was brought back by deletion; none of one that was just loaded.
fn restored(trial: &Value) -> Option<&str> {
    trial["setup"]["targets"][0]["restored"].as_str()
}

#[test]
fn a_server_that_runs_is_left_restarted_by_command_or_has_its_database_made_anew() {
    let bench = Workbench::new();
    let restarts = bench.path("restarts");
    let server = format!("restart = \"echo again >> '{}'\"\nrest = \"200ms\"", restarts.display());
    run(&bench, "attached_ways", &server, &["restart", "keep", "recreate"]).ended_with(0);
    let trials = trials(&bench);
    let of = |way: &str| trials.iter().filter(|trial| trial["configuration"] == way).collect::<Vec<_>>();
    let restarted = of("restart");
    assert_eq!(fs::read_to_string(&restarts).unwrap().lines().count(), restarted.len());
    for trial in &restarted {
        assert!(is_noted(trial, "the server was restarted (echo again"), "{trial:#}");
        assert_eq!(trial["servers"], Value::Null, "none was started: {trial:#}");
    }
    assert!(of("keep").iter().all(|trial| restored(trial).is_some() && !is_noted(trial, "started again")));
    assert!(of("recreate").iter().all(|trial| restored(trial).is_none()), "it was loaded anew: {trials:#?}");
    let places = trials[0]["target"]["server"]["pg"]["at"].as_str().unwrap();
    assert!(places.starts_with("postgres://"), "what was asked for is recorded: {places}");
}

#[test]
fn a_command_that_starts_nothing_ends_the_study_and_leaves_no_database() {
    let bench = Workbench::new();
    let failed = run(&bench, "attached_fails", "restart = \"echo no such service; exit 3\"", &["restart"])
        .ended_with(1);
    failed.says("echo no such service; exit 3").says("no such service");
    let again = run(&bench, "attached_fails", "", &["keep"]).ended_with(0);
    assert!(!again.stderr.contains("is there"), "{}", again.stderr);
}

#[test]
fn what_only_sql_server_takes_is_refused_before_anything_is_asked() {
    let bench = Workbench::new();
    run(&bench, "attached_refused", "data = \"/data\"", &["keep"])
        .ended_with(2)
        .says("target.server.pg.data: supported only for SQL Server");
    run(&bench, "attached_refused", "", &["restore"]).ended_with(2).says("is supported only with SQL Server");
}
