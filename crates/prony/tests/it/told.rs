//! How much is told on stderr: nothing but errors with `--quiet`, what is done and when with `--verbose`.

use crate::workbench::Workbench;

const SHORT: [&str; 6] = ["disk", "x", "--engine", "simulated", "--duration", "2s"];

/// A script had to throw stderr away, and the errors with it.
#[test]
fn a_quiet_run_tells_its_result_alone() {
    let bench = Workbench::new();
    let told = bench.run(&[&SHORT[..], &["--repeats", "2", "-q"]].concat()).ended_with(0);
    assert_eq!(told.stderr, "");
    assert!(told.stdout.contains("finding"), "{}", told.stdout);
    let load = ["orders", "load", "--size", "1MB", "--target", "sqlite:o.db", "--quiet"];
    assert_eq!(bench.run(&load).ended_with(0).stderr, "");
    // What has no effect would be missed as an error is, and errors are told as ever.
    bench
        .run_with(&[("PRONY_QUIET", "1")], &SHORT)
        .ended_with(0)
        .says("PRONY_QUIET is set and has no effect: --quiet is taken from the command line alone");
    let refused = bench.run(&load).ended_with(2);
    assert!(refused.stderr.starts_with("error: "), "{}", refused.stderr);
}

#[test]
fn a_verbose_run_tells_what_is_done_and_when() {
    let bench = Workbench::new();
    bench.write(
        "study.toml",
        r#"
        title = "told"
        blocks = 2
        compare = false
        before = "sleep 0.3"
        [workload.disk]
        engine = "simulated"
        warm_up = "1s"
        duration = "2s"
        [target]
        paths = ["x"]
        "#,
    );
    let told = bench.run(&["study", "run", "study.toml", "--verbose"]).ended_with(0).stderr;
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("     ")).collect();
    for line in &lines {
        assert!(line[..8].trim().parse::<f64>().is_ok() && &line[8..12] == " s  ", "{line}");
    }
    for (what, times) in [
        ("begins: told", 1),
        ("command before trial 1: sleep 0.3: took 0.", 1),
        (": begins, a load of 3.00 s", 2),
        (": warm-up from 0.0 s of the load on", 2),
        (": measuring from 1.0 s of the load on", 2),
        (": complete after ", 2),
        ("ends: complete", 1),
    ] {
        let count = lines.iter().filter(|line| line.contains(what)).count();
        assert_eq!(count, times, "{what}:\n{told}");
    }
}

#[test]
fn quiet_and_verbose_contradict_each_other() {
    let bench = Workbench::new();
    bench.run(&[&SHORT[..], &["-q", "-v"]].concat()).ended_with(2).says("'--quiet'").says("'--verbose'");
    assert_eq!(bench.results(), None);
}
