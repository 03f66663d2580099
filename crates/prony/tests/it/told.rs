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
        .says("PRONY_QUIET has no effect: --quiet is accepted on the command line only");
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
        ("start: told", 1),
        ("command before trial 1: sleep 0.3: took 0.", 1),
        (": starts, 3.00 s of load", 2),
        (": warm-up from 0.0 s of load", 2),
        (": measuring from 1.0 s of load", 2),
        (": complete after ", 2),
        ("end: complete", 1),
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

/// An old name still works, and a note gives the new name.
#[test]
fn an_old_name_works_with_a_note() {
    let bench = Workbench::new();
    let note = "note: PRONY_PAUSE is now called PRONY_COOLDOWN";
    bench.run_with(&[("PRONY_PAUSE", "1s")], &["plan", "disk", "."]).ended_with(0).says(note);
    let both = [("PRONY_PAUSE", "1s"), ("PRONY_COOLDOWN", "2s")];
    let set = bench.run_with(&both, &["plan", "disk", "."]).ended_with(0);
    assert_eq!(set.stderr, "PRONY_PAUSE has no effect: use PRONY_COOLDOWN for --pause\n");
    let note = "note: prony reporting is now called prony analytics";
    bench.run(&["plan", "reporting", "--target", "sqlite:r.db"]).ended_with(0).says(note);
    let new = bench.run(&["plan", "disk", ".", "--cooldown", "1s"]).ended_with(0);
    let old = bench.run(&["plan", "disk", ".", "--pause", "1s"]).ended_with(0);
    assert_eq!((old.stdout, &*old.stderr), (new.stdout, "note: --pause is now called --cooldown\n"));
    assert_eq!(new.stderr, "");
}

#[test]
fn a_dry_run_prints_the_plan_and_writes_nothing() {
    let bench = Workbench::new();
    for arguments in [
        &["disk", ".", "--read-share", "70", "--no-fill"][..],
        &["historian", "--target", "sqlite:h.db", "--no-index"],
        &["orders", "run", "--target", "sqlite:o.db", "--poisson", "--rate", "60/min"],
        &["orders", "load", "--target", "sqlite:o.db", "--size", "1MB", "--threads", "2"],
    ] {
        let plan = bench.run(&[&["plan"], arguments].concat()).ended_with(0).stdout;
        let dry = bench.run(&[arguments, &["--dry-run"]].concat()).ended_with(0).stdout;
        assert_eq!(dry, plan, "{arguments:?}");
    }
    assert!(bench.results().is_none());
}
