//! Runs one trial of a historian: its roles, each on a thread of its own, the intervals they fill, the count at the end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use database::{Holder, Lease};
use load::{Go, Progress};
use record::{HistorianOutcome, Setup};

use super::controller::Controller;
use super::job::{Job, Source};
use super::reconcile;
use super::roles::{self, Role};
use super::setup::{self, Prepared};
use crate::TrialError;
use crate::waiting::unless_stopped;

/// Runs a historian against a database of our own until its end, `stop`, or until `on_progress` says so. Tables are made,
/// or emptied where they are there already and `fresh` says so. The lock on the database is the caller's, or somebody's in
/// another process: `holder` knows. With the fake, everything runs in virtual time.
///
/// # Errors
/// When the trial could not begin, or the source failed. A database that goes away is no error: it is an outage.
pub fn run(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    fresh: bool,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<HistorianOutcome, TrialError> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    run_from(job, lease, holder, fresh, since_1970.as_micros() as i64, stop, on_progress)
}

/// [`run`] by a wall clock that reads `now_us`, microseconds since 1970, when it begins.
pub(crate) fn run_from(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    fresh: bool,
    now_us: i64,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<HistorianOutcome, TrialError> {
    // A PLC answers in real time, whatever stores its values.
    let simulated = lease.url().engine().is_simulated() && !matches!(job.source, Source::Modbus { .. });
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all();
    if simulated {
        builder.start_paused(true);
    }
    let runtime =
        builder.build().map_err(|error| TrialError::Load(format!("cannot wait for events: {error}")))?;
    let trial = async {
        let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
        let preparing = setup::prepare(job, lease, holder, fresh, now_us, simulated, tell);
        let prepared = unless_stopped(stop, preparing).await.ok_or(TrialError::Interrupted)??;
        play(prepared, simulated, stop, on_progress).await
    };
    tokio::task::LocalSet::new().block_on(&runtime, trial)
}

async fn play(
    prepared: Prepared,
    simulated: bool,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<HistorianOutcome, TrialError> {
    let Prepared { running, source, setup, space } = prepared;
    let running = Arc::new(running);
    let mut cast: Vec<Role> = vec![Role::Source(Box::new(source)), Role::Sampler];
    cast.extend((0..running.job.writers).map(|_| Role::Writer));
    cast.extend(running.job.readers.map(Role::Reader));
    cast.extend(running.job.maintenance.map(Role::Maintainer));
    let mut threads = roles::start(&running, cast, simulated)?;
    unless_stopped(stop, threads.ready()).await.unwrap_or(Err(TrialError::Interrupted))?;
    let go = on_progress(Progress::SetUp(Setup::Historian(Box::new(setup))));
    let clock = threads.begin();
    let watch = clock.watch(simulated)?;
    let mut controller = Controller::new(&running, threads.makers(), (clock, watch), stop, &mut *on_progress);
    if go == Go::Stop {
        controller.stop(0);
    }
    let drain = controller.conduct(&mut threads).await?;
    drop(threads);
    for mark in running.ledger.marks() {
        on_progress(Progress::Mark(mark));
    }
    let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
    Ok(reconcile::outcome(&running, drain, space, stop, tell).await)
}

#[cfg(test)]
#[path = "trial_tests/mod.rs"]
mod tests;

#[cfg(test)]
#[path = "server_tests.rs"]
mod server_tests;
