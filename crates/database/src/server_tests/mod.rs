//! Sessions and databases of our own on real servers, which the tests start, kill and throw away. What stands for SQL Server is
//! none: it speaks its protocol and its language (`instance::TdsServer`), and what it cannot do is left out here.

mod activity;
mod own;
mod pooler;
mod reading;
mod several;
mod silence;
mod sqlserver;
mod tds_peer;
mod tls;
mod transactions;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::poll_immediate;
use instance::{MariaDb, Options, Postgres, TdsServer};
use tokio::time::{Instant, timeout};

use activity::{
    a_session_that_waits_for_a_row_is_seen_to, counters_of_a_server_rise_with_what_it_does,
    what_a_login_may_not_see_is_told_with_the_remedy, who_holds_a_lock_on_a_table_is_named,
};
use own::{
    a_database_that_took_the_name_is_left, a_lock_is_held_for_all_who_ask_at_once,
    a_lock_whose_session_was_ended_is_taken_again, a_run_replaces_what_it_made_itself,
    databases_of_our_own_are_made_and_removed, what_another_run_took_up_is_left,
    what_has_an_older_mark_is_ours, what_others_made_is_never_touched, what_was_half_made_is_made_again,
    what_was_on_its_way_out_gets_its_name_back,
};
use silence::{
    a_server_that_falls_silent_anywhere_ends_the_set_up, a_statement_that_the_server_works_on_is_awaited,
    an_answer_that_is_swallowed_is_known_by_asking_the_server,
};
use transactions::{
    a_deadlock_is_a_conflict_for_one_of_two, a_lock_that_is_not_to_be_had_in_time_is_a_conflict,
    a_transaction_is_done_as_a_whole_or_not_at_all, an_insert_gives_the_id_that_the_database_made,
    statements_of_others_and_ours_take_turns,
};

use crate::rows::Cell;
use crate::samples::{NUMBERS, READ, SAMPLES, as_stored, claim, make_sql, odd_rows, plain_rows};
use crate::{
    Claim, Dialect, Engine, Error, Existing, Held, NumberRow as _, Own, Protocol, Rows, RunId, Session, Url,
    Value, Wanted, WriteMethod,
};

const METHODS: [WriteMethod; 3] = [WriteMethod::MultiRow, WriteMethod::Batch, WriteMethod::Bulk];
const ALL: [Existing; 3] = [Existing::Refuse, Existing::Reuse, Existing::Replace];
const COUNT: &str = "SELECT count(*) FROM samples";

enum Running {
    Postgres(Postgres),
    MariaDb(MariaDb),
    SqlServer(TdsServer),
}

impl Running {
    /// One after the other: a MariaDB that starts removes the temporary tables of another that is being made.
    fn start(engine: Engine) -> Self {
        static STARTING: Mutex<()> = Mutex::new(());
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        match engine {
            Engine::Postgres => Self::Postgres(Postgres::start(&Options::default()).unwrap()),
            Engine::SqlServer => {
                let durable = "synchronous_commit = on";
                let login = [("TDS_USER", "prony"), ("TDS_PASSWORD", "secret"), ("TDS_PG_CONF", durable)];
                Self::SqlServer(TdsServer::start(&login).unwrap().unwrap())
            }
            _ => Self::MariaDb(MariaDb::start(&Options::default()).unwrap()),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
            Self::SqlServer(server) => server.url(),
        }
    }

    fn url(&self) -> Url {
        self.text().parse().unwrap()
    }

    fn dialect(&self) -> Dialect {
        self.url().engine().dialect()
    }

    fn kill(&mut self) {
        match self {
            Self::Postgres(server) => server.kill().unwrap(),
            Self::MariaDb(server) => server.kill().unwrap(),
            Self::SqlServer(server) => server.kill().unwrap(),
        }
    }

    fn start_again(&mut self) {
        match self {
            Self::Postgres(server) => server.start_again().unwrap(),
            Self::MariaDb(server) => server.start_again().unwrap(),
            Self::SqlServer(server) => server.start_again().unwrap(),
        }
    }

    async fn own(&self, name: &str, existing: Existing) -> Result<Own, Error> {
        Own::make(&self.url(), name, &claim(existing)).await
    }

    /// A database with an empty table of samples.
    async fn samples(&self, name: &str) -> Own {
        let own = self.own(name, Existing::Refuse).await.unwrap();
        own.session().await.unwrap().script(&make_sql(self.dialect())).await.unwrap();
        own
    }

    /// A statement with one parameter.
    fn sql(&self, text: &str) -> String {
        text.replace('?', &self.dialect().placeholder(1))
    }
}

/// What begins a transaction.
fn begin(engine: Engine) -> &'static str {
    if engine == Engine::SqlServer { "BEGIN TRANSACTION" } else { "BEGIN" }
}

/// Removes a database as soon as the server has noticed that nobody is connected to it any more.
async fn dropped(engine: Engine, session: &mut Session, sql: &str) {
    let begin = Instant::now();
    while let Err(error) = session.script(sql).await {
        assert!(matches!(error, Error::Conflict(_)) && begin.elapsed() < patience(engine), "{error}");
    }
}

/// Longer than the server takes to notice that a client is gone; what stands for SQL Server takes its time.
fn patience(engine: Engine) -> Duration {
    Duration::from_secs(if engine == Engine::SqlServer { 60 } else { 9 })
}

/// A server that all claims use that run at the same time.
fn shared(engine: Engine) -> Arc<Running> {
    static SERVERS: [Mutex<Weak<Running>>; 3] = [const { Mutex::new(Weak::new()) }; 3];
    let number = match engine {
        Engine::Postgres => 0,
        Engine::SqlServer => 1,
        _ => 2,
    };
    let mut server = SERVERS[number].lock().unwrap_or_else(PoisonError::into_inner);
    server.upgrade().unwrap_or_else(|| {
        let started = Arc::new(Running::start(engine));
        *server = Arc::downgrade(&started);
        started
    })
}

/// Whether there is a server that speaks T-SQL; says so where there is none.
fn has_tds_server(claim: &str) -> bool {
    let is_there = TdsServer::is_there();
    if !is_there {
        eprintln!("not run: {claim}, for which PRONY_TDS_SERVER names no server that speaks T-SQL");
    }
    is_there
}

/// Tests a claim against PostgreSQL and MariaDB, and against what speaks T-SQL, which does not do the second ones.
macro_rules! on_each_server {
    ($($claim:ident),* $(,)?; $($but:ident),* $(,)?) => {
        mod postgres {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::Engine::Postgres).await;
            })*
            $(#[tokio::test]
            async fn $but() {
                super::$but(crate::Engine::Postgres).await;
            })*
        }
        mod mariadb {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::Engine::Mysql).await;
            })*
            $(#[tokio::test]
            async fn $but() {
                super::$but(crate::Engine::Mysql).await;
            })*
        }
        mod tsql {
            $(#[tokio::test]
            async fn $claim() {
                if super::has_tds_server(stringify!($claim)) {
                    super::$claim(crate::Engine::SqlServer).await;
                }
            })*
        }
    };
}

on_each_server!(
    statements_do_what_they_say,
    mistakes_are_told_apart,
    a_killed_server_is_lost_then_unreachable_then_back,
    another_connection_can_be_ended,
    databases_of_our_own_are_made_and_removed,
    a_lock_whose_session_was_ended_is_taken_again,
    what_another_run_took_up_is_left,
    a_database_that_took_the_name_is_left,
    what_was_half_made_is_made_again,
    a_run_replaces_what_it_made_itself,
    what_was_on_its_way_out_gets_its_name_back,
    a_lock_is_held_for_all_who_ask_at_once,
    what_has_an_older_mark_is_ours,
    what_others_made_is_never_touched,
    a_transaction_is_done_as_a_whole_or_not_at_all,
    statements_of_others_and_ours_take_turns,
    a_deadlock_is_a_conflict_for_one_of_two,
    an_insert_gives_the_id_that_the_database_made,
    a_server_that_falls_silent_anywhere_ends_the_set_up;
    an_answer_that_is_swallowed_is_known_by_asking_the_server,
    a_statement_that_the_server_works_on_is_awaited,
    settings_and_sizes_are_read,
    a_lock_that_is_not_to_be_had_in_time_is_a_conflict,
    a_session_that_waits_for_a_row_is_seen_to,
    counters_of_a_server_rise_with_what_it_does,
    what_a_login_may_not_see_is_told_with_the_remedy,
    who_holds_a_lock_on_a_table_is_named,
);

async fn statements_do_what_they_say(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_values").await;
    // What stands for SQL Server may be too busy to be asked whether it works.
    let mut session = own.session().await.unwrap().without_limit();
    for method in METHODS {
        let mut rows = odd_rows();
        session.append(&SAMPLES, &mut rows, method).await.unwrap();
        assert_eq!(rows, odd_rows(), "{method:?}");
        assert_eq!(session.query(READ, &[]).await.unwrap(), as_stored(&rows), "{method:?}");
        let all = u64::try_from(rows.len()).unwrap();
        assert_eq!(session.execute("DELETE FROM samples", &[]).await, Ok(all), "{method:?}");
    }
    numbers_are_read_where_they_lie(&mut session).await;
    // More than one statement has parameters for, and of different sizes; of what takes long to answer each, fewer.
    let most = if engine == Engine::SqlServer { 3_000 } else { 15_000 };
    for method in METHODS {
        for count in [most, 1, 40] {
            session.append(&SAMPLES, &mut plain_rows(count), method).await.unwrap();
        }
        let sql = server.sql("SELECT * FROM samples WHERE time >= ?");
        let (left, all) = (u64::try_from(most - 40).unwrap(), u64::try_from(most + 41).unwrap());
        assert_eq!(session.count_rows(&sql, &[Value::I64(40)]).await, Ok(left), "{method:?}");
        assert_eq!(session.execute("DELETE FROM samples", &[]).await, Ok(all), "{method:?}");
    }
    all_or_nothing(&mut session, most).await;
    let types = match engine {
        Engine::SqlServer => {
            "SELECT 1, 1.5, sum(value), count(*), 'x', NULL, CAST(1 AS bit), avg(CAST(time AS float)) FROM samples"
        }
        _ => "SELECT 1, 1.5, sum(number), count(*), 'x', NULL, 1 = 1, avg(time) FROM samples",
    };
    let row = session.query(types, &[]).await.unwrap().remove(0);
    assert_eq!(row[..2], [Value::I64(1), Value::F64(1.5)]);
    assert!(matches!(row[2], Value::F64(_)), "{row:?}");
    assert_eq!(
        row[3..],
        [Value::I64(3), Value::Text("x".to_owned()), Value::Null, Value::I64(1), Value::F64(1.0)]
    );
    drop(session);
    own.remove().await.unwrap();
}

/// After others in the same memory, and in a session that has written to a table of this name with other columns.
async fn numbers_are_read_where_they_lie(session: &mut Session) {
    let numbers = numbers_of(&odd_rows());
    let stored: Vec<Vec<Value>> = numbers.iter().map(stored_numbers).collect();
    for method in METHODS {
        let mut room = Rows::with_capacity(4, 3);
        (7i32, 7i64, 7.0, 7i16).push_to(&mut room);
        session.append_numbers(&NUMBERS, numbers.iter().copied(), &mut room, method).await.unwrap();
        assert_eq!(session.query(READ, &[]).await.unwrap(), stored, "{method:?}");
        assert_eq!(session.execute("DELETE FROM samples", &[]).await, Ok(stored.len() as u64), "{method:?}");
        let none = std::iter::empty::<(i32, i64, f64, i16)>();
        session.append_numbers(&NUMBERS, none, &mut room, method).await.unwrap();
        assert_eq!(session.query(COUNT, &[]).await.unwrap(), [[Value::I64(0)]], "{method:?}");
    }
}

/// The numbers of the rows that have all of them, as somebody has them who keeps no [`Rows`].
fn numbers_of(rows: &Rows) -> Vec<(i32, i64, f64, i16)> {
    let numbers = |cells: Vec<Cell<'_>>| match cells[..] {
        [Cell::I32(tag), Cell::I64(time), Cell::F64(value), Cell::I16(quality), _] => {
            Some((tag, time, value, quality))
        }
        _ => None,
    };
    rows.rows().filter_map(|cells| numbers(cells.collect())).collect()
}

/// A row of them as [`READ`] gives it.
fn stored_numbers(&(tag, time, value, quality): &(i32, i64, f64, i16)) -> Vec<Value> {
    vec![Value::I64(tag.into()), Value::I64(time), Value::F64(value), Value::I64(quality.into()), Value::Null]
}

/// Rows of which one is refused: none of them is stored, and the session goes on.
async fn all_or_nothing(session: &mut Session, most: i64) {
    session.script("CREATE UNIQUE INDEX once ON samples (time)").await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(3), WriteMethod::Bulk).await.unwrap();
    // What stands for SQL Server keeps the rows of a bulk copy that it refuses; the reference has them taken back.
    let is_sql_server = session.dialect() == Dialect::SqlServer;
    let keeps = |method| method == WriteMethod::Bulk && is_sql_server;
    for method in METHODS.into_iter().filter(|method| !keeps(*method)) {
        for count in [10, most] {
            let error = session.append(&SAMPLES, &mut plain_rows(count), method).await.unwrap_err();
            assert!(
                matches!(&error, Error::Statement(text) if text.contains("`samples`")),
                "{method:?} {error}"
            );
            assert_eq!(session.query(COUNT, &[]).await.unwrap(), [[Value::I64(3)]], "{method:?}");
        }
    }
}

async fn mistakes_are_told_apart(engine: Engine) {
    let server = shared(engine);
    let open = async |text: String| Session::open(&text.parse().unwrap()).await.map(|_| ()).unwrap_err();
    let text = server.text();
    let wrong = open(text.replace(":secret@", ":wrong77@")).await;
    assert!(matches!(&wrong, Error::Refused(text) if !text.contains("wrong77")), "{wrong}");
    let (place, _) = text.rsplit_once('/').unwrap();
    let missing = open(format!("{place}/nowhere")).await;
    assert!(matches!(&missing, Error::NoDatabase(text) if text.contains("/nowhere")), "{missing}");
    let port = server.url().host().unwrap().rsplit_once(':').unwrap().1.to_owned();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = open(text.replace(&port, &free.to_string())).await;
    assert!(matches!(&closed, Error::Unreachable(text) if text.contains("refused")), "{closed}");
    let plain = if engine == Engine::SqlServer { "?encrypt=off" } else { "?sslmode=disable" };
    let unknown = open(text.replace("127.0.0.1", "no-such-host.invalid") + plain).await;
    assert!(matches!(unknown, Error::Unreachable(_)), "{unknown}");
    let mut session = Session::open(&server.url()).await.unwrap();
    for sql in ["SELECT * FROM nothing_of_that_name", "SELEKT 1"] {
        let error = session.query(sql, &[]).await.unwrap_err();
        assert!(matches!(&error, Error::Statement(text) if text.contains(sql)), "{error}");
        assert!(matches!(session.script(sql).await, Err(Error::Statement(_))));
    }
    let error = session.query(&server.sql("SELECT 1 WHERE 1 = ?"), &[]).await.unwrap_err();
    assert!(matches!(error, Error::Statement(_)), "{error}");
    assert_eq!(session.query("SELECT 1", &[]).await.unwrap(), [[Value::I64(1)]]);
}

async fn a_killed_server_is_lost_then_unreachable_then_back(engine: Engine) {
    let mut server = Running::start(engine);
    let own = server.samples("prony_kill").await;
    let mut session = own.session().await.unwrap();
    let mut committed = 0;
    for method in METHODS {
        session.append(&SAMPLES, &mut plain_rows(100), method).await.unwrap();
        committed += 100;
    }
    // One append is under way when the server goes: it may or may not be committed. Rows enough that no answer is there yet.
    let last_rows = 20_000;
    let mut last = plain_rows(last_rows);
    {
        let mut append = Box::pin(session.append(&SAMPLES, &mut last, WriteMethod::Bulk));
        assert!(poll_immediate(&mut append).await.is_none());
        server.kill();
        let error = append.await.unwrap_err();
        assert!(matches!(error, Error::Lost(_)), "{error}");
    }
    for _ in 0..2 {
        let error = session.query(COUNT, &[]).await.unwrap_err();
        assert!(error.is_lost(), "{error}");
        let error = own.session().await.unwrap_err();
        assert!(matches!(error, Error::Unreachable(_)), "{error}");
    }
    server.start_again();
    let mut again = own.session().await.unwrap();
    again.end(session.connection()).await.unwrap();
    let found = again.query(COUNT, &[]).await.unwrap();
    assert!(
        found == [[Value::I64(committed)]] || found == [[Value::I64(committed + last_rows)]],
        "{found:?}"
    );
    drop((session, again));
    own.remove().await.unwrap();
}

async fn another_connection_can_be_ended(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_end").await;
    let mut lost = own.session().await.unwrap();
    lost.script(&format!("{}; INSERT INTO samples (time) VALUES (1)", begin(engine))).await.unwrap();
    let mut session = own.session().await.unwrap();
    let mut bystander = own.session().await.unwrap();
    session.end(lost.connection()).await.unwrap();
    assert_eq!(session.query(COUNT, &[]).await.unwrap(), [[Value::I64(0)]]);
    let error = lost.script("COMMIT").await.unwrap_err();
    assert!(matches!(error, Error::Lost(_)), "{error}");
    assert!(lost.query(COUNT, &[]).await.unwrap_err().is_lost());
    // It is gone: to end it once more is no error, and ends nobody else.
    session.end(lost.connection()).await.unwrap();
    let mut reused = bystander.connection().clone();
    reused.since = lost.connection().since.clone();
    session.end(&reused).await.unwrap();
    assert_eq!(bystander.query(COUNT, &[]).await.unwrap(), [[Value::I64(0)]]);
    drop((lost, session, bystander));
    own.remove().await.unwrap();
}

async fn settings_and_sizes_are_read(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_sizes").await;
    let mut session = own.session().await.unwrap();
    let about = session.server().await.unwrap();
    assert!(about.is_durable, "{}", about.durability);
    assert!(about.durability.contains("flushed"), "{}", about.durability);
    let product = if server.dialect() == Dialect::Postgres { "PostgreSQL " } else { "MariaDB " };
    let number = about.version.strip_prefix(product).unwrap();
    assert!(number.starts_with(|first: char| first.is_ascii_digit()), "{}", about.version);
    let directory = match &*server {
        Running::Postgres(server) => server.data_directory(),
        Running::MariaDb(server) => server.data_directory(),
        Running::SqlServer(_) => unreachable!("its files are told by none"),
    };
    let told = std::path::PathBuf::from(about.data_directory.unwrap());
    assert_eq!(told.components().collect::<Vec<_>>(), directory.components().collect::<Vec<_>>());
    assert!(about.settings.len() >= 7, "{:?}", about.settings);
    let before = session.sizes().await.unwrap();
    for _ in 0..20 {
        session.append(&SAMPLES, &mut plain_rows(5_000), WriteMethod::Bulk).await.unwrap();
    }
    let after = session.sizes().await.unwrap();
    let grown = |before: Option<u64>, after: Option<u64>| after.unwrap() - before.unwrap();
    assert!(grown(before.database_bytes, after.database_bytes) >= 100_000 * 20, "{before:?} {after:?}");
    assert!(grown(before.log_written_bytes, after.log_written_bytes) >= 100_000 * 20, "{before:?} {after:?}");
    assert!(after.log_bytes.unwrap() >= 1 << 20, "{after:?}");
    drop(session);
    own.remove().await.unwrap();
}
