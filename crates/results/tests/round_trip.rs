//! What a study tells is what is read back, and nothing that exists is overwritten.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod study;

use std::fs;
use std::path::Path;

use record::{Event, Latency, Mark, MarkKind, OperationInterval, State, StudyRecord};
use results::{Archive, Writer};
use study::{begin, environment, events, intervals, manifest, operation, trial, trial_events};

fn written(events: &[Event]) -> (tempfile::TempDir, Writer) {
    let parent = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(parent.path(), "small", None, begin(), "title = \"Small\"\n").unwrap();
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
    let due_before = open.then_some(15);
    OperationInterval { count: 60, errors: 3, bytes: 60 * 4096, rows: 60 * 3, due_before, ..reads }
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
        let counted = |tail: &record::Tail| tail.operations.iter().sum::<f64>();
        for (kind, tail) in &trial.tails.kinds {
            assert_eq!(
                counted(tail),
                trial.measured[kind].latency().count() as f64,
                "{kind}, with the drain"
            );
        }
        assert_eq!(trial.tails.main.as_ref().map(counted), Some(trial.latency().count() as f64));
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
    let mut writer = Writer::create(parent.path(), "small", None, begin(), "").unwrap();
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
        .map(|_| Writer::create(&nested, "check", None, begin(), "").unwrap())
        .map(|writer| writer.directory().file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["20261121T073000Z-check", "20261121T073000Z-check-2", "20261121T073000Z-check-3"]);
}

#[test]
fn a_report_and_verdicts_can_be_made_again() {
    let (_parent, writer) = written(&events());
    writer.archive().write_report("<p>first</p>").unwrap();
    writer.archive().write_verdicts("[]").unwrap();
    let again = Archive::open(writer.directory()).unwrap();
    again.write_report("<p>second</p>").unwrap();
    again.write_verdicts("[1]").unwrap();
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
    let error = Writer::create(&file, "check", None, begin(), "").unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot make the directory {}", file.display())), "{error}");
    assert!(error.contains("something else has this name"), "{error}");
}

fn started() -> Event {
    Event::StudyStarted { manifest: manifest(State::Complete), environment: environment() }
}

#[test]
fn a_study_is_taken_up_again_and_what_is_measured_again_is_put_aside() {
    let (_parent, writer) = written(&events());
    let directory = writer.directory().to_owned();
    let archive = Archive::open(&directory).unwrap();
    let held = Writer::reopen(&archive).unwrap_err().to_string();
    assert!(held.contains("another prony writes to it"), "{held}");
    drop(writer);
    let before = results::read(&directory).unwrap();

    for time in 1..=2 {
        let mut writer = Writer::reopen(&archive).unwrap();
        writer.keep(vec![1, 3]);
        assert_eq!(results::read(&directory).unwrap().trials.len(), 3, "nothing is touched before it begins");
        writer.accept(&started()).unwrap();
        let aside = directory.join(format!("trials/0002-aside-{time}/samples.ndjson"));
        assert!(aside.is_file(), "nothing is lost, time {time}");
        assert_eq!(results::read(&directory).unwrap().trials.len(), 2, "and nobody takes it for the trial");
        trial_events(2, true).iter().for_each(|event| writer.accept(event).unwrap());
    }
    let after = results::read(&directory).unwrap();
    assert_eq!((after.trials, after.damage), (before.trials, before.damage));
}

/// What trials are known by was the number that a directory is called by: years of photos were renamed.
#[test]
fn only_what_holds_a_trial_is_put_aside() {
    let (_parent, writer) = written(&events());
    let trials = writer.directory().join("trials");
    let archive = Archive::open(writer.directory()).unwrap();
    drop(writer);
    for (name, file) in [("2019", "photo.jpg"), ("2020", "trial.json"), ("2021", "trial.json")] {
        fs::create_dir(trials.join(name)).unwrap();
        fs::write(trials.join(name).join(file), "precious").unwrap();
    }
    fs::write(trials.join("2020/photo.jpg"), "precious").unwrap();
    fs::write(trials.join("2021/marks.ndjson"), "").unwrap();
    let mut of_another = trial(2022, State::Failed);
    of_another.number = 3;
    fs::create_dir(trials.join("2022")).unwrap();
    fs::write(trials.join("2022/trial.json"), serde_json::to_vec(&of_another).unwrap()).unwrap();
    fs::write(trials.join("2022/photo.jpg"), "precious").unwrap();
    fs::create_dir(trials.join("2023")).unwrap();
    fs::write(trials.join("2023/trial.json"), serde_json::to_vec(&of_another).unwrap()).unwrap();
    let mut writer = Writer::reopen(&archive).unwrap();
    writer.keep(vec![1]);
    writer.accept(&started()).unwrap();
    let mut left: Vec<String> = fs::read_dir(&trials)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    // A damaged record alone is a trial of ours that is measured again, also one whose number is wrong.
    let ours =
        ["0001", "0002-aside-1", "0003-aside-1", "2019", "2020", "2021-aside-1", "2022", "2023-aside-1"];
    assert_eq!(left, ours);
}

#[test]
fn a_directory_that_has_the_name_of_a_trial_is_named_and_stays() {
    let (_parent, writer) = written(&events()[..1]);
    let photos = writer.directory().join("trials/0001");
    fs::create_dir(&photos).unwrap();
    fs::write(photos.join("photo.jpg"), "precious").unwrap();
    let mut writer = writer;
    let events = trial_events(1, false);
    let started = events.iter().find(|event| matches!(event, Event::TrialStarted(_))).unwrap();
    let error = writer.accept(started).unwrap_err().to_string();
    assert!(error.contains("trials/0001: File exists") && error.contains("something else"), "{error}");
    assert_eq!(fs::read_dir(writer.directory().join("trials")).unwrap().count(), 1, "no draft is left");
    assert_eq!(fs::read(photos.join("photo.jpg")).unwrap(), b"precious");
}

/// The whole directory was removed by its name, with whatever had taken it and whatever was in it.
#[test]
fn a_study_that_did_not_begin_takes_back_what_it_made_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let create = || {
        let nested = parent.path().join("new/prony-results");
        let mut writer = Writer::create(&nested, "small", None, begin(), "").unwrap();
        writer.accept(&started()).unwrap();
        writer
    };
    create().discard();
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "not even the directory above");

    let writer = create();
    let theirs = writer.directory().join("notes.txt");
    fs::write(&theirs, "precious").unwrap();
    writer.discard();
    assert_eq!(fs::read(&theirs).unwrap(), b"precious");
    assert_eq!(fs::read_dir(theirs.parent().unwrap()).unwrap().count(), 1);
    fs::remove_dir_all(parent.path().join("new")).unwrap();

    let writer = create();
    let path = writer.directory().to_owned();
    fs::rename(&path, path.with_file_name("moved")).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("study.toml"), "theirs").unwrap();
    writer.discard();
    assert_eq!(fs::read(path.join("study.toml")).unwrap(), b"theirs");
    assert_eq!(fs::read_dir(path.with_file_name("moved")).unwrap().count(), 0);
}

#[test]
fn what_was_measured_is_not_taken_back() {
    let (_parent, writer) = written(&events());
    let directory = writer.directory().to_owned();
    writer.discard();
    assert_eq!(results::read(&directory).unwrap().trials.len(), 3);
}

/// Somebody swapped the directory while it was written: root wrote into a directory that only root may write to.
#[test]
fn a_directory_that_is_swapped_is_still_written_where_it_was_made() {
    let parent = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(parent.path(), "small", None, begin(), "").unwrap();
    let (path, moved) = (writer.directory().to_owned(), parent.path().join("moved"));
    fs::rename(&path, &moved).unwrap();
    fs::create_dir(parent.path().join("theirs")).unwrap();
    std::os::unix::fs::symlink(parent.path().join("theirs"), &path).unwrap();
    events().iter().for_each(|event| writer.accept(event).unwrap());
    writer.archive().write_report("<p>ours</p>").unwrap();
    assert_eq!(fs::read_dir(parent.path().join("theirs")).unwrap().count(), 0);
    assert_eq!(writer.read().unwrap().trials.len(), 3);
    assert!(moved.join("report.html").exists());
}

/// What went on beside the load is known also of a run that was killed, and of one that ended by its record alone.
#[test]
fn marks_of_a_killed_trial_are_read_with_the_ends_that_were_told() {
    let mark = |kind, begin_s, end_s| Mark::planned(kind, begin_s, end_s, "");
    let told = [
        mark(MarkKind::Purge, 1.0, None),
        mark(MarkKind::Outage, 1.5, None),
        mark(MarkKind::Purge, 1.0, Some(2.5)),
    ];
    let marks = told.map(|mark| Event::Mark { number: 1, mark });
    let mut all =
        vec![Event::StudyStarted { manifest: manifest(State::Running), environment: environment() }];
    let mut trial = trial_events(1, false);
    let ended = trial.pop().unwrap();
    all.extend(trial.into_iter().chain(marks));
    let read = |events: &[Event]| read_back(events).trials[0].trial.marks.clone();
    let known = vec![mark(MarkKind::Purge, 1.0, Some(2.5)), mark(MarkKind::Outage, 1.5, None)];
    assert_eq!(read(&all), known);
    let Event::TrialFinished(mut record) = ended else { panic!("{ended:?}") };
    record.marks = vec![mark(MarkKind::Purge, 1.0, Some(2.5))];
    all.push(Event::TrialFinished(record.clone()));
    assert_eq!(read(&all), record.marks);
}
