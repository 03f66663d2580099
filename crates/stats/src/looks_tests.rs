//! What repeated looks claim, by Student's test and by simulated studies that stop as soon as they may.

use super::*;
use crate::random::SplitMix64;
use crate::{Better, Comparison, judge};
use proptest::prelude::*;

#[track_caller]
fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let close = found.iter().zip(expected).all(|(one, other)| (one - other).abs() <= tolerance);
    assert!(close, "{found:?} against {expected:?}");
}

#[test]
fn a_single_look_is_students_test() {
    let pairs: Vec<(f64, f64)> =
        [1.04, 1.01, 1.06, 1.03, 1.08, 1.02].iter().map(|ratio| (100.0, 100.0 * ratio)).collect();
    let (plain, looked) = (crate::effect(&pairs).unwrap(), Looks::new(6).unwrap().effect(&pairs).unwrap());
    assert!((plain.p_value / looked.p_value - 1.0).abs() < 1e-2, "{plain:?} {looked:?}");
    // scipy.stats.t.interval(0.95, 5, …) of the logarithms, SciPy 1.17.1.
    near(&[looked.ratio.value, looked.ratio.low, looked.ratio.high], &STUDENT_OF_SCIPY, 1e-9);
}

const STUDENT_OF_SCIPY: [f64; 3] =
    [1.039_729_313_505_970_4, 1.012_852_923_450_473_5, 1.067_318_877_533_414_4];

#[test]
fn looks_are_bounded() {
    assert!(Looks::new(5).is_none() && Looks::new(LOOKS_BLOCKS_MAX + 1).is_none());
    let looks = Looks::new(8).unwrap();
    let few = [(1.0, 1.1), (1.0, 1.2), (1.0, 1.3)];
    assert_eq!(looks.effect(&few), crate::effect(&few), "before the first look");
    assert_eq!(looks.effect(&[(1.0, 0.0); 6]), None);
    let same = looks.effect(&[(2.0, 2.0); 7]).unwrap();
    assert_eq!((same.ratio.low, same.ratio.high, same.p_value), (1.0, 1.0, 1.0));
}

/// Share of studies of at most 20 blocks that claim a difference of `levels` equal ones, looking after every block.
fn false_claims(levels: usize, effect: impl Fn(&[(f64, f64)]) -> Option<Effect>) -> f64 {
    const STUDIES: u64 = 1_000;
    let claims = |seed: &u64| {
        let mut random = SplitMix64::new(*seed);
        let mut pairs: Vec<Vec<(f64, f64)>> = vec![Vec::new(); levels];
        (1..=20).any(|block| {
            let reference = (0.05 * random.normal()).exp();
            pairs.iter_mut().for_each(|pairs| pairs.push((reference, (0.05 * random.normal()).exp())));
            let effects: Vec<Effect> = pairs.iter().filter_map(|pairs| effect(pairs)).collect();
            block >= BLOCKS_MIN
                && judge(&effects, 0.0, Better::Higher)
                    .iter()
                    .any(|one| matches!(one.comparison, Comparison::Better | Comparison::Worse))
        })
    };
    (0..STUDIES).filter(claims).count() as f64 / STUDIES as f64
}

#[test]
fn looking_after_every_block_claims_no_more_than_one_look_would() {
    let looks = Looks::new(20).unwrap();
    for levels in [1, 3] {
        let (plain, looked) =
            (false_claims(levels, crate::effect), false_claims(levels, |pairs| looks.effect(pairs)));
        // 5 % and two deviations of a share of a thousand.
        assert!(plain > 0.10 && looked < 0.064, "{levels} levels: {plain} {looked}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn levels_rise_with_the_looks_and_with_the_significance(blocks in 6usize..18) {
        let looks = Looks::new(blocks).unwrap();
        for (levels, stricter) in looks.levels.iter().zip(&looks.levels[1..]) {
            let rise = levels.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-6));
            prop_assert!(rise || levels[0] > 0.03, "{:?}", levels);
            prop_assert!(levels.iter().zip(stricter).all(|(level, strict)| level > strict));
        }
        let last = looks.levels[4][blocks - BLOCKS_MIN];
        prop_assert!(last <= 0.05 + 1e-9 && last > 0.025, "{}", last);
        for (significance, levels) in SIGNIFICANCES.iter().zip(&looks.levels) {
            let back = looks.of_all_looks(levels[0], 0);
            prop_assert!((back / significance - 1.0).abs() < 1e-9, "{} {}", back, significance);
        }
    }

    #[test]
    fn a_corrected_interval_is_wider_and_its_p_value_greater(
        pairs in prop::collection::vec((0.5f64..2.0, 0.5f64..2.0), 6..15),
    ) {
        let looks = Looks::new(15).unwrap();
        let (looked, single) = (looks.effect(&pairs).unwrap(), crate::effect(&pairs).unwrap());
        prop_assert!(looked.p_value >= single.p_value * (1.0 - 1e-6));
        prop_assert!(looked.ratio.low <= looked.ratio.value && looked.ratio.value <= looked.ratio.high);
        let shown = looked.ratio.low > 1.0 || looked.ratio.high < 1.0;
        prop_assert!(shown == (looked.p_value < SIGNIFICANCE) || (looked.p_value / SIGNIFICANCE - 1.0).abs() < 1e-6);
    }
}
