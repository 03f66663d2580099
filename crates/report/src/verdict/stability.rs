//! Doubts about whether the figure would come again: noise, stalls, drift, and a hypervisor that takes time away.

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::format;
use crate::report::Report;
use crate::stability::{AfterWarmUp, Settled};
use crate::trial::Trial;
use stats::Gap;

/// Scatter of the per-second rates above which a trial is called noisy.
const VARIATION_MAX: f64 = 0.10;

/// Share of the CPU time that others may take before it is said.
pub(crate) const STEAL_SHARE_MAX: f64 = 0.05;

/// Share of the mean that a trend over the run may have.
const TREND_MAX: f64 = 0.05;

/// What the rule of SNIA's PTS allows the fifths of a window, as shares of their mean.
const RANGE_MAX: f64 = 0.20;
const LINE_MAX: f64 = 0.10;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let verdicts = [
        noisy(trials),
        stalled(trials),
        drifting(trials),
        moving(trials),
        trending_after_warm_up(trials),
        moving_after_warm_up(trials),
        never_settled(trials),
        warming(trials),
        short(trials),
        stolen(trials),
    ];
    verdicts.into_iter().flatten().collect()
}

fn noisy(trials: &[Trial]) -> Option<Verdict> {
    let scatter = |trial: &Trial| {
        let most = VARIATION_MAX.max(trial.shown().by_chance(trial)?.scatter);
        trial.stability.coefficient_of_variation.filter(|&cv| cv > most)
    };
    Doubt::with_figure(Level::Warning, "noisy", trials, scatter)
        .verdict(format::per_cent, |share| format!("throughput varied by {share} from second to second"))
        .map(|verdict| {
            let limit = format!("coefficient of variation, limit {}", format::per_cent(VARIATION_MAX));
            verdict.with_limit(limit).with_action("measure longer, repeat, and look for background load")
        })
}

/// A time without an answer that is longer than chance makes, and no outage, which is told as such.
fn gap(trial: &Trial) -> Option<Gap> {
    let gap = trial.longest_gap?;
    let by_chance = stats::gap_by_chance(trial.shown().answers_per_s(trial)?, trial.measured_s);
    let paused_s = trial.generator.pause_longest_ms.unwrap_or(0.0) / 1e3;
    let is_told = !trial.shown().outages(trial).is_empty() || paused_s > gap.length_s / 2.0;
    (gap.length_s > by_chance && !is_told).then_some(gap)
}

fn stalled(trials: &[Trial]) -> Option<Verdict> {
    let mut found = trials.iter().filter_map(gap);
    let at = match (found.next(), found.next()) {
        (Some(only), None) => format!(" at {}", format::clock(only.at_s)),
        _ => String::new(),
    };
    let length = |trial: &Trial| gap(trial).map(|gap| gap.length_s);
    let print = |seconds: f64| format!("{seconds:.1} s");
    Doubt::with_figure(Level::Warning, "stalled", trials, length)
        .verdict(print, |length| format!("no answer for {length}{at}"))
        .map(|verdict| {
            let effect = "the mean includes this stall, and no interval predicts the next one";
            verdict.with_effect(effect).with_action(
                "look for flushes, checkpoints and background load, and measure over several of them",
            )
        })
}

/// What rises or falls over the run: more than may matter, and more than chance makes; or more than SNIA's PTS allows.
fn drift(trial: &Trial) -> Option<f64> {
    let chance = trial.shown().by_chance(trial)?;
    let trend = trial.stability.trend?;
    let fifths = trial.stability.fifths.filter(|_| settled(trial).is_none());
    let fails = fifths.is_some_and(|fifths| fifths.slope_share > LINE_MAX.max(chance.line));
    let is_large = trend.share.abs() > TREND_MAX.max(chance.line);
    ((trend.is_shown && is_large) || fails).then_some(trend.share)
}

/// `from 2,900 to 700 IOPS`: a share of the mean may be more than all of it.
fn from_to(trial: &Trial) -> Option<String> {
    let unit = trial.shown().words().unit;
    let [first, last] = trial.stability.first_and_last_per_s?.map(|per_s| unit.of(per_s));
    Some(format!("from {} to {} {}", format::figure(first), format::figure(last), unit.short))
}

fn drifting(trials: &[Trial]) -> Option<Verdict> {
    let verdict =
        Doubt::with_figure(Level::Warning, "drift", trials, drift).verdict(format::per_cent, |_| {
            let first = trials.iter().find(|trial| drift(trial).is_some()).and_then(from_to);
            let drifted = trials.iter().filter(|trial| drift(trial).is_some()).count();
            let example = match (first, drifted) {
                (Some(first), 1) => format!(": {first}"),
                (Some(first), _) => format!(", in the first of these trials {first}"),
                (None, _) => String::new(),
            };
            format!(
                "throughput drifted{example} (first and last fifth; limit {} of the mean, SNIA PTS {})",
                format::per_cent(TREND_MAX),
                format::per_cent(LINE_MAX)
            )
        })?;
    let told = |trial: &Trial| Some((trial.number, from_to(trial).filter(|_| drift(trial).is_some())?));
    let raised = trials.iter().filter_map(told).collect();
    let verdict = verdict.with_effect("the mean describes no part of the trial");
    Some(Verdict { raised, ..verdict.with_action("warm up longer, and measure longer") })
}

fn moving(trials: &[Trial]) -> Option<Verdict> {
    let range = |trial: &Trial| {
        let most = RANGE_MAX.max(trial.shown().by_chance(trial)?.range);
        // Judged once its warm-up was cut.
        let fifths = trial.stability.fifths.filter(|_| settled(trial).is_none() && drift(trial).is_none())?;
        (fifths.range_share > most).then_some(fifths.range_share)
    };
    Doubt::with_figure(Level::Warning, "not_steady", trials, range)
        .verdict(format::per_cent, |share| {
            format!("the means of five equal parts of the window differ by {share} of the mean throughput")
        })
        .map(|verdict| {
            verdict.with_limit("SNIA PTS limit 20%").with_action("warm up longer, and measure longer")
        })
}

/// A database's trial of minutes, whose warm-up is cut before it is judged; none where its fifths may differ by chance.
fn settled(trial: &Trial) -> Option<Settled> {
    let chance = trial.shown().by_chance(trial)?;
    trial.stability.settled.filter(|_| chance.range <= RANGE_MAX && chance.line <= LINE_MAX)
}

/// What a trial that never became steady did once its warm-up was cut; none where more than half would have to be cut.
fn unsettled(trial: &Trial) -> Option<AfterWarmUp> {
    settled(trial).filter(|settled| !settled.steady)?.rest
}

fn trending_after_warm_up(trials: &[Trial]) -> Option<Verdict> {
    let slope =
        |trial: &Trial| unsettled(trial).map(|rest| rest.slope_share).filter(|&share| share > LINE_MAX);
    Doubt::with_figure(Level::Warning, "no_steady_state", trials, slope).verdict(format::per_cent, |share| {
        format!(
            "after the warm-up that MSER-5 cuts, throughput still had a trend of {share} of its mean (SNIA PTS limit {})",
            format::per_cent(LINE_MAX)
        )
    }).map(|verdict| verdict.with_action("warm up longer, and measure longer"))
}

fn moving_after_warm_up(trials: &[Trial]) -> Option<Verdict> {
    let range = |trial: &Trial| {
        let rest = unsettled(trial).filter(|rest| rest.slope_share <= LINE_MAX)?;
        (rest.range_share > RANGE_MAX).then_some(rest.range_share)
    };
    Doubt::with_figure(Level::Warning, "no_steady_state", trials, range).verdict(format::per_cent, |share| {
        format!(
            "after the warm-up that MSER-5 cuts, throughput still moved by {share} of its mean between five equal parts (SNIA PTS limit {})",
            format::per_cent(RANGE_MAX)
        )
    }).map(|verdict| verdict.with_action("warm up longer, and measure longer"))
}

fn never_settled(trials: &[Trial]) -> Option<Verdict> {
    let by_half =
        |trial: &Trial| settled(trial).is_some_and(|settled| !settled.steady && settled.rest.is_none());
    Doubt::plain(Level::Warning, "no_steady_state", trials, by_half)
        .verdict(format::per_cent, |_| "MSER-5 would cut more than half of the trial as warm-up".to_owned())
        .map(|verdict| verdict.with_action("warm up longer, and measure longer"))
}

/// Shares by which a warm-up within the window may change the rate.
const WARM_UP_SHARE_MAX: f64 = 0.03;

fn warming(trials: &[Trial]) -> Option<Verdict> {
    let change = |trial: &Trial| {
        let change = settled(trial)?.change_share?.abs();
        (change > WARM_UP_SHARE_MAX).then_some(change)
    };
    Doubt::with_figure(Level::Warning, "warming", trials, change)
        .verdict(format::per_cent, |share| {
            format!("without the warm-up seconds that MSER-5 cuts, throughput differs by {share}")
        })
        .map(|verdict| verdict.with_action("increase the warm-up"))
}

/// Trials so short that fewer than 90 of 100 intervals hold if their seconds strongly resemble each other. A short trial cannot
/// tell whether they do, so that the correlation it shows decides nothing.
fn short(trials: &[Trial]) -> Option<Verdict> {
    let correlation = |trial: &Trial| {
        let dependence = trial.rate_dependence.filter(|dependence| dependence.holds_less)?;
        let has_width = trial.rate_per_s.is_some_and(|rate| rate.low < rate.high);
        (trial.is_complete() && has_width).then_some(dependence.correlation)
    };
    let verdict = Doubt::with_figure(Level::Note, "dependent_seconds", trials, correlation).verdict(
        |correlation| format!("{correlation:.1}"),
        |correlation| {
            format!(
                "the trial has fewer than {} seconds, with a correlation of {correlation} between neighboring seconds",
                stats::SECONDS_ENOUGH
            )
        },
    );
    verdict.map(|verdict| {
        let effect = "the 95% interval covers the mean in only 8 to 9 of 10 such trials";
        verdict.with_effect(effect).with_action(format!("measure for at least {} s", stats::SECONDS_ENOUGH))
    })
}

fn stolen(trials: &[Trial]) -> Option<Verdict> {
    let steal = |trial: &Trial| trial.machine.steal_share.filter(|&share| share > STEAL_SHARE_MAX);
    Doubt::with_figure(Level::Warning, "steal", trials, steal)
        .verdict(format::per_cent, |share| {
            format!("the hypervisor gave {share} of the CPU time to other guests")
        })
        .map(|verdict| {
            verdict.with_action("repeat when the host is quieter, or treat the figures as a lower bound")
        })
}
