//! Values to and from the driver's.

use mysql_async::consts::ColumnType;
use mysql_async::{Params, Row, Value as Driver};

use crate::Value;
use crate::rows::Cell;

pub(super) fn parameters<'r>(cells: impl ExactSizeIterator<Item = Cell<'r>>) -> Params {
    if cells.len() == 0 {
        return Params::Empty;
    }
    Params::Positional(cells.map(sent).collect())
}

fn sent(cell: Cell<'_>) -> Driver {
    match cell {
        Cell::Null => Driver::NULL,
        Cell::I16(number) => Driver::Int(i64::from(number)),
        Cell::I32(number) => Driver::Int(i64::from(number)),
        Cell::I64(number) => Driver::Int(number),
        Cell::F64(number) => Driver::Double(number),
        Cell::Text(text) => Driver::Bytes(text.as_bytes().to_vec()),
    }
}

pub(super) fn received(row: Row) -> Vec<Value> {
    let columns = row.columns();
    let types = columns.iter().map(|column| column.column_type());
    row.unwrap().into_iter().zip(types).map(|(value, kind)| one(value, kind)).collect()
}

fn one(value: Driver, kind: ColumnType) -> Value {
    match value {
        Driver::NULL => Value::Null,
        Driver::Int(number) => Value::I64(number),
        // Above the largest number with a sign there is only an approximation.
        Driver::UInt(number) => i64::try_from(number).map_or(Value::F64(number as f64), Value::I64),
        Driver::Float(number) => Value::F64(f64::from(number)),
        Driver::Double(number) => Value::F64(number),
        Driver::Bytes(bytes) => bytes_value(&bytes, kind),
        other @ (Driver::Date(..) | Driver::Time(..)) => {
            Value::Text(other.as_sql(true).trim_matches('\'').to_owned())
        }
    }
}

/// Decimal numbers come as text, and in the text protocol everything does.
#[expect(clippy::wildcard_enum_match_arm, reason = "types of columns, of which the rest come as text")]
fn bytes_value(bytes: &[u8], kind: ColumnType) -> Value {
    let text = String::from_utf8_lossy(bytes).into_owned();
    match kind {
        ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            text.parse().map_or(Value::Text(text), Value::F64)
        }
        _ => Value::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_meaning() {
        for (given, kind, expected) in [
            (Driver::NULL, ColumnType::MYSQL_TYPE_LONG, Value::Null),
            (Driver::Int(-1), ColumnType::MYSQL_TYPE_LONG, Value::I64(-1)),
            (Driver::UInt(7), ColumnType::MYSQL_TYPE_LONGLONG, Value::I64(7)),
            (Driver::UInt(u64::MAX), ColumnType::MYSQL_TYPE_LONGLONG, Value::F64(u64::MAX as f64)),
            (Driver::Double(0.1), ColumnType::MYSQL_TYPE_DOUBLE, Value::F64(0.1)),
            (Driver::Bytes(b"12.50".to_vec()), ColumnType::MYSQL_TYPE_NEWDECIMAL, Value::F64(12.5)),
            (
                Driver::Bytes(b"12.50".to_vec()),
                ColumnType::MYSQL_TYPE_VAR_STRING,
                Value::Text("12.50".to_owned()),
            ),
            (
                Driver::Date(2026, 1, 2, 3, 4, 5, 0),
                ColumnType::MYSQL_TYPE_DATETIME,
                Value::Text("2026-01-02 03:04:05".to_owned()),
            ),
        ] {
            assert_eq!(one(given, kind), expected);
        }
    }
}
