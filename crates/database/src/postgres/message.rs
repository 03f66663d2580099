//! Messages of PostgreSQL's protocol, as far as statements of others need them:
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

use std::io::{self, Write as _};
use std::ops::Range;

use super::values;
use crate::Value;
use crate::rows::CellRow;

/// Bytes of the kind and the length of a message.
const HEAD: usize = 5;
/// Bytes that are read at once.
const ROOM: usize = 16 << 10;
/// Longest message of the server; it sends none beyond 1 GiB.
const LONGEST: usize = 1 << 30;

/// Puts a message behind others: its kind, its length, its body.
fn message(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = u32::try_from(out.len() - begin).unwrap_or(u32::MAX);
    out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// A text with one statement or several, answered each, and the end of the exchange.
pub(super) fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| text(out, sql));
}

/// Has a statement parsed under a name; the empty one is that of the last such statement.
pub(super) fn parse(out: &mut Vec<u8>, name: &str, sql: &str) {
    message(out, b'P', |out| {
        text(out, name);
        text(out, sql);
        out.extend_from_slice(&[0, 0]);
    });
}

/// Gives a parsed statement its values as text, and wants its rows so.
pub(super) fn bind(out: &mut Vec<u8>, name: &str, values: &[Value]) {
    bind_wanting(out, name, values, &[0, 0]);
}

/// The same of one whose rows are wanted as the server holds them.
pub(super) fn bind_for_cells(out: &mut Vec<u8>, values: &[Value]) {
    bind_wanting(out, "", values, &[0, 1, 0, 1]);
}

fn bind_wanting(out: &mut Vec<u8>, name: &str, values: &[Value], formats: &[u8]) {
    message(out, b'B', |out| {
        out.push(0);
        text(out, name);
        out.extend_from_slice(&[0, 0]);
        // The statement of a script has a place for each.
        out.extend_from_slice(&(values.len() as u16).to_be_bytes());
        values.iter().for_each(|one| value(out, one));
        out.extend_from_slice(formats);
    });
}

/// A value as people write it: the server makes of it what the statement needs there, as it does for libpq.
fn value(out: &mut Vec<u8>, value: &Value) {
    let begin = out.len();
    out.extend_from_slice(&[0xff; 4]);
    match value {
        Value::Null => return,
        Value::I16(number) => integer(out, *number),
        Value::I32(number) => integer(out, *number),
        Value::I64(number) => integer(out, *number),
        // Writing to memory cannot fail.
        Value::F64(number) => _ = write!(out, "{number}"),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
    let length = u32::try_from(out.len() - begin - 4).unwrap_or(u32::MAX);
    out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

fn integer(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Asks for the columns of what is bound.
pub(super) fn describe(out: &mut Vec<u8>) {
    out.extend_from_slice(b"D\0\0\0\x06P\0");
}

/// Runs what is bound, to its last row.
pub(super) fn execute(out: &mut Vec<u8>) {
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// Has the server forget a statement.
pub(super) fn close(out: &mut Vec<u8>, name: &str) {
    message(out, b'C', |out| {
        out.push(b'S');
        text(out, name);
    });
}

/// Ends what belongs together.
pub(super) fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

/// Says that no data follow that the server waits for.
pub(super) fn copy_fail(out: &mut Vec<u8>, why: &str) {
    message(out, b'f', |out| text(out, why));
}

/// What was received and not read yet.
pub(super) struct Input {
    room: Vec<u8>,
    held: Range<usize>,
    /// Bytes of a message that nobody wants, which are still to come.
    skipped: usize,
}

/// A message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heard<'a> {
    pub(super) kind: u8,
    /// Empty where it was not wanted and had not come yet.
    pub(super) body: &'a [u8],
}

impl Input {
    pub(super) fn new() -> Self {
        Self { room: vec![0; ROOM], held: 0..0, skipped: 0 }
    }

    /// Where the next bytes are put.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.held.is_empty() {
            self.held = 0..0;
        } else if self.held.end == self.room.len() {
            self.room.copy_within(self.held.clone(), 0);
            self.held = 0..self.held.len();
            if self.held.end == self.room.len() {
                self.room.resize(2 * self.held.end, 0);
            }
        }
        &mut self.room[self.held.end..]
    }

    /// So many bytes were put there.
    pub(super) fn received(&mut self, bytes: usize) {
        let skipped = if self.held.is_empty() { bytes.min(self.skipped) } else { 0 };
        self.held.end += bytes;
        self.held.start += skipped;
        self.skipped -= skipped;
    }

    /// The next message, if it is there. Rows that are not wanted are told once they begin, whatever their size.
    ///
    /// # Errors
    /// When what came is no message.
    #[inline]
    pub(super) fn next(&mut self, rows_wanted: bool) -> io::Result<Option<Heard<'_>>> {
        let held = &self.room[self.held.clone()];
        let Some(&[kind, a, b, c, d]) = held.first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if !(4..=LONGEST).contains(&length) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the server sent an invalid message"));
        }
        let (all, begin) = (length + 1, self.held.start + HEAD);
        if held.len() >= all {
            self.held.start += all;
            return Ok(Some(Heard { kind, body: &self.room[begin..begin + all - HEAD] }));
        }
        if rows_wanted || !matches!(kind, b'D' | b'd') {
            return Ok(None);
        }
        self.skipped = all - held.len();
        self.held.start = self.held.end;
        Ok(Some(Heard { kind, body: &[] }))
    }

    /// Gives room back that one large row took.
    pub(super) fn shrink(&mut self) {
        if self.room.len() > ROOM && self.held.is_empty() {
            *self = Self { skipped: self.skipped, ..Self::new() };
        }
    }
}

/// Reads what a body consists of, one after the other; none where it ends too soon.
#[derive(Clone, Copy)]
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn number<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        Some(text)
    }
}

/// A column of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    name: String,
    /// Number of its type in `pg_type`.
    kind: u32,
}

/// What rows will consist of; none where the message is not whole.
pub(super) fn columns(body: &[u8]) -> Option<Vec<Column>> {
    let mut body = Body(body);
    let count = u16::from_be_bytes(body.number()?);
    let mut columns = Vec::with_capacity(count.into());
    for _ in 0..count {
        let name = String::from_utf8_lossy(body.text()?).into_owned();
        body.bytes(6)?;
        let kind = u32::from_be_bytes(body.number()?);
        body.bytes(8)?;
        columns.push(Column { name, kind });
    }
    Some(columns)
}

/// The cells of a row as the server holds them.
///
/// # Errors
/// What is wrong with it.
pub(super) fn cells<'r>(columns: &[Column], body: &'r [u8]) -> Result<CellRow<'r>, String> {
    let mut body = Body(body);
    let not_whole = || "the server sent an incomplete row".to_owned();
    if body.number().map(u16::from_be_bytes).map(usize::from) != Some(columns.len()) {
        return Err(not_whole());
    }
    let mut cells = CellRow::of(columns.len());
    for (cell, column) in cells.iter_mut().zip(columns) {
        let length = i32::from_be_bytes(body.number().ok_or_else(not_whole)?);
        let Ok(length) = usize::try_from(length) else { continue };
        let raw = body.bytes(length).ok_or_else(not_whole)?;
        *cell = values::cell(column.kind, raw).map_err(|why| format!("column `{}`: {why}", column.name))?;
    }
    Ok(cells)
}

/// The values of a row by the names of their columns, as the server writes them.
pub(super) fn row(columns: &[Column], body: &[u8]) -> Option<Vec<(String, Value)>> {
    let mut body = Body(body);
    let count = usize::from(u16::from_be_bytes(body.number()?));
    if count != columns.len() {
        return None;
    }
    columns
        .iter()
        .map(|column| {
            let value = match i32::from_be_bytes(body.number()?) {
                -1 => Value::Null,
                length => {
                    let text = std::str::from_utf8(body.bytes(usize::try_from(length).ok()?)?).ok()?;
                    Value::Text(text.to_owned())
                }
            };
            Some((column.name.clone(), value))
        })
        .collect()
}

/// Rows that a command gave or changed, as the end of its tag tells.
pub(super) fn rows_of_tag(body: &[u8]) -> Option<u64> {
    let tag = body.strip_suffix(&[0])?;
    let digits = tag.iter().rev().take_while(|digit| digit.is_ascii_digit()).count();
    let (words, digits) = tag.split_at(tag.len() - digits);
    if digits.is_empty() || words.last() != Some(&b' ') {
        return None;
    }
    digits.iter().try_fold(0_u64, |all, digit| all.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// What the server says went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) detail: Option<String>,
    pub(super) hint: Option<String>,
}

/// An error, by its fields: <https://www.postgresql.org/docs/current/protocol-error-fields.html>.
pub(super) fn wrong(body: &[u8]) -> Wrong {
    let mut body = Body(body);
    let mut wrong = Wrong::default();
    while let Some([field]) = body.number()
        && field != 0
        && let Some(text) = body.text()
    {
        let text = String::from_utf8_lossy(text).into_owned();
        match field {
            b'C' => wrong.code = text,
            b'M' => wrong.message = text,
            b'D' => wrong.detail = Some(text),
            b'H' => wrong.hint = Some(text),
            _ => {}
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out);
        out
    }

    #[test]
    fn messages_are_written_as_the_protocol_has_them() {
        assert_eq!(sent(|out| query(out, "SELECT 1")), b"Q\0\0\0\x0dSELECT 1\0");
        assert_eq!(sent(|out| parse(out, "p1", "X")), b"P\0\0\0\x0bp1\0X\0\0\0");
        let values = [Value::I64(-7), Value::Null, Value::Text("é".into())];
        let expected = b"B\0\0\0\x1e\0p1\0\0\0\0\x03\0\0\0\x02-7\xff\xff\xff\xff\0\0\0\x02\xc3\xa9\0\0";
        assert_eq!(sent(|out| bind(out, "p1", &values)), expected);
        assert_eq!(sent(describe), b"D\0\0\0\x06P\0");
        assert_eq!(sent(execute), b"E\0\0\0\x09\0\0\0\0\0");
        assert_eq!(sent(|out| close(out, "p1")), b"C\0\0\0\x08Sp1\0");
        assert_eq!(sent(sync), b"S\0\0\0\x04");
    }

    #[test]
    fn values_come_as_the_server_writes_them() {
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let columns =
            [column("a", 23), column("b", 16), column("c", 701), column("d", 2278), column("e", 1184)];
        let mut body = vec![0, 5];
        for text in [Some("-5"), Some("t"), Some("1e+30"), Some(""), None] {
            body.extend_from_slice(&text.map_or(-1, |text| text.len() as i32).to_be_bytes());
            body.extend_from_slice(text.unwrap_or("").as_bytes());
        }
        let text = |text: &str| Value::Text(text.to_owned());
        let found: Vec<Value> = row(&columns, &body).unwrap().into_iter().map(|(_, value)| value).collect();
        assert_eq!(found, [text("-5"), text("t"), text("1e+30"), text(""), Value::Null]);
        assert_eq!(row(&columns[..4], &body), None);
        assert_eq!(row(&columns, &body[..9]), None);
    }

    #[test]
    fn tags_and_errors_are_read() {
        assert_eq!(rows_of_tag(b"INSERT 0 5\0"), Some(5));
        assert_eq!(rows_of_tag(b"SELECT 12\0"), Some(12));
        assert_eq!(rows_of_tag(b"BEGIN\0"), None);
        assert_eq!(rows_of_tag(b"SELECT 99999999999999999999\0"), None);
        assert_eq!(rows_of_tag(b"7\0"), None);
        let read = wrong(b"SERROR\0C40P01\0Mdeadlock detected\0Hlook\0\0");
        assert_eq!((read.code.as_str(), read.message.as_str()), ("40P01", "deadlock detected"));
        assert_eq!((read.detail, read.hint.as_deref()), (None, Some("look")));
    }

    proptest! {
        /// However the bytes are cut, the same messages come; of rows that nobody wants the kinds alone.
        #[test]
        fn messages_come_whole_however_they_are_cut(
            bodies in prop::collection::vec((prop::sample::select(vec![b'D', b'C', b'T']), prop::collection::vec(any::<u8>(), 0..60_000)), 1..6),
            cuts in prop::collection::vec(1..20_000_usize, 1..8),
            rows_wanted: bool,
        ) {
            let mut bytes = Vec::new();
            for (kind, body) in &bodies {
                message(&mut bytes, *kind, |out| out.extend_from_slice(body));
            }
            let (mut input, mut heard, mut left, mut cut) = (Input::new(), Vec::new(), bytes.as_slice(), cuts.iter().cycle());
            loop {
                while let Some(one) = input.next(rows_wanted).unwrap() {
                    heard.push((one.kind, one.body.to_vec()));
                }
                if left.is_empty() { break; }
                let room = input.room();
                let count = left.len().min(room.len()).min(*cut.next().unwrap());
                room[..count].copy_from_slice(&left[..count]);
                input.received(count);
                left = &left[count..];
            }
            prop_assert_eq!(heard.len(), bodies.len());
            for ((kind, body), (expected_kind, expected)) in heard.iter().zip(&bodies) {
                prop_assert_eq!(kind, expected_kind);
                prop_assert!(body == expected || (!rows_wanted && *kind == b'D' && body.is_empty()));
            }
        }

        #[test]
        fn integers_are_written_as_everybody_writes_them(number: i64) {
            for number in [number, number >> 40, 0, i64::MIN, i64::MAX] {
                prop_assert_eq!(sent(|out| integer(out, number)), number.to_string().into_bytes());
            }
        }

        /// Nothing that a server may send stops the program.
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = (columns(&bytes), rows_of_tag(&bytes), wrong(&bytes));
            let _ = row(&[Column { name: String::new(), kind: 23 }], &bytes);
        }
    }
}
