//! Doubts about the load generator: whether it, and not the target, set the figure. A historian collects and buffers
//! instead of sending I/Os, an order store's clients wait for several answers, and the server of either may work on the same
//! machine: they have sentences of their own.

use record::{Loop, Setup, State};

use super::doubt::Doubt;
use super::{Level, Verdict, rate};
use crate::format;
use crate::rate::OfferedRate;
use crate::report::Report;
use crate::trial::Trial;
use record::Workload;

/// More than this share of the calibrated rate and the generator may have been in the way.
const CALIBRATED_SHARE_MAX: f64 = 0.5;

/// Share of the due operations that may be unsent at the end of a window: a rate is held from 99.5 % on.
const UNSENT_SHARE_MAX: f64 = 0.005;

/// Share of all cores from which load threads together are short of time.
const GENERATOR_SHARE_MAX: f64 = 0.80;

/// Share of all cores that others may use while a trial runs.
const OTHERS_SHARE_MAX: f64 = 0.25;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let mut verdicts: Vec<Verdict> =
        [busy_thread(trials), busy_threads(trials), near_calibration(trials), unsent(trials), others(trials)]
            .into_iter()
            .flatten()
            .collect();
    verdicts.extend(trials.iter().filter_map(sent_late));
    verdicts.extend(
        [busy_collector(trials), near_collecting(trials), busy_clients(trials), rate::paused(trials)]
            .into_iter()
            .flatten(),
    );
    verdicts
}

/// A disk trial whose generator is not itself what is measured.
fn loads(trial: &Trial) -> bool {
    trial.is(Workload::Disk)
        && trial.disk().is_none_or(|disk| disk.engine != "null" && disk.engine != "simulated")
}

fn is_open(trial: &Trial) -> bool {
    trial.setup.as_ref().map(Setup::pacing).is_some_and(|pacing| matches!(pacing, Loop::Open { .. }))
}

fn busy_thread(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.busiest_share?;
        let limited = stats::thread_busy(share).is_some();
        (limited && loads(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "generator_cpu", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the busiest load thread used {share} of a core: the CPU of the load thread, not the disk, may have set \
             this figure; take it as a lower bound and add threads"
        )
    })
}

/// Many threads may each use little of a core and all cores together.
fn busy_threads(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.all_cores_share?;
        (share > GENERATOR_SHARE_MAX && loads(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "generator_cpu_all", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the load threads used {share} of all cores: the CPU, not the disk, may have set this figure; take it as a \
             lower bound"
        )
    })
}

/// Load that is not ours takes CPU, and often the disk as well.
fn others(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.machine.busy_share? - trial.generator.all_cores_share?;
        (share > OTHERS_SHARE_MAX && loads(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "other_load", trials, share).verdict(format::per_cent, |share| {
        format!(
            "{share} of all cores were busy with other work than the load threads (other programs, or interrupts); \
             measure on an idle machine to be sure"
        )
    })
}

fn near_calibration(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.main()?.per_s? / trial.generator.calibrated_per_s?;
        (share > CALIBRATED_SHARE_MAX && loads(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "generator_rate", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the rate is {share} of what the load generator reaches without a device, and no more than half of it can \
             be trusted; take it as a lower bound and add threads"
        )
    })
}

fn unsent(trials: &[Trial]) -> Option<Verdict> {
    // An invalid trial has said why already, and one whose rate could be judged says whether it was held.
    let unsent = |trial: &Trial| {
        let due = trial.main()?.operations + trial.unsent;
        let missed = trial.unsent as f64 / due as f64 > UNSENT_SHARE_MAX;
        let judged = trial.offered_rate.is_some();
        (missed && !judged && !trial.is(Workload::Historian) && trial.state != State::Invalid)
            .then_some(trial.unsent as f64)
    };
    let print = |count: f64| format::grouped(count as u64);
    Doubt::with_figure(Level::Warning, "unsent", trials, unsent).verdict(print, |count| {
        format!(
            "{count} operations were due and not sent when the window ended: the offered rate was not held; offer less \
             to see what is held"
        )
    })
}

/// A historian that was measured; an invalid one has said why already.
fn collects(trial: &Trial) -> bool {
    trial.historian.is_some() && trial.state != State::Invalid
}

fn busy_collector(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.busiest_share?;
        let limited = stats::thread_busy(share).is_some();
        (limited && collects(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "historian_cpu", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the busiest thread of the historian used {share} of a core: its CPU, not the database, may have set this \
             figure; take it as a lower bound, and add writers"
        )
    })
}

fn near_collecting(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.main()?.per_s? / trial.generator.calibrated_per_s?;
        (share > CALIBRATED_SHARE_MAX && collects(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "historian_rate", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the rate is {share} of what collecting and buffering reach without a database, and no more than half of \
             that can be trusted; take it as a lower bound"
        )
    })
}

/// Clients of an order store; an invalid trial has said why already.
fn busy_clients(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.busiest_share?;
        let limited = stats::thread_busy(share).is_some();
        (limited && trial.orders.is_some() && trial.state != State::Invalid).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "orders_cpu", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the busiest load thread used {share} of a core: the CPU of the clients, not the database, may have set this figure; \
             take it as a lower bound, and give the load more threads or a machine of its own"
        )
    })
}

/// An open loop that sent late measured itself; each sign has its own sentence.
fn sent_late(trial: &Trial) -> Option<Verdict> {
    let remedy = match trial.workload {
        Workload::Disk => "raise the outstanding I/Os or the threads, or offer less",
        Workload::Orders => "add clients, or offer less",
        Workload::Historian => return None,
    };
    let measures = loads(trial) || trial.is(Workload::Orders);
    // An invalid trial has said so as its reason.
    // So has one whose rate was not held.
    let told = trial.state == State::Invalid || trial.offered_rate.is_some_and(|rate| !rate.held);
    let figures = trial.main().filter(|_| is_open(trial) && measures && !told)?;
    let lag_p99_us = figures.lag.and_then(|lag| lag.p99_us);
    let sign = stats::sent_late(lag_p99_us?, figures.latency.p50_us)?;
    let waited = trial.offered_rate.filter(OfferedRate::was_behind);
    let waited = waited.and_then(|rate| Some((rate.waited_share?, rate.slots))).map(|(share, slots)| {
        let share = format::per_cent(share);
        format!(
            "; {share} of them fell due while all {} outstanding were in use, and waited for the device",
            format::grouped(slots)
        )
    });
    let waited = waited.unwrap_or_default();
    Some(Verdict {
        trials: vec![trial.number],
        ..Verdict::new(Level::Warning, "sent_late", format!("{}: {sign}{waited}; {remedy}", trial.name))
    })
}
