//! The steps of `cargo xtask ci`, each of them a command of its own.
//!
//! A step says what went wrong on its own output; here only order, time and the list of failures are kept.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Subcommand;

use crate::pages::PagesOptions;
use crate::workspace::Workspace;
use crate::{book, pages, study_runs, tree};

mod duckdb;
mod licences;
mod memory;
pub(crate) mod npm;
pub(crate) mod packages;
mod python;
mod servers;
pub(crate) mod test_step;
pub(crate) mod watch;

/// One step. The text is its line in `--help`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
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
    /// Report pages as a reader sees them: pictures by Chromium against references, layout, and accessibility by axe-core
    Pages(PagesOptions),
    /// Short studies with the program that the tests have built, as a user would run it
    Study,
    /// The book of all documents below the target directory, by mdBook, with every link checked
    Book,
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

/// Steps that run one after another, and others beside them that use what they leave of the CPUs.
struct Stage {
    steps: &'static [Step],
    /// Run by a child, at the lowest priority. Its output follows that of the steps, so that the lines of two never mix.
    beside: &'static [Step],
}

/// All steps. What others need comes first, then what is quick to know.
const STAGES: [Stage; 3] = [
    // Installing waits for the network, linting for the CPUs.
    Stage { steps: &[Step::Format, Step::Lint, Step::Duckdb], beside: &[Step::Servers, Step::Python] },
    Stage { steps: &[Step::Test], beside: &[] },
    // Studies measure, and wait for most of their time.
    Stage {
        steps: &[Step::Study],
        beside: &[Step::Tree, Step::Pages(PagesOptions::ALL), Step::Book, Step::Deny],
    },
];

/// How a step went.
struct Ended {
    step: Step,
    duration: Duration,
    result: Result<Outcome>,
}

/// Runs one step, prints the summary and returns whether it did not fail.
pub(crate) fn run_one(step: &Step, workspace: &Workspace) -> bool {
    summarize(&[step.timed(workspace)])
}

/// Runs all steps, even if one fails.
pub(crate) fn run_all(workspace: &Workspace) -> bool {
    let mut ended = Vec::new();
    for stage in STAGES {
        let (own, beside) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| stage.beside.iter().map(|step| step.in_child()).collect::<Vec<_>>());
            let own: Vec<Ended> = stage.steps.iter().map(|step| step.timed(workspace)).collect();
            (own, beside.join())
        });
        ended.extend(own);
        // A panic has printed its message.
        for (step, output) in beside.unwrap_or_default() {
            print!("{output}");
            ended.push(step);
        }
    }
    let steps: usize = STAGES.iter().map(|stage| stage.steps.len() + stage.beside.len()).sum();
    summarize(&ended) && ended.len() == steps
}

/// Prints the time and the result of each step, and returns whether none failed.
fn summarize(ended: &[Ended]) -> bool {
    println!();
    for Ended { step, duration, result } in ended {
        println!("{:<8}{:>8.1} s  {}", step.name(), duration.as_secs_f64(), outcome_text(result));
    }
    let failed: Vec<&str> =
        ended.iter().filter(|ended| ended.result.is_err()).map(|ended| ended.step.name()).collect();
    if !failed.is_empty() {
        println!("\nFAILED: {}", failed.join(", "));
    }
    failed.is_empty()
}

fn outcome_text(result: &Result<Outcome>) -> String {
    match result {
        Ok(Outcome::Passed) => "passed".to_owned(),
        Ok(Outcome::NotRun(reason)) => format!("{NOT_RUN}{reason}"),
        Err(_) => "FAILED".to_owned(),
    }
}

/// The outcome that a step which did not fail has printed in its summary.
fn outcome_in(output: &str) -> Outcome {
    let summary = output.lines().last().unwrap_or_default();
    match summary.split_once(NOT_RUN) {
        Some((_, reason)) => Outcome::NotRun(reason.to_owned()),
        None => Outcome::Passed,
    }
}

/// Before the reason in a summary.
const NOT_RUN: &str = "not run: ";

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Self::Servers => "servers",
            Self::Python => "python",
            Self::Format => "format",
            Self::Lint => "lint",
            Self::Duckdb => "duckdb",
            Self::Test => "test",
            Self::Tree => "tree",
            Self::Pages(_) => "pages",
            Self::Study => "study",
            Self::Book => "book",
            Self::Deny => "deny",
        }
    }

    fn timed(&self, workspace: &Workspace) -> Ended {
        println!("\n== {}", self.name());
        let begin = Instant::now();
        let result = self.run(workspace);
        if let Err(error) = &result {
            println!("failed: {error:#}");
        }
        Ended { step: self.clone(), duration: begin.elapsed(), result }
    }

    /// Runs the step in a child of the lowest priority, and returns its output.
    fn in_child(&self) -> (Ended, String) {
        let begin = Instant::now();
        let mut output = Vec::new();
        let result = std::env::current_exe().map_err(Into::into).and_then(|xtask| {
            let mut command = Command::new("nice");
            command.args(["-n", "19"]).arg(xtask).arg(self.name());
            watch::run_into(watch::LIMIT, command, None, &mut output)
        });
        let output = String::from_utf8_lossy(&output).into_owned();
        let result = result.map(|()| outcome_in(&output));
        (Ended { step: self.clone(), duration: begin.elapsed(), result }, output)
    }

    fn run(&self, workspace: &Workspace) -> Result<Outcome> {
        match self {
            Self::Servers => servers::check(),
            Self::Python => python::make(workspace),
            Self::Format => cargo(workspace, &["fmt", "--all", "--check"]),
            Self::Lint => lint(workspace),
            Self::Duckdb => duckdb::test(workspace),
            Self::Test => test_step::run(workspace),
            Self::Tree => tree::check(workspace),
            Self::Pages(options) => pages::check(workspace, options),
            Self::Study => study_runs::run(workspace),
            Self::Book => make_book(workspace),
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

/// Makes the book with the program that the tests use.
fn make_book(workspace: &Workspace) -> Result<Outcome> {
    test_step::build(workspace)?;
    book::build(workspace, &workspace.tested_prony())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_step_is_run_once() {
        let commands = Step::augment_subcommands(clap::Command::new("xtask"));
        let all: BTreeSet<&str> = commands.get_subcommands().map(clap::Command::get_name).collect();
        let steps = || STAGES.into_iter().flat_map(|stage| stage.steps.iter().chain(stage.beside));
        let run = || steps().map(Step::name);
        assert_eq!(run().collect::<BTreeSet<_>>(), all);
        assert_eq!(run().count(), all.len());
    }

    #[test]
    fn a_step_in_a_child_says_why_it_was_not_run() {
        assert_eq!(outcome_in("x\ndeny         0.1 s  passed\n"), Outcome::Passed);
        let reason = Outcome::NotRun("npm is not installed".to_owned());
        assert_eq!(outcome_in("x\nduckdb       0.1 s  not run: npm is not installed\n"), reason);
    }
}
