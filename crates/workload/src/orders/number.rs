//! The one number that a query answers with, whatever the engine makes of its type.

use std::borrow::Cow;

use database::{Dialect, Error, Session, Value};

/// Runs a query of one number. The sum or the largest of nothing is 0.
pub(super) async fn query_number(session: &mut Session, sql: &str) -> Result<i64, Error> {
    let sql = wide(session.dialect(), sql);
    let rows = session.query(&sql, &[]).await?;
    number(&sql, &rows)
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

/// SQL Server adds up and counts whole numbers of 32 bits in 32 bits, and refuses what does not fit.
fn wide(dialect: Dialect, sql: &str) -> Cow<'_, str> {
    match dialect {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql => Cow::Borrowed(sql),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        Dialect::SqlServer => {
            let sums = sql.replace("sum(", "sum(CAST(1 AS bigint) * ");
            Cow::Owned(sums.replace("count(*)", "count_big(*)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8115 of SQL Server, on a store whose items sold are more than 2^31.
    #[test]
    fn sums_and_counts_have_64_bits_everywhere() {
        let sql = "SELECT sum(sales), count(*) FROM inventory";
        assert_eq!(
            wide(Dialect::SqlServer, sql),
            "SELECT sum(CAST(1 AS bigint) * sales), count_big(*) FROM inventory"
        );
        assert_eq!(wide(Dialect::Postgres, sql), sql);
    }
}
