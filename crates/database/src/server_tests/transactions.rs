//! Transactions on real servers: whole or not at all, and in each other's way.

use std::future::poll_fn;
use std::pin::pin;

use super::*;
use crate::Reactor;

const PLACES: &str = "CREATE TABLE places (id integer PRIMARY KEY, held integer NOT NULL); \
                      INSERT INTO places VALUES (1, 0), (2, 0)";
const READ_PLACES: &str = "SELECT held FROM places ORDER BY id";

async fn places(server: &Running, name: &str) -> (Own, Session, Session) {
    let own = server.own(name, Existing::Refuse).await.unwrap();
    let (mut one, other) = (own.session().await.unwrap(), own.session().await.unwrap());
    one.script(PLACES).await.unwrap();
    (own, one, other)
}

fn add_to(server: &Running) -> String {
    server.sql("UPDATE places SET held = held + 1 WHERE id = ?")
}

async fn held(session: &mut Session) -> [i64; 2] {
    match session.query(READ_PLACES, &[]).await.unwrap().as_slice() {
        [one, two] => match (&one[..], &two[..]) {
            ([Value::I64(one)], [Value::I64(two)]) => [*one, *two],
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

pub(super) async fn a_transaction_is_done_as_a_whole_or_not_at_all(engine: Engine) {
    let server = shared(engine);
    let (own, mut session, mut other) = places(&server, "prony_whole").await;
    let add = add_to(&server);
    session.begin().await.unwrap().commit().await.unwrap();
    let mut transaction = session.begin().await.unwrap();
    assert_eq!(transaction.execute(&add, &[Value::I64(1)]).await, Ok(1));
    assert_eq!(transaction.execute(&add, &[Value::I64(2)]).await, Ok(1));
    assert_eq!(transaction.query(READ_PLACES, &[]).await.unwrap(), [[Value::I64(1)], [Value::I64(1)]]);
    assert_eq!(held(&mut other).await, [0, 0]);
    transaction.commit().await.unwrap();
    assert_eq!(held(&mut other).await, [1, 1]);
    let mut transaction = session.begin().await.unwrap();
    transaction.execute(&add, &[Value::I64(1)]).await.unwrap();
    transaction.rollback().await.unwrap();
    assert_eq!(held(&mut session).await, [1, 1]);
    let mut transaction = session.begin().await.unwrap();
    transaction.execute(&add, &[Value::I64(1)]).await.unwrap();
    drop(transaction);
    assert_eq!(held(&mut session).await, [1, 1]);
    let mut transaction = session.begin().await.unwrap();
    transaction.execute(&add, &[Value::I64(1)]).await.unwrap();
    let error = transaction.execute("INSERT INTO places VALUES (2, 7)", &[]).await.unwrap_err();
    assert!(matches!(error, Error::Statement(_)), "{error}");
    // Its locks are gone before anything else is done with it.
    assert_eq!(other.execute(&add, &[Value::I64(1)]).await, Ok(1));
    let error = transaction.execute(&add, &[Value::I64(2)]).await.unwrap_err();
    assert!(error.to_string().contains("begin a new one"), "{error}");
    assert!(transaction.commit().await.is_err());
    assert_eq!(held(&mut session).await, [2, 1]);
    drop((session, other));
    own.remove().await.unwrap();
}

pub(super) async fn a_deadlock_is_a_conflict_for_one_of_two(engine: Engine) {
    let server = shared(engine);
    let (own, mut one, mut other) = places(&server, "prony_deadlock").await;
    let add = add_to(&server);
    for round in 1..=3 {
        let mut first = one.begin().await.unwrap();
        let mut second = other.begin().await.unwrap();
        first.execute(&add, &[Value::I64(1)]).await.unwrap();
        second.execute(&add, &[Value::I64(2)]).await.unwrap();
        let done =
            tokio::join!(first.execute(&add, &[Value::I64(2)]), second.execute(&add, &[Value::I64(1)]));
        let (error, survivor, victim) = match done {
            (Err(error), Ok(1)) => (error, second, first),
            (Ok(1), Err(error)) => (error, first, second),
            both => panic!("{both:?}"),
        };
        assert!(matches!(&error, Error::Conflict(text) if text.contains("try again")), "{error}");
        drop(victim);
        survivor.commit().await.unwrap();
        assert_eq!(held(&mut one).await, [round, round]);
        assert_eq!(held(&mut other).await, [round, round]);
    }
    drop((one, other));
    own.remove().await.unwrap();
}

pub(super) async fn a_lock_that_is_not_to_be_had_in_time_is_a_conflict(engine: Engine) {
    let server = shared(engine);
    let (own, mut one, mut other) = places(&server, "prony_lock").await;
    let add = add_to(&server);
    let (limit, is_postgres) = match engine {
        Engine::Postgres => ("SET lock_timeout = '10ms'", true),
        _ => ("SET SESSION innodb_lock_wait_timeout = 1", false),
    };
    other.script(limit).await.unwrap();
    let mut holder = one.begin().await.unwrap();
    holder.execute(&add, &[Value::I64(1)]).await.unwrap();
    let mut waiter = other.begin().await.unwrap();
    waiter.execute(&add, &[Value::I64(2)]).await.unwrap();
    let error = waiter.execute(&add, &[Value::I64(1)]).await.unwrap_err();
    assert!(matches!(error, Error::Conflict(_)), "{error}");
    drop(waiter);
    holder.commit().await.unwrap();
    // MySQL itself would keep what the waiter did before.
    assert_eq!(held(&mut other).await, [1, 0]);
    if is_postgres {
        let mut reader = one.begin().await.unwrap();
        reader.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", &[]).await.unwrap();
        reader.query(READ_PLACES, &[]).await.unwrap();
        other.execute(&add, &[Value::I64(2)]).await.unwrap();
        let error = reader.execute(&add, &[Value::I64(2)]).await.unwrap_err();
        assert!(matches!(error, Error::Conflict(_)), "{error}");
    }
    drop((one, other));
    own.remove().await.unwrap();
}

pub(super) async fn an_insert_gives_the_id_that_the_database_made(engine: Engine) {
    let server = shared(engine);
    let own = server.own("prony_insert", Existing::Refuse).await.unwrap();
    let mut session = own.session().await.unwrap();
    let (make, insert) = match engine {
        Engine::Postgres => (
            "CREATE TABLE names (id integer GENERATED BY DEFAULT AS IDENTITY (START WITH 7), name text UNIQUE)",
            "INSERT INTO names (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id",
        ),
        Engine::SqlServer => (
            "CREATE TABLE names (id integer IDENTITY(7, 1) PRIMARY KEY, name varchar(9) UNIQUE)",
            "INSERT INTO names (name) OUTPUT inserted.id SELECT @P1 WHERE NOT EXISTS (SELECT 1 FROM names WHERE name = @P1)",
        ),
        _ => (
            "CREATE TABLE names (id integer PRIMARY KEY AUTO_INCREMENT, name varchar(9) UNIQUE) AUTO_INCREMENT = 7",
            "INSERT INTO names (name) VALUES (?) ON DUPLICATE KEY UPDATE id = id",
        ),
    };
    session.script(make).await.unwrap();
    let name = |name: &str| [Value::Text(name.to_owned())];
    assert_eq!(session.insert(insert, &name("a")).await, Ok(Some(7)));
    assert_eq!(session.insert(insert, &name("a")).await, Ok(None));
    let mut transaction = session.begin().await.unwrap();
    let id = transaction.insert(insert, &name("b")).await.unwrap().unwrap();
    assert!(id > 7, "{id}");
    assert_eq!(transaction.insert(insert, &name("b")).await, Ok(None));
    transaction.commit().await.unwrap();
    assert_eq!(session.query("SELECT count(*) FROM names", &[]).await.unwrap(), [[Value::I64(2)]]);
    drop(session);
    own.remove().await.unwrap();
}

/// Statements of others and our own take turns on one connection, whatever the first left behind; also where the first are waited for
/// by a reactor, told or polled for, now this way and now that.
pub(super) async fn statements_of_others_and_ours_take_turns(engine: Engine) {
    take_turns(engine).await;
    let mut reactor = Reactor::here().unwrap();
    let mut turns = pin!(take_turns(engine));
    let mut looks = 0_u32;
    poll_fn(|context| {
        let turns = turns.as_mut().poll(context);
        looks += 1;
        if looks.is_multiple_of(3) { reactor.use_epoll() } else { reactor.use_poll() }.unwrap();
        // The runtime has more to do than that.
        reactor.wait(Duration::from_millis(u64::from(reactor.awaited() > 0))).unwrap();
        context.waker().wake_by_ref();
        turns
    })
    .await;
}

/// A number, which PostgreSQL's answers have as text.
fn number(value: &Value) -> i64 {
    match value {
        Value::I64(number) => *number,
        Value::Text(text) => text.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn take_turns(engine: Engine) {
    let server = shared(engine);
    let (own, mut session, mut other) = places(&server, "prony_turns").await;
    let last = (Protocol::Prepared, Wanted::Last);
    for round in 0..3 {
        let answer = session.statement(READ_PLACES, &[], last).await.unwrap();
        assert_eq!((answer.rows, number(&answer.last[0].1)), (2, round));
        assert_eq!(held(&mut session).await, [round, round]);
        session
            .statement(
                if engine == Engine::SqlServer { "BEGIN TRANSACTION" } else { "BEGIN" },
                &[],
                (Protocol::Simple, Wanted::Nothing),
            )
            .await
            .unwrap();
        session.statement("UPDATE places SET held = held + 1", &[], last).await.unwrap();
        assert_eq!(session.is_in_transaction().await, Ok(true));
        session.undo().await.unwrap();
        assert_eq!((session.is_in_transaction().await, held(&mut other).await), (Ok(false), [round, round]));
        let changed =
            session.statement("UPDATE places SET held = held + 1", &[], (Protocol::Extended, Wanted::Count));
        assert_eq!(changed.await.unwrap().rows, 2);
        // One that failed is gone, and takes nothing with it.
        let error = session.statement("SELECT nothing FROM places", &[], last).await.unwrap_err();
        assert!(matches!(error, Error::Statement(_)), "{error}");
        if engine == Engine::Postgres {
            // One that nobody waited for is heard to its end by whoever comes next, be it the driver.
            let _ = poll_immediate(pin!(session.statement(READ_PLACES, &[], last))).await;
            if round == 1 {
                assert_eq!(held(&mut session).await, [round + 1, round + 1]);
            }
        }
    }
    drop((session, other));
    own.remove().await.unwrap();
}

/// A session on a thread of its own, whose reactor is asked as long as something is done.
fn on_a_thread<T: Send + 'static>(
    session: Session,
    doing: impl AsyncFnOnce(&mut Session) -> T + Send + 'static,
) -> std::thread::JoinHandle<(Session, T)> {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut session = session;
        let done = runtime.block_on(async {
            let mut reactor = Reactor::here().unwrap();
            session.join_thread().unwrap();
            let done = {
                let mut doing = pin!(doing(&mut session));
                poll_fn(|context| {
                    let done = doing.as_mut().poll(context);
                    reactor.wait(Duration::from_millis(u64::from(reactor.awaited() > 0))).unwrap();
                    context.waker().wake_by_ref();
                    done
                })
                .await
            };
            assert!(session.leave_thread(), "nothing is under way");
            done
        });
        (session, done)
    })
}

/// A session goes from thread to thread with all that it has, and back to its driver.
#[tokio::test]
async fn a_session_goes_on_on_another_thread() {
    let server = shared(Engine::Postgres);
    let (own, mut session, other) = places(&server, "prony_threads").await;
    assert!(!session.leave_thread(), "it is waited for by the runtime");
    assert_eq!(session.processor(), None);
    session.script("CREATE TEMPORARY TABLE kept (id integer); INSERT INTO kept VALUES (7)").await.unwrap();
    for _ in 0..3 {
        let asks = async |session: &mut Session| {
            let sent = (Protocol::Prepared, Wanted::Last);
            let answer = session.statement("SELECT id FROM kept", &[], sent).await.unwrap();
            (number(&answer.last[0].1), session.processor())
        };
        let thread = on_a_thread(session, asks);
        let (back, (kept, processor)) = tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
        session = back;
        assert_eq!(kept, 7);
        assert!(processor.is_some(), "it is on this machine");
    }
    // The driver lives on the thread that connected.
    session.join_thread().unwrap();
    assert_eq!(session.query("SELECT id FROM kept", &[]).await.unwrap(), [[Value::I64(7)]]);
    drop((session, other));
    own.remove().await.unwrap();
}
