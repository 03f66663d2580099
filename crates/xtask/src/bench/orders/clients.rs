//! What clients of the order store cost on PostgreSQL: CPU beside the server's, and memory of a thousand of them.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instance::{Options, Postgres};
use serde_json::Value;
use tempfile::TempDir;

use super::super::OrdersOptions;
use super::super::program::output;
use super::super::ratio;
use crate::workspace::{Workspace, line_of};

/// Most CPU of the load for an order, as a share of the server's.
const CPU_GOAL: f64 = 0.15;
/// Most memory of a thousand clients, in MiB.
const MEMORY_GOAL_MIB: f64 = 200.0;
/// Clients that order without thinking.
const BUSY_CLIENTS: &str = "8";

pub(super) fn run(options: &OrdersOptions, workspace: &Workspace) -> Result<()> {
    let prony = workspace.build_prony()?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    let server = Postgres::start(&Options::default().setting("max_connections", "1100"))?;
    let bench = Bench { prony: &prony, place, target: server.url() };
    output(Command::new(bench.prony).args(["orders", "load", "--target", &bench.target]))?;
    println!("\nPostgreSQL, procedures, {BUSY_CLIENTS} clients that do not think: CPU an order");
    let shares: Result<Vec<f64>> = (0..options.runs).map(|_| bench.cpu_share()).collect();
    println!("{}", ratio::at_most("load / server", shares?, CPU_GOAL));
    println!("\n1,000 clients that think a second: memory of the load in MiB");
    println!("{}", ratio::at_most("MiB", vec![bench.memory_mib()?], MEMORY_GOAL_MIB));
    Ok(())
}

struct Bench<'a> {
    prony: &'a Path,
    place: TempDir,
    target: String,
}

impl Bench<'_> {
    fn orders(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.prony);
        command.args(["orders", "run", "--target", &self.target, "--json"]).args(arguments);
        command.current_dir(self.place.path()).stdin(Stdio::null());
        command
    }

    /// CPU time of the load's threads as a share of all others' on the machine, over the measured window.
    fn cpu_share(&self) -> Result<f64> {
        let results = self.place.path().join("prony-results");
        if results.exists() {
            fs::remove_dir_all(&results)?;
        }
        let times = ["--warmup-time", "2s", "--run-time", "8s", "--ramp-rate", "1000"];
        output(self.orders(&["--n-threads", BUSY_CLIENTS, "--procedures", "on"]).args(times))?;
        let study = fs::read_dir(&results)?.next().context("prony left no results")??.path();
        let samples = fs::read_to_string(study.join("trials/0001/samples.ndjson"))?;
        let (mut load_us, mut server_us, mut orders) = (0.0, 0.0, 0.0);
        for line in samples.lines() {
            let sample: Value = serde_json::from_str(line)?;
            let number = |pointer: &str| sample.pointer(pointer).and_then(Value::as_f64);
            if sample["phase"] == "measure" {
                load_us += number("/generator_cpu_us").unwrap_or(0.0);
                server_us += number("/gauges/server_cpu_s").unwrap_or(0.0) * 1e6;
                orders += number("/operations/order/count").unwrap_or(0.0);
            }
        }
        ensure!(orders > 0.0 && server_us > 0.0, "prony measured nothing");
        println!(
            "  {:>8.0} orders   load {:>6.1} µs   server {:>7.1} µs",
            orders,
            load_us / orders,
            server_us / orders
        );
        Ok(load_us / server_us)
    }

    /// Most memory that was resident.
    fn memory_mib(&self) -> Result<f64> {
        let times = ["--think-time", "1s", "--ramp-rate", "1000", "--warmup-time", "2s", "--run-time", "8s"];
        let mut command = self.orders(&["--n-threads", "1000"]);
        command.args(times).stdout(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start `{}`", line_of(&command)))?;
        let mut most_mib = 0.0_f64;
        while child.try_wait()?.is_none() {
            most_mib = most_mib.max(resident_most_mib(&child).unwrap_or(0.0));
            std::thread::sleep(Duration::from_millis(50));
        }
        let status = child.wait()?;
        // A thousand clients beside their server on a small machine may starve the load, which then says so and ends with 5;
        // its memory is what it was all the same.
        ensure!(matches!(status.code(), Some(0 | 5)), "`{}` ended with {status}", line_of(&command));
        Ok(most_mib)
    }
}

/// The kernel's own peak, which only rises: `VmHWM` of <https://docs.kernel.org/filesystems/proc.html>, in KiB.
fn resident_most_mib(child: &Child) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}
