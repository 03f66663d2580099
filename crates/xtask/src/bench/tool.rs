//! Runs fio or prony once and reads what it measured.
//!
//! CPU time is taken twice: of the whole process, from the kernel, in the same way for both tools; and of the
//! load thread, as each tool reports it. The first one includes start, calibration and report.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use super::io_limit::IoLimit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Fio,
    Prony,
}

/// Where fio is told to write, below the place of its run: on stdout it mixes JSON with remarks.
pub(super) const FIO_JSON: &str = "fio.json";

/// Exit codes of prony with figures: all is well, or the trial is invalid, as an open loop on a busy machine may be.
const PRONY_MEASURED: [i32; 2] = [0, 5];

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurement {
    /// I/Os a second of the whole run.
    pub(super) iops: f64,
    /// CPU time of the process per I/O, in microseconds.
    pub(super) process_cpu_us: f64,
    /// CPU time of the load thread per I/O, in microseconds, as reported by the tool.
    pub(super) thread_cpu_us: Option<f64>,
}

/// What a tool's JSON says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    operations: f64,
    iops: f64,
    /// CPU time of the load thread, all I/Os together.
    thread_cpu_us: Option<f64>,
}

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Prony => "prony",
        }
    }
}

/// The version line of fio, or none if it is not installed.
pub(super) fn fio_version() -> Option<String> {
    let output = Command::new("fio").arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

/// Runs the tool in `place`, below the limit if there is one.
pub(super) fn measure(
    tool: Tool,
    prony: &Path,
    arguments: &[String],
    place: &Path,
    limit: Option<&IoLimit>,
) -> Result<Measurement> {
    let program = match tool {
        Tool::Fio => Path::new("fio"),
        Tool::Prony => prony,
    };
    let mut command = match limit {
        Some(limit) => limit.command(program),
        None => Command::new(program),
    };
    command.args(arguments).current_dir(place).stdin(Stdio::null());
    let cpu_before_us = children_cpu_us()?;
    let output = command.output().with_context(|| format!("cannot start {}", tool.name()))?;
    let process_cpu_us = children_cpu_us()? - cpu_before_us;
    let accepted = match tool {
        Tool::Fio => [0].as_slice(),
        Tool::Prony => PRONY_MEASURED.as_slice(),
    };
    if !output.status.code().is_some_and(|code| accepted.contains(&code)) {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("`{} {}` ended with {}:\n{said}", tool.name(), arguments.join(" "), output.status);
    }
    let figures = figures_of(tool, &output, place)?;
    Ok(Measurement {
        iops: figures.iops,
        process_cpu_us: process_cpu_us / figures.operations,
        thread_cpu_us: figures.thread_cpu_us.map(|cpu_us| cpu_us / figures.operations),
    })
}

fn figures_of(tool: Tool, output: &Output, place: &Path) -> Result<Figures> {
    let (json, figures): (_, fn(&Value) -> Option<Figures>) = match tool {
        Tool::Fio => (fs::read(place.join(FIO_JSON)).context("fio left no output")?, fio_figures),
        Tool::Prony => (output.stdout.clone(), prony_figures),
    };
    let json: Value =
        serde_json::from_slice(&json).with_context(|| format!("{} wrote no JSON", tool.name()))?;
    figures(&json).with_context(|| {
        let begin: String = json.to_string().chars().take(2000).collect();
        format!("{} counts no I/O in its JSON, which begins with:\n{begin}", tool.name())
    })
}

/// User and system time of all children that have ended.
pub(super) fn children_cpu_us() -> Result<f64> {
    let usage =
        getrusage(UsageWho::RUSAGE_CHILDREN).context("cannot read the CPU time of child processes")?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64)
}

/// fio gives the CPU as shares of the job's runtime, of the job's thread alone when jobs are threads.
fn fio_figures(json: &Value) -> Option<Figures> {
    let job = json.pointer("/jobs/0")?;
    let cpu_per_cent = job.get("usr_cpu")?.as_f64()? + job.get("sys_cpu")?.as_f64()?;
    let runtime_us = job.get("job_runtime")?.as_f64()? * 1e3;
    Figures {
        operations: job.pointer("/read/total_ios")?.as_f64()?,
        iops: job.pointer("/read/iops")?.as_f64()?,
        thread_cpu_us: Some(cpu_per_cent / 100.0 * runtime_us),
    }
    .counted()
}

/// The only place that knows the form of `prony disk --json`.
fn prony_figures(json: &Value) -> Option<Figures> {
    let trial = json.pointer("/trials/0")?;
    let operations = trial.pointer("/figures/0/operations")?.as_f64()?;
    let cpu_us = trial.pointer("/generator/cpu_us_per_operation").and_then(Value::as_f64);
    Figures {
        operations,
        iops: trial.pointer("/figures/0/per_s")?.as_f64()?,
        thread_cpu_us: cpu_us.map(|cpu_us| cpu_us * operations),
    }
    .counted()
}

impl Figures {
    /// None if nothing was counted: then there is nothing to divide by.
    fn counted(self) -> Option<Self> {
        (self.operations > 0.0).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fio_is_read_with_its_shares_of_cpu() {
        let job = json!({
            "usr_cpu": 10.0, "sys_cpu": 30.0, "job_runtime": 5_000,
            "read": { "total_ios": 400_000, "iops": 80_000.0 },
        });
        let figures = fio_figures(&json!({ "jobs": [job] })).unwrap();
        let expected = Figures { operations: 400_000.0, iops: 80_000.0, thread_cpu_us: Some(2_000_000.0) };
        assert_eq!(figures, expected);
    }

    #[test]
    fn prony_is_read_with_the_load_thread_apart() {
        let trial = json!({
            "figures": [{ "kind": "read", "operations": 1_000, "per_s": 200.0 }],
            "generator": { "cpu_us_per_operation": 3.5 },
        });
        let figures = prony_figures(&json!({ "trials": [trial] })).unwrap();
        let expected = Figures { operations: 1_000.0, iops: 200.0, thread_cpu_us: Some(3_500.0) };
        assert_eq!(figures, expected);
    }

    #[test]
    fn a_run_without_operations_is_no_measurement() {
        let job = json!({
            "usr_cpu": 0.0, "sys_cpu": 0.0, "job_runtime": 5_000, "read": { "total_ios": 0, "iops": 0.0 },
        });
        assert_eq!(fio_figures(&json!({ "jobs": [job] })), None);
        assert_eq!(fio_figures(&json!({ "jobs": [] })), None);
    }
}
