//! What is counted when the load has ended: each store against what its clients were told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::{Error, Held};
use load::Tell;
use record::{OrdersOutcome, Preparation, TargetOutcome, orders};
use tokio::time::{Instant, timeout};

use super::running::{Driven, Running};
use crate::backoff::Backoff;
use crate::clients::{Clients, Conducted, Measured, Part};
use crate::orders::reconcile::{Found, reconcile};
use crate::waiting::{telling, with_grace};

/// How long servers that are away at the end are waited for, all of them together.
const PATIENCE: Duration = Duration::from_secs(60);
/// And how long each count goes on once the user asked for the end.
const STOPPED_PATIENCE: Duration = Duration::from_secs(3);
/// How long counting one store may take. The largest take minutes.
const COUNT_LIMIT: Duration = Duration::from_secs(600);

/// The outcome of a trial whose clients have ended.
pub(super) async fn outcome(
    running: &Running,
    clients: &Clients,
    conducted: &Conducted,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> OrdersOutcome {
    let mut outcome = OrdersOutcome::default();
    let begin = Instant::now();
    for ((store, part), measured) in running.stores.iter().zip(clients.parts()).zip(&conducted.measured) {
        let counting = Preparation::waiting(format!("counting the orders in {}", store.lease.name()));
        let counted = telling(tell, counting, found(store, begin, stop)).await;
        let found = counted.map_err(|error| {
            store.books().note(format!("the content of {} could not be counted: {error}", store.lease.url()));
        });
        let mut target = target(store, part, measured, found.ok());
        match with_grace(stop, STOPPED_PATIENCE, store.holder.is_held()).await {
            Some(Ok(Held::Lost(found))) => {
                target.lock_lost = true;
                outcome.notes.push(found);
            }
            // What can have been told otherwise is told by the count.
            Some(Ok(Held::Held | Held::TakenAgain) | Err(_)) => {}
            None => outcome.notes.push(format!(
                "it is unknown whether the lock on {} was kept until the end, because the run was interrupted",
                store.lease.url()
            )),
        }
        outcome.targets.push(target);
        outcome.notes.append(&mut store.books().notes);
    }
    outcome.unsent = clients.unsent(conducted.load_end_ns);
    outcome.offered = clients.offered(conducted.load_end_ns);
    outcome
}

fn target(store: &Driven, part: &Part, measured: &Measured, found: Option<Found>) -> TargetOutcome {
    let books = store.books();
    let order_mean_us = measured.window.kind(orders::ORDER).and_then(|order| order.latency().mean_us());
    TargetOutcome {
        orders_by_client: part.turns_by_client(),
        rollbacks: measured.counted(orders::ROLLBACKS),
        retries: measured.counted(orders::RETRIES),
        order_mean_ms: order_mean_us.map(|us| us / 1e3),
        purchases_from_start: books.purchases,
        rollbacks_from_start: books.rollbacks,
        // What a client that ended by a mistake was doing is not known.
        unanswered: books.unanswered + u64::from(part.ended_by_mistake()),
        orders_found: found.map(|found| found.orders_found),
        acknowledged_lost: found.map(|found| found.acknowledged_lost),
        quantity_found: found.map(|found| found.quantity_found),
        sales_risen: found.map(|found| found.sales_risen),
        orders_changed: found.map(|found| found.changed.orders),
        lines_changed: found.map(|found| found.changed.lines),
        stopped: part.take_stopped(),
        outages: part.take_outages(),
        away_by_client: part.away_by_client(),
        lock_lost: false,
    }
}

/// Counts what is in a store, with patience for a server that comes back.
async fn found(store: &Driven, begin: Instant, stop: &AtomicBool) -> Result<Found, Error> {
    let mut backoff = Backoff::new();
    loop {
        let counting = with_grace(stop, STOPPED_PATIENCE, timeout(COUNT_LIMIT, count(store))).await;
        let counted = match counting {
            Some(Ok(counted)) => counted,
            Some(Err(_)) => Err(took_longer("", COUNT_LIMIT)),
            None => return Err(took_longer("interrupted, and ", STOPPED_PATIENCE)),
        };
        let patience = if stop.load(Ordering::Relaxed) { STOPPED_PATIENCE } else { PATIENCE };
        match counted {
            Err(error) if error.is_lost() && begin.elapsed() < patience => backoff.pause().await,
            counted => return counted,
        }
    }
}

fn took_longer(why: &str, limit: Duration) -> Error {
    Error::Statement(format!("{why}it took more than {} s", limit.as_secs()))
}

async fn count(store: &Driven) -> Result<Found, Error> {
    let mut session = store.lease.session().await?;
    let left = store.books().left.clone();
    for connection in &left {
        session.end(connection).await?;
    }
    let acknowledged = store.books().acknowledged.clone();
    reconcile(&mut session, &store.loaded, &acknowledged).await
}
