//! `prony orders run`: loads on SQLite files, as a user starts and stops them.

use rustix::process::Signal;
use serde_json::Value;

use crate::running::Running;
use crate::servers::postgres;
use crate::workbench::{Outcome, Workbench, json_file};

/// A bench with a loaded store of 1 MB.
fn loaded() -> Workbench {
    let bench = Workbench::new();
    load(&bench, "o.db");
    bench
}

fn load(bench: &Workbench, file: &str) {
    let target = format!("sqlite:{file}");
    bench.run(&["orders", "load", "--size", "1MB", "--target", &target]).ended_with(0);
}

fn arguments<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    lasting("2s", target, more)
}

fn lasting<'a>(run_time: &'a str, target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments =
        vec!["orders", "run", "--target", target, "--warmup-time", "500ms", "--run-time", run_time];
    arguments.extend_from_slice(more);
    arguments
}

fn run(bench: &Workbench, more: &[&str]) -> Outcome {
    bench.run(&arguments("sqlite:o.db", more))
}

/// What the only trial left.
fn trial(bench: &Workbench) -> Value {
    json_file(bench.results().unwrap().join("trials/0001/trial.json"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_store_is_driven_and_every_order_found() {
    let bench = loaded();
    let outcome = run(&bench, &["--json"]).ended_with(0);
    assert_eq!(outcome.json()["state"], "complete");
    outcome.says("Writes: orders to the stores (the next run deletes them)");
    let trial = trial(&bench);
    let target = &trial["outcome"]["targets"][0];
    let acknowledged = number(&target["purchases_from_start"]) - number(&target["rollbacks_from_start"]);
    assert!(acknowledged > 0, "{target:#}");
    assert_eq!(number(&target["orders_found"]), acknowledged);
    assert_eq!((number(&target["acknowledged_lost"]), number(&target["unanswered"])), (0, 0));
    assert_eq!(target["quantity_found"], target["sales_risen"]);
    assert_eq!(trial["parameters"]["run_time"], "2s");
    let used = bench.run(&["orders", "verify", "--target", "sqlite:o.db"]).ended_with(1);
    used.says("a run has used this store");
}

#[test]
fn dvd_stores_lines_are_all_that_is_printed() {
    let bench = loaded();
    let outcome = run(&bench, &["--compat", "--report-rate", "1s", "--detailed-view"]).ended_with(0);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], "Stats reset", "the warm-up was shorter than the time between two lines");
    assert!(lines[1].starts_with("et=    ") && lines[1].contains(" n_overall="), "{lines:?}");
    assert!(!outcome.stdout.contains("Individual Stats"), "one target has no lines of its own");
    let [.., last, from_start, over] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(*over, "Run over");
    assert!(last.starts_with("Final (") && last.contains("): et=    2.0 n_overall="), "{last}");
    assert_eq!(trial(&bench)["parameters"]["deadlock_pause"], "1s", "as DVD Store's driver");
    let target = &trial(&bench)["outcome"]["targets"][0];
    assert_eq!(
        *from_start,
        format!(
            "n_purchase_from_start= {} n_rollbacks_from_start= {}",
            target["purchases_from_start"], target["rollbacks_from_start"]
        )
    );
    let csv = run(&bench, &["--compat", "--report-rate", "1s", "--csv-output"]).ended_with(0).stdout;
    assert!(csv.starts_with("et,n_overall,opm,"), "{csv}");
}

#[test]
fn a_store_that_cannot_be_driven_is_refused_and_left_alone() {
    let bench = loaded();
    run(&bench, &["--size", "10MB"]).ended_with(2).says("is a store of 1MB").says("not 10MB");
    bench.run(&arguments("sqlite:o.db,sqlite:o.db", &[])).ended_with(2).says("o.db is given twice");
    bench.run(&arguments("sqlite:nothing.db", &[])).ended_with(2).says("prony orders load");
    bench
        .run(&arguments("sqlite:o.db", &["--procedures", "on"]))
        .ended_with(2)
        .says("SQLite has no procedures");
    run(&bench, &["--n-threads", "0", "--n-line-items", "11"])
        .ended_with(2)
        .says("--n-line-items: ")
        .says("--clients: ");
    bench.write("foreign.db", "precious");
    bench.run(&arguments("sqlite:foreign.db", &[])).ended_with(2).says("foreign.db");
    assert_eq!(bench.names("."), ["foreign.db", "o.db"], "no results, nothing made");
    bench.run(&["orders", "verify", "--target", "sqlite:o.db"]).ended_with(0);
}

#[test]
fn two_stores_have_a_driver_each() {
    let bench = loaded();
    load(&bench, "p.db");
    bench
        .run(&arguments("sqlite:o.db,sqlite:p.db", &["--n-threads", "2", "--ramp-rate", "100"]))
        .ended_with(0);
    let trial = trial(&bench);
    let targets = trial["outcome"]["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 2);
    for target in targets {
        assert_eq!(target["orders_by_client"].as_array().map(Vec::len), Some(2));
        assert!(number(&target["purchases_from_start"]) > 0, "{target:#}");
    }
}

#[test]
fn dvd_stores_lines_of_several_stores_add_up() {
    let bench = loaded();
    load(&bench, "p.db");
    let compat = ["--compat", "--report-rate", "1s", "--detailed-view"];
    let outcome = bench.run(&arguments("sqlite:o.db,sqlite:p.db", &compat)).ended_with(0);
    let count = |line: &str, name: &str| -> u64 {
        let (_, value) = line.split_once(name).unwrap_or_else(|| panic!("{name} in {line}"));
        value.split_whitespace().next().unwrap().parse().unwrap()
    };
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let blocks: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at] == "Individual Stats for each DB / Web Server: ").collect();
    assert!(blocks.len() >= 4, "one a second, and two at the end:\n{}", outcome.stdout);
    for &at in &blocks {
        assert_eq!(lines[at - 1], "");
        let name =
            if lines[at + 1].starts_with("n_purchase") { "n_purchase_from_start= " } else { "n_overall=" };
        assert_eq!(count(lines[at - 2], name), count(lines[at + 1], name) + count(lines[at + 2], name));
    }
    let last = lines.iter().find(|line| line.starts_with("Final (")).unwrap();
    let orders = lines
        .iter()
        .filter(|line| line.starts_with("Final: et="))
        .map(|line| count(line, "n_purchase_overall="));
    assert_eq!(orders.sum::<u64>(), count(last, "n_purchase_overall="));
}

#[test]
fn what_a_killed_run_added_is_removed_by_the_next() {
    let bench = loaded();
    let mut killed = Running::start(&bench, &lasting("10m", "sqlite:o.db", &[]));
    killed.wait_for_samples(&bench);
    bench.run(&["orders", "verify", "--target", "sqlite:o.db"]).ended_with(2).says("in use");
    killed.send(Signal::KILL);
    assert_eq!(killed.ended().code, None);
    bench
        .run(&["orders", "verify", "--target", "sqlite:o.db"])
        .ended_with(1)
        .says("a run has used this store");
    std::fs::remove_dir_all(bench.path("prony-results")).unwrap();
    run(&bench, &[]).ended_with(0);
    let restored = &trial(&bench)["setup"]["targets"][0]["restored"];
    assert!(restored.as_str().is_some_and(|told| told.contains("removed")), "{restored}");
}

#[test]
fn an_interrupted_run_is_reconciled_and_reported() {
    let bench = loaded();
    let mut running = Running::start(&bench, &lasting("10m", "sqlite:o.db", &["--json"]));
    running.wait_for_samples(&bench);
    running.send(Signal::INT);
    let outcome = running.ended().ended_with(130);
    assert_eq!(outcome.json()["state"], "aborted");
    let target = &trial(&bench)["outcome"]["targets"][0];
    let acknowledged = number(&target["purchases_from_start"]) - number(&target["rollbacks_from_start"]);
    assert_eq!(number(&target["orders_found"]), acknowledged);
}

#[test]
fn repeats_each_begin_with_the_store_as_it_was_loaded() {
    let bench = loaded();
    run(&bench, &["--repeats", "2"]).ended_with(0);
    let directory = bench.results().unwrap();
    let second = json_file(directory.join("trials/0002/trial.json"));
    assert!(second["setup"]["targets"][0]["restored"].is_string(), "{second:#}");
    assert_eq!(second["state"], "complete");
}

#[test]
fn a_server_s_password_is_stored_nowhere() {
    let bench = Workbench::new();
    let url = postgres().url().replace("prony@", "prony:not-for-readers@");
    let store = ["--database", "orders_run_secret", "--target", &url];
    bench.run(&[&["orders", "load", "--size", "1MB"][..], &store].concat()).ended_with(0);
    bench.run(&arguments(&url, &["--database", "orders_run_secret"])).ended_with(0);
    let directory = bench.results().unwrap();
    for name in ["study.toml", "manifest.json", "trials/0001/trial.json", "report.html"] {
        let text = std::fs::read_to_string(directory.join(name)).unwrap();
        assert!(!text.contains("not-for-readers"), "{name}");
    }
}

/// Amounts, customers, lines and history that were changed went unnoticed: only ids and sums were compared.
#[test]
fn an_order_that_was_changed_behind_its_back_fails_the_run() {
    let bench = loaded();
    let mut run = Running::start(&bench, &lasting("3s", "sqlite:o.db", &["--think-time", "20ms"]));
    run.wait_for_samples(&bench);
    let database = rusqlite::Connection::open(bench.path("o.db")).unwrap();
    database.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    let edits = "UPDATE orders SET totalamount_cents = totalamount_cents + 1 WHERE orderid = (SELECT max(orderid) FROM orders);
        DELETE FROM cust_hist WHERE rowid = (SELECT max(rowid) FROM cust_hist)";
    database.execute_batch(edits).unwrap();
    drop(database);
    let outcome = run.ended().ended_with(1);
    let trial = trial(&bench);
    let target = &trial["outcome"]["targets"][0];
    assert_eq!((number(&target["orders_changed"]), number(&target["lines_changed"])), (1, 1), "{target:#}");
    assert_eq!((number(&target["acknowledged_lost"]), &trial["state"]), (0, &"failed".into()));
    assert!(outcome.stdout.contains("1 acknowledged orders have another customer"), "{}", outcome.stdout);
}
