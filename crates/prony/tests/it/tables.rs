//! `prony tables`: kinds of tables, as a user measures them.

use instance::{ClickHouse, Options};
use serde_json::Value;

use crate::workbench::Workbench;

const SMALL: [&str; 10] =
    ["--rows", "3000", "--clients", "2", "--point-deletes", "20", "--warm-up", "50ms", "--duration", "300ms"];

/// The kinds of the trials with how each ended.
fn ended(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let trials = report["trials"].as_array().unwrap();
    trials.iter().map(|trial| (text(&trial["levels"]["kind"]), text(&trial["state"]))).collect()
}

/// What survived of a kind, as the report has it.
fn survived<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let trials = report["trials"].as_array().unwrap();
    let of = trials.iter().find(|trial| trial["tables"]["kind"] == kind).unwrap();
    &of["tables"]["survival"]["tried"]
}

fn has_lost(crash: &Value, lost: bool) {
    let number = |key: &str| crash[key].as_u64().unwrap();
    assert!(number("acknowledged") > 0, "{crash:#}");
    let is_lost = if lost { number("acknowledged") } else { 0 };
    assert_eq!(number("lost"), is_lost, "{crash:#}");
    assert_eq!(number("rows_after") == 0, lost, "{crash:#}");
}

fn complete(kinds: &[&str]) -> Vec<(String, String)> {
    kinds.iter().map(|kind| ((*kind).to_owned(), "complete".to_owned())).collect()
}

#[test]
fn without_a_target_every_kind_of_sqlite_is_measured_and_nothing_is_left() {
    let bench = Workbench::new();
    let ran = bench.run(&[&["tables"], &SMALL[..], &["--json"]].concat()).ended_with(0);
    let ran =
        ran.says("5 tables of up to 3,000 rows, one at a time, to prony-tables.sqlite (deleted at the end)");
    let ran = ran.says(
        "to prepare, drain and count, per trial to load 3000 rows and for the operations on all of them, and for the durability test",
    );
    let report = ran.json();
    let mut trials = ended(&report);
    let mut expected = complete(&["row", "volatile", "relaxed", "clustered", "covering"]);
    trials.sort();
    expected.sort();
    assert_eq!(trials, expected, "{}", ran.stderr);
    for trial in report["trials"].as_array().unwrap() {
        let tables = &trial["tables"];
        assert_eq!(tables["operations"].as_array().unwrap().len(), 8, "{tables:#}");
        assert!(
            tables["operations"].as_array().unwrap().iter().all(|one| one["seconds"].as_f64().unwrap() > 0.0)
        );
        let place = if tables["kind"] == "volatile" { "memory_bytes" } else { "disk_bytes" };
        assert!(tables["size"][place].as_u64().unwrap() > 50_000, "{tables:#}");
    }
    for kind in ["row", "relaxed", "clustered", "covering"] {
        has_lost(survived(&report, kind), false);
    }
    has_lost(survived(&report, "volatile"), true);
    assert_eq!(survived(&report, "row")["killed"], "program");
    assert_eq!(bench.names("."), ["prony-results"]);
    let text = bench.run(&["report", "latest", "--details"]).ended_with(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "WITHOUT ROWID",
        "vfs=memdb",
        "PRAGMA synchronous = off",
        "SQLite has no memory-durable, columnstore-index, columnstore, archive, rocks, aria tables",
        "kind row (reference)",
        "(×",
        "load_s",
        "Durability after kill -9",
        "a killed process, not a power loss",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("make commits durable"), "{text}");
}

/// A kind that this version has not is left out with the reason, and the others are measured as the server can.
#[test]
fn column_stores_of_clickhouse_are_measured_and_nothing_is_left() {
    let server = ClickHouse::start(&Options::default()).unwrap();
    let (bench, url) = (Workbench::new(), server.url());
    let ran =
        bench.run(&[&["tables", "--target", url.as_str()], &SMALL[..], &["--json"]].concat()).ended_with(0);
    let report = ran.json();
    let trial = |kind: &str| {
        let trials = report["trials"].as_array().unwrap();
        trials.iter().find(|trial| trial["levels"]["kind"] == kind).unwrap().clone()
    };
    let columns = trial("columnstore");
    assert_eq!(columns["state"], "complete", "{columns:#}");
    assert_eq!(columns["tables"]["operations"].as_array().unwrap().len(), 8, "{columns:#}");
    let archive = trial("archive");
    let is_told = archive["state"] == "complete"
        || format!("{archive}").contains("cannot set a compression codec for single columns");
    assert!(is_told, "{archive:#}");
    let text = bench.run(&["report", "latest", "--details"]).ended_with(0).stdout;
    for part in [
        "ENGINE = MergeTree",
        "ad-hoc",
        "ClickHouse has no row tables: it stores all tables by columns",
        "kind columnstore (reference)",
    ] {
        // Sentences are broken into lines.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("secret"), "{text}");
    let left = bench.run(&["tables", "--target", &url, "--kind", "row"]).ended_with(2).stderr;
    assert!(left.contains("--kind: ClickHouse has no row tables"), "{left}");
    let prepared = bench.run(&["tables", "--target", &url, "--access", "prepared"]).ended_with(2).stderr;
    assert!(prepared.contains("ClickHouse does not prepare statements"), "{prepared}");
}

#[test]
fn other_workloads_refuse_column_stores_before_they_do_anything() {
    refused_by_others("clickhouse://me@127.0.0.1:1/x", "ClickHouse");
    refused_by_others("duckdb:one.duckdb", "DuckDB");
}

fn refused_by_others(url: &str, name: &str) {
    let bench = Workbench::new();
    bench.write("one.sql", "SELECT 1;\n");
    for command in [
        &["historian", "--target", url][..],
        &["orders", "run", "--target", url],
        &["orders", "load", "--target", url],
        &["orders", "verify", "--target", url],
        &["failover", "--target", url],
        &["analytics", "--target", url],
        &["script", "one.sql", "--target", url],
        &["script", "--builtin", "tpcb-like", "--target", url],
    ] {
        let told = bench.run(command).ended_with(2).stderr;
        let (says, alone) = (format!("{url} cannot "), format!("{name} supports only "));
        assert!(told.contains(&says) && told.contains(&alone), "{command:?}: {told}");
    }
    assert_eq!(bench.names("."), ["one.sql"]);
}

#[cfg(not(feature = "duckdb"))]
#[test]
fn without_duckdb_its_tables_are_refused_with_how_to_build_it() {
    let bench = Workbench::new();
    let told = bench.run(&["tables", "--target", "duckdb:one.duckdb"]).ended_with(2).stderr;
    for part in [
        "duckdb:one.duckdb cannot be opened",
        "built without DuckDB",
        "DUCKDB_LIB_DIR",
        "cargo build -r -F duckdb",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(bench.names("."), [""; 0]);
}

/// One process alone can have its file: the one that is killed has it, and then this one.
#[cfg(feature = "duckdb")]
#[test]
fn a_column_store_of_duckdb_is_measured_killed_and_removed() {
    let bench = Workbench::new();
    let target = ["tables", "--target", "duckdb:one.duckdb"];
    let ran = bench.run(&[&target[..], &SMALL, &["--json"]].concat()).ended_with(0);
    let report = ran.json();
    assert_eq!(ended(&report), complete(&["columnstore"]), "{}", ran.stderr);
    let tables = &report["trials"][0]["tables"];
    assert_eq!(tables["operations"].as_array().unwrap().len(), 8, "{tables:#}");
    assert!(tables["size"]["disk_bytes"].as_u64().unwrap() > 50_000, "{tables:#}");
    let crash = survived(&report, "columnstore");
    has_lost(crash, false);
    assert_eq!((&crash["killed"], &crash["is_durable"]), (&"program".into(), &true.into()));
    assert_eq!(bench.names("."), ["prony-results"]);
    let text = bench.run(&["report", "latest", "--details"]).ended_with(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["DuckDB has no row tables: it stores all tables by columns", "each commit is synced to the WAL"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let adhoc = ["--access", "ad-hoc", "--batch-rows", "700", "--crash", "false"];
    bench.run(&[&target[..], &SMALL, &adhoc].concat()).ended_with(0);
    let left = bench.run(&[&target[..], &["--kind", "row"]].concat()).ended_with(2).stderr;
    assert!(left.contains("--kind: DuckDB has no row tables"), "{left}");
    let access = bench.run(&[&target[..], &["--access", "procedure"]].concat()).ended_with(2).stderr;
    assert!(access.contains("DuckDB has no procedures"), "{access}");
}

/// Otherwise users would have to set LD_LIBRARY_PATH for each run.
#[cfg(feature = "duckdb")]
#[test]
fn a_program_linked_to_duckdb_finds_its_library() {
    let bench = Workbench::new();
    let mut command = bench.command(crate::workbench::PRONY);
    command.env_remove("LD_LIBRARY_PATH").arg("-V");
    crate::workbench::finish(command).ended_with(0);
}

#[cfg(feature = "duckdb")]
#[test]
fn a_file_for_duckdb_that_is_not_pronys_is_neither_used_nor_replaced() {
    let bench = Workbench::new();
    bench.write("one.duckdb", "a letter");
    for more in [&[][..], &["--replace"]] {
        let told =
            bench.run(&[&["tables", "--target", "duckdb:one.duckdb"], more].concat()).ended_with(2).stderr;
        assert!(told.contains("one.duckdb was not created by prony and is left as it is"), "{told}");
    }
    assert_eq!(std::fs::read(bench.path("one.duckdb")).unwrap(), b"a letter");
    assert_eq!(bench.names("."), ["one.duckdb"]);
}

/// A threshold that nothing decided passed, and nothing that was measured was trusted.
#[test]
fn what_an_engine_has_not_is_no_pass() {
    let bench = Workbench::new();
    let told = bench.run(&[&["tables", "--kind", "columnstore"], &SMALL[..]].concat()).ended_with(2).stderr;
    assert!(told.contains("SQLite has no columnstore tables"), "{told}");
    bench.write(
        "none.toml",
        "title = \"None\"\nblocks = 1\nthresholds = [\"scan_s < 1\"]\naccept_single = true\n[workload.tables]\nrows = 1000\n\
         kind = \"archive\"\n[target]\ndatabase = \"sqlite:none.db\"\n",
    );
    let ran = bench.run(&["study", "run", "none.toml"]).ended_with(4);
    assert!(ran.stdout.contains("SQLite has no archive tables"), "{}", ran.stdout);
}

#[test]
fn kinds_of_a_managed_postgres_are_measured_by_procedures() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.path("data")).unwrap();
    std::fs::set_permissions(bench.path("data"), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let asked = ["tables", "--managed", "postgres", "--data", "data", "--access", "procedure"];
    let ran = bench.run(&[&asked[..], &SMALL, &["--json"]].concat()).ended_with(0);
    let report = ran.json();
    let mut trials = ended(&report);
    let mut expected = complete(&["row", "volatile", "relaxed", "covering"]);
    trials.sort();
    expected.sort();
    assert_eq!(trials, expected, "{}", ran.stderr);
    assert!(bench.names("data").is_empty());
    for (kind, is_lost) in [("row", false), ("covering", false), ("volatile", true)] {
        has_lost(survived(&report, kind), is_lost);
    }
    assert_eq!(survived(&report, "row")["killed"], "server");
    let text = bench.run(&["report", "latest", "--details"]).ended_with(0).stdout;
    for part in ["CREATE UNLOGGED TABLE", "SET synchronous_commit = off", "CLUSTER sorts the rows only once"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// A kind that is asked for and not to be had is left out with the reason, and no other one stands in for it.
#[test]
fn a_kind_that_the_engine_lacks_is_left_out_with_the_reason() {
    let bench = Workbench::new();
    bench.write(
        "kinds.toml",
        "title = \"Kinds\"\nblocks = 1\nnoise_floor = false\n[workload.tables]\nrows = 2000\nwarm_up = \"50ms\"\nduration = \"300ms\"\n\
         [target]\ndatabase = \"sqlite:tables.db\"\n[[axis]]\nkey = \"workload.tables.kind\"\nlevels = [\"row\", \"columnstore\"]\n",
    );
    let ran = bench.run(&["study", "run", "kinds.toml", "--json"]).ended_with(0);
    let report = ran.json();
    let trials = report["trials"].as_array().unwrap();
    let not_compared = |one: &Value| one["rule"] == "not_compared";
    assert!(!report["verdicts"].as_array().unwrap().iter().any(not_compared), "{:#}", report["verdicts"]);
    let skipped: Vec<&Value> = trials.iter().filter(|trial| trial["state"] == "skipped").collect();
    assert_eq!(skipped.len(), 1, "{}", ran.stderr);
    assert_eq!(skipped[0]["reason"], "SQLite has no columnstore tables");
    assert!(ran.stderr.contains("  skipped: SQLite has no columnstore tables"), "{}", ran.stderr);
    let told = report["verdicts"].as_array().unwrap().iter().filter_map(|one| one["sentence"].as_str());
    assert!(
        told.clone().any(|one| one.contains("SQLite has no columnstore tables")),
        "{:?}",
        told.collect::<Vec<_>>()
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let bench = Workbench::new();
    let refused = |arguments: &[&str]| bench.run(&[&["tables"], arguments].concat()).ended_with(2).stderr;
    let told = refused(&["--access", "procedure"]);
    assert!(told.contains("--access procedure: SQLite has no procedures"), "{told}");
    let told = refused(&["--kind", "heap"]);
    assert!(told.contains("unknown kind of table `heap`") && told.contains("memory-durable"), "{told}");
    let told = refused(&["--rows", "10", "--point-deletes", "11"]);
    assert!(told.contains("--point-deletes: cannot be 11: give 0 to 10"), "{told}");
    let told = refused(&["--kind", "volatile", "--rows", "60000000"]);
    assert!(told.contains("SQLite cannot hold a volatile table of 60000000 rows"), "{told}");
    let told = refused(&["--crash", "--target", "postgres://me@localhost/postgres"]);
    assert!(told.contains("--crash") && told.contains("prony kills only servers that it started"), "{told}");
    // A petabyte of rows.
    let told = refused(&["--rows", "10000000000", "--batch-rows", "1000"]);
    assert!(told.contains("free, but at least 373 GiB will be written"), "{told}");
    assert!(bench.names(".").is_empty(), "{:?}", bench.names("."));
}

/// Its own program alone tells it what to do, and it ends with whoever called it.
#[test]
fn what_is_changed_until_it_is_killed_is_told_by_prony_alone() {
    let bench = Workbench::new();
    let told = bench.run(&["change-table"]).ended_with(1).stderr;
    assert!(told.contains("cannot read which rows to change"), "{told}");
}
