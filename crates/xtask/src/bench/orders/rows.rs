//! Rows of the order store that one core makes.
//!
//! All tables of a store of 200 MB with what is counted beforehand, into a sink that looks at each value and keeps none, into
//! the typed rows that a database is loaded with, and into lines of CSV (`crates/workload/examples/order_rows.rs`).

use std::process::Command;

use anyhow::Result;

use super::super::OrdersOptions;
use super::super::program::number;
use super::super::ratio;
use crate::workspace::{Workspace, run as run_command};

/// Rows a second that one core is to make.
const GOAL_PER_S: f64 = 2e6;

/// Arguments of the program, and what they measure.
const KINDS: [(&str, &str); 3] = [
    ("nothing", "rows per second, to nothing"),
    ("rows", "typed rows per second"),
    ("csv", "CSV lines per second"),
];

pub(super) fn run(options: &OrdersOptions, workspace: &Workspace) -> Result<()> {
    let example = ["build", "--release", "--package", "prony-workload", "--example", "order_rows"];
    run_command(&mut workspace.cargo(&example))?;
    let program = workspace.target_directory().join("release/examples/order_rows");
    println!("\norder store of 200 MB, on one core");
    for (kind, name) in KINDS {
        // One core, by the scheduler's mask.
        let run = || number(Command::new("taskset").args(["-c", "0"]).arg(&program).arg(kind));
        let rates: Result<Vec<f64>> = (0..options.runs).map(|_| run()).collect();
        println!("{}", ratio::at_least(name, rates?, GOAL_PER_S));
    }
    Ok(())
}
