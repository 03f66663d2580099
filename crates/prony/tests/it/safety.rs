//! Rules of safety for files: what is not ours is never lost, what is ours is known by its marker.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::workbench::{Outcome, Workbench};

/// A run of 50 ms with further options.
fn disk(bench: &Workbench, options: &[&str]) -> Outcome {
    let short = ["disk", "--duration", "50ms", "--warm-up", "0s", "--file-size", "4MiB"];
    bench.run(&[&short, bench.cache(), options].concat())
}

#[test]
fn a_file_that_is_not_ours_is_not_written_without_overwrite() {
    let bench = Workbench::new();
    let content = bench.foreign("data", 4);
    for share in ["0", "99"] {
        disk(&bench, &["data", "--read-share", share]).ended_with(2).says("add --overwrite to overwrite it");
    }
    disk(&bench, &["data", "--read-share", "0", "--create"]).ended_with(2).says("--overwrite");
    assert_eq!(fs::read(bench.path("data")).unwrap(), content);
    assert_eq!(bench.names("."), ["data"], "not even a results directory");
    disk(&bench, &["data", "--read-share", "0", "--overwrite"]).ended_with(0);
    let written = fs::read(bench.path("data")).unwrap();
    assert!(written != content && written.len() == content.len());
}

#[test]
fn reading_a_file_that_is_not_ours_changes_nothing() {
    let bench = Workbench::new();
    let content = bench.foreign("data", 4);
    let before = fs::metadata(bench.path("data")).unwrap();
    disk(&bench, &["data"]).ended_with(0);
    let after = fs::metadata(bench.path("data")).unwrap();
    assert_eq!(
        (before.ino(), before.len(), before.mtime_nsec()),
        (after.ino(), after.len(), after.mtime_nsec())
    );
    assert_eq!(fs::read(bench.path("data")).unwrap(), content);
}

#[test]
fn a_created_file_is_kept_known_and_used_again() {
    let bench = Workbench::new();
    disk(&bench, &["ours", "--create"]).ended_with(0).says("Writes: 4 MiB of test files");
    let made = fs::metadata(bench.path("ours")).unwrap();
    let text = fs::read(bench.path("ours")).unwrap();
    assert!(text.starts_with(b"prony test file, version 1\n"));
    disk(&bench, &["ours", "--read-share", "0"]).ended_with(0);
    let used = fs::metadata(bench.path("ours")).unwrap();
    assert_eq!((made.ino(), made.len()), (used.ino(), used.len()));
    assert_eq!(
        fs::read(bench.path("ours")).unwrap()[..4096],
        text[..4096],
        "the marker is never written over"
    );
}

#[test]
fn a_file_that_is_kept_is_not_said_to_be_removed() {
    let bench = Workbench::new();
    let made = disk(&bench, &["ours", "--create"]).ended_with(0);
    let by_sqlio = bench.run(&["sqlio", "-s1", "-BY", "--no-results", "test.dat"]).ended_with(0);
    for outcome in [made, by_sqlio] {
        assert!(!outcome.stderr.contains("removed"), "{}", outcome.stderr);
    }
    assert!(bench.path("ours").exists() && bench.path("test.dat").exists());
}

#[test]
fn a_file_of_ours_in_use_or_cut_off_is_refused() {
    let bench = Workbench::new();
    disk(&bench, &["ours", "--create"]).ended_with(0);
    let file = fs::OpenOptions::new().write(true).open(bench.path("ours")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    disk(&bench, &["ours", "--read-share", "0"]).ended_with(2).says("another prony uses this file");
    drop(file);
    let file = fs::OpenOptions::new().write(true).open(bench.path("ours")).unwrap();
    file.set_len(2 << 20).unwrap();
    disk(&bench, &["ours", "--read-share", "0"])
        .ended_with(2)
        .says("Delete the file, and create it again with --create");
}

#[test]
fn a_planted_link_is_not_followed_to_a_file_that_is_not_ours() {
    let bench = Workbench::new();
    let content = bench.foreign("data", 1);
    std::os::unix::fs::symlink("data", bench.path("link")).unwrap();
    disk(&bench, &["link", "--read-share", "0", "--create"]).ended_with(2).says("--overwrite");
    assert_eq!(fs::read(bench.path("data")).unwrap(), content);
}
