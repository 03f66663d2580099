//! Rows that are read again and compared with those that were acknowledged.

use super::*;
use crate::historian::WriteMethod;

/// Runs statements on a session of its own, on a thread of its own: the trial is in the middle of telling an interval.
fn edit(own: &Own, statements: &[&str]) {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut session = own.session().await.unwrap();
            for sql in statements {
                session.execute(sql, &[]).await.unwrap();
            }
        });
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}

/// Deletes 50 rows of the second second.
const DELETE: &str = "DELETE FROM samples WHERE rowid IN (SELECT rowid FROM samples WHERE time_us >= {second} ORDER BY rowid LIMIT 50)";
/// Writes 50 others of it once more.
const DOUBLE: &str = "INSERT INTO samples SELECT tag_id, time_us, value, quality FROM samples WHERE time_us >= {second} \
                      AND time_us < {second} + 900000 ORDER BY time_us DESC LIMIT 50";
const CHANGE: &str = "UPDATE samples SET value = value + 1 WHERE rowid = (SELECT max(rowid) FROM samples WHERE time_us < {second} + 500000)";
const SWAP: &str = "UPDATE samples SET tag_id = tag_id + 1 WHERE rowid = (SELECT max(rowid) FROM samples WHERE time_us < {second} + 500000)";

/// What reading the rows again came to, where statements were run behind the historian's back after three seconds.
fn compared_after(url: &str, statements: &[&str]) -> HistorianOutcome {
    let own = own(url);
    let now_us = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64;
    let settings =
        Settings { warm_up: Some(Span::ZERO), duration: Some(Span::seconds(4)), ..settings(500.0, 10) };
    let statements: Vec<String> =
        statements.iter().map(|sql| sql.replace("{second}", &(now_us + 1_000_000).to_string())).collect();
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let go = |interval: &Interval| {
        if interval.end_s == 3.0 {
            edit(&own, &statements);
        }
        Go::On
    };
    let outcome = run_until(&settings, &own, true, now_us, go).unwrap().outcome;
    assert_eq!((outcome.acknowledged, outcome.rows_expected), (2_000, 2_000));
    outcome
}

/// Counts alone missed fifty deleted rows beside fifty doubled ones, in three of three runs.
#[test]
fn rows_that_are_not_those_that_were_acknowledged_are_found() {
    let directory = tempfile::tempdir().unwrap();
    for (number, (statements, missing, doubled, changed)) in [
        (&[][..], 0, 0, (false, false)),
        (&[DELETE], 50, 0, (false, false)),
        (&[DOUBLE], 0, 50, (false, false)),
        (&[DELETE, DOUBLE], 50, 50, (false, false)),
        (&[CHANGE], 0, 0, (true, false)),
        (&[SWAP], 0, 0, (false, true)),
    ]
    .into_iter()
    .enumerate()
    {
        let sqlite = format!("sqlite:{}", directory.path().join(format!("{number}.db")).display());
        for url in ["fake:", &sqlite] {
            let outcome = compared_after(url, statements);
            let compared = outcome.rows_compared.as_ref().unwrap();
            assert_eq!(compared.rows, outcome.rows_found.unwrap(), "{url}");
            assert_eq!(
                (compared.missing, compared.doubled, compared.unknown),
                (missing, doubled, 0),
                "{compared:?}"
            );
            assert_eq!(outcome.mismatch().is_some(), !statements.is_empty(), "{outcome:?}");
            let Some(differ) = compared.differing.first() else { continue };
            assert_eq!((differ.values_changed, differ.rows_changed), changed, "{compared:?}");
            assert_eq!(compared.seconds_differing, 1, "all in the second second: {compared:?}");
        }
    }
}

/// Rows that were there before are not part of what a trial acknowledged.
#[test]
fn rows_of_an_earlier_trial_are_not_compared() {
    let own = own("fake:?append=1ms");
    let short =
        Settings { warm_up: Some(Span::ZERO), duration: Some(Span::seconds(2)), ..settings(500.0, 10) };
    run_until(&short, &own, false, NOW_US, |_| Go::On).unwrap();
    edit(&own, &["DELETE FROM samples WHERE rowid <= 10"]);
    let outcome = run_until(&short, &own, false, NOW_US + 5_000_000, |_| Go::On).unwrap().outcome;
    assert_eq!((outcome.rows_expected, outcome.rows_after), (1_000, Some(1_990)));
    assert_eq!(outcome.rows_compared.unwrap(), record::RowsCompared { rows: 1_000, ..Default::default() });
}

#[test]
fn files_of_sqlite_hold_what_was_acknowledged() {
    for (method, writers, index) in
        [(WriteMethod::Bulk, 1, true), (WriteMethod::MultiRow, 2, true), (WriteMethod::Batch, 1, false)]
    {
        let directory = tempfile::tempdir().unwrap();
        let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
        let settings = Settings {
            rate: Some(Rate::Max),
            warm_up: Some(Span::ZERO),
            duration: Some(Span::seconds(1)),
            write_method: Some(method),
            writers: Some(writers),
            index: Some(index),
            screens: Some(2),
            screen_interval: Some(Span { ns: 200_000_000 }),
            latest_interval: Some(Span { ns: 100_000_000 }),
            ..settings(1.0, 10)
        };
        let job = Job::of(&settings).unwrap();
        let mut intervals = Vec::new();
        let outcome =
            run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |progress| {
                if let Progress::Interval(interval) = progress {
                    intervals.push(interval);
                }
                Go::On
            })
            .unwrap();
        assert!(outcome.acknowledged > 0, "{outcome:?}");
        assert_eq!(outcome.rows_found, Some(outcome.acknowledged), "{method:?}");
        assert_eq!(outcome.rows_after, Some(outcome.acknowledged), "{method:?}");
        assert_eq!((outcome.mismatch(), outcome.rows_compared.unwrap().rows), (None, outcome.acknowledged));
        assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
        assert!(intervals.iter().any(|interval| interval.generator_cpu_us > 0));
        assert!(intervals[0].gauges["database_bytes"] > 0.0, "{:?}", intervals[0].gauges);
    }
}
