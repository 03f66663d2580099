//! The program while it runs: waits for what it prints or writes, and sends it signals.
//!
//! Nothing here waits for time to pass. A wait ends with its condition, with the program, or at a deadline that no
//! machine reaches.

use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::workbench::{DEADLINE, Outcome, PRONY, Workbench};

/// How often a condition is looked at while nothing is printed.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A run that has not ended. It is killed if the test ends first.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    printed: Vec<String>,
    stdout: std::path::PathBuf,
}

impl Running {
    /// Starts prony.
    pub(crate) fn start(bench: &Workbench, arguments: &[&str]) -> Self {
        let mut command = bench.command(PRONY);
        command.args(arguments);
        Self::start_command(bench, command)
    }

    /// Starts any command; its stderr is read by line.
    pub(crate) fn start_command(bench: &Workbench, mut command: Command) -> Self {
        let stdout = bench.path("stdout.txt");
        command.stdout(fs::File::create(&stdout).unwrap()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stderr.take().unwrap());
        Self { child, lines, printed: Vec::new(), stdout }
    }

    /// Starts prony with a stderr that nobody reads; its lines here are those of stdout.
    pub(crate) fn start_unread(bench: &Workbench, arguments: &[&str]) -> (Self, PipeReader, PipeWriter) {
        let (unread, stderr) = std::io::pipe().unwrap();
        let mut command = bench.command(PRONY);
        command.args(arguments).stdout(Stdio::piped()).stderr(stderr.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let stdout = bench.write("stdout.txt", "");
        (Self { child, lines, printed: Vec::new(), stdout }, unread, stderr)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a condition holds while the program runs.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < DEADLINE, "no sign of {what}; stderr: {:#?}", self.printed);
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(line) => self.printed.push(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the program ended before {what}; stderr: {:#?}", self.printed)
                }
            }
        }
    }

    /// Waits until a condition holds, or the program ends: then what it said.
    #[track_caller]
    pub(crate) fn until_or_end(&mut self, mut holds: impl FnMut() -> bool) -> Option<Outcome> {
        let begin = Instant::now();
        while !holds() {
            assert!(
                begin.elapsed() < DEADLINE,
                "neither holds it nor is this the end; stderr: {:#?}",
                self.printed
            );
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(line) => self.printed.push(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.ended_within(DEADLINE),
            }
        }
        None
    }

    /// Waits for a line on stderr that holds a text.
    #[track_caller]
    pub(crate) fn wait_for_line(&mut self, text: &str) {
        let begin = Instant::now();
        while !self.printed.iter().any(|line| line.contains(text)) {
            let left = DEADLINE.saturating_sub(begin.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.printed.push(line),
                Err(_) => panic!("no line with `{text}`; stderr: {:#?}", self.printed),
            }
        }
    }

    /// Waits for a line on stderr with a word that begins so, and gives the word.
    #[track_caller]
    pub(crate) fn word_of_line(&mut self, begin: &str) -> String {
        self.wait_for_line(begin);
        let words = || self.printed.iter().flat_map(|line| line.split_whitespace());
        words().find(|word| word.starts_with(begin)).unwrap().to_owned()
    }

    /// Waits until the first trial has samples on disk.
    #[track_caller]
    pub(crate) fn wait_for_samples(&mut self, bench: &Workbench) {
        self.wait_until("samples", || trial_file(bench, "samples.ndjson").contains('\n'));
    }

    /// Waits until the load of the first trial has begun.
    #[track_caller]
    pub(crate) fn wait_for_load(&mut self, bench: &Workbench) {
        self.wait_until("a load", || trial_file(bench, "trial.json").contains("\"workload\""));
    }

    pub(crate) fn send(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Outcome {
        self.ended_within(DEADLINE).expect("the program did not end")
    }

    /// Waits for the end, but no longer than so.
    pub(crate) fn ended_within(&mut self, limit: Duration) -> Option<Outcome> {
        let begin = Instant::now();
        loop {
            match self.lines.recv_timeout(limit.saturating_sub(begin.elapsed())) {
                Ok(line) => self.printed.push(line),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let code = self.child.wait().unwrap().code();
        let stdout = fs::read_to_string(&self.stdout).unwrap();
        Some(Outcome { code, stdout, stderr: self.printed.join("\n") })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines as they come; the channel closes when nobody has the pipe open for writing, which is the program's end.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines() {
            // The test may have ended.
            let _ = sender.send(line.unwrap());
        }
    });
    lines
}

/// A file of the first trial; empty while it is not there.
fn trial_file(bench: &Workbench, name: &str) -> String {
    let Some(results) = bench.results() else { return String::new() };
    fs::read_to_string(results.join("trials/0001").join(name)).unwrap_or_default()
}
