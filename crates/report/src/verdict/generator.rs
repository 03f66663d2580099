//! Doubts about the load generator: whether it, and not the target, set the figure. What its threads do, and what is to be
//! done where they do too much, each workload says.

use record::{Loop, Setup, State, Workload};

use super::doubt::Doubt;
use super::{Level, Verdict, rate};
use crate::format;
use crate::rate::OfferedRate;
use crate::report::Report;
use crate::trial::Trial;
use crate::workloads::{self, Alone, Limits};

/// Share of all cores that others may use while a trial runs.
pub(crate) const OTHERS_SHARE_MAX: f64 = 0.25;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let of_workloads = |rule: fn(&[Trial], Workload, &Limits) -> Option<Verdict>| {
        workloads::all().filter_map(move |(workload, shown)| rule(trials, workload, shown.limits()))
    };
    let mut verdicts: Vec<Verdict> = of_workloads(busy_thread).collect();
    verdicts.extend(busy_threads(trials));
    verdicts.extend(of_workloads(near_calibration));
    verdicts.extend(of_workloads(disturbed_calibration));
    verdicts.extend([unsent(trials), others(trials)].into_iter().flatten());
    verdicts.extend(trials.iter().filter_map(sent_late));
    verdicts.extend([rate::backlog(trials), rate::paused(trials)].into_iter().flatten());
    verdicts
}

fn is_open(trial: &Trial) -> bool {
    trial.setup.as_ref().map(Setup::pacing).is_some_and(|pacing| matches!(pacing, Loop::Open { .. }))
}

fn busy_thread(trials: &[Trial], workload: Workload, limits: &Limits) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.busiest_share?;
        let limited = stats::thread_busy(share).is_some() && trial.is(workload);
        (limited && trial.shown().is_loaded(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, limits.busy_rule, trials, share)
        .verdict(format::per_cent, |share| format!("{} used {share} of a CPU", limits.thread))
        .map(|verdict| {
            let effect = format!("{}, may have set this figure", limits.instead);
            verdict
                .with_effect(effect)
                .with_action(format!("treat the figure as a lower bound{}", limits.remedy))
        })
}

/// A trial that has the machine to itself.
fn is_alone(trial: &Trial) -> bool {
    trial.shown().limits().is_alone && trial.shown().is_loaded(trial)
}

/// Many threads may each use little of a core and all cores together.
fn busy_threads(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let share = trial.generator.all_cores_share?;
        (stats::cores_busy(share) && is_alone(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, "generator_cpu_all", trials, share)
        .verdict(format::per_cent, |share| format!("the load threads used {share} of all CPUs"))
        .map(|verdict| {
            let effect = "the CPU, not the disk, may have set this figure";
            verdict.with_effect(effect).with_action("treat the figure as a lower bound")
        })
}

/// Load that is neither ours nor that of the servers takes CPU, and often the disk as well.
fn others(trials: &[Trial]) -> Option<Verdict> {
    let share = |trial: &Trial| {
        let is_loaded = trial.shown().is_loaded(trial);
        trial.machine.others_share.filter(|&share| share > OTHERS_SHARE_MAX && is_loaded)
    };
    Doubt::with_figure(Level::Warning, "other_load", trials, share)
        .verdict(format::per_cent, |share| {
            format!("other programs or kernel threads used {share} of all CPUs")
        })
        .map(|verdict| verdict.with_action("repeat on an idle machine"))
}

fn near_calibration(trials: &[Trial], workload: Workload, limits: &Limits) -> Option<Verdict> {
    let Alone { rule, reaches, remedy } = limits.alone.as_ref()?;
    let share = |trial: &Trial| {
        let is_near = |share: &f64| *share > stats::CALIBRATED_SHARE_MAX && *share <= 1.0;
        let share = trial.generator.calibrated_share.filter(is_near)?;
        (trial.is(workload) && trial.shown().is_loaded(trial)).then_some(share)
    };
    Doubt::with_figure(Level::Warning, rule, trials, share)
        .verdict(format::per_cent, |share| {
            format!("the rate is {share} of what {reaches} (at most 50% is reliable)")
        })
        .map(|verdict| verdict.with_action(format!("treat the figure as a lower bound{remedy}")))
}

/// What it did with a target it can do without one: a calibration that gave less was disturbed, and tells nothing.
fn disturbed_calibration(trials: &[Trial], workload: Workload, limits: &Limits) -> Option<Verdict> {
    let reaches = limits.alone.as_ref()?.reaches;
    let alone = |trial: &Trial| {
        let was_passed = trial.generator.calibrated_share.is_some_and(|share| share > 1.0);
        let per_s = trial.generator.calibrated_per_s.filter(|_| was_passed && trial.is(workload))?;
        trial.shown().is_loaded(trial).then_some(per_s)
    };
    let unit = workloads::of(workload).words().unit;
    Doubt::with_figure(Level::Note, "calibration_disturbed", trials, alone).verdict(
        |per_s| unit.text(per_s),
        |reached| {
            format!(
                "in the calibration, prony measured {reached} as what {reaches}. The trial was faster: background load disturbed the calibration"
            )
        },
    )
}

fn unsent(trials: &[Trial]) -> Option<Verdict> {
    // An invalid trial has said why already, and one whose rate could be judged says whether it was held.
    let unsent = |trial: &Trial| {
        let due = trial.main()?.operations + trial.unsent;
        let missed = trial.unsent as f64 / due as f64 > stats::IO_UNSENT_SHARE_MAX;
        let told = trial.offered_rate.is_some() || trial.state == State::Invalid;
        (missed && !told && trial.shown().unsent_share_max().is_some()).then_some(trial.unsent as f64)
    };
    let print = |count: f64| format::grouped(count as u64);
    Doubt::with_figure(Level::Warning, "unsent", trials, unsent).verdict(print, |count| {
        format!(
            "{count} planned operations were not sent by the end of the window, so the offered rate was not sustained"
        )
    }).map(|verdict| verdict.with_action("offer a lower rate"))
}

/// An open loop that sent late measured itself; each sign has its own sentence.
fn sent_late(trial: &Trial) -> Option<Verdict> {
    let remedy = trial.shown().late_remedy(trial)?;
    // An invalid trial has said so as its reason, and so has one whose rate was not held.
    let told = trial.state == State::Invalid || trial.offered_rate.is_some_and(|rate| !rate.held);
    // What was due while nobody was answered, on purpose, could not be sent either.
    let is_silenced = trial.beside.faults.iter().any(|fault| fault.silence.is_some());
    // What fell due while the target had no room for it in the warm-up was sent in the window.
    let told = told || is_silenced || trial.backlog.is_some();
    let figures = trial.main().filter(|_| is_open(trial) && trial.shown().is_loaded(trial) && !told)?;
    let lag_p99_us = figures.lag.and_then(|lag| lag.p99_us);
    let sign = stats::sent_late(lag_p99_us?, figures.latency.p50_us)?;
    let waited = trial.offered_rate.filter(OfferedRate::was_behind);
    let waited = waited.and_then(|rate| Some((rate.waited_share?, rate.slots))).map(|(share, slots)| {
        let share = format::per_cent(share);
        format!(
            ". {share} of them waited for the device, because all {} outstanding I/Os were in use",
            format::grouped(slots)
        )
    });
    let waited = waited.unwrap_or_default();
    let verdict = Verdict::new(Level::Warning, "sent_late", format!("{sign}{waited}")).about(&trial.name);
    Some(Verdict { trials: vec![trial.number], ..verdict.with_action(remedy) })
}
