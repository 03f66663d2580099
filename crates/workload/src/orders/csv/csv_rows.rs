//! Lines of CSV as RFC 4180 has them: CR LF, and quotes around what holds a quote, a comma or a line's end.
//!
//! A null is a field without anything in it, an empty text a pair of quotes: PostgreSQL's COPY tells them apart by this.

use database::Table;

use crate::orders::data::RowSink;
use crate::orders::decimal;

/// Lines in memory, to be written in one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvRows {
    bytes: Vec<u8>,
    rows: u64,
    /// Whether the line has a field.
    is_begun: bool,
}

impl CsvRows {
    /// The line of a table's column names. It is no row.
    #[must_use]
    pub fn header(table: &Table) -> Self {
        let mut header = Self::default();
        table.columns.iter().for_each(|column| header.text(column.name));
        header.end_row();
        Self { rows: 0, ..header }
    }

    /// The lines.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Forgets the lines and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows = 0;
    }

    #[inline]
    fn begin_field(&mut self) {
        if self.is_begun {
            self.bytes.push(b',');
        }
        self.is_begun = true;
    }

    #[inline]
    fn number(&mut self, number: i64) {
        self.begin_field();
        decimal::append_bytes(number, &mut self.bytes);
    }

    fn quoted(&mut self, text: &str) {
        self.bytes.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                self.bytes.push(b'"');
            }
            self.bytes.push(byte);
        }
        self.bytes.push(b'"');
    }
}

impl RowSink for CsvRows {
    #[inline]
    fn null(&mut self) {
        self.begin_field();
    }

    #[inline]
    fn small(&mut self, number: i16) {
        self.number(number.into());
    }

    #[inline]
    fn integer(&mut self, number: i32) {
        self.number(number.into());
    }

    #[inline]
    fn big(&mut self, number: i64) {
        self.number(number);
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.begin_field();
        let is_plain =
            !text.is_empty() && !text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n'));
        if is_plain {
            self.bytes.extend_from_slice(text.as_bytes());
        } else {
            self.quoted(text);
        }
    }

    #[inline]
    fn end_row(&mut self) {
        self.bytes.extend_from_slice(b"\r\n");
        self.is_begun = false;
        self.rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_that_of_the_rfc() {
        let mut lines = CsvRows::default();
        lines.integer(-7);
        lines.null();
        lines.text("");
        lines.text("South Africa");
        lines.text("a, \"b\"\r\n");
        lines.end_row();
        lines.null();
        lines.small(0);
        lines.end_row();
        assert_eq!(lines.bytes(), b"-7,,\"\",South Africa,\"a, \"\"b\"\"\r\n\"\r\n,0\r\n");
        assert_eq!(lines.rows(), 2);
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_by_a_reader_of_csv(texts in prop::collection::vec("[a,\"\r\n é]{0,6}", 2..5)) {
            let mut lines = CsvRows::default();
            texts.iter().for_each(|text| lines.text(text));
            lines.end_row();
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(lines.bytes());
            let read: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(read, [csv::StringRecord::from(texts)]);
        }
    }
}
