//! The registers in a database: one table, a row a register from its first write on. Each dialect's statements stand in its file.

use database::{Dialect, Error, Session, Value};
use record::register::FIRST_VALUE;

use crate::named_sql::named;

/// What a dialect's file has.
struct Statements {
    create: &'static str,
    write: &'static str,
    read: &'static str,
    read_all: &'static str,
}

impl Statements {
    const fn of(file: &'static str) -> Self {
        Self {
            create: named(file, "create"),
            write: named(file, "write"),
            read: named(file, "read"),
            read_all: named(file, "read_all"),
        }
    }
}

const SQLITE: Statements = Statements::of(include_str!("sql/sqlite.sql"));
const POSTGRES: Statements = Statements::of(include_str!("sql/postgres.sql"));
const MYSQL: Statements = Statements::of(include_str!("sql/mysql.sql"));
const SQL_SERVER: Statements = Statements::of(include_str!("sql/sqlserver.sql"));

const fn statements(dialect: Dialect) -> &'static Statements {
    match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
        Dialect::Mysql => &MYSQL,
        Dialect::SqlServer => &SQL_SERVER,
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

/// What a register was found to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) value: u64,
    /// What the write of that replaced; none where nobody has written.
    pub(super) replaced: Option<u64>,
}

impl Held {
    /// A register that nobody has written, or that is gone.
    pub(super) const NOTHING: Self = Self { value: FIRST_VALUE, replaced: None };
}

/// Makes the table, empty, in place of the one that is there.
pub(super) async fn create(session: &mut Session) -> Result<(), Error> {
    session.script(statements(session.dialect()).create).await
}

/// Writes a value, in a transaction of its own.
pub(super) async fn write(session: &mut Session, key: u32, value: u64) -> Result<(), Error> {
    let sql = statements(session.dialect()).write;
    let parameters = [number(key.into())?, number(value)?];
    session.execute(sql, &parameters).await.map(drop)
}

/// Reads a register.
pub(super) async fn read(session: &mut Session, key: u32) -> Result<Held, Error> {
    let sql = statements(session.dialect()).read;
    let rows = session.query(sql, &[number(key.into())?]).await?;
    match rows.as_slice() {
        [] => Ok(Held::NOTHING),
        [row] => held(row),
        _ => Err(Error::Statement(format!("register {key} has {} rows instead of one", rows.len()))),
    }
}

/// Reads all registers that were ever written, by one statement: what each holds, by their numbers.
pub(super) async fn read_all(session: &mut Session) -> Result<Vec<(u32, Held)>, Error> {
    let rows = session.query(statements(session.dialect()).read_all, &[]).await?;
    rows.iter()
        .map(|row| {
            let (key, row) = row.split_first().ok_or_else(|| strange(row))?;
            let key = key.integer().and_then(|key| u32::try_from(key).ok());
            Ok((key.ok_or_else(|| strange(row))?, held(row)?))
        })
        .collect()
}

fn held(row: &[Value]) -> Result<Held, Error> {
    let number = |value: &Value| value.integer().and_then(|number| u64::try_from(number).ok());
    match row {
        [value, replaced] => number(value)
            .zip(number(replaced))
            .map(|(value, replaced)| Held { value, replaced: Some(replaced) })
            .ok_or_else(|| strange(row)),
        _ => Err(strange(row)),
    }
}

fn strange(row: &[Value]) -> Error {
    Error::Statement(format!("a register differs from all writes: {row:?}"))
}

fn number(number: u64) -> Result<Value, Error> {
    let too_large = |_| Error::Statement(format!("{number} is too large for a register"));
    i64::try_from(number).map(Value::I64).map_err(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_the_same_statements() {
        let files = [
            (Dialect::Sqlite, include_str!("sql/sqlite.sql")),
            (Dialect::Postgres, include_str!("sql/postgres.sql")),
            (Dialect::Mysql, include_str!("sql/mysql.sql")),
            (Dialect::SqlServer, include_str!("sql/sqlserver.sql")),
        ];
        crate::named_sql::check_files(&files, |_| Vec::new(), include_str!("store.rs"));
    }
}
