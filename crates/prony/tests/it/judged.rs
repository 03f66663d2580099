//! What must hold of a run decides how the program ends.

use std::fs;

use serde_json::json;

use crate::workbench::Workbench;

const RUN: [&str; 6] = ["disk", "x", "--engine", "simulated", "--duration", "10s"];

#[test]
fn a_threshold_of_a_single_run_decides_the_exit_code() {
    let bench = Workbench::new();
    let run = |options: &[&str]| bench.run(&[&RUN, options].concat());
    // 100 µs an I/O, one at a time, without scatter: no interval.
    for (options, code, word) in [
        (&["--threshold", "iops > 9000", "--accept-single-run"][..], 0, "passed"),
        (&["--threshold", "iops > 9000", "--threshold", "p99_ms < 0.01", "--accept-single-run"], 3, "failed"),
        (&["--threshold", "cpu_us_per_operation < 100"], 4, "inconclusive"),
        (&["--threshold", "iops > 9000", "--repeats", "2"], 0, "passed"),
    ] {
        let outcome = run(options).ended_with(code);
        assert!(
            outcome.stdout.contains("\nThresholds\n") && outcome.stdout.contains(word),
            "{}",
            outcome.stdout
        );
    }
    let document = run(&["--threshold", "iops < 9000", "--accept-single-run", "--name", "slow", "--json"])
        .ended_with(3)
        .json();
    assert_eq!(document["thresholds"][0]["outcome"], json!("failed"));
    assert_eq!(document["comparison"], json!(null), "nothing is compared");
    // Judged again as it was.
    let again = bench.run(&["report", "slow"]);
    assert!(again.stdout.contains("Threshold (iops < 9000): failed: 10,000"), "{}", again.stdout);
    let brief = bench.run_with(&[("PRONY_DETAILS", "false")], &["report", "slow"]);
    assert!(brief.stdout.contains("Threshold    iops < 9000 failed"), "{}", brief.stdout);
}

#[test]
fn a_threshold_that_nothing_here_measures_is_answered_by_what_is_measured() {
    let bench = Workbench::new();
    let refused = |options: &[&str]| bench.run(&[&RUN, options].concat()).ended_with(2).stderr;
    for (options, problem) in [
        (
            &["--threshold", "p98 < 20"][..],
            "--threshold: this study does not measure `p98`. It measures iops, ",
        ),
        (
            &["--threshold", "records_per_s > 20"],
            "this study does not measure `records_per_s`. It measures iops, ",
        ),
        (&["--threshold", "p99_ms = 20"], "--threshold: `p99_ms = 20` is not a threshold"),
        (&["--threshold", "gain > 5%"], "this study compares nothing"),
        (&["--accept-single-run"], "--accept-single-run: no effect without a threshold"),
        (&["--threshold", "iops > 9", "--threshold", "iops < 5"], "contradict each other"),
    ] {
        let told = refused(options);
        assert!(told.contains(problem), "{options:?}: {told}");
    }
    // A threshold that is none is the mistake, and not what is said of it.
    let told = refused(&["--threshold", "p99_ms = 20", "--accept-single-run"]);
    assert!(!told.contains("without a threshold"), "{told}");
    assert_eq!(bench.results(), None);
}

#[test]
fn a_study_of_one_block_accepts_single_values_only_when_asked() {
    let bench = Workbench::new();
    let study = |more: &str| {
        format!(
            "blocks = 1\nthresholds = [\"mean_ms < 0.5\"]\n{more}\n[workload.disk]\nengine = \"simulated\"\n\
             duration = \"3s\"\n[target]\npaths = [\"x\"]\n[[axis]]\nkey = \"workload.disk.outstanding\"\nlevels = [1, 2]\n"
        )
    };
    bench.write("study.toml", study(""));
    bench.write("accepts.toml", study("accept_single = true"));
    bench.run(&["study", "run", "study.toml"]).ended_with(4);
    bench.run(&["study", "run", "study.toml", "--accept-single-run"]).ended_with(0);
    bench.run(&["study", "run", "accepts.toml"]).ended_with(0);
}

/// A study in virtual time, whose I/Os take so long by what no record tells: the workload is the same.
pub(crate) fn served(bench: &Workbench, name: &str, service: &str, blocks: u32) {
    let study = format!(
        "blocks = {blocks}\n[workload.disk]\nengine = \"simulated\"\nsimulated = {{ service = \"{service}\" }}\nduration = \"3s\"\n\
         [target]\npaths = [\"x\"]\n[[axis]]\nkey = \"workload.disk.outstanding\"\nlevels = [1, 2]\n"
    );
    bench.write("study.toml", study);
    bench.run(&["study", "run", "study.toml", "--name", name]).ended_with(0);
    let names = bench.names("prony-results");
    let own = names.iter().find(|own| own.ends_with(&format!("-study-{name}"))).unwrap();
    for trial in bench.names(format!("prony-results/{own}/trials")) {
        let path = bench.path(format!("prony-results/{own}/trials/{trial}/trial.json"));
        let told = fs::read_to_string(&path).unwrap();
        assert!(told.contains(&format!("\"service\": \"{service}\"")), "{told}");
        fs::write(&path, told.replace(&format!("\"{service}\""), "\"1ms\"")).unwrap();
    }
}

#[test]
fn a_change_beyond_its_limit_decides_the_exit_code() {
    let bench = Workbench::new();
    for (name, service, repeats) in
        [("release", "1ms", 4), ("slower", "2ms", 4), ("single", "1ms", 1), ("slow-single", "2ms", 1)]
    {
        served(&bench, name, service, repeats);
    }
    for (options, code, word) in [
        ("release|slower|--fail-if|p99_ms > +10%|--run-sd|1%", 3, "failed"),
        ("release|slower|--fail-if|p99_ms > +10%", 4, "not judged"),
        ("release|slower|--fail-if|p99_ms > +10%|--accept-single-run", 3, "failed"),
        ("release|slower|--fail-if|p99_ms > +2.5 ms|--fail-if|iops < -60%|--run-sd|1%", 0, "passed"),
        ("release|slower|--fail-if|p99_ms > +0.5|--fail-if|iops < -60%|--run-sd|1%", 3, "failed"),
        ("slower|--baseline|release|--fail-if|iops < -5%|--run-sd|1%", 3, "failed"),
        ("release|slower|--baseline|slower|--fail-if|iops < -5%|--run-sd|1%", 0, "passed"),
        ("single|slow-single|--fail-if|iops < -5%", 4, "not judged"),
        ("single|slow-single|--fail-if|iops < -5%|--accept-single-run", 3, "failed"),
        ("slow-single|single|--fail-if|iops < -5%|--accept-single-run", 0, "passed"),
    ] {
        let arguments: Vec<&str> = std::iter::once("compare").chain(options.split('|')).collect();
        let outcome = bench.run(&arguments).ended_with(code);
        let told = outcome.stdout.split("Limits of ").nth(1).unwrap_or_default();
        assert!(told.contains(word), "{options}: {}", outcome.stdout);
    }
}

#[test]
fn what_would_decide_between_two_single_runs_is_told_with_what_was_asked() {
    let bench = Workbench::new();
    for (name, service) in [("release", "1ms"), ("slower", "2ms")] {
        served(&bench, name, service, 4);
    }
    let compare = |options: &[&str]| bench.run(&[&["compare"], options].concat());
    let limit = ["release", "slower", "--fail-if", "iops < -5%", "--json"];
    let document = compare(&[&limit[..], &["--run-sd", "1%"]].concat()).ended_with(3).json();
    assert_eq!(document["against"][0]["gates"][0]["outcome"], json!("failed"));
    let document = compare(&limit).ended_with(4).json();
    let again = document["deciding"]["again"].as_array().unwrap();
    assert_eq!(again.len(), 5, "{again:?}");
    assert!(again[0].as_str().unwrap().ends_with("--name release-2"), "{again:?}");
    assert!(again[3].as_str().unwrap().ends_with("--name slower-3"), "{again:?}");
    assert_eq!(
        again[4],
        json!(
            "prony compare release release-2 release-3 --candidate slower slower-2 slower-3 --fail-if 'iops < -5%'"
        )
    );
    let with_spread = &document["deciding"]["with_spread"];
    assert_eq!(with_spread, &json!("prony compare release slower --run-sd 2% --fail-if 'iops < -5%'"));
}

#[test]
fn a_side_that_is_worse_than_the_baseline_decides_the_exit_code() {
    let bench = Workbench::new();
    for (name, service) in [("a1", "10ms"), ("b1", "20ms"), ("a2", "11ms"), ("b2", "22ms")] {
        served(&bench, name, service, 1);
    }
    let sides = ["compare", "a1", "a2", "--candidate", "b1", "b2", "--baseline"];
    bench.run(&[&sides[..], &["a2"]].concat()).ended_with(3);
    bench.run(&[&sides[..], &["b1"]].concat()).ended_with(0);
    bench.run(&[&sides[..], &["latest"]].concat()).ended_with(0);
    bench.run(&["compare", "b1", "--baseline", "a1", "--run-sd", "1%"]).ended_with(4);
    served(&bench, "other", "1ms", 1);
    bench.run(&[&sides[..], &["other"]].concat()).ended_with(2).says("is not among the runs");
}

#[test]
fn a_limit_that_is_none_is_answered_by_what_there_is() {
    let bench = Workbench::new();
    served(&bench, "one", "1ms", 1);
    served(&bench, "two", "1ms", 1);
    for (options, problem) in [
        (&["--fail-if", "p98 > +10%"][..], "unknown metric `p98`; did you mean `p98_ms`?"),
        (&["--fail-if", "speed > +10%"], "unknown metric `speed`; metrics are iops, "),
        (&["--fail-if", "p99_ms > 10%"], "has no sign: this limits a change"),
        (
            &["--fail-if", "records_per_s < -5%"],
            "--fail-if: no compared combination has the metric records_per_s. Available: iops, ",
        ),
        (&["--accept-single-run"], "--fail-if"),
    ] {
        let told = bench.run(&[&["compare", "one", "two"], options].concat()).ended_with(2).stderr;
        assert!(told.contains(problem), "{options:?}: {told}");
    }
}
