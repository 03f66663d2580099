//! Whole trials, on SQLite and on throwaway servers.

use ::load::Span;
use database::{Dialect, Existing, Own, Session, Url, Value};
use instance::{MariaDb, Options, Postgres};
use record::{Interval, Phase};
use tempfile::TempDir;

use super::*;
use crate::claims::claim;
use crate::script::{Logs, ScriptFile, Settings, check};

mod builtin;
mod pgbench;
mod procedures;
mod rehearsal;
mod replay;
mod replay_servers;

/// What a trial told and left.
struct Ran {
    setup: ScriptSetup,
    intervals: Vec<Interval>,
    outcome: ScriptOutcome,
}

impl Ran {
    /// Operations of a kind from the beginning to the end.
    fn count(&self, kind: &str) -> u64 {
        let of = self.intervals.iter().filter_map(|interval| interval.operations.get(kind));
        of.map(|operation| operation.count).sum()
    }

    fn errors(&self, kind: &str) -> u64 {
        let of = self.intervals.iter().filter_map(|interval| interval.operations.get(kind));
        of.map(|operation| operation.errors).sum()
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn rows(url: &Url, sql: &str) -> Vec<Vec<Value>> {
    block_on(async { Session::open_as_it_is(url).await.unwrap().query(sql, &[]).await.unwrap() })
}

/// A number that a query gives.
fn rows_of(url: &Url, count: &str) -> u64 {
    match rows(url, count).first().and_then(|row| row.first()) {
        Some(Value::I64(count)) => *count as u64,
        other => panic!("{other:?}"),
    }
}

fn script(url: &Url, sql: &str) {
    block_on(async { Session::open_as_it_is(url).await.unwrap().script(sql).await.unwrap() });
}

/// Drives scripts on a database that is there, for half a second unless the settings say so.
fn try_run(url: &Url, scripts: &[&str], settings: &str) -> Result<Ran, TrialError> {
    run_until(url, scripts, settings, &|_| false)
}

/// The same until each of these kinds was done: in a window of a given length a slow server may do none of a kind.
fn ran_each(url: &Url, scripts: &[&str], settings: &str, kinds: &[&str]) -> Ran {
    let done = |ran: &[Interval], kind: &str| {
        ran.iter().filter_map(|interval| interval.operations.get(kind)).any(|operation| operation.count > 0)
    };
    let settings = format!("{settings}\nduration = \"2m\"");
    let is_enough = |ran: &[Interval]| kinds.iter().all(|kind| done(ran, kind));
    let ran = run_until(url, scripts, &settings, &is_enough).unwrap();
    assert!(is_enough(&ran.intervals), "{:?}", ran.outcome);
    ran
}

/// The same until it is enough by the intervals so far.
fn run_until(
    url: &Url,
    scripts: &[&str],
    settings: &str,
    is_enough: &dyn Fn(&[Interval]) -> bool,
) -> Result<Ran, TrialError> {
    let directory = tempfile::tempdir().unwrap();
    let mut settings: Settings = toml::from_str(settings).unwrap();
    settings.warm_up.get_or_insert(Span::microseconds(100_000));
    settings.duration.get_or_insert(Span::microseconds(500_000));
    for (number, text) in scripts.iter().enumerate() {
        let path = directory.path().join(format!("{}.sql", ["a", "b", "c"][number]));
        std::fs::write(&path, text).unwrap();
        settings.files.push(ScriptFile { path, weight: number as u32 * 2 + 1 });
    }
    let job = check(&Job::of(&settings).unwrap(), url.engine().dialect(), &mut Logs::default())?;
    let own = block_on(Own::make(url, "", &claim(Existing::AsItIs))).unwrap();
    let (mut setup, mut intervals) = (None, Vec::new());
    let outcome =
        super::run(&job, &own.lease(), &own.clone().into(), &AtomicBool::new(false), &mut |progress| {
            match progress {
                Progress::SetUp(Setup::Script(script)) => setup = Some(*script),
                Progress::Interval(interval) => intervals.push(interval),
                _ => {}
            }
            if is_enough(&intervals) { Go::Stop } else { Go::On }
        })?;
    Ok(Ran { setup: setup.unwrap(), intervals, outcome })
}

fn ran(url: &Url, scripts: &[&str], settings: &str) -> Ran {
    try_run(url, scripts, settings).unwrap()
}

/// A table with ten rows of zeros.
const TABLE: &str = "CREATE TABLE t (id int PRIMARY KEY, n bigint NOT NULL); \
    INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0);";

/// A file of SQLite that somebody else made.
fn file() -> (TempDir, Url) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("theirs.db");
    std::fs::write(&path, []).unwrap();
    let url: Url = format!("sqlite:{}", path.display()).parse().unwrap();
    script(&url, TABLE);
    (directory, url)
}

const ADD: &str =
    "\\set id random(1, 10)\n\\set d 2 * 3 - 5\nUPDATE t SET n = n + :d WHERE id = :id;\n\\expect rows = 1\n";

fn sum_of(url: &Url) -> u64 {
    match rows(url, "SELECT sum(n) FROM t")[0][0] {
        Value::I64(sum) => sum as u64,
        Value::F64(sum) => sum as u64,
        ref other => panic!("{other:?}"),
    }
}

/// Each transaction that was finished adds one, in each of the ways to send a statement, and nothing else does.
fn adds_up(url: &Url, protocols: &[&str]) {
    let sum = || sum_of(url);
    for protocol in protocols {
        let before = sum();
        let settings = format!("clients = 3\nmax_tries = 1000\nprotocol = \"{protocol}\"");
        let ran = ran_each(url, &[ADD], &settings, &[record::script::TRANSACTION]);
        let outcome = &ran.outcome;
        assert_eq!((outcome.unmet, outcome.failed, outcome.unanswered), (0, 0, 0), "{protocol}: {outcome:?}");
        assert!(outcome.stopped.is_empty() && outcome.outages.is_empty(), "{protocol}: {outcome:?}");
        assert_eq!(outcome.transactions_by_client.len(), 3);
        let done = ran.count(record::script::TRANSACTION);
        assert_eq!(sum() - before, done, "{protocol}");
        assert_eq!(ran.count("a.sql:3"), done, "{protocol}: a statement is counted for each transaction");
        assert_eq!((ran.setup.protocol.as_str(), ran.setup.scripts[0].text.as_str()), (*protocol, ADD));
    }
}

/// A rate on a table that a crash empties was told as one of durable commits.
#[test]
fn a_table_that_a_crash_empties_is_told_with_the_durability() {
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    script(&url, TABLE);
    script(&url, "CREATE UNLOGGED TABLE cache (id int)");
    let server = || ran_each(&url, &[ADD], "clients = 1", &[record::script::TRANSACTION]).setup.server;
    let durable = server();
    assert!(durable.is_durable && !durable.durability.contains("unlogged"), "{durable:?}");
    assert_eq!(
        (durable.unsafe_tables[0].kind.as_str(), &durable.unsafe_tables[0].names[..]),
        ("unlogged", &["cache".to_owned()][..])
    );
    script(&url, "ALTER TABLE t SET UNLOGGED");
    let unlogged = server();
    assert!(
        !unlogged.is_durable && unlogged.durability.ends_with("but t is unlogged, and a crash may empty it"),
        "{unlogged:?}"
    );
    script(&url, "ALTER TABLE t SET LOGGED; ALTER ROLE CURRENT_USER SET synchronous_commit = off");
    let late = server();
    assert!(!late.is_durable, "{late:?}");
    let of_role =
        late.settings.iter().find(|setting| setting.name.starts_with("synchronous_commit of role")).unwrap();
    assert_eq!(of_role.value, "off");
    let mariadb = MariaDb::start(&Options::default()).unwrap();
    script(&mariadb.url().parse().unwrap(), "CREATE DATABASE theirs");
    let url = mariadb.url().parse::<Url>().unwrap().with_database("theirs");
    script(&url, &TABLE.replace("NOT NULL);", "NOT NULL) ENGINE=MEMORY;"));
    let server = ran_each(&url, &[ADD], "clients = 1", &[record::script::TRANSACTION]).setup.server;
    assert!(
        !server.is_durable && server.durability.ends_with("t is MEMORY, and a crash may empty it"),
        "{server:?}"
    );
}

#[test]
fn every_engine_does_what_a_script_says_in_every_protocol() {
    let all = ["prepared", "extended", "simple"];
    let (_directory, url) = file();
    adds_up(&url, &all);
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    script(&url, TABLE);
    adds_up(&url, &all);
    let mariadb = MariaDb::start(&Options::default()).unwrap();
    script(&mariadb.url().parse().unwrap(), "CREATE DATABASE theirs");
    let url = mariadb.url().parse::<Url>().unwrap().with_database("theirs");
    script(&url, TABLE);
    adds_up(&url, &all);
}

/// WAL stays after a file is closed: it would be another file for its own program.
#[test]
fn a_file_of_others_keeps_its_journal_and_has_nothing_of_ours() {
    let (directory, url) = file();
    ran(&url, &[ADD], "");
    assert_eq!(rows(&url, "PRAGMA journal_mode"), [[Value::Text("delete".to_owned())]]);
    assert_eq!(
        rows(&url, "SELECT name FROM sqlite_master"),
        [[Value::Text("t".to_owned())], [Value::Text("sqlite_autoindex_t_1".to_owned())]]
    );
    let beside: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["theirs.db"]);
    let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
    let error = block_on(own.remove()).unwrap_err().to_string();
    assert!(error.contains("is used as it is"), "{error}");
}

#[test]
fn results_go_into_variables_and_branches_follow_them() {
    let (_directory, url) = file();
    let script = "SELECT count(*) AS rows, 'x y' AS words FROM t \\gset p_\n\
        \\if :p_rows = 10\nUPDATE t SET n = :p_rows WHERE id = 1 AND 'x y' = :p_words;\n\\expect rows = 1\n\
        \\else\nUPDATE t SET n = -1;\n\\endif\n";
    let ran = ran(&url, &[script], "");
    assert_eq!((ran.outcome.unmet, ran.outcome.stopped.len()), (0, 0), "{:?}", ran.outcome);
    assert_eq!(rows(&url, "SELECT n FROM t WHERE id < 3 ORDER BY id"), [[Value::I64(10)], [Value::I64(0)]]);
}

/// What is the same each time is worked out before; what a script changes, be it by what it reads, is not.
#[test]
fn a_variable_that_was_defined_may_change() {
    let (_directory, url) = file();
    let script = "\\set base :base + :step * 2\nUPDATE t SET n = :base WHERE id = 1;\n\\set last :row_n + 0\n\
        UPDATE t SET n = :last WHERE id = 2;\nSELECT n FROM t WHERE id = 1 \\gset row_\n";
    let ran = ran(&url, &[script], "define = [\"base=5\", \"step=1\", \"row_n=5\"]");
    let done = ran.count("transaction") as i64;
    assert!(done > 1 && ran.outcome.stopped.is_empty(), "{:?}", ran.outcome);
    let wanted = [[Value::I64(5 + 2 * done)], [Value::I64(5 + 2 * (done - 1))]];
    assert_eq!(rows(&url, "SELECT n FROM t WHERE id < 3 ORDER BY id"), wanted);
}

#[test]
fn what_is_expected_and_not_found_is_a_failed_transaction_with_its_place() {
    let (_directory, url) = file();
    let ran = ran(&url, &["SELECT n FROM t WHERE id = 11;\n\\expect rows >= 1\n"], "");
    assert_eq!(ran.count(record::script::TRANSACTION), 0);
    assert_eq!(ran.errors(record::script::TRANSACTION), ran.outcome.unmet);
    let first = ran.outcome.first_unmet.unwrap();
    assert_eq!(first, "a.sql:2: expected rows >= 1, but the number of rows is 0");
    assert!(ran.outcome.failed > 0 && ran.outcome.unmet >= ran.outcome.failed);
}

#[test]
fn a_statement_that_the_server_refuses_stops_its_client_with_file_and_line() {
    let (_directory, url) = file();
    let ran = ran(&url, &["SELECT 1;\nSELECT nothing FROM t;\n"], "clients = 2");
    let stopped = &ran.outcome.stopped;
    assert_eq!(stopped.len(), 2, "{stopped:?}");
    assert!(stopped[0].contains("a.sql:2: ") && stopped[0].contains("nothing"), "{stopped:?}");
    assert_eq!(ran.count(record::script::TRANSACTION), 0);
}

#[test]
fn a_row_that_is_missing_or_an_expression_without_a_value_is_told_with_its_place() {
    let (_directory, url) = file();
    for (script, told) in [
        (
            "SELECT n FROM t WHERE id = 11 \\gset\nSELECT :n;\n",
            "a.sql:1: \\gset needs one row, but 0 were returned",
        ),
        ("\\set a 1 / (:client_id * 0)\nSELECT 1;\n", "a.sql:1: division by zero"),
        ("\\set a :later + 1\n\\set later 1\nSELECT 1;\n", "a.sql:1: variable `later` has no value"),
    ] {
        let ran = ran(&url, &[script], "");
        assert!(ran.outcome.stopped[0].contains(told), "{told} in {:?}", ran.outcome.stopped);
    }
}

/// Every further one would run within it, and nothing would be committed.
#[test]
fn a_script_that_leaves_a_transaction_open_stops_its_client() {
    let open = "BEGIN;\nUPDATE t SET n = n + 1 WHERE id = 1;\n";
    let refused = |url: &Url, before: &str| {
        let ran = ran(url, &[&open.replace("BEGIN", before)], "");
        assert!(
            ran.outcome.stopped[0].contains("a.sql: the script ends within an open transaction"),
            "{:?}",
            ran.outcome
        );
        assert_eq!(rows(url, "SELECT n FROM t WHERE id = 1"), [[Value::I64(0)]]);
    };
    let (_directory, url) = file();
    refused(&url, "BEGIN");
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    script(&url, TABLE);
    refused(&url, "BEGIN");
    let closed = ran(&url, &[&format!("{open}COMMIT;\n")], "");
    assert!(closed.outcome.stopped.is_empty(), "{:?}", closed.outcome);
    let mariadb = MariaDb::start(&Options::default()).unwrap();
    script(&mariadb.url().parse().unwrap(), "CREATE DATABASE theirs");
    let url = mariadb.url().parse::<Url>().unwrap().with_database("theirs");
    script(&url, TABLE);
    refused(&url, "START TRANSACTION");
}

/// A sum of bigint is numeric in PostgreSQL: 2^53 + 1 came back as 2^53, another row.
#[test]
fn what_goes_into_variables_keeps_all_of_its_digits() {
    let exact = "SELECT 9007199254740993::numeric AS n, 1.10::numeric(20, 2) AS d \\gset\n\
        SELECT 1 WHERE :n = 9007199254740993 AND :d::text = '1.10';\n\\expect rows = 1\n";
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    let ran = ran(&url, &[exact], "");
    assert_eq!((ran.outcome.unmet, ran.outcome.stopped.len()), (0, 0), "{:?}", ran.outcome);
}

#[test]
fn a_statement_without_a_row_gives_gset_nothing() {
    let (_directory, url) = file();
    let script = "\\set n 1\nUPDATE t SET n = :n WHERE id = 1 \\gset\n";
    let told = ran(&url, &[script], "").outcome.stopped;
    assert!(told[0].contains("a.sql:2: \\gset needs a row, but this statement returns none"), "{told:?}");
}

#[test]
fn each_transaction_takes_a_row_of_the_file() {
    let (directory, url) = file();
    let users = directory.path().join("users.csv");
    std::fs::write(&users, "id,by\n1,1\n2,10\n3,100\n").unwrap();
    let add = "\\set more 1 * :by\nUPDATE t SET n = n + :more WHERE id = :id;\n";
    let sums = || -> Vec<i64> {
        let rows = rows(&url, "SELECT n FROM t WHERE id <= 3 ORDER BY id");
        rows.iter().filter_map(|row| row[0].integer()).collect()
    };
    let settings = |random: &str| format!("parameters = \"{}{random}\"\nmax_tries = 1000", users.display());
    let ran = ran(&url, &[add], &settings(""));
    let [one, two, three] = sums()[..] else { panic!("{:?}", sums()) };
    // In their turn, the first again after the last.
    assert_eq!(one + two / 10 + three / 100, ran.count("transaction") as i64);
    assert!(one - three / 100 <= 1 && two / 10 <= one && three / 100 <= two / 10, "{one}, {two}, {three}");
    assert_eq!(ran.setup.parameters.unwrap().rows, 3);
    script(&url, "UPDATE t SET n = 0");
    let ran = self::ran(&url, &[add], &settings("@random"));
    let drawn = sums();
    assert!(drawn.iter().all(|&sum| sum > 0), "{drawn:?}");
    assert_eq!(drawn[0] + drawn[1] / 10 + drawn[2] / 100, ran.count("transaction") as i64);
    let told = try_run(&url, &[add], "parameters = \"/nowhere.csv\"").err().unwrap().to_string();
    assert!(told.contains("cannot read the parameters /nowhere.csv"), "{told}");
}

#[test]
fn what_makes_tables_is_sent_statement_by_statement_with_its_line() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let make = |sql: &str| {
        let (init, file) = (directory.path().join("init.sql"), directory.path().join("a.sql"));
        std::fs::write(&init, sql).unwrap();
        std::fs::write(&file, "SELECT 1;\n").unwrap();
        let settings = Settings {
            files: vec![ScriptFile { path: file, weight: 1 }],
            init: Some(init),
            ..Settings::default()
        };
        let job = check(&Job::of(&settings).unwrap(), Dialect::Postgres, &mut Logs::default()).unwrap();
        let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
        block_on(make_tables(&own.lease(), job.program.as_ref().unwrap()))
    };
    // Not to be had in one transaction with others.
    make("CREATE TABLE made (id int);\nINSERT INTO made VALUES (1);\nVACUUM made;\n").unwrap();
    assert_eq!(rows_of(&url, "SELECT count(*) FROM made"), 1);
    let told = make("SELECT 1;\n\nINSERT INTO nothing VALUES (1);\n").unwrap_err().to_string();
    assert!(told.contains("init.sql:3: ") && told.contains("nothing"), "{told}");
}

#[test]
fn scripts_are_drawn_by_their_weights_and_each_counts_as_a_kind() {
    let (_directory, url) = file();
    let ran = ran(&url, &["SELECT 1;\n", "SELECT 2;\n"], "duration = \"1s\"");
    let (a, b) = (ran.count("a.sql"), ran.count("b.sql"));
    assert_eq!(a + b, ran.count(record::script::TRANSACTION));
    let share = b as f64 / (a + b) as f64;
    // 3 of 4; some thousands are drawn.
    assert!(a + b > 100 && (share - 0.75).abs() < 0.1, "{share} of {}", a + b);
    assert_eq!(ran.setup.scripts.iter().map(|script| script.weight).collect::<Vec<_>>(), [1, 3]);
}

/// Two clients that take two rows in either order are in each other's way again and again.
const CROSSING: &str = "\\set first random(1, 2)\n\\set second 3 - :first\nBEGIN;\n\
    UPDATE t SET n = n + 1 WHERE id = :first;\nUPDATE t SET n = n + 1 WHERE id = :second;\nCOMMIT;\n";

#[test]
fn a_deadlock_is_a_failed_transaction_or_is_tried_again_with_the_same_numbers() {
    let server = Postgres::start(&Options::default().setting("deadlock_timeout", "1ms")).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(&url, TABLE);
    let once = ran(&url, &[CROSSING], "clients = 8");
    let outcome = &once.outcome;
    assert!(outcome.first_failure.as_ref().unwrap().contains("deadlock"), "{outcome:?}");
    let failed = once.errors(record::script::TRANSACTION);
    assert!(failed >= outcome.failed && failed > 0, "{outcome:?}");
    assert!(outcome.stopped.is_empty(), "{:?}", outcome.stopped);
    let again = ran(&url, &[CROSSING], "clients = 8\nmax_tries = 100000");
    assert_eq!((again.outcome.failed, again.errors(record::script::TRANSACTION)), (0, 0));
    assert!(again.outcome.retries > 0);
    // What was undone did not add up.
    let done = once.count(record::script::TRANSACTION) + again.count(record::script::TRANSACTION);
    let n = rows(&url, "SELECT n FROM t WHERE id IN (1, 2)");
    assert_eq!(n, vec![vec![Value::I64(done as i64)]; 2]);
}

#[test]
fn an_open_loop_sends_what_is_due_and_sleep_is_in_the_response_time() {
    let (_directory, url) = file();
    let ran = ran(&url, &["\\sleep 5 ms\nSELECT 1;\n"], "clients = 4\nrate = 100.0\nduration = \"1s\"");
    let offered = ran.outcome.offered.unwrap();
    assert!((90..=110).contains(&offered.due), "{offered:?}");
    let window = ran.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
    let least_us = window
        .filter_map(|interval| interval.operations[record::script::TRANSACTION].latency().min_us())
        .fold(f64::MAX, f64::min);
    assert!(least_us >= 5_000.0, "{least_us}");
}

/// Clients of one thread wait for different things: the server, and the clock.
#[test]
fn who_sleeps_is_not_kept_waiting_by_who_waits_for_the_server() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let mixed = "\\if :client_id % 16 < 8\nSELECT pg_sleep(0.4);\n\\else\n\\sleep 1 ms\nSELECT 1;\n\\endif\n";
    let ran = ran(&url, &[mixed], "clients = 16\nduration = \"2s\"");
    assert!(ran.outcome.stopped.is_empty() && ran.outcome.outages.is_empty(), "{:?}", ran.outcome);
    let (waits, sleeps) = ran.outcome.transactions_by_client.split_at(8);
    assert!(waits.iter().all(|&turns| (1..=5).contains(&turns)), "{waits:?}");
    // Each would have some forty if it had to wait until the thread looks at the clock by itself.
    assert!(sleeps.iter().all(|&turns| turns > 100), "{sleeps:?}");
}

#[test]
fn a_server_that_is_killed_is_an_outage_and_its_clients_come_back() {
    let mut server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(&url, TABLE);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.sql");
    std::fs::write(&path, ADD).unwrap();
    let mut settings: Settings =
        toml::from_str("clients = 2\nwarm_up = \"100ms\"\nduration = \"2m\"").unwrap();
    settings.files.push(ScriptFile { path, weight: 1 });
    let job = check(&Job::of(&settings).unwrap(), url.engine().dialect(), &mut Logs::default()).unwrap();
    let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
    let (mut back_s, mut done) = (None, 0);
    let outcome =
        super::run(&job, &own.lease(), &own.clone().into(), &AtomicBool::new(false), &mut |progress| {
            let Progress::Interval(interval) = progress else { return Go::On };
            done += interval.operations[record::script::TRANSACTION].count;
            match back_s {
                None if interval.phase == Phase::Measure => {
                    server.kill().unwrap();
                    server.start_again().unwrap();
                    back_s = Some(interval.end_s);
                    Go::On
                }
                Some(back_s) if interval.end_s > back_s + 7.0 => Go::Stop,
                _ => Go::On,
            }
        })
        .unwrap();
    assert_eq!(outcome.outages.len(), 1, "{outcome:?}");
    assert!(outcome.outages[0].end_s.is_some() && outcome.stopped.is_empty(), "{outcome:?}");
    // What was answered is there; what was not may be.
    let Value::F64(sum) = rows(&url, "SELECT sum(n) FROM t")[0][0] else {
        panic!("a sum of bigint is numeric")
    };
    let sum = sum as u64;
    assert!((done..=done + outcome.unanswered).contains(&sum), "{done} and {} of {sum}", outcome.unanswered);
}
