//! Databases: addresses that mean something else, what lies beside a file, stores and databases that others made or keep, and
//! what happens to them while a run has them.

use std::fs;
use std::path::Path;

use database::{Session, Url, Value};
use rustix::fs::FileType;
use rustix::process::Signal;

use super::scene::Scene;
use super::{By, ROW, Row, run};
use crate::running::Running;
use crate::servers;
use crate::workbench::{Outcome, Workbench};

/// A database of SQLite that somebody else made, with tables of the names that prony's have.
fn theirs(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    let tables =
        "CREATE TABLE samples (x); INSERT INTO samples VALUES ('a year of data'); CREATE TABLE orders (x)";
    database.execute_batch(tables).unwrap();
}

/// A historian's database that its user keeps.
fn kept(scene: &Scene, name: &str) {
    let target = format!("sqlite:{name}");
    let run =
        ["historian", "--rate", "max", "--screens", "0", "--warm-up", "0s", "--duration", "100ms", "--keep"];
    scene.bench().run(&[&run[..], &["--target", &target]].concat()).measured();
}

/// What stands after the program, its results aside.
fn stands(scene: &Scene, names: &[&str]) {
    let mut found = scene.bench().names(".");
    found.retain(|name| name != "prony-results" && name != "stdout.txt");
    assert_eq!(found, names);
}

/// A row of an address under which another file was used than the one that was looked at.
macro_rules! address {
    ($name:literal, $address:literal) => {
        Row {
            name: $name,
            before: |scene| {
                theirs(&scene.path("mine.db"));
                true
            },
            command: concat!(
                "historian --rate max --screens 0 --warm-up 0s --duration 100ms --target ",
                $address
            ),
            code: 0,
            after: |scene, _| stands(scene, &["mine.db"]),
            ..ROW
        }
    };
}

const REPLACES: &str = "orders load --size 1MB --replace --target sqlite:there";
const HISTORIAN: &str =
    "historian --rate max --screens 0 --warm-up 0s --duration 100ms --target sqlite:there";

const ROWS: &[Row] = &[
    address!("a name that begins with file: is a name", "sqlite:file:mine.db"),
    address!("a name that ends like the options of an address is a name", "sqlite:file:mine.db?mode=memory"),
    address!("a name with a percent sign is a name", "sqlite:file:mine%2Edb"),
    address!("a name with a zero in percent is a name", "sqlite:mine.db%00"),
    address!("a name with slashes and no directory is a name", "sqlite:./file:mine.db"),
    Row {
        name: "a store is loaded under the name that was given",
        before: |scene| {
            theirs(&scene.path("mine.db"));
            true
        },
        command: "orders load --size 1MB --replace --target sqlite:file:mine.db",
        code: 0,
        after: |scene, _| stands(scene, &["file:mine.db", "mine.db"]),
        ..ROW
    },
    Row {
        name: "a database of others is not replaced",
        before: |scene| {
            theirs(&scene.path("there"));
            true
        },
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a file of the lock's name is no lock",
        before: |scene| {
            scene.write("there-prony", "precious");
            true
        },
        command: HISTORIAN,
        says: "there-prony exists and is not a lock of prony",
        ..ROW
    },
    Row {
        name: "a link of the lock's name is not followed",
        before: |scene| {
            scene.link("prony-check.sqlite-prony", "nowhere");
            true
        },
        command: "check --file-size 16MiB --duration 50ms",
        says: "is not a lock of prony",
        after: |scene, _| stands(scene, &["prony-check.sqlite-prony"]),
        ..ROW
    },
    Row {
        name: "a FIFO of the lock's name is not waited for",
        before: |scene| {
            scene.fifo("there-prony");
            true
        },
        command: HISTORIAN,
        says: "is not a lock of prony",
        ..ROW
    },
    Row {
        name: "the log of a database that was moved away stays",
        before: |scene| {
            scene.write("there-wal", "committed");
            true
        },
        command: HISTORIAN,
        says: "there-wal",
        ..ROW
    },
    Row {
        name: "a journal of a database that was moved away stays",
        before: |scene| {
            scene.write("there-journal", "committed");
            true
        },
        command: REPLACES,
        says: "move it away",
        ..ROW
    },
    Row {
        name: "what lies beside a database of ours and is no log of it stays",
        before: |scene| {
            kept(scene, "there");
            scene.write("there-wal", "precious");
            true
        },
        command: REPLACES,
        ours: &["prony-results"],
        says: "which SQLite did not create for this database",
        ..ROW
    },
    Row {
        name: "a FIFO is not replaced",
        before: |scene| {
            scene.fifo("there");
            true
        },
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a socket is not replaced",
        before: |scene| {
            scene.socket("there");
            true
        },
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a character device is not replaced",
        by: &[By::Root],
        before: |scene| scene.node("there", FileType::CharacterDevice, 1, 3),
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a block device is not replaced",
        by: &[By::Root],
        before: |scene| scene.node("there", FileType::BlockDevice, 7, 250),
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a link to an empty file is not replaced",
        before: |scene| {
            scene.write("empty", "");
            scene.link("there", "empty");
            true
        },
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a link to nowhere is not replaced",
        before: |scene| {
            scene.link("there", "nowhere");
            true
        },
        command: REPLACES,
        says: "cannot make there",
        ..ROW
    },
    Row {
        name: "a directory is not replaced",
        before: |scene| {
            scene.write("there/precious", "precious");
            true
        },
        command: REPLACES,
        says: "was not created by prony",
        ..ROW
    },
    Row {
        name: "a kept database is not replaced by another run",
        before: |scene| {
            kept(scene, "there");
            true
        },
        command: HISTORIAN,
        says: "exists from an earlier run of prony",
        ..ROW
    },
    Row {
        name: "a kept database under the name of check's own is not replaced by check",
        before: |scene| {
            kept(scene, "prony-check.sqlite");
            true
        },
        command: "check --file-size 16MiB --duration 50ms",
        says: "exists from an earlier run of prony",
        ..ROW
    },
    Row {
        name: "a study loads no store in the place of one that is there",
        before: |scene| {
            scene.bench().run(&["orders", "load", "--size", "1MB", "--target", "sqlite:there"]).ended_with(0);
            scene.write("study.toml", LOADS);
            true
        },
        command: "study run study.toml",
        says: "exists from an earlier run of prony",
        ..ROW
    },
    Row {
        name: "a file that was renamed over the database stays",
        command: "historian --rate 100 --screens 0 --warm-up 0s --duration 1s --target sqlite:there",
        meanwhile: Some(|scene, running| {
            running.wait_for_samples(scene.bench());
            scene.write("theirs", "precious");
            fs::rename(scene.path("theirs"), scene.path("there")).unwrap();
        }),
        code: 1,
        says: "this run did not create it",
        after: |scene, _| assert_eq!(fs::read(scene.path("there")).unwrap(), b"precious"),
        ..ROW
    },
];

/// Loads a store, with nothing said of one that is there.
const LOADS: &str = "blocks = 1\ncompare = false\n\
    workload.orders = { n_threads = 1, warmup_time = \"0s\", run_time = \"200ms\", think_time = \"0s\" }\n\
    [[target.store]]\nurl = \"sqlite:there\"\nload = \"1MB\"\n";

#[test]
fn nothing_of_others_is_taken_for_a_database_of_ours() {
    run(ROWS);
}

#[test]
fn a_store_that_is_there_is_replaced_where_the_study_says_so() {
    let bench = Workbench::new();
    bench.run(&["orders", "load", "--size", "1MB", "--target", "sqlite:there"]).ended_with(0);
    bench.write("study.toml", format!("{LOADS}existing = \"replace\"\n"));
    bench.run(&["study", "run", "study.toml"]).ended_with(0);
    assert!(!bench.path("there").exists(), "made for the study, and removed at its end");
}

/// Resume took what its user had kept meanwhile for what the study had left.
#[test]
fn a_database_that_was_kept_after_the_kill_is_not_what_the_study_left() {
    let bench = Workbench::new();
    bench.write(
        "study.toml",
        "blocks = 2\nworkload.historian = { rate = 200, warm_up = \"0s\", duration = \"1s\", screens = 0 }\n\
         target.database = \"sqlite:there\"\naxis = [{ key = \"workload.historian.flush_rows\", levels = [10, 40] }]\n",
    );
    let mut running = Running::start(&bench, &["study", "run", "study.toml"]);
    running.wait_for_samples(&bench);
    running.send(Signal::KILL);
    assert_eq!(running.ended().code, None);
    let results = bench.results().unwrap();
    let keep = "historian --rate max --screens 0 --warm-up 0s --duration 300ms --target sqlite:there --keep --replace \
                --results elsewhere";
    bench.run(&keep.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>()).measured();
    let before = fs::read(bench.path("there")).unwrap();
    let resume = ["study", "resume", results.to_str().unwrap()];
    bench.run(&resume).ended_with(2).says("exists from an earlier run of prony");
    assert_eq!(fs::read(bench.path("there")).unwrap(), before);
    fs::remove_file(bench.path("there")).unwrap();
    bench.run(&resume).ended_with(0);
}

/// What a killed check leaves is replaced by the next one.
#[test]
fn what_a_killed_run_made_for_itself_is_replaced_where_that_was_said() {
    let bench = Workbench::new();
    let mut running = Running::start(
        &bench,
        &["historian", "--rate", "100", "--screens", "0", "--target", "sqlite:prony-check.sqlite"],
    );
    running.wait_for_samples(&bench);
    running.send(Signal::KILL);
    assert_eq!(running.ended().code, None);
    fs::remove_dir_all(bench.path("prony-results")).unwrap();
    let check = ["check", "--file-size", "16MiB", "--duration", "100ms"];
    let outcome = bench.run(&check);
    assert!(outcome.code == Some(0) || outcome.code == Some(5), "{outcome:?}");
    assert_eq!(bench.names("."), ["prony-results", "stdout.txt"], "databases, locks and logs are gone");
}

/// Runs statements on a server, one after the other, and gives the rows of the last.
fn sql(url: &str, statements: &[&str]) -> Vec<Vec<Value>> {
    let url: Url = url.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::open(&url).await.unwrap();
        let (last, others) = statements.split_last().unwrap();
        for statement in others {
            session.script(statement).await.unwrap();
        }
        session.query(last, &[]).await.unwrap()
    })
}

/// The address of another database on the same server.
fn inside(url: &str, database: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{database}")
}

fn count(url: &str, database: &str) -> Vec<Vec<Value>> {
    sql(&inside(url, database), &["SELECT count(*) FROM samples"])
}

fn prony(bench: &Workbench, url: &str, arguments: &str) -> Outcome {
    let words: Vec<String> = arguments.split_whitespace().map(|word| word.replace("{url}", url)).collect();
    bench.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A study's load dropped whatever of prony's had the name, and removed it at the end.
fn a_study_leaves_what_is_kept(url: &str, database: &str) {
    let bench = Workbench::new();
    let keep = format!(
        "historian --rate max --screens 0 --warm-up 0s --duration 300ms --target {{url}} --database {database} --keep"
    );
    prony(&bench, url, &keep).ended_with(0);
    let before = count(url, database);
    let target = format!("url = \"{url}\"\ndatabase = \"{database}\"\n");
    bench.write("study.toml", LOADS.replace("url = \"sqlite:there\"\n", &target));
    prony(&bench, url, "study run study.toml --results other")
        .ended_with(2)
        .says("from an earlier run of prony");
    assert_eq!(count(url, database), before);
    let replace = keep.replace("--keep", "--replace --results third");
    prony(&bench, url, &replace).ended_with(0);
}

#[test]
fn a_study_leaves_what_is_kept_on_servers() {
    a_study_leaves_what_is_kept(&servers::postgres().url(), "prony_kept_there");
    a_study_leaves_what_is_kept(&servers::mariadb().url(), "prony_kept_there");
}

/// The DBA drops the database of a running historian and makes one of that name: it was dropped at the end.
fn what_the_dba_made_meanwhile_stays(url: &str, drop: &str) {
    let bench = Workbench::new();
    let arguments = format!(
        "historian --rate 100 --screens 0 --warm-up 0s --duration 2s --target {url} --database prony_replaced_there"
    );
    let mut running = Running::start(&bench, &arguments.split(' ').collect::<Vec<_>>());
    running.wait_for_samples(&bench);
    sql(url, &[drop, "CREATE DATABASE prony_replaced_there", "SELECT 1"]);
    let theirs = inside(url, "prony_replaced_there");
    let make = ["CREATE TABLE theirs (x integer)", "INSERT INTO theirs VALUES (1)", "SELECT x FROM theirs"];
    assert_eq!(sql(&theirs, &make), [[Value::I64(1)]]);
    running.ended().ended_with(1).says("this run did not create it");
    assert_eq!(sql(&theirs, &["SELECT x FROM theirs"]), [[Value::I64(1)]]);
}

#[test]
fn what_the_dba_made_in_its_place_stays() {
    let drop = "DROP DATABASE prony_replaced_there";
    what_the_dba_made_meanwhile_stays(&servers::postgres().url(), &format!("{drop} WITH (FORCE)"));
    what_the_dba_made_meanwhile_stays(&servers::mariadb().url(), drop);
}
