//! Markdown and JUnit XML that are written beside what is printed: what stands in them agrees with the exit code, and where they
//! cannot be written is known before anything is measured.

use std::fs;

use crate::judged::served;
use crate::workbench::{PRONY, Workbench, finish};

/// A study in virtual time of two levels, with thresholds.
fn study(bench: &Workbench, thresholds: &[&str], more: &str) {
    let text = format!(
        "blocks = 1\nthresholds = {thresholds:?}\n{more}\n[workload.disk]\nengine = \"simulated\"\nduration = \"3s\"\n\
         [target]\npaths = [\"x\"]\n[[axis]]\nkey = \"workload.disk.outstanding\"\nlevels = [1, 2]\n"
    );
    bench.write("study.toml", text);
}

/// Cases of a document that passed, failed, are errors and were skipped.
fn ends(junit: &str) -> [usize; 4] {
    let of = |name: &str| junit.matches(&format!("<{name} message=")).count();
    let [failed, errors, skipped] = ["failure", "error", "skipped"].map(of);
    [junit.matches("<testcase ").count() - failed - errors - skipped, failed, errors, skipped]
}

#[test]
fn a_file_is_green_where_the_exit_code_is_zero_and_only_there() {
    for (number, (thresholds, code, expected)) in [
        // The run and its two trials; what the levels gain, which nobody asked for.
        (&[][..], 0, [3, 0, 0, 1]),
        (&["mean_ms < 0.5"], 0, [4, 0, 0, 0]),
        (&["mean_ms < 0.5", "iops < 5"], 3, [4, 1, 0, 0]),
    ]
    .into_iter()
    .enumerate()
    {
        let bench = Workbench::new();
        study(&bench, thresholds, "accept_single = true");
        let (markdown, junit) = (format!("{number}.md"), format!("{number}.xml"));
        let files = ["--markdown", &markdown, "--junit", &junit];
        bench.run(&[&["study", "run", "study.toml"], &files[..]].concat()).ended_with(code).says(&junit);
        let written = fs::read_to_string(bench.path(&junit)).unwrap();
        assert_eq!(ends(&written), expected, "{written}");
        let comment = fs::read_to_string(bench.path(&markdown)).unwrap();
        assert!(comment.starts_with("### ") && comment.contains("\n**Reliability:** "), "{comment}");
        assert_eq!(comment.contains("| iops &lt; 5 | failed |"), code == 3, "{comment}");
        // Made again from the records.
        bench.run(&["report", "latest", "--junit", "again.xml"]).ended_with(code);
        assert_eq!(fs::read_to_string(bench.path("again.xml")).unwrap(), written);
    }
    let bench = Workbench::new();
    study(&bench, &["mean_ms < 0.5"], "");
    bench.run(&["study", "run", "study.toml", "--junit", "ci.xml"]).ended_with(4);
    let written = fs::read_to_string(bench.path("ci.xml")).unwrap();
    assert_eq!(ends(&written), [3, 0, 1, 0], "{written}");
    assert!(written.contains("name=\"path\" value=\"/"), "{written}");
}

#[test]
fn a_rate_that_is_not_held_is_a_failure_there_too() {
    let bench = Workbench::new();
    let run =
        ["disk", "x", "--engine", "simulated", "--duration", "5s", "--rate", "1000000", "--junit", "ci.xml"];
    bench.run(&run).ended_with(3);
    let written = fs::read_to_string(bench.path("ci.xml")).unwrap();
    assert_eq!(ends(&written)[1..], [1, 0, 0], "{written}");
    assert!(written.contains("classname=\"rates\""), "{written}");
}

#[test]
fn a_comparison_is_written_as_it_is_judged() {
    let bench = Workbench::new();
    for (name, service) in [("release", "1ms"), ("slower", "2ms")] {
        served(&bench, name, service, 4);
    }
    for (number, (options, code, expected)) in [
        (&["--fail-if", "p99_ms > +2.5 ms", "--run-sd", "1%"][..], 0, [1, 0, 0, 0]),
        (&["--fail-if", "p99_ms > +10%", "--fail-if", "iops < -60%", "--run-sd", "1%"], 3, [1, 1, 0, 0]),
        (&["--baseline", "release"], 4, [0, 0, 1, 0]),
        (&[], 0, [0, 0, 0, 2]),
    ]
    .into_iter()
    .enumerate()
    {
        let (markdown, junit) = (format!("{number}.md"), format!("{number}.xml"));
        let files = ["--markdown", &markdown, "--junit", &junit];
        let outcome =
            bench.run(&[&["compare", "release", "slower"], options, &files].concat()).ended_with(code);
        assert!(outcome.stdout.contains("verdict"), "{}", outcome.stdout);
        let written = fs::read_to_string(bench.path(&junit)).unwrap();
        assert_eq!(ends(&written), expected, "{written}");
        let comment = fs::read_to_string(bench.path(&markdown)).unwrap();
        assert!(comment.contains("| combination | metric |"), "{comment}");
    }
}

#[test]
fn a_hyphen_prints_a_document_in_place_of_the_text() {
    let bench = Workbench::new();
    study(&bench, &[], "");
    let printed =
        bench.run(&["study", "run", "study.toml", "--markdown", "-", "--junit", "ci.xml"]).ended_with(0);
    assert!(printed.stdout.starts_with("### "), "{}", printed.stdout);
    let printed = bench.run(&["report", "latest", "--junit", "-"]).ended_with(0);
    assert_eq!(printed.stdout, fs::read_to_string(bench.path("ci.xml")).unwrap());
}

#[test]
fn a_run_is_written_as_one_sheet_that_overwrites_nothing() {
    let bench = Workbench::new();
    served(&bench, "release", "1ms", 2);
    bench.run(&["report", "release", "--summary", "sheet.html"]).ended_with(0).says("sheet.html");
    let sheet = fs::read_to_string(bench.path("sheet.html")).unwrap();
    for part in [" change the result?", "Reliability ", "Machine", "Command"] {
        assert!(sheet.contains(part), "{part} in {sheet}");
    }
    let again = bench.run(&["report", "release", "--summary", "sheet.html"]).ended_with(2);
    again.says("sheet.html already exists");
    let printed = bench.run(&["report", "release", "--summary", "-"]).ended_with(0);
    assert_eq!(printed.stdout, sheet);
}

#[test]
fn where_nothing_can_be_written_nothing_is_measured() {
    let bench = Workbench::new();
    study(&bench, &[], "");
    bench.write("theirs.xml", "theirs");
    for (options, problem) in [
        (
            &["--junit", "theirs.xml"][..],
            "theirs.xml already exists, and prony does not overwrite it: use another file",
        ),
        (&["--markdown", "later/c.md"], "directory later does not exist; create it, or use another one"),
        (
            &["--markdown", "c", "--junit", "./c"],
            "--markdown and --junit name the same file. Give each its own file",
        ),
        (&["--markdown", "-", "--junit", "-"], "--markdown and --junit name the same"),
        (&["--markdown", "-", "--json"], "--markdown - and --json both print to stdout"),
        (&["--junit", "-", "--csv"], "--junit - and --csv both print to stdout"),
    ] {
        bench.run(&[&["study", "run", "study.toml"], options].concat()).ended_with(2).says(problem);
    }
    assert_eq!(bench.results(), None);
    assert_eq!(fs::read_to_string(bench.path("theirs.xml")).unwrap(), "theirs");
    assert_eq!(bench.names("."), ["study.toml", "theirs.xml"], "nothing is left of the attempt");
    bench
        .run(&["compare", "a", "b", "--junit", "theirs.xml"])
        .ended_with(2)
        .says("prony does not overwrite it");
    bench
        .run(&["report", "latest", "--markdown", "later/c.md"])
        .ended_with(2)
        .says("directory later does not exist");
}

/// What was measured is not lost with the file that it was to be told in.
#[test]
fn a_file_that_somebody_else_made_meanwhile_stays_and_the_results_are_told() {
    let bench = Workbench::new();
    study(&bench, &[], "before = \"echo theirs > ci.xml\"");
    let outcome = bench.run(&["study", "run", "study.toml", "--junit", "ci.xml"]).ended_with(2);
    assert!(
        outcome.stderr.contains("ci.xml already exists, and prony does not overwrite it"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("To write them to another file: prony report prony-results/"),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stdout.is_empty(), "the report is printed all the same");
    assert_eq!(fs::read_to_string(bench.path("ci.xml")).unwrap(), "theirs\n");
    bench.run(&["report", "latest", "--junit", "mine.xml"]).ended_with(0);
}

/// A study is gone on with where it was begun, and its document is written where it was asked for.
#[test]
fn a_document_of_a_study_that_is_taken_up_is_where_it_was_asked_for() {
    let bench = Workbench::new();
    study(&bench, &[], "");
    bench.run(&["study", "run", "study.toml"]).ended_with(0);
    let results = bench.results().unwrap();
    fs::remove_dir_all(results.join("trials/0002")).unwrap();
    let manifest = results.join("manifest.json");
    let running =
        fs::read_to_string(&manifest).unwrap().replace("\"state\": \"complete\"", "\"state\": \"running\"");
    fs::write(&manifest, running).unwrap();
    fs::create_dir(bench.path("elsewhere")).unwrap();
    let mut command = bench.command(PRONY);
    command.current_dir(bench.path("elsewhere")).args(["study", "resume"]).arg(&results);
    command.args(["--junit", "ci.xml"]);
    finish(command).ended_with(0);
    let written = fs::read_to_string(bench.path("elsewhere/ci.xml")).unwrap();
    assert_eq!(ends(&written)[1..3], [0, 0], "{written}");
}
