//! Series with a known truth.

use rand_distr::{Distribution, StandardNormal};

use crate::sets::Random;

/// A draw from the standard normal distribution.
pub(crate) fn normal(random: &mut Random) -> f64 {
    StandardNormal.sample(random)
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
