//! Reports: the database of messages that they are asked of, and whether a trial of them is valid.

use std::sync::atomic::{AtomicBool, Ordering};

use database::{Error, Existing, Own};
use load::{Go, Progress, Tell};
use record::{Outcome, Parameter, Preparation, ReportingOutcome, Setup, Unit, Window};
use workload::reporting::{self, Job};
use workload::{TrialError, waiting};

use crate::error::RunError;
use crate::judged::{Judged, client_limited, stood_still};
use crate::targets::{Asked, Held};

/// Makes a database and loads its messages, or takes up one that holds the same.
pub(crate) fn ready(job: &Job, asked: &Asked<'_>, tell: &mut Tell<'_>) -> Result<Own, RunError> {
    let own = asked.make(tell)?;
    // What was there stays, whatever is wrong with it.
    if own.was_there() {
        return taken_up(job, &own, asked).map(|()| own);
    }
    if let Err(error) = load(job, &own, asked, tell) {
        // What was begun is of no use; that it could not be removed is less than why.
        let _ = asked.runtime.block_on(waiting::remove(own, asked.stop));
        return Err(error);
    }
    Ok(own)
}

/// Refuses a database that holds other messages.
fn taken_up(job: &Job, own: &Own, asked: &Asked<'_>) -> Result<(), RunError> {
    let looking = async {
        let mut session = own.lease().session().await?;
        let found = reporting::standing(&mut session).await?;
        let are_indexed = found.is_some() && reporting::are_indexed(&mut session).await?;
        Ok::<_, Error>((found, are_indexed))
    };
    let looked = asked.runtime.block_on(waiting::unless_stopped(asked.stop, looking));
    let (found, are_indexed) = looked.ok_or_else(|| RunError::Interrupted(String::new()))??;
    if found == Some(job.standing) && are_indexed {
        return Ok(());
    }
    if found == Some(job.standing) {
        return Err(Error::NoDatabase(format!(
            "{} contains the right messages, but not prony's index messages_sent. Create the index again, or use {} to replace the database",
            asked.wanted.place(),
            Parameter::new("target.database.existing").of(Existing::Replace.name())
        ))
        .into());
    }
    let holds = found.map_or_else(|| "no completely loaded messages".to_owned(), |found| found.to_string());
    Err(Error::NoDatabase(format!(
        "{} contains {holds}, but the study needs {}. Change the study, use another database, or replace this one with {}",
        asked.wanted.place(),
        job.standing,
        Parameter::new("target.database.existing").of(Existing::Replace.name())
    ))
    .into())
}

fn load(job: &Job, own: &Own, asked: &Asked<'_>, tell: &mut Tell<'_>) -> Result<(), RunError> {
    let data = job.data();
    let what = format!("loading messages into {}", asked.wanted.place());
    let lease = own.lease();
    let mut done = 0;
    let loading = async {
        let mut session = lease.session().await?;
        reporting::create(&mut session).await?;
        let mut loaded = |more| {
            done += more;
            let at = match done < data.events() {
                true => Preparation::new(what.clone(), done, data.events(), Unit::Rows),
                // Behind the last row.
                false => Preparation::waiting(format!(
                    "creating indexes and statistics in {}",
                    asked.wanted.place()
                )),
            };
            tell(at);
            !asked.stop.load(Ordering::Relaxed)
        };
        reporting::fill(&mut session, &data, &mut loaded).await
    };
    let loaded = asked.runtime.block_on(waiting::unless_stopped_for_long(asked.stop, loading));
    match loaded {
        Some(Ok(true)) => Ok(()),
        Some(Ok(false)) | None => Err(RunError::Interrupted(String::new())),
        Some(Err(error)) => Err(error.into()),
    }
}

/// Asks for the reports of a trial once.
pub(crate) fn run(
    job: &Job,
    databases: Vec<&mut Held>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<ReportingOutcome, TrialError> {
    let Ok([held]) = <[&mut Held; 1]>::try_from(databases) else {
        unreachable!("the plan has no report without one database")
    };
    reporting::run(job, &held.own.lease(), &held.own.clone().into(), stop, on_progress)
}

/// What is to be said of a trial that ran.
pub(crate) fn judged(mut outcome: Box<ReportingOutcome>, setup: Option<&Setup>, measured: &Window) -> Judged {
    Judged {
        invalid: invalid_because(&outcome, measured),
        failed: failed_because(&outcome, setup),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Reporting(outcome),
    }
}

/// A report that was not answered, or answered something else; an event that was acknowledged and is gone: the trial failed.
fn failed_because(outcome: &ReportingOutcome, setup: Option<&Setup>) -> Option<String> {
    let mut reasons = Vec::new();
    reasons.extend(
        outcome
            .failure
            .as_ref()
            .map(|failure| format!("report {} failed: {failure}", outcome.runs.len() + 1)),
    );
    reasons.extend(setup.and_then(Setup::reporting).and_then(|setup| {
        let wrong = |(_, run): &(usize, &record::ReportRun)| run.answer != setup.expected;
        let (number, run) = outcome.runs.iter().enumerate().find(wrong)?;
        let (rows, expected) = (run.answer.rows, setup.expected.rows);
        Some(match rows == expected {
            true => format!(
                "report {} returned {rows} rows as expected, but their content is wrong. Either the data was changed, or the \
                database returns wrong results",
                number + 1
            ),
            false => format!("report {} returned {rows} rows instead of {expected}", number + 1),
        })
    }));
    let lost = outcome.events_found.map_or(0, |found| outcome.events_committed.saturating_sub(found));
    reasons.extend((lost > 0).then(|| {
        format!(
            "{lost} of {} events that were committed during the reports are missing",
            outcome.events_committed
        )
    }));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Why a trial's figures do not mean what they should, if so. Reports promise no due times, so that a busy load thread makes them a lower
/// bound, which the report says.
fn invalid_because(outcome: &ReportingOutcome, measured: &Window) -> Option<String> {
    let mut reasons = Vec::new();
    reasons.extend(
        outcome.arrivals_stopped.as_ref().map(|why| format!("events stopped arriving before the end: {why}")),
    );
    let client: Vec<String> = stood_still(measured).into_iter().map(|sign| sign.to_string()).collect();
    reasons.extend(client_limited(&client));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::windows;
    use record::{ReportAnswer, ReportRun, ReportingSetup, Server};

    fn setup(expected: ReportAnswer) -> Setup {
        let server = Server {
            version: "PostgreSQL 15.14".to_owned(),
            durability: String::new(),
            is_durable: true,
            settings: Vec::new(),
            data_directory: None,
            log_directory: None,
            link: None,
            services: Vec::new(),
            unsafe_tables: Vec::new(),
        };
        Setup::Reporting(Box::new(ReportingSetup {
            target: "postgres://me@localhost/prony_reports".to_owned(),
            engine: "postgres".to_owned(),
            database: "prony_reports".to_owned(),
            server,
            events: 1_000,
            data_seed: 42,
            days: 30,
            subject_bytes: 0,
            messages: 96,
            department: "%".to_owned(),
            classification: "%".to_owned(),
            result: "rows".to_owned(),
            access: "statement".to_owned(),
            runs: 5,
            arrivals_per_s: None,
            cold: None,
            expected,
            data_bytes: None,
            seed: 42,
        }))
    }

    fn run(answer: ReportAnswer) -> ReportRun {
        ReportRun { begin_s: 0.0, took_s: 1.0, first_row_s: None, answer, plan: None }
    }

    const RIGHT: ReportAnswer = ReportAnswer { rows: 96, sum: 7 };

    fn told(outcome: &ReportingOutcome) -> Option<String> {
        failed_because(outcome, Some(&setup(RIGHT)))
    }

    #[test]
    fn answers_as_they_have_to_be_are_no_failure() {
        let outcome = ReportingOutcome {
            runs: vec![run(RIGHT), run(RIGHT)],
            events_committed: 10,
            events_found: Some(10),
            ..ReportingOutcome::default()
        };
        assert_eq!(told(&outcome), None);
        assert_eq!(invalid_because(&outcome, &windows::measured(2, 500, None)), None);
    }

    #[test]
    fn another_answer_fails_the_trial_and_says_which_report_gave_it() {
        let fewer = ReportingOutcome {
            runs: vec![run(RIGHT), run(ReportAnswer { rows: 95, sum: 7 })],
            ..ReportingOutcome::default()
        };
        assert_eq!(told(&fewer).unwrap(), "report 2 returned 95 rows instead of 96");
        let other = ReportingOutcome {
            runs: vec![run(ReportAnswer { sum: 8, ..RIGHT })],
            ..ReportingOutcome::default()
        };
        assert!(told(&other).unwrap().contains("96 rows as expected, but their content is wrong"));
    }

    #[test]
    fn an_answer_that_did_not_come_and_events_that_are_gone_fail_it() {
        let outcome = ReportingOutcome {
            runs: vec![run(RIGHT)],
            failure: Some("connection reset".to_owned()),
            events_committed: 10,
            events_found: Some(8),
            ..ReportingOutcome::default()
        };
        let told = told(&outcome).unwrap();
        assert!(told.starts_with("report 2 failed: connection reset; 2 of 10 events"), "{told}");
        let unknown = ReportingOutcome { events_found: None, failure: None, ..outcome };
        assert_eq!(failed_because(&unknown, None), None, "not counted is not lost");
    }

    #[test]
    fn events_that_stop_make_it_invalid() {
        let outcome = ReportingOutcome {
            runs: vec![run(RIGHT)],
            arrivals_stopped: Some("disk full".to_owned()),
            ..ReportingOutcome::default()
        };
        let told = invalid_because(&outcome, &windows::measured(2, 500, None)).unwrap();
        assert_eq!(told, "events stopped arriving before the end: disk full");
    }
}
