//! What is settled before the load begins.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use database::Engine;
use load::{Arrivals, Recorder, Tell};
use record::{OrdersSetup, StoreTarget};
use tokio::sync::watch;

use super::StoreInUse;
use super::books::Books;
use super::cpu::MachineCpu;
use super::last_100::Last100;
use super::running::{Driven, Running, counted};
use crate::TrialError;
use crate::orders::job::Job;
use crate::orders::restore::{RestoreError, restore};
use crate::orders::settings::CpuTarget;
use crate::orders::store::{Style, mark_used};
use crate::signal::Signal;

/// Refuses what can be known to be wrong without a database: procedures where an engine has none, the CPU of a server that
/// is elsewhere.
///
/// # Errors
/// Names the parameter, its value and the remedy.
pub fn check(job: &Job, targets: &[database::Url]) -> Result<(), TrialError> {
    for url in targets {
        if job.procedures == Some(true) && url.engine() == Engine::Sqlite {
            return Err(TrialError::Load(format!(
                "procedures cannot be on with {url}: SQLite has none; leave it out, or turn them off"
            )));
        }
        if job.cpu_target.is_some() && !url.is_local() {
            return Err(TrialError::Load(format!(
                "cpu_target cannot be given for {url}: only the CPU of this machine can be read; run prony where the server is"
            )));
        }
    }
    Ok(())
}

/// Brings the stores back to what was loaded, and describes what is driven.
pub(super) async fn prepare(
    job: &Job,
    stores: &[StoreInUse],
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<(Running, OrdersSetup), TrialError> {
    if let Some(target) = job.cpu_target.filter(|_| MachineCpu::begin().is_none()) {
        return Err(TrialError::Load(format!(
            "cpu_target cannot be {}: this machine does not tell how much of its CPU is used (/proc/stat)",
            CpuTarget(target)
        )));
    }
    let mut targets = Vec::with_capacity(stores.len());
    let mut driven = Vec::with_capacity(stores.len());
    for (number, store) in stores.iter().enumerate() {
        let restored = restore(&store.own, &store.loaded, stop, tell).await?;
        let mut session = store.own.session().await?;
        mark_used(&mut session).await?;
        let driving = drive(job, store, number as u32, stores.len() as u32);
        targets.push(StoreTarget {
            target: store.own.url().to_string(),
            engine: store.own.url().engine().name().to_owned(),
            database: store.own.name().to_owned(),
            server: session.server().await?,
            size: store.loaded.size.clone(),
            seed: store.loaded.seed,
            procedures: driving.style == Style::Procedures,
            restored: restored.map(|restored| restored.to_string()),
        });
        driven.push(driving);
    }
    let (active, _) = watch::channel(if job.cpu_target.is_some() { 1 } else { job.n_threads });
    let running = Running {
        job: job.clone(),
        stores: driven,
        active,
        last_100: Mutex::new(Last100::default()),
        threads: Mutex::default(),
        load_over: Signal::new(),
        over: Signal::new(),
    };
    Ok((running, describe(job, targets)))
}

fn drive(job: &Job, store: &StoreInUse, number: u32, stores: u32) -> Driven {
    let style = match job.procedures {
        Some(false) => Style::Statements,
        Some(true) => Style::Procedures,
        None => Style::of(store.own.url().engine().dialect()),
    };
    let due = Arrivals::of(job.pacing, number, stores, job.seed.wrapping_add(u64::from(number)));
    Driven {
        own: store.own.clone(),
        loaded: store.loaded.clone(),
        style,
        recorder: Recorder::new(counted(job.pacing.is_open()), job.phases),
        books: Mutex::new(Books::of(&store.loaded)),
        all_due: due.clone(),
        due: due.map(Mutex::new),
        orders_by_client: (0..job.n_threads).map(|_| AtomicU64::new(0)).collect(),
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
        seed: job.seed,
    }
}

impl From<RestoreError> for TrialError {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Database(error) => Self::Database(error),
            error => Self::Load(error.to_string()),
        }
    }
}
