//! Directories of every format that was ever released stay readable. The fixtures are never made again.

use std::path::Path;

use record::{Phase, Reading, Setup, State};

#[test]
fn format_1_stays_readable() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-1");
    let study = results::read(&directory).unwrap();
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
