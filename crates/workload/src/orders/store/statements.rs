//! Every statement of the store, each by its name in the dialect's file. Another dialect is one more file and what it lacks.

use std::sync::LazyLock;

use database::Dialect;

use crate::named_sql::{has, named, named_unless};

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
    /// Where servers of a dialect differ in what they can.
    pub(super) differs: Option<Differs>,
}

/// What is made as a server can, and what is asked of it for that.
#[derive(Debug)]
pub(super) struct Differs {
    /// A row of truth values, in the order of the fields of `Abilities`.
    pub(super) abilities: &'static str,
    /// Rows of names and values: how a store was made.
    pub(super) told: &'static str,
    /// A row: where files are made by default, and the database.
    pub(super) files_path: &'static str,
    pub(super) add_filegroup: &'static str,
    pub(super) add_file: &'static str,
    pub(super) size_log: &'static str,
    /// Catalog and index of full-text search, and what waits until it is filled.
    pub(super) text: [&'static str; 3],
    /// A row with 1 where these are gone, and products are searched by them.
    pub(super) text_lost: &'static str,
    pub(super) search_by_text: &'static str,
    pub(super) search_by_like: &'static str,
}

/// The names of what only dialects have whose servers differ.
#[cfg(test)]
const DIFFERS: [&str; 12] = [
    "abilities",
    "told",
    "files_path",
    "add_filegroup",
    "add_file",
    "size_log",
    "text_catalog",
    "text_index",
    "text_lost",
    "text_ready",
    "search_by_text",
    "search_by_like",
];

/// Scripts that undo what clients did, where dialects differ.
#[derive(Debug)]
pub(super) struct Undo {
    /// The last of the first `{most}` of a `{table}`'s `{id}` beyond `{after}`.
    pub(super) last: &'static str,
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

/// Everything that a dialect's file has.
#[derive(Debug)]
struct Sql {
    dialect: Dialect,
    schema: Schema,
    undo: Undo,
    operations: Operations,
    order: &'static str,
    take: &'static str,
    lines: &'static str,
    history: &'static str,
    /// The first `{most}` orders beyond `{after}`, by rising id.
    orders_after: &'static str,
    /// The operations and the purchase as calls; none where there are no procedures.
    calls: Option<(Operations, &'static str)>,
}

/// The operations but for the purchase.
#[derive(Debug)]
struct Operations {
    login: &'static str,
    new_customer: &'static str,
    browse_by_category: &'static str,
    browse_by_actor: &'static str,
    browse_by_title: &'static str,
    prices: &'static str,
}

/// What a dialect has no statement for: nothing to be done, or no procedures.
const fn lacks(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Sqlite => &[
            "procedures",
            "call_login",
            "call_new_customer",
            "call_browse_by_category",
            "call_browse_by_actor",
            "call_browse_by_title",
            "call_prices",
            "call_purchase",
            "undo_session",
            "undo_ids",
            "undo_finish",
        ],
        Dialect::Postgres | Dialect::Mysql | Dialect::SqlServer => &["load_session"],
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

/// Whether what servers of a dialect can differs.
const fn differs(dialect: Dialect, file: &'static str) -> Option<Differs> {
    match dialect {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql => None,
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        Dialect::SqlServer => Some(Differs {
            abilities: named(file, "abilities"),
            told: named(file, "told"),
            files_path: named(file, "files_path"),
            add_filegroup: named(file, "add_filegroup"),
            add_file: named(file, "add_file"),
            size_log: named(file, "size_log"),
            text: [named(file, "text_catalog"), named(file, "text_index"), named(file, "text_ready")],
            text_lost: named(file, "text_lost"),
            search_by_text: named(file, "search_by_text"),
            search_by_like: named(file, "search_by_like"),
        }),
    }
}

const fn sql(dialect: Dialect, file: &'static str) -> Sql {
    let lacks = lacks(dialect);
    Sql {
        dialect,
        schema: Schema {
            create: named(file, "create"),
            keys: named(file, "keys"),
            drop: named(file, "drop"),
            statistics: named(file, "statistics"),
            procedures: named_unless(lacks, file, "procedures"),
            load_session: named_unless(lacks, file, "load_session"),
            differs: differs(dialect, file),
        },
        undo: Undo {
            last: named(file, "undo_last"),
            history: named(file, "undo_history"),
            inventory: named(file, "undo_inventory"),
            ids: named_unless(lacks, file, "undo_ids"),
            finish: named_unless(lacks, file, "undo_finish"),
            session: named_unless(lacks, file, "undo_session"),
        },
        operations: Operations {
            login: named(file, "login"),
            new_customer: named(file, "new_customer"),
            browse_by_category: named(file, "browse_by_category"),
            browse_by_actor: named(file, "browse_by_actor"),
            browse_by_title: named(file, "browse_by_title"),
            prices: named(file, "prices"),
        },
        order: named(file, "order"),
        take: named(file, "take"),
        lines: named(file, "lines"),
        history: named(file, "history"),
        orders_after: named(file, "orders_after"),
        calls: if has(lacks, "procedures") { None } else { Some(calls(file)) },
    }
}

const fn calls(file: &'static str) -> (Operations, &'static str) {
    let operations = Operations {
        login: named(file, "call_login"),
        new_customer: named(file, "call_new_customer"),
        browse_by_category: named(file, "call_browse_by_category"),
        browse_by_actor: named(file, "call_browse_by_actor"),
        browse_by_title: named(file, "call_browse_by_title"),
        prices: named(file, "call_prices"),
    };
    (operations, named(file, "call_purchase"))
}

static SQLITE: Sql = sql(Dialect::Sqlite, include_str!("sql/sqlite.sql"));
static POSTGRES: Sql = sql(Dialect::Postgres, include_str!("sql/postgres.sql"));
static MYSQL: Sql = sql(Dialect::Mysql, include_str!("sql/mysql.sql"));
static SQL_SERVER: Sql = sql(Dialect::SqlServer, include_str!("sql/sqlserver.sql"));

impl Sql {
    fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Sqlite => &SQLITE,
            Dialect::Postgres => &POSTGRES,
            Dialect::Mysql => &MYSQL,
            Dialect::SqlServer => &SQL_SERVER,
            Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        }
    }

    fn prepared(&self) -> Statements {
        let steps = Steps {
            order: self.order,
            take: self.take,
            lines: with_rows(self.dialect, self.lines, LINE_COLUMNS),
            history: with_rows(self.dialect, self.history, HISTORY_COLUMNS),
        };
        self.operations.with(self.dialect, Purchase::Steps(steps))
    }

    fn called(&self) -> Option<Statements> {
        let (operations, purchase) = self.calls.as_ref()?;
        Some(operations.with(self.dialect, Purchase::Call(purchase)))
    }
}

impl Operations {
    fn with(&self, dialect: Dialect, purchase: Purchase) -> Statements {
        Statements {
            login: self.login,
            new_customer: self.new_customer,
            browse_by_category: self.browse_by_category,
            browse_by_actor: self.browse_by_actor,
            browse_by_title: self.browse_by_title,
            prices: self.prices.replace("{products}", &dialect.placeholders(1, LINES_MAX)),
            purchase,
        }
    }
}

impl Schema {
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        &Sql::of(dialect).schema
    }
}

impl Undo {
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        &Sql::of(dialect).undo
    }
}

/// Selects the first so many orders beyond an id, by rising id.
pub(in crate::orders) fn orders_after(dialect: Dialect, after: i64, most: usize) -> String {
    let sql = Sql::of(dialect).orders_after;
    sql.replace("{after}", &after.to_string()).replace("{most}", &most.to_string())
}

/// Prepared statements and calls of each dialect, in the order of [`Dialect::BY_ROWS`].
static STATEMENTS: LazyLock<[(Statements, Option<Statements>); Dialect::BY_ROWS.len()]> =
    LazyLock::new(|| {
        Dialect::BY_ROWS.map(|dialect| {
            let sql = Sql::of(dialect);
            (sql.prepared(), sql.called())
        })
    });

impl Statements {
    /// Prepared statements.
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        &STATEMENTS[dialect as usize].0
    }

    /// Calls of procedures, where there are any.
    pub(super) fn calls_of(dialect: Dialect) -> Option<&'static Self> {
        STATEMENTS[dialect as usize].1.as_ref()
    }
}

/// An INSERT for each number of rows up to the most.
fn with_rows(dialect: Dialect, sql: &str, columns: usize) -> Vec<String> {
    let row = |row: usize| format!("({})", dialect.placeholders(1 + row * columns, columns));
    let rows = |count| (0..count).map(row).collect::<Vec<_>>().join(", ");
    (1..=LINES_MAX).map(|count| sql.replace("{rows}", &rows(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_every_statement_or_is_known_to_lack_it() {
        let files = [
            (Dialect::Sqlite, include_str!("sql/sqlite.sql")),
            (Dialect::Postgres, include_str!("sql/postgres.sql")),
            (Dialect::Mysql, include_str!("sql/mysql.sql")),
            (Dialect::SqlServer, include_str!("sql/sqlserver.sql")),
        ];
        assert_eq!(files.map(|(dialect, _)| dialect), Dialect::BY_ROWS);
        let lacks = |dialect| match Sql::of(dialect).schema.differs {
            Some(_) => lacks(dialect).to_vec(),
            None => [lacks(dialect), &DIFFERS].concat(),
        };
        crate::named_sql::check_files(&files, lacks, include_str!("statements.rs"));
    }

    #[test]
    fn each_dialect_has_its_own_statements() {
        for dialect in Dialect::BY_ROWS {
            let steps = |statements: &Statements| match &statements.purchase {
                Purchase::Steps(steps) => Some(steps.lines[1].clone()),
                Purchase::Call(_) => None,
            };
            let two_lines = steps(Statements::of(dialect)).unwrap();
            assert!(two_lines.contains(&dialect.placeholder(10)), "{two_lines}");
            assert!(Statements::calls_of(dialect).is_none_or(|calls| steps(calls).is_none()));
        }
    }
}
