//! Kinds of tables: their trials, and whether these are valid.

use std::sync::atomic::AtomicBool;

use database::Own;
use load::{Go, Progress, Tell};
use record::{Crash, Mark, Outcome, Preparation, TablesOutcome, Window};
use study::Trial;
use workload::tables::{self, Break, Job, Kill, LeftSet};
use workload::{TrialError, waiting};

use crate::error::RunError;
use crate::judged::{Judged, away, client_limited, clients_stopped, stood_still};
use crate::targets::{Asked, Held, Targets};

/// Makes a database, once what a killed run had set for its own is found, so that it is set back.
pub(crate) fn ready(asked: &Asked<'_>, tell: &mut Tell<'_>) -> Result<Own, RunError> {
    let Asked { wanted, claim, runtime, stop, .. } = asked;
    let looking = waiting::unless_stopped(stop, LeftSet::look(&wanted.url, &wanted.name, &claim.run));
    let left = runtime.block_on(looking).flatten();
    let own = asked.make(tell)?;
    if let Some(left) = left {
        let setting = async { left.set_back(&mut own.lease().session().await?).await };
        let set = runtime.block_on(waiting::unless_stopped(stop, setting));
        let set = set.ok_or_else(|| RunError::Interrupted(String::new()))??;
        tell(Preparation::waiting(format!(
            "restored server settings that a killed prony had changed: {set}"
        )));
    }
    Ok(own)
}

/// Makes a table, does to it what there is to do, tries what survives a kill, and removes it.
pub(crate) fn run(
    job: &Job,
    (trial, targets): (&Trial, &mut Targets),
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<TablesOutcome, TrialError> {
    let Ok([held]) = <[&mut Held; 1]>::try_from(targets.databases_of(trial)) else {
        unreachable!("the plan has no trial of a table without one database")
    };
    let own = held.own.clone();
    let server = trial.databases().into_iter().find_map(|wanted| wanted.server);
    let started = targets.started();
    let program = started.program().to_owned();
    let mut ask = |what| {
        let Some(server) = &server else { return Err("prony did not start it".to_owned()) };
        let done = match what {
            Break::Kill => started.kill(server),
            Break::StartAgain => started.start_again(server),
        };
        done.map_err(|error| error.to_string())
    };
    let kill = match &server {
        Some(_) => Kill::Server(&mut ask),
        None if program.as_os_str().is_empty() => {
            Kill::Nobody("prony cannot find its own program file without /proc")
        }
        None if own.url().engine().is_file() => Kill::Program(program),
        None => Kill::Nobody("prony did not start the server, so it does not kill it"),
    };
    tables::run(job, &own.lease(), &own.clone().into(), kill, stop, on_progress)
}

/// What is to be said of a trial that ran.
pub(crate) fn judged(mut outcome: Box<TablesOutcome>, marks: &[Mark], measured: &Window) -> Judged {
    Judged {
        invalid: invalid_because(&outcome, marks, measured),
        failed: failed_because(&outcome),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Tables(outcome),
    }
}

/// What was found wrong with the table: the trial failed.
fn failed_because(outcome: &TablesOutcome) -> Option<String> {
    let wrong = outcome
        .wrong
        .as_ref()
        .map(|wrong| format!("the table does not contain the inserted data, or returns other data: {wrong}"));
    let broken = outcome.crash().and_then(Crash::broken);
    let told: Vec<String> = wrong.into_iter().chain(broken).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Why a trial's figures do not mean what they should, if so.
fn invalid_because(outcome: &TablesOutcome, marks: &[Mark], measured: &Window) -> Option<String> {
    let mut reasons: Vec<String> = clients_stopped(outcome.stopped.iter()).into_iter().collect();
    reasons.extend(away(outcome.outages.iter(), marks));
    if measured.operations().count == 0 {
        reasons.push("no row was updated by its key in the measured window. Measure longer".to_owned());
    }
    let client: Vec<String> = stood_still(measured).into_iter().map(|sign| sign.to_string()).collect();
    reasons.extend(client_limited(&client));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::windows;

    #[test]
    fn a_wrong_answer_fails_the_trial() {
        let wrong = Some("the scan answered [1], and the rows give [2]".to_owned());
        let outcome = TablesOutcome { wrong, ..TablesOutcome::default() };
        let judged = judged(Box::new(outcome), &[], &windows::measured(10, 500, None));
        assert!(judged.failed.unwrap().ends_with("the scan answered [1], and the rows give [2]"));
        let right = super::judged(Box::default(), &[], &windows::measured(10, 500, None));
        assert_eq!((right.failed, right.invalid), (None, None));
    }

    #[test]
    fn a_durable_kind_that_lost_an_acknowledged_change_fails_the_trial_and_another_does_not() {
        let crashed = |is_durable| {
            let crash = Crash {
                killed: record::Killed::Server,
                clients: 8,
                is_durable,
                rows_before: 110,
                rows_after: 0,
                acknowledged: 20,
                lost: 20,
                lost_oldest_s: Some(1.0),
                unanswered_there: 0,
                unanswered_gone: 8,
                back_s: 1.0,
                wrong: None,
            };
            let survival = Some(record::Survival::Tried(crash));
            let outcome = TablesOutcome { survival, ..TablesOutcome::default() };
            judged(Box::new(outcome), &[], &windows::measured(10, 500, None)).failed
        };
        assert!(crashed(true).unwrap().contains("20 of 20 acknowledged changes were lost"));
        assert_eq!(crashed(false), None);
    }

    #[test]
    fn clients_that_stop_and_a_window_without_updates_make_it_invalid() {
        let stopped = vec!["client 2: gone".to_owned()];
        let outcome = TablesOutcome { stopped, ..TablesOutcome::default() };
        let told = invalid_because(&outcome, &[], &windows::measured(0, 500, None)).unwrap();
        assert!(told.contains("client 2: gone") && told.contains("Measure longer"), "{told}");
    }
}
