//! The end of a trial: what is in the database is counted and set against what was acknowledged.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use database::{Error, Held, Session};
use load::Tell;
use record::{HistorianOutcome, Preparation, RowsCompared};
use tokio::time::{Instant, timeout};

use super::compare::compare;
use super::running::Running;
use super::space::Space;
use super::writer;
use crate::backoff::Backoff;
use crate::waiting::{telling, with_grace};

/// How long a server that is away at the end is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the count goes on when the user asks for the end.
const STOPPED_PATIENCE: Duration = Duration::from_secs(3);

/// How long reading the rows may take: two to four million a second were read here. Counting them has no limit.
const COMPARE_LIMIT: Duration = Duration::from_secs(600);
/// The limit after the user ended the trial. It is shorter than that of the count, whose figures are always reported.
const STOPPED_COMPARE_LIMIT: Duration = Duration::from_secs(2);

/// How the drain went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drain {
    /// From the end of the load until nothing was pending, in seconds.
    pub(crate) seconds: Option<f64>,
    /// Time that a stable step may take.
    pub(crate) limit_s: f64,
}

/// What the database held at the end.
#[derive(Debug, Default)]
struct Found {
    rows_since_cutoff: Option<u64>,
    rows: Option<u64>,
    space: Space,
    compared: Option<RowsCompared>,
}

/// The outcome of a trial whose roles have ended.
pub(crate) async fn outcome(
    running: &Running,
    drain: Drain,
    before: Space,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> HistorianOutcome {
    let found = found(running, stop, tell).await;
    let lock_lost = with_grace(stop, STOPPED_PATIENCE, lock_lost(running)).await.unwrap_or_else(|| {
        running
            .ledger
            .note("it is unknown whether the lock on the database was kept until the end, because the run was interrupted".to_owned());
        false
    });
    let (_, rows_expected) = running.ledger.expected();
    let entries = running.ledger.lock().clone();
    let written = |before: u64, after: u64| after.checked_sub(before);
    HistorianOutcome {
        offered: entries.offered,
        accepted: entries.accepted,
        refused: entries.offered - entries.accepted,
        acknowledged: entries.acknowledged,
        found_after_outage: entries.found_after_outage,
        written_again: entries.written_again,
        abandoned: entries.accepted - entries.acknowledged,
        drain_s: drain.seconds,
        drain_limit_s: drain.limit_s,
        rows_expected,
        rows_found: found.rows_since_cutoff,
        rows_compared: found.compared,
        purged: entries.purged,
        outages: entries.outages.all,
        source_outages: entries.source_outages.all,
        maintenance: entries.maintenance,
        database_bytes_before: before.sizes.database_bytes,
        database_bytes_after: found.space.sizes.database_bytes,
        used_before: before.used,
        used_after: found.space.used,
        rows_after: found.rows,
        // The counter of a server that was started again began anew.
        log_bytes_written: before
            .sizes
            .log_written_bytes
            .zip(found.space.sizes.log_written_bytes)
            .and_then(|(before, after)| written(before, after)),
        lock_lost,
        notes: entries.notes,
    }
}

/// What the database holds; nothing, with a note, where that could not be counted.
async fn found(running: &Running, stop: &AtomicBool, tell: &mut Tell<'_>) -> Found {
    let counting = Preparation::waiting(format!("counting and reading the rows in {}", running.lease.name()));
    let counting = telling(tell, counting, counted(running, stop));
    let counted = with_grace(stop, STOPPED_PATIENCE, counting).await;
    counted.unwrap_or_else(|| Err(not_counted())).unwrap_or_else(|error| {
        running.ledger.note(format!("the rows in the database could not be counted: {error}"));
        Found::default()
    })
}

/// Whether another run may have changed what is in the database.
async fn lock_lost(running: &Running) -> bool {
    match running.holder.is_held().await {
        Ok(Held::Lost(found)) => {
            running.ledger.note(found);
            true
        }
        // A server that does not answer could not be counted either, which was told.
        Ok(Held::Held | Held::TakenAgain) | Err(_) => false,
    }
}

/// Counts the rows, with patience for a server that comes back.
async fn counted(running: &Running, stop: &AtomicBool) -> Result<Found, Error> {
    let give_up = Instant::now() + PATIENCE;
    let mut backoff = Backoff::new();
    loop {
        match count(running, stop).await {
            Err(error) if error.is_lost() && Instant::now() < give_up => backoff.pause().await,
            counted => return counted,
        }
    }
}

fn not_counted() -> Error {
    Error::Statement(format!(
        "the run was interrupted, and counting took more than {} s",
        STOPPED_PATIENCE.as_secs()
    ))
}

async fn count(running: &Running, stop: &AtomicBool) -> Result<Found, Error> {
    let mut session = running.lease.session().await?;
    let given_up = running.measured().given_up.clone();
    if let Some(connection) = given_up {
        session.end(&connection).await?;
    }
    settle_unfinished(running, &mut session).await?;
    let (cutoff_us, _) = running.ledger.expected();
    Ok(Found {
        rows_since_cutoff: Some(running.store.count_since(&mut session, cutoff_us).await?),
        rows: Some(running.store.count(&mut session).await?),
        space: Space::of(&mut session).await?,
        compared: compared(running, session, stop).await?,
    })
}

/// Reads all rows again, unless this takes too long. After an interrupted read, the session is not used again.
async fn compared(
    running: &Running,
    mut session: Session,
    stop: &AtomicBool,
) -> Result<Option<RowsCompared>, Error> {
    let compare =
        timeout(COMPARE_LIMIT, compare(&running.store, &mut session, running.ledger.expected_rows()));
    let why = match with_grace(stop, STOPPED_COMPARE_LIMIT, compare).await {
        Some(Ok(compared)) => return compared.map(Some),
        Some(Err(_)) => format!("it took more than {} s", COMPARE_LIMIT.as_secs()),
        None => "the user ended it".to_owned(),
    };
    running.ledger.note(format!(
        "rows were counted but not compared: {why}. Changed rows are not detected, nor are missing rows if equally many are duplicated"
    ));
    Ok(None)
}

/// Flushes whose writer was told to stop are counted if they are there.
async fn settle_unfinished(running: &Running, session: &mut Session) -> Result<(), Error> {
    loop {
        let Some(unfinished) = running.measured().unfinished.pop() else { return Ok(()) };
        match writer::settle(running, session, &unfinished.connection, &unfinished.batch).await {
            Ok(true) => {
                let sums = running.ledger.sums_of(&unfinished.batch);
                running.ledger.acknowledged(&sums, None);
                running.ledger.lock().found_after_outage += unfinished.batch.len() as u64;
            }
            Ok(false) => {}
            Err(error) => {
                running.measured().unfinished.push(unfinished);
                return Err(error);
            }
        }
    }
}
