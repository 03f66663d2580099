//! The same claims about every operation on SQLite, PostgreSQL and MariaDB, as procedures and as statements.

mod conflict;
mod known;

use database::Value;

use super::*;
use known::{AMOUNTS, Known, NOW_US, On, PRODUCTS, finish_load, newcomer};

macro_rules! on_each_engine {
    ($($claim:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(super::On::Sqlite, super::Style::Statements).await;
            })*
        }
        mod postgres {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(super::On::Postgres, super::Style::Statements).await;
                super::$claim(super::On::Postgres, super::Style::Procedures).await;
            })*
        }
        mod mariadb {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(super::On::MariaDb, super::Style::Statements).await;
                super::$claim(super::On::MariaDb, super::Style::Procedures).await;
            })*
        }
    };
}

on_each_engine!(
    a_customer_logs_in_with_the_history_of_ten_products,
    a_new_customer_gets_an_id_unless_the_name_is_taken,
    browses_find_phrases_and_specials,
    prices_come_in_the_order_asked_for,
    a_purchase_changes_stock_sales_lines_and_history,
    what_is_sold_out_leaves_nothing,
    stock_below_three_is_bought_again,
    what_belongs_to_a_customer_or_an_order_goes_with_it,
    a_store_says_what_was_loaded_and_can_be_made_again,
);

async fn a_customer_logs_in_with_the_history_of_ten_products(on: On, style: Style) {
    let known = Known::made(on, style, "login").await;
    let mut client = known.client().await;
    for (username, password, expected) in [
        ("user1", "password", Some((1, 10))),
        ("user2", "password", Some((2, 0))),
        ("user3", "password", Some((3, 2))),
        ("user3", "passwort", None),
        ("user3", "PASSWORD", None),
        ("USER3", "password", None),
        ("user9", "password", None),
        ("user1' OR '1'='1", "password", None),
    ] {
        assert_eq!(
            client.login(username, password).await,
            Ok(expected),
            "{on:?} {style:?} {username} {password}"
        );
    }
    let (sql, parameters) = client.login_query("user1", "password");
    let rows = client.session().query(sql, &parameters).await.unwrap();
    let text = |text: &str| Value::Text(text.to_owned());
    let expected: Vec<Vec<Value>> = (3..=12)
        .rev()
        .map(|product: usize| {
            let (title, actor, ..) = PRODUCTS[product - 1];
            vec![Value::I64(1), text(title), text(actor), text(PRODUCTS[12 - product].0)]
        })
        .collect();
    assert_eq!(rows, expected, "{on:?} {style:?}");
    drop(client);
    known.remove().await;
}

async fn a_new_customer_gets_an_id_unless_the_name_is_taken(on: On, style: Style) {
    let mut known = Known::made(on, style, "newcomer").await;
    let mut client = known.client().await;
    assert_eq!(client.new_customer(&newcomer("user6")).await, Ok(Some(6)));
    assert_eq!(client.login("user6", "password").await, Ok(Some((6, 0))));
    for taken in ["user1", "user6"] {
        let other = NewCustomer { password: "other".to_owned(), ..newcomer(taken) };
        assert_eq!(client.new_customer(&other).await, Ok(None), "{on:?} {style:?}");
    }
    assert_eq!(known.numbers("SELECT count(*) FROM customers").await, [[6]]);
    // Ids that a taken name used up stay unused.
    let next = client.new_customer(&newcomer("User1")).await.unwrap().unwrap();
    assert!(next > 6, "{on:?} {style:?}: {next}");
    let columns = "firstname, lastname, address1, address2, city, state, zip, country, region, email, phone, \
                   creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender";
    let sql = format!("SELECT {columns} FROM customers WHERE customerid = 6");
    let text = |text: &str| Value::Text(text.to_owned());
    let stored = known.look.query(&sql, &[]).await.unwrap().remove(0);
    assert_eq!(
        stored[..6],
        [text("É'mile"), text("\"B\\"), text("1 Road"), Value::Null, text("Town"), text("CA"),]
    );
    assert_eq!(
        stored[6..12],
        [Value::I64(99_999), text("US"), Value::I64(1), text("a@b"), Value::Null, Value::I64(5)]
    );
    assert_eq!(stored[12..16], [text("1234567890123456"), text("2012/12"), text("user6"), text("password")]);
    assert_eq!(stored[16..], [Value::I64(90), Value::I64(100_000), text("M")]);
    drop(client);
    known.remove().await;
}

async fn browses_find_phrases_and_specials(on: On, style: Style) {
    let known = Known::made(on, style, "browse").await;
    let mut client = known.client().await;
    for (by, batch, expected) in [
        (By::Category(1), 9, &[2, 5, 6][..]),
        (By::Category(1), 2, &[2, 5]),
        (By::Category(2), 9, &[3]),
        (By::Category(3), 9, &[]),
        (By::Title("AL BO"), 9, &[1]),
        (By::Title("al Bo"), 9, &[1]),
        (By::Title("BO AL"), 9, &[2]),
        (By::Title("AL"), 9, &[1, 2, 3]),
        (By::Title("AL THE"), 9, &[3]),
        (By::Title("THE BO"), 9, &[3]),
        (By::Title("THE WHO"), 9, &[4]),
        (By::Title("WHO THE"), 9, &[]),
        (By::Title("X"), 9, &[10, 12]),
        (By::Title("X Y"), 9, &[12]),
        (By::Title("AMBER RIVER"), 9, &[5, 9]),
        (By::Title("AMBER RIVER"), 1, &[5]),
        (By::Title("RIVER AMBER"), 9, &[7]),
        (By::Title("AMBER RIV"), 9, &[]),
        (By::Title("RIVER"), 9, &[5, 7, 8, 9]),
        (By::Title("RIVER"), 3, &[5, 7, 8]),
        (By::Title("DEEP AMBER RIVER"), 9, &[9]),
        (By::Title("WONDERLANDING EXTRAVAGANCES"), 9, &[11]),
        (By::Title("MARA STONE"), 9, &[]),
        (By::Title("NOWHERE"), 9, &[]),
        (By::Title(""), 9, &[]),
        (By::Title("\"AL* +BO)"), 9, &[1]),
        (By::Title("title : AL"), 9, &[]),
        (By::Actor("AN LI"), 9, &[1]),
        (By::Actor("LI AN"), 9, &[2]),
        (By::Actor("WITH THE"), 9, &[4]),
        (By::Actor("MARA STONE"), 9, &[5, 9]),
        (By::Actor("mara stone"), 1, &[5]),
        (By::Actor("STONE MARA"), 9, &[6]),
        (By::Actor("Z"), 9, &[12]),
        (By::Actor("AMBER RIVER"), 9, &[]),
    ] {
        let (sql, parameters) = client.search(by, batch);
        let rows = client.session().query(sql, &parameters).await.unwrap();
        let found: Vec<Value> = rows.iter().map(|row| row[0].clone()).collect();
        let expected: Vec<Value> = expected.iter().map(|id| Value::I64(*id)).collect();
        assert_eq!(found, expected, "{on:?} {style:?} {by:?} {batch}");
        assert!(rows.iter().all(|row| row.len() == 7));
        assert_eq!(client.browse(by, batch).await, Ok(found.len() as u64), "{on:?} {style:?} {by:?}");
    }
    drop(client);
    known.remove().await;
}

async fn prices_come_in_the_order_asked_for(on: On, style: Style) {
    let known = Known::made(on, style, "prices").await;
    let mut client = known.client().await;
    assert_eq!(client.prices(&[3, 12, 1, 3]).await, Ok(vec![399, 1299, 199, 399]));
    let many: Vec<i32> = (1..=12).chain(1..=12).collect();
    let expected: Vec<i64> = many.iter().map(|product| i64::from(*product) * 100 + 99).collect();
    assert_eq!(client.prices(&many).await, Ok(expected), "{on:?} {style:?}");
    assert_eq!(client.prices(&[]).await, Ok(Vec::new()));
    let error = client.prices(&[1, 77]).await.unwrap_err();
    assert!(error.to_string().contains("no product 77"), "{error}");
    drop(client);
    known.remove().await;
}

async fn a_purchase_changes_stock_sales_lines_and_history(on: On, style: Style) {
    let mut known = Known::made(on, style, "purchase").await;
    let mut client = known.client().await;
    let items = [(7, 2), (2, 1), (7, 3)];
    assert_eq!(
        client.purchase(2, &items, AMOUNTS, NOW_US).await,
        Ok(Purchased::Order(14)),
        "{on:?} {style:?}"
    );
    assert_eq!(known.stock_and_sales(7).await, [5, 5]);
    assert_eq!(known.stock_and_sales(2).await, [9, 1]);
    assert_eq!(known.stock_and_sales(1).await, [10, 0]);
    assert_eq!(
        known.numbers("SELECT * FROM orders WHERE orderid > 13").await,
        [[14, NOW_US, 2, 10_000, 825, 10_825]]
    );
    let lines = "SELECT * FROM orderlines WHERE orderid > 13 ORDER BY orderlineid";
    assert_eq!(
        known.numbers(lines).await,
        [[1, 14, 7, 2, NOW_US], [2, 14, 2, 1, NOW_US], [3, 14, 7, 3, NOW_US]]
    );
    let history = "SELECT * FROM cust_hist WHERE orderid > 13 ORDER BY prod_id";
    assert_eq!(known.numbers(history).await, [[2, 14, 2], [2, 14, 7], [2, 14, 7]]);
    assert_eq!(client.login("user2", "password").await, Ok(Some((2, 3))));
    // More lines than one statement writes.
    let many: Vec<(i32, i16)> = (1..=12).map(|product| (product, 1)).collect();
    assert_eq!(client.purchase(4, &many, AMOUNTS, NOW_US).await, Ok(Purchased::Order(15)));
    let sql = "SELECT count(*), min(orderlineid), max(orderlineid), sum(prod_id) FROM orderlines WHERE orderid = 15";
    assert_eq!(known.numbers(sql).await, [[12, 1, 12, 78]]);
    assert_eq!(known.numbers("SELECT sum(sales) FROM inventory").await, [[18]]);
    drop(client);
    known.remove().await;
}

async fn what_is_sold_out_leaves_nothing(on: On, style: Style) {
    let mut known = Known::made(on, style, "soldout").await;
    let mut client = known.client().await;
    let before = known.counts().await;
    for items in [&[(1, 11)][..], &[(2, 1), (3, 2), (4, 11)], &[(5, 4), (5, 3), (5, 4)], &[(1, 1), (99, 1)]] {
        let bought = client.purchase(1, items, AMOUNTS, NOW_US).await;
        assert_eq!(bought, Ok(Purchased::SoldOut), "{on:?} {style:?} {items:?}");
        assert_eq!(known.counts().await, before, "{on:?} {style:?} {items:?}");
        let sums = known.numbers("SELECT sum(quan_in_stock), sum(sales) FROM inventory").await;
        assert_eq!(sums, [[120, 0]], "{on:?} {style:?} {items:?}");
    }
    // Nothing is left locked, and the client goes on.
    let mut other = known.client().await;
    assert!(matches!(other.purchase(1, &[(1, 1), (2, 1)], AMOUNTS, NOW_US).await, Ok(Purchased::Order(_))));
    assert!(matches!(client.purchase(1, &[(1, 1), (4, 1)], AMOUNTS, NOW_US).await, Ok(Purchased::Order(_))));
    drop((client, other));
    known.remove().await;
}

async fn stock_below_three_is_bought_again(on: On, style: Style) {
    let mut known = Known::made(on, style, "restock").await;
    let mut client = known.client().await;
    for (quantity, is_sold, stock, sales, reorders) in [
        (8, true, 10, 8, 1),
        (7, true, 3, 15, 1),
        (3, true, 3, 18, 2),
        (4, false, 3, 18, 2),
        (1, true, 3, 19, 3),
    ] {
        let bought = client.purchase(1, &[(6, quantity)], AMOUNTS, NOW_US).await.unwrap();
        let place = format!("{on:?} {style:?} {quantity}");
        assert_eq!(matches!(bought, Purchased::Order(_)), is_sold, "{place}");
        assert_eq!(known.stock_and_sales(6).await, [stock, sales], "{place}");
        assert_eq!(known.numbers("SELECT count(*) FROM reorder").await, [[reorders]], "{place}");
    }
    let sql = "SELECT prod_id, quan_low, quan_reordered, date_reordered_us - date_low_us FROM reorder ORDER BY quan_low";
    assert_eq!(
        known.numbers(sql).await,
        [[6, 0, 3, 0], [6, 2, 8, 0], [6, 2, 1, 0]].map(|row| row.to_vec()).to_vec()
    );
    let now = known.numbers("SELECT min(date_low_us) FROM reorder").await;
    assert!(now[0][0] > NOW_US, "{now:?}");
    // Stock that is put back by others is no purchase.
    client.session().script("UPDATE inventory SET quan_in_stock = 4 WHERE prod_id = 6").await.unwrap();
    assert_eq!(known.stock_and_sales(6).await, [4, 19]);
    drop(client);
    known.remove().await;
}

async fn what_belongs_to_a_customer_or_an_order_goes_with_it(on: On, style: Style) {
    let mut known = Known::made(on, style, "cascade").await;
    let mut client = known.client().await;
    let session = client.session();
    session.script("DELETE FROM customers WHERE customerid = 1").await.unwrap();
    assert_eq!(
        known.numbers("SELECT customerid, count(*) FROM cust_hist GROUP BY customerid").await,
        [[3, 2]]
    );
    let orders = "SELECT orderid FROM orders WHERE customerid IS NULL ORDER BY orderid";
    let expected: Vec<Vec<i64>> = (1..=12).map(|order| vec![order]).collect();
    assert_eq!(known.numbers(orders).await, expected);
    session.script("DELETE FROM orders WHERE orderid < 13").await.unwrap();
    assert_eq!(known.numbers("SELECT DISTINCT orderid FROM orderlines").await, [[13]]);
    for orphan in [
        "INSERT INTO orderlines VALUES (1, 99, 1, 1, 5)",
        "INSERT INTO cust_hist VALUES (99, 13, 1)",
        "INSERT INTO orders VALUES (50, 5, 99, 1, 1, 2)",
        "INSERT INTO orderlines VALUES (1, 13, 5, 1, 5)",
        "INSERT INTO inventory VALUES (1, 5, 5)",
    ] {
        assert!(session.script(orphan).await.is_err(), "{on:?}: {orphan}");
    }
    drop(client);
    known.remove().await;
}

async fn a_store_says_what_was_loaded_and_can_be_made_again(on: On, style: Style) {
    let mut known = Known::made(on, style, "again").await;
    assert_eq!(read_loaded(&mut known.look).await, Ok(None));
    let mut loaded = Loaded {
        size: "10MB".to_owned(),
        seed: u64::MAX - 1,
        state: State::Loading,
        rows: [5, 13, 14, 14, 12, 12, 1],
        ids_max: [5, 13, 12],
        quan_in_stock_sum: 120,
        sales_sum: 1 << 40,
    };
    for state in [State::Loading, State::Loaded] {
        loaded.state = state;
        write_loaded(&mut known.look, &loaded).await.unwrap();
        assert_eq!(read_loaded(&mut known.look).await, Ok(Some(loaded.clone())), "{on:?}");
    }
    for _ in 0..2 {
        drop_tables(&mut known.look).await.unwrap();
    }
    read_loaded(&mut known.look).await.unwrap_err();
    create_tables(&mut known.look, crate::orders::StoreSize::DEFAULT).await.unwrap();
    finish_load(&mut known.look).await;
    // Nothing was loaded: ids begin with 1.
    let mut client = known.client().await;
    assert_eq!(client.new_customer(&newcomer("a")).await, Ok(Some(1)));
    assert_eq!(client.purchase(1, &[], AMOUNTS, NOW_US).await, Ok(Purchased::Order(1)), "{on:?} {style:?}");
    drop(client);
    known.remove().await;
}

#[tokio::test]
async fn sqlite_has_no_procedures() {
    let known = Known::made(On::Sqlite, Style::Statements, "none").await;
    let session = known.own.session().await.unwrap();
    assert_eq!(Style::of(session.dialect()), Style::Statements);
    let error = Client::new(session, Style::Procedures).unwrap_err();
    assert!(error.to_string().contains("no procedures"), "{error}");
    known.remove().await;
}
