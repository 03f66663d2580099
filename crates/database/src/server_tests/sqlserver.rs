//! What only SQL Server has: calls of procedures, batches, requests counted.

use super::*;
use crate::Engine;

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
            matches!(&error, Error::Unreachable(text) if text.contains("see whether SQL Server listens")),
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
    let mut session = Session::open(&server().url()).await.unwrap();
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
    let long = "DECLARE @until datetime2 = DATEADD(second, 4, SYSDATETIME()); WHILE SYSDATETIME() < @until SET @until = @until";
    let (ended, was_seen) = tokio::join!(session.script(long), works());
    ended.unwrap();
    assert!(was_seen);
    timeout(patience(Engine::SqlServer), async { while works().await {} }).await.unwrap();
}
