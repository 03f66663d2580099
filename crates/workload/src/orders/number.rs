//! The one number that a query answers with, whatever the engine makes of its type.

use database::{Error, Session, Value};

/// Runs a query of one number. The sum or the largest of nothing is 0.
pub(super) async fn query_number(session: &mut Session, sql: &str) -> Result<i64, Error> {
    let rows = session.query(sql, &[]).await?;
    number(sql, &rows)
}

/// The number in the answer to a query.
pub(super) fn number(sql: &str, rows: &[Vec<Value>]) -> Result<i64, Error> {
    match rows.first().and_then(|row| row.first()) {
        Some(Value::I64(number)) => Ok(*number),
        // MySQL's sums are decimal numbers.
        Some(Value::F64(number)) => Ok(*number as i64),
        Some(Value::Null) => Ok(0),
        other => Err(Error::Statement(format!("`{sql}` answered with {other:?} instead of a number"))),
    }
}
