//! What was measured of reports, and what speaks against it.

use record::{ReportingSetup, Workload};

use super::words::{rows_of, time};
use super::{Reporting, Used};
use crate::configuration::Configuration;
use crate::format::{self, figure, grouped};
use crate::report::Report;
use crate::summary::Answer;
use crate::trial::Trial;
use crate::verdict::{Fact, Level, Verdict};

/// Rule of what a configuration took.
pub(crate) const REPORT_TIME: &str = "report_time";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let all = report.configurations_of(Workload::Reporting);
    all.filter_map(|configuration| times(configuration, &report.trials)).collect()
}

/// `95828 messages as rows: first report 1.23 s, then 0.42 s (this run: 0.40–0.44 s), 228,000 rows/s`.
fn times(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let runs: Vec<&Reporting> = configuration
        .measured_in(trials)
        .filter_map(Trial::reporting)
        .filter(|_| !configuration.is_failed())
        .collect();
    let mean = |of: fn(&Reporting) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
        stats::mean(&values).map(|mean| (mean, stats::repeats_mean(&values)))
    };
    let (then_s, of_runs) = mean(|run| run.mean_s)?;
    let text = time(then_s);
    let interval = match (of_runs, runs.as_slice()) {
        (Some(of), _) => {
            format!(" (95% CI {}, {} trials)", super::words::times(of.low.max(0.0), of.high), runs.len())
        }
        (None, [only]) => only
            .interval_s
            .map(|[low, high]| format!(" ({} in this trial)", super::words::times(low, high)))
            .unwrap_or_default(),
        (None, _) => String::new(),
    };
    let first = mean(|run| run.first_s).map(|(first_s, _)| format!("first report {}, ", time(first_s)));
    let first = format!("{}then ", first.unwrap_or_default());
    let mut parts = vec![interval];
    let rows = runs.first().map(|run| run.rows as f64 / then_s).filter(|_| then_s > 0.0);
    parts.extend(rows.map(|rows| format!("{} rows/s", figure(rows))));
    if configuration.cut_short {
        parts.push("cut short".to_owned());
    }
    let fact = Fact::around(first, text, parts.join(", "));
    let verdict = Verdict::new(Level::Finding, REPORT_TIME, fact).about(&configuration.name);
    Some(verdict.of_trials(configuration.trials.clone()))
}

/// A level, a rule, and its fact.
type Said = Option<(Level, &'static str, String)>;

pub(crate) fn doubts(report: &Report) -> Vec<Verdict> {
    let of = |doubt: fn(&Reporting) -> Said| {
        let trials = report.trials_of(Workload::Reporting);
        trials.filter_map(move |trial| {
            let (level, rule, sentence) = doubt(trial.reporting()?)?;
            Some(Verdict::new(level, rule, sentence).about(&trial.name).of_trials(vec![trial.number]))
        })
    };
    let trials = of(changed).chain(of(pending)).chain(of(not_cold));
    trials.chain(not_looked_at(report)).chain(between_trials(report)).collect()
}

/// A plan that changed within a trial.
fn changed(reporting: &Reporting) -> Said {
    let at = reporting.runs.windows(2).position(|pair| pair[0].plan != pair[1].plan);
    let number = at.filter(|_| reporting.changed_plan())? + 2;
    let sentence = format!(
        "the server changed its plan at report {number} ({}), so the mean covers different plans",
        format::listed(&reporting.plans.iter().map(|plan| plan.hash.as_str()).collect::<Vec<_>>())
    );
    Some((Level::Warning, "plan_changed", sentence))
}

/// Events that came faster than they were committed.
fn pending(reporting: &Reporting) -> Said {
    let rate = reporting.setup.arrivals_per_s?;
    // What arrives within a second may be on its way, but no twentieth of all.
    let all = (reporting.events_committed + reporting.events_pending) as f64;
    let most = rate.max(1.0).min((all / 20.0).max(1.0));
    (reporting.events_pending as f64 > most).then(|| {
        let sentence = format!(
            "{} planned events were not committed, {} were committed: the database does not sustain {} events/s during reports",
            grouped(reporting.events_pending),
            grouped(reporting.events_committed),
            figure(rate)
        );
        (Level::Warning, "events_pending", sentence)
    })
}

fn not_cold(reporting: &Reporting) -> Said {
    if reporting.cold.is_some() || reporting.first_s.is_none() {
        return None;
    }
    let sentence = "the first report used the caches as they were. For cold caches use a managed server with between_trials = \
    \"restart\" and cold = true in its [target.server.NAME]";
    Some((Level::Note, "first_report_not_cold", sentence.to_owned()))
}

/// Trials of the same report that were run by different plans: what differs between them is not what was varied alone.
fn between_trials(report: &Report) -> Option<Verdict> {
    let trials: Vec<(&Trial, &Reporting)> = report
        .trials_of(Workload::Reporting)
        .filter_map(|trial| Some((trial, trial.reporting()?)))
        .filter(|(_, reporting)| !reporting.plans.is_empty())
        .collect();
    let (first, of_first) = trials.first()?;
    let is_same = |one: &Reporting, other: &Reporting| {
        let (one, other) = (&one.setup, &other.setup);
        let of = |setup: &ReportingSetup| {
            let ReportingSetup {
                engine,
                events,
                days,
                messages,
                department,
                classification,
                result,
                access,
                ..
            } = setup.clone();
            ([engine, department, classification, result, access], [events, messages, u64::from(days)])
        };
        of(one) == of(other)
    };
    let differs = |(_, other): &&(&Trial, &Reporting)| {
        is_same(of_first, other)
            && other.plans.first().map(|plan| &plan.hash) != of_first.plans.first().map(|plan| &plan.hash)
    };
    let others: Vec<&(&Trial, &Reporting)> = trials.iter().filter(differs).collect();
    let (other, of_other) = others.first()?;
    let sentence = format!(
        "the same report ran with different plans: {} by {}, {} by {}{}. The setup of the trials shows them",
        first.name,
        of_first.plans[0].hash,
        other.name,
        of_other.plans[0].hash,
        match others.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        }
    );
    let numbers = std::iter::once(first.number).chain(others.iter().map(|(trial, _)| trial.number));
    Some(Verdict { trials: numbers.collect(), ..Verdict::new(Level::Warning, "plans_differ", sentence) })
}

/// `a report of 95,828 rows takes SQLite 0.42 s, the first one 1.23 s`.
pub(crate) fn answer(configuration: &Configuration, trials: &[Trial]) -> Option<Answer> {
    let runs: Vec<&Reporting> = configuration.measured_in(trials).filter_map(Trial::reporting).collect();
    let reporting = *runs.first().filter(|_| !configuration.is_failed())?;
    let mean = |of: fn(&Reporting) -> Option<f64>| {
        stats::mean(&runs.iter().filter_map(|run| of(run)).collect::<Vec<f64>>())
    };
    let database = reporting.setup.server.version.split(' ').next().filter(|name| !name.is_empty())?;
    let (first_s, mean_s) = (mean(|run| run.first_s)?, mean(|run| run.mean_s)?);
    let not_cold = if reporting.cold.is_none() { ", caches not cleared" } else { "" };
    let while_what = match reporting.setup.arrivals_per_s {
        Some(rate) => format!(" while {} events/s arrive", figure(rate)),
        None => String::new(),
    };
    let text = format!(
        "{} for a report of {}{while_what}, {} for the first one{not_cold}{}",
        time(mean_s),
        rows_of(reporting),
        time(first_s),
        used(&runs)
    );
    Some(Answer::labelled(database, text))
}

/// `; the reports after it used 61.3 MiB of memory, 0.143 processors (7.2%) and 12.0 reads a second (48 KiB a report)`, a mean of the
/// runs; nothing of what was not read. What is known of the device alone stands apart: `; device, all programs: 12.0 reads/s`.
fn used(runs: &[&Reporting]) -> String {
    let mean = |of: fn(&Used) -> Option<f64>| {
        stats::mean(&runs.iter().filter_map(|run| of(&run.during_others)).collect::<Vec<f64>>())
    };
    let mut parts = Vec::new();
    parts.extend(
        mean(|used| used.memory_bytes.map(|bytes| bytes as f64))
            .map(|bytes| format!("{} of memory", format::bytes(bytes.round() as u64))),
    );
    parts.extend(mean(|used| used.cpu_cores).map(|cores| {
        let share = mean(|used| used.cpu_share).map(|share| format!(" ({})", format::per_cent(share)));
        format!("{} CPUs{}", figure(cores), share.unwrap_or_default())
    }));
    let whole = |bytes: f64| format::bytes(bytes.round() as u64);
    let bytes = mean(|used| used.read_bytes).map(whole);
    parts.extend(match mean(|used| used.reads_per_s) {
        Some(per_s) => {
            let bytes = bytes.map(|bytes| format!(" ({bytes} per report)"));
            Some(format!("{} reads per second{}", figure(per_s), bytes.unwrap_or_default()))
        }
        None => bytes.map(|bytes| format!("{bytes} read per report")),
    });
    let mut device = Vec::new();
    device.extend(mean(|used| used.device.reads_per_s).map(|per_s| format!("{} reads/s", figure(per_s))));
    device.extend(mean(|used| used.device.read_bytes).map(|bytes| format!("{} per report", whole(bytes))));
    let device = match device.as_slice() {
        [] => String::new(),
        parts => format!("; device, all programs: {}", parts.join(", ")),
    };
    let used = match parts.split_last() {
        None => String::new(),
        Some((only, [])) => format!("; the reports after it used {only}"),
        Some((last, others)) => format!("; the reports after it used {} and {last}", others.join(", ")),
    };
    format!("{used}{device}")
}

/// What is looked at once a second tells nothing of faster reports: a sentence for all trials of which the same is not known.
fn not_looked_at(report: &Report) -> Vec<Verdict> {
    let mut missed: Vec<(String, Vec<&Trial>)> = Vec::new();
    let all = report.trials_of(Workload::Reporting).count();
    for trial in report.trials_of(Workload::Reporting) {
        let Some(which) = trial.reporting().and_then(missed_in) else { continue };
        match missed.iter_mut().find(|(known, _)| *known == which) {
            Some((_, trials)) => trials.push(trial),
            None => missed.push((which, vec![trial])),
        }
    }
    let verdict = |(which, trials): (String, Vec<&Trial>)| {
        let of = match trials.as_slice() {
            [trial] => trial.name.clone(),
            several => format!("{} of {all} trials", several.len()),
        };
        let fact = format!("the resources of {which} are unknown, except memory in the table");
        let numbers: Vec<u32> = trials.iter().map(|trial| trial.number).collect();
        Verdict::new(Level::Note, "usage_not_read", fact)
            .about(of)
            .with_effect(
                "machine and server are sampled once per second, and no sample was taken during this time",
            )
            .with_action("use more messages, or a larger share of them")
            .of_trials(numbers)
    };
    missed.into_iter().map(verdict).collect()
}

/// Reports of which no whole second was read since they were too fast for that.
fn missed_in(reporting: &Reporting) -> Option<String> {
    const EVERY_S: f64 = 1.0;
    // Where a server is looked at, a second that lies within is sure to be there from two on.
    let sure_s = if reporting.is_looked_at { 2.0 * EVERY_S } else { EVERY_S };
    let (first, others) = reporting.runs.split_first()?;
    // Memory is known from any second that ends within, the rest of whole ones alone.
    let is_missed = |used: &Used, took_s: f64| {
        Used { memory_bytes: None, ..*used } == Used::default() && took_s > 0.0 && took_s < sure_s
    };
    let others_s = others.iter().map(|run| run.took_s).sum();
    let first = is_missed(&reporting.during_first, first.took_s).then_some("the first report");
    let others = is_missed(&reporting.during_others, others_s).then_some("the reports after it");
    let which: Vec<&str> = first.into_iter().chain(others).collect();
    (!which.is_empty()).then(|| which.join(" and "))
}
