//! `prony check`: what it prints, what it leaves, and that its forms of output agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::workbench::{Outcome, Workbench, json_file};

const SHORT: [&str; 6] = ["check", ".", "--duration", "1s", "--file-size", "16MiB"];

#[test]
fn check_measures_reports_and_cleans_up() {
    let bench = Workbench::new();
    if !bench.has_direct_io() {
        bench.run(&SHORT).says("O_DIRECT");
        eprintln!("not tried: a whole check, for {} has no direct I/O", env!("CARGO_TARGET_TMPDIR"));
        return;
    }
    let outcome = bench.run(&SHORT).ended_with(0);
    table_and_verdicts_are_on_stdout(&outcome);
    progress_is_on_stderr(&outcome);
    assert_eq!(bench.names("."), ["prony-results"], "no test file is left");
    let results = bench.results().unwrap();
    assert_eq!(
        bench.names(&results),
        ["environment.json", "manifest.json", "report.html", "study.toml", "trials", "verdicts.json"]
    );
    for trial in bench.names(results.join("trials")) {
        assert_eq!(
            bench.names(results.join("trials").join(trial)),
            ["latency.hlog", "resources.ndjson", "samples.ndjson", "trial.json"]
        );
    }
    let directory = results.to_str().unwrap();
    let document = bench.run(&["report", directory, "--json"]).ended_with(0).json();
    study_is_complete(&document, &json_file(results.join("verdicts.json")));
    let csv = bench.run(&["report", directory, "--csv"]).ended_with(0).stdout;
    csv_has_the_numbers_of_json(&csv, &document);
    page_stands_alone(&fs::read_to_string(results.join("report.html")).unwrap());
}

#[test]
fn a_thorough_check_tells_of_pages_on_its_first_screen() {
    let bench = Workbench::new();
    if !bench.has_direct_io() {
        eprintln!("not tried: a whole check, for {} has no direct I/O", env!("CARGO_TARGET_TMPDIR"));
        return;
    }
    let outcome = bench.run(&[&SHORT[..], &["--thorough"]].concat()).ended_with(0);
    assert!(
        outcome.stdout.contains("finding  verify: ")
            && outcome.stdout.contains(" 0 damaged, 0 stalls over 15 s")
    );
    assert!(!outcome.stdout.contains("never written"), "what others read is filled: {}", outcome.stdout);
    let document = bench.report_json(&bench.results().unwrap());
    let trials = document["trials"].as_array().unwrap();
    let verified: Vec<&Value> = trials.iter().filter(|trial| trial["name"] == "verify").collect();
    assert_eq!((trials.len(), verified.len()), (11, 1));
    assert_eq!(verified[0]["verified"]["is_audited"], true, "{:#}", verified[0]);
}

fn table_and_verdicts_are_on_stdout(outcome: &Outcome) {
    let text = &outcome.stdout;
    assert!(text.starts_with("Check: "), "{text}");
    let head = text.lines().find(|line| line.starts_with('#')).expect("a table");
    for column in ["IOPS", "MB/s", "mean", "p50", "p95", "p99", "p99.9", "max", "in flight", "CPU µs"] {
        assert!(head.contains(column), "{column} is not in {head}");
    }
    let verdicts = text.lines().filter(|line| line.starts_with("finding  ")).count();
    let number = |line: &str| line.trim_start().split_once("  ").map(|(number, _)| number.parse::<u32>());
    let rows: BTreeSet<u32> = text.lines().filter_map(|line| number(line)?.ok()).collect();
    assert_eq!(
        (verdicts, rows.len()),
        (12, 10),
        "a sentence and a row for each of ten tests, the growth and the reconciliation:\n{text}"
    );
}

fn progress_is_on_stderr(outcome: &Outcome) {
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines[0], "Check: 10 trials on ., sqlite:./prony-check.sqlite, ./prony-check-orders.sqlite");
    assert!(lines[1].starts_with("Time: about "), "{lines:#?}");
    assert!(lines[2].starts_with("Writes: 16 MiB of test files"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("[10/10] ")), "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("report: prony-results/"), "{lines:#?}");
    let told = |line: &str| line.contains("report: ") || line.starts_with("Time: ");
    assert!(!outcome.stdout.lines().any(told), "{}", outcome.stdout);
}

fn study_is_complete(document: &Value, verdicts: &Value) {
    assert_eq!(document["state"], "complete");
    let trials = document["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 10);
    for trial in trials {
        assert_eq!(trial["state"], "complete", "{trial:#}");
        assert!(trial["figures"][0]["operations"].as_u64().unwrap() > 0, "{trial:#}");
        assert_eq!(trial["measured_s"], 1.0);
    }
    let (headline, verdicts) = verdicts.as_array().unwrap().split_first().unwrap();
    assert_eq!(headline["rule"], "headline");
    assert_eq!(
        document["verdicts"].as_array().unwrap(),
        verdicts,
        "the stored verdicts are those of the report behind its headline"
    );
}

/// Every figure that both have, by the names of the columns.
fn csv_has_the_numbers_of_json(csv: &str, document: &Value) {
    let (head, rows) = parse_csv(csv);
    let trials = document["trials"].as_array().unwrap();
    let expected: Vec<(&Value, &Value)> = trials
        .iter()
        .flat_map(|trial| trial["figures"].as_array().unwrap().iter().map(move |figures| (trial, figures)))
        .collect();
    assert_eq!(rows.len(), expected.len());
    for (row, (trial, figures)) in rows.iter().zip(expected) {
        let row: BTreeMap<&str, &str> =
            head.iter().map(String::as_str).zip(row.iter().map(String::as_str)).collect();
        assert_eq!(row["name"], trial["name"].as_str().unwrap());
        assert_eq!(row["state"], trial["state"].as_str().unwrap());
        assert_eq!(row["kind"], figures["kind"].as_str().unwrap());
        for column in ["operations", "errors", "per_s", "mb_per_s", "in_flight"] {
            same_number(row[column], &figures[column], column);
        }
        for name in ["min_us", "mean_us", "p50_us", "p95_us", "p99_us", "p999_us", "max_us"] {
            same_number(row[format!("latency_{name}").as_str()], &figures["latency"][name], name);
        }
    }
}

/// A field that is empty is unknown, which is null.
fn same_number(field: &str, value: &Value, column: &str) {
    assert_eq!(field.parse::<f64>().ok(), value.as_f64(), "{column}: {field:?} and {value}");
}

/// RFC 4180: lines end with CR LF, fields with commas or line ends may be quoted, quotes inside are doubled.
fn parse_csv(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    assert!(text.ends_with("\r\n"), "{text:?}");
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {
                assert_eq!(characters.next(), Some('\n'));
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    let head = rows.remove(0);
    for row in &rows {
        assert_eq!(row.len(), head.len(), "{row:?}");
    }
    (head, rows)
}

fn page_stands_alone(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    for request in ["src=\"http", "href=\"http", "<link", "@import", "url(http", "<script src"] {
        assert!(!html.contains(request), "the page makes a request: {request}");
    }
    for unfinished in ["NaN", ">inf<", "undefined"] {
        assert!(!html.contains(unfinished), "{unfinished}");
    }
}

#[test]
fn output_that_is_no_terminal_has_no_escape_codes() {
    let bench = Workbench::new();
    let short = ["disk", "x", "--engine", "simulated", "--duration", "2s"];
    for variables in [&[("NO_COLOR", "1")][..], &[("CLICOLOR", "1"), ("TERM", "xterm-256color")]] {
        for arguments in [&short[..], &["--help"], &["disk", "--nonsense"], &["report", "missing"]] {
            let outcome = bench.run_with(variables, arguments);
            let printed = outcome.stdout + &outcome.stderr;
            assert!(
                !printed.is_empty() && !printed.contains('\x1b'),
                "{variables:?} {arguments:?}:\n{printed}"
            );
        }
    }
}
