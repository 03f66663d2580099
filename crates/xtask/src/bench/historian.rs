//! `cargo xtask bench historian`: writing rows through the historian against bare loops of the same statements.
//!
//! Both write to the same tables of the same server, in turn, with the same rows a transaction; the peer
//! (`crates/workload/examples/bare.rs`) encoded its rows beforehand and does nothing else. Throwaway servers, with the
//! settings that the packages come with.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use instance::{MariaDb, Options, Postgres};
use serde_json::Value;
use tempfile::TempDir;

use super::HistorianOptions;
use super::program::{number, output};
use super::ratio;
use crate::workspace::{Workspace, line_of, run as run_command};

/// Least ratio of the historian to a bare loop.
const GOAL: f64 = 0.95;
/// Events a second that one core is to collect, buffer and hand over.
const PIPELINE_GOAL_PER_S: f64 = 5e6;

struct Benchmark {
    name: &'static str,
    server: Server,
    flush_rows: u32,
    index: bool,
    /// Statements of the bare loop; the fastest of them is the peer.
    statements: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    Postgres,
    Sqlite,
    MariaDb,
}

const BENCHMARKS: &[Benchmark] = &[
    postgres("PostgreSQL, COPY BINARY, 1,000 rows a commit, index", 1_000, true),
    postgres("PostgreSQL, COPY BINARY, 1,000 rows a commit, no index", 1_000, false),
    postgres("PostgreSQL, COPY BINARY, 10,000 rows a commit, index", 10_000, true),
    postgres("PostgreSQL, COPY BINARY, 10,000 rows a commit, no index", 10_000, false),
    Benchmark {
        name: "SQLite, prepared inserts, 1,000 rows a commit, index",
        server: Server::Sqlite,
        flush_rows: 1_000,
        index: true,
        statements: &[""],
    },
    Benchmark {
        name: "MariaDB, fastest statement, 1,000 rows a commit, index",
        server: Server::MariaDb,
        flush_rows: 1_000,
        index: true,
        statements: &["load-data", "insert"],
    },
];

const fn postgres(name: &'static str, flush_rows: u32, index: bool) -> Benchmark {
    Benchmark { name, server: Server::Postgres, flush_rows, index, statements: &[""] }
}

pub(super) fn run(options: &HistorianOptions, workspace: &Workspace) -> Result<()> {
    let prony = workspace.build_prony()?;
    run_command(&mut workspace.cargo(&["build", "--release", "--package", "prony-workload", "--examples"]))?;
    let bare = workspace.target_directory().join("release/examples/bare");
    let directory = options.directory.as_deref().unwrap_or_else(|| workspace.target_directory());
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(directory)?;
    let bench = Bench { options, prony, bare, place };
    if "pipeline".contains(&options.only) {
        bench.pipeline(&workspace.target_directory().join("release/examples/pipeline"))?;
    }
    let wanted = || BENCHMARKS.iter().filter(|benchmark| benchmark.name.contains(&options.only));
    let needs = |server: Server| wanted().any(|benchmark| benchmark.server == server);
    let at = options.directory.iter().fold(Options::default(), |at, place| at.parent_directory(place));
    let postgres = needs(Server::Postgres).then(|| Postgres::start(&at)).transpose()?;
    let mariadb = needs(Server::MariaDb).then(|| MariaDb::start(&at)).transpose()?;
    for benchmark in wanted() {
        println!("\n{}", benchmark.name);
        let url = match benchmark.server {
            Server::Sqlite => None,
            Server::Postgres => postgres.as_ref().map(Postgres::url),
            Server::MariaDb => mariadb.as_ref().map(MariaDb::url),
        };
        bench.compare(benchmark, url)?;
    }
    Ok(())
}

struct Bench<'a> {
    options: &'a HistorianOptions,
    prony: PathBuf,
    bare: PathBuf,
    /// Holds databases and results; removed in the end.
    place: TempDir,
}

impl Bench<'_> {
    /// One core, by the scheduler's mask: generating, buffering and handing over to a sink that does nothing.
    fn pipeline(&self, program: &Path) -> Result<()> {
        println!("\npipeline: events a second on one core, to a sink that does nothing");
        let rates: Result<Vec<f64>> = (0..self.options.pairs)
            .map(|_| number(Command::new("taskset").args(["-c", "0"]).arg(program)))
            .collect();
        println!("{}", ratio::at_least("events a second", rates?, PIPELINE_GOAL_PER_S));
        Ok(())
    }

    /// Bare loop and historian in turn, in the same tables.
    fn compare(&self, benchmark: &Benchmark, server: Option<String>) -> Result<()> {
        let name = format!("bench_{}_{}", benchmark.flush_rows, benchmark.index);
        let file = self.place.path().join(format!("{name}.db"));
        let target = server.clone().unwrap_or_else(|| format!("sqlite:{}", file.display()));
        let inside = match &server {
            Some(url) => format!("{}/{name}", url.rsplit_once('/').context("an address has a database")?.0),
            None => target.clone(),
        };
        // The first run makes the tables; it counts for nothing.
        self.historian(benchmark, &target, &name, server.is_some(), false)?;
        let statement = self.fastest(benchmark, &inside)?;
        let mut ratios = Vec::new();
        for pair in 1..=self.options.pairs {
            let bare = self.bare(benchmark, &inside, statement)?;
            let prony = self.historian(benchmark, &target, &name, server.is_some(), true)?;
            println!("  {pair:>3} bare {bare:>12.0} rows/s   prony {prony:>12.0} rows/s");
            ratios.push(prony / bare);
        }
        println!("{}", ratio::at_least("prony / bare loop", ratios, GOAL));
        Ok(())
    }

    fn fastest(&self, benchmark: &Benchmark, url: &str) -> Result<&'static str> {
        if let [only] = benchmark.statements {
            return Ok(only);
        }
        let mut rates = Vec::new();
        for statement in benchmark.statements {
            let rate = self.bare(benchmark, url, statement)?;
            println!("  bare loop of {statement}: {rate:.0} rows/s");
            rates.push((rate, *statement));
        }
        let fastest = rates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        fastest.map(|(_, statement)| statement).context("there is no statement to compare with")
    }

    fn bare(&self, benchmark: &Benchmark, url: &str, statement: &str) -> Result<f64> {
        let (rows, seconds) = (benchmark.flush_rows.to_string(), self.options.seconds.to_string());
        number(Command::new(&self.bare).args([url, &rows, &seconds, statement]))
    }

    fn historian(
        &self,
        benchmark: &Benchmark,
        target: &str,
        name: &str,
        on_server: bool,
        again: bool,
    ) -> Result<f64> {
        let mut command = Command::new(&self.prony);
        command.args([
            "historian",
            "--target",
            target,
            "--rate",
            "max",
            "--screens",
            "0",
            "--keep",
            "--json",
        ]);
        command.args(["--warm-up", "1s", "--duration", &format!("{}s", self.options.seconds)]);
        command.args(["--flush-rows", &benchmark.flush_rows.to_string()]);
        command.args(["--index", &benchmark.index.to_string()]);
        if on_server {
            command.args(["--database", name]);
        }
        if again {
            command.arg("--reuse");
        }
        command.current_dir(self.place.path());
        let report: Value = serde_json::from_str(&output(&mut command)?).context("prony printed no JSON")?;
        let rate = report.pointer("/configurations/0/figures/0/per_s").and_then(Value::as_f64);
        rate.with_context(|| format!("`{}` measured nothing", line_of(&command)))
    }
}
