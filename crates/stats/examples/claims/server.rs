//! Servers that write what is offered to them, with a buffer before them: as much a second as they are made to.

use rand_distr::{Distribution, Exp1, Uniform};
use stats::Step;

use crate::noise::normal;
use crate::sets::Random;

/// Records a second that a server writes when nothing is in its way.
pub(crate) const PEAK_PER_S: f64 = 5_000.0;
/// What flows is reckoned in pieces of this length.
const TICK_S: f64 = 0.1;
const TICKS_A_SECOND: usize = 10;
/// Rest after a step.
const REST_S: f64 = 5.0;

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
}

impl Ways {
    /// What it writes on average, records a second.
    pub(crate) fn capacity_per_s(self) -> f64 {
        PEAK_PER_S
            * match self {
                Self::Constant | Self::Noise { .. } => 1.0,
                Self::Stalls { length_s, every_s, .. } => 1.0 - length_s / every_s,
                Self::Cycle { length_s, every_s, speed } => 1.0 - length_s / every_s * (1.0 - speed),
            }
    }
}

/// A server in its time, which goes on from step to step.
pub(crate) struct Server<'a> {
    ways: Ways,
    random: &'a mut Random,
    tick: usize,
    /// Share of the peak in this second.
    speed: f64,
    last: f64,
    next_stall_s: f64,
    stalled_until_s: f64,
}

impl<'a> Server<'a> {
    pub(crate) fn new(ways: Ways, random: &'a mut Random) -> Self {
        let period_s = match ways {
            Ways::Stalls { every_s, .. } | Ways::Cycle { every_s, .. } => every_s,
            Ways::Constant | Ways::Noise { .. } => 1.0,
        };
        let begin_s = period_s * unit(random);
        let last = normal(random);
        let tick = match ways {
            Ways::Cycle { .. } => (begin_s / TICK_S) as usize,
            Ways::Constant | Ways::Noise { .. } | Ways::Stalls { .. } => 0,
        };
        Self { ways, random, tick, speed: 1.0, last, next_stall_s: begin_s, stalled_until_s: 0.0 }
    }

    /// Records that it can write in the next tick.
    fn write(&mut self) -> f64 {
        self.tick += 1;
        let now_s = self.tick as f64 * TICK_S;
        let speed = match self.ways {
            Ways::Constant => 1.0,
            Ways::Noise { deviation, rho } => {
                if self.tick % TICKS_A_SECOND == 1 {
                    self.last = rho * self.last + (1.0 - rho * rho).sqrt() * normal(self.random);
                    self.speed = (1.0 + deviation * self.last).max(0.05);
                }
                self.speed
            }
            Ways::Stalls { length_s, every_s, random } => {
                if now_s >= self.next_stall_s {
                    self.stalled_until_s = now_s + length_s;
                    let apart: f64 = Exp1.sample(self.random);
                    let apart_s = match random {
                        true => length_s + apart * (every_s - length_s),
                        false => every_s * (0.5 + unit(self.random)),
                    };
                    self.next_stall_s = now_s + apart_s;
                }
                if now_s < self.stalled_until_s { 0.0 } else { 1.0 }
            }
            Ways::Cycle { length_s, every_s, speed } if now_s % every_s < length_s => speed,
            Ways::Cycle { .. } => 1.0,
        };
        speed * PEAK_PER_S * TICK_S
    }

    /// A step at a rate, with a warm-up and a window of so many seconds, before a buffer of so many records; and how long it
    /// took in all.
    pub(crate) fn step(
        &mut self,
        rate_per_s: f64,
        (warm_up_s, window_s): (usize, usize),
        buffer: f64,
    ) -> (Step, f64) {
        let mut pending = 0.0f64;
        let (mut offered, mut committed, mut refused) = (0.0, 0.0, 0.0);
        let (mut means, mut lowest, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for second in 1..=warm_up_s + window_s {
            let (mut sum, mut least) = (0.0, f64::INFINITY);
            for _ in 0..TICKS_A_SECOND {
                let can = self.write();
                let due = rate_per_s * TICK_S;
                let accepted = due.min((buffer - pending).max(0.0) + can);
                let written = can.min(pending + accepted);
                pending += accepted - written;
                (sum, least) = (sum + pending, least.min(pending));
                if second > warm_up_s {
                    (offered, committed, refused) =
                        (offered + due, committed + written, refused + due - accepted);
                }
            }
            if second > warm_up_s {
                ends.push(second as f64);
                means.push(sum / TICKS_A_SECOND as f64);
                lowest.push(least);
            }
        }
        let (carried, drain_limit_s) = (pending, (0.1 * (warm_up_s + window_s) as f64).max(10.0));
        let drain_s = self.drain(pending);
        let step = Step {
            end_s: ends,
            pending: means,
            pending_min: lowest,
            cycle_s: window_s as f64,
            offered: offered as u64,
            committed: committed as u64,
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
        (step, (warm_up_s + window_s) as f64 + drain_s + REST_S)
    }

    /// Time in which what is pending drains, in seconds; a rest follows.
    fn drain(&mut self, mut pending: f64) -> f64 {
        let mut drain_s = 0.0;
        while pending > 0.0 {
            pending -= self.write();
            drain_s += TICK_S;
        }
        for _ in 0..(REST_S / TICK_S) as usize {
            self.write();
        }
        drain_s
    }
}

/// A number from 0 to 1.
pub(crate) fn unit(random: &mut Random) -> f64 {
    Uniform::new(0.0, 1.0).map_or(0.5, |uniform| uniform.sample(random))
}
