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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    width: usize,
    values: Vec<Value>,
}

impl Rows {
    /// No rows yet; room for `capacity` of them.
    #[must_use]
    pub fn with_capacity(width: usize, capacity: usize) -> Self {
        Self { width, values: Vec::with_capacity(width * capacity) }
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
        self.values.clear();
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
