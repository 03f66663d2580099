//! Replays of logs written by hand, on SQLite.

use std::fmt::Write as _;
use std::path::Path;

use record::{ReplayInUse, ReplayOutcome};

use super::*;
use crate::script::OnError;

/// A general log of MySQL: each entry its time in milliseconds, its session and its statement.
fn log(entries: &[(u64, u32, &str)]) -> String {
    entries.iter().fold(String::new(), |mut text, (ms, session, sql)| {
        let _ = writeln!(
            text,
            "2024-01-15T10:00:{:02}.{:03}000Z\t{session:5} Query\t{sql}",
            ms / 1_000,
            ms % 1_000
        );
        text
    })
}

/// Replays a log on a database that is there.
pub(super) fn try_replay(url: &Url, log: &Path, settings: &str) -> Result<Ran, TrialError> {
    let mut settings: Settings = toml::from_str(settings).unwrap();
    settings.replay = Some(log.to_owned());
    let job = check(&Job::of(&settings).unwrap(), url.engine().dialect(), &mut Logs::default())?;
    let own = block_on(Own::make(url, "", &claim(Existing::AsItIs))).unwrap();
    let (mut setup, mut intervals) = (None, Vec::new());
    let outcome = crate::script::run(
        &job,
        &own.lease(),
        &own.clone().into(),
        &AtomicBool::new(false),
        &mut |progress| {
            match progress {
                Progress::SetUp(Setup::Script(script)) => setup = Some(*script),
                Progress::Interval(interval) => intervals.push(interval),
                _ => {}
            }
            Go::On
        },
    )?;
    Ok(Ran { setup: setup.unwrap(), intervals, outcome })
}

/// What was recorded of a replay; its figures have to add up.
pub(super) fn of(ran: &Ran) -> (&ReplayInUse, &ReplayOutcome) {
    let (read, became) = (ran.setup.replay.as_ref().unwrap(), ran.outcome.replay.as_ref().unwrap());
    let left: u64 = read.left_out.iter().map(|left| left.count).sum();
    assert_eq!(read.entries, read.statements + left, "{read:#?}");
    let ended = became.answered + became.failed + became.unanswered + became.unsent + became.not_due;
    assert_eq!(read.statements, ended, "{became:#?}");
    let errors: u64 = became.errors.iter().map(|errors| errors.count).sum();
    assert_eq!(became.failed, errors, "{became:#?}");
    (read, became)
}

fn replayed(url: &Url, text: &str, settings: &str) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("busy.log");
    std::fs::write(&path, text).unwrap();
    try_replay(url, &path, settings).unwrap()
}

#[test]
fn sessions_send_their_statements_in_their_order_and_errors_are_counted_by_code() {
    let (_directory, url) = file();
    let text = log(&[
        (0, 1, "BEGIN"),
        (10, 1, "UPDATE t SET n = n + 1 WHERE id = 1"),
        (20, 1, "COMMIT"),
        (30, 2, "INSERT INTO t VALUES (11, 5)"),
        (40, 2, "INSERT INTO t VALUES (11, 6)"),
        (50, 1, "UPDATE t SET n = n * 10 WHERE id = 1"),
        (60, 2, "SELECT absent FROM t"),
        (70, 1, "INSERT INTO t VALUES (12, 6)"),
    ]);
    let ran = replayed(&url, &text, "shapes = 2");
    let (read, became) = of(&ran);
    assert_eq!((read.statements, read.transactions, read.sessions), (8, 6, 2));
    assert_eq!((became.answered, became.failed, became.unsent), (6, 2, 0));
    let codes: Vec<(&str, u64)> = became.errors.iter().map(|one| (one.code.as_str(), one.count)).collect();
    // A primary key that is there, and SQL that is wrong.
    assert_eq!(codes, [("SQLite 1", 1), ("SQLite 1555", 1)]);
    assert_eq!(
        rows(&url, "SELECT n FROM t WHERE id IN (1, 11, 12) ORDER BY id"),
        [[Value::I64(10)], [Value::I64(5)], [Value::I64(6)]]
    );
    assert!(ran.outcome.stopped.is_empty() && ran.outcome.outages.is_empty(), "{:?}", ran.outcome);
    // The shapes that are most frequent have times of their own, and all others one.
    let shapes: Vec<(&str, u64)> =
        read.shapes.iter().map(|one| (one.shape.as_str(), one.statements)).collect();
    assert_eq!(shapes, [("INSERT INTO t VALUES (?, …)", 3), ("BEGIN", 1)]);
    assert_eq!(read.other_shapes, [4, 4]);
    assert_eq!((ran.count("statement:1"), ran.errors("statement:1")), (2, 1));
    assert_eq!(
        (ran.count("statement:2"), ran.count("statement:others"), ran.errors("statement:others")),
        (1, 3, 1)
    );
    assert_eq!((ran.count(record::script::TRANSACTION), ran.errors(record::script::TRANSACTION)), (4, 2));
    assert_eq!((ran.outcome.offered.unwrap().due, ran.outcome.unsent), (6, 0));
    assert_eq!(ran.setup.protocol, "as logged");
}

/// A trial may be run by another process, which gets its job as text.
#[test]
fn a_job_with_a_log_is_the_same_when_it_was_written_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("busy.log");
    std::fs::write(&path, log(&[(0, 1, "SELECT 1"), (2_000, 2, "SELECT 'x'")])).unwrap();
    let settings = Settings { replay: Some(path), speed: Some(0.5), ..Settings::default() };
    let job = check(&Job::of(&settings).unwrap(), Dialect::Sqlite, &mut Logs::default()).unwrap();
    // Four seconds, half a one, up to a whole one.
    assert_eq!((job.phases.measure, job.clients), (Span::seconds(5), 2));
    let written = serde_json::to_string(&job).unwrap();
    assert_eq!(serde_json::from_str::<Job>(&written).unwrap(), job);
}

#[test]
fn an_error_stops_its_session_where_that_is_asked_for_and_no_other() {
    let (_directory, url) = file();
    let text = log(&[
        (0, 1, "SELECT absent FROM t"),
        (5, 1, "UPDATE t SET n = 1 WHERE id = 1"),
        (9, 2, "UPDATE t SET n = 1 WHERE id = 2"),
    ]);
    let ran = replayed(&url, &text, "on_error = \"stop\"");
    let (_, became) = of(&ran);
    assert_eq!((became.answered, became.failed, became.unsent), (1, 1, 1));
    assert_eq!(ran.outcome.stopped.len(), 1, "{:?}", ran.outcome);
    assert!(ran.outcome.stopped[0].contains("no such column: absent"), "{:?}", ran.outcome);
    assert_eq!("stop".parse(), Ok(OnError::Stop));
}

/// Counts to a hundred thousand: some hundredths of a second.
const LONG: &str =
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) SELECT count(*) FROM c";

#[test]
fn a_session_that_is_late_stays_in_order_and_its_latency_counts_from_when_it_was_due() {
    let (_directory, url) = file();
    let text = log(&[(0, 1, LONG), (1, 1, "UPDATE t SET n = 1 WHERE id = 1"), (2, 2, "SELECT 1")]);
    let ran = replayed(&url, &text, "");
    let (_, became) = of(&ran);
    assert!(became.lag_ms_max > 0.0 && became.answered == 3, "{became:?}");
    let least_us = |kind: &str, service: bool| {
        let of = ran.intervals.iter().filter_map(|interval| interval.operations.get(kind));
        let least = of.filter_map(|operation| match service {
            true => operation.service.min_us(),
            false => operation.latency().min_us(),
        });
        least.fold(f64::MAX, f64::min)
    };
    let (long_us, update_us) = (least_us("statement:1", true), least_us("statement:2", false));
    assert!(
        update_us > least_us("statement:2", true) && update_us > long_us - 2_000.0,
        "{update_us} of {long_us}"
    );
}

#[test]
fn times_between_the_statements_of_a_transaction_are_kept_and_no_part_of_its_time() {
    let (_directory, url) = file();
    let text = log(&[(0, 1, "BEGIN"), (800, 1, "UPDATE t SET n = 1 WHERE id = 1"), (801, 1, "COMMIT")]);
    let ran = replayed(&url, &text, "speed = 2.0");
    let (read, became) = of(&ran);
    assert_eq!((read.transactions, became.answered), (1, 3));
    let ended =
        ran.intervals.iter().filter_map(|interval| interval.operations.get(record::script::TRANSACTION));
    let took_us = ended.filter_map(|operation| operation.latency().max_us()).fold(0.0, f64::max);
    assert!(took_us > 0.0 && took_us < 400_000.0, "{took_us} has no 400 ms of waiting in it");
    let begin_s: f64 = ran.intervals.iter().map(|interval| interval.length_s).sum();
    assert!(begin_s >= 0.4, "{begin_s}");
}

#[test]
fn a_shorter_window_leaves_out_what_is_due_later_and_undoes_what_it_cuts() {
    let (_directory, url) = file();
    let text = log(&[
        (0, 1, "UPDATE t SET n = 1 WHERE id = 1"),
        (400, 1, "BEGIN"),
        (401, 1, "UPDATE t SET n = 1 WHERE id = 2"),
        (900, 1, "COMMIT"),
        (5_000, 2, "UPDATE t SET n = 1 WHERE id = 3"),
    ]);
    let ran = replayed(&url, &text, "duration = \"600ms\"");
    let (read, became) = of(&ran);
    let left = read.left_out.last().unwrap();
    assert_eq!((left.count, left.why.as_str()), (2, "due after the end of the load"));
    assert_eq!((read.statements, became.answered, became.unsent), (3, 3, 0));
    assert_eq!((became.cut_transactions, became.not_due), (1, 0));
    assert_eq!(ran.count(record::script::TRANSACTION), 1, "one that was cut off is none");
    assert_eq!(rows(&url, "SELECT sum(n) FROM t WHERE id < 4"), [[Value::I64(1)]]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("busy.log");
    std::fs::write(&path, text).unwrap();
    for (settings, part) in [
        ("duration = \"1h\"", "workload.script.duration 1h"),
        ("warm_up = \"1m\"", "workload.script.warm_up 1m"),
        ("protocol = \"simple\"", "none of its statements has separate parameters"),
    ] {
        let told = try_replay(&url, &path, settings).err().unwrap().to_string();
        assert!(told.contains(part) && told.contains("busy.log"), "{told}");
    }
}

/// A window of two seconds of which the log has one, behind a warm-up in which it has others.
#[test]
fn what_is_offered_is_that_of_the_window() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("busy.log");
    let text = log(&[
        (0, 1, "SELECT 1"),
        (1, 1, "SELECT 1"),
        (2, 1, "SELECT 1"),
        (1_100, 1, "SELECT 1"),
        (1_200, 1, "SELECT 1"),
        (1_300, 1, "SELECT 1"),
        (1_400, 1, "SELECT 1"),
        (9_000, 1, "SELECT 1"),
    ]);
    std::fs::write(&path, text).unwrap();
    let settings = Settings {
        replay: Some(path),
        warm_up: Some(Span::seconds(1)),
        duration: Some(Span::seconds(2)),
        ..Settings::default()
    };
    let job = check(&Job::of(&settings).unwrap(), Dialect::Sqlite, &mut Logs::default()).unwrap();
    assert_eq!(job.pacing, ::load::Pacing::Fixed { rate_per_s: 2.0 });
}

/// After Ctrl-C all that the log still had was told as late.
#[test]
fn what_is_not_due_when_the_load_is_ended_is_not_late() {
    let (directory, url) = file();
    let path = directory.path().join("busy.log");
    std::fs::write(&path, log(&[(0, 1, "SELECT 1"), (59_000, 2, "SELECT 2")])).unwrap();
    let settings = Settings { replay: Some(path), ..Settings::default() };
    let job = check(&Job::of(&settings).unwrap(), Dialect::Sqlite, &mut Logs::default()).unwrap();
    let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
    let mut answered = 0;
    let outcome = crate::script::run(
        &job,
        &own.lease(),
        &own.clone().into(),
        &AtomicBool::new(false),
        &mut |progress| {
            if let Progress::Interval(interval) = progress {
                answered += interval.operations[record::script::TRANSACTION].count;
            }
            if answered > 0 { Go::Stop } else { Go::On }
        },
    )
    .unwrap();
    let became = outcome.replay.unwrap();
    assert_eq!((became.answered, became.unsent, became.not_due, became.cut_transactions), (1, 0, 1, 0));
    assert_eq!(outcome.unsent, 0);
}

#[test]
fn values_that_stood_beside_a_statement_of_postgres_are_in_its_text_elsewhere() {
    let (_directory, url) = file();
    let text = "2024-01-15 10:00:00.000 UTC,\"me\",\"shop\",4711,\"[local]\",a.1,1,\"SELECT\",2024-01-15 09:59:00 UTC,3/7,0,LOG,00000,\
        \"execute <unnamed>: UPDATE t SET n = $2 WHERE id = $1 AND '$1' <> $3\",\"parameters: $1 = '3', $2 = '7', $3 = 'it''s'\",,,,,,,,\"psql\"\n";
    let ran = replayed(&url, text, "");
    assert_eq!(of(&ran).1.answered, 1);
    assert_eq!(rows(&url, "SELECT n FROM t WHERE id = 3"), [[Value::I64(7)]]);
}
