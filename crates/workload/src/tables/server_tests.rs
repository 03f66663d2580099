//! Whole trials of each kind of table, on SQLite and on throwaway servers: each answers what its rows give.

use std::sync::atomic::AtomicBool;

use database::{Dialect, Existing, Own, Session, Url, Value};
use instance::{ClickHouse, MariaDb, Options, Postgres, TdsServer};
use load::{Go, Progress, Span, Workload as _};
use record::{Setup, TableOperation, TablesOutcome, TablesSetup};

use super::*;
use crate::TrialError;
use crate::claims::claim;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

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
    let outcome = run(&job, &own.lease(), &own.clone().into(), &stop, &mut on_progress)?;
    Ok((setup, outcome))
}

/// Runs a kind of table to its end, and looks at all that it tells.
fn measured(own: &Own, settings: &str) -> (TablesSetup, TablesOutcome) {
    let (setup, outcome) = run_on(own, settings).unwrap();
    assert_eq!(outcome.lacks, None, "{settings}");
    assert_eq!(outcome.wrong, None, "{settings}");
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
    run(&job, &own.lease(), &own.clone().into(), &stop, &mut on_progress).unwrap();
    assert_eq!((meanwhile, flush_log()), (Some(Value::I64(2)), Value::I64(1)));
    block_on(own.remove()).unwrap();
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
        Some(lacks) => assert!(lacks.contains("has no codecs of columns"), "{lacks}"),
        None => assert_eq!(archive.wrong, None),
    }
    let (_, row) = run_on(&own, &settings("row")).unwrap();
    assert!(row.lacks.unwrap().contains("keeps all by columns"));
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
    let outcome = run(&job, &own.lease(), &own.clone().into(), &stop, &mut on_progress).unwrap();
    let wrong = outcome.wrong.unwrap();
    assert!(wrong.starts_with("after the updates by key a scan answered"), "{wrong}");
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
    let outcome = run(&job, &own.lease(), &own.clone().into(), &stop, &mut on_progress).unwrap();
    let wrong = outcome.wrong.unwrap();
    assert!(wrong.starts_with("after the updates by key a scan answered"), "{wrong}");
}
