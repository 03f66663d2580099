//! Statements of SQLite, run where the caller is: shared by sessions, which have a thread for it, and the fake.

use std::collections::HashMap;
use std::fmt::Write as _;

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Batch, CachedStatement, Connection as Database, ErrorCode, Statement, ToSql};

use crate::error::{Attempt, remedy};
use crate::rows::{Cell, CellRow, Cells};
use crate::{Answer, Error, Mistake, Protocol, Refusal, Rows, Table, UsedSpace, Value, Wanted, WriteMethod};

/// Statements that stay prepared.
const PREPARED: usize = 64;
/// Most parameters of one statement: <https://sqlite.org/limits.html>, 9.
const PARAMETERS: usize = 32_766;
/// Rows of one statement where many are loaded: a statement a row took 1.7 times as long, where the disk takes no time.
const BULK_ROWS: usize = 40;

/// Settings of a connection that do not touch the file.
pub(crate) fn prepare(database: &Database) -> rusqlite::Result<()> {
    database.set_prepared_statement_cache_capacity(PREPARED);
    Ok(())
}

pub(crate) fn script(database: &Database, sql: &str, attempt: Attempt<'_>) -> Result<(), Error> {
    database.execute_batch(sql).map_err(|error| fault(&error, attempt))
}

/// Runs one statement to its end and gives the number of rows that it changed.
pub(crate) fn execute(
    database: &Database,
    sql: &str,
    parameters: &[Value],
    attempt: Attempt<'_>,
) -> Result<u64, Error> {
    let run = || {
        let before = database.total_changes();
        let mut statement = bound(database, sql, parameters)?;
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        drop(rows);
        // The count of the last statement that changed rows stays until there is another.
        Ok(if database.total_changes() == before { 0 } else { database.changes() })
    };
    run().map_err(|error| fault(&error, attempt))
}

pub(crate) fn query(
    database: &Database,
    sql: &str,
    parameters: &[Value],
    attempt: Attempt<'_>,
) -> Result<Vec<Vec<Value>>, Error> {
    let run = || {
        let mut statement = bound(database, sql, parameters)?;
        let width = statement.column_count();
        let mut found = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let row: rusqlite::Result<Vec<Value>> =
                (0..width).map(|column| row.get_ref(column).map(value)).collect();
            found.push(row?);
        }
        Ok(found)
    };
    run().map_err(|error| fault(&error, attempt))
}

pub(crate) fn fold<T>(
    database: &Database,
    sql: &str,
    parameters: &[Value],
    (mut state, add): (T, fn(&mut T, &[Cell<'_>])),
    attempt: Attempt<'_>,
) -> Result<T, Error> {
    let run = || {
        let mut statement = bound(database, sql, parameters)?;
        let width = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let mut cells = CellRow::of(width);
            for (column, cell) in cells.iter_mut().enumerate() {
                *cell = self::cell(column, row.get_ref(column)?)?;
            }
            add(&mut state, &cells);
        }
        Ok(state)
    };
    run().map_err(|error| fault(&error, attempt))
}

pub(crate) fn count_rows(
    database: &Database,
    sql: &str,
    parameters: &[Value],
    attempt: Attempt<'_>,
) -> Result<u64, Error> {
    let run = || {
        let mut statement = bound(database, sql, parameters)?;
        let width = statement.column_count();
        let mut rows = statement.raw_query();
        let mut count = 0;
        while let Some(row) = rows.next()? {
            // SQLite decodes a value when it is asked for.
            for column in 0..width {
                row.get_ref(column)?;
            }
            count += 1;
        }
        Ok(count)
    };
    run().map_err(|error| fault(&error, attempt))
}

/// Runs what others wrote. Of several statements in one text the last one's answer is given.
pub(crate) fn statement(
    database: &Database,
    sql: &str,
    parameters: &[Value],
    (protocol, wanted): (Protocol, Wanted),
) -> rusqlite::Result<Answer> {
    match protocol {
        Protocol::Prepared => {
            let mut statement = bound(database, sql, parameters)?;
            answer(database, &mut statement, wanted)
        }
        Protocol::Extended => {
            let mut statement = database.prepare(sql)?;
            bind(&mut statement, parameters)?;
            answer(database, &mut statement, wanted)
        }
        Protocol::Simple => {
            let mut batch = Batch::new(database, sql);
            let mut found = Answer::default();
            while let Some(mut statement) = batch.next()? {
                found = answer(database, &mut statement, wanted)?;
            }
            Ok(found)
        }
    }
}

/// Why a statement cannot be prepared, if that is its own fault. Nothing is run.
#[expect(clippy::wildcard_enum_match_arm, reason = "other kinds of errors are not the statement's")]
pub(crate) fn refusal(database: &Database, sql: &str) -> Option<Refusal> {
    let (words, lines_before) = match database.prepare(sql).err()? {
        rusqlite::Error::SqlInputError { error, msg, offset, .. } if error.code == ErrorCode::Unknown => {
            let offset = usize::try_from(offset).unwrap_or(0);
            (msg, sql.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count())
        }
        rusqlite::Error::SqliteFailure(error, Some(words)) if error.code == ErrorCode::Unknown => (words, 0),
        _ => return None,
    };
    let mistake = if words.starts_with("no such") { Mistake::Missing } else { Mistake::Other };
    Some(Refusal { words, lines_before, mistake })
}

fn answer(database: &Database, statement: &mut Statement<'_>, wanted: Wanted) -> rusqlite::Result<Answer> {
    let names: Vec<String> = match wanted {
        Wanted::Last => statement.column_names().into_iter().map(str::to_owned).collect(),
        Wanted::Nothing | Wanted::Count => Vec::new(),
    };
    let (is_query, before) = (statement.column_count() > 0, database.total_changes());
    let mut found = Answer::default();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        found.rows += 1;
        if wanted == Wanted::Last {
            let one = |column: usize| match row.get_ref(column)? {
                ValueRef::Blob(_) => Err(rusqlite::Error::InvalidColumnType(
                    column,
                    format!("{0}, which is a BLOB and not read: use hex({0})", names[column]),
                    rusqlite::types::Type::Blob,
                )),
                other @ (ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_)) => {
                    Ok(value(other))
                }
            };
            let values: rusqlite::Result<Vec<Value>> = (0..names.len()).map(one).collect();
            found.last = names.iter().cloned().zip(values?).collect();
        }
    }
    drop(rows);
    // What a statement changed that changes nothing is what the one before it did.
    if !is_query && database.total_changes() > before {
        found.rows = database.changes();
    }
    Ok(found)
}

/// Appends rows in one transaction, which is rolled back if it fails.
pub(crate) fn append(
    database: &Database,
    table: &Table,
    rows: &Rows,
    method: WriteMethod,
    attempt: Attempt<'_>,
) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let run = || {
        database.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
        match method {
            WriteMethod::Batch => run_for_each(database, &insert(table, 1), rows.rows())?,
            WriteMethod::Bulk => insert_bulk(database, table, rows)?,
            WriteMethod::MultiRow => insert_many(database, table, rows)?,
        }
        database.prepare_cached("COMMIT")?.raw_execute()
    };
    run().map(|_| ()).map_err(|error| {
        if !database.is_autocommit() {
            // If this fails too, the next BEGIN will tell.
            let _ = database.execute_batch("ROLLBACK");
        }
        fault(&error, attempt)
    })
}

/// Ends a transaction, unless an error has ended it already.
pub(crate) fn rollback(database: &Database, attempt: Attempt<'_>) -> Result<(), Error> {
    if database.is_autocommit() { Ok(()) } else { script(database, "ROLLBACK", attempt) }
}

/// Two statements do for any number of rows.
fn insert_bulk(database: &Database, table: &Table, rows: &Rows) -> rusqlite::Result<()> {
    let at_once = BULK_ROWS.min(PARAMETERS / table.columns.len().max(1)).max(1);
    let whole = rows.len() / at_once;
    if whole > 0 {
        run_for_each(database, &insert(table, at_once), rows.in_parts(at_once).take(whole))?;
    }
    run_for_each(database, &insert(table, 1), rows.rows().skip(whole * at_once))
}

fn insert_many(database: &Database, table: &Table, rows: &Rows) -> rusqlite::Result<()> {
    let width = table.columns.len().max(1);
    for part in rows.in_parts((PARAMETERS / width).max(1)) {
        run_for_each(database, &insert(table, part.len() / width), std::iter::once(part))?;
    }
    Ok(())
}

fn run_for_each<'r>(
    database: &Database,
    sql: &str,
    parts: impl Iterator<Item = Cells<'r>>,
) -> rusqlite::Result<()> {
    let mut statement = database.prepare_cached(sql)?;
    for part in parts {
        for (index, cell) in part.enumerate() {
            statement.raw_bind_parameter(index + 1, cell)?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}

/// An INSERT of so many rows. A row that cannot be stored undoes the whole transaction, which [`append`] wants anyway: if it
/// undid its own statement only, SQLite would first copy each page that a statement of many rows changes
/// (<https://sqlite.org/tempfiles.html>, 2.4), and did half of all its writes for that.
fn insert(table: &Table, rows: usize) -> String {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let row = format!("({})", vec!["?"; table.columns.len()].join(","));
    let mut sql = String::with_capacity(64 + names.len() * 16 + rows * (row.len() + 1));
    // Writing to a string cannot fail.
    let _ = write!(sql, "INSERT OR ROLLBACK INTO {} ({}) VALUES {row}", table.name, names.join(","));
    for _ in 1..rows {
        sql.push(',');
        sql.push_str(&row);
    }
    sql
}

fn bound<'d>(
    database: &'d Database,
    sql: &str,
    parameters: &[Value],
) -> rusqlite::Result<CachedStatement<'d>> {
    let mut statement = database.prepare_cached(sql)?;
    bind(&mut statement, parameters)?;
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, parameters: &[Value]) -> rusqlite::Result<()> {
    let wanted = statement.parameter_count();
    if wanted != parameters.len() {
        return Err(rusqlite::Error::InvalidParameterCount(parameters.len(), wanted));
    }
    for (index, parameter) in parameters.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, parameter.cell())?;
    }
    Ok(())
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::I16(number) => ValueRef::Integer(i64::from(number)),
            Self::I32(number) => ValueRef::Integer(i64::from(number)),
            Self::I64(number) => ValueRef::Integer(number),
            Self::F64(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn cell(column: usize, value: ValueRef<'_>) -> rusqlite::Result<Cell<'_>> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::I64(number),
        ValueRef::Real(number) => Cell::F64(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Cell::Text(std::str::from_utf8(text).map_err(|error| rusqlite::Error::Utf8Error(column, error))?)
        }
    })
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::I64(number),
        ValueRef::Real(number) => Value::F64(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Value::Text(String::from_utf8_lossy(text).into_owned())
        }
    }
}

/// The extended result code of an error of SQLite's own.
#[expect(clippy::wildcard_enum_match_arm, reason = "other kinds of errors are not SQLite's")]
pub(crate) fn code(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            Some(error.extended_code)
        }
        _ => None,
    }
}

/// What an error of SQLite means to a caller.
pub(crate) fn fault(error: &rusqlite::Error, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(error, remedy);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::Full(text(remedy::FULL)),
        // What the system said is not told.
        Some(ErrorCode::SystemIoFailure) if has_file_limit() => Error::Full(text(remedy::FILE_LIMIT)),
        Some(ErrorCode::CannotOpen) => {
            Error::NoDatabase(text("check that the file and its directory exist and are writable"))
        }
        Some(ErrorCode::NotADatabase) => {
            Error::NoDatabase(text("the file is not a SQLite database; choose another name"))
        }
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            Error::Refused(text("give this user write permission for the file and its directory"))
        }
        Some(ErrorCode::DatabaseBusy) => Error::Conflict(text(
            "another session has locked the file: try again, or wait until that session ends",
        )),
        _ => Error::Statement(text("")),
    }
}

/// Whether files of this process may only become so large.
fn has_file_limit() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some()
}

/// Bytes of all pages, used and free.
pub(crate) fn page_bytes(database: &Database, attempt: Attempt<'_>) -> Result<u64, Error> {
    let number = |pragma| database.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let bytes = || Ok(u64::from(number("page_count")?) * u64::from(number("page_size")?));
    bytes().map_err(|error| fault(&error, attempt))
}

/// Pages of the database without those that are free.
pub(crate) fn used_space(database: &Database, attempt: Attempt<'_>) -> Result<UsedSpace, Error> {
    let number = |pragma| database.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let bytes = || {
        let used_pages = number("page_count")?.saturating_sub(number("freelist_count")?);
        Ok(u64::from(used_pages) * u64::from(number("page_size")?))
    };
    let bytes = bytes().map_err(|error| fault(&error, attempt))?;
    Ok(UsedSpace { bytes, uncertain_bytes: 0 })
}

/// Settings that change figures, with their units.
pub(crate) fn settings(
    database: &Database,
    attempt: Attempt<'_>,
) -> Result<HashMap<&'static str, String>, Error> {
    let names =
        ["journal_mode", "synchronous", "page_size", "cache_size", "wal_autocheckpoint", "busy_timeout"];
    let mut settings = HashMap::new();
    for name in names {
        let rows = query(database, &format!("PRAGMA {name}"), &[], attempt)?;
        let value = match rows.first().and_then(|row| row.first()) {
            Some(Value::I64(number)) => number.to_string(),
            Some(Value::Text(text)) => text.clone(),
            _ => "unknown".to_owned(),
        };
        settings.insert(name, value);
    }
    Ok(settings)
}
