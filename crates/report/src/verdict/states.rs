//! Rates that alternate between two states, within a trial or from trial to trial of one configuration. A mean over both is
//! right and describes neither.
//!
//! They are notes: what two states mean for a comparison is in its intervals already.

use stats::TwoStates;

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::configuration::Configuration;
use crate::format;
use crate::report::Report;
use crate::trial::Trial;

const RULE: &str = "two_states";

const REMEDY: &str = "look for a change of query plan, CPU clock, cache, NUMA placement or background load";

const NEITHER: &str = "the mean describes neither";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let of_trials =
        report.configurations.iter().filter_map(|configuration| between(configuration, &report.trials));
    within(&report.trials).into_iter().chain(of_trials).collect()
}

/// `1,000 IOPS in 60% of the seconds, 600 IOPS in the others`.
fn levels(states: &TwoStates, trial: &Trial, of: &str) -> String {
    let unit = trial.shown().words().unit;
    format!(
        "about {} in {} of the {of}, about {} in the others",
        unit.text(states.high),
        format::per_cent(states.high_share),
        unit.text(states.low)
    )
}

fn within(trials: &[Trial]) -> Option<Verdict> {
    let states = |trial: &Trial| trial.stability.two_states.filter(|_| trial.is_complete());
    let told = |trial: &Trial| Some(levels(&states(trial)?, trial, "seconds"));
    let found = trials.iter().filter(|trial| states(trial).is_some()).count();
    let first = trials.iter().find(|trial| states(trial).is_some())?;
    let (example, switches) = (told(first)?, states(first)?.switches);
    let example = match found {
        1 => format!("{example}, with {switches} changes"),
        _ => format!("in the first of these trials {example}"),
    };
    let verdict = Doubt::plain(Level::Note, RULE, trials, |trial| states(trial).is_some())
        .verdict(|_| String::new(), |_| format!("throughput alternates between two states: {example}"))?;
    let raised = trials.iter().filter_map(|trial| Some((trial.number, told(trial)?))).collect();
    Some(Verdict { raised, ..verdict.with_effect(NEITHER).with_action(REMEDY) })
}

fn between(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let states = configuration.two_states.filter(|_| !configuration.cut_short)?;
    let first = configuration.measured_in(trials).next()?;
    let middle = f64::midpoint(states.low, states.high);
    let with_rate = configuration.trials.iter().zip(&configuration.per_s);
    let slow: Vec<u32> = with_rate.filter(|(_, per_s)| **per_s < middle).map(|(number, _)| *number).collect();
    let numbers: Vec<String> = slow.iter().map(|number| format!("#{number}")).collect();
    let fact = format!(
        "trials alternate between two states: {} (lower: trials {})",
        levels(&states, first, &format!("{} trials", configuration.trials.len())),
        numbers.join(", ")
    );
    let verdict = Verdict::new(Level::Note, RULE, fact).about(&configuration.name).of_trials(slow);
    Some(verdict.with_effect(NEITHER).with_action(REMEDY))
}
