//! Replays of logs that real servers wrote of a load, on copies of the databases from before it: what is there in the end is the same.

use std::path::{Path, PathBuf};

use database::{Protocol, Wanted};

use instance::TdsServer;

use super::replay::{of, try_replay};
use super::*;

/// Runs statements in a session, each with its values and its way of being sent.
fn load(url: &Url, statements: &[(&str, &[Value], Protocol)]) -> u64 {
    block_on(async {
        let mut session = Session::open_as_it_is(url).await.unwrap();
        let mut failed = 0;
        for (sql, values, protocol) in statements {
            failed += u64::from(session.statement(sql, values, (*protocol, Wanted::Nothing)).await.is_err());
        }
        failed
    })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The file in a directory whose name ends so.
fn found(directory: &Path, end: &str) -> PathBuf {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    names.into_iter().find(|path| path.to_string_lossy().ends_with(end)).unwrap()
}

/// Statements of every kind; two of them fail.
fn load_shop(shop: &Url) {
    let add = "UPDATE t SET n = n + $2::bigint WHERE id = $1";
    let word = "INSERT INTO words VALUES ($1, $2, '2024-01-15 10:00:00+00', $3)";
    let failed = load(
        shop,
        &[
            (add, &[Value::I64(1), Value::I64(5)], Protocol::Prepared),
            (add, &[Value::I64(2), Value::I64(6)], Protocol::Prepared),
            // The server forgets what was prepared, and it is prepared again.
            ("DISCARD ALL", &[], Protocol::Simple),
            (add, &[Value::I64(2), Value::I64(3)], Protocol::Prepared),
            ("deallocate prepare all;", &[], Protocol::Extended),
            (add, &[Value::I64(2), Value::I64(4)], Protocol::Prepared),
            (word, &[Value::I64(1), text("it's \"so\"\n\\x, $1, é"), text("\\x00ff")], Protocol::Extended),
            (word, &[Value::I64(2), Value::Null, Value::Null], Protocol::Extended),
            (word, &[Value::I64(1), text("again"), Value::Null], Protocol::Extended),
            ("SET search_path = pg_temp, public", &[], Protocol::Simple),
            ("CREATE TEMP TABLE mine (n int); INSERT INTO mine VALUES (3), (4)", &[], Protocol::Simple),
            ("BEGIN", &[], Protocol::Simple),
            (
                "UPDATE t SET n = (SELECT sum(n) FROM mine)\n-- a remark; 'with\nWHERE id = 3",
                &[],
                Protocol::Simple,
            ),
            ("COMMIT", &[], Protocol::Simple),
            ("BEGIN", &[], Protocol::Simple),
            ("UPDATE t SET n = 99", &[], Protocol::Simple),
            ("ROLLBACK", &[], Protocol::Simple),
            ("SELECT nothing", &[], Protocol::Simple),
        ],
    );
    assert_eq!(failed, 2);
    load(shop, &[("UPDATE t SET n = 7 WHERE id = 10", &[], Protocol::Simple)]);
}

#[test]
fn a_csvlog_of_postgres_makes_of_a_copy_what_its_load_made() {
    let options = [
        ("logging_collector", "on"),
        ("log_destination", "csvlog"),
        ("log_statement", "all"),
        ("lc_messages", "C"),
    ];
    let options =
        options.iter().fold(Options::default(), |options, (name, value)| options.setting(*name, *value));
    let mut server = Postgres::start(&options.setting("log_filename", "log")).unwrap();
    let at: Url = server.url().parse().unwrap();
    script(&at, "CREATE DATABASE shop");
    let shop = server.url().parse::<Url>().unwrap().with_database("shop");
    script(&shop, TABLE);
    script(&shop, "CREATE TABLE words (id int PRIMARY KEY, word text, at timestamptz, bytes bytea)");
    script(&at, "CREATE DATABASE copy TEMPLATE shop");
    load_shop(&shop);
    let of_all = |database: &str, sql: &str| rows(&at.clone().with_database(database), sql);
    let [table, words] =
        ["SELECT id, n FROM t ORDER BY id", "SELECT id, word, at::text, bytes::text FROM words ORDER BY id"];
    let expected = (of_all("shop", table), of_all("shop", words));
    // The collector has written everything once the server has stopped.
    server.stop().unwrap();
    let log = found(&server.data_directory().join("log"), ".csv");
    let kept = tempfile::tempdir().unwrap();
    let copied = kept.path().join("log.csv");
    std::fs::copy(log, &copied).unwrap();
    server.start_again().unwrap();
    let copy = server.url().parse::<Url>().unwrap().with_database("copy");
    // What made the tables of the one is in its log, and in the copy already.
    let ran = try_replay(&copy, &copied, "speed = 2.0\nonly_database = \"shop\"").unwrap();
    let (read, became) = of(&ran);
    let codes: Vec<(&str, u64)> = became.errors.iter().map(|one| (one.code.as_str(), one.count)).collect();
    // The tables are there already; the two of the load failed as they did there.
    for expected in [("23505", 1), ("42703", 1), ("42P07", 2)] {
        assert!(codes.contains(&expected), "{codes:?}");
    }
    assert_eq!((became.failed, became.unsent, became.unanswered), (4, 0, 0), "{became:?}");
    assert!(read.sessions >= 2 && read.format == "postgres-csv" && read.is_recognised, "{read:?}");
    let now = |sql: &str| rows(&copy, sql);
    assert_eq!((now(table), now(words)), expected);
    assert_ne!(expected.0, Vec::<Vec<Value>>::new());
}

/// Sums of balances and rows of the history, which are the same in whatever order sessions come.
fn balances(url: &Url) -> Vec<Vec<Value>> {
    let sums = ["accounts", "tellers", "branches"].map(|table| {
        let column = format!("{}balance", &table[..1]);
        format!("(SELECT sum({column})::bigint FROM pgbench_{table})")
    });
    let history = "(SELECT sum(delta)::bigint FROM pgbench_history), (SELECT count(*) FROM pgbench_history)";
    rows(url, &format!("SELECT {}, {history}", sums.join(", ")))
}

#[test]
fn what_four_clients_did_at_once_is_done_again_from_a_log_that_tells_it_when_it_is_over() {
    let options = [
        ("logging_collector", "on"),
        ("log_destination", "csvlog"),
        ("log_min_duration_statement", "0"),
        ("lc_messages", "C"),
        ("log_connections", "on"),
    ];
    let options =
        options.iter().fold(Options::default(), |options, (name, value)| options.setting(*name, *value));
    let mut server = Postgres::start(&options).unwrap();
    let at: Url = server.url().parse().unwrap();
    script(&at, "CREATE DATABASE shop");
    let shop = at.clone().with_database("shop");
    let tables = "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84)); \
        CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84)); \
        CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88)); \
        CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)); \
        INSERT INTO pgbench_accounts SELECT id, 1, 0, '' FROM generate_series(1, 100000) AS id; \
        INSERT INTO pgbench_tellers SELECT id, 1, 0, '' FROM generate_series(1, 10) AS id; \
        INSERT INTO pgbench_branches VALUES (1, 0, '')";
    script(&shop, tables);
    script(&at, "CREATE DATABASE copy TEMPLATE shop");
    let loaded = ran(&shop, &[], "builtin = [\"tpcb-like\"]\nclients = 4\nrate = 100.0");
    let done = loaded.count(record::script::TRANSACTION);
    let expected = balances(&shop);
    assert!(done > 20 && loaded.outcome.stopped.is_empty(), "{:?}", loaded.outcome);
    server.stop().unwrap();
    let kept = tempfile::tempdir().unwrap();
    let log = kept.path().join("log.csv");
    std::fs::copy(found(&server.data_directory().join("log"), ".csv"), &log).unwrap();
    server.start_again().unwrap();
    let copy = server.url().parse::<Url>().unwrap().with_database("copy");
    let made = log_without_tables(&log);
    let ran = try_replay(&copy, &made, "only_database = \"shop\"").unwrap();
    let (read, became) = of(&ran);
    assert_eq!((became.failed, became.unsent, became.unanswered), (0, 0, 0), "{became:?}");
    assert_eq!(balances(&copy), expected);
    let shape =
        |begin: &str| read.shapes.iter().find(|one| one.shape.starts_with(begin)).map(|one| one.statements);
    assert_eq!(shape("UPDATE pgbench_accounts SET"), Some(done));
    assert_eq!(shape("INSERT INTO pgbench_history"), Some(done));
}

/// The log without what made the tables, which the copy has.
fn log_without_tables(log: &Path) -> PathBuf {
    let text = std::fs::read_to_string(log).unwrap();
    let is_making = |line: &&str| line.contains("CREATE TABLE pgbench") || line.contains("CREATE DATABASE");
    let left: Vec<&str> = text.lines().filter(|line| !is_making(line)).collect();
    let without = log.with_file_name("load.csv");
    std::fs::write(&without, left.join("\n") + "\n").unwrap();
    without
}

#[test]
fn a_general_log_of_mariadb_makes_of_a_copy_what_its_load_made() {
    let kept = tempfile::tempdir().unwrap();
    let options = Options::default().setting("general_log", "1").setting("general_log_file", "general.log");
    let server = MariaDb::start(&options).unwrap();
    let at: Url = server.url().parse().unwrap();
    script(&at, "CREATE DATABASE copy");
    script(&at, "CREATE DATABASE shop");
    let (shop, copy) = (at.clone().with_database("shop"), at.clone().with_database("copy"));
    script(&copy, TABLE);
    script(&shop, TABLE);
    let add = "UPDATE t SET n = n + ? WHERE id = ?";
    let failed = load(
        &shop,
        &[
            (add, &[Value::I64(5), Value::I64(1)], Protocol::Prepared),
            (add, &[Value::I64(6), Value::I64(2)], Protocol::Extended),
            ("INSERT INTO t VALUES (11, 1)", &[], Protocol::Simple),
            ("INSERT INTO t VALUES (11, 2)", &[], Protocol::Simple),
            ("START TRANSACTION", &[], Protocol::Simple),
            ("UPDATE t\nSET n = 8 -- it's\n\nWHERE id = 3", &[], Protocol::Simple),
            ("COMMIT", &[], Protocol::Simple),
        ],
    );
    assert_eq!(failed, 1);
    let table = "SELECT id, n FROM t ORDER BY id";
    let expected = rows(&shop, table);
    let log = kept.path().join("general.log");
    std::fs::copy(found(&server.data_directory(), "general.log"), &log).unwrap();
    let ran = try_replay(&copy, &log, "speed = 2.0\nonly_database = \"shop\"").unwrap();
    let (read, became) = of(&ran);
    assert!(read.whole_seconds && read.format == "mariadb-general", "{read:?}");
    let codes: Vec<(&str, u64)> = became.errors.iter().map(|one| (one.code.as_str(), one.count)).collect();
    // The key that is twice, and the table that is there.
    assert!(codes.contains(&("23000", 1)) && codes.iter().any(|(code, _)| *code == "42S01"), "{codes:?}");
    assert_eq!((became.unsent, became.unanswered), (0, 0), "{became:?}");
    assert_eq!(rows(&copy, table), expected);
}

/// A general log of one session that is busy, and of one that is long within a transaction.
fn twelve_seconds() -> String {
    let line = |ms: u32, session: u32, sql: &str| {
        let (minute, second) = (ms / 60_000, ms / 1_000 % 60);
        format!("2024-01-15T10:{minute:02}:{second:02}.{:03}000Z\t{session:5} Query\t{sql}\n", ms % 1_000)
    };
    let mut text: String =
        (0..600).map(|at| line(20 * at, 1, "UPDATE t SET n = n + 1 WHERE id = 1")).collect();
    text.push_str(&line(0, 2, "BEGIN"));
    text.push_str(&line(500, 2, "UPDATE t SET n = 99 WHERE id = 2"));
    text.push_str(&line(9_000, 2, "UPDATE t SET n = 99 WHERE id = 3"));
    text.push_str(&line(9_001, 2, "COMMIT"));
    text
}

/// A server that is killed in the midst of a load, and away from the one second to the next, so that whatever was due within is late.
struct Killed {
    server: Postgres,
    at_s: Option<f64>,
    is_back: bool,
}

impl Killed {
    fn by(&mut self, now_s: f64) {
        match self.at_s {
            None if now_s > 1.5 => {
                self.server.kill().unwrap();
                self.at_s = Some(now_s);
            }
            Some(at_s) if !self.is_back && now_s > at_s + 0.5 => {
                self.server.start_again().unwrap();
                self.is_back = true;
            }
            _ => {}
        }
    }
}

/// What was under way has no answer, the rest of its transaction is not sent, and the session goes on behind it.
#[test]
fn a_server_that_is_killed_is_an_outage_and_its_sessions_go_on_with_the_log() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(&url, TABLE);
    let kept = tempfile::tempdir().unwrap();
    let log = kept.path().join("busy.log");
    std::fs::write(&log, twelve_seconds()).unwrap();
    let settings = Settings { replay: Some(log), ..Settings::default() };
    let job = check(&Job::of(&settings).unwrap(), url.engine().dialect(), &mut Logs::default()).unwrap();
    let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
    let (mut setup, mut intervals) = (None, Vec::new());
    let mut killed = Killed { server, at_s: None, is_back: false };
    let outcome = crate::script::run(
        &job,
        &own.lease(),
        &own.clone().into(),
        &AtomicBool::new(false),
        &mut |progress| {
            match progress {
                Progress::SetUp(Setup::Script(script)) => setup = Some(*script),
                Progress::Interval(interval) => {
                    killed.by(interval.end_s);
                    intervals.push(interval);
                }
                _ => {}
            }
            Go::On
        },
    )
    .unwrap();
    let ran = Ran { setup: setup.unwrap(), intervals, outcome };
    let (_, became) = of(&ran);
    assert!(!ran.outcome.outages.is_empty() && ran.outcome.stopped.is_empty(), "{:?}", ran.outcome);
    assert!(became.sessions_late >= 1 && became.lag_ms_max > 100.0, "{became:?}");
    // The session that was within a transaction learns of it at its next statement, and leaves out the last.
    assert!(became.unanswered >= 1 && became.unsent >= 1 && became.failed == 0, "{became:?}");
    let n: Vec<i64> = rows(&url, "SELECT n FROM t WHERE id < 4 ORDER BY id")
        .iter()
        .filter_map(|row| row[0].integer())
        .collect();
    let updates = (became.answered - 2) as i64;
    assert!((updates..=updates + 1).contains(&n[0]), "{n:?} and {became:?}");
    assert_eq!(n[1..], [0, 0], "no part of a transaction that was lost is there");
}

/// Events as SQL Server writes them, by hand: what speaks T-SQL here writes none.
#[test]
fn events_of_sql_server_are_sent_as_batches() {
    let Some(server) = TdsServer::start(&[]).unwrap() else { return };
    script(&server.url().parse().unwrap(), "CREATE DATABASE copied");
    let copy = server.url().parse::<Url>().unwrap().with_database("copied");
    script(&copy, TABLE);
    let event = |ms: u32, session: u32, name: &str, of: &str, text: &str| {
        format!(
            "<event name=\"{name}\" package=\"sqlserver\" timestamp=\"2024-01-15T10:00:00.{ms:03}Z\"><data name=\"duration\"><value>1000</value></data>\
             <data name=\"{of}\"><value>{text}</value></data><action name=\"session_id\" package=\"sqlserver\"><value>{session}</value></action></event>\n"
        )
    };
    let batch = |ms, session, text: &str| event(ms, session, "sql_batch_completed", "batch_text", text);
    let call = "exec sp_executesql N'UPDATE t SET n = n + @d WHERE id = @id',N'@d int,@id int',@d=5,@id=1";
    let text = [
        event(1, 51, "rpc_completed", "statement", call),
        batch(5, 52, "BEGIN TRANSACTION"),
        batch(6, 52, "UPDATE t SET n = 7\nWHERE id = 2 AND 1 &lt; 2"),
        batch(7, 52, "COMMIT"),
        batch(8, 51, "INSERT INTO t VALUES (1, 1)"),
        event(9, 51, "rpc_completed", "statement", "exec sp_reset_connection"),
        batch(10, 51, "SELECT n FROM t"),
    ]
    .concat();
    let kept = tempfile::tempdir().unwrap();
    let log = kept.path().join("events.xml");
    std::fs::write(&log, text).unwrap();
    let ran = try_replay(&copy, &log, "").unwrap();
    let (read, became) = of(&ran);
    assert_eq!((read.sessions, read.transactions, became.answered), (3, 4, 5), "{became:?}");
    // A primary key that is there.
    assert_eq!((became.errors.len(), became.errors[0].code.as_str()), (1, "2627"), "{became:?}");
    let n = rows(&copy, "SELECT n FROM t WHERE id < 3 ORDER BY id");
    assert_eq!(n, [[Value::I64(5)], [Value::I64(7)]]);
}
