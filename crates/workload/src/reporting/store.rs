//! The tables in a database: made, filled, and brought back. Each dialect's statements stand in its file.

use std::fmt;
use std::ops::Range;

use database::{Dialect, Error, Rows, Session, Table, Value, WriteMethod};

use serde::{Deserialize, Serialize};

use super::ask::{CALLS, Calls};
use super::data::MessageData;
use super::tables::{
    CLASSES, CLASSIFICATIONS, DEPARTMENT_NAMES, DEPARTMENTS, DOMAIN_COUNT, DOMAINS, MESSAGE_DATA, MESSAGES,
    domain_name,
};
use crate::named_sql::named;

/// Rows of a transaction: so many that its commit is a small part of it.
const PIECE_ROWS: usize = 50_000;

/// What a dialect's file has for its tables.
struct Statements {
    create: &'static str,
    indexes: &'static str,
    are_indexed: &'static str,
    statistics: &'static str,
}

impl Statements {
    const fn of(file: &'static str) -> Self {
        Self {
            create: named(file, "create"),
            indexes: named(file, "indexes"),
            are_indexed: named(file, "are_indexed"),
            statistics: named(file, "statistics"),
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

/// Which messages a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// How many.
    pub events: u64,
    /// Days over which they are spread.
    pub days: u32,
    /// Bytes of the subject of each.
    pub subject_bytes: u32,
    /// Their seed.
    pub seed: u64,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages over {} days", self.events, self.days)?;
        if self.subject_bytes > 0 {
            write!(f, " with subjects of {} bytes", self.subject_bytes)?;
        }
        write!(f, " with the seed {}", self.seed)
    }
}

/// Looks which messages are there; none in a database that has no such tables, or whose load did not come to its end.
///
/// # Errors
/// Those of the database but that the table is not there.
pub async fn standing(session: &mut Session) -> Result<Option<Standing>, Error> {
    let rows = match session.query("SELECT events, days, subject_bytes, seed FROM message_data", &[]).await {
        Ok(rows) => rows,
        Err(Error::Statement(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let [row] = rows.as_slice() else { return Ok(None) };
    let number = |at: usize| row.get(at).and_then(Value::integer);
    let standing = || {
        Some(Standing {
            events: number(0)?.cast_unsigned(),
            days: u32::try_from(number(1)?).ok()?,
            subject_bytes: u32::try_from(number(2)?).ok()?,
            seed: number(3)?.cast_unsigned(),
        })
    };
    Ok(standing())
}

/// Whether the indexes are there that were made once all messages were: without them a report reads something else.
///
/// # Errors
/// Those of the database.
pub async fn are_indexed(session: &mut Session) -> Result<bool, Error> {
    let lines = statements(session.dialect()).are_indexed.lines().filter(|line| !line.starts_with("--"));
    let rows = session.query(&lines.collect::<Vec<&str>>().join("\n"), &[]).await?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Value::integer) == Some(1))
}

/// Makes the tables, without indexes, and fills those of names; makes the procedures where there are such.
///
/// # Errors
/// Those of the database.
pub async fn create(session: &mut Session) -> Result<(), Error> {
    let dialect = session.dialect();
    session.script(statements(dialect).create).await?;
    if let Some(Calls { create, .. }) = CALLS.of(dialect) {
        for sql in create {
            session.script(sql).await?;
        }
    }
    let domains = (1..=DOMAIN_COUNT).map(domain_name);
    append_names(session, &DOMAINS, domains).await?;
    append_names(session, &DEPARTMENTS, DEPARTMENT_NAMES.map(str::to_owned)).await?;
    append_names(session, &CLASSIFICATIONS, CLASSES.map(|(name, _)| name.to_owned())).await
}

async fn append_names(
    session: &mut Session,
    table: &'static Table,
    names: impl IntoIterator<Item = String>,
) -> Result<(), Error> {
    let mut rows = Rows::with_capacity(2, 0);
    for (key, name) in (1..).zip(names) {
        rows.push([Value::I32(key), Value::Text(name)]);
    }
    session.append(table, &mut rows, WriteMethod::Bulk).await
}

/// Appends messages, and makes indexes and statistics. `on_rows` hears of rows that were committed, and says whether to go on; what
/// comes after the rows is told by none. Gives whether it came to the end.
///
/// # Errors
/// Those of the database.
pub async fn fill(
    session: &mut Session,
    data: &MessageData,
    on_rows: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, Error> {
    let mut rows = Rows::with_capacity(MESSAGES.columns.len(), PIECE_ROWS);
    for piece in pieces(data.events()) {
        rows.clear();
        data.write(piece, &mut rows);
        session.append(&MESSAGES, &mut rows, WriteMethod::Bulk).await?;
        if !on_rows(rows.len() as u64) {
            return Ok(false);
        }
    }
    let statements = statements(session.dialect());
    session.script(statements.indexes).await?;
    session.script(statements.statistics).await?;
    let Standing { events, days, subject_bytes, seed } = data.standing();
    let mut told = Rows::with_capacity(4, 1);
    told.push([
        Value::I64(events.cast_signed()),
        Value::I32(days.cast_signed()),
        Value::I32(subject_bytes.cast_signed()),
        Value::I64(seed.cast_signed()),
    ]);
    session.append(&MESSAGE_DATA, &mut told, WriteMethod::MultiRow).await?;
    Ok(true)
}

fn pieces(events: u64) -> impl Iterator<Item = Range<u64>> {
    (0..events).step_by(PIECE_ROWS).map(move |first| first..events.min(first + PIECE_ROWS as u64))
}

/// How many messages are there beyond those that were loaded. It takes one look into the end of an index, and reads no messages.
///
/// # Errors
/// Those of the database.
pub(super) async fn arrived(session: &mut Session, events: u64) -> Result<u64, Error> {
    let sql = format!("SELECT count(*) FROM messages WHERE message_id > {events}");
    let rows = session.query(&sql, &[]).await?;
    let count = rows.first().and_then(|row| row.first()).and_then(Value::integer);
    Ok(count.unwrap_or(0).cast_unsigned())
}

/// Removes what arrived, so that the messages are those that were loaded.
///
/// # Errors
/// Those of the database.
pub(super) async fn forget_arrived(session: &mut Session, events: u64) -> Result<(), Error> {
    session.execute(&format!("DELETE FROM messages WHERE message_id > {events}"), &[]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_messages_once() {
        for events in [0, 1, 49_999, 50_000, 50_001, 150_000] {
            let numbers: Vec<u64> = pieces(events).flatten().collect();
            assert_eq!(numbers, (0..events).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_file_has_the_same_statements() {
        let files = [
            (Dialect::Sqlite, include_str!("sql/sqlite.sql")),
            (Dialect::Postgres, include_str!("sql/postgres.sql")),
            (Dialect::Mysql, include_str!("sql/mysql.sql")),
            (Dialect::SqlServer, include_str!("sql/sqlserver.sql")),
        ];
        let lacks = |dialect| if CALLS.of(dialect).is_none() { Calls::NAMES.to_vec() } else { Vec::new() };
        let code = concat!(include_str!("store.rs"), include_str!("ask.rs"));
        crate::named_sql::check_files(&files, lacks, code);
    }
}
