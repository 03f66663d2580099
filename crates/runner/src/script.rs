//! Scripts of users: the database that they are run on, and whether a trial of them is valid.

use std::sync::atomic::{AtomicBool, Ordering};

use database::{Claim, Error, Existing, Own, Session};
use load::{Go, Progress, Tell};
use record::{Loop, Mark, Outcome, Parameter, Preparation, ScriptOutcome, Setup, Unit, Window};
use stats::thread_busy;
use study::WantedDatabase;
use workload::TrialError;
use workload::script::builtin::{self, Tables};
use workload::script::{self, Job};
use workload::waiting;

use crate::error::RunError;
use crate::judged::{Judged, away, client_limited, clients_stopped, stood_still};
use crate::targets::{Asked, Held};

/// Looks, before anything is announced or changed, whether a database can be loaded as it is: its tables are there, and its server takes
/// the statements of the scripts.
pub(crate) async fn look(job: &Job, wanted: &WantedDatabase, claim: &Claim) -> Result<(), RunError> {
    database::look_as(&wanted.url, &wanted.name, claim).await?;
    if wanted.existing != Existing::AsItIs || job.program.is_none() {
        return Ok(());
    }
    let mut session = Session::open_as_it_is(&wanted.url).await?;
    let makes_tables = is_to_make_tables(job, &mut session, (&wanted.place(), true)).await?;
    none_wrong(script::mistakes(job, &mut session, makes_tables).await?)
}

fn none_wrong(mistakes: Vec<String>) -> Result<(), RunError> {
    if mistakes.is_empty() { Ok(()) } else { Err(RunError::Mistakes(mistakes)) }
}

/// Takes a database as it is, or makes one with the tables and rows of the job. What was made is looked at with the statements of the
/// scripts.
pub(crate) fn ready(job: &Job, asked: &Asked<'_>, tell: &mut Tell<'_>) -> Result<Own, RunError> {
    let init = job.program.as_ref().filter(|program| program.has_init());
    let is_theirs = asked.wanted.existing == Existing::AsItIs;
    if is_theirs && init.is_some() {
        return Err(Error::NoDatabase(format!(
            "{} is used as it is, but {} needs a database that prony creates. Create the tables yourself, and remove this option",
            asked.wanted.place(),
            Parameter::new("workload.script.init")
        ))
        .into());
    }
    let own = asked.make(tell)?;
    if !job.builtin.is_empty() {
        tables_of_builtin(job, (&own, is_theirs), asked, tell)?;
    }
    if let Some(program) = init {
        let lease = own.lease();
        let making = Preparation::waiting(format!("creating tables and rows in {}", asked.wanted.place()));
        let making = waiting::telling(tell, making, script::make_tables(&lease, program));
        let made = asked.runtime.block_on(waiting::unless_stopped_for_long(asked.stop, making));
        made.ok_or_else(interrupted)??;
    }
    if !is_theirs {
        let lease = own.lease();
        let looking = async { script::mistakes(job, &mut lease.session().await?, false).await };
        let looked = asked.runtime.block_on(waiting::unless_stopped(asked.stop, looking));
        none_wrong(looked.ok_or_else(interrupted)??)?;
    }
    Ok(own)
}

fn interrupted() -> RunError {
    RunError::Interrupted(String::new())
}

/// Makes pgbench's tables, unless they are there.
fn tables_of_builtin(
    job: &Job,
    (own, is_theirs): (&Own, bool),
    asked: &Asked<'_>,
    tell: &mut Tell<'_>,
) -> Result<(), RunError> {
    let (lease, place) = (own.lease(), asked.wanted.place());
    let looking = async { is_to_make_tables(job, &mut lease.session().await?, (&place, is_theirs)).await };
    let looked = asked.runtime.block_on(waiting::unless_stopped(asked.stop, looking));
    if !looked.ok_or_else(interrupted)?? {
        return Ok(());
    }
    let scale = job.scale.unwrap_or(1);
    let (what, rows) =
        (format!("loading pgbench's tables of scale {scale} into {place}"), builtin::rows_of(scale));
    let mut done = 0;
    let mut loaded = |more| {
        done += more;
        tell(Preparation::new(what.clone(), done, rows, Unit::Rows));
        !asked.stop.load(Ordering::Relaxed)
    };
    let made = asked.runtime.block_on(builtin::make(&lease, scale, &mut loaded))?;
    if made { Ok(()) } else { Err(interrupted()) }
}

/// Whether the tables of built-in scripts are to be made in a database, which is called `place`.
///
/// # Errors
/// Those of the database; where they are missing and may not be made; where they are there with another scale.
async fn is_to_make_tables(
    job: &Job,
    session: &mut Session,
    (place, is_theirs): (&str, bool),
) -> Result<bool, Error> {
    if job.builtin.is_empty() {
        return Ok(false);
    }
    match builtin::standing(session).await? {
        Tables::Of(there) => match job.scale.filter(|scale| *scale != there) {
            None => Ok(false),
            Some(scale) => Err(Error::NoDatabase(format!(
                "pgbench's tables in {place} have scale {there}, not {}. Remove this option, or drop the tables",
                Parameter::new("workload.script.scale").of(scale)
            ))),
        },
        Tables::None if is_theirs && !job.initialise => Err(Error::NoDatabase(format!(
            "pgbench's tables are missing in {place}, and prony uses this database as it is. To create the tables there permanently, give {}",
            Parameter::new("workload.script.initialise").of("true")
        ))),
        Tables::None => match builtin::system_schema(session).await? {
            None => Ok(true),
            Some(name) => Err(Error::NoDatabase(format!(
                "`{name}` is a system schema, and prony does not create tables there. Give one of your databases at the end of the address"
            ))),
        },
    }
}

/// Drives the scripts of a trial once.
pub(crate) fn run(
    job: &Job,
    databases: Vec<&mut Held>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<ScriptOutcome, TrialError> {
    let Ok([held]) = <[&mut Held; 1]>::try_from(databases) else {
        unreachable!("the plan has no script without one database")
    };
    script::run(job, &held.own.lease(), &held.own.clone().into(), stop, on_progress)
}

/// What is to be said of a trial that ran.
pub(crate) fn judged(
    mut outcome: Box<ScriptOutcome>,
    setup: Option<&Setup>,
    marks: &[Mark],
    measured: &Window,
) -> Judged {
    let is_open = setup.is_some_and(|setup| matches!(setup.pacing(), Loop::Open { .. }));
    Judged {
        invalid: invalid_because(&outcome, marks, measured, is_open),
        failed: failed_because(&outcome),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Script(outcome),
    }
}

/// What scripts found and should not have: the trial failed.
fn failed_because(outcome: &ScriptOutcome) -> Option<String> {
    if let Some(disagreement) = &outcome.disagreement {
        return Some(disagreement.clone());
    }
    let first = outcome.first_unmet.as_ref().filter(|_| outcome.unmet > 0)?;
    let times = if outcome.unmet == 1 { "once".to_owned() } else { format!("{} times", outcome.unmet) };
    Some(format!("the expected result of a script was not met {times}. First: {first}"))
}

/// Why a trial's figures do not mean what they should, if so.
fn invalid_because(
    outcome: &ScriptOutcome,
    marks: &[Mark],
    measured: &Window,
    is_open: bool,
) -> Option<String> {
    let mut reasons: Vec<String> = clients_stopped(outcome.stopped.iter()).into_iter().collect();
    reasons.extend(away(outcome.outages.iter(), marks));
    // Of clients that stopped none can come.
    if measured.operations().count == 0 && outcome.stopped.is_empty() {
        let why = outcome.first_failure.as_ref().map(|failure| format!(" (first failure: {failure})"));
        let remedy = match &outcome.replay {
            None => "Measure longer",
            // Its log says when they begin.
            Some(_) => "Replay a longer part of the log, or remove the warm-up",
        };
        reasons.push(format!(
            "no transaction completed in the measured window{}. {remedy}",
            why.unwrap_or_default()
        ));
    }
    // A closed loop promises no due times: its figure is a lower bound then, which the report says.
    let busy = measured.busiest_share().filter(|_| is_open).and_then(thread_busy);
    let client: Vec<String> =
        [stood_still(measured), busy].into_iter().flatten().map(|sign| sign.to_string()).collect();
    reasons.extend(client_limited(&client));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::windows;
    use record::Outage;

    fn measured() -> Window {
        windows::measured(10, 500, None)
    }

    #[test]
    fn what_was_expected_and_not_found_fails_the_trial() {
        let outcome = ScriptOutcome {
            unmet: 3,
            first_unmet: Some("a.sql:2: rows = 1 was expected, and 0 came".to_owned()),
            ..ScriptOutcome::default()
        };
        let told = failed_because(&outcome).unwrap();
        assert!(told.contains("3 times. First: a.sql:2: rows = 1"), "{told}");
        assert_eq!(failed_because(&ScriptOutcome::default()), None);
    }

    #[test]
    fn balances_that_do_not_agree_fail_the_trial() {
        let outcome =
            ScriptOutcome { disagreement: Some("balances differ".to_owned()), ..ScriptOutcome::default() };
        assert_eq!(failed_because(&outcome).unwrap(), "balances differ");
    }

    #[test]
    fn clients_that_stop_and_outages_and_a_window_without_transactions_make_it_invalid() {
        let outage = Outage { start_s: 3.0, end_s: Some(4.5), attempts: 3, error: "reset".to_owned() };
        let away = ScriptOutcome {
            stopped: vec!["client 1: a.sql:1: no table".to_owned()],
            outages: vec![outage],
            ..ScriptOutcome::default()
        };
        let told = invalid_because(&away, &[], &measured(), false).unwrap();
        for part in ["a client stopped before the end: client 1: a.sql:1", "for 1.5 s"] {
            assert!(told.contains(part), "{part} in {told}");
        }
        // They were told to measure longer.
        let told = invalid_because(&away, &[], &windows::measured(0, 500, None), false).unwrap();
        assert!(!told.contains("Measure longer"), "{told}");
        let failed = ScriptOutcome { first_failure: Some("deadlock".to_owned()), ..ScriptOutcome::default() };
        let told = invalid_because(&failed, &[], &windows::measured(0, 500, None), false).unwrap();
        assert!(told.contains("Measure longer") && told.contains("deadlock"), "{told}");
        let replayed = ScriptOutcome { replay: Some(record::ReplayOutcome::default()), ..failed };
        let told = invalid_because(&replayed, &[], &windows::measured(0, 500, None), true).unwrap();
        assert!(told.contains("part of the log") && !told.contains("Measure longer"), "{told}");
        assert_eq!(invalid_because(&ScriptOutcome::default(), &[], &measured(), false), None);
    }
}
