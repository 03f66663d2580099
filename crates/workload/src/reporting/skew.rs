//! Draws of few common and many rare kinds: the kind of rank r is drawn in proportion to 1/r (Zipf's law with exponent 1).
//!
//! One draw takes one random number and one look-up (Walker's alias method, built as Vose does, in whole numbers only, so that
//! every machine makes the same table).

/// Weight of the most common kind.
const SCALE: u64 = 1 << 40;

/// Kinds from 0, the most common first.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    slots: Vec<Slot>,
}

/// A slot keeps its own kind below `keep` of its 2^64 parts, and gives its other one above.
#[derive(Clone, Copy, Debug)]
struct Slot {
    keep: u64,
    other: u32,
}

impl Zipf {
    /// `kinds` is between 1 and 2^20, so that products of weights fit.
    pub(super) fn new(kinds: u32) -> Self {
        assert!((1..=1 << 20).contains(&kinds), "{kinds} kinds");
        let weights: Vec<u64> = (1..=u64::from(kinds)).map(|rank| SCALE / rank).collect();
        let total: u64 = weights.iter().sum();
        let mut left: Vec<u64> = weights.iter().map(|weight| weight * u64::from(kinds)).collect();
        let mut slots: Vec<Slot> = (0..kinds).map(|kind| Slot { keep: u64::MAX, other: kind }).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..kinds).partition(|kind| left[*kind as usize] < total);
        while let (Some(&from), Some(kind)) = (large.last(), small.pop()) {
            let (kept, from_index) = (left[kind as usize], from as usize);
            let keep = (u128::from(kept) << 64) / u128::from(total);
            slots[kind as usize] = Slot { keep: keep as u64, other: from };
            left[from_index] -= total - kept;
            if left[from_index] < total {
                large.pop();
                small.push(from);
            }
        }
        Self { slots }
    }

    /// The kind that a uniform random number stands for.
    #[inline]
    pub(super) fn kind(&self, random: u64) -> u32 {
        let product = u128::from(random) * self.slots.len() as u128;
        let index = (product >> 64) as usize;
        let slot = self.slots[index];
        if (product as u64) < slot.keep { index as u32 } else { slot.other }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The share of random numbers that a table gives each kind, in parts of 2^64 / kinds.
    fn shares(zipf: &Zipf) -> Vec<u128> {
        let mut shares = vec![0_u128; zipf.slots.len()];
        for (index, slot) in zipf.slots.iter().enumerate() {
            shares[index] += u128::from(slot.keep);
            shares[slot.other as usize] += (1 << 64) - u128::from(slot.keep);
        }
        shares
    }

    proptest! {
        #[test]
        fn a_kind_has_the_share_of_one_over_its_rank(kinds in 1_u32..3_000) {
            let zipf = Zipf::new(kinds);
            let harmonic: f64 = (1..=kinds).map(|rank| 1.0 / f64::from(rank)).sum();
            for (kind, share) in shares(&zipf).into_iter().enumerate() {
                let share = share as f64 / 2_f64.powi(64) / f64::from(kinds);
                let expected = 1.0 / (kind as f64 + 1.0) / harmonic;
                prop_assert!((share - expected).abs() < 1e-9, "{kind}: {share} {expected}");
            }
        }

        #[test]
        fn every_random_number_is_a_kind(kinds in 1_u32..3_000, random: u64) {
            let zipf = Zipf::new(kinds);
            for random in [random, 0, u64::MAX] {
                prop_assert!(zipf.kind(random) < kinds);
            }
        }
    }
}
