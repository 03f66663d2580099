//! Doubts about whether the figure would come again: noise, drift, and a hypervisor that takes time away.

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::format;
use crate::model::{Historian, Report, Trial};

/// Scatter of the per-second rates above which a trial is called noisy.
const VARIATION_MAX: f64 = 0.10;

/// Share of the CPU time that others may take before it is said.
const STEAL_SHARE_MAX: f64 = 0.05;

pub(super) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    [noisy(trials), drifting(trials), stolen(trials)].into_iter().flatten().collect()
}

/// A historian at a rate is judged by its pending records: its commits come in lots, and scatter is no fault of theirs.
fn by_rate(trial: &Trial) -> bool {
    !trial.historian.as_ref().is_some_and(Historian::is_open)
}

fn noisy(trials: &[Trial]) -> Option<Verdict> {
    let scatter = |trial: &Trial| {
        trial.stability.coefficient_of_variation.filter(|&cv| cv > VARIATION_MAX && by_rate(trial))
    };
    Doubt::with_figure(Level::Warning, "noisy", trials, scatter).verdict(format::per_cent, |share| {
        format!(
            "noisy: the rates of the single seconds scatter by {share} (coefficient of variation, more than {}); \
             measure longer, repeat, and look for other load on the machine",
            format::per_cent(VARIATION_MAX)
        )
    })
}

fn drifting(trials: &[Trial]) -> Option<Verdict> {
    let range = |trial: &Trial| {
        let fifths = trial.stability.fifths.filter(|fifths| !fifths.steady && by_rate(trial))?;
        Some(fifths.range_share.max(fifths.slope_share))
    };
    Doubt::with_figure(Level::Warning, "not_steady", trials, range).verdict(format::per_cent, |share| {
        format!(
            "not steady: between the five fifths of the window the rate moved by {share} of its mean (the rule of \
             SNIA's PTS allows 20 %, of which 10 % as a trend); warm up and measure longer"
        )
    })
}

fn stolen(trials: &[Trial]) -> Option<Verdict> {
    let steal = |trial: &Trial| trial.machine.steal_share.filter(|&share| share > STEAL_SHARE_MAX);
    Doubt::with_figure(Level::Note, "steal", trials, steal).verdict(format::per_cent, |share| {
        format!(
            "the hypervisor gave {share} of the CPU time to others (steal); repeat when its host is quieter, or take \
             the figures as a lower bound"
        )
    })
}
