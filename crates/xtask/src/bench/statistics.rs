//! `cargo xtask bench statistics`: what the statistics claim, tried on simulated data whose truth is known.

use std::time::Instant;

use anyhow::Result;

use super::StatisticsOptions;
use super::program::output;
use crate::workspace::Workspace;

/// Where the page is, from the root.
const PAGE: &str = "docs/statistics.md";

pub(super) fn run(options: &StatisticsOptions, workspace: &Workspace) -> Result<()> {
    let mut claims = workspace.cargo(&["run", "--quiet", "--release", "--package", "prony-stats"]);
    claims.args(["--example", "claims"]);
    let begun = Instant::now();
    match &options.only {
        Some(only) => print!("{}", output(claims.args(["--", only]))?),
        None => std::fs::write(workspace.root().join(PAGE), output(&mut claims)?)?,
    }
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}
