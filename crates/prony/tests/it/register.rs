//! `prony register`: what a database did with registers, as a user sees it.

use serde_json::Value;

use crate::workbench::{Workbench, finish, json_file};

const ASKED: [&str; 9] =
    ["failover", "--target", "sqlite:registers.db", "--keys", "10", "--warm-up", "200ms", "--duration", "2s"];

#[test]
fn a_database_that_nobody_disturbs_is_never_away_and_loses_nothing() {
    let bench = Workbench::new();
    let ran = bench.run(&[&ASKED[..], &["--rate", "60", "--clients", "3", "--json"]].concat()).ended_with(0);
    let report = ran.json();
    ran.says("a table of 10 registers to registers.db (deleted at the end)");
    let trial = &report["trials"][0];
    let register = &trial["register"];
    assert_eq!(register["anomalies"], serde_json::json!({}), "{register:#}");
    assert_eq!(
        (register["is_audited"].as_bool(), register["writes"]["lost"].as_u64()),
        (Some(true), Some(0))
    );
    assert!(register["writes"]["acknowledged"].as_u64().unwrap() > 40, "{register:#}");
    assert_eq!(register["clients"].as_array().unwrap().len(), 3);
    let kinds: Vec<&str> =
        trial["figures"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["all", "write", "read"]);
    assert_eq!(bench.names("."), ["prony-results"], "the database is removed");
    let stored: Value = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    assert_eq!((stored["workload"].as_str(), stored["setup"]["keys"].as_u64()), (Some("register"), Some(10)));
    let text = bench.run(&["report", "latest"]).ended_with(0).stdout;
    for part in ["never unavailable for 500 ms or longer", "lost none of", "Registers"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Somebody else writes to the registers meanwhile: what is read then no client has written.
#[test]
fn what_no_register_does_fails_the_run_and_is_told_with_what_proves_it() {
    let bench = Workbench::new();
    let arguments = [&ASKED[..], &["--rate", "500", "--clients", "3", "--reads", "90"]].concat();
    let mut command = bench.command(env!("CARGO_BIN_EXE_prony"));
    command.args(arguments);
    let file = bench.path("registers.db");
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| finish(command));
        while !running.is_finished() && !disturb(&file) {
            std::thread::yield_now();
        }
        running.join().unwrap()
    });
    let ran = ran.ended_with(1);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("that nobody wrote"), "{said}");
    // A client may have replaced it before anybody read it.
    assert!(said.contains(" read 7") || said.contains("which replaced 7 "), "{said}");
}

/// Whether there were registers to be overwritten.
fn disturb(file: &std::path::Path) -> bool {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
    let Ok(database) = rusqlite::Connection::open_with_flags(file, flags) else { return false };
    let written = "SELECT count(*) FROM registers";
    let rows = database.query_row(written, [], |row| row.get::<_, i64>(0)).unwrap_or(0);
    rows == 10 && database.execute("UPDATE registers SET value = 7", []).is_ok()
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let bench = Workbench::new();
    let told =
        bench.run(&[&ASKED[..], &["--rate", "1000000", "--clients", "0"]].concat()).ended_with(2).stderr;
    assert!(told.contains("--clients: cannot be 0"), "{told}");
    let told = bench.run(&[&ASKED[..], &["--rate", "1000000"]].concat()).ended_with(2).stderr;
    assert!(
        told.contains("--rate: cannot be 1000000 for 2s200ms") && told.contains("a shorter time"),
        "{told}"
    );
    let told = bench.run(&["failover"]).ended_with(2).stderr;
    assert!(told.contains("--target"), "{told}");
    let plan = bench.run(&[&["plan"], &ASKED[..]].concat()).ended_with(0).stdout;
    assert!(plan.contains("10 registers, 10 clients, 1000 operations/s"), "{plan}");
    assert_eq!(bench.names("."), [""; 0], "nothing ran");
}
