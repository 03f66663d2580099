//! What is kept of an interrupted study, and that it ends as an undisturbed one does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use record::{Event, SearchStep};
use study::{LOOKS, Study};

use super::*;
use crate::{Context, Settled, no_look, run};
use database::RunId;

/// Two levels, the reference measured twice, three blocks in orders of their own; in virtual time.
const COMPARED: &str = r#"
    blocks = 6
    [workload.disk]
    engine = "simulated"
    simulated = { service = "10ms" }
    duration = "3s"
    [target]
    paths = ["/nowhere"]
    [[axis]]
    key = "workload.disk.outstanding"
    levels = [1, 4]
"#;

/// A study that compares nothing: what is missing alone is measured.
const PLAIN: &str = r#"
    blocks = 2
    compare = false
    [workload.disk]
    engine = "simulated"
    simulated = { service = "10ms" }
    duration = "2s"
    [target]
    paths = ["/nowhere"]
    [[axis]]
    key = "workload.disk.outstanding"
    levels = [1, 2, 4]
"#;

/// A series that ends where it gets too slow.
const SERIES: &str = r#"
    blocks = 2
    order = "given"
    latency_tolerance = "50ms"
    [workload.disk]
    engine = "simulated"
    simulated = { service = "10ms" }
    duration = "2s"
    [target]
    paths = ["/nowhere"]
    [[axis]]
    key = "workload.disk.outstanding"
    levels = [1, 4, 8, 16, 32]
"#;

/// A historian on a database that exists only in virtual time.
const HISTORIAN: &str = r#"
    blocks = 2
    [workload.historian]
    rate = 50
    warm_up = "2s"
    duration = "10s"
    screens = 0
    [target]
    url = "fake:?append=50ms"
    [[axis]]
    key = "workload.historian.flush_rows"
    levels = [40, 100]
"#;

/// Searches of a historian's rate, whose steps are not known beforehand.
const SEARCHES: &str = r#"
    blocks = 2
    noise_floor = false
    [search]
    start_per_s = 10.0
    resolution_per_cent = 20.0
    confirm = "15s"
    confirmations = 1
    cool_down = "0s"
    [workload.historian]
    warm_up = "2s"
    duration = "10s"
    screens = 0
    [target]
    url = "fake:?append=50ms"
    [[axis]]
    key = "workload.historian.flush_rows"
    levels = [1, 2]
"#;

/// Trials by which a study that ends once all is settled is: eight blocks of [`COMPARED`].
const SETTLED_BY: usize = 24;

/// What a study told until it ended, or until so many events were told. How often preparations are told depends on how fast
/// they are: they are left out.
fn told(study: &Study, resume: Option<&Resume>, events: usize) -> Vec<Event> {
    let plan = Plan::of(study).unwrap();
    let context = Context {
        program: std::path::PathBuf::new(),
        tool_version: "0".to_owned(),
        labels: record::Labels::default(),
        command: Vec::new(),
        lab: None,
        working_directory: None,
        run: RunId::new().unwrap(),
    };
    let told = RefCell::new(Vec::new());
    // By what is recorded alone, as a report judges.
    let kept = resume.map_or(0, |resume| resume.kept.len());
    let mut look = || {
        let ended = told.borrow().iter().filter(|event| matches!(event, Event::TrialFinished(_))).count();
        Ok(Settled { settled: usize::from(kept + ended >= SETTLED_BY), comparisons: 1 })
    };
    let _ = run(study, &plan, resume, &context, &AtomicBool::new(false), &mut look, &mut |event| {
        if told.borrow().len() == events {
            return Err("killed".into());
        }
        if !matches!(event, Event::Preparing(_)) {
            told.borrow_mut().push(event.clone());
        }
        Ok(())
    });
    told.into_inner()
}

/// What a results directory would hold after these events, over what it held before.
fn record(kept: Vec<MeasuredTrial>, events: &[Event]) -> StudyRecord {
    let mut trials: BTreeMap<u32, MeasuredTrial> =
        kept.into_iter().map(|trial| (trial.trial.number, trial)).collect();
    let mut windows: BTreeMap<u32, record::Window> = BTreeMap::new();
    let (mut manifest, mut environment) = (None, None);
    for event in events {
        match event {
            Event::StudyStarted { manifest: begun, environment: machine } => {
                (manifest, environment) = (Some(begun.clone()), Some(machine.clone()));
            }
            Event::StudyFinished(ended) => manifest = Some(ended.clone()),
            Event::TrialStarted(trial) => {
                trials.insert(trial.number, MeasuredTrial::new(trial.clone()));
            }
            Event::TrialFinished(trial) => {
                trials.entry(trial.number).or_insert_with(|| MeasuredTrial::new(trial.clone())).trial =
                    trial.clone();
            }
            Event::Interval { number, interval } => {
                let main = trials[number].trial.main.clone();
                windows.entry(*number).or_insert_with(|| record::Window::new(main)).add(interval);
                trials.get_mut(number).unwrap().samples.push(interval.sample());
            }
            _ => {}
        }
    }
    for (number, window) in windows {
        trials.get_mut(&number).unwrap().measured = window.kinds().clone();
    }
    StudyRecord {
        manifest: manifest.unwrap(),
        environment,
        study_toml: String::new(),
        trials: trials.into_values().collect(),
        damage: Vec::new(),
    }
}

/// What of the trials is the same whenever they are run.
fn figures(record: &StudyRecord) -> Vec<(String, State, Option<SearchStep>, Vec<u64>)> {
    let of = |trial: &MeasuredTrial| {
        let record = &trial.trial;
        let counts = trial.samples.iter().map(record::Sample::count).collect();
        let which = format!("{} of block {} at {:?}", record.number, record.block, record.levels);
        (which, record.state, record.search, counts)
    };
    record.trials.iter().map(of).collect()
}

/// Interrupts a study after every so many events, takes it up again, and sets it against the undisturbed one. Gives how often
/// it was interrupted.
fn interrupted_everywhere(text: &str, every: usize) -> usize {
    let study = Study::from_toml(text).unwrap();
    let plan = Plan::of(&study).unwrap();
    let undisturbed_events = told(&study, None, usize::MAX);
    for event in &undisturbed_events {
        let told = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<Event>(&told).unwrap(), event, "an event can travel");
    }
    let undisturbed = record(Vec::new(), &undisturbed_events);
    assert_eq!(undisturbed.manifest.state, State::Complete);
    let all = undisturbed_events.len();
    let points = (1..all - 1).step_by(every);
    for events in points.clone() {
        let before = record(Vec::new(), &told(&study, None, events));
        let in_flight = before.trials.iter().filter(|trial| trial.trial.state == State::Running).count();
        assert!(in_flight <= 1, "at most the trial in flight is lost");
        let mut resume = match Resume::of(&plan, before) {
            Ok(resume) => resume,
            // All trials had ended, and only the end of the study was not told.
            Err(error) => {
                assert_eq!(
                    (error, events + 2 >= all),
                    (ResumeError::Finished, true),
                    "after {events} events of {all}"
                );
                continue;
            }
        };
        let events_after = told(&study, Some(&resume), usize::MAX);
        let after = record(std::mem::take(&mut resume.kept), &events_after);
        assert_eq!(figures(&after), figures(&undisturbed), "interrupted after {events} events of {all}");
        assert_eq!(after.manifest.resumed.len(), 1);
        assert_eq!(after.manifest.state, State::Complete);
    }
    points.count()
}

#[test]
fn an_interrupted_study_ends_as_an_undisturbed_one() {
    assert!(interrupted_everywhere(COMPARED, 5) > 20);
    assert!(interrupted_everywhere(PLAIN, 3) > 10);
    assert!(interrupted_everywhere(SERIES, 3) > 10);
}

#[test]
fn a_study_ends_at_the_first_look_at_which_all_is_settled() {
    let text =
        |blocks: u32| COMPARED.replace("blocks = 6", &format!("blocks = {blocks}\nstop = \"when settled\""));
    let blocks = |text: &str| {
        let events = told(&Study::from_toml(text).unwrap(), None, usize::MAX);
        let looks = events.iter().filter_map(|event| match event {
            Event::Looked { blocks, blocks_max, settled, comparisons: 1 } => {
                Some((*blocks, *blocks_max, *settled))
            }
            _ => None,
        });
        let ended = events.iter().filter(|event| matches!(event, Event::TrialFinished(_))).count();
        (looks.collect::<Vec<_>>(), ended)
    };
    assert_eq!(blocks(&text(12)), (vec![(6, 12, 0), (7, 12, 0), (8, 12, 1)], 24));
    assert_eq!(blocks(&text(7)), (vec![(6, 7, 0)], 21), "the last block ends it, whatever it would settle");
    assert_eq!(blocks(COMPARED), (vec![], 18));
    assert!(interrupted_everywhere(&text(12), 7) > 15);
}

#[test]
fn a_study_that_cannot_be_judged_stands_as_far_as_it_came() {
    let text = COMPARED.replace("blocks = 6", "blocks = 9\nstop = \"when settled\"");
    let study = Study::from_toml(&text).unwrap();
    let context = Context {
        program: std::path::PathBuf::new(),
        tool_version: "0".to_owned(),
        labels: record::Labels::default(),
        command: Vec::new(),
        lab: None,
        working_directory: None,
        run: RunId::new().unwrap(),
    };
    let (plan, stop) = (Plan::of(&study).unwrap(), AtomicBool::new(false));
    let ended = run(&study, &plan, None, &context, &stop, &mut no_look, &mut |_| Ok(())).unwrap();
    let reason = "cannot check whether all comparisons are decided: no evaluation is set up";
    assert_eq!((ended.state, ended.reason.as_deref()), (State::Failed, Some(reason)));
}

#[test]
fn looks_are_those_that_statistics_know() {
    assert_eq!((*LOOKS.start(), *LOOKS.end()), (stats::BLOCKS_MIN as u32, stats::LOOKS_BLOCKS_MAX as u32));
}

#[test]
fn an_interrupted_study_of_a_database_ends_as_an_undisturbed_one() {
    assert!(interrupted_everywhere(HISTORIAN, 12) > 3);
}

#[test]
fn an_interrupted_study_of_searches_ends_as_an_undisturbed_one() {
    assert!(interrupted_everywhere(SEARCHES, 100) > 3);
}

#[test]
fn a_search_tells_before_each_step_what_it_may_still_take() {
    let study = Study::from_toml(SEARCHES).unwrap();
    let mut left: Option<(u32, f64, f64)> = None;
    let mut steps = 0;
    for event in told(&study, None, usize::MAX) {
        match event {
            Event::Searching { number, expected_s, at_most_s } => {
                assert!(expected_s > 0.0 && expected_s <= at_most_s, "{expected_s} of {at_most_s}");
                left = Some((number, expected_s, at_most_s));
            }
            Event::TrialStarted(trial) => {
                let (number, expected_s, _) = left.take().unwrap();
                assert_eq!(number, trial.number);
                assert!(expected_s >= trial.planned_s.unwrap(), "the step itself is part of it");
                steps += 1;
            }
            _ => {}
        }
    }
    assert!(steps > 12);
}

#[test]
fn a_search_that_was_begun_by_other_rules_goes_on_by_them() {
    let study = Study::from_toml(&SEARCHES.replace("confirmations = 1", "confirmations = 2")).unwrap();
    let plan = Plan::of(&study).unwrap();
    let mut begun = record(Vec::new(), &told(&study, None, 100));
    let mut rules = begun.manifest.search.unwrap();
    (rules.confirmations, rules.confirmations_of, rules.failures) = (4, 0, 1);
    begun.manifest.search = Some(rules);
    let resume = Resume::of(&plan, begun).unwrap();
    let after = record(Vec::new(), &told(&study, Some(&resume), usize::MAX));
    assert_eq!(after.manifest.search, Some(rules));
    let judged = |trial: &MeasuredTrial| trial.trial.setup.as_ref().and_then(|s| s.historian()?.cycle);
    assert!(after.trials.iter().all(|trial| judged(trial).is_none()), "and judged by them");
    let last = after.trials.iter().rev().map(|trial| trial.trial.search.unwrap());
    let confirming = last.take_while(|step| matches!(step, SearchStep::Confirm { .. })).count();
    assert_eq!(confirming, 4);
}

/// Trials that are measured again after an interruption in the middle of a trial.
fn again(text: &str, trial: u32) -> (Vec<u32>, usize) {
    let study = Study::from_toml(text).unwrap();
    let begins = |event: &Event| matches!(event, Event::TrialStarted(begun) if begun.number == trial);
    let events = told(&study, None, usize::MAX).iter().position(begins).unwrap() + 2;
    let resume =
        Resume::of(&Plan::of(&study).unwrap(), record(Vec::new(), &told(&study, None, events))).unwrap();
    (resume.set_aside().to_vec(), resume.trials())
}

#[test]
fn an_interrupted_block_is_measured_again_where_its_trials_are_compared() {
    assert_eq!(again(COMPARED, 5), (vec![4, 5], 15), "the second block of three trials, and four more");
    assert_eq!(again(PLAIN, 5), (vec![5], 2), "the trial in flight, and the one after it");
}

#[test]
fn what_failed_is_measured_again_and_what_came_to_its_end_is_not() {
    let study = Study::from_toml(PLAIN).unwrap();
    let plan = Plan::of(&study).unwrap();
    let mut ended = record(Vec::new(), &told(&study, None, usize::MAX));
    assert_eq!(Resume::of(&plan, ended.clone()).unwrap_err(), ResumeError::Finished);
    ended.trials[1].trial.state = State::Failed;
    ended.trials[2].trial.state = State::Invalid;
    let resume = Resume::of(&plan, ended.clone()).unwrap();
    assert_eq!(resume.set_aside(), [2]);
    ended.manifest.plan[0].name = "another".to_owned();
    assert!(matches!(Resume::of(&plan, ended), Err(ResumeError::OtherPlan { .. })));
}

#[test]
fn another_machine_is_told() {
    let study = Study::from_toml(PLAIN).unwrap();
    let plan = Plan::of(&study).unwrap();
    let mut begun = record(Vec::new(), &told(&study, None, 5));
    begun.environment.as_mut().unwrap().kernel = "2.6.32".to_owned();
    let resume = Resume::of(&plan, begun).unwrap();
    let after = record(Vec::new(), &told(&study, Some(&resume), usize::MAX));
    let differs = &after.manifest.resumed[0].differs;
    assert!(differs.len() == 1 && differs[0].starts_with("kernel was 2.6.32, but is now "), "{differs:?}");
}

#[test]
fn a_finished_study_of_searches_has_nothing_left_and_a_failed_one_is_done_again() {
    let study = Study::from_toml(SEARCHES).unwrap();
    let plan = Plan::of(&study).unwrap();
    let finished = record(Vec::new(), &told(&study, None, usize::MAX));
    assert_eq!(Resume::of(&plan, finished.clone()).unwrap_err(), ResumeError::Finished);
    let mut failed = finished;
    failed.manifest.state = State::Failed;
    failed.trials[0].trial.state = State::Failed;
    let resume = Resume::of(&plan, failed).unwrap();
    assert_eq!(
        resume.trials(),
        4,
        "the first block for what failed, the second since its last search may not have ended"
    );
}

#[test]
fn searches_that_are_not_compared_are_kept_but_for_the_last() {
    let apart = SEARCHES.replace("blocks = 2", "blocks = 2\n    order = \"repeats\"");
    let study = Study::from_toml(&apart).unwrap();
    let plan = Plan::of(&study).unwrap();
    let mut record = record(Vec::new(), &told(&study, None, usize::MAX));
    record.manifest.state = State::Aborted;
    assert_eq!(Resume::of(&plan, record).unwrap().trials(), 1);
}

#[test]
fn what_was_measured_otherwise_is_not_kept() {
    let study = Study::from_toml(PLAIN).unwrap();
    let record = record(Vec::new(), &told(&study, None, 12));
    let longer = Study::from_toml(&PLAIN.replace("\"2s\"", "\"3s\"")).unwrap();
    let other = Resume::of(&Plan::of(&longer).unwrap(), record);
    assert!(matches!(other, Err(ResumeError::OtherPlan { .. })));
}

/// A database that was edited in the study file of a results directory once mixed two servers in one study.
#[test]
fn another_target_than_the_one_that_was_measured_is_refused() {
    let measured = |text: &str| record(Vec::new(), &told(&Study::from_toml(text).unwrap(), None, 25));
    let edited = |text: &str, from: &str, to: &str| {
        let plan = Plan::of(&Study::from_toml(&text.replace(from, to)).unwrap()).unwrap();
        Resume::of(&plan, measured(text)).map(|_| ()).unwrap_err().to_string()
    };
    let url = edited(HISTORIAN, "append=50ms", "append=90ms");
    assert!(
        url.contains(": target.database.1.at was fake:?append=50ms, but is now fake:?append=90ms. Undo"),
        "{url}"
    );
    let name = edited(SEARCHES, "[target]", "[target]\n    database = \"other\"");
    assert!(name.contains(": target.database.1.name was not set, but is now other. Undo"), "{name}");
    let path = edited(PLAIN, "/nowhere", "/elsewhere");
    assert!(path.contains(": target.paths.1 was /nowhere, but is now /elsewhere. Undo"), "{path}");
    let kept = Study::from_toml(&HISTORIAN.replace("[target]", "[target]\n    keep = true")).unwrap();
    assert_eq!(Resume::of(&Plan::of(&kept).unwrap(), measured(HISTORIAN)).map(|_| ()), Ok(()));
}

/// Format 1 stored no target, and a study of it went on against whatever its file named by then.
#[test]
fn another_target_than_a_setup_of_format_1_tells_is_refused() {
    let study = Study::from_toml(HISTORIAN).unwrap();
    let mut measured = record(Vec::new(), &told(&study, None, 25));
    measured.trials.iter_mut().for_each(|trial| trial.trial.target = Value::Null);
    let resumed = |text: &str| {
        let plan = Plan::of(&Study::from_toml(text).unwrap()).unwrap();
        Resume::of(&plan, measured.clone()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(resumed(HISTORIAN), Ok(()));
    let other = resumed(&HISTORIAN.replace("append=50ms", "append=90ms")).unwrap_err();
    assert!(
        other.contains(": the target was fake:?append=50ms, but is now fake:?append=90ms. Undo"),
        "{other}"
    );
}

#[test]
fn what_was_loaded_is_compared_by_paths_and_addresses() {
    let first = |text: &str| Plan::of(&Study::from_toml(text).unwrap()).unwrap().trials.remove(0);
    let then = |of: &str| vec![of.to_owned()];
    let disk = first(PLAIN);
    assert_eq!(other_loaded(&then("/nowhere"), &disk), None);
    assert_eq!(other_loaded(&[], &disk), None, "nothing outside the process was loaded");
    let told = other_loaded(&then("/data, /more"), &disk);
    assert_eq!(told.as_deref(), Some("the target was /data, /more, but is now /nowhere"));
    let server = first(&HISTORIAN.replace("fake:?append=50ms", "postgres://u:secret@h/postgres"));
    assert_eq!(other_loaded(&then("postgres://u@h/prony_historian"), &server), None);
    let told = other_loaded(&then("postgres://u@h/plant"), &server).unwrap();
    assert_eq!(told, "the target was postgres://u@h/plant, but is now postgres://u@h/prony_historian");
}

/// Format 1 knew one volume, so that a log on another device was taken for a change of the machine.
#[test]
fn a_log_that_format_1_did_not_record_is_no_other_device() {
    let on = |source: &str| record::Storage {
        mount: Reading::Known(record::MountPoint {
            path: "/".to_owned(),
            file_system: "ext4".to_owned(),
            source: source.to_owned(),
            options: String::new(),
            block_bytes: 4096,
            free_bytes: 0,
        }),
        device: Reading::Unknown("not asked".to_owned()),
        layout: None,
    };
    let machine = |volumes: &[(&str, &str)]| {
        let study = Study::from_toml(PLAIN).unwrap();
        let mut environment = record(Vec::new(), &told(&study, None, 5)).environment.unwrap();
        environment.volumes = volumes.iter().map(|(name, source)| ((*name).to_owned(), on(source))).collect();
        environment
    };
    let plan = |text: &str| Plan::of(&Study::from_toml(text).unwrap()).unwrap();
    let told = |begun: &[(&str, &str)], now: &[(&str, &str)], plan: &Plan| {
        differences(&machine(begun), &machine(now), plan)
    };
    let (old, now) = ([("target", "/dev/sda")], [("data", "/dev/sda"), ("log", "/dev/sdb")]);
    assert_eq!(told(&old, &now, &plan(HISTORIAN)), [""; 0]);
    let moved = told(&[("target", "/dev/sdb")], &now, &plan(HISTORIAN));
    assert_eq!(moved, ["device was /dev/sdb, but is now /dev/sda"]);
    let both = told(&[("data", "/dev/sda")], &now, &plan(HISTORIAN));
    assert_eq!(
        both,
        ["device was /dev/sda, but is now /dev/sda, /dev/sdb"],
        "format 2 would have recorded it"
    );
    let paths = [("/a", "/dev/sdc"), ("/nowhere", "/dev/sda")];
    assert_eq!(told(&old, &paths, &plan(PLAIN)), [""; 0], "that of the first path");
}

#[test]
fn a_servers_limit_is_part_of_the_target() {
    let of = |memory: &str| serde_json::json!({"server": {"pg": {"memory": memory, "keep": memory}}});
    let told = ["target.server.pg.memory was 8GiB, but is now 4GiB"];
    assert_eq!(between(&of("8GiB"), &of("4GiB")), told);
}

/// The reference is measured once more, also where its series had ended before.
#[test]
fn the_noise_floor_is_measured_where_a_series_ends_early() {
    let study = Study::from_toml(&SERIES.replace("blocks = 2", "blocks = 6")).unwrap();
    let ended = record(Vec::new(), &told(&study, None, usize::MAX));
    let again: Vec<State> =
        ended.trials.iter().filter(|t| t.trial.aa).map(|trial| trial.trial.state).collect();
    assert_eq!(again, [State::Complete; 6]);
    assert!(ended.trials.iter().any(|trial| trial.trial.state == State::Skipped));
}
