//! What rows are made into: values of a database, lines of CSV, or nothing.

use database::{Rows, Value};

/// Takes rows value by value, in the order of the table's columns, so that a text needs no memory of its own.
pub trait RowSink {
    /// Takes a value that there is none of.
    fn null(&mut self);
    /// Takes a small number.
    fn small(&mut self, number: i16);
    /// Takes a number.
    fn integer(&mut self, number: i32);
    /// Takes a big number.
    fn big(&mut self, number: i64);
    /// Takes a text.
    fn text(&mut self, text: &str);
    /// Ends a row.
    fn end_row(&mut self);
}

impl RowSink for Rows {
    #[inline]
    fn null(&mut self) {
        self.put(Value::Null);
    }

    #[inline]
    fn small(&mut self, number: i16) {
        self.put(Value::I16(number));
    }

    #[inline]
    fn integer(&mut self, number: i32) {
        self.put(Value::I32(number));
    }

    #[inline]
    fn big(&mut self, number: i64) {
        self.put(Value::I64(number));
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.put_text(text);
    }

    #[inline]
    fn end_row(&mut self) {
        debug_assert!(self.is_whole(), "every row has a value for each column");
    }
}
