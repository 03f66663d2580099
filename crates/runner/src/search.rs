//! The search for the highest rate that is held: doubles until a rate fails, bisects, confirms what is left.
//!
//! It is told only how each step ended, and knows neither databases nor clocks.

use record::SearchRules;

/// Share by which a rate is lowered when its confirmation fails.
const STEP_DOWN: f64 = 0.97;
/// Lowered so often, it is given up.
const STEPS_DOWN_MAX: u32 = 10;
/// No rate below this is tried.
const RATE_MIN_PER_S: f64 = 1.0;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// Try a rate.
    Probe(f64),
    /// Try a rate that was held once more, for longer.
    Confirm(f64),
    /// Nothing more.
    Done,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The rate was held.
    Yes,
    /// It was not.
    No,
    /// It cannot be said, because the load could not be made: higher rates cannot be tried either.
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) struct Search {
    rules: SearchRules,
    /// Highest rate that was held.
    held: Option<f64>,
    /// Lowest rate that was not held, or could not be tried.
    upper: Option<f64>,
    confirming: Option<Confirming>,
    done: bool,
}

#[derive(Clone, Copy, Debug)]
struct Confirming {
    rate_per_s: f64,
    confirmed: u32,
    steps_down: u32,
}

impl Search {
    pub(crate) fn new(rules: SearchRules) -> Self {
        Self { rules, held: None, upper: None, confirming: None, done: false }
    }

    pub(crate) fn next(&self) -> Next {
        if self.done {
            return Next::Done;
        }
        if let Some(confirming) = self.confirming {
            return Next::Confirm(confirming.rate_per_s);
        }
        match (self.held, self.upper) {
            (None, None) => Next::Probe(self.rules.start_per_s),
            (Some(held), None) => Next::Probe(2.0 * held),
            (None, Some(upper)) if upper <= RATE_MIN_PER_S => Next::Done,
            (None, Some(upper)) => Next::Probe(RATE_MIN_PER_S.max(upper / 2.0)),
            (Some(held), Some(upper)) => match between(held, upper) {
                Some(rate) if upper / held - 1.0 > self.rules.resolution_share => Next::Probe(rate),
                _ => Next::Confirm(held),
            },
        }
    }

    /// Takes how the step ended that [`Self::next`] asked for.
    pub(crate) fn take(&mut self, held: Held) {
        match (self.next(), held) {
            (Next::Probe(rate), Held::Yes) => self.held = Some(rate),
            (Next::Probe(rate), Held::No | Held::Unknown) => self.upper = Some(rate),
            (Next::Confirm(rate), held) => self.confirmation(rate, held),
            (Next::Done, _) => {}
        }
    }

    fn confirmation(&mut self, rate_per_s: f64, held: Held) {
        let mut confirming =
            self.confirming.unwrap_or(Confirming { rate_per_s, confirmed: 0, steps_down: 0 });
        if held == Held::Yes {
            confirming.confirmed += 1;
            self.done = confirming.confirmed >= self.rules.confirmations;
        } else {
            confirming = Confirming {
                rate_per_s: tidy(rate_per_s * STEP_DOWN),
                confirmed: 0,
                steps_down: confirming.steps_down + 1,
            };
            self.done = confirming.steps_down >= STEPS_DOWN_MAX || confirming.rate_per_s < RATE_MIN_PER_S;
        }
        self.confirming = Some(confirming);
    }
}

/// A rate about half-way, with as few digits as the distance allows; none if there is none in between.
fn between(low: f64, high: f64) -> Option<f64> {
    let middle = low + (high - low) / 2.0;
    let rate = tidy(middle);
    let rate = if low < rate && rate < high { rate } else { middle };
    (low < rate && rate < high).then_some(rate)
}

/// Three digits: a rate that was found within two per cent has no more.
fn tidy(rate_per_s: f64) -> f64 {
    let unit = 10f64.powf(rate_per_s.log10().floor() - 2.0);
    if rate_per_s >= 100.0 { (rate_per_s / unit).round() * unit } else { rate_per_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: SearchRules = SearchRules {
        start_per_s: 1_000.0,
        resolution_share: 0.02,
        step_s: 120.0,
        confirm_s: 300.0,
        confirmations: 3,
        cool_down_s: 0.0,
        quick: false,
    };

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

    fn rate(next: Next) -> f64 {
        match next {
            Next::Probe(rate) | Next::Confirm(rate) => rate,
            Next::Done => unreachable!("no step"),
        }
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
    fn a_store_that_holds_nothing_ends_the_search() {
        let steps = steps(|_| Held::No);
        assert!(rate(steps[steps.len() - 1].0) >= RATE_MIN_PER_S);
        assert!(steps.iter().all(|(next, _)| matches!(next, Next::Probe(_))));
    }

    #[test]
    fn a_rate_that_is_not_confirmed_is_lowered_by_three_per_cent() {
        let longer = |next| match next {
            Next::Probe(rate) if rate <= 10_000.0 => Held::Yes,
            Next::Confirm(rate) if rate <= 9_500.0 => Held::Yes,
            _ => Held::No,
        };
        let steps = steps(longer);
        let confirmed = rate(steps[steps.len() - 1].0);
        assert!((9_200.0..=9_500.0).contains(&confirmed), "{confirmed}");
    }

    #[test]
    fn what_is_never_confirmed_is_given_up() {
        let steps = steps(|next| match next {
            Next::Probe(rate) if rate <= 10_000.0 => Held::Yes,
            _ => Held::No,
        });
        assert_eq!(steps.iter().filter(|(next, _)| matches!(next, Next::Confirm(_))).count(), 10);
    }

    #[test]
    fn a_generator_that_gives_out_bounds_the_search_from_above() {
        let limited = |next| if rate(next) <= 50_000.0 { Held::Yes } else { Held::Unknown };
        let steps = steps(limited);
        assert!(rate(steps[steps.len() - 1].0) > 49_000.0);
    }
}
