//! Doubts about a historian: rows that are not what was acknowledged, events that were refused, times without a
//! database, commits that promise nothing, purges that did not run.

use crate::format::{self, grouped, whole};
use crate::historian::Historian;
use crate::report::Report;
use crate::search::Search;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::server::length_of;
use crate::verdict::{Level, Verdict};

/// Someone who opened a screen has turned to something else by then (J. Nielsen, "Usability Engineering", 1993, 5.5).
const SCREEN_WAIT_MAX_US: f64 = 10e6;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let mut verdicts: Vec<Verdict> = report.historians().filter_map(rows_differ).collect();
    verdicts.extend(report.historians().filter_map(outage));
    verdicts.extend(report.historians().filter_map(source_outage));
    verdicts.extend(report.historians().filter_map(maintenance_failed));
    let doubts = [
        rows_unknown(trials),
        refused(trials),
        abandoned(trials),
        slow_screens(trials),
        no_database(trials),
        closed_loop(trials),
        no_purge(trials),
        no_screen(trials),
    ];
    verdicts.extend(doubts.into_iter().flatten());
    verdicts.extend(report.searches.iter().filter(|search| !search.failed_below.is_empty()).map(|search| {
        let rates: Vec<String> = search.failed_below.iter().map(|&rate| format::plain(rate)).collect();
        let sentence = format!(
            "rates below the confirmed one failed ({} records/s), so the rate was not the cause",
            rates.join(", ")
        );
        let verdict = Verdict::new(Level::Warning, "search_inconsistent", sentence);
        verdict
            .about(&search.configuration)
            .with_action("repeat on an idle machine")
            .of_trials(search.trials())
    }));
    verdicts.extend(report.searches.iter().filter_map(seconds_resemble));
    verdicts
}

/// Steps of seconds cannot tell a server that is fast for a while from one that is fast. docs/statistics.md has by how much.
fn seconds_resemble(search: &Search) -> Option<Verdict> {
    let (found, _) = (search.resemblance?, search.held_at()?);
    let sentence = format!(
        "rates of neighboring seconds are correlated ({:.1}, scatter {}). A quick run has short steps, so the rate may be up to 7% too high",
        found.correlation,
        format::per_cent(found.deviation_share)
    );
    let verdict = Verdict::new(Level::Warning, "search_seconds_resemble", sentence);
    let verdict = verdict.about(&search.configuration).with_action("search without the quick mode");
    Some(verdict.of_trials(search.trials()))
}

/// Figures of a historian trial that was measured.
fn of(trial: &Trial) -> Option<&Historian> {
    trial.historian().filter(|_| !trial.figures.is_empty())
}

/// Rows that differ cannot tell who did it.
const ALONE: &str = "repeat it while no other program writes to the database";

/// What was acknowledged must be found, and nothing twice.
fn rows_differ(trial: &Trial) -> Option<Verdict> {
    let historian = of(trial)?;
    if let Some(compared) = historian.rows_compared.as_ref().filter(|rows| rows.seconds_differing > 0) {
        let rule = if compared.missing > 0 { "rows_lost" } else { "rows_differ" };
        let why = match (compared.missing, compared.doubled + compared.unknown) {
            (missing, 0) if missing > 0 => "the database lost them, or another program deleted them",
            (0, more) if more > 0 => "some were written twice, or other programs write to the table",
            _ => "the database lost acknowledged records, or other programs write to the table",
        };
        let fact = historian.rows_mismatch.as_deref().unwrap_or_default();
        let verdict = Verdict::new(Level::Failure, rule, fact).about(&trial.name).with_effect(why);
        return Some(verdict.with_action(ALONE).of_trials(vec![trial.number]));
    }
    let (expected, found) = (historian.rows_expected, historian.rows_found?);
    let (rule, sentence, why) = match found {
        found if found < expected => (
            "rows_lost",
            format!(
                "{} of {} acknowledged records are missing",
                grouped(expected - found),
                grouped(expected)
            ),
            "the database lost them, or another program deleted them",
        ),
        found if found > expected => (
            "rows_extra",
            format!(
                "the database has {} records more than the {} acknowledged ones",
                grouped(found - expected),
                grouped(expected)
            ),
            "some were written twice, or other programs write to the table",
        ),
        _ => return None,
    };
    let verdict = Verdict::new(Level::Failure, rule, sentence).about(&trial.name).with_effect(why);
    Some(verdict.with_action(ALONE).of_trials(vec![trial.number]))
}

fn rows_unknown(trials: &[Trial]) -> Option<Verdict> {
    let unknown = |trial: &Trial| of(trial).is_some_and(|h| h.rows_found.is_none() && h.acknowledged > 0);
    Doubt::plain(Level::Warning, "rows_unknown", trials, unknown)
        .verdict(whole, |_| {
            "the database did not answer at the end, so it is unknown whether it has all acknowledged records"
                .to_owned()
        })
        .map(|verdict| verdict.with_action("count them when the database answers again"))
}

/// `the database could not be written for 3.20 s; 9,300 events waited, 0 were refused, 0 of 306,000 acknowledged rows
/// were lost`.
fn outage(trial: &Trial) -> Option<Verdict> {
    let historian = trial.historian()?;
    let first = historian.outages.first()?;
    let length = length_of(&historian.outages);
    let waited = historian.waited_in_outages.map_or_else(|| "unknown".to_owned(), whole);
    let lost = match historian.rows_lost {
        Some(lost) => {
            format!(
                "{} of {} acknowledged records were lost",
                grouped(lost),
                grouped(historian.rows_expected)
            )
        }
        None => "the number of lost records is unknown".to_owned(),
    };
    let sentence = format!(
        "the database was unavailable{length} ({}): {waited} records waited, {} were refused, {lost}",
        first.error,
        grouped(historian.refused)
    );
    let verdict = Verdict::new(Level::Warning, "outage", sentence).about(&trial.name);
    Some(verdict.of_trials(vec![trial.number]))
}

/// What changed while a source was away is not known to anybody.
fn source_outage(trial: &Trial) -> Option<Verdict> {
    let historian = trial.historian()?;
    let first = historian.source_outages.first()?;
    let sentence = format!(
        "the source of records was unavailable{} ({}), so its changes in that time are missing",
        length_of(&historian.source_outages),
        first.error
    );
    let verdict = Verdict::new(Level::Warning, "source_outage", sentence).about(&trial.name);
    Some(verdict.of_trials(vec![trial.number]))
}

fn maintenance_failed(trial: &Trial) -> Option<Verdict> {
    let runs = &trial.historian()?.maintenance;
    let errors = || runs.iter().filter_map(|maintenance| maintenance.run.error.as_ref());
    let first = errors().next()?;
    let sentence = format!(
        "{}: {first}",
        match (errors().count(), runs.len()) {
            (1, 1) => "the purge failed".to_owned(),
            (failed, of) => format!("{failed} of {of} purges failed"),
        }
    );
    let verdict = Verdict::new(Level::Warning, "maintenance_failed", sentence).about(&trial.name);
    Some(verdict.with_effect("the database grows until a purge succeeds").of_trials(vec![trial.number]))
}

/// Steps of a search are meant to find out when events are refused.
fn refused(trials: &[Trial]) -> Option<Verdict> {
    let refused = |trial: &Trial| {
        let historian = of(trial).filter(|h| trial.search.is_none() && h.outages.is_empty())?;
        (historian.refused > 0).then_some(historian.refused as f64)
    };
    Doubt::with_figure(Level::Warning, "refused", trials, refused)
        .verdict(whole, |events| format!("{events} records were refused because the buffer was full"))
        .map(|verdict| verdict.with_action("offer a lower rate, or find the bottleneck of the database"))
}

fn abandoned(trials: &[Trial]) -> Option<Verdict> {
    let abandoned = |trial: &Trial| {
        let historian = of(trial).filter(|_| trial.search.is_none())?;
        (historian.abandoned > 0).then_some(historian.abandoned as f64)
    };
    Doubt::with_figure(Level::Warning, "abandoned", trials, abandoned).verdict(whole, |events| {
        format!(
            "{events} accepted records were still unwritten when the trial ended, and were never acknowledged"
        )
    })
}

fn slow_screens(trials: &[Trial]) -> Option<Verdict> {
    let longest =
        |trial: &Trial| of(trial)?.trend.as_ref()?.latency.max_us.filter(|&us| us > SCREEN_WAIT_MAX_US);
    Doubt::with_figure(Level::Warning, "slow_screens", trials, longest)
        .verdict(format::latency, |longest| {
            format!(
                "a screen waited {longest} for its trends (limit {})",
                format::plain_latency(SCREEN_WAIT_MAX_US)
            )
        })
        .map(|verdict| verdict.with_action("shorten the window, or create an index on tag and time"))
}

fn no_database(trials: &[Trial]) -> Option<Verdict> {
    let fake = |trial: &Trial| {
        of(trial).and_then(|h| h.setup.as_ref()).is_some_and(record::HistorianSetup::is_on_fake)
    };
    Doubt::plain(Level::Note, "no_database", trials, fake)
        .verdict(whole, |_| "no database was used: these are figures of the historian alone".to_owned())
}

fn closed_loop(trials: &[Trial]) -> Option<Verdict> {
    let closed = |trial: &Trial| of(trial).is_some_and(|historian| !historian.is_open());
    Doubt::plain(Level::Note, "closed_loop", trials, closed).verdict(whole, |_| {
        "this is a burst rate, not a sustained rate: search for the highest sustained rate".to_owned()
    })
}

fn no_purge(trials: &[Trial]) -> Option<Verdict> {
    let none = |trial: &Trial| of(trial).is_some_and(|historian| historian.maintenance.is_empty());
    Doubt::plain(Level::Note, "no_purge", trials, none).verdict(whole, |_| {
        "the trial was shorter than the time between purges, so the figures exclude purges".to_owned()
    })
}

/// Screens that would have been opened after the end.
fn no_screen(trials: &[Trial]) -> Option<Verdict> {
    let none = |trial: &Trial| {
        let historian = of(trial)?;
        let readers = historian.setup.as_ref()?.readers?;
        let none_read = historian.trend.as_ref().is_none_or(|trend| trend.reads == 0);
        (none_read && readers.screens > 0 && historian.outages.is_empty())
            .then_some(readers.screen_interval_s)
    };
    Doubt::with_figure(Level::Note, "no_screen", trials, none).verdict(format::duration, |every| {
        format!(
            "a screen opens every {every}, and none opened in this short trial, so the figures exclude screens"
        )
    })
}
