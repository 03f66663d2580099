//! Values, rows and the tables that they are appended to.

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

/// Type of a column, as it goes over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type. A value of a row is of this type or null.
    pub kind: Kind,
}

/// A table that rows are appended to; its columns need not be all that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name.
    pub name: &'static str,
    /// Columns, in the order of a row's values.
    pub columns: &'static [Column],
}

/// Rows of one width, row after row in one piece of memory that is used again.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    width: usize,
    values: Vec<Value>,
    /// Memory of texts that were forgotten.
    spare: Vec<String>,
}

impl PartialEq for Rows {
    /// What is kept to be used again makes no difference.
    fn eq(&self, other: &Self) -> bool {
        (self.width, &self.values) == (other.width, &other.values)
    }
}

impl Rows {
    /// No rows yet; room for `capacity` of them.
    #[must_use]
    pub fn with_capacity(width: usize, capacity: usize) -> Self {
        Self { width, values: Vec::with_capacity(width * capacity), spare: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has another width, which would be the caller's mistake.
    #[inline]
    pub fn push<const WIDTH: usize>(&mut self, row: [Value; WIDTH]) {
        assert_eq!(WIDTH, self.width, "every row has a value for each column");
        self.values.extend(row);
    }

    /// Adds a value to a row that is made value after value; it is one once it has a value for each column.
    #[inline]
    pub fn put(&mut self, value: Value) {
        self.values.push(value);
    }

    /// As [`Self::put`], with a text that is copied into memory of an earlier one.
    #[inline]
    pub fn put_text(&mut self, text: &str) {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.push_str(text);
        self.values.push(Value::Text(kept));
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
    pub fn clear(&mut self) {
        for value in self.values.drain(..) {
            if let Value::Text(mut text) = value {
                text.clear();
                self.spare.push(text);
            }
        }
    }

    /// All values, row after row.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Value]> {
        self.values.chunks_exact(self.width.max(1))
    }
}

#[cfg(test)]
mod tests {
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
    fn memory_of_texts_is_used_again() {
        let mut rows = Rows::with_capacity(1, 1);
        let address = |rows: &Rows| match rows.values() {
            [Value::Text(text)] => text.as_ptr(),
            other => panic!("one text was put, not {other:?}"),
        };
        rows.put_text("the first");
        let first = address(&rows);
        rows.clear();
        rows.put_text("another");
        assert_eq!(address(&rows), first);
    }
}
