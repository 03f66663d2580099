//! Servers that write what is offered to them, with a buffer before them: as much a second as they are made to.

use std::f64::consts::TAU;

use rand_distr::{Distribution, Exp1, Uniform};
use stats::{Step, Written};

use crate::noise::normal;
use crate::sets::Random;

/// Records a second that a server writes when nothing is in its way.
pub(crate) const PEAK_PER_S: f64 = 5_000.0;
/// What flows is reckoned in pieces of this length.
const TICK_S: f64 = 0.1;
const TICKS_A_SECOND: usize = 10;
/// Rest after a step.
const REST_S: f64 = 5.0;
/// Records that wait are nearly none if they are offered in this time.
const NEARLY_NOTHING_S: f64 = 0.1;
const DAY_S: f64 = 86_400.0;
/// Rows from which a table that grows is slower.
const SMALL_TABLE: f64 = 1e5;

/// What is in a server's way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    /// Nothing.
    Constant,
    /// Each second is faster or slower, and like the one before by `rho`.
    Noise { deviation: f64, rho: f64 },
    /// It writes nothing for `length_s`, about every `every_s`: half to one and a half of that apart, or at random.
    Stalls { length_s: f64, every_s: f64, random: bool },
    /// For the first `length_s` of every `every_s` it is slower.
    Cycle { length_s: f64, every_s: f64, speed: f64 },
    /// It is fast and slow by turns, each for a random time of this mean.
    Turns { fast_s: f64, slow_s: f64, speed: f64 },
    /// A step in so many is slow as a whole: a bad plan, memory of another socket.
    SlowSteps { share: f64, speed: f64 },
    /// It is slower by up to `depth` in the course of a day.
    Day { depth: f64 },
    /// It writes half of its peak for ever, and all of it as long as credits last: `length_s` from a full account, which what is
    /// not written fills.
    Credits { length_s: f64 },
    /// It is slower the more rows the table has: each e-fold by `slower` of the time that a record takes. The table is emptied before
    /// each step, or kept.
    Growth { slower: f64, kept: bool },
}

impl Ways {
    /// What it writes on average and for ever, records a second; of a table that grows an empty one.
    pub(crate) fn capacity_per_s(self) -> f64 {
        PEAK_PER_S
            * match self {
                Self::Constant | Self::Noise { .. } | Self::Growth { .. } | Self::SlowSteps { .. } => 1.0,
                Self::Stalls { length_s, every_s, .. } => 1.0 - length_s / every_s,
                Self::Cycle { length_s, every_s, speed } => 1.0 - length_s / every_s * (1.0 - speed),
                Self::Turns { fast_s, slow_s, speed } => 1.0 - slow_s / (fast_s + slow_s) * (1.0 - speed),
                Self::Day { depth } => 1.0 - depth / 2.0,
                Self::Credits { .. } => 0.5,
            }
    }

    fn period_s(self) -> f64 {
        match self {
            Self::Stalls { every_s, .. } | Self::Cycle { every_s, .. } => every_s,
            Self::Day { .. } => DAY_S,
            _ => 1.0,
        }
    }

    /// Records of a full account.
    fn credits(self) -> f64 {
        match self {
            Self::Credits { length_s } => length_s * (PEAK_PER_S - self.capacity_per_s()),
            _ => 0.0,
        }
    }
}

/// A server in its time, which goes on from step to step.
pub(crate) struct Server<'a> {
    ways: Ways,
    random: &'a mut Random,
    tick: usize,
    /// Share of the peak: in this second, this turn, this step.
    speed: f64,
    last: f64,
    next_s: f64,
    stalled_until_s: f64,
    credits: f64,
    rows: f64,
}

impl<'a> Server<'a> {
    pub(crate) fn new(ways: Ways, random: &'a mut Random) -> Self {
        let begin_s = ways.period_s() * unit(random);
        let last = normal(random);
        let tick = match ways {
            Ways::Cycle { .. } | Ways::Day { .. } => (begin_s / TICK_S) as usize,
            _ => 0,
        };
        let next_s = if matches!(ways, Ways::Stalls { .. }) { begin_s } else { 0.0 };
        let credits = ways.credits();
        Self { ways, random, tick, speed: 1.0, last, next_s, stalled_until_s: 0.0, credits, rows: 0.0 }
    }

    /// Records that it can write in the next tick.
    fn write(&mut self) -> f64 {
        self.tick += 1;
        let now_s = self.tick as f64 * TICK_S;
        let speed = match self.ways {
            Ways::Constant => 1.0,
            Ways::Noise { deviation, rho } => self.noisy(deviation, rho),
            Ways::Stalls { length_s, every_s, random } => self.stalling(now_s, length_s, every_s, random),
            Ways::Cycle { length_s, every_s, speed } if now_s % every_s < length_s => speed,
            Ways::Cycle { .. } => 1.0,
            Ways::Turns { fast_s, slow_s, speed } => {
                if now_s >= self.next_s {
                    let share: f64 = Exp1.sample(self.random);
                    let was_fast = self.speed >= 1.0;
                    self.speed = if was_fast { speed } else { 1.0 };
                    self.next_s = now_s + share * if was_fast { slow_s } else { fast_s };
                }
                self.speed
            }
            Ways::SlowSteps { .. } => self.speed,
            Ways::Day { depth } => 1.0 - depth / 2.0 * (1.0 - (TAU * now_s / DAY_S).cos()),
            Ways::Credits { .. } => {
                self.credits = (self.credits + self.ways.capacity_per_s() * TICK_S).min(self.ways.credits());
                (self.credits / (PEAK_PER_S * TICK_S)).min(1.0)
            }
            Ways::Growth { slower, .. } => 1.0 / (1.0 + slower * (self.rows / SMALL_TABLE).ln_1p()),
        };
        speed * PEAK_PER_S * TICK_S
    }

    fn noisy(&mut self, deviation: f64, rho: f64) -> f64 {
        if self.tick % TICKS_A_SECOND == 1 {
            self.last = rho * self.last + (1.0 - rho * rho).sqrt() * normal(self.random);
            self.speed = (1.0 + deviation * self.last).max(0.05);
        }
        self.speed
    }

    fn stalling(&mut self, now_s: f64, length_s: f64, every_s: f64, random: bool) -> f64 {
        if now_s >= self.next_s {
            self.stalled_until_s = now_s + length_s;
            let apart: f64 = Exp1.sample(self.random);
            let apart_s = match random {
                true => length_s + apart * (every_s - length_s),
                false => every_s * (0.5 + unit(self.random)),
            };
            self.next_s = now_s + apart_s;
        }
        if now_s < self.stalled_until_s { 0.0 } else { 1.0 }
    }

    /// Takes what was written in a tick.
    fn wrote(&mut self, records: f64) {
        self.credits -= records;
        self.rows += records;
    }

    fn begin_step(&mut self) {
        match self.ways {
            Ways::SlowSteps { share, speed } => {
                self.speed = if unit(self.random) < share { speed } else { 1.0 };
            }
            Ways::Growth { kept: false, .. } => self.rows = 0.0,
            _ => {}
        }
    }

    /// A step at a rate, with a warm-up and a window of so many seconds, before a buffer of so many records.
    pub(crate) fn step(
        &mut self,
        rate_per_s: f64,
        (warm_up_s, window_s): (usize, usize),
        buffer: f64,
    ) -> Ran {
        self.begin_step();
        let mut pending = 0.0f64;
        let mut refused = 0.0;
        let (mut means, mut lowest, mut ends, mut written) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for second in 1..=warm_up_s + window_s {
            let of = self.second(rate_per_s, &mut pending, buffer);
            if second > warm_up_s {
                ends.push(second as f64);
                means.push(of.pending);
                lowest.push(of.least);
                refused += of.refused;
                written.push(Written {
                    length_s: 1.0,
                    records: of.written,
                    all_it_could: of.least > NEARLY_NOTHING_S * rate_per_s,
                });
            }
        }
        let offered = rate_per_s * window_s as f64;
        let (carried, drain_limit_s) = (pending, (0.1 * (warm_up_s + window_s) as f64).max(10.0));
        let drain_s = self.drain(pending);
        let step = Step {
            end_s: ends,
            pending: means,
            pending_min: lowest,
            cycle_s: window_s as f64,
            offered: offered as u64,
            committed: written.iter().map(|second| second.records).sum::<f64>() as u64,
            refused: refused as u64,
            buffer: buffer as u64,
            carried: carried as u64,
            flush_slack: 40,
            flush_cycle_s: 0.0,
            measured_s: window_s as f64,
            drain_s: Some(drain_s),
            drain_limit_s,
            rows_expected: 0,
            rows_found: Some(0),
            p99_ms: None,
            p99_limit_ms: None,
        };
        Ran { step, written, took_s: (warm_up_s + window_s) as f64 + drain_s + REST_S }
    }

    /// A second of a step.
    fn second(&mut self, rate_per_s: f64, pending: &mut f64, buffer: f64) -> Second {
        let mut of = Second { pending: 0.0, least: f64::INFINITY, written: 0.0, refused: 0.0 };
        for _ in 0..TICKS_A_SECOND {
            let can = self.write();
            let due = rate_per_s * TICK_S;
            let accepted = due.min((buffer - *pending).max(0.0) + can);
            let written = can.min(*pending + accepted);
            self.wrote(written);
            *pending += accepted - written;
            of.pending += *pending / TICKS_A_SECOND as f64;
            of.least = of.least.min(*pending);
            of.written += written;
            of.refused += due - accepted;
        }
        of
    }

    /// Time in which what is pending drains, in seconds; a rest follows.
    fn drain(&mut self, mut pending: f64) -> f64 {
        let mut drain_s = 0.0;
        while pending > 0.0 {
            let written = self.write().min(pending);
            self.wrote(written);
            pending -= written;
            drain_s += TICK_S;
        }
        for _ in 0..(REST_S / TICK_S) as usize {
            self.write();
        }
        // The next step begins with a second.
        while !self.tick.is_multiple_of(TICKS_A_SECOND) {
            self.write();
        }
        drain_s
    }
}

/// What came of a second: the mean and the fewest records that waited, those written and those refused.
struct Second {
    pending: f64,
    least: f64,
    written: f64,
    refused: f64,
}

/// A step that was run.
pub(crate) struct Ran {
    pub(crate) step: Step,
    /// What was written in each second of the window.
    pub(crate) written: Vec<Written>,
    /// In all, with draining and the rest after it.
    pub(crate) took_s: f64,
}

/// A number from 0 to 1.
pub(crate) fn unit(random: &mut Random) -> f64 {
    Uniform::new(0.0, 1.0).map_or(0.5, |uniform| uniform.sample(random))
}
