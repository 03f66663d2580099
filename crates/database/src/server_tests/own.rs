//! Databases of our own on servers: whose they are, and what becomes of them.

use super::*;

pub(super) async fn databases_of_our_own_are_made_and_removed(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_Own").await;
    assert!(!own.was_there());
    assert_eq!(own.url().database(), Some("prony_Own"));
    own.session().await.unwrap().append(&SAMPLES, &mut plain_rows(7), WriteMethod::Bulk).await.unwrap();
    for existing in [Existing::Reuse, Existing::Replace] {
        let error = server.own("prony_Own", existing).await.unwrap_err();
        assert!(error.to_string().contains("in use"), "{error}");
    }
    drop(own);
    let error = server.own("prony_Own", Existing::Refuse).await.unwrap_err();
    let text = error.to_string();
    assert!(
        error.is_usage()
            && text.contains("‹target.database.existing reuse›")
            && text.contains("DROP DATABASE"),
        "{text}"
    );
    let own = reused(&server, "prony_Own").await;
    assert!(own.was_there());
    assert_eq!(own.session().await.unwrap().query(COUNT, &[]).await.unwrap(), [[Value::I64(7)]]);
    drop(own);
    // Somebody else who is connected is not thrown out.
    let guest = Session::open(&server.url().with_database("prony_Own")).await.unwrap();
    let error = server.own("prony_Own", Existing::Replace).await.unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
    drop(guest);
    let own = server.own("prony_Own", Existing::Replace).await.unwrap();
    assert!(!own.was_there());
    own.session().await.unwrap().query(COUNT, &[]).await.unwrap_err();
    // A session of ours that lingers, with a transaction open, does not keep it from being removed.
    let mut lingering = own.session().await.unwrap();
    let open = format!("CREATE TABLE t (x integer); {}; INSERT INTO t VALUES (1)", begin(engine));
    lingering.script(&open).await.unwrap();
    timeout(patience(engine), own.remove()).await.unwrap().unwrap();
    assert!(matches!(
        Session::open(&server.url().with_database("prony_Own")).await,
        Err(Error::NoDatabase(_))
    ));
    for name in ["", "a-b", "a b", "a\"b", "é"] {
        assert!(matches!(server.own(name, Existing::Refuse).await, Err(Error::NoDatabase(_))), "{name}");
    }
}

/// Ends the session that holds the lock of a database.
async fn end_lock(own: &Own, engine: Engine) {
    let mut session = own.session().await.unwrap();
    let find = match engine {
        Engine::Postgres => {
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = \
             (SELECT oid FROM pg_database WHERE datname = current_database())"
        }
        Engine::SqlServer => {
            "SELECT session_id FROM sys.dm_exec_sessions WHERE database_id = DB_ID() AND session_id <> @@SPID"
        }
        _ => "SELECT is_used_lock(concat('prony:', md5(database())))",
    };
    let held = session.query(find, &[]).await.unwrap();
    let Some(Value::I64(id)) = held.first().and_then(|row| row.first()) else { panic!("{held:?}") };
    let end = match engine {
        Engine::Postgres => format!("SELECT pg_terminate_backend({id})"),
        _ => format!("KILL {id}"),
    };
    session.script(&end).await.unwrap();
    let begin = Instant::now();
    while !session.query(find, &[]).await.unwrap().iter().flatten().all(|id| *id == Value::Null) {
        assert!(begin.elapsed() < patience(engine), "the server did not end it");
    }
}

pub(super) async fn a_lock_whose_session_was_ended_is_taken_again(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_lost_lock").await;
    assert_eq!(own.is_held().await.unwrap(), Held::Held);
    end_lock(&own, engine).await;
    assert_eq!(own.is_held().await.unwrap(), Held::TakenAgain);
    assert_eq!(own.is_held().await.unwrap(), Held::Held);
    server.own("prony_lost_lock", Existing::Reuse).await.unwrap_err();
    own.remove().await.unwrap();
}

/// A run whose lock was lost dropped at its end what another one had taken up and kept.
pub(super) async fn what_another_run_took_up_is_left(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_taken_up").await;
    end_lock(&own, engine).await;
    let taken_up = reused(&server, "prony_taken_up").await;
    let append =
        taken_up.session().await.unwrap().append(&SAMPLES, &mut plain_rows(7), WriteMethod::Bulk).await;
    append.unwrap();
    assert!(matches!(own.is_held().await.unwrap(), Held::Lost(_)));
    let left = own.clone().remove().await.unwrap_err().to_string();
    assert!(left.contains("is left as it is: another run of prony reused it"), "{left}");
    drop(taken_up);
    assert!(matches!(own.is_held().await.unwrap(), Held::Lost(_)));
    let left = own.remove().await.unwrap_err().to_string();
    assert!(left.contains("is left as it is: another run of prony reused it"), "{left}");
    let own = reused(&server, "prony_taken_up").await;
    assert_eq!(own.session().await.unwrap().query(COUNT, &[]).await.unwrap(), [[Value::I64(7)]]);
    own.remove().await.unwrap_err();
    replaced(&server, "prony_taken_up").await.remove().await.unwrap();
}

/// Such a server lost the mark of a run with its last second, and the run could not count what else was lost.
#[tokio::test]
async fn who_took_a_database_up_is_known_after_a_server_lost_its_last_seconds() {
    // On storage in memory MariaDB maps its log, which survives then.
    let lossy = Options::default()
        .parent_directory("/var/tmp")
        .setting("innodb_flush_log_at_trx_commit", "0")
        .setting("innodb_flush_log_at_timeout", "600");
    let mut server = Running::MariaDb(MariaDb::start(&lossy).unwrap());
    drop(server.samples("prony_lossy").await);
    Session::open(&server.url()).await.unwrap().script("FLUSH ENGINE LOGS").await.unwrap();
    let taken_up = reused(&server, "prony_lossy").await;
    let mut session = taken_up.session().await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(7), WriteMethod::Bulk).await.unwrap();
    server.kill();
    server.start_again();
    let mut session = taken_up.session().await.unwrap();
    assert_eq!(session.query(COUNT, &[]).await.unwrap(), [[Value::I64(0)]], "the server lost the rows");
}

/// At its end a run dropped whatever had the name of its database.
pub(super) async fn a_database_that_took_the_name_is_left(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_replaced").await;
    let mut theirs = Session::open(&server.url()).await.unwrap();
    let drop = if engine == Engine::Postgres { "WITH (FORCE)" } else { "" };
    if engine == Engine::SqlServer {
        // There nobody is thrown out of a database that goes.
        end_lock(&own, engine).await;
    }
    dropped(engine, &mut theirs, &format!("DROP DATABASE prony_replaced {drop}")).await;
    assert!(matches!(own.is_held().await, Ok(Held::Lost(_)) | Err(Error::NoDatabase(_))));
    theirs.script("CREATE DATABASE prony_replaced").await.unwrap();
    let mut inside = Session::open(&server.url().with_database("prony_replaced")).await.unwrap();
    inside.script("CREATE TABLE theirs (x integer); INSERT INTO theirs VALUES (1)").await.unwrap();
    assert!(matches!(own.is_held().await.unwrap(), Held::Lost(_)));
    let left = own.remove().await.unwrap_err().to_string();
    assert!(left.contains("this run did not create it"), "{left}");
    assert_eq!(inside.query("SELECT x FROM theirs", &[]).await.unwrap(), [[Value::I64(1)]]);
}

/// What a kill leaves between making a database and marking it had no mark, and nothing took it up any more.
pub(super) async fn what_was_half_made_is_made_again(engine: Engine) {
    let server = shared(engine);
    let mut theirs = Session::open(&server.url()).await.unwrap();
    let run = RunId::new().unwrap();
    let half = match engine {
        // FNV-1a of `prony_half`.
        Engine::Postgres | Engine::SqlServer => "CREATE DATABASE prony_new_686e56311704be67".to_owned(),
        _ => format!("CREATE DATABASE prony_half COMMENT 'prony {run} kept'"),
    };
    for existing in ALL {
        theirs.script(&half).await.unwrap();
        let own = server.own("prony_half", existing).await.unwrap();
        assert!(!own.was_there());
        own.remove().await.unwrap();
    }
    theirs.script(&half).await.unwrap();
    let is_renamed = engine != Engine::Mysql;
    let inside = if is_renamed { "prony_new_686e56311704be67" } else { "prony_half" };
    let mut inside = Session::open(&server.url().with_database(inside)).await.unwrap();
    inside.script("CREATE TABLE theirs (x integer); INSERT INTO theirs VALUES (1)").await.unwrap();
    let refused = server.own("prony_half", Existing::Refuse).await.unwrap_err().to_string();
    let says = if is_renamed { "rename it" } else { "from an earlier run" };
    assert!(refused.contains(says), "{refused}");
    assert_eq!(inside.query("SELECT x FROM theirs", &[]).await.unwrap(), [[Value::I64(1)]]);
}

/// A run that was killed while it removed a database, or before it gave one of another run its name back.
pub(super) async fn what_was_on_its_way_out_gets_its_name_back(engine: Engine) {
    if engine == Engine::Mysql {
        return;
    }
    let server = shared(engine);
    drop(server.samples("prony_out").await);
    let mut admin = Session::open(&server.url()).await.unwrap();
    let begin = Instant::now();
    // FNV-1a of `prony_out`.
    let rename = match engine {
        Engine::SqlServer => "ALTER DATABASE prony_out MODIFY NAME = prony_old_a437b2b44311dc8e",
        _ => "ALTER DATABASE prony_out RENAME TO prony_old_a437b2b44311dc8e",
    };
    while let Err(error) = admin.script(rename).await {
        assert!(begin.elapsed() < patience(engine), "{error}");
    }
    let refused = server.own("prony_out", Existing::Refuse).await.unwrap_err().to_string();
    assert!(refused.contains("from an earlier run"), "{refused}");
    let own = reused(&server, "prony_out").await;
    assert!(own.was_there());
    drop(own);
    replaced(&server, "prony_out").await.remove().await.unwrap();
}

/// Writers that fail together all ask at once: one of them took the lock for somebody else's.
pub(super) async fn a_lock_is_held_for_all_who_ask_at_once(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_asked").await;
    let (first, second, third) = tokio::join!(own.is_held(), own.is_held(), own.is_held());
    assert_eq!([first, second, third].map(Result::unwrap), [Held::Held, Held::Held, Held::Held]);
    end_lock(&own, engine).await;
    assert!(timeout(Duration::ZERO, own.is_held()).await.is_err(), "given up at once");
    assert_eq!(own.is_held().await.unwrap(), Held::TakenAgain);
    own.remove().await.unwrap();
}

pub(super) async fn a_run_replaces_what_it_made_itself(engine: Engine) {
    let server = shared(engine);
    let this = Claim::new(RunId::new().unwrap(), Existing::Refuse);
    let make = |claim: Claim| {
        let url = server.url();
        async move { Own::make(&url, "prony_resumed", &claim).await }
    };
    drop(make(this.clone()).await.unwrap());
    assert!(!make(this.clone()).await.unwrap().was_there(), "the run that was interrupted made it");
    make(claim(Existing::Refuse)).await.unwrap_err();
    make(claim(Existing::Leftover)).await.unwrap_err();
    drop(reused(&server, "prony_resumed").await);
    make(this.clone()).await.unwrap_err();
    drop(replaced(&server, "prony_resumed").await);
    make(this).await.unwrap_err();
    drop(make(Claim { existing: Existing::Replace, ..claim(Existing::Replace).transient() }).await.unwrap());
    make(claim(Existing::Leftover)).await.unwrap().remove().await.unwrap();
}

/// A mark that names no run, as it was made at first.
pub(super) async fn what_has_an_older_mark_is_ours(engine: Engine) {
    let server = shared(engine);
    let mut admin = Session::open(&server.url()).await.unwrap();
    let moment = if engine == Engine::SqlServer { "datetime2" } else { "timestamp" };
    let mark = &format!(
        "CREATE TABLE prony_mark (tool varchar(40) NOT NULL, created_at {moment} NOT NULL DEFAULT CURRENT_TIMESTAMP); \
         INSERT INTO prony_mark (tool) VALUES ('prony')"
    );
    let old = || async {
        let inside = server.url().with_database("prony_old_mark");
        Session::open(&inside).await.unwrap().script(mark).await.unwrap();
    };
    admin.script("CREATE DATABASE prony_old_mark").await.unwrap();
    old().await;
    let refused = server.own("prony_old_mark", Existing::Refuse).await.unwrap_err().to_string();
    assert!(refused.contains("from an earlier run"), "{refused}");
    let own = reused(&server, "prony_old_mark").await;
    assert!(own.was_there() && own.is_held().await.unwrap() == Held::Held);
    own.remove().await.unwrap_err();
    dropped(engine, &mut admin, "DROP DATABASE prony_old_mark").await;
    admin.script("CREATE DATABASE prony_old_mark").await.unwrap();
    old().await;
    replaced(&server, "prony_old_mark").await.remove().await.unwrap();
}

/// Replaces a database as soon as the server has noticed that its last holder is gone.
async fn replaced(server: &Running, name: &str) -> Own {
    let own = server.own(name, Existing::Replace).await.unwrap();
    assert!(!own.was_there());
    own
}

/// Takes a database up as soon as the server has noticed that its last holder is gone.
async fn reused(server: &Running, name: &str) -> Own {
    let begin = Instant::now();
    loop {
        match server.own(name, Existing::Reuse).await {
            Ok(own) => return own,
            Err(error) => assert!(begin.elapsed() < patience(server.url().engine()), "{error}"),
        }
    }
}

pub(super) async fn what_others_made_is_never_touched(engine: Engine) {
    let server = shared(engine);
    let mut session = Session::open(&server.url()).await.unwrap();
    let makes = [
        ("theirs", "CREATE TABLE theirs (x integer); INSERT INTO theirs VALUES (1)"),
        ("empty", "SELECT 1"),
        ("imitation", "CREATE TABLE prony_mark (tool varchar(9))"),
    ];
    for (name, sql) in makes {
        session.script(&format!("CREATE DATABASE {name}")).await.unwrap();
        Session::open(&server.url().with_database(name)).await.unwrap().script(sql).await.unwrap();
        for existing in ALL {
            let error = server.own(name, existing).await.unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("not created by prony") && text.contains("‹target.database.name›"),
                "{text}"
            );
        }
    }
    let mut theirs = Session::open(&server.url().with_database("theirs")).await.unwrap();
    assert_eq!(theirs.query("SELECT x FROM theirs", &[]).await.unwrap(), [[Value::I64(1)]]);
    Session::open(&server.url().with_database("empty")).await.unwrap();
}
