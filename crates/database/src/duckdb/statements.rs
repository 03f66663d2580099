//! Statements of DuckDB, run where the caller is.

use std::fmt::Write as _;

use ::duckdb::types::{ToSqlOutput, ValueRef};
use ::duckdb::{CachedStatement, Connection, Result, Row, Statement, ToSql, appender_params_from_iter};

use super::fault::fault;
use crate::error::Attempt;
use crate::rows::{Cell, CellRow};
use crate::{Answer, Error, Protocol, Rows, Table, Value, Wanted, WriteMethod};

/// Rows of one INSERT of many: a vector of DuckDB's has no more.
const ROWS: usize = 2_048;
/// Columns of a table, in their order.
const COLUMNS: &str = "SELECT column_name FROM duckdb_columns() \
                       WHERE database_name = current_database() AND table_name = $1 ORDER BY column_index";

pub(super) fn script(
    database: &Connection,
    sql: &str,
    attempt: Attempt<'_>,
) -> std::result::Result<(), Error> {
    database.execute_batch(sql).map_err(|error| fault(&error, attempt))
}

/// Runs one statement to its end and gives the number of rows that it changed.
pub(super) fn execute(database: &Connection, sql: &str, parameters: &[Value]) -> Result<u64> {
    let mut statement = database.prepare_cached(sql)?;
    bind(&mut statement, parameters)?;
    statement.raw_execute().map(|changed| changed as u64)
}

pub(super) fn query(database: &Connection, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>> {
    let statement = executed(database, sql, parameters)?;
    let (mut found, mut rows) = (Vec::new(), statement.raw_query());
    while let Some(row) = rows.next()? {
        found.push(values(&statement, row)?);
    }
    Ok(found)
}

fn values(statement: &Statement<'_>, row: &Row<'_>) -> Result<Vec<Value>> {
    (0..statement.column_count()).map(|column| value(column, row.get_ref(column)?)).collect()
}

pub(super) fn count_rows(database: &Connection, sql: &str, parameters: &[Value]) -> Result<u64> {
    executed(database, sql, parameters).map(|statement| statement.row_count() as u64)
}

pub(super) fn fold<T>(
    database: &Connection,
    sql: &str,
    parameters: &[Value],
    (mut state, add): (T, fn(&mut T, &[Cell<'_>])),
) -> Result<T> {
    let statement = executed(database, sql, parameters)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let values = values(&statement, row)?;
        let mut cells = CellRow::of(values.len());
        cells.iter_mut().zip(&values).for_each(|(cell, value)| *cell = value.cell());
        add(&mut state, &cells);
    }
    Ok(state)
}

/// Runs what others wrote. Of several statements in one text the last one's answer is given.
pub(super) fn statement(
    database: &Connection,
    sql: &str,
    parameters: &[Value],
    (protocol, wanted): (Protocol, Wanted),
) -> Result<Answer> {
    match protocol {
        Protocol::Prepared => answer(&mut *database.prepare_cached(sql)?, parameters, wanted),
        Protocol::Extended => answer(&mut database.prepare(sql)?, parameters, wanted),
        Protocol::Simple => answer(&mut database.prepare(sql)?, &[], wanted),
    }
}

/// A statement that changes rows answers with their number as a row, which is no row of its own.
fn answer(statement: &mut Statement<'_>, parameters: &[Value], wanted: Wanted) -> Result<Answer> {
    bind(statement, parameters)?;
    let changed = statement.raw_execute()? as u64;
    match wanted {
        Wanted::Nothing => Ok(Answer::default()),
        Wanted::Count if is_count(statement) => Ok(Answer { rows: changed, ..Answer::default() }),
        Wanted::Count => Ok(Answer { rows: statement.row_count() as u64, ..Answer::default() }),
        Wanted::Last => last(statement),
    }
}

/// Whether a statement answered with how many rows it changed.
fn is_count(statement: &Statement<'_>) -> bool {
    statement.column_count() == 1 && statement.column_name(0).is_ok_and(|name| name == "Count")
}

fn last(statement: &Statement<'_>) -> Result<Answer> {
    let (mut found, mut last) = (Answer::default(), Vec::new());
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        found.rows += 1;
        last = values(statement, row)?;
    }
    found.last = statement.column_names().into_iter().zip(last).collect();
    Ok(found)
}

/// Appends rows in one transaction, which is rolled back if it fails.
pub(super) fn append(database: &Connection, table: &Table, rows: &Rows, method: WriteMethod) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let run = || match method {
        WriteMethod::Bulk if is_whole(database, table)? => append_whole(database, table, rows),
        WriteMethod::Bulk | WriteMethod::MultiRow => insert(database, table, rows, ROWS),
        WriteMethod::Batch => insert(database, table, rows, 1),
    };
    database.execute_batch("BEGIN TRANSACTION")?;
    run().and_then(|()| database.execute_batch("COMMIT")).inspect_err(|_| {
        // A COMMIT that failed has ended it; if anything else is the matter, the next BEGIN will tell.
        let _ = database.execute_batch("ROLLBACK");
    })
}

/// Whether rows have a value for each column of a table in the order of these: others the appender does not take.
fn is_whole(database: &Connection, table: &Table) -> Result<bool> {
    let name = [Value::Text(table.name.to_owned())];
    let columns = query(database, COLUMNS, &name)?;
    let names = columns.iter().map(|row| row.first().and_then(Value::text));
    Ok(names.eq(table.columns.iter().map(|column| Some(column.name))))
}

fn append_whole(database: &Connection, table: &Table, rows: &Rows) -> Result<()> {
    let mut appender = database.appender(table.name)?;
    for row in rows.rows() {
        appender.append_row(appender_params_from_iter(row))?;
    }
    appender.flush()
}

/// INSERTs of so many rows at a time.
fn insert(database: &Connection, table: &Table, rows: &Rows, at_once: usize) -> Result<()> {
    let width = table.columns.len().max(1);
    for part in rows.in_parts(at_once) {
        let mut statement = database.prepare_cached(&insert_of(table, part.len() / width))?;
        for (index, cell) in part.enumerate() {
            statement.raw_bind_parameter(index + 1, cell)?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}

fn insert_of(table: &Table, rows: usize) -> String {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let row = format!("({})", vec!["?"; table.columns.len()].join(","));
    let mut sql = String::with_capacity(64 + names.len() * 16 + rows * (row.len() + 1));
    // Writing to a string cannot fail.
    let _ = write!(sql, "INSERT INTO {} ({}) VALUES {row}", table.name, names.join(","));
    for _ in 1..rows {
        sql.push(',');
        sql.push_str(&row);
    }
    sql
}

/// A statement that was run, with all that it answered.
fn executed<'d>(database: &'d Connection, sql: &str, parameters: &[Value]) -> Result<CachedStatement<'d>> {
    let mut statement = database.prepare_cached(sql)?;
    bind(&mut statement, parameters)?;
    statement.raw_execute()?;
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, parameters: &[Value]) -> Result<()> {
    let wanted = statement.parameter_count();
    if wanted != parameters.len() {
        return Err(::duckdb::Error::InvalidParameterCount(parameters.len(), wanted));
    }
    for (index, parameter) in parameters.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, parameter.cell())?;
    }
    Ok(())
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::I16(number) => ValueRef::SmallInt(number),
            Self::I32(number) => ValueRef::Int(number),
            Self::I64(number) => ValueRef::BigInt(number),
            Self::F64(number) => ValueRef::Double(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// Numbers and texts; whatever else there is has to be cast to one of them.
#[expect(clippy::wildcard_enum_match_arm, reason = "other kinds of values are not read")]
fn value(column: usize, value: ValueRef<'_>) -> Result<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Boolean(is) => Value::I64(i64::from(is)),
        ValueRef::TinyInt(number) => Value::I64(number.into()),
        ValueRef::SmallInt(number) => Value::I64(number.into()),
        ValueRef::Int(number) => Value::I64(number.into()),
        ValueRef::BigInt(number) => Value::I64(number),
        ValueRef::UTinyInt(number) => Value::I64(number.into()),
        ValueRef::USmallInt(number) => Value::I64(number.into()),
        ValueRef::UInt(number) => Value::I64(number.into()),
        ValueRef::UBigInt(number) => {
            i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::I64)
        }
        ValueRef::HugeInt(number) => {
            i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::I64)
        }
        ValueRef::Float(number) => Value::F64(number.into()),
        ValueRef::Double(number) => Value::F64(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        other => {
            let words =
                format!("column {}, but prony does not read this type: cast the column to text", column + 1);
            return Err(::duckdb::Error::InvalidColumnType(column, words, other.data_type()));
        }
    })
}
