//! What the figures of a comparison support, by data and by simulated studies.

use super::*;
use crate::random::SplitMix64;
use crate::{Estimate, effect};
use proptest::prelude::*;

/// Relative deviation of one trial in the simulated studies.
const NOISE: f64 = 0.02;

/// Growth of everything from the first to the last trial of a simulated study.
const DRIFT: f64 = 0.04;

/// Trials of a study in the order run, each the index of what is tried.
type Order = Vec<usize>;

/// Blocks with every index once, in random order.
fn randomised(trials: usize, blocks: usize, random: &mut SplitMix64) -> Order {
    let block = |random: &mut SplitMix64| {
        let mut order: Order = (0..trials).collect();
        (1..trials).rev().for_each(|last| order.swap(last, random.below(last + 1)));
        order
    };
    (0..blocks).flat_map(|_| block(random)).collect()
}

/// The figures of a drifting study, by what is tried, whose true values are given.
fn measured(order: &Order, truth: &[f64], random: &mut SplitMix64) -> Vec<Vec<f64>> {
    let mut figures = vec![Vec::new(); truth.len()];
    for (position, &tried) in order.iter().enumerate() {
        let drift = DRIFT * position as f64 / (order.len() - 1) as f64;
        figures[tried].push(truth[tried] * (1.0 + drift) * (NOISE * random.normal()).exp());
    }
    figures
}

/// Effect of each further figure against the first, paired by block.
fn effects(figures: &[Vec<f64>]) -> Vec<Effect> {
    let against = |level: &Vec<f64>| {
        let pairs: Vec<_> = figures[0].iter().copied().zip(level.iter().copied()).collect();
        effect(&pairs).unwrap()
    };
    figures[1..].iter().map(against).collect()
}

fn share_of_studies(study: impl Fn(&mut SplitMix64) -> bool) -> f64 {
    const STUDIES: u64 = 1_000;
    (0..STUDIES).filter(|&seed| study(&mut SplitMix64::new(seed))).count() as f64 / STUDIES as f64
}

fn claims_difference(judged: &[Judged]) -> bool {
    judged.iter().any(|judged| matches!(judged.comparison, Comparison::Better | Comparison::Worse))
}

#[test]
fn drift_makes_randomised_studies_claim_next_to_nothing() {
    // Seven blocks of a reference and four levels that are all the same, without the help of an A/A pair.
    let share = share_of_studies(|random| {
        let order = randomised(5, 7, random);
        let effects = effects(&measured(&order, &[1000.0; 5], random));
        claims_difference(&judge(&effects, SMALLEST_EFFECT, Better::Higher))
    });
    assert!(share < 0.05, "{share}");
}

#[test]
fn all_of_one_and_then_all_of_the_other_is_what_drift_spoils() {
    let in_turn: Order = [[0; 7], [1; 7]].concat();
    // Once by what decides a claim of any size, once by the claims.
    let shares = |order: Option<&Order>| {
        let effects = |random: &mut SplitMix64| {
            let order = order.cloned().unwrap_or_else(|| randomised(2, 7, random));
            effects(&measured(&order, &[1000.0; 2], random))
        };
        let excluding = share_of_studies(|random| effects(random)[0].excludes_none());
        let claiming = share_of_studies(|random| {
            claims_difference(&judge(&effects(random), SMALLEST_EFFECT, Better::Higher))
        });
        (excluding, claiming)
    };
    let (in_turn, randomised) = (shares(Some(&in_turn)), shares(None));
    assert!(in_turn.0 > 0.25 && randomised.0 < 0.06, "{in_turn:?} {randomised:?}");
    assert!(in_turn.1 > 0.05 && randomised.1 < 0.02, "{in_turn:?} {randomised:?}");
}

#[test]
fn a_reference_measured_twice_finds_more() {
    // Seven blocks at 5 % noise, a level that is 10 % better: against one measurement of the reference and against the
    // geometric mean of two.
    let share = |twice: bool| {
        share_of_studies(|random| {
            let mut trial = |truth: f64| truth * (0.05 * random.normal()).exp();
            let mut pair = || {
                let (one, other, level) = (trial(1_000.0), trial(1_000.0), trial(1_100.0));
                (if twice { (one * other).sqrt() } else { one }, level)
            };
            let pairs: Vec<(f64, f64)> = (0..7).map(|_| pair()).collect();
            judge(&[effect(&pairs).unwrap()], SMALLEST_EFFECT, Better::Higher)[0].comparison
                == Comparison::Better
        })
    };
    let (once, twice) = (share(false), share(true));
    assert!((0.74..0.84).contains(&once) && (0.86..0.94).contains(&twice), "{once} {twice}");
}

#[test]
fn noise_makes_nothing_equivalent() {
    // Two equal things: the noisier the machine, the less often they are called equivalent.
    let share = |noise: f64| {
        share_of_studies(|random| {
            let mut trial = || (noise * random.normal()).exp();
            let pairs: Vec<(f64, f64)> = (0..7).map(|_| (trial(), trial())).collect();
            judge(&[effect(&pairs).unwrap()], SMALLEST_EFFECT, Better::Higher)[0].comparison
                == Comparison::Equivalent
        })
    };
    let shares = [0.005, 0.02, 0.05].map(share);
    assert!(shares[0] > 0.95 && shares[1] < 0.6 && shares[2] < 0.02, "{shares:?}");
}

/// An effect of which only what judging looks at is given, in per cent.
fn an_effect(low: f64, value: f64, high: f64, p_value: f64) -> Effect {
    let [low, value, high] = [low, value, high].map(|per_cent| 1.0 + per_cent / 100.0);
    Effect { ratio: Estimate { value, low, high }, blocks: 7, confidence: 0.953, p_value, deviation: 0.03 }
}

#[track_caller]
fn check(effect: Effect, expected: Comparison) {
    let judged = judge(&[effect], 0.03, Better::Higher);
    assert_eq!(judged[0].comparison, expected, "{effect:?}");
}

#[test]
fn verdicts_follow_from_interval_size_and_significance() {
    check(an_effect(4.0, 5.0, 6.0, 0.001), Comparison::Better);
    check(an_effect(-6.0, -5.0, -4.0, 0.001), Comparison::Worse);
    check(an_effect(0.5, 3.0, 6.0, 0.049), Comparison::Better);
    check(an_effect(0.5, 3.0, 6.0, 0.05), Comparison::WithinNoise);
    check(an_effect(-0.5, 4.0, 6.0, 0.04), Comparison::NotResolvable);
    check(an_effect(-9.0, 0.0, 9.0, 0.9), Comparison::NotResolvable);
    check(an_effect(-2.0, 2.95, 3.5, 0.4), Comparison::NotResolvable);
    check(an_effect(0.5, 2.0, 3.5, 0.01), Comparison::Small);
    check(an_effect(0.5, 2.0, 3.5, 0.06), Comparison::WithinNoise);
    check(an_effect(0.5, 1.0, 2.0, 0.01), Comparison::Equivalent);
    check(an_effect(-2.0, 0.0, 2.0, 0.9), Comparison::Equivalent);
    check(an_effect(-3.5, 0.0, 2.0, 0.9), Comparison::WithinNoise);
    check(an_effect(-2.0, 1.0, 3.5, 0.4), Comparison::WithinNoise);
    check(Effect { blocks: 5, ..an_effect(4.0, 5.0, 6.0, 0.0) }, Comparison::Descriptive);
    check(Effect { blocks: 6, ..an_effect(4.0, 5.0, 6.0, 0.0) }, Comparison::Better);
}

/// Two runs of different times were called equivalent or small, and some dozens of trials were said to settle more.
#[test]
fn one_run_against_another_differs_is_alike_or_cannot_be_told_apart() {
    let of = |effect: Effect| {
        let judged = judge_two_times(&[effect], 0.03, Better::Higher)[0];
        assert_eq!(judged.blocks_needed, None, "{effect:?}");
        judged.comparison
    };
    assert_eq!(of(an_effect(4.0, 5.0, 6.0, 0.001)), Comparison::Differs);
    assert_eq!(of(an_effect(-6.0, -5.0, -4.0, 0.001)), Comparison::Differs);
    assert_eq!(of(an_effect(0.5, 2.0, 3.5, 0.01)), Comparison::Differs, "small");
    assert_eq!(of(an_effect(-2.0, 0.0, 2.0, 0.9)), Comparison::Alike, "equivalent");
    assert_eq!(of(an_effect(-3.5, 0.0, 2.0, 0.9)), Comparison::Alike, "within noise");
    assert_eq!(of(an_effect(-9.0, 0.0, 9.0, 0.9)), Comparison::NotResolvable);
    let single = Effect { blocks: 1, confidence: 0.95, ..an_effect(-2.0, 0.0, 2.0, 0.9) };
    assert_eq!(of(single), Comparison::Alike, "the interval counts, and not how many trials it is of");
    assert_eq!(of(Effect { confidence: 0.9, ..single }), Comparison::Descriptive, "three trials a side");
}

#[test]
fn less_latency_is_better() {
    let less = an_effect(-50.0, -40.0, -30.0, 0.001);
    for (better, expected) in [(Better::Lower, Comparison::Better), (Better::Higher, Comparison::Worse)] {
        assert_eq!(judge(&[less], 0.03, better)[0].comparison, expected);
    }
}

#[test]
fn one_of_many_levels_needs_more_than_a_lucky_p_value() {
    let lucky = an_effect(0.5, 4.0, 6.0, 0.02);
    check(lucky, Comparison::Better);
    let judged =
        judge(&[lucky, an_effect(-4.0, 0.0, 4.0, 0.9), an_effect(-4.0, 0.0, 4.0, 0.9)], 0.03, Better::Higher);
    assert_eq!(judged[0].comparison, Comparison::WithinNoise);
    assert!((judged[0].adjusted_p - 0.06).abs() < 1e-12);
}

#[test]
fn constant_ratios_are_judged() {
    let double = effect(&[(3.0, 6.0); 7]).unwrap();
    let same = effect(&[(3.0, 3.0); 7]).unwrap();
    let judged = judge(&[double, same], 0.03, Better::Lower);
    assert_eq!(
        judged.iter().map(|judged| judged.comparison).collect::<Vec<_>>(),
        [Comparison::Worse, Comparison::Equivalent]
    );
}

#[test]
fn blocks_that_would_settle_it_are_those_of_students_interval() {
    let needed = |effect, smallest| judge(&[effect], smallest, Better::Higher)[0].blocks_needed;
    for (deviation, value, smallest, blocks) in BLOCKS_OF_SCIPY {
        let effect = Effect { deviation, ..an_effect(-90.0, value, 90.0, 0.5) };
        assert_eq!(needed(effect, smallest), blocks, "{value} %, deviation {deviation}");
    }
    // Of three equal ones, Holm's correction leaves each a third of the significance: ppf(1 − 0.025 / 3, n − 1).
    let effect = Effect { deviation: 0.08, ..an_effect(-90.0, 4.0, 90.0, 0.5) };
    assert_eq!(needed(effect, 0.03), Some(35));
    assert_eq!(judge(&[effect; 3], 0.03, Better::Higher)[2].blocks_needed, Some(47));
}

/// Deviation, effect in per cent, smallest effect and the first n past 7 and up to 1,000 where
/// scipy.stats.t.sf(distance · √n / deviation − scipy.stats.t.ppf(0.975, n − 1), n − 1) of SciPy 1.17.1, for both limits of equivalence
/// together, is at most 0.2.
const BLOCKS_OF_SCIPY: [(f64, f64, f64, Option<u32>); 7] = [
    (0.03, 4.0, 0.03, Some(8)),
    (0.05, 4.0, 0.03, Some(15)),
    (0.05, -4.0, 0.03, Some(14)),
    (0.08, 3.0, 0.03, Some(60)),
    (0.05, 0.0, 0.03, Some(32)),
    (0.05, 2.9, 0.03, None),
    (0.03, -2.0, 0.03, Some(70)),
];

#[test]
fn correction_is_holms() {
    // Holm's definition by hand, as p.adjust(p, "holm") of R gives: 4 · 0.005, 3 · 0.01, 2 · 0.03, then 0.04 <
    // 0.06.
    let close = |p_values: &[f64], expected: &[f64]| {
        let adjusted = holm(p_values);
        assert_eq!(adjusted.len(), expected.len());
        let near = adjusted.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12);
        assert!(near, "{p_values:?}: {adjusted:?}");
    };
    close(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
    close(&[0.5, 0.6, 0.7], &[1.0, 1.0, 1.0]);
    close(&[0.02], &[0.02]);
    close(&[0.02, 0.02, 0.02], &[0.06, 0.06, 0.06]);
    close(&[0.001, f64::NAN], &[0.002, 1.0]);
    close(&[], &[]);
}

#[test]
fn a_correction_is_blamed_only_where_it_made_the_difference() {
    let other = an_effect(-4.0, 0.0, 4.0, 0.9);
    let judged = |one: Effect| judge(&[one, other, other], 0.03, Better::Higher)[0].not_shown;
    assert_eq!(judged(an_effect(0.5, 4.0, 6.0, 0.02)), Some(NotShown::Corrected));
    assert_eq!(judged(an_effect(0.5, 4.0, 6.0, 0.10)), Some(NotShown::Test), "not shown alone either");
    assert_eq!(judged(an_effect(-0.5, 4.0, 6.0, 0.02)), None, "the interval says so itself");
    assert_eq!(judged(an_effect(0.5, 4.0, 6.0, 0.001)), None, "shown");
    // One block far out: the interval does not mind it, the t test does.
    let pairs = [1.01, 1.012, 1.015, 1.02, 1.03, 1.05, 1.20].map(|ratio| (1.0, ratio));
    let alone = judge(&[effect(&pairs).unwrap()], 0.03, Better::Higher)[0];
    assert_eq!((alone.not_shown, alone.adjusted_p > 0.05), (Some(NotShown::Test), true));
}

#[test]
fn verdicts_are_written_in_words() {
    let judged = judge(&[an_effect(-90.0, 4.0, 90.0, 0.5)], 0.03, Better::Higher)[0];
    let text = serde_json::to_string(&judged).unwrap();
    assert!(
        text.starts_with(r#"{"comparison":"not_resolvable","adjusted_p":0.5,"blocks_needed":"#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Judged>(&text).unwrap(), judged);
}

/// Half of the interval of so many differences that scatter by 1.
fn half_width(count: usize) -> f64 {
    t_quantile(0.025, (count - 1) as f64) / (count as f64).sqrt()
}

#[test]
fn as_many_repeats_as_are_said_settle_it_in_four_of_five() {
    let mut random = SplitMix64::new(7);
    for (distance, there) in [(0.8, 6), (0.5, 8)] {
        let needed = repeats_to_settle(distance, half_width(there), there, false).unwrap() as usize;
        let mut settles = || {
            let values: Vec<f64> = (0..needed).map(|_| distance + random.normal()).collect();
            let error = crate::standard_deviation(&values).unwrap() / (needed as f64).sqrt();
            crate::mean(&values).unwrap() > t_quantile(0.025, (needed - 1) as f64) * error
        };
        let share = (0..2_000).filter(|_| settles()).count() as f64 / 2_000.0;
        assert!((0.74..=0.9).contains(&share), "{distance}: {needed} settle it in {share}");
    }
}

#[test]
fn nothing_settles_a_change_on_its_limit_and_a_far_one_takes_few() {
    let needed = |distance: f64, by_runs: bool| repeats_to_settle(distance, half_width(7), 7, by_runs);
    assert_eq!(
        (needed(0.0, false), needed(1e-6, false), repeats_to_settle(1.0, 0.0, 7, false)),
        (None, None, None)
    );
    assert!(needed(0.2, false) > needed(0.4, false) && needed(0.4, false) > Some(7));
    assert!(needed(0.4, true).is_some() && repeats_to_settle(0.4, 0.5, 1, true).is_some());
}

proptest! {
    #[test]
    fn corrected_p_values_are_greater_and_keep_their_order(
        p_values in prop::collection::vec(0.0f64..=1.0, 0..12), turn in 0usize..12,
    ) {
        let adjusted = holm(&p_values);
        for (index, (&p, &of_p)) in p_values.iter().zip(&adjusted).enumerate() {
            prop_assert!(p <= of_p && of_p <= (p * p_values.len() as f64).min(1.0) + 1e-12);
            for (&q, &of_q) in p_values.iter().zip(&adjusted).skip(index) {
                prop_assert!((p <= q || of_p >= of_q) && (p >= q || of_p <= of_q));
            }
        }
        let (mut turned, mut expected) = (p_values.clone(), adjusted);
        let turn = turn % p_values.len().max(1);
        turned.rotate_left(turn);
        expected.rotate_left(turn);
        prop_assert_eq!(holm(&turned), expected);
    }

    #[test]
    fn both_directions_mirror_each_other(
        pairs in prop::collection::vec((0.9f64..1.1, 0.9f64..1.1), 2..12), smallest in 0.0f64..0.1,
    ) {
        let effect = effect(&pairs).unwrap();
        let one = judge(&[effect], smallest, Better::Higher)[0];
        let mut other = judge(&[effect], smallest, Better::Lower)[0];
        other.comparison = match other.comparison {
            Comparison::Better => Comparison::Worse,
            Comparison::Worse => Comparison::Better,
            same => same,
        };
        prop_assert_eq!(one, other);
    }

    #[test]
    fn blocks_are_needed_only_within_noise_and_are_more_than_there_are(
        pairs in prop::collection::vec((0.8f64..1.2, 0.8f64..1.2), 2..12), smallest in any::<f64>(),
    ) {
        let effect = effect(&pairs).unwrap();
        let judged = judge(&[effect, effect], smallest, Better::Higher)[1];
        let resolves = judged.comparison != Comparison::WithinNoise || effect.half_width() <= smallest.max(0.0);
        prop_assert!(resolves && (judged.comparison != Comparison::WithinNoise || judged.blocks_needed.is_some()));
        prop_assert!((0.0..=1.0).contains(&judged.adjusted_p));
        if let Some(blocks) = judged.blocks_needed {
            prop_assert!(matches!(judged.comparison, Comparison::WithinNoise | Comparison::NotResolvable));
            prop_assert!(blocks as usize > effect.blocks && blocks <= 1_000);
        }
    }
}
