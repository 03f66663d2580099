//! Whole trials, on SQLite and on throwaway servers that are broken on purpose. What happens when is said by the load's own clock.

use std::collections::BTreeMap;
use std::time::Instant;

use database::{Existing, Own, Url};
use instance::{MariaDb, Options, Postgres};
use record::register::{AnomalyKind, Away, READ, WRITE};
use record::{Interval, Outage};

use super::*;
use crate::claims::claim;
use crate::register::Settings;

/// What a trial told and left.
struct Ran {
    setup: RegisterSetup,
    intervals: Vec<Interval>,
    marks: Vec<record::Mark>,
    outcome: RegisterOutcome,
}

impl Ran {
    /// Operations of a kind from the beginning to the end.
    fn count(&self, kind: &str) -> u64 {
        let of = self.intervals.iter().filter_map(|interval| interval.operations.get(kind));
        of.map(|operation| operation.count).sum()
    }
}

/// Drives registers; each second of the load, `each` is told how many seconds there were, and what the last one came to, and then that
/// the load is over.
fn ran(url: &Url, settings: &str, each: &mut dyn FnMut(usize, Option<&Interval>) -> Go) -> Ran {
    let settings: Settings = toml::from_str(settings).unwrap();
    let job = Job::of(&settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let own = runtime.block_on(Own::make(url, "registers", &claim(Existing::Refuse))).unwrap();
    let (mut setup, mut intervals, mut marks) = (None, Vec::new(), Vec::new());
    let holder = own.clone().into();
    let outcome = super::run(&job, &own.lease(), &holder, &AtomicBool::new(false), &mut |progress| {
        match progress {
            Progress::SetUp(Setup::Register(register)) => setup = Some(*register),
            Progress::Interval(interval) => {
                let go = each(intervals.len() + 1, Some(&interval));
                intervals.push(interval);
                return go;
            }
            Progress::Preparing(_) => return each(intervals.len(), None),
            Progress::Mark(mark) => _ = mark.add_to(&mut marks),
            _ => {}
        }
        Go::On
    })
    .unwrap();
    runtime.block_on(own.remove()).unwrap();
    Ran { setup: setup.unwrap(), intervals, marks, outcome }
}

/// Nothing is wrong, and all that was answered is in the history.
fn is_good(ran: &Ran, what: &str) {
    let outcome = &ran.outcome;
    assert_eq!(outcome.anomalies, BTreeMap::new(), "{what}: {:#?}", outcome.told);
    assert_eq!((outcome.writes.lost, outcome.unchecked.as_ref()), (0, None), "{what}");
    assert!(outcome.is_audited && outcome.notes.is_empty(), "{what}: {:?}", outcome.notes);
    assert!(outcome.stopped.is_empty(), "{what}: {:?}", outcome.stopped);
    assert_eq!(outcome.writes.acknowledged, ran.count(WRITE), "{what}");
    assert!(ran.count(WRITE) > 100 && ran.count(READ) > 100, "{what}: {:?}", ran.count(READ));
    assert!(outcome.writes.seen > 50, "{what}: reads say something: {:?}", outcome.writes);
}

const SHORT: &str = "keys = 10\nclients = 4\nrate = 500.0\nwarm_up = \"200ms\"\nduration = \"1s\"\n";

#[test]
fn every_engine_is_a_register_while_nothing_breaks() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = format!("sqlite:{}/registers.db", directory.path().display());
    let (postgres, mariadb) =
        (Postgres::start(&Options::default()).unwrap(), MariaDb::start(&Options::default()).unwrap());
    for url in [file, postgres.url(), mariadb.url()] {
        let ran = ran(&url.parse().unwrap(), SHORT, &mut |_, _| Go::On);
        is_good(&ran, &url);
        let outcome = &ran.outcome;
        assert_eq!(outcome.operations, ran.count(WRITE) + ran.count(READ) + 10, "{url}: the last reads too");
        assert_eq!(outcome.clients.len(), 4, "{url}");
        assert_eq!((ran.setup.keys, ran.setup.read_share), (10, 0.5), "{url}");
    }
}

fn length(away: &[Away]) -> f64 {
    let [Away { start_s, end_s: Some(end_s) }] = away else { panic!("{away:?}") };
    end_s - start_s
}

/// A server hangs from the first second of a load on, for so long at least; how long it did.
fn hung(settings: &str, least_s: f64) -> (Ran, f64) {
    let mut server = Postgres::start(&Options::default()).unwrap();
    let url = server.url().parse().unwrap();
    let settings =
        format!("keys = 10\nclients = 4\nrate = 500.0\nwarm_up = \"0s\"\nduration = \"30m\"\n{settings}");
    let (mut frozen, mut hung_s, mut seconds_after) = (None, 0.0, 0);
    // On a busy machine seconds are told late, and several at once.
    let ran = ran(&url, &settings, &mut |_, interval| {
        match frozen {
            None => {
                frozen = Some(Instant::now());
                server.freeze().unwrap();
            }
            Some(since) if hung_s == 0.0 && since.elapsed().as_secs_f64() >= least_s => {
                server.thaw().unwrap();
                hung_s = since.elapsed().as_secs_f64();
            }
            Some(_) if hung_s > 0.0 && interval.is_some_and(|of| of.operations.contains_key(WRITE)) => {
                seconds_after += 1;
            }
            Some(_) => {}
        }
        if seconds_after == 3 { Go::Stop } else { Go::On }
    });
    is_good(&ran, "hangs");
    (ran, hung_s)
}

/// As long as it was, but for what it takes to stop all its processes, and for the next operation that is due.
fn is_as_long(told_s: f64, hung_s: f64) -> bool {
    (hung_s - 0.3..hung_s + 0.3).contains(&told_s)
}

#[test]
fn a_server_that_hangs_for_two_seconds_is_away_for_two_seconds_and_loses_nothing() {
    let (ran, hung_s) = hung("", 1.9);
    let Ran { outcome, marks, .. } = &ran;
    assert!(is_as_long(length(&outcome.away), hung_s), "{hung_s}: {:?}", outcome.away);
    // All four clients may have waited for the same.
    let kinds = [&outcome.writes_away, &outcome.reads_away].into_iter().filter(|away| !away.is_empty());
    let kinds: Vec<f64> = kinds.map(|away| length(away)).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|&told_s| is_as_long(told_s, hung_s)), "{kinds:?}");
    for client in &outcome.clients {
        assert!(client.times == 1 && is_as_long(client.longest_s, hung_s), "{hung_s}: {client:?}");
    }
    let [mark] = marks.as_slice() else { panic!("{marks:?}") };
    assert_eq!((mark.what.as_str(), mark.end_s), ("nothing was answered", outcome.away[0].end_s));
    assert!(outcome.outages.is_empty(), "no connection was lost: {:?}", outcome.outages);
}

#[test]
fn a_client_gives_up_what_is_not_answered_in_time() {
    // Where all four read, no write would be unanswered.
    let (ran, hung_s) = hung("timeout = \"500ms\"\nreads = 10", 0.9);
    let Ran { outcome, .. } = &ran;
    assert!((1..=4).contains(&outcome.writes.unanswered), "{:?}", outcome.writes);
    let first = outcome.outages.first().unwrap();
    assert!(first.error.contains("did not answer within 500ms"), "{first:?}");
    // Each looks again whenever a connection takes as long as that.
    let told_s = length(&outcome.away);
    assert!((hung_s - 0.3..hung_s + 0.9).contains(&told_s), "{hung_s}: {:?}", outcome.away);
}

/// Kills a server with this `synchronous_commit` in a second of the load, and starts it again.
fn killed(synchronous_commit: &str, kill_at: usize) -> Ran {
    let options = Options::default()
        .setting("synchronous_commit", synchronous_commit)
        // What nobody waits for is not written for as long as can be.
        .setting("wal_writer_delay", "10s");
    let mut server = Postgres::start(&options).unwrap();
    let url = server.url().parse().unwrap();
    let settings =
        "keys = 20\nclients = 4\nrate = 500.0\nwarm_up = \"0s\"\nduration = \"30m\"\noutage = \"50ms\"\n";
    let mut seconds_after = 0;
    // How long it takes to recover depends on what else the machine does.
    ran(&url, settings, &mut |second, interval| {
        if second == kill_at {
            server.kill().unwrap();
            server.start_again().unwrap();
        }
        let count = |kind| interval.and_then(|interval| interval.operations.get(kind)).map(|of| of.count);
        let is_back = |kind| count(kind).is_some_and(|count| count > 100);
        seconds_after += u32::from(second > kill_at && is_back(WRITE) && is_back(READ));
        if seconds_after == 2 { Go::Stop } else { Go::On }
    })
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    // At the moment of a kill all may be reading.
    let tries = std::iter::repeat_with(|| killed("on", 2)).take(4).inspect(|ran| is_good(ran, "killed"));
    let ran = { tries }.find(|ran| ran.outcome.writes.unanswered > 0).unwrap();
    let Ran { outcome, .. } = &ran;
    // Whoever was answered again had connected before.
    let is_of = |away: &Away, outage: &Outage| {
        let ends_before =
            outage.end_s.zip(away.end_s).is_some_and(|(connected, answered)| connected <= answered);
        // Of several threads one may hear an answer after another has found its connection gone.
        ends_before && outage.start_s + 0.1 >= away.start_s
    };
    let has_cause = |away: &&Away| outcome.outages.iter().any(|outage| is_of(away, outage));
    assert!(outcome.away.iter().any(|away| has_cause(&away)), "{outcome:?}");
}

#[test]
fn what_a_server_acknowledges_before_it_is_durable_is_lost_with_it() {
    let lost = |ran: &Ran| ran.outcome.anomalies.get(&AnomalyKind::LostUpdate).copied().unwrap_or_default();
    // The server writes its log ten seconds after its start. This may be just before the kill, so each try kills in another second.
    let ran = [2, 4, 6].into_iter().map(|second| killed("off", second)).find(|ran| lost(ran) > 20).unwrap();
    let (Ran { outcome, .. }, lost) = (&ran, lost(&ran));
    assert!(lost > 20 && outcome.writes.lost == lost, "{:?}", outcome.anomalies);
    let first = outcome.told.iter().find(|anomaly| anomaly.kind == AnomalyKind::LostUpdate).unwrap();
    assert!(first.operations.len() >= 2, "{first}");
    assert!(outcome.told.len() < outcome.anomalies.values().sum::<u64>() as usize, "not all are told");
}

#[test]
fn a_server_that_is_down_to_the_end_of_the_load_is_away_and_its_clients_did_not_stop() {
    let mut server = Postgres::start(&Options::default()).unwrap();
    let url = server.url().parse().unwrap();
    let settings = "keys = 10\nclients = 4\nrate = 500.0\nwarm_up = \"0s\"\nduration = \"30m\"\n";
    let mut down_since: Option<Instant> = None;
    let ran = ran(&url, settings, &mut |second, interval| {
        match (down_since, interval) {
            (None, Some(_)) if second >= 2 => {
                server.kill().unwrap();
                down_since = Some(Instant::now());
            }
            // The last look is at a server that is up again.
            (Some(_), None) if server.pid().is_none() => server.start_again().unwrap(),
            _ => {}
        }
        let is_enough = down_since.is_some_and(|since| since.elapsed().as_secs_f64() > 1.5);
        if is_enough { Go::Stop } else { Go::On }
    });
    is_good(&ran, "down");
    let Ran { outcome, .. } = &ran;
    let [Away { start_s, end_s: None }] = outcome.away.as_slice() else { panic!("{:?}", outcome.away) };
    assert!(*start_s > 0.9, "{start_s}");
    for client in &outcome.clients {
        assert!(client.times == 1 && client.longest_s > 0.5, "{client:?}");
    }
}
