//! What was measured of registers, and what speaks against it: how long the database was away, what it lost, what it did that no register
//! does; clients that stopped.

use record::Workload;
use record::register::AnomalyKind;

use super::{AwayTimes, Register};
use crate::configuration::Configuration;
use crate::format::{self, figure, grouped};
use crate::report::Report;
use crate::summary::Answer;
use crate::trial::Trial;
use crate::verdict::rate::tail;
use crate::verdict::{Fact, Level, Verdict};

/// Rule of how long a database was away.
pub(crate) const AVAILABILITY: &str = "availability";
/// Rule of what no register does.
const ANOMALIES: &str = "anomalies";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let configurations = report.configurations_of(Workload::Register);
    configurations.filter_map(|configuration| availability(configuration, &report.trials)).collect()
}

/// `10 clients: away for 2.01 s (writes 2.01 s, reads 1.20 s), 1,000 operations/s, p99 2.10 ms`.
fn availability(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let runs: Vec<&Register> = configuration.measured_in(trials).filter_map(Trial::register).collect();
    let longest = runs.iter().max_by(|a, b| a.away.longest_s.total_cmp(&b.away.longest_s))?;
    let Fact { before, figure: shown, after } = away(longest, runs.len());
    let mut parts = vec![after, format!("{} operations/s", figure(figures.per_s?))];
    parts.push(tail(configuration, figures));
    if configuration.cut_short {
        parts.push("cut short".to_owned());
    }
    let fact = Fact { before, figure: shown, after: parts.join(", ") };
    let verdict = Verdict::new(Level::Finding, AVAILABILITY, fact).about(&configuration.name);
    Some(verdict.of_trials(configuration.trials.clone()))
}

/// `unavailable for 2.01 s`, `never unavailable for 500 ms or longer`.
fn away(register: &Register, runs: usize) -> Fact {
    let all = (!register.away.times.is_empty()).then(|| lengths(&register.away));
    // What is the same to the digits that are told is told once.
    let parts: Vec<String> = [("writes", &register.writes_away), ("reads", &register.reads_away)]
        .into_iter()
        .filter(|(_, away)| !away.times.is_empty())
        .map(|(what, away)| (what, lengths(away)))
        .filter(|(_, length)| Some(length) != all.as_ref())
        .map(|(what, length)| format!("{what} {length}"))
        .collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let least = format::latency(register.setup.outage_ms * 1e3);
    let Some(length) = all else {
        return Fact::around("", "never unavailable", format!(" for {least} or longer{parts}"));
    };
    let at_most = if runs > 1 { "at most " } else { "" };
    Fact::around(format!("unavailable for {at_most}"), length, parts)
}

/// `2.01 s`, `2.01 s at a time, 3 times, together 4.50 s`.
fn lengths(away: &AwayTimes) -> String {
    let longest = format::duration(away.longest_s);
    match away.times.len() {
        1 => longest,
        times => {
            format!("{longest} at most ({times} times, {} in total)", format::duration(away.total_s))
        }
    }
}

/// `PostgreSQL was away for 2.01 s, and lost none of 29,990 acknowledged writes; 60,000 operations on 100 registers have nothing that no
/// register does`: none where several are compared.
pub(crate) fn answers(report: &Report) -> Vec<Answer> {
    let all: Vec<&Configuration> = report.configurations_of(Workload::Register).collect();
    let [only] = all.as_slice() else { return Vec::new() };
    if report.comparison.is_some() {
        return Vec::new();
    }
    let mut runs = only.measured_in(&report.trials).filter_map(Trial::register);
    let (Some(register), None) = (runs.next(), runs.next()) else { return Vec::new() };
    answer(register).into_iter().collect()
}

fn answer(register: &Register) -> Option<Answer> {
    let version = &register.setup.server.version;
    let database = version.split(' ').next().filter(|name| !name.is_empty())?;
    let text = format!("{}, {}", away(register, 1).text(), kept_and_checked(register));
    Some(Answer::labelled(database, text))
}

/// `lost none of 29,990 acknowledged writes; all 100 registers were consistent, in 60,000 operations`.
fn kept_and_checked(register: &Register) -> String {
    let writes = &register.writes;
    let lost = match (writes.lost, register.is_audited) {
        // What a crash took and a write covered before anybody read it leaves no trace.
        (0, true) if !register.away.times.is_empty() => {
            format!(
                "lost none of {} acknowledged writes that reads could check",
                grouped(writes.acknowledged)
            )
        }
        (0, true) => format!("lost none of {} acknowledged writes", grouped(writes.acknowledged)),
        (0, false) => {
            format!("no loss known among {} acknowledged writes", grouped(writes.acknowledged))
        }
        (lost, _) => {
            format!("lost at least {} of {} acknowledged writes", grouped(lost), grouped(writes.acknowledged))
        }
    };
    let checked = match register.is_register() {
        true => format!(
            "all {} were consistent, in {} operations",
            format::counted(register.setup.keys as usize, "register", "registers"),
            grouped(register.operations)
        ),
        false => told(register),
    };
    format!("{lost}; {checked}")
}

/// `3 lost updates, 1 stale read`.
pub(super) fn told(register: &Register) -> String {
    counted(register, |_| String::new())
}

/// `3 lost updates (a write was acknowledged, and is gone), 1 stale read`: the worst kind with its meaning.
fn explained(register: &Register) -> String {
    let worst = register.anomalies.keys().next().copied();
    counted(
        register,
        |kind| if Some(kind) == worst { format!(" ({})", kind.meaning()) } else { String::new() },
    )
}

/// Anomalies by kind, each with what is said of it.
fn counted(register: &Register, said: impl Fn(AnomalyKind) -> String) -> String {
    if let Some(why) = &register.unchecked {
        return format!("the history could not be checked: {why}");
    }
    let one = |(kind, &count): (&AnomalyKind, &u64)| {
        let [one, several] = kind.names();
        format!("{} {}{}", grouped(count), if count == 1 { one } else { several }, said(*kind))
    };
    register.anomalies.iter().map(one).collect::<Vec<String>>().join(", ")
}

/// A level, a rule, and its fact.
type Said = Option<(Level, &'static str, String)>;

pub(crate) fn doubts(report: &Report) -> Vec<Verdict> {
    let of = |doubt: fn(&Register) -> Said| {
        let trials = report.trials_of(Workload::Register);
        trials.filter_map(move |trial| {
            let (level, rule, sentence) = doubt(trial.register()?)?;
            Some(Verdict::new(level, rule, sentence).about(&trial.name).of_trials(vec![trial.number]))
        })
    };
    of(anomalies).chain(of(kept)).chain(of(unaudited)).chain(of(refused)).chain(of(stopped)).collect()
}

fn anomalies(register: &Register) -> Said {
    if register.is_register() {
        return None;
    }
    let worst = register.anomalies.keys().next();
    let first = register.told.iter().find(|anomaly| Some(&anomaly.kind) == worst);
    let first = first.map(|first| format!("; {first}")).unwrap_or_default();
    let is_expected = register.setup.expects_losses
        && register.unchecked.is_none()
        && register.anomalies.keys().all(|kind| kind.is_of_loss());
    if is_expected {
        let sentence = format!("{}; its study expects lost writes{first}", explained(register));
        return Some((Level::Note, "losses_expected", sentence));
    }
    Some((Level::Failure, ANOMALIES, format!("{}{first}", explained(register))))
}

fn kept(register: &Register) -> Said {
    register
        .is_register()
        .then(|| (Level::Note, "registers_hold", format!("it {}", kept_and_checked(register))))
}

fn unaudited(register: &Register) -> Said {
    let sentence = "the registers could not be read at the end, so the fate of the last writes is unknown";
    (!register.is_audited).then(|| (Level::Warning, "not_audited", sentence.to_owned()))
}

fn refused(register: &Register) -> Said {
    let writes = &register.writes;
    let count = format::counted(writes.refused as usize, "write was", "writes were");
    let sentence = format!("the server refused {count}. None of them may be visible: see its log");
    (writes.refused > 0).then_some((Level::Note, "writes_refused", sentence))
}

fn stopped(register: &Register) -> Said {
    let first = register.stopped.first()?;
    let who = match (register.stopped.len(), register.setup.clients) {
        (1, 1) => "the only client".to_owned(),
        (stopped, of) => format!("{stopped} of {of} clients"),
    };
    let sentence = format!(
        "{who} stopped before the end ({}), so the figures are those of a smaller load",
        first.trim_end_matches('.')
    );
    Some((Level::Warning, "clients_stopped", sentence))
}
