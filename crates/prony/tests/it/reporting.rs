//! `prony reporting`: reports over messages, as a user runs them.

use instance::{Options, Postgres};
use serde_json::Value;

use crate::mounts::{private_mounts, shell};
use crate::workbench::{Workbench, finish, json_file};

const SMALL: [&str; 6] = ["analytics", "--events", "20000", "--days", "30", "--json"];

fn verdicts(report: &Value) -> String {
    let all = report["verdicts"].as_array().unwrap().iter();
    all.filter_map(|one| one["sentence"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_report_is_asked_for_alone_and_while_events_arrive_and_nothing_is_left() {
    let bench = Workbench::new();
    let ran = bench
        .run(&[&SMALL[..], &["--target", "sqlite:reports.db", "--warm-up", "100ms"]].concat())
        .ended_with(0);
    let report = ran.json();
    ran.says("20,000 messages to");
    let trials = report["trials"].as_array().unwrap();
    let arrivals: Vec<&str> =
        trials.iter().map(|trial| trial["levels"]["arrivals"].as_str().unwrap()).collect();
    assert_eq!(arrivals, ["none", "82.5"]);
    for trial in trials {
        let of = &trial["reporting"];
        assert_eq!((of["rows"].as_u64(), of["reports"].as_u64()), (Some(1_917), Some(5)), "{of:#}");
        assert!(of["first_s"].as_f64().unwrap() > 0.0 && of["mean_s"].as_f64().unwrap() > 0.0);
        assert!(of["cold"].as_str().unwrap().contains("posix_fadvise"), "{of:#}");
        assert!(of["plans"][0]["text"].as_str().unwrap().contains("messages_sent"), "{of:#}");
    }
    assert!(trials[1]["reporting"]["events_committed"].as_u64().unwrap() >= 5, "{:#}", trials[1]);
    assert!(verdicts(&report).contains("first report"), "{}", verdicts(&report));
    assert_eq!(bench.names("."), ["prony-results"]);
    let text = bench.run(&["report", "latest", "--details"]).ended_with(0).stdout;
    for part in ["Plans of the reports", "SEARCH message USING INDEX messages_sent"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// The time to load messages stood in a plan that is read by people alone.
#[test]
fn a_plan_says_what_takes_time_besides_to_programs_too() {
    let bench = Workbench::new();
    let plan = |more: &[&str]| {
        let asked =
            ["plan", "analytics", "--events", "20000", "--days", "30", "--target", "sqlite:reports.db"];
        bench.run(&[&asked[..], more].concat()).ended_with(0)
    };
    let json = plan(&["--json"]).json();
    let besides = "to load 20000 messages where they are not there yet";
    assert_eq!(json["besides"], serde_json::json!([besides]), "once, of two trials");
    assert!(json["servers_s"].as_f64().unwrap().is_sign_positive(), "{}", json["servers_s"]);
    assert!(plan(&[]).stdout.contains(&format!("to prepare, drain and count, {besides})")));
}

#[test]
fn messages_that_were_kept_are_taken_up_again_if_they_are_the_same() {
    let bench = Workbench::new();
    let run = |more: &[&str]| {
        let asked = ["--target", "sqlite:reports.db", "--arrivals", "0", "--runs", "1"];
        bench.run(&[&SMALL[..], &asked, more].concat())
    };
    run(&["--keep"]).ended_with(0);
    let again = run(&["--reuse", "--keep"]).ended_with(0);
    assert!(!again.stderr.contains("loading"), "{}", again.stderr);
    let told = run(&["--reuse", "--data-seed", "7"]).ended_with(2).stderr;
    assert!(told.contains("contains 20000 messages over 30 days with the seed 42"), "{told}");
    assert!(told.contains("but the study needs 20000 messages over 30 days with the seed 7"), "{told}");
    assert!(bench.path("reports.db").exists(), "what was refused stays");
    // One row within the report's dates is another one now.
    let damage = "UPDATE messages SET size_bytes = size_bytes + 1 WHERE message_id = 10000";
    rusqlite::Connection::open(bench.path("reports.db")).unwrap().execute_batch(damage).unwrap();
    let failed = run(&["--reuse", "--keep"]).ended_with(1);
    let told = verdicts(&failed.json());
    assert!(told.contains("report 1 returned 1917 rows as expected, but their content is wrong"), "{told}");
    run(&["--replace"]).ended_with(0);
    assert!(!bench.path("reports.db").exists());
}

/// It was asked for with other messages: what an earlier run left on a server is refused, and is still there.
#[test]
fn a_database_of_other_messages_on_a_server_is_refused_and_stays() {
    let (bench, server) = (Workbench::new(), Postgres::start(&Options::default()).unwrap());
    let url = server.url();
    let run = |more: &[&str]| {
        let asked = ["--target", &url, "--arrivals", "0", "--runs", "1"];
        bench.run(&[&SMALL[..], &asked, more].concat())
    };
    run(&["--keep"]).ended_with(0);
    for more in [&["--reuse", "--data-seed", "7"][..], &["--reuse", "--keep", "--data-seed", "7"]] {
        let told = run(more).ended_with(2).stderr;
        assert!(told.contains("contains 20000 messages over 30 days with the seed 42"), "{told}");
    }
    run(&["--reuse"]).ended_with(0);
    let again = run(&["--reuse"]).ended_with(0);
    assert!(!again.stderr.contains("loading"), "it was there before the run, and stays: {}", again.stderr);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let bench = Workbench::new();
    let told = |more: &[&str]| {
        let all = [&SMALL[..], &["--target", "sqlite:reports.db"], more].concat();
        bench.run(&all).ended_with(2).stderr
    };
    let procedure = told(&["--access", "procedure"]);
    assert!(procedure.contains("--access procedure: sqlite does not support procedures"), "{procedure}");
    assert!(procedure.contains("--access statement"), "{procedure}");
    assert!(told(&["--department", "Sales%"]).contains("engines interpret 'S' differently"));
    let few = ["analytics", "--events", "100", "--target", "sqlite:reports.db"];
    let few = bench.run(&few).ended_with(2).stderr;
    assert!(
        few.contains("--days")
            && few.contains("with 100 messages this would be less than one message per hour; use at most 4"),
        "{few}"
    );
    assert!(told(&["--poisson", "--arrivals", "0"]).contains("--poisson: has no effect"));
    let server = ["analytics", "--target", "postgres://nobody@127.0.0.1:1/none", "--cold-file"];
    let told = bench.run(&server).ended_with(2).stderr;
    assert!(told.contains("--cold-file needs a SQLite file, but postgres is a server"), "{told}");
    assert_eq!(bench.names("."), [""; 0]);
}

/// What was loaded by then is of no use and is removed.
#[test]
fn a_disk_that_fills_while_messages_are_loaded_is_told_and_nothing_is_left() {
    let bench = Workbench::new();
    let Some(way) = private_mounts() else {
        eprintln!("not tried: a small file system, for which mounts are needed");
        return;
    };
    let script = "mkdir small; mount -t tmpfs -o size=4m none small
        \"$prony\" reporting --events 90000 --target sqlite:small/reports.db || code=$?; ls -A small; exit ${code:-0}";
    let outcome = finish(shell(&bench, way, script)).ended_with(1);
    assert!(outcome.stderr.contains("full"), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "", "nothing is left");
}

/// The server is started anew and made cold before each cycle, and the report is one of its procedures.
#[test]
fn a_managed_server_is_cold_before_each_cycle() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.path("data")).unwrap();
    std::fs::set_permissions(bench.path("data"), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let asked = [
        "--managed",
        "postgres",
        "--data",
        "data",
        "--access",
        "procedure",
        "--result",
        "aggregate",
        "--runs",
        "2",
    ];
    let json = bench.run(&[&SMALL[..], &asked].concat()).ended_with(0).json();
    for trial in json["trials"].as_array().unwrap() {
        let of = &trial["reporting"];
        assert!(of["cold"].as_str().unwrap().contains("the kernel dropped its files"), "{of:#}");
        assert_eq!((of["reports"].as_u64(), of["plans"].as_array().unwrap().len()), (Some(2), 1));
    }
    assert!(bench.names("data").is_empty());
}

/// Which messages there are is the database's; what is asked of them varies.
#[test]
fn a_study_varies_what_a_report_returns() {
    let bench = Workbench::new();
    bench.write(
        "results.toml",
        "title = \"Rows or sums\"\nblocks = 2\n[workload.reporting]\nevents = 20000\ndays = 30\nruns = 2\n\
         [target]\ndatabase = \"sqlite:reports.db\"\n[[axis]]\nkey = \"workload.reporting.result\"\n\
         levels = [\"rows\", \"aggregate\"]\n",
    );
    let ran = bench.run(&["study", "run", "results.toml", "--json"]);
    let json = ran.json();
    let trials = json["trials"].as_array().unwrap();
    assert!(trials.len() >= 4 && trials.iter().all(|trial| trial["state"] == "complete"), "{}", ran.stderr);
    assert_eq!(json["comparison"]["metric"]["name"], "report_s", "{:#}", json["comparison"]["metric"]);
    let setup = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    assert_eq!(setup["setup"]["events"], 20_000);
}
