//! What is settled before the load begins.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use database::Holder;
use load::Tell;
use record::{OrdersSetup, StoreTarget, Workload, orders};

use super::StoreInUse;
use super::books::Books;
use super::running::{Driven, NET_US, Running, counted};
use crate::TrialError;
use crate::clients::{Clients, MachineCpu, Names};
use crate::orders::job::Job;
use crate::orders::parameter;
use crate::orders::restore::{RestoreError, restore};
use crate::orders::settings::CpuTarget;
use crate::orders::store::{Style, mark_used, search_again, told};

/// Refuses what can be known to be wrong without a database: procedures where an engine has none, the CPU of a server that
/// is elsewhere. `is_started` tells of which address a server is started here.
///
/// # Errors
/// Names the parameter, its value and the remedy.
pub fn check(
    job: &Job,
    targets: &[database::Url],
    is_started: &dyn Fn(&database::Url) -> bool,
) -> Result<(), TrialError> {
    for url in targets {
        if job.procedures == Some(true) && Style::of(url.engine().dialect()) == Style::Statements {
            return Err(TrialError::Load(format!(
                "{} does not work with {url}, because {} has no procedures: omit this option, or set it to `off`",
                parameter("procedures").of("on"),
                url.engine().dialect().name()
            )));
        }
        if job.cpu_target.is_some() && !url.is_local() && !is_started(url) {
            return Err(TrialError::Load(format!(
                "{} does not work for {url}, because prony reads only the CPU of this machine: run prony on the server's host",
                parameter("cpu_target")
            )));
        }
    }
    Ok(())
}

/// Everything that a trial needs to begin.
pub(super) struct Prepared {
    pub(super) running: Arc<Running>,
    pub(super) clients: Arc<Clients>,
    pub(super) setup: OrdersSetup,
}

/// Brings the stores back to what was loaded, and describes what is driven.
pub(super) async fn prepare(
    job: &Job,
    stores: &[StoreInUse],
    holders: &[Holder],
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<Prepared, TrialError> {
    if let Some(target) = job.cpu_target.filter(|_| MachineCpu::begin().is_none()) {
        return Err(TrialError::Load(format!(
            "{} does not work here: this machine does not report its CPU usage (/proc/stat)",
            parameter("cpu_target").of(CpuTarget(target))
        )));
    }
    let mut targets = Vec::with_capacity(stores.len());
    let mut driven = Vec::with_capacity(stores.len());
    assert_eq!(stores.len(), holders.len(), "each store has somebody who holds it");
    for (store, holder) in stores.iter().zip(holders) {
        let restored = restore(&store.lease, &store.loaded, stop, tell).await?;
        let mut session = store.lease.session().await?;
        search_again(&mut session).await?;
        mark_used(&mut session).await?;
        let driving = drive(job, store, holder);
        let mut server = session.server().await?;
        server.settings.extend(told(&mut session).await?);
        targets.push(StoreTarget {
            target: store.lease.url().to_string(),
            engine: store.lease.url().engine().name().to_owned(),
            database: store.lease.name().to_owned(),
            server,
            size: store.loaded.size.clone(),
            seed: store.loaded.seed,
            procedures: driving.style == Style::Procedures,
            restored: restored.map(|restored| restored.to_string()),
        });
        driven.push(driving);
    }
    let names = Names {
        clients: parameter("n_threads").to_string(),
        turns: Workload::Orders.main(),
        last_100_max: Some([orders::LAST_100_MAX, orders::NET_LAST_100_MAX]),
        net_us: NET_US,
        late: None,
        turns_of_part: orders::target_orders,
        tells_silences: true,
    };
    let clients = Clients::new(job.schedule(), stores.len() as u32, &counted(job.pacing.is_open()), names);
    let running = Running { job: job.clone(), stores: driven };
    Ok(Prepared { running: Arc::new(running), clients: Arc::new(clients), setup: describe(job, targets) })
}

fn drive(job: &Job, store: &StoreInUse, holder: &Holder) -> Driven {
    let style = match job.procedures {
        Some(false) => Style::Statements,
        Some(true) => Style::Procedures,
        None => Style::of(store.lease.url().engine().dialect()),
    };
    Driven {
        lease: store.lease.clone(),
        holder: holder.clone(),
        loaded: store.loaded.clone(),
        style,
        books: Mutex::new(Books::of(&store.loaded)),
    }
}

fn describe(job: &Job, targets: Vec<StoreTarget>) -> OrdersSetup {
    OrdersSetup {
        targets,
        pacing: job.pacing.recorded(),
        n_threads: job.n_threads,
        ramp_rate_per_s: job.ramp_rate,
        pct_newcustomers: job.habits.pct_newcustomers,
        n_searches: job.habits.n_searches,
        search_batch_size: job.habits.search_batch_size,
        n_line_items: job.habits.n_line_items,
        cpu_target_share: job.cpu_target,
        cpu_read: None,
        seed: job.seed,
    }
}

impl From<RestoreError> for TrialError {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Database(error) => Self::Database(error),
            error @ (RestoreError::Interrupted | RestoreError::Different { .. }) => {
                Self::Load(error.to_string())
            }
        }
    }
}
