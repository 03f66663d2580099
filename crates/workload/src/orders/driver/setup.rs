//! What is settled before the load begins, and what is counted when it has ended.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use database::{Engine, Error};
use load::{Arrivals, Recorder};
use record::{OrdersOutcome, OrdersSetup, StoreTarget, TargetOutcome, Window, orders};
use tokio::sync::watch;
use tokio::time::Instant;

use super::StoreInUse;
use super::books::Books;
use super::last_100::Last100;
use super::running::{CLOSED, Driven, OPEN, Running};
use crate::TrialError;
use crate::backoff::Backoff;
use crate::orders::job::Job;
use crate::orders::reconcile::{Found, reconcile};
use crate::orders::restore::{RestoreError, restore};
use crate::orders::store::{Style, mark_used};
use crate::signal::Signal;

/// How long a server that is away at the end is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

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
) -> Result<(Running, OrdersSetup), TrialError> {
    let mut targets = Vec::with_capacity(stores.len());
    let mut driven = Vec::with_capacity(stores.len());
    for (number, store) in stores.iter().enumerate() {
        let restored = restore(&store.own, &store.loaded, stop).await?;
        let mut session = store.own.session().await?;
        mark_used(&mut session).await?;
        targets.push(StoreTarget {
            target: store.own.url().to_string(),
            engine: store.own.url().engine().name().to_owned(),
            database: store.own.name().to_owned(),
            server: session.server().await?,
            size: store.loaded.size.clone(),
            seed: store.loaded.seed,
            restored: restored.map(|restored| restored.to_string()),
        });
        driven.push(drive(job, store, number as u32, stores.len() as u32));
    }
    let has_procedures = driven.iter().all(|store| store.style == Style::Procedures);
    let (active, _) = watch::channel(if job.cpu_target.is_some() { 1 } else { job.n_threads });
    let running = Running {
        phases: job.phases,
        job: job.clone(),
        stores: driven,
        active,
        last_100: Mutex::new(Last100::default()),
        threads: Mutex::default(),
        load_over: Signal::new(),
        over: Signal::new(),
    };
    Ok((running, describe(job, targets, has_procedures)))
}

fn drive(job: &Job, store: &StoreInUse, number: u32, stores: u32) -> Driven {
    let style = match job.procedures {
        Some(false) => Style::Statements,
        Some(true) => Style::Procedures,
        None => Style::of(store.own.url().engine().dialect()),
    };
    let kinds = if job.pacing.is_open() { OPEN } else { CLOSED };
    Driven {
        own: store.own.clone(),
        loaded: store.loaded.clone(),
        style,
        recorder: Recorder::new(kinds, job.phases),
        books: Mutex::new(Books::of(&store.loaded)),
        due: Arrivals::of(job.pacing, number, stores, job.seed.wrapping_add(u64::from(number)))
            .map(Mutex::new),
        orders_by_client: (0..job.n_threads).map(|_| AtomicU64::new(0)).collect(),
    }
}

fn describe(job: &Job, targets: Vec<StoreTarget>, procedures: bool) -> OrdersSetup {
    OrdersSetup {
        targets,
        pacing: job.pacing.recorded(),
        n_threads: job.n_threads,
        ramp_rate_per_s: job.ramp_rate,
        pct_newcustomers: job.habits.pct_newcustomers,
        n_searches: job.habits.n_searches,
        search_batch_size: job.habits.search_batch_size,
        n_line_items: job.habits.n_line_items,
        procedures,
        cpu_target_share: job.cpu_target,
        seed: job.seed,
    }
}

/// The outcome of a trial whose clients have ended.
pub(super) async fn outcome(running: &Running, windows: &[Window]) -> OrdersOutcome {
    let mut outcome = OrdersOutcome::default();
    for (store, window) in running.stores.iter().zip(windows) {
        let found = found(store).await;
        let mut books = store.books();
        let found = found
            .inspect_err(|error| {
                books.note(format!("what is in {} could not be counted: {error}", store.own.url()));
            })
            .ok();
        let counted = |kind: &str| window.kind(kind).map_or(0, |kind| kind.count);
        outcome.targets.push(TargetOutcome {
            orders_by_client: store
                .orders_by_client
                .iter()
                .map(|orders| orders.load(Ordering::Relaxed))
                .collect(),
            rollbacks: counted(orders::ROLLBACKS),
            retries: counted(orders::RETRIES),
            order_mean_ms: window
                .kind(orders::ORDER)
                .and_then(|order| order.latency().mean_us())
                .map(|us| us / 1e3),
            purchases_from_start: books.purchases,
            rollbacks_from_start: books.rollbacks,
            unanswered: books.unanswered,
            orders_found: found.as_ref().map(|found| found.orders_found),
            acknowledged_lost: found.as_ref().map(|found| found.acknowledged_lost),
            quantity_found: found.as_ref().map(|found| found.quantity_found),
            sales_risen: found.as_ref().map(|found| found.sales_risen),
            stopped: std::mem::take(&mut books.stopped),
            outages: std::mem::take(&mut books.outages.all),
        });
        outcome.notes.append(&mut books.notes);
    }
    outcome
}

/// Counts what is in a store, with patience for a server that comes back.
async fn found(store: &Driven) -> Result<Found, Error> {
    let give_up = Instant::now() + PATIENCE;
    let mut backoff = Backoff::new();
    loop {
        match count(store).await {
            Err(error) if error.is_lost() && Instant::now() < give_up => backoff.pause().await,
            counted => return counted,
        }
    }
}

async fn count(store: &Driven) -> Result<Found, Error> {
    let mut session = store.own.session().await?;
    let left = store.books().left.clone();
    for connection in &left {
        session.end(connection).await?;
    }
    let acknowledged = store.books().acknowledged.clone();
    reconcile(&mut session, &store.loaded, &acknowledged).await
}

impl From<RestoreError> for TrialError {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Database(error) => Self::Database(error),
            error => Self::Load(error.to_string()),
        }
    }
}
