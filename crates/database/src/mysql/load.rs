//! Rows as LOAD DATA takes them: <https://dev.mysql.com/doc/refman/8.4/en/load-data.html>, "Field and Line Handling".

use std::io::Write as _;

use bytes::{BufMut as _, BytesMut};

use crate::{Column, Kind, Rows, Table, Value};

/// Begins a transaction and loads into it what is sent next.
pub(super) fn statement(table: &Table) -> String {
    format!(
        "BEGIN; LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY '\\t' ENCLOSED BY '' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' STARTING BY '' ({})",
        table.name,
        super::names(table)
    )
}

/// Puts rows at the end of a buffer: a line each, values apart by tabs.
///
/// # Errors
/// In words, when a value is not of its column's kind or is no number that the server knows; the buffer is empty then.
pub(super) fn encode(table: &Table, rows: &Rows, buffer: &mut BytesMut) -> Result<(), String> {
    buffer.reserve(rows.len() * table.columns.len() * 12);
    for row in rows.iter() {
        let mut before = None;
        for (column, value) in table.columns.iter().zip(row) {
            if let Some(tab) = before.replace(b'\t') {
                buffer.put_u8(tab);
            }
            if !put(column.kind, value, buffer) {
                buffer.clear();
                return Err(refused(column, value));
            }
        }
        buffer.put_u8(b'\n');
    }
    Ok(())
}

#[inline]
fn put(kind: Kind, value: &Value, buffer: &mut BytesMut) -> bool {
    match (kind, value) {
        (_, Value::Null) => buffer.put_slice(b"\\N"),
        (Kind::I16, Value::I16(number)) => integer(i64::from(*number), buffer),
        (Kind::I32, Value::I32(number)) => integer(i64::from(*number), buffer),
        (Kind::I64, Value::I64(number)) => integer(*number, buffer),
        // The fewest digits that give the same number again.
        (Kind::F64, Value::F64(number)) if number.is_finite() => {
            return write!(buffer.writer(), "{number:e}").is_ok();
        }
        (Kind::Text, Value::Text(text)) => escaped(text, buffer),
        _ => return false,
    }
    true
}

fn integer(number: i64, buffer: &mut BytesMut) {
    let mut digits = [0; 20];
    let mut left = number.unsigned_abs();
    let mut begin = digits.len();
    loop {
        begin -= 1;
        // A digit fits.
        digits[begin] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        buffer.put_u8(b'-');
    }
    buffer.put_slice(&digits[begin..]);
}

fn escaped(text: &str, buffer: &mut BytesMut) {
    let mut rest = text.as_bytes();
    while let Some(position) = rest.iter().position(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\0')) {
        buffer.put_slice(&rest[..position]);
        buffer.put_slice(match rest[position] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\0' => b"\\0",
            _ => b"\\\\",
        });
        rest = &rest[position + 1..];
    }
    buffer.put_slice(rest);
}

fn refused(column: &Column, value: &Value) -> String {
    format!("the column `{}` takes {:?}, and no {value:?}", column.name, column.kind)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: Table = Table {
        name: "t",
        columns: &[Column { name: "a", kind: Kind::I64 }, Column { name: "b", kind: Kind::Text }],
    };
    const NUMBERS: Table = Table { name: "t", columns: &[Column { name: "x", kind: Kind::F64 }] };

    fn line(a: Value, b: &str) -> String {
        let mut rows = Rows::with_capacity(2, 1);
        rows.push([a, Value::Text(b.to_owned())]);
        let mut buffer = BytesMut::new();
        encode(&TABLE, &rows, &mut buffer).unwrap();
        String::from_utf8(buffer.to_vec()).unwrap()
    }

    #[test]
    fn values_stand_apart_and_keep_their_meaning() {
        assert_eq!(line(Value::I64(i64::MIN), "a\tb\nc\\d\0é"), "-9223372036854775808\ta\\tb\\nc\\\\d\\0é\n");
        assert_eq!(line(Value::Null, "\\N"), "\\N\t\\\\N\n");
        assert_eq!(line(Value::I64(0), ""), "0\t\n");
    }

    #[test]
    fn what_is_no_number_there_is_refused() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut rows = Rows::with_capacity(1, 1);
            rows.push([Value::F64(number)]);
            let words = encode(&NUMBERS, &rows, &mut BytesMut::new()).unwrap_err();
            assert!(words.contains("column `x`"), "{words}");
        }
    }

    proptest! {
        #[test]
        fn every_integer_is_written_in_full(number in any::<i64>()) {
            prop_assert_eq!(line(Value::I64(number), ""), format!("{number}\t\n"));
        }

        #[test]
        fn every_float_is_read_back_as_the_same(number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let mut rows = Rows::with_capacity(1, 1);
            rows.push([Value::F64(number)]);
            let mut buffer = BytesMut::new();
            encode(&NUMBERS, &rows, &mut buffer).unwrap();
            let text = std::str::from_utf8(&buffer).unwrap();
            prop_assert_eq!(text.trim_end().parse::<f64>().unwrap().to_bits(), number.to_bits());
        }

        #[test]
        fn no_text_breaks_a_line(text in "\\PC*|[\\x00-\\x1f\\\\]{0,20}") {
            let line = line(Value::I64(1), &text);
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(line.matches('\t').count(), 1);
        }
    }
}
