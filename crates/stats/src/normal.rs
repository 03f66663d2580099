//! The upper tail of the standard normal distribution and its inverse, for the bounds of repeated looks.

/// Probability that a standard normal number exceeds x: the power series of Φ near 0, the continued fraction of its tail
/// beyond (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.11 and 26.2.14).
pub(crate) fn normal_tail(x: f64) -> f64 {
    /// Where fraction and series have as many digits.
    const FAR: f64 = 2.5;
    if x < 0.0 {
        return 1.0 - normal_tail(-x);
    }
    let density = normal_density(x);
    if x > FAR {
        /// Enough at the nearest place by far; further out it takes fewer.
        const TERMS: u32 = 120;
        return density / (1..=TERMS).rev().fold(x, |below, term| x + f64::from(term) / below);
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > sum * 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 - density * sum
}

pub(crate) fn normal_density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

/// The number that a standard normal one exceeds in this share of cases (above zero and at most one half).
pub(crate) fn normal_quantile(tail: f64) -> f64 {
    let (mut low, mut high) = (0.0, 38.0);
    // Sixty halvings exhaust the digits of a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal_tail(middle) > tail { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_another_implementation() {
        // scipy.stats.norm.sf of SciPy 1.17.1.
        for (x, computed) in [
            (0.0, 0.5),
            (0.5, 0.308_537_538_725_986_9),
            (1.0, 0.158_655_253_931_457_07),
            (1.959_963_984_540_054, 0.025),
            (3.0, 0.001_349_898_031_630_093_3),
            (4.5, 3.397_673_124_730_055e-6),
            (8.0, 6.220_960_574_271_74e-16),
            (12.8, 8.197_561_713_162_76e-38),
            (20.0, 2.753_624_118_606_155_6e-89),
        ] {
            let tail = normal_tail(x);
            assert!((tail / computed - 1.0).abs() < 1e-12, "{x}: {tail}");
            assert!((normal_tail(-x) + tail - 1.0).abs() < 1e-15, "{x}");
            assert!((normal_quantile(tail) - x).abs() < 1e-9, "{x}");
        }
    }
}
