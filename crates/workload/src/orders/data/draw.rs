//! Random numbers of one row, which depend on the seed, the table and the row's number only.
//!
//! Any row can be made on its own, so that loaders in parallel make the same rows whatever their number.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Randomness of the rows of one table.
#[derive(Clone, Copy, Debug)]
pub(in crate::orders) struct Source {
    key: u64,
}

/// Randomness of one row.
#[derive(Clone, Debug)]
pub(in crate::orders) struct Draw(Xoshiro256PlusPlus);

impl Source {
    /// Tables are told apart by a number of their own.
    pub(in crate::orders) fn new(seed: u64, table: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // A seed and its neighbour must not share rows, as a sum of seed and table would.
        let key = (0..=table).fold(0, |_, _| random.next_u64());
        Self { key }
    }

    /// Of the row with this number. The generator's state is filled by SplitMix64, which makes neighbours independent.
    #[inline]
    pub(in crate::orders) fn row(self, number: u32) -> Draw {
        Draw(Xoshiro256PlusPlus::seed_from_u64(self.key.wrapping_add(number.into())))
    }
}

impl Draw {
    /// A uniform number below `limit`, by the high half of a product. Its bias is `limit` / 2^64 at most.
    #[inline]
    pub(in crate::orders) fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(limit)) >> 64) as u32
    }

    /// A uniform number of a range, its ends included.
    #[inline]
    pub(in crate::orders) fn between(&mut self, least: u32, greatest: u32) -> u32 {
        least + self.below(greatest - least + 1)
    }

    /// One of some choices.
    #[inline]
    pub(in crate::orders) fn one_of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len() as u32) as usize]
    }

    /// Appends uniform upper-case letters.
    #[inline]
    pub(in crate::orders) fn letters<const COUNT: usize>(&mut self, text: &mut String) {
        self.characters::<COUNT>(b'A', 26, text);
    }

    /// Appends uniform decimal digits.
    #[inline]
    pub(in crate::orders) fn digits<const COUNT: usize>(&mut self, text: &mut String) {
        self.characters::<COUNT>(b'0', 10, text);
    }

    /// Takes a random number for a fraction and reads off its digits in the base `kinds`. Of its 64 bits, 16 decimal digits
    /// need 54 and 10 letters 48.
    #[inline]
    fn characters<const COUNT: usize>(&mut self, first: u8, kinds: u8, text: &mut String) {
        let mut fraction = self.0.next_u64();
        text.extend((0..COUNT).map(|_| {
            let product = u128::from(fraction) * u128::from(kinds);
            fraction = product as u64;
            char::from(first + (product >> 64) as u8)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u64, table: u64, row: u32) -> [u32; 4] {
        let mut draw = Source::new(seed, table).row(row);
        [(); 4].map(|()| draw.below(u32::MAX))
    }

    #[test]
    fn seed_table_and_row_each_make_other_numbers() {
        let all = [numbers(1, 0, 1), numbers(2, 0, 1), numbers(1, 1, 1), numbers(1, 0, 2), numbers(1, 1, 0)];
        for (index, one) in all.iter().enumerate() {
            assert_eq!(all.iter().filter(|other| *other == one).count(), 1, "{index}: {all:?}");
        }
        assert_eq!(numbers(1, 0, 1), numbers(1, 0, 1));
    }

    #[test]
    fn a_range_is_drawn_with_both_of_its_ends() {
        let mut draw = Source::new(3, 0).row(1);
        let drawn: Vec<u32> = (0..1_000).map(|_| draw.between(9, 12)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&9), Some(&12)));
    }
}
