//! Which of several is the best, and whether that is more than luck.
//!
//! The greatest of several means is great by luck too, and the more there are the more so. Here it is called the best only where
//! it is ahead of each other one; how much it gives is no part of the claim, and its own mean stays overstated.

use serde::{Deserialize, Serialize};

use crate::judge::{BLOCKS_MIN, SIGNIFICANCE};
use crate::{Better, Effect, Looks, effect, mean};

/// Which of several is the best.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Best {
    /// One is ahead of all others, here against the next.
    Ahead {
        /// Its index.
        best: usize,
        /// Index of the one with the next mean.
        next: usize,
        /// The best over the next.
        over_next: Effect,
    },
    /// The one with the best mean, first, and those that it cannot be told apart from, in the order of their means.
    NotApart(Vec<usize>),
    /// The one with the best mean, of too few blocks in common to tell.
    Few(usize),
}

/// The best of several, each by its figures of the same blocks, none where a trial failed. Those without any figure are left
/// out.
///
/// It is ahead of another one where the interval of their paired [`effect`] excludes no difference and the paired t test is
/// below 5 %. Against each of the others that needs no correction: to be ahead of all of them by chance is least unlikely
/// where there are but two as good (S. Gutmann and Z. Maymin, "Is the selected population the best?", Annals of
/// Statistics 15, 1987), and then two-sided 5 % is the chance.
///
/// Of a study that was looked at again and again `looks` says what the last look may claim.
///
/// None of fewer than two.
#[must_use]
pub fn best(figures: &[&[Option<f64>]], better: Better, looks: Option<&Looks>) -> Option<Best> {
    let known = |index: usize| {
        let values: Vec<f64> = figures[index].iter().flatten().copied().collect();
        let mean = mean(&values)?;
        Some((index, if better == Better::Higher { -mean } else { mean }))
    };
    let mut order: Vec<(usize, f64)> = (0..figures.len()).filter_map(known).collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let (&(first, _), others) = order.split_first().filter(|(_, others)| !others.is_empty())?;
    let against = |other: usize| {
        let pairs = figures[other].iter().zip(figures[first]);
        let pairs: Vec<(f64, f64)> = pairs.filter_map(|(other, best)| Some(((*other)?, (*best)?))).collect();
        let effect = looks.map_or_else(|| effect(&pairs), |looks| looks.effect(&pairs));
        effect.filter(|effect| effect.blocks >= BLOCKS_MIN)
    };
    let Some(effects) = others.iter().map(|(other, _)| against(*other)).collect::<Option<Vec<Effect>>>()
    else {
        return Some(Best::Few(first));
    };
    let ahead = |effect: &Effect| match better {
        Better::Higher => effect.ratio.low > 1.0 && effect.p_value < SIGNIFICANCE,
        Better::Lower => effect.ratio.high < 1.0 && effect.p_value < SIGNIFICANCE,
    };
    let not_apart =
        others.iter().zip(&effects).filter(|(_, effect)| !ahead(effect)).map(|((other, _), _)| *other);
    let not_apart: Vec<usize> = std::iter::once(first).chain(not_apart).collect();
    Some(match not_apart.as_slice() {
        [best] => Best::Ahead { best: *best, next: others[0].0, over_next: effects[0] },
        _ => Best::NotApart(not_apart),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// Figures of so many blocks around true values, with noise of a relative deviation.
    fn measured(truth: &[f64], blocks: usize, noise: f64, seed: u64) -> Vec<Vec<Option<f64>>> {
        let mut random = SplitMix64::new(seed);
        let mut of =
            |truth: &f64| (0..blocks).map(|_| Some(truth * (noise * random.normal()).exp())).collect();
        truth.iter().map(&mut of).collect()
    }

    fn of(figures: &[Vec<Option<f64>>], better: Better) -> Option<Best> {
        best(&figures.iter().map(Vec::as_slice).collect::<Vec<_>>(), better, None)
    }

    #[test]
    fn the_best_is_named_only_where_it_is_ahead_of_all() {
        let figures = measured(&[100.0, 120.0, 110.0], 7, 0.01, 1);
        let Some(Best::Ahead { best: 1, next: 2, over_next }) = of(&figures, Better::Higher) else {
            panic!()
        };
        assert!((over_next.ratio.value / (120.0 / 110.0) - 1.0).abs() < 0.02, "{over_next:?}");
        assert!(matches!(of(&figures, Better::Lower), Some(Best::Ahead { best: 0, next: 2, .. })));
        let close = measured(&[100.0, 120.0, 120.5, 119.0], 7, 0.05, 3);
        let Some(Best::NotApart(not_apart)) = of(&close, Better::Higher) else { panic!() };
        assert!(not_apart.len() == 3 && !not_apart.contains(&0), "{not_apart:?}");
    }

    #[test]
    fn few_blocks_and_a_figure_without_a_ratio_name_no_best() {
        let figures = measured(&[100.0, 200.0], 5, 0.01, 1);
        assert_eq!(of(&figures, Better::Higher), Some(Best::Few(1)));
        let mut zero = measured(&[100.0, 200.0], 7, 0.01, 1);
        zero[0][3] = Some(0.0);
        assert_eq!(of(&zero, Better::Higher), Some(Best::Few(1)));
        assert_eq!(of(&figures[..1], Better::Higher), None);
        assert_eq!(of(&[vec![None; 7], figures[0].clone()], Better::Higher), None);
    }

    #[test]
    fn of_equal_ones_hardly_any_is_named() {
        for levels in [2, 8] {
            let named = |seed: &u64| {
                let figures = measured(&vec![100.0; levels], 7, 0.03, *seed);
                matches!(of(&figures, Better::Higher), Some(Best::Ahead { .. }))
            };
            let named = (0..1_000).filter(named).count();
            assert!(named <= 64, "{named} of 1,000 with {levels}");
        }
    }

    proptest! {
        #[test]
        fn any_floats_are_answered(
            figures in prop::collection::vec(prop::collection::vec(any::<Option<f64>>(), 0..9), 0..5),
        ) {
            for better in [Better::Higher, Better::Lower] {
                match of(&figures, better) {
                    Some(Best::Ahead { best, next, .. }) => prop_assert!(best != next && best.max(next) < figures.len()),
                    Some(Best::NotApart(all)) => prop_assert!(all.len() > 1),
                    Some(Best::Few(best)) => prop_assert!(best < figures.len()),
                    None => {}
                }
            }
        }
    }
}
