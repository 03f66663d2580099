//! `cargo xtask bench historian`: writing rows through the historian against bare loops of the same statements.
//!
//! Both write to the same tables of the same server, in turn, with the same rows a transaction; the peer
//! (`crates/workload/examples/bare.rs`) encoded its rows beforehand and does nothing else. Throwaway servers, with the
//! settings that the packages come with. Rates scatter on a machine whose cores are shared; what a record costs the load's
//! threads, beside what a row costs the bare loop, scatters less. On SQLite that is not told: its work
//! is done by a thread of its own, which is no part of the load, and by the bare loop's only one.
//!
//! On MariaDB there are two peers. The fastest statement is a text that was made beforehand, so that its loop copies bytes. The
//! historian executes a prepared statement, whose parameters the driver takes as values of its own, made for each row, and has no
//! other way to: the second loop does this and nothing else, and what remains between it and the historian is the historian's.
//! Both figures are told.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use instance::{MariaDb, Options, Postgres};
use serde_json::Value;
use tempfile::TempDir;

use super::HistorianOptions;
use super::program::{number, numbers, output};
use super::ratio;
use crate::workspace::{Workspace, line_of, run as run_command};

/// Least ratio of the historian to a bare loop.
const GOAL: f64 = 0.95;
/// Most CPU of the load a record, as a multiple of that of the bare loop, whose rows were encoded beforehand.
const CPU_GOAL: f64 = 1.2;
/// Events a second that one core is to collect, buffer and hand over.
const PIPELINE_GOAL_PER_S: f64 = 5e6;

struct Benchmark {
    name: &'static str,
    server: Server,
    flush_rows: u32,
    index: bool,
    /// Statements of the bare loop; the fastest of them is the peer.
    statements: &'static [&'static str],
    /// The historian's own statement, where it is not among these because its rows cannot be encoded beforehand.
    made_each_time: Option<&'static str>,
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
        made_each_time: None,
    },
    Benchmark {
        name: "MariaDB, fastest statement, 1,000 rows a commit, index",
        server: Server::MariaDb,
        flush_rows: 1_000,
        index: true,
        statements: &["load-data", "insert"],
        made_each_time: Some("prepared"),
    },
];

const fn postgres(name: &'static str, flush_rows: u32, index: bool) -> Benchmark {
    Benchmark { name, server: Server::Postgres, flush_rows, index, statements: &[""], made_each_time: None }
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
        println!("\npipeline: events per second on one core, to a sink that does nothing");
        let rates: Result<Vec<f64>> = (0..self.options.pairs)
            .map(|_| number(Command::new("taskset").args(["-c", "0"]).arg(program)))
            .collect();
        println!("{}", ratio::at_least("events per second", rates?, PIPELINE_GOAL_PER_S));
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
        let (mut rates, mut costs, mut costs_made) = (Vec::new(), Vec::new(), Vec::new());
        for pair in 1..=self.options.pairs {
            let bare = self.bare(benchmark, &inside, statement)?;
            let made =
                benchmark.made_each_time.map(|made| self.bare(benchmark, &inside, made)).transpose()?;
            let prony = self.historian(benchmark, &target, &name, server.is_some(), true)?;
            println!("  {pair:>3} bare  {bare}   prony {prony}");
            rates.push(prony.rows_per_s / bare.rows_per_s);
            costs.push(prony.cpu_us_per_row / bare.cpu_us_per_row);
            if let Some(made) = made {
                println!("      made  {made}");
                costs_made.push(prony.cpu_us_per_row / made.cpu_us_per_row);
            }
        }
        println!("{}", ratio::at_least("prony / bare loop", rates, GOAL));
        if server.is_some() {
            println!("{}", ratio::at_most("CPU a record, load / bare", costs, CPU_GOAL));
        }
        if benchmark.made_each_time.is_some() {
            println!("{}", ratio::at_most("CPU a record, load / made", costs_made, CPU_GOAL));
        }
        Ok(())
    }

    fn fastest(&self, benchmark: &Benchmark, url: &str) -> Result<&'static str> {
        if let [only] = benchmark.statements {
            return Ok(only);
        }
        let mut rates = Vec::new();
        for statement in benchmark.statements {
            let rate = self.bare(benchmark, url, statement)?.rows_per_s;
            println!("  bare loop of {statement}: {rate:.0} rows/s");
            rates.push((rate, *statement));
        }
        let fastest = rates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        fastest.map(|(_, statement)| statement).context("there is no statement to compare with")
    }

    fn bare(&self, benchmark: &Benchmark, url: &str, statement: &str) -> Result<Written> {
        let (rows, seconds) = (benchmark.flush_rows.to_string(), self.options.seconds.to_string());
        let [rows_per_s, cpu_us_per_row] =
            numbers(Command::new(&self.bare).args([url, &rows, &seconds, statement]))?;
        Ok(Written { rows_per_s, cpu_us_per_row })
    }

    fn historian(
        &self,
        benchmark: &Benchmark,
        target: &str,
        name: &str,
        on_server: bool,
        again: bool,
    ) -> Result<Written> {
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
        command.args(["--batch-rows", &benchmark.flush_rows.to_string()]);
        command.args(["--index", &benchmark.index.to_string()]);
        if on_server {
            command.args(["--database", name]);
        }
        if again {
            command.arg("--reuse");
        }
        command.current_dir(self.place.path());
        let report: Value = serde_json::from_str(&output(&mut command)?).context("prony printed no JSON")?;
        Written::of(&report).with_context(|| format!("`{}` measured nothing", line_of(&command)))
    }
}

/// What one run came to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Written {
    rows_per_s: f64,
    /// CPU time of the threads that made and wrote them.
    cpu_us_per_row: f64,
}

impl Written {
    /// The only place that knows the form of `prony historian --json`.
    fn of(report: &Value) -> Option<Self> {
        let configuration = report.pointer("/configurations/0")?;
        let number = |pointer: &str| configuration.pointer(pointer).and_then(Value::as_f64);
        Some(Self {
            rows_per_s: number("/figures/0/per_s")?,
            cpu_us_per_row: number("/generator/cpu_us_per_operation")?,
        })
    }
}

impl std::fmt::Display for Written {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:>9.0} rows/s, CPU {:>6.3} µs a row", self.rows_per_s, self.cpu_us_per_row)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_read_with_what_a_record_cost_the_load() {
        let configuration =
            json!({ "figures": [{ "per_s": 50_000.0 }], "generator": { "cpu_us_per_operation": 0.5 } });
        let written = Written::of(&json!({ "configurations": [configuration] })).unwrap();
        assert_eq!(written, Written { rows_per_s: 50_000.0, cpu_us_per_row: 0.5 });
        assert_eq!(Written::of(&json!({ "configurations": [{ "figures": [{ "per_s": 50_000.0 }] }] })), None);
    }
}
