//! What was measured of scripts, and what speaks against it: transactions a second; expectations that were not met, transactions that were
//! given up, clients that stopped, times without a database.

use super::{Script, UNIT, replay};
use crate::configuration::Configuration;
use crate::format::{self, figure, grouped};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::rate::{Held, held, interval, tail};
use crate::verdict::server::length_of;
use crate::verdict::{Level, Verdict};
use record::Workload;

/// Rule of what a configuration gave.
pub(crate) const TRANSACTION_RATE: &str = "transaction_rate";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let all = report.configurations_of(Workload::Script);
    all.filter_map(|configuration| rate(configuration, &report.trials)).collect()
}

/// `a.sql, 8 clients: 12,340 transactions/s (this run: 12,100–12,500), p95 0.90 ms, p99 2.10 ms, 3 failed`.
fn rate(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let runs: Vec<&Script> = configuration.measured_in(trials).filter_map(Trial::script).collect();
    let text = UNIT.text(figures.per_s?);
    let held = held(configuration, trials);
    let mut parts = vec![format!(" {}", interval(configuration, UNIT.of(1.0)))];
    parts.extend(configuration.offered_per_s().map(|rate| format!("{} offered", figure(rate))));
    if let (Some(p95), Some(_)) = (figures.latency.p95_us, figures.latency.p99_us) {
        parts.push(format!("p95 {}", format::latency(p95)));
    }
    parts.push(tail(configuration, figures));
    let failed: u64 = runs.iter().map(|run| run.failed).sum();
    if failed > 0 {
        parts.push(format!("{} failed", grouped(failed)));
    }
    parts.extend(late(&runs));
    if configuration.cut_short {
        parts.push("cut short".to_owned());
    }
    let verdict = Verdict::new(Level::Finding, TRANSACTION_RATE, Held::fact(held, text, &parts));
    Some(verdict.about(&configuration.name).of_trials(configuration.trials.clone()))
}

/// `2.1% later than 50 ms, 1.3% of all not sent for that`, of all runs together.
fn late(runs: &[&Script]) -> Option<String> {
    let lates: Vec<_> = runs.iter().filter_map(|run| Some((run.late.as_ref()?, run.transactions))).collect();
    let limit_ms = lates.first()?.0.limit_ms;
    let sum = |count: fn(&(&super::Late, u64)) -> u64| lates.iter().map(count).sum::<u64>() as f64;
    let (late, skipped) = (sum(|(one, _)| one.late), sum(|(one, _)| one.skipped));
    let all = sum(|(_, transactions)| *transactions) + skipped;
    let share = |count: f64| format::per_cent(count / all);
    let unsent = match skipped > 0.0 {
        true => format!(", {} not sent because they were already late", share(skipped)),
        false => String::new(),
    };
    (all > 0.0)
        .then(|| format!("{} later than {}{unsent}", share(late + skipped), format::latency(limit_ms * 1e3)))
}

/// Rule of clients that stopped.
const STOPPED: &str = "clients_stopped";

/// A level, a rule, and its fact.
type Said = Option<(Level, &'static str, String)>;

pub(crate) fn doubts(report: &Report) -> Vec<Verdict> {
    let of = |doubt: fn(&Script) -> Said| {
        let trials = report.trials_of(Workload::Script);
        trials.filter_map(move |trial| {
            let (level, rule, sentence) = doubt(trial.script()?)?;
            let sentence = format!("{}: {sentence}", trial.name);
            let verdict = Verdict { trials: vec![trial.number], ..Verdict::new(level, rule, sentence) };
            Some(if rule == STOPPED { verdict.with_action("fix the cause") } else { verdict })
        })
    };
    of(disagreement)
        .chain(of(agreement))
        .chain(of(unmet))
        .chain(replay::doubts(report))
        .chain(of(failed))
        .chain(of(stopped))
        .chain(of(outages))
        .collect()
}

fn disagreement(script: &Script) -> Said {
    let wrong = script.disagreement.clone()?;
    Some((Level::Failure, "balances_disagree", wrong))
}

/// `balances agree: accounts and history changed by 12,345 each, tellers and branches by −700 each`.
fn agreement(script: &Script) -> Said {
    let balances = script.balances.filter(|_| script.disagreement.is_none())?;
    let signed = |change: i64| {
        let sign = if change < 0 { "−" } else { "" };
        format!("{sign}{}", grouped(change.unsigned_abs()))
    };
    let (accounts, tellers) = (signed(balances.accounts), signed(balances.tellers));
    let sentence = match balances.accounts == balances.tellers {
        true => format!("balances agree: accounts, tellers, branches and history changed by {accounts} each"),
        false => format!(
            "balances agree: accounts and history changed by {accounts} each, tellers and branches by {tellers} each"
        ),
    };
    Some((Level::Note, "balances_agree", sentence))
}

fn unmet(script: &Script) -> Said {
    let first = script.first_unmet.as_ref().filter(|_| script.unmet > 0)?;
    let times = format::counted(script.unmet as usize, "time", "times");
    let sentence = format!("expectations of the scripts failed {times} ({first})");
    Some((Level::Failure, "unmet_expectations", sentence))
}

fn failed(script: &Script) -> Said {
    // Of a replay they are told by their codes.
    let first = script.first_failure.as_ref().filter(|_| script.replay.is_none())?;
    let tries = match script.setup.tries {
        1 => format!("set {} to retry them", record::Parameter::new("workload.script.max_tries")),
        tries => format!("{tries} tries each"),
    };
    let sentence = format!(
        "{} failed ({tries}). The first: {first}",
        format::counted(script.failed as usize, "transaction", "transactions")
    );
    Some((Level::Warning, "transactions_failed", sentence))
}

fn stopped(script: &Script) -> Said {
    let first = script.stopped.first()?;
    let many = if script.replay.is_some() { "sessions" } else { "clients" };
    let who = match (script.stopped.len(), script.setup.clients) {
        (1, 1) => "the only client".to_owned(),
        (stopped, of) => format!("{stopped} of {of} {many}"),
    };
    let sentence = format!(
        "{who} stopped before the end ({}), so the figures are those of a smaller load",
        first.trim_end_matches('.')
    );
    Some((Level::Warning, STOPPED, sentence))
}

fn outages(script: &Script) -> Said {
    let first = script.outages.first()?;
    let sentence = format!(
        "the database was unavailable{} ({}), and the outcome of {} is unknown",
        length_of(&script.outages),
        first.error,
        format::counted(script.unanswered as usize, "transaction", "transactions")
    );
    Some((Level::Warning, "outage", sentence))
}
