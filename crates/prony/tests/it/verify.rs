//! `prony verify`: on files that are sound, and on files that are damaged beneath it, cut off, or left by a killed prony.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use rustix::process::Signal;
use serde_json::Value;

use crate::running::Running;
use crate::workbench::{Outcome, Workbench};

/// Where the pages of a test file of ours begin, and how large they are.
const DATA_BEGIN: u64 = 1 << 20;
const PAGE: u64 = 8192;

/// A run on one named file of 512 pages.
fn arguments<'a>(bench: &Workbench, rest: &[&'a str]) -> Vec<&'a str> {
    let file = ["verify", "data", "--create", "--file-size", "4MiB"];
    [&file, rest, bench.cache()].concat()
}

fn classes(document: &Value) -> Vec<(String, u64)> {
    let findings = document["trials"][0]["verified"]["findings"].as_array().unwrap();
    let of =
        |finding: &Value| (finding["damage"].as_str().unwrap().to_owned(), finding["page"].as_u64().unwrap());
    let mut classes: Vec<_> = findings.iter().map(of).collect();
    classes.sort();
    classes
}

#[test]
fn what_is_sound_is_told_so_and_all_of_it_was_looked_at() {
    let bench = Workbench::new();
    let rest = ["--profile", "quick", "--duration", "2s", "--audit-every", "1s", "--threads", "2", "--json"];
    let outcome = bench.run(&[&["verify", ".", "--file-size", "8MiB"], &rest[..], bench.cache()].concat());
    let document = outcome.ended_with(0).json();
    let verified = &document["trials"][0]["verified"];
    assert_eq!((&verified["pages"], &verified["checked"]), (&1024.into(), &1024.into()), "{verified:#}");
    assert_eq!(
        (&verified["is_audited"], &verified["damage"]),
        (&true.into(), &Value::Object(Default::default()))
    );
    assert!(verified["audits"].as_u64().unwrap() >= 2 && verified["checks_least"].as_u64().unwrap() >= 1);
    assert!(verified["written"].as_u64().unwrap() > 0, "{verified:#}");
    let sentence =
        document["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["rule"] == "verified");
    let sentence = sentence.unwrap()["sentence"].as_str().unwrap();
    assert!(sentence.contains("pages written and read, 0 damaged, 0 stalls over 15 s"), "{sentence}");
    assert!(!bench.results().unwrap().join("findings").exists());
}

#[test]
fn psync_and_small_pages_verify_as_well() {
    let bench = Workbench::new();
    for rest in [["--engine", "psync", "--block-size", "4KiB"], ["--profile", "log", "--block-size", "64KiB"]]
    {
        let all = [&rest[..], &["--duration", "300ms", "--json"]].concat();
        let outcome = bench.run(&[&["verify", ".", "--file-size", "4MiB"], &all[..], bench.cache()].concat());
        let document = outcome.ended_with(0).json();
        let verified = &document["trials"][0]["verified"];
        assert_eq!(verified["pages"], verified["checked"], "{verified:#}");
    }
}

/// Reads only, so that what is done to the file is not written over before it is read.
fn damaged(bench: &Workbench, damage: impl FnOnce(&File)) -> Outcome {
    let rest = ["--duration", "2s", "--read-share", "100", "--json"];
    let mut run = Running::start(bench, &arguments(bench, &rest));
    run.wait_for_samples(bench);
    damage(&File::options().read(true).write(true).open(bench.path("data")).unwrap());
    run.ended()
}

fn page(file: &File, number: u64) -> Vec<u8> {
    let mut page = vec![0; PAGE as usize];
    file.read_exact_at(&mut page, DATA_BEGIN + number * PAGE).unwrap();
    page
}

fn put(file: &File, number: u64, page: &[u8]) {
    file.write_all_at(page, DATA_BEGIN + number * PAGE).unwrap();
}

#[test]
fn what_is_damaged_beneath_a_run_is_found_and_told_what_it_is() {
    let bench = Workbench::new();
    let outcome = damaged(&bench, |file| {
        put(file, 3, &[0; PAGE as usize]);
        let mut flipped = page(file, 10);
        flipped[5_000] ^= 0x20;
        put(file, 10, &flipped);
        let (a, b) = (page(file, 20), page(file, 21));
        put(file, 20, &b);
        put(file, 21, &a);
        let mut foreign = page(file, 30);
        foreign[4_096..].copy_from_slice(&b"somebody".repeat(512));
        put(file, 30, &foreign);
    });
    let document = outcome.ended_with(1).json();
    let wanted =
        [("corrupt", 10), ("corrupt", 30), ("misdirected_write", 20), ("misdirected_write", 21), ("zero", 3)];
    assert_eq!(classes(&document), wanted.map(|(class, page)| (class.to_owned(), page)));
    let reason = document["trials"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("5 pages are not what was written"), "{reason}");
    let findings = bench.results().unwrap().join("findings");
    let all: Vec<String> = fs::read_dir(&findings)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(all.len(), 5);
    let flipped = all.iter().find(|text| text.contains("page 10 of")).unwrap();
    assert!(flipped.contains("1 bit differs from version 1: bit 5 of byte 5000"), "{flipped}");
    let foreign = all.iter().find(|text| text.contains("page 30 of")).unwrap();
    assert!(foreign.contains("did not write; they are not shown"), "{foreign}");
    assert!(!foreign.contains("736f6d65"), "nobody's data is in the bundle: {foreign}");
}

#[test]
fn a_file_that_is_cut_off_beneath_a_run_is_a_finding_and_no_hang() {
    let bench = Workbench::new();
    let outcome = damaged(&bench, |file| file.set_len(DATA_BEGIN + 300 * PAGE).unwrap());
    let document = outcome.ended_with(1).json();
    let classes = classes(&document);
    assert!(
        !classes.is_empty() && classes.iter().all(|(class, page)| class == "not_read" && *page >= 284),
        "{classes:?}"
    );
}

#[test]
fn a_killed_run_left_what_it_acknowledged_and_what_is_gone_is_found() {
    let bench = Workbench::new();
    let journal = ["--journal", "journal"];
    let rest = [&["--duration", "1h", "--profile", "log"][..], &journal].concat();
    let mut run = Running::start(&bench, &arguments(&bench, &rest));
    run.wait_for_samples(&bench);
    run.send(Signal::KILL);
    drop(run.ended());
    let look =
        |file: &str, journal: &str| bench.run(&["verify", file, "--after-crash", "--journal", journal]);
    let sound = look("data", "journal").ended_with(0).stdout;
    assert!(sound.starts_with("512 pages looked at: all of the "), "{sound}");
    let file = File::options().read(true).write(true).open(bench.path("data")).unwrap();
    put(&file, 7, &page(&file, 8));
    let told = look("data", "journal").ended_with(1).stdout;
    assert!(
        told.contains("what was acknowledged is lost") && told.contains("page 7 of 8192 bytes"),
        "{told}"
    );
    file.set_len(DATA_BEGIN + 100 * PAGE).unwrap();
    let told = look("data", "journal").ended_with(1).stdout;
    assert!(told.contains("the file ends after 0 bytes of it"), "{told}");
    // Neither a journal that is none nor a second run in one is taken.
    let none = bench.foreign("none", 1);
    assert!(!none.is_empty());
    look("data", "none").ended_with(2).says("is no journal of prony verify");
    look("data", "missing").ended_with(2).says("missing: No such file");
}

#[test]
fn a_journal_is_of_one_run_on_files_with_names() {
    let bench = Workbench::new();
    let rest = ["--duration", "100ms", "--file-size", "4MiB", "--journal", "journal"];
    let unnamed = [&["verify", "."], &rest[..], bench.cache()].concat();
    bench.run(&unnamed).ended_with(1).says("have no names").says("with --create");
    assert!(!bench.path("journal").exists());
    let once = arguments(&bench, &["--duration", "100ms", "--journal", "journal"]);
    bench.run(&once).ended_with(0);
    bench.run(&once).ended_with(1).says("a journal is of one run").says("--after-crash");
}

#[test]
fn an_interrupted_run_says_what_it_did_not_look_at() {
    let bench = Workbench::new();
    let mut run = Running::start(&bench, &arguments(&bench, &["--duration", "1h"]));
    run.wait_for_samples(&bench);
    run.send(Signal::INT);
    run.ended().ended_with(130);
    let document = bench.report_json(&bench.results().unwrap());
    let trial = &document["trials"][0];
    assert_eq!(trial["verified"]["is_audited"], false);
    assert!(
        trial["notes"][0].as_str().unwrap().starts_with("The load ended before the last audit"),
        "{trial:#}"
    );
}

#[test]
fn what_cannot_be_verified_is_refused() {
    let bench = Workbench::new();
    let refused = |rest: &[&str], text: &str| {
        bench.run(&[&["verify", "."], rest].concat()).ended_with(2).says(text);
    };
    refused(&["--rate", "100"], "rate: has no meaning for a test that checks its pages");
    refused(&["--block-size", "128KiB"], "pages that are verified have at most 64KiB");
    refused(&["--engine", "null"], "stores nothing that could be verified");
    refused(&["--audit-every", "10ms"], "is too short: give at least 1s");
    refused(&["--after-crash"], "--journal");
    bench.run(&["disk", ".", "--stall", "2s"]).ended_with(2).says("is of a test that checks its pages");
}

#[test]
fn a_configuration_of_sqliosim_is_taken_over_and_each_option_told() {
    let bench = Workbench::new();
    let text = "[CONFIG]\r\nTestCycles=2\r\nTestCycleDuration=30\r\nNoBuffering=FALSE\r\n[RandomUser]\r\nUserCount=8\r\n";
    bench.write("sqliosim.cfg.ini", text);
    let plan = ["plan", "verify", ".", "--sqliosim-config", "sqliosim.cfg.ini", "--json"];
    let outcome =
        bench.run(&plan).ended_with(0).says("UserCount=8: not mapped: users are a part of the profile");
    let parameters = &outcome.json()["trials"][0]["parameters"];
    assert_eq!(
        (&parameters["duration"], &parameters["audit_every"]),
        (&"1m".into(), &"30s".into()),
        "{parameters}"
    );
    assert_eq!((&parameters["cache"], &parameters["verify"]), (&"buffered".into(), &"sqliosim".into()));
    bench.write("sqliosim.cfg.ini", "[CONFIG]\nTestCycles=x\n");
    bench.run(&plan).ended_with(2).says("line 2: TestCycles: `x` is no whole number");
}
