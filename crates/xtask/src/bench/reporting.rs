//! `cargo xtask bench reporting`: messages that one core makes; a load into PostgreSQL against psql's `\copy` of the same rows from files
//! that are there already; and client CPU of rows that are read and checked, against a loop over the driver's rows that looks at none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use instance::{Options, Postgres};

use super::program::{number, numbers};
use super::tool::children_cpu_us;
use super::{ReportingOptions, ratio};
use crate::workspace::{Workspace, line_of, run as run_command};

/// Rows a second that one core is to make.
const ROWS_GOAL_PER_S: f64 = 2e6;
/// Most time of a load, as a multiple of that of `\copy`.
const LOAD_GOAL: f64 = 1.0;
/// Most CPU of a row that is read and checked, as a multiple of that of the driver's bare loop.
const READ_GOAL: f64 = 1.1;
/// Database that prony loads.
const OURS: &str = "prony_reports";
/// Database that psql fills.
const PEER: &str = "bench_copy";
const TABLES: [&str; 5] = ["domains", "departments", "classifications", "messages", "message_data"];

pub(super) fn run(options: &ReportingOptions, workspace: &Workspace) -> Result<()> {
    let example = ["build", "--release", "--package", "prony-workload", "--example", "messages"];
    run_command(&mut workspace.cargo(&example))?;
    let program = workspace.target_directory().join("release/examples/messages");
    let wanted = |name: &str| name.contains(&options.only);
    if wanted("rows") {
        rows(&program, options)?;
    }
    if !wanted("load") && !wanted("read") {
        return Ok(());
    }
    let settings = Options::default().setting("shared_buffers", "1GB").setting("max_wal_size", "4GB");
    let server = Postgres::start(&settings)?;
    let bench = Bench { program, url: format!("{}?sslmode=disable", server.url()), options };
    number(&mut bench.ours("keep"))?;
    if wanted("load") {
        bench.load(workspace)?;
    }
    if wanted("read") {
        bench.read()?;
    }
    Ok(())
}

fn rows(program: &Path, options: &ReportingOptions) -> Result<()> {
    println!("\nfive million messages, on one core");
    for (kind, name) in [("nothing", "messages a second, to nothing"), ("rows", "typed rows per second")] {
        // One core, by the scheduler's mask.
        let run = || number(Command::new("taskset").args(["-c", "0"]).arg(program).arg(kind));
        let rates: Result<Vec<f64>> = (0..options.pairs).map(|_| run()).collect();
        println!("{}", ratio::at_least(name, rates?, ROWS_GOAL_PER_S));
    }
    Ok(())
}

struct Bench<'a> {
    program: PathBuf,
    url: String,
    options: &'a ReportingOptions,
}

impl Bench<'_> {
    fn ours(&self, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args([what, &self.url]);
        command
    }

    /// psql in the server's own database, or in another one.
    fn psql(&self, database: Option<&str>) -> Command {
        let (server, rest) = self.url.rsplit_once('/').unwrap_or((&self.url, ""));
        let options = rest.split_once('?').map_or("", |(_, options)| options);
        let url = database.map_or_else(|| self.url.clone(), |name| format!("{server}/{name}?{options}"));
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", &url]);
        command
    }

    fn load(&self, workspace: &Workspace) -> Result<()> {
        let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
        println!("\nPostgreSQL: 1.5 million messages against \\copy of the same rows from files");
        for table in TABLES {
            let file = place.path().join(table);
            let export = format!("\\copy {table} to '{}' csv", file.display());
            timed(self.psql(Some(OURS)).args(["--command", &export]))?;
        }
        let script = place.path().join("copy.sql");
        fs::write(&script, peer_script(workspace.root(), place.path())?)?;
        let mut ratios = Vec::new();
        for pair in 1..=self.options.pairs {
            timed(self.psql(None).args(["--command", &format!("CREATE DATABASE {PEER}")]))?;
            let peer_s = timed(self.psql(Some(PEER)).arg("--file").arg(&script))?;
            timed(self.psql(None).args(["--command", &format!("DROP DATABASE {PEER}")]))?;
            let ours_s = number(&mut self.ours("keep"))?;
            println!("  {pair:>3} \\copy {peer_s:>8.2} s   prony {ours_s:>8.2} s");
            ratios.push(ours_s / peer_s);
        }
        println!("{}", ratio::at_most("prony / \\copy", ratios, LOAD_GOAL));
        Ok(())
    }

    fn read(&self) -> Result<()> {
        println!(
            "\nPostgreSQL: 15 million rows read and checked, against the driver's rows that nobody looks at"
        );
        let mut ratios = Vec::new();
        for pair in 1..=self.options.pairs {
            let [bare, ours] = [self.cpu_of_row("bare")?, self.cpu_of_row("report")?];
            println!(
                "  {pair:>3} driver {:>6.3} µs a row, {:>5.1} MiB   prony {:>6.3} µs a row, {:>5.1} MiB",
                bare.0, bare.1, ours.0, ours.1
            );
            ratios.push(ours.0 / bare.0);
        }
        println!("{}", ratio::at_most("CPU of a row, prony / driver", ratios, READ_GOAL));
        Ok(())
    }

    /// CPU time of a row of the whole program, in microseconds, and its most memory in MiB.
    fn cpu_of_row(&self, what: &str) -> Result<(f64, f64)> {
        let before = children_cpu_us()?;
        let [rows, memory_kib] = numbers(&mut self.ours(what))?;
        ensure!(rows > 0.0, "nothing was read");
        Ok(((children_cpu_us()? - before) / rows, memory_kib / 1024.0))
    }
}

/// What psql runs: tables, a `\copy` of each file, indexes, statistics and procedures, as prony has them.
fn peer_script(root: &Path, files: &Path) -> Result<String> {
    let path = root.join("crates/workload/src/reporting/sql/postgres.sql");
    let file = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let sql = |name: &str| {
        let mut statements = file.split("\n-- name: ").filter_map(|part| part.split_once('\n'));
        let found = statements.find(|(given, _)| *given == name).map(|(_, statement)| statement.trim());
        found.with_context(|| format!("{} has no `{name}`", path.display()))
    };
    let copies = TABLES.map(|table| format!("\\copy {table} from '{}' csv", files.join(table).display()));
    let parts = [
        format!("{};", sql("create")?.trim_end_matches(';')),
        format!("{};\n{};", sql("create_report_rows")?, sql("create_report_aggregate")?),
        copies.join("\n"),
        format!("{};\n{};\n", sql("indexes")?, sql("statistics")?),
    ];
    Ok(parts.join("\n"))
}

/// Seconds that a program takes to succeed.
fn timed(command: &mut Command) -> Result<f64> {
    let line = line_of(command);
    let begin = Instant::now();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{line}`"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{line}` ended with {}: {error}", output.status);
    Ok(begin.elapsed().as_secs_f64())
}
