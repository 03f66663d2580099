//! A known store that claims are made about, on an engine of the test's own.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use database::{Existing, Own, Session, Url, Value};
use instance::{MariaDb, Options, Postgres};
use tempfile::TempDir;

use super::super::*;
use crate::claims::claim;

pub(super) const NOW_US: i64 = 1_700_000_000_000_001;
pub(super) const AMOUNTS: Amounts = Amounts { net_cents: 10_000, tax_cents: 825, total_cents: 10_825 };
/// Products of a known store: title, actor, category, special.
pub(super) const PRODUCTS: [(&str, &str, i16, i16); 12] = [
    ("AL BO", "AN LI", 1, 0),
    ("BO AL", "LI AN", 1, 1),
    ("AL THE BO", "AN THE LI", 2, 1),
    ("THE WHO", "WITH THE", 2, 0),
    ("AMBER RIVER", "MARA STONE", 1, 1),
    ("AMBER RIVERS", "STONE MARA", 1, 1),
    ("RIVER AMBER", "MARA STONES", 2, 0),
    ("AMBER DEEP RIVER", "MARA DE STONE", 2, 0),
    ("DEEP AMBER RIVER", "MARA STONE", 3, 0),
    ("AMBERRIVER X", "MARASTONE Y", 3, 0),
    ("WONDERLANDING EXTRAVAGANCES", "BARTHOLOMEWSO ALEXANDRINASX", 3, 0),
    ("X Y", "Z", 3, 0),
];
/// Orders of customer 1 have one line each: the product of the order's number. The last order is customer 3's, with two.
pub(super) const ORDERS: i32 = 13;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Sqlite,
    Postgres,
    MariaDb,
}

pub(super) enum Place {
    Directory(TempDir),
    Postgres(Postgres),
    MariaDb(MariaDb),
}

impl Place {
    pub(super) fn make(on: On, options: &Options) -> Self {
        // One after the other: a MariaDB that starts removes the temporary tables of another that is being made.
        static STARTING: Mutex<()> = Mutex::new(());
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        match on {
            On::Sqlite => Self::Directory(TempDir::new().unwrap()),
            On::Postgres => Self::Postgres(Postgres::start(options).unwrap()),
            On::MariaDb => Self::MariaDb(MariaDb::start(options).unwrap()),
        }
    }

    /// A place that all claims use that run at the same time.
    pub(super) fn shared(on: On) -> Arc<Self> {
        static PLACES: [Mutex<Weak<Place>>; 3] = [const { Mutex::new(Weak::new()) }; 3];
        let mut place = PLACES[on as usize].lock().unwrap_or_else(PoisonError::into_inner);
        place.upgrade().unwrap_or_else(|| {
            let made = Arc::new(Self::make(on, &Options::default()));
            *place = Arc::downgrade(&made);
            made
        })
    }

    pub(super) fn url(&self, name: &str) -> Url {
        let text = match self {
            Self::Directory(directory) => format!("sqlite:{}/{name}.db", directory.path().display()),
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
        };
        text.parse().unwrap()
    }
}

/// A known store in a database of its own.
pub(super) struct Known {
    pub(super) own: Own,
    pub(super) look: Session,
    style: Style,
    _place: Arc<Place>,
}

impl Known {
    pub(super) async fn made(on: On, style: Style, claim: &str) -> Self {
        let name = format!("{claim}_{}", if style == Style::Procedures { "p" } else { "s" });
        Self::made_in(Place::shared(on), style, &name).await
    }

    pub(super) async fn made_in(place: Arc<Place>, style: Style, name: &str) -> Self {
        let own = Own::make(&place.url(name), name, &claim(Existing::Refuse)).await.unwrap();
        let look = own.session().await.unwrap();
        let mut loader = own.session().await.unwrap();
        drop_tables(&mut loader).await.unwrap();
        create_tables(&mut loader, crate::orders::StoreSize::DEFAULT).await.unwrap();
        prepare_load(&mut loader).await.unwrap();
        loader.script(&known_rows()).await.unwrap();
        finish_load(&mut loader).await;
        Self { own, look, style, _place: place }
    }

    pub(super) async fn client(&self) -> Client {
        Client::new(self.own.session().await.unwrap(), self.style).unwrap()
    }

    pub(super) async fn numbers(&mut self, sql: &str) -> Vec<Vec<i64>> {
        numbers(&mut self.look, sql).await
    }

    pub(super) async fn counts(&mut self) -> Vec<Vec<i64>> {
        let sql = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM orderlines), \
                   (SELECT count(*) FROM cust_hist), (SELECT count(*) FROM reorder)";
        self.numbers(sql).await
    }

    pub(super) async fn stock_and_sales(&mut self, product: i32) -> Vec<i64> {
        let sql = format!("SELECT quan_in_stock, sales FROM inventory WHERE prod_id = {product}");
        self.numbers(&sql).await.remove(0)
    }

    pub(super) async fn remove(self) {
        let Self { own, look, .. } = self;
        drop(look);
        own.remove().await.unwrap();
    }
}

pub(super) async fn numbers(session: &mut Session, sql: &str) -> Vec<Vec<i64>> {
    let number = |value: &Value| match value {
        Value::I64(number) => *number,
        Value::F64(number) => *number as i64,
        Value::Null => -1,
        Value::Text(text) => panic!("`{text}` is no number"),
        other => panic!("{other:?}"),
    };
    let rows = session.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.iter().map(number).collect()).collect()
}

/// In an order in which children come before their parents, as a parallel load may have it.
pub(super) fn known_rows() -> String {
    let mut sql = String::new();
    for order in 1..=ORDERS {
        let (customer, first) = if order == ORDERS { (3, 1) } else { (1, order) };
        for (line, product) in (first..).take(1 + usize::from(order == ORDERS)).enumerate() {
            let line = line + 1;
            sql += &format!("INSERT INTO orderlines VALUES ({line}, {order}, {product}, 1, 5); ");
            sql += &format!("INSERT INTO cust_hist VALUES ({customer}, {order}, {product}); ");
        }
        sql += &format!("INSERT INTO orders VALUES ({order}, 5, {customer}, 100, 8, 108); ");
    }
    for customer in 1..=5 {
        sql += &format!(
            "INSERT INTO customers VALUES ({customer}, 'A', 'B', 'C', NULL, 'D', NULL, 0, 'E', 2, NULL, NULL, 1, '1', \
             '2010/01', 'user{customer}', 'password', 18, 20000, 'F'); "
        );
    }
    let columns = "prod_id, category, title, actor, price_cents, special, common_prod_id";
    for (product, (title, actor, category, special)) in (1..).zip(PRODUCTS) {
        let common = 13 - product;
        sql += &format!(
            "INSERT INTO products ({columns}) VALUES ({product}, {category}, '{title}', '{actor}', {product}99, \
             {special}, {common}); "
        );
        sql += &format!("INSERT INTO inventory VALUES ({product}, 10, 0); ");
    }
    sql + "INSERT INTO categories VALUES (1, 'Action')"
}

pub(super) fn newcomer(username: &str) -> NewCustomer {
    NewCustomer {
        firstname: "É'mile".to_owned(),
        lastname: "\"B\\".to_owned(),
        address1: "1 Road".to_owned(),
        address2: None,
        city: "Town".to_owned(),
        state: Some("CA".to_owned()),
        zip: 99_999,
        country: "US".to_owned(),
        region: 1,
        email: Some("a@b".to_owned()),
        phone: None,
        creditcardtype: 5,
        creditcard: "1234567890123456".to_owned(),
        creditcardexpiration: "2012/12".to_owned(),
        username: username.to_owned(),
        password: "password".to_owned(),
        age: 90,
        income: 100_000,
        gender: "M".to_owned(),
    }
}

/// Keys, procedures and statistics.
pub(super) async fn finish_load(session: &mut Session) {
    for step in after_load(session.dialect(), Abilities::of(session).await.unwrap()) {
        session.script(&step).await.unwrap();
    }
}
