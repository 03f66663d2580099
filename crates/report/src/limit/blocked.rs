//! Trials whose sessions waited for a lock of somebody else: who that is, and what to do about it.

use record::{Blocker, shown};

use super::observed::Observed;
use super::rules::WAIT_SHARE;
use crate::budget::Class;
use crate::format;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::{Level, Verdict};

/// Rule of the verdict on locks that others hold.
pub(crate) const RULE: &str = "blocked_by_session";

/// Share of the time of a trial's sessions that they waited for a lock of somebody else, and who that is; none of less than a limit.
pub(super) fn by(trial: &Trial) -> Option<(f64, Blocker)> {
    let seen = Observed::of(trial);
    let share = seen.spent.get(&Class::Locks).copied().filter(|&share| share >= WAIT_SHARE)?;
    Some((share, seen.blocker()?.clone()))
}

/// `session 12 (user plant, psql, idle in transaction, since 2026-03-01T12:00:01Z, LOCK TABLE tank)`.
pub(super) fn words(blocker: &Blocker) -> String {
    let known = |text: &Option<String>| {
        text.as_deref().filter(|text| !text.is_empty()).map(|text| shown(text).into_owned())
    };
    let user = known(&blocker.user).map(|user| format!("user {user}"));
    let since = known(&blocker.since).map(|since| format!("since {since}"));
    // A semicolon is where the first screen ends a sentence.
    let statement = known(&blocker.statement)
        .map(|sql| format!("`{}`", sql.trim_end_matches([';', ' ']).replace("; ", " ")));
    let about: Vec<String> = [user, known(&blocker.application), known(&blocker.state), since, statement]
        .into_iter()
        .flatten()
        .collect();
    let who =
        blocker.session.map_or_else(|| "a prepared transaction".to_owned(), |id| format!("session {id}"));
    if about.is_empty() { who } else { format!("{who} ({})", about.join(", ")) }
}

/// What ends the wait, in the words of the engine.
fn remedy(trial: &Trial, blocker: &Blocker) -> String {
    let databases =
        trial.setup.iter().flat_map(|setup| setup.databases()).map(|database| database.engine.to_owned());
    let engine = databases.into_iter().next().unwrap_or_default();
    let end = match (engine.as_str(), blocker.session) {
        ("postgres", Some(id)) => format!("SELECT pg_terminate_backend({id})"),
        ("mysql" | "sqlserver", Some(id)) => format!("KILL {id}"),
        ("postgres", None) => "ROLLBACK PREPARED, see pg_prepared_xacts".to_owned(),
        _ => return "end the session that holds the lock, and measure again".to_owned(),
    };
    format!("wait until it commits, or end it ({end}), and measure again")
}

/// Trials in which somebody else's lock held the load back.
pub(crate) fn doubt(trials: &[Trial]) -> Option<Verdict> {
    let first = trials.iter().find_map(|trial| Some((trial, by(trial)?.1)));
    let (trial, blocker) = first?;
    let share = |trial: &Trial| by(trial).map(|(share, _)| share);
    let told = Doubt::with_figure(Level::Warning, RULE, trials, share).verdict(format::per_cent, |share| {
        format!("sessions waited {share} of their time for a lock that {} held", words(&blocker))
    });
    told.map(|verdict| verdict.with_action(remedy(trial, &blocker)))
}
