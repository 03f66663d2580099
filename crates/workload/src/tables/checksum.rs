//! What the rows of a table come to: one number that is the same for the same rows, whatever keeps them and in which order they come.

use std::fmt;

use database::Cell;

use super::data::TABLE;
use crate::mix::{SALTS, mix};

/// Most rows that are read back: more would take minutes. Sums and groups are checked over all rows.
pub(super) const READ_MAX: u64 = 10_000_000;

/// The sum of a number for each row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksum {
    pub(super) rows: u64,
    sum: u64,
}

impl Checksum {
    /// Adds a row: its key, category, value and amount, and its note.
    pub(super) fn add(&mut self, numbers: [u64; 4], note: &str) {
        let start = mix(numbers[0] ^ SALTS[0], numbers[1] ^ SALTS[1]);
        let numbers = mix(start ^ SALTS[2], mix(numbers[2] ^ SALTS[3], numbers[3] ^ SALTS[0]));
        let text = note.bytes().fold(SALTS[1], |text, byte| mix(text ^ u64::from(byte), SALTS[2]));
        self.rows += 1;
        self.sum = self.sum.wrapping_add(mix(numbers ^ SALTS[1], text));
    }

    /// Adds a row as a query of [`sql`] gives it. A number that is missing is no number of a row.
    pub(super) fn add_cells(&mut self, row: &[Cell<'_>]) {
        let number = |column: usize| match row.get(column) {
            Some(Cell::I16(number)) => i64::from(*number).cast_unsigned(),
            Some(Cell::I32(number)) => i64::from(*number).cast_unsigned(),
            Some(Cell::I64(number)) => number.cast_unsigned(),
            Some(Cell::F64(_) | Cell::Text(_) | Cell::Null) | None => u64::MAX,
        };
        let note = match row.get(4) {
            Some(Cell::Text(note)) => *note,
            Some(Cell::F64(_) | Cell::I16(_) | Cell::I32(_) | Cell::I64(_) | Cell::Null) | None => "",
        };
        self.add([number(0), number(1), number(2), number(3)], note);
    }

    /// The sum as 16 hexadecimal digits.
    pub(super) fn sum(&self) -> String {
        format!("{:016x}", self.sum)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {} rows", self.sum(), self.rows)
    }
}

/// The query of the rows that are read back.
pub(super) fn sql() -> String {
    let columns: Vec<&str> = TABLE.columns.iter().map(|column| column.name).collect();
    format!("SELECT {} FROM {} WHERE id <= {READ_MAX}", columns.join(", "), TABLE.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [([u64; 4], &str); 3] = [
        ([1, 7, 3, 900], "note 0000abcd"),
        ([2, 7, 3, 900], "note 0000abcd"),
        ([3, 0, 0, 0], "note ffffffff"),
    ];

    fn of(rows: &[([u64; 4], &str)]) -> Checksum {
        let mut checksum = Checksum::default();
        rows.iter().for_each(|(numbers, note)| checksum.add(*numbers, note));
        checksum
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_each_column_does() {
        let mut turned = ROWS;
        turned.reverse();
        assert_eq!(of(&ROWS), of(&turned));
        for column in 0..4 {
            let mut other = ROWS;
            other[1].0[column] += 1;
            assert_ne!(of(&ROWS), of(&other), "column {column}");
        }
        let mut other = ROWS;
        other[2].1 = "note fffffffe";
        assert_ne!(of(&ROWS), of(&other));
        // Two amounts that changed places leave the sums as they are.
        let (mut other, amounts) = (ROWS, [ROWS[1].0[3], ROWS[2].0[3]]);
        [other[2].0[3], other[1].0[3]] = amounts;
        assert_ne!(of(&ROWS), of(&other));
        assert_ne!(of(&ROWS), of(&ROWS[..2]));
    }

    #[test]
    fn rows_are_the_same_whatever_width_their_numbers_have() {
        let mut cells = Checksum::default();
        let note = Cell::Text("note 0000abcd");
        cells.add_cells(&[Cell::I64(1), Cell::I16(7), Cell::I32(3), Cell::I64(900), note]);
        assert_eq!(cells, of(&ROWS[..1]));
        let mut lost = Checksum::default();
        lost.add_cells(&[Cell::I64(1), Cell::I16(7), Cell::Null, Cell::I64(900), note]);
        assert_ne!(lost, cells);
    }
}
