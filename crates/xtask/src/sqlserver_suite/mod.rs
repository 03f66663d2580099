//! `cargo xtask test-sqlserver --url …`: everything that prony does on a SQL Server, on one that somebody has, and a table of what passed.
//!
//! Each step is a command as a user would type it, judged by its exit code, by what it says, and by its own count of what is in the
//! database against what was acknowledged. Databases have names of their own and are removed; nothing else on the server is touched, but
//! for sessions in these databases, which two steps end in the middle.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::workspace::{Workspace, run};

mod command;
mod judge;
mod steps;
mod table;

use command::{Ran, Server};
use steps::{STEPS, Step};

/// What is tested, and with what.
#[derive(Args)]
pub(crate) struct SuiteOptions {
    /// Address of the server, with a login that may make databases:
    /// sqlserver://user:password@host:1433/master?encrypt=on&trust_server_certificate=true
    #[arg(long, value_name = "URL")]
    url: String,
    /// Only steps whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Also what takes minutes: a search of the rate, and the published studies, shortened
    #[arg(long)]
    long: bool,
    /// A prony that was built already [default: the release one, which is built]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Write the table to this file too, in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// How a step ended.
pub(crate) enum Outcome {
    Passed,
    /// The server has not what the step needs, in the words that prony had for it.
    Lacking(String),
    Failed(String),
    /// Something before it failed.
    NotRun(&'static str),
}

/// A step that is over.
pub(crate) struct Done {
    step: &'static Step,
    outcome: Outcome,
    took_s: f64,
}

/// Runs all steps; false if one failed.
pub(crate) fn run_all(options: &SuiteOptions, workspace: &Workspace) -> Result<bool> {
    let program = match &options.program {
        Some(program) => program.canonicalize().with_context(|| format!("no {}", program.display()))?,
        None => workspace.build_prony()?,
    };
    run(&mut workspace.cargo(&[
        "build",
        "--release",
        "--package",
        "prony-database",
        "--example",
        "run_sql",
    ]))?;
    let place = tempfile::Builder::new().prefix("sqlserver-").tempdir_in(workspace.target_directory())?;
    let server = Server {
        url: options.url.clone(),
        program,
        run_sql: workspace.target_directory().join("release/examples/run_sql"),
        place: place.path().to_owned(),
        databases: format!("prony_suite_{}_{}_", std::process::id(), now_s()),
    };
    let version = server.version()?;
    println!("{version}");
    let mut done = Vec::new();
    let is_asked = |step: &Step| step.name.contains(options.only.as_str());
    let is_needed = |step: &Step| STEPS.iter().any(|other| other.after == Some(step.name) && is_asked(other));
    for step in STEPS.iter().filter(|step| is_asked(step) || is_needed(step)) {
        if step.is_long && !options.long {
            continue;
        }
        done.push(one(&server, step, &done));
        if let Some(last) = done.last() {
            println!("{}", table::line(last));
        }
    }
    ensure!(!done.is_empty(), "no step is called `{}`", options.only);
    server.clear()?;
    println!("\n{}", table::sum(&done));
    if let Some(file) = &options.markdown {
        write(file, &table::markdown(&version, &done))?;
    }
    Ok(!done.iter().any(|done| matches!(done.outcome, Outcome::Failed(_))))
}

/// Seconds since 1970, which make a run's names its own.
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn one(server: &Server, step: &'static Step, before: &[Done]) -> Done {
    let begin = Instant::now();
    let failed =
        |done: &&Done| Some(done.step.name) == step.after && !matches!(done.outcome, Outcome::Passed);
    let outcome = match before.iter().find(failed) {
        Some(failed) => Outcome::NotRun(failed.step.name),
        None => match server.ran(step) {
            Ok(ran) => judge::judged(step, &ran),
            Err(error) => Outcome::Failed(format!("{error:#}")),
        },
    };
    Done { step, outcome, took_s: begin.elapsed().as_secs_f64() }
}

/// The part of a JSON document at a pointer, as a number.
fn number(document: &Value, pointer: &str) -> Option<u64> {
    document.pointer(pointer)?.as_u64()
}
