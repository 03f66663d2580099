//! Rows as COPY takes them in binary:
//! <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format".

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::{Column, Kind, Rows, Table, Value};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Rows on their way to bytes, in pieces.
pub(super) struct Encoder<'r> {
    table: &'r Table,
    left: &'r [Value],
    is_begun: bool,
    is_ended: bool,
}

impl<'r> Encoder<'r> {
    pub(super) fn new(table: &'r Table, rows: &'r Rows) -> Self {
        Self { table, left: rows.values(), is_begun: false, is_ended: false }
    }

    /// The next piece of about so many bytes, made in a buffer that is used again as far as its pieces are gone. None
    /// after the last.
    ///
    /// # Errors
    /// In words, when a value is not of its column's kind.
    pub(super) fn piece(&mut self, bytes: usize, buffer: &mut BytesMut) -> Result<Option<Bytes>, String> {
        if self.is_ended {
            return Ok(None);
        }
        buffer.clear();
        buffer.reserve(bytes);
        if !self.is_begun {
            self.is_begun = true;
            buffer.put_slice(SIGNATURE);
            // No flags, no more header.
            buffer.put_u64(0);
        }
        let columns = self.table.columns;
        let width = i16::try_from(columns.len()).map_err(|_| "too many columns".to_owned())?;
        let values = columns.len().max(1);
        loop {
            let Some((row, left)) = self.left.split_at_checked(values) else {
                self.is_ended = true;
                buffer.put_i16(-1);
                break;
            };
            self.left = left;
            buffer.put_i16(width);
            for (column, value) in columns.iter().zip(row) {
                if !put(column.kind, value, buffer) {
                    return Err(not_of_kind(column, value));
                }
            }
            if buffer.len() + values * WIDEST >= bytes {
                break;
            }
        }
        Ok(Some(buffer.split().freeze()))
    }
}

/// Bytes of the widest number with its length before it.
const WIDEST: usize = 12;

#[inline]
fn put(kind: Kind, value: &Value, buffer: &mut BytesMut) -> bool {
    match (kind, value) {
        (_, Value::Null) => buffer.put_i32(-1),
        (Kind::I16, Value::I16(number)) => cell::<2, 6>(number.to_be_bytes(), buffer),
        (Kind::I32, Value::I32(number)) => cell::<4, 8>(number.to_be_bytes(), buffer),
        (Kind::I64, Value::I64(number)) => cell::<8, 12>(number.to_be_bytes(), buffer),
        (Kind::F64, Value::F64(number)) => cell::<8, 12>(number.to_be_bytes(), buffer),
        (Kind::Text, Value::Text(text)) => {
            let Ok(length) = i32::try_from(text.len()) else { return false };
            buffer.put_i32(length);
            buffer.put_slice(text.as_bytes());
        }
        _ => return false,
    }
    true
}

/// Length and number in one go: each look at the buffer's room costs as much as the bytes.
#[inline]
fn cell<const LENGTH: usize, const WHOLE: usize>(number: [u8; LENGTH], buffer: &mut BytesMut) {
    let mut whole = [0; WHOLE];
    // The only lengths are 2, 4 and 8.
    whole[3] = LENGTH as u8;
    whole[4..].copy_from_slice(&number);
    buffer.put_slice(&whole);
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

    fn encoded(rows: &Rows, piece_bytes: usize) -> Result<Vec<u8>, String> {
        let (mut encoder, mut buffer) = (Encoder::new(&TABLE, rows), BytesMut::new());
        let mut all = Vec::new();
        while let Some(piece) = encoder.piece(piece_bytes, &mut buffer)? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// The bytes as `COPY (SELECT …) TO STDOUT (FORMAT binary)` gives them.
    #[test]
    fn rows_have_the_bytes_of_the_manual() {
        let mut rows = Rows::with_capacity(5, 2);
        let text = Value::Text("é".to_owned());
        rows.push([Value::I16(-2), Value::I32(3), Value::I64(i64::MIN), Value::F64(-0.5), text]);
        rows.push([const { Value::Null }; 5]);
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
        for piece_bytes in [1_000, 90, 61] {
            assert_eq!(encoded(&rows, piece_bytes), Ok(expected.clone()), "{piece_bytes}");
        }
    }

    #[test]
    fn pieces_are_as_large_as_asked_for() {
        let mut rows = Rows::with_capacity(5, 1_000);
        for _ in 0..1_000 {
            rows.push([Value::I16(1), Value::I32(1), Value::I64(1), Value::F64(1.0), Value::Null]);
        }
        let (mut encoder, mut buffer) = (Encoder::new(&TABLE, &rows), BytesMut::new());
        let mut sizes = Vec::new();
        while let Some(piece) = encoder.piece(4_096, &mut buffer).unwrap() {
            sizes.push(piece.len());
        }
        assert_eq!(sizes.iter().sum::<usize>(), 19 + 1_000 * (2 + 6 + 8 + 12 + 12 + 4) + 2);
        let (last, whole) = sizes.split_last().unwrap();
        assert!(whole.iter().all(|size| (4_000..=4_096).contains(size)) && *last <= 4_096, "{sizes:?}");
    }

    #[test]
    fn a_value_of_another_kind_is_refused_by_the_column_s_name() {
        let mut rows = Rows::with_capacity(5, 1);
        rows.push([Value::Null, Value::I64(1), Value::Null, Value::Null, Value::Null]);
        assert_eq!(encoded(&rows, 1_000).unwrap_err(), "the column `b` takes I32, and no I64(1)");
    }
}
