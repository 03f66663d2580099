//! Student's t distribution, as far as intervals and comparisons need it: its quantile and its tails; and the quantile of the
//! beta distribution, on which it rests.
//!
//! It knows no samples: what has how many degrees of freedom is said where it is used.

/// Probability that |t| is at least so great, with degrees of freedom that need not be whole (above zero): the
/// regularized incomplete beta function I_x(ν/2, 1/2) at x = ν / (ν + t²) (Abramowitz and Stegun, Handbook of
/// Mathematical Functions, 26.5.27 with 26.7.1). 1 where a number is not finite, which claims nothing; an
/// infinite t is the limit 0. Past a million degrees of freedom the tails are those of a million.
pub(crate) fn t_two_sided(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || !degrees.is_finite() || degrees <= 0.0 {
        return 1.0;
    }
    let (squared, degrees) = (t * t, degrees.min(1e6));
    beta_regularized(degrees / (degrees + squared), squared / (degrees + squared), degrees / 2.0, 0.5)
}

/// The value that Student's t exceeds in this share of cases (above zero and at most one half), the inverse of
/// [`t_two_sided`].
pub(crate) fn t_quantile(tail: f64, degrees: f64) -> f64 {
    let exceeded = |t: f64| t_two_sided(t, degrees) / 2.0 > tail;
    let (mut low, mut high) = (0.0, 1.0);
    while exceeded(high) && high < 1e150 {
        (low, high) = (high, high * 2.0);
    }
    // Sixty halvings exhaust the digits of a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if exceeded(middle) { low = middle } else { high = middle }
    }
    high
}

/// 97.5th percentile of the standard normal distribution.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;

/// An end of an interval of 95 %: 2.5 % of a distribution lie beyond each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

/// Parameters of a beta distribution from which on its quantiles are those of the expansion.
const LARGE: f64 = 200.0;

/// Where the interval of 95 % of a beta distribution ends whose parameters are above zero: the root of [`beta_regularized`].
/// Where both are large, the expansion of Abramowitz and Stegun, 26.5.22, which then has six digits where the continued
/// fraction would need ever more terms.
pub(crate) fn beta_end(end: End, a: f64, b: f64) -> f64 {
    if a.min(b) > LARGE {
        return beta_end_of_large(end, a, b);
    }
    let below = if end == End::Low { 0.025 } else { 0.975 };
    let (mut low, mut high) = (0.0, 1.0);
    // The end may lie near 0: it is the digits of the number itself that are exhausted.
    while high - low > 1e-13 * high && high > 1e-300 {
        let middle = f64::midpoint(low, high);
        if beta_regularized(middle, 1.0 - middle, a, b) < below { low = middle } else { high = middle }
    }
    high
}

fn beta_end_of_large(end: End, a: f64, b: f64) -> f64 {
    // The expansion counts from above.
    let y = if end == End::Low { NORMAL_975 } else { -NORMAL_975 };
    let (of_a, of_b) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let (h, lambda) = (2.0 / (of_a + of_b), (y * y - 3.0) / 6.0);
    let w = y * (h + lambda).sqrt() / h - (of_b - of_a) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    a / (a + b * (2.0 * w).exp())
}

/// I_x(a, b), with y = 1 − x given as well since the difference would lose digits: the continued fraction on
/// the side of the mean where it converges fast (NIST Digital Library of Mathematical Functions, 8.17.22 and
/// 8.17.4).
fn beta_regularized(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if y.is_nan() || x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() + b * y.ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp();
    let below = x < (a + 1.0) / (a + b + 2.0);
    let share = if below { front * fraction(x, a, b) / a } else { 1.0 - front * fraction(y, b, a) / b };
    share.clamp(0.0, 1.0)
}

/// The continued fraction of the incomplete beta function, evaluated from the front (Lentz's method as modified
/// by Thompson and Barnett, "Coulomb and Bessel functions of complex arguments and order", 1986).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    /// Enough by far where the side is chosen as above; the digits are exhausted after about ten in practice.
    const TERMS_MAX: u32 = 300;
    let away_from_zero = |number: f64| if number.abs() < 1e-300 { 1e-300 } else { number };
    let mut upper = 1.0;
    let mut lower = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = lower;
    for term in 1..=TERMS_MAX {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            lower = 1.0 / away_from_zero(1.0 + coefficient * lower);
            upper = away_from_zero(1.0 + coefficient / upper);
            change = upper * lower;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// ln Γ of a positive number: Stirling's series past 10 (NIST Digital Library of Mathematical Functions,
/// 5.11.1), reached from below by Γ(x + 1) = x Γ(x).
pub(crate) fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let series =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / x;
    (x - 0.5) * x.ln() - x + std::f64::consts::TAU.ln() / 2.0 + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Probability that |t| ≤ √ν tan θ: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 for odd
    /// and 26.7.4 for even degrees of freedom.
    fn t_within(angle: f64, degrees: usize) -> f64 {
        let (sine, cosine) = angle.sin_cos();
        let odd = degrees % 2 == 1;
        let mut term = if odd { cosine } else { 1.0 };
        let mut sum = 0.0;
        let mut power = if odd { 1 } else { 0 };
        while power + 2 <= degrees {
            sum += term;
            term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
            power += 2;
        }
        if odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
    }

    #[test]
    fn quantiles_of_t_agree_with_the_published_table() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975.
        let table = [
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
            2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052,
            2.048, 2.045, 2.042,
        ];
        let further = [(40, 2.021), (60, 2.000), (100, 1.984), (100_000, 1.960)];
        for (degrees, published) in (1..).zip(table).chain(further) {
            let quantile = t_quantile(0.025, f64::from(degrees));
            assert!((quantile - published).abs() <= 0.00051, "{degrees}: {quantile} against {published}");
        }
    }

    #[test]
    fn quantiles_of_fractional_degrees_agree_with_another_implementation() {
        // scipy.stats.t.ppf(0.975, degrees) of SciPy 1.17.1.
        for (degrees, computed) in [
            (2.0, 4.302_652_729_749_462),
            (2.3, 3.807_163_208_232_131),
            (3.7, 2.867_520_707_191_189_5),
            (11.25, 2.195_032_427_275_849),
            (118.4, 1.980_202_947_221_236),
            (2_500.5, 1.960_913_154_871_133_2),
        ] {
            let quantile = t_quantile(0.025, degrees);
            assert!((quantile / computed - 1.0).abs() < 1e-10, "{degrees} degrees: {quantile}");
        }
    }

    #[test]
    fn tails_of_fractional_degrees_agree_with_another_implementation() {
        // 2 · scipy.stats.t.sf(t, degrees) of SciPy 1.17.1.
        for (t, degrees, computed) in [
            (2.0, 6.3, 0.090_157_656_024_579_77),
            (1.0, 2.5, 0.404_061_027_278_273_64),
            (3.5, 11.7, 0.004_543_954_721_677_801),
            (0.3, 1.01, 0.814_072_124_222_641_9),
            (8.0, 30.5, 5.558_154_401_836_166e-9),
            (2.5, 1.0, 0.242_237_883_181_686_82),
            (40.0, 4.2, 1.389_506_465_804_581_4e-6),
        ] {
            let tails = t_two_sided(t, degrees);
            assert!((tails / computed - 1.0).abs() < 1e-11, "t {t}, {degrees} degrees: {tails}");
        }
    }

    const QUANTILES_OF_SCIPY: [(f64, f64, f64); 7] = [
        (0.2, 6.0, 0.905_703_285_180_531_4),
        (0.025, 6.0, 2.446_911_851_144_979_4),
        (0.2, 5.0, 0.919_543_780_240_826_7),
        (3e-5, 5.0, 12.419_077_570_238_032),
        (1e-9, 5.0, 98.937_224_648_369_96),
        (0.025 / 3.0, 27.5, 2.549_404_300_461_969_5),
        (0.2, 999.0, 0.841_981_182_258_946_5),
    ];

    const ENDS_OF_SCIPY: [(f64, f64, f64, f64); 11] = [
        (5.0, 16.0, 0.086_571_469_101_434_61, 0.436_614_002_996_668_3),
        (4.0, 17.0, 0.057_333_997_050_032_77, 0.378_926_826_545_313_96),
        (0.96, 1200.5, 1.774_702_954_277_013_8e-5, 0.002_997_783_311_465_951),
        (1.0, 49.5, 0.000_511_340_089_442_384_6, 0.071_813_704_845_861_39),
        (12.5, 8.25, 0.389_823_642_517_072_2, 0.796_295_955_260_901_5),
        (150.25, 99_850.0, 0.001_272_011_465_730_270_7, 0.001_751_858_102_181_776),
        (250.5, 251.5, 0.455_330_986_197_007_8, 0.542_684_499_752_016_6),
        (1001.0, 999_001.0, 0.000_939_969_326_961_967_6, 0.001_063_917_043_432_220_9),
        (5e5, 5e5, 0.499_020_018_703_874_63, 0.500_979_981_296_125_3),
        (3.2e4, 1e9, 3.164_933_186_638_730_5e-5, 3.235_051_431_892_804e-5),
        (7.5, 2e7, 1.565_534_071_816_659_4e-7, 6.872_094_737_859_685e-7),
    ];

    #[test]
    fn quantiles_of_any_tail_agree_with_another_implementation() {
        // scipy.stats.t.isf(tail, degrees) of SciPy 1.17.1.
        for (tail, degrees, computed) in QUANTILES_OF_SCIPY {
            let quantile = t_quantile(tail, degrees);
            assert!((quantile / computed - 1.0).abs() < 1e-11, "tail {tail}, {degrees} degrees: {quantile}");
        }
        assert!(t_quantile(0.5, 7.0) < 1e-15);
    }

    #[test]
    fn ends_of_beta_distributions_agree_with_another_implementation() {
        // scipy.stats.beta.ppf([0.025, 0.975], a, b) of SciPy 1.17.1.
        for (a, b, low, high) in ENDS_OF_SCIPY {
            for (end, computed) in [(End::Low, low), (End::High, high)] {
                let found = beta_end(end, a, b);
                // The expansion of large parameters has six digits, the logarithm of a large Γ costs some.
                let error = if a.max(b) > 1e4 { 1e-7 } else { 1e-9 };
                let error = if a.min(b) > LARGE { 2e-6 } else { error };
                assert!((found / computed - 1.0).abs() < error, "{end:?} of {a}, {b}: {found}");
            }
        }
    }

    #[test]
    fn tails_reach_their_limits() {
        assert_eq!(t_two_sided(0.0, 3.0), 1.0);
        assert_eq!(t_two_sided(f64::INFINITY, 3.0), 0.0);
        assert_eq!(t_two_sided(1e300, 3.0), 0.0);
        assert_eq!(t_two_sided(f64::NAN, 3.0), 1.0);
        assert_eq!(t_two_sided(5.0, f64::NAN), 1.0);
    }

    proptest! {
        #[test]
        fn tails_complete_the_finite_sum_of_whole_degrees(t in 0.0f64..20.0, degrees in 1usize..300) {
            let within = t_within((t / (degrees as f64).sqrt()).atan(), degrees);
            let tails = t_two_sided(t, degrees as f64);
            prop_assert!((within + tails - 1.0).abs() < 1e-11, "{within} and {tails}");
            prop_assert_eq!(t_two_sided(-t, degrees as f64), tails);
        }

        #[test]
        fn any_floats_have_tails_between_zero_and_one(t in any::<f64>(), degrees in any::<f64>()) {
            prop_assert!((0.0..=1.0).contains(&t_two_sided(t, degrees)));
        }
    }
}
