//! Rows as COPY takes them in binary:
//! <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format".

use bytes::Bytes;

use crate::numbers::Numbers;
use crate::rows::{Cell, Cells};
use crate::{Column, Kind, Number, NumberRow, NumberTaker, Table};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Rows on their way to bytes, in pieces.
pub(super) struct Encoder<I> {
    table: &'static Table,
    rows: I,
    is_begun: bool,
    is_ended: bool,
}

/// Rows that can be encoded.
pub(crate) trait Encode: Sized {
    /// Whether rows like this are rows of these columns, as far as that is known of all of them.
    ///
    /// # Errors
    /// In words, when a column is of another kind.
    fn check(columns: &[Column]) -> Result<(), String>;

    /// Appends rows to a piece until it has about so many bytes, at least one if there is one. Of each: how many values it has,
    /// and each value with its length before it.
    ///
    /// # Errors
    /// In words, when a value is not of its column's kind.
    fn put(
        rows: &mut impl ExactSizeIterator<Item = Self>,
        columns: &[Column],
        bytes: usize,
        piece: &mut Vec<u8>,
    ) -> Result<(), String>;
}

impl<I: ExactSizeIterator<Item = R>, R: Encode> Encoder<I> {
    pub(super) fn new(table: &'static Table, rows: I) -> Self {
        Self { table, rows, is_begun: false, is_ended: false }
    }

    /// The next piece of about so many bytes. None after the last.
    ///
    /// # Errors
    /// In words, when a value is not of its column's kind.
    pub(super) fn piece(&mut self, bytes: usize) -> Result<Option<Bytes>, String> {
        if self.is_ended {
            return Ok(None);
        }
        let mut piece = Vec::with_capacity(bytes);
        if !self.is_begun {
            self.is_begun = true;
            piece.extend_from_slice(SIGNATURE);
            // No flags, no more header.
            piece.extend_from_slice(&[0; 8]);
        }
        let columns = self.table.columns;
        R::check(columns)?;
        R::put(&mut self.rows, columns, bytes, &mut piece)?;
        if self.rows.len() == 0 {
            self.is_ended = true;
            piece.extend_from_slice(&(-1i16).to_be_bytes());
        }
        Ok(Some(piece.into()))
    }
}

/// Bytes of the widest number with its length before it.
const WIDEST: usize = 12;

impl Encode for Cells<'_> {
    fn check(_: &[Column]) -> Result<(), String> {
        Ok(())
    }

    fn put(
        rows: &mut impl ExactSizeIterator<Item = Self>,
        columns: &[Column],
        bytes: usize,
        piece: &mut Vec<u8>,
    ) -> Result<(), String> {
        let width = i16::try_from(columns.len()).map_err(|_| "too many columns".to_owned())?;
        for row in rows {
            piece.extend_from_slice(&width.to_be_bytes());
            columns.iter().zip(row).try_for_each(|(column, cell)| put(column, cell, piece))?;
            if piece.len() + columns.len() * WIDEST >= bytes {
                break;
            }
        }
        Ok(())
    }
}

impl<R: NumberRow> Encode for Numbers<R> {
    fn check(columns: &[Column]) -> Result<(), String> {
        if columns.iter().map(|column| column.kind).eq(R::KINDS.iter().copied()) {
            return Ok(());
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        Err(format!("the columns `{}` do not accept {:?}", names.join("`, `"), R::KINDS))
    }

    /// All rows have the same bytes, so all of a piece get their room at once, and where each number goes is known beforehand.
    fn put(
        rows: &mut impl ExactSizeIterator<Item = Self>,
        columns: &[Column],
        bytes: usize,
        piece: &mut Vec<u8>,
    ) -> Result<(), String> {
        let row_bytes = 2 + R::KINDS.len() * 4 + R::BYTES;
        let begin = piece.len();
        let room = bytes.saturating_sub(begin + columns.len() * WIDEST);
        let count = room.div_ceil(row_bytes).max(1).min(rows.len());
        piece.resize(begin + count * row_bytes, 0);
        let places = piece[begin..].chunks_exact_mut(row_bytes);
        // Places come first: a row that is taken has one.
        let filled = places.zip(rows).map(|(room, Self(row))| {
            room[..2].copy_from_slice(&(R::KINDS.len() as i16).to_be_bytes());
            row.each(&mut Filled { room, end: 2 });
        });
        assert_eq!(filled.count(), count, "as many rows as announced");
        Ok(())
    }
}

/// A row that is filled from its begin on.
struct Filled<'p> {
    room: &'p mut [u8],
    end: usize,
}

impl NumberTaker for Filled<'_> {
    #[inline]
    fn take<N: Number>(&mut self, number: N) {
        let (begin, end) = (self.end + 4, self.end + 4 + N::BYTES);
        // The only lengths are 2, 4 and 8.
        self.room[self.end..begin].copy_from_slice(&(N::BYTES as u32).to_be_bytes());
        number.put(&mut self.room[begin..end]);
        self.end = end;
    }
}

#[expect(clippy::inline_always, reason = "a call for each value costs as much as the value")]
#[inline(always)]
fn put(column: &Column, cell: Cell<'_>, piece: &mut Vec<u8>) -> Result<(), String> {
    match (column.kind, cell) {
        (_, Cell::Null) => piece.extend_from_slice(&(-1i32).to_be_bytes()),
        (Kind::I16, Cell::I16(number)) => number_of::<2, 6>(number.to_be_bytes(), piece),
        (Kind::I32, Cell::I32(number)) => number_of::<4, 8>(number.to_be_bytes(), piece),
        (Kind::I64, Cell::I64(number)) => number_of::<8, 12>(number.to_be_bytes(), piece),
        (Kind::F64, Cell::F64(number)) => number_of::<8, 12>(number.to_be_bytes(), piece),
        (Kind::Text, Cell::Text(text)) => {
            let length = i32::try_from(text.len()).map_err(|_| not_of_kind(column, cell))?;
            piece.extend_from_slice(&length.to_be_bytes());
            piece.extend_from_slice(text.as_bytes());
        }
        _ => return Err(not_of_kind(column, cell)),
    }
    Ok(())
}

/// Length and number in one go: each look at the room that is left costs as much as the bytes.
#[inline]
fn number_of<const LENGTH: usize, const WHOLE: usize>(number: [u8; LENGTH], piece: &mut Vec<u8>) {
    let mut whole = [0; WHOLE];
    // The only lengths are 2, 4 and 8.
    whole[3] = LENGTH as u8;
    whole[4..].copy_from_slice(&number);
    piece.extend_from_slice(&whole);
}

#[cold]
fn not_of_kind(column: &Column, cell: Cell<'_>) -> String {
    format!("the column `{}` accepts {:?}, but not {cell:?}", column.name, column.kind)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Rows, Value};

    static TABLE: Table = Table {
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
        let mut encoder = Encoder::new(&TABLE, rows.rows());
        let mut all = Vec::new();
        while let Some(piece) = encoder.piece(piece_bytes)? {
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
        let mut encoder = Encoder::new(&TABLE, rows.rows());
        let mut sizes = Vec::new();
        while let Some(piece) = encoder.piece(4_096).unwrap() {
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
        assert_eq!(encoded(&rows, 1_000).unwrap_err(), "the column `b` accepts I32, but not I64(1)");
    }

    type Row = (i32, i64, f64, i16);

    static NUMBERS: Table = Table { name: "n", columns: TABLE.columns.split_at(1).1.split_at(3).0 };
    static ROW: Table = Table {
        name: "r",
        columns: &[
            Column { name: "a", kind: Kind::I32 },
            Column { name: "b", kind: Kind::I64 },
            Column { name: "c", kind: Kind::F64 },
            Column { name: "d", kind: Kind::I16 },
        ],
    };

    fn pieces<R: Encode>(
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = R>,
        bytes: usize,
    ) -> Result<Vec<Bytes>, String> {
        let mut encoder = Encoder::new(table, rows);
        let mut pieces = Vec::new();
        while let Some(piece) = encoder.piece(bytes)? {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    proptest! {
        #[test]
        fn numbers_have_the_bytes_of_any_values(
            rows in prop::collection::vec(any::<Row>(), 0..40), piece_bytes in 100usize..400,
        ) {
            let mut any_values = Rows::with_capacity(4, rows.len());
            rows.iter().for_each(|row| row.push_to(&mut any_values));
            prop_assert_eq!(
                pieces(&ROW, rows.iter().copied().map(Numbers), piece_bytes),
                pieces(&ROW, any_values.rows(), piece_bytes)
            );
        }
    }

    #[test]
    fn numbers_of_other_kinds_or_too_many_are_refused_by_the_columns_names() {
        let refused =
            pieces(&NUMBERS, [(1i32, 2i64, 0.5f64, 3i16)].into_iter().map(Numbers), 1_000).unwrap_err();
        assert_eq!(refused, "the columns `b`, `c`, `d` do not accept [I32, I64, F64, I16]");
        assert!(pieces(&ROW, [(1i64, 2i64, 0.5f64, 3i16)].into_iter().map(Numbers), 1_000).is_err());
    }
}
