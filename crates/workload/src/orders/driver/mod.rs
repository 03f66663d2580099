//! Drives order stores: clients on load threads, each ordering on a connection of its own, and what became of their orders.

mod books;
mod outcome;
mod running;
mod setup;
mod user;

use std::sync::atomic::AtomicBool;

use database::{Holder, Lease};
use load::{Go, Progress};
use record::{CpuOf, CpuRead, OrdersOutcome, Setup};
use serde::{Deserialize, Serialize};

use super::job::Job;
use super::store::Loaded;
use crate::TrialError;
use crate::clients::{Drive, MachineCpu, OwnCpu, ServerCpu, ServerMeter, processors};
use crate::waiting::unless_stopped;
use setup::Prepared;
use user::User;

pub use setup::check;

/// A loaded store that is to be driven. Written out it has the address whole, see [`Lease`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreInUse {
    /// Its database.
    pub lease: Lease,
    /// What was loaded into it.
    pub loaded: Loaded,
}

/// Drives stores until the end of the job, `stop`, or until `on_progress` says so. What runs added before is removed first.
/// The locks on them are the caller's, or somebody's in another process: `holders` know, one for each store. The CPU to which clients
/// are adjusted is what the meter tells; without one that of this machine less the load, if the stores are here.
///
/// # Errors
/// When the load could not begin. A database that goes away is no error: it is an outage.
pub fn run(
    job: &Job,
    stores: &[StoreInUse],
    holders: &[Holder],
    meter: Option<ServerMeter>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<OrdersOutcome, TrialError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| TrialError::Load(format!("cannot wait for clients: {error}")))?;
    runtime.block_on(async {
        let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
        let preparing = setup::prepare(job, stores, holders, stop, tell);
        let Prepared { running, clients, mut setup } =
            unless_stopped(stop, preparing).await.ok_or(TrialError::Interrupted)??;
        let is_here = running.stores.iter().all(|store| store.lease.url().is_local());
        let (server_cpu, read) = server_cpu(meter, is_here).unzip();
        setup.cpu_read = read;
        let drive =
            Drive { clients: &clients, server_cpu, simulated: false, stop, on_progress: &mut *on_progress };
        let conducted = drive.run::<User>(&running, Setup::Orders(Box::new(setup))).await?;
        let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
        Ok(outcome::outcome(&running, &clients, &conducted, stop, tell).await)
    })
}

/// What tells the servers' CPU, and whose that is.
fn server_cpu(meter: Option<ServerMeter>, is_here: bool) -> Option<(ServerCpu, CpuRead)> {
    if let Some(meter) = meter {
        let read = meter.read();
        let mut cpu = OwnCpu::begin(meter);
        return Some((Box::new(move |_| cpu.used()), read));
    }
    let mut cpu = is_here.then(MachineCpu::begin).flatten()?;
    let read = CpuRead { of: CpuOf::MachineLessLoad, processors: processors().map(f64::from) };
    Some((Box::new(move |load_us| cpu.others(load_us)), read))
}

#[cfg(test)]
mod tests;
