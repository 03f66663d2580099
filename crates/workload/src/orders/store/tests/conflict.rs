//! Purchases in each other's way.

use std::sync::Arc;

use database::Error;
use instance::Options;

use super::known::Place;
use super::*;

/// Two clients buy the same products in opposite order. A third one holds a product between those until both wait for it:
/// then one of them gets it and waits for what the other holds, which waits for it.
async fn opposite_purchases_deadlock(on: On, style: Style, waiting: &str) {
    let place = Arc::new(Place::make(on, &Options::default()));
    let mut known = Known::made_in(place, style, "deadlock").await;
    let (mut one, mut other) = (known.client().await, known.client().await);
    let (forth, back) = ([(1, 1), (5, 1), (9, 1)], [(9, 1), (5, 1), (1, 1)]);
    let mut holder = known.own.session().await.unwrap();
    let mut held = holder.begin().await.unwrap();
    held.execute("UPDATE inventory SET sales = sales + 1 WHERE prod_id = 5", &[]).await.unwrap();
    let release = async {
        while known.look.query(waiting, &[]).await.unwrap() != [[Value::I64(2)]] {
            tokio::task::yield_now().await;
        }
        held.rollback().await.unwrap();
    };
    let ended = tokio::join!(
        one.purchase(1, &forth, AMOUNTS, NOW_US),
        other.purchase(2, &back, AMOUNTS, NOW_US),
        release
    );
    let again = match ended {
        (Ok(Purchased::Order(_)), Err(Error::Conflict(_)), ()) => {
            other.purchase(2, &back, AMOUNTS, NOW_US).await
        }
        (Err(Error::Conflict(_)), Ok(Purchased::Order(_)), ()) => {
            one.purchase(1, &forth, AMOUNTS, NOW_US).await
        }
        both => panic!("{on:?} {style:?} {both:?}"),
    };
    assert!(matches!(again, Ok(Purchased::Order(_))), "{again:?}");
    assert_eq!(known.counts().await, [[15, 20, 20, 0]], "{on:?} {style:?}");
    assert_eq!(known.numbers("SELECT sum(quan_in_stock), sum(sales) FROM inventory").await, [[114, 6]]);
    drop((one, other, holder));
    known.remove().await;
}

const POSTGRES_WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
const MARIADB_WAITING: &str = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                               WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'";

#[tokio::test]
async fn opposite_purchases_deadlock_on_postgres() {
    for style in [Style::Statements, Style::Procedures] {
        opposite_purchases_deadlock(On::Postgres, style, POSTGRES_WAITING).await;
    }
}

#[tokio::test]
async fn opposite_purchases_deadlock_on_mariadb() {
    for style in [Style::Statements, Style::Procedures] {
        opposite_purchases_deadlock(On::MariaDb, style, MARIADB_WAITING).await;
    }
}

#[tokio::test]
async fn opposite_purchases_come_one_after_the_other_on_sqlite() {
    let mut known = Known::made(On::Sqlite, Style::Statements, "opposite").await;
    let (mut one, mut other) = (known.client().await, known.client().await);
    let (forth, back) = ([(1, 1), (9, 1)], [(9, 1), (1, 1)]);
    for _ in 0..3 {
        let (one, other) =
            tokio::join!(one.purchase(1, &forth, AMOUNTS, NOW_US), other.purchase(2, &back, AMOUNTS, NOW_US));
        assert!(
            matches!((&one, &other), (Ok(Purchased::Order(_)), Ok(Purchased::Order(_)))),
            "{one:?} {other:?}"
        );
    }
    assert_eq!(known.stock_and_sales(1).await, [4, 6]);
    drop((one, other));
    known.remove().await;
}
