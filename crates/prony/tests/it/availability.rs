//! Servers that are broken on purpose while they are loaded: what was done when, what came of it, and what cannot be done.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::lab::Labs;
use crate::mounts::is_root;
use crate::running::Running;
use crate::workbench::{Outcome, PRONY, Workbench, json_file};

/// The only trial of a run, which may be one of a busy machine.
fn trial(bench: &Workbench, ran: &Outcome) -> Value {
    let Some(results) = bench.results() else { panic!("no results: {}", ran.stderr) };
    let trial = json_file(results.join("trials/0001/trial.json"));
    let state = trial["state"].as_str().unwrap();
    assert!(["complete", "invalid"].contains(&state), "{state}: {}\n{}", trial["reason"], ran.stderr);
    trial
}

/// When its only fault was done and undone.
fn done(trial: &Value) -> [f64; 3] {
    let [fault] = trial["faults"].as_array().unwrap().as_slice() else { panic!("{}", trial["faults"]) };
    assert_eq!(fault["failed"], Value::Null, "{fault:#}");
    ["begun_s", "broken_s", "mended_s"].map(|name| fault[name].as_f64().unwrap())
}

const REGISTER: [&str; 11] = [
    "failover",
    "--managed",
    "postgres",
    "--clients",
    "4",
    "--rate",
    "300/s",
    "--warm-up",
    "500ms",
    "--duration",
    "4s",
];

#[test]
fn a_server_that_is_killed_is_started_again_and_loses_nothing() {
    let bench = Workbench::new();
    let ran = bench.run(&[&REGISTER[..], &["--fault", "kill at 1s", "--outage", "50ms"]].concat());
    let trial = trial(&bench, &ran);
    let [begun_s, broken_s, mended_s] = done(&trial);
    assert!(begun_s >= 1.0 && broken_s >= begun_s && mended_s >= broken_s, "{trial:#}");
    assert_eq!(trial["outcome"]["writes"]["lost"], 0, "{:#}", trial["outcome"]["writes"]);
    let marks = trial["marks"].as_array().unwrap();
    let fault = marks.iter().find(|mark| mark["kind"] == "fault").unwrap();
    assert_eq!((fault["what"].as_str(), fault["planned"].as_bool()), (Some("kill at 1s"), Some(true)));
    assert_eq!(fault["end_s"].as_f64(), Some(mended_s));
    let report = bench.run(&["report", "latest", "--json"]).json();
    let [availability] = report["availability"].as_array().unwrap().as_slice() else { panic!("{report:#}") };
    let told =
        (availability["fault"].as_str(), availability["lost_in"].as_u64(), availability["lost"].as_u64());
    assert_eq!(told, (Some("kill at 1s"), Some(0), Some(0)));
    assert_eq!(report["trials"][0]["faults"][0]["asked"], "kill at 1s");
}

/// It gives no error: that nobody was answered is known from the answers alone.
#[test]
fn a_server_that_stands_still_answers_nobody_and_makes_no_trial_invalid_for_that() {
    let bench = Workbench::new();
    let ran = bench.run(&[
        "historian",
        "--managed",
        "mariadb",
        "--rate",
        "500",
        "--screens",
        "0",
        "--warm-up",
        "500ms",
        "--duration",
        "5s",
        "--fault",
        "freeze for 2s at 1500ms",
    ]);
    let trial = trial(&bench, &ran);
    let [_, broken_s, mended_s] = done(&trial);
    assert!(mended_s - broken_s >= 2.0, "{trial:#}");
    let silences = trial["marks"].as_array().unwrap().iter().filter(|mark| mark["kind"] == "silence");
    let seconds = |mark: &Value, name: &str| mark[name].as_f64().unwrap_or(f64::INFINITY);
    // What was answered before may have been read a little later, and that it goes on is noted a little after it does.
    let is_it = |mark: &Value| {
        let (begin_s, end_s) = (seconds(mark, "begin_s"), seconds(mark, "end_s"));
        begin_s < mended_s && end_s > broken_s && end_s - begin_s > 1.0
    };
    assert!(silences.clone().any(is_it), "{:#}", trial["marks"]);
    assert!(
        !trial["reason"].as_str().unwrap_or_default().contains("database was unreachable"),
        "{}",
        trial["reason"]
    );
}

#[test]
fn a_node_of_a_pair_is_killed_and_what_it_acknowledged_is_there() {
    let bench = Workbench::new();
    let pair = [
        "--pair",
        "sync",
        "--failover",
        "tuned",
        "--setting",
        "shared_buffers=64MB",
        // Long enough for the other one to have taken over: back too soon, both may be primaries for a moment.
        "--fault",
        "kill-node for 9s at 1s",
        "--duration",
        "12s",
    ];
    let ran = bench.run(&[&REGISTER[..9], &pair].concat());
    let trial = trial(&bench, &ran);
    let [begun_s, broken_s, mended_s] = done(&trial);
    assert!(mended_s - broken_s >= 9.0 && begun_s >= 1.0, "{trial:#}");
    let fault = &trial["faults"][0];
    assert_eq!((fault["of"].as_str(), fault["took_writes"].as_bool()), (Some("node1"), Some(true)));
    assert_eq!(trial["outcome"]["writes"]["lost"], 0, "{:#}", trial["outcome"]);
    assert_eq!(trial["outcome"]["is_audited"], true, "{:#}", trial["outcome"]["notes"]);
    assert!(trial["servers"][0]["pair"].as_str().unwrap().contains("sync"), "{:#}", trial["servers"]);
}

const HISTORIAN: [&str; 7] = ["historian", "--rate", "500", "--screens", "0", "--warm-up", "500ms"];

/// Rows that were acknowledged, and those of them that were there in the end.
fn rows(trial: &Value) -> [u64; 2] {
    ["rows_expected", "rows_found"].map(|name| trial["outcome"][name].as_u64().unwrap())
}

/// Its address has both nodes, and all of its sessions go to the one that is left.
#[test]
fn a_node_of_galera_is_killed_and_what_it_acknowledged_is_on_the_other() {
    let bench = Workbench::new();
    let pair = [
        "--managed",
        "mariadb",
        "--pair",
        "sync",
        "--setting",
        "innodb_buffer_pool_size=64M",
        "--duration",
        "14s",
        "--fault",
        "kill-node for 1s at 1s",
    ];
    let ran = bench.run(&[&HISTORIAN[..], &pair].concat());
    let trial = trial(&bench, &ran);
    let [begun_s, broken_s, mended_s] = done(&trial);
    assert!(mended_s - broken_s >= 1.0 && begun_s >= 1.0, "{trial:#}");
    let fault = &trial["faults"][0];
    assert_eq!((fault["of"].as_str(), fault["took_writes"].as_bool()), (Some("node1"), Some(true)));
    let [expected, found] = rows(&trial);
    assert!(expected > 0 && found >= expected, "{:#}", trial["outcome"]);
    let server = &trial["servers"][0];
    assert_eq!(server["pair"], "sync (Galera with an arbitrator, with its own timeouts)");
    assert_eq!(server["address"].as_str().unwrap().split(',').count(), 2, "{server:#}");
    let settings = server["pair_settings"].as_array().unwrap();
    let is_told = |name: &str, value: &str| {
        settings.iter().any(|setting| setting["name"] == name && setting["value"] == value)
    };
    assert!(is_told("evs.suspect_timeout", "PT5S"), "{settings:?}");
}

/// The check is known to be able to fail: what was acknowledged while the standby received nothing is on no node that is left.
#[test]
fn a_standby_that_takes_over_without_all_of_the_log_loses_what_was_acknowledged() {
    for (engine, pair) in
        [("postgres", "async (streaming replication)"), ("mariadb", "async (replication by GTID)")]
    {
        let bench = Workbench::new();
        let faults = ["--fault", "freeze-receiver for 3s at 1s", "--fault", "promote at 3s"];
        let managed = ["--managed", engine, "--pair", "async", "--duration", "6s"];
        let ran = bench.run(&[&HISTORIAN[..], &managed, &faults].concat()).ended_with(1);
        let Some(results) = bench.results() else { panic!("no results: {}", ran.stderr) };
        let trial = json_file(results.join("trials/0001/trial.json"));
        assert_eq!(
            (trial["state"].as_str(), trial["servers"][0]["pair"].as_str()),
            (Some("failed"), Some(pair))
        );
        for fault in trial["faults"].as_array().unwrap() {
            assert_eq!(fault["failed"], Value::Null, "{fault:#}");
        }
        let [expected, found] = rows(&trial);
        assert!(found < expected, "{engine}: {:#}\n{}", trial["outcome"], ran.stderr);
        let promoted = &trial["faults"][1];
        assert_eq!((promoted["of"].as_str(), promoted["took_writes"].as_bool()), (Some("node1"), Some(true)));
        let report = bench.run(&["report", "latest", "--json"]).json();
        let availability = report["availability"].as_array().unwrap();
        let promotion = availability.iter().find(|one| one["fault"] == "promote at 3s").unwrap();
        assert_eq!(promotion["lost_in"].as_u64(), Some(1), "{promotion:#}");
        assert_eq!(promotion["lost"].as_u64(), Some(expected - found), "{promotion:#}");
    }
}

/// The same audit finds nothing and something: it is known to be able to fail.
#[test]
fn what_was_not_synced_is_lost_with_the_power_and_what_was_is_there() {
    let Some(labs) = Labs::new("the power of a server") else { return };
    let name = labs.name("power");
    let made = labs.run(&["lab", "create", &name, "--size", "1200MiB"]).ended_with(0);
    let place = ["--data", made.stdout.trim(), "--setting", "shared_buffers=32MB"];
    let cut = |fsync: &str| {
        let setting = format!("fsync={fsync}");
        let ran = labs
            .run(&[&REGISTER[..], &place, &["--setting", &setting, "--fault", "power-cut at 2s"]].concat());
        let report = labs.run(&["report", "latest", "--json"]).json();
        let fault = report["trials"][0]["faults"][0].clone();
        assert!(fault["begun_s"].as_f64() >= Some(2.0), "{fault:#}\n{}", ran.stderr);
        (fault["failed"].clone(), report["availability"][0]["lost"].as_u64())
    };
    assert_eq!(cut("on"), (Value::Null, Some(0)));
    // What has lost so much may not even start again, which is told too.
    let (failed, lost) = cut("off");
    let is_broken = failed.as_str().is_some_and(|why| why.starts_with("the fault cannot be undone"));
    assert!(is_broken || lost > Some(0), "{failed}: {lost:?}");
    labs.run(&["lab", "remove", &name]).ended_with(0);
}

/// Several faults in a row, one of them at a time that is drawn, under a load of orders: each order that was acknowledged is there.
#[test]
fn orders_that_are_acknowledged_outlive_a_kill_and_a_restart() {
    let bench = Workbench::new();
    let load = ["orders", "run", "--managed", "postgres", "--n-threads", "4", "--think-time", "20ms"];
    let times = ["--warmup-time", "500ms", "--run-time", "5s", "--setting", "shared_buffers=32MB"];
    let faults = ["--fault", "kill at 1s..2s", "--fault", "restart at 3s"];
    let ran = bench.run(&[&load[..], &times, &faults].concat());
    let trial = trial(&bench, &ran);
    for fault in trial["faults"].as_array().unwrap() {
        assert_eq!(fault["failed"], Value::Null, "{fault:#}");
        let took_s = fault["mended_s"].as_f64().unwrap() - fault["broken_s"].as_f64().unwrap();
        let started_within_s = fault["started_within_s"].as_f64().unwrap();
        assert!(started_within_s > 0.0 && started_within_s <= took_s, "{fault:#}");
    }
    let due_s = trial["faults"][0]["due_s"].as_f64().unwrap();
    assert!((1.0..=2.0).contains(&due_s), "{due_s}");
    let target = &trial["outcome"]["targets"][0];
    assert_eq!(target["acknowledged_lost"].as_u64(), Some(0), "{target:#}");
    let beyond = target["orders_found"].as_u64().unwrap() + target["rollbacks_from_start"].as_u64().unwrap()
        - target["purchases_from_start"].as_u64().unwrap();
    assert!(beyond <= target["unanswered"].as_u64().unwrap(), "{target:#}");
    let told = bench.run(&["report", "latest", "--details"]).stdout;
    for part in ["Outcome of the operations", "ambiguous", "The start took"] {
        assert!(told.replace('\n', " ").contains(part), "{part} in {told}");
    }
}

/// Processes that stand in a directory or below it, and whether each was stopped by a signal.
fn standing_in(directory: &Path) -> Vec<(String, bool)> {
    let place = directory.canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let theirs = all.filter(|one| fs::read_link(one.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&place)));
    let told = |one: std::path::PathBuf| {
        let status = fs::read_to_string(one.join("status")).ok()?;
        let line = |name: &str| Some(status.lines().find(|line| line.starts_with(name))?.to_owned());
        Some((line("Name:")?, line("State:")?.contains("\tT")))
    };
    theirs.filter_map(told).collect()
}

/// Processes that were stopped by a signal do not notice that the server's first one was killed with prony: they once stood still for
/// ever, in a directory that was gone, while the server was said to be gone with all that it had.
#[test]
fn what_stood_still_when_prony_was_killed_ends_with_its_server() {
    let bench = Workbench::new();
    let data = tempfile::tempdir().unwrap();
    fs::set_permissions(data.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let state = bench.path("state").display().to_string();
    let mut command = bench.command(PRONY);
    let place = ["--data", data.path().to_str().unwrap(), "--fault", "freeze for 1m at 500ms"];
    command.args([&REGISTER[..9], &["--duration", "2m"], &place].concat()).env("XDG_STATE_HOME", &state);
    let mut running = Running::start_command(&bench, command);
    running.wait_until("all of the server stands still", || {
        let all = standing_in(data.path());
        all.len() > 3 && all.iter().all(|(_, is_stopped)| *is_stopped)
    });
    running.send(Signal::KILL);
    running.ended();
    let run = |words: &[&str]| bench.run_with(&[("XDG_STATE_HOME", &state)], words).ended_with(0);
    let left = run(&["instance", "list", "--json"]).json()["instances"][0].clone();
    assert_eq!(left["standing"], "left", "{left:#}");
    assert!(standing_in(data.path()).iter().any(|(_, is_stopped)| *is_stopped), "something was left");
    run(&["instance", "stop", left["name"].as_str().unwrap()]).says("deleted server");
    assert_eq!(standing_in(data.path()), []);
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}

/// A volume without power takes nothing, not even that something on it is removed.
#[test]
fn the_power_that_was_cut_when_prony_was_killed_is_back_when_its_server_is_stopped() {
    let Some(labs) = Labs::new("a power cut that prony does not outlive") else { return };
    let name = labs.name("cut");
    let made = labs.run(&["lab", "create", &name, "--size", "1200MiB"]).ended_with(0);
    let at = Path::new(made.stdout.trim());
    let place = ["--data", made.stdout.trim(), "--setting", "shared_buffers=32MB"];
    let fault = ["--duration", "2m", "--fault", "power-cut for 1m at 500ms"];
    let mut running =
        Running::start_command(&labs.bench, labs.command(&[&REGISTER[..9], &place, &fault].concat()));
    running.wait_until("the volume takes nothing", || fs::write(at.join("probe"), "probe").is_err());
    running.send(Signal::KILL);
    running.ended();
    let listed = labs.run(&["instance", "list", "--json"]).ended_with(0).json();
    let left = listed["instances"][0]["name"].as_str().unwrap();
    labs.run(&["instance", "stop", left]).ended_with(0).says("deleted server");
    fs::write(at.join("probe"), "probe").unwrap();
    let names: Vec<_> = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name == "probe" || name == "lost+found"), "{names:?}");
    labs.run(&["lab", "remove", &name]).ended_with(0);
}

#[test]
fn nodes_that_do_not_see_each_other_lose_nothing_that_was_acknowledged() {
    if !is_root() {
        eprintln!("not run: networks that are cut, which only root may make");
        return;
    }
    let bench = Workbench::new();
    let cut = [
        "--pair",
        "sync",
        "--failover",
        "tuned",
        "--setting",
        "shared_buffers=64MB",
        "--fault",
        "clock of standby by -1h for 500ms at 500ms",
        "--fault",
        "cut for 2s at 2s",
    ];
    let ran = bench.run(&[&REGISTER[..], &cut].concat());
    if ran.stderr.contains("separate network for the pair, and a network fault needs one") {
        eprintln!("not run: networks that are cut: {}", ran.stderr);
        return;
    }
    let trial = trial(&bench, &ran);
    let faults = trial["faults"].as_array().unwrap();
    let told: Vec<(&str, &Value, bool)> = faults
        .iter()
        .map(|fault| (fault["of"].as_str().unwrap(), &fault["failed"], fault["mended_s"].is_number()))
        .collect();
    assert_eq!(told, [("node2", &Value::Null, true), ("node1", &Value::Null, true)], "{faults:#?}");
    assert_eq!(trial["outcome"]["writes"]["lost"], 0, "{:#}", trial["outcome"]);
    // Commits waited for the other node, at least until it was back or given up.
    let waited = trial["marks"].as_array().unwrap().iter().filter(|mark| mark["kind"] == "silence").count();
    assert!(waited > 0, "{:#}", trial["marks"]);
}

#[test]
fn what_cannot_be_broken_is_refused_before_anything_is_started() {
    let bench = Workbench::new();
    for (fault, told) in [
        ("freeze at 1s", "needs a duration"),
        ("switchover at 1s", "needs more than one node"),
        ("promote at 1s", "needs more than one node"),
        ("cut for 1s at 1s", "needs more than one node"),
        ("clock for 1s at 1s", "needs an amount"),
        ("freeze by 1s for 1s at 1s", "does not accept an amount"),
        ("kill at 1h", "would outlast the load"),
        ("kill of standby at 1s", "names a node, but this server has only one"),
        ("pull-cable at 1s", "unknown fault `pull-cable`"),
    ] {
        let refused = bench.run(&[&REGISTER[..], &["--fault", fault]].concat()).ended_with(2).stderr;
        assert!(refused.contains(told), "{fault}: {refused}");
    }
    for (pair, told) in [
        (&["mariadb", "--pair", "quorum"][..], "MariaDB does not support"),
        (&["mysql", "--pair", "sync"], "supported only for PostgreSQL and MariaDB"),
        (
            &["mariadb", "--pair", "sync", "--fault", "promote at 1s"],
            "without automatic failover, but this one has it",
        ),
    ] {
        let asked = [&HISTORIAN[..], &["--duration", "6s", "--managed"], pair].concat();
        let refused = bench.run(&asked).ended_with(2).stderr;
        assert!(refused.contains(told), "{pair:?}: {refused}");
    }
    let told = bench.run(&[&REGISTER[..], &["--fault", "soon"]].concat()).ended_with(2).stderr;
    assert!(told.contains("kill at 20s"), "{told}");
    bench
        .run(&[&REGISTER[..], &["--fault", "power-cut at 1s"]].concat())
        .ended_with(1)
        .says("is not on a lab volume");
    assert_eq!(bench.names("."), [""; 0], "nothing ran");
}
