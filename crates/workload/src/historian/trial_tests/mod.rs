//! Whole trials: on the fake, in simulated time, and on files of SQLite.

mod compared;
mod maintenance;
mod outages;
mod sources;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};

use database::{Existing, Own, Value};
use load::{Go, Progress, Span};
use record::{HistorianOutcome, HistorianSetup, Interval, Phase};

use super::*;
use crate::claims::claim;
use crate::historian::{Rate, Settings};

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
            Progress::Preparing(_) | Progress::Parts(_) => Go::On,
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
    // That nobody was answered is known from the answers, whatever else is.
    marks.retain(|mark| mark.kind != record::MarkKind::Silence);
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
                Progress::Preparing(_) | Progress::Parts(_) => Go::On,
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
