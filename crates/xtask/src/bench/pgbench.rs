//! `cargo xtask bench script`: a load generator's own cost, and its honesty about a server that hangs, against pgbench, and sysbench's cost.
//!
//! All send pgbench's select-only, prepared, to the same PostgreSQL, in turn. CPU is that of the whole program, its start and its report
//! included, over all transactions that it made: whatever the load takes is taken from the server on the same machine. What of it no
//! transaction takes (start, report, a look at machine and server each second) is told beside, since its share depends on how long is measured.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instance::{Options, Postgres};
use serde_json::Value;
use tempfile::TempDir;

use super::program::output;
use super::sysbench::Sysbench;
use super::tool::children_cpu_us;
use super::{PgbenchOptions, ratio};
use crate::workspace::{Workspace, line_of};

/// Rows of its tables: a million accounts.
const SCALE: &str = "10";
const ROWS: u64 = 1_000_000;
const SELECT_ONLY: &str =
    "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
const CLIENTS: [u32; 3] = [1, 8, 32];
/// Least rate and most CPU of a transaction, as shares of pgbench's.
const GOAL: f64 = 1.0;
/// How long the server hangs, and when.
const FROZEN: Duration = Duration::from_secs(2);
const FROZEN_AFTER: Duration = Duration::from_secs(4);
/// Transactions due a second while it does.
const RATE: &str = "400";
/// Most that the shares of late transactions may differ, as a share.
const LATE_GOAL: f64 = 0.1;

pub(super) fn run(options: &PgbenchOptions, workspace: &Workspace) -> Result<()> {
    let prony = options.program.clone().map_or_else(|| workspace.build_prony(), Ok)?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    fs::write(place.path().join("select-only.sql"), SELECT_ONLY)?;
    let settings = Options::default().setting("shared_buffers", "512MB").setting("max_connections", "200");
    let mut server = Postgres::start(&settings)?;
    let sysbench = Sysbench::new(place.path(), &server, ROWS)?;
    let prony = fs::canonicalize(prony)?;
    let bench = Bench { prony, pgbench: pgbench(), sysbench, place, server: server.url() };
    let made = Command::new(&bench.pgbench).args(["-i", "-q", "-s", SCALE, &bench.server]).output()?;
    ensure!(made.status.success(), "pgbench made no tables: {}", String::from_utf8_lossy(&made.stderr));
    if "clients".contains(&options.only) {
        bench.alone(options.seconds)?;
        let asked = options.clients.map_or_else(|| CLIENTS.to_vec(), |clients| vec![clients]);
        for clients in asked {
            bench.compare(clients, options)?;
        }
    }
    if "frozen".contains(&options.only) {
        bench.freeze(&mut server)?;
    }
    Ok(())
}

/// That of the server's version, and not the wrapper that looks for it.
fn pgbench() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin/pgbench")).collect();
    found.retain(|program| program.is_file());
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from("pgbench"))
}

struct Bench {
    prony: PathBuf,
    pgbench: PathBuf,
    sysbench: Option<Sysbench>,
    place: TempDir,
    server: String,
}

/// What a run came to.
pub(super) struct Ran {
    pub(super) per_s: f64,
    pub(super) cpu_us: f64,
}

impl Bench {
    fn pgbench(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.pgbench);
        let scale = format!("scale={SCALE}");
        command.args(arguments).args(["-D", &scale, &self.server]).current_dir(self.place.path());
        command
    }

    fn prony(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.prony);
        let target = format!("{}?sslmode=disable", self.server);
        command.args([
            "script",
            "select-only.sql",
            "--define",
            &format!("scale={SCALE}"),
            "--target",
            &target,
            "--json",
        ]);
        command.args(arguments).current_dir(self.place.path());
        command
    }

    /// What the program takes in runs as long as those that are compared, with next to no load.
    fn alone(&self, seconds: u32) -> Result<()> {
        let begin_us = children_cpu_us()?;
        let duration = format!("{seconds}s");
        self.told(&["--rate", "1/s", "--warm-up", "0s", "--duration", &duration])?;
        let cpu_ms = (children_cpu_us()? - begin_us) / 1e3;
        println!(
            "\nprony with one transaction a second, {duration}: {cpu_ms:.0} ms of CPU, which are in its figures below"
        );
        Ok(())
    }

    /// Rates and costs of all, in turn.
    fn compare(&self, clients: u32, options: &PgbenchOptions) -> Result<()> {
        println!(
            "\nselect-only, prepared, {clients} clients: prony/pgbench, of {} pairs in turn",
            options.pairs
        );
        let (mut rates, mut costs) = (Vec::new(), Vec::new());
        let (mut other_rates, mut other_costs) = (Vec::new(), Vec::new());
        for number in 1..=options.pairs {
            let (theirs, ours) =
                (self.pgbench_run(clients, options.seconds)?, self.prony_run(clients, options.seconds)?);
            println!(
                "  {number:>3} pgbench {:>7.0}/s {:>5.2} µs   prony {:>7.0}/s {:>5.2} µs",
                theirs.per_s, theirs.cpu_us, ours.per_s, ours.cpu_us
            );
            rates.push(ours.per_s / theirs.per_s);
            costs.push(ours.cpu_us / theirs.cpu_us);
            if let Some(sysbench) = &self.sysbench {
                let other = sysbench.run(clients, options.seconds)?;
                println!("      sysbench {:>6.0}/s {:>5.2} µs", other.per_s, other.cpu_us);
                other_rates.push(ours.per_s / other.per_s);
                other_costs.push(ours.cpu_us / other.cpu_us);
            }
        }
        println!("{}", ratio::at_least("transactions per second", rates, GOAL));
        println!("{}", ratio::at_most("CPU of a transaction", costs, GOAL));
        if self.sysbench.is_some() {
            println!("{}", ratio::told("prony/sysbench, rate", other_rates));
            println!("{}", ratio::told("prony/sysbench, CPU", other_costs));
        }
        Ok(())
    }

    fn pgbench_run(&self, clients: u32, seconds: u32) -> Result<Ran> {
        let (clients, seconds, threads) =
            (clients.to_string(), seconds.to_string(), clients.min(processors()).to_string());
        let begin_us = children_cpu_us()?;
        let load =
            ["-n", "-M", "prepared", "-c", &clients, "-j", &threads, "-T", &seconds, "-f", "select-only.sql"];
        let told = output(&mut self.pgbench(&load))?;
        let cpu_us = children_cpu_us()? - begin_us;
        Ok(Ran { per_s: after(&told, "tps = ")?, cpu_us: cpu_us / after(&told, "actually processed: ")? })
    }

    fn prony_run(&self, clients: u32, seconds: u32) -> Result<Ran> {
        let begin_us = children_cpu_us()?;
        let (clients, seconds) = (clients.to_string(), format!("{seconds}s"));
        let told = self.told(&["--clients", &clients, "--warm-up", "0s", "--duration", &seconds])?;
        let cpu_us = children_cpu_us()? - begin_us;
        let script = told.pointer("/trials/0/script").context("prony measured no scripts")?;
        let number = |name: &str| script[name].as_f64().with_context(|| format!("prony told no {name}"));
        Ok(Ran { per_s: number("per_s")?, cpu_us: cpu_us / number("transactions")? })
    }

    fn told(&self, arguments: &[&str]) -> Result<Value> {
        let told = output(&mut self.prony(arguments))?;
        serde_json::from_str(&told).context("prony wrote no JSON")
    }

    /// What each tells of a server that hangs for two seconds under an open loop.
    fn freeze(&self, server: &mut Postgres) -> Result<()> {
        println!("\nthe server hangs for {} s under {RATE} transactions/s", FROZEN.as_secs());
        let open = [
            "--clients",
            "8",
            "--rate",
            &format!("{RATE}/s"),
            "--poisson",
            "--warm-up",
            "0s",
            "--duration",
            "10s",
        ];
        let told: Value = self.frozen(server, self.prony(&open))?.parse()?;
        let latency = told.pointer("/trials/0/figures/0/latency").context("prony told no latency")?;
        for (name, goal_s) in [("p99_us", 1.8), ("max_us", 1.95)] {
            let seconds = latency[name].as_f64().context("prony told no percentiles")? / 1e6;
            println!("{}", ratio::at_least(name.trim_end_matches("_us"), vec![seconds], goal_s));
        }
        let limited = [&open[..], &["--latency-limit", "100ms"]].concat();
        let mut ratios = Vec::new();
        for _ in 0..3 {
            let told: Value = self.frozen(server, self.prony(&limited))?.parse()?;
            let ours = told
                .pointer("/trials/0/script/late/share")
                .and_then(Value::as_f64)
                .context("prony told no share")?;
            let load = [
                "-n",
                "-M",
                "prepared",
                "-c",
                "8",
                "-j",
                "2",
                "-T",
                "10",
                "-R",
                RATE,
                "-L",
                "100",
                "-f",
                "select-only.sql",
            ];
            let theirs = late_share(&self.frozen(server, self.pgbench(&load))?)?;
            println!("  late: pgbench {:.2} %, prony {:.2} %", theirs * 100.0, ours * 100.0);
            ratios.push((ours / theirs - 1.0).abs());
        }
        println!("{}", ratio::at_most("late shares differ by", ratios, LATE_GOAL));
        Ok(())
    }

    /// What a load prints during which the server hangs. A load that says that a rate was not held has done its work.
    fn frozen(&self, server: &mut Postgres, mut load: Command) -> Result<String> {
        let line = line_of(&load);
        let child: Child = load.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let begin = Instant::now();
        std::thread::sleep(FROZEN_AFTER);
        server.freeze()?;
        std::thread::sleep(FROZEN);
        server.thaw()?;
        let ended = child.wait_with_output()?;
        ensure!(begin.elapsed() < Duration::from_secs(60), "`{line}` did not end in time");
        String::from_utf8(ended.stdout).with_context(|| format!("`{line}` printed no text"))
    }
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// The number behind some words.
pub(super) fn after(told: &str, words: &str) -> Result<f64> {
    let rest = told.split_once(words).map(|(_, rest)| rest.trim_start());
    let number =
        rest.map(|rest| rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>());
    number.and_then(|number| number.parse().ok()).with_context(|| format!("no `{words}` was told: {told}"))
}

/// Transactions that were skipped or above the limit, as a share of all.
fn late_share(told: &str) -> Result<f64> {
    let (done, skipped) = (after(told, "actually processed: ")?, after(told, "transactions skipped: ")?);
    let late = after(told, "ms latency limit: ")?;
    Ok((late + skipped) / (done + skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_pgbench_are_read() {
        let told = "number of transactions actually processed: 3210\nnumber of transactions skipped: 780 (19.549%)\n\
                    number of transactions above the 100.0 ms latency limit: 10/3210 (0.312%)\ntps = 399.5 (without)\n";
        assert_eq!(after(told, "tps = ").unwrap(), 399.5);
        assert!((late_share(told).unwrap() - 790.0 / 3990.0).abs() < 1e-12);
        assert!(after(told, "nothing").is_err());
    }
}
