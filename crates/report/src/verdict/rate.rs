//! Whether the rates that were offered to disks and order stores were held, in words; and clients that stood still for a
//! moment that does not make a trial invalid.

use super::doubt::Doubt;
use super::{Fact, Level, Verdict};
use crate::backlog::Backlog;
use crate::configuration::Configuration;
use crate::format;
use crate::rate::OfferedRate;
use crate::trial::{Figures, Trial};
use crate::workloads::{self, Words};

/// Whether a rate was held in the trials of a configuration.
pub(crate) enum Held {
    /// `held`, with how many runs that are, where they are several.
    Yes(String),
    /// `not held: 300 of 500 I/Os a second were reached, …`.
    No(String),
}

impl Held {
    /// A figure with what follows it, behind whether its rate was sustained. A rate that was not sustained has no figure to remember.
    pub(crate) fn fact(held: Option<Self>, figure: String, after: &[String]) -> Fact {
        let after = after.join(", ");
        match held {
            None => Fact::around("", figure, after),
            Some(Self::Yes(held)) => Fact::around(format!("{held}: "), figure, after),
            Some(Self::No(not_held)) => format!("{not_held}: {figure}{after}").into(),
        }
    }
}

/// None where no rate was offered, or no trial could be judged.
pub(crate) fn held(configuration: &Configuration, trials: &[Trial]) -> Option<Held> {
    let words = workloads::of(configuration.workload).words();
    let judged: Vec<OfferedRate> = configuration
        .measured_in(trials)
        .filter(|trial| !trial.is_broken_on_purpose())
        .filter_map(|trial| trial.offered_rate)
        .collect();
    let not: Vec<&OfferedRate> = judged.iter().filter(|rate| !rate.held).collect();
    Some(match (judged.len(), not.first()) {
        (0, _) => return None,
        (1, None) => Held::Yes("sustained".to_owned()),
        (trials, None) => Held::Yes(format!("sustained in all {trials} trials")),
        (1, Some(only)) => Held::No(format!("not sustained, {}", because(only, words))),
        (trials, Some(first)) => {
            Held::No(format!("not sustained in {} of {trials} trials, {}", not.len(), because(first, words)))
        }
    })
}

/// What was reached of the rate that was offered to a trial; none where that is not known.
pub(crate) fn not_held(trial: &Trial) -> Option<String> {
    Some(because(trial.offered_rate.as_ref()?, workloads::of(trial.workload).words()))
}

fn because(rate: &OfferedRate, words: &Words) -> String {
    let number = |per_s: f64| format::figure(words.unit.of(per_s));
    let (reached, due) = (number(rate.reached_per_s), number(rate.due_per_s));
    let mut parts = vec![format!("{reached} of {due} {}", words.unit.long)];
    if rate.unsent > 0 {
        parts.push(format!("{} were never sent", format::grouped(rate.unsent)));
    }
    if let Some(growth) = rate.growth_ms_per_s {
        parts.push(format!("response time grew by {} ms per second", format::figure(growth)));
    }
    let all = (words.all_in_flight)(rate.slots);
    let everything = rate.was_behind() || (rate.waited_share.is_none() && rate.unsent > 0);
    let all = if everything { format!(", {all}") } else { String::new() };
    format!("{}{all}", parts.join(", "))
}

/// Open loops whose window began with operations that the warm-up had left.
pub(crate) fn backlog(trials: &[Trial]) -> Option<Verdict> {
    let of = |trial: &Trial| trial.backlog.filter(|_| trial.is_complete());
    let all: Vec<Backlog> = trials.iter().filter_map(of).collect();
    let counted = trials.iter().find(|trial| of(trial).is_some())?;
    let counted = workloads::of(counted.workload).words().unit.counted;
    let gone_s: Option<Vec<f64>> = all.iter().map(|one| one.gone_after_s).collect();
    let enough = all.iter().filter_map(|one| Some(one.warm_up_s + one.gone_after_s?)).reduce(f64::max);
    let (gone, remedy) = match (gone_s.and_then(|gone_s| gone_s.into_iter().reduce(f64::max)), enough) {
        (Some(gone_s), Some(enough)) => (
            format!("gone after {}", format::duration(gone_s)),
            format!("warm up for at least {}", format::duration(enough)),
        ),
        (None, _) | (_, None) => (
            "still there at the end of the window".to_owned(),
            "increase the warm-up, or offer a lower rate".to_owned(),
        ),
    };
    let operations = |trial: &Trial| of(trial).map(|one| one.operations as f64);
    let print = |count: f64| format::grouped(count as u64);
    let told = Doubt::with_figure(Level::Warning, "backlog_at_begin", trials, operations).verdict(print, |count| {
        format!(
            "the measured window started with a backlog of about {count} {counted} from the warm-up, {gone}"
        )
    });
    let effect = "throughput excludes this backlog, but response times include it";
    told.map(|verdict| verdict.with_effect(effect).with_action(remedy))
}

/// A client that stood still so long that its longest latencies are its own, and no longer.
pub(crate) fn paused(trials: &[Trial]) -> Option<Verdict> {
    let longest = |trial: &Trial| {
        let (longest_ms, sum_ms) = trial.generator.pause_longest_ms.zip(trial.generator.paused_ms)?;
        let seen = stats::pause_seen(stats::Stood { longest_ms, sum_ms, window_s: trial.measured_s });
        (trial.is_complete() && seen).then_some(longest_ms * 1e3)
    };
    Doubt::with_figure(Level::Warning, "generator_paused", trials, longest)
        .verdict(format::latency, |longest| format!("the load generator got no CPU for up to {longest}"))
        .map(|verdict| {
            let effect = "the load generator itself caused the longest latencies";
            verdict.with_effect(effect).with_action("look for background load on the machine")
        })
}

/// Share of an offered rate that is as good as all of it: the load decides, and an interval would be of the load.
const ALL_OFFERED_SHARE: f64 = 0.9995;

/// `(73,010–75,200 in this trial)`, or the number of trials. A rate that reached the offered rate has no interval. The interval of a
/// single short trial is omitted if it reaches zero.
pub(crate) fn interval(configuration: &Configuration, scale: f64) -> String {
    let repeats = configuration.trials.len();
    let reached = configuration.main().and_then(|main| main.per_s).zip(configuration.offered_per_s());
    if reached.is_some_and(|(per_s, offered)| per_s >= ALL_OFFERED_SHARE * offered) {
        return match repeats {
            1 => "(all offered)".to_owned(),
            _ => format!("(mean of {repeats} trials, all offered)"),
        };
    }
    let range = configuration
        .rate_per_s
        .filter(|e| repeats > 1 || e.low > 0.0)
        .map(|e| format!("{}–{}", format::figure((e.low * scale).max(0.0)), format::figure(e.high * scale)));
    match (range, repeats) {
        (Some(range), 1) => format!("({range} in this trial)"),
        (Some(range), _) => format!("(95% CI {range}, {repeats} trials)"),
        (None, 1) => "(no interval: trial too short)".to_owned(),
        (None, _) => format!("(mean of {repeats} trials, no interval)"),
    }
}

/// The p99, or the highest percentile that the samples support.
pub(crate) fn tail(configuration: &Configuration, figures: &Figures) -> String {
    let operations = workloads::of(configuration.workload).words().unit.counted;
    let latency = &figures.latency;
    match (latency.p99_us, latency.p95_us, latency.p50_us, latency.mean_us) {
        (Some(us), ..) => format!("p99 {}", format::latency(us)),
        (None, Some(us), ..) => format!("p95 {} (too few {operations} for a p99)", format::latency(us)),
        (None, None, Some(us), _) => format!("p50 {} (too few {operations} for a p99)", format::latency(us)),
        (None, None, None, Some(us)) => {
            format!("mean {} (too few {operations} for percentiles)", format::latency(us))
        }
        (None, None, None, None) => "latency unknown".to_owned(),
    }
}
