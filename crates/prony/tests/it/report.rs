//! `prony report`: makes the report again from what was stored, and refuses what it cannot read.

use std::fs;
use std::path::PathBuf;

use crate::workbench::{Workbench, json_file};

/// A results directory of three trials in virtual time.
fn measured(bench: &Workbench) -> (PathBuf, String) {
    let arguments = ["disk", "x", "--engine", "simulated", "--duration", "10s", "--repeats", "3", "--json"];
    let stdout = bench.run(&arguments).ended_with(0).stdout;
    (bench.results().unwrap(), stdout)
}

#[test]
fn a_report_made_again_is_the_same() {
    let bench = Workbench::new();
    let (results, first) = measured(&bench);
    let (page, verdicts) = (results.join("report.html"), results.join("verdicts.json"));
    let html = fs::read_to_string(&page).unwrap();
    fs::remove_file(&page).unwrap();
    fs::remove_file(&verdicts).unwrap();
    let again = bench.run(&["report", results.to_str().unwrap(), "--json"]).ended_with(0);
    assert!(again.stdout == first, "the document differs:\n{}\n{first}", again.stdout);
    assert!(fs::read_to_string(&page).unwrap() == html, "the page differs");
    let stored = json_file(&verdicts);
    let (headline, stored) = stored.as_array().unwrap().split_first().unwrap();
    assert_eq!(headline["rule"], "headline");
    assert_eq!(stored, again.json()["verdicts"].as_array().unwrap());
}

#[test]
fn text_json_csv_and_page_show_the_same_figures() {
    let bench = Workbench::new();
    let (results, document) = measured(&bench);
    let directory = results.to_str().unwrap();
    let text = bench.run(&["report", directory]).ended_with(0).stdout;
    let csv = bench.run(&["report", directory, "--csv"]).ended_with(0).stdout;
    let html = fs::read_to_string(results.join("report.html")).unwrap();
    // 100 µs an I/O, one at a time.
    assert!(document.contains("\"per_s\": 10000.0"), "{document}");
    assert_eq!(csv.lines().filter(|line| line.contains(",100000,0,10,10000,")).count(), 3, "{csv}");
    assert!(text.contains("10,000") && text.contains("100 µs"), "{text}");
    assert!(html.contains("10,000") && html.contains("100 µs"));
}

#[test]
fn a_directory_of_a_newer_version_is_refused_and_left_alone() {
    let bench = Workbench::new();
    let (results, _) = measured(&bench);
    let manifest = results.join("manifest.json");
    let newer = fs::read_to_string(&manifest).unwrap().replace("\"format\": 2", "\"format\": 9000");
    fs::write(&manifest, &newer).unwrap();
    let page = fs::read(results.join("report.html")).unwrap();
    let outcome = bench.run(&["report", results.to_str().unwrap()]).ended_with(2);
    assert!(outcome.stderr.contains("was made by a newer prony (format 9000"), "{}", outcome.stderr);
    assert_eq!(fs::read(results.join("report.html")).unwrap(), page);
}

#[test]
fn a_damaged_directory_opens_and_says_what_is_missing() {
    let bench = Workbench::new();
    let (results, _) = measured(&bench);
    fs::remove_file(results.join("environment.json")).unwrap();
    fs::remove_file(results.join("trials/0002/samples.ndjson")).unwrap();
    let trial = results.join("trials/0003/trial.json");
    fs::write(&trial, &fs::read(&trial).unwrap()[..40]).unwrap();
    let outcome = bench.run(&["report", results.to_str().unwrap()]);
    assert!(outcome.code.is_some_and(|code| code < 2), "{outcome:?}");
    for sentence in ["environment.json is missing", "trial 2", "trial 3"] {
        assert!(outcome.stdout.contains(sentence), "{sentence} is not in:\n{}", outcome.stdout);
    }
    let document = bench.report_json(&results);
    assert_eq!(document["trials"][0]["figures"][0]["operations"], 100_000, "what is whole is shown");
}

#[test]
fn the_directory_above_names_the_results_in_it() {
    let bench = Workbench::new();
    let (results, _) = measured(&bench);
    let name = results.file_name().unwrap().to_str().unwrap();
    bench.run(&["report", "prony-results"]).ended_with(2).says(name);
}
