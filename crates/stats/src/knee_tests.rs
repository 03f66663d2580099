//! Knees that are there, and curves that have none.

use super::*;
use crate::curve::{CHANCE_MAX, LEVELS_MIN, LEVELS_MIN_OF_ONE_BLOCK};
use crate::random::SplitMix64;
use proptest::prelude::*;

/// Outstanding I/Os of the usual sweep.
const SWEEP: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// IOPS of the classifier study (Classifier Reporting, SQL database performance guide, 2021).
const CLASSIFIER: [f64; 7] = [781.0, 1563.0, 3125.0, 6250.0, 12_500.0, 25_000.0, 50_000.0];

type Levels = Vec<(f64, Vec<Option<f64>>)>;

/// A curve over levels with noise of a relative deviation.
fn measured(levels: &[f64], blocks: usize, curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Levels {
    let mut random = SplitMix64::new(seed);
    let mut value = |level: f64| Some(curve(level) * (noise * random.normal()).exp());
    levels.iter().map(|&level| (level, (0..blocks).map(|_| value(level)).collect())).collect()
}

fn found(levels: &Levels) -> Result<Knee, NoKnee> {
    let levels: Vec<CandidateLevel<'_>> =
        levels.iter().map(|(level, by_block)| CandidateLevel { level: *level, by_block }).collect();
    knee(&levels, 1)
}

fn share_of_seeds(seeds: u64, claim: impl Fn(u64) -> bool) -> f64 {
    (0..seeds).filter(|&seed| claim(seed)).count() as f64 / seeds as f64
}

#[test]
fn knee_is_where_a_saturating_device_stops_gaining() {
    let near = |seed| {
        let found = found(&measured(&SWEEP, 1, |level| 2400.0 * level.min(32.0), 0.02, seed));
        found.is_ok_and(|knee| (knee.at / 32.0).ln().abs() < 0.1 && knee.slope_above.abs() < 0.1)
    };
    let share = share_of_seeds(100, near);
    assert!(share >= 0.97, "{share}");
}

#[test]
fn true_knee_is_mostly_inside_the_interval() {
    for (levels, blocks, at) in [(&SWEEP[..], 3, 40.0), (&CLASSIFIER, 7, 3000.0)] {
        let holds = |seed| {
            let found = found(&measured(levels, blocks, |level| 2400.0 * level.min(at), 0.05, seed));
            found.is_ok_and(|knee| (knee.low..=knee.high).contains(&at))
        };
        let share = share_of_seeds(100, holds);
        assert!(share >= 0.87, "{at}: {share}");
    }
}

#[test]
fn the_knee_of_the_classifier_study_is_found_from_its_seven_levels() {
    let seconds = |iops: f64| 40.0 * (3000.0 / iops).max(1.0);
    let knee = found(&measured(&CLASSIFIER, 7, seconds, 0.05, 3)).unwrap();
    assert!((2700.0..3300.0).contains(&knee.at) && knee.low > 2400.0 && knee.high < 3700.0, "{knee:?}");
    let [below, above] = knee.by_doubling();
    assert!((-0.55..-0.45).contains(&below) && above.abs() < 0.05, "{knee:?}");
    let sentence =
        "no knee: too few levels: 7 levels in one block (required: 6 levels in two blocks, or 8 in one)";
    assert_eq!(found(&measured(&CLASSIFIER, 1, seconds, 0.05, 3)).unwrap_err().to_string(), sentence);
}

#[test]
fn what_a_level_has_in_each_block_is_no_knee_however_many_blocks() {
    // Taken as independent, the points of a flat line with such levels have a knee in every other study.
    let claims = |seed| {
        let mut random = SplitMix64::new(seed);
        let lasting: Vec<f64> = SWEEP.iter().map(|_| (0.05 * random.normal()).exp()).collect();
        let height = |level: f64| lasting[level.log2().round() as usize];
        found(&measured(&SWEEP, 7, height, 0.01, seed)).is_ok()
    };
    let share = share_of_seeds(300, claims);
    assert!(share <= 0.02, "{share}");
}

#[test]
fn power_law_has_no_knee() {
    for exponent in [1.0, 0.3, 0.0] {
        for noise in [0.0, 0.01, 0.1] {
            let curve = |level: f64| 2400.0 * level.powf(exponent);
            let share = share_of_seeds(100, |seed| found(&measured(&SWEEP, 1, curve, noise, seed)).is_err());
            assert!(share >= 0.97, "exponent {exponent}, noise {noise}: {share}");
        }
    }
}

#[test]
fn a_curve_that_bends_gradually_has_no_knee() {
    let share = share_of_seeds(100, |seed| {
        let found = found(&measured(&SWEEP, 7, |n| n / (1.0 + n / 16.0), 0.02, seed));
        matches!(found, Err(NoKnee::Gradual { .. }))
    });
    assert!(share >= 0.97, "{share}");
}

/// Seven noisy levels of a soft curve had a knee in one of eight cases.
#[test]
fn of_few_levels_too_a_curve_that_bends_gradually_hardly_ever_has_a_knee() {
    for levels in [&SWEEP[..7], &[4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0]] {
        let share = share_of_seeds(300, |seed| {
            found(&measured(levels, 3, |n| n / (1.0 + n / 16.0), 0.1, seed)).is_ok()
        });
        assert!(share <= 0.06, "{levels:?}: {share}");
    }
}

/// With one block log2(1 + N) was given a knee in 28 of 100 sweeps.
#[test]
fn in_one_block_too_a_curve_that_bends_gradually_hardly_ever_has_a_knee() {
    let curves: [fn(f64) -> f64; 3] =
        [|n| n / (1.0 + n / 16.0), |n| (1.0 + n).log2(), |n| n / (1.0 + 0.05 * (n - 1.0))];
    for (index, curve) in curves.into_iter().enumerate() {
        let share = share_of_seeds(300, |seed| found(&measured(&SWEEP, 1, curve, 0.05, seed)).is_ok());
        assert!(share <= 0.06, "curve {index}: {share}");
    }
}

#[test]
fn a_jump_is_no_knee() {
    let curve = |level: f64| if level < 12.0 { 300.0 } else { 120.0 };
    assert!((0..20).all(|seed| found(&measured(&SWEEP, 2, curve, 0.01, seed)).is_err()));
}

#[test]
fn a_bend_that_is_hardly_one_is_called_slight() {
    let curve = |level: f64| level.min(16.0).powf(-0.03) * (level / 16.0).max(1.0).powf(-0.004);
    let refused = found(&measured(&SWEEP, 7, curve, 0.0, 1)).unwrap_err();
    assert_eq!(refused.to_string(), "no knee: the bend is too slight, from -2.1% to -0.3% per doubling");
}

#[test]
fn perfect_bend_is_found_exactly_and_its_gain_is_finite() {
    for at in [32.0, 23.0] {
        let found = found(&measured(&SWEEP, 1, |level| 100.0 * level.min(at), 0.0, 0)).unwrap();
        assert!((found.at - at).abs() < 1e-6, "{found:?}");
        assert!((found.low / at - 1.0).abs() < 1e-4 && (found.high / at - 1.0).abs() < 1e-4, "{found:?}");
        assert!((found.slope_below - 1.0).abs() < 1e-9 && found.slope_above.abs() < 1e-9, "{found:?}");
        assert!(found.bic_gain >= BIC_GAIN_MIN && found.bic_gain.is_finite(), "{found:?}");
    }
}

#[test]
fn a_level_that_misses_a_slow_block_does_not_look_fast() {
    let mut levels = measured(&SWEEP, 3, |level| level, 0.0, 0);
    levels.iter_mut().for_each(|(_, values)| values[1] = values[1].map(|value| value / 2.0));
    levels[4].1[1] = None;
    assert!(matches!(found(&levels), Err(NoKnee::NoBend { .. })), "{:?}", found(&levels));
}

#[test]
fn each_reason_is_a_sentence() {
    let unusable = "no knee: level 8 has value 0, but both must be positive numbers";
    let too_few =
        "no knee: too few levels: 5 levels in 2 blocks (required: 6 levels in two blocks, or 8 in one)";
    let straight = "no knee: noise alone bends a straight line as far in 100.0% of cases (limit 0.8%)";
    let mut failing = measured(&SWEEP, 1, |level| level, 0.0, 0);
    failing[3].1[0] = Some(0.0);
    for (levels, sentence) in [
        (failing, unusable),
        (measured(&SWEEP[..5], 2, |level| level.min(4.0), 0.0, 0), too_few),
        (measured(&SWEEP, 1, |level| 2400.0 * level, 0.0, 0), straight),
    ] {
        assert_eq!(found(&levels).unwrap_err().to_string(), sentence);
    }
    assert!(found(&Vec::new()).is_err());
}

#[test]
fn levels_that_two_spellings_name_are_one() {
    let mut levels = measured(&SWEEP[..LEVELS_MIN_OF_ONE_BLOCK - 1], 1, |level| level, 0.0, 0);
    levels.extend_from_within(..);
    assert!(matches!(found(&levels), Err(NoKnee::NoBend { .. })), "seven levels in two blocks are enough");
    levels.truncate(LEVELS_MIN + 1);
    assert!(matches!(found(&levels), Err(NoKnee::NoCurve(NoCurve::TooFewLevels { levels: 7, blocks: 1 }))));
}

#[test]
fn further_levels_cut_the_interval_into_equal_ratios() {
    let knee = Knee {
        at: 20.0,
        low: 8.0,
        high: 64.0,
        slope_below: 1.0,
        slope_above: 0.0,
        first: Some(1.0),
        last: Some(256.0),
        chance: 0.001,
        bic_gain: 20.0,
    };
    let [one, other] = knee.further_levels();
    assert!((one - 16.0).abs() < 1e-12 && (other - 32.0).abs() < 1e-12, "{one} and {other}");
    let narrow = Knee { low: 20.0, high: 20.0, ..knee };
    assert_eq!(narrow.further_levels(), [20.0; 2]);
}

#[test]
fn opposite_slopes_are_never_alike() {
    assert!(!alike(0.5, -0.5));
    assert!(!alike(1.0, 0.5));
    assert!(alike(1.0, 0.51));
    assert!(alike(-1.0, -0.9));
    assert!(!alike(1.0, 0.0));
}

/// A knee at 76 of levels to 95: what a doubling would change was told, "by +25,800 %", though 95 is 1.24 times 76.
#[test]
fn what_changes_past_a_knee_is_that_to_the_last_level() {
    let knee = Knee {
        at: 76.0,
        low: 70.0,
        high: 80.0,
        slope_below: 0.0,
        slope_above: 8.0,
        first: Some(19.0),
        last: Some(95.0),
        chance: 0.001,
        bic_gain: 20.0,
    };
    let [below, above] = knee.changes().unwrap();
    assert!(below.abs() < 1e-12 && (above - (1.25f64.powi(8) - 1.0)).abs() < 1e-9, "{below} {above}");
    assert!(knee.by_doubling()[1] > 250.0);
}

/// Time over load in a queue of one server was given a knee in 48 to 100 % of curves.
#[test]
fn time_in_a_queue_has_no_knee() {
    let grids: [[f64; 9]; 2] = [
        [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0],
        [0.375, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0],
    ];
    for grid in &grids {
        for (blocks, noise) in [(1, 0.02), (7, 0.02), (7, 0.05)] {
            let share = share_of_seeds(100, |seed| {
                found(&measured(grid, blocks, |load| 1.0 / (1.0 - load / 100.0), noise, seed)).is_ok()
            });
            assert!(share <= 0.05, "{grid:?} {blocks} {noise}: {share}");
        }
    }
}

#[test]
fn a_soft_saturation_has_hardly_ever_a_knee() {
    for (index, curve) in
        [|n: f64| 1.0 - (-n / 12.0).exp(), |n: f64| (n / 20.0).tanh()].into_iter().enumerate()
    {
        let share = share_of_seeds(200, |seed| found(&measured(&SWEEP, 7, curve, 0.02, seed)).is_ok());
        assert!(share <= 0.05, "curve {index}: {share}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn order_and_units_do_not_matter(
        seed in any::<u64>(), at in 4.0f64..64.0, factor in 0.01f64..100.0, turn in 0usize..9,
    ) {
        let levels = measured(&SWEEP, 2, |level| level.min(at), 0.01, seed);
        let knee = found(&levels).unwrap();
        let mut turned = levels.clone();
        turned.rotate_left(turn);
        prop_assert_eq!(found(&turned), Ok(knee));
        let scale = |value: &Option<f64>| value.map(|value| value * factor);
        let scaled: Levels = levels.iter().map(|(level, values)| (level * factor, values.iter().map(scale).collect())).collect();
        let scaled = found(&scaled).unwrap();
        prop_assert!((scaled.at / knee.at / factor - 1.0).abs() < 1e-6);
        prop_assert!((scaled.bic_gain - knee.bic_gain).abs() < 1e-3);
    }

    #[test]
    fn a_knee_lies_in_its_interval_and_that_between_the_outer_levels(
        at in 1.0f64..256.0, below in -2.0f64..2.0, above in -2.0f64..2.0, noise in 0.0f64..0.5,
        seed in any::<u64>(),
    ) {
        let curve = |level: f64| level.min(at).powf(below) * level.max(at).powf(above);
        if let Ok(knee) = found(&measured(&SWEEP, 2, curve, noise, seed)) {
            prop_assert!(knee.low <= knee.at && knee.at <= knee.high);
            let outer = 2.0 * (1.0 - 1e-9)..=128.0 * (1.0 + 1e-9);
            prop_assert!(outer.contains(&knee.low) && outer.contains(&knee.high), "{knee:?}");
            prop_assert!(knee.bic_gain.is_finite() && knee.bic_gain >= BIC_GAIN_MIN && knee.chance <= CHANCE_MAX);
            prop_assert!(!alike(knee.slope_below, knee.slope_above));
            let [one, other] = knee.further_levels();
            prop_assert!(knee.low <= one && one <= other && other <= knee.high, "{one} {other} {knee:?}");
        }
    }

    #[test]
    fn no_other_join_fits_better(values in prop::collection::vec(1.0f64..1e3, 8)) {
        let points: Vec<Point> =
            SWEEP.iter().zip(values).map(|(level, value)| Point { x: level.ln(), y: value.ln() }).collect();
        let best = Bent::fit(&points).squares;
        for step in 0..=500 {
            let join = 2f64.ln() + f64::from(step) / 500.0 * 32f64.ln();
            let other = Bent::with_join(&points, join).squares;
            prop_assert!(best <= other + 1e-9, "{best} against {other} at {join}");
        }
    }

    #[test]
    fn any_floats_give_finite_figures_or_a_reason(
        points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
        positive in prop::collection::vec((1e-300f64..1e300, 1e-300f64..1e300), 8..20),
    ) {
        let of = |points: &[(f64, f64)]| -> Levels {
            points.iter().map(|(level, value)| (*level, vec![Some(*value), Some(*value)])).collect()
        };
        let magnitudes: Vec<_> = points.iter().map(|point| (point.0.abs(), point.1.abs())).collect();
        for knee in [&points, &magnitudes, &positive].into_iter().filter_map(|points| found(&of(points)).ok()) {
            let figures = [knee.at, knee.low, knee.high, knee.slope_below, knee.slope_above, knee.bic_gain];
            prop_assert!(figures.iter().all(|figure| figure.is_finite()), "{knee:?}");
        }
    }
}
