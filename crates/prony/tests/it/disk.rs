//! `prony disk`: where parameters come from, forms of output, open loops.

use serde_json::Value;

use crate::workbench::Workbench;

/// A plan touches nothing, so that what it prints shows the settings.
#[track_caller]
fn planned_block(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let bench = Workbench::new();
    let arguments = [&["plan", "disk", ".", "--file-size", "16MiB"], arguments].concat();
    let outcome = bench.run_with(variables, &arguments).ended_with(0);
    let row = outcome.stdout.lines().find(|line| line.contains("% reads")).expect("a trial");
    row.split_whitespace().find(|word| word.ends_with("KiB")).unwrap().to_owned()
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_default() {
    let variable = [("PRONY_BLOCK_SIZE", "64KiB")];
    assert_eq!(planned_block(&[], &[]), "4KiB");
    assert_eq!(planned_block(&variable, &[]), "64KiB");
    assert_eq!(planned_block(&variable, &["--block-size", "8KiB"]), "8KiB");
}

#[test]
fn json_is_one_document_on_stdout_and_all_else_is_on_stderr() {
    let bench = Workbench::new();
    let arguments = ["disk", "x", "--engine", "simulated", "--duration", "2s", "--json"];
    let outcome = bench.run(&arguments).ended_with(0).says("Disk: 1 trial on x").says("report: ");
    let document = outcome.json();
    assert_eq!(document["format"], 1);
    assert!(outcome.stdout.starts_with('{') && outcome.stdout.ends_with("}\n"));
    assert!(!outcome.stderr.contains('{'), "{}", outcome.stderr);
    assert_eq!(document["trials"][0]["parameters"]["duration"], "2s");
}

#[test]
fn plans_touch_nothing() {
    let bench = Workbench::new();
    bench.run(&["plan", "disk", ".", "--profile", "quick", "--file-size", "16MiB"]).ended_with(0);
    bench.run(&["plan", "check", ".", "--file-size", "16MiB"]).ended_with(0);
    bench.run(&["plan", "disk", "new", "--create", "--file-size", "16MiB"]).ended_with(0);
    assert_eq!(bench.names("."), [""; 0]);
}

#[test]
fn real_reads_and_writes_are_counted_by_kind() {
    let bench = Workbench::new();
    let arguments = ["disk", ".", "--duration", "200ms", "--warm-up", "0s", "--file-size", "16MiB", "--json"];
    let mixed = ["--read-share", "50", "--flush-every", "8"];
    let document = bench.run(&[&arguments, &mixed[..], bench.cache()].concat()).ended_with(0).json();
    let kinds = kinds(&document["trials"][0]);
    for kind in ["read", "write", "flush"] {
        let count = kinds.iter().find(|(name, _)| name == kind).map_or(0, |(_, count)| *count);
        assert!(count > 0, "{kind}: {kinds:?}");
    }
    assert_eq!(bench.names("."), ["prony-results"]);
}

fn kinds(trial: &Value) -> Vec<(String, u64)> {
    let figures = trial["figures"].as_array().unwrap();
    let pair = |figures: &Value| {
        (figures["kind"].as_str().unwrap().to_owned(), figures["operations"].as_u64().unwrap())
    };
    figures.iter().map(pair).collect()
}

/// Operations measured and operations that were due and not sent, of a trial at 2000/s for 2 s without warm-up.
fn open_loop(engine: &str) -> (u64, u64) {
    let bench = Workbench::new();
    let arguments = ["--rate", "2000", "--duration", "2s", "--warm-up", "0s", "--json"];
    let outcome = bench.run(&[&["disk", "x", "--engine", engine], &arguments[..]].concat());
    // A stall of the machine makes it invalid, which is right and not what is tested here.
    assert!(matches!(outcome.code, Some(0 | 5)), "{outcome:?}");
    let document = outcome.json();
    let trial = &document["trials"][0];
    assert_eq!((&trial["measured_s"], &trial["offered_per_s"]), (&2.0.into(), &2000.0.into()));
    (trial["figures"][0]["operations"].as_u64().unwrap(), trial["unsent"].as_u64().unwrap())
}

#[test]
fn an_open_loop_keeps_its_rate() {
    // In virtual time no machine is in the way.
    assert_eq!(open_loop("simulated"), (4000, 0));
    // In real time every due operation is sent or counted as unsent; a machine that stalls in the last moment of the
    // window leaves some unsent, but not three times in a row.
    let kept = (0..3).any(|_| {
        let (operations, unsent) = open_loop("null");
        assert!((3999..=4001).contains(&(operations + unsent)), "{operations} done, {unsent} unsent");
        unsent <= 20
    });
    assert!(kept, "the rate was not kept within 0.5% in any of three runs");
}

#[test]
fn a_rate_beyond_the_device_is_not_held_and_its_arrears_are_counted() {
    let bench = Workbench::new();
    let arguments = ["--rate", "1000000", "--duration", "2s", "--warm-up", "0s", "--json"];
    let simulated = ["disk", "x", "--engine", "simulated", "--outstanding", "1"];
    let document = bench.run(&[&simulated, &arguments[..]].concat()).ended_with(3).json();
    let trial = &document["trials"][0];
    assert_eq!((&trial["state"], &trial["offered_rate"]["held"]), (&"complete".into(), &false.into()));
    let operations = trial["figures"][0]["operations"].as_u64().unwrap();
    // The device takes 100 µs for each; the last one may end with the window or in the drain after it.
    assert!((19_999..=20_000).contains(&operations), "{operations}");
    let due = operations + trial["unsent"].as_u64().unwrap();
    assert!((1_999_999..=2_000_000).contains(&due), "{due} accounted for");
    let verdicts = document["verdicts"].to_string();
    let sentence = "not sustained, 10,000 of 1,000,000 I/Os per second, 1,980,0";
    assert!(verdicts.contains(sentence), "{verdicts}");
    assert!(verdicts.contains("were never sent, the one outstanding I/O was in use"), "{verdicts}");
}

/// Every write waits for stable storage, one at a time: no disk takes two million of them a second. A machine without a
/// core to spare for the load thread would make it invalid, which is right and not what is tested here.
#[test]
fn a_real_file_does_not_hold_what_it_cannot() {
    let bench = Workbench::new();
    let options = ["--read-share", "0", "--write-through", "--outstanding", "1", "--rate", "2000000"];
    let short = ["disk", ".", "--file-size", "1MiB", "--duration", "2s", "--warm-up", "0s", "--json"];
    let outcome = bench.run(&[&short[..], &options, bench.cache()].concat());
    let told = outcome.stdout.clone();
    let busy = told.contains("client-limited: the busiest load thread");
    let outcome = outcome.ended_with(if busy { 5 } else { 3 });
    assert!(busy || outcome.stdout.contains("not sustained, "), "{told}");
}

/// A profile asks which rates are held, and an hour of one is an answer whatever it is.
#[test]
fn a_rate_that_a_device_holds_is_said_to_be_held() {
    let bench = Workbench::new();
    let arguments = ["disk", "x", "--engine", "simulated", "--rate", "5000", "--outstanding", "4", "--json"];
    let document = bench.run(&[&arguments[..], &["--duration", "5s"]].concat()).ended_with(0).json();
    assert_eq!(document["trials"][0]["offered_rate"]["held"], true);
    let verdicts = document["verdicts"].to_string();
    assert!(verdicts.contains(": sustained: 5,000 IOPS"), "{verdicts}");
}

#[test]
fn expectation_of_an_array_is_computed_and_compared() {
    let bench = Workbench::new();
    let arguments = ["disk", "x", "--engine", "simulated", "--duration", "10s", "--json"];
    let document =
        bench.run(&[&arguments[..], &["--expect", "100 x sas10k raid10"]].concat()).ended_with(0).json();
    let reads = &document["expectation"]["figures"][0];
    assert_eq!((&reads["what"], &reads["expected_per_s"]), (&"random read".into(), &14_000.0.into()));
    let off = reads["difference_share"].as_f64().unwrap();
    assert!((off - (10_000.0 / 14_000.0 - 1.0)).abs() < 1e-3, "{off}");
}
