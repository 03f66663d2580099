//! What a study tells is what is read back, and nothing that exists is overwritten.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod study;

use std::fs;
use std::path::Path;

use record::{Event, Latency, OperationInterval, State, StudyRecord};
use results::Writer;
use study::{begin, environment, events, intervals, manifest, operation, trial, trial_events};

fn written(events: &[Event]) -> (tempfile::TempDir, Writer) {
    let parent = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(parent.path(), "small", begin(), "title = \"Small\"\n").unwrap();
    events.iter().for_each(|event| writer.accept(event).unwrap());
    (parent, writer)
}

fn read_back(events: &[Event]) -> StudyRecord {
    let (_parent, writer) = written(events);
    results::read(writer.directory()).unwrap()
}

/// The read operations of three measured seconds and, for latencies, of the drain.
fn measured_reads(open: bool) -> OperationInterval {
    let mut reads = OperationInterval::default();
    (0..4).for_each(|_| reads.merge(&operation(20, open)));
    OperationInterval { count: 60, errors: 3, bytes: 60 * 4096, ..reads }
}

#[test]
fn a_study_is_read_back_as_it_was_told() {
    let study = read_back(&events());
    assert_eq!(study.damage, Vec::<String>::new());
    assert_eq!(study.manifest, manifest(State::Complete));
    assert_eq!(study.environment, Some(environment()));
    assert_eq!(study.study_toml, "title = \"Small\"\n");
    let numbers: Vec<u32> = study.trials.iter().map(|trial| trial.trial.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    for (measured, open) in study.trials.iter().zip([false, true]) {
        let samples: Vec<_> = intervals(open).iter().map(record::Interval::sample).collect();
        assert_eq!(measured.samples, samples);
        assert_eq!(measured.resources.len(), samples.len());
        assert!(measured.trial.setup.is_some());
    }
}

#[test]
fn counts_are_of_the_measured_window_and_latencies_of_the_drain_too() {
    let study = read_back(&events());
    for (trial, open) in study.trials.iter().zip([false, true]) {
        assert_eq!(trial.measured["read"], measured_reads(open), "open loop: {open}");
        assert_eq!(trial.measured["write"].count, 30);
        assert_eq!(trial.measured["write"].latency().count(), 30, "no write was in flight at the end");
    }
}

#[test]
fn an_open_loop_keeps_service_time_and_lag_apart() {
    let study = read_back(&events());
    let closed = &study.trials[0].measured["read"];
    let open = &study.trials[1].measured["read"];
    assert_eq!((closed.response.is_some(), closed.lag.is_some()), (false, false));
    assert_eq!(open.lag.as_ref().map(Latency::count), Some(80));
    assert!(open.latency().min_us() > open.service.min_us());
}

#[test]
fn a_skipped_trial_is_a_record_alone() {
    let (_parent, writer) = written(&events());
    let files = fs::read_dir(writer.directory().join("trials/0003")).unwrap().count();
    assert_eq!(files, 1);
    let skipped = &results::read(writer.directory()).unwrap().trials[2];
    assert_eq!(skipped.trial.reason.as_deref(), Some("latency tolerance passed"));
    assert!(skipped.samples.is_empty() && skipped.measured.is_empty());
}

#[test]
fn a_running_study_can_be_read_after_every_event() {
    let all = events();
    let parent = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(parent.path(), "small", begin(), "").unwrap();
    for (index, event) in all.iter().enumerate() {
        writer.accept(event).unwrap();
        let study = results::read(writer.directory()).unwrap();
        let finished = index == all.len() - 1;
        assert_eq!(study.damage.is_empty(), finished, "after event {index}: {:?}", study.damage);
    }
}

#[test]
fn a_killed_trial_tells_how_much_of_it_is_kept() {
    let started = Event::StudyStarted { manifest: manifest(State::Running), environment: environment() };
    for (events_of_trial, kept) in [
        (2, "trial 1 was cut off before its first sample"),
        (4, "trial 1 was cut off while it ran: 1 second of samples is kept"),
        (8, "trial 1 was cut off while it ran: 3 seconds of samples are kept"),
    ] {
        let mut told = vec![started.clone()];
        told.extend(trial_events(1, false).into_iter().take(events_of_trial));
        let study = read_back(&told);
        let unfinished = "the study was cut off, or is still running: 0 of 3 trials have ended";
        assert_eq!(study.damage, [kept, unfinished]);
        assert_eq!(study.trials[0].trial.state, State::Running);
    }
}

#[test]
fn a_trial_that_never_began_leaves_no_damage() {
    let mut all = events();
    let failed = record::TrialRecord { reason: Some("no space".to_owned()), ..trial(2, State::Failed) };
    all.retain(|event| !matches!(event, Event::TrialStarted(record) if record.number == 2));
    all.retain(|event| match event {
        Event::TrialSetUp { number, .. }
        | Event::Interval { number, .. }
        | Event::Resources { number, .. } => *number != 2,
        Event::TrialFinished(record) => record.number != 2,
        _ => true,
    });
    all.insert(all.len() - 1, Event::TrialFinished(failed));
    assert_eq!(read_back(&all).damage, Vec::<String>::new());
}

#[test]
fn a_directory_that_exists_is_never_overwritten() {
    let parent = tempfile::tempdir().unwrap();
    let nested = parent.path().join("prony-results");
    let names: Vec<String> = (0..3)
        .map(|_| Writer::create(&nested, "check", begin(), "").unwrap())
        .map(|writer| writer.directory().file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["20261121T073000Z-check", "20261121T073000Z-check-2", "20261121T073000Z-check-3"]);
}

#[test]
fn a_report_and_verdicts_can_be_made_again() {
    let (_parent, writer) = written(&events());
    writer.write_report("<p>first</p>").unwrap();
    writer.write_verdicts("[]").unwrap();
    results::write_report(writer.directory(), "<p>second</p>").unwrap();
    results::write_verdicts(writer.directory(), "[1]").unwrap();
    assert_eq!(fs::read_to_string(writer.directory().join("report.html")).unwrap(), "<p>second</p>");
    assert_eq!(fs::read_to_string(writer.directory().join("verdicts.json")).unwrap(), "[1]");
    assert_eq!(results::read(writer.directory()).unwrap().damage, Vec::<String>::new());
}

#[test]
fn no_temporary_file_is_left() {
    fn names(directory: &Path, into: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            into.push(entry.file_name().to_string_lossy().into_owned());
            if entry.path().is_dir() {
                names(&entry.path(), into);
            }
        }
    }
    let (_parent, writer) = written(&events());
    let mut all = Vec::new();
    names(writer.directory(), &mut all);
    assert!(all.iter().all(|name| !name.starts_with('.')), "{all:?}");
}

#[test]
fn a_parent_that_is_a_file_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("prony-results");
    fs::write(&file, "").unwrap();
    let error = Writer::create(&file, "check", begin(), "").unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot create {}", file.display())), "{error}");
    assert!(error.contains("something else has this name"), "{error}");
}

fn started() -> Event {
    Event::StudyStarted { manifest: manifest(State::Complete), environment: environment() }
}

#[test]
fn a_study_is_taken_up_again_and_what_is_measured_again_is_put_aside() {
    let (_parent, writer) = written(&events());
    let directory = writer.directory().to_owned();
    let held = Writer::reopen(&directory).unwrap_err().to_string();
    assert!(held.contains("another prony writes to it"), "{held}");
    drop(writer);
    let before = results::read(&directory).unwrap();

    for time in 1..=2 {
        let mut writer = Writer::reopen(&directory).unwrap();
        writer.keep(vec![1, 3]);
        assert_eq!(results::read(&directory).unwrap().trials.len(), 3, "nothing is touched before it begins");
        writer.accept(&started()).unwrap();
        let aside = directory.join(format!("trials/0002-aside-{time}/samples.ndjson"));
        assert!(aside.is_file(), "nothing is lost, time {time}");
        assert_eq!(results::read(&directory).unwrap().trials.len(), 2, "and nobody takes it for the trial");
        trial_events(2, true).iter().for_each(|event| writer.accept(event).unwrap());
    }
    // A trial may have been begun and not yet have a record.
    fs::create_dir(directory.join("trials/0004")).unwrap();
    let mut writer = Writer::reopen(&directory).unwrap();
    writer.keep(vec![1, 2, 3]);
    writer.accept(&started()).unwrap();
    assert!(directory.join("trials/0004-aside-1").is_dir());
    let after = results::read(&directory).unwrap();
    assert_eq!((after.trials, after.damage), (before.trials, before.damage));
}
