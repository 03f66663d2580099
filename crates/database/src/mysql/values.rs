//! Values to and from the driver's.

use mysql_async::consts::ColumnType;
use mysql_async::{Params, Row, Value as Driver};

use crate::numbers::Numbers;
use crate::rows::{Cell, Cells};
use crate::{NumberRow, Value};

/// A row that can be sent as parameters of a statement.
pub(crate) trait Parameters {
    /// Adds its values to those of other rows.
    fn add_to(self, values: &mut Vec<Driver>);
}

impl Parameters for Cells<'_> {
    #[inline]
    fn add_to(self, values: &mut Vec<Driver>) {
        values.extend(self.map(sent));
    }
}

impl<R: NumberRow> Parameters for Numbers<R> {
    #[inline]
    fn add_to(self, values: &mut Vec<Driver>) {
        values.extend(self.0.cells().map(sent));
    }
}

/// Rows of so many values, one after the other, as the parameters of one statement.
pub(super) fn parameters_of_rows(
    rows: impl ExactSizeIterator<Item = impl Parameters>,
    width: usize,
) -> Params {
    let mut values = Vec::with_capacity(rows.len() * width);
    rows.for_each(|row| row.add_to(&mut values));
    Params::Positional(values)
}

pub(super) fn parameters<'r>(cells: impl ExactSizeIterator<Item = Cell<'r>>) -> Params {
    if cells.len() == 0 {
        return Params::Empty;
    }
    Params::Positional(cells.map(sent).collect())
}

#[inline]
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

/// The same, with numbers that would be rounded as texts of all their digits: they are sent again.
///
/// # Errors
/// Names the column of a value that is no text.
pub(super) fn received_exactly(row: Row) -> Result<Vec<Value>, String> {
    let columns = row.columns();
    let one_of = |(value, column): (Driver, &mysql_async::Column)| {
        Ok(match value {
            Driver::UInt(number) if i64::try_from(number).is_err() => Value::Text(number.to_string()),
            Driver::Bytes(bytes) => Value::Text(String::from_utf8(bytes).map_err(|_| {
                let name = column.name_str().into_owned();
                format!("column `{name}` is no text in UTF-8: use HEX({name})")
            })?),
            Driver::NULL
            | Driver::Int(_)
            | Driver::UInt(_)
            | Driver::Float(_)
            | Driver::Double(_)
            | Driver::Date(..)
            | Driver::Time(..) => one(value, column.column_type()),
        })
    };
    row.unwrap().into_iter().zip(columns.iter()).map(one_of).collect()
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
    use proptest::prelude::*;

    use super::*;
    use crate::Rows;

    proptest! {
        #[test]
        fn numbers_are_sent_as_any_values_are(rows in prop::collection::vec(any::<(i32, i64, f64, i16)>(), 0..9)) {
            let mut any_values = Rows::with_capacity(4, rows.len());
            rows.iter().for_each(|row| row.push_to(&mut any_values));
            let numbers = parameters_of_rows(rows.iter().copied().map(Numbers), 4);
            prop_assert_eq!(&numbers, &parameters_of_rows(any_values.rows(), 4));
            let sent = rows.iter().flat_map(|&(a, b, c, d)| {
                [Driver::Int(a.into()), Driver::Int(b), Driver::Double(c), Driver::Int(d.into())]
            });
            prop_assert_eq!(numbers, Params::Positional(sent.collect()));
        }
    }

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
