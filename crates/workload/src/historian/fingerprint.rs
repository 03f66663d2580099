//! What rows come to, whatever their order: sums of 64-bit mixes of their values, so that what was acknowledged and what a
//! database holds can be compared without keeping either.
//!
//! Two sets of rows with the same fingerprint are the same but for a chance of about 2^-64; nobody is expected to seek a
//! collision. The sign of zero is not part of it: SQLite does not keep it.

use super::buffer::Event;
use crate::mix::{SALTS, mix};

/// Sums over rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// How many there are.
    pub(crate) rows: u64,
    /// Of tags and times.
    pub(crate) keys: u64,
    /// Of tags, times, values and qualities.
    pub(crate) contents: u64,
}

/// A row as it is compared; the value is that of [`bits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) time_us: i64,
    pub(crate) tag: i64,
    pub(crate) value: u64,
    pub(crate) quality: i64,
}

impl Row {
    /// An event as a row.
    #[inline]
    pub(crate) fn of(event: &Event) -> Self {
        Self {
            time_us: event.time_us,
            tag: i64::from(event.tag),
            value: bits(event.value),
            quality: i64::from(event.quality),
        }
    }
}

impl Fingerprint {
    /// Adds a row.
    #[inline]
    pub(crate) fn add(&mut self, row: Row) {
        let key = mix(row.time_us.cast_unsigned() ^ SALTS[0], row.tag.cast_unsigned() ^ SALTS[1]);
        let quality = row.quality.cast_unsigned().wrapping_mul(SALTS[2]);
        let content = mix(key ^ SALTS[3], row.value.wrapping_add(quality) ^ SALTS[2]);
        self.rows += 1;
        self.keys = self.keys.wrapping_add(key);
        self.contents = self.contents.wrapping_add(content);
    }

    /// Adds the rows of another one.
    pub(crate) fn join(&mut self, other: Self) {
        self.rows += other.rows;
        self.keys = self.keys.wrapping_add(other.keys);
        self.contents = self.contents.wrapping_add(other.contents);
    }
}

/// A value as it is compared: minus zero is zero, and what is no number is no value, as SQLite stores both.
#[inline]
pub(crate) fn bits(value: f64) -> u64 {
    if value.is_nan() { NO_VALUE } else { (value + 0.0).to_bits() }
}

/// Bits of no number that is stored.
pub(crate) const NO_VALUE: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use proptest::prelude::*;

    fn of(rows: &[Row]) -> Fingerprint {
        let mut sum = Fingerprint::default();
        rows.iter().for_each(|row| sum.add(*row));
        sum
    }

    fn counted(rows: &[Row]) -> HashMap<Row, usize> {
        let mut counts = HashMap::new();
        rows.iter().for_each(|row| *counts.entry(*row).or_default() += 1);
        counts
    }

    type Edit<'a> = &'a dyn Fn(&mut Vec<Row>);

    /// Few tags, times and values, close together: what differs differs by little.
    fn any_row() -> impl Strategy<Value = Row> {
        let value = prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(0.1), Just(f64::NAN), -3.0f64..3.0];
        (0i64..6, 0i64..4, value, prop_oneof![Just(192i64), 0i64..3]).prop_map(
            |(time, tag, value, quality)| Row {
                time_us: 1_700_000_000_000_000 + time,
                tag,
                value: bits(value),
                quality,
            },
        )
    }

    fn any_rows() -> impl Strategy<Value = Vec<Row>> {
        prop::collection::vec(any_row(), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn rows_are_the_same_if_and_only_if_their_fingerprints_are(a in any_rows(), b in any_rows()) {
            prop_assert_eq!(of(&a) == of(&b), counted(&a) == counted(&b));
        }

        #[test]
        fn an_edit_is_seen_and_the_order_is_not(
            rows in prop::collection::vec(any_row(), 1..60), at: prop::sample::Index, other in any_row(), turn in 0usize..60,
        ) {
            let at = at.index(rows.len());
            let edited = |edit: &dyn Fn(&mut Vec<Row>)| {
                let mut edited = rows.clone();
                edit(&mut edited);
                edited
            };
            let whole = of(&rows);
            let turned = edited(&|rows| { let turn = turn % rows.len(); rows.rotate_left(turn) });
            prop_assert_eq!(of(&turned), whole);
            let edits: [Edit<'_>; 6] = [
                &|rows| { rows.remove(at); },
                &|rows| rows.push(rows[at]),
                &|rows| rows[at].value ^= 1,
                &|rows| rows[at].tag += 1,
                &|rows| rows[at].quality += 1,
                // One is gone, and another is there twice.
                &|rows| rows[at] = other,
            ];
            for edit in edits {
                let edited = edited(edit);
                prop_assert_eq!(of(&edited) == whole, counted(&edited) == counted(&rows));
            }
        }

        #[test]
        fn tags_that_were_swapped_are_seen(first in any_row(), second in any_row()) {
            let swapped = [Row { tag: second.tag, ..first }, Row { tag: first.tag, ..second }];
            let same = counted(&swapped) == counted(&[first, second]);
            prop_assert_eq!(of(&swapped) == of(&[first, second]), same);
        }

        #[test]
        fn parts_make_the_whole(rows in any_rows(), at: prop::sample::Index) {
            let (one, other) = rows.split_at(at.index(rows.len() + 1));
            let mut joined = of(one);
            joined.join(of(other));
            prop_assert_eq!(joined, of(&rows));
        }
    }

    #[test]
    fn what_a_database_does_not_keep_is_not_compared() {
        assert_eq!(bits(-0.0), bits(0.0));
        assert_eq!(bits(f64::NAN), NO_VALUE);
        assert_ne!(bits(5e-324), bits(0.0));
    }
}
