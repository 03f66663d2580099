//! Sessions of SQLite on files.

use tempfile::TempDir;

use crate::samples::{READ, SAMPLES, as_stored, claim, make_sql, odd_rows, plain_rows};
use crate::{Dialect, Error, Existing, Own, Session, Url, Value, WriteMethod};

fn url(directory: &TempDir) -> Url {
    format!("sqlite:{}/h.db", directory.path().display()).parse().unwrap()
}

async fn own(directory: &TempDir) -> Own {
    Own::make(&url(directory), "unused", &claim(Existing::Refuse)).await.unwrap()
}

#[tokio::test]
async fn every_method_stores_rows_exactly() {
    for method in [WriteMethod::MultiRow, WriteMethod::Batch, WriteMethod::Bulk] {
        let directory = TempDir::new().unwrap();
        let own = own(&directory).await;
        let mut session = own.session().await.unwrap();
        session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
        let mut rows = odd_rows();
        let before = rows.clone();
        session.append(&SAMPLES, &mut rows, method).await.unwrap();
        assert_eq!(rows, before, "{method:?}");
        assert_eq!(session.query(READ, &[]).await.unwrap(), as_stored(&before), "{method:?}");
    }
}

#[tokio::test]
async fn more_rows_than_a_statement_has_parameters_are_appended() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(20_001), WriteMethod::MultiRow).await.unwrap();
    assert_eq!(
        session.count_rows("SELECT * FROM samples WHERE tag >= ?1", &[Value::I32(0)]).await,
        Ok(20_001)
    );
}

#[tokio::test]
async fn a_failed_append_leaves_nothing_and_the_session_goes_on() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    session.script("CREATE UNIQUE INDEX once ON samples (time)").await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(3), WriteMethod::Bulk).await.unwrap();
    for method in [WriteMethod::MultiRow, WriteMethod::Batch, WriteMethod::Bulk] {
        let error = session.append(&SAMPLES, &mut plain_rows(10), method).await.unwrap_err();
        assert!(
            matches!(&error, Error::Statement(text) if text.contains("append rows to `samples` in sqlite:"))
        );
        assert_eq!(session.query("SELECT count(*) FROM samples", &[]).await.unwrap(), [[Value::I64(3)]]);
    }
}

#[tokio::test]
async fn only_statements_that_change_rows_have_changed_some() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(10), WriteMethod::Bulk).await.unwrap();
    assert_eq!(session.execute("DELETE FROM samples WHERE time < ?1", &[Value::I64(4)]).await, Ok(4));
    assert_eq!(session.execute("CREATE TABLE more (x integer)", &[]).await, Ok(0));
    assert_eq!(session.execute("PRAGMA wal_checkpoint(TRUNCATE)", &[]).await, Ok(0));
    let error = session.execute("DELETE FROM samples WHERE time < ?1", &[]).await.unwrap_err();
    assert!(matches!(error, Error::Statement(_)), "{error}");
}

#[tokio::test]
async fn sessions_write_side_by_side() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    own.session().await.unwrap().script(&make_sql(Dialect::Sqlite)).await.unwrap();
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let own = own.clone();
            tokio::spawn(async move {
                let mut session = own.session().await.unwrap();
                for _ in 0..20 {
                    session.append(&SAMPLES, &mut plain_rows(10), WriteMethod::Bulk).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let mut session = own.session().await.unwrap();
    assert_eq!(session.query("SELECT count(*) FROM samples", &[]).await.unwrap(), [[Value::I64(800)]]);
}

#[tokio::test]
async fn commits_are_synced_and_the_report_says_so() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    let server = session.server().await.unwrap();
    assert!(server.version.starts_with("SQLite 3."), "{}", server.version);
    assert!(server.is_durable && server.durability.contains("WAL"), "{}", server.durability);
    assert_eq!(server.data_directory.as_deref(), directory.path().to_str());
    session.script("PRAGMA synchronous = normal").await.unwrap();
    assert!(!session.server().await.unwrap().is_durable);
}

#[tokio::test]
async fn sizes_grow_and_a_closed_session_leaves_no_wal() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    let before = session.sizes().await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(1_000), WriteMethod::Bulk).await.unwrap();
    let after = session.sizes().await.unwrap();
    assert!(after.log_bytes > before.log_bytes, "{before:?} {after:?}");
    drop(session);
    let closed = own.session().await.unwrap().sizes().await.unwrap();
    assert!(closed.database_bytes > before.database_bytes, "{before:?} {closed:?}");
    assert!(!directory.path().join("h.db-wal").exists());
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_apart() {
    let directory = TempDir::new().unwrap();
    let missing = Session::open(&url(&directory)).await.unwrap_err();
    assert!(
        matches!(&missing, Error::NoDatabase(text) if text.contains("the file does not exist")),
        "{missing}"
    );
    let deeper: Url = format!("sqlite:{}/no/h.db", directory.path().display()).parse().unwrap();
    let missing = Session::open(&deeper).await.unwrap_err();
    assert!(matches!(&missing, Error::NoDatabase(text) if text.contains("make the directory")), "{missing}");
    std::fs::write(directory.path().join("h.db"), "a letter, and not a database, ".repeat(99)).unwrap();
    let letter = Session::open(&url(&directory)).await.unwrap_err();
    assert!(
        matches!(&letter, Error::NoDatabase(text) if text.contains("is not a SQLite database")),
        "{letter}"
    );
}

#[tokio::test]
async fn a_full_database_is_told_as_full() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    session.script("PRAGMA max_page_count = 8").await.unwrap();
    let error = session.append(&SAMPLES, &mut plain_rows(10_000), WriteMethod::Bulk).await.unwrap_err();
    assert!(matches!(error, Error::Full(_)), "{error}");
    assert_eq!(session.count_rows("SELECT * FROM samples", &[]).await, Ok(0));
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_no_rows_behind() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO samples (time) SELECT i FROM n";
    let mut given_up = Box::pin(session.execute(endless, &[]));
    assert!(futures_util::future::poll_immediate(&mut given_up).await.is_none());
    drop(given_up);
    drop(session);
    let mut session = own.session().await.unwrap();
    assert_eq!(session.count_rows("SELECT * FROM samples", &[]).await, Ok(0));
}

#[tokio::test]
async fn a_transaction_is_done_as_a_whole_or_not_at_all() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let (mut session, mut other) = (own.session().await.unwrap(), own.session().await.unwrap());
    session.script("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE)").await.unwrap();
    let insert = "INSERT INTO t (name) VALUES (?1) ON CONFLICT DO NOTHING RETURNING id";
    let name = |name: &str| [Value::Text(name.to_owned())];
    let mut transaction = session.begin().await.unwrap();
    assert_eq!(transaction.insert(insert, &name("a")).await, Ok(Some(1)));
    assert_eq!(transaction.insert(insert, &name("a")).await, Ok(None));
    assert_eq!(other.count_rows("SELECT id FROM t", &[]).await, Ok(0));
    transaction.commit().await.unwrap();
    assert_eq!(other.count_rows("SELECT id FROM t", &[]).await, Ok(1));
    let mut transaction = session.begin().await.unwrap();
    transaction.insert(insert, &name("b")).await.unwrap();
    transaction.rollback().await.unwrap();
    let mut transaction = session.begin().await.unwrap();
    transaction.insert(insert, &name("b")).await.unwrap();
    assert!(matches!(
        transaction.execute("INSERT INTO t VALUES (1, 'c')", &[]).await,
        Err(Error::Statement(_))
    ));
    assert!(transaction.execute(insert, &name("d")).await.is_err());
    drop(transaction);
    let mut transaction = session.begin().await.unwrap();
    transaction.insert(insert, &name("e")).await.unwrap();
    drop(transaction);
    // The file is not locked any more: the other one writes without waiting.
    other.script("PRAGMA busy_timeout = 0").await.unwrap();
    assert_eq!(session.count_rows("SELECT id FROM t", &[]).await, Ok(1));
    assert_eq!(other.insert(insert, &name("f")).await, Ok(Some(2)));
}

#[tokio::test]
async fn a_file_that_another_session_writes_is_a_conflict() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let (mut session, mut other) = (own.session().await.unwrap(), own.session().await.unwrap());
    session.script("CREATE TABLE t (id INTEGER PRIMARY KEY)").await.unwrap();
    other.script("PRAGMA busy_timeout = 0").await.unwrap();
    let mut transaction = session.begin().await.unwrap();
    transaction.execute("INSERT INTO t VALUES (1)", &[]).await.unwrap();
    assert!(matches!(other.begin().await.map(drop), Err(Error::Conflict(_))));
    let error = other.execute("INSERT INTO t VALUES (2)", &[]).await.unwrap_err();
    assert!(matches!(&error, Error::Conflict(text) if text.contains("try again")), "{error}");
    transaction.commit().await.unwrap();
    assert_eq!(other.execute("INSERT INTO t VALUES (2)", &[]).await, Ok(1));
}

/// The wait for a lock was SQLite's own, which nothing ends: a signal was heard after a minute.
#[tokio::test]
async fn a_caller_that_gives_up_waits_for_no_lock() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let mut writer = own.session().await.unwrap();
    let mut waiting = own.session().await.unwrap();
    let held = writer.begin().await.unwrap();
    let begin = std::time::Instant::now();
    let wait = std::time::Duration::from_millis(100);
    let given_up = tokio::time::timeout(wait, waiting.execute("BEGIN IMMEDIATE", &[])).await;
    assert!(given_up.is_err(), "{given_up:?}");
    drop(waiting);
    assert!(begin.elapsed().as_secs() < 9, "{:?}", begin.elapsed());
    held.rollback().await.unwrap();
}

#[test]
fn what_begins_without_a_lock_is_told_from_what_has_one() {
    for sql in ["BEGIN", "begin;", " BEGIN DEFERRED", "BEGIN TRANSACTION ;", "BEGIN DEFERRED TRANSACTION"] {
        assert!(super::begins_lazily(sql), "{sql}");
    }
    for sql in [
        "BEGIN IMMEDIATE",
        "BEGIN EXCLUSIVE TRANSACTION",
        "BEGIN; SELECT 1",
        "UPDATE t SET n = 1",
        "COMMIT",
        "",
    ] {
        assert!(!super::begins_lazily(sql), "{sql}");
    }
}

/// Each session had a thread of its own: ten thousand of them took minutes, and a signal was not heard.
#[tokio::test]
async fn sessions_share_threads_and_wait_for_each_other_in_turn() {
    const SESSIONS: usize = 300;
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    own.session()
        .await
        .unwrap()
        .script("CREATE TABLE n (n integer); INSERT INTO n VALUES (0)")
        .await
        .unwrap();
    let mut sessions = Vec::with_capacity(SESSIONS);
    for _ in 0..SESSIONS {
        sessions.push(own.session().await.unwrap());
    }
    let add = sessions.into_iter().enumerate().map(|(number, mut session)| async move {
        let begin = if number % 2 == 0 { "BEGIN IMMEDIATE" } else { "BEGIN" };
        for sql in [begin, "UPDATE n SET n = n + 1", "COMMIT"] {
            session.execute(sql, &[]).await.unwrap();
            tokio::task::yield_now().await;
        }
        session
    });
    let sessions = futures_util::future::join_all(add).await;
    let named = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    let threads =
        std::fs::read_dir("/proc/self/task").unwrap().map(named).filter(|name| name == "sqlite\n").count();
    assert!(threads <= 144, "{threads}");
    drop(sessions);
    let mut session = own.session().await.unwrap();
    assert_eq!(session.query("SELECT n FROM n", &[]).await.unwrap(), [[Value::I64(SESSIONS as i64)]]);
}

/// Sessions that waited for the lock were counted as idle.
#[tokio::test]
async fn a_session_that_waits_for_the_lock_is_counted() {
    let directory = TempDir::new().unwrap();
    let own = own(&directory).await;
    let (mut holder, mut waiter) = (own.session().await.unwrap(), own.session().await.unwrap());
    holder.execute("BEGIN IMMEDIATE", &[]).await.unwrap();
    let waits = tokio::spawn(async move { waiter.execute("BEGIN IMMEDIATE", &[]).await.map(|_| waiter) });
    let seen = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        loop {
            let look = super::SessionsAtWork::look();
            if look.waiting > 0 {
                break look;
            }
            tokio::task::yield_now().await;
        }
    });
    let seen = seen.await.expect("a session waits");
    assert!(seen.active >= 1, "a waiting session is busy: {seen:?}");
    holder.execute("ROLLBACK", &[]).await.unwrap();
    waits.await.unwrap().unwrap();
}
