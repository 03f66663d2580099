//! Prony is stopped while it measures: what it could not measure then is not told as the database's or the disk's doing.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::running::Running;
use crate::workbench::{Outcome, Workbench, json_file};

/// Ten times what is allowed in so short a window.
const STOPPED: Duration = Duration::from_secs(1);

/// Runs prony, stops it for a second once it has measured one, and lets it go on to its end.
fn stopped_meanwhile(bench: &Workbench, arguments: &[&str]) -> Outcome {
    let mut run = Running::start(bench, arguments);
    run.wait_for_samples(bench);
    run.send(Signal::STOP);
    let status = format!("/proc/{}/stat", run.id());
    run.wait_until("a stop", || fs::read_to_string(&status).unwrap().contains(") T "));
    let begin = Instant::now();
    run.wait_until("the end of a stop", || begin.elapsed() >= STOPPED);
    run.send(Signal::CONT);
    run.ended()
}

/// The trial is invalid, and says why by what was measured.
#[track_caller]
fn is_the_clients(bench: &Workbench, outcome: Outcome) {
    let outcome = outcome.ended_with(5);
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let reason = trial["reason"].as_str().unwrap();
    assert_eq!(trial["state"], "invalid");
    assert!(reason.contains("client-limited: the load generator itself stood still for "), "{reason}");
    assert!(outcome.stdout.contains("invalid: "), "{}", outcome.stdout);
    let samples = fs::read_to_string(bench.results().unwrap().join("trials/0001/samples.ndjson")).unwrap();
    let longest_ms = samples.lines().map(|line| {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        sample["generator_pauses"]["longest_ms"].as_f64().unwrap()
    });
    let longest_ms = longest_ms.fold(0.0, f64::max);
    // The watching thread may have been about to wake when it was stopped.
    assert!(longest_ms > 900.0, "{longest_ms} ms");
}

#[test]
fn a_stop_during_an_open_loop_on_a_disk_is_the_clients() {
    let bench = Workbench::new();
    bench.foreign("data", 1);
    let arguments = ["disk", "data", "--cache", "buffered", "--duration", "4s", "--warm-up", "0s"];
    let outcome = stopped_meanwhile(&bench, &[&arguments[..], &["--rate", "200"]].concat());
    is_the_clients(&bench, outcome);
}

#[test]
fn a_stop_during_a_closed_loop_on_a_disk_is_the_clients() {
    let bench = Workbench::new();
    bench.foreign("data", 1);
    let arguments = ["disk", "data", "--cache", "buffered", "--duration", "4s", "--warm-up", "0s"];
    let outcome = stopped_meanwhile(&bench, &[&arguments[..], &["--think-time", "5ms"]].concat());
    is_the_clients(&bench, outcome);
}

/// An open loop was valid, and the 3 s of the stop were told as the longest answer of the database; a closed one was called
/// noisy.
#[test]
fn a_stop_during_a_run_of_orders_is_the_clients() {
    let short = ["orders", "run", "--target", "sqlite:o.db", "--warmup-time", "0s", "--run-time", "4s"];
    for pacing in [&["--think-time", "10ms"][..], &["--rate", "600/min"]] {
        let bench = Workbench::new();
        bench.run(&["orders", "load", "--size", "1MB", "--target", "sqlite:o.db"]).ended_with(0);
        let outcome = stopped_meanwhile(&bench, &[&short[..], pacing].concat());
        is_the_clients(&bench, outcome);
    }
}

#[test]
fn a_stop_during_a_historian_is_the_clients() {
    let short = ["historian", "--target", "sqlite:h.db", "--warm-up", "0s", "--duration", "4s"];
    for rate in ["max", "500"] {
        let bench = Workbench::new();
        let outcome = stopped_meanwhile(&bench, &[&short[..], &["--rate", rate, "--screens", "0"]].concat());
        is_the_clients(&bench, outcome);
    }
}

#[test]
fn virtual_time_has_no_pauses() {
    let bench = Workbench::new();
    bench.run(&["disk", "x", "--engine", "simulated", "--duration", "5s"]).ended_with(0);
    let samples = fs::read_to_string(bench.results().unwrap().join("trials/0001/samples.ndjson")).unwrap();
    assert!(
        samples.contains("generator_busiest_share") && !samples.contains("generator_pauses"),
        "{samples}"
    );
}
