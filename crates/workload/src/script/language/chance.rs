//! Chance: the generator of a client, and the distributions that scripts draw from it.
//!
//! Their formulas are those of pgbench's documentation.

use std::f64::consts::TAU;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Randomness of one client.
#[derive(Debug, Clone)]
pub(crate) struct Chance {
    /// What random numbers come from.
    pub(crate) random: Xoshiro256PlusPlus,
    /// What hashes and permutations are made with that are given no seed.
    pub(crate) default_seed: i64,
}

/// Whole numbers from `low` on, so many that `i64` holds their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: i64,
    /// At least 1.
    pub(super) count: i64,
}

impl Range {
    /// The number at a place between 0 and 1.
    fn at(self, place: f64) -> i64 {
        // Rounding may reach the end itself.
        self.low + ((self.count as f64 * place) as i64).min(self.count - 1)
    }
}

impl Chance {
    /// Each number equally often, by the high half of a product.
    #[inline]
    pub(super) fn uniform(&mut self, range: Range) -> i64 {
        let product = u128::from(self.random.next_u64()) * u128::from(range.count.unsigned_abs());
        range.low + (product >> 64) as i64
    }

    /// A truncated exponential distribution: the inverse of its share of all, at a uniform place.
    pub(super) fn exponential(&mut self, range: Range, parameter: f64) -> i64 {
        let negative_whole = (-parameter).exp_m1();
        range.at(-(negative_whole * self.below_one()).ln_1p() / parameter)
    }

    /// A normal distribution that is cut `parameter` standard deviations from its middle.
    pub(super) fn gaussian(&mut self, range: Range, parameter: f64) -> i64 {
        loop {
            // Box and Muller: a length and an angle of two normal numbers.
            let deviation = (-2.0 * self.above_zero().ln()).sqrt() * (TAU * self.below_one()).sin();
            if (-parameter..parameter).contains(&deviation) {
                return range.at((deviation + parameter) / (2.0 * parameter));
            }
        }
    }

    /// Zipf's distribution by rejection: L. Devroye, Non-Uniform Random Variate Generation, Springer 1986, pages 550 and 551.
    ///
    /// He draws numbers without an end, of which those over `count` are rejected; with parameters near 1 that are nearly
    /// all. The inverse is monotonic, so that we draw only what becomes a number up to `count`.
    pub(super) fn zipfian(&mut self, range: Range, parameter: f64) -> i64 {
        if range.count == 1 {
            return range.low;
        }
        let power = parameter - 1.0;
        let count = range.count as f64;
        let bound = 2_f64.powf(power);
        let least = (count + 1.0).powf(-power);
        loop {
            let inverse = least + (1.0 - least) * self.above_zero();
            let number = inverse.powf(-1.0 / power).floor();
            let ratio = (1.0 + 1.0 / number).powf(power);
            let is_taken = self.below_one() * number * (ratio - 1.0) / (bound - 1.0) <= ratio / bound;
            if is_taken && number <= count {
                return range.low + (number as i64 - 1).min(range.count - 1);
            }
        }
    }

    /// Uniform, 0 included and 1 not.
    fn below_one(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform, 1 included and 0 not.
    fn above_zero(&mut self) -> f64 {
        1.0 - self.below_one()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    const DRAWS: usize = 200_000;

    fn chance() -> Chance {
        Chance { random: Xoshiro256PlusPlus::seed_from_u64(7), default_seed: 0 }
    }

    fn drawn(low: i64, count: i64, draw: impl Fn(&mut Chance, Range) -> i64) -> Vec<i64> {
        let mut chance = chance();
        let range = Range { low, count };
        let drawn: Vec<i64> = (0..DRAWS).map(|_| draw(&mut chance, range)).collect();
        assert!(drawn.iter().all(|number| (0..count).contains(&(number - low))));
        drawn
    }

    fn share(drawn: &[i64], is: impl Fn(i64) -> bool) -> f64 {
        drawn.iter().filter(|&&number| is(number)).count() as f64 / DRAWS as f64
    }

    /// A share of so many draws is known within four standard errors, and a few numbers at the edge of what is counted.
    fn assert_share(share: f64, expected: f64, what: &str) {
        let error = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
        assert!((share - expected).abs() < 4.0 * error + 2e-5, "{what}: {share} for {expected}");
    }

    #[test]
    fn uniform_numbers_are_equally_frequent() {
        let drawn = drawn(-3, 10, Chance::uniform);
        for number in -3..7 {
            assert_share(share(&drawn, |drawn| drawn == number), 0.1, &number.to_string());
        }
    }

    #[test]
    fn a_range_of_half_of_all_numbers_is_drawn_from() {
        let drawn = drawn(i64::MIN, i64::MAX, Chance::uniform);
        assert_share(share(&drawn, |drawn| drawn < i64::MIN / 2), 0.5, "lower half");
    }

    /// The documentation's f(x) = exp(-p (x - min) / (max - min + 1)) / (1 - exp(-p)), from one number to the next.
    #[test]
    fn an_exponential_has_its_documented_shares() {
        for parameter in [0.5_f64, 2.5, 10.0] {
            let drawn = drawn(1, 20, |chance, range| chance.exponential(range, parameter));
            let over = |x: f64| (-parameter * x / 20.0).exp();
            for number in 1..=20 {
                let x = f64::from(number);
                let expected = (over(x - 1.0) - over(x)) / (1.0 - (-parameter).exp());
                let share = share(&drawn, |drawn| drawn == i64::from(number));
                assert_share(share, expected, &format!("{number} with {parameter}"));
            }
        }
    }

    /// The documentation: of a gaussian 67 % are in the middle 1.0 / parameter of the range, and 95 % in the middle
    /// 2.0 / parameter; 4.0 gives half of the range and 67 % in its quarter.
    #[test]
    fn a_gaussian_has_its_documented_shares() {
        for parameter in [2.0, 2.5, 4.0, 5.0] {
            let drawn = drawn(0, 1_000_000, |chance, range| chance.gaussian(range, parameter));
            let middle = |part: f64| {
                share(&drawn, |number| (number as f64 - 500_000.0).abs() < 500_000.0 * part / parameter)
            };
            let inside = 2.0 * phi(parameter) - 1.0;
            assert_share(middle(1.0), (2.0 * phi(1.0) - 1.0) / inside, "one deviation");
            assert_share(middle(2.0), (2.0 * phi(2.0) - 1.0) / inside, "two deviations");
            let mean = drawn.iter().sum::<i64>() as f64 / DRAWS as f64;
            assert!((mean - 500_000.0).abs() < 4.0 * 500_000.0 / parameter / (DRAWS as f64).sqrt(), "{mean}");
        }
    }

    /// The share of normal numbers up to so many deviations, by its series.
    fn phi(x: f64) -> f64 {
        let mut term = x;
        let mut sum = x;
        for index in 1..200 {
            term *= -x * x / 2.0 / f64::from(index);
            sum += term / (2.0 * f64::from(index) + 1.0);
        }
        0.5 + sum / TAU.sqrt()
    }

    #[test]
    fn zipfian_numbers_are_as_frequent_as_powers_of_their_ranks() {
        for parameter in [1.001_f64, 1.07, 1.5, 2.0, 3.0] {
            for count in [2, 10, 1_000] {
                let drawn = drawn(1, count, |chance, range| chance.zipfian(range, parameter));
                let all: f64 = (1..=count).map(|rank| (rank as f64).powf(-parameter)).sum();
                for rank in 1..=count.min(10) {
                    let expected = (rank as f64).powf(-parameter) / all;
                    let share = share(&drawn, |drawn| drawn == rank);
                    assert_share(share, expected, &format!("{rank} of {count} with {parameter}"));
                }
            }
        }
    }

    #[test]
    fn the_first_zipfian_number_is_two_to_the_parameter_times_the_second() {
        let drawn = drawn(1, 1_000, |chance, range| chance.zipfian(range, 2.0));
        let ratio = share(&drawn, |drawn| drawn == 1) / share(&drawn, |drawn| drawn == 2);
        assert!((ratio / 4.0 - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn extremes_of_parameters_and_ranges_end() {
        let whole = Range { low: 1, count: i64::MAX };
        let mut chance = chance();
        for _ in 0..1_000 {
            for parameter in [1.001, 2.0, 1_000.0] {
                assert!(chance.zipfian(whole, parameter) >= 1);
                assert_eq!(chance.zipfian(Range { low: 9, count: 1 }, parameter), 9);
            }
            for parameter in [1e-300, 36.0, 1e300] {
                assert!(chance.exponential(whole, parameter) >= 1);
            }
            assert!(chance.gaussian(whole, 1e300) >= 1);
        }
        assert_eq!(chance.zipfian(Range { low: 5, count: 100 }, 1_000.0), 5);
    }
}
