//! `cargo xtask`: everything that a change must pass, and the benchmarks against other tools.
//!
//! It sees the workspace from outside, through cargo, the sources and the built program. Of its crates it links only
//! `instance`, for the servers of the benchmarks, and `stats`, for their verdicts. So a crate that does not compile fails its step
//! and hides no other.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is what it is for")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::bench::Bench;
use crate::ci::Step;
use crate::sqlserver_suite::SuiteOptions;
use crate::workspace::Workspace;

mod bench;
mod book;
mod ci;
mod pages;
mod sqlserver_suite;
mod study_runs;
mod tree;
mod workspace;

fn main() -> ExitCode {
    let matches = Arguments::command().get_matches();
    // Only benchmarks ask for the name of their subcommand.
    let name = matches.subcommand().and_then(|(_, of)| of.subcommand_name()).unwrap_or_default();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match run(&arguments, name) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Checks and benchmarks of the prony tree
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that a change must pass: the steps below, all of them even if one fails
    Ci,
    #[command(flatten)]
    Step(Step),
    /// Compare with other tools on this machine, or be hostile to prony; not part of `ci`
    Bench {
        #[command(subcommand)]
        bench: Bench,
        /// Another prony, such as that of the last release: CPU of both in turn, with a verdict on regressions of more than 3 %
        #[arg(long, global = true, value_name = "BINARY")]
        against: Option<PathBuf>,
    },
    /// Faults of style in texts that users read, by place: `report literals`, `prony help`, `markdown`
    Words {
        /// Only places or paths that begin with this
        #[arg(default_value = "")]
        place: String,
    },
    /// Import circles: files of a crate that use each other in a ring
    Circles {
        /// Only this crate
        #[arg(default_value = "")]
        name: String,
        /// Only what this file uses, and what uses it
        #[arg(long)]
        file: Option<String>,
    },
    /// Everything that prony does on a SQL Server, on one that you have: a table of what passed
    #[command(name = "test-sqlserver")]
    TestSqlServer(SuiteOptions),
}

fn run(arguments: &Arguments, name: &str) -> Result<bool> {
    let workspace = Workspace::open()?;
    match &arguments.command {
        Command::Ci => Ok(ci::run_all(&workspace)),
        Command::Step(step) => Ok(ci::run_one(step, &workspace)),
        Command::Bench { bench, against } => bench.run(name, against.as_deref(), &workspace),
        Command::Words { place } => tree::print_words(&workspace, place).map(|()| true),
        Command::Circles { name, file } => {
            tree::print_circles(&workspace, name, file.as_deref()).map(|()| true)
        }
        Command::TestSqlServer(options) => sqlserver_suite::run_all(options, &workspace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
