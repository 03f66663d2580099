//! Kinds of tables: their trials, and whether these are valid.

use std::sync::atomic::AtomicBool;

use load::{Go, Progress};
use record::{Mark, Outcome, TablesOutcome, Window};
use workload::TrialError;
use workload::tables::{self, Job};

use crate::judged::{Judged, away, client_limited, clients_stopped, stood_still};
use crate::targets::Held;

/// Makes a table, does to it what there is to do, and removes it.
pub(crate) fn run(
    job: &Job,
    databases: Vec<&mut Held>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<TablesOutcome, TrialError> {
    let Ok([held]) = <[&mut Held; 1]>::try_from(databases) else {
        unreachable!("the plan has no trial of a table without one database")
    };
    tables::run(job, &held.own.lease(), &held.own.clone().into(), stop, on_progress)
}

/// What is to be said of a trial that ran.
pub(crate) fn judged(mut outcome: Box<TablesOutcome>, marks: &[Mark], measured: &Window) -> Judged {
    Judged {
        invalid: invalid_because(&outcome, marks, measured),
        failed: outcome.wrong.as_ref().map(|wrong| {
            format!("the table does not hold what was put into it, or does not answer with it: {wrong}")
        }),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Tables(outcome),
    }
}

/// Why a trial's figures do not mean what they should, if so.
fn invalid_because(outcome: &TablesOutcome, marks: &[Mark], measured: &Window) -> Option<String> {
    let mut reasons: Vec<String> = clients_stopped(outcome.stopped.iter()).into_iter().collect();
    reasons.extend(away(outcome.outages.iter(), marks));
    if measured.operations().count == 0 {
        reasons.push("no row was updated by its key within the measured window; measure longer".to_owned());
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
    fn clients_that_stop_and_a_window_without_updates_make_it_invalid() {
        let stopped = vec!["client 2: gone".to_owned()];
        let outcome = TablesOutcome { stopped, ..TablesOutcome::default() };
        let told = invalid_because(&outcome, &[], &windows::measured(0, 500, None)).unwrap();
        assert!(told.contains("client 2: gone") && told.contains("measure longer"), "{told}");
    }
}
