//! Ctrl-C, and what is left when the program is killed.

use std::fs;
use std::io::{ErrorKind, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use rustix::process::Signal;

use crate::running::Running;
use crate::workbench::{Workbench, json_file};

/// A trial of an hour that takes hardly any CPU.
const HOUR: [&str; 9] =
    ["disk", "x", "--engine", "null", "--duration", "1h", "--warm-up", "0s", "--rate=1000"];
/// Far longer than it takes to stop, far shorter than what would be waited for otherwise.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn the_first_signal_drains_saves_and_reports() {
    for signal in [Signal::INT, Signal::TERM] {
        let bench = Workbench::new();
        let mut run = Running::start(&bench, &HOUR);
        run.wait_for_samples(&bench);
        run.send(signal);
        let outcome = run.ended().ended_with(130).says("aborted: interrupted by the user").says("report: ");
        assert!(outcome.stdout.contains("aborted"), "{}", outcome.stdout);
        let results = bench.results().unwrap();
        assert!(results.join("report.html").exists());
        assert_eq!(json_file(results.join("manifest.json"))["state"], "aborted");
        let document = bench.report_json(&results);
        let trial = &document["trials"][0];
        assert_eq!((&document["state"], &trial["state"]), (&"aborted".into(), &"aborted".into()));
        assert!(trial["figures"][0]["operations"].as_u64().unwrap() > 0, "what was measured is kept");
    }
}

/// The trial cannot end while nobody reads what it prints, so that the second signal meets it still running.
#[test]
fn the_second_signal_aborts_at_once_and_the_directory_still_opens() {
    let bench = Workbench::new();
    let (mut run, unread, stderr) = Running::start_unread(&bench, &HOUR);
    run.wait_for_samples(&bench);
    fill(&stderr);
    // Two signals that come at once count as one, and nothing shows that the first was taken.
    let outcome = (0..200).find_map(|_| {
        run.send(Signal::INT);
        run.ended_within(Duration::from_millis(50))
    });
    drop(unread);
    outcome.expect("signals did not end it").ended_with(130);
    let results = bench.results().unwrap();
    assert!(!results.join("report.html").exists(), "it did not take the time for a report");
    assert_eq!(json_file(results.join("manifest.json"))["state"], "running");
    let again = bench.run(&["report", results.to_str().unwrap()]).ended_with(0);
    assert!(again.stdout.contains("trial 1 was cut off while it ran"), "{}", again.stdout);
    assert!(results.join("report.html").exists());
}

/// Fills a pipe. It is opened once more, since the child shares the flags of the pipe it was given.
fn fill(pipe: &PipeWriter) {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
    let mut own = fs::OpenOptions::new().write(true).custom_flags(flags).open(path).unwrap();
    // Byte by byte at the end: a longer write is refused where only part of it fits.
    for length in [4096, 1] {
        let full = loop {
            if let Err(error) = own.write(&[b'.'; 4096][..length]) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
    }
}

/// In `prony … 2>&1 | tee log`, Ctrl-C reaches tee too, which ends at once and leaves a pipe that nobody reads.
#[test]
fn a_reader_that_the_signal_ended_too_costs_no_report() {
    let bench = Workbench::new();
    let (mut run, reader, stderr) = Running::start_unread(&bench, &HOUR);
    run.wait_for_samples(&bench);
    drop((reader, stderr));
    run.send(Signal::INT);
    run.ended().ended_with(130);
    let results = bench.results().unwrap();
    assert_eq!(json_file(results.join("manifest.json"))["state"], "aborted");
    assert!(results.join("report.html").exists());
}

#[test]
fn a_killed_run_opens_and_says_which_trial_was_cut_off() {
    let bench = Workbench::new();
    let mut run = Running::start(&bench, &[&HOUR[..], &["--repeats", "2"]].concat());
    run.wait_for_samples(&bench);
    run.send(Signal::KILL);
    assert_eq!(run.ended().code, None);
    let results = bench.results().unwrap();
    let again = bench.run(&["report", results.to_str().unwrap()]).ended_with(0);
    assert!(again.stdout.contains("trial 1 was cut off while it ran"), "{}", again.stdout);
    let document = bench.report_json(&results);
    assert_eq!((&document["state"], &document["not_begun"]), (&"running".into(), &serde_json::json!([2])));
    assert!(document["trials"][0]["figures"][0]["operations"].as_u64().unwrap() > 0);
}

/// A thread once slept until its next operation was due, for a quarter of an hour if need be, and heard nothing.
#[test]
fn a_signal_is_heard_while_the_next_operation_is_far_off() {
    let wait = |engine: &'static str, pacing: [&'static str; 2]| {
        let bench = Workbench::new();
        bench.foreign("data", 1);
        let hour = ["disk", "data", "--cache", "buffered", "--duration", "1h", "--warm-up", "0s"];
        let mut run = Running::start(&bench, &[&hour[..], &["--engine", engine], &pacing].concat());
        run.wait_for_load(&bench);
        run.send(Signal::INT);
        run.ended_within(SOON).map(|outcome| outcome.code)
    };
    let (slow, thinking) = (["--rate", "0.001"], ["--think-time", "1h"]);
    let cases = [("null", slow), ("psync", slow), ("auto", slow), ("null", thinking), ("auto", thinking)];
    let cases =
        cases.map(|(engine, pacing)| std::thread::spawn(move || (engine, pacing, wait(engine, pacing))));
    for (engine, pacing, code) in cases.map(|case| case.join().unwrap()) {
        assert_eq!(code, Some(Some(130)), "{engine} {pacing:?} did not stop");
    }
}

#[test]
fn a_signal_in_a_pause_keeps_what_was_measured() {
    let bench = Workbench::new();
    let paused = ["--engine", "simulated", "--duration", "2s", "--repeats", "2", "--cooldown", "1h"];
    let mut run = Running::start(&bench, &[&["disk", "x"], &paused[..]].concat());
    run.wait_for_line("[1/2] ");
    run.send(Signal::INT);
    run.ended_within(SOON).expect("the pause did not end").ended_with(130);
    let document = bench.report_json(&bench.results().unwrap());
    assert_eq!((&document["state"], &document["not_begun"]), (&"aborted".into(), &serde_json::json!([2])));
    assert_eq!(document["trials"][0]["state"], "complete");
}

/// Starts a run that writes its test files for long, and waits until one of them is open and has no name.
fn start_filling(bench: &Workbench) -> Running {
    let filling = ["disk", ".", "--file-size", "64MiB", "--fill-passes", "100"];
    let mut run = Running::start(bench, &[&filling, bench.cache()].concat());
    let files = format!("/proc/{}/fd", run.id());
    let place = fs::canonicalize(bench.path(".")).unwrap();
    run.wait_until("a test file without a name", || {
        let links = fs::read_dir(&files).into_iter().flatten().flatten();
        links.filter_map(|link| fs::read_link(link.path()).ok()).any(|link| {
            link.parent() == Some(place.as_path()) && link.to_string_lossy().ends_with(" (deleted)")
        })
    });
    run
}

#[test]
fn a_run_killed_while_it_writes_test_files_leaves_none() {
    let bench = Workbench::new();
    let run = start_filling(&bench);
    run.send(Signal::KILL);
    assert_eq!(run.ended().code, None);
    assert_eq!(bench.names("."), ["prony-results", "stdout.txt"]);
    let results = bench.results().unwrap();
    bench.run(&["report", results.to_str().unwrap()]).ended_with(0);
}

#[test]
fn a_signal_while_test_files_are_written_interrupts_and_leaves_none() {
    let bench = Workbench::new();
    let run = start_filling(&bench);
    run.send(Signal::INT);
    run.ended().ended_with(130).says("interrupted");
    assert_eq!(bench.names("."), ["stdout.txt"], "nothing was measured, and nothing is left");
}

#[test]
fn a_directory_for_results_that_was_there_stays() {
    let bench = Workbench::new();
    fs::create_dir(bench.path("prony-results")).unwrap();
    let run = start_filling(&bench);
    run.send(Signal::INT);
    run.ended().ended_with(130);
    assert_eq!(bench.names("."), ["prony-results", "stdout.txt"], "it is the user's");
    assert_eq!(bench.names("prony-results"), [""; 0]);
}
