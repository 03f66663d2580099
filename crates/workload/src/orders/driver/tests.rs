//! Whole trials, on SQLite and on throwaway servers.

use ::load::{Pacing, Span};
use std::time::Instant;

use database::{Engine, Existing, Own, Session, Url, Value};
use instance::{MariaDb, Options, Postgres};
use record::{Interval, OrdersSetup, Phase, orders};

use super::*;
use crate::claims::{claim, run_id};
use crate::orders::{Settings, StoreData, StoreSize, WantedStore, load, open_store};
use crate::waiting::Making;

/// A store that is held.
struct Store {
    own: Own,
    loaded: Loaded,
}

fn in_use(stores: &[Store]) -> (Vec<StoreInUse>, Vec<Holder>) {
    let in_use = |store: &Store| {
        (StoreInUse { lease: store.own.lease(), loaded: store.loaded.clone() }, store.own.clone().into())
    };
    stores.iter().map(in_use).unzip()
}

/// What a trial told and left.
struct Ran {
    setup: OrdersSetup,
    intervals: Vec<Interval>,
    outcome: OrdersOutcome,
}

impl Ran {
    /// Operations of a kind in the measured window.
    fn measured(&self, kind: &str) -> u64 {
        let window = self.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
        window.filter_map(|interval| interval.operations.get(kind)).map(|operation| operation.count).sum()
    }

    fn gauge(&self, name: &str) -> f64 {
        let window = self.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
        window.filter_map(|interval| interval.gauges.get(name)).sum()
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A store of 1 MB in a database of this name.
fn loaded(url: &Url, name: &str) -> Store {
    let data = StoreData::new("1MB".parse::<StoreSize>().unwrap(), 7);
    load(Making::plain(url, name, &claim(Existing::Refuse)), &data, 2, &AtomicBool::new(false), &mut |_| {})
        .unwrap();
    let (own, loaded) = block_on(open_store(url, name, WantedStore::default(), &run_id())).unwrap();
    Store { own, loaded }
}

fn job(text: &str) -> Job {
    let mut settings: Settings = toml::from_str(text).unwrap();
    settings.warmup_time.get_or_insert(Span::microseconds(300_000));
    settings.run_time.get_or_insert(Span::seconds(1));
    Job::of(&settings).unwrap()
}

fn run_with(job: &Job, stores: &[Store], mut hear: impl FnMut(&Progress) -> Go) -> Ran {
    let (mut setup, mut intervals, mut marks) = (None, Vec::new(), Vec::new());
    let (stores, holders) = in_use(stores);
    let outcome = run(job, &stores, &holders, None, &AtomicBool::new(false), &mut |progress| {
        let go = hear(&progress);
        match progress {
            Progress::SetUp(Setup::Orders(orders)) => setup = Some(*orders),
            Progress::SetUp(other) => panic!("{other:?}"),
            Progress::Preparing(_) | Progress::Parts(_) => {}
            Progress::Mark(mark) => _ = mark.add_to(&mut marks),
            Progress::Interval(interval) => intervals.push(interval),
        }
        go
    })
    .unwrap();
    // What was told while it ran is what is known at its end.
    let mut known = record::Outcome::Orders(Box::new(outcome.clone())).marks(None);
    // That nobody was answered is known from the answers, whatever else is.
    marks.retain(|mark| mark.kind != record::MarkKind::Silence);
    [&mut marks, &mut known]
        .into_iter()
        .for_each(|marks| marks.sort_by(|a, b| a.begin_s.total_cmp(&b.begin_s)));
    assert_eq!(marks, known);
    Ran { setup: setup.unwrap(), intervals, outcome }
}

/// A look at a price takes as long only on a machine that stood still.
const STOOD_STILL_US: f64 = 100_000.0;

fn ran(job: &Job, stores: &[Store]) -> Ran {
    run_with(job, stores, |_| Go::On)
}

/// Everything that must be true of a load during which nothing happened to the database.
fn is_sound(ran: &Ran, clients: usize) {
    let (mut orders, mut rollbacks) = (0, 0);
    for target in &ran.outcome.targets {
        assert_eq!(target.mismatches(), [""; 0], "{target:?}");
        assert_eq!((target.unanswered, target.acknowledged_lost), (0, Some(0)), "{target:?}");
        assert_eq!(target.orders_found, Some(target.acknowledged()));
        assert_eq!((target.orders_changed, target.lines_changed), (Some(0), Some(0)), "they were compared");
        assert_eq!(target.orders_by_client.len(), clients);
        assert!(target.stopped.is_empty() && target.outages.is_empty(), "{target:?}");
        orders += target.orders();
        rollbacks += target.rollbacks;
    }
    assert!(orders > 0, "{:?}", ran.outcome);
    assert_eq!(ran.measured("order"), orders, "the clients' orders are those of the samples");
    assert_eq!(ran.gauge(orders::ROLLBACKS), rollbacks as f64);
    assert!(ran.measured("browse") > ran.measured("order"), "about three an order");
    // Times of histograms are within 0.05 %, and an order in whole microseconds.
    let sum_us = |kind: &str| -> f64 {
        let window = ran.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
        let operations = window.filter_map(|interval| interval.operations.get(kind));
        operations.map(|kind| kind.count as f64 * kind.service.mean_us().unwrap_or(0.0)).sum()
    };
    let (net_us, parts_us) = (ran.gauge(orders::NET_US), sum_us("order") - sum_us("prices"));
    // A price counts when it is answered and its order later: on a machine that stood still a client may have one in between at each
    // end of the window.
    let prices =
        ran.intervals.iter().filter_map(|interval| interval.operations.get("prices")?.service.max_us());
    let longest_us = prices.fold(0.0, f64::max);
    let between_us = if longest_us < STOOD_STILL_US { 0.0 } else { 2.0 * clients as f64 * longest_us };
    let apart_us = (net_us - parts_us).abs();
    assert!(apart_us < 0.02 * parts_us + between_us, "{net_us} µs without prices, {parts_us} of the kinds");
    assert!(sum_us("prices") > 0.002 * sum_us("order"), "or nothing was shown");
    assert!(ran.outcome.targets.iter().all(|target| !target.lock_lost), "{:?}", ran.outcome);
    assert!(ran.outcome.notes.is_empty(), "{:?}", ran.outcome.notes);
    let by_target: f64 = (1..=ran.outcome.targets.len()).map(|n| ran.gauge(&orders::target_orders(n))).sum();
    assert_eq!(by_target, orders as f64);
}

#[test]
fn a_file_of_sqlite_is_driven_restored_and_driven_again() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}", directory.path().join("orders.db").display()).parse().unwrap();
    let stores = [loaded(&url, "")];
    let first = ran(&job(""), &stores);
    is_sound(&first, 1);
    assert_eq!(first.setup.targets[0].restored, None, "it was just loaded");
    assert!(!first.setup.targets[0].procedures, "SQLite has no procedures");
    let second = ran(&job(""), &stores);
    is_sound(&second, 1);
    let restored = second.setup.targets[0].restored.as_ref().unwrap();
    assert!(restored.contains("removed"), "{restored}");
}

#[test]
fn two_stores_of_postgres_have_clients_of_their_own() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let stores = [loaded(&url, "orders_a"), loaded(&url, "orders_b")];
    let ran = ran(&job("n_threads = 3\nramp_rate = 1000.0"), &stores);
    is_sound(&ran, 3);
    assert!(ran.setup.targets.len() == 2 && ran.setup.targets.iter().all(|target| target.procedures));
    assert!(ran.outcome.targets.iter().all(|target| target.orders() > 0), "{:?}", ran.outcome);
    let last = ran.intervals.iter().rfind(|interval| interval.phase == Phase::Measure).unwrap();
    assert_eq!(last.gauges[orders::ACTIVE_CLIENTS], 6.0);
    assert!(last.gauges.contains_key(orders::LAST_100_MAX));
}

#[test]
fn many_clients_of_mariadb_lose_no_order_to_deadlocks() {
    let server = MariaDb::start(&Options::default()).unwrap();
    let stores = [loaded(&server.url().parse().unwrap(), "orders")];
    is_sound(&ran(&job("n_threads = 8\nramp_rate = 1000.0"), &stores), 8);
    let statements = ran(&job("n_threads = 8\nramp_rate = 1000.0\nprocedures = \"off\""), &stores);
    is_sound(&statements, 8);
    assert!(!statements.setup.targets[0].procedures);
}

#[test]
fn orders_that_are_due_come_at_their_rate() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}", directory.path().join("orders.db").display()).parse().unwrap();
    let ran = ran(&job("rate = 1200.0\nn_threads = 2"), &[loaded(&url, "")]);
    is_sound(&ran, 2);
    let done = ran.outcome.targets[0].purchases_from_start;
    assert_eq!(done + ran.outcome.unsent, 26, "20 a second were due for 1.3 s");
    assert_eq!(ran.outcome.offered.map(|offered| offered.due), Some(20), "in a window of a second");
    let window = ran.intervals.iter().find(|interval| interval.phase == Phase::Measure).unwrap();
    assert!(window.operations["order"].response.is_some());
}

#[test]
fn orders_for_which_no_client_was_free_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}", directory.path().join("orders.db").display()).parse().unwrap();
    let ran = ran(&job("rate = 600000.0"), &[loaded(&url, "")]);
    is_sound(&ran, 1);
    let done = ran.outcome.targets[0].purchases_from_start;
    assert_eq!(done + ran.outcome.unsent, 13_000, "10,000 a second were due for 1.3 s");
    assert!(ran.outcome.unsent > 0, "one client does not do as many");
}

#[test]
fn many_clients_of_a_file_share_the_memory_for_its_pages() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}", directory.path().join("orders.db").display()).parse().unwrap();
    let held = [loaded(&url, "")];
    let (stores, holders) = in_use(&held);
    let cache_kib = |clients: u32| {
        block_on(async {
            let Prepared { running, .. } =
                setup::prepare(&job(""), &stores, &holders, &AtomicBool::new(false), &mut |_| {})
                    .await
                    .unwrap();
            let mut client = running.stores[0].client(clients).await.unwrap();
            let rows = client.session().query("PRAGMA cache_size", &[]).await.unwrap();
            let [[Value::I64(kib)]] = rows.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] else {
                panic!("{rows:?}")
            };
            -kib
        })
    };
    assert_eq!([1, 16, 64, 5_000].map(cache_kib), [65_536, 65_536, 16_384, 1_024]);
}

/// Whether a run whose lock the server ended says that it lost it, if `take_up` another one takes the store up.
fn is_lost(take_up: bool) -> bool {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let stores = [loaded(&url, "orders")];
    let inside = stores[0].own.url().clone();
    let mut ended = false;
    let ran = run_with(&job(""), &stores, |progress| {
        if matches!(progress, Progress::Interval(_)) && !std::mem::replace(&mut ended, true) {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
            let (inside, url) = (inside.clone(), url.clone());
            let end = async move {
                Session::open(&inside).await.unwrap().script(end).await.unwrap();
                if take_up {
                    drop(open_store(&url, "orders", WantedStore::default(), &run_id()).await.unwrap());
                }
            };
            std::thread::spawn(|| block_on(end)).join().unwrap();
        }
        Go::On
    });
    let target = &ran.outcome.targets[0];
    assert!(target.outages.is_empty(), "{target:?}");
    assert_eq!(target.mismatches(), [""; 0], "nobody changed it meanwhile");
    assert_eq!(target.lock_lost, !ran.outcome.notes.is_empty(), "{:?}", ran.outcome.notes);
    target.lock_lost
}

#[test]
fn a_store_that_another_run_took_up_is_told_and_a_lock_that_nobody_took_is_taken_again() {
    assert!(is_lost(true));
    assert!(!is_lost(false));
}

#[test]
fn a_client_thinks_between_its_orders() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}", directory.path().join("orders.db").display()).parse().unwrap();
    let ran = ran(&job("think_time = \"1h\"\nn_threads = 2\nramp_rate = 1000.0"), &[loaded(&url, "")]);
    let target = &ran.outcome.targets[0];
    assert_eq!(target.purchases_from_start, 2, "each orders once, and then thinks");
    assert_eq!(target.mismatches(), [""; 0]);
}

#[test]
fn a_share_of_the_cpu_is_sought_by_the_number_of_clients() {
    let server = Postgres::start(&Options::default()).unwrap();
    let stores = [loaded(&server.url().parse().unwrap(), "orders")];
    let job = job(
        "n_threads = 4\ncpu_target = \"99%\"\nthink_time = \"2ms\"\nrun_time = \"3s\"\nwarmup_time = \"0s\"",
    );
    let ran = ran(&job, &stores);
    is_sound(&ran, 4);
    let active: Vec<f64> = ran
        .intervals
        .iter()
        .filter_map(|interval| interval.gauges.get(orders::ACTIVE_CLIENTS))
        .copied()
        .collect();
    assert_eq!(active[0], 1.0, "it begins with one");
    assert!(ran.intervals.iter().any(|interval| interval.gauges.contains_key(orders::SERVER_CPU)));
}

#[test]
fn a_server_that_is_killed_lost_no_acknowledged_order() {
    let mut server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let stores = [loaded(&url, "orders")];
    let mut begin = Instant::now();
    let mut back_s = None;
    let job = job("n_threads = 4\nramp_rate = 1000.0\nrun_time = \"2m\"");
    let ran = run_with(&job, &stores, |progress| {
        let Progress::Interval(interval) = progress else {
            begin = Instant::now();
            return Go::On;
        };
        match back_s {
            None if interval.phase == Phase::Measure => {
                server.kill().unwrap();
                server.start_again().unwrap();
                back_s = Some(begin.elapsed().as_secs_f64());
                Go::On
            }
            // All clients are back in an interval in which they order.
            Some(back_s) if interval.end_s > back_s + 7.0 => Go::Stop,
            _ => Go::On,
        }
    });
    let target = &ran.outcome.targets[0];
    assert_eq!(target.acknowledged_lost, Some(0), "{target:?}");
    assert_eq!(target.mismatches(), [""; 0], "{target:?}");
    assert!(target.acknowledged() > 0);
    assert_eq!(target.outages.len(), 1, "{target:?}");
    assert!(target.outages[0].end_s.is_some() && target.stopped.is_empty(), "{target:?}");
}

#[test]
fn a_server_that_stays_away_leaves_clients_that_stopped() {
    let mut server = MariaDb::start(&Options::default()).unwrap();
    let stores = [loaded(&server.url().parse().unwrap(), "orders")];
    let mut intervals = 0;
    let ran = run_with(&job("n_threads = 3\nramp_rate = 1000.0\nrun_time = \"2s\""), &stores, |progress| {
        if let Progress::Interval(interval) = progress {
            intervals += 1;
            match (intervals, interval.phase) {
                (2, _) => server.kill().unwrap(),
                // The load is over: what is there can be counted.
                (_, Phase::Drain) => server.start_again().unwrap(),
                _ => {}
            }
        }
        Go::On
    });
    let target = &ran.outcome.targets[0];
    assert_eq!(target.stopped.len(), 3, "{target:?}");
    assert!(target.stopped[0].contains("no connection"), "{target:?}");
    assert_eq!((target.acknowledged_lost, target.mismatches().len()), (Some(0), 0), "{target:?}");
}

#[test]
fn what_an_engine_or_a_place_cannot_do_is_refused() {
    let url = |text: &str| text.parse::<Url>().unwrap();
    let refused =
        |text: &str, target: &str| check(&job(text), &[url(target)], &|_| false).unwrap_err().to_string();
    assert_eq!(url("sqlite:/a").engine(), Engine::Sqlite);
    assert!(refused("procedures = \"on\"", "sqlite:/a").contains("SQLite has no procedures"));
    let elsewhere = refused("cpu_target = \"60%\"", "postgres://a@db.example.com/postgres");
    assert!(elsewhere.contains("cpu_target") && elsewhere.contains("db.example.com"), "{elsewhere}");
    assert!(check(&job("procedures = \"off\""), &[url("sqlite:/a")], &|_| false).is_ok());
    let started = [url("postgres://prony@pg")];
    assert!(check(&job("cpu_target = \"60%\""), &started, &|_| true).is_ok(), "it will be here");
    assert_eq!(
        job("think_time = \"20ms\"").pacing,
        Pacing::Closed { think_time: Span::microseconds(20_000) }
    );
}
