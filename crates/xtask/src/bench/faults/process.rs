//! A program that is started, disturbed and watched to its end.
//!
//! What it prints goes to files, so that no pipe makes it wait. Only processes that were started here are signalled.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tally::Findings;
use crate::workspace::line_of;

const LOOK_EVERY: Duration = Duration::from_millis(5);
/// As the manual lists them.
const CODES: [i32; 7] = [0, 1, 2, 3, 4, 5, 130];
/// Lines of an error that are shown.
const LINES_SHOWN: usize = 6;

/// A program that runs, or has ended without being asked for it. It is killed if it is dropped.
pub(super) struct Started {
    child: Child,
    line: String,
    begun: Instant,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// How a program ended.
pub(super) struct Ended {
    pub(super) line: String,
    /// None if it had to be killed because it did not end in time.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) took: Duration,
}

impl Started {
    /// Starts a program; what it prints goes to files in the system's directory for temporary ones.
    pub(super) fn new(mut command: Command) -> Result<Self> {
        let line = line_of(&command);
        let (out, stdout) = tempfile::NamedTempFile::new()?.keep()?;
        let (err, stderr) = tempfile::NamedTempFile::new()?.keep()?;
        command.stdin(Stdio::null()).stdout(Stdio::from(out)).stderr(Stdio::from(err));
        let begun = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start `{line}`"))?;
        Ok(Self { child, line, begun, stdout, stderr })
    }

    /// Whether it still runs at that time after its start; returns at once if it has ended.
    pub(super) fn runs_until(&mut self, moment: Duration) -> Result<bool> {
        while self.child.try_wait()?.is_none() {
            let left = moment.saturating_sub(self.begun.elapsed());
            if left.is_zero() {
                return Ok(true);
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
        Ok(false)
    }

    /// Waits until something holds while the program runs, but no longer than so; tells whether it does.
    pub(super) fn wait_until(&mut self, limit: Duration, mut holds: impl FnMut() -> bool) -> Result<bool> {
        let begin = Instant::now();
        while begin.elapsed() < limit {
            if holds() {
                return Ok(true);
            }
            if self.child.try_wait()?.is_some() {
                return Ok(holds());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(false)
    }

    /// Time since the start.
    pub(super) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Ends it as `kill -9` does.
    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end.
    pub(super) fn terminate(&self) -> Result<()> {
        let pid = i32::try_from(self.child.id())?;
        match kill(Pid::from_raw(pid), Signal::SIGTERM) {
            // It has ended by itself and waits to be seen.
            Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The file that its stderr goes to.
    pub(super) fn told_path(&self) -> PathBuf {
        self.stderr.clone()
    }

    /// Waits for its end; after the limit it is killed, and its status is none.
    pub(super) fn ended_within(mut self, limit: Duration) -> Result<Ended> {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break Some(status);
            }
            if begin.elapsed() > limit {
                self.child.kill()?;
                self.child.wait()?;
                break None;
            }
            std::thread::sleep(LOOK_EVERY);
        };
        Ok(Ended {
            line: self.line.clone(),
            status,
            stdout: text_of(&self.stdout),
            stderr: text_of(&self.stderr),
            took: begin.elapsed(),
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Both fail on a process that was waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.stdout);
        let _ = fs::remove_file(&self.stderr);
    }
}

impl Ended {
    pub(super) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Whether it ended as a program ends: by itself, with a documented exit code, and without a panic.
    pub(super) fn faults(&self) -> Findings {
        let mut found = Findings::default();
        match self.status {
            None => found.add(format!("hung for {} s: {}", self.took.as_secs(), self.shown())),
            Some(status) => {
                if let Some(signal) = status.signal() {
                    found.add(format!("ended by signal {signal}: {}", self.shown()));
                } else {
                    let is_known = status.code().is_some_and(|code| CODES.contains(&code));
                    found.check(is_known, || format!("undocumented {status}: {}", self.shown()));
                }
            }
        }
        found.check(!self.stderr.contains("panicked at"), || format!("panicked: {}", self.shown()));
        found
    }

    /// The same, and with this exit code.
    pub(super) fn unlike(&self, code: i32) -> Findings {
        let mut found = self.faults();
        if found.is_empty() {
            found.check(self.code() == Some(code), || format!("not {code} but {}", self.shown()));
        }
        found
    }

    /// Command, exit code and the end of what it said.
    pub(super) fn shown(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().collect();
        let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n  ");
        let code = self.code().map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        format!("`{}`: {code}\n  {last}", self.line)
    }
}

/// A program that is let run, for so long at most.
pub(super) fn run(command: Command, limit: Duration) -> Result<Ended> {
    Started::new(command)?.ended_within(limit)
}

fn text_of(path: &PathBuf) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("(cannot read what it said: {error})"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A program that ended so: exit code times 256, or the number of a signal.
    pub(in crate::bench::faults) fn ended(raw: Option<i32>, stderr: &str) -> Ended {
        Ended {
            line: "prony".to_owned(),
            status: raw.map(ExitStatus::from_raw),
            stdout: String::new(),
            stderr: stderr.to_owned(),
            took: Duration::from_secs(20),
        }
    }

    fn faults(raw: Option<i32>, stderr: &str) -> Vec<String> {
        ended(raw, stderr).faults().into_iter().collect()
    }

    #[test]
    fn documented_exit_codes_are_no_fault() {
        for code in CODES {
            assert_eq!(faults(Some(code << 8), "error: the disk is full"), [""; 0], "{code}");
        }
    }

    #[test]
    fn hangs_signals_panics_and_other_codes_are_found() {
        for (raw, stderr, text) in [
            (None, "", "hung for 20 s"),
            (Some(6), "", "ended by signal 6"),
            (Some(101 << 8), "", "undocumented exit status: 101"),
            (Some(1 << 8), "thread 'main' panicked at src/main.rs:1", "panicked"),
        ] {
            let found = faults(raw, stderr);
            assert!(found.len() == 1 && found[0].contains(text), "{text}: {found:?}");
        }
    }

    #[test]
    fn another_exit_code_than_the_good_one_is_found() {
        assert!(ended(Some(4 << 8), "").unlike(4).is_empty());
        assert!(!ended(Some(1 << 8), "").unlike(4).is_empty());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_said_to_hang() {
        let mut command = Command::new("sleep");
        command.arg("3600");
        let mut started = Started::new(command).unwrap();
        assert!(started.runs_until(Duration::from_millis(20)).unwrap());
        assert!(started.ended_within(Duration::from_millis(20)).unwrap().status.is_none());
    }
}
