//! What settings come to: the defaults, every contradiction, and that any settings are an answer or an error.

use proptest::prelude::*;

use super::*;
use crate::historian::SourceChoice;

fn seconds(seconds: u64) -> Option<Span> {
    Some(Span::seconds(seconds))
}

fn csv() -> Option<SourceChoice> {
    Some(SourceChoice::Csv("plant.csv".into()))
}

fn modbus() -> Option<SourceChoice> {
    Some(SourceChoice::Modbus { address: "plc:502".to_owned() })
}

/// All that is wrong with settings, a line each.
fn problems(settings: Settings) -> Vec<String> {
    match Job::of(&settings) {
        Ok(job) => panic!("nothing is wrong: {job:?}"),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn defaults_are_those_of_the_manual() {
    let job = Job::of(&Settings::default()).unwrap();
    let expected = Job {
        tags: 5_000,
        source: Source::Counters,
        phases: Phases { warm_up: Span::seconds(40), measure: Span::seconds(80) },
        seed: 42,
        max_buffered_events: 20_000,
        flush_rows: 40,
        flush_interval: Span::seconds(1),
        time_sorting_period: Span::ZERO,
        writers: 1,
        write_method: WriteMethod::Bulk,
        p99_limit: None,
        index: true,
        partition: None,
        readers: Some(Readers {
            screens: 10,
            screen_interval: Span::seconds(30),
            screen_tags: 8,
            trend_window: Span::seconds(3_600),
            latest_interval: Span::seconds(1),
        }),
        maintenance: None,
    };
    assert_eq!(job, expected);
    assert_eq!((job.rate_per_s(), job.is_closed()), (Some(5_000.0), false));
}

#[test]
fn a_rate_makes_the_source_random() {
    let source = |rate, poisson| {
        Job::of(&Settings { rate: Some(rate), poisson, ..Settings::default() }).unwrap().source
    };
    let rate_per_s = 5_100.0;
    assert_eq!(source(Rate::PerSecond(rate_per_s), None), Source::Random(Pacing::Fixed { rate_per_s }));
    assert_eq!(
        source(Rate::PerSecond(rate_per_s), Some(true)),
        Source::Random(Pacing::Poisson { rate_per_s })
    );
    assert_eq!(source(Rate::Max, None), Source::Random(Pacing::Closed { think_time: Span::ZERO }));
}

#[test]
fn a_trial_has_maintenance_if_it_is_longer_than_the_interval() {
    let maintenance = |duration_s| {
        let settings = Settings {
            warm_up: seconds(0),
            duration: seconds(duration_s),
            maintenance_interval: seconds(60),
            ..Settings::default()
        };
        Job::of(&settings).unwrap().maintenance
    };
    assert_eq!(maintenance(60), None, "it would be due when the load ends");
    let runs = maintenance(61).unwrap();
    assert_eq!((runs.purge_rows, runs.shrink, runs.retention), (Some(30_000), false, Span::seconds(3_600)));
}

#[test]
fn partitions_are_dropped_unless_said_otherwise() {
    let purge_rows = |purge| {
        let settings =
            Settings { duration: seconds(7_200), partition: seconds(600), purge, ..Settings::default() };
        Job::of(&settings).unwrap().maintenance.unwrap().purge_rows
    };
    assert_eq!(purge_rows(None), None);
    assert_eq!(purge_rows(Some(Purge::Drop)), None);
    assert_eq!(purge_rows(Some(Purge::Delete)), Some(30_000));
}

#[test]
fn what_is_out_of_range_is_named_with_its_range() {
    let none = Settings::default;
    for (settings, said) in [
        (Settings { tags: Some(0), ..none() }, "tags cannot be 0: give 1 to 10000000"),
        (Settings { tags: Some(10_000_001), ..none() }, "tags cannot be 10000001: give 1 to 10000000"),
        (Settings { writers: Some(0), ..none() }, "writers cannot be 0: give 1 to 256"),
        (Settings { screens: Some(10_001), ..none() }, "screens cannot be 10001: give 0 to 10000"),
        (Settings { screen_tags: Some(0), ..none() }, "screen_tags cannot be 0: give 1 to 1000"),
        (Settings { purge_rows: Some(0), ..none() }, "purge_rows cannot be 0: give 1 to 1000000000"),
        (
            Settings { source: csv(), speed: Some(0.0), ..none() },
            "speed cannot be 0: give 0.000001 to 1000000",
        ),
        (
            Settings { rate: Some(Rate::PerSecond(0.0)), ..none() },
            "rate cannot be 0: use 0.001 to 1e9 records per second, or max",
        ),
        (
            Settings { rate: Some(Rate::PerSecond(f64::NAN)), ..none() },
            "rate cannot be NaN: use 0.001 to 1e9 records per second, or max",
        ),
        (Settings { partition: Some(Span::ZERO), ..none() }, "partition cannot be 0s: give at least 1s"),
    ] {
        assert_eq!(problems(settings), [said]);
    }
    let flush_rows = Settings { flush_rows: Some(0), ..none() };
    assert_eq!(problems(flush_rows), ["flush_rows cannot be 0: give 1 to 1000000"]);
    let buffered = problems(Settings { max_buffered_events: Some(0), ..none() });
    assert_eq!(buffered[0], "max_buffered_events cannot be 0: give 1 to 100000000");
}

#[test]
fn a_time_that_must_pass_cannot_be_nothing() {
    let zero = Some(Span::ZERO);
    let none = Settings::default;
    for (name, settings) in [
        ("duration", Settings { duration: zero, ..none() }),
        ("poll_interval", Settings { source: modbus(), poll_interval: zero, ..none() }),
        ("flush_interval", Settings { flush_interval: zero, ..none() }),
        ("p99_limit", Settings { p99_limit: zero, ..none() }),
        ("screen_interval", Settings { screen_interval: zero, ..none() }),
        ("trend_window", Settings { trend_window: zero, ..none() }),
        ("latest_interval", Settings { latest_interval: zero, ..none() }),
        ("maintenance_interval", Settings { maintenance_interval: zero, ..none() }),
    ] {
        assert_eq!(problems(settings), [format!("{name} cannot be 0s: give a duration such as 1s")]);
    }
}

#[test]
fn a_time_beyond_what_can_be_reckoned_with_is_refused() {
    // Two durations of hundreds of years each are beyond what nanoseconds of 64 bits hold together.
    let longest = Some(Span { ns: u64::MAX });
    let said = problems(Settings { duration: longest, warm_up: longest, ..Settings::default() });
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("duration cannot be") && said[0].ends_with("give at most 8760h"), "{said:?}");
}

#[test]
fn contradictions_of_the_source_are_named_with_what_to_do() {
    let none = Settings::default;
    let rate = Some(Rate::PerSecond(10.0));
    for (settings, said) in [
        (
            Settings { flush_rows: Some(500), max_buffered_events: Some(400), ..none() },
            "flush_rows cannot be 500 with ‹workload.historian.max_buffered_events 400›: a batch would never be full",
        ),
        (
            Settings { source: Some(SourceChoice::Counters), rate, ..none() },
            "rate cannot be 10 with ‹workload.historian.source counters›: counters change once per second, so their rate is the number \
             of tags: use ‹workload.historian.tags›",
        ),
        (
            Settings { source: csv(), rate, ..none() },
            "rate cannot be 10 with ‹workload.historian.source csv:plant.csv›: a recording has its own pace: \
             use ‹workload.historian.speed›",
        ),
        (
            Settings { source: modbus(), rate, ..none() },
            "rate cannot be 10 with ‹workload.historian.source modbus://plc:502›: the PLC determines how many values change",
        ),
        (
            Settings { source: Some(SourceChoice::Random), ..none() },
            "source `random` needs a rate: use ‹workload.historian.rate› with a number of records per second, or ‹workload.historian.rate max›",
        ),
    ] {
        assert_eq!(problems(settings), [said]);
    }
}

#[test]
fn what_means_nothing_for_a_source_is_named() {
    let none = Settings::default;
    for (settings, said) in [
        (Settings { poisson: Some(true), ..none() }, "poisson has no effect without a rate per second"),
        (
            Settings { poisson: Some(true), rate: Some(Rate::Max), ..none() },
            "poisson has no effect without a rate per second",
        ),
        (
            Settings { poll_interval: seconds(1), ..none() },
            "poll_interval has no effect without a modbus:// source",
        ),
        (Settings { speed: Some(2.0), ..none() }, "speed has no effect without a csv: source"),
        (
            Settings { columns: Some("time=1,tag=2,value=3".parse().unwrap()), source: modbus(), ..none() },
            "columns has no effect without a csv: source",
        ),
        (
            Settings { time_zone: Some("UTC".parse().unwrap()), ..none() },
            "time_zone has no effect without a csv: source",
        ),
        (
            Settings { source: csv(), tags: Some(10), ..none() },
            "tags has no effect with a csv: source, which uses the tags of the recording",
        ),
        (
            Settings { source: modbus(), tags: Some(65_537), ..none() },
            "tags cannot be 65537 with a modbus:// source: a PLC has at most 65536 registers",
        ),
    ] {
        assert_eq!(problems(settings), [said]);
    }
}

#[test]
fn contradictions_of_the_storage_are_named_with_what_to_do() {
    let none = Settings::default;
    for (settings, said) in [
        (
            Settings { purge: Some(Purge::Drop), ..none() },
            "purge cannot be `drop` without partitions: give ‹workload.historian.partition›",
        ),
        (
            Settings { partition: seconds(60), purge_rows: Some(10), ..none() },
            "purge_rows has no effect if whole partitions are dropped: use ‹workload.historian.purge delete›",
        ),
    ] {
        assert_eq!(problems(settings), [said]);
    }
}

#[test]
fn without_screens_nothing_can_be_said_of_them() {
    let settings = Settings {
        screens: Some(0),
        screen_interval: seconds(1),
        screen_tags: Some(1),
        trend_window: seconds(1),
        latest_interval: seconds(1),
        ..Settings::default()
    };
    let expected = ["screen_interval", "screen_tags", "trend_window", "latest_interval"]
        .map(|name| format!("{name} has no effect with ‹workload.historian.screens 0›"));
    assert_eq!(problems(settings), expected);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let settings = Settings { tags: Some(0), writers: Some(0), speed: Some(1.0), ..Settings::default() };
    assert_eq!(problems(settings).len(), 3);
}

fn span() -> impl Strategy<Value = Option<Span>> {
    prop::option::of(prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 1u64..1u64 << 40])
        .prop_map(|ns| ns.map(|ns| Span { ns }))
}

fn source_choice() -> impl Strategy<Value = Option<SourceChoice>> {
    prop_oneof![
        Just(None),
        Just(Some(SourceChoice::Counters)),
        Just(Some(SourceChoice::Random)),
        Just(modbus()),
        Just(csv())
    ]
}

fn rate() -> impl Strategy<Value = Option<Rate>> {
    prop_oneof![Just(None), Just(Some(Rate::Max)), any::<f64>().prop_map(|rate| Some(Rate::PerSecond(rate)))]
}

prop_compose! {
    fn any_settings()(
        (tags, flush_rows, writers, screens, screen_tags) in any::<[Option<u32>; 5]>()
            .prop_map(|[a, b, c, d, e]| (a, b, c, d, e)),
        (max_buffered_events, purge_rows, speed, shrink) in any::<(Option<u64>, Option<u64>, Option<f64>, Option<bool>)>(),
        (source, rate, poisson) in (source_choice(), rate(), any::<Option<bool>>()),
        (warm_up, duration, poll_interval, flush_interval, time_sorting_period, p99_limit)
            in (span(), span(), span(), span(), span(), span()),
        (partition, screen_interval, trend_window, latest_interval, maintenance_interval, retention)
            in (span(), span(), span(), span(), span(), span()),
        purge in prop_oneof![Just(None), Just(Some(Purge::Delete)), Just(Some(Purge::Drop))],
    ) -> Settings {
        Settings {
            tags, source, rate, poisson, poll_interval, speed, warm_up, duration, max_buffered_events, flush_rows,
            flush_interval, time_sorting_period, writers, p99_limit, partition, screens, screen_interval, screen_tags,
            trend_window, latest_interval, maintenance_interval, retention, purge_rows, purge, shrink,
            ..Settings::default()
        }
    }
}

proptest! {
    #[test]
    fn any_settings_are_an_answer_or_an_error(settings in any_settings()) {
        match Job::of(&settings) {
            Ok(job) => {
                prop_assert!(u64::from(job.flush_rows) <= job.max_buffered_events);
                prop_assert!(job.phases.end_ns() > 0);
                prop_assert!(job.maintenance.is_none_or(|runs| runs.interval.ns < job.phases.end_ns()));
            }
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }
}
