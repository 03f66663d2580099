//! Percentiles of one's own: in tables, documents, exports, thresholds and limits of changes.

use std::fs;

use serde_json::json;

use crate::judged::served;
use crate::workbench::Workbench;

/// In virtual time 100 µs an I/O, one at a time: 100,000 of them.
const RUN: [&str; 6] = ["disk", "x", "--engine", "simulated", "--duration", "10s"];

/// The heads of the table of a run.
fn heads(stdout: &str) -> Vec<&str> {
    let line = stdout.lines().find(|line| line.contains("IOPS") && line.contains("max")).unwrap();
    line.split_whitespace().filter(|head| head.starts_with('p') && head.len() > 1).collect()
}

#[test]
fn tables_show_the_percentiles_that_were_asked_for() {
    let bench = Workbench::new();
    let asked = ["--percentiles", "99.99,50, 98,99.9999", "--name", "fine"];
    let usual = bench.run(&RUN).ended_with(0);
    assert_eq!(heads(&usual.stdout), ["p50", "p95", "p99", "p99.9"]);
    bench.run(&[&RUN[..], &["--percentiles", "99.99999"]].concat()).ended_with(2).says("four decimal places");
    let outcome = bench.run(&[&RUN[..], &asked].concat()).ended_with(0);
    assert_eq!(heads(&outcome.stdout), ["p50", "p98", "p99.99", "p99.9999"]);
    let row = outcome.stdout.lines().find(|line| line.contains("100 µs (100–100)")).unwrap();
    assert_eq!(row.matches("100 µs (100–100)").count(), 3, "{row}");
    assert!(row.trim_end().ends_with('–'), "of 100,000 none lies beyond p99.9999: {row}");
    // It is the study's: a report of any day has them, unless others are asked for.
    assert_eq!(heads(&bench.run(&["report", "fine"]).stdout), ["p50", "p98", "p99.99", "p99.9999"]);
    let other = bench.run(&["report", "fine", "--percentiles", "90"]).ended_with(0);
    assert_eq!(heads(&other.stdout), ["p90"]);
}

#[test]
fn documents_for_programs_have_them_besides() {
    let bench = Workbench::new();
    let document =
        bench.run(&[&RUN[..], &["--percentiles", "99.99", "--name", "fine", "--json"]].concat()).json();
    assert_eq!(document["percentiles"], json!([99.99]));
    let figures = &document["trials"][0]["figures"][0];
    let own = &figures["own_percentiles"][0];
    assert_eq!(own["percentile"], json!(99.99));
    assert!(
        own["us"].as_f64().is_some() && own["interval"]["low_us"].as_f64() <= own["us"].as_f64(),
        "{own}"
    );
    assert!(figures["latency"]["p999_us"].as_f64().is_some(), "those of every summary stay");
    let csv = bench.run(&["report", "fine", "--csv"]).stdout;
    let [names, values] = [0, 1].map(|line| csv.lines().nth(line).unwrap().split(',').collect::<Vec<_>>());
    let place = names.iter().position(|name| *name == "latency_p99.99_us").unwrap();
    assert_eq!(names[place..], ["latency_p99.99_us", "latency_p99.99_us_low", "latency_p99.99_us_high"]);
    assert_eq!(values[place].parse::<f64>().ok(), own["us"].as_f64());
    let table = bench.run(&["export", "fine", "--csv"]).ended_with(0).stdout;
    let row = table.lines().find(|row| row.contains(",p99.99_ms,ms,")).unwrap();
    assert_eq!(
        row.split(',').filter(|cell| cell.parse::<f64>().is_ok_and(|ms| ms > 0.09 && ms < 0.11)).count(),
        3,
        "{row}"
    );
}

#[test]
fn thresholds_and_limits_of_any_percentile_are_judged() {
    let bench = Workbench::new();
    let run = |threshold: &str| bench.run(&[&RUN[..], &["--threshold", threshold]].concat());
    run("p99.99_ms < 20").ended_with(0);
    run("p99.99_ms < 0.01").ended_with(3);
    let short = run("p99.9999_ms < 20").ended_with(4).stdout;
    assert!(
        short.contains("no block has enough operations above this percentile. Measure longer"),
        "{short}"
    );
    for (name, service) in [("release", "1ms"), ("slower", "2ms")] {
        served(&bench, name, service, 4);
    }
    let compare = |options: &[&str]| bench.run(&[&["compare", "release", "slower"], options].concat());
    compare(&["--fail-if", "p97.5_ms > +10%", "--run-sd", "1%"]).ended_with(3);
    compare(&["--fail-if", "p97.5_ms > +2.5 ms", "--run-sd", "1%"]).ended_with(0);
    let told = compare(&["--percentiles", "97.5", "--details"]).ended_with(0).stdout;
    assert!(told.contains("p97.5_ms") && told.contains("p95_ms"), "{told}");
}

#[test]
fn a_study_names_its_percentiles() {
    let bench = Workbench::new();
    let study = |percentiles: &str| {
        format!(
            "blocks = 2\npercentiles = {percentiles}\n[workload.disk]\nengine = \"simulated\"\nduration = \"3s\"\n\
             [target]\npaths = [\"x\"]\n[[axis]]\nkey = \"workload.disk.outstanding\"\nlevels = [1, 2]\n"
        )
    };
    bench.write("study.toml", study("[97.5, 50]"));
    let told = bench.run(&["study", "run", "study.toml"]).ended_with(0).stdout;
    let gains = told.split("Gain in each percentile").nth(1).unwrap();
    let head = gains.lines().nth(1).unwrap();
    assert!(head.contains("p50") && head.contains("p97.5") && !head.contains("p95"), "{head}");
    let page = fs::read_to_string(bench.results().unwrap().join("report.html")).unwrap();
    assert!(page.contains("p97.5"), "the page shows them too");
    bench.write("study.toml", study("[50, 100]"));
    bench.run(&["study", "run", "study.toml"]).ended_with(2).says("is not between 0 and 100");
    bench.write("study.toml", study("\"50;99\""));
    bench
        .run(&["study", "run", "study.toml"])
        .ended_with(2)
        .says("numbers between 0 and 100, separated by commas");
}
