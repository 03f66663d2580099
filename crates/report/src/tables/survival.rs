//! What of each kind of table survived a kill, as it was tried and not as it is promised.

use record::{Crash, Killed, Survival, Workload};

use super::Tables;
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

/// The outcome of kills for a kind of table, over all of its trials.
pub(super) struct Kept {
    pub(super) is_durable: bool,
    pub(super) acknowledged: u64,
    pub(super) lost: u64,
    pub(super) rows_before: u64,
    pub(super) rows_gone: u64,
    /// Time between the acknowledgement of the oldest lost change and the kill, in seconds.
    lost_oldest_s: Option<f64>,
    /// True if something else is wrong.
    is_wrong: bool,
}

/// Returns none if nothing was killed in these trials.
pub(super) fn kept<'a>(tables: impl Iterator<Item = &'a Tables>) -> Option<Kept> {
    let crashes: Vec<&Crash> = tables.filter_map(Tables::crash).collect();
    let sum = |of: fn(&Crash) -> u64| crashes.iter().map(|crash| of(crash)).sum::<u64>();
    Some(Kept {
        is_durable: crashes.first()?.is_durable,
        acknowledged: sum(|crash| crash.acknowledged),
        lost: sum(|crash| crash.lost),
        rows_before: sum(|crash| crash.rows_before),
        rows_gone: sum(Crash::rows_gone),
        lost_oldest_s: crashes.iter().filter_map(|crash| crash.lost_oldest_s).reduce(f64::max),
        is_wrong: crashes.iter().any(|crash| crash.wrong.is_some()),
    })
}

impl Kept {
    /// True if all rows and all acknowledged changes survived.
    pub(super) fn is_whole(&self) -> bool {
        self.lost == 0 && self.rows_gone == 0 && !self.is_wrong
    }

    /// True if less survived than the server guarantees.
    pub(super) fn is_broken(&self) -> bool {
        self.is_wrong || (self.is_durable && !self.is_whole())
    }

    /// `kept all`, `lost 12%`.
    pub(super) fn short(&self) -> String {
        match self.lost {
            0 if self.is_whole() => "kept all".to_owned(),
            0 => "lost rows".to_owned(),
            lost if lost == self.acknowledged => "lost all".to_owned(),
            lost if lost < FEW => format!("lost {lost}"),
            lost => format!("lost {}", format::per_cent(lost as f64 / self.acknowledged.max(1) as f64)),
        }
    }

    /// `26,011 of 26,018 acknowledged changes and 113,003 of 113,008 rows were there`.
    pub(super) fn in_words(&self) -> String {
        let part = |there: u64, of: u64, what: &str| match of - there {
            0 => format!("all {} {what}", grouped(of)),
            _ => format!("{} of {} {what}", grouped(there), grouped(of)),
        };
        let changes =
            part(self.acknowledged.saturating_sub(self.lost), self.acknowledged, "acknowledged changes");
        let rows = part(self.rows_before.saturating_sub(self.rows_gone), self.rows_before, "rows");
        format!("{changes} and {rows} were there")
    }
}

/// Fewer lost changes than this are printed as a number, others as a share.
const FEW: u64 = 1_000;

/// The outcome of kills, or the statement that nothing was killed.
pub(super) fn in_words(kept: Option<&Kept>) -> String {
    kept.map_or_else(|| "not tested".to_owned(), Kept::in_words)
}

/// The trials with the same name.
type OfKind<'a> = (String, Vec<&'a Trial>);

/// What survived of each kind, all of its trials together; and why it was not tried, once.
pub(super) fn findings(report: &Report) -> Vec<Verdict> {
    let mut kinds: Vec<OfKind<'_>> = Vec::new();
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
    let is_broken = |(_, trials): &OfKind<'_>| {
        kept(trials.iter().filter_map(|trial| trial.tables())).is_some_and(|kept| kept.is_broken())
    };
    let (broken, held): (Vec<OfKind<'_>>, Vec<OfKind<'_>>) = kinds.into_iter().partition(is_broken);
    let alone = |kinds: &[OfKind<'_>]| -> Vec<Verdict> {
        kinds.iter().filter_map(|(name, trials)| survived(name, trials)).collect()
    };
    let mut told = alone(&broken);
    told.extend(if held.len() > 1 { together(&held).into_iter().collect() } else { alone(&held) });
    let not_tried = not_tried.into_iter().map(|(why, trials)| Verdict {
        trials,
        ..Verdict::new(
            Level::Note,
            "survival_not_tried",
            format!("Durability after kill -9 was not tested: {why}. Statements on durability come from the engine and its settings"),
        )
    });
    told.into_iter().chain(not_tried).collect()
}

/// The limit of this test: data in the kernel survives a killed process.
const NOT_A_POWER_LOSS: &str =
    "this was a killed process, not a power loss: data in the kernel survives it, but not a power loss";

/// `kill -9 of the server: row and covering kept all rows and all acknowledged changes; relaxed kept 26,011 of 26,018 acknowledged changes`.
fn together(kinds: &[OfKind<'_>]) -> Option<Verdict> {
    let told = |(name, trials): &OfKind<'_>| {
        let kept = kept(trials.iter().filter_map(|trial| trial.tables()))?;
        Some((short_name(name, kinds, trials), kept))
    };
    let all: Vec<(String, Kept)> = kinds.iter().filter_map(told).collect();
    let (whole, partly) = all.iter().partition::<Vec<_>, _>(|(_, kept)| kept.is_whole());
    let names: Vec<&str> = whole.iter().map(|(name, _)| name.as_str()).collect();
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        (!names.is_empty())
            .then(|| format!("{} kept all rows and all acknowledged changes", names.join(" and "))),
    );
    parts.extend(partly.iter().map(|(name, kept)| lacking(name, kept)));
    let only_kernel = whole.iter().any(|(_, kept)| !kept.is_durable);
    parts.extend(only_kernel.then(|| NOT_A_POWER_LOSS.to_owned()));
    let trials: Vec<&Trial> = kinds.iter().flat_map(|(_, trials)| trials.iter().copied()).collect();
    let first = trials.iter().find_map(|trial| trial.tables()?.crash())?;
    let sentence = format!("kill -9 of {}: {}", killed_in_words(first), parts.join("; "));
    let trials = trials.iter().map(|trial| trial.number).collect();
    Some(Verdict { trials, ..Verdict::new(Level::Finding, SURVIVED, sentence) })
}

/// The kind of table if only one name has it, otherwise the name.
fn short_name(name: &str, kinds: &[OfKind<'_>], trials: &[&Trial]) -> String {
    let kind = |trial: &Trial| trial.tables().map(|tables| tables.kind.clone());
    let own = trials.first().and_then(|trial| kind(trial));
    let alike =
        kinds.iter().filter(|(_, trials)| trials.first().and_then(|trial| kind(trial)) == own).count();
    own.filter(|_| alike == 1).unwrap_or_else(|| name.to_owned())
}

/// `relaxed kept 26,011 of 26,018 acknowledged changes (the lost ones were acknowledged at most 97.0 ms before the kill)`.
fn lacking(name: &str, kept: &Kept) -> String {
    let changes = match kept.lost {
        lost if lost == kept.acknowledged => {
            format!("none of {} acknowledged changes", grouped(kept.acknowledged))
        }
        lost => format!(
            "{} of {} acknowledged changes",
            grouped(kept.acknowledged.saturating_sub(lost)),
            grouped(kept.acknowledged)
        ),
    };
    let oldest = kept.lost_oldest_s.filter(|_| kept.lost < kept.acknowledged);
    let oldest = oldest.map_or_else(String::new, |oldest_s| {
        format!(" (the lost ones were acknowledged at most {} before the kill)", duration(oldest_s))
    });
    format!("{name} kept {changes}{oldest}")
}

/// The process that was killed, in words.
const fn killed_in_words(crash: &Crash) -> &'static str {
    match crash.killed {
        Killed::Server => "the server",
        Killed::Program => "the process with the database in it",
    }
}

/// `volatile table, …: after kill -9 of the server 0 of 100,000 rows were there, and 4,211 of 4,211 acknowledged changes were lost`.
fn survived(name: &str, trials: &[&Trial]) -> Option<Verdict> {
    let crashes: Vec<&Crash> = trials.iter().filter_map(|trial| trial.tables()?.crash()).collect();
    let first = crashes.first()?;
    let sum = |of: fn(&Crash) -> u64| crashes.iter().map(|crash| of(crash)).sum::<u64>();
    let (acknowledged, lost) = (sum(|crash| crash.acknowledged), sum(|crash| crash.lost));
    let gone = sum(Crash::rows_gone);
    let what = killed_in_words(first);
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
