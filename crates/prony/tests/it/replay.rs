//! `prony script --replay`: a log of statements, as a user replays it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::workbench::{Workbench, json_file};

/// A bench with a database of SQLite that its own program made.
fn bench() -> Workbench {
    let bench = Workbench::new();
    let made = "CREATE TABLE t (id int PRIMARY KEY, n bigint NOT NULL); INSERT INTO t VALUES (1, 0), (2, 0);";
    rusqlite::Connection::open(bench.path("theirs.db")).unwrap().execute_batch(made).unwrap();
    bench
}

/// Two sessions of a csvlog: twenty changes, an insert that is there twice, and what is no statement.
fn csvlog() -> String {
    let line = |ms: u32, session: u32, message: &str, detail: &str| {
        format!(
            "2024-01-15 10:00:{:02}.{:03} CET,\"me\",\"shop\",4711,\"[local]\",5f.{session},1,\"SELECT\",2024-01-15 09:59:00 CET,3/7,0,LOG,00000,\
             \"{message}\",{detail},,,,,,,,\"psql\",\"client backend\",,0\n",
            ms / 1_000,
            ms % 1_000
        )
    };
    let mut text = line(0, 1, "connection received: host=[local]", "");
    for number in 0..20 {
        let detail = format!("\"parameters: $1 = '{}', $2 = '1'\"", number % 2 + 1);
        let message = "execute <unnamed>: UPDATE t SET n = n + $2\n  WHERE id = $1";
        text.push_str(&line(100 * number, number % 2, message, &detail));
    }
    text.push_str(&line(1_900, 1, "statement: INSERT INTO t VALUES (1, 5)", ""));
    text.push_str(&line(1_910, 1, "statement: COPY t FROM STDIN", ""));
    let cut = line(1_950, 1, "statement: SELECT 1", "");
    text.push_str(&cut[..90]);
    text
}

/// It was taken, and said nothing.
#[test]
fn a_replay_draws_nothing_and_takes_no_seed() {
    let bench = bench();
    bench.write("busy.csv", csvlog());
    let asked = ["script", "--replay", "busy.csv", "--target", "sqlite:theirs.db", "--seed", "7"];
    let told = bench.run(&asked).ended_with(2).stderr;
    assert!(told.contains("--seed: no effect"), "{told}");
}

#[test]
fn a_log_is_replayed_and_each_of_its_entries_is_accounted_for() {
    let bench = bench();
    bench.write("busy.csv", csvlog());
    let asked = ["script", "--replay", "busy.csv", "--speed", "2", "--target", "sqlite:theirs.db"];
    let plan = bench.run(&[&["plan"], &asked[..]].concat()).ended_with(0).stdout;
    assert!(
        plan.contains("busy.csv, at 2 times its pace") && plan.contains("21 statements of 2 sessions"),
        "{plan}"
    );
    let ran = bench.run(&[&asked[..], &["--json"]].concat()).ended_with(0);
    let ran = ran.says("changes by the statements of the log, to theirs.db");
    let report = ran.json();
    let replay = &report["trials"][0]["script"]["replay"];
    let (log, became) = (&replay["log"], &replay["statements"]);
    assert_eq!((&log["format"], &log["is_recognised"]), (&"postgres-csv".into(), &true.into()));
    assert_eq!((&log["entries"], &log["statements"], &log["sessions"]), (&24.into(), &21.into(), &2.into()));
    let left: u64 =
        log["left_out"].as_array().unwrap().iter().map(|left| left["count"].as_u64().unwrap()).sum();
    assert_eq!(left, 3, "{log:#}");
    assert_eq!(
        (&became["answered"], &became["failed"], &became["unsent"]),
        (&20.into(), &1.into(), &0.into())
    );
    assert_eq!(became["errors"][0]["code"], "SQLite 1555");
    let database = rusqlite::Connection::open(bench.path("theirs.db")).unwrap();
    let sum: i64 = database.query_row("SELECT sum(n) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(sum, 20);
    let trial: Value = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    assert_eq!(trial["setup"]["replay"]["statements"], 21);
    let text = bench.run(&["report", "latest"]).ended_with(0).stdout;
    for part in [
        "Use of the log",
        "UPDATE t SET n = n + ? WHERE id = ?",
        "COPY, because its data are not in the log",
        "cut short by the end of the file",
        "failed with SQLite 1555",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn what_is_no_log_and_what_a_replay_has_no_use_for_is_refused_before_anything_runs() {
    let bench = bench();
    bench.write("busy.csv", csvlog());
    bench.write("no.log", "SELECT 1;\n");
    bench.write("empty.log", "");
    let refused = |more: &[&str]| {
        bench.run(&[&["script", "--target", "sqlite:theirs.db"], more].concat()).ended_with(2).stderr
    };
    for (more, part) in [
        (&["--replay", "none.log"][..], "the log none.log cannot be opened: "),
        (
            &["--replay", "no.log"],
            "the log no.log is not a log of a known format; its first line is `SELECT 1;`",
        ),
        (&["--replay", "empty.log"], "the log empty.log is empty"),
        (
            &["--replay", "busy.csv", "--format", "mariadb-general"],
            "by its content, its format is postgres-csv",
        ),
        (&["--replay", "busy.csv", "--only-database", "other"], "22 of another database"),
        (
            &["--replay", "busy.csv", "--only-database", "other"],
            "give a database that its statements are of: shop",
        ),
        (&["--replay", "busy.csv", "--duration", "1h"], "--duration 1h does not work with the log busy.csv"),
        (
            &["--replay", "busy.csv", "--protocol", "extended"],
            "only PostgreSQL accepts separate parameters. Omit this option",
        ),
        (&["--replay", "busy.csv", "--clients", "4"], "--clients: has no effect in a replay"),
        (&["--replay", "busy.csv", "a.sql"], "FILE[@WEIGHT]: has no effect in a replay"),
        (&["a.sql", "--speed", "2"], "--speed: applies only to the replay of a log: give --replay"),
        (
            &["--replay", "busy.csv", "--format", "csv"],
            "use postgres-csv, mariadb-general or sqlserver-events",
        ),
        (&["--replay", "busy.csv", "--on-error", "ignore"], "unknown choice `ignore`: use `count` or `stop`"),
    ] {
        let told = refused(more);
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(bench.results(), None, "nothing ran");
}

/// The pace is an axis like any other; the log is read once for all of its trials.
#[test]
fn a_study_varies_the_pace_of_a_log() {
    let bench = bench();
    let text = (0..10).fold(String::new(), |mut text, number| {
        let _ = writeln!(
            text,
            "2024-01-15T10:00:00.{number}00000Z\t    7 Query\tSELECT n FROM t WHERE id = {number}"
        );
        text
    });
    bench.write("busy.log", text);
    bench.write(
        "paces.toml",
        "title = \"Paces\"\nblocks = 1\n[workload.script]\nreplay = \"busy.log\"\n[target]\ndatabase = \"sqlite:theirs.db\"\n\
         [[axis]]\nkey = \"workload.script.speed\"\nlevels = [1.0, 4.0]\n",
    );
    let json = bench.run(&["study", "run", "paces.toml", "--json"]).json();
    let trials = json["trials"].as_array().unwrap();
    let answered: Vec<&Value> =
        trials.iter().map(|trial| &trial["script"]["replay"]["statements"]["answered"]).collect();
    assert!(trials.len() >= 2 && answered.iter().all(|count| **count == 10), "{answered:?}");
}
