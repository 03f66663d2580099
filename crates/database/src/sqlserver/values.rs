//! Values to and from the driver's.

use std::borrow::Cow;

use tiberius::{ColumnData, IntoSql, TokenRow};

use crate::numbers::Numbers;
use crate::rows::{Cell, Cells};
use crate::{Column, Kind, NumberRow, Value};

/// A row that can be sent.
pub(crate) trait Send<'r> {
    /// Hands over its values.
    fn each(self, take: impl FnMut(ColumnData<'r>));
}

impl<'r> Send<'r> for Cells<'r> {
    #[inline]
    fn each(self, take: impl FnMut(ColumnData<'r>)) {
        self.map(sent).for_each(take);
    }
}

impl<R: NumberRow> Send<'static> for Numbers<R> {
    #[inline]
    fn each(self, take: impl FnMut(ColumnData<'static>)) {
        self.0.cells().map(sent).for_each(take);
    }
}

/// A row of these columns as a bulk copy takes it: also what is null is of its column's kind.
pub(super) fn row<'r>(row: impl Send<'r>, columns: &[Column]) -> TokenRow<'r> {
    let mut token = TokenRow::with_capacity(columns.len());
    row.each(|value| {
        let column = columns.get(token.len()).filter(|_| value == NULL);
        token.push(column.map_or(value, |column| null(column.kind)));
    });
    token
}

fn null(kind: Kind) -> ColumnData<'static> {
    match kind {
        Kind::I16 => ColumnData::I16(None),
        Kind::I32 => ColumnData::I32(None),
        Kind::I64 => ColumnData::I64(None),
        Kind::F64 => ColumnData::F64(None),
        Kind::Text => ColumnData::String(None),
    }
}

/// A value as a parameter.
pub(super) struct Parameter<'r>(pub(super) ColumnData<'r>);

impl<'r> IntoSql<'r> for Parameter<'r> {
    fn into_sql(self) -> ColumnData<'r> {
        self.0
    }
}

/// What stands for nothing. Whatever it is put into, the server makes that of it; one of no type is not taken by all that speak the
/// protocol.
pub(super) const NULL: ColumnData<'static> = ColumnData::I32(None);

#[inline]
pub(super) fn sent(cell: Cell<'_>) -> ColumnData<'_> {
    match cell {
        Cell::Null => NULL,
        Cell::I16(number) => ColumnData::I16(Some(number)),
        Cell::I32(number) => ColumnData::I32(Some(number)),
        Cell::I64(number) => ColumnData::I64(Some(number)),
        Cell::F64(number) => ColumnData::F64(Some(number)),
        Cell::Text(text) => ColumnData::String(Some(Cow::Borrowed(text))),
    }
}

/// A value that was received.
///
/// # Errors
/// In words, when it is of a type that has to be cast.
pub(super) fn received(value: ColumnData<'_>) -> Result<Value, String> {
    let whole = |number: Option<i64>| number.map_or(Value::Null, Value::I64);
    let real = |number: Option<f64>| number.map_or(Value::Null, Value::F64);
    Ok(match value {
        ColumnData::U8(number) => whole(number.map(i64::from)),
        ColumnData::I16(number) => whole(number.map(i64::from)),
        ColumnData::I32(number) => whole(number.map(i64::from)),
        ColumnData::I64(number) => whole(number),
        ColumnData::Bit(is) => whole(is.map(i64::from)),
        ColumnData::F32(number) => real(number.map(f64::from)),
        ColumnData::F64(number) => real(number),
        ColumnData::Numeric(number) => number.map_or(Value::Null, |number| {
            // Of the digits that there are, and not of a quotient: 0.1 is 0.1.
            let text = format!("{}e-{}", number.value(), number.scale());
            let whole = i64::try_from(number.value()).ok().filter(|_| number.scale() == 0);
            whole.map_or_else(|| Value::F64(text.parse().unwrap_or(f64::NAN)), Value::I64)
        }),
        ColumnData::String(text) => text.map_or(Value::Null, |text| Value::Text(text.into_owned())),
        ColumnData::Guid(id) => id.map_or(Value::Null, |id| Value::Text(id.to_string())),
        ColumnData::Xml(xml) => xml.map_or(Value::Null, |xml| Value::Text(xml.to_string())),
        ColumnData::Binary(_) => return Err(unread("binary")),
        ColumnData::DateTime(_) | ColumnData::SmallDateTime(_) | ColumnData::DateTime2(_) => {
            return Err(unread("datetime"));
        }
        ColumnData::DateTimeOffset(_) => return Err(unread("datetimeoffset")),
        ColumnData::Date(_) => return Err(unread("date")),
        ColumnData::Time(_) => return Err(unread("time")),
    })
}

/// The same, with decimal numbers as texts of all their digits: they are sent again.
pub(super) fn received_exactly(value: ColumnData<'_>) -> Result<Value, String> {
    let ColumnData::Numeric(Some(number)) = value else { return received(value) };
    let scale = usize::from(number.scale());
    let digits = format!("{:0>1$}", number.value().unsigned_abs(), scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if number.value() < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    Ok(Value::Text(format!("{sign}{whole}{point}{fraction}")))
}

fn unread(kind: &str) -> String {
    format!(
        "prony does not read values of type {kind}: convert the value to text, such as CONVERT(varchar(40), …, 126)"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tiberius::numeric::Numeric;

    use super::*;
    use crate::Rows;

    #[test]
    fn values_keep_their_meaning() {
        let numeric = |value, scale| ColumnData::Numeric(Some(Numeric::new_with_scale(value, scale)));
        for (given, expected) in [
            (ColumnData::String(None), Value::Null),
            (ColumnData::I32(None), Value::Null),
            (ColumnData::U8(Some(255)), Value::I64(255)),
            (ColumnData::I16(Some(-2)), Value::I64(-2)),
            (ColumnData::I64(Some(i64::MIN)), Value::I64(i64::MIN)),
            (ColumnData::Bit(Some(true)), Value::I64(1)),
            (ColumnData::F32(Some(0.5)), Value::F64(0.5)),
            (numeric(1, 1), Value::F64(0.1)),
            (numeric(-12_345, 2), Value::F64(-123.45)),
            // What SCOPE_IDENTITY() gives.
            (numeric(7, 0), Value::I64(7)),
            (numeric(i128::from(i64::MAX) + 1, 0), Value::F64(9_223_372_036_854_775_808.0)),
            (ColumnData::String(Some("é".into())), Value::Text("é".to_owned())),
        ] {
            assert_eq!(received(given), Ok(expected));
        }
        assert!(received(ColumnData::Binary(None)).unwrap_err().contains("CONVERT"));
    }

    proptest! {
        #[test]
        fn numbers_are_sent_as_any_values_are(rows in prop::collection::vec(any::<(i32, i64, f64, i16)>(), 1..9)) {
            let mut any_values = Rows::with_capacity(4, rows.len());
            rows.iter().for_each(|row| row.push_to(&mut any_values));
            for (numbers, cells) in rows.iter().copied().map(Numbers).zip(any_values.rows()) {
                let (mut sent, mut expected) = (Vec::new(), Vec::new());
                numbers.each(|value| sent.push(value));
                cells.each(|value| expected.push(value));
                prop_assert_eq!(sent, expected);
            }
        }
    }
}
