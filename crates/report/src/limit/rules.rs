//! From what was observed to what limited: a pure function. Thresholds are choices, tried by `cargo xtask bench diagnosis`
//! (docs/diagnosis.md).

use record::beside;

use super::cause::Cause;
use super::observed::Observed;
use crate::budget::{Class, Held};
use crate::verdict::generator::OTHERS_SHARE_MAX;

/// Share of the time of sessions from which on what they waited for may be what limits.
pub(crate) const WAIT_SHARE: f64 = 0.3;
/// The same of what they did themselves, or their clients.
pub(crate) const WORK_SHARE: f64 = 0.5;
/// Share of the looks, or of the window, in which something has to go on beside the load.
const BESIDE_SHARE: f64 = 0.5;
/// Share of the requests or bytes of a device that others have to make.
const DEVICE_OTHERS_SHARE: f64 = 0.5;
/// The same where nothing but the device is waited for: without a quarter of it, three quarters take a third more.
pub(crate) const DEVICE_OTHERS_ALONE: f64 = 0.25;
/// Requests in flight of others with which they may be what limits.
const DEVICE_OTHERS_IN_FLIGHT: f64 = 0.1;
/// A read that takes longer comes from a device that is slow, or full of work.
const SLOW_READ_US: f64 = 1_000.0;
/// Reads, as a share of the work on CPUs, from which on much of that work is that of reading: a page that comes in takes room to be made,
/// the call, a sum to be checked. Where a buffer of 8 MiB in place of 512 MiB read 27 pages an order, an order took 4.2 ms of CPU in
/// place of 0.9.
const READS_OF_WORK: f64 = 0.25;
/// Share of its log from which on InnoDB writes data so that it can go on.
const LOG_FULL_SHARE: f64 = 0.75;
/// Share of the time from which on standing still, or threads that wait for a processor, is much of a load generator.
const STARVED_SHARE: f64 = 0.3;

/// What limited, by what sessions did: the cause and the share of their time that speaks for it. The first says why, the second, if
/// there is one, what that took from the load. None where nothing stands out.
pub(crate) fn causes(seen: &Observed) -> Vec<(Cause, f64)> {
    if seen.refused {
        return vec![(Cause::Connections, 1.0)];
    }
    let Some(most) = most(seen) else { return together(seen).into_iter().collect() };
    match behind(seen, most.0) {
        Some(behind) => vec![behind, most],
        None => match read_again(seen, most) {
            Some(memory) => vec![memory, most],
            None => vec![most],
        },
    }
}

/// What several kinds of time come to, where none of them is much alone.
fn together(seen: &Observed) -> Option<(Cause, f64)> {
    let spent = |class: Class| seen.spent.get(&class).copied().unwrap_or(0.0);
    let waited = [Class::Locks, Class::Log, Class::Reads, Class::Writes].into_iter().map(spent).sum::<f64>();
    let upkeep = upkeep(seen).filter(|_| waited >= WAIT_SHARE).map(|share| (Cause::Maintenance, share));
    upkeep.or_else(|| {
        let wants = spent(Class::Cpu) + spent(Class::CpuWait);
        let is_own = waits_for_processors(seen) == Cause::ServerCpu;
        let processors = (Cause::ServerCpu, wants);
        (is_own && wants >= WORK_SHARE).then(|| read_again(seen, processors).unwrap_or(processors))
    })
}

/// What most of the time went to, as far as that is much.
fn most(seen: &Observed) -> Option<(Cause, f64)> {
    let spent = |class: Class| seen.spent.get(&class).copied().unwrap_or(0.0);
    let held = |held: Held| seen.held_back.get(&held).copied().unwrap_or(0.0);
    let candidates = [
        (Cause::ServerCpu, held(Held::Processors), WAIT_SHARE),
        (waits_for_processors(seen), spent(Class::CpuWait), WAIT_SHARE),
        (Cause::ServerCpu, spent(Class::Cpu), WORK_SHARE),
        (Cause::LogFlushes, spent(Class::Log) + held(Held::Log), WAIT_SHARE),
        (reads(seen), spent(Class::Reads) + held(Held::Reads), WAIT_SHARE),
        (Cause::DataWrites, spent(Class::Writes) + held(Held::Writes), WAIT_SHARE),
        (Cause::Locks, spent(Class::Locks), WAIT_SHARE),
        (Cause::Latches, spent(Class::Latches) + spent(Class::Buffers), WAIT_SHARE),
        (Cause::Replicas, spent(Class::Replicas), WAIT_SHARE),
        (client(seen), spent(Class::Client), WORK_SHARE),
        // A load whose own limit has it stand still asks for as much as it may, however long its sessions then wait for the server.
        (Cause::Generator, seen.own_throttled.unwrap_or(0.0).min(1.0), STARVED_SHARE),
        (log_full(seen), spent(Class::Unknown), WAIT_SHARE),
    ];
    // Whoever waits for a lock of somebody else gains nothing from whatever else is scarce.
    let locks = spent(Class::Locks);
    if locks >= WAIT_SHARE && seen.blocker().is_some() {
        return Some((Cause::Locks, locks));
    }
    let much = candidates.into_iter().filter(|(_, share, least)| share >= least);
    let most = much.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most.0 != Cause::Device).then_some((most.0, most.1))
}

/// Sessions that could run and did not.
fn waits_for_processors(seen: &Observed) -> Cause {
    match seen.others.is_some_and(|share| share >= OTHERS_SHARE_MAX) {
        true => Cause::NeighbourCpu,
        false => Cause::ServerCpu,
    }
}

/// A fast device that no limit holds back is asked for what memory does not hold.
fn reads(seen: &Observed) -> Cause {
    let is_limited = seen.held_back.contains_key(&Held::Reads);
    let is_slow = seen.read_latency_us.is_none_or(|us| us >= SLOW_READ_US);
    if is_limited || is_slow { Cause::Reads } else { Cause::Memory }
}

/// A client that has no processor, or one that has nothing to ask. What its own group holds back is no fault of others.
fn client(seen: &Observed) -> Cause {
    let much = |share: Option<f64>| share.is_some_and(|share| share >= STARVED_SHARE);
    let is_crowded = seen.others.is_some_and(|share| share >= OTHERS_SHARE_MAX);
    match much(seen.own_paused) || much(seen.own_waiting) {
        _ if much(seen.own_throttled) => Cause::Generator,
        true if is_crowded => Cause::NeighbourCpu,
        true => Cause::Generator,
        false => Cause::Clients,
    }
}

/// What a server does not name: InnoDB lets sessions wait while it makes room in its log. Else nothing is said.
fn log_full(seen: &Observed) -> Cause {
    if is_log_full(seen) { Cause::Checkpoints } else { Cause::Device }
}

fn is_log_full(seen: &Observed) -> bool {
    let gauge = |name: &str| seen.gauges.get(name).copied();
    let age = gauge("innodb_checkpoint_age").zip(gauge("innodb_checkpoint_max_age"));
    age.is_some_and(|(age, most)| most > 0.0 && age / most >= LOG_FULL_SHARE)
}

/// What went on beside the load and took what sessions waited for.
fn behind(seen: &Observed, most: Cause) -> Option<(Cause, f64)> {
    let takes = most.is_storage() || matches!(most, Cause::ServerCpu | Cause::DataWrites);
    let is_of_load = most == Cause::Locks && seen.blocker().is_none();
    let upkeep = upkeep(seen).filter(|_| takes || is_of_load).map(|share| (Cause::Maintenance, share));
    let is_written = matches!(most, Cause::LogFlushes | Cause::DataWrites);
    let checkpoint =
        beside(seen, beside::CHECKPOINT).filter(|_| is_written).map(|share| (Cause::Checkpoints, share));
    let full = (is_written && is_log_full(seen)).then_some((Cause::Checkpoints, 1.0));
    // Its own limit holds a server back whoever else uses the device.
    let is_held = seen.held_back.keys().any(|held| *held != Held::Processors);
    let others = device_others(seen, DEVICE_OTHERS_SHARE).filter(|_| !is_held);
    let others = others.filter(|_| most.is_storage()).map(|share| (Cause::NeighbourDisk, share));
    upkeep.or(checkpoint).or(full).or(others)
}

/// The share of others of the device, from the least on, where they have requests in flight.
pub(crate) fn device_others(seen: &Observed, least: f64) -> Option<f64> {
    let is_in_flight = seen.device_others_in_flight.is_none_or(|mean| mean >= DEVICE_OTHERS_IN_FLIGHT);
    seen.device_others.filter(|&share| share >= least && is_in_flight)
}

/// What went on beside the load for half of the looks.
fn beside(seen: &Observed, what: &str) -> Option<f64> {
    seen.beside.get(what).copied().filter(|&share| share >= BESIDE_SHARE)
}

/// Vacuum, purge or shrinking that went on for half of the time.
fn upkeep(seen: &Observed) -> Option<f64> {
    beside(seen, beside::VACUUM).or(seen.marked.filter(|&share| share >= BESIDE_SHARE))
}

/// A server that works on its CPUs because it reads what memory does not hold.
fn read_again(seen: &Observed, (most, work): (Cause, f64)) -> Option<(Cause, f64)> {
    let read = seen.spent.get(&Class::Reads).copied().unwrap_or(0.0);
    let is_work = most == Cause::ServerCpu && work >= WORK_SHARE && seen.held_back.is_empty();
    (is_work && read >= work * READS_OF_WORK && reads(seen) == Cause::Memory).then_some((Cause::Memory, read))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
