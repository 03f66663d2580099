//! Whether the rates that were offered to disks and order stores were held, in words; and clients that stood still for a
//! moment that does not make a trial invalid.

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::configuration::Configuration;
use crate::format;
use crate::rate::OfferedRate;
use crate::trial::Trial;

/// What a rate is counted in.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    /// Behind the number of a rate: `I/Os a second`.
    pub(crate) unit: &'static str,
    /// How many of them a rate of one a second is.
    pub(crate) per_s: f64,
    /// That everything was in flight, from how much that is.
    pub(crate) all_in_flight: fn(u64) -> String,
}

/// Whether a rate was held in the trials of a configuration.
pub(crate) enum Held {
    /// `held`, with how many runs that are, where they are several.
    Yes(String),
    /// `not held: 300 of 500 I/Os a second were reached, …`.
    No(String),
}

/// None where no rate was offered, or no trial could be judged.
pub(crate) fn held(configuration: &Configuration, trials: &[Trial], counted: Counted) -> Option<Held> {
    let of = |number: &u32| trials.iter().find(|trial| trial.number == *number)?.offered_rate;
    let judged: Vec<OfferedRate> = configuration.trials.iter().filter_map(of).collect();
    let not: Vec<&OfferedRate> = judged.iter().filter(|rate| !rate.held).collect();
    Some(match (judged.len(), not.first()) {
        (0, _) => return None,
        (1, None) => Held::Yes("held".to_owned()),
        (runs, None) => Held::Yes(format!("held in all {runs} runs")),
        (1, Some(only)) => Held::No(format!("not held: {}", because(only, counted))),
        (runs, Some(first)) => {
            Held::No(format!("not held in {} of {runs} runs: {}", not.len(), because(first, counted)))
        }
    })
}

fn because(rate: &OfferedRate, counted: Counted) -> String {
    let number = |per_s: f64| format::figure(per_s * counted.per_s);
    let (reached, due) = (number(rate.reached_per_s), number(rate.due_per_s));
    let mut parts = vec![format!("{reached} of {due} {} were reached", counted.unit)];
    if rate.unsent > 0 {
        parts.push(format!("{} were never sent", format::grouped(rate.unsent)));
    }
    if let Some(growth) = rate.growth_ms_per_s {
        parts.push(format!("the response time grew by {} ms a second", format::figure(growth)));
    }
    let all = (counted.all_in_flight)(rate.slots);
    let everything = rate.was_behind() || (rate.waited_share.is_none() && rate.unsent > 0);
    let all = if everything { format!("; {all}") } else { String::new() };
    format!("{}{all}", parts.join(", "))
}

/// A client that stood still so long that its longest latencies are its own, and no longer.
pub(crate) fn paused(trials: &[Trial]) -> Option<Verdict> {
    let longest = |trial: &Trial| {
        let (longest_ms, sum_ms) = trial.generator.pause_longest_ms.zip(trial.generator.paused_ms)?;
        let seen = stats::pause_seen(stats::Stood { longest_ms, sum_ms, window_s: trial.measured_s });
        (trial.is_complete() && seen).then_some(longest_ms * 1e3)
    };
    Doubt::with_figure(Level::Warning, "generator_paused", trials, longest).verdict(format::latency, |longest| {
        format!(
            "the load generator itself stood still for {longest} at a time: it got no CPU, and the longest latencies are its \
             own; look for other load on the machine"
        )
    })
}
