//! Values as ClickHouse sends and takes them: `TabSeparatedWithNamesAndTypes` from it, `RowBinary` to it.
//! <https://clickhouse.com/docs/interfaces/formats>.

use crate::rows::Cell;
use crate::{Rows, Value};

/// The format of all answers.
pub(super) const ANSWERED_IN: &str = "TabSeparatedWithNamesAndTypes";

/// Rows as they were answered.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answered {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<Value>>,
}

/// Reads an answer; one without a head has no rows, as that of a statement which answers with none.
///
/// # Errors
/// What is not in this format.
pub(super) fn read(body: &[u8]) -> Result<Answered, String> {
    let text = std::str::from_utf8(body)
        .map_err(|_| "the server returned a value that is not UTF-8: cast the value to text".to_owned())?;
    let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let (Some(names), Some(types)) = (lines.next(), lines.next()) else {
        return if text.is_empty() {
            Ok(Answered::default())
        } else {
            Err(format!("the server returned `{text}`"))
        };
    };
    let fields = |line: &'_ str| line.split('\t').map(unescaped).collect::<Vec<String>>();
    let (names, kinds) = (fields(names), fields(types));
    let mut rows = Vec::new();
    for line in lines {
        let row: Vec<Value> = line.split('\t').zip(&kinds).map(|(field, kind)| value(field, kind)).collect();
        if row.len() != names.len() {
            return Err(format!(
                "the server returned a row of {} fields, but {} column names",
                row.len(),
                names.len()
            ));
        }
        rows.push(row);
    }
    Ok(Answered { names, rows })
}

/// Whole numbers, numbers with a point, and all else as text.
fn value(field: &str, kind: &str) -> Value {
    let kind = kind.strip_prefix("Nullable(").map_or(kind, |inner| inner.trim_end_matches(')'));
    if field == "\\N" {
        return Value::Null;
    }
    let text = || Value::Text(unescaped(field));
    match kind.split('(').next().unwrap_or(kind) {
        "Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64" => {
            field.parse().map_or_else(|_| text(), Value::I64)
        }
        "Bool" => Value::I64(i64::from(field == "true")),
        "Float32" | "Float64" | "Decimal" => field.parse().map_or_else(|_| text(), Value::F64),
        _ => text(),
    }
}

fn unescaped(field: &str) -> String {
    if !field.contains('\\') {
        return field.to_owned();
    }
    let mut text = String::with_capacity(field.len());
    let mut signs = field.chars();
    while let Some(sign) = signs.next() {
        match (sign, sign == '\\') {
            (_, false) => text.push(sign),
            (_, true) => match signs.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('b') => text.push('\u{8}'),
                Some('f') => text.push('\u{c}'),
                Some('0') => text.push('\0'),
                Some(other) => text.push(other),
                None => {}
            },
        }
    }
    text
}

/// Rows as `RowBinary` has them.
///
/// # Errors
/// A value that is none: its column would have to be told apart from others.
pub(super) fn row_binary(rows: &Rows, bytes: &mut Vec<u8>) -> Result<(), String> {
    for cell in rows.cells() {
        match cell {
            Cell::I16(number) => bytes.extend(number.to_le_bytes()),
            Cell::I32(number) => bytes.extend(number.to_le_bytes()),
            Cell::I64(number) => bytes.extend(number.to_le_bytes()),
            Cell::F64(number) => bytes.extend(number.to_le_bytes()),
            Cell::Text(text) => {
                length(text.len(), bytes);
                bytes.extend(text.as_bytes());
            }
            Cell::Null => return Err("rows without a value are not appended to ClickHouse".to_owned()),
        }
    }
    Ok(())
}

/// A length as LEB128.
fn length(mut length: usize, bytes: &mut Vec<u8>) {
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_names_types_and_rows() {
        let body = b"n\tf\tt\tnothing\nUInt64\tFloat64\tString\tNullable(Int32)\n7\t1.5\ta\\tb\\\\n\t\\N\n-1\t2\t\t3\n";
        let answered = read(body).unwrap();
        assert_eq!(answered.names, ["n", "f", "t", "nothing"]);
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            answered.rows,
            [
                vec![Value::I64(7), Value::F64(1.5), text("a\tb\\n"), Value::Null],
                vec![Value::I64(-1), Value::F64(2.0), text(""), Value::I64(3)],
            ]
        );
        assert_eq!(read(b"").unwrap(), Answered::default());
        assert!(
            read(b"a\tb\nInt8\tInt8\n1\n").unwrap_err().contains("a row of 1 fields, but 2 column names")
        );
        assert!(read(b"1").is_err());
    }

    #[test]
    fn a_whole_number_that_has_no_room_is_a_text() {
        assert_eq!(value("18446744073709551615", "UInt64"), Value::Text("18446744073709551615".to_owned()));
    }

    #[test]
    fn rows_are_sent_as_their_bytes() {
        let mut rows = Rows::with_capacity(3, 1);
        rows.push([Value::I64(258), Value::I32(-1), Value::Text("x".repeat(200))]);
        let mut bytes = Vec::new();
        row_binary(&rows, &mut bytes).unwrap();
        assert_eq!(bytes[..14], [2, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xc8, 1]);
        assert_eq!(bytes.len(), 214);
        rows.push([Value::Null, Value::I32(1), Value::Null]);
        assert!(row_binary(&rows, &mut bytes).is_err());
    }
}
