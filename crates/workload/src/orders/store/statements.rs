//! Every statement of the store, each from the file of its name. Another dialect is one more folder and its lines here.

use std::sync::LazyLock;

use database::Dialect;

/// Lines that one statement of a purchase writes, and products that one looks up; more are done in turns.
pub(super) const LINES_MAX: usize = 10;
/// Columns of an order line, and of a row of a customer's history.
const LINE_COLUMNS: usize = 5;
const HISTORY_COLUMNS: usize = 3;

/// Scripts that make and remove tables.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) create: &'static str,
    pub(super) keys: &'static str,
    pub(super) drop: &'static str,
    pub(super) statistics: &'static str,
    /// None where there are no procedures.
    pub(super) procedures: Option<&'static str>,
    /// None where a session loads rows as it is.
    pub(super) load_session: Option<&'static str>,
}

/// Scripts that undo what clients did, where dialects differ.
#[derive(Debug)]
pub(super) struct Undo {
    /// One statement, with `{after}` and `{last}`: the orders between these ids.
    pub(super) history: &'static str,
    pub(super) inventory: &'static str,
    /// With the last or next ids; none where they follow the largest that is there.
    pub(super) ids: Option<&'static str>,
    /// For the rows that are left; none where nothing is left to do for them.
    pub(super) finish: Option<&'static str>,
    /// None where a session waits for locks as it should.
    pub(super) session: Option<&'static str>,
}

/// The operations of a dialect in one style.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) login: &'static str,
    pub(super) new_customer: &'static str,
    pub(super) browse_by_category: &'static str,
    pub(super) browse_by_actor: &'static str,
    pub(super) browse_by_title: &'static str,
    pub(super) prices: String,
    pub(super) purchase: Purchase,
}

/// How something is bought.
#[derive(Debug)]
pub(super) enum Purchase {
    /// One call of a procedure.
    Call(&'static str),
    /// A transaction of statements.
    Steps(Steps),
}

/// Statements of a purchase in the order of their use.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) order: &'static str,
    /// Changes no row if there is too little stock.
    pub(super) take: &'static str,
    /// For 1, 2, … lines.
    pub(super) lines: Vec<String>,
    pub(super) history: Vec<String>,
}

macro_rules! schema {
    ($folder:literal, $procedures:expr, $load_session:expr) => {
        Schema {
            create: include_str!(concat!("sql/", $folder, "/create.sql")),
            keys: include_str!(concat!("sql/", $folder, "/keys.sql")),
            drop: include_str!(concat!("sql/", $folder, "/drop.sql")),
            statistics: include_str!(concat!("sql/", $folder, "/statistics.sql")),
            procedures: $procedures,
            load_session: $load_session,
        }
    };
}

static SQLITE_SCHEMA: Schema = schema!("sqlite", None, Some(include_str!("sql/sqlite/load_session.sql")));
static POSTGRES_SCHEMA: Schema = schema!("postgres", Some(include_str!("sql/postgres/procedures.sql")), None);
static MYSQL_SCHEMA: Schema = schema!("mysql", Some(include_str!("sql/mysql/procedures.sql")), None);

macro_rules! undo {
    ($folder:literal, $ids:expr, $finish:expr, $session:expr) => {
        Undo {
            history: include_str!(concat!("sql/", $folder, "/undo/history.sql")),
            inventory: include_str!(concat!("sql/", $folder, "/undo/inventory.sql")),
            ids: $ids,
            finish: $finish,
            session: $session,
        }
    };
}

static SQLITE_UNDO: Undo = undo!("sqlite", None, None, None);
static POSTGRES_UNDO: Undo = undo!(
    "postgres",
    Some(include_str!("sql/postgres/undo/ids.sql")),
    Some(include_str!("sql/postgres/undo/finish.sql")),
    Some(include_str!("sql/postgres/undo/session.sql"))
);
static MYSQL_UNDO: Undo = undo!(
    "mysql",
    Some(include_str!("sql/mysql/undo/ids.sql")),
    Some(include_str!("sql/mysql/undo/finish.sql")),
    Some(include_str!("sql/mysql/undo/session.sql"))
);

macro_rules! statements {
    ($folder:literal, $dialect:expr, $purchase:expr) => {
        Statements {
            login: include_str!(concat!("sql/", $folder, "/login.sql")),
            new_customer: include_str!(concat!("sql/", $folder, "/new_customer.sql")),
            browse_by_category: include_str!(concat!("sql/", $folder, "/browse_by_category.sql")),
            browse_by_actor: include_str!(concat!("sql/", $folder, "/browse_by_actor.sql")),
            browse_by_title: include_str!(concat!("sql/", $folder, "/browse_by_title.sql")),
            prices: include_str!(concat!("sql/", $folder, "/prices.sql"))
                .replace("{products}", &parameters($dialect, 1, LINES_MAX)),
            purchase: $purchase,
        }
    };
}

macro_rules! steps {
    ($folder:literal, $dialect:expr) => {
        Purchase::Steps(Steps {
            order: include_str!(concat!("sql/", $folder, "/order.sql")),
            take: include_str!(concat!("sql/", $folder, "/take.sql")),
            lines: with_rows($dialect, include_str!(concat!("sql/", $folder, "/lines.sql")), LINE_COLUMNS),
            history: with_rows(
                $dialect,
                include_str!(concat!("sql/", $folder, "/history.sql")),
                HISTORY_COLUMNS,
            ),
        })
    };
}

static SQLITE: LazyLock<Statements> =
    LazyLock::new(|| statements!("sqlite", Dialect::Sqlite, steps!("sqlite", Dialect::Sqlite)));
static POSTGRES: LazyLock<Statements> =
    LazyLock::new(|| statements!("postgres", Dialect::Postgres, steps!("postgres", Dialect::Postgres)));
static MYSQL: LazyLock<Statements> =
    LazyLock::new(|| statements!("mysql", Dialect::Mysql, steps!("mysql", Dialect::Mysql)));
static POSTGRES_CALLS: LazyLock<Statements> = LazyLock::new(|| {
    let purchase = Purchase::Call(include_str!("sql/postgres/call/purchase.sql"));
    statements!("postgres/call", Dialect::Postgres, purchase)
});
static MYSQL_CALLS: LazyLock<Statements> = LazyLock::new(|| {
    let purchase = Purchase::Call(include_str!("sql/mysql/call/purchase.sql"));
    statements!("mysql/call", Dialect::Mysql, purchase)
});

impl Schema {
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Sqlite => &SQLITE_SCHEMA,
            Dialect::Postgres => &POSTGRES_SCHEMA,
            Dialect::Mysql => &MYSQL_SCHEMA,
        }
    }
}

impl Undo {
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Sqlite => &SQLITE_UNDO,
            Dialect::Postgres => &POSTGRES_UNDO,
            Dialect::Mysql => &MYSQL_UNDO,
        }
    }
}

impl Statements {
    /// Prepared statements.
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Sqlite => &SQLITE,
            Dialect::Postgres => &POSTGRES,
            Dialect::Mysql => &MYSQL,
        }
    }

    /// Calls of procedures, where there are any.
    pub(super) fn calls_of(dialect: Dialect) -> Option<&'static Self> {
        match dialect {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(&POSTGRES_CALLS),
            Dialect::Mysql => Some(&MYSQL_CALLS),
        }
    }
}

/// An INSERT for each number of rows up to the most.
fn with_rows(dialect: Dialect, sql: &str, columns: usize) -> Vec<String> {
    let row = |row: usize| format!("({})", parameters(dialect, 1 + row * columns, columns));
    let rows = |count| (0..count).map(row).collect::<Vec<_>>().join(", ");
    (1..=LINES_MAX).map(|count| sql.replace("{rows}", &rows(count))).collect()
}

/// Parameters `first` to `first + count - 1` as the dialect writes them.
fn parameters(dialect: Dialect, first: usize, count: usize) -> String {
    let one = |number: usize| match dialect {
        Dialect::Sqlite => format!("?{number}"),
        Dialect::Postgres => format!("${number}"),
        Dialect::Mysql => "?".to_owned(),
    };
    (first..first + count).map(one).collect::<Vec<_>>().join(", ")
}
