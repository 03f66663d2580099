//! `cargo xtask bench study`: how long the plan and the report of a study of 500 trials take.
//!
//! The study is a simulated one, so that its trials take no time of their own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};

use super::report::only_results;
use crate::workspace::{Workspace, line_of};

/// Ten by seven combinations and the reference again, in seven blocks: 497 trials.
pub(super) const STUDY: &str = r#"
blocks = 7
[workload.disk]
engine = "simulated"
simulated = { service = "5ms", parallel = 8 }
duration = "1m"
[target]
paths = ["."]
[[axis]]
key = "workload.disk.outstanding"
levels = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]
[[axis]]
key = "workload.disk.block_size"
levels = ["512B", "1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB"]
"#;

const REPEATS: usize = 5;
/// What each may take.
const PLAN_MS_MAX: f64 = 100.0;
const REPORT_MS_MAX: f64 = 3000.0;

pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let prony = workspace.build_prony()?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    std::fs::write(place.path().join("study.toml"), STUDY)?;
    let plan = median_ms(&prony, place.path(), &["study", "plan", "study.toml"])?;
    tell("plan of a study of 497 trials", plan, PLAN_MS_MAX);
    once(&prony, place.path(), &["study", "run", "study.toml"])?;
    let results = only_results(place.path())?;
    tell(
        "report of it, read, judged and written",
        median_ms(&prony, place.path(), &["report", &results])?,
        REPORT_MS_MAX,
    );
    Ok(())
}

fn tell(what: &str, ms: f64, ms_max: f64) {
    let verdict = if ms <= ms_max { "reached" } else { "MISSED" };
    println!("{what}: {ms:.1} ms (goal ≤ {ms_max:.0} ms: {verdict})");
}

/// The median time that a command takes, its start included.
fn median_ms(prony: &Path, place: &Path, arguments: &[&str]) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let begin = Instant::now();
        once(prony, place, arguments)?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[REPEATS / 2])
}

fn once(prony: &Path, place: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(prony);
    command
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.status()?;
    ensure!(status.success(), "`{}` ended with {status}", line_of(&command));
    Ok(())
}
