//! Events that arrive while reports run: each is due at a time that depends on no answer, and is committed with those that waited
//! for the commit before it.

use database::{Error, Rows, Session, WriteMethod};
use load::Arrivals;

use super::running::{EVENT, Running};
use crate::clock::Clock;
use crate::reporting::tables::MESSAGES;

/// Most events of a commit.
const TOGETHER_MAX: usize = 1_000;

/// Appends events when they are due, until the load is over or one could not be committed.
pub(super) async fn run(running: &Running, clock: Clock, mut session: Session) {
    let Some(mut arrivals) = Arrivals::of(running.job.arrivals, 0, 1, running.job.seed) else { return };
    let mut number = running.data.events();
    let mut rows = Rows::with_capacity(MESSAGES.columns.len(), TOGETHER_MAX);
    loop {
        tokio::select! {
            biased;
            () = running.load_over.wait() => break,
            () = clock.until(arrivals.next_ns()) => {}
        }
        let due = due_by(&mut arrivals, clock.now_ns());
        rows.clear();
        running.data.write(number..number + due.len() as u64, &mut rows);
        if let Err(error) = commit(running, clock, &mut session, (&mut rows, &due)).await {
            running.tell(|outcome| outcome.arrivals_stopped = Some(error.to_string()));
            return;
        }
        number += due.len() as u64;
    }
    let pending = arrivals.untaken_before(clock.now_ns());
    running.tell(|outcome| outcome.events_pending = pending);
}

/// When those are due that are by now, as far as they are committed together.
fn due_by(arrivals: &mut Arrivals, now_ns: u64) -> Vec<u64> {
    let mut due = Vec::new();
    while arrivals.next_ns() <= now_ns && due.len() < TOGETHER_MAX {
        due.push(arrivals.take());
    }
    due
}

async fn commit(
    running: &Running,
    clock: Clock,
    session: &mut Session,
    (rows, due): (&mut Rows, &[u64]),
) -> Result<(), Error> {
    let sent_ns = clock.now_ns();
    running.recorder.at(sent_ns).lags(EVENT, due.iter().map(|due_ns| sent_ns.saturating_sub(*due_ns)));
    session.append(&MESSAGES, rows, WriteMethod::MultiRow).await?;
    let now_ns = clock.now_ns();
    running.recorder.at(now_ns).complete_together(EVENT, now_ns, sent_ns, 0, due.iter().copied());
    running.tell(|outcome| outcome.events_committed += due.len() as u64);
    Ok(())
}
