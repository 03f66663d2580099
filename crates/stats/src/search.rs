//! The search for the highest rate that is held: doubles until a rate fails, bisects, confirms what is left.
//!
//! A rate that is not confirmed says how much the server wrote instead. The next rate is a little below that: a server that holds
//! twice its rate for a while (burst credits, a cache that fills) is found in one step and not by 3 % at a time.
//!
//! It is told only how each step ended, and knows neither databases nor clocks. A server stalls now and then, so that a step
//! is a noisy answer: a rate is given up only once it failed as often as the rules say, and what is confirmed may fail once in
//! a while. Repeating a step costs what the step costs; probabilistic bisection (M. Horstein, "Sequential transmission using
//! noiseless feedback", IEEE Transactions on Information Theory 9, 1963) would be told the share of wrong answers, which
//! nobody knows of a server. How often it is right is in docs/statistics.md.

/// The next rate is at most this share of one that was not confirmed.
const STEP_DOWN: f64 = 0.97;
/// The same once so many rates were not confirmed: small steps would not end.
const STEP_DOWN_LATE: f64 = 0.9;
const LATE: u32 = 6;
/// The next rate is at most this share of what was written while a rate was not held.
const OF_WRITTEN: f64 = 0.985;
/// The next rate is at least this share of one that was not confirmed: a server that wrote nothing for a while says nothing.
const STEP_DOWN_MOST: f64 = 0.1;
/// Failed steps in a row that each write less than the one before, from which on a server is taken to get slower and slower: chance
/// makes three in one of 24 searches.
const FALLING_MIN: u32 = 3;
/// At least this share of what it wrote last is expected of it.
const FALL_MOST: f64 = 0.9;
/// Rates of which none was confirmed, after which the search ends.
const RATES_MAX: u32 = 12;
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
    /// Whether a confirmed rate must be held once more, in a long step.
    pub long: bool,
}

impl Rules {
    /// What a study takes where it says nothing, which is tried in docs/statistics.md.
    pub const USUAL: Self = Self {
        start_per_s: 1_000.0,
        resolution_share: 0.02,
        failures: 2,
        confirmations: 3,
        confirmations_of: 4,
        long: false,
    };
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Try a rate.
    Probe(f64),
    /// Try a rate that was held once more, for longer.
    Confirm(f64),
    /// Try a confirmed rate once more, for much longer.
    Long(f64),
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
    /// The long ones.
    pub long: u32,
}

impl Steps {
    /// All of them.
    #[must_use]
    pub fn all(self) -> u32 {
        self.probes + self.confirmations + self.long
    }
}

/// What is known of a rate that is being confirmed.
#[derive(Clone, Copy, Debug)]
struct Confirming {
    rate_per_s: f64,
    held: u32,
    failed: u32,
    /// What was written in the steps that failed.
    written: FailedSteps,
    /// Rates that were not confirmed.
    given_up: u32,
}

/// Records a second that were written in the steps of a rate that failed.
#[derive(Clone, Copy, Debug, Default)]
struct FailedSteps {
    sum_per_s: f64,
    steps: u32,
    /// In the first one and in the last.
    first_per_s: f64,
    last_per_s: f64,
    /// Failed steps in a row, of this rate and those before it, each of which wrote less than the one before.
    falling: u32,
}

impl FailedSteps {
    fn add(&mut self, per_s: f64) {
        self.falling = if per_s < self.last_per_s { self.falling + 1 } else { 0 };
        self.first_per_s = if self.steps == 0 { per_s } else { self.first_per_s };
        self.sum_per_s += per_s;
        self.steps += 1;
        self.last_per_s = per_s;
    }

    /// What is left of it for other steps.
    fn carried(&self) -> Self {
        Self { last_per_s: self.last_per_s, falling: self.falling, ..Self::default() }
    }

    /// What will be written in the steps that confirm the next rate. A server that gets slower and slower, such as one whose table
    /// grows, will write less by then: as much less for each step as for those before.
    fn expected_per_s(&self) -> Option<f64> {
        let mean = (self.steps > 0).then(|| self.sum_per_s / f64::from(self.steps))?;
        if self.falling < FALLING_MIN || self.steps < 2 {
            return Some(mean);
        }
        let by_step = (self.last_per_s / self.first_per_s).powf(1.0 / f64::from(self.steps - 1));
        Some(self.last_per_s * by_step.powi(2).max(FALL_MOST))
    }
}

impl Confirming {
    fn of(rate_per_s: f64, given_up: u32) -> Self {
        Self { rate_per_s, held: 0, failed: 0, written: FailedSteps::default(), given_up }
    }

    /// What comes after a rate that was not confirmed.
    fn after(failed: &Self) -> Self {
        let written = failed.written.carried();
        Self { written, ..Self::of(failed.next_rate(), failed.given_up + 1) }
    }

    fn fail(&mut self, written_per_s: Option<f64>) {
        self.failed += 1;
        if let Some(written_per_s) = written_per_s.filter(|written| written.is_finite()) {
            self.written.add(written_per_s);
        }
    }

    /// The rate after this one, which was not held.
    fn next_rate(&self) -> f64 {
        let expected = self.written.expected_per_s().unwrap_or(f64::INFINITY);
        let step_down = if self.given_up < LATE { STEP_DOWN } else { STEP_DOWN_LATE };
        let next = (step_down * self.rate_per_s).min(OF_WRITTEN * expected);
        tidy(next.max(STEP_DOWN_MOST * self.rate_per_s))
    }
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
            return match confirming.held < self.rules.confirmations {
                true => Next::Confirm(confirming.rate_per_s),
                false => Next::Long(confirming.rate_per_s),
            };
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

    /// Takes how the step ended that [`Self::next`] asked for, and how many records a second it wrote in the second half of its
    /// window, if that is known.
    pub fn take(&mut self, held: Held, written_per_s: Option<f64>) {
        match self.next() {
            Next::Probe(rate) => self.probed(rate, held),
            Next::Confirm(rate) => self.confirmation(rate, held, written_per_s),
            Next::Long(_) if held == Held::Yes => self.done = true,
            Next::Long(rate) => {
                // Of the steps before it those that failed wrote nearly enough: only what this one wrote counts.
                let confirmed = self.confirming.unwrap_or(Confirming::of(rate, 0));
                let mut long = Confirming { written: confirmed.written.carried(), ..confirmed };
                long.fail(written_per_s);
                self.go_on_below(&long);
            }
            Next::Done => {}
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

    fn confirmation(&mut self, rate_per_s: f64, held: Held, written_per_s: Option<f64>) {
        let mut confirming = self.confirming.unwrap_or(Confirming::of(rate_per_s, 0));
        match held {
            Held::Yes => confirming.held += 1,
            Held::No | Held::Unknown => confirming.fail(written_per_s),
        }
        let may_fail = self.rules.confirmations_of.saturating_sub(self.rules.confirmations);
        if confirming.failed > may_fail {
            self.go_on_below(&confirming);
        } else {
            self.done = confirming.held >= self.rules.confirmations && !self.rules.long;
            self.confirming = Some(confirming);
        }
    }

    /// Gives up a rate that was being confirmed.
    fn go_on_below(&mut self, failed: &Confirming) {
        let next = Confirming::after(failed);
        self.done = next.given_up >= RATES_MAX || next.rate_per_s < RATE_MIN_PER_S;
        self.confirming = Some(next);
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
            Some(_) if matches!(next, Next::Long(_)) => Held::Yes,
            _ if rate(next) <= middle => Held::Yes,
            _ => Held::No,
        })
    }

    /// Steps that are left at most, on a server that holds no more than a million records a second: each decision falls as late as
    /// it can, and the way that leaves the most to be done is taken, of rates that rise first and of rates that fall.
    #[must_use]
    pub fn steps_at_most(&self) -> Steps {
        // Of rates that fall, the last but one has more above it, and the last one takes a step more.
        let longest = |rises: bool, held_below: f64| {
            self.steps(|next, search| match (next, search.stable_per_s, search.upper_per_s) {
                (Next::Probe(_), _, _) if search.failed + 1 < search.rules.failures => Held::No,
                // A late rate that is held leaves the most to be bisected.
                (Next::Probe(rate), None, Some(_)) if rate <= held_below => Held::Yes,
                (Next::Probe(rate), _, None) if rises && rate <= FORECAST_MAX_PER_S => Held::Yes,
                (Next::Confirm(_), _, _) if search.may_hold_in_vain() => Held::Yes,
                _ => Held::No,
            })
        };
        let last_but_one = (2.0 * RATE_MIN_PER_S).next_down();
        let ways =
            [longest(true, last_but_one), longest(false, last_but_one), longest(false, RATE_MIN_PER_S)];
        let most = |of: fn(&Steps) -> u32| ways.iter().map(of).max().unwrap_or(0);
        Steps {
            probes: most(|steps| steps.probes),
            confirmations: most(|steps| steps.confirmations),
            long: most(|steps| steps.long),
        }
    }

    /// Whether one more confirming step can be held and the rate still be given up.
    fn may_hold_in_vain(&self) -> bool {
        let (held, failed) =
            self.confirming.map_or((0, 0), |confirming| (confirming.held, confirming.failed));
        // A long step can fail after all of them: the rate takes most steps if as many as may fail have failed before.
        let may_fail = self.rules.confirmations_of.saturating_sub(self.rules.confirmations);
        held + 1 < self.rules.confirmations || (self.rules.long && failed >= may_fail)
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
                Next::Long(_) => steps.long += 1,
                Next::Done => return steps,
            }
            let how = held(next, &search);
            search.take(how, None);
        }
    }
}

fn rate(next: Next) -> f64 {
    match next {
        Next::Probe(rate) | Next::Confirm(rate) | Next::Long(rate) => rate,
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
