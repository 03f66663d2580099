//! Doubts about the load generator: whether it, and not the target, set the figure.

use record::Loop;

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::format;
use crate::model::{Report, Trial};

/// More than this share of the calibrated rate and the generator may have been in the way.
const CALIBRATED_SHARE_MAX: f64 = 0.5;

pub(super) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let mut verdicts: Vec<Verdict> =
        [busy_thread(trials), near_calibration(trials), unsent(trials)].into_iter().flatten().collect();
    verdicts.extend(trials.iter().filter_map(sent_late));
    verdicts
}

/// A trial whose generator is not itself what is measured.
fn loads(trial: &Trial) -> bool {
    trial.disk().is_none_or(|disk| disk.engine != "null" && disk.engine != "simulated")
}

fn is_open(trial: &Trial) -> bool {
    trial.disk().is_some_and(|disk| matches!(disk.pacing, Loop::Open { .. }))
}

fn busy_thread(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.busiest_share?;
        let limited = !stats::client_limited(None, None, share, false).is_empty();
        (limited && loads(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "generator_cpu", trials, share).verdict(format::per_cent, |share| {
        format!(
            "the busiest load thread used {share} of a core: the CPU of the load thread, not the disk, may have set \
             this figure; take it as a lower bound and add threads"
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
    let unsent = |trial: &Trial| (trial.unsent > 0).then_some(trial.unsent as f64);
    let print = |count: f64| format::grouped(count as u64);
    Doubt::with_figure(Level::Warning, "unsent", trials, unsent).verdict(print, |count| {
        format!(
            "{count} operations were due and not sent when the window ended: the offered rate was not held; offer less \
             to see what is held"
        )
    })
}

/// An open loop that sent late measured itself; each sign has its own sentence.
fn sent_late(trial: &Trial) -> Option<Verdict> {
    let figures = trial.main().filter(|_| is_open(trial) && loads(trial))?;
    let lag_p99_us = figures.lag.and_then(|lag| lag.p99_us);
    let signs = stats::client_limited(lag_p99_us, figures.latency.p50_us, 0.0, false);
    let sign = signs.first()?;
    Some(Verdict {
        trials: vec![trial.number],
        ..Verdict::new(
            Level::Warning,
            "sent_late",
            format!("{}: {sign}; raise the outstanding I/Os or the threads, or offer less", trial.name),
        )
    })
}
