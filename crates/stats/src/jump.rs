//! A jump: two neighbouring levels between which the value changes at once, as a query's time does where its tables begin to fit
//! into memory.
//!
//! Two parallel lines are set against a straight line, a bent one and a smooth curve. It does not say where between the two
//! levels the change happens, and finds one jump at most.

use serde::{Deserialize, Serialize};

use crate::CandidateLevel;
use crate::curve::{BIC_GAIN_MIN, Bent, CHANCE_MAX, Jumping, NoCurve, Quadratic, bic, by_chance, curve};

/// A jump is claimed from this change of the value on, as a share.
const CHANGE_MIN: f64 = 0.05;

/// Two neighbouring levels between which the value changes at once.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The last level before it.
    pub below: f64,
    /// The first level past it.
    pub above: f64,
    /// Change from one to the other, as a share of the value at the lower level: −0.6 where 300 become 120.
    pub change: f64,
    /// Probability that noise about a straight line jumps as far.
    pub chance: f64,
    /// By how much the Bayesian information criterion is better than that of a bend, and than that of a smooth curve.
    pub bic_gain: f64,
}

impl Jump {
    /// Two levels between those of the jump, at equal ratios, that would place it.
    #[must_use]
    pub fn further_levels(&self) -> [f64; 2] {
        [1.0, 2.0].map(|thirds| (self.below.ln() + (self.above.ln() - self.below.ln()) * thirds / 3.0).exp())
    }
}

/// Why no jump is claimed; displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoJump {
    /// Nothing to look at.
    #[error("no jump: {0}")]
    NoCurve(NoCurve),
    /// A straight line in log–log is as good.
    #[error("no jump: noise alone makes a jump as large in {:.1}% of cases (limit {:.1}%)",
        chance * 100.0, CHANCE_MAX * 100.0)]
    NoStep {
        /// Probability that noise about a straight line jumps as far.
        chance: f64,
    },
    /// A line that bends once or gradually is as good.
    #[error("no jump: a bend fits the curve equally well")]
    Bends {
        /// By how much the Bayesian information criterion is better than that of the bend.
        bic_gain: f64,
    },
    /// Too small to matter, or not the largest change between two levels.
    #[error("no jump: the change of {:+.1}% is too small, or another one is larger", change * 100.0)]
    Slight {
        /// The change, as a share.
        change: f64,
    },
}

/// Looks for a jump of a curve between two neighbouring levels. The order of the levels does not matter.
///
/// Two parallel lines, with at least two levels on each side, are fitted to the levels' means by least squares in log–log. A jump
/// is claimed where
/// - noise about a straight line is described as much better by such lines in at most 0.8 % of cases (a Monte Carlo test: Barnard,
///   JRSS B 25, 1963), which takes at least six levels in two blocks or more, or eight in one;
/// - a bent line and a quadratic are worse by at least 2 of the Bayesian information criterion (Schwarz, 1978; Kass and Raftery,
///   JASA 90, 1995);
/// - the value changes by at least 5 % from one level to the other, and more than between any two other neighbours.
///
/// docs/statistics.md tells how often each of this is wrong. The same levels and seed give the same answer.
///
/// # Errors
/// The reason why no jump is claimed.
pub fn jump(levels: &[CandidateLevel<'_>], seed: u64) -> Result<Jump, NoJump> {
    let points = curve(levels).map_err(NoJump::NoCurve)?;
    let jumping = Jumping::fit(&points);
    let chance = by_chance(&points, |points| Jumping::fit(points).squares, seed);
    if chance > CHANCE_MAX {
        return Err(NoJump::NoStep { chance });
    }
    let criterion = |squares: f64, parameters: f64| bic(points.len(), squares, parameters);
    let bends = criterion(Bent::fit(&points).squares, Bent::PARAMETERS)
        .min(criterion(Quadratic::squares(&points), Quadratic::PARAMETERS));
    let bic_gain = bends - criterion(jumping.squares, Jumping::PARAMETERS);
    if bic_gain < BIC_GAIN_MIN {
        return Err(NoJump::Bends { bic_gain });
    }
    let step = |above: usize| points[above].y - points[above - 1].y;
    let change = step(jumping.above).exp_m1();
    let largest = (1..points.len()).all(|above| step(above).abs() <= step(jumping.above).abs());
    if !largest || change.abs() < CHANGE_MIN {
        return Err(NoJump::Slight { change });
    }
    let [below, above] = [jumping.above - 1, jumping.above].map(|place| points[place].x.exp());
    Ok(Jump { below, above, change, chance, bic_gain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// Memory of the classifier study (Classifier Reporting, SQL database performance guide, 2021).
    const MEMORY: [f64; 6] = [8.0, 16.0, 24.0, 32.0, 40.0, 64.0];

    fn found(levels: &[f64], curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Result<Jump, NoJump> {
        let mut random = SplitMix64::new(seed);
        let mut blocks = |level: f64| -> Vec<Option<f64>> {
            (0..7).map(|_| Some(curve(level) * (noise * random.normal()).exp())).collect()
        };
        let measured: Vec<(f64, Vec<Option<f64>>)> =
            levels.iter().map(|&level| (level, blocks(level))).collect();
        let levels: Vec<CandidateLevel<'_>> =
            measured.iter().map(|(level, by_block)| CandidateLevel { level: *level, by_block }).collect();
        jump(&levels, 1)
    }

    /// A query that takes 300 s until its tables fit into 28 GB, and 120 s past that.
    fn fits_at_28(gb: f64) -> f64 {
        if gb < 28.0 { 300.0 } else { 120.0 }
    }

    #[test]
    fn the_jump_of_the_classifier_study_is_found_between_24_and_32_gb() {
        for seed in 0..20 {
            let jump = found(&MEMORY, fits_at_28, 0.05, seed).unwrap();
            assert!((jump.below - 24.0).abs() < 1e-9 && (jump.above - 32.0).abs() < 1e-9, "{jump:?}");
            assert!((-0.65..-0.55).contains(&jump.change), "{jump:?}");
            let [one, other] = jump.further_levels();
            assert!(24.0 < one && one < other && other < 32.0, "{one} and {other}");
        }
    }

    #[test]
    fn what_bends_does_not_jump() {
        let saturating = |n: f64| 1.0 / n.min(20.0);
        for seed in 0..20 {
            assert!(matches!(
                found(&MEMORY, saturating, 0.01, seed),
                Err(NoJump::NoStep { .. } | NoJump::Bends { .. })
            ));
        }
    }

    #[test]
    fn noise_does_not_jump() {
        let claimed = (0..300).filter(|&seed| found(&MEMORY, |_| 300.0, 0.1, seed).is_ok()).count();
        assert!(claimed <= 5, "{claimed} of 300");
    }

    #[test]
    fn what_is_too_small_to_matter_is_no_jump() {
        let refused = found(&MEMORY, |gb| if gb < 28.0 { 100.0 } else { 99.0 }, 0.0, 1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no jump: the change of -1.0% is too small, or another one is larger"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_jump_is_between_neighbours_and_the_largest_change(
            heights in prop::collection::vec(1.0f64..1e3, 6), noise in 0.0f64..0.2, seed in any::<u64>(),
        ) {
            let height = |gb: f64| heights[MEMORY.iter().position(|level| *level == gb).unwrap_or(0)];
            if let Ok(jump) = found(&MEMORY, height, noise, seed) {
                let place = |gb: f64| MEMORY.iter().position(|level| (level / gb - 1.0).abs() < 1e-9).unwrap();
                prop_assert_eq!(place(jump.below) + 1, place(jump.above));
                prop_assert!(jump.change.abs() >= CHANGE_MIN && jump.chance <= CHANCE_MAX);
            }
        }
    }
}
