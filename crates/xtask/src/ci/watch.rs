//! Commands that a step runs, with a limit of time.
//!
//! A test that hangs says nothing by itself. When the limit is over, all that the command started is ended, and the error says
//! which tests had begun and not ended. libtest tells on stable of a test that has begun only when it has run for a minute;
//! the limit of a step is far longer.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, IsTerminal, PipeReader, Write, pipe, stdout};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::workspace::line_of;

/// A command of a step that takes longer hangs: the longest one takes half of this on a busy machine, compiling and all.
pub(crate) const LIMIT: Duration = Duration::from_secs(50 * 60);

/// Between two looks whether the command has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Until what was killed has let go of its output.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Runs a command with its output shown; an exit code other than 0 is an error, and so is a time over the limit.
pub(crate) fn run_within(limit: Duration, mut command: Command) -> Result<()> {
    println!("$ {}", line_of(&command));
    if stdout().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    run_into(limit, command, None, &mut stdout())
}

/// The same with the output written to `sink`. `running` is the name of the test binary, if the command is one.
pub(super) fn run_into(
    limit: Duration,
    mut command: Command,
    running: Option<String>,
    sink: &mut dyn Write,
) -> Result<()> {
    let line = line_of(&command);
    let (output, input) = pipe()?;
    let mut child = command
        .stdout(input.try_clone()?)
        .stderr(input)
        .spawn()
        .with_context(|| format!("cannot start `{line}`"))?;
    // It holds the end of the pipe that is written to.
    drop(command);
    let lines = lines_of(output);
    let mut standing = Standing { running, begun: BTreeSet::new(), sink };
    let Some(status) = awaited(&mut child, &lines, &mut standing, Instant::now() + limit)? else {
        end_all(&mut child)?;
        let gone = awaited_end(&lines, &mut standing);
        bail!("`{line}` had not ended after {} s\n{standing}{}", limit.as_secs_f64(), left_over(gone));
    };
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

/// Each line as it comes. They end when nobody is left who could write one.
fn lines_of(output: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    lines
}

/// Shows what the command says until it has ended and is silent; `None` when the deadline came first.
fn awaited(
    child: &mut Child,
    lines: &Receiver<Vec<u8>>,
    standing: &mut Standing<'_>,
    deadline: Instant,
) -> Result<Option<ExitStatus>> {
    loop {
        match lines.recv_timeout(LOOK_AGAIN) {
            Ok(line) => standing.hear(&line),
            // What the command left behind may hold the pipe for ever: its own end is what counts.
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    return Ok(Some(status));
                }
            }
            // It may have closed its output and go on.
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(status) = child.try_wait()? {
                    return Ok(Some(status));
                }
                std::thread::sleep(LOOK_AGAIN);
            }
        }
        if Instant::now() > deadline {
            return Ok(None);
        }
    }
}

/// Kills the command and all that it started. A new process group would be simpler, but a Ctrl-C would not reach it.
pub(crate) fn end_all(child: &mut Child) -> Result<()> {
    let parents = parents()?;
    let mut family = vec![i32::try_from(child.id())?];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
        next += 1;
    }
    for process in family {
        // It fails only on a process that has ended.
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    child.wait()?;
    Ok(())
}

/// Each process of the machine with its parent.
fn parents() -> Result<Vec<(i32, i32)>> {
    let entries = std::fs::read_dir("/proc").context("cannot list /proc")?;
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(processes.filter_map(|process| Some((process, parent(process)?))).collect())
}

/// Fourth field of `/proc/PID/stat`. The second is the name in brackets, which may hold blanks and brackets itself.
fn parent(process: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Shows what still comes, and tells whether nobody is left who could say more.
fn awaited_end(lines: &Receiver<Vec<u8>>, standing: &mut Standing<'_>) -> bool {
    let deadline = Instant::now() + END_LIMIT;
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => standing.hear(&line),
            Err(error) => return error == RecvTimeoutError::Disconnected,
        }
    }
}

fn left_over(gone: bool) -> &'static str {
    if gone { "" } else { "\nsomething that it started is still there" }
}

/// How far the tests are, from what cargo and libtest print.
struct Standing<'a> {
    /// The test binary that started last.
    running: Option<String>,
    /// Its tests that have run for a minute and not ended.
    begun: BTreeSet<String>,
    /// Where the output goes.
    sink: &'a mut dyn Write,
}

impl Standing<'_> {
    /// Writes a line to the sink and remembers what it says.
    fn hear(&mut self, line: &[u8]) {
        // If the output is closed, nobody can read an error about it.
        let _ = self.sink.write_all(line).and_then(|()| self.sink.flush());
        self.take(String::from_utf8_lossy(line).trim_end());
    }

    fn take(&mut self, line: &str) {
        if let Some((_, what)) = line.split_once("Running ").or_else(|| line.split_once("Doc-tests ")) {
            self.running = Some(what.to_owned());
            self.begun.clear();
        } else if let Some((before, _)) = line.split_once(" has been running for over ") {
            // With one thread, libtest has begun the line with the test's name already.
            self.begun.extend(before.rsplit_once("test ").map(|(_, name)| name.to_owned()));
        } else if let Some((name, _)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
            self.begun.remove(name);
        }
    }
}

impl std::fmt::Display for Standing<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(running) = &self.running else { return write!(formatter, "no tests had begun") };
        write!(formatter, "in {running}")?;
        if self.begun.is_empty() {
            return write!(formatter, ", where no test had run for a minute");
        }
        write!(formatter, " these tests had begun and not ended:")?;
        self.begun.iter().try_for_each(|name| write!(formatter, "\n    {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shell that runs this comes to.
    fn ran(limit: Duration, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run_within(limit, command).err().map(|error| error.to_string()).unwrap_or_default()
    }

    /// A run of all tests once hung for an hour and a half in one of them, and nothing said in which.
    #[test]
    fn a_hang_is_ended_with_all_that_it_started_and_the_test_is_named() {
        let said = ran(
            Duration::from_millis(300),
            "echo '     Running unittests src/lib.rs (target/debug/deps/one-1)'
             echo 'test a::of_another_binary has been running for over 60 seconds'
             echo '     Running tests/it/main.rs (target/debug/deps/it-2)' >&2
             echo 'test a::ends_late has been running for over 60 seconds'
             echo 'test b::hangs has been running for over 60 seconds'
             echo 'test a::ends_late ... ok'
             (sleep 600; echo never) & wait",
        );
        assert!(said.ends_with(
            "had not ended after 0.3 s\nin tests/it/main.rs (target/debug/deps/it-2) these tests had begun and not ended:\
             \n    b::hangs"
        ));
    }

    #[test]
    fn a_hang_elsewhere_is_ended_too() {
        let said = ran(Duration::from_millis(100), "exec sleep 600");
        assert!(said.ends_with("had not ended after 0.1 s\nno tests had begun"), "{said}");
    }

    #[test]
    fn what_ends_in_time_is_judged_by_its_exit_code() {
        let limit = Duration::from_secs(600);
        assert_eq!(ran(limit, "echo said"), "");
        assert!(ran(limit, "exit 3").ends_with("ended with exit status: 3"));
        assert_eq!(ran(limit, "exec >/dev/null 2>&1; read nothing < /dev/null; true"), "");
    }

    #[test]
    fn what_stays_behind_keeps_nobody_waiting() {
        assert_eq!(ran(Duration::from_secs(600), "sleep 5 & exit 0"), "");
    }

    #[test]
    fn a_test_is_known_in_the_form_of_one_thread_and_of_coloured_output() {
        let mut standing = Standing { running: None, begun: BTreeSet::new(), sink: &mut std::io::sink() };
        standing
            .take("\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m unittests src/lib.rs (target/debug/deps/one-1)");
        standing.take("test a::hangs ... test a::hangs has been running for over 60 seconds");
        assert_eq!(standing.begun.iter().collect::<Vec<_>>(), ["a::hangs"]);
    }
}
