//! Whole trials: on the fake, in simulated time, and on files of SQLite.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use database::{Existing, Own, Value};
use load::{Go, Progress, Span};
use record::{HistorianOutcome, HistorianSetup, Interval, Phase};

use super::*;
use crate::claims::claim;
use crate::historian::{Rate, Settings, SourceChoice, WriteMethod};
use crate::plc::{self, Plc};

/// 2023-11-14 22:13:20, a whole second.
const NOW_US: i64 = 1_700_000_000_000_000;

/// What a trial left.
struct Ran {
    outcome: HistorianOutcome,
    setup: HistorianSetup,
    intervals: Vec<Interval>,
}

impl Ran {
    fn gauge(&self, phase: Phase, name: &str) -> Vec<f64> {
        let of_phase = self.intervals.iter().filter(|interval| interval.phase == phase);
        of_phase.filter_map(|interval| interval.gauges.get(name).copied()).collect()
    }

    fn gauge_sum(&self, name: &str) -> u64 {
        self.intervals.iter().filter_map(|interval| interval.gauges.get(name)).sum::<f64>() as u64
    }

    fn count(&self, kind: &str) -> u64 {
        self.intervals
            .iter()
            .filter_map(|interval| interval.operations.get(kind))
            .map(|kind| kind.count)
            .sum()
    }

    fn errors(&self, kind: &str) -> u64 {
        let operations = self.intervals.iter().filter_map(|interval| interval.operations.get(kind));
        operations.map(|kind| kind.errors).sum()
    }

    /// What holds of every trial that could count its rows.
    fn adds_up(self) -> Self {
        let outcome = &self.outcome;
        assert_eq!(outcome.offered, outcome.accepted + outcome.refused);
        assert_eq!(outcome.accepted, outcome.acknowledged + outcome.abandoned);
        assert_eq!(outcome.rows_found, Some(outcome.rows_expected), "{outcome:?}");
        assert_eq!(self.gauge_sum("offered_records"), outcome.offered);
        assert_eq!(self.gauge_sum("refused_records"), outcome.refused);
        assert_eq!(outcome.mismatch(), None);
        assert_eq!(outcome.rows_compared.as_ref().map(|rows| rows.rows), outcome.rows_found);
        self
    }
}

fn settings(rate_per_s: f64, duration_s: u64) -> Settings {
    Settings {
        tags: Some(100),
        rate: Some(Rate::PerSecond(rate_per_s)),
        warm_up: Some(Span::seconds(5)),
        duration: Some(Span::seconds(duration_s - 5)),
        screens: Some(0),
        ..Settings::default()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

fn own(url: &str) -> Own {
    runtime().block_on(Own::make(&url.parse().unwrap(), "historian", &claim(Existing::Refuse))).unwrap()
}

fn rows(own: &Own, sql: &str) -> Vec<Vec<Value>> {
    runtime().block_on(async { own.session().await.unwrap().query(sql, &[]).await.unwrap() })
}

fn run_until(
    settings: &Settings,
    own: &Own,
    fresh: bool,
    now_us: i64,
    go: impl Fn(&Interval) -> Go,
) -> Result<Ran, TrialError> {
    let job = Job::of(settings).unwrap();
    let (mut setup, mut intervals, mut marks) = (None, Vec::new(), Vec::new());
    let outcome = run_from(
        &job,
        &own.lease(),
        &own.clone().into(),
        fresh,
        now_us,
        &AtomicBool::new(false),
        &mut |progress| match progress {
            Progress::SetUp(record::Setup::Historian(told)) => {
                assert!(setup.replace(*told).is_none(), "told once");
                Go::On
            }
            Progress::SetUp(other) => panic!("{other:?}"),
            Progress::Preparing(_) => Go::On,
            Progress::Mark(mark) => {
                mark.add_to(&mut marks);
                Go::On
            }
            Progress::Interval(interval) => {
                let go = go(&interval);
                intervals.push(interval);
                go
            }
        },
    )?;
    let in_order = |mut marks: Vec<record::Mark>| {
        marks.sort_by(|a, b| (a.kind, a.begin_s).partial_cmp(&(b.kind, b.begin_s)).unwrap());
        marks
    };
    // What was told while it ran is what is known at its end.
    let setup = setup.unwrap();
    let described = record::Setup::Historian(Box::new(setup.clone()));
    let known = record::Outcome::Historian(Box::new(outcome.clone())).marks(Some(&described));
    assert!(known.iter().all(|mark| !mark.what.is_empty()), "every mark says what of: {known:?}");
    assert_eq!(in_order(marks), in_order(known));
    Ok(Ran { outcome, setup, intervals })
}

fn run_on(settings: &Settings, own: &Own) -> Ran {
    run_until(settings, own, false, NOW_US, |_| Go::On).unwrap()
}

#[test]
fn a_rate_that_is_held_leaves_nothing_pending() {
    let own = own("fake:?append=2ms");
    let ran = run_on(&settings(1_000.0, 30), &own).adds_up();
    let outcome = &ran.outcome;
    assert_eq!((outcome.offered, outcome.refused, outcome.acknowledged), (30_000, 0, 30_000));
    assert_eq!((ran.count("record"), outcome.rows_after), (30_000, Some(30_000)));
    assert_eq!(ran.count("commit"), 750, "30,000 rows, 40 a flush");
    assert!(outcome.drain_s.unwrap() < 0.1, "{outcome:?}");
    assert_eq!(outcome.drain_limit_s, 10.0);
    assert_eq!(ran.gauge(Phase::Measure, "offered_records"), vec![1_000.0; 25]);
    // Forty events come in 40 ms: on average twenty wait for a flush, and each flush keeps forty for 2 ms.
    for mean in ran.gauge(Phase::Measure, "pending_records") {
        assert!((19.0..25.0).contains(&mean), "{mean}");
    }
    let record = &ran.intervals[10].operations["record"];
    let response_us = record.response.as_ref().unwrap().max_us().unwrap();
    assert!((41_000.0..46_000.0).contains(&response_us), "{response_us}");
    assert!(record.lag.as_ref().unwrap().max_us().unwrap() < 1_100.0);
    let ends: Vec<f64> = ran.intervals.iter().take(30).map(|interval| interval.end_s).collect();
    assert_eq!(ends, (1..=30).map(f64::from).collect::<Vec<_>>());
    assert_eq!(ran.setup.rows_before, 0);
}

#[test]
fn a_simulated_trial_is_the_same_each_time() {
    let once = || {
        let ran = run_on(&settings(700.0, 10), &own("fake:?append=3ms&row=20us"));
        (ran.intervals, ran.outcome)
    };
    assert_eq!(once(), once());
}

#[test]
fn what_does_not_fit_is_refused_and_counted() {
    // 40 rows in 10 ms are 4,000 a second.
    let own = own("fake:?append=10ms");
    let settings = Settings { max_buffered_events: Some(2_000), ..settings(5_000.0, 20) };
    let ran = run_on(&settings, &own).adds_up();
    assert_eq!(ran.outcome.offered, 100_000);
    let committed = ran.outcome.acknowledged as f64;
    assert!((committed / (4_000.0 * 20.0 + 2_000.0) - 1.0).abs() < 0.005, "{committed}");
    assert!(ran.gauge(Phase::Measure, "pending_max_records").iter().all(|&most| most == 2_000.0));
    assert!((ran.outcome.drain_s.unwrap() - 0.5).abs() < 0.02, "2,000 rows at 4,000 a second");
    let refused = ran.gauge(Phase::Measure, "refused_records");
    assert!(refused.iter().all(|&refused| (refused - 1_000.0).abs() <= 40.0), "{refused:?}");
}

#[test]
fn a_closed_loop_reaches_the_capacity() {
    let own = own("fake:?append=2ms&row=50us");
    let settings = Settings { rate: Some(Rate::Max), ..settings(1.0, 20) };
    let ran = run_on(&settings, &own).adds_up();
    // 40 rows in 2 ms + 40 · 50 µs.
    let committed: u64 = ran
        .intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Measure)
        .map(|interval| interval.operations["record"].count)
        .sum();
    assert!((committed as f64 / (10_000.0 * 15.0) - 1.0).abs() < 0.01, "{committed}");
    assert_eq!(ran.outcome.refused, 0);
    assert!(ran.intervals[8].operations["record"].response.is_none(), "there are no due times");
}

#[test]
fn a_flush_whose_answer_was_lost_is_found() {
    let own = own("fake:?append=2ms&lose_committed_at=100&down=700ms");
    let ran = run_on(&settings(1_000.0, 15), &own).adds_up();
    let outcome = &ran.outcome;
    assert_eq!((outcome.found_after_outage, outcome.written_again, outcome.refused), (40, 0, 0));
    assert_eq!((outcome.acknowledged, outcome.rows_after), (15_000, Some(15_000)));
    let [outage] = outcome.outages.as_slice() else { panic!("{outcome:?}") };
    assert!(outage.end_s.unwrap() - outage.start_s >= 0.7, "{outage:?}");
    assert!(outage.attempts > 2, "{outage:?}");
    assert_eq!(ran.errors("commit"), 1);
}

#[test]
fn a_flush_that_was_lost_is_written_again() {
    let own = own("fake:?append=2ms&lose_at=100&down=700ms");
    let ran = run_on(&settings(1_000.0, 15), &own).adds_up();
    let outcome = &ran.outcome;
    assert_eq!((outcome.found_after_outage, outcome.written_again), (0, 40));
    assert_eq!((outcome.acknowledged, outcome.rows_after), (15_000, Some(15_000)));
}

#[test]
fn several_writers_lose_nothing_in_an_outage() {
    for fault in ["lose_at=200", "lose_committed_at=200"] {
        let own = own(&format!("fake:?append=1ms&{fault}&down=1s"));
        let settings = Settings { writers: Some(4), ..settings(2_000.0, 15) };
        let ran = run_on(&settings, &own).adds_up();
        assert_eq!(ran.outcome.acknowledged, 30_000, "{fault}");
        assert_eq!(ran.outcome.rows_after, Some(30_000), "{fault}");
    }
}

#[test]
fn a_long_outage_fills_the_buffer_and_loses_only_what_was_refused() {
    let own = own("fake:?append=2ms&lose_at=100&down=8s");
    let settings = Settings { max_buffered_events: Some(3_000), ..settings(1_000.0, 30) };
    let ran = run_on(&settings, &own).adds_up();
    let outcome = &ran.outcome;
    assert!((4_000..11_000).contains(&outcome.refused), "{outcome:?}");
    assert_eq!(outcome.abandoned, 0);
    assert_eq!(ran.gauge(Phase::Measure, "pending_max_records").into_iter().fold(0.0, f64::max), 3_000.0);
}

#[test]
fn a_database_that_never_comes_back_costs_what_was_pending_and_is_said() {
    let own = own("fake:?append=2ms&lose_at=100&down=3600s");
    let ran = run_on(&Settings { max_buffered_events: Some(500), ..settings(1_000.0, 10) }, &own);
    let outcome = &ran.outcome;
    assert_eq!((outcome.abandoned, outcome.drain_s, outcome.rows_found), (500, None, None));
    assert_eq!(outcome.outages[0].end_s, None);
    assert!(outcome.notes.iter().any(|note| note.contains("could not be counted")), "{:?}", outcome.notes);
    assert!(ran.intervals.last().unwrap().end_s >= 70.0, "the drain was waited for");
}

#[test]
fn a_disk_that_was_full_for_a_moment_is_written_again() {
    let own = own("fake:?append=2ms&full_at=50");
    let ran = run_on(&settings(1_000.0, 10), &own).adds_up();
    assert_eq!(ran.outcome.acknowledged, 10_000);
    assert_eq!(ran.outcome.written_again, 0, "it is known that nothing was committed");
    assert_eq!(ran.errors("commit"), 1);
    assert!(ran.outcome.outages[0].error.contains("full"), "{:?}", ran.outcome.outages);
}

#[test]
fn a_quiet_plant_is_written_at_the_flush_interval() {
    let own = own("fake:?append=2ms");
    let settings = Settings { flush_interval: Some(Span::seconds(2)), ..settings(4.0, 20) };
    let ran = run_on(&settings, &own).adds_up();
    assert_eq!(ran.outcome.acknowledged, 80);
    // Nine events come within two seconds of the first; the one after begins the next flush.
    assert!((9..=10).contains(&ran.count("commit")), "{}", ran.count("commit"));
    let responses =
        ran.intervals.iter().filter_map(|interval| interval.operations["record"].response.as_ref());
    let longest_us = responses.filter_map(record::Latency::max_us).fold(0.0, f64::max);
    assert!((2_000_000.0..2_010_000.0).contains(&longest_us), "{longest_us}");
}

#[test]
fn events_that_wait_to_be_sorted_are_written_later() {
    let own = own("fake:?append=2ms");
    let sorting = Span::seconds(3);
    let settings =
        Settings { time_sorting_period: Some(sorting), poisson: Some(true), ..settings(500.0, 20) };
    let ran = run_on(&settings, &own).adds_up();
    assert_eq!(ran.outcome.abandoned, 0);
    let pending = ran.gauge(Phase::Measure, "pending_min_records");
    assert!(pending.iter().skip(1).all(|&fewest| fewest > 1_200.0), "{pending:?}");
    let written = rows(&own, "SELECT time_us, tag_id FROM samples ORDER BY rowid");
    let keys: Vec<(i64, i64)> = written
        .iter()
        .map(|row| match row.as_slice() {
            [Value::I64(time_us), Value::I64(tag)] => (*time_us, *tag),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(keys.is_sorted());
}

#[test]
fn maintenance_that_outlives_the_load_is_given_up_and_told() {
    // Each look at the sizes, and each statement, takes 100 s: the purge is sent at 200 s, and writers give up at 281 s.
    let settings =
        Settings { maintenance_interval: Some(Span::seconds(20)), screens: Some(0), ..settings(100.0, 221) };
    let outcome = run_on(&settings, &own("fake:?append=2ms&query=100s")).adds_up().outcome;
    let [run] = outcome.maintenance.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(
        run.error.as_deref(),
        Some("it was not done a while after the load, and was given up"),
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

#[test]
fn a_trial_that_is_stopped_drains() {
    let own = own("fake:?append=10ms");
    let settings = settings(5_000.0, 60);
    let ran =
        run_until(
            &settings,
            &own,
            false,
            NOW_US,
            |interval| {
                if interval.end_s >= 12.0 { Go::Stop } else { Go::On }
            },
        );
    let ran = ran.unwrap().adds_up();
    assert_eq!(ran.outcome.abandoned, 0);
    assert!((60_000..61_000).contains(&ran.outcome.offered), "{:?}", ran.outcome);
    assert!((ran.outcome.drain_s.unwrap() - 3.0).abs() < 0.2, "{:?}", ran.outcome);
    assert_eq!(ran.intervals.last().unwrap().phase, Phase::Drain);
    let measured: f64 = ran
        .intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Measure)
        .map(|interval| interval.length_s)
        .sum();
    assert!((7.0..7.2).contains(&measured), "{measured}");
}

#[test]
fn a_stop_from_outside_is_heeded_before_anything_is_written() {
    let own = own("fake:?append=10ms");
    let job = Job::of(&settings(1_000.0, 60)).unwrap();
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    let ended =
        run_from(
            &job,
            &own.lease(),
            &own.clone().into(),
            false,
            NOW_US,
            &stop,
            &mut |progress| match progress {
                Progress::Preparing(_) => Go::On,
                began => panic!("{began:?}"),
            },
        );
    assert!(matches!(ended, Err(crate::TrialError::Interrupted)), "{ended:?}");
}

#[test]
fn a_clock_that_steps_back_between_two_trials_moves_no_time_back() {
    // Times must rise from trial to trial, or the rows of the second would be counted with those of the first.
    let own = own("fake:?append=2ms");
    run_on(&settings(100.0, 10), &own).adds_up();
    let again = run_until(&settings(100.0, 10), &own, false, NOW_US - 3_600_000_000, |_| Go::On);
    let again = again.unwrap().adds_up();
    assert_eq!(again.setup.rows_before, 1_000);
    assert_eq!(again.outcome.rows_after, Some(2_000));
    assert_eq!(again.outcome.rows_expected, 1_000);
    assert!(again.outcome.notes[0].contains("ahead"), "{:?}", again.outcome.notes);
    let out_of_order = rows(
        &own,
        "SELECT count(*) FROM samples a JOIN samples b ON b.rowid = a.rowid + 1 WHERE b.time_us < a.time_us",
    );
    assert_eq!(out_of_order, [[Value::I64(0)]]);
}

/// Replays a recording of these lines.
fn replayed(lines: &str, edit: impl FnOnce(&mut Settings)) -> (Ran, Vec<Vec<Value>>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    let source = Some(SourceChoice::Csv(file.path().to_owned()));
    let mut settings = Settings { source, tags: None, rate: None, ..settings(1.0, 30) };
    edit(&mut settings);
    let own = own("fake:?append=2ms");
    let ran = run_on(&settings, &own).adds_up();
    let sql = "SELECT s.time_us, t.name, s.value, s.quality FROM samples s JOIN tags t USING (tag_id) ORDER BY s.rowid";
    (ran, rows(&own, sql))
}

fn row(offset_us: i64, name: &str, value: f64) -> Vec<Value> {
    vec![Value::I64(NOW_US + offset_us), Value::Text(name.to_owned()), Value::F64(value), Value::I64(192)]
}

#[test]
fn a_recording_is_replayed_at_its_pace_with_all_its_duplicates() {
    let lines =
        "1700000000,FT1,1\n1700000000,FT1,1\n1700000000,FT1,1\n1700000004,TT2,7.5\n1700000012,FT1,2\n";
    let (ran, rows) = replayed(lines, |_| {});
    let expected = [
        row(0, "FT1", 1.0),
        row(0, "FT1", 1.0),
        row(0, "FT1", 1.0),
        row(4_000_000, "TT2", 7.5),
        row(12_000_000, "FT1", 2.0),
    ];
    assert_eq!(rows, expected);
    assert_eq!((ran.setup.tags, ran.outcome.acknowledged), (2, 5));
    let measured = ran.gauge(Phase::Measure, "offered_records");
    assert_eq!(measured.iter().sum::<f64>(), 1.0, "after 5 s of warm-up: {measured:?}");
    assert!(ran.outcome.notes[0].contains("is over after 12.0 s"), "{:?}", ran.outcome.notes);
}

#[test]
fn a_recording_is_replayed_faster() {
    let (ran, rows) = replayed("1700000000,A,1\n1700000060,A,2\n", |settings| settings.speed = Some(10.0));
    assert_eq!(rows, [row(0, "A", 1.0), row(6_000_000, "A", 2.0)]);
    assert!(ran.intervals.last().unwrap().end_s < 8.0);
}

#[test]
fn a_recording_that_is_longer_than_the_trial_is_broken_off() {
    let (ran, rows) = replayed("1700000000,A,1\n1700000029,A,2\n1700000031,A,3\n", |_| {});
    assert_eq!(rows, [row(0, "A", 1.0), row(29_000_000, "A", 2.0)]);
    assert_eq!(ran.outcome.offered, 2);
}

#[test]
fn an_event_that_comes_late_in_a_recording_keeps_its_time() {
    let (ran, rows) = replayed("1700000000,A,1\n1700000008,A,2\n1700000003,A,3\n", |_| {});
    assert_eq!(rows, [row(0, "A", 1.0), row(8_000_000, "A", 2.0), row(3_000_000, "A", 3.0)]);
    assert!(ran.outcome.notes.iter().any(|note| note.starts_with("1 events")), "{:?}", ran.outcome.notes);
}

#[test]
fn a_recording_with_mistakes_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "1700000000,A,1\nyesterday,A,2\n").unwrap();
    let source = Some(SourceChoice::Csv(file.path().to_owned()));
    let settings = Settings { source, tags: None, rate: None, ..settings(1.0, 30) };
    let error = run_until(&settings, &own("fake:"), false, NOW_US, |_| Go::On).err().unwrap();
    assert!(matches!(&error, TrialError::Source(text) if text.contains("yesterday")), "{error}");
}

/// A PLC of 200 registers that answers as long as this lives.
struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Serving {
    fn on(listen: SocketAddr) -> Self {
        let settings = plc::Settings { listen, registers: 200, ..plc::Settings::default() };
        let plc = Plc::bind(&settings).unwrap();
        let (address, stop) = (plc.address(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || plc.serve(&stopped).unwrap()));
        Self { address, stop, thread }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn polled(address: SocketAddr, duration_ms: u64) -> Settings {
    let source = Some(SourceChoice::Modbus { address: address.to_string() });
    Settings {
        source,
        tags: Some(200),
        rate: None,
        warm_up: Some(Span::ZERO),
        duration: Some(Span { ns: duration_ms * 1_000_000 }),
        poll_interval: Some(Span { ns: 100_000_000 }),
        ..settings(1.0, 30)
    }
}

#[test]
fn changes_of_a_plc_are_written() {
    let plc = Serving::on(SocketAddr::from(([127, 0, 0, 1], 0)));
    let own = own("fake:");
    let ran = run_on(&polled(plc.address, 1_500), &own).adds_up();
    let outcome = &ran.outcome;
    // All registers at first, and then those that change: each once a second.
    assert!((300..=600).contains(&outcome.offered), "{outcome:?}");
    assert!(outcome.source_outages.is_empty() && outcome.abandoned == 0, "{outcome:?}");
    let first = rows(&own, "SELECT count(DISTINCT tag_id) FROM samples");
    assert_eq!(first, [[Value::I64(200)]]);
    let lag = ran.intervals[0].operations["record"].lag.as_ref().unwrap();
    assert!(lag.count() >= 200 && lag.max_us().unwrap() < 1_000_000.0);
}

#[test]
fn a_plc_that_goes_away_is_tried_until_it_is_back() {
    let plc = std::cell::RefCell::new(Some(Serving::on(SocketAddr::from(([127, 0, 0, 1], 0)))));
    let address = plc.borrow().as_ref().unwrap().address;
    let ran = run_until(&polled(address, 4_000), &own("fake:"), false, NOW_US, |interval| {
        if interval.end_s == 1.0 {
            plc.borrow_mut().take();
        } else if interval.end_s == 2.0 {
            *plc.borrow_mut() = Some(Serving::on(address));
        }
        Go::On
    });
    let ran = ran.unwrap().adds_up();
    let [outage] = ran.outcome.source_outages.as_slice() else { panic!("{:?}", ran.outcome) };
    assert!(
        (0.9..2.0).contains(&outage.start_s) && outage.end_s.is_some_and(|end_s| end_s > 1.9),
        "{outage:?}"
    );
    assert!(outage.attempts >= 1 && !outage.error.is_empty(), "{outage:?}");
    assert!(ran.outcome.outages.is_empty());
}

#[test]
fn a_plc_that_is_not_there_is_an_error_before_anything_is_loaded() {
    let nowhere = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let error = run_until(&polled(nowhere, 500), &own("fake:"), false, NOW_US, |_| Go::On).err().unwrap();
    assert!(matches!(&error, TrialError::Source(text) if text.contains(&nowhere.to_string())), "{error}");
}

#[test]
fn a_fresh_trial_begins_empty() {
    let own = own("fake:");
    run_on(&settings(100.0, 10), &own);
    let ran = run_until(&settings(200.0, 10), &own, true, NOW_US, |_| Go::On).unwrap().adds_up();
    assert_eq!((ran.setup.rows_before, ran.outcome.rows_after), (0, Some(2_000)));
}

#[test]
fn tables_of_another_layout_are_not_taken_up() {
    let own = own("fake:");
    run_on(&settings(100.0, 10), &own);
    let other = Settings { index: Some(false), ..settings(100.0, 10) };
    let error = run_until(&other, &own, false, NOW_US, |_| Go::On).err().unwrap().to_string();
    assert!(error.contains("with index") && error.contains("without index"), "{error}");
}

/// A kill while tables were made left some that no run took up any more: how they are made is written last.
#[test]
fn tables_that_were_half_made_are_made_again_unless_they_hold_rows() {
    let broken_off = |sql: &str| {
        let own = own("fake:");
        run_on(&settings(100.0, 10), &own);
        runtime().block_on(async { own.session().await.unwrap().script(sql).await.unwrap() });
        run_until(&settings(100.0, 10), &own, false, NOW_US, |_| Go::On).map(|ran| ran.outcome.rows_after)
    };
    for sql in [
        "DELETE FROM layout; DELETE FROM samples",
        "DELETE FROM layout; DROP TABLE samples",
        "DROP TABLE layout; DELETE FROM samples",
    ] {
        assert_eq!(broken_off(sql).unwrap(), Some(1_000), "{sql}");
    }
    for sql in ["DELETE FROM layout", "DROP TABLE layout"] {
        assert!(broken_off(sql).is_err(), "there are rows that somebody may need: {sql}");
    }
    assert_eq!(broken_off("SELECT 1").unwrap(), Some(2_000), "taken up with what is in it");
}

#[test]
fn sqlite_has_no_partitions_and_says_so() {
    let settings = Settings { partition: Some(Span::seconds(60)), ..settings(100.0, 10) };
    let error = run_until(&settings, &own("fake:"), false, NOW_US, |_| Go::On).err().unwrap().to_string();
    assert!(error.contains("has no partitions"), "{error}");
}

#[test]
fn a_file_of_sqlite_is_shorter_after_a_shrink() {
    // A shrink that was broken off after its first page left the file as long as it was.
    let directory = tempfile::tempdir().unwrap();
    let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
    let settings = Settings {
        warm_up: Some(Span::ZERO),
        duration: Some(Span { ns: 2_500_000_000 }),
        flush_rows: Some(1_000),
        maintenance_interval: Some(Span::seconds(2)),
        retention: Some(Span { ns: 100_000_000 }),
        shrink: Some(true),
        ..settings(20_000.0, 10)
    };
    let job = Job::of(&settings).unwrap();
    let outcome =
        run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |_| Go::On).unwrap();
    assert_eq!(outcome.rows_found, Some(outcome.rows_expected));
    let [run] = outcome.maintenance.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(run.error, None);
    assert!(run.purged_rows > 1_000, "{run:?}");
    assert!(run.database_bytes_after.unwrap() * 10 < run.database_bytes_before.unwrap() * 8, "{run:?}");
}

/// Whoever conducted a load left by an error, and waited for threads that nobody had told to end.
#[test]
fn the_threads_of_a_load_end_when_its_conductor_leaves() {
    let directory = tempfile::tempdir().unwrap();
    let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let conducted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let job = Job::of(&settings(100.0, 3600)).unwrap();
            run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |progress| {
                match progress {
                    Progress::Preparing(_) | Progress::SetUp(_) | Progress::Mark(_) => Go::On,
                    Progress::Interval(_) => panic!("leaves the load in its first second"),
                }
            })
        }));
        let _ = ended.send(conducted.is_err());
    });
    assert_eq!(end.recv_timeout(std::time::Duration::from_secs(60)), Ok(true));
}

#[test]
fn a_file_that_is_emptied_gives_its_pages_back() {
    // Rows of the second trial filled free pages of the first: the database did not seem to grow.
    let directory = tempfile::tempdir().unwrap();
    let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
    let settings = Settings {
        rate: Some(Rate::PerSecond(20_000.0)),
        flush_rows: Some(1_000),
        warm_up: Some(Span::ZERO),
        duration: Some(Span::seconds(1)),
        ..settings(1.0, 10)
    };
    let job = Job::of(&settings).unwrap();
    let trial = || {
        run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |_| Go::On).unwrap()
    };
    let (first, second) = (trial(), trial());
    assert_eq!(second.database_bytes_before, first.database_bytes_before);
    assert!(second.database_bytes_after.unwrap() > 20 * second.database_bytes_before.unwrap(), "{second:?}");
}

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
