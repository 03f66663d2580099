//! Whole trials on real servers: PostgreSQL and MariaDB, each started for the test.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use database::{Existing, Own, Session};
use instance::{InstanceError, MariaDb, Options, Postgres};
use load::{Go, Progress, Span};
use record::{HistorianOutcome, Interval, Setup};

use super::*;
use crate::claims::claim;
use crate::historian::{Purge, Rate, Settings, WriteMethod};

/// A server that can be killed.
trait Server {
    fn url(&self) -> String;
    fn kill(&mut self) -> Result<(), InstanceError>;
    fn start_again(&mut self) -> Result<(), InstanceError>;
}

impl Server for Postgres {
    fn url(&self) -> String {
        self.url()
    }
    fn kill(&mut self) -> Result<(), InstanceError> {
        self.kill()
    }
    fn start_again(&mut self) -> Result<(), InstanceError> {
        self.start_again()
    }
}

impl Server for MariaDb {
    fn url(&self) -> String {
        self.url()
    }
    fn kill(&mut self) -> Result<(), InstanceError> {
        self.kill()
    }
    fn start_again(&mut self) -> Result<(), InstanceError> {
        self.start_again()
    }
}

fn postgres() -> Postgres {
    Postgres::start(&Options::default()).unwrap()
}

fn mariadb() -> MariaDb {
    MariaDb::start(&Options::default()).unwrap()
}

fn settings(rate: Rate, duration_ms: u64) -> Settings {
    Settings {
        tags: Some(50),
        rate: Some(rate),
        warm_up: Some(Span::ZERO),
        duration: Some(Span { ns: duration_ms * 1_000_000 }),
        screens: Some(2),
        screen_interval: Some(Span { ns: 500_000_000 }),
        latest_interval: Some(Span { ns: 100_000_000 }),
        ..Settings::default()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// What a trial came to in a database of its own, with its intervals.
fn ran(
    url: &str,
    settings: &Settings,
    on_interval: impl FnMut(&Interval),
) -> (HistorianOutcome, Vec<Interval>) {
    let own = own(url);
    let ran = ran_in(&own, settings, on_interval);
    runtime().block_on(own.remove()).unwrap();
    ran
}

fn own(url: &str) -> Own {
    runtime().block_on(Own::make(&url.parse().unwrap(), "historian", &claim(Existing::Replace))).unwrap()
}

fn ran_in(
    own: &Own,
    settings: &Settings,
    mut on_interval: impl FnMut(&Interval),
) -> (HistorianOutcome, Vec<Interval>) {
    let mut intervals = Vec::new();
    let job = Job::of(settings).unwrap();
    let outcome =
        run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |progress| {
            match progress {
                Progress::SetUp(Setup::Historian(setup)) => assert!(!setup.server.version.is_empty()),
                Progress::SetUp(other) => panic!("{other:?}"),
                Progress::Preparing(_) | Progress::Mark(_) | Progress::Parts(_) => {}
                Progress::Interval(interval) => {
                    on_interval(&interval);
                    intervals.push(interval);
                }
            }
            Go::On
        })
        .unwrap();
    assert_eq!(outcome.rows_compared.as_ref().map(|rows| rows.rows), outcome.rows_found);
    (outcome, intervals)
}

/// A run that lost its lock went on in a database that another one had taken up, and dropped it at the end.
#[test]
fn a_database_that_another_run_took_up_is_told_and_left() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: database::Url = server.url().parse().unwrap();
    let own = runtime().block_on(Own::make(&url, "historian", &claim(Existing::Refuse))).unwrap();
    let inside = own.url().clone();
    let job = Job::of(&settings(Rate::PerSecond(100.0), 2_000)).unwrap();
    let mut ended = false;
    let outcome =
        run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |progress| {
            if matches!(progress, Progress::Interval(_)) && !std::mem::replace(&mut ended, true) {
                let (inside, url) = (inside.clone(), url.clone());
                let take_up = async move {
                    let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
                    Session::open(&inside).await.unwrap().script(end).await.unwrap();
                    drop(Own::make(&url, "historian", &claim(Existing::Reuse)).await.unwrap());
                };
                std::thread::spawn(|| runtime().block_on(take_up)).join().unwrap();
            }
            Go::On
        })
        .unwrap();
    assert!(
        outcome.lock_lost
            && outcome.notes.iter().any(|note| note.contains("another run of prony is using it now")),
        "{outcome:?}"
    );
    let left = runtime().block_on(own.remove()).unwrap_err().to_string();
    assert!(left.contains("is left as it is"), "{left}");
}

fn count(intervals: &[Interval], kind: &str) -> u64 {
    intervals.iter().filter_map(|interval| interval.operations.get(kind)).map(|kind| kind.count).sum()
}

fn holds_what_was_acknowledged(url: &str) {
    for (method, writers, index) in
        [(WriteMethod::Bulk, 2, true), (WriteMethod::MultiRow, 1, true), (WriteMethod::Batch, 1, false)]
    {
        let settings = Settings {
            write_method: Some(method),
            writers: Some(writers),
            index: Some(index),
            ..settings(Rate::Max, 1_500)
        };
        let (outcome, intervals) = ran(url, &settings, |_| {});
        assert!(outcome.acknowledged >= 40, "{method:?}: {outcome:?}");
        assert_eq!(outcome.acknowledged, outcome.accepted, "{method:?}");
        assert_eq!(outcome.rows_found, Some(outcome.acknowledged), "{method:?}");
        assert_eq!(outcome.rows_after, Some(outcome.acknowledged), "{method:?}");
        assert_eq!(outcome.mismatch(), None);
        assert!(count(&intervals, "trend") >= 2 && count(&intervals, "latest") >= 5, "{method:?}");
        assert!(outcome.outages.is_empty() && outcome.notes.is_empty(), "{outcome:?}");
    }
}

/// A purge a second, in blocks or by partitions, each followed by a shrink.
fn purges(url: &str, partition: Option<Span>, purge: Purge) {
    let settings = Settings {
        partition,
        purge: Some(purge),
        purge_rows: (purge == Purge::Delete).then_some(300),
        maintenance_interval: Some(Span::seconds(1)),
        retention: Some(Span { ns: 500_000_000 }),
        shrink: Some(true),
        ..settings(Rate::PerSecond(1_000.0), 4_500)
    };
    let (outcome, intervals) = ran(url, &settings, |_| {});
    assert_eq!(outcome.rows_found, Some(outcome.rows_expected), "{outcome:?}");
    assert_eq!(outcome.mismatch(), None);
    assert_eq!(outcome.rows_after.unwrap() + outcome.purged, outcome.acknowledged, "{outcome:?}");
    assert_eq!(outcome.acknowledged, 4_500);
    assert!(outcome.purged >= 1_000, "{outcome:?}");
    assert!(outcome.maintenance.iter().all(|run| run.error.is_none()), "{:?}", outcome.maintenance);
    assert!(count(&intervals, "purge") >= 3 && count(&intervals, "shrink") >= 3);
}

/// The server is ended with SIGKILL while it is written to, and started again a second later.
fn loses_nothing_when_killed(mut server: impl Server) {
    let url = server.url();
    let settings = Settings { writers: Some(2), ..settings(Rate::PerSecond(2_000.0), 5_000) };
    let server = RefCell::new(&mut server);
    let (outcome, intervals) = ran(&url, &settings, |interval| {
        if interval.end_s == 2.0 {
            server.borrow_mut().kill().unwrap();
        } else if interval.end_s == 3.0 {
            server.borrow_mut().start_again().unwrap();
        }
    });
    assert_eq!(outcome.offered, 10_000);
    assert_eq!(outcome.accepted, outcome.acknowledged, "{outcome:?}");
    assert_eq!((outcome.rows_found, outcome.rows_after), (Some(outcome.acknowledged), outcome.rows_found));
    assert_eq!(outcome.mismatch(), None);
    let [outage] = outcome.outages.as_slice() else { panic!("{outcome:?}") };
    assert!((1.9..3.0).contains(&outage.start_s) && outage.end_s.unwrap() > 3.0, "{outage:?}");
    let failed: u64 = intervals.iter().map(|interval| interval.operations["commit"].errors).sum();
    assert!(failed >= 1);
}

/// Rows are deleted and others doubled behind the historian's back: as many, so that the counts agree.
fn tells_as_many_missing_as_doubled(url: &str, edits: [&str; 2]) {
    let double = "INSERT INTO samples SELECT * FROM (SELECT * FROM samples ORDER BY time_us LIMIT 50 OFFSET 60) AS doubled";
    let edits = [edits[0], double, edits[1]];
    let historian: database::Url = format!("{}/historian", url.rsplit_once('/').unwrap().0).parse().unwrap();
    let edit = || async {
        let mut session = database::Session::open(&historian).await.unwrap();
        for sql in edits {
            session.execute(sql, &[]).await.unwrap();
        }
    };
    // The trial is in the middle of telling an interval.
    let edited = |interval: &Interval| {
        if interval.end_s == 2.0 {
            std::thread::scope(|scope| scope.spawn(|| runtime().block_on(edit())).join().unwrap());
        }
    };
    let (outcome, _) = ran(url, &settings(Rate::PerSecond(1_000.0), 3_000), edited);
    assert_eq!(outcome.rows_found, Some(outcome.rows_expected), "the counts agree");
    let compared = outcome.rows_compared.as_ref().unwrap();
    assert_eq!((compared.missing, compared.doubled), (50, 50), "{compared:?}");
    assert!(compared.differing.iter().any(|differ| differ.values_changed), "{compared:?}");
}

#[test]
fn postgres_holds_what_was_acknowledged() {
    holds_what_was_acknowledged(&postgres().url());
}

#[test]
fn mariadb_holds_what_was_acknowledged() {
    holds_what_was_acknowledged(&mariadb().url());
}

#[test]
fn postgres_is_purged_in_blocks_and_by_partitions() {
    let server = postgres();
    purges(&server.url(), None, Purge::Delete);
    purges(&server.url(), Some(Span::seconds(1)), Purge::Drop);
}

#[test]
fn mariadb_is_purged_in_blocks_and_by_partitions() {
    let server = mariadb();
    purges(&server.url(), None, Purge::Delete);
    purges(&server.url(), Some(Span::seconds(1)), Purge::Drop);
}

#[test]
fn postgres_loses_nothing_when_it_is_killed() {
    loses_nothing_when_killed(postgres());
}

#[test]
fn mariadb_loses_nothing_when_it_is_killed() {
    loses_nothing_when_killed(mariadb());
}

#[test]
fn postgres_is_asked_for_the_rows_themselves() {
    let delete = "DELETE FROM samples WHERE ctid IN (SELECT ctid FROM samples ORDER BY time_us LIMIT 50)";
    let change = "UPDATE samples SET value = value + 1 WHERE ctid = (SELECT ctid FROM samples ORDER BY time_us DESC LIMIT 1)";
    tells_as_many_missing_as_doubled(&postgres().url(), [delete, change]);
}

#[test]
fn mariadb_is_asked_for_the_rows_themselves() {
    let delete = "DELETE FROM samples ORDER BY time_us LIMIT 50";
    let change = "UPDATE samples SET value = value + 1 ORDER BY time_us DESC LIMIT 1";
    tells_as_many_missing_as_doubled(&mariadb().url(), [delete, change]);
}

/// Pages in use before and after a trial grew by what its tables hold, within a tenth. `asked` gives the bytes of the table of
/// samples and its index another way.
fn grows_by_what_its_tables_hold(url: &str, asked: &str) -> HistorianOutcome {
    let settings = Settings {
        writers: Some(4),
        flush_rows: Some(500),
        write_method: Some(WriteMethod::Bulk),
        ..settings(Rate::PerSecond(15_000.0), 2_000)
    };
    let own = own(url);
    let (outcome, _) = ran_in(&own, &settings, |_| {});
    let held = runtime().block_on(async {
        let mut session = own.lease().session().await.unwrap();
        let rows = session.query(asked, &[]).await.unwrap();
        rows[0][0].integer().unwrap() as f64
    });
    runtime().block_on(own.remove()).unwrap();
    let [before, after] = [outcome.used_before, outcome.used_after].map(Option::unwrap);
    let grown = (after.bytes - before.bytes) as f64;
    assert!((grown / held - 1.0).abs() < 0.1, "{grown} of {held} bytes: {outcome:?}");
    let each = grown / outcome.rows_after.unwrap() as f64;
    eprintln!("{each:.1} bytes a record over {} rows", outcome.rows_after.unwrap());
    assert!((40.0..200.0).contains(&each), "{each} bytes a record");
    outcome
}

#[test]
fn postgres_grows_by_what_its_tables_hold() {
    let asked =
        "SELECT count(DISTINCT (ctid::text::point)[0]) * 8192 + pg_indexes_size('samples') FROM samples";
    grows_by_what_its_tables_hold(&postgres().url(), asked);
}

/// Extents that InnoDB allocated ahead were once counted as rows: 298 bytes a record in place of 101.
#[test]
fn mariadb_grows_by_what_its_tables_hold_and_not_by_its_files() {
    let asked = "SELECT CAST(count(*) * @@innodb_page_size AS SIGNED) FROM information_schema.innodb_buffer_page \
                 WHERE table_name LIKE '%samples%' AND page_type = 'INDEX'";
    let server = mariadb();
    let outcome = grows_by_what_its_tables_hold(&server.url(), asked);
    let files = outcome.database_bytes_after.unwrap() - outcome.database_bytes_before.unwrap();
    let used = outcome.used_after.unwrap().bytes - outcome.used_before.unwrap().bytes;
    assert!(files * 2 > used * 3, "its files have no room ahead: {outcome:?}");
}

#[test]
fn sqlite_grows_by_what_its_tables_hold() {
    let directory = tempfile::TempDir::new().unwrap();
    let asked = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'samples%'";
    grows_by_what_its_tables_hold(&format!("sqlite:{}/plant.db", directory.path().display()), asked);
}

/// A user who may not read InnoDB's statistics of its pages has the most that may be allocated ahead.
#[test]
fn what_mariadb_reserved_is_uncertain_where_its_pages_are_not_told() {
    let server = mariadb();
    let used = runtime().block_on(async {
        let mut session = Session::open(&server.url().parse().unwrap()).await.unwrap();
        session
            .script(
                "CREATE DATABASE plant; CREATE TABLE plant.a (id int PRIMARY KEY, text char(200)) ENGINE = InnoDB; \
                 INSERT INTO plant.a SELECT seq, seq FROM mysql.seq_1_to_20000; \
                 CREATE USER clerk IDENTIFIED BY 'secret'; GRANT ALL ON plant.* TO clerk",
            )
            .await
            .unwrap();
        let address = format!("mysql://clerk:secret@127.0.0.1:{}/plant", server.port());
        let mut session = Session::open(&address.parse().unwrap()).await.unwrap();
        session.used_space().await.unwrap().unwrap()
    });
    // 20,000 rows of some 220 bytes.
    assert_eq!(used.uncertain_bytes, 1 << 20, "{used:?}");
    assert!((4_000_000..7_000_000).contains(&used.bytes), "{used:?}");
}

#[test]
fn what_speaks_t_sql_grows_by_what_its_tables_hold() {
    let Some(server) = instance::TdsServer::start(&[]).unwrap() else {
        eprintln!("not run: growth of T-SQL, for which PRONY_TDS_SERVER names no server that speaks T-SQL");
        return;
    };
    let asked =
        "SELECT CAST(pg_table_size(OBJECT_ID('samples')) + pg_indexes_size(OBJECT_ID('samples')) AS bigint)";
    grows_by_what_its_tables_hold(&server.url(), asked);
}
