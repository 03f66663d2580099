//! A load into PostgreSQL against psql's `\copy` of the same rows from CSV files that are there already.
//!
//! Both end with the same tables, keys, procedures and statistics; psql runs the SQL files of the workload.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use instance::{Options, Postgres};

use super::super::OrdersOptions;
use super::super::ratio;
use crate::workspace::{Workspace, line_of};

/// Most time of a load, as a multiple of that of `\copy`.
const GOAL: f64 = 1.25;
/// Database that psql fills.
const PEER: &str = "bench_copy";
/// Tables with files of their names.
const TABLES: [&str; 7] =
    ["categories", "products", "inventory", "customers", "orders", "orderlines", "cust_hist"];

pub(super) fn run(options: &OrdersOptions, workspace: &Workspace) -> Result<()> {
    let prony = workspace.build_prony()?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    let server = Postgres::start(&Options::default())?;
    let csv = place.path().join("csv");
    println!("\nPostgreSQL: a store of {} against \\copy of the same rows", options.size);
    timed(Command::new(&prony).args(["orders", "generate", "--size", &options.size, "--csv"]).arg(&csv))?;
    let script = place.path().join("copy.sql");
    fs::write(&script, peer_script(workspace.root(), &csv)?)?;
    let mut ratios = Vec::new();
    for pair in 1..=options.pairs {
        let peer_s = copy(&server, &script)?;
        let load = ["orders", "load", "--replace", "--size", &options.size, "--target", &server.url()];
        let prony_s = timed(Command::new(&prony).args(load))?;
        println!("  {pair:>3} \\copy {peer_s:>8.1} s   prony {prony_s:>8.1} s");
        ratios.push(prony_s / peer_s);
    }
    println!("{}", ratio::at_most("prony / \\copy", ratios, GOAL));
    Ok(())
}

/// What psql runs: tables, a `\copy` of each file, keys, procedures and statistics.
fn peer_script(root: &Path, csv: &Path) -> Result<String> {
    let path = root.join("crates/workload/src/orders/store/sql/postgres.sql");
    let file = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let sql = |name: &str| {
        let mut statements = file.split("\n-- name: ").filter_map(|part| part.split_once('\n'));
        let found = statements.find(|(given, _)| *given == name).map(|(_, statement)| statement);
        found.with_context(|| format!("{} has no `{name}`", path.display()))
    };
    let mut script = format!("\\set ON_ERROR_STOP on\n{};\n", sql("create")?.trim());
    for table in TABLES {
        let file = csv.join(format!("{table}.csv"));
        let head = fs::File::open(&file).map(std::io::BufReader::new);
        let mut columns = String::new();
        std::io::BufRead::read_line(&mut head.with_context(|| format!("{}", file.display()))?, &mut columns)?;
        writeln!(script, "\\copy {table} ({}) from '{}' csv header", columns.trim(), file.display())?;
    }
    for name in ["keys", "procedures", "statistics"] {
        writeln!(script, "{};", sql(name)?.trim())?;
    }
    Ok(script)
}

/// Seconds that psql takes, in a database that is made for it and removed.
fn copy(server: &Postgres, script: &Path) -> Result<f64> {
    let psql = |database: Option<&str>| {
        let url = server.url();
        let url = match (database, url.rsplit_once('/')) {
            (Some(name), Some((server, _))) => format!("{server}/{name}"),
            _ => url,
        };
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--quiet", "--dbname", &url]);
        command
    };
    timed(psql(None).args(["--command", &format!("CREATE DATABASE {PEER}")]))?;
    let seconds = timed(psql(Some(PEER)).arg("--file").arg(script))?;
    timed(psql(None).args(["--command", &format!("DROP DATABASE {PEER}")]))?;
    Ok(seconds)
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
