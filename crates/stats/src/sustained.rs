//! Whether a store holds a rate: its pending records do not grow, and come back to nearly nothing again and again.
//!
//! Six conditions, all of which must be met. Their thresholds are choices that simulated servers bear out: of one that is as
//! fast all the time no false alarm at 80 to 98 % of what it can do, and each excess of 1 % found within five minutes. Of one
//! that stalls or has cycles a step is a matter of chance; docs/statistics.md has the shares. Nothing here cuts off a warm-up or
//! searches a rate.

use crate::held::ACHIEVED_SHARE_MIN;
use crate::theil_sen;

/// Growth of the pending records that is allowed, as a share of the offered rate.
const SLOPE_SHARE_MAX: f64 = 0.005;

/// Pending records that are nearly nothing: what is offered in this time, in seconds.
const LOW_S: f64 = 0.1;

/// Share of the cycles in which pending records must fall so low.
const LOW_CYCLES_SHARE_MIN: f64 = 0.80;

/// Intervals without which there is no growth to speak of.
const INTERVALS_MIN: usize = 3;

/// Flushes without which a window is not judged.
const FLUSHES_MIN: u32 = 2;

/// What was measured of one step. Series are of equal length, one value an interval of the measured window.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// End of each interval in seconds.
    pub end_s: Vec<f64>,
    /// Mean of the pending records in each interval.
    pub pending: Vec<f64>,
    /// Fewest pending records in each interval.
    pub pending_min: Vec<f64>,
    /// Length of a cycle (checkpoint, purge) in seconds: within each of them what is pending must come down.
    pub cycle_s: f64,
    /// Records that were offered.
    pub offered: u64,
    /// Records that were committed, without those that were due before the window.
    pub committed: u64,
    /// Records that were offered and not accepted.
    pub refused: u64,
    /// Records that may be pending before others are refused.
    pub buffer: u64,
    /// Records that were pending when the window ended and were written while it drained: they count as written. A stall shortly
    /// before the end would else be taken for a rate that is not held.
    pub carried: u64,
    /// Records by which `committed` may be off by chance, because they are committed in lots.
    pub flush_slack: u64,
    /// Time in which a flush is filled at this rate, in seconds: pending records rise and fall by a flush in each.
    pub flush_cycle_s: f64,
    /// Length of the window in seconds.
    pub measured_s: f64,
    /// Time in which what was pending drained; none if it did not.
    pub drain_s: Option<f64>,
    /// Time that draining may take.
    pub drain_limit_s: f64,
    /// Acknowledged rows that must be in the database.
    pub rows_expected: u64,
    /// Those that are; none if it could not be asked.
    pub rows_found: Option<u64>,
    /// 99th percentile of the time from event to commit, and its limit, in milliseconds.
    pub p99_ms: Option<f64>,
    /// Its limit, if there is one.
    pub p99_limit_ms: Option<f64>,
}

/// One of the conditions of a stable step that was not met. Its text is a clause for people.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Unstable {
    /// Pending records grew.
    #[error("the backlog grew by {} per second ({} allowed)", above(*slope_per_s), below(*limit_per_s))]
    Growing {
        /// Theil–Sen slope in records a second.
        slope_per_s: f64,
        /// What would be allowed.
        limit_per_s: f64,
    },
    /// Pending records did not fall to nearly nothing often enough.
    #[error("{}", seldom_low(*low, *cycles, *cycle_s))]
    NeverLow {
        /// Cycles in which they did.
        low: usize,
        /// All cycles.
        cycles: usize,
        /// Length of a cycle in seconds.
        cycle_s: f64,
    },
    /// More records came than the buffer could hold.
    #[error(
        "{}% of the offered records were refused: the buffer of {} records was full, and holds {} s of this load",
        above_tenths(*refused_share * 100.0), grouped(*buffer as f64), short(*holds_s)
    )]
    Refused {
        /// Refused over offered, 0–1.
        refused_share: f64,
        /// Records that the buffer holds.
        buffer: u64,
        /// Time in which so many are offered, in seconds.
        holds_s: f64,
    },
    /// Fewer records were committed than offered.
    #[error("only {}% of the offered records were written", tenths_below(*achieved_share * 100.0))]
    Behind {
        /// Committed over offered, 0–1.
        achieved_share: f64,
    },
    /// What was pending at the end did not drain in time.
    #[error("{}", drained(*drain_s, *limit_s))]
    NotDrained {
        /// How long it took; none if it did not drain at all.
        drain_s: Option<f64>,
        /// What is allowed.
        limit_s: f64,
    },
    /// The database does not hold what it acknowledged.
    #[error("{}", rows(*expected, *found))]
    RowsDiffer {
        /// Acknowledged.
        expected: u64,
        /// Found; none if it could not be asked.
        found: Option<u64>,
    },
    /// The 99th percentile passed its limit, or is not known.
    #[error("{}", slow(*p99_ms, *limit_ms))]
    Slow {
        /// Measured.
        p99_ms: Option<f64>,
        /// Limit.
        limit_ms: f64,
    },
    /// Too little was measured to say that pending records do not grow.
    #[error("only {intervals} measured intervals, at least {INTERVALS_MIN} are required")]
    TooShort {
        /// Intervals whose pending records are known.
        intervals: usize,
    },
    /// The window holds too few flushes to judge.
    #[error(
        "the window of {} s has fewer than {FLUSHES_MIN} batches: at this rate a batch takes {} s to fill",
        short(*measured_s), short(*cycle_s)
    )]
    FewFlushes {
        /// Length of the window in seconds.
        measured_s: f64,
        /// Time in which a flush is filled, in seconds.
        cycle_s: f64,
    },
    /// No record was due, so that there was no rate to hold.
    #[error("no records were offered")]
    NothingOffered,
}

/// The conditions of a stable step that were not met; none of them: the step is stable. A step that is too short to
/// be judged is not stable.
#[must_use]
pub fn sustained(step: &Step) -> Vec<Unstable> {
    let offered_per_s = step.offered as f64 / step.measured_s;
    if step.offered == 0 || !(offered_per_s.is_finite() && offered_per_s > 0.0) {
        return vec![Unstable::NothingOffered];
    }
    let is_of_few = step.measured_s < f64::from(FLUSHES_MIN) * step.flush_cycle_s;
    let few = is_of_few
        .then_some(Unstable::FewFlushes { measured_s: step.measured_s, cycle_s: step.flush_cycle_s });
    let pending = match few.map_or_else(|| growth(step, offered_per_s), Err) {
        Err(too_short) => [Some(too_short), None],
        Ok(growing) => [growing, never_low(step, offered_per_s)],
    };
    pending
        .into_iter()
        .chain([behind(step, offered_per_s), not_drained(step), rows_differ(step), too_slow(step)])
        .flatten()
        .collect()
}

/// Whether pending records grew, or that too little is known to say so.
///
/// Within a flush pending records rise by all of its rows. Where that is more than the growth that is allowed over the window,
/// means of seconds tell how far the last flush had come, and not whether records are left behind: then only what is left
/// after whole flushes counts.
fn growth(step: &Step, offered_per_s: f64) -> Result<Option<Unstable>, Unstable> {
    let series = step.end_s.iter().zip(&step.pending).zip(&step.pending_min);
    let intervals =
        series.filter(|((end, mean), min)| end.is_finite() && mean.is_finite() && min.is_finite()).count();
    let flush = offered_per_s * step.flush_cycle_s;
    if intervals >= INTERVALS_MIN && flush > offered_per_s * SLOPE_SHARE_MAX * step.measured_s {
        return Ok(growth_by_flushes(step, offered_per_s));
    }
    let slope = theil_sen(&step.end_s, &step.pending).filter(|_| intervals >= INTERVALS_MIN);
    let slope_per_s = slope.ok_or(Unstable::TooShort { intervals })?;
    let limit_per_s = offered_per_s * SLOPE_SHARE_MAX;
    Ok((slope_per_s > limit_per_s).then_some(Unstable::Growing { slope_per_s, limit_per_s }))
}

/// Whether ever more was left when a flush ended, and not nearly nothing in the end.
fn growth_by_flushes(step: &Step, offered_per_s: f64) -> Option<Unstable> {
    let left = left_by_flushes(step);
    let (end_s, least): (Vec<f64>, Vec<f64>) = left.into_iter().unzip();
    let limit_per_s = offered_per_s * SLOPE_SHARE_MAX;
    let slope_per_s = theil_sen(&end_s, &least).filter(|&slope_per_s| slope_per_s > limit_per_s)?;
    let is_left = least.last().is_some_and(|&last| last > offered_per_s * LOW_S);
    is_left.then_some(Unstable::Growing { slope_per_s, limit_per_s })
}

/// Fewest pending records in stretches that each hold the end of a flush, with the end of each. What is left at the end of the
/// window and is shorter than that belongs to no stretch.
fn left_by_flushes(step: &Step) -> Vec<(f64, f64)> {
    let mut stretches = Vec::new();
    let mut from_s = step.end_s.last().map_or(0.0, |end_s| end_s - step.measured_s);
    let mut least = f64::INFINITY;
    for (&end_s, &pending_min) in step.end_s.iter().zip(&step.pending_min) {
        least = least.min(pending_min);
        if end_s - from_s + 1e-9 >= step.flush_cycle_s && least.is_finite() {
            stretches.push((end_s, least));
            (from_s, least) = (end_s, f64::INFINITY);
        }
    }
    stretches
}

fn never_low(step: &Step, offered_per_s: f64) -> Option<Unstable> {
    let lowest = lowest_of_cycles(step);
    let (cycles, nearly_nothing) = (lowest.len(), offered_per_s * LOW_S);
    let low = lowest.into_iter().filter(|&lowest| lowest <= nearly_nothing).count();
    // 8 of 10 are 80 %, whatever the rounding of 0.8 × 10.
    (((low as f64) + 1e-9) < cycles as f64 * LOW_CYCLES_SHARE_MIN).then_some(Unstable::NeverLow {
        low,
        cycles,
        cycle_s: step.cycle_s.max(step.flush_cycle_s).min(step.measured_s),
    })
}

/// Fewest pending records of each cycle, counted from the begin of the window. An interval belongs to the cycle that
/// its middle lies in; what is left at the end is a cycle of its own from half a cycle on, and else belongs to the
/// one before.
fn lowest_of_cycles(step: &Step) -> Vec<f64> {
    let cycle_s = step.cycle_s.max(step.flush_cycle_s);
    let begin_s = step.end_s.last().map_or(0.0, |end_s| end_s - step.measured_s);
    let cycles = ((step.measured_s / cycle_s).round() as usize).max(1);
    let mut lowest: Vec<(usize, f64)> = Vec::new();
    let mut from_s = begin_s;
    for (&end_s, &pending_min) in step.end_s.iter().zip(&step.pending_min) {
        let middle_s = f64::midpoint(from_s, end_s) - begin_s;
        let cycle = ((middle_s / cycle_s).max(0.0) as usize).min(cycles - 1);
        match lowest.last_mut() {
            Some((last, least)) if *last == cycle => *least = least.min(pending_min),
            _ => lowest.push((cycle, pending_min)),
        }
        from_s = end_s;
    }
    lowest.into_iter().map(|(_, least)| least).collect()
}

fn behind(step: &Step, offered_per_s: f64) -> Option<Unstable> {
    // What was refused is behind for good; no flush that is under way makes up for it.
    let accepted = step.offered.saturating_sub(step.refused);
    let needed = step.offered as f64 * ACHIEVED_SHARE_MIN;
    if (accepted as f64) < needed {
        return Some(Unstable::Refused {
            refused_share: step.refused as f64 / step.offered as f64,
            buffer: step.buffer,
            holds_s: step.buffer as f64 / offered_per_s,
        });
    }
    let written = step.committed.saturating_add(step.carried);
    let enough = written.saturating_add(step.flush_slack).min(accepted) as f64 >= needed;
    let achieved = written.min(accepted);
    (!enough).then(|| Unstable::Behind { achieved_share: achieved as f64 / step.offered as f64 })
}

fn not_drained(step: &Step) -> Option<Unstable> {
    let in_time = step.drain_s.is_some_and(|drain_s| drain_s <= step.drain_limit_s);
    (!in_time).then_some(Unstable::NotDrained { drain_s: step.drain_s, limit_s: step.drain_limit_s })
}

fn rows_differ(step: &Step) -> Option<Unstable> {
    let (expected, found) = (step.rows_expected, step.rows_found);
    (found != Some(expected)).then_some(Unstable::RowsDiffer { expected, found })
}

fn too_slow(step: &Step) -> Option<Unstable> {
    let limit_ms = step.p99_limit_ms?;
    let kept = step.p99_ms.is_some_and(|p99_ms| p99_ms <= limit_ms);
    (!kept).then_some(Unstable::Slow { p99_ms: step.p99_ms, limit_ms })
}

fn seldom_low(low: usize, cycles: usize, cycle_s: f64) -> String {
    let length = short(cycle_s);
    match (low, cycles) {
        (0, 1) => format!("the backlog did not fall to nearly zero within a cycle of {length} s"),
        _ => format!("the backlog fell to nearly zero in only {low} of {cycles} cycles of {length} s"),
    }
}

fn drained(drain_s: Option<f64>, limit_s: f64) -> String {
    match drain_s {
        Some(drain_s) => {
            format!("the backlog took {} s to drain ({} s allowed)", above(drain_s), below(limit_s))
        }
        None => format!("the backlog did not drain within {} s", below(limit_s)),
    }
}

fn rows(expected: u64, found: Option<u64>) -> String {
    let expected_rows = grouped(expected as f64);
    match found {
        Some(found) if found > expected => {
            format!("the database has {} rows, but acknowledged only {expected_rows}", grouped(found as f64))
        }
        Some(found) => {
            format!("the database has only {} of {expected_rows} acknowledged rows", grouped(found as f64))
        }
        None => format!("the {expected_rows} acknowledged rows could not be counted in the database"),
    }
}

fn slow(p99_ms: Option<f64>, limit_ms: f64) -> String {
    match p99_ms {
        Some(p99_ms) => {
            format!("p99 from event to commit was {} ms ({} ms allowed)", above(p99_ms), below(limit_ms))
        }
        None => format!("p99 from event to commit is unknown ({} ms allowed)", below(limit_ms)),
    }
}

/// What passed a limit, rounded up: whole numbers from 10 on, else tenths. A limit is rounded down, so that the two
/// never look alike.
fn above(value: f64) -> String {
    if value >= 10.0 { grouped((value - ROUNDING * value).ceil()) } else { tenths(value, f64::ceil) }
}

/// A limit, rounded down.
fn below(value: f64) -> String {
    if value >= 10.0 { grouped((value + ROUNDING * value).floor()) } else { tenths(value, f64::floor) }
}

/// What passed a limit, in tenths, rounded up.
fn above_tenths(value: f64) -> String {
    tenths(value, f64::ceil)
}

/// A time to the tenth below ten seconds, else to the second; hundredths of what has no tenth.
fn short(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 9.95 => grouped(seconds),
        seconds if seconds >= 0.095 => tenths(seconds, f64::round),
        seconds => format!("{seconds:.2}"),
    }
}

/// What falls short of a limit, in tenths, rounded down.
fn tenths_below(value: f64) -> String {
    tenths(value, f64::floor)
}

/// A share by which a figure may be off by its own computing.
const ROUNDING: f64 = 1e-9;

fn tenths(value: f64, round: fn(f64) -> f64) -> String {
    let nearest = (value * 10.0).round();
    let off = (value * 10.0 - nearest).abs() <= ROUNDING * nearest.abs().max(1.0);
    format!("{}", if off { nearest } else { round(value * 10.0) } / 10.0)
}

/// A whole number with its thousands apart: `4,990`.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "sustained_tests.rs"]
mod tests;
