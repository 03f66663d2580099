//! Directories of every format that was ever released stay readable. The fixtures are never made again.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::path::Path;

use record::{MarkKind, MeasuredTrial, Outcome, Phase, Reading, SearchStep, Setup, State, StudyRecord};

fn read(name: &str) -> StudyRecord {
    results::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).unwrap()
}

/// Operations of the measured window by kind.
fn counts(trial: &MeasuredTrial) -> Vec<(&str, u64)> {
    trial.measured.iter().map(|(kind, operation)| (kind.as_str(), operation.count)).collect()
}

fn states(study: &StudyRecord) -> Vec<State> {
    study.trials.iter().map(|trial| trial.trial.state).collect()
}

#[test]
fn format_1_stays_readable() {
    let study = read("format-1");
    assert_eq!(study.damage, Vec::<String>::new());
    assert_eq!((study.manifest.format, study.manifest.state), (1, State::Complete));
    assert_eq!(study.manifest.started, "2026-11-21T07:30:00Z");
    assert!(study.study_toml.starts_with("title = "));
    let environment = study.environment.unwrap();
    assert_eq!(environment.system, Reading::Known("Debian GNU/Linux 12 (bookworm)".to_owned()));

    let [closed, open] = study.trials.as_slice() else { panic!("{} trials", study.trials.len()) };
    assert_eq!(closed.trial.name, "RND4K Q1T1");
    let phases: Vec<Phase> = closed.samples.iter().map(|sample| sample.phase).collect();
    assert_eq!(phases, [Phase::WarmUp, Phase::Measure, Phase::Measure, Phase::Measure, Phase::Drain]);
    assert_eq!(closed.resources.len(), 5);
    let reads = &closed.measured["read"];
    assert_eq!((reads.count, reads.errors, reads.bytes), (60, 3, 245_760));
    assert_eq!(reads.latency().count(), 80);
    assert!((reads.latency().mean_us().unwrap() / 89.5 - 1.0).abs() < 1e-3);
    assert!(reads.response.is_none());

    let Some(Setup::Disk(setup)) = &open.trial.setup else { panic!("no setup") };
    assert_eq!((setup.block_bytes, setup.outstanding), (4096, 8));
    let reads = &open.measured["read"];
    assert!((reads.response.as_ref().unwrap().mean_us().unwrap() / 99.5 - 1.0).abs() < 1e-3);
    assert!((reads.lag.as_ref().unwrap().mean_us().unwrap() / 19.5 - 1.0).abs() < 1e-3);
}

#[test]
fn a_historian_of_format_1_stays_readable() {
    let study = read("format-1-historian");
    assert_eq!((study.damage.as_slice(), study.manifest.state), (&[][..], State::Complete));
    let [trial] = study.trials.as_slice() else { panic!("{} trials", study.trials.len()) };
    let kinds = [("commit", 30), ("latest", 8), ("purge", 2), ("record", 1_200), ("trend", 2)];
    assert_eq!(counts(trial), kinds);
    assert_eq!(trial.trial.state, State::Complete);
    let Some(Setup::Historian(setup)) = &trial.trial.setup else { panic!("no setup") };
    assert_eq!((setup.engine.as_str(), setup.target.as_str()), ("sqlite", "sqlite:historian.db"));
    assert_eq!((setup.flush_rows, setup.tags, setup.readers.as_ref().unwrap().screen_tags), (40, 50, 3));
    let outcome = trial.trial.outcome.as_ref().and_then(Outcome::historian).unwrap();
    assert_eq!((outcome.acknowledged, outcome.rows_expected, outcome.rows_found), (1_500, 600, Some(600)));
    assert_eq!((outcome.maintenance.len(), outcome.purged), (2, 900));
    // It had no marks, one device and one volume without names.
    let marks: Vec<_> =
        trial.trial.marks.iter().map(|mark| (mark.kind, mark.begin_s, mark.planned)).collect();
    assert_eq!(marks, [(MarkKind::Purge, 2.001263727, true), (MarkKind::Purge, 4.000774459, true)]);
    let first = &trial.resources[0];
    assert_eq!(first.devices.keys().collect::<Vec<_>>(), ["device"]);
    assert_eq!(first.devices["device"].queue_depth, 2.2042265035131976);
    assert_eq!(first.machine.as_ref().unwrap().cpu_busy_share, [0.94, 0.96]);
    let volumes = study.environment.unwrap().volumes;
    assert_eq!(volumes.keys().collect::<Vec<_>>(), ["target"]);
    assert_eq!(volumes["target"].device.known().unwrap().name, "vda");
}

#[test]
fn an_order_store_of_format_1_stays_readable() {
    let study = read("format-1-orders");
    assert_eq!((study.damage.as_slice(), study.manifest.state), (&[][..], State::Complete));
    assert_eq!(states(&study), [State::Complete; 2]);
    let first = &study.trials[0];
    let kinds = [
        ("browse", 1_328),
        ("login", 384),
        ("new_customer", 80),
        ("order", 466),
        ("prices", 464),
        ("purchase", 466),
    ];
    assert_eq!(counts(first), kinds);
    let Some(Setup::Orders(setup)) = &first.trial.setup else { panic!("no setup") };
    assert_eq!((setup.n_threads, setup.targets[0].size.as_str()), (2, "1MB"));
    let outcome = first.trial.outcome.as_ref().and_then(Outcome::orders).unwrap();
    let target = &outcome.targets[0];
    assert_eq!((target.orders(), target.acknowledged(), target.orders_found), (466, 608, Some(608)));
}

#[test]
fn a_search_of_format_1_stays_readable() {
    let study = read("format-1-search");
    let rules = study.manifest.search.unwrap();
    assert_eq!((rules.start_per_s, rules.confirmations), (300.0, 1));
    let steps: Vec<SearchStep> = study.trials.iter().filter_map(|trial| trial.trial.search).collect();
    let probes = [300.0, 600.0, 1_200.0, 900.0, 750.0].map(|rate_per_s| SearchStep::Probe { rate_per_s });
    assert_eq!(steps, [&probes[..], &[SearchStep::Confirm { rate_per_s: 750.0 }]].concat());
    assert_eq!(study.trials[2].measured["record"].count, 4_000);
}

#[test]
fn a_design_of_format_1_stays_readable() {
    let study = read("format-1-design");
    let design = study.manifest.design.as_ref().unwrap();
    assert_eq!(
        (design.blocks, design.configurations.as_slice()),
        (6, &["one thread", "two threads"].map(str::to_owned)[..])
    );
    assert_eq!((design.axes[0].name.as_str(), design.axes[0].reference.as_str()), ("outstanding", "16"));
    let skipped = states(&study).into_iter().filter(|state| *state == State::Skipped).count();
    let aa = study.trials.iter().filter(|trial| trial.trial.aa).count();
    assert_eq!((study.trials.len(), skipped, aa), (30, 12, 6));
    let [two, ..] = &study.trials[2..] else { panic!("too few trials") };
    assert_eq!((two.trial.configuration.as_str(), two.measured["read"].count), ("two threads", 198));
}

#[test]
fn an_interruption_and_its_resumption_of_format_1_stay_readable() {
    let interrupted = read("format-1-interrupted");
    assert_eq!(interrupted.manifest.state, State::Running);
    assert_eq!(states(&interrupted), [State::Complete, State::Complete, State::Running]);
    let told = ["trial 3 was cut off before its first sample", "2 of 4 trials have ended"];
    told.iter().for_each(|told| assert!(interrupted.damage.concat().contains(told), "{interrupted:?}"));

    let resumed = read("format-1-resumed");
    assert_eq!(resumed.manifest.run, interrupted.manifest.run);
    assert_eq!((resumed.damage.as_slice(), states(&resumed)), (&[][..], vec![State::Complete; 4]));
    let [resumption] = resumed.manifest.resumed.as_slice() else { panic!("{:?}", resumed.manifest) };
    assert_eq!((resumption.from_trial, resumption.set_aside.as_slice()), (3, &[3][..]));
}
