//! Where the I/Os of one thread go: block numbers within a region, for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::settings::{Pattern, Run};

/// Random numbers of one thread: fast, seeded, not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Independent of other streams of the same seed: SplitMix64, which seeds the generator, scatters the sum.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(stream.wrapping_mul(0x9E37_79B9_7F4A_7C15))))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..bound` by multiplication; the bias is below bound / 2^64.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in [0, 1).
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The block numbers of one thread in one file.
#[derive(Clone, Debug)]
pub(crate) enum Blocks {
    Sequential {
        next: u64,
        blocks: u64,
    },
    /// All threads of the file take the next block of one stream.
    Shared {
        next: Arc<AtomicU64>,
        blocks: u64,
    },
    Random {
        blocks: u64,
    },
    Strided {
        next: u64,
        stride: u64,
        blocks: u64,
    },
    Runs(Runs),
    Zipf(Zipf),
}

impl Blocks {
    /// The walk of thread `thread` of `threads` over a file of so many blocks (at least one). Threads that share one
    /// stream count it in `stream`.
    pub(crate) fn new(
        pattern: Pattern,
        blocks: u64,
        (thread, threads): (u64, u64),
        stream: &Arc<AtomicU64>,
    ) -> Self {
        debug_assert!(blocks > 0 && thread < threads);
        match pattern {
            Pattern::Sequential => Self::Sequential { next: part(blocks, thread, threads), blocks },
            Pattern::SharedSequential => Self::Shared { next: Arc::clone(stream), blocks },
            Pattern::Random => Self::Random { blocks },
            Pattern::Strided { blocks: stride, runs: None } => {
                Self::Strided { next: thread % stride % blocks, stride: stride % blocks, blocks }
            }
            Pattern::Strided { blocks: stride, runs: Some(run) } => {
                Self::Runs(Runs::new(stride, run, blocks, (thread, threads)))
            }
            Pattern::Zipf { exponent } => Self::Zipf(Zipf::new(blocks, exponent)),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self, random: &mut Random) -> u64 {
        match self {
            Self::Sequential { next, blocks } => {
                let block = *next;
                *next = if block + 1 == *blocks { 0 } else { block + 1 };
                block
            }
            Self::Random { blocks } => random.below(*blocks),
            Self::Strided { next, stride, blocks } => {
                let block = *next;
                *next = further(block, *stride, *blocks);
                block
            }
            Self::Shared { next, blocks } => next.fetch_add(1, Ordering::Relaxed) % *blocks,
            Self::Runs(runs) => runs.next(),
            Self::Zipf(zipf) => zipf.next(random),
        }
    }
}

/// Where the part of a thread begins.
pub(crate) fn part(blocks: u64, thread: u64, threads: u64) -> u64 {
    (u128::from(blocks) * u128::from(thread) / u128::from(threads)) as u64
}

/// A block so many after another, both below `blocks`; the last is followed by the first.
#[inline]
fn further(block: u64, distance: u64, blocks: u64) -> u64 {
    let left = blocks - block;
    if distance >= left { distance - left } else { block + distance }
}

/// SQLIO's walk over a strip: rows as long as the stride, as many as a run has I/Os. A run goes down a column; the next one
/// is a block further, up to the last column of the thread's part, and then it begins again.
///
/// Source: readme of SQLIO 1.5, "About the IOs".
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// Columns of the thread; the end is not one of them.
    columns: (u64, u64),
    column: u64,
    /// I/Os of a run, and those of the present one that are left.
    ios: u64,
    left: u64,
    next: u64,
    stride: u64,
    blocks: u64,
}

impl Runs {
    fn new(stride: u64, run: Run, blocks: u64, (thread, threads): (u64, u64)) -> Self {
        let first = part(stride, thread, threads);
        let end = if run.reused { first + 1 } else { part(stride, thread + 1, threads).max(first + 1) };
        Self {
            columns: (first, end),
            column: first,
            ios: run.ios,
            left: run.ios,
            next: first % blocks,
            stride: stride % blocks,
            blocks,
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let block = self.next;
        self.left -= 1;
        if self.left > 0 {
            self.next = further(block, self.stride, self.blocks);
            return block;
        }
        self.left = self.ios;
        self.column += 1;
        if self.column == self.columns.1 {
            self.column = self.columns.0;
        }
        self.next = self.column % self.blocks;
        block
    }
}

/// Zipf-distributed ranks by rejection-inversion, scattered over the region.
///
/// Source: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996. Constant time and memory for any number of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    blocks: u64,
    exponent: f64,
    integral_first: f64,
    integral_last: f64,
    acceptance: f64,
}

impl Zipf {
    fn new(blocks: u64, exponent: f64) -> Self {
        let mut zipf = Self { blocks, exponent, integral_first: 0.0, integral_last: 0.0, acceptance: 0.0 };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(blocks as f64 + 0.5);
        zipf.acceptance = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn weight(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// Antiderivative of x^−exponent, in a form that is stable where the exponent is 1.
    fn integral(&self, x: f64) -> f64 {
        let log_x = x.ln();
        exp_minus_one_over((1.0 - self.exponent) * log_x) * log_x
    }

    fn integral_inverse(&self, x: f64) -> f64 {
        let t = (x * (1.0 - self.exponent)).max(-1.0);
        (log_one_plus_over(t) * x).exp()
    }

    fn rank(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.integral_last + random.unit() * (self.integral_first - self.integral_last);
            let x = self.integral_inverse(u);
            let rank = (x + 0.5).clamp(1.0, self.blocks as f64).floor();
            if rank - x <= self.acceptance || u >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
        }
    }

    fn next(&self, random: &mut Random) -> u64 {
        scatter(self.rank(random) - 1, self.blocks)
    }
}

/// (e^x − 1) / x
fn exp_minus_one_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x * 0.5 }
}

/// ln(1 + x) / x
fn log_one_plus_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * 0.5 }
}

/// A fixed permutation of `0..blocks`, so that hot blocks do not lie side by side: an odd multiplier modulo the next
/// power of two, repeated until the value falls into the range.
fn scatter(number: u64, blocks: u64) -> u64 {
    let mask = blocks.next_power_of_two() - 1;
    let bits = mask.count_ones().max(1);
    let mut value = number;
    loop {
        value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
        value ^= value >> (bits / 2).max(1);
        value = value.wrapping_mul(0xD6E8_FEB8_6659_FD93) & mask;
        if value < blocks {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn take(pattern: Pattern, blocks: u64, thread: u64, threads: u64, number: usize) -> Vec<u64> {
        let mut random = Random::new(7, thread);
        let mut walk = Blocks::new(pattern, blocks, (thread, threads), &Arc::default());
        (0..number).map(|_| walk.next(&mut random)).collect()
    }

    #[test]
    fn sequential_threads_begin_at_equal_distances_and_wrap() {
        assert_eq!(take(Pattern::Sequential, 4, 0, 2, 6), [0, 1, 2, 3, 0, 1]);
        assert_eq!(take(Pattern::Sequential, 4, 1, 2, 3), [2, 3, 0]);
    }

    #[test]
    fn threads_of_a_shared_stream_take_its_blocks_in_turn() {
        let (stream, mut random) = (Arc::default(), Random::new(7, 0));
        let mut walks = [0, 1].map(|thread| Blocks::new(Pattern::SharedSequential, 5, (thread, 2), &stream));
        let taken: Vec<u64> = [0, 0, 1, 0, 1, 1, 0].map(|thread| walks[thread].next(&mut random)).into();
        assert_eq!(taken, [0, 1, 2, 3, 4, 0, 1]);
    }

    #[test]
    fn strides_begin_at_the_thread() {
        assert_eq!(take(Pattern::Strided { blocks: 4, runs: None }, 10, 1, 2, 4), [1, 5, 9, 3]);
    }

    /// `sqlio` with its defaults read 64 blocks over and over, and a second thread the column beside the first one's; its
    /// readme has it walk the whole strip, and gives the second thread the other half.
    #[test]
    fn runs_cover_the_strip_as_in_the_readme_of_sqlio() {
        let defaults = Pattern::Strided { blocks: 64, runs: Some(Run { ios: 64, reused: false }) };
        let strip = take(defaults, 4_096, 0, 1, 8_192);
        assert_eq!(strip[..4], [0, 64, 128, 192]);
        assert_eq!(strip[63..66], [4_032, 1, 65]);
        assert_eq!((strip[4_094], strip[4_095]), (4_031, 4_095));
        assert_eq!(strip[..4_096], strip[4_096..], "and once more");
        let mut seen = strip[..4_096].to_vec();
        seen.sort_unstable();
        assert_eq!(seen, (0..4_096).collect::<Vec<_>>());
        let halves = [0, 1].map(|thread| take(defaults, 4_096, thread, 2, 2_049));
        assert_eq!((halves[0][2_047], halves[0][2_048]), (4_063, 0), "31, 95, ... and back to 0");
        assert_eq!(halves[1][..3], [32, 96, 160]);
        assert_eq!((halves[1][2_047], halves[1][2_048]), (4_095, 32));
    }

    #[test]
    fn reused_runs_are_the_error_of_sqlio_1_1_1() {
        let reused = Pattern::Strided { blocks: 4, runs: Some(Run { ios: 2, reused: true }) };
        assert_eq!(take(reused, 8, 0, 2, 4), [0, 4, 0, 4]);
        assert_eq!(take(reused, 8, 1, 2, 4), [2, 6, 2, 6]);
    }

    #[test]
    fn random_blocks_are_uniform() {
        let mut counts = [0u32; 16];
        for block in take(Pattern::Random, 16, 0, 1, 160_000) {
            counts[block as usize] += 1;
        }
        let chi_squared: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi_squared < 37.7, "0.1 % point of 15 degrees of freedom: {chi_squared}");
    }

    #[test]
    fn zipf_frequencies_fall_as_the_rank() {
        for exponent in [0.8, 1.0, 1.2] {
            let zipf = Zipf::new(100, exponent);
            let mut random = Random::new(1, 1);
            let mut counts = vec![0.0; 101];
            let number = 200_000;
            (0..number).for_each(|_| counts[zipf.rank(&mut random) as usize] += 1.0);
            let harmonic: f64 = (1..=100).map(|k| f64::from(k).powf(-exponent)).sum();
            let chi_squared: f64 = (1..=100)
                .map(|k| {
                    let expected = f64::from(number) * f64::from(k).powf(-exponent) / harmonic;
                    (counts[k as usize] - expected).powi(2) / expected
                })
                .sum();
            assert!(chi_squared < 148.2, "0.1 % point of 99 degrees of freedom: {chi_squared} at {exponent}");
        }
    }

    proptest! {
        #[test]
        fn every_block_is_inside_the_region(
            blocks in 1u64..1 << 40, thread in 0u64..8, pattern in prop_oneof![
                Just(Pattern::Sequential), Just(Pattern::SharedSequential), Just(Pattern::Random),
                (1u64..1 << 50, prop::option::of((1u64..99, any::<bool>()))).prop_map(|(blocks, run)| {
                    Pattern::Strided { blocks, runs: run.map(|(ios, reused)| Run { ios, reused }) }
                }),
                (0.1f64..3.0).prop_map(|exponent| Pattern::Zipf { exponent }),
            ],
        ) {
            prop_assert!(take(pattern, blocks, thread, 8, 50).iter().all(|&block| block < blocks));
        }

        #[test]
        fn scattering_is_a_permutation(blocks in 1u64..600) {
            let mut seen: Vec<u64> = (0..blocks).map(|number| scatter(number, blocks)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..blocks).collect::<Vec<_>>());
        }
    }
}
