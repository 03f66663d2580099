//! What only SQL Server has: calls of procedures, batches, requests counted.

use std::collections::BTreeMap;

use instance::Proxy;

use super::*;
use crate::{Engine, Layout, Recovery, Saving};

fn server() -> Arc<Running> {
    shared(Engine::SqlServer)
}

async fn opened(text: String) -> Result<Session, Error> {
    Session::open(&text.parse().unwrap()).await
}

/// A port of another server, of one that says nothing, and of one that ends every connection.
#[tokio::test]
async fn what_does_not_speak_the_protocol_is_told() {
    for greeting in [&b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n"[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", b""] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut words = [0; 99];
            tokio::io::AsyncReadExt::read(&mut socket, &mut words).await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut socket, greeting).await.unwrap();
        });
        let error = opened(format!("sqlserver://a:b@127.0.0.1:{port}/x")).await.unwrap_err();
        assert!(
            matches!(&error, Error::Unreachable(text) if text.contains("check whether SQL Server listens")),
            "{error}"
        );
        serve.await.unwrap();
    }
}

#[tokio::test]
async fn a_procedure_is_called_with_what_it_changes() {
    if !has_tds_server("calls of procedures") {
        return;
    }
    let server = server();
    let own = server.own("prony_calls", Existing::Refuse).await.unwrap();
    let mut session = own.session().await.unwrap();
    session
        .script(
            "CREATE TABLE t (x int)\nGO\n\
             CREATE PROCEDURE add_one @x int, @sum int OUTPUT AS BEGIN SET NOCOUNT ON; INSERT INTO t VALUES (@x); \
             SELECT @sum = sum(x) FROM t; SELECT x FROM t ORDER BY x; RETURN 3 END\nGO",
        )
        .await
        .unwrap();
    let call = "EXECUTE add_one @P1, @P2 OUTPUT";
    for (x, expected) in [(5, vec![5, 5]), (7, vec![5, 7, 12])] {
        let rows = session.query(call, &[Value::I32(x), Value::I32(0)]).await.unwrap();
        assert_eq!(rows.concat(), expected.into_iter().map(Value::I64).collect::<Vec<_>>());
    }
    assert_eq!(session.count_rows("EXECUTE add_one @P1, @P2", &[Value::I32(1), Value::I32(0)]).await, Ok(3));
    let error = session.query("EXECUTE missing @P1", &[Value::I32(1)]).await.unwrap_err();
    assert!(matches!(&error, Error::Statement(text) if text.contains("missing")), "{error}");
    drop(session);
    own.remove().await.unwrap();
}

/// A driver lost its place in the conversation after ten thousand answers without rows, and called itself well.
#[tokio::test]
async fn many_statements_without_rows_keep_the_session_in_step() {
    if !has_tds_server("many answers") {
        return;
    }
    // It lives as long as somebody holds it.
    let server = server();
    let mut session = Session::open(&server.url()).await.unwrap();
    let many = "DECLARE @i int = 0; CREATE TABLE #many (x int); WHILE @i < 25000 BEGIN SET @i = @i + 1; DELETE FROM #many; END";
    session.script(many).await.unwrap();
    assert_eq!(session.query("SELECT 7", &[]).await.unwrap(), [[Value::I64(7)]]);
    let types = "SELECT CAST('2026-01-02' AS date)";
    let error = session.query(types, &[]).await.unwrap_err();
    assert!(matches!(&error, Error::Statement(text) if text.contains("CONVERT(varchar(40)")), "{error}");
    assert_eq!(session.query("SELECT 8", &[]).await.unwrap(), [[Value::I64(8)]]);
}

#[tokio::test]
async fn a_server_tells_whether_it_works_for_a_session() {
    if !has_tds_server("what a server works on") {
        return;
    }
    let server = server();
    let url = server.url();
    let mut session = Session::open(&url).await.unwrap().without_limit();
    let connection = session.connection().clone();
    let works = || async { crate::silence::ask(&url, &connection).await.unwrap() };
    // There is no WAITFOR.
    let long = "DECLARE @until datetime2 = DATEADD(second, 9, SYSDATETIME()); WHILE SYSDATETIME() < @until SET @until = @until";
    let (ended, was_seen) = tokio::join!(session.script(long), works());
    ended.unwrap();
    assert!(was_seen);
    timeout(patience(Engine::SqlServer), async { while works().await {} }).await.unwrap();
}

/// It has none of the views but that of copies, and nothing else is wrong with what it is asked.
#[tokio::test]
async fn what_a_server_does_not_tell_of_itself_is_said_and_the_rest_is_told() {
    if !has_tds_server("what a server tells of itself") {
        return;
    }
    let server = server();
    let own = server.own("prony_untold", Existing::Refuse).await.unwrap();
    let mut activity = crate::Activity::open(&server.url(), &[own.name().to_owned()]).await.unwrap().unwrap();
    let told = activity.told().await.unwrap();
    assert_eq!((told.counters.len(), told.replicas.len()), (0, 0), "{told:?}");
    let untold = activity.untold().unwrap();
    let about = "its waits, the reads and writes of its files and reads that its memory had (cannot run";
    assert!(untold.starts_with(about) && untold.ends_with(')'), "{untold}");
    assert!(untold.contains("\"sys.dm_os_wait_stats\" does not exist"), "{untold}");
    assert!(!untold.contains("GRANT"), "no right would help: {untold}");
    for telling in crate::sqlserver::LOOKING.tells {
        let sql = telling.ways[0].replace("{databases}", "'x'");
        let mut session = Session::open(&server.url()).await.unwrap();
        if let Err(error) = session.query(&sql, &[]).await {
            assert!(error.to_string().contains("does not exist"), "{error}");
        }
    }
    assert_eq!(activity.told().await.unwrap(), told);
    assert_eq!(activity.untold().unwrap(), untold);
    activity.look().await.unwrap();
    drop(activity);
    own.remove().await.unwrap();
}

/// It has few of the views: what it is asked is understood, each question by itself, and what it does not tell is no advice.
#[tokio::test]
async fn a_server_is_inspected_as_far_as_it_tells() {
    if !has_tds_server("what a server is asked for advice") {
        return;
    }
    let found = Box::pin(crate::inspect(&server().url())).await.unwrap().unwrap().server;
    let databases = &found.facts["databases"];
    let master = databases.iter().find(|row| row["database"] == "master").unwrap();
    assert!(!master.contains_key("full_backup_hours"), "it has no history of backups: {master:?}");
    assert_eq!(master["auto_shrink"], "0");
    let unread: Vec<(&str, &str)> =
        found.unread.iter().map(|unread| (unread.what.as_str(), unread.because.as_str())).collect();
    let expected = [
        ("memory and CPUs of its machine", "does not exist"),
        ("the files of its databases", "it shows none"),
        ("the volumes that its files lie on", "does not exist"),
        ("its backups", "does not exist"),
        ("pages that it could not read", "does not exist"),
        ("instant file initialization", "does not exist"),
        ("the power plan", "does not exist"),
    ];
    let about: Vec<&str> =
        unread.iter().map(|(what, _)| *what).filter(|what| *what != "its settings").collect();
    assert_eq!(about, expected.map(|(what, _)| what), "{unread:?}");
    for (what, because) in expected {
        assert!(unread.iter().any(|(of, why)| *of == what && why.contains(because)), "{what}: {unread:?}");
    }
    assert!(
        found
            .unread
            .iter()
            .filter_map(|unread| unread.grant.as_deref())
            .all(|grant| !grant.contains("{login}"))
    );
}

async fn link(url: &str) -> record::Link {
    let mut session = opened(url.to_owned()).await.unwrap();
    session.server().await.unwrap().link.unwrap()
}

/// What was agreed upon with a server that leaves it to its clients, and with one that does not.
#[tokio::test]
async fn connections_are_encrypted_as_the_address_says() {
    if !has_tds_server("encryption") {
        return;
    }
    let start = |variables: &[(&str, &str)]| TdsServer::start(variables).unwrap().unwrap();
    let lenient = start(&[]);
    let (url, certificate) = (lenient.url(), lenient.certificate());
    let certificate = certificate.display();
    let verified = |link: &record::Link| link.encryption.as_ref().map(|encryption| encryption.verified);
    let by_name = link(&format!("{url}?encrypt=on&sslrootcert={certificate}")).await;
    assert_eq!(verified(&by_name), Some(record::Checked::AuthorityAndName), "{by_name:?}");
    assert_eq!(by_name.encryption.unwrap().protocol, "TLSv1.2");
    let by_nobody = link(&format!("{url}?encrypt=on&trust_server_certificate=true")).await;
    assert_eq!(verified(&by_nobody), Some(record::Checked::Nothing), "{by_nobody:?}");
    let login_alone = link(&format!("{url}?encrypt=off")).await;
    assert_eq!(login_alone.words(), "not encrypted (except for the login)");
    let other = format!("{url}?encrypt=on&sslrootcert={certificate}&host_name_in_certificate");
    assert_eq!(verified(&link(&format!("{other}=localhost")).await), Some(record::Checked::AuthorityAndName));
    for (options, words) in [
        (format!("{url}?encrypt=on"), "self-signed"),
        (format!("{other}=db.example"), "and not for db.example"),
        (format!("{url}?encrypt=strict&sslrootcert={certificate}"), "encrypt=on"),
        (format!("{url}?encrypt=on&sslrootcert=/nowhere/ca.pem"), "/nowhere/ca.pem"),
    ] {
        let error = opened(options).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    drop(lenient);
    let strict = start(&[("TDS_ENCRYPT", "required")]);
    let all = link(&format!("{}?encrypt=off", strict.url())).await;
    assert_eq!(verified(&all), Some(record::Checked::Nothing), "{all:?}");
}

/// A flush is larger than a record of TLS, and its answer comes in pieces.
#[tokio::test]
async fn rows_go_through_an_encrypted_connection_unchanged() {
    if !has_tds_server("encryption") {
        return;
    }
    let server = TdsServer::start(&[("TDS_ENCRYPT", "required")]).unwrap().unwrap();
    let mut session = opened(server.url()).await.unwrap();
    let text = "é".repeat(50_000);
    let rows = session.query("SELECT @P1 AS a, LEN(@P1) AS b", &[Value::Text(text.clone())]).await.unwrap();
    assert_eq!(rows, [[Value::Text(text), Value::I64(50_000)]]);
}

/// Kinds of messages.
const BATCH: u8 = 1;
const CALL: u8 = 3;
const BULK: u8 = 7;

/// What was said meanwhile.
fn said_since(proxy: &Proxy, before: &BTreeMap<u8, u64>) -> BTreeMap<u8, u64> {
    let now = proxy.said().into_iter();
    now.map(|(kind, count)| (kind, count - before.get(&kind).copied().unwrap_or(0)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// A flush is one bulk load, behind the question for the columns and the statement that announces it, as ADO.NET has them; a statement
/// and a procedure are one call each, the first time and, since nothing is prepared that could be lost, over a new connection too.
#[tokio::test]
async fn requests_are_as_few_as_they_can_be() {
    if !has_tds_server("round trips") {
        return;
    }
    let server = server();
    let own = server.samples("prony_trips").await;
    let whole = server.text();
    let port = whole.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap();
    let proxy = Proxy::before(port, u64::MAX).unwrap();
    let url = proxy.url(&whole).replace("/master", "/prony_trips");
    let mut session = opened(url.clone()).await.unwrap();
    for _ in 0..2 {
        let before = proxy.said();
        session.append(&SAMPLES, &mut plain_rows(1_000), WriteMethod::Bulk).await.unwrap();
        assert_eq!(said_since(&proxy, &before), [(BATCH, 2), (BULK, 1)].into());
    }
    let tell = "CREATE PROCEDURE tell @x int AS SELECT @x";
    session.script(tell).await.unwrap();
    for _ in 0..2 {
        for sql in ["SELECT @P1 + 1", "EXECUTE tell @P1"] {
            let before = proxy.said();
            session.query(sql, &[Value::I32(1)]).await.unwrap();
            assert_eq!(said_since(&proxy, &before), [(CALL, 1)].into(), "{sql}");
        }
        proxy.cut();
        let error = session.query("SELECT @P1 + 1", &[Value::I32(1)]).await.unwrap_err();
        assert!(error.is_lost(), "{error}");
        session = opened(url.clone()).await.unwrap();
    }
    drop(session);
    own.remove().await.unwrap();
}

/// The double takes a statement with files and passes over them: nothing may lie where nobody said, and nothing is left of it.
#[tokio::test]
async fn a_server_that_passes_over_where_files_are_to_lie_is_found_out() {
    if !has_tds_server("where files lie") {
        return;
    }
    let server = server();
    let url = server.url();
    let make = async |layout: &Layout| {
        Own::make_laid(&url, "prony_laid", &claim(Existing::Refuse), layout).await.unwrap_err().to_string()
    };
    let placed = Layout { data_dirs: vec!["/nowhere".to_owned()], ..Layout::default() };
    let told = make(&placed).await;
    assert!(told.contains("not in the file /nowhere/prony_laid.mdf"), "{told}");
    let sized = Layout { data_bytes: Some(64 << 20), ..Layout::default() };
    let told = make(&sized).await;
    assert!(told.contains("does not report where it creates files"), "{told}");
    let full = Layout { recovery: Some(Recovery::Full), ..Layout::default() };
    let told = make(&full).await;
    assert!(told.contains("SET RECOVERY FULL"), "{told}");
    let mut session = Session::open(&url).await.unwrap();
    let left = "SELECT name FROM sys.databases WHERE name = 'prony_laid' OR name LIKE 'prony[_]new[_]%'";
    assert_eq!(session.count_rows(left, &[]).await, Ok(0));
}

#[tokio::test]
async fn a_database_that_cannot_be_kept_is_left_as_it_is() {
    if !has_tds_server("snapshots and backups") {
        return;
    }
    let server = server();
    let own = server.own("prony_kept", Existing::Refuse).await.unwrap();
    for (saving, words) in [
        (Saving::Snapshot, "shows no files of prony_kept"),
        (Saving::Backup, "does not say where it writes backups"),
    ] {
        let told = own.save(saving).await.unwrap_err().to_string();
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(own.is_held().await, Ok(Held::Held));
    own.forget_saved().await.unwrap();
    own.remove().await.unwrap();
}
