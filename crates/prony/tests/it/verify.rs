//! `prony verify`: on files that are sound, and on files that are damaged beneath it, cut off, or left by a killed prony.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt;

use rustix::process::Signal;
use serde_json::Value;

use crate::running::Running;
use crate::workbench::{Outcome, Workbench, json_file};

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
    let outcome = outcome.ended_with(0).says("reading all pages again");
    let document = outcome.json();
    let verified = &document["trials"][0]["verified"];
    assert_eq!((&verified["pages"], &verified["checked"]), (&1024.into(), &1024.into()), "{verified:#}");
    assert_eq!(
        (&verified["is_audited"], &verified["damage"]),
        (&true.into(), &Value::Object(Default::default()))
    );
    assert!(verified["audits"].as_u64().unwrap() >= 2 && verified["checks_least"].as_u64().unwrap() >= 1);
    assert!(verified["written"].as_u64().unwrap() > 0, "{verified:#}");
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let mark = &trial["marks"][0];
    assert_eq!((&mark["kind"], &mark["planned"]), (&"audit".into(), &true.into()));
    let (begin_s, end_s) = (mark["begin_s"].as_f64().unwrap(), mark["end_s"].as_f64().unwrap());
    assert!((1.0..2.0).contains(&begin_s) && end_s > begin_s, "{mark}");
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
    assert!(foreign.contains("did not write (not shown)"), "{foreign}");
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
    assert!(sound.starts_with("512 pages checked: all "), "{sound}");
    let file = File::options().read(true).write(true).open(bench.path("data")).unwrap();
    put(&file, 7, &page(&file, 8));
    let told = look("data", "journal").ended_with(1).stdout;
    assert!(told.contains("Acknowledged data is lost") && told.contains("page 7 of 8192 bytes"), "{told}");
    file.set_len(DATA_BEGIN + 100 * PAGE).unwrap();
    let told = look("data", "journal").ended_with(1).stdout;
    assert!(told.contains("the file ends after only 0 bytes of this page"), "{told}");
    // Neither a journal that is none nor a second run in one is taken.
    let none = bench.foreign("none", 1);
    assert!(!none.is_empty());
    look("data", "none").ended_with(2).says("not a journal of prony verify");
    look("data", "missing").ended_with(2).says("missing: No such file");
}

/// A server of a journal, and where it is.
fn journal_server(bench: &Workbench) -> (Running, String) {
    let mut server = Running::start(bench, &["verify", "kept", "--serve-journal", "127.0.0.1:0"]);
    let address = server.word_of_line("127.0.0.1:");
    (server, address)
}

#[test]
fn a_journal_on_another_host_outlives_a_killed_run() {
    let bench = Workbench::new();
    let (server, address) = journal_server(&bench);
    // Whoever comes by and is no run is refused, and the run is taken after it.
    let mut stranger = std::net::TcpStream::connect(&address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let rest = ["--duration", "1h", "--profile", "log", "--threads", "2", "--journal", &address];
    let mut run = Running::start(&bench, &arguments(&bench, &rest));
    run.wait_for_samples(&bench);
    run.send(Signal::KILL);
    drop(run.ended());
    let kept = server.ended().ended_with(0);
    assert!(
        kept.stderr.contains("was refused: the client is not a prony verify of this version"),
        "{}",
        kept.stderr
    );
    assert!(kept.stderr.contains("writes its journal here"), "{}", kept.stderr);
    let look = |journal: &str| bench.run(&["verify", "data", "--after-crash", "--journal", journal]);
    let told = look("kept").ended_with(0).stdout;
    assert!(told.starts_with("512 pages checked: all "), "{told}");
    assert!(!told.contains("all of the 0 writes"), "{told}");
    look(&address).ended_with(2).says("Copy the file from there, and give the copy");
    let file = File::options().read(true).write(true).open(bench.path("data")).unwrap();
    put(&file, 7, &page(&file, 8));
    assert!(look("kept").ended_with(1).stdout.contains("page 7 of 8192 bytes"));
}

#[test]
fn a_run_whose_journal_is_gone_ends_and_says_so() {
    for (signal, says) in
        [(Signal::KILL, "it closed the connection"), (Signal::STOP, "it did not answer for 10 s")]
    {
        let bench = Workbench::new();
        let (server, address) = journal_server(&bench);
        let rest = ["--duration", "1h", "--journal", &address];
        let mut run = Running::start(&bench, &arguments(&bench, &rest));
        run.wait_for_samples(&bench);
        server.send(signal);
        let ended = run.ended().ended_with(1);
        let text = format!("journal cannot be written: journal at {address}: ");
        assert!(ended.stderr.contains(&text) || ended.stdout.contains(&text), "{ended:?}");
        let lost = [says, "Connection reset by peer", "Broken pipe"];
        assert!(lost.iter().any(|lost| format!("{ended:?}").contains(lost)), "{signal:?}: {ended:?}");
        server.send(Signal::KILL);
        drop(server.ended());
    }
}

#[test]
fn a_journal_that_cannot_be_kept_elsewhere_is_refused_before_the_load() {
    let bench = Workbench::new();
    bench.write("kept", "somebody's");
    let (server, address) = journal_server(&bench);
    let rest = ["--duration", "1s", "--journal", &address];
    bench.run(&arguments(&bench, &rest)).ended_with(1).says("kept already exists");
    server.send(Signal::TERM);
    server.ended().ended_with(0).says("no run connected");
    assert_eq!(fs::read(bench.path("kept")).unwrap(), b"somebody's");
    bench
        .run(&arguments(&bench, &rest))
        .ended_with(1)
        .says(&format!("journal {address}: Connection refused"));
    let several = ["verify", "a", "b", "--serve-journal", "127.0.0.1:0"];
    bench.run(&several).ended_with(2).says("Give one PATH");
    bench
        .run(&["verify", "a", "--serve-journal", "nonsense"])
        .ended_with(2)
        .says("cannot listen at nonsense");
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
    bench.run(&once).ended_with(1).says("each run needs its own journal").says("--after-crash");
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
    refused(&["--rate", "100"], "rate: no effect in a test that checks its pages");
    refused(&["--block-size", "128KiB"], "the maximum for verified pages is 64KiB");
    refused(&["--engine", "null"], "this engine stores nothing to verify");
    refused(&["--audit-every", "10ms"], "too short: must be at least 1s");
    refused(&["--after-crash"], "--journal");
    refused(&["--flush-honesty", "--journal", "j"], "cannot be used with");
    refused(&["--flush-honesty", "--stall", "2s"], "applies only to a test that checks its pages");
    bench
        .run(&["disk", ".", "--stall", "2s"])
        .ended_with(2)
        .says("applies only to a test that checks its pages");
}

#[test]
fn what_a_flush_takes_is_told_with_its_evidence() {
    let bench = Workbench::new();
    let rest = ["--flush-honesty", "--duration", "100ms", "--warm-up", "0s", "--file-size", "4MiB"];
    let outcome = bench.run(&[&["verify", "."], &rest[..], bench.cache()].concat()).ended_with(0);
    assert!(outcome.stdout.contains("Cost of durable writes"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("Flush honesty"), "{}", outcome.stdout);
    let document = bench.report_json(&bench.results().unwrap());
    let verdicts = document["verdicts"].as_array().unwrap();
    let told: Vec<&Value> = verdicts.iter().filter(|verdict| verdict["rule"] == "flush_honesty").collect();
    // On a busy disk the ways of flushing can disagree, which adds one verdict.
    assert!(matches!(told.len(), 2 | 3), "{verdicts:#?}");
    let evidence: Vec<&str> = told.iter().map(|verdict| verdict["sentence"].as_str().unwrap()).collect();
    let evidence = evidence.join(" ");
    for part in
        ["Flushes, means: write 4KiB with O_DSYNC: ", "; the same 4KiB with O_DSYNC: ", "; the kernel "]
    {
        assert!(evidence.contains(part), "{part}: {evidence}");
    }
}

#[test]
fn a_configuration_of_sqliosim_is_taken_over_and_each_option_told() {
    let bench = Workbench::new();
    let text = "[CONFIG]\r\nTestCycles=2\r\nTestCycleDuration=30\r\nNoBuffering=FALSE\r\n[RandomUser]\r\nUserCount=8\r\n";
    bench.write("sqliosim.cfg.ini", text);
    let plan = ["plan", "verify", ".", "--sqliosim-config", "sqliosim.cfg.ini", "--json"];
    let outcome = bench
        .run(&plan)
        .ended_with(0)
        .says("line 6: [RandomUser] UserCount=8: not mapped: users are a part of the profile sqliosim");
    let parameters = &outcome.json()["trials"][0]["parameters"];
    assert_eq!(
        (&parameters["duration"], &parameters["audit_every"]),
        (&"1m".into(), &"30s".into()),
        "{parameters}"
    );
    assert_eq!((&parameters["cache"], &parameters["verify"]), (&"buffered".into(), &"sqliosim".into()));
    bench.write("sqliosim.cfg.ini", "[CONFIG]\nTestCycles=x\n");
    bench.run(&plan).ended_with(2).says("line 2: [CONFIG] TestCycles=x: `x` is not a whole number");
}
