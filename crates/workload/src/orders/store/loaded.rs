//! The row that says what was loaded into the store.

use database::{Column, Error, Kind, Rows, Session, Table, Value, WriteMethod};
use serde::{Deserialize, Serialize};

/// What was loaded. While a load runs, the figures are those that it will come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Size as it was asked for, such as `10MB`.
    pub size: String,
    /// Seed of the rows.
    pub seed: u64,
    /// Whether all of it is there, and nothing else.
    pub state: State,
    /// Rows of customers, orders, orderlines, `cust_hist`, products, inventory and categories.
    pub rows: [u64; 7],
    /// Largest ids of customers, orders and products.
    pub ids_max: [u64; 3],
    /// Sum of all stock.
    pub quan_in_stock_sum: u64,
    /// Sum of all sales.
    pub sales_sum: u64,
}

/// What became of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The load is running, or was interrupted.
    Loading,
    /// It is complete, with its keys.
    Loaded,
    /// It was complete, and clients may have changed it since.
    Used,
}

impl State {
    const ALL: [Self; 3] = [Self::Loading, Self::Loaded, Self::Used];

    /// As the database has it.
    fn word(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Loaded => "loaded",
            Self::Used => "used",
        }
    }

    /// An unknown word counts as an interrupted load. prony leaves such a store unchanged.
    fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.word() == word).unwrap_or(Self::Loading)
    }
}

static STORE: Table = Table {
    name: "store",
    columns: &[
        text("size"),
        number("seed"),
        text("state"),
        number("customers"),
        number("orders"),
        number("orderlines"),
        number("cust_hist"),
        number("products"),
        number("inventory"),
        number("categories"),
        number("customerid_max"),
        number("orderid_max"),
        number("prod_id_max"),
        number("quan_in_stock_sum"),
        number("sales_sum"),
    ],
};

/// Says what is loaded, instead of what was said before.
///
/// # Errors
/// Those of the database.
pub async fn write_loaded(session: &mut Session, loaded: &Loaded) -> Result<(), Error> {
    session.execute("DELETE FROM store", &[]).await?;
    let number = |number: u64| Value::I64(number.cast_signed());
    let [customers, orders, orderlines, cust_hist, products, inventory, categories] = loaded.rows.map(number);
    let [customerid_max, orderid_max, prod_id_max] = loaded.ids_max.map(number);
    let mut rows = Rows::with_capacity(STORE.columns.len(), 1);
    rows.push([
        Value::Text(loaded.size.clone()),
        number(loaded.seed),
        Value::Text(loaded.state.word().to_owned()),
        customers,
        orders,
        orderlines,
        cust_hist,
        products,
        inventory,
        categories,
        customerid_max,
        orderid_max,
        prod_id_max,
        number(loaded.quan_in_stock_sum),
        number(loaded.sales_sum),
    ]);
    session.append(&STORE, &mut rows, WriteMethod::MultiRow).await
}

/// Records that clients are about to change the store. The mark remains if the run is killed. A store whose load was interrupted keeps
/// its state.
///
/// # Errors
/// Those of the database.
pub async fn mark_used(session: &mut Session) -> Result<(), Error> {
    mark(session, State::Used).await
}

/// Says what became of a load that was completed.
pub(in crate::orders) async fn mark(session: &mut Session, state: State) -> Result<(), Error> {
    let (word, loading) = (state.word(), State::Loading.word());
    let sql = format!("UPDATE store SET state = '{word}' WHERE state <> '{loading}'");
    session.execute(&sql, &[]).await.map(drop)
}

/// What is said to be loaded; none if nothing is said.
///
/// # Errors
/// Those of the database, such as when there is no store.
pub async fn read_loaded(session: &mut Session) -> Result<Option<Loaded>, Error> {
    let names: Vec<&str> = STORE.columns.iter().map(|column| column.name).collect();
    let rows = session.query(&format!("SELECT {} FROM store", names.join(", ")), &[]).await?;
    let Some([Value::Text(size), seed, Value::Text(state), figures @ ..]) = rows.first().map(Vec::as_slice)
    else {
        return Ok(None);
    };
    let number = |value: &Value| value.integer().unwrap_or(0).cast_unsigned();
    let figures: Vec<u64> = figures.iter().map(number).collect();
    let &[a, b, c, d, e, f, g, customerid, orderid, prod_id, quan_in_stock_sum, sales_sum] =
        figures.as_slice()
    else {
        return Ok(None);
    };
    Ok(Some(Loaded {
        size: size.clone(),
        seed: number(seed),
        state: State::of(state),
        rows: [a, b, c, d, e, f, g],
        ids_max: [customerid, orderid, prod_id],
        quan_in_stock_sum,
        sales_sum,
    }))
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}

const fn number(name: &'static str) -> Column {
    Column { name, kind: Kind::I64 }
}
