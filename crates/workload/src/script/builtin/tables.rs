//! pgbench's four tables: 100,000 accounts, 10 tellers and 1 branch for each unit of the scale, and an empty history.

use database::{Column, Dialect, Error, Kind, Lease, Rows, Session, Table, Value, WriteMethod};

/// Rows for each unit of the scale.
const ACCOUNTS: u64 = 100_000;
const TELLERS: u64 = 10;
/// Rows of a transaction of a load.
const PIECE_ROWS: u64 = 10_000;

static BRANCHES_TABLE: Table = Table {
    name: "pgbench_branches",
    columns: &[Column { name: "bid", kind: Kind::I32 }, Column { name: "bbalance", kind: Kind::I32 }],
};
static TELLERS_TABLE: Table = Table {
    name: "pgbench_tellers",
    columns: &[
        Column { name: "tid", kind: Kind::I32 },
        Column { name: "bid", kind: Kind::I32 },
        Column { name: "tbalance", kind: Kind::I32 },
    ],
};
static ACCOUNTS_TABLE: Table = Table {
    name: "pgbench_accounts",
    columns: &[
        Column { name: "aid", kind: Kind::I32 },
        Column { name: "bid", kind: Kind::I32 },
        Column { name: "abalance", kind: Kind::I32 },
        Column { name: "filler", kind: Kind::Text },
    ],
};

/// What stands of the four tables in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// None of them.
    None,
    /// All of them, of this scale.
    Of(u32),
}

/// Rows that [`make`] loads.
#[must_use]
pub fn rows_of(scale: u32) -> u64 {
    u64::from(scale) * (ACCOUNTS + TELLERS + 1)
}

/// Looks what is there. The scale is the number of branches, as pgbench takes it.
///
/// # Errors
/// Those of the database; and where only some of the tables are there, or they do not hold what belongs together.
pub async fn standing(session: &mut Session) -> Result<Tables, Error> {
    let mut missing = Vec::new();
    for table in ["pgbench_branches", "pgbench_tellers", "pgbench_accounts", "pgbench_history"] {
        match session.query(&format!("SELECT 1 FROM {table} WHERE 1 = 0"), &[]).await {
            Ok(_) => {}
            Err(Error::Statement(_)) => missing.push(table),
            Err(error) => return Err(error),
        }
    }
    match missing.len() {
        0 => {}
        4 => return Ok(Tables::None),
        _ => {
            return Err(Error::Statement(format!(
                "some of pgbench's tables exist, but not {}: drop the existing ones, or use another database",
                missing.join(", ")
            )));
        }
    }
    let count = |table| format!("SELECT count(*) FROM {table}");
    let mut counts = [0; 2];
    for (found, table) in counts.iter_mut().zip(["pgbench_branches", "pgbench_tellers"]) {
        let rows = session.query(&count(table), &[]).await?;
        *found = rows.first().and_then(|row| row.first()).and_then(Value::integer).unwrap_or(0);
    }
    let [branches, tellers] = counts;
    match u32::try_from(branches) {
        Ok(scale) if scale > 0 && tellers == branches * TELLERS.cast_signed() => Ok(Tables::Of(scale)),
        _ => Err(Error::Statement(format!(
            "pgbench's tables have {branches} branches and {tellers} tellers, not ten tellers per branch, so loading did not finish: \
            drop them, or use another database"
        ))),
    }
}

/// The name of the database, if it is one of the server's own, in which nobody should have tables.
///
/// # Errors
/// Those of the database.
pub async fn system_schema(session: &mut Session) -> Result<Option<String>, Error> {
    let (sql, own): (&str, &[&str]) = match session.dialect() {
        // Each database that is made is a copy of it.
        Dialect::Postgres => ("SELECT CAST(current_database() AS text)", &["template1", "template0"]),
        Dialect::Mysql => {
            ("SELECT DATABASE()", &["mysql", "information_schema", "performance_schema", "sys"])
        }
        Dialect::SqlServer => ("SELECT DB_NAME()", &["master", "model", "msdb", "tempdb"]),
        Dialect::Sqlite => return Ok(None),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    };
    let rows = session.query(sql, &[]).await?;
    let name = rows.into_iter().flatten().next();
    Ok(match name {
        Some(Value::Text(name)) if own.iter().any(|own| own.eq_ignore_ascii_case(&name)) => Some(name),
        Some(_) | None => None,
    })
}

/// Makes the tables of a scale and loads them; `loaded` hears of each piece and says whether to go on.
///
/// # Errors
/// Those of the database. What was made by then stays.
pub async fn make(lease: &Lease, scale: u32, loaded: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
    let mut session = lease.session().await?;
    let dialect = session.dialect();
    for sql in create(dialect) {
        session.script(&sql).await?;
    }
    // pgbench loads an empty filler, which a column of char(84) makes 84 blanks of. SQLite has no such columns.
    let filler = if dialect == Dialect::Sqlite { " ".repeat(84) } else { String::new() };
    let scale_64 = u64::from(scale);
    let of =
        |number: u64, per_branch: u64| [number + 1, number / per_branch + 1].map(|id| Value::I32(id as i32));
    let tables: [(&'static Table, u64, u64); 3] = [
        (&BRANCHES_TABLE, scale_64, 1),
        (&TELLERS_TABLE, scale_64 * TELLERS, TELLERS),
        (&ACCOUNTS_TABLE, scale_64 * ACCOUNTS, ACCOUNTS),
    ];
    for (table, count, per_branch) in tables {
        let mut rows = Rows::with_capacity(table.columns.len(), PIECE_ROWS as usize);
        let mut number = 0;
        while number < count {
            rows.clear();
            let end = count.min(number + PIECE_ROWS);
            for number in number..end {
                let [id, branch] = of(number, per_branch);
                match table.columns.len() {
                    2 => rows.push([id, Value::I32(0)]),
                    3 => rows.push([id, branch, Value::I32(0)]),
                    _ => rows.push([id, branch, Value::I32(0), Value::Text(filler.clone())]),
                }
            }
            session.append(table, &mut rows, WriteMethod::Bulk).await?;
            if !loaded(end - number) {
                return Ok(false);
            }
            number = end;
        }
    }
    for sql in finish(dialect) {
        session.script(sql).await?;
    }
    Ok(true)
}

/// Keys come before the rows but where an index is made faster of all of them.
fn create(dialect: Dialect) -> [String; 4] {
    let key = match dialect {
        Dialect::Postgres => "NOT NULL",
        Dialect::Mysql | Dialect::SqlServer => "NOT NULL PRIMARY KEY",
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        // Such a key is the number of the row itself.
        Dialect::Sqlite => "PRIMARY KEY",
    };
    let int = if dialect == Dialect::Sqlite { "integer" } else { "int" };
    let time = match dialect {
        Dialect::Postgres | Dialect::Sqlite => "timestamp",
        Dialect::Mysql => "datetime",
        Dialect::SqlServer => "datetime2",
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    };
    [
        format!("CREATE TABLE pgbench_branches (bid {int} {key}, bbalance int, filler char(88))"),
        format!("CREATE TABLE pgbench_tellers (tid {int} {key}, bid int, tbalance int, filler char(84))"),
        format!("CREATE TABLE pgbench_accounts (aid {int} {key}, bid int, abalance int, filler char(84))"),
        format!(
            "CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime {time}, filler char(22))"
        ),
    ]
}

/// Keys, and what the server wants to know of the rows.
fn finish(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Postgres => &[
            "ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid)",
            "ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid)",
            "ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)",
            "VACUUM ANALYZE pgbench_branches",
            "VACUUM ANALYZE pgbench_tellers",
            "VACUUM ANALYZE pgbench_accounts",
        ],
        Dialect::Mysql => &[
            "ANALYZE TABLE pgbench_branches",
            "ANALYZE TABLE pgbench_tellers",
            "ANALYZE TABLE pgbench_accounts",
        ],
        Dialect::Sqlite => &["ANALYZE"],
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        // It looks by itself, once a statement wants to know.
        Dialect::SqlServer => &[],
    }
}
