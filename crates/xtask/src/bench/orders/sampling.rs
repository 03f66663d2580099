//! What looking at a server's sessions ten times a second costs, on a throwaway PostgreSQL.
//!
//! Runs with and without take turns. Without: the login of the load loses the right to a function that the look needs, so that its
//! first look is refused and there is no other; nothing else of the load asks for that right. CPU is that of prony's sampling
//! threads and of the server's process for their session, as the kernel counts it in nanoseconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use instance::{Options, Postgres};
use serde_json::Value;
use tempfile::TempDir;

use super::super::OrdersOptions;
use super::super::program::output;
use super::super::ratio;
use crate::workspace::{Workspace, line_of};

/// Most that sampling may take of a core.
const CPU_GOAL: f64 = 0.01;
/// Least rate with sampling, as a share of that without.
const RATE_GOAL: f64 = 0.99;
/// Clients, a session each.
const CLIENTS: &str = "8";
/// Seconds of one run, after some that do not count.
const SECONDS: u32 = 10;
const WARM_UP_SECONDS: u32 = 2;
/// What a load logs in as.
const LOGIN: &str = "bench";

pub(super) fn run(options: &OrdersOptions, workspace: &Workspace) -> Result<()> {
    let prony = workspace.build_prony()?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    let server = Postgres::start(&Options::default().setting("max_connections", "300"))?;
    let admin = server.url();
    let port = server.port();
    let bench = Bench {
        prony,
        place,
        admin,
        target: format!("postgres://{LOGIN}:{LOGIN}@127.0.0.1:{port}/postgres"),
    };
    bench.sql(&format!("CREATE ROLE {LOGIN} LOGIN CREATEDB PASSWORD '{LOGIN}'"))?;
    output(Command::new(&bench.prony).args(["orders", "load", "--size", "10MB", "--target", &bench.target]))?;
    println!("\nPostgreSQL, order store, {CLIENTS} clients that do not think: with sampling, and without");
    let (mut rates, mut cores) = (Vec::new(), Vec::new());
    for pair in 0..options.pairs {
        let mut both = [None, None];
        // Who begins takes turns as well.
        for sampled in [pair % 2 == 0, pair % 2 != 0] {
            bench.sql(&format!(
                "{} EXECUTE ON FUNCTION pg_catalog.clock_timestamp() {} PUBLIC",
                if sampled { "GRANT" } else { "REVOKE" },
                if sampled { "TO" } else { "FROM" }
            ))?;
            both[usize::from(sampled)] = Some(bench.measured(sampled)?);
        }
        let [Some(without), Some(with)] = both else { bail!("a run of a pair is missing") };
        let per_core = with.sampler_s / with.length_s;
        let by_server = with.backend_s / with.length_s;
        println!(
            "  {:>3} with {:>8.1} orders/s   without {:>8.1} orders/s   of a core: prony {per_core:.4}, server {by_server:.4}",
            pair + 1,
            with.per_s,
            without.per_s
        );
        rates.push(with.per_s / without.per_s);
        cores.push(per_core + by_server);
    }
    println!("{}", ratio::at_least("rate, with / without", rates, RATE_GOAL));
    println!("{}", ratio::at_most("of a core, both together", cores, CPU_GOAL));
    Ok(())
}

struct Bench {
    prony: PathBuf,
    place: TempDir,
    admin: String,
    target: String,
}

/// One run.
struct Measured {
    per_s: f64,
    /// CPU time of prony's sampling threads, and of the server for them, over a length of time.
    sampler_s: f64,
    backend_s: f64,
    length_s: f64,
}

impl Bench {
    fn sql(&self, sql: &str) -> Result<()> {
        let mut command = Command::new("psql");
        command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &self.admin, "-c", sql]);
        let status = command.status().with_context(|| format!("cannot start `{}`", line_of(&command)))?;
        ensure!(status.success(), "`{}` ended with {status}", line_of(&command));
        Ok(())
    }

    fn measured(&self, sampled: bool) -> Result<Measured> {
        let results = self.place.path().join("prony-results");
        if results.exists() {
            fs::remove_dir_all(&results)?;
        }
        let mut command = Command::new(&self.prony);
        command.args(["orders", "run", "--target", &self.target, "--clients", CLIENTS, "--json"]);
        command.args(["--warm-up", &format!("{WARM_UP_SECONDS}s"), "--duration", &format!("{SECONDS}s")]);
        command.current_dir(self.place.path()).stdin(Stdio::null()).stderr(Stdio::null());
        let text = self.place.path().join("report.json");
        let mut child = command.stdout(fs::File::create(&text)?).spawn().context("cannot start prony")?;
        let used = watched(&mut child)?;
        let report: Value = serde_json::from_str(&fs::read_to_string(&text)?)?;
        let trial = &report["trials"][0];
        let per_s = trial["figures"][0]["per_s"].as_f64().context("prony measured nothing")?;
        ensure!(
            trial["budget"].is_object() == sampled,
            "sessions were to be {} looked at: {}",
            if sampled { "" } else { "not " },
            trial["notes"]
        );
        let length_s = f64::from(WARM_UP_SECONDS + SECONDS);
        Ok(Measured { per_s, sampler_s: used[0], backend_s: used[1], length_s })
    }
}

/// Most CPU time in seconds that was seen of a program's sampling threads, and of the server's process for them, until it ended.
fn watched(child: &mut Child) -> Result<[f64; 2]> {
    let begin = Instant::now();
    let mut most = [0.0_f64; 2];
    while child.try_wait()?.is_none() {
        let found = [threads_s(child.id()), backend_s()];
        most = [most[0].max(found[0]), most[1].max(found[1])];
        ensure!(begin.elapsed() < Duration::from_secs(600), "prony does not end");
        std::thread::sleep(Duration::from_millis(200));
    }
    let status = child.wait()?;
    // A machine that is too small for its server makes a run invalid, and its costs are what they were.
    ensure!(matches!(status.code(), Some(0 | 5)), "prony ended with {status}");
    Ok(most)
}

/// Of threads called `sampler`: those that read processors and devices are among them.
fn threads_s(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let samplers = tasks.filter(|task| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "sampler")
    });
    samplers.filter_map(|task| on_cpu_s(&task.path())).sum()
}

/// Of the one session of the load's login that is in no database of the load.
fn backend_s() -> f64 {
    let title = format!("postgres: {LOGIN} postgres ");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_it = |process: &fs::DirEntry| {
        fs::read(process.path().join("cmdline")).is_ok_and(|line| line.starts_with(title.as_bytes()))
    };
    processes.filter(is_it).filter_map(|process| on_cpu_s(&process.path())).fold(0.0, f64::max)
}

/// Time on a CPU by `schedstat` of <https://docs.kernel.org/scheduler/sched-stats.html>, in nanoseconds.
fn on_cpu_s(process: &Path) -> Option<f64> {
    let text = fs::read_to_string(process.join("schedstat")).ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}
