//! Doubts about whether the figure would come again: noise, drift, and a hypervisor that takes time away.

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::format;
use crate::report::Report;
use crate::stability::Settled;
use crate::trial::Trial;

/// Scatter of the per-second rates above which a trial is called noisy.
const VARIATION_MAX: f64 = 0.10;

/// Share of the CPU time that others may take before it is said.
const STEAL_SHARE_MAX: f64 = 0.05;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let verdicts = [
        noisy(trials),
        drifting(trials),
        unsettled(trials),
        warming(trials),
        dependent(trials),
        stolen(trials),
    ];
    verdicts.into_iter().flatten().collect()
}

fn fifths_speak(trial: &Trial) -> bool {
    trial.shown().scatter(trial).is_some_and(|scatter| scatter.fifths_speak)
}

fn noisy(trials: &[Trial]) -> Option<Verdict> {
    let scatter = |trial: &Trial| {
        let most = VARIATION_MAX.max(trial.shown().scatter(trial)?.by_chance);
        trial.stability.coefficient_of_variation.filter(|&cv| cv > most)
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
        let fifths = trial
            .stability
            .fifths
            .filter(|fifths| !fifths.steady && fifths_speak(trial))
            // Judged once its warm-up was cut.
            .filter(|_| trial.stability.settled.is_none())?;
        Some(fifths.range_share.max(fifths.slope_share))
    };
    Doubt::with_figure(Level::Warning, "not_steady", trials, range).verdict(format::per_cent, |share| {
        format!(
            "not steady: between the five fifths of the window the rate moved by {share} of its mean (the rule of \
             SNIA's PTS allows 20 %, of which 10 % as a trend); warm up and measure longer"
        )
    })
}

/// A database's trial of minutes, whose warm-up is cut before it is judged.
fn settled(trial: &Trial) -> Option<Settled> {
    trial.stability.settled.filter(|_| fifths_speak(trial))
}

fn unsettled(trials: &[Trial]) -> Option<Verdict> {
    let unsteady = |trial: &Trial| settled(trial).filter(|settled| !settled.steady);
    let of_rest = |trial: &Trial| unsteady(trial)?.range_share;
    let drifting = Doubt::with_figure(Level::Warning, "no_steady_state", trials, of_rest);
    let drifting = drifting.verdict(format::per_cent, |share| {
        format!(
            "no steady state: without the seconds that MSER-5 cuts as warm-up, the rate still moved by {share} of its mean \
             between five equal parts (the rule of SNIA's PTS allows 20 %, of which 10 % as a trend); warm up and measure longer"
        )
    });
    drifting.or_else(|| {
        let by_half = |trial: &Trial| unsteady(trial).is_some_and(|settled| settled.range_share.is_none());
        Doubt::plain(Level::Warning, "no_steady_state", trials, by_half).verdict(format::per_cent, |_| {
            "no steady state: more than half of the run would have to be cut as warm-up (MSER-5); warm up and measure longer"
                .to_owned()
        })
    })
}

/// Shares by which a warm-up within the window may change the rate.
const WARM_UP_SHARE_MAX: f64 = 0.03;

fn warming(trials: &[Trial]) -> Option<Verdict> {
    let change = |trial: &Trial| {
        let change = settled(trial)?.change_share?.abs();
        (change > WARM_UP_SHARE_MAX).then_some(change)
    };
    Doubt::with_figure(Level::Warning, "warming", trials, change).verdict(format::per_cent, |share| {
        format!(
            "still warming up when it was measured: without the seconds that MSER-5 cuts, the rate is {share} another; give \
             it a longer warm-up"
        )
    })
}

/// An interval that is printed although the run was too short for how much its seconds resemble each other.
fn dependent(trials: &[Trial]) -> Option<Verdict> {
    let correlation = |trial: &Trial| {
        let dependence = trial.rate_dependence.filter(|dependence| dependence.holds_less)?;
        trial.is_complete().then_some(dependence.correlation)
    };
    Doubt::with_figure(Level::Note, "dependent_seconds", trials, correlation).verdict(
        |correlation| format!("{correlation:.1}"),
        |correlation| {
            format!(
                "each second resembles the one before (correlation about {correlation}): of runs as short and as correlated \
                 as this, fewer than 90 of 100 have a rate within its 95 % interval; measure for {} s or longer",
                stats::SECONDS_ENOUGH
            )
        },
    )
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
