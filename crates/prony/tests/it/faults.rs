//! Faults of the world in the middle of a run: short reads, full disks, file systems that cannot.

use std::fs;

use crate::mounts::{has_tool, is_root, private_mounts, shell};
use crate::running::Running;
use crate::workbench::{Workbench, finish, json_file};

#[test]
fn a_file_that_shrinks_fails_the_trial_and_keeps_what_was_measured() {
    let bench = Workbench::new();
    bench.foreign("data", 16);
    let arguments = ["disk", "data", "--cache", "buffered", "--duration", "1h", "--warm-up", "0s"];
    let mut run = Running::start(&bench, &arguments);
    run.wait_for_samples(&bench);
    fs::OpenOptions::new().write(true).open(bench.path("data")).unwrap().set_len(0).unwrap();
    let outcome = run.ended().ended_with(1).says("failed: data: ").says("moved 0 of 4096 bytes");
    assert!(outcome.stdout.contains("failed"), "{}", outcome.stdout);
    let results = bench.results().unwrap();
    assert!(results.join("report.html").exists());
    assert_eq!(json_file(results.join("trials/0001/trial.json"))["state"], "failed");
    let document = bench.report_json(&results);
    let trial = &document["trials"][0];
    assert!(trial["reason"].as_str().unwrap().contains("moved 0 of 4096 bytes"), "{trial:#}");
    assert!(trial["figures"][0]["operations"].as_u64().unwrap() > 0);
    assert_eq!(trial["figures"][0]["errors"], 1);
}

#[test]
fn a_file_system_without_the_space_is_refused_before_anything_is_written() {
    let bench = Workbench::new();
    let Some(way) = private_mounts() else {
        eprintln!("not tried: a small file system, for which mounts are needed");
        return;
    };
    let script = "mkdir small; mount -t tmpfs -o size=32m none small; \"$prony\" disk small || code=$?
        ls -A small; exit ${code:-0}";
    let outcome = finish(shell(&bench, way, script))
        .ended_with(2)
        .says("not enough space for test files: 1024 MiB needed");
    assert_eq!(outcome.stdout, "", "nothing is left");
    assert_eq!(bench.names("."), ["small"]);
}

/// An ext4 file system of 2 GiB on an image that has room for 24 MiB: it promises space that the disk has not.
const PROMISES: &str = "mkdir back; mount -t tmpfs -o size=24m none back; truncate -s 2G back/image
    mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=1,nodiscard back/image; mkdir full
    mount -o loop back/image full || exit 77
    \"$prony\" disk full --file-size 64MiB --duration 1m --warm-up 0s --read-share 0 $options || code=$?
    ls -A full; exit ${code:-0}";

/// Exit code 77 is a loop device that cannot be had.
fn on_a_disk_that_fills(bench: &Workbench, options: &str) -> Option<crate::workbench::Outcome> {
    let way = private_mounts().filter(|_| is_root() && has_tool("mkfs.ext4"));
    let mut command = shell(bench, way.unwrap_or(&[]), PROMISES);
    command.env("options", options);
    let outcome = way.map(|_| finish(command)).filter(|outcome| outcome.code != Some(77));
    if outcome.is_none() {
        eprintln!("not tried: a disk that fills, for which root, loop devices and mkfs.ext4 are needed");
    }
    outcome
}

#[test]
fn a_disk_that_fills_while_test_files_are_written_is_named_and_left_clean() {
    let bench = Workbench::new();
    let Some(outcome) = on_a_disk_that_fills(&bench, "") else { return };
    let outcome =
        outcome.ended_with(1).says("no space left on the file system. Use smaller files (--file-size)");
    assert_eq!(outcome.stdout, "lost+found\n", "no test file is left");
    assert_eq!(bench.results(), None, "nothing was measured");
}

#[test]
fn a_disk_that_fills_under_load_fails_the_trial_and_keeps_what_was_measured() {
    let bench = Workbench::new();
    let Some(outcome) = on_a_disk_that_fills(&bench, "--no-fill --pattern sequential --block-size 64KiB")
    else {
        return;
    };
    let outcome = outcome.ended_with(1).says("No space left on device");
    assert!(outcome.stdout.ends_with("\nlost+found\n"), "no test file is left:\n{}", outcome.stdout);
    let results = bench.results().unwrap();
    assert!(results.join("report.html").exists());
    let document = bench.report_json(&results);
    assert_eq!(document["trials"][0]["state"], "failed");
    assert!(document["trials"][0]["figures"][0]["operations"].as_u64().unwrap() > 0);
}

#[test]
fn a_disk_too_full_for_the_report_keeps_what_was_measured() {
    let bench = Workbench::new();
    let Some(way) = private_mounts() else {
        eprintln!("not tried: results on a disk that fills, for which mounts are needed");
        return;
    };
    let script = "mkdir full; mount -t tmpfs -o size=48k none full
        \"$prony\" disk x --engine null --duration 200ms --warm-up 0s --results full || code=$?
        \"$prony\" report full/* --json || true; ls -A full/*; exit ${code:-0}";
    let outcome = finish(shell(&bench, way, script)).ended_with(1).says("No space left on device");
    let outcome = outcome.says("the disk is full: free some space there");
    assert!(outcome.stdout.contains("\"state\": \"complete\""), "it can be read: {}", outcome.stdout);
    assert!(
        outcome.stdout.ends_with("environment.json\nmanifest.json\nstudy.toml\ntrials\nverdicts.json\n"),
        "{outcome:?}"
    );
}

#[test]
fn a_file_system_that_is_read_only_is_named() {
    let bench = Workbench::new();
    let Some(way) = private_mounts() else {
        eprintln!("not tried: a read-only file system, for which mounts are needed");
        return;
    };
    let script =
        "mkdir fixed; mount -t tmpfs -o ro,size=2g none fixed; exec \"$prony\" disk fixed --file-size 1MiB";
    finish(shell(&bench, way, script)).ended_with(1).says("is mounted read-only. Give another directory");
}

#[test]
fn a_file_system_without_direct_io_is_named_with_the_remedy_which_works() {
    let bench = Workbench::new();
    let Some(way) = private_mounts().filter(|_| is_root()) else {
        eprintln!("not tried: a file system without direct I/O, for which root and mounts are needed");
        return;
    };
    let mount = "mkdir plain; mount -t ramfs none plain; head -c 1048576 /dev/zero > plain/data;";
    let run = "\"$prony\" disk plain/data --duration 50ms --warm-up 0s";
    let direct = format!("{mount} {run}");
    finish(shell(&bench, way, &direct))
        .ended_with(1)
        .says("does not support direct I/O (O_DIRECT). Use --cache buffered");
    let buffered = format!("{} {run} --cache buffered", mount.replace("mkdir plain;", ""));
    finish(shell(&bench, way, &buffered)).ended_with(0);
}

#[test]
fn a_directory_that_may_not_be_written_is_named() {
    let bench = Workbench::new();
    if is_root() {
        eprintln!("not tried: a directory without permission, for root has every permission");
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir(bench.path("closed")).unwrap();
    fs::set_permissions(bench.path("closed"), fs::Permissions::from_mode(0o500)).unwrap();
    bench.run(&["disk", "closed", "--file-size", "1MiB"]).ended_with(1).says("permission denied");
    bench
        .run(&["disk", "x", "--engine", "null", "--results", "closed/results"])
        .ended_with(1)
        .says("--results");
}
