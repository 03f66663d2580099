//! What sessions of real servers are seen to do.

use std::collections::BTreeMap;
use std::pin::pin;

use record::doing;

use super::*;
use crate::Activity;

const PLACE: &str =
    "CREATE TABLE places (id integer PRIMARY KEY, held integer NOT NULL); INSERT INTO places VALUES (1, 0)";
const ADD: &str = "UPDATE places SET held = held + 1 WHERE id = ?";

const LOCK_TABLE: &str = "BEGIN; LOCK TABLE places";
const LOCK_ROW: &str = "BEGIN; UPDATE places SET held = 9";

/// Looks until it is as expected, while something goes on.
async fn seen(
    activity: &mut Activity,
    is: impl Fn(&BTreeMap<String, u64>) -> bool,
    going_on: impl Future<Output = ()>,
) -> BTreeMap<String, u64> {
    let mut going_on = pin!(going_on);
    let looks = async {
        loop {
            tokio::select! {
                () = &mut going_on => panic!("it came to an end before it was seen"),
                found = activity.look() => {
                    let found = found.unwrap().sessions;
                    if is(&found) {
                        return found;
                    }
                }
            }
        }
    };
    timeout(Duration::from_secs(20), looks).await.unwrap()
}

/// On a server of its own: InnoDB's counts those who wait for a row of all databases together.
pub(super) async fn a_session_that_waits_for_a_row_is_seen_to(engine: Engine) {
    let server = Running::start(engine);
    let own = server.own("prony_activity", Existing::Refuse).await.unwrap();
    let (mut one, mut other) = (own.session().await.unwrap(), own.session().await.unwrap());
    one.script(PLACE).await.unwrap();
    let add = server.sql(ADD);
    let mut holder = one.begin().await.unwrap();
    holder.execute(&add, &[Value::I64(1)]).await.unwrap();
    let names = [own.name().to_owned()];
    let mut activity = Activity::open(&server.url(), &names).await.unwrap().unwrap();
    let lock = if engine == Engine::Postgres { "Lock:transactionid" } else { doing::ROW_LOCK };
    let waiting = async {
        other.execute(&add, &[Value::I64(1)]).await.unwrap();
    };
    // Who waits for a row is told twice by InnoDB's server, as one who updates it and in the sum of those who wait, which it looks
    // at one after the other: a wait that begins in between is at first told by the second alone.
    let as_work = if engine == Engine::Postgres { None } else { Some("Updating") };
    let told = |found: &BTreeMap<String, u64>| {
        [Some(lock), as_work].into_iter().flatten().all(|key| found.contains_key(key))
    };
    let found = seen(&mut activity, told, waiting).await;
    assert_eq!(found[lock], 1, "{found:?}");
    let idle = [doing::IDLE, doing::IN_TRANSACTION];
    let others = found.keys().map(String::as_str).filter(|key| *key != lock && !idle.contains(key));
    assert_eq!(others.collect::<Vec<_>>(), Vec::from_iter(as_work), "who looks is not seen: {found:?}");
    holder.rollback().await.unwrap();
    // Whoever keeps the lock of the database, and sessions that do nothing, are idle for longer than a tenth of a second.
    let nobody = seen(&mut activity, BTreeMap::is_empty, std::future::pending()).await;
    assert_eq!(nobody, BTreeMap::new());
    drop((one, other, activity));
    own.remove().await.unwrap();
}

/// A table that somebody has locked: the session that waits is ours, the one that holds it is not, and it is named with its statement.
pub(super) async fn who_holds_a_lock_on_a_table_is_named(engine: Engine) {
    let server = Running::start(engine);
    let own = server.own("prony_locked", Existing::Refuse).await.unwrap();
    let mut waiter = own.session().await.unwrap();
    waiter.script(PLACE).await.unwrap();
    let is_postgres = engine == Engine::Postgres;
    // It is no session of this program's: psql and mariadb know nothing of it.
    let url = server.url().with_database(own.name());
    let mut holder = Session::open(&url).await.unwrap();
    holder.script(if is_postgres { LOCK_TABLE } else { LOCK_ROW }).await.unwrap();
    holder.forget_registration();
    let id = holder.connection().id;
    let mut activity = Activity::open(&server.url(), &[own.name().to_owned()]).await.unwrap().unwrap();
    let add = server.sql(ADD);
    let waiting = async {
        waiter.execute(&add, &[Value::I64(1)]).await.unwrap();
    };
    let naming = async {
        loop {
            let seen = activity.look().await.unwrap();
            let blockers = activity.blockers().await.unwrap();
            if let Some(blocker) = blockers.into_iter().next() {
                return (seen, blocker);
            }
        }
    };
    let (seen, blocker) = tokio::select! {
        () = waiting => panic!("it came to an end before its blocker was named"),
        named = timeout(Duration::from_secs(20), naming) => named.unwrap(),
    };
    assert_eq!((blocker.session, blocker.is_ours, blocker.waiting), (id, false, 1), "{blocker:?}");
    assert!(blocker.user.is_some() && blocker.open_s.is_some(), "{blocker:?}");
    assert_eq!(blocker.state.as_deref(), Some("idle in transaction"), "{blocker:?}");
    // MariaDB tells the statement of a session that rests nowhere.
    let statement = is_postgres.then_some(LOCK_TABLE);
    assert_eq!(blocker.statement.as_deref(), statement, "{blocker:?}");
    assert_eq!(seen.lock_waits, 1, "{seen:?}");
    // At most the keeper of the database's lock is idle. MariaDB counts the waiting session twice.
    assert!(
        seen.sessions.get(doing::IDLE).is_none_or(|idle| *idle <= 1),
        "the holder is none of ours: {seen:?}"
    );
    let busy = seen.sessions.iter().filter(|(doing, _)| *doing != doing::IDLE).map(|(_, count)| count);
    assert_eq!(busy.sum::<u64>(), if is_postgres { 1 } else { 2 }, "the holder is none of ours: {seen:?}");
    drop((holder, activity));
    drop(waiter);
    own.remove().await.unwrap();
}

/// Sessions that are being connected have no state for a moment, and were taken for hidden ones, with a right to be granted to a superuser.
#[tokio::test]
async fn sessions_that_begin_are_not_hidden() {
    let server = Running::start(Engine::Postgres);
    let own = server.own("prony_begins", Existing::Refuse).await.unwrap();
    let mut activity = Activity::open(&server.url(), &[own.name().to_owned()]).await.unwrap().unwrap();
    let mut looks = 0;
    let connecting = async {
        for _ in 0..100 {
            own.session().await.unwrap();
        }
    };
    let looking = async {
        loop {
            let seen = activity.look().await.unwrap();
            assert!(!seen.sessions.contains_key(doing::HIDDEN), "{seen:?}");
            looks += 1;
        }
    };
    tokio::select! {
        () = connecting => {}
        () = looking => {}
    }
    assert!(looks > 0);
    drop(activity);
    own.remove().await.unwrap();
}

pub(super) async fn counters_of_a_server_rise_with_what_it_does(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_counters").await;
    let names = [own.name().to_owned()];
    let mut activity = Activity::open(&server.url(), &names).await.unwrap().unwrap();
    let before = activity.told().await.unwrap().counters;
    let mut session = own.session().await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(5_000), WriteMethod::Bulk).await.unwrap();
    drop(session);
    let counter = if engine == Engine::Postgres { "pg_stat_wal.wal_bytes" } else { "Innodb_os_log_written" };
    // A server tells its counters now and then.
    let risen = async {
        loop {
            let now = activity.told().await.unwrap().counters;
            if now[counter] >= before[counter] + 100_000.0 {
                return now;
            }
        }
    };
    let now = timeout(Duration::from_secs(20), risen).await.unwrap();
    assert!(now.keys().eq(before.keys()), "{:?} {:?}", before.keys(), now.keys());
    assert!(now.values().all(|value| value.is_finite()));
    own.remove().await.unwrap();
}

/// The load's own sessions are those of the login that looks, and these it always sees.
pub(super) async fn what_a_login_may_not_see_is_told_with_the_remedy(engine: Engine) {
    let server = shared(engine);
    let own = server.samples("prony_hidden").await;
    let mut session = own.session().await.unwrap();
    let make = match engine {
        Engine::Postgres => "CREATE ROLE plain LOGIN PASSWORD 'plain'",
        _ => "CREATE USER plain@'%' IDENTIFIED BY 'plain'; CREATE USER plain@localhost IDENTIFIED BY 'plain'",
    };
    session.script(make).await.unwrap();
    let whole = server.text();
    let (scheme, rest) = whole.split_once("://").unwrap();
    let (place, database) = rest.rsplit_once('@').unwrap().1.rsplit_once('/').unwrap();
    let database = if engine == Engine::Postgres { database } else { "" };
    let plain: Url = format!("{scheme}://plain:plain@{place}/{database}").parse().unwrap();
    let mut activity = Activity::open(&plain, &[own.name().to_owned()]).await.unwrap().unwrap();
    let hidden = activity.look().await.unwrap().sessions;
    match activity.remedy() {
        Some(remedy) => {
            assert_eq!(hidden.keys().collect::<Vec<_>>(), [doing::HIDDEN]);
            session.script(&remedy.replace("CURRENT_USER", "plain")).await.unwrap();
            assert!(!activity.look().await.unwrap().sessions.contains_key(doing::HIDDEN));
        }
        None => assert_eq!(hidden, BTreeMap::new(), "sessions of others are not listed"),
    }
    drop((session, activity));
    own.remove().await.unwrap();
}
