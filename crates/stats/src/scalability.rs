//! How throughput scales with the number of clients, cores or nodes: Gunther's universal scalability law.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)): λ is the throughput of one, σ the share that is serialised
//! (contention) and κ the cost of agreeing between each pair (coherency). A peak is named only where the data
//! hold one; the law is not used to promise throughput far beyond what was measured, and a good fit does not
//! prove the cause its parameters are named after.

use serde::{Deserialize, Serialize};

use crate::interval::{Estimate, percentile_interval};
use crate::random::SplitMix64;

/// Fewest different N of a fit.
const LEVELS_MIN: usize = 6;

/// A peak is named up to so many times the largest N that was measured.
const PEAK_BEYOND_MAX: f64 = 1.5;

/// Resamples for the intervals.
const RESAMPLES: usize = 1_000;

/// Parameters of the law.
const PARAMETERS: f64 = 3.0;

/// The law fitted to measured throughputs.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// Throughput of one, in the unit of the throughputs.
    pub lambda: Estimate,
    /// Contention: the share of the work that is serialised; 0 or more.
    pub sigma: Estimate,
    /// Coherency: what each pair costs, as a share of the work; 0 or more.
    pub kappa: Estimate,
    /// N of the greatest throughput, √((1 − σ) / κ), where the interval of κ excludes 0 and it lies at no more
    /// than 1.5 times the largest N measured.
    pub peak: Option<f64>,
}

/// Why the law is not fitted; displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoScalability {
    /// An N below one or a throughput that is not positive, or one that is not finite.
    #[error("no scalability can be fitted: a throughput of {throughput} at {n} is unusable")]
    UnusableValues {
        /// The N.
        n: f64,
        /// The throughput measured there.
        throughput: f64,
    },
    /// Too few different N.
    #[error("no scalability can be fitted to {levels} levels; at least {LEVELS_MIN} are needed")]
    TooFewLevels {
        /// How many there are.
        levels: usize,
    },
    /// The law does not describe the points.
    #[error(
        "no scalability: a level lies {:.0} % from the universal scalability law, and at most {:.0} % are allowed",
        share * 100.0, MISFIT_MAX * 100.0
    )]
    PoorFit {
        /// Distance as a share of the largest mean.
        share: f64,
    },
    /// The figures leave the range of numbers.
    #[error("no scalability can be fitted: the figures are too far apart")]
    OutOfRange,
}

/// Fits the universal scalability law (N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6; with
/// λ as a parameter: "A general theory of computational scalability based on rational functions", 2008) to
/// pairs of N and throughput, by least squares of the throughputs with σ and κ not below 0. An N may be there
/// several times.
///
/// The 95 % intervals are percentiles of 1,000 refits to the fitted curve with resampled residuals, which are
/// scaled by √(points / (points − 3)) for the parameters that they were fitted with. The same points and seed
/// give the same intervals, whatever the order of the points.
///
/// # Errors
/// The reason why nothing is fitted.
pub fn usl(points: &[(f64, f64)], seed: u64) -> Result<Scalability, NoScalability> {
    let usable = |&(n, throughput): &(f64, f64)| {
        n >= 1.0 && n.is_finite() && throughput > 0.0 && throughput.is_finite()
    };
    if let Some(&(n, throughput)) = points.iter().find(|point| !usable(point)) {
        return Err(NoScalability::UnusableValues { n, throughput });
    }
    let mut points = points.to_vec();
    points.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let levels = points.chunk_by(|one, other| one.0 == other.0).count();
    if levels < LEVELS_MIN {
        return Err(NoScalability::TooFewLevels { levels });
    }
    let measured = points.clone();
    let found = fit_with_intervals(&mut points, seed).ok_or(NoScalability::OutOfRange)?;
    match misfit(&measured, &found) {
        share if share > MISFIT_MAX => Err(NoScalability::PoorFit { share }),
        _ => Ok(found),
    }
}

/// The farthest that the mean of a level lies from the law, as a share of the largest mean. A device that is full at once does
/// not follow the law, and its peak would be one of the formula.
fn misfit(points: &[(f64, f64)], found: &Scalability) -> f64 {
    let (lambda, sigma, kappa) = (found.lambda.value, found.sigma.value, found.kappa.value);
    let law = |n: f64| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
    let mean = |level: &[(f64, f64)]| level.iter().map(|point| point.1).sum::<f64>() / level.len() as f64;
    let levels = || points.chunk_by(|one, other| one.0 == other.0);
    let largest = levels().map(mean).fold(0.0, f64::max);
    levels().map(|level| (mean(level) - law(level[0].0)).abs() / largest).fold(0.0, f64::max)
}

fn fit_with_intervals(points: &mut [(f64, f64)], seed: u64) -> Option<Scalability> {
    let largest_n = points.last()?.0;
    // Throughputs as shares of the greatest, so that their unit cannot matter.
    let unit = points.iter().map(|point| point.1).fold(0.0, f64::max);
    points.iter_mut().for_each(|point| point.1 /= unit);
    let fit = Curve::fit(points)?;
    let refits = refits(points, &fit, seed)?;
    let estimate = |of: fn(&Curve) -> f64, scale: f64| {
        let mut figures: Vec<f64> = refits.iter().map(of).collect();
        let (low, high) = percentile_interval(&mut figures);
        Estimate::new(of(&fit) * scale, (low * scale, high * scale))
    };
    let (lambda, sigma, kappa) =
        (estimate(Curve::lambda, unit)?, estimate(Curve::sigma, 1.0)?, estimate(Curve::kappa, 1.0)?);
    let at = ((1.0 - sigma.value) / kappa.value).sqrt();
    let peak = (kappa.low > 0.0 && at >= 1.0 && at <= PEAK_BEYOND_MAX * largest_n).then_some(at);
    Some(Scalability { lambda, sigma, kappa, peak })
}

/// Fits to the fitted curve with resampled residuals. Resamples that cannot be fitted are left out, and none is
/// the answer where they are more than one in twenty.
fn refits(points: &[(f64, f64)], fit: &Curve, seed: u64) -> Option<Vec<Curve>> {
    let count = points.len() as f64;
    let scale = (count / (count - PARAMETERS)).sqrt();
    let residuals: Vec<f64> =
        points.iter().map(|&(n, throughput)| scale * (throughput - fit.at(n))).collect();
    let mut random = SplitMix64::new(seed);
    let mut resampled = points.to_vec();
    let refits: Vec<Curve> = (0..RESAMPLES)
        .filter_map(|_| {
            for point in &mut resampled {
                point.1 = fit.at(point.0) + residuals[random.below(residuals.len())];
            }
            Curve::fit_from(&resampled, fit)
        })
        .collect();
    (refits.len() >= RESAMPLES - RESAMPLES / 20).then_some(refits)
}

/// The law as N / (a + b(N − 1) + cN(N − 1)), whose parameters are 1/λ, σ/λ and κ/λ.
#[derive(Clone, Copy, Debug)]
struct Curve([f64; 3]);

impl Curve {
    fn lambda(&self) -> f64 {
        1.0 / self.0[0]
    }

    fn sigma(&self) -> f64 {
        self.0[1] / self.0[0]
    }

    fn kappa(&self) -> f64 {
        self.0[2] / self.0[0]
    }

    fn at(&self, n: f64) -> f64 {
        n / terms(n).iter().zip(self.0).map(|(term, parameter)| term * parameter).sum::<f64>()
    }

    fn squares(&self, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|&(n, throughput)| (throughput - self.at(n)).powi(2)).sum()
    }

    /// Least squares, beginning with linear growth.
    fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let products: f64 = points.iter().map(|&(n, throughput)| n / throughput).sum();
        Self::fit_from(points, &Self([products / points.len() as f64, 0.0, 0.0]))
    }

    /// The best of the fits with all, with either or with neither of σ and κ, that has none below 0.
    fn fit_from(points: &[(f64, f64)], start: &Self) -> Option<Self> {
        let with = |free: &[usize]| {
            let fixed =
                Self(std::array::from_fn(|index| if free.contains(&index) { start.0[index] } else { 0.0 }));
            let curve = fixed.descend(points, free);
            let valid = curve.0[0] > 0.0
                && curve.0.iter().all(|parameter| parameter.is_finite() && *parameter >= 0.0);
            valid.then_some(curve)
        };
        with(&[0, 1, 2]).or_else(|| {
            let bounded = [&[0, 1][..], &[0, 2], &[0]].into_iter().filter_map(with);
            bounded.min_by(|one, other| one.squares(points).total_cmp(&other.squares(points)))
        })
    }

    /// Least squares over some parameters (D. W. Marquardt, "An algorithm for least-squares estimation of
    /// nonlinear parameters", Journal of the Society for Industrial and Applied Mathematics 11, 1963).
    fn descend(mut self, points: &[(f64, f64)], free: &[usize]) -> Self {
        /// Steps after which it stays where it is; some ten suffice.
        const STEPS_MAX: usize = 100;
        let mut squares = self.squares(points);
        let mut damping = 1e-3;
        for _ in 0..STEPS_MAX {
            let Some(next) = self.step(points, free, damping) else { break };
            let next_squares = next.squares(points);
            // Below zero somewhere, the curve has a pole between the points.
            let valid = points.iter().all(|point| next.at(point.0) > 0.0);
            if valid && next_squares <= squares {
                let gain = squares - next_squares;
                (self, squares, damping) = (next, next_squares, damping / 10.0);
                if gain <= 1e-12 * squares {
                    break;
                }
            } else if damping > 1e12 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        self
    }

    /// One damped step: the normal equations of the linearised curve, with the diagonal increased.
    fn step(&self, points: &[(f64, f64)], free: &[usize], damping: f64) -> Option<Self> {
        let mut matrix = [[0.0; 3]; 3];
        let mut vector = [0.0; 3];
        for &(n, throughput) in points {
            let fitted = self.at(n);
            // The derivative of N / D by a parameter is −N / D² times its term.
            let derivatives = terms(n).map(|term| -fitted * fitted / n * term);
            for &row in free {
                vector[row] += derivatives[row] * (throughput - fitted);
                free.iter().for_each(|&column| matrix[row][column] += derivatives[row] * derivatives[column]);
            }
        }
        for (index, row) in matrix.iter_mut().enumerate() {
            // A parameter that is held gets the equation 1 · change = 0.
            row[index] = if free.contains(&index) { row[index] * (1.0 + damping) } else { 1.0 };
        }
        let change = solve(matrix, vector)?;
        Some(Self(std::array::from_fn(|index| self.0[index] + change[index])))
    }
}

/// What the three parameters are multiplied by in the curve's denominator.
fn terms(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

/// Solution of three symmetric, positive definite equations by Cholesky's decomposition, after scaling to a
/// unit diagonal, since the terms differ by the square of N. None where they are not positive definite.
fn solve(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = std::array::from_fn(|index| matrix[index][index].sqrt());
    let mut factor = [[0.0; 3]; 3];
    let mut forward = [0.0; 3];
    for row in 0..3 {
        for column in 0..=row {
            let known: f64 = (0..column).map(|inner| factor[row][inner] * factor[column][inner]).sum();
            let rest = matrix[row][column] / (scale[row] * scale[column]) - known;
            factor[row][column] = if row == column { rest.sqrt() } else { rest / factor[column][column] };
        }
        let known: f64 = (0..row).map(|inner| factor[row][inner] * forward[inner]).sum();
        forward[row] = (vector[row] / scale[row] - known) / factor[row][row];
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|inner| factor[inner][row] * solution[inner]).sum();
        solution[row] = (forward[row] - known) / factor[row][row];
    }
    let solution: [f64; 3] = std::array::from_fn(|index| solution[index] / scale[index]);
    solution.iter().all(|part| part.is_finite()).then_some(solution)
}

/// Farthest that a level may lie from the law, as a share of the largest mean.
const MISFIT_MAX: f64 = 0.10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// SPEC SDM 91 on a SUN SPARCcenter 2000: concurrent users and scripts an hour (Gunther, Guerrilla Capacity
    /// Planning, table 6.1).
    const SPEC_SDM91: [(f64, f64); 7] = [
        (1.0, 64.9),
        (18.0, 995.9),
        (36.0, 1652.4),
        (72.0, 1853.2),
        (108.0, 1828.9),
        (144.0, 1775.0),
        (216.0, 1702.2),
    ];

    /// A ray tracer: processors and thousands of rays a second (Gunther, table 4.2).
    const RAYTRACER: [(f64, f64); 11] = [
        (1.0, 20.0),
        (4.0, 78.0),
        (8.0, 130.0),
        (12.0, 170.0),
        (16.0, 190.0),
        (20.0, 200.0),
        (24.0, 210.0),
        (28.0, 230.0),
        (32.0, 260.0),
        (48.0, 280.0),
        (64.0, 310.0),
    ];

    const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    fn law(lambda: f64, sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
        move |n| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    }

    /// A curve with noise of a relative deviation.
    fn measured(curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = SplitMix64::new(seed);
        LEVELS.iter().map(|&n| (n, curve(n) * (noise * random.normal()).exp())).collect()
    }

    #[track_caller]
    fn close(figure: f64, expected: f64, share: f64) {
        assert!((figure / expected - 1.0).abs() <= share, "{figure} against {expected}");
    }

    #[test]
    fn published_coefficients_are_reproduced() {
        // R package usl, README: alpha 0.0277285, beta 0.0001044, gamma 89.9952330; peak √((1 − α) / β) = 96.5.
        let fit = usl(&SPEC_SDM91, 1).unwrap();
        close(fit.sigma.value, 0.027_728_5, 1e-5);
        close(fit.kappa.value, 0.000_104_4, 5e-4);
        close(fit.lambda.value, 89.995_233, 1e-6);
        close(fit.peak.unwrap(), 96.5, 1e-3);
        // scipy.optimize.least_squares of SciPy 1.17.1; the minimum is flat, so that digits beyond these are
        // luck.
        close(fit.sigma.value, 0.027_728_419_525, 1e-5);
        close(fit.kappa.value, 0.000_104_365_766, 1e-5);
        close(fit.lambda.value, 89.995_191_629, 1e-5);
    }

    #[test]
    fn intervals_have_the_width_of_the_published_errors() {
        // R package usl, README: standard errors of σ, κ and λ; 1.96 of them are half a 95 % interval.
        let fit = usl(&SPEC_SDM91, 1).unwrap();
        for (estimate, error) in
            [(fit.sigma, 0.009_121_7), (fit.kappa, 0.000_019_9), (fit.lambda, 14.213_489_4)]
        {
            let errors = (estimate.high - estimate.low) / 2.0 / error;
            assert!((1.75..2.25).contains(&errors), "{errors} errors to a side: {estimate:?}");
        }
    }

    #[test]
    fn coherency_that_would_be_negative_is_none() {
        // scipy.optimize.least_squares of SciPy 1.17.1, bounded below by 0: κ ends at its bound.
        let fit = usl(&RAYTRACER, 1).unwrap();
        close(fit.lambda.value, 21.848_842_915_868_595, 1e-6);
        close(fit.sigma.value, 0.057_770_780_960_347_434, 1e-6);
        assert_eq!((fit.kappa.value, fit.kappa.low, fit.peak), (0.0, 0.0, None));
    }

    #[test]
    fn peak_is_found_where_the_data_hold_one() {
        // √(0.95 / 0.0005) = 43.6, inside of what was measured.
        for seed in 0..5 {
            let fit = usl(&measured(law(100.0, 0.05, 0.0005), 0.02, seed), seed).unwrap();
            assert!((fit.peak.unwrap() / 43.6 - 1.0).abs() < 0.2, "{fit:?}");
        }
    }

    #[test]
    fn no_peak_is_claimed_without_coherency_or_far_beyond_the_data() {
        let claims = |sigma: f64, kappa: f64, noise: f64| {
            let peak =
                |seed| usl(&measured(law(100.0, sigma, kappa), noise, seed), seed).unwrap().peak.is_some();
            (0..6).filter(|&seed| peak(seed)).count()
        };
        // Where most of the work is serialised, noise alone bends the curve down in every other study.
        let without = claims(0.3, 0.0, 0.05);
        assert!(without <= 1, "{without} of 6");
        // √(0.99 / 0.000002) = 704.
        let far = claims(0.01, 0.000_002, 0.02);
        assert!(far <= 1, "{far} of 6");
        let exact = usl(&measured(law(100.0, 0.01, 0.000_01), 0.0, 0), 1).unwrap();
        close(exact.kappa.low, 0.000_01, 1e-3);
        assert_eq!(exact.peak, None, "√(0.99 / 0.00001) = 315 of 128 measured");
    }

    #[test]
    fn true_parameters_are_mostly_inside_their_intervals() {
        let truth = [100.0, 0.05, 0.0005];
        let mut inside = [0; 3];
        for seed in 0..25 {
            let mut random = SplitMix64::new(seed);
            // Noise that is equally great everywhere, as least squares take it to be.
            let curve = law(truth[0], truth[1], truth[2]);
            let points: Vec<_> = LEVELS.iter().map(|&n| (n, curve(n) + 10.0 * random.normal())).collect();
            let fit = usl(&points, seed).unwrap();
            for (count, (estimate, truth)) in
                inside.iter_mut().zip([fit.lambda, fit.sigma, fit.kappa].iter().zip(truth))
            {
                *count += usize::from((estimate.low..=estimate.high).contains(&truth));
            }
        }
        assert!(inside.iter().all(|&count| count >= 20), "{inside:?} of 25");
    }

    #[test]
    fn each_reason_is_a_sentence() {
        let check = |points: &[(f64, f64)], sentence: &str| {
            assert_eq!(usl(points, 1).unwrap_err().to_string(), sentence);
        };
        check(&[], "no scalability can be fitted to 0 levels; at least 6 are needed");
        let repeated = [&SPEC_SDM91[..5], &SPEC_SDM91[..5]].concat();
        check(&repeated, "no scalability can be fitted to 5 levels; at least 6 are needed");
        let sentence = "no scalability can be fitted: a throughput of 0 at 8 is unusable";
        check(&[&SPEC_SDM91[..], &[(8.0, 0.0)]].concat(), sentence);
        let sentence = "no scalability can be fitted: a throughput of 7 at 0.5 is unusable";
        check(&[&SPEC_SDM91[..], &[(0.5, 7.0)]].concat(), sentence);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]

        #[test]
        fn exact_curves_are_recovered_whatever_the_unit(
            lambda in 1e-3f64..1e6, sigma in 0.001f64..0.5, kappa in 1e-5f64..0.01, turn in 0usize..8,
        ) {
            let mut points = measured(law(lambda, sigma, kappa), 0.0, 0);
            let fit = usl(&points, 1).unwrap();
            for (found, truth) in [(fit.lambda, lambda), (fit.sigma, sigma), (fit.kappa, kappa)] {
                prop_assert!((found.value / truth - 1.0).abs() < 1e-4, "{fit:?}");
            }
            points.rotate_left(turn);
            prop_assert_eq!(usl(&points, 1), Ok(fit));
        }

        #[test]
        fn any_floats_give_finite_figures_or_a_reason(
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..12),
            positive in prop::collection::vec((1f64..1e9, 1e-300f64..1e300), 6..9),
        ) {
            let magnitudes: Vec<_> = points.iter().map(|point| (1.0 + point.0.abs(), point.1.abs())).collect();
            for fit in [usl(&points, 1), usl(&magnitudes, 1), usl(&positive, 1)].into_iter().flatten() {
                for estimate in [fit.lambda, fit.sigma, fit.kappa] {
                    prop_assert!(estimate.low >= 0.0 && estimate.high.is_finite(), "{fit:?}");
                    prop_assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
                }
                prop_assert!(fit.peak.is_none_or(|peak| peak.is_finite() && peak >= 1.0));
            }
        }
    }

    #[test]
    fn a_device_that_is_full_at_once_follows_no_law() {
        let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let points: Vec<(f64, f64)> = levels.iter().map(|&n| (n, 200.0 * f64::min(n, 4.0))).collect();
        let refused = usl(&points, 1).unwrap_err();
        assert!(matches!(refused, NoScalability::PoorFit { share } if share > 0.1), "{refused:?}");
        assert!(refused.to_string().contains("from the universal scalability law"));
    }
}
