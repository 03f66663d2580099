//! The database of a study: made before the first trial, removed after the last, and one historian run in it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use database::{Claim, Error, Own, RunId};
use load::{Go, Progress, Tell};
use record::{HistorianOutcome, HistorianSetup, Sample, Window, ingest_step};
use stats::{CALIBRATED_SHARE_MAX, events_late, sustained, thread_busy};
use study::Target;
use tokio::runtime::Runtime;
use workload::historian::{self, Job};
use workload::{TrialError, waiting};

use crate::run::RunError;

use crate::rules::{client_limited, stood_still};

/// A database of our own, and the runtime that its connection lives on.
pub(crate) struct Home {
    runtime: Runtime,
    own: Own,
    keep: bool,
    /// Whether the next trial makes the tables anew.
    fresh: bool,
    /// Where its data lies, if that is on this machine and the server tells.
    place: Option<PathBuf>,
}

impl Home {
    /// Makes the database that a target asks for.
    pub(crate) fn make(
        target: &Target,
        run: &RunId,
        stop: &AtomicBool,
        tell: &mut Tell<'_>,
    ) -> Result<Self, RunError> {
        let Some(url) = &target.url else { unreachable!("the plan has no historian without an address") };
        let runtime = runtime()?;
        let name = target.database.as_deref().unwrap_or("prony_historian");
        let claim = Claim { is_transient: !target.keep, ..Claim::new(run.clone(), target.existing.into()) };
        let own = runtime.block_on(waiting::make(url, name, &claim, stop, tell)).ok_or_else(|| {
            RunError::Interrupted(format!(": {url} did not answer, and may yet make `{name}`"))
        })??;
        let fresh = !own.was_there();
        let place = runtime.block_on(data_directory(&own, stop));
        Ok(Self { runtime, own, keep: target.keep, fresh, place })
    }

    /// Where its data lies, if that is on this machine and the server tells.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        self.place.clone()
    }

    /// Runs one historian. A database that was taken up has one trial; all others begin with empty tables.
    pub(crate) fn run(
        &mut self,
        job: &Job,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<HistorianOutcome, TrialError> {
        let fresh = std::mem::replace(&mut self.fresh, true);
        historian::run(job, &self.own.lease(), &self.own.clone().into(), fresh, stop, on_progress)
    }

    /// Removes the database unless it is to be kept, or was there before. Gives what is left of it and why, if something is.
    pub(crate) fn leave(self, stop: &AtomicBool) -> Result<(), Error> {
        let stays = self.keep || self.own.was_there();
        if stays { Ok(()) } else { self.runtime.block_on(waiting::remove(self.own, stop)) }
    }
}

/// What connections live on.
pub(crate) fn runtime() -> Result<Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Unreachable(format!("cannot wait for a database: {error}")))
}

/// Where the data of a database lies, if that is on this machine and the server tells.
pub(crate) async fn data_directory(own: &Own, stop: &AtomicBool) -> Option<PathBuf> {
    if let Some(file) = own.url().file() {
        return Some(file.to_owned());
    }
    let asked = async { own.session().await?.server().await };
    let server = waiting::unless_stopped(stop, asked).await?.ok()?;
    server.data_directory.map(PathBuf::from).filter(|_| own.url().is_local())
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
fn closed_invalid_because(outcome: &HistorianOutcome, measured: &Window) -> Option<String> {
    if outcome.abandoned > 0 {
        let first = outcome.outages.iter().find(|outage| outage.end_s.is_none());
        let why = first.map(|outage| format!(": {}", outage.error)).unwrap_or_default();
        return Some(format!("the database could not be written to the end{why}"));
    }
    if let Some(stood_still) = stood_still(measured) {
        return client_limited(&[stood_still.to_string()]);
    }
    (measured.operations().count == 0)
        .then(|| "no record was committed within the measured window; measure longer".to_owned())
}

/// Why a trial's figures do not mean what they should, if so.
pub(crate) fn invalid_because(
    setup: &HistorianSetup,
    outcome: &HistorianOutcome,
    measured: &Window,
) -> Option<String> {
    if outcome.lock_lost {
        return Some(crate::rules::LOCK_LOST.to_owned());
    }
    let records = measured.operations();
    let record::Loop::Open { rate_per_s, .. } = setup.pacing else {
        return closed_invalid_because(outcome, measured);
    };
    let lag_ms = records.lag.as_ref().and_then(|lag| lag.percentile_us(99.0)).map(|us| us / 1e3);
    let signs =
        [stood_still(measured), lag_ms.and_then(events_late), measured.busiest_share().and_then(thread_busy)];
    let mut reasons: Vec<String> = signs.into_iter().flatten().map(|sign| sign.to_string()).collect();
    let limit_per_s =
        setup.calibration.and_then(|calibration| Some(calibration.per_s()? * CALIBRATED_SHARE_MAX));
    if let Some(limit_per_s) = limit_per_s.filter(|&limit_per_s| rate_per_s > limit_per_s) {
        reasons.push(format!(
            "{rate_per_s:.0} records/s are more than half of what this machine can collect and buffer ({limit_per_s:.0})"
        ));
    }
    client_limited(&reasons)
}
