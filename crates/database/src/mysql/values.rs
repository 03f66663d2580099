//! Values to and from the driver's.

use mysql_common::constants::ColumnType;

use super::wire::{ColumnDefinition, DriverResult, Parameters, Raw, Row};
use crate::numbers::Numbers;
use crate::rows::{Cell, CellRow, Cells};
use crate::{NumberRow, Value};

/// A row that can be sent as parameters of a statement.
pub(crate) trait ParameterRow {
    /// Adds its values to those of other rows.
    fn put_to(self, parameters: &mut Parameters<'_>);
}

impl ParameterRow for Cells<'_> {
    #[inline]
    fn put_to(self, parameters: &mut Parameters<'_>) {
        self.for_each(|cell| parameters.put(cell));
    }
}

impl<R: NumberRow> ParameterRow for Numbers<R> {
    #[inline]
    fn put_to(self, parameters: &mut Parameters<'_>) {
        self.0.cells().for_each(|cell| parameters.put(cell));
    }
}

/// The values of a row.
///
/// # Errors
/// The row is not as its columns say.
pub(super) fn received(row: Row<'_>) -> DriverResult<Vec<Value>> {
    let mut values = Vec::with_capacity(row.columns().len());
    for value in row.values()? {
        let (value, column) = value?;
        values.push(one(value, column.kind));
    }
    Ok(values)
}

/// Hands over the values of a row. Most rows need no memory of their own for that.
///
/// # Errors
/// The row is not as its columns say.
pub(super) fn with_cells(row: Row<'_>, take: impl FnOnce(&[Cell<'_>])) -> DriverResult<()> {
    let mut cells = CellRow::of(row.columns().len());
    for (index, value) in row.values()?.enumerate() {
        let (value, column) = value?;
        let Some(cell) = cell(value, column.kind) else { return with_copied_cells(row, take) };
        cells[index] = cell;
    }
    take(&cells);
    Ok(())
}

fn with_copied_cells(row: Row<'_>, take: impl FnOnce(&[Cell<'_>])) -> DriverResult<()> {
    let values = received(row)?;
    let mut cells = CellRow::of(values.len());
    cells.iter_mut().zip(&values).for_each(|(cell, value)| *cell = value.cell());
    take(&cells);
    Ok(())
}

/// Names and values of a row, or the words for a value that is no text.
pub(super) type NamedValues = Result<Vec<(String, Value)>, String>;

/// The values of a row with their names. Numbers that would be rounded are texts of all their digits: they are sent again.
///
/// # Errors
/// The row is not as its columns say.
pub(super) fn named_exactly(row: Row<'_>) -> DriverResult<NamedValues> {
    let mut named = Vec::with_capacity(row.columns().len());
    for value in row.values()? {
        let (value, column) = value?;
        match exactly(value, column) {
            Ok(value) => named.push((column.name().into_owned(), value)),
            Err(words) => return Ok(Err(words)),
        }
    }
    Ok(Ok(named))
}

fn exactly(value: Raw<'_>, column: &ColumnDefinition) -> Result<Value, String> {
    match value {
        Raw::UInt(number) => Ok(Value::Text(number.to_string())),
        Raw::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(_) => {
                let name = column.name();
                Err(format!("column `{name}` is not UTF-8: use HEX({name})"))
            }
        },
        Raw::Null | Raw::Int(_) | Raw::Float(_) | Raw::Double(_) | Raw::Moment(_) => {
            Ok(one(value, column.kind))
        }
    }
}

fn one(value: Raw<'_>, kind: ColumnType) -> Value {
    match (cell(value, kind), value) {
        (Some(cell), _) => cell.into(),
        (None, Raw::Moment(moment)) => Value::Text(moment.to_string()),
        (None, Raw::Bytes(bytes)) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        (None, _) => Value::Null,
    }
}

/// A value that needs no memory of its own. Decimal numbers come as text, and in the text protocol everything does.
#[inline]
fn cell(value: Raw<'_>, kind: ColumnType) -> Option<Cell<'_>> {
    Some(match value {
        Raw::Null => Cell::Null,
        Raw::Int(number) => Cell::I64(number),
        // Above the largest number with a sign there is only an approximation.
        Raw::UInt(number) => i64::try_from(number).map_or(Cell::F64(number as f64), Cell::I64),
        Raw::Float(number) => Cell::F64(f64::from(number)),
        Raw::Double(number) => Cell::F64(number),
        Raw::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes).ok()?;
            let is_decimal =
                matches!(kind, ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL);
            let number = is_decimal.then(|| text.parse().ok()).flatten();
            number.map_or(Cell::Text(text), Cell::F64)
        }
        Raw::Moment(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::wire::{ClockTime, Moment};
    use super::*;

    #[test]
    fn values_keep_their_meaning() {
        let time = ClockTime { hours: 3, minutes: 4, seconds: 5, us: 0 };
        for (given, kind, expected) in [
            (Raw::Null, ColumnType::MYSQL_TYPE_LONG, Value::Null),
            (Raw::Int(-1), ColumnType::MYSQL_TYPE_LONG, Value::I64(-1)),
            (Raw::UInt(u64::MAX), ColumnType::MYSQL_TYPE_LONGLONG, Value::F64(u64::MAX as f64)),
            (Raw::Double(0.1), ColumnType::MYSQL_TYPE_DOUBLE, Value::F64(0.1)),
            (Raw::Bytes(b"12.50"), ColumnType::MYSQL_TYPE_NEWDECIMAL, Value::F64(12.5)),
            (Raw::Bytes(b"12.50"), ColumnType::MYSQL_TYPE_VAR_STRING, Value::Text("12.50".to_owned())),
            (
                Raw::Bytes(b"caf\xe9"),
                ColumnType::MYSQL_TYPE_VAR_STRING,
                Value::Text("caf\u{fffd}".to_owned()),
            ),
            (
                Raw::Moment(Moment::Date { year: 2026, month: 1, day: 2, time }),
                ColumnType::MYSQL_TYPE_DATETIME,
                Value::Text("2026-01-02 03:04:05".to_owned()),
            ),
        ] {
            assert_eq!(one(given, kind), expected);
        }
    }
}
