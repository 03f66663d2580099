//! Runs on a loaded store, what is found of them, and the way back, on SQLite and on throwaway servers.

use database::{Existing, Own, Url, Value};
use instance::{MariaDb, Options, Postgres};

use super::*;
use crate::claims::{claim, run_id};
use crate::orders::contents::Changed;
use crate::orders::load::{load, runtime};
use crate::orders::reconcile::{Acknowledged, Found, reconcile};
use crate::orders::store::{Amounts, Client, NewCustomer, Purchased, Style, mark_used};
use crate::orders::verify::{Check, verify};
use crate::orders::{WantedStore, open_store};
use crate::waiting::Making;

const AMOUNTS: Amounts = Amounts { net_cents: 10_000, tax_cents: 825, total_cents: 10_825 };
const NOW_US: i64 = 1_700_000_000_000_001;
const PURCHASES: i32 = 7;

/// A store of 1 MB: 2,000 customers, 1,200 orders, 1,000 products.
fn load_store(url: &Url) -> Loaded {
    let data = StoreData::new("1MB".parse().unwrap(), 7);
    load(
        Making::plain(url, "orders", &claim(Existing::Refuse)),
        &data,
        1,
        &AtomicBool::new(false),
        &mut |_| {},
    )
    .unwrap()
}

async fn opened(url: &Url) -> (Own, Loaded) {
    open_store(url, "orders", WantedStore::default(), &run_id()).await.unwrap()
}

async fn restored(own: &Own, loaded: &Loaded) -> Result<Option<Restored>, RestoreError> {
    restore(&own.lease(), loaded, &AtomicBool::new(false), &mut |_| {}).await
}

/// The inventory that was loaded, as a database gives it.
fn generated_inventory(loaded: &Loaded) -> Vec<Vec<Value>> {
    let data = StoreData::new(loaded.size.parse().unwrap(), loaded.seed);
    let mut rows = Rows::with_capacity(3, 1_000);
    data.pieces(StoreTable::Inventory, 1_000).for_each(|piece| data.write(&piece, &mut rows));
    let wide = |value: &Value| match value {
        Value::I32(number) => Value::I64(i64::from(*number)),
        other => panic!("{other:?}"),
    };
    rows.iter().map(|row| row.iter().map(wide).collect()).collect()
}

async fn inventory(session: &mut Session) -> Vec<Vec<Value>> {
    let sql = "SELECT prod_id, quan_in_stock, sales FROM inventory ORDER BY prod_id";
    session.query(sql, &[]).await.unwrap()
}

fn newcomer(username: &str) -> NewCustomer {
    let text = |text: &str| text.to_owned();
    NewCustomer {
        firstname: text("A"),
        lastname: text("B"),
        address1: text("1 Road"),
        address2: None,
        city: text("Town"),
        state: None,
        zip: 0,
        country: text("Japan"),
        region: 2,
        email: None,
        phone: None,
        creditcardtype: 1,
        creditcard: text("1234567890123456"),
        creditcardexpiration: text("2012/12"),
        username: text(username),
        password: text("password"),
        age: 90,
        income: 20_000,
        gender: text("M"),
    }
}

/// What clients do in a run: customers who are known and new ones buy, one product is bought until it is restocked, and
/// one is sold out. Gives what was acknowledged, and the items of it.
async fn run_clients(own: &Own, loaded: &Loaded) -> (Acknowledged, i64) {
    let mut session = own.session().await.unwrap();
    mark_used(&mut session).await.unwrap();
    let stock = inventory(&mut session).await;
    let (product, in_stock) = stock
        .iter()
        .find_map(|row| match row.as_slice() {
            [Value::I64(product), Value::I64(stock @ 10..500), _] => Some((*product as i32, *stock as i16)),
            _ => None,
        })
        .unwrap();
    let style = Style::of(session.dialect());
    let mut client = Client::new(session, style).unwrap();
    let mut acknowledged = Acknowledged::new(loaded);
    let mut items = 0;
    for number in 0..PURCHASES {
        let customer = match number % 2 {
            0 => client.new_customer(&newcomer(&format!("new{number}"))).await.unwrap().unwrap(),
            _ => 100 * number,
        };
        let cart = [(product, if number == 0 { in_stock - 1 } else { 1 }), (product + 1 + number, 2)];
        let sold_out = [(product + 1, 1), (product, i16::MAX)];
        let purchased = client.purchase(customer, &sold_out, AMOUNTS, NOW_US).await;
        assert_eq!(purchased, Ok(Purchased::SoldOut));
        match client.purchase(customer, &cart, AMOUNTS, NOW_US).await.unwrap() {
            Purchased::Order(orderid) => acknowledged.add(orderid),
            Purchased::SoldOut => continue,
        }
        items += cart.iter().map(|(_, quantity)| i64::from(*quantity)).sum::<i64>();
    }
    assert!(acknowledged.len() >= 4, "{}", acknowledged.len());
    (acknowledged, items)
}

/// Orders, customers and rows of `reorder` that were not loaded.
async fn added(own: &Own, loaded: &Loaded) -> [i64; 3] {
    let mut session = own.session().await.unwrap();
    let [customerid_max, orderid_max, _] = loaded.ids_max;
    let mut added = [0; 3];
    for (added, sql) in added.iter_mut().zip([
        format!("SELECT count(*) FROM orders WHERE orderid > {orderid_max}"),
        format!("SELECT count(*) FROM customers WHERE customerid > {customerid_max}"),
        "SELECT count(*) FROM reorder".to_owned(),
    ]) {
        *added = query_number(&mut session, &sql).await.unwrap();
    }
    added
}

/// What clients were told is found; an order that is missing and sales that nobody made are too.
async fn a_run_is_reconciled(own: &Own, loaded: &Loaded) {
    let (acknowledged, items) = run_clients(own, loaded).await;
    let mut session = own.session().await.unwrap();
    let orders = acknowledged.len();
    let expected = Found {
        orders_found: orders,
        acknowledged_lost: 0,
        quantity_found: items.cast_unsigned(),
        sales_risen: items,
        changed: Changed::default(),
    };
    assert_eq!(reconcile(&mut session, loaded, &acknowledged).await.unwrap(), expected);
    let [_, orderid_max, _] = loaded.ids_max;
    let first_id = format!("SELECT min(orderid) FROM orders WHERE orderid > {orderid_max}");
    let first = query_number(&mut session, &first_id).await.unwrap();
    let quantity = format!("SELECT sum(quantity) FROM orderlines WHERE orderid = {first}");
    let gone = query_number(&mut session, &quantity).await.unwrap();
    for table in ["cust_hist", "orderlines", "orders"] {
        session.execute(&format!("DELETE FROM {table} WHERE orderid = {first}"), &[]).await.unwrap();
    }
    session.execute("UPDATE inventory SET sales = sales + 5 WHERE prod_id = 9", &[]).await.unwrap();
    let expected = Found {
        orders_found: orders - 1,
        acknowledged_lost: 1,
        quantity_found: (items - gone).cast_unsigned(),
        sales_risen: items + 5,
        changed: Changed::default(),
    };
    assert_eq!(reconcile(&mut session, loaded, &acknowledged).await.unwrap(), expected);
    // An answer that names an order that was loaded, or one for the second time, is no order that could be found.
    let last = query_number(&mut session, "SELECT max(orderid) FROM orders").await.unwrap();
    let mut more = acknowledged.clone();
    more.add(1);
    more.add(last as i32);
    let found = reconcile(&mut session, loaded, &more).await.unwrap();
    assert_eq!((found.orders_found, found.acknowledged_lost), (orders - 1, 3));
}

/// What is there now is what was loaded, also for those who come next.
async fn is_as_loaded(own: &Own, loaded: &Loaded) {
    let mut session = own.session().await.unwrap();
    assert_eq!(read_loaded(&mut session).await.unwrap().unwrap(), *loaded);
    assert!(inventory(&mut session).await == generated_inventory(loaded), "the inventory is another one");
    assert_eq!(restored(own, loaded).await.unwrap(), None);
    let style = Style::of(session.dialect());
    let mut client = Client::new(session, style).unwrap();
    let customer = client.new_customer(&newcomer("next")).await.unwrap().unwrap();
    let purchased = client.purchase(customer, &[(2, 1)], AMOUNTS, NOW_US).await.unwrap();
    let [customerid_max, orderid_max, _] = loaded.ids_max;
    assert_eq!(customer as u64, customerid_max + 1);
    assert_eq!(purchased, Purchased::Order(orderid_max as i32 + 1));
}

/// A store is run on, found so, and brought back; then again, with a restore that is broken off wherever it can be.
fn a_used_store_is_restored(url: &str) {
    let url: Url = url.parse().unwrap();
    let loaded = load_store(&url);
    let all_holds = || {
        let (said, checks) = verify(&url, "orders", &AtomicBool::new(false), &mut |_| {}).unwrap().unwrap();
        (said.state, checks.iter().all(Check::holds))
    };
    runtime().unwrap().block_on(async {
        let (own, said) = opened(&url).await;
        assert_eq!(said, loaded);
        assert_eq!(restored(&own, &loaded).await.unwrap(), None);
        a_run_is_reconciled(&own, &loaded).await;
        let added = added(&own, &loaded).await;
        let done = restored(&own, &loaded).await.unwrap().unwrap();
        assert_eq!([done.orders, done.customers, done.reorder_rows].map(u64::cast_signed), added);
        assert!(added[0] >= 3 && added[1] == 4 && added[2] >= 1, "{added:?}");
        is_as_loaded(&own, &loaded).await;
        // Nobody said that the store was used, and it is seen.
        let done = restored(&own, &loaded).await.unwrap().unwrap();
        assert_eq!((done.orders, done.customers), (1, 1), "{done}");
    });
    assert_eq!(all_holds(), (State::Loaded, true));
    runtime().unwrap().block_on(async {
        let (own, _) = opened(&url).await;
        run_clients(&own, &loaded).await;
    });
    assert_eq!(all_holds(), (State::Used, false));
    runtime().unwrap().block_on(async {
        let (own, _) = opened(&url).await;
        break_off_everywhere(&own, &loaded).await;
        is_as_loaded(&own, &loaded).await;
        restored(&own, &loaded).await.unwrap().unwrap();
    });
    assert_eq!(all_holds(), (State::Loaded, true));
    runtime().unwrap().block_on(other_damage_is_told(&url, &loaded));
}

/// The first restore ends at its first look at whether to stop, the second at its second, and so on to the one that is
/// not stopped any more.
async fn break_off_everywhere(own: &Own, loaded: &Loaded) {
    let mut orders_left = Vec::new();
    for looks in 1.. {
        let (stop, mut seen) = (AtomicBool::new(false), 0);
        let tell = &mut |_| {
            seen += 1;
            stop.store(seen == looks, Ordering::Relaxed);
        };
        // By then the orders are gone, and there would be hundreds of pieces of the inventory.
        let block_rows = if looks > 6 { 300 } else { 2 };
        let result = restore_at(&own.lease(), loaded, &mut Pace { block_rows, stop: &stop, tell }).await;
        if !matches!(result, Err(RestoreError::Interrupted)) {
            assert!(result.unwrap().is_some());
            break;
        }
        let mut session = own.session().await.unwrap();
        assert_eq!(read_loaded(&mut session).await.unwrap().unwrap().state, State::Used);
        drop(session);
        orders_left.push(added(own, loaded).await[0]);
    }
    assert!(orders_left[0] > 0 && orders_left.ends_with(&[0]), "{orders_left:?}");
    assert!(orders_left.len() > 10, "{orders_left:?}");
}

/// What no run does is not repaired, and stays known.
async fn other_damage_is_told(url: &Url, loaded: &Loaded) {
    let (own, _) = opened(url).await;
    let mut session = own.session().await.unwrap();
    session.script("DELETE FROM orderlines WHERE orderid = 3 AND orderlineid = 1").await.unwrap();
    mark_used(&mut session).await.unwrap();
    let error = restored(&own, loaded).await.unwrap_err().to_string();
    let (there, expected) = (loaded.rows[2] - 1, loaded.rows[2]);
    assert!(error.contains(&format!("order lines: {there} instead of {expected}; load it again")), "{error}");
    assert!(error.contains("‹prony orders load, replace true, size 1MB›"), "{error}");
    assert_eq!(read_loaded(&mut session).await.unwrap().unwrap().state, State::Used);
}

#[test]
fn a_used_sqlite_store_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    a_used_store_is_restored(&format!("sqlite:{}", directory.path().join("orders.db").display()));
}

#[test]
fn a_used_postgres_store_is_restored() {
    a_used_store_is_restored(&Postgres::start(&Options::default()).unwrap().url());
}

#[test]
fn a_used_mariadb_store_is_restored() {
    a_used_store_is_restored(&MariaDb::start(&Options::default()).unwrap().url());
}

#[test]
fn what_was_removed_is_told_in_a_sentence() {
    for (orders, customers, expected) in [
        (4_812, 973, "removed 4,812 orders and 973 customers and reloaded the inventory in 0.8 s"),
        (1_000_000, 1, "removed 1,000,000 orders and 1 customer and reloaded the inventory in 0.8 s"),
        (0, 0, "removed 0 orders and 0 customers and reloaded the inventory in 0.8 s"),
    ] {
        let restored = Restored { orders, customers, reorder_rows: 3, seconds: 0.84 };
        assert_eq!(restored.to_string(), expected);
    }
}
