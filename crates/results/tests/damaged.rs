//! A directory that a killed program, a full disk or a careless hand left behind is still read.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod study;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use results::{ReadError, Writer};
use study::{begin, events};

fn complete() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(parent.path(), "small", None, begin(), "").unwrap();
    events().iter().for_each(|event| writer.accept(event).unwrap());
    let directory = writer.directory().to_owned();
    (parent, directory)
}

fn cut(path: &Path, length: usize) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length as u64).unwrap();
}

/// Lengths to cut a file to, falling: around each end of a line, and many between.
fn cuts(whole: &[u8]) -> Vec<usize> {
    let near_line_end = |length: usize| whole[length.saturating_sub(2)..(length + 1)].contains(&b'\n');
    (0..whole.len()).rev().filter(|&length| length % 29 == 0 || near_line_end(length)).collect()
}

#[test]
fn a_data_file_cut_anywhere_is_read_up_to_its_last_whole_line() {
    for name in ["samples.ndjson", "resources.ndjson", "latency.hlog"] {
        let (_parent, directory) = complete();
        let path = directory.join("trials/0002").join(name);
        let whole = fs::read(&path).unwrap();
        for length in cuts(&whole) {
            cut(&path, length);
            let study = results::read(&directory).unwrap();
            let at_line_end = length == 0 || whole[length - 1] == b'\n';
            let told = study.damage.contains(&format!("trial 2: the last line of {name} was cut off"));
            assert_eq!(told, !at_line_end, "{name} cut to {length}: {:?}", study.damage);
            assert_eq!(study.trials.len(), 3);
            if name == "samples.ndjson" {
                let lines = whole[..length].iter().filter(|&&byte| byte == b'\n').count();
                assert_eq!(study.trials[1].samples.len(), lines);
            }
        }
    }
}

#[test]
fn figures_of_a_cut_log_are_of_the_seconds_that_are_kept() {
    let (_parent, directory) = complete();
    let path = directory.join("trials/0001/latency.hlog");
    let whole = fs::read(&path).unwrap();
    cut(&path, whole.len() - 10);
    let study = results::read(&directory).unwrap();
    assert_eq!(
        study.damage,
        [
            "trial 1: the last line of latency.hlog was cut off",
            "trial 1: latency.hlog lacks 1 of 9 histograms"
        ]
    );
    let reads = &study.trials[0].measured["read"];
    assert_eq!((reads.count, reads.latency().count()), (60, 60), "the drain's 20 latencies are lost");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_in_any_file_are_never_a_panic(
        file in prop::sample::select(vec![
            "environment.json", "study.toml", "trials/0001/trial.json", "trials/0001/samples.ndjson",
            "trials/0001/resources.ndjson", "trials/0001/latency.hlog", "manifest.json",
        ]),
        share in 0.0f64..1.0,
        junk in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (_parent, directory) = complete();
        let path = directory.join(file);
        let mut content = fs::read(&path).unwrap();
        let at = (content.len() as f64 * share) as usize;
        for (offset, byte) in junk.iter().enumerate().take(content.len() - at) {
            content[at + offset] = *byte;
        }
        fs::write(&path, content).unwrap();
        match results::read(&directory) {
            Ok(study) => prop_assert!(study.trials.len() >= 2),
            Err(error) => prop_assert!(file == "manifest.json", "{error}"),
        }
    }
}

#[test]
fn every_missing_file_is_named() {
    for (file, told) in [
        ("environment.json", "environment.json is missing"),
        ("study.toml", "study.toml is missing"),
        ("trials/0001/trial.json", "trial 1: trial.json is missing"),
        ("trials/0001/samples.ndjson", "trial 1: samples.ndjson is missing"),
        ("trials/0001/resources.ndjson", "trial 1: resources.ndjson is missing"),
        ("trials/0001/latency.hlog", "trial 1: latency.hlog is missing"),
    ] {
        let (_parent, directory) = complete();
        fs::remove_file(directory.join(file)).unwrap();
        let study = results::read(&directory).unwrap();
        assert!(study.damage.iter().any(|sentence| sentence == told), "{file}: {:?}", study.damage);
    }
    let (_parent, directory) = complete();
    fs::remove_dir_all(directory.join("trials")).unwrap();
    assert_eq!(results::read(&directory).unwrap().damage, ["trials is missing"]);
}

#[test]
fn a_bad_line_in_the_middle_costs_that_line_alone() {
    let (_parent, directory) = complete();
    let path = directory.join("trials/0001/samples.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&path, format!("{}\n{{\"end_s\":\n{}\n", lines[0], lines[2..].join("\n"))).unwrap();
    let study = results::read(&directory).unwrap();
    assert_eq!(study.trials[0].samples.len(), 4);
    assert!(
        study.damage[0].starts_with("trial 1: line 2 of samples.ndjson is left out: "),
        "{:?}",
        study.damage
    );
    assert!(
        study.damage[1].contains("latency.hlog is left out, and 1 more: samples.ndjson has no line"),
        "{:?}",
        study.damage
    );
}

/// A link in a results directory was read as if it were the file: root's report told of a file that only root may read, and
/// a FIFO was waited for.
#[test]
fn what_is_no_regular_file_is_named_and_neither_read_nor_waited_for() {
    let (parent, directory) = complete();
    let secret = parent.path().join("secret");
    fs::write(&secret, "title = \"secret\"\n").unwrap();
    let plant = |file: &str, is_link: bool| {
        fs::remove_file(directory.join(file)).unwrap();
        if is_link {
            symlink(&secret, directory.join(file)).unwrap();
        } else {
            let mode = rustix::fs::Mode::RWXU;
            rustix::fs::mkfifoat(rustix::fs::CWD, directory.join(file), mode).unwrap();
        }
    };
    plant("study.toml", true);
    plant("environment.json", false);
    plant("trials/0001/samples.ndjson", false);
    plant("trials/0002/trial.json", true);
    let study = results::read(&directory).unwrap();
    assert_eq!(study.study_toml, "");
    let damage = study.damage.join("\n");
    for sentence in [
        "environment.json cannot be read: it is a FIFO and no regular file",
        "study.toml cannot be read: it is a link and no regular file",
        "trial 1: samples.ndjson cannot be read: it is a FIFO",
        "trial 2: trial.json cannot be read: it is a link",
    ] {
        assert!(damage.contains(sentence), "{sentence} is not in {damage}");
    }
    plant("manifest.json", false);
    let error = results::read(&directory).unwrap_err().to_string();
    assert!(error.contains("manifest.json: it is a FIFO and no regular file"), "{error}");
}

#[test]
fn trials_that_a_link_leads_to_are_not_read() {
    let (parent, directory) = complete();
    let moved = parent.path().join("moved");
    fs::rename(directory.join("trials"), &moved).unwrap();
    symlink(&moved, directory.join("trials")).unwrap();
    let study = results::read(&directory).unwrap();
    assert_eq!(study.trials.len(), 0);
    assert!(study.damage[0].contains("trials cannot be read: it is a link"), "{:?}", study.damage);
    fs::remove_file(directory.join("trials")).unwrap();
    fs::rename(&moved, directory.join("trials")).unwrap();
    fs::rename(directory.join("trials/0001"), &moved).unwrap();
    symlink(&moved, directory.join("trials/0001")).unwrap();
    let study = results::read(&directory).unwrap();
    assert_eq!(study.trials.len(), 2);
    assert!(
        study.damage[0].contains("trial 1: its directory cannot be read: it is a link"),
        "{:?}",
        study.damage
    );
}

#[test]
fn a_newer_format_is_refused_with_the_remedy() {
    let (_parent, directory) = complete();
    let path = directory.join("manifest.json");
    fs::write(&path, "{\"format\": 9000, \"plan\": {\"unheard\": \"of\"}}").unwrap();
    let error = results::read(&directory).unwrap_err().to_string();
    let reason = "was made by a newer prony (format 9000, this one reads up to 2): update";
    assert_eq!(error, format!("{} {reason}", path.display()));
}

#[test]
fn a_damaged_manifest_is_named_with_its_place() {
    let (_parent, directory) = complete();
    let path = directory.join("manifest.json");
    cut(&path, 40);
    let error = results::read(&directory).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot read {}: EOF while parsing", path.display())), "{error}");
}

#[test]
fn whatever_is_not_a_results_directory_is_told_apart() {
    let (parent, directory) = complete();
    let file = directory.join("study.toml");
    assert!(matches!(results::read(&file), Err(ReadError::NotADirectory { .. })));
    assert!(matches!(results::read(&parent.path().join("nothing")), Err(ReadError::Missing { .. })));

    let above = results::read(parent.path()).unwrap_err().to_string();
    assert!(above.contains(&format!("give one that is in it, such as {}", directory.display())), "{above}");

    let empty = tempfile::tempdir().unwrap();
    let other = results::read(empty.path()).unwrap_err().to_string();
    assert!(other.contains("is not a results directory, for it has no manifest.json"), "{other}");
    assert!(other.contains("killed in its first moment"), "{other}");
    std::fs::create_dir(empty.path().join("trials")).unwrap();
    assert!(results::read(empty.path()).unwrap_err().to_string().contains("killed in its first moment"));
    std::fs::write(empty.path().join("photo.jpg"), "x").unwrap();
    let of_somebody = results::read(empty.path()).unwrap_err().to_string();
    assert!(of_somebody.contains("give one that prony made"), "{of_somebody}");
}

/// A record that was changed gave figures of another trial, of nothing, or of less than was measured, and nobody was told.
#[test]
fn a_record_that_cannot_be_that_of_its_trial_is_named_and_left_out() {
    type Change = fn(&mut serde_json::Value);
    let rows: [(Change, &str); 6] = [
        (|record| record["number"] = 2.into(), "skipped trial.json: it belongs to trial 2"),
        (|record| record["format"] = 7.into(), "trial.json cannot be read: its format is 7"),
        (|record| record["target"] = 7.into(), "trial.json cannot be read: its target is 7 and no table"),
        (|record| record["setup"] = serde_json::Value::Null, "it was measured to its end and has no setup"),
        (
            |record| record["outcome"] = serde_json::Value::Null,
            "it was measured to its end and has no outcome",
        ),
        (
            |record| record["main"] = serde_json::json!({"kind": "recorf"}),
            "skipped trial.json: no sample has its operations recorf",
        ),
    ];
    for (change, told) in rows {
        let (_parent, directory) = complete();
        let path = directory.join("trials/0001/trial.json");
        let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut record);
        fs::write(&path, record.to_string()).unwrap();
        let study = results::read(&directory).unwrap();
        let numbers: Vec<u32> = study.trials.iter().map(|trial| trial.trial.number).collect();
        assert_eq!(numbers, [2, 3], "{told}");
        let is_told = |damage: &String| damage.starts_with("trial 1: ") && damage.contains(told);
        assert!(study.damage.iter().any(is_told), "{told} is not in {:?}", study.damage);
    }
}

#[test]
fn a_target_that_its_setup_denies_is_named() {
    let (_parent, directory) = complete();
    let path = directory.join("trials/0001/trial.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"simulated\"", "\"uring\"");
    fs::write(&path, &text).unwrap();
    assert_eq!(results::read(&directory).unwrap().damage, Vec::<String>::new());
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["target"]["paths"][0] = "/date".into();
    fs::write(&path, record.to_string()).unwrap();
    let damage = results::read(&directory).unwrap().damage;
    assert!(damage[0].contains("its target is /date, but its setup names /data"), "{damage:?}");
}

#[test]
fn a_damaged_reading_of_the_machine_costs_its_line_and_is_told() {
    let (_parent, directory) = complete();
    let path = directory.join("trials/0001/resources.ndjson");
    let text =
        fs::read_to_string(&path).unwrap().replacen("\"cpu_steal_share\":0.0", "\"cpu_steal_share\":null", 1);
    fs::write(&path, text + "{\"end_s\":9.0,\"length_s\":1.0}\n").unwrap();
    let study = results::read(&directory).unwrap();
    assert_eq!(study.trials[0].resources.len(), 4);
    let told = "trial 1: line 1 of resources.ndjson is left out, and 1 more: invalid type: null";
    assert!(study.damage[0].starts_with(told), "{:?}", study.damage);
}

#[test]
fn files_of_others_in_the_directory_are_left_alone() {
    let (_parent, directory) = complete();
    fs::create_dir(directory.join("trials/notes")).unwrap();
    fs::File::create(directory.join("trials/README")).unwrap().write_all(b"mine").unwrap();
    let study = results::read(&directory).unwrap();
    assert_eq!((study.trials.len(), study.damage.len()), (3, 0));
}
