//! `cargo xtask`: everything that a change must pass, and the benchmarks against other tools.
//!
//! It sees the workspace from outside, through cargo, the sources and the built program. Of its crates it links only
//! `instance`, for the servers of the benchmarks, so that another one that does not compile is reported by a step instead of
//! hiding the others.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is what it is for")]

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::bench::Bench;
use crate::ci::Step;
use crate::sqlserver_suite::SuiteOptions;
use crate::workspace::Workspace;

mod bench;
mod ci;
mod sqlserver_suite;
mod study_runs;
mod tree;
mod workspace;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
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
    /// Everything that a change must pass: the steps below in this order, all of them even if one fails
    Ci,
    #[command(flatten)]
    Step(Step),
    /// Compare with other tools on this machine, or be hostile to prony; not part of `ci`
    Bench {
        #[command(subcommand)]
        bench: Bench,
    },
    /// Everything that prony does on a SQL Server, on one that you have: a table of what passed
    #[command(name = "test-sqlserver")]
    TestSqlServer(SuiteOptions),
}

fn run(arguments: &Arguments) -> Result<bool> {
    let workspace = Workspace::open()?;
    match &arguments.command {
        Command::Ci => Ok(ci::run(&Step::ALL, &workspace)),
        Command::Step(step) => Ok(ci::run(&[*step], &workspace)),
        Command::Bench { bench } => bench.run(&workspace),
        Command::TestSqlServer(options) => sqlserver_suite::run_all(options, &workspace),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
