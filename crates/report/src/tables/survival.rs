//! What of each kind of table survived a kill, as it was tried and not as it is promised.

use record::{Crash, Killed, Survival, Workload};

use super::table::Named;
use crate::format::{self, duration, grouped};
use crate::report::Report;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

/// Rule of what survived.
pub(crate) const SURVIVED: &str = "table_survived";
/// Rule of what did not, and was to.
const LOST: &str = "table_lost";

/// What was killed, in a word.
pub(super) const fn killed(crash: &Crash) -> &'static str {
    match crash.killed {
        Killed::Server => "server",
        Killed::Program => "process",
    }
}

/// A row for each trial that tried it, kind by kind as in the other tables.
pub(super) fn table(report: &Report) -> Option<Table> {
    let named = Named::of(report);
    let mut columns = named.columns();
    columns.extend([
        words("killed", "process killed with kill -9", 1),
        words("promised", "whether an acknowledged commit should survive", 1),
        column("rows before", "loaded rows and acknowledged inserts", 0),
        column("after", "rows after the restart", 0),
        column("acknowledged", "changes acknowledged before the kill", 0),
        column("survived", "of these, changes found after the restart", 0),
        column("lost", "of these, changes not found", 0),
        column("of the last", "time from the acknowledgment of the oldest lost change to the kill", 1),
        column("unanswered, there", "unacknowledged changes that were found in the database", 2),
        column("unanswered, gone", "unacknowledged changes that were not found in the database", 2),
        column("back after", "time from the kill until the table answered", 1),
    ]);
    let row = |trial: &Trial| {
        let tables = trial.tables()?;
        Some(row(named.cells(&tables.setup, &trial.levels), tables.crash()?))
    };
    let tried = tried(report).into_iter().filter_map(row);
    Table::of("Durability after kill -9", columns, tried)
}

/// The trials in which it was tried or was not, those of a configuration together.
fn tried(report: &Report) -> Vec<&Trial> {
    let mut trials: Vec<&Trial> =
        report.trials_of(Workload::Tables).filter(|trial| trial.tables().is_some()).collect();
    let place = |trial: &&Trial| {
        let mut configurations = report.configurations_of(Workload::Tables);
        configurations
            .position(|configuration| configuration.trials.contains(&trial.number))
            .unwrap_or(usize::MAX)
    };
    // Within a configuration in their order.
    trials.sort_by_key(place);
    trials
}

fn row(named: Vec<String>, crash: &Crash) -> Row {
    let mut cells = named;
    cells.extend([
        killed(crash).to_owned(),
        if crash.is_durable { "yes" } else { "no" }.to_owned(),
        grouped(crash.rows_before),
        grouped(crash.rows_after),
        grouped(crash.acknowledged),
        grouped(crash.survived()),
        grouped(crash.lost),
        crash.lost_oldest_s.map_or_else(|| "–".to_owned(), duration),
        grouped(crash.unanswered_there),
        grouped(crash.unanswered_gone),
        duration(crash.back_s),
    ]);
    Row::of(cells)
}

/// What survived of each kind, all of its trials together; and why it was not tried, once.
pub(super) fn findings(report: &Report) -> Vec<Verdict> {
    let mut kinds: Vec<(String, Vec<&Trial>)> = Vec::new();
    let mut not_tried: Vec<(&str, Vec<u32>)> = Vec::new();
    for trial in tried(report) {
        match trial.tables().and_then(|tables| tables.survival.as_ref()) {
            Some(Survival::Tried(_)) => match kinds.iter_mut().find(|(name, _)| *name == trial.name) {
                Some((_, trials)) => trials.push(trial),
                None => kinds.push((trial.name.clone(), vec![trial])),
            },
            Some(Survival::NotTried(why)) => match not_tried.iter_mut().find(|(known, _)| known == why) {
                Some((_, trials)) => trials.push(trial.number),
                None => not_tried.push((why, vec![trial.number])),
            },
            None => {}
        }
    }
    let told = kinds.iter().flat_map(|(name, trials)| survived(name, trials));
    let not_tried = not_tried.into_iter().map(|(why, trials)| Verdict {
        trials,
        ..Verdict::new(
            Level::Note,
            "survival_not_tried",
            format!("Durability after kill -9 was not tested: {why}. Statements on durability come from the engine and its settings"),
        )
    });
    told.chain(not_tried).collect()
}

/// `volatile table, …: after kill -9 of the server 0 of 100,000 rows were there, and 4,211 of 4,211 acknowledged changes were lost`.
fn survived(name: &str, trials: &[&Trial]) -> Option<Verdict> {
    let crashes: Vec<&Crash> = trials.iter().filter_map(|trial| trial.tables()?.crash()).collect();
    let first = crashes.first()?;
    let sum = |of: fn(&Crash) -> u64| crashes.iter().map(|crash| of(crash)).sum::<u64>();
    let (acknowledged, lost) = (sum(|crash| crash.acknowledged), sum(|crash| crash.lost));
    let gone = sum(Crash::rows_gone);
    let what = match first.killed {
        Killed::Server => "the server",
        Killed::Program => "the process with the database in it",
    };
    let times = if crashes.len() == 1 { String::new() } else { format!(", {} times,", crashes.len()) };
    let rows = match gone {
        0 => "all rows were found".to_owned(),
        _ => format!("{} of {} rows were missing", grouped(gone), grouped(sum(|crash| crash.rows_before))),
    };
    let changes = match lost {
        0 => format!("all {} acknowledged changes", grouped(acknowledged)),
        _ if lost == acknowledged => format!("none of {} acknowledged changes", grouped(acknowledged)),
        _ => format!("{} of {} acknowledged changes", grouped(acknowledged - lost), grouped(acknowledged)),
    };
    let oldest = crashes.iter().filter_map(|crash| crash.lost_oldest_s).reduce(f64::max);
    let oldest = oldest.filter(|_| lost < acknowledged).map(|oldest_s| {
        format!("; the lost ones were acknowledged at most {} before the kill", duration(oldest_s))
    });
    let unanswered = sum(|crash| crash.unanswered_there + crash.unanswered_gone);
    let there = sum(|crash| crash.unanswered_there);
    let is_broken = crashes.iter().any(|crash| crash.broken().is_some());
    let wrong = crashes.iter().find_map(|crash| crash.wrong.as_ref());
    let wrong = wrong.map(|wrong| format!("; {wrong}")).unwrap_or_default();
    let sentence = format!(
        "{name}: after kill -9 of {what}{times} {rows}, and {changes}{}; of {} without an answer, {} there{}{wrong}",
        oldest.unwrap_or_default(),
        format::counted(unanswered as usize, "change", "changes"),
        if there == 1 { "1 was".to_owned() } else { format!("{} were", grouped(there)) },
        meaning(first, lost)
    );
    let (level, rule) = if is_broken { (Level::Failure, LOST) } else { (Level::Finding, SURVIVED) };
    let trials = trials.iter().map(|trial| trial.number).collect();
    Some(Verdict { trials, ..Verdict::new(level, rule, sentence) })
}

/// What that says of a table whose commits are not durable, and does not say.
fn meaning(first: &Crash, lost: u64) -> &'static str {
    match (first.is_durable, lost) {
        (true, 0) => "",
        (true, _) => "; its commits should be durable",
        (false, 0) => {
            "; this was a killed process, not a power loss: data in the kernel survives it, but not a power loss"
        }
        (false, _) => "; the table does not promise more",
    }
}
