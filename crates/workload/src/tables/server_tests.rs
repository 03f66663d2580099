//! Whole trials of each kind of table, on SQLite and on throwaway servers: each answers what its rows give.

use std::sync::atomic::AtomicBool;

use database::{Dialect, Existing, Own, Session, Url, Value};
use instance::{ClickHouse, Engine, Instance, MariaDb, Options, Postgres, TdsServer};
use load::{Go, Progress, Span, Workload as _};
use record::{Crash, Killed, RowsChecksum, Setup, Survival, TableOperation, TablesOutcome, TablesSetup};

use super::data::{Expected, RowData};
use super::*;
use crate::TrialError;
use crate::claims::claim;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

const NOBODY: Kill<'static> = Kill::Nobody("prony kills only servers that it started");

fn own(url: &str) -> Own {
    let url: Url = url.parse().unwrap();
    block_on(Own::make(&url, "prony_tables", &claim(Existing::Refuse))).unwrap()
}

/// Runs a trial, and gives its setup; none of one that is left out.
fn run_on(own: &Own, settings: &str) -> Result<(Option<TablesSetup>, TablesOutcome), TrialError> {
    let mut settings: Settings = toml::from_str(settings).unwrap();
    settings.rows.get_or_insert(2_000);
    settings.clients.get_or_insert(3);
    settings.point_deletes.get_or_insert(50);
    settings.warm_up = Some(Span::microseconds(50_000));
    settings.duration = Some(Span::microseconds(200_000));
    let job = settings.job().unwrap();
    let mut setup = None;
    let mut on_progress = |progress| {
        if let Progress::SetUp(Setup::Tables(told)) = progress {
            setup = Some(*told);
        }
        Go::On
    };
    let stop = AtomicBool::new(false);
    let outcome = run(&job, &own.lease(), &own.clone().into(), NOBODY, &stop, &mut on_progress)?;
    Ok((setup, outcome))
}

/// Runs a kind of table to its end, and looks at all that it tells.
fn measured(own: &Own, settings: &str) -> (TablesSetup, TablesOutcome) {
    let (setup, outcome) = run_on(own, settings).unwrap();
    assert_eq!(outcome.lacks, None, "{settings}");
    assert_eq!(outcome.wrong, None, "{settings}");
    let rows = Expected::of(&RowData::new(2_000, 42)).checksum;
    let checksum = RowsChecksum { rows: 2_000, sum: rows.sum() };
    assert_eq!(outcome.checksum, Some(checksum), "{settings}: the same rows on every kind and engine");
    assert!(outcome.stopped.is_empty() && outcome.notes.is_empty(), "{settings}: {outcome:?}");
    let done: Vec<TableOperation> = outcome.operations.iter().map(|timed| timed.operation).collect();
    assert_eq!(done, TableOperation::ALL, "{settings}");
    let rows = |operation| outcome.of(operation).unwrap().rows;
    let rows = [
        TableOperation::Load,
        TableOperation::UpdateAll,
        TableOperation::PointDelete,
        TableOperation::DeleteAll,
    ]
    .map(rows);
    assert_eq!(rows, [2_000, 2_000, 50, 1_950], "{settings}");
    assert!(outcome.of(TableOperation::PointUpdate).unwrap().count > 0, "{settings}");
    let size = outcome.size.disk_bytes.or(outcome.size.memory_bytes).unwrap();
    assert!((40_000..10_000_000).contains(&size), "{settings}: {size} bytes");
    (setup.unwrap(), outcome)
}

fn every_kind(url: &str, dialect: Dialect, lacks: &[Kind]) {
    let own = own(url);
    for kind in kinds_of(dialect) {
        let settings = format!("kind = \"{kind}\"");
        if lacks.contains(&kind) {
            let (_, outcome) = run_on(&own, &settings).unwrap();
            assert!(outcome.lacks.unwrap().contains("this server has no"), "{kind}");
            continue;
        }
        let (setup, _) = measured(&own, &settings);
        assert_eq!(setup.kind, kind.name());
    }
    let (_, outcome) = run_on(&own, "kind = \"archive\"").unwrap();
    assert!(outcome.lacks.unwrap().contains("no archive tables") && outcome.operations.is_empty());
    measured(&own, "access = \"ad-hoc\"\nbatch_rows = 300");
    if dialect != Dialect::Sqlite {
        measured(&own, "access = \"procedure\"");
    }
    block_on(own.remove()).unwrap();
}

#[test]
fn sqlite_has_every_kind_it_says() {
    let directory = tempfile::TempDir::new().unwrap();
    every_kind(&format!("sqlite:{}/tables.db", directory.path().display()), Dialect::Sqlite, &[]);
}

#[test]
fn postgres_has_every_kind_it_says() {
    let server = Postgres::start(&Options::default()).unwrap();
    every_kind(&server.url(), Dialect::Postgres, &[]);
}

/// One kind that a server refused ended a run of all kinds.
#[test]
fn a_kind_that_the_server_refuses_to_make_is_left_out_with_its_reason() {
    let server = Postgres::start(&Options::default()).unwrap();
    let own = own(&server.url());
    let refuse = "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
                  IF current_query() LIKE '%UNLOGGED%' THEN \
                  RAISE EXCEPTION 'no such tables here'; END IF; END $$; \
                  CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()";
    let set = |script: &str| {
        block_on(async { own.lease().session().await.unwrap().script(script).await.unwrap() });
    };
    set(refuse);
    let (setup, outcome) = run_on(&own, "kind = \"volatile\"").unwrap();
    let lacks = outcome.lacks.unwrap();
    assert!(
        lacks.starts_with("this server refuses to create such a table: ")
            && lacks.contains("no such tables here"),
        "{lacks}"
    );
    assert!(setup.is_none() && outcome.operations.is_empty());
    measured(&own, "kind = \"row\"");
    set("CREATE OR REPLACE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'no tables here'; END $$");
    let error = run_on(&own, "kind = \"row\"").unwrap_err().to_string();
    assert!(error.contains("no tables here"), "{error}");
    block_on(own.remove()).unwrap();
}

#[test]
fn mariadb_has_every_kind_it_says_and_its_setting_is_as_before() {
    let server = MariaDb::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let flush_log = || {
        block_on(async {
            let mut session = Session::open(&url).await.unwrap();
            let asked = "SELECT CAST(@@GLOBAL.innodb_flush_log_at_trx_commit AS SIGNED)";
            session.query(asked, &[]).await.unwrap()[0][0].clone()
        })
    };
    assert_eq!(flush_log(), Value::I64(1));
    every_kind(&server.url(), Dialect::Mysql, &[Kind::Rocks]);
    assert_eq!(flush_log(), Value::I64(1));
    // Also where the user asks for an end in the midst of it.
    let own = own(&server.url());
    let settings = "kind = \"relaxed\"\nrows = 2000\nduration = \"1m\"";
    let job = toml::from_str::<Settings>(settings).unwrap().job().unwrap();
    let (stop, mut meanwhile) = (AtomicBool::new(false), None);
    let mut on_progress = |progress| {
        if let Progress::SetUp(_) = progress {
            let asking = std::thread::scope(|scope| scope.spawn(flush_log).join());
            meanwhile = Some(asking.unwrap());
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Go::On
    };
    run(&job, &own.lease(), &own.clone().into(), NOBODY, &stop, &mut on_progress).unwrap();
    assert_eq!((meanwhile, flush_log()), (Some(Value::I64(2)), Value::I64(1)));
    block_on(own.remove()).unwrap();
}

/// Runs a kind of table on a server that is killed at the end, and gives what survived.
fn killed(server: &mut Instance, kind: &str) -> Crash {
    let own = own(&server.url());
    let settings =
        format!("kind = \"{kind}\"\nrows = 2000\nclients = 3\nwarm_up = \"0s\"\nduration = \"200ms\"");
    let job = toml::from_str::<Settings>(&settings).unwrap().job().unwrap();
    let mut asked = Vec::new();
    let mut ask = |what| {
        asked.push(what);
        let done = match what {
            Break::Kill => server.kill(),
            Break::StartAgain => server.start_again(),
        };
        done.map_err(|error| error.to_string())
    };
    let stop = AtomicBool::new(false);
    let (lease, holder) = (own.lease(), own.clone().into());
    let outcome = run(&job, &lease, &holder, Kill::Server(&mut ask), &stop, &mut |_| Go::On).unwrap();
    assert_eq!(asked, [Break::Kill, Break::StartAgain]);
    assert_eq!(outcome.wrong, None, "{kind}");
    assert!(outcome.notes.is_empty(), "{kind}: {:?}", outcome.notes);
    block_on(own.remove()).unwrap();
    let crash = outcome.crash().unwrap().clone();
    assert_eq!((crash.killed, crash.clients, crash.wrong.clone()), (Killed::Server, 3, None), "{kind}");
    assert!(crash.acknowledged > 0 && crash.rows_before >= 2_000, "{crash:?}");
    assert_eq!(crash.unanswered_there + crash.unanswered_gone, 3, "{crash:?}");
    assert_eq!(crash.broken(), None, "{crash:?}");
    crash
}

fn all_survived(crash: &Crash) {
    assert_eq!((crash.lost, crash.lost_oldest_s, crash.rows_gone()), (0, None, 0), "{crash:?}");
}

fn none_survived(crash: &Crash) {
    assert_eq!((crash.survived(), crash.rows_after, crash.is_durable), (0, 0, false), "{crash:?}");
    assert!(crash.lost_oldest_s.is_some(), "{crash:?}");
}

#[test]
fn what_postgres_promises_survives_a_kill_and_what_it_does_not_is_lost() {
    let late = [
        ("wal_writer_delay", "10s"),
        ("wal_writer_flush_after", "1GB"),
        ("wal_buffers", "64MB"),
        ("autovacuum", "off"),
    ];
    let options =
        late.into_iter().fold(Options::default(), |options, (name, value)| options.setting(name, value));
    let mut server = Instance::start(Engine::Postgres, &options).unwrap();
    let row = killed(&mut server, "row");
    assert!(row.is_durable);
    all_survived(&row);
    none_survived(&killed(&mut server, "volatile"));
    // Its log is written once in ten seconds, and whenever else it has to be: what was acknowledged last was not, unless one came right before
    // the kill.
    let mut kills = (0..20).map(|_| killed(&mut server, "relaxed"));
    let relaxed = kills.find(|crash| crash.lost > 0).unwrap();
    assert!(!relaxed.is_durable && relaxed.lost_oldest_s.is_some(), "{relaxed:?}");
}

/// What InnoDB gave to the kernel survives, since only the process was killed.
#[test]
fn what_mariadb_promises_survives_a_kill_and_what_it_does_not_is_lost() {
    let mut server = Instance::start(Engine::MariaDb, &Options::default()).unwrap();
    let row = killed(&mut server, "row");
    assert!(row.is_durable);
    all_survived(&row);
    none_survived(&killed(&mut server, "volatile"));
    let relaxed = killed(&mut server, "relaxed");
    assert!(!relaxed.is_durable);
    all_survived(&relaxed);
    assert!(!killed(&mut server, "aria").is_durable);
}

#[test]
fn who_cannot_be_killed_is_not_and_one_that_does_not_come_back_fails_the_trial() {
    let server = Postgres::start(&Options::default()).unwrap();
    let own = own(&server.url());
    let (_, outcome) = run_on(&own, "").unwrap();
    let why = "prony kills only servers that it started".to_owned();
    assert_eq!(outcome.survival, Some(Survival::NotTried(why)));
    let job = toml::from_str::<Settings>("rows = 500\nwarm_up = \"0s\"\nduration = \"100ms\"");
    let job = job.unwrap().job().unwrap();
    let tried = |job: &Job, ask: &mut dyn FnMut(Break) -> Result<(), String>| {
        let stop = AtomicBool::new(false);
        run(job, &own.lease(), &own.clone().into(), Kill::Server(ask), &stop, &mut |_| Go::On)
    };
    let outcome =
        tried(&Job { crash: Some(false), ..job.clone() }, &mut |_| panic!("it was not to be killed"));
    assert_eq!(outcome.unwrap().survival, Some(Survival::NotTried("the test was switched off".to_owned())));
    let told = tried(&job, &mut |_| Err("no permission".to_owned())).unwrap_err().to_string();
    assert!(told.contains("the server could not be killed: no permission"), "{told}");
    block_on(own.remove()).unwrap();
}

/// A run was killed while a relaxed table had set something of the whole server.
#[test]
fn what_a_killed_run_had_set_is_found_told_and_set_back() {
    let server = MariaDb::start(&Options::default()).unwrap();
    let first = own(&server.url());
    block_on(async {
        let mut session = first.session().await.unwrap();
        made::Setting::FlushLog.set(&mut session).await.unwrap();
    });
    let (_, outcome) = run_on(&first, "").unwrap();
    assert!(outcome.notes.iter().any(|note| note.contains("was 2 before the trial")), "{:?}", outcome.notes);
    let url: Url = server.url().parse().unwrap();
    let left = block_on(LeftSet::look(&url, "prony_tables", &crate::claims::run_id())).unwrap();
    let told = block_on(async { left.set_back(&mut first.session().await.unwrap()).await.unwrap() });
    assert_eq!(told, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
    assert_eq!(block_on(LeftSet::look(&url, "prony_tables", &crate::claims::run_id())), None);
    let (_, outcome) = run_on(&first, "").unwrap();
    assert_eq!(outcome.notes, Vec::<String>::new());
    block_on(first.remove()).unwrap();
}

/// It tells no counts of changed rows and answers before they are changed: what is there afterwards was still checked.
#[test]
fn clickhouse_has_column_stores_and_says_what_its_version_lacks() {
    let server = ClickHouse::start(&Options::default()).unwrap();
    let own = own(&server.url());
    let (setup, outcome) = measured(&own, "kind = \"columnstore\"\naccess = \"ad-hoc\"\nbatch_rows = 700");
    assert!(
        setup.made.contains("ENGINE = MergeTree ORDER BY id") && setup.engine == "clickhouse",
        "{setup:?}"
    );
    assert_eq!(outcome.of(TableOperation::UpdateAll).unwrap().count, 3);
    let settings = |kind: &str| format!("kind = \"{kind}\"\naccess = \"ad-hoc\"");
    let (_, archive) = run_on(&own, &settings("archive")).unwrap();
    match archive.lacks {
        Some(lacks) => {
            assert!(lacks.contains("cannot set a compression codec for single columns"), "{lacks}")
        }
        None => assert_eq!(archive.wrong, None),
    }
    let (_, row) = run_on(&own, &settings("row")).unwrap();
    assert!(row.lacks.unwrap().contains("stores all tables by columns"));
    block_on(own.remove()).unwrap();
}

/// A mutation of somebody else is among the rows: the sums after all updates tell.
#[test]
fn a_wrong_answer_of_clickhouse_is_found() {
    let server = ClickHouse::start(&Options::default()).unwrap();
    let own = own(&server.url());
    let settings =
        "rows = 2000\naccess = \"ad-hoc\"\nkind = \"columnstore\"\nwarm_up = \"0s\"\nduration = \"100ms\"";
    let job = toml::from_str::<Settings>(settings).unwrap().job().unwrap();
    let mut on_progress = |progress| {
        if let Progress::SetUp(_) = progress {
            let more = "INSERT INTO prony_rows (id, category, value, amount, note) VALUES (7, 1, 1, 1, 'x')";
            let url = own.lease().url().clone();
            let ran = std::thread::spawn(move || {
                block_on(async { Session::open(&url).await.unwrap().script(more).await.unwrap() });
            });
            ran.join().unwrap();
        }
        Go::On
    };
    let stop = AtomicBool::new(false);
    let outcome = run(
        &job,
        &own.lease(),
        &own.clone().into(),
        Kill::Nobody("it is not tried"),
        &stop,
        &mut on_progress,
    )
    .unwrap();
    let wrong = outcome.wrong.unwrap();
    assert!(wrong.starts_with("a scan after the updates by key returned"), "{wrong}");
}

/// What another server that speaks T-SQL has: no tables in memory, no columns, no delayed durability, and it tells no sizes.
#[test]
fn t_sql_of_tables_on_disk_does_what_it_says() {
    let Some(server) = TdsServer::start(&[]).unwrap() else {
        eprintln!("not run: tables of T-SQL, for which PRONY_TDS_SERVER names no server that speaks T-SQL");
        return;
    };
    let own = own(&server.url());
    for (kind, access) in [("row", "ad-hoc"), ("clustered", "prepared"), ("covering", "procedure")] {
        let settings = format!("kind = \"{kind}\"\naccess = \"{access}\"");
        let (_, outcome) = run_on(&own, &settings).unwrap();
        assert_eq!(outcome.wrong, None, "{settings}");
        let rows = Expected::of(&RowData::new(2_000, 42)).checksum;
        assert_eq!(outcome.checksum.unwrap().sum, rows.sum(), "{settings}");
        let done: Vec<TableOperation> = outcome.operations.iter().map(|timed| timed.operation).collect();
        assert_eq!(done, TableOperation::ALL, "{settings}");
    }
    block_on(own.remove()).unwrap();
}

/// Somebody adds to the rows while the trial runs: its sums are not those that the rows give.
#[test]
fn a_wrong_answer_is_found() {
    let directory = tempfile::TempDir::new().unwrap();
    let own = own(&format!("sqlite:{}/tables.db", directory.path().display()));
    let job = toml::from_str::<Settings>("rows = 2000\nwarm_up = \"0s\"\nduration = \"100ms\"")
        .unwrap()
        .job()
        .unwrap();
    let mut on_progress = |progress| {
        if let Progress::SetUp(_) = progress {
            let damage = "UPDATE prony_rows SET amount = amount + 1 WHERE id = 7";
            let url = own.lease().url().clone();
            let ran = std::thread::spawn(move || {
                block_on(async { Session::open(&url).await.unwrap().script(damage).await.unwrap() });
            });
            ran.join().unwrap();
        }
        Go::On
    };
    let stop = AtomicBool::new(false);
    let outcome = run(&job, &own.lease(), &own.clone().into(), NOBODY, &stop, &mut on_progress).unwrap();
    let wrong = outcome.wrong.unwrap();
    assert!(wrong.starts_with("a scan after the updates by key returned"), "{wrong}");
}
