//! The fake in virtual time.

use std::time::Duration;

use tokio::time::Instant;

use crate::samples::{READ, SAMPLES, as_stored, claim, make_sql, odd_rows, plain_rows};
use crate::{Dialect, Error, Existing, Fake, Own, Session, Url, Value, WriteMethod};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn made(fake: Fake) -> (Url, Session) {
    let url = Url::from(fake);
    let mut session = Session::open(&url).await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    (url, session)
}

async fn append(session: &mut Session, count: i64) -> Result<(), Error> {
    session.append(&SAMPLES, &mut plain_rows(count), WriteMethod::Bulk).await
}

async fn count(session: &mut Session) -> Result<Vec<Vec<Value>>, Error> {
    session.query("SELECT count(*) FROM samples", &[]).await
}

#[tokio::test(start_paused = true)]
async fn sql_means_what_it_means() {
    let (url, mut session) = made(Fake::default()).await;
    for method in [WriteMethod::MultiRow, WriteMethod::Batch, WriteMethod::Bulk] {
        session.append(&SAMPLES, &mut odd_rows(), method).await.unwrap();
        let mut other = Session::open(&url.clone()).await.unwrap();
        assert_eq!(other.query(READ, &[]).await.unwrap(), as_stored(&odd_rows()), "{method:?}");
        let all = i64::try_from(odd_rows().len()).unwrap();
        assert_eq!(other.execute("DELETE FROM samples", &[]).await, Ok(u64::try_from(all).unwrap()));
    }
    let error = session.query("SELECT * FROM nothing", &[]).await.unwrap_err();
    assert!(matches!(error, Error::Statement(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn one_server_does_one_thing_after_the_other() {
    let (url, mut session) = made(Fake { append: ms(2), row: ms(1), query: ms(3), ..Fake::default() }).await;
    let begin = Instant::now();
    append(&mut session, 8).await.unwrap();
    assert_eq!(begin.elapsed(), ms(10));
    count(&mut session).await.unwrap();
    assert_eq!(begin.elapsed(), ms(13));
    let mut other = Session::open(&url).await.unwrap();
    let (first, second) = tokio::join!(append(&mut session, 3), append(&mut other, 3));
    assert_eq!((first, second), (Ok(()), Ok(())));
    assert_eq!(begin.elapsed(), ms(23));
}

/// Timers end at whole milliseconds; a server of 0.4 ms that waited for them would do 1,000 appends a second.
#[tokio::test(start_paused = true)]
async fn the_mean_rate_is_exact_though_timers_tick() {
    let (_, mut session) =
        made(Fake { append: Duration::from_micros(400), discard: true, ..Fake::default() }).await;
    let begin = Instant::now();
    for _ in 0..10_000 {
        append(&mut session, 1).await.unwrap();
    }
    let took = begin.elapsed();
    assert!((ms(4_000)..=ms(4_002)).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_idle_does_not_catch_up() {
    let (_, mut session) = made(Fake { append: ms(5), ..Fake::default() }).await;
    append(&mut session, 1).await.unwrap();
    tokio::time::advance(ms(100)).await;
    let begin = Instant::now();
    append(&mut session, 1).await.unwrap();
    assert_eq!(begin.elapsed(), ms(5));
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_followed_by_a_time_without_server() {
    let lost = [
        (Fake { lose_at: Some(3), down: ms(3_000), ..Fake::default() }, 2),
        (Fake { lose_committed_at: Some(3), down: ms(3_000), ..Fake::default() }, 3),
    ];
    for (fake, committed) in lost {
        let (url, mut session) = made(fake).await;
        let mut bystander = Session::open(&url).await.unwrap();
        append(&mut session, 1).await.unwrap();
        append(&mut session, 1).await.unwrap();
        assert!(matches!(append(&mut session, 1).await, Err(Error::Lost(_))));
        assert!(matches!(count(&mut session).await, Err(Error::Lost(_))));
        assert!(matches!(count(&mut bystander).await, Err(Error::Lost(_))));
        tokio::time::advance(ms(2_999)).await;
        assert!(matches!(Session::open(&url).await, Err(Error::Unreachable(_))));
        tokio::time::advance(ms(1)).await;
        let mut again = Session::open(&url).await.unwrap();
        again.end(session.connection()).await.unwrap();
        assert_eq!(count(&mut again).await.unwrap(), [[Value::I64(committed)]]);
        append(&mut again, 1).await.unwrap();
        assert_eq!(url.fake_rows(), Some(u64::try_from(committed).unwrap() + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_under_way_when_the_server_goes_is_not_committed() {
    let (url, mut session) =
        made(Fake { lose_at: Some(1), append: ms(5), down: ms(10), ..Fake::default() }).await;
    let mut other = Session::open(&url).await.unwrap();
    let (first, second) = tokio::join!(append(&mut session, 1), append(&mut other, 1));
    assert!(matches!((first, second), (Err(Error::Lost(_)), Err(Error::Lost(_)))));
    assert_eq!(url.fake_rows(), Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_is_full_once() {
    let (_, mut session) = made(Fake { full_at: Some(2), ..Fake::default() }).await;
    append(&mut session, 1).await.unwrap();
    assert!(matches!(append(&mut session, 1).await, Err(Error::Full(_))));
    append(&mut session, 1).await.unwrap();
    assert_eq!(count(&mut session).await.unwrap(), [[Value::I64(2)]]);
}

#[tokio::test(start_paused = true)]
async fn discarded_rows_are_counted() {
    let (url, mut session) = made(Fake { discard: true, ..Fake::default() }).await;
    append(&mut session, 1_000).await.unwrap();
    assert_eq!(url.fake_rows(), Some(1_000));
    assert_eq!(count(&mut session).await.unwrap(), [[Value::I64(0)]]);
}

/// A trial runs its clock ahead; the next trial has a runtime, and so a clock, of its own that does not know of it.
#[test]
fn a_new_clock_finds_the_server_free_and_up() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (url, mut session) = runtime().block_on(made(Fake {
        append: ms(1),
        lose_at: Some(3),
        down: ms(3_600_000),
        ..Fake::default()
    }));
    runtime().block_on(async {
        tokio::time::advance(ms(3_600_000)).await;
        append(&mut session, 1).await.unwrap();
        append(&mut session, 1).await.unwrap();
        append(&mut session, 1).await.unwrap_err();
    });
    runtime().block_on(async {
        let begin = Instant::now();
        let mut session = Session::open(&url).await.unwrap();
        append(&mut session, 1).await.unwrap();
        assert_eq!(begin.elapsed(), ms(1));
    });
}

#[tokio::test(start_paused = true)]
async fn it_is_a_database_of_our_own_too() {
    let url = Url::from(Fake::default());
    let own = Own::make(&url, "plant", &claim(Existing::Refuse)).await.unwrap();
    assert!(!own.was_there());
    let held = Own::make(&url, "plant", &claim(Existing::Reuse)).await.unwrap_err();
    assert!(held.to_string().contains("in use"), "{held}");
    own.session().await.unwrap().script(&make_sql(Dialect::Sqlite)).await.unwrap();
    drop(own);
    let refused = Own::make(&url, "plant", &claim(Existing::Refuse)).await.unwrap_err();
    assert!(refused.to_string().contains("‹target.database.existing reuse›"), "{refused}");
    let own = Own::make(&url, "plant", &claim(Existing::Reuse)).await.unwrap();
    assert!(own.was_there());
    count(&mut own.session().await.unwrap()).await.unwrap();
    own.remove().await.unwrap();
    let own = Own::make(&url, "plant", &claim(Existing::Refuse)).await.unwrap();
    count(&mut own.session().await.unwrap()).await.unwrap_err();
    drop(own);
    assert!(!Own::make(&url, "plant", &claim(Existing::Replace)).await.unwrap().was_there());
}

/// One adds to a row in a transaction with time between its statements, the other reads: never what is not committed.
#[tokio::test(start_paused = true)]
async fn a_transaction_keeps_others_waiting_until_it_has_ended() {
    let (url, mut session) = made(Fake { query: ms(10), ..Fake::default() }).await;
    let mut other = Session::open(&url).await.unwrap();
    let insert = "INSERT INTO samples (time) VALUES (1)";
    for (is_committed, expected) in [(true, 2), (false, 2)] {
        let (begun, is_begun) = tokio::sync::oneshot::channel();
        let write = async {
            let mut transaction = session.begin().await.unwrap();
            transaction.execute(insert, &[]).await.unwrap();
            begun.send(()).unwrap();
            transaction.execute(insert, &[]).await.unwrap();
            if is_committed {
                transaction.commit().await.unwrap();
            }
        };
        let read = async {
            is_begun.await.unwrap();
            count(&mut other).await.unwrap()
        };
        assert_eq!(tokio::join!(write, read).1, [[Value::I64(expected)]]);
    }
    let begin = Instant::now();
    let mut transaction = session.begin().await.unwrap();
    transaction.execute(insert, &[]).await.unwrap();
    assert!(transaction.execute("SELEKT", &[]).await.is_err());
    drop(transaction);
    assert_eq!(count(&mut other).await.unwrap(), [[Value::I64(2)]]);
    assert_eq!(begin.elapsed(), ms(50));
}
