//! What the system refuses: threads, memory, sizes of files. Each refusal is an error with its remedy, after which nothing is left.

use std::process::Command;

use crate::mounts::{has_tool, is_root};
use crate::workbench::{Outcome, PRONY, Workbench, finish};

/// A user whom nobody is: limits of processes count those of a user, and leave out root's.
const USER: &str = "54321";

/// Commands that measure or write, in a bench with a loaded store `s.db`, and what they leave if they succeed.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("disk . --file-size 1MiB --duration 100ms --warm-up 0s --threads 4 --cache buffered", &[]),
    ("historian --target sqlite:h.db --duration 200ms --warm-up 0s --rate 100", &[]),
    ("orders load --target sqlite:o.db --size 1MB --threads 4", &["o.db", "o.db-shm", "o.db-wal"]),
    ("orders generate --csv d --size 1MB --threads 8", &["d"]),
    ("orders run --target sqlite:s.db --run-time 200ms --warmup-time 200ms --n-threads 2", &[]),
    ("check . --file-size 1MiB --duration 100ms", &[]),
];

/// What stands in a bench before, and what a run may leave beside it in any case.
const OURS: [&str; 5] = ["stdout.txt", "prony-results", "s.db", "s.db-shm", "s.db-wal"];

/// A bench with a loaded store, which everybody may write.
fn bench() -> Workbench {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Workbench::new();
    bench.run(&["orders", "load", "--size", "1MB", "--target", "sqlite:s.db"]).ended_with(0);
    let all = |path: &str, mode| {
        std::fs::set_permissions(bench.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    all("s.db", 0o666);
    all("", 0o777);
    bench
}

/// Removes what a run left beside the store.
fn clear(bench: &Workbench) {
    for name in bench.names(".").into_iter().filter(|name| name != "s.db") {
        let path = bench.path(name);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.unwrap();
    }
}

/// Runs a command of prony's within limits.
fn within(bench: &Workbench, before: &[&str], limits: &str, arguments: &str) -> Outcome {
    let program = before.first().copied().unwrap_or("prlimit");
    let mut command: Command = bench.command(program);
    command.args(before.iter().skip(1));
    if !before.is_empty() {
        command.arg("prlimit");
    }
    command.args([limits, PRONY]).args(arguments.split(' '));
    finish(command)
}

/// Asserts that a command was not ended by a signal or a panic, that an error says what to do, and that nothing is left of one.
#[track_caller]
fn ended_in_order(bench: &Workbench, what: &str, outcome: &Outcome, may_leave: &[&str], remedy: &str) {
    let shown = format!("{what}\n{}\n{}", outcome.stdout, outcome.stderr);
    assert!(outcome.code.is_some_and(|code| code <= 5), "{:?} {shown}", outcome.code);
    assert!(!outcome.stderr.contains("panicked"), "{shown}");
    let failed = matches!(outcome.code, Some(1 | 2));
    if failed {
        assert!(outcome.stderr.contains(remedy) || outcome.stdout.contains(remedy), "no `{remedy}`: {shown}");
    }
    let left: Vec<String> =
        bench.names(".").into_iter().filter(|name| !OURS.contains(&name.as_str())).collect();
    let may_leave: &[&str] = if failed { &[] } else { may_leave };
    assert!(left.iter().all(|name| may_leave.contains(&name.as_str())), "{left:?} is left: {shown}");
}

/// With two or three threads the historian once ended in a panic within a panic, and its database stayed.
#[test]
fn threads_that_cannot_be_had_are_errors_after_which_nothing_is_left() {
    if !has_tool("setpriv") || !has_tool("prlimit") || !is_root() {
        eprintln!("not tried: limits of threads, for which root, setpriv and prlimit are needed");
        return;
    }
    let as_user = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"];
    if within(&bench(), &as_user, "--nofile=1000", "completions bash").code != Some(0) {
        eprintln!("not tried: limits of threads, since another user may not run {PRONY}");
        return;
    }
    // Processes are counted for the user, so that these run one after the other.
    let bench = bench();
    for threads in [1, 2, 3, 4, 5, 7, 10] {
        for (command, leaves) in COMMANDS {
            let outcome = within(&bench, &as_user, &format!("--nproc={threads}"), command);
            ended_in_order(&bench, &format!("{threads} threads: {command}"), &outcome, leaves, "ulimit -u");
            clear(&bench);
        }
    }
}

/// The first thread overflowed its stack before anything was done.
#[test]
fn a_small_stack_is_enough() {
    if !has_tool("prlimit") {
        eprintln!("not tried: a limit of stacks, for which prlimit is needed");
        return;
    }
    let bench = bench();
    for kib in [16, 64, 256] {
        for (command, _) in &COMMANDS[..2] {
            let outcome = within(&bench, &[], &format!("--stack={}", kib << 10), command);
            assert!(matches!(outcome.code, Some(0 | 4 | 5)), "{kib} KiB: {command}: {}", outcome.stderr);
            clear(&bench);
        }
    }
}

#[test]
fn memory_that_cannot_be_enough_is_refused_before_anything_is_made() {
    if !has_tool("prlimit") {
        eprintln!("not tried: a limit of memory, for which prlimit is needed");
        return;
    }
    let bench = bench();
    for (command, _) in COMMANDS {
        for mib in [100, 300] {
            let outcome = within(&bench, &[], &format!("--as={}", mib << 20), command).ended_with(2);
            ended_in_order(&bench, command, &outcome, &[], "Raise the limit");
            assert!(bench.results().is_none(), "{command}");
        }
    }
}

/// The signal that the kernel sends ended the program without a word, and databases and unfinished files stayed.
#[test]
fn a_file_that_may_not_grow_is_an_error_with_a_remedy() {
    if !has_tool("prlimit") {
        eprintln!("not tried: a limit of file sizes, for which prlimit is needed");
        return;
    }
    for kib in [0, 8, 100] {
        for (command, leaves) in COMMANDS {
            let bench = bench();
            let outcome = within(&bench, &[], &format!("--fsize={}", kib << 10), command);
            if !command.starts_with("orders run") {
                assert!(matches!(outcome.code, Some(1)), "{kib} KiB: {command}: {outcome:?}");
            }
            ended_in_order(&bench, &format!("{kib} KiB: {command}"), &outcome, leaves, "ulimit -f");
        }
    }
}

#[test]
fn an_export_that_may_not_grow_leaves_no_file() {
    if !has_tool("prlimit") {
        eprintln!("not tried: a limit of file sizes, for which prlimit is needed");
        return;
    }
    let bench = Workbench::new();
    let measure = "disk x --engine simulated --duration 1s";
    bench.run(&measure.split(' ').collect::<Vec<_>>()).ended_with(0);
    let directory = bench.results().unwrap();
    let export = format!("export {} --csv --output runs.csv", directory.display());
    within(&bench, &[], "--fsize=100", &export).ended_with(1).says("runs.csv").says("ulimit -f");
    assert_eq!(bench.names("."), ["prony-results"]);
}

/// A user who may only read a database once waited for a minute, and left files of the log beside it.
#[test]
fn a_database_that_may_not_be_written_is_refused_at_once() {
    use std::os::unix::fs::PermissionsExt as _;
    if !has_tool("setpriv") || !has_tool("prlimit") || !is_root() {
        eprintln!("not tried: a database of another user, for which root and setpriv are needed");
        return;
    }
    let bench = bench();
    std::fs::set_permissions(bench.path("s.db"), std::fs::Permissions::from_mode(0o644)).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(bench.path(format!("s.db{end}")));
    }
    let as_user = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"];
    let before = bench.names(".");
    for command in [
        "historian --reuse --target sqlite:s.db --duration 200ms --warm-up 0s --rate 100",
        "orders run --target sqlite:s.db --run-time 1s --n-threads 1",
        "orders verify --target sqlite:s.db",
    ] {
        let begin = std::time::Instant::now();
        let outcome = within(&bench, &as_user, "--nofile=1000", command);
        if outcome.stderr.contains("Permission denied") && outcome.stderr.contains("prlimit") {
            eprintln!("not tried: a database of another user, who may not run {PRONY}");
            return;
        }
        assert!(matches!(outcome.code, Some(1 | 2)), "{outcome:?}");
        assert!(outcome.stderr.contains("give this user write permission for the file"), "{outcome:?}");
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{command}");
        assert_eq!(bench.names("."), before, "{command}");
    }
}
