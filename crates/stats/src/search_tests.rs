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
        search.take(how, None);
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
    assert_eq!(confirming, 24, "two failures of each of twelve rates");
}

/// A search whose probes hold 10,000 a second and whose longer steps are told what they wrote: the rates that it tries to confirm.
fn confirming_rates(rules: Rules, mut step: impl FnMut(Next) -> (Held, Option<f64>)) -> Vec<Next> {
    let mut search = Search::new(rules);
    let mut tried = Vec::new();
    while search.next() != Next::Done {
        let next = search.next();
        let (held, written_per_s) = match next {
            Next::Probe(rate) => (if rate <= 10_000.0 { Held::Yes } else { Held::No }, None),
            next => step(next),
        };
        if !matches!(next, Next::Probe(_)) && tried.last() != Some(&next) {
            tried.push(next);
        }
        search.take(held, written_per_s);
        assert!(tried.len() < 100, "a search ends: {tried:?}");
    }
    tried
}

/// A disk with burst credits held twice what lasts for ten minutes. The search went down by 3 % ten times, for 217 minutes, and found
/// nothing.
#[test]
fn after_a_rate_that_did_not_last_the_search_goes_on_below_what_was_written() {
    let lasts =
        |next: Next| if rate(next) <= 5_000.0 { (Held::Yes, None) } else { (Held::No, Some(5_000.0)) };
    let tried = confirming_rates(RULES, lasts);
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert!(rate(tried[0]) > 9_700.0 && tried[1] == Next::Confirm(4_925.0), "{tried:?}");
}

#[test]
fn the_next_rate_is_below_the_one_that_failed_whatever_was_written() {
    let of = |written: Option<f64>| {
        let mut fails = 0;
        let tried = confirming_rates(RULES, |_| {
            fails += 1;
            (if fails > 2 { Held::Yes } else { Held::No }, written)
        });
        rate(tried[1]) / rate(tried[0])
    };
    for (written, share) in
        [(None, 0.97), (Some(1e9), 0.97), (Some(f64::NAN), 0.97), (Some(0.0), 0.1), (Some(-1.0), 0.1)]
    {
        assert!((of(written) - share).abs() < 1e-3, "{written:?}: {}", of(written));
    }
    // What both failed steps wrote counts.
    let mut fails = 0;
    let tried = confirming_rates(RULES, |_| {
        fails += 1;
        match fails {
            1 => (Held::No, Some(8_000.0)),
            2 => (Held::No, Some(6_000.0)),
            _ => (Held::Yes, None),
        }
    });
    assert_eq!(tried[1], Next::Confirm(tidy(0.985 * 7_000.0)));
}

/// A table that grows: each step is 1 % slower than the one before, and the search ran after it, 1.5 % at a time.
#[test]
fn a_server_that_gets_slower_and_slower_is_overtaken() {
    let mut capacity = 9_500.0;
    let tried = confirming_rates(RULES, |next| {
        capacity *= 0.99;
        if rate(next) <= capacity { (Held::Yes, None) } else { (Held::No, Some(capacity)) }
    });
    assert_eq!(tried.len(), 3, "{tried:?}");
    // One that scatters is not taken for such a one.
    let mut written = [9_500.0, 9_000.0, 9_100.0, 8_900.0].into_iter();
    let tried =
        confirming_rates(RULES, |_| written.next().map_or((Held::Yes, None), |w| (Held::No, Some(w))));
    assert_eq!(tried[2], Next::Confirm(tidy(0.97 * rate(tried[1]))), "{tried:?}");
}

#[test]
fn a_long_step_comes_after_the_confirming_ones_and_lowers_the_rate_if_it_fails() {
    let rules = Rules { long: true, ..RULES };
    let always = confirming_rates(rules, |_| (Held::Yes, None));
    assert_eq!(always, [Next::Confirm(rate(always[0])), Next::Long(rate(always[0]))]);
    let credits = |next: Next| match next {
        Next::Long(rate) if rate > 7_000.0 => (Held::No, Some(7_000.0)),
        _ => (Held::Yes, None),
    };
    let lower = tidy(0.985 * 7_000.0);
    let first = rate(always[0]);
    let tried = confirming_rates(rules, credits);
    assert_eq!(tried, [Next::Confirm(first), Next::Long(first), Next::Confirm(lower), Next::Long(lower)]);
    let never = confirming_rates(rules, |next| match next {
        Next::Long(_) => (Held::No, None),
        _ => (Held::Yes, None),
    });
    assert_eq!(never.len(), 24, "twelve rates");
    let most = Search::new(rules).steps_at_most();
    assert_eq!((most.confirmations, most.long), (48, 12));
    assert_eq!(Search::new(rules).steps_expected().long, 1);
    assert_eq!(Search::new(RULES).steps_expected().long, 0);
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
    // Twelve rates of four steps each.
    assert_eq!(search.steps_at_most().confirmations, 48);
}

/// With 4 s left of its last step a search said 104 s more: a rate that had been held twice of three times was taken to fail.
#[test]
fn a_rate_that_goes_well_is_expected_to_be_confirmed() {
    let mut search = Search::new(RULES);
    while !matches!(search.next(), Next::Confirm(_)) {
        search.take(if rate(search.next()) <= 30_000.0 { Held::Yes } else { Held::No }, None);
    }
    [Held::No, Held::No].into_iter().for_each(|held| search.take(held, None));
    let expected = |search: &Search| search.steps_expected().confirmations;
    assert_eq!(expected(&search), 5, "a rate that is taken to fail, and three steps of the one after it");
    search.take(Held::Yes, None);
    assert_eq!(expected(&search), 2);
    search.take(Held::Yes, None);
    assert_eq!(expected(&search), 1, "the step that runs");
    search.take(Held::No, None);
    assert_eq!(expected(&search), 1);
}

/// A search said five minutes, stepped down by 3 % for seven and still said as much.
#[test]
fn each_rate_that_is_not_confirmed_lets_more_be_expected() {
    let mut search = Search::new(RULES);
    while !matches!(search.next(), Next::Confirm(_)) {
        search.take(if rate(search.next()) <= 30_000.0 { Held::Yes } else { Held::No }, None);
    }
    let mut told = Vec::new();
    while search.next() != Next::Done {
        told.push((search.steps_expected().confirmations, search.steps_at_most().confirmations));
        let Next::Confirm(of) = search.next() else { panic!("confirmed") };
        let failing = |search: &Search| search.next() == Next::Confirm(of);
        while failing(&search) {
            search.take(Held::No, None);
        }
    }
    let expected: Vec<u32> = told.iter().map(|(expected, _)| *expected).collect();
    // None given up: three steps. Then two of each rate that is taken to fail, and three of the one after it.
    assert_eq!(expected, [3, 5, 7, 9, 11, 13, 12, 10, 8, 6, 4, 2]);
    assert!(told.iter().all(|(expected, most)| expected <= most), "{told:?}");
}

/// A search said that 6 probes were left at most, and took 7: the lowest rate of all, below the one that was tried last, was forgotten.
#[test]
fn the_lowest_rate_of_all_counts_among_the_steps_at_most() {
    let rules = Rules { start_per_s: 29_372.450311159562, failures: 1, ..RULES };
    let mut search = Search::new(rules);
    while rate(search.next()) > 2.0 {
        search.take(Held::No, None);
    }
    let before = search.steps_at_most().probes;
    search.take(Held::No, None);
    assert_eq!(search.next(), Next::Probe(1.0));
    assert!(search.steps_at_most().probes < before, "{} after {before}", search.steps_at_most().probes);
}

proptest! {
    #[test]
    fn no_search_takes_more_steps_than_was_told(
        answers in prop::collection::vec(0u8..4, 400), start in 1.0f64..50_000.0, failures in 1u32..4, spare in 0u32..3,
        long in any::<bool>(), written in prop::option::of(0.0f64..60_000.0),
    ) {
        let rules = Rules { start_per_s: start, failures, confirmations_of: 3 + spare, long, ..RULES };
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
            search.take(how, written);
            match next {
                Next::Probe(_) => left.probes -= 1,
                Next::Long(_) => left.long -= 1,
                _ => left.confirmations -= 1,
            }
            let told = search.steps_at_most();
            prop_assert!(told.probes <= left.probes && told.confirmations <= left.confirmations && told.long <= left.long,
                "{next:?} {how:?}: {told:?} of {left:?}");
        }
    }
}
