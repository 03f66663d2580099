//! What is said of a log that was replayed: what it was read to, and what became of its statements.

use record::{ReplayInUse, ReplayOutcome, Workload};
use serde::Serialize;

use super::Script;
use crate::format::{self, grouped};
use crate::report::Report;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

/// A log that was replayed.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// What it was read to.
    pub log: ReplayInUse,
    /// What became of its statements; none of a trial that was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<ReplayOutcome>,
}

pub(super) const METHOD: &str = "Each session of the log is replayed as its own session. It sends its statements in order, each at \
its time in the log, or as soon as the previous one is answered. The response time of a statement starts at its planned time. A transaction is everything from its start to its end, or a single statement outside of a transaction. Its response time excludes the pauses between \
its statements in the log. Statements that differ only in literals share one row.";

/// `open loop, at twice the pace of the log`.
pub(super) fn pacing(log: &ReplayInUse) -> String {
    format!("open loop, {}", pace(log.speed))
}

fn pace(speed: f64) -> String {
    if speed == 1.0 {
        "at the pace of the log".to_owned()
    } else {
        format!("at {speed} times the pace of the log")
    }
}

pub(super) fn facts(log: &ReplayInUse) -> Vec<(&'static str, String)> {
    let format = match log.is_recognised {
        true => format!("{}, detected", log.format),
        false => format!("{}, as requested", log.format),
    };
    let mut facts = vec![
        ("log", log.file.clone()),
        ("format of the log", format),
        ("length of the log", format!("{} s", format::figure(log.log_s))),
        ("sessions of the log", grouped(log.sessions)),
        (
            "error of a statement",
            if log.on_error == "stop" { "stops its session" } else { "is counted" }.to_owned(),
        ),
    ];
    if log.whole_seconds {
        let words = "whole seconds; entries are spread evenly over each second";
        facts.push(("times of the log", words.to_owned()));
    }
    if !log.databases.is_empty() {
        let all = log.databases.iter().map(|(name, count)| format!("{name} ({})", grouped(*count)));
        facts.push(("databases of its statements", all.collect::<Vec<String>>().join(", ")));
    }
    facts
}

/// Where each entry of the log went.
pub(super) fn table(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        words("of the log", "use of its entries", 0),
        column("entries", "how many", 0),
        column("first line", "line of the log where the first one begins", 1),
        words("the first", "the server's message for the first one", 2),
    ];
    let rows = report.trials_of(Workload::Script).flat_map(|trial| {
        let of = |replay: &Replay| rows(&trial.name, replay);
        trial.script().and_then(|script| script.replay.as_ref()).map(of).unwrap_or_default()
    });
    Table::of("Use of the log", columns, rows)
        .map(|table| table.without_empty_columns(&["the first", "first line"]))
}

fn rows(name: &str, Replay { log, statements }: &Replay) -> Vec<Row> {
    let row = |what: String, count: u64, line: u64, first: &str| {
        let line = if line > 0 { grouped(line) } else { String::new() };
        let cells = vec![String::new(), what, grouped(count), line, first.to_owned()];
        Row { cells, part: true }
    };
    let mut rows = vec![row(format!("entries in {} lines", grouped(log.lines)), log.entries, 0, "")];
    rows.extend(
        log.left_out
            .iter()
            .map(|left| row(format!("left out: {}", left.why), left.count, left.first_line, "")),
    );
    rows.push(row("statements to be sent".to_owned(), log.statements, 0, ""));
    if let Some(became) = statements {
        rows.push(row("answered".to_owned(), became.answered, 0, ""));
        let failed = |errors: &record::CodedErrors| {
            row(format!("failed with {}", errors.code), errors.count, 0, &errors.first)
        };
        rows.extend(became.errors.iter().map(failed));
        for (what, count) in [
            ("without an answer", became.unanswered),
            ("never sent", became.unsent),
            ("planned after the end of the load", became.not_due),
        ] {
            rows.extend((count > 0).then(|| row(what.to_owned(), count, 0, "")));
        }
    }
    if let Some(first) = rows.first_mut() {
        name.clone_into(&mut first.cells[0]);
        first.part = false;
    }
    rows
}

pub(super) fn doubts(report: &Report) -> Vec<Verdict> {
    let trials = report.trials_of(Workload::Script);
    trials
        .filter_map(|trial| Some((trial, trial.script()?)))
        .flat_map(|(trial, script)| of_trial(trial, script))
        .collect()
}

fn of_trial(trial: &Trial, script: &Script) -> Vec<Verdict> {
    let Some(Replay { log, statements }) = &script.replay else { return Vec::new() };
    let became = statements.as_ref();
    let said = [
        Some((Level::Note, "log_read", read(log))),
        lost(log).map(|words| (Level::Warning, "log_incomplete", words)),
        databases(log).map(|words| (Level::Warning, DATABASES, words)),
        backwards(log).map(|words| (Level::Warning, "log_backwards", words)),
        became.and_then(|became| errors(log, became)).map(|words| (Level::Warning, ERRORS, words)),
        became.and_then(|became| unsent(log, became)).map(|words| (Level::Warning, "replay_unsent", words)),
        became.and_then(|became| late(log, became)).map(|words| (Level::Note, "replay_late", words)),
        became.and_then(cut).map(|words| (Level::Note, "replay_cut", words)),
    ];
    let verdict = |(level, rule, words): (Level, &'static str, String)| {
        let verdict = Verdict::new(level, rule, words).about(&trial.name);
        let verdict = match remedy(rule) {
            Some(remedy) => verdict.with_action(remedy),
            None => verdict,
        };
        Verdict { trials: vec![trial.number], ..verdict }
    };
    said.into_iter().flatten().map(verdict).collect()
}

const DATABASES: &str = "log_databases";
const ERRORS: &str = "replayed_errors";

/// What a reader can do about a doubt of these rules.
fn remedy(rule: &str) -> Option<String> {
    match rule {
        DATABASES => {
            let option = record::Parameter::new("workload.script.only_database");
            Some(format!("replay the statements of one database with {option}"))
        }
        ERRORS => Some("replay the log on a copy of the database from before the log".to_owned()),
        _ => None,
    }
}

/// `1,200 of 1,300 entries of the log are statements to be sent, 900 transactions of 12 sessions (postgres-csv, detected)`.
fn read(log: &ReplayInUse) -> String {
    let found = if log.is_recognised { ", detected" } else { "" };
    format!(
        "{} of {} of the log are sent {}: {} of {} ({}{found})",
        format::counted(log.statements as usize, "statement", "statements"),
        format::counted(log.entries as usize, "entry", "entries"),
        pace(log.speed),
        format::counted(log.transactions as usize, "transaction", "transactions"),
        format::counted(log.sessions as usize, "session", "sessions"),
        log.format,
    )
}

/// What clients asked for and the replay does not.
fn lost(log: &ReplayInUse) -> Option<String> {
    let lost: Vec<&record::LeftOut> = log.left_out.iter().filter(|left| left.is_loss).collect();
    let all: u64 = lost.iter().map(|left| left.count).sum();
    let each = lost
        .iter()
        .map(|left| format!("{} {} (line {})", grouped(left.count), left.why, grouped(left.first_line)));
    let each: Vec<String> = each.collect();
    (all > 0).then(|| {
        format!(
            "the replay skips {} of the log: {}",
            format::counted(all as usize, "entry", "entries"),
            each.join(", ")
        )
    })
}

/// Statements of several databases go to one.
fn databases(log: &ReplayInUse) -> Option<String> {
    let names: Vec<&str> = log.databases.keys().map(String::as_str).collect();
    (names.len() > 1).then(|| {
        format!("the statements of {} databases ({}) all go to one database", names.len(), names.join(", "))
    })
}

fn backwards(log: &ReplayInUse) -> Option<String> {
    let line = log.first_backwards.filter(|_| log.backwards > 0)?;
    Some(format!(
        "times in the log go backwards {} (first in line {}), so such a statement is sent with the previous one",
        format::counted(log.backwards as usize, "time", "times"),
        grouped(line)
    ))
}

/// `12 of 1,200 statements failed: 10 with 23505 (…), 2 with 42P01 (…)`.
fn errors(log: &ReplayInUse, became: &ReplayOutcome) -> Option<String> {
    /// Codes that are told; the table has all.
    const MOST: usize = 3;
    let told = became.errors.iter().take(MOST);
    let told: Vec<String> = told
        .map(|errors| format!("{} with {} ({})", grouped(errors.count), errors.code, errors.first))
        .collect();
    let more = became.errors.len().saturating_sub(MOST);
    let more = if more > 0 { format!(", and {more} more codes") } else { String::new() };
    (became.failed > 0).then(|| {
        format!(
            "{} of {} failed: {}{more}",
            grouped(became.failed),
            format::counted(log.statements as usize, "statement", "statements"),
            told.join(", ")
        )
    })
}

fn unsent(log: &ReplayInUse, became: &ReplayOutcome) -> Option<String> {
    (became.unsent > 0).then(|| {
        format!(
            "{} of {} were never sent, because their session was late or had stopped",
            grouped(became.unsent),
            format::counted(log.statements as usize, "statement", "statements")
        )
    })
}

/// `2 transactions were open when the load was over, and were undone`.
fn cut(became: &ReplayOutcome) -> Option<String> {
    let cut = became.cut_transactions;
    (cut > 0).then(|| {
        format!(
            "{} {} open at the end of the load, and rolled back with {} connection. They do not count, but their finished statements do",
            format::counted(cut as usize, "transaction", "transactions"),
            if cut == 1 { "was" } else { "were" },
            if cut == 1 { "its" } else { "their" },
        )
    })
}

fn late(log: &ReplayInUse, became: &ReplayOutcome) -> Option<String> {
    (became.sessions_late > 0).then(|| {
        format!(
            "{} of {} sent a statement more than 100 ms late (at most {}), because they waited for the previous answer",
            grouped(became.sessions_late),
            format::counted(log.sessions as usize, "session", "sessions"),
            format::latency(became.lag_ms_max * 1e3)
        )
    })
}
