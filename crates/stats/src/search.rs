//! The search for the highest rate that is held: doubles until a rate fails, bisects, confirms what is left.
//!
//! It is told only how each step ended, and knows neither databases nor clocks. A server stalls now and then, so that a step
//! is a noisy answer: a rate is given up only once it failed as often as the rules say, and what is confirmed may fail once in
//! a while. Repeating a step costs what the step costs; probabilistic bisection (M. Horstein, "Sequential transmission using
//! noiseless feedback", IEEE Transactions on Information Theory 9, 1963) would be told the share of wrong answers, which
//! nobody knows of a server. How often it is right is in docs/statistics.md.

/// Share by which a rate is lowered when it is not confirmed.
const STEP_DOWN: f64 = 0.97;
/// Rates of which none was confirmed, after which it is given up.
const RATES_MAX: u32 = 10;
/// No rate below this is tried.
const RATE_MIN_PER_S: f64 = 1.0;
/// How long a search may take is told for servers that hold no more than this.
const FORECAST_MAX_PER_S: f64 = 1e6;

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    rules: Rules,
    /// Highest rate that was held.
    stable_per_s: Option<f64>,
    /// Lowest rate that was given up, or could not be tried.
    upper_per_s: Option<f64>,
    /// Times that the rate being tried has failed.
    failed: u32,
    confirming: Option<Confirming>,
    done: bool,
}

/// What a search decides by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Rate of the first step, a second.
    pub start_per_s: f64,
    /// It ends when the lowest rate that was given up is at most this share above the highest that was held.
    pub resolution_share: f64,
    /// Times that a rate must fail until it is given up.
    pub failures: u32,
    /// Confirming steps that must be held.
    pub confirmations: u32,
    /// Confirming steps of one rate of which so many must be held; at least `confirmations`.
    pub confirmations_of: u32,
}

impl Rules {
    /// What a study takes where it says nothing, which is tried in docs/statistics.md.
    pub const USUAL: Self = Self {
        start_per_s: 1_000.0,
        resolution_share: 0.02,
        failures: 2,
        confirmations: 3,
        confirmations_of: 4,
    };
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Try a rate.
    Probe(f64),
    /// Try a rate that was held once more, for longer.
    Confirm(f64),
    /// Nothing more.
    Done,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The rate was held.
    Yes,
    /// It was not.
    No,
    /// It cannot be said, because the load could not be made: higher rates cannot be tried either.
    Unknown,
}

/// A number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Those that look for a rate.
    pub probes: u32,
    /// Those that confirm one.
    pub confirmations: u32,
}

#[derive(Clone, Copy, Debug)]
struct Confirming {
    rate_per_s: f64,
    held: u32,
    failed: u32,
    /// Rates that were not confirmed.
    given_up: u32,
}

impl Search {
    /// A search that has not begun.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, stable_per_s: None, upper_per_s: None, failed: 0, confirming: None, done: false }
    }

    /// The step that comes next.
    #[must_use]
    pub fn next(&self) -> Next {
        if self.done {
            return Next::Done;
        }
        if let Some(confirming) = self.confirming {
            return Next::Confirm(confirming.rate_per_s);
        }
        match (self.stable_per_s, self.upper_per_s) {
            (None, None) => Next::Probe(self.rules.start_per_s),
            (Some(stable), None) => Next::Probe(2.0 * stable),
            (None, Some(upper)) if upper <= RATE_MIN_PER_S => Next::Done,
            (None, Some(upper)) => Next::Probe(RATE_MIN_PER_S.max(upper / 2.0)),
            (Some(stable), Some(upper)) => match between(stable, upper) {
                Some(rate) if upper / stable - 1.0 > self.rules.resolution_share => Next::Probe(rate),
                _ => Next::Confirm(stable),
            },
        }
    }

    /// Takes how the step ended that [`Self::next`] asked for.
    pub fn take(&mut self, held: Held) {
        match (self.next(), held) {
            (Next::Probe(rate), held) => self.probed(rate, held),
            (Next::Confirm(rate), held) => self.confirmation(rate, held),
            (Next::Done, _) => {}
        }
    }

    fn probed(&mut self, rate_per_s: f64, held: Held) {
        self.failed += u32::from(held == Held::No);
        match held {
            Held::Yes => self.stable_per_s = Some(rate_per_s),
            Held::No if self.failed < self.rules.failures => return,
            Held::No | Held::Unknown => self.upper_per_s = Some(rate_per_s),
        }
        self.failed = 0;
    }

    fn confirmation(&mut self, rate_per_s: f64, held: Held) {
        let begun = Confirming { rate_per_s, held: 0, failed: 0, given_up: 0 };
        let mut confirming = self.confirming.unwrap_or(begun);
        match held {
            Held::Yes => confirming.held += 1,
            Held::No | Held::Unknown => confirming.failed += 1,
        }
        let may_fail = self.rules.confirmations_of.saturating_sub(self.rules.confirmations);
        if confirming.held >= self.rules.confirmations {
            self.done = true;
        } else if confirming.failed > may_fail {
            confirming = Confirming {
                rate_per_s: tidy(rate_per_s * STEP_DOWN),
                held: 0,
                failed: 0,
                given_up: confirming.given_up + 1,
            };
            self.done = confirming.given_up >= RATES_MAX || confirming.rate_per_s < RATE_MIN_PER_S;
        }
        self.confirming = Some(confirming);
    }

    /// Steps that are left if all goes well, on a server that holds so much.
    #[must_use]
    pub fn steps_on(&self, capacity_per_s: f64) -> Steps {
        self.steps(|next, _| if rate(next) <= capacity_per_s { Held::Yes } else { Held::No })
    }

    /// Steps that are left if all goes well, on a server that holds what lies in the middle of what may be; where no rate has
    /// failed yet, what holds the last one and not its double. Where rates were not confirmed, as many more are taken not to be
    /// either: how long something goes on is in the middle as long as it has gone on (J. R. Gott, "Implications of the Copernican
    /// principle for our future prospects", Nature 363, 1993). One that was held more often than not is taken to be confirmed.
    #[must_use]
    pub fn steps_expected(&self) -> Steps {
        let falls = self.confirming.map_or(0, |confirming| match confirming.held > confirming.failed {
            true => confirming.given_up,
            false => 2 * confirming.given_up,
        });
        let middle = match (self.stable_per_s, self.upper_per_s) {
            (Some(stable), Some(upper)) => f64::midpoint(stable, upper),
            (Some(stable), None) => 1.5 * stable,
            (None, Some(upper)) => upper / 1.5,
            (None, None) => 1.5 * self.rules.start_per_s,
        };
        self.steps(|next, search| match search.confirming {
            Some(confirming) if confirming.given_up < falls => Held::No,
            _ if rate(next) <= middle => Held::Yes,
            _ => Held::No,
        })
    }

    /// Steps that are left at most, on a server that holds no more than a million records a second: each decision falls as late as
    /// it can, and the way that leaves the most to be done is taken, of rates that rise first and of rates that fall.
    #[must_use]
    pub fn steps_at_most(&self) -> Steps {
        let longest = |rises: bool| {
            self.steps(|next, search| match (next, search.stable_per_s, search.upper_per_s) {
                (Next::Probe(_), _, _) if search.failed + 1 < search.rules.failures => Held::No,
                // The last that may be tried is held, and leaves the most to be bisected.
                (Next::Probe(rate), None, Some(_)) if rate / 2.0 < RATE_MIN_PER_S => Held::Yes,
                (Next::Probe(rate), _, None) if rises && rate <= FORECAST_MAX_PER_S => Held::Yes,
                (Next::Confirm(_), _, _) if search.may_hold_in_vain() => Held::Yes,
                _ => Held::No,
            })
        };
        let (up, down) = (longest(true), longest(false));
        Steps { probes: up.probes.max(down.probes), confirmations: up.confirmations.max(down.confirmations) }
    }

    /// Whether one more confirming step can be held and the rate still be given up.
    fn may_hold_in_vain(&self) -> bool {
        self.confirming.map_or(0, |confirming| confirming.held) + 1 < self.rules.confirmations
    }

    /// Steps that are left on a server that answers so.
    fn steps(&self, held: impl Fn(Next, &Self) -> Held) -> Steps {
        let mut search = self.clone();
        let mut steps = Steps::default();
        loop {
            let next = search.next();
            match next {
                Next::Probe(_) => steps.probes += 1,
                Next::Confirm(_) => steps.confirmations += 1,
                Next::Done => return steps,
            }
            let how = held(next, &search);
            search.take(how);
        }
    }
}

fn rate(next: Next) -> f64 {
    match next {
        Next::Probe(rate) | Next::Confirm(rate) => rate,
        Next::Done => 0.0,
    }
}

/// A rate about half-way, with as few digits as the distance allows; none if there is none in between.
fn between(low: f64, high: f64) -> Option<f64> {
    let middle = low + (high - low) / 2.0;
    let rate = tidy(middle);
    let rate = if low < rate && rate < high { rate } else { middle };
    (low < rate && rate < high).then_some(rate)
}

/// Four digits: a rate that was found within two per cent has no more.
fn tidy(rate_per_s: f64) -> f64 {
    let unit = 10f64.powf(rate_per_s.log10().floor() - 3.0);
    if rate_per_s >= 1_000.0 { (rate_per_s / unit).round() * unit } else { rate_per_s }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
