//! Hashes of whole numbers, and permutations that are computed and not stored.

/// FNV-1a of 64 bits over the 8 bytes of a number, the lowest first. The seed changes what it begins with.
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, The FNV Non-Cryptographic Hash Algorithm.
#[must_use]
pub(super) fn fnv1a(number: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let begin = BASIS ^ seed as u64;
    number.to_le_bytes().into_iter().fold(begin, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
        as i64
}

/// MurmurHash64A by A. Appleby, of one block of 8 bytes.
#[must_use]
pub(super) fn murmur2(number: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let mixed = |number: u64| number ^ (number >> 47);
    let block = mixed((number as u64).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    let begin = seed as u64 ^ FACTOR.wrapping_mul(8);
    mixed(mixed((begin ^ block).wrapping_mul(FACTOR)).wrapping_mul(FACTOR)) as i64
}

/// Where a number below `size` is in a pseudorandom permutation of all of them, which the seed chooses. Other numbers are taken
/// modulo `size`, which must be at least 1.
///
/// It is not the permutation that pgbench makes: a network of Feistel over as few bits as hold all numbers, asked again as long
/// as its answer is not below `size`. A bijection of more numbers, walked on along its cycles, is one of fewer
/// (J. Black, P. Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
#[must_use]
pub(super) fn permuted(number: i64, size: i64, seed: i64) -> i64 {
    let bits = u64::BITS - (size - 1).unsigned_abs().leading_zeros();
    let mut place = number.rem_euclid(size).unsigned_abs();
    loop {
        place = crossed(place, bits, seed);
        if place < size.unsigned_abs() {
            return place as i64;
        }
    }
}

/// One of 2^`bits` numbers for another: each half is changed in turn by a hash of the other, which can be undone.
fn crossed(number: u64, bits: u32, seed: i64) -> u64 {
    const TURNS: i64 = 4;
    let low_bits = bits / 2;
    let low_mask = (1_u64 << low_bits) - 1;
    let high_mask = (1_u64 << (bits - low_bits)) - 1;
    let (mut low, mut high) = (number & low_mask, number >> low_bits);
    for turn in 0..TURNS {
        let keyed = |half: u64, key: i64| murmur2(half as i64, seed ^ murmur2(key, seed)) as u64;
        high ^= keyed(low, 2 * turn) & high_mask;
        low ^= keyed(high, 2 * turn + 1) & low_mask;
    }
    (high << low_bits) | low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_permutation(size: i64, seed: i64) -> bool {
        let mut places: Vec<i64> = (0..size).map(|number| permuted(number, size, seed)).collect();
        places.sort_unstable();
        places.into_iter().eq(0..size)
    }

    #[test]
    fn each_size_is_permuted() {
        for size in (1..70).chain([127, 128, 129, 1_000, 1_009, 4_096, 65_537]) {
            for seed in [0, 1, -1, 42, i64::MIN, i64::MAX] {
                assert!(is_permutation(size, seed), "{size} with {seed}");
            }
        }
    }

    #[test]
    fn every_permutation_of_three_is_chosen_by_some_seed() {
        let mut times = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            *times.entry([0, 1, 2].map(|number| permuted(number, 3, seed))).or_insert(0) += 1;
        }
        assert_eq!(times.len(), 6);
        assert!(times.values().all(|times| (700..1_300).contains(times)), "{times:?}");
    }

    #[test]
    fn a_place_is_taken_equally_often() {
        for size in [2, 5, 100] {
            let mut times = vec![0_i64; size as usize];
            for seed in 0..10_000 {
                times[permuted(1, size, seed) as usize] += 1;
            }
            let expected = 10_000 / size;
            let most = 5.0 * (expected as f64).sqrt();
            assert!(times.iter().all(|times| ((times - expected) as f64).abs() < most), "{size}: {times:?}");
        }
    }

    #[test]
    fn numbers_are_taken_modulo_the_size() {
        assert_eq!(permuted(13, 10, 5), permuted(3, 10, 5));
        assert_eq!(permuted(-7, 10, 5), permuted(3, 10, 5));
        assert_eq!(permuted(i64::MIN, 1, 5), 0);
    }

    /// By the letter of its description, with a block taken byte by byte and 128 bits for products.
    fn slow_murmur2(number: i64, seed: i64) -> i64 {
        let times = |left: u64, right: u64| (u128::from(left) * u128::from(right) % (1 << 64)) as u64;
        let factor = 0xc6a4_a793_5bd1_e995;
        let mut hash = seed as u64 ^ times(8, factor);
        let mut block = (0..8).map(|byte| ((number as u64 >> (8 * byte)) & 0xff) << (8 * byte)).sum::<u64>();
        block = times(block, factor);
        block ^= block >> 47;
        block = times(block, factor);
        hash ^= block;
        hash = times(hash, factor);
        hash ^= hash >> 47;
        hash = times(hash, factor);
        hash ^= hash >> 47;
        hash as i64
    }

    fn slow_fnv1a(number: i64, seed: i64) -> i64 {
        let mut hash = 14_695_981_039_346_656_037 ^ seed as u64;
        for byte in 0..8 {
            hash ^= (number as u64 >> (8 * byte)) % 256;
            hash = (u128::from(hash) * 1_099_511_628_211 % (1 << 64)) as u64;
        }
        hash as i64
    }

    proptest! {
        #[test]
        fn hashes_are_as_described(number: i64, seed: i64) {
            prop_assert_eq!(murmur2(number, seed), slow_murmur2(number, seed));
            prop_assert_eq!(fnv1a(number, seed), slow_fnv1a(number, seed));
        }

        #[test]
        fn large_sizes_keep_their_numbers(number: i64, size in 1..=i64::MAX, seed: i64) {
            prop_assert!((0..size).contains(&permuted(number, size, seed)));
        }

        #[test]
        fn some_sizes_are_permuted(size in 1..3_000_i64, seed: i64) {
            prop_assert!(is_permutation(size, seed));
        }
    }
}
