//! The test step: builds all test binaries, runs most of them side by side, and lists the slowest tests.
//!
//! Most tests wait for a server or a device. `cargo test` runs one binary at a time, so the machine would be idle for most of the
//! step. Tests of the whole program take longest by far, and measure a real disk for a moment. They run first, with two threads
//! per CPU. Binaries that only compute run at the same time, at the lowest priority. All others follow, two at a time.
//! The output of a binary is printed when the binary has ended, so that the lines of two never mix.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Message;

use super::{Outcome, cargo, memory, watch};
use crate::workspace::{Workspace, line_of};

/// Builds all tests. Examples serve benchmarks, and the lints compile them.
const BUILD: [&str; 6] = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-run"];
/// Test binaries that run at the same time.
const BINARIES_AT_ONCE: usize = 2;
/// Slow tests that are listed at the end.
const SLOWEST: usize = 30;
/// The tests of the whole program.
const PROGRAM: &str = "it";
/// Binaries whose tests compute only. They use the CPU time that the tests of the program leave.
const COMPUTING: [&str; 9] =
    ["stats", "report", "study", "record", "results", "damaged", "old_formats", "round_trip", "load"];
/// Binaries that take longest, in descending order. They start first, so that none is left for the end.
const LONGEST_FIRST: [&str; 4] = [PROGRAM, "workload", "database", "instance"];

/// A test binary and the directory that its tests expect to run in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Binary {
    name: String,
    executable: PathBuf,
    package_directory: PathBuf,
}

/// How a binary ended.
struct Ended {
    name: String,
    seconds: f64,
    output: String,
    failure: Option<String>,
}

/// Builds all tests, and with them the program.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    cargo(workspace, &BUILD)?;
    Ok(())
}

/// Snapshots that differ fail and leave nothing in the tree.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    build(workspace)?;
    let memory = memory::directory()?;
    let mut binaries = binaries(workspace)?;
    binaries.sort_by_key(|binary| rank(&binary.name));
    let command = &|binary: &Binary| {
        let mut command = command_of(binary);
        command.envs(memory.as_ref().map(|directory| ("TMPDIR", directory.path())));
        command
    };
    let (first, then) = binaries
        .into_iter()
        .partition(|binary| binary.name == PROGRAM || COMPUTING.contains(&binary.name.as_str()));
    let mut ended = run_all(first, command);
    ended.extend(run_all(then, command));
    print_times(&ended);
    let failed: Vec<String> = ended.into_iter().filter_map(|binary| binary.failure).collect();
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(Outcome::Passed)
}

/// Asks cargo for the test binaries that it has built.
fn binaries(workspace: &Workspace) -> Result<Vec<Binary>> {
    let mut command = workspace.cargo(&[&BUILD[..], &["--message-format", "json"]].concat());
    let line = line_of(&command);
    let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
    ensure!(output.status.success(), "`{line}` ended with {}", output.status);
    let mut binaries = Vec::new();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        let Message::CompilerArtifact(artifact) = message.context("cannot read what cargo built")? else {
            continue;
        };
        let Some(executable) = artifact.executable.filter(|_| artifact.profile.test) else { continue };
        let directory = artifact.manifest_path.parent().context("a manifest has no directory")?;
        binaries.push(Binary {
            name: artifact.target.name,
            executable: executable.into(),
            package_directory: directory.into(),
        });
    }
    if binaries.is_empty() {
        bail!("`{line}` built no test");
    }
    Ok(binaries)
}

fn rank(name: &str) -> usize {
    LONGEST_FIRST.iter().position(|longest| *longest == name).unwrap_or(LONGEST_FIRST.len())
}

/// Runs a binary as `cargo test` does.
fn command_of(binary: &Binary) -> Command {
    let mut command = Command::new(&binary.executable);
    if COMPUTING.contains(&binary.name.as_str()) {
        command = Command::new("nice");
        command.args(["-n", "19"]).arg(&binary.executable);
    } else if binary.name == PROGRAM {
        let threads = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        command.args(["--test-threads", &threads.to_string()]);
    }
    command
        .args(["-Zunstable-options", "--report-time"])
        // libtest prints times only with unstable options, and accepts those from a stable compiler if this is set.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("INSTA_UPDATE", "no")
        .env("CARGO_MANIFEST_DIR", &binary.package_directory)
        .current_dir(&binary.package_directory);
    command
}

/// Runs the binaries in their order, several at a time, and prints each one's output when it has ended.
fn run_all(binaries: Vec<Binary>, command: impl Fn(&Binary) -> Command + Sync) -> Vec<Ended> {
    let queue = Mutex::new(VecDeque::from(binaries));
    let ended = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || {
        while let Some(binary) = next() {
            let result = run_one(&binary, command(&binary));
            let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            println!("\nRunning {} ({:.1} s)\n{}", result.name, result.seconds, result.output);
            if let Some(failure) = &result.failure {
                println!("failed: {failure}");
            }
            ended.push(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..BINARIES_AT_ONCE {
            scope.spawn(work);
        }
    });
    ended.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn run_one(binary: &Binary, command: Command) -> Ended {
    let start = Instant::now();
    let mut output = Vec::new();
    let result = watch::run_into(watch::LIMIT, command, Some(binary.name.clone()), &mut output);
    Ended {
        name: binary.name.clone(),
        seconds: start.elapsed().as_secs_f64(),
        output: String::from_utf8_lossy(&output).into_owned(),
        failure: result.err().map(|error| format!("{}: {error:#}", binary.name)),
    }
}

fn print_times(ended: &[Ended]) {
    println!("\nThe {SLOWEST} slowest tests:");
    let mut tests: Vec<(Duration, &str, &str)> = ended
        .iter()
        .flat_map(|binary| {
            binary.output.lines().filter_map(time_of).map(|(test, time)| (time, &*binary.name, test))
        })
        .collect();
    tests.sort_by(|one, other| other.cmp(one));
    for (time, binary, test) in tests.iter().take(SLOWEST) {
        println!("{:>7.1} s  {binary}  {test}", time.as_secs_f64());
    }
}

/// The name and the time of a test, from a line such as `test a::b ... ok <1.234s>`.
fn time_of(line: &str) -> Option<(&str, Duration)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (_, time) = result.strip_suffix("s>")?.rsplit_once('<')?;
    Some((name, Duration::try_from_secs_f64(time.parse().ok()?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell in place of a test binary.
    fn shell(name: &str, script: &str) -> (Binary, String) {
        let here = PathBuf::from(".");
        (
            Binary { name: name.to_owned(), executable: here.clone(), package_directory: here },
            script.to_owned(),
        )
    }

    fn run_scripts(scripts: &[(Binary, String)]) -> Vec<Ended> {
        run_all(scripts.iter().map(|(binary, _)| binary.clone()).collect(), |binary| {
            let (_, script) = scripts.iter().find(|(other, _)| other == binary).unwrap();
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        })
    }

    #[test]
    fn a_failed_binary_is_named_and_the_others_run() {
        let mut ended = run_scripts(&[
            shell("one", "echo 'test a ... ok <0.500s>'"),
            shell("two", "echo 'test b ... FAILED <0.100s>'; exit 101"),
            shell("three", "echo 'test c ... ok <0.000s>'"),
        ]);
        ended.sort_by(|one, other| one.name.cmp(&other.name));
        let failures: Vec<&str> = ended.iter().filter_map(|binary| binary.failure.as_deref()).collect();
        assert_eq!(ended.len(), 3);
        assert_eq!(failures.len(), 1);
        assert!(failures[0].starts_with("two: "), "{failures:?}");
        assert!(failures[0].ends_with("ended with exit status: 101"), "{failures:?}");
        assert_eq!(ended[2].output, "test b ... FAILED <0.100s>\n");
    }

    /// Each waits for the other: this ends only if both run at the same time.
    #[test]
    fn two_binaries_run_at_the_same_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        let meet = |own: &str, other: &str| {
            format!("touch {}; until [ -e {} ]; do sleep 0.01; done", path(own), path(other))
        };
        let ended = run_scripts(&[shell("one", &meet("a", "b")), shell("two", &meet("b", "a"))]);
        assert!(ended.iter().all(|binary| binary.failure.is_none()));
    }

    #[test]
    fn binaries_that_compute_leave_the_cpus_to_the_program() {
        let program_of = |name: &str| command_of(&shell(name, "").0).get_program().to_owned();
        assert_eq!(program_of("stats"), "nice");
        assert_eq!(program_of(PROGRAM), ".");
        assert_eq!(program_of("workload"), ".");
    }

    #[test]
    fn the_longest_binaries_start_first() {
        let mut names = ["study", "database", "record", "workload"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["workload", "database", "study", "record"]);
    }

    #[test]
    fn times_are_read_from_lines_of_tests_alone() {
        assert_eq!(time_of("test a::b ... ok <1.250s>"), Some(("a::b", Duration::from_millis(1250))));
        assert_eq!(time_of("test a::b - should panic ... ok <0.000s>").unwrap().0, "a::b - should panic");
        assert_eq!(time_of("test result: ok. 3 passed; 0 failed; finished in 1.25s"), None);
        assert_eq!(time_of("test a::b ... ok"), None);
    }
}
