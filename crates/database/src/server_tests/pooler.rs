//! A real PgBouncer between, and several servers in one address.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use super::*;

/// A PgBouncer, ended when it is dropped.
struct PgBouncer {
    child: Child,
    port: u16,
    _directory: tempfile::TempDir,
}

impl PgBouncer {
    /// One before a server, with two connections to it.
    fn start(server: &Running, pool_mode: &str) -> Self {
        let address = server.url().host().unwrap();
        let (host, to) = address.rsplit_once(':').unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let directory = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let mut file = std::fs::File::create(directory.path().join(name)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let path = |name: &str| directory.path().join(name).display().to_string();
        put("users", "\"prony\" \"secret\"\n");
        put(
            "ini",
            &format!(
                "[databases]\npostgres = host={host} port={to}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
                 unix_socket_dir =\nauth_type = plain\nauth_file = {}\npool_mode = {pool_mode}\ndefault_pool_size = 2\n\
                 ignore_startup_parameters = extra_float_digits\n",
                path("users")
            ),
        );
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(directory.path(), readable).unwrap();
        // It refuses to run as root.
        let words =
            ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL", "pgbouncer"];
        let mut command = match rustix::process::geteuid().is_root() {
            true => Command::new("setpriv"),
            false => Command::new("pgbouncer"),
        };
        if rustix::process::geteuid().is_root() {
            command.args(words);
        }
        command.args(["--quiet", &path("ini")]).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().expect("PgBouncer is needed: apt-get install pgbouncer");
        Self { child, port, _directory: directory }
    }

    async fn session(&mut self) -> Session {
        let url: Url = format!("postgres://prony:secret@127.0.0.1:{}/postgres", self.port).parse().unwrap();
        let begin = Instant::now();
        loop {
            match Session::open(&url).await {
                Ok(session) => return session,
                Err(error) => {
                    assert!(self.child.try_wait().unwrap().is_none(), "PgBouncer ended: {error}");
                    assert!(begin.elapsed() < Duration::from_secs(20), "{error}");
                }
            }
        }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn pgbouncer_that_gives_each_transaction_another_session_is_refused_and_one_that_keeps_it_is_not() {
    let server = Running::start(Engine::Postgres);
    for (pool_mode, is_kept) in [("session", true), ("transaction", false)] {
        let mut pooler = PgBouncer::start(&server, pool_mode);
        let mut session = pooler.session().await;
        assert_eq!(session.query("SELECT 41 + 1", &[]).await.unwrap(), [[Value::I64(42)]]);
        // Somebody else has the connection meanwhile on which it was prepared.
        let mut other = pooler.session().await;
        other.script("BEGIN; SELECT 1").await.unwrap();
        let again = session.query("SELECT 41 + 1", &[]).await;
        match again {
            Ok(rows) => assert!(is_kept && rows == [[Value::I64(42)]], "{pool_mode}: {rows:?}"),
            Err(Error::Refused(text)) => {
                assert!(
                    !is_kept && text.contains("PgBouncer") && text.contains("pool_mode = session"),
                    "{text}"
                );
            }
            Err(error) => panic!("{pool_mode}: {error:?}"),
        }
    }
}

/// The first has nothing that listens, the second only reads in one of its databases.
#[tokio::test]
async fn of_several_hosts_the_one_that_is_wanted_is_taken() {
    let server = shared(Engine::Postgres);
    let mut session = Session::open(&server.url()).await.unwrap();
    for sql in [
        "DROP DATABASE IF EXISTS prony_only_reads",
        "CREATE DATABASE prony_only_reads",
        "ALTER DATABASE prony_only_reads SET default_transaction_read_only = on",
    ] {
        session.script(sql).await.unwrap();
    }
    let here = server.url().host().unwrap();
    let url = |database: &str, wanted: &str| -> Url {
        format!("postgres://prony:secret@127.0.0.1:1,{here}/{database}?target_session_attrs={wanted}")
            .parse()
            .unwrap()
    };
    for (database, wanted) in [
        ("postgres", "any"),
        ("postgres", "read-write"),
        ("postgres", "primary"),
        ("postgres", "prefer-standby"),
        ("prony_only_reads", "read-only"),
    ] {
        let mut session = Session::open(&url(database, wanted)).await.unwrap();
        let link = session.server().await.unwrap().link.unwrap();
        assert!(
            link.taken.iter().any(|told| told.starts_with(&format!("{here} of 2 hosts"))),
            "{:?}",
            link.taken
        );
        assert!(link.taken.iter().any(|told| told.contains("127.0.0.1:1:")), "{:?}", link.taken);
    }
    for (database, wanted, words) in [
        ("postgres", "standby", "is a primary server"),
        ("postgres", "read-only", "is a primary server"),
        ("prony_only_reads", "read-write", "is read-only"),
    ] {
        let error = Session::open(&url(database, wanted)).await.unwrap_err();
        let Error::Refused(text) = &error else { panic!("{wanted}: {error:?}") };
        assert!(text.contains(&format!("{here} {words}; name a host that is {wanted}")), "{text}");
    }
    session.script("DROP DATABASE prony_only_reads").await.unwrap();
}

#[tokio::test]
async fn of_several_hosts_none_is_passed_over_without_a_word() {
    let server = shared(Engine::Postgres);
    let here = server.url().host().unwrap();
    let nobody: Url = "postgres://prony:secret@127.0.0.1:1,127.0.0.1:2/postgres".parse().unwrap();
    let error = Session::open(&nobody).await.unwrap_err();
    assert!(
        matches!(&error, Error::Unreachable(text) if text.contains("none of its hosts can be used: 127.0.0.1:1: Connection refused")),
        "{error}"
    );
    // A login that is refused ends the search, as with libpq.
    let wrong: Url = format!("postgres://prony:wrong@{here},127.0.0.1:1/postgres").parse().unwrap();
    let error = Session::open(&wrong).await.unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
}
