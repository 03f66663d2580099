//! `prony script`: SQL of the user's own, as a user runs it.

use std::path::Path;

use serde_json::Value;

use crate::workbench::{Workbench, json_file};

const ADD: &str = "\\set id random(1, 10 * :scale)\nUPDATE t SET n = n + 1 WHERE id = :id;\n\\expect rows = 1\nSELECT n FROM t WHERE id = :id;\n";
const TABLE: &str = "CREATE TABLE t (id int PRIMARY KEY, n bigint NOT NULL);\n\
    INSERT INTO t WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 20) SELECT id, 0 FROM ids;\n";
const SHORT: [&str; 4] = ["--warm-up", "200ms", "--duration", "1s"];

/// A bench with a script and a database of SQLite that its own program made.
fn bench() -> Workbench {
    let bench = Workbench::new();
    bench.write("add.sql", ADD);
    rusqlite::Connection::open(bench.path("theirs.db")).unwrap().execute_batch(TABLE).unwrap();
    bench
}

fn sum(file: &Path) -> i64 {
    let database = rusqlite::Connection::open(file).unwrap();
    database.query_row("SELECT sum(n) FROM t", [], |row| row.get(0)).unwrap()
}

fn trial(bench: &Workbench) -> Value {
    json_file(bench.results().unwrap().join("trials/0001/trial.json"))
}

#[test]
fn a_script_runs_on_a_database_that_is_used_as_it_is() {
    let bench = bench();
    let asked = [
        "script",
        "add.sql",
        "--target",
        "sqlite:theirs.db",
        "--clients",
        "2",
        "--max-tries",
        "1000",
        "-D",
        "scale=2",
    ];
    let ran = bench.run(&[&asked[..], &SHORT, &["--json"]].concat()).ended_with(0);
    let report = ran.json();
    ran.says("theirs.db (prony itself changes nothing there)");
    let trial_of = &report["trials"][0];
    assert!(trial_of["script"]["per_s"].as_f64().unwrap() > 0.0, "{trial_of:#}");
    let kinds: Vec<&str> =
        trial_of["figures"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["transaction", "add.sql:2", "add.sql:4"]);
    let setup = &trial(&bench)["setup"];
    assert_eq!(
        (setup["scripts"][0]["text"].as_str(), setup["defined"][0].as_str()),
        (Some(ADD), Some("scale=2"))
    );
    // What was counted was done, warm-up and all; nothing of ours is in it.
    assert!(sum(&bench.path("theirs.db")) > trial_of["script"]["transactions"].as_i64().unwrap());
    assert_eq!(bench.names("."), ["add.sql", "prony-results", "theirs.db"]);
    let text = bench.run(&["report", "latest"]).ended_with(0).stdout;
    for part in
        ["transactions/s", "UPDATE t SET n = n + 1 WHERE id = :id", "A transaction and its statements"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn built_in_scripts_make_their_tables_where_they_are_asked_to_and_nowhere_else() {
    let bench = bench();
    let run = |more: &[&str]| {
        let asked =
            ["script", "--builtin", "tpcb-like", "--target", "sqlite:theirs.db", "--max-tries", "1000"];
        bench.run(&[&asked[..], &SHORT, more].concat())
    };
    let told = run(&[]).ended_with(2).stderr;
    assert!(told.contains("pgbench's tables are missing in") && told.contains("--initialize"), "{told}");
    let ran = run(&["--initialize", "--json", "-D", "unused=1"])
        .ended_with(0)
        .says("pgbench's tables of scale 1 if missing");
    let report = ran.json();
    let script = &report["trials"][0]["script"];
    assert_eq!(script["balances"]["accounts"], script["balances"]["history"], "{script:#}");
    let notes: Vec<&str> =
        report["verdicts"].as_array().unwrap().iter().filter_map(|one| one["sentence"].as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("balances agree")), "{notes:?}");
    // A row took an eighth of the room that it has to have.
    let database = rusqlite::Connection::open(bench.path("theirs.db")).unwrap();
    let narrow = "SELECT count(*) FROM pgbench_accounts WHERE length(filler) <> 84";
    assert_eq!(database.query_row(narrow, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    drop(database);
    // They are there now: taken as they are, and not of another size.
    run(&["--initialize", "--scale", "1"]).ended_with(0);
    let told = run(&["--scale", "2"]).ended_with(2).stderr;
    assert!(told.contains("have scale 1, not --scale 2"), "{told}");
    let told = bench
        .run(&["script", "add.sql", "--scale", "2", "--target", "sqlite:theirs.db"])
        .ended_with(2)
        .stderr;
    assert!(told.contains("--scale: applies only to the tables of built-in scripts"), "{told}");
    assert!(told.contains("give --define scale=2"), "{told}");
    // pgbench's option takes no value, so that a file behind it was one.
    let told = bench
        .run(&["script", "add.sql", "--log", "add.sql", "--target", "sqlite:theirs.db"])
        .ended_with(2)
        .stderr;
    assert!(
        told.contains("--log is the directory of the log (WAL) of a managed server, unlike in pgbench"),
        "{told}"
    );
    // Whoever looked for the tables of --builtin found this option.
    let told = run(&["--init"]).ended_with(2).stderr;
    assert!(
        told.contains(
            "--init is a FILE with your own SQL. To create the tables of --builtin use --initialize"
        ),
        "{told}"
    );
}

#[test]
fn scripts_that_no_procedure_can_be_are_refused_by_name() {
    let bench = bench();
    let run = |script: &str, target: &str| {
        bench.write("a.sql", script);
        bench
            .run(&["plan", "script", "a.sql", "--protocol", "procedure", "--target", target])
            .ended_with(2)
            .stderr
    };
    let told = run("SELECT 1;\n", "sqlite:theirs.db");
    assert!(told.contains("a.sql:1: SQLite has no procedures: give --protocol prepared"), "{told}");
    let told = run("SELECT 1 AS a \\gset\nSELECT :a;\n\\sleep 1 ms\n", "postgres://me@db-1/mydb");
    for part in [
        "a.sql:1: `\\gset` and `\\aset` need a result",
        "a.sql:3: `\\sleep` behind a statement cannot be in a procedure",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn mistakes_of_scripts_are_told_before_anything_runs_with_file_and_line() {
    let bench = bench();
    bench.write("wrong.sql", "SELECT :nothing;\n\\shell ls\n\\set x random(1)\n");
    let target = ["--target", "sqlite:theirs.db"];
    let told = bench.run(&[&["script", "add.sql", "wrong.sql"], &target[..]].concat()).ended_with(2).stderr;
    // They stood in one line, with `\n` between them.
    for place in ["error: wrong.sql:2: ", "error: wrong.sql:3: "] {
        assert!(told.lines().any(|line| line.starts_with(place)), "{place} in {told}");
    }
    bench.write("wrong.sql", "SELECT :nothing;\n");
    let told = bench.run(&[&["script", "wrong.sql"], &target[..]].concat()).ended_with(2).stderr;
    assert!(
        told.contains("wrong.sql:1: `:nothing` has no value") && told.contains("--define nothing=VALUE"),
        "{told}"
    );
    let told = bench.run(&["script", "none.sql", "--target", "sqlite:theirs.db"]).ended_with(2).stderr;
    assert!(told.contains("cannot read the script none.sql"), "{told}");
    let told = bench.run(&["script", "add.sql", "--target", "sqlite:none.db"]).ended_with(2).stderr;
    assert!(told.contains("none.db") && !bench.path("none.db").exists(), "{told}");
    let told = bench.run(&["script", "--target", "sqlite:theirs.db"]).ended_with(2).stderr;
    assert!(told.starts_with("error: FILE[@WEIGHT]: are missing: give a file with SQL"), "{told}");
    let init = ["script", "add.sql", "--init", "add.sql", "--target", "sqlite:theirs.db"];
    assert!(bench.run(&init).ended_with(2).stderr.contains("--init FILE needs --managed"));
    assert_eq!((bench.results(), sum(&bench.path("theirs.db"))), (None, 0), "nothing ran");
}

#[test]
fn an_expectation_that_is_not_met_fails_the_run() {
    let bench = bench();
    bench.write("none.sql", "SELECT n FROM t WHERE id = 99;\n\\expect rows = 1\n");
    let asked = ["script", "none.sql", "--target", "sqlite:theirs.db"];
    let ran = bench.run(&[&asked[..], &SHORT].concat()).ended_with(1);
    ran.says("none.sql:2: expected rows = 1, but the number of rows is 0");
}

#[test]
fn sql_that_the_server_refuses_is_told_with_file_line_and_its_message() {
    let bench = bench();
    bench.write("wrong.sql", "SELECT 1;\nSELECT m FROM t;\n");
    let asked = ["script", "wrong.sql", "--target", "sqlite:theirs.db"];
    let told = bench.run(&[&asked[..], &SHORT].concat()).ended_with(2).stderr;
    assert!(told.contains("error: wrong.sql:2: no such column: m"), "{told}");
    assert!(
        !told.contains("theirs.db (prony itself changes nothing there)") && bench.results().is_none(),
        "announced: {told}"
    );
    // What only running it shows ends its client.
    bench.write("wrong.sql", "SELECT 1;\nINSERT INTO t VALUES (1, 0);\n");
    let ran = bench.run(&[&asked[..], &SHORT].concat()).ended_with(5);
    assert!(
        ran.stderr.contains("wrong.sql:2: ") && ran.stderr.contains("UNIQUE constraint failed"),
        "{}",
        ran.stderr
    );
    // The first screen said that nothing was measured, and not why.
    let screen = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["invalid: a client stopped before the end: client 1: wrong.sql:2: ", "UNIQUE constraint failed"]
    {
        assert!(screen.contains(part), "{part} in {screen}");
    }
}

/// The first trial of a study is not the only one that is looked at.
#[test]
fn mistakes_of_every_level_of_a_study_are_told_before_its_first_trial() {
    let bench = bench();
    bench.write("named.sql", "SELECT n FROM :name;\n");
    bench.write(
        "names.toml",
        "title = \"Names\"\nblocks = 1\n[workload.script]\nfiles = [\"named.sql\"]\nprotocol = \"simple\"\nwarm_up = \"100ms\"\n\
         duration = \"300ms\"\n[target]\ndatabase = \"sqlite:theirs.db\"\n[[axis]]\nkey = \"workload.script.define\"\n\
         levels = [[\"name=t\"], [\"name=gone\"]]\n",
    );
    let told = bench.run(&["study", "run", "names.toml"]).ended_with(2).stderr;
    assert!(told.contains("error: named.sql:1: no such table: gone"), "{told}");
    assert!(bench.results().is_none(), "nothing was begun");
}

/// A script that sends nothing was called a rate of the database, and constants out of range ended each client.
#[test]
fn what_is_known_of_a_script_is_told_before_the_load() {
    let bench = bench();
    for (script, more, words) in [
        ("\\set tank random(1, 40)\n", &[][..], "odd.sql:1: the script sends no statement"),
        (
            "\\set pump random_zipfian(1, 500, 0.8)\nSELECT :pump;\n",
            &[][..],
            "odd.sql:1: the zipfian parameter",
        ),
        ("\\set tank random(1, :most)\nSELECT :tank;\n", &["-D", "most=0"][..], "odd.sql:1: empty range"),
        ("SELECT 1;\n\0\n", &[][..], "odd.sql:2: a zero byte"),
        ("\\setrandom tank 1 :tanks\nSELECT :tank;\n", &[][..], "write `\\set tank random(1, :tanks)`"),
        (
            "\\set tank 7 -- shape\nSELECT :tank;\n",
            &[][..],
            "the comment `-- shape` cannot follow an expression",
        ),
        ("\\set n 3\nSELECT n FROM t ORDER BY :n;\n", &[][..], "odd.sql:2: `:n` stands for a column"),
    ] {
        bench.write("odd.sql", script);
        let told = bench
            .run(&[&["script", "odd.sql", "--target", "sqlite:theirs.db"], more].concat())
            .ended_with(2)
            .stderr;
        assert!(told.contains(words), "{words} in {told}");
    }
    bench.write("odd.sql", "SELECT 1;\r\n\u{1a}");
    bench.run(&[&["script", "odd.sql", "--target", "sqlite:theirs.db"], &SHORT[..]].concat()).ended_with(0);
}

#[test]
fn a_setting_that_the_server_does_not_take_is_told_before_it_is_announced() {
    let bench = bench();
    let asked = ["script", "add.sql", "--managed", "postgres", "--setting", "wrok_mem=1MB"];
    let told = bench.run(&asked).ended_with(2).stderr;
    assert!(told.contains("unrecognized configuration parameter \"wrok_mem\""), "{told}");
    assert!(bench.results().is_none(), "{told}");
}

#[test]
fn a_file_may_have_a_space_in_its_name_and_stand_twice() {
    let bench = bench();
    bench.write("my add.sql", ADD);
    let asked = ["script", "my add.sql", "my add.sql@2", "--target", "sqlite:theirs.db", "-D", "scale=2"];
    let json = bench.run(&[&asked[..], &SHORT, &["--json"]].concat()).ended_with(0).json();
    let kinds = json["trials"][0]["figures"].as_array().unwrap().iter();
    let kinds: Vec<&str> = kinds.map(|row| row["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"my_add.sql#1") && kinds.contains(&"my_add.sql#2:2"), "{kinds:?}");
}

/// The server is started, its tables are made, and nothing of it is left; the plan says the same beforehand.
#[test]
fn a_managed_server_gets_its_tables_from_a_file() {
    let bench = bench();
    bench.write("tables.sql", TABLE);
    std::fs::create_dir(bench.path("data")).unwrap();
    std::fs::set_permissions(bench.path("data"), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let asked = ["script", "add.sql", "--init", "tables.sql", "--managed", "postgres", "--data", "data"];
    let plan = bench.run(&[&["plan"], &asked[..]].concat()).ended_with(0).stdout;
    assert!(plan.contains("the tables of tables.sql"), "{plan}");
    let json = bench.run(&[&asked[..], &SHORT, &["--clients", "2", "--json"]].concat()).ended_with(0).json();
    assert!(json["trials"][0]["script"]["transactions"].as_u64().unwrap() > 0);
    assert_eq!(json["trials"][0]["script"]["unmet"], 0);
    assert!(bench.names("data").is_empty());
}

/// An axis over the protocol, in blocks, from a study file.
#[test]
fn a_study_varies_what_a_script_has() {
    let bench = bench();
    bench.write(
        "protocols.toml",
        "title = \"Protocols\"\nblocks = 2\n[workload.script]\nfiles = [\"add.sql\"]\nwarm_up = \"100ms\"\nduration = \"300ms\"\n\
         [target]\ndatabase = \"sqlite:theirs.db\"\n[[axis]]\nkey = \"workload.script.protocol\"\nlevels = [\"prepared\", \"simple\"]\n",
    );
    let ran = bench.run(&["study", "run", "protocols.toml", "--json"]);
    let json = ran.json();
    let trials = json["trials"].as_array().unwrap();
    assert!(trials.len() >= 4 && trials.iter().all(|trial| trial["state"] == "complete"), "{}", ran.stderr);
    let is_simple =
        |trial: &&Value| trial["levels"].as_object().unwrap().values().any(|level| level == "simple");
    assert_eq!(trials.iter().filter(is_simple).count(), 2, "one in each block");
    assert_eq!(json["comparison"]["axes"].as_array().unwrap().len(), 1);
}
