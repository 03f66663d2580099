//! What must hold of a run decides how the program ends.

use serde_json::json;

use crate::workbench::Workbench;

const RUN: [&str; 6] = ["disk", "x", "--engine", "simulated", "--duration", "10s"];

#[test]
fn a_threshold_of_a_single_run_decides_the_exit_code() {
    let bench = Workbench::new();
    let run = |options: &[&str]| bench.run(&[&RUN, options].concat());
    // 100 µs an I/O, one at a time, without scatter: no interval.
    for (options, code, word) in [
        (&["--threshold", "iops > 9000", "--accept-single"][..], 0, "held"),
        (&["--threshold", "iops > 9000", "--threshold", "p99_ms < 0.01", "--accept-single"], 3, "failed"),
        (&["--threshold", "cpu_us_per_operation < 100"], 4, "inconclusive"),
        (&["--threshold", "iops > 9000", "--repeats", "2"], 0, "held"),
    ] {
        let outcome = run(options).ended_with(code);
        assert!(
            outcome.stdout.contains("\nThresholds\n") && outcome.stdout.contains(word),
            "{}",
            outcome.stdout
        );
    }
    let document = run(&["--threshold", "iops < 9000", "--accept-single", "--name", "slow", "--json"])
        .ended_with(3)
        .json();
    assert_eq!(document["thresholds"][0]["outcome"], json!("failed"));
    assert_eq!(document["comparison"], json!(null), "nothing is compared");
    // Judged again as it was.
    let again = bench.run(&["report", "slow"]);
    assert!(again.stdout.contains("The threshold iops < 9000 failed: 10,000"), "{}", again.stdout);
    let brief = bench.run_with(&[("PRONY_DETAILS", "false")], &["report", "slow"]);
    assert!(brief.stdout.contains("The threshold iops < 9000 failed"), "{}", brief.stdout);
}

#[test]
fn a_threshold_that_nothing_here_measures_is_answered_by_what_is_measured() {
    let bench = Workbench::new();
    let refused = |options: &[&str]| bench.run(&[&RUN, options].concat()).ended_with(2).stderr;
    for (options, problem) in [
        (
            &["--threshold", "p98_ms < 20"][..],
            "--threshold: `p98_ms` is no metric that this study measures; it measures iops, ",
        ),
        (
            &["--threshold", "records_per_s > 20"],
            "`records_per_s` is no metric that this study measures; it measures iops, ",
        ),
        (&["--threshold", "p99_ms = 20"], "--threshold: `p99_ms = 20` is no threshold"),
        (&["--threshold", "gain > 5 %"], "nothing is compared here"),
        (&["--accept-single"], "--accept-single: has no meaning without a threshold"),
        (&["--threshold", "iops > 9", "--threshold", "iops < 5"], "contradict each other"),
    ] {
        let told = refused(options);
        assert!(told.contains(problem), "{options:?}: {told}");
    }
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
    bench.run(&["study", "run", "study.toml", "--accept-single"]).ended_with(0);
    bench.run(&["study", "run", "accepts.toml"]).ended_with(0);
}
