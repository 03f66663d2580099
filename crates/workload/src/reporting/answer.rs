//! The answer of a report: how many rows, and a sum over them that does not depend on their order.

use database::Cell;

use super::data::mixed;

/// Rows and their sum. Equal rows in another order are an equal answer; a row that is missing, twice there or changed is another
/// one, but for one case in 2^64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// How many rows.
    pub rows: u64,
    /// Sum of a mix of each row, modulo 2^64.
    pub sum: u64,
}

impl Answer {
    /// Adds a row as a database gives it.
    #[inline]
    pub fn add(&mut self, row: &[Cell<'_>]) {
        let mut mix = RowMix::default();
        for value in row {
            match value {
                Cell::Null => mix.word(0, 0),
                Cell::I16(number) => mix.number(i64::from(*number)),
                Cell::I32(number) => mix.number(i64::from(*number)),
                Cell::I64(number) => mix.number(*number),
                Cell::F64(number) => mix.word(2, number.to_bits()),
                Cell::Text(text) => mix.text(text),
            }
        }
        self.add_mix(mix);
    }

    #[inline]
    pub(super) fn add_mix(&mut self, mix: RowMix) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(mix.0);
    }
}

/// A row's values in 64 bits, in their order, with their kinds: no number is mixed as a text is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowMix(u64);

impl RowMix {
    #[inline]
    pub(super) fn number(&mut self, number: i64) {
        self.word(1, number.cast_unsigned());
    }

    /// What it came to.
    pub(super) fn sum(self) -> u64 {
        self.0
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.word(3, text.len() as u64);
        for bytes in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(4, u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn word(&mut self, kind: u64, word: u64) {
        let before = self.0.rotate_left(5).wrapping_add(kind + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed(before ^ mixed(word.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use database::Value;

    use super::*;

    fn cell(value: &Value) -> Cell<'_> {
        match value {
            Value::Null => Cell::Null,
            Value::I16(number) => Cell::I16(*number),
            Value::I32(number) => Cell::I32(*number),
            Value::I64(number) => Cell::I64(*number),
            Value::F64(number) => Cell::F64(*number),
            Value::Text(text) => Cell::Text(text),
        }
    }

    fn answer(rows: &[Vec<Value>]) -> Answer {
        rows.iter().fold(Answer::default(), |mut answer, row| {
            let cells: Vec<Cell<'_>> = row.iter().map(cell).collect();
            answer.add(&cells);
            answer
        })
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![Just(Value::Null), (-3_i64..3).prop_map(Value::I64), "[ab\0]{0,9}".prop_map(Value::Text),]
    }

    proptest! {
        #[test]
        fn order_makes_no_difference_and_anything_else_does(
            rows in prop::collection::vec(prop::collection::vec(value(), 2), 1..9),
            at: prop::sample::Index,
            new in value(),
        ) {
            let whole = answer(&rows);
            let reversed: Vec<_> = rows.iter().rev().cloned().collect();
            prop_assert_eq!(answer(&reversed), whole);
            let at = at.index(rows.len());
            let mut twice = rows.clone();
            twice.push(rows[at].clone());
            prop_assert_ne!(answer(&twice), whole);
            let mut swapped = rows.clone();
            swapped[at].swap(0, 1);
            prop_assert_eq!(answer(&swapped) == whole, swapped == rows);
            let mut changed = rows.clone();
            changed[at][0] = new;
            prop_assert_eq!(answer(&changed) == whole, changed == rows);
        }
    }

    #[test]
    fn widths_of_numbers_make_no_difference() {
        let of = |value| answer(&[vec![value]]);
        assert_eq!(of(Value::I16(-7)), of(Value::I64(-7)));
        assert_eq!(of(Value::I32(7)), of(Value::I64(7)));
    }
}
