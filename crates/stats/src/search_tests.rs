//! Where a search ends, of servers that always answer alike and of those that do not.

use super::*;
use proptest::prelude::*;

const RULES: Rules = Rules::USUAL;

/// Runs a search against a store and gives the steps.
fn steps(mut held: impl FnMut(Next) -> Held) -> Vec<(Next, Held)> {
    let mut search = Search::new(RULES);
    let mut steps = Vec::new();
    while search.next() != Next::Done {
        let next = search.next();
        let how = held(next);
        steps.push((next, how));
        search.take(how);
        assert!(steps.len() < 200, "a search ends: {steps:?}");
    }
    steps
}

fn store(capacity: f64) -> impl FnMut(Next) -> Held {
    move |next| if rate(next) <= capacity { Held::Yes } else { Held::No }
}

#[test]
fn any_capacity_is_found_within_the_resolution_and_confirmed_three_times() {
    for capacity in [1.0, 3.7, 99.0, 101.0, 999.0, 1_000.0, 5_123.0, 20_000.0, 31_415.9, 1.7e6] {
        let steps = steps(store(capacity));
        let (last, how) = steps[steps.len() - 1];
        let confirmed = rate(last);
        assert_eq!((last, how), (Next::Confirm(confirmed), Held::Yes));
        assert!(confirmed <= capacity && confirmed >= capacity / 1.021, "{confirmed} of {capacity}");
        assert!(steps[steps.len() - 3..].iter().all(|&(next, _)| next == Next::Confirm(confirmed)));
    }
}

#[test]
fn a_rate_that_failed_once_is_tried_again_before_it_is_given_up() {
    let mut stalled = false;
    let steps = steps(|next| match next {
        Next::Probe(4_000.0) if !stalled => {
            stalled = true;
            Held::No
        }
        next => store(5_123.0)(next),
    });
    let confirmed = rate(steps[steps.len() - 1].0);
    assert!(confirmed > 5_000.0, "a stall of one step is no ceiling: {confirmed}");
    let tried = steps.iter().filter(|(next, _)| *next == Next::Probe(8_000.0)).count();
    assert_eq!(tried, 2, "what fails is tried as often as the rules say");
}

#[test]
fn a_store_that_holds_nothing_ends_the_search() {
    let steps = steps(|_| Held::No);
    assert!(rate(steps[steps.len() - 1].0) >= RATE_MIN_PER_S);
    assert!(steps.iter().all(|(next, _)| matches!(next, Next::Probe(_))));
}

#[test]
fn one_confirmation_of_four_may_fail_and_a_second_one_lowers_the_rate_by_three_per_cent() {
    let with = |failing: usize| {
        let mut confirming = 0;
        let found = steps(move |next| match next {
            Next::Confirm(_) => {
                confirming += 1;
                if confirming <= failing { Held::No } else { Held::Yes }
            }
            next => store(10_000.0)(next),
        });
        rate(found[found.len() - 1].0)
    };
    assert_eq!(with(1), with(0));
    assert_eq!(with(2), tidy(0.97 * with(0)));
}

#[test]
fn what_is_never_confirmed_is_given_up() {
    let steps = steps(|next| match next {
        Next::Probe(rate) if rate <= 10_000.0 => Held::Yes,
        _ => Held::No,
    });
    let confirming = steps.iter().filter(|(next, _)| matches!(next, Next::Confirm(_))).count();
    assert_eq!(confirming, 20, "two failures of each of ten rates");
}

#[test]
fn a_generator_that_gives_out_bounds_the_search_from_above_at_once() {
    let limited = |next| if rate(next) <= 50_000.0 { Held::Yes } else { Held::Unknown };
    let steps = steps(limited);
    assert!(rate(steps[steps.len() - 1].0) > 49_000.0);
    assert_eq!(steps.iter().filter(|(next, _)| *next == Next::Probe(64_000.0)).count(), 1);
}

#[test]
fn steps_of_a_search_are_told_beforehand() {
    let search = Search::new(RULES);
    // 1,000 is held, 2,000 fails twice, 5 halvings of which some fail twice, 3 confirmations.
    let expected = search.steps_expected();
    assert_eq!(expected.confirmations, 3);
    assert!((8..=14).contains(&expected.probes), "{expected:?}");
    // Ten rates of four steps each.
    assert_eq!(search.steps_at_most().confirmations, 40);
}

/// With 4 s left of its last step a search said 104 s more: a rate that had been held twice of three times was taken to fail.
#[test]
fn a_rate_that_goes_well_is_expected_to_be_confirmed() {
    let mut search = Search::new(RULES);
    while !matches!(search.next(), Next::Confirm(_)) {
        search.take(if rate(search.next()) <= 30_000.0 { Held::Yes } else { Held::No });
    }
    [Held::No, Held::No].into_iter().for_each(|held| search.take(held));
    let expected = |search: &Search| search.steps_expected().confirmations;
    assert_eq!(expected(&search), 5, "a rate that is taken to fail, and three steps of the one after it");
    search.take(Held::Yes);
    assert_eq!(expected(&search), 2);
    search.take(Held::Yes);
    assert_eq!(expected(&search), 1, "the step that runs");
    search.take(Held::No);
    assert_eq!(expected(&search), 1);
}

/// A search said five minutes, stepped down by 3 % for seven and still said as much.
#[test]
fn each_rate_that_is_not_confirmed_lets_more_be_expected() {
    let mut search = Search::new(RULES);
    while !matches!(search.next(), Next::Confirm(_)) {
        search.take(if rate(search.next()) <= 30_000.0 { Held::Yes } else { Held::No });
    }
    let mut told = Vec::new();
    while search.next() != Next::Done {
        told.push((search.steps_expected().confirmations, search.steps_at_most().confirmations));
        let Next::Confirm(of) = search.next() else { panic!("confirmed") };
        let failing = |search: &Search| search.next() == Next::Confirm(of);
        while failing(&search) {
            search.take(Held::No);
        }
    }
    let expected: Vec<u32> = told.iter().map(|(expected, _)| *expected).collect();
    // None given up: three steps. Then two of each rate that is taken to fail, and three of the one after it.
    assert_eq!(expected, [3, 5, 7, 9, 11, 10, 8, 6, 4, 2]);
    assert!(told.iter().all(|(expected, most)| expected <= most), "{told:?}");
}

proptest! {
    #[test]
    fn no_search_takes_more_steps_than_was_told(
        answers in prop::collection::vec(0u8..4, 400), start in 1.0f64..50_000.0, failures in 1u32..4, spare in 0u32..3,
    ) {
        let rules = Rules { start_per_s: start, failures, confirmations_of: 3 + spare, ..RULES };
        let mut search = Search::new(rules);
        let mut left = search.steps_at_most();
        let mut answers = answers.into_iter();
        while search.next() != Next::Done {
            let next = search.next();
            let answer = answers.next();
            prop_assert!(answer.is_some(), "a search ends");
            let how = match answer {
                _ if rate(next) > FORECAST_MAX_PER_S => Held::No,
                Some(0) => Held::No,
                Some(3) => Held::Unknown,
                _ => Held::Yes,
            };
            search.take(how);
            match next {
                Next::Probe(_) => left.probes -= 1,
                _ => left.confirmations -= 1,
            }
            let told = search.steps_at_most();
            prop_assert!(told.probes <= left.probes && told.confirmations <= left.confirmations,
                "{next:?} {how:?}: {told:?} of {left:?}");
        }
    }
}
