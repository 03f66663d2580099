//! The rows of a table, from a seed and their keys alone, and what operations on them have to answer.

use std::ops::Range;

use database::{Column, Kind, Rows, Table, Value};

use super::checksum::{Checksum, READ_MAX};
use crate::mix::{SALTS, mix};

/// The table.
pub(super) const TABLE: Table = Table {
    name: "prony_rows",
    columns: &[
        Column { name: "id", kind: Kind::I64 },
        Column { name: "category", kind: Kind::I32 },
        Column { name: "value", kind: Kind::I32 },
        Column { name: "amount", kind: Kind::I64 },
        Column { name: "note", kind: Kind::Text },
    ],
};

/// Categories that rows are grouped by.
const CATEGORIES: u64 = 1_000;
/// Rows that have a value in common, on average.
const ROWS_OF_VALUE: u64 = 1_000;
/// Amounts are below this.
const AMOUNTS: u64 = 10_000;
/// Values that are selected, one after the other.
pub(super) const SELECTS: usize = 5;

/// Rows with the keys from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowData {
    pub(super) rows: u64,
    seed: u64,
}

/// A row besides its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    category: u64,
    value: u64,
    amount: u64,
    note: u64,
}

impl RowData {
    pub(super) fn new(rows: u64, seed: u64) -> Self {
        Self { rows, seed }
    }

    /// Values that rows have.
    fn values(&self) -> u64 {
        (self.rows / ROWS_OF_VALUE).max(1)
    }

    fn row(&self, id: u64) -> Row {
        let first = mix(id ^ SALTS[0], self.seed ^ SALTS[1]);
        let second = mix(first ^ SALTS[2], id ^ SALTS[3]);
        Row {
            category: first % CATEGORIES,
            value: (first >> 20) % self.values(),
            amount: second % AMOUNTS,
            note: second >> 32,
        }
    }

    /// The amount that a row is loaded with.
    pub(super) fn amount(&self, id: u64) -> i64 {
        self.row(id).amount.cast_signed()
    }

    /// Puts the rows of these keys behind those that are there.
    pub(super) fn write(&self, ids: Range<u64>, rows: &mut Rows) {
        for id in ids {
            let Row { category, value, amount, note } = self.row(id);
            rows.push([
                Value::I64(id.cast_signed()),
                Value::I32(category as i32),
                Value::I32(value as i32),
                Value::I64(amount.cast_signed()),
                Value::Text(note_text(note)),
            ]);
        }
    }

    /// The values that are selected: all over those that there are.
    pub(super) fn selected(&self) -> [u64; SELECTS] {
        std::array::from_fn(|number| number as u64 * self.values() / SELECTS as u64)
    }

    /// Keys each of which comes once, in an order that follows no other.
    pub(super) fn keys(&self, count: u64) -> impl Iterator<Item = u64> + use<> {
        let rows = self.rows;
        // A part of the rows that divides them nowhere; the golden section spreads best.
        let mut step = (rows as f64 * 0.618_033_988_749) as u64 | 1;
        while gcd(step, rows) != 1 {
            step += 2;
        }
        (0..count.min(rows)).map(move |number| {
            let place = (u128::from(number) * u128::from(step)) % u128::from(rows);
            place as u64 + 1
        })
    }
}

fn note_text(note: u64) -> String {
    format!("note {note:08x}")
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What a table with all of the rows answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// Rows, the sum of their amounts, and of their values.
    pub(super) all: [i64; 3],
    /// Groups; rows and amounts of all of them; and both weighted by the group.
    pub(super) groups: [i64; 5],
    /// Rows of each value that is selected, and the sum of their amounts.
    pub(super) selected: [[i64; 2]; SELECTS],
    /// All columns of the rows that are read back.
    pub(super) checksum: Checksum,
}

impl Expected {
    pub(super) fn of(data: &RowData) -> Self {
        let selected = data.selected();
        let mut expected =
            Self { all: [0; 3], groups: [0; 5], selected: [[0; 2]; SELECTS], checksum: Checksum::default() };
        let mut groups = vec![[0i64; 2]; CATEGORIES as usize];
        for id in 1..=data.rows {
            let Row { category, value, amount, note } = data.row(id);
            if id <= READ_MAX {
                expected.checksum.add([id, category, value, amount], &note_text(note));
            }
            let amount = amount.cast_signed();
            let adds = [1, amount, value.cast_signed()];
            expected.all.iter_mut().zip(adds).for_each(|(sum, add)| *sum += add);
            let group = &mut groups[category as usize];
            *group = [group[0] + 1, group[1] + amount];
            for (number, _) in selected.iter().enumerate().filter(|(_, of)| **of == value) {
                let found = &mut expected.selected[number];
                *found = [found[0] + 1, found[1] + amount];
            }
        }
        for (category, [count, amount]) in (0i64..).zip(groups).filter(|(_, [count, _])| *count > 0) {
            let adds = [1, count, amount, count * category, amount * category];
            expected.groups.iter_mut().zip(adds).for_each(|(sum, add)| *sum += add);
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_seed_gives_the_same_rows_and_another_one_others() {
        let rows = |seed| Expected::of(&RowData::new(10_000, seed));
        assert_eq!(rows(1), rows(1));
        assert_ne!(rows(1).all, rows(2).all);
        assert_ne!(rows(1).groups, rows(2).groups);
    }

    #[test]
    fn sums_are_those_of_the_rows_that_are_written() {
        let data = RowData::new(3_000, 7);
        let mut rows = Rows::with_capacity(5, 0);
        data.write(1..3_001, &mut rows);
        let number = |value: &Value| match value {
            Value::I32(number) => i64::from(*number),
            Value::I64(number) => *number,
            other => panic!("{other:?}"),
        };
        let all: Vec<Vec<Value>> = rows.iter().collect();
        let sum = |column: usize| all.iter().map(|row| number(&row[column])).sum::<i64>();
        let expected = Expected::of(&data);
        assert_eq!(expected.all, [all.len() as i64, sum(3), sum(2)]);
        let categories: BTreeSet<i64> = all.iter().map(|row| number(&row[1])).collect();
        assert_eq!(expected.groups[0], categories.len() as i64);
        assert_eq!(expected.groups[3], sum(1), "each row has its group once");
        for (value, [count, _]) in data.selected().into_iter().zip(expected.selected) {
            let of = all.iter().filter(|row| number(&row[2]) == value.cast_signed());
            assert_eq!(of.count() as i64, count);
        }
    }

    #[test]
    fn every_key_comes_once() {
        for rows in [1, 2, 3, 10, 100, 1_000, 9_973] {
            let keys: BTreeSet<u64> = RowData::new(rows, 1).keys(rows).collect();
            assert_eq!(keys, (1..=rows).collect(), "{rows}");
        }
        assert_eq!(RowData::new(1_000, 1).keys(10).count(), 10);
    }
}
