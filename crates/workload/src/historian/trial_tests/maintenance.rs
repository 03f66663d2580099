//! Purges and readers beside the load.

use super::*;

#[test]
fn maintenance_that_outlives_the_load_is_given_up_and_told() {
    // Each look at the sizes, and each statement, takes 100 s: the purge is sent at 200 s, and writers give up at 281 s.
    let settings =
        Settings { maintenance_interval: Some(Span::seconds(20)), screens: Some(0), ..settings(100.0, 221) };
    let outcome = run_on(&settings, &own("fake:?append=2ms&query=100s")).adds_up().outcome;
    let [run] = outcome.maintenance.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(
        run.error.as_deref(),
        Some("the maintenance was still running long after the load, and was abandoned"),
        "{run:?}"
    );
    assert!(run.start_s >= 20.0 && run.purge_s > 280.0, "{run:?}");
}

#[test]
fn a_purge_in_blocks_keeps_the_retention() {
    let own = own("fake:?append=2ms&query=5ms");
    let settings = Settings {
        maintenance_interval: Some(Span::seconds(20)),
        retention: Some(Span::seconds(10)),
        purge_rows: Some(3_000),
        shrink: Some(true),
        ..settings(1_000.0, 65)
    };
    let ran = run_on(&settings, &own).adds_up();
    let outcome = &ran.outcome;
    let purged: Vec<(u64, u64, u64)> =
        outcome.maintenance.iter().map(|run| (run.start_s as u64, run.purged_rows, run.statements)).collect();
    assert_eq!(purged, [(20, 10_000, 4), (40, 20_000, 7), (60, 20_000, 7)]);
    assert_eq!((outcome.purged, outcome.rows_after), (50_000, Some(15_000)));
    assert_eq!((ran.count("purge"), ran.count("shrink")), (18, 3));
    assert!(outcome.maintenance.iter().all(|run| run.error.is_none() && run.pending_max >= 40));
    let shares = ran.gauge(Phase::Measure, "maintenance_share");
    assert!(shares.iter().any(|&share| share > 0.0) && shares.iter().all(|&share| share < 0.2), "{shares:?}");
    let oldest = rows(&own, "SELECT min(time_us) FROM samples");
    assert_eq!(oldest, [[Value::I64(NOW_US + 50_000_000)]]);
}

#[test]
fn a_purge_that_takes_longer_than_its_interval_leaves_one_out() {
    let own = own("fake:?append=2ms&query=3s");
    let settings = Settings {
        maintenance_interval: Some(Span::seconds(5)),
        retention: Some(Span::seconds(1)),
        ..settings(100.0, 30)
    };
    let ran = run_on(&settings, &own).adds_up();
    let starts: Vec<u64> = ran.outcome.maintenance.iter().map(|run| run.start_s as u64).collect();
    assert_eq!(starts[..2], [5, 15], "{:?}", ran.outcome.maintenance);
}

#[test]
fn screens_read_while_rows_are_written() {
    let own = own("fake:?append=2ms&query=1ms");
    let settings = Settings {
        screens: Some(3),
        screen_interval: Some(Span::seconds(10)),
        latest_interval: Some(Span::seconds(2)),
        screen_tags: Some(5),
        ..settings(1_000.0, 40)
    };
    let ran = run_on(&settings, &own).adds_up();
    assert_eq!((ran.count("trend"), ran.count("latest")), (4, 20));
    let latest = &ran.intervals[20].operations["latest"];
    assert_eq!((latest.count, latest.rows), (1, 5), "each tag has a value");
    let trend = &ran.intervals[30].operations["trend"];
    assert_eq!(trend.count, 1);
    // A twentieth of the tags, of the 30,000 rows before.
    assert!((1_300..1_700).contains(&trend.rows), "{}", trend.rows);
    assert!(trend.response.as_ref().unwrap().max_us() > trend.service.max_us());
}

#[test]
fn without_readers_and_purges_their_kinds_are_not_told() {
    let ran = run_on(&settings(100.0, 10), &own("fake:"));
    let kinds: Vec<&str> = ran.intervals[0].operations.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["commit", "record"]);
}
