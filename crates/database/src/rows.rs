//! Values, rows and the tables that they are appended to.

use std::ops::{Deref, DerefMut};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None.
    Null,
    /// 16 bits with sign.
    I16(i16),
    /// 32 bits with sign.
    I32(i32),
    /// 64 bits with sign.
    I64(i64),
    /// Floating point of 64 bits.
    F64(f64),
    /// Text.
    Text(String),
}

impl Value {
    /// As engines send it.
    #[inline]
    pub(crate) fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::I16(number) => Cell::I16(*number),
            Self::I32(number) => Cell::I32(*number),
            Self::I64(number) => Cell::I64(*number),
            Self::F64(number) => Cell::F64(*number),
            Self::Text(text) => Cell::Text(text),
        }
    }

    /// A whole number as a query gives it.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::I64(number) => Some(*number),
            Self::Null | Self::I16(_) | Self::I32(_) | Self::F64(_) | Self::Text(_) => None,
        }
    }

    /// A text as a query gives it.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::I16(_) | Self::I32(_) | Self::I64(_) | Self::F64(_) => None,
        }
    }
}

/// A procedure that takes rows as its only parameter, a table-valued one.
#[derive(Debug)]
pub struct RowsProcedure {
    /// Name.
    pub name: &'static str,
    /// Type of its parameter.
    pub row_type: &'static str,
}

/// Type of a column, as it goes over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `smallint`.
    I16,
    /// `integer`.
    I32,
    /// `bigint`.
    I64,
    /// `double precision`.
    F64,
    /// `text` or `varchar`.
    Text,
}

/// A column that rows are appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type. A value of a row is of this type or null.
    pub kind: Kind,
}

/// A table that rows are appended to; its columns need not be all that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Name.
    pub name: &'static str,
    /// Columns, in the order of a row's values.
    pub columns: &'static [Column],
}

/// A value as an engine sends it: a parameter, or one of a row. The kinds are those of [`Value`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "said at `Value`")]
pub enum Cell<'r> {
    Null,
    I16(i16),
    I32(i32),
    I64(i64),
    F64(f64),
    Text(&'r str),
}

impl Cell<'_> {
    /// A whole number as a query gives it.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::I64(number) => Some(*number),
            Self::Null | Self::I16(_) | Self::I32(_) | Self::F64(_) | Self::Text(_) => None,
        }
    }
}

/// Cells of a row that is looked at and not kept: those of most rows stand where they are made.
pub(crate) struct CellRow<'r> {
    few: [Cell<'r>; FEW],
    many: Vec<Cell<'r>>,
    width: usize,
}

/// Columns of a row whose cells need no memory of their own.
const FEW: usize = 16;

impl CellRow<'_> {
    /// So many, all of them null.
    #[inline]
    pub(crate) fn of(width: usize) -> Self {
        let many = if width > FEW { vec![Cell::Null; width] } else { Vec::new() };
        Self { few: [Cell::Null; FEW], many, width }
    }
}

impl<'r> Deref for CellRow<'r> {
    type Target = [Cell<'r>];

    #[inline]
    fn deref(&self) -> &[Cell<'r>] {
        if self.width > FEW { &self.many } else { &self.few[..self.width] }
    }
}

impl DerefMut for CellRow<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        if self.width > FEW { &mut self.many } else { &mut self.few[..self.width] }
    }
}

impl From<Cell<'_>> for Value {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::I16(number) => Self::I16(number),
            Cell::I32(number) => Self::I32(number),
            Cell::I64(number) => Self::I64(number),
            Cell::F64(number) => Self::F64(number),
            Cell::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

/// Rows of one width, row after row in memory that is used again. A measured load fills and sends millions of them: a value is
/// copied once, a text into one piece of memory with all others, and nothing has to be freed.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    width: usize,
    values: Vec<Stored>,
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

/// A value, in 16 bytes.
#[derive(Clone, Copy, Debug)]
enum Stored {
    Null,
    I16(i16),
    I32(i32),
    I64(i64),
    F64(f64),
    /// The text of this number.
    Text(usize),
}

impl PartialEq for Rows {
    /// What is kept to be used again makes no difference.
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width && self.values.len() == other.values.len() && self.cells().eq(other.cells())
    }
}

impl Rows {
    /// No rows yet; room for `capacity` of them.
    #[must_use]
    pub fn with_capacity(width: usize, capacity: usize) -> Self {
        Self { width, values: Vec::with_capacity(width * capacity), ..Self::default() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has another width, which would be the caller's mistake.
    #[inline]
    pub fn push<const WIDTH: usize>(&mut self, row: [Value; WIDTH]) {
        self.push_cells(row.each_ref().map(Value::cell));
    }

    /// As [`Self::push`], of values that are somebody else's.
    #[inline]
    pub fn push_cells<const WIDTH: usize>(&mut self, row: [Cell<'_>; WIDTH]) {
        assert_eq!(WIDTH, self.width, "every row has a value for each column");
        let stored = row.map(|cell| self.stored(cell));
        self.values.extend_from_slice(&stored);
    }

    /// Adds a value to a row that is made value after value; it is one once it has a value for each column.
    #[inline]
    pub fn put(&mut self, value: Value) {
        let stored = self.stored(value.cell());
        self.values.push(stored);
    }

    /// As [`Self::put`], with a text that is somebody else's.
    #[inline]
    pub fn put_text(&mut self, text: &str) {
        let stored = self.stored_text(text);
        self.values.push(stored);
    }

    /// Whether the last row has a value for each column.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.values.len() == self.len() * self.width
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Forgets all rows and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.values.clear();
        self.texts.clear();
        self.ends.clear();
    }

    /// A copy of each row, to be looked at.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Vec<Value>> {
        self.rows().map(|row| row.map(Value::from).collect())
    }

    /// All values, row after row.
    #[inline]
    pub(crate) fn cells(&self) -> Cells<'_> {
        self.cells_of(&self.values)
    }

    /// The values of each row.
    #[inline]
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = Cells<'_>> {
        self.in_parts(1)
    }

    /// The values of so many rows at a time; the last part may have fewer.
    #[inline]
    pub(crate) fn in_parts(&self, rows: usize) -> impl ExactSizeIterator<Item = Cells<'_>> {
        let values = self.width.saturating_mul(rows).max(1);
        self.values.chunks(values).map(|part| self.cells_of(part))
    }

    #[inline]
    fn cells_of<'r>(&'r self, values: &'r [Stored]) -> Cells<'r> {
        Cells { rows: self, values: values.iter() }
    }

    #[inline]
    fn stored(&mut self, cell: Cell<'_>) -> Stored {
        match cell {
            Cell::Null => Stored::Null,
            Cell::I16(number) => Stored::I16(number),
            Cell::I32(number) => Stored::I32(number),
            Cell::I64(number) => Stored::I64(number),
            Cell::F64(number) => Stored::F64(number),
            Cell::Text(text) => self.stored_text(text),
        }
    }

    fn stored_text(&mut self, text: &str) -> Stored {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        Stored::Text(self.ends.len() - 1)
    }

    fn text(&self, number: usize) -> &str {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[begin..self.ends[number]]
    }
}

/// Values of some rows, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Cells<'r> {
    rows: &'r Rows,
    values: std::slice::Iter<'r, Stored>,
}

impl<'r> Iterator for Cells<'r> {
    type Item = Cell<'r>;

    #[inline]
    fn next(&mut self) -> Option<Cell<'r>> {
        self.values.next().map(|value| match *value {
            Stored::Null => Cell::Null,
            Stored::I16(number) => Cell::I16(number),
            Stored::I32(number) => Cell::I32(number),
            Stored::I64(number) => Cell::I64(number),
            Stored::F64(number) => Cell::F64(number),
            Stored::Text(number) => Cell::Text(self.rows.text(number)),
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}

impl ExactSizeIterator for Cells<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_make_the_same_rows_one_by_one_as_together() {
        let mut together = Rows::with_capacity(2, 1);
        together.push([Value::I32(1), Value::Text("one".to_owned())]);
        let mut one_by_one = Rows::with_capacity(2, 1);
        for text in ["a text that is longer", "one"] {
            one_by_one.clear();
            one_by_one.put(Value::I32(1));
            assert!(!one_by_one.is_whole());
            one_by_one.put_text(text);
            assert!(one_by_one.is_whole());
        }
        assert_eq!(one_by_one, together);
    }

    #[test]
    fn memory_is_used_again() {
        let mut rows = Rows::with_capacity(2, 1);
        rows.push([Value::Text("the first".to_owned()), Value::I64(1)]);
        let before = (rows.values.as_ptr(), rows.texts.as_ptr(), rows.ends.as_ptr());
        rows.clear();
        assert!(rows.is_empty());
        rows.put_text("another");
        rows.put(Value::Null);
        assert_eq!((rows.values.as_ptr(), rows.texts.as_ptr(), rows.ends.as_ptr()), before);
        assert_eq!(rows.cells().collect::<Vec<_>>(), [Cell::Text("another"), Cell::Null]);
        assert_eq!(size_of::<Stored>(), 16);
    }

    proptest! {
        #[test]
        fn rows_give_what_was_put_into_them(
            rows in prop::collection::vec((any::<Option<i64>>(), "\\PC{0,9}", any::<i16>(), any::<f64>()), 0..20),
            at_once in 1usize..25,
        ) {
            let mut made = Rows::with_capacity(4, 3);
            for (number, text, small, real) in &rows {
                let number = number.map_or(Value::Null, Value::I64);
                made.push([number, Value::Text(text.clone()), Value::I16(*small), Value::F64(*real)]);
            }
            let expected: Vec<Cell<'_>> = rows
                .iter()
                .flat_map(|(number, text, small, real)| {
                    [number.map_or(Cell::Null, Cell::I64), Cell::Text(text), Cell::I16(*small), Cell::F64(*real)]
                })
                .collect();
            prop_assert_eq!(made.len(), rows.len());
            prop_assert_eq!(&made.cells().collect::<Vec<_>>(), &expected);
            prop_assert_eq!(&made.rows().flatten().collect::<Vec<_>>(), &expected);
            let parts: Vec<Vec<Cell<'_>>> = made.in_parts(at_once).map(Iterator::collect).collect();
            prop_assert_eq!(parts.len(), rows.len().div_ceil(at_once));
            prop_assert!(parts.iter().rev().skip(1).all(|part| part.len() == 4 * at_once));
            prop_assert_eq!(parts.concat(), expected);
        }
    }
}
