//! Series with a known truth.

use rand_distr::{Distribution, Poisson, StandardNormal};
use rand_xoshiro::rand_core::Rng;

use crate::sets::Random;

/// A draw from the standard normal distribution.
pub(crate) fn normal(random: &mut Random) -> f64 {
    StandardNormal.sample(random)
}

/// A whole number from 0 to below `bound`.
pub(crate) fn below(random: &mut Random, bound: usize) -> usize {
    ((u128::from(random.next_u64()) * bound as u128) >> 64) as usize
}

/// How many of independent events come of which `mean` come on average; none where that is not positive.
pub(crate) fn poisson(random: &mut Random, mean: f64) -> f64 {
    Poisson::new(mean).map_or(0.0, |counts| counts.sample(random))
}

/// A series around 1 whose values scatter by `deviation` and hang together by `rho` from one to the next: autoregressive of
/// first order, stationary from the first value on.
pub(crate) fn autoregressive(random: &mut Random, values: usize, rho: f64, deviation: f64) -> Vec<f64> {
    let mut last = normal(random);
    (0..values)
        .map(|_| {
            let value = 1.0 + deviation * last;
            last = rho * last + (1.0 - rho * rho).sqrt() * normal(random);
            value
        })
        .collect()
}
