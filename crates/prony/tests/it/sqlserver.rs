//! SQL Server as a target, on a server that speaks its protocol and T-SQL (`instance::TdsServer`): every workload, and what it is told
//! of. Where there is none, that is said.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use instance::TdsServer;
use serde_json::Value;

use crate::running::Running;
use crate::workbench::{Workbench, json_file};

/// A server that all tests use that run at the same time; none where there is none to be had.
fn server(what: &str) -> Option<Arc<TdsServer>> {
    static SERVER: Mutex<Weak<TdsServer>> = Mutex::new(Weak::new());
    if !TdsServer::is_there() {
        eprintln!("not run: {what}, for which PRONY_TDS_SERVER names no server that speaks T-SQL");
        return None;
    }
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = server.upgrade().unwrap_or_else(|| Arc::new(started()));
    *server = Arc::downgrade(&shared);
    Some(shared)
}

fn started() -> TdsServer {
    TdsServer::start(&[("TDS_USER", "prony"), ("TDS_PASSWORD", "Hush-77")]).unwrap().unwrap()
}

/// What the only trial left.
fn trial(bench: &Workbench) -> Value {
    json_file(bench.results().unwrap().join("trials/0001/trial.json"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Every row that was acknowledged is there.
fn kept(report: &Value) -> u64 {
    let told = &report["trials"][0]["historian"];
    assert_eq!(told["rows_lost"], 0, "{told:#}");
    assert_eq!(told["rows_found"], told["acknowledged"], "{told:#}");
    number(&told["acknowledged"])
}

const RATE: &str = "1000";
const LOAD: [&str; 9] = ["--rate", RATE, "--tags", "50", "--warm-up", "0s", "--duration", "8s", "--json"];

#[test]
fn a_historian_writes_by_every_method() {
    let Some(server) = server("a historian") else { return };
    for (method, sends) in [
        ("bulk", "INSERT BULK"),
        ("multi-row", "INSERT … VALUES"),
        ("batch", "INSERT of one row"),
        ("table-valued", "append_samples with a table-valued parameter"),
    ] {
        // With any driver, Babelfish 4.3 misreads rows of a table-valued parameter that continues in another packet. A batch of 10 rows
        // fits in one packet, even after a long stall of the machine.
        let (rate, least) = if method == "table-valued" { ("20", 10) } else { (RATE, 50) };
        let batch: &[&str] = if method == "table-valued" { &["--batch-rows", "10"] } else { &[] };
        let bench = Workbench::new();
        let (url, database) = (server.url(), format!("prony_{}", method.replace('-', "_")));
        let mut arguments =
            vec!["historian", "--target", &url, "--database", &database, "--write-method", method];
        arguments.extend(LOAD.map(|word| if word == RATE { rate } else { word }));
        arguments.extend(batch);
        let outcome = bench.run(&arguments);
        // How much it keeps up with depends on what else the machine does: it has time for many times as much.
        assert!(kept(&outcome.json()) > least, "{method}");
        let trial = trial(&bench);
        assert_eq!(trial["outcome"]["outages"], Value::Array(Vec::new()), "{method}");
        let trial = trial.to_string();
        assert!(trial.contains(sends) && trial.contains("Babelfish on PostgreSQL"), "{method}: {trial}");
        assert!(!trial.contains("Hush-77") && !outcome.stderr.contains("Hush-77"));
        // It has no such views, which is told once. On a busy machine it may not even say that in time, which is told each time.
        let untold = trial.matches("does not report its waits, the reads and writes of its files").count();
        let is_unanswered = trial.contains("are unknown since");
        assert!(untold == 1 || (untold == 0 && is_unanswered), "{trial}");
    }
}

/// The password of a connection string stands nowhere but in its own place.
#[test]
fn a_connection_string_is_a_target_and_its_password_a_secret() {
    let Some(server) = server("a connection string") else { return };
    let bench = Workbench::new();
    let port = server.url().rsplit_once(':').unwrap().1.replace("/master", "");
    let target = format!(
        "Server=tcp:127.0.0.1,{port};Database=master;User Id=prony;Password=Hush-77;Encrypt=Optional"
    );
    let mut arguments = vec!["historian", "--target", &target, "--database", "prony_string"];
    arguments.extend(LOAD.map(|word| if word == "8s" { "2s" } else { word }));
    let outcome = bench.run(&arguments);
    assert!(kept(&outcome.json()) > 50);
    assert!(!outcome.stdout.contains("Hush-77") && !outcome.stderr.contains("Hush-77"), "{}", outcome.stderr);
    let mut left = vec![bench.results().unwrap()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("Hush-77"), "{}", path.display());
        }
    }
    let wrong = target.replace("Hush-77", "Hush-78");
    let refused = bench.run(&["historian", "--target", &wrong]).ended_with(2).says("check user and password");
    assert!(!refused.stderr.contains("Hush-78"), "{}", refused.stderr);
    let broken = bench.run(&["historian", "--target", "Server=h;Password=Hush;77=1"]).ended_with(2);
    assert!(broken.stderr.contains("in quotes") && !broken.stderr.contains("77=1"), "{}", broken.stderr);
}

#[test]
fn a_store_is_loaded_driven_and_counted() {
    let Some(server) = server("an order store") else { return };
    let bench = Workbench::new();
    let url = server.url();
    let store = ["--target", &url, "--database", "prony_it_store"];
    let with = |words: &str| -> Vec<String> { words.split(' ').chain(store).map(str::to_owned).collect() };
    let run = |words: &str| bench.run(&with(words).iter().map(String::as_str).collect::<Vec<_>>());
    run("orders load --size 1MB").ended_with(0);
    run("orders verify").ended_with(0);
    for style in ["on", "off"] {
        let words =
            format!("orders run --clients 2 --warm-up 500ms --duration 2s --json --procedures {style}");
        let report = run(&words).json();
        let told = &report["trials"][0]["orders"]["targets"][0]["reconciliation"];
        assert!(number(&told["acknowledged"]) > 0, "{style}: {told:#}");
        assert_eq!(number(&told["acknowledged_lost"]), 0, "{style}: {told:#}");
    }
}

#[test]
fn a_server_that_is_killed_in_the_middle_loses_nothing_that_it_acknowledged() {
    if server("kill -9 of the server").is_none() {
        return;
    }
    let conf = "fsync = on\nsynchronous_commit = on\nfull_page_writes = on";
    let mut server = TdsServer::start(&[("TDS_PG_CONF", conf)]).unwrap().unwrap();
    let bench = Workbench::new();
    let url = server.url();
    let load = [
        "--rate",
        "1000",
        "--warm-up",
        "0s",
        "--duration",
        "8s",
        "--max-buffered-events",
        "200000",
        "--json",
    ];
    let mut arguments = vec!["historian", "--target", &url];
    arguments.extend(load);
    let mut running = Running::start(&bench, &arguments);
    running.wait_for_samples(&bench);
    server.kill().unwrap();
    server.start_again().unwrap();
    let report = running.ended().json();
    assert!(kept(&report) > 1_000);
    let outages = report["trials"][0]["historian"]["outages"].as_array().map_or(0, Vec::len);
    assert_eq!(outages, 1, "{report:#}");
}

/// What it does not tell is named with the right that a server would ask for, and no advice rests on it.
#[test]
fn settings_are_inspected_as_far_as_the_server_tells() {
    let Some(server) = server("inspect") else { return };
    let bench = Workbench::new();
    let outcome = bench.run(&["inspect", "--target", &server.url(), "--json"]);
    let report = outcome.json();
    let text = report.to_string();
    for part in ["its backups", "instant file initialization", "VIEW SERVER PERFORMANCE STATE", "Babelfish"] {
        assert!(text.contains(part), "{part}: {report:#}");
    }
    for rule in ["no-backup", "no-log-backup", "page-verify", "max-server-memory", "tempdb-files"] {
        assert!(!text.contains(&format!("\"{rule}\"")), "{rule}: {report:#}");
    }
    assert!(!text.contains("Hush-77"));
}
