//! `prony orders generate`: whole files, or none.

use std::fs;

use rustix::process::Signal;

use crate::mounts::{private_mounts, shell};
use crate::running::Running;
use crate::workbench::{Workbench, finish};

const TABLES: [&str; 7] =
    ["categories", "cust_hist", "customers", "inventory", "orderlines", "orders", "products"];

/// What is in a directory of files of ours, by name.
fn contents(bench: &Workbench, directory: &str) -> Vec<Vec<u8>> {
    assert_eq!(bench.names(directory), TABLES.map(|table| format!("{table}.csv")));
    TABLES.map(|table| fs::read(bench.path(directory).join(format!("{table}.csv"))).unwrap()).into()
}

#[test]
fn a_store_is_written_and_told_a_line_a_file() {
    let bench = Workbench::new();
    let outcome = bench.run(&["orders", "generate", "--csv", "store"]).ended_with(0);
    insta::assert_snapshot!(outcome.stdout);
    let told: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(told[0], "order store of 10MB, seed 42: about 172,000 rows");
    assert!(
        told[1].starts_with("Writes: about ") && told[1].ends_with(" of files to store (kept)"),
        "{told:?}"
    );
    assert!(told[2].starts_with("took ") && told.len() == 3, "{told:?}");
    let customers = fs::read_to_string(bench.path("store/customers.csv")).unwrap();
    assert_eq!(customers.lines().count(), 20_001);
    assert!(customers.starts_with("customerid,firstname,lastname,") && customers.ends_with("\r\n"));
}

#[test]
fn seed_and_size_make_the_files_and_threads_do_not() {
    let bench = Workbench::new();
    let generate = |directory: &str, options: &[&str]| {
        let arguments = ["orders", "generate", "--size", "1MB", "--csv", directory];
        bench.run(&[&arguments, options].concat()).ended_with(0);
        contents(&bench, directory)
    };
    let one = generate("one", &["--threads", "1"]);
    assert!(generate("three", &["--threads", "3", "--seed", "42"]) == one);
    assert!(generate("other", &["--seed", "43"]) != one);
}

#[test]
fn files_that_exist_are_refused_and_kept() {
    let bench = Workbench::new();
    bench.write("orders.csv", "precious");
    let outcome = bench.run(&["orders", "generate", "--csv", ".", "--size", "1MB"]).ended_with(2);
    assert_eq!(
        outcome.stderr,
        "error: ./orders.csv is already in the directory; remove it, or use another directory\n"
    );
    assert_eq!(bench.names("."), ["orders.csv"]);
}

/// Starts a run that makes files for long, and waits until they are begun. They have no names.
fn start_generating(bench: &Workbench) -> Running {
    let mut run = Running::start(bench, &["orders", "generate", "--csv", "store", "--size", "500MB"]);
    let files = format!("/proc/{}/fd", run.id());
    let place = fs::canonicalize(bench.path(".")).unwrap().join("store");
    run.wait_until("files without names", || {
        let links = fs::read_dir(&files).into_iter().flatten().flatten();
        let is_begun = |link: &std::path::PathBuf| {
            link.starts_with(&place) && link.to_string_lossy().ends_with(" (deleted)")
        };
        links.filter_map(|link| fs::read_link(link.path()).ok()).filter(is_begun).count() == 7
    });
    run
}

#[test]
fn an_interrupted_run_leaves_no_file() {
    let bench = Workbench::new();
    let run = start_generating(&bench);
    run.send(Signal::INT);
    run.ended().ended_with(130).says("error: interrupted; incomplete files were deleted");
    assert!(!bench.path("store").exists());
}

/// A run that is killed can remove nothing. Its files had names of their own, and the next run refused to go on.
#[test]
fn a_killed_run_leaves_no_file() {
    let bench = Workbench::new();
    let run = start_generating(&bench);
    run.send(Signal::KILL);
    assert_eq!(run.ended().code, None);
    assert_eq!(bench.names("store"), [""; 0]);
    bench.run(&["orders", "generate", "--csv", "store", "--size", "1MB"]).ended_with(0);
}

#[test]
fn a_file_system_without_the_space_is_refused_before_anything_is_written() {
    let bench = Workbench::new();
    let Some(way) = private_mounts() else {
        eprintln!("not tried: a small file system, for which mounts are needed");
        return;
    };
    let script = "mkdir small; mount -t tmpfs -o size=32m none small
        \"$prony\" orders generate --csv small/store || code=$?; ls -A small; exit ${code:-0}";
    let outcome = finish(shell(&bench, way, script)).ended_with(2);
    assert_eq!(outcome.stdout, "", "nothing is left");
    outcome
        .says("not enough space in small/store: ")
        .says(" needed, but 32 MiB free")
        .says("Use a smaller --size");
}

#[test]
fn a_store_is_loaded_verified_and_replaced_only_when_asked() {
    let bench = Workbench::new();
    let load = |options: &[&str]| {
        bench.run(&[&["orders", "load", "--target", "sqlite:o.db", "--size", "1MB"], options].concat())
    };
    insta::assert_snapshot!(load(&[]).ended_with(0).stdout);
    load(&[]).ended_with(2).says("--replace");
    let told = load(&["--replace", "--seed", "43"]).ended_with(0).stderr;
    assert!(
        told.starts_with("order store of 1MB, seed 43: about ") && told.contains("Writes: to o.db (kept)")
    );
    let verified = bench.run(&["orders", "verify", "--target", "sqlite:o.db"]).ended_with(0);
    insta::assert_snapshot!(verified.stdout);
    assert_eq!(verified.stderr, "order store of 1MB, seed 43: all counts and sums match the loaded data\n");
    assert_eq!(bench.names("."), ["o.db"]);
}

/// A historian was offered to take it up, and put its tables beside the store's.
#[test]
fn what_holds_a_store_is_no_historians_and_said_to_be_one() {
    let bench = Workbench::new();
    bench.run(&["orders", "load", "--target", "sqlite:o.db", "--size", "1MB"]).ended_with(0);
    let before = fs::read(bench.path("o.db")).unwrap();
    let historian =
        ["historian", "--target", "sqlite:o.db", "--rate", "9", "--warm-up", "1s", "--duration", "1s"];
    for more in [&[][..], &["--reuse"]] {
        let refused = bench.run(&[&historian, more].concat()).ended_with(2);
        let refused = refused
            .says("o.db contains order data of size 1MB and cannot hold anything else. Use another database");
        assert!(!refused.stderr.contains("--reuse"), "{}", refused.stderr);
    }
    assert!(fs::read(bench.path("o.db")).unwrap() == before, "it is as it was");
    assert!(!bench.path("o.db-wal").exists());
}

#[test]
fn a_store_that_a_run_was_made_on_is_told_apart_from_a_damaged_one() {
    let bench = Workbench::new();
    bench.run(&["orders", "load", "--target", "sqlite:o.db", "--size", "1MB"]).ended_with(0);
    let verify = ["orders", "verify", "--target", "sqlite:o.db"];
    let change = |sql| rusqlite::Connection::open(bench.path("o.db")).unwrap().execute_batch(sql).unwrap();
    change("UPDATE store SET state = 'used'");
    let same = bench.run(&verify).ended_with(0);
    assert_eq!(
        same.stderr,
        "order store of 1MB, seed 42: all counts and sums match the loaded data (a run has used it since the load)\n"
    );
    change(
        "UPDATE inventory SET sales = sales + 5 WHERE prod_id = 1; INSERT INTO reorder VALUES (1, 0, 2, 0, 3, 0)",
    );
    let used = bench.run(&verify).ended_with(1);
    assert_eq!(
        used.stderr,
        "error: sqlite:o.db: a run has used this store of 1MB since the load, and 2 of 18 counts differ. That is normal: a run \
         adds rows. The next run deletes the added rows, and rejects the store if a loaded row is missing\n"
    );
    let line = |what| used.stdout.lines().find(|line| line.starts_with(what)).unwrap().to_owned();
    assert!(line("items sold").ends_with("  loaded: 11,662"), "{}", used.stdout);
    assert!(line("rows of reorder").ends_with("1  loaded: 0"), "{}", used.stdout);
    assert!(!used.stdout.contains("wrong"), "{}", used.stdout);
    change("UPDATE store SET state = 'loaded'");
    bench.run(&verify).ended_with(1).says("2 of 18 counts").says("--replace");
    change("UPDATE store SET state = 'used'; DELETE FROM orders WHERE orderid = 5");
    let run = ["orders", "run", "--target", "sqlite:o.db", "--warmup-time", "0s", "--run-time", "1s"];
    bench
        .run(&run)
        .ended_with(1)
        .says("orders: 1199 instead of 1200")
        .says("orders load --replace --size 1MB");
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let bench = Workbench::new();
    let verify = ["orders", "verify", "--target", "sqlite:o.db"];
    bench.run(&verify).ended_with(2).says("Create one with prony orders load");
    assert!(bench.names(".").is_empty());
    let content = bench.foreign("o.db", 1);
    bench.run(&verify).ended_with(2);
    bench.run(&["orders", "load", "--target", "sqlite:o.db", "--replace"]).ended_with(2);
    bench
        .run(&["orders", "load", "--target", "sqlite:o.db", "--database", "x"])
        .ended_with(2)
        .says("--database");
    assert_eq!(fs::read(bench.path("o.db")).unwrap(), content);
}
