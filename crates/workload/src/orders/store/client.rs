//! A client of the store: one session, and every operation as one call.

use std::fmt::Write as _;

use database::{Dialect, Error, Session, Value};

use super::statements::{LINES_MAX, Purchase, Statements, Steps};

/// One client.
#[derive(Debug)]
pub struct Client {
    session: Session,
    statements: &'static Statements,
}

/// How the operations are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Each is a call of a procedure in the database.
    Procedures,
    /// Each is prepared statements, in a transaction where there are several.
    Statements,
}

/// What a browse looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// Specials of a category.
    Category(i16),
    /// Products whose actor has these words next to each other in this order, in whatever case.
    Actor(&'a str),
    /// The same in the title.
    Title(&'a str),
}

/// What an order comes to, in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// Sum of the prices.
    pub net_cents: i64,
    /// Tax on it.
    pub tax_cents: i64,
    /// Both.
    pub total_cents: i64,
}

/// How a purchase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purchased {
    /// It is committed as the order with this id.
    Order(i32),
    /// There is too little of a product in stock: nothing of it was done.
    SoldOut,
}

/// A customer who is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the columns of the table")]
pub struct NewCustomer {
    pub firstname: String,
    pub lastname: String,
    pub address1: String,
    pub address2: Option<String>,
    pub city: String,
    pub state: Option<String>,
    pub zip: i32,
    pub country: String,
    pub region: i16,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub creditcardtype: i16,
    pub creditcard: String,
    pub creditcardexpiration: String,
    pub username: String,
    pub password: String,
    pub age: i16,
    pub income: i32,
    pub gender: String,
}

impl Client {
    /// A client on a session of a database that has the store's tables and keys.
    ///
    /// # Errors
    /// When the database has no procedures.
    pub fn new(session: Session, style: Style) -> Result<Self, Error> {
        let dialect = session.dialect();
        let statements = match style {
            Style::Statements => Statements::of(dialect),
            Style::Procedures => Statements::calls_of(dialect).ok_or_else(|| {
                Error::Statement("this database has no procedures: use prepared statements".to_owned())
            })?,
        };
        Ok(Self { session, statements })
    }

    /// The session, for what is no operation.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The id of the customer of this name and password, if there is one, and how many products the history of their
    /// last purchases has, up to ten.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn login(&mut self, username: &str, password: &str) -> Result<Option<(i32, usize)>, Error> {
        let (sql, parameters) = self.login_query(username, password);
        let rows = self.session.query(sql, &parameters).await?;
        let customer = rows.first().and_then(|row| row.first()).and_then(id);
        // One row without a product stands for a customer who bought nothing.
        let bought = rows.iter().filter(|row| row.get(1).is_some_and(|title| *title != Value::Null)).count();
        Ok(customer.map(|customer| (customer, bought)))
    }

    /// What a login sends.
    pub(super) fn login_query(&self, username: &str, password: &str) -> (&'static str, [Value; 2]) {
        (self.statements.login, [text(username), text(password)])
    }

    /// Makes a customer and gives the id; none if the user name is taken.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn new_customer(&mut self, customer: &NewCustomer) -> Result<Option<i32>, Error> {
        let (sql, parameters) = (self.statements.new_customer, customer.values());
        match self.statements.purchase {
            Purchase::Steps(_) => {
                let made = self.session.insert(sql, &parameters).await?;
                Ok(made.and_then(|id| i32::try_from(id).ok()))
            }
            Purchase::Call(_) => {
                let rows = self.session.query(sql, &parameters).await?;
                Ok(rows.first().and_then(|row| row.first()).and_then(id))
            }
        }
    }

    /// Looks for products, receives up to `batch` of those found by rising id, and gives their number.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn browse(&mut self, by: By<'_>, batch: u32) -> Result<u64, Error> {
        let (sql, parameters) = self.search(by, batch);
        self.session.count_rows(sql, &parameters).await
    }

    /// What a browse sends.
    pub(super) fn search(&self, by: By<'_>, batch: u32) -> (&'static str, [Value; 2]) {
        let dialect = self.session.dialect();
        let (sql, wanted) = match by {
            By::Category(category) => (self.statements.browse_by_category, Value::I16(category)),
            By::Actor(words) => (self.statements.browse_by_actor, Value::Text(phrase(dialect, words))),
            By::Title(words) => (self.statements.browse_by_title, Value::Text(phrase(dialect, words))),
        };
        (sql, [wanted, Value::I64(i64::from(batch))])
    }

    /// Prices of products in cents, in the order given.
    ///
    /// # Errors
    /// Those of the database, and when there is no such product.
    pub async fn prices(&mut self, products: &[i32]) -> Result<Vec<i64>, Error> {
        let mut prices = Vec::with_capacity(products.len());
        for some in products.chunks(LINES_MAX) {
            let parameters = match self.session.dialect() {
                Dialect::Postgres => vec![Value::Text(array(some.iter()))],
                Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
                Dialect::Sqlite | Dialect::Mysql | Dialect::SqlServer => {
                    some.iter().copied().map(Value::I32).chain(nulls()).take(LINES_MAX).collect()
                }
            };
            let rows = self.session.query(&self.statements.prices, &parameters).await?;
            for product in some {
                let row = rows.iter().find(|row| row.first().and_then(id) == Some(*product));
                let cents = row.and_then(|row| row.get(1)).and_then(Value::integer);
                let unknown = || Error::Statement(format!("the store has no product {product}"));
                prices.push(cents.ok_or_else(unknown)?);
            }
        }
        Ok(prices)
    }

    /// Buys products, each with its quantity, in the order given: each is taken from stock, or nothing is done. Stock that
    /// it would take below 3 stays as it was and is noted in `reorder`.
    ///
    /// # Errors
    /// Those of the database; after [`Error::Conflict`] nothing was done, and it can be tried again.
    pub async fn purchase(
        &mut self,
        customer: i32,
        items: &[(i32, i16)],
        amounts: Amounts,
        now_us: i64,
    ) -> Result<Purchased, Error> {
        let Amounts { net_cents, tax_cents, total_cents } = amounts;
        let money = [net_cents, tax_cents, total_cents].map(Value::I64);
        match &self.statements.purchase {
            Purchase::Call(sql) => {
                let cart = match self.session.dialect() {
                    Dialect::Postgres => array(items.iter().map(|item| Pair(*item))),
                    Dialect::Sqlite | Dialect::Mysql | Dialect::SqlServer => list(items),
                    Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
                };
                let [net, tax, total] = money;
                let parameters =
                    [Value::I32(customer), net, tax, total, Value::I64(now_us), Value::Text(cart)];
                let rows = self.session.query(sql, &parameters).await?;
                let order = rows.first().and_then(|row| row.first()).and_then(id);
                Ok(order.map_or(Purchased::SoldOut, Purchased::Order))
            }
            Purchase::Steps(steps) => {
                let [net, tax, total] = money;
                let order = [Value::I64(now_us), Value::I32(customer), net, tax, total];
                buy(&mut self.session, steps, customer, items, &order).await
            }
        }
    }
}

/// A purchase as a transaction of statements; `order` holds the parameters of the order, of which the time is the first.
async fn buy(
    session: &mut Session,
    steps: &Steps,
    customer: i32,
    items: &[(i32, i16)],
    order: &[Value],
) -> Result<Purchased, Error> {
    let mut transaction = session.begin().await?;
    let made = transaction.insert(steps.order, order).await?.and_then(|id| i32::try_from(id).ok());
    let orderid = made
        .ok_or_else(|| Error::Statement("the database returned an invalid id for a new order".to_owned()))?;
    for (product, quantity) in items {
        let taken =
            [Value::I16(*quantity), Value::I16(*quantity), Value::I32(*product), Value::I16(*quantity)];
        if transaction.execute(steps.take, &taken).await? == 0 {
            transaction.rollback().await?;
            return Ok(Purchased::SoldOut);
        }
    }
    let mut lines = Vec::with_capacity(5 * items.len().min(LINES_MAX));
    let mut history = Vec::with_capacity(3 * items.len().min(LINES_MAX));
    let mut number = 0;
    for some in items.chunks(LINES_MAX) {
        lines.clear();
        history.clear();
        for (product, quantity) in some {
            number += 1;
            let (line, product) = (Value::I16(number), Value::I32(*product));
            history.extend([Value::I32(customer), Value::I32(orderid), product.clone()]);
            lines.extend([line, Value::I32(orderid), product, Value::I16(*quantity), order[0].clone()]);
        }
        transaction.execute(&steps.lines[some.len() - 1], &lines).await?;
        transaction.execute(&steps.history[some.len() - 1], &history).await?;
    }
    transaction.commit().await?;
    Ok(Purchased::Order(orderid))
}

impl Style {
    /// Procedures, where the dialect has them.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        if Statements::calls_of(dialect).is_some() { Self::Procedures } else { Self::Statements }
    }
}

impl NewCustomer {
    /// In the order of the statements' parameters.
    fn values(&self) -> [Value; 19] {
        let maybe = |text: &Option<String>| text.clone().map_or(Value::Null, Value::Text);
        [
            text(&self.firstname),
            text(&self.lastname),
            text(&self.address1),
            maybe(&self.address2),
            text(&self.city),
            maybe(&self.state),
            Value::I32(self.zip),
            text(&self.country),
            Value::I16(self.region),
            maybe(&self.email),
            maybe(&self.phone),
            Value::I16(self.creditcardtype),
            text(&self.creditcard),
            text(&self.creditcardexpiration),
            text(&self.username),
            text(&self.password),
            Value::I16(self.age),
            Value::I32(self.income),
            text(&self.gender),
        ]
    }
}

/// Words as the dialect's full-text search takes a phrase. Nothing but letters and digits is sent, because all else may
/// mean something there.
fn phrase(dialect: Dialect, words: &str) -> String {
    let words = words.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    match dialect {
        Dialect::Sqlite | Dialect::SqlServer => format!("\"{}\"", words.join(" ")),
        Dialect::Postgres => words.join(" "),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        // Each word is marked in the columns that are searched.
        Dialect::Mysql => {
            format!("\"{}\"", words.iter().map(|word| format!("__{word}")).collect::<Vec<_>>().join(" "))
        }
    }
}

/// An array as PostgreSQL writes it.
fn array(values: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let mut array = String::from("{");
    for (index, value) in values.enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(array, "{}{value}", if index == 0 { "" } else { "," });
    }
    array.push('}');
    array
}

/// A product and its quantity as an element of an array.
struct Pair((i32, i16));

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (product, quantity) = self.0;
        write!(f, "{{{product},{quantity}}}")
    }
}

/// Products and their quantities as a procedure reads them where there are no arrays.
fn list(items: &[(i32, i16)]) -> String {
    let mut list = String::new();
    for (product, quantity) in items {
        // Writing to a string cannot fail.
        let _ = write!(list, "{}{product}:{quantity}", if list.is_empty() { "" } else { "," });
    }
    list
}

fn nulls() -> impl Iterator<Item = Value> {
    std::iter::repeat_n(Value::Null, LINES_MAX)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn id(value: &Value) -> Option<i32> {
    value.integer().and_then(|id| i32::try_from(id).ok())
}
