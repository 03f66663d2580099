//! Rows as COPY takes them in binary:
//! <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format".

use bytes::{BufMut as _, BytesMut};

use crate::{Column, Kind, Rows, Table, Value};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Puts rows, with what stands before and after them, at the end of a buffer.
///
/// # Errors
/// In words, when a value is not of its column's kind; the buffer is empty then.
pub(super) fn encode(table: &Table, rows: &Rows, buffer: &mut BytesMut) -> Result<(), String> {
    buffer.reserve(64 + rows.len() * (2 + table.columns.len() * 12));
    buffer.put_slice(SIGNATURE);
    // No flags, no more header.
    buffer.put_u64(0);
    let width = i16::try_from(table.columns.len()).map_err(|_| "too many columns".to_owned())?;
    for row in rows.iter() {
        buffer.put_i16(width);
        for (column, value) in table.columns.iter().zip(row) {
            if !put(column.kind, value, buffer) {
                buffer.clear();
                return Err(not_of_kind(column, value));
            }
        }
    }
    buffer.put_i16(-1);
    Ok(())
}

#[inline]
fn put(kind: Kind, value: &Value, buffer: &mut BytesMut) -> bool {
    match (kind, value) {
        (_, Value::Null) => buffer.put_i32(-1),
        (Kind::I16, Value::I16(number)) => {
            buffer.put_i32(2);
            buffer.put_i16(*number);
        }
        (Kind::I32, Value::I32(number)) => {
            buffer.put_i32(4);
            buffer.put_i32(*number);
        }
        (Kind::I64, Value::I64(number)) => {
            buffer.put_i32(8);
            buffer.put_i64(*number);
        }
        (Kind::F64, Value::F64(number)) => {
            buffer.put_i32(8);
            buffer.put_f64(*number);
        }
        (Kind::Text, Value::Text(text)) => {
            let Ok(length) = i32::try_from(text.len()) else { return false };
            buffer.put_i32(length);
            buffer.put_slice(text.as_bytes());
        }
        _ => return false,
    }
    true
}

fn not_of_kind(column: &Column, value: &Value) -> String {
    format!("the column `{}` takes {:?}, and no {value:?}", column.name, column.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table {
        name: "t",
        columns: &[
            Column { name: "a", kind: Kind::I16 },
            Column { name: "b", kind: Kind::I32 },
            Column { name: "c", kind: Kind::I64 },
            Column { name: "d", kind: Kind::F64 },
            Column { name: "e", kind: Kind::Text },
        ],
    };

    /// The bytes as `COPY (SELECT …) TO STDOUT (FORMAT binary)` gives them.
    #[test]
    fn rows_have_the_bytes_of_the_manual() {
        let mut rows = Rows::with_capacity(5, 2);
        let text = Value::Text("é".to_owned());
        rows.push([Value::I16(-2), Value::I32(3), Value::I64(i64::MIN), Value::F64(-0.5), text]);
        rows.push([const { Value::Null }; 5]);
        let mut buffer = BytesMut::new();
        encode(&TABLE, &rows, &mut buffer).unwrap();
        let mut expected = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
        expected.extend(b"\0\x05");
        expected.extend(b"\0\0\0\x02\xff\xfe");
        expected.extend(b"\0\0\0\x04\0\0\0\x03");
        expected.extend(b"\0\0\0\x08\x80\0\0\0\0\0\0\0");
        expected.extend(b"\0\0\0\x08\xbf\xe0\0\0\0\0\0\0");
        expected.extend(b"\0\0\0\x02\xc3\xa9");
        expected.extend(b"\0\x05");
        expected.extend(b"\xff\xff\xff\xff".repeat(5));
        expected.extend(b"\xff\xff");
        assert_eq!(&buffer[..], &expected[..]);
    }

    #[test]
    fn a_value_of_another_kind_is_refused_by_the_column_s_name() {
        let mut rows = Rows::with_capacity(5, 1);
        rows.push([Value::Null, Value::I64(1), Value::Null, Value::Null, Value::Null]);
        let mut buffer = BytesMut::new();
        let words = encode(&TABLE, &rows, &mut buffer).unwrap_err();
        assert_eq!(words, "the column `b` takes I32, and no I64(1)");
        assert!(buffer.is_empty());
    }
}
