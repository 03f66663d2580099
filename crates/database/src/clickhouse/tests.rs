//! A throwaway ClickHouse: sessions, errors, and databases of our own.
use instance::{ClickHouse, Options};
use ownership::RunId;

use crate::{
    Claim, Column, Dialect, Error, Existing, Held, Kind, Own, Protocol, Rows, Session, Table, Url, Value,
    Wanted, WriteMethod,
};

static TABLE: Table = Table {
    name: "things",
    columns: &[
        Column { name: "id", kind: Kind::I64 },
        Column { name: "weight", kind: Kind::F64 },
        Column { name: "name", kind: Kind::Text },
    ],
};

fn server() -> (ClickHouse, Url) {
    let server = ClickHouse::start(&Options::default()).unwrap();
    let url = server.url().parse().unwrap();
    (server, url)
}

fn claim(number: u128, existing: Existing) -> Claim {
    Claim::new(RunId::from(number), existing)
}

#[tokio::test]
async fn rows_are_appended_and_come_back() {
    let (_server, url) = server();
    let mut session = Session::open(&url).await.unwrap();
    assert_eq!(session.dialect(), Dialect::ClickHouse);
    session
        .script("CREATE TABLE things (id Int64, weight Float64, name String) ENGINE = MergeTree ORDER BY id;\nSELECT 1")
        .await
        .unwrap();
    let mut rows = Rows::with_capacity(3, 3);
    let name = |id: i64| format!("a\tb\n\\ {id} ' é");
    for id in 0..3_000 {
        rows.push([Value::I64(id - 1), Value::F64(id as f64 / 2.0), Value::Text(name(id))]);
    }
    session.append(&TABLE, &mut rows, WriteMethod::Bulk).await.unwrap();
    let found = session.query("SELECT id, weight, name FROM things ORDER BY id LIMIT 2", &[]).await.unwrap();
    let row = |id: i64| vec![Value::I64(id - 1), Value::F64(id as f64 / 2.0), Value::Text(name(id))];
    assert_eq!(found, [row(0), row(1)]);
    assert_eq!(session.count_rows("SELECT id FROM things", &[]).await.unwrap(), 3_000);
    let answer = session
        .statement("SELECT count() AS n FROM things", &[], (Protocol::Simple, Wanted::Last))
        .await
        .unwrap();
    assert_eq!(answer.last, [("n".to_owned(), Value::I64(3_000))]);
    let sum = session
        .fold("SELECT id FROM things", &[], 0, |sum, row| *sum += row[0].integer().unwrap_or_default())
        .await
        .unwrap();
    assert_eq!(sum, (-1..2_999).sum::<i64>());
    assert!(session.sizes().await.unwrap().database_bytes.unwrap() > 10_000);
    let server = session.server().await.unwrap();
    assert!(server.version.starts_with("ClickHouse ") && !server.is_durable, "{server:?}");
    assert!(server.data_directory.is_some_and(|place| place.contains("default")));
}

/// A server ends connections that rest; what comes after that is asked over a new one.
#[tokio::test]
async fn a_session_outlives_its_connection() {
    let (mut server, url) = server();
    let mut session = Session::open(&url).await.unwrap().without_limit();
    server.kill().unwrap();
    let lost = session.query("SELECT 1", &[]).await.unwrap_err();
    assert!(lost.is_lost(), "{lost}");
    server.start_again().unwrap();
    assert_eq!(session.query("SELECT 1", &[]).await.unwrap(), [[Value::I64(1)]]);
}

#[tokio::test]
async fn what_is_wrong_is_told_apart() {
    let (_server, url) = server();
    let place = url.host().unwrap();
    let open = async |text: String| Session::open(&text.parse().unwrap()).await.unwrap_err();
    let refused = open(format!("clickhouse://prony:wrong@{place}/default")).await;
    assert!(matches!(&refused, Error::Refused(words) if !words.contains("wrong@")), "{refused}");
    assert!(matches!(open(format!("clickhouse://prony:secret@{place}/none")).await, Error::NoDatabase(_)));
    let injected = open(format!("clickhouse://prony:se%0D%0Acret@{place}/default")).await;
    assert!(injected.to_string().contains("control characters"), "{injected}");
    let agreed = open(format!("clickhouse://prony:secret@{place}/default?sslmode=prefer")).await;
    assert!(agreed.to_string().contains("encryption cannot be negotiated over HTTP"), "{agreed}");
    let mut session = Session::open(&url).await.unwrap();
    let told = session.query("SELECT * FROM nothing", &[]).await.unwrap_err();
    assert!(
        matches!(&told, Error::Statement(words) if words.contains("nothing") && !words.contains("e.what")),
        "{told}"
    );
    assert!(
        session
            .query("SELECT ?", &[Value::I64(1)])
            .await
            .unwrap_err()
            .to_string()
            .contains("does not accept parameters")
    );
    let prepared =
        session.statement("SELECT 1", &[], (Protocol::Prepared, Wanted::Nothing)).await.unwrap_err();
    assert!(prepared.to_string().contains("does not prepare statements"), "{prepared}");
    assert!(session.begin().await.unwrap_err().to_string().contains("no transactions"));
}

/// Who waits for something that hangs has another session end it.
#[tokio::test]
async fn a_request_is_known_by_its_session_and_ended() {
    let (_server, url) = server();
    let mut session = Session::open(&url).await.unwrap().without_limit();
    let connection = session.connection().clone();
    let long = tokio::spawn(async move {
        session.query("SELECT count() FROM system.numbers WHERE NOT ignore(sleep(0.05))", &[]).await
    });
    while !crate::silence::ask(&url, &connection).await.unwrap() {}
    Session::open(&url).await.unwrap().end(&connection).await.unwrap();
    assert!(!crate::silence::ask(&url, &connection).await.unwrap());
    assert!(long.await.unwrap().is_err());
}

#[tokio::test]
async fn a_database_of_ours_is_made_taken_up_replaced_and_removed_and_one_of_others_is_left() {
    let (_server, url) = server();
    let made = Own::make(&url, "mine", &claim(1, Existing::Refuse)).await.unwrap();
    assert_eq!(made.is_held().await.unwrap(), Held::Held);
    made.session().await.unwrap().script("CREATE TABLE t (a Int8) ENGINE = Log").await.unwrap();
    let refused = Own::make(&url, "mine", &claim(2, Existing::Refuse)).await.unwrap_err();
    assert!(refused.to_string().contains("from an earlier run of prony"), "{refused}");
    // Another run takes it up: the first one is told, and does not remove it.
    let taken = Box::pin(Own::make(&url, "mine", &claim(2, Existing::Reuse))).await.unwrap();
    assert!(taken.was_there());
    assert!(
        matches!(made.is_held().await.unwrap(), Held::Lost(why) if why.contains("another run of prony is using it now"))
    );
    assert!(made.session().await.is_err());
    assert!(made.remove().await.unwrap_err().to_string().contains("reused it"));
    let replaced = Box::pin(Own::make(&url, "mine", &claim(3, Existing::Replace))).await.unwrap();
    assert_eq!(replaced.session().await.unwrap().count_rows("SHOW TABLES", &[]).await.unwrap(), 1);
    replaced.remove().await.unwrap();
    let mut session = Session::open(&url).await.unwrap();
    session.script("CREATE DATABASE theirs").await.unwrap();
    for existing in [Existing::Refuse, Existing::Reuse, Existing::Replace, Existing::Leftover] {
        let refused = Own::make(&url, "theirs", &claim(4, existing)).await.unwrap_err();
        assert!(refused.to_string().contains("was not created by prony"), "{refused}");
    }
    let left = session
        .query("SELECT name FROM system.databases WHERE name IN ('mine', 'theirs')", &[])
        .await
        .unwrap();
    assert_eq!(left, [[Value::Text("theirs".to_owned())]]);
}
