//! A directory of its own for each test, and the program run in it to its end.
//!
//! The program sees nothing of the tester's environment but the search path, so that a `PRONY_*` variable or a narrow
//! terminal changes no test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The program.
pub(crate) const PRONY: &str = env!("CARGO_BIN_EXE_prony");
/// Exit code of a run with a trial that does not count.
pub(crate) const INVALID: i32 = 5;

/// Far more than any run here takes, even on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(100);

/// A directory that vanishes with the test.
pub(crate) struct Workbench {
    directory: TempDir,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workbench {
    /// Below the target directory, for /tmp may be in memory and have no direct I/O.
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The program in this directory; its environment is empty but for the search paths of programs and libraries.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        command.current_dir(self.directory.path()).env_clear().stdin(std::process::Stdio::null());
        // Most tests look at the tables.
        command.env("PRONY_DETAILS", "true");
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(path) = std::env::var_os(name) {
                command.env(name, path);
            }
        }
        command
    }

    /// Runs prony to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(&[], arguments)
    }

    /// Runs prony to its end, with variables set.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut command = self.command(PRONY);
        command.args(arguments).envs(variables.iter().copied());
        finish(command)
    }

    /// Makes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Makes a file that nobody would mistake for one of ours, of so many MiB.
    pub(crate) fn foreign(&self, name: &str, mib: usize) -> Vec<u8> {
        let content: Vec<u8> = (0..mib << 20).map(|at: usize| (at % 251) as u8).collect();
        self.write(name, &content);
        content
    }

    /// Names of what is in a directory, sorted.
    pub(crate) fn names(&self, directory: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The results directory, if there is one.
    pub(crate) fn results(&self) -> Option<PathBuf> {
        let parent = self.path("prony-results");
        let mut entries = fs::read_dir(parent).into_iter().flatten().map(|entry| entry.unwrap().path());
        let first = entries.next();
        assert_eq!(entries.next(), None, "one study leaves one results directory");
        first
    }

    /// The JSON document of a results directory, through `prony report`.
    pub(crate) fn report_json(&self, directory: &Path) -> Value {
        self.run(&["report", directory.to_str().unwrap(), "--json"]).json()
    }

    /// Options that keep off direct I/O where this file system has none.
    pub(crate) fn cache(&self) -> &'static [&'static str] {
        if self.has_direct_io() { &[] } else { &["--cache", "buffered"] }
    }

    pub(crate) fn has_direct_io(&self) -> bool {
        use rustix::fs::{Mode, OFlags};
        let probe = self.write("direct-probe", "");
        let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let has = rustix::fs::open(&probe, flags, Mode::empty()).is_ok();
        fs::remove_file(probe).unwrap();
        has
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: std::process::Command) -> Outcome {
    let output = assert_cmd::Command::from_std(command).timeout(DEADLINE).output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Outcome {
    /// Asserts the exit code, and shows all that was printed if it is another.
    #[track_caller]
    pub(crate) fn ended_with(self, code: i32) -> Self {
        let neutral = [&self.stdout, &self.stderr].into_iter().find(|text| text.contains("‹"));
        assert_eq!(neutral, None, "parameters are spelled as this command takes them");
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that the run measured. It accepts a trial that is invalid because the machine is too busy.
    #[track_caller]
    pub(crate) fn measured(self) -> Self {
        let code = if self.code == Some(INVALID) { INVALID } else { 0 };
        self.ended_with(code)
    }

    /// Asserts that a text is on stderr.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "`{text}` is not in:\n{}", self.stderr);
        self
    }

    /// Stdout as the one JSON document that it is.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in:\n{}\nstderr:\n{}", self.stdout, self.stderr))
    }
}

/// A JSON file.
pub(crate) fn json_file(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
