//! Drives order stores: clients on load threads, each ordering on a connection of its own, and what became of their orders.

mod books;
mod controller;
mod cpu;
mod last_100;
mod outcome;
mod running;
mod setup;
mod threads;
mod user;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use database::Own;
use load::{Go, Progress};
use record::{OrdersOutcome, Setup};

use super::job::Job;
use super::store::Loaded;
use crate::TrialError;
use crate::waiting::unless_stopped;
use controller::Controller;
use threads::Threads;

pub use setup::check;

/// A loaded store that is to be driven.
#[derive(Clone, Debug)]
pub struct StoreInUse {
    /// Its database.
    pub own: Own,
    /// What was loaded into it.
    pub loaded: Loaded,
}

/// Drives stores until the end of the job, `stop`, or until `on_progress` says so. What runs added before is removed first.
///
/// # Errors
/// When the load could not begin. A database that goes away is no error: it is an outage.
pub fn run(
    job: &Job,
    stores: &[StoreInUse],
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<OrdersOutcome, TrialError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| TrialError::Load(format!("cannot wait for clients: {error}")))?;
    runtime.block_on(async {
        let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
        let preparing = setup::prepare(job, stores, stop, tell);
        let (running, setup) = unless_stopped(stop, preparing).await.ok_or(TrialError::Interrupted)??;
        let running = Arc::new(running);
        let mut threads = Threads::start(&running)?;
        threads.connected(stop).await?;
        let go = on_progress(Progress::SetUp(Setup::Orders(Box::new(setup))));
        let clock = threads.begin();
        let watch = clock.watch(false)?;
        let mut controller = Controller::new(&running, (clock, watch), stop, &mut *on_progress);
        if go == Go::Stop {
            controller.stop(0);
        }
        let conducted = controller.conduct(&mut threads).await;
        drop(threads);
        let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
        Ok(outcome::outcome(&running, &conducted, stop, tell).await)
    })
}

#[cfg(test)]
mod tests;
