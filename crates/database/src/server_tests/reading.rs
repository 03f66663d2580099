//! Servers that only read, poolers between, and logins by a file.

use super::*;

/// As a standby answers, and a replica.
#[tokio::test]
async fn a_server_that_only_reads_is_refused_at_once_with_the_remedy() {
    let postgres = Running::start(Engine::Postgres);
    let mut session = Session::open(&postgres.url()).await.unwrap();
    assert_eq!(session.server().await.unwrap().services, []);
    session.script("ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
    session.script("SELECT pg_reload_conf()").await.unwrap();
    let begin = Instant::now();
    let shown = [[Value::Text("on".to_owned())]];
    while Session::open(&postgres.url())
        .await
        .unwrap()
        .query("SHOW default_transaction_read_only", &[])
        .await
        .unwrap()
        != shown
    {
        assert!(begin.elapsed() < Duration::from_secs(20), "it does not reload");
    }
    let error = postgres.own("prony_reads", Existing::Refuse).await.map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Refused(text) if text.contains("read-only") && text.contains("primary")),
        "{error}"
    );
    let maria = Running::start(Engine::Mysql);
    let mut session = Session::open(&maria.url()).await.unwrap();
    for sql in [
        "CREATE USER looks@'%' IDENTIFIED BY 'secret'",
        "GRANT CREATE, SELECT, INSERT ON *.* TO looks@'%'",
        "SET GLOBAL read_only = 1",
    ] {
        session.script(sql).await.unwrap();
    }
    let services = session.server().await.unwrap().services;
    assert!(
        services[0].name.contains("a server that is read-only") && services[0].told_by.contains("read_only"),
        "{services:?}"
    );
    let text = maria.text().replace("prony:", "looks:");
    let mut reads = Session::open(&text.parse().unwrap()).await.unwrap();
    let error = reads.script("CREATE DATABASE prony_reads").await.unwrap_err();
    assert!(
        matches!(&error, Error::Refused(text) if text.contains("read-only") && text.contains("primary")),
        "{error}"
    );
}

/// What PgBouncer of before 1.21 makes of prepared statements, by what the server says: another session has it not.
#[tokio::test]
async fn a_prepared_statement_that_is_gone_is_told_with_what_stands_between() {
    let server = shared(Engine::Postgres);
    let mut session = Session::open(&server.url()).await.unwrap();
    assert_eq!(session.query("SELECT 1", &[]).await.unwrap(), [[Value::I64(1)]]);
    session.script("DEALLOCATE ALL").await.unwrap();
    let error = session.query("SELECT 1", &[]).await.unwrap_err();
    assert!(matches!(&error, Error::Refused(text) if text.contains("pool_mode = session")), "{error}");
}

#[tokio::test]
async fn a_password_of_a_file_lets_in_and_is_told_by_its_file() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("password");
    std::fs::write(&file, "secret\n").unwrap();
    for engine in [Engine::Postgres, Engine::Mysql] {
        let server = shared(engine);
        let text = format!("{}?password_file={}", server.text().replace(":secret@", "@"), file.display());
        let url: Url = text.parse().unwrap();
        assert!(url.to_string().contains("password_file="), "{url}");
        let mut session = Session::open(&url).await.unwrap();
        let link = session.server().await.unwrap().link.unwrap();
        assert_eq!(link.taken, [format!("password from {}", file.display())]);
    }
    let missing = shared(Engine::Postgres).text().replace(":secret@", "@") + "?password_file=/nowhere";
    let error = Session::open(&missing.parse().unwrap()).await.unwrap_err();
    assert!(matches!(&error, Error::Refused(text) if text.contains("/nowhere")), "{error}");
}
