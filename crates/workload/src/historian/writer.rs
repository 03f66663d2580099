//! A writer: takes batches from the buffer and commits each in one transaction, whatever happens to the database meanwhile.
//!
//! A batch whose answer was lost is looked for in the database before it is written again, so that nothing is lost and
//! nothing is there twice. Until it is known to be committed it stays with its writer and counts as pending.

use std::sync::Arc;

use database::{Connection, Error, Held, Rows, Session};
use load::Completed;

use super::buffer::Event;
use super::ledger::Sums;
use super::running::{COMMIT, RECORD, Running};
use super::settings::WriteMethod;
use super::store::{self, SAMPLES};
use crate::backoff::Backoff;
use crate::clock::Clock;

/// Bytes of a row's values: tag, time, value, quality.
pub(crate) const ROW_BYTES: u64 = 4 + 8 + 8 + 2;

/// One writer.
#[derive(Debug)]
pub(crate) struct Writer {
    running: Arc<Running>,
    clock: Clock,
    session: Session,
    /// What the server knows the last session by in which something was written.
    connection: Connection,
    batch: Vec<Event>,
    /// What the rows of the batch come to that were handed to the session.
    sums: Sums,
    /// For an engine that has to have rows of its own.
    room: Rows,
}

/// A flush of which it is not known whether it was committed.
#[derive(Debug)]
pub(crate) struct Unfinished {
    pub(crate) connection: Connection,
    pub(crate) batch: Vec<Event>,
}

impl WriteMethod {
    /// As the database spells it; none where rows are handed to a procedure.
    pub(crate) fn of_database(self) -> Option<database::WriteMethod> {
        match self {
            Self::MultiRow => Some(database::WriteMethod::MultiRow),
            Self::Batch => Some(database::WriteMethod::Batch),
            Self::Bulk => Some(database::WriteMethod::Bulk),
            Self::TableValued => None,
        }
    }
}

impl Writer {
    pub(crate) fn new(running: Arc<Running>, clock: Clock, session: Session) -> Self {
        let flush_rows = running.job.flush_rows as usize;
        Self {
            clock,
            connection: session.connection().clone(),
            session,
            batch: Vec::with_capacity(flush_rows),
            sums: Sums::new(running.epoch_us),
            room: Rows::with_capacity(SAMPLES.columns.len(), flush_rows),
            running,
        }
    }

    /// Writes until the source has ended and nothing is left, or until it has to give up.
    pub(crate) async fn run(mut self) {
        let running = Arc::clone(&self.running);
        tokio::select! {
            biased;
            () = self.write_all() => {}
            () = running.give_up.wait() => {
                let unfinished = Unfinished { connection: self.connection, batch: self.batch };
                if !unfinished.batch.is_empty() {
                    running.measured().unfinished.push(unfinished);
                }
            }
        }
    }

    async fn write_all(&mut self) {
        while self.running.buffer.take(self.clock, &mut self.batch).await {
            self.write_batch().await;
            self.batch.clear();
        }
    }

    /// Tries until the batch is in the database.
    async fn write_batch(&mut self) {
        let method = self.running.job.write_method.of_database();
        let mut backoff = Backoff::new();
        let mut again = false;
        loop {
            let sent_ns = self.clock.now_ns();
            self.sums.clear();
            let sums = &mut self.sums;
            let rows = self.batch.iter().map(|event| {
                sums.add(event);
                store::row(event)
            });
            let written = match method {
                Some(method) => self.session.append_numbers(&SAMPLES, rows, &mut self.room, method).await,
                // What is under way here is large.
                None => Box::pin(self.session.call_with_rows(&store::ROWS_PROCEDURE, rows)).await,
            };
            let error = match written {
                Ok(()) => {
                    assert_eq!(self.sums.rows(), self.batch.len() as u64, "what is acknowledged was sent");
                    let rewritten = if again { self.batch.len() as u64 } else { 0 };
                    self.running.ledger.lock().written_again += rewritten;
                    return self.committed(sent_ns);
                }
                Err(error) => error,
            };
            self.failed(&error);
            if !error.is_lost() {
                self.look_whose().await;
                backoff.pause().await;
            } else if self.find_again(&mut backoff).await {
                self.running.ledger.lock().found_after_outage += self.batch.len() as u64;
                // Of what was sent over a connection that was lost some may never have been asked for.
                self.sums = self.running.ledger.sums_of(&self.batch);
                return self.committed(sent_ns);
            } else {
                again = true;
            }
        }
    }

    /// The batch is known to be in the database.
    fn committed(&self, sent_ns: u64) {
        let Running { recorder, ledger, buffer, .. } = &*self.running;
        let now_ns = self.clock.now_ns();
        ledger.acknowledged(&self.sums, Some(now_ns));
        {
            let mut recording = recorder.at(now_ns);
            recording.complete(now_ns, Completed { kind: COMMIT, due_ns: None, sent_ns, bytes: 0 });
            let due_ns = self.batch.iter().map(|event| event.due_ns);
            recording.complete_together(RECORD, now_ns, sent_ns, ROW_BYTES, due_ns);
            recording.answered(now_ns);
        }
        buffer.committed(self.batch.len(), now_ns);
    }

    fn failed(&self, error: &Error) {
        let now_ns = self.clock.now_ns();
        self.running.recorder.at(now_ns).fail(COMMIT, 1);
        self.running.ledger.lock().outages.failed(now_ns, &error.to_string());
    }

    /// Looks whether the database is this run's own still. If it is not, no try will succeed where it should.
    async fn look_whose(&self) {
        if let Ok(Held::Lost(_)) = self.running.holder.is_held().await {
            self.running.taken.set();
        }
    }

    /// Connects again, and tells whether the batch was committed over the lost connection.
    async fn find_again(&mut self, backoff: &mut Backoff) -> bool {
        loop {
            backoff.pause().await;
            self.running.ledger.lock().outages.attempted();
            let mut session = match self.running.session().await {
                Ok(session) => session,
                Err(error) => {
                    if !error.is_lost() {
                        self.look_whose().await;
                    }
                    continue;
                }
            };
            if let Ok(is_there) = settle(&self.running, &mut session, &self.connection, &self.batch).await {
                self.connection = session.connection().clone();
                self.session = session;
                return is_there;
            }
        }
    }
}

/// Makes sure that a lost connection does nothing any more, and tells whether what it was writing is there.
pub(crate) async fn settle(
    running: &Running,
    session: &mut Session,
    lost: &Connection,
    batch: &[Event],
) -> Result<bool, Error> {
    session.end(lost).await?;
    running.store.holds(session, batch).await
}
