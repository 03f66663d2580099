//! `cargo xtask bench report`: how long the report of an hour of one-second samples takes.
//!
//! The hour is a simulated one, with queues that spread the latencies as real ones are spread, and with the most that
//! an hour can hold: reads and writes, each with response, service and lag.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::workspace::{Workspace, line_of};

/// An hour at 97 % of what the simulated device can do.
const HOUR: &str = "disk . --engine simulated --duration 1h --warm-up 0s --read-share 70 --rate 9700 --arrivals poisson \
                    --outstanding 1024";
/// What the report may take.
const SECONDS_MAX: f64 = 1.0;
const REPEATS: u32 = 5;

pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let prony = workspace.build_prony()?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    let in_place = |arguments: &[&str]| {
        let mut command = Command::new(&prony);
        command.args(arguments).current_dir(&place).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut hour = in_place(&HOUR.split_whitespace().collect::<Vec<_>>());
    let line = line_of(&hour);
    // A trial that is called invalid has its record all the same.
    ensure!(matches!(hour.status()?.code(), Some(0 | 5)), "`{line}` failed");
    let results = only_results(place.path())?;
    let mut seconds = Vec::new();
    for _ in 0..REPEATS {
        let begin = Instant::now();
        let status = in_place(&["report", &results]).status()?;
        seconds.push(begin.elapsed().as_secs_f64());
        ensure!(matches!(status.code(), Some(0 | 5)), "`prony report` failed: {status}");
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    let verdict = if median <= SECONDS_MAX { "reached" } else { "MISSED" };
    println!(
        "report of one hour, read, judged and written: median {median:.2} s of {REPEATS} (goal ≤ {SECONDS_MAX:.0} s: {verdict})"
    );
    Ok(())
}

/// The one results directory in a place.
pub(super) fn only_results(place: &Path) -> Result<String> {
    let results =
        std::fs::read_dir(place.join("prony-results"))?.next().context("there are no results")??;
    Ok(results.path().to_string_lossy().into_owned())
}
