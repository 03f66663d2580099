//! The steps of `cargo xtask ci`, each of them a command of its own.
//!
//! A step says what went wrong on its own output; here only order, time and the list of failures are kept.

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Subcommand;

use crate::workspace::Workspace;
use crate::{study_runs, tree};

mod duckdb;
mod licences;
mod memory;
mod packages;
mod python;
mod servers;
pub(crate) mod test_step;
pub(crate) mod watch;

/// One step. The text is its line in `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Step {
    /// Database servers that the tests start, and a C compiler; installed by apt-get where we are root
    Servers,
    /// A Python with DuckDB, pandas and PyArrow below the target directory, which tests read exports with
    Python,
    /// Formatting, by cargo fmt
    Format,
    /// Lints, by clippy; a warning is an error
    Lint,
    /// All tests of the workspace
    Test,
    /// DuckDB's library below the target directory, by npm, and tests of what is linked to it
    Duckdb,
    /// The tree: dependency table, module docs, function length, fences between crates, names, style, forbidden text
    Tree,
    /// Short studies with the program that the tests have built, as a user would run it
    Study,
    /// Licences of all dependencies against deny.toml; bans and sources by cargo-deny, where it is installed
    Deny,
}

/// How a step ended, if it did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// Something that the step needs is not on this machine.
    NotRun(String),
}

/// Runs all steps, prints the summary and returns whether none failed.
pub(crate) fn run(steps: &[Step], workspace: &Workspace) -> bool {
    let results: Vec<(Step, Duration, Result<Outcome>)> = steps
        .iter()
        .map(|&step| {
            println!("\n== {}", step.name());
            let begin = Instant::now();
            let result = step.run(workspace);
            if let Err(error) = &result {
                println!("failed: {error:#}");
            }
            (step, begin.elapsed(), result)
        })
        .collect();
    println!();
    for (step, duration, result) in &results {
        println!("{:<8}{:>8.1} s  {}", step.name(), duration.as_secs_f64(), outcome_text(result));
    }
    let failed: Vec<&str> =
        results.iter().filter(|(_, _, result)| result.is_err()).map(|(step, ..)| step.name()).collect();
    if !failed.is_empty() {
        println!("\nFAILED: {}", failed.join(", "));
    }
    failed.is_empty()
}

fn outcome_text(result: &Result<Outcome>) -> String {
    match result {
        Ok(Outcome::Passed) => "passed".to_owned(),
        Ok(Outcome::NotRun(reason)) => format!("not run: {reason}"),
        Err(_) => "FAILED".to_owned(),
    }
}

impl Step {
    /// In the order of `ci`: what others need comes first, then what is quick to know.
    pub(crate) const ALL: [Self; 9] = [
        Self::Servers,
        Self::Python,
        Self::Format,
        Self::Lint,
        // Before the tests, which leave the program without it.
        Self::Duckdb,
        Self::Test,
        Self::Tree,
        Self::Study,
        Self::Deny,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Servers => "servers",
            Self::Python => "python",
            Self::Format => "format",
            Self::Lint => "lint",
            Self::Duckdb => "duckdb",
            Self::Test => "test",
            Self::Tree => "tree",
            Self::Study => "study",
            Self::Deny => "deny",
        }
    }

    fn run(self, workspace: &Workspace) -> Result<Outcome> {
        match self {
            Self::Servers => servers::check(),
            Self::Python => python::make(workspace),
            Self::Format => cargo(workspace, &["fmt", "--all", "--check"]),
            Self::Lint => lint(workspace),
            Self::Duckdb => duckdb::test(workspace),
            Self::Test => test_step::run(workspace),
            Self::Tree => tree::check(workspace),
            Self::Study => study_runs::run(workspace),
            Self::Deny => deny(workspace),
        }
    }
}

/// Lints with DuckDB if its library can be had, and then the code that takes its place as well.
fn lint(workspace: &Workspace) -> Result<Outcome> {
    let clippy = |scope: &[&str]| {
        let arguments = [&["clippy"], scope, &["--all-targets", "--", "-D", "warnings"]].concat();
        let mut command = workspace.cargo(&arguments);
        duckdb::add_library(&mut command, workspace);
        watch::run_within(watch::LIMIT, command)
    };
    // Without npm there is no library. The step `duckdb` reports that.
    if duckdb::fetch(workspace)? == Outcome::Passed {
        clippy(&["--workspace", "--features", "prony/duckdb"])?;
        clippy(&["--package", "prony-database"])?;
    } else {
        clippy(&["--workspace"])?;
    }
    Ok(Outcome::Passed)
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<Outcome> {
    watch::run_within(watch::LIMIT, workspace.cargo(arguments))?;
    Ok(Outcome::Passed)
}

fn deny(workspace: &Workspace) -> Result<Outcome> {
    licences::check(workspace)?;
    let installed = workspace.cargo(&["deny", "--version"]).output()?.status.success();
    if !installed {
        return Ok(Outcome::NotRun(
            "bans and sources, for cargo-deny is not installed; `cargo install --locked cargo-deny` brings it"
                .to_owned(),
        ));
    }
    cargo(workspace, &["deny", "check", "licenses", "bans", "sources"])
}
