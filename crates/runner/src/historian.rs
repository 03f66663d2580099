//! A historian: its run in a database that is held, and whether it is valid and held its rate.

use std::sync::atomic::AtomicBool;

use load::{Go, Progress};
use record::{HistorianOutcome, HistorianSetup, Mark, Outcome, Sample, Setup, Window, ingest_step};
use stats::{CALIBRATED_SHARE_MAX, events_late, sustained, thread_busy};
use workload::TrialError;
use workload::historian::{self, Job};

use crate::judged::{Judged, client_limited, stood_still};
use crate::targets::Held;

/// Runs one historian. A database that was taken up has one trial; all others begin with empty tables.
pub(crate) fn run(
    job: &Job,
    databases: Vec<&mut Held>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<HistorianOutcome, TrialError> {
    let Ok([held]) = <[&mut Held; 1]>::try_from(databases) else {
        unreachable!("the plan has no historian without one database")
    };
    let fresh = std::mem::replace(&mut held.fresh, true);
    historian::run(job, &held.own.lease(), &held.own.clone().into(), fresh, stop, on_progress)
}

/// The conditions of a held rate that a trial did not meet; none of a closed loop, which has no rate to hold.
pub(crate) fn not_held_because(
    setup: &HistorianSetup,
    outcome: &HistorianOutcome,
    samples: &[Sample],
    measured: &Window,
) -> Option<Vec<String>> {
    let step = ingest_step(setup, outcome, samples, measured.kind(record::historian::RECORD))?;
    Some(sustained(&step).iter().map(ToString::to_string).collect())
}

/// A closed loop has no rate that would not be held: that it stood still makes its figure a wrong one.
fn closed_invalid_because(outcome: &HistorianOutcome, marks: &[Mark], measured: &Window) -> Option<String> {
    let mut unfinished = outcome.outages.iter().filter(|outage| outage.end_s.is_none());
    let is_planned = unfinished.clone().count() > 0 && unfinished.all(|outage| outage.is_planned(marks));
    if outcome.abandoned > 0 && !is_planned {
        let first = outcome.outages.iter().find(|outage| outage.end_s.is_none());
        let why = first.map(|outage| format!(": {}", outage.error)).unwrap_or_default();
        return Some(format!("prony could not write all records to the database{why}"));
    }
    if let Some(stood_still) = stood_still(measured) {
        return client_limited(&[stood_still.to_string()]);
    }
    (measured.operations().count == 0)
        .then(|| "no record was committed in the measured window. Measure longer".to_owned())
}

/// What is to be said of a trial that ran.
pub(crate) fn judged(
    mut outcome: Box<HistorianOutcome>,
    setup: Option<&Setup>,
    marks: &[Mark],
    measured: &Window,
) -> Judged {
    let setup = setup.and_then(Setup::historian);
    Judged {
        invalid: setup.and_then(|setup| invalid_because(setup, &outcome, marks, measured)),
        failed: outcome.mismatch(),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Historian(outcome),
    }
}

/// Why a trial's figures do not mean what they should, if so.
fn invalid_because(
    setup: &HistorianSetup,
    outcome: &HistorianOutcome,
    marks: &[Mark],
    measured: &Window,
) -> Option<String> {
    if outcome.lock_lost {
        return Some(crate::judged::LOCK_LOST.to_owned());
    }
    let records = measured.operations();
    let record::Loop::Open { rate_per_s, .. } = setup.pacing else {
        return closed_invalid_because(outcome, marks, measured);
    };
    let lag_ms = records.lag.as_ref().and_then(|lag| lag.percentile_us(99.0)).map(|us| us / 1e3);
    let signs =
        [stood_still(measured), lag_ms.and_then(events_late), measured.busiest_share().and_then(thread_busy)];
    let mut reasons: Vec<String> = signs.into_iter().flatten().map(|sign| sign.to_string()).collect();
    let limit_per_s =
        setup.calibration.and_then(|calibration| Some(calibration.per_s()? * CALIBRATED_SHARE_MAX));
    if let Some(limit_per_s) = limit_per_s.filter(|&limit_per_s| rate_per_s > limit_per_s) {
        reasons.push(format!(
            "{rate_per_s:.0} records/s exceeds half of the maximum rate at which this machine can collect and buffer records ({limit_per_s:.0})"
        ));
    }
    client_limited(&reasons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{MarkKind, Outage, Workload};

    #[test]
    fn a_planned_outage_to_the_end_leaves_a_closed_loop_valid_but_for_its_window() {
        let error = "server killed".to_owned();
        let outages = vec![Outage { start_s: 3.0, end_s: None, attempts: 9, error }];
        let outcome = HistorianOutcome { abandoned: 40, outages, ..HistorianOutcome::default() };
        let window = Window::new(Workload::Historian.main());
        let told = |marks: &[Mark]| closed_invalid_because(&outcome, marks, &window).unwrap();
        assert!(told(&[]).starts_with("prony could not write all records to the database: server killed"));
        let planned = Mark::planned(MarkKind::Outage, 2.5, None, "as the study asks");
        assert!(
            told(&[planned]).starts_with("no record was committed"),
            "nothing was measured, and that alone is told"
        );
    }
}
