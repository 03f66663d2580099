//! Acquires events from a PLC: polls it at fixed times, and what has changed is an event.
//!
//! An event has the time of the reply that told it. It was due when its poll was, so that a poll that is late, or that
//! takes long, shows as lag. A PLC that goes away is tried again and again; what it did meanwhile nobody knows.

use super::buffer::Event;
use super::modbus::{PollError, Poller};
use super::running::Running;
use super::source::{BATCH_EVENTS, GOOD};
use crate::TrialError;
use crate::backoff::Backoff;
use crate::clock::Clock;

/// A PLC that is polled.
#[derive(Debug)]
pub(crate) struct Acquisition {
    address: String,
    registers: u32,
    poll_interval_ns: u64,
    /// None until it is connected.
    poller: Option<Poller>,
}

impl Acquisition {
    pub(crate) fn of(address: &str, registers: u32, poll_interval_ns: u64) -> Self {
        Self { address: address.to_owned(), registers, poll_interval_ns, poller: None }
    }

    /// Registers polled a second: what changes is known only afterwards and is this at most.
    pub(crate) fn registers_per_s(&self) -> f64 {
        f64::from(self.registers) * 1e9 / self.poll_interval_ns as f64
    }

    /// Connects, and polls once to see whether the PLC lets its registers be read.
    ///
    /// # Errors
    /// When there is no such PLC, or it refuses.
    pub(crate) async fn connect(&mut self) -> Result<(), TrialError> {
        let mut poller = Poller::connect(&self.address, self.registers).await?;
        poller.probe().await?;
        self.poller = Some(poller);
        Ok(())
    }

    /// Polls until the load ends.
    ///
    /// # Errors
    /// When the PLC says that it cannot do what is asked, which waiting does not change.
    pub(crate) async fn run(self, running: &Running, clock: Clock) -> Result<(), TrialError> {
        let Some(mut poller) = self.poller else { return Ok(()) };
        let end_ns = running.phases.end_ns();
        let mut batch = Vec::with_capacity(BATCH_EVENTS);
        let mut due_ns = 0;
        while due_ns < end_ns {
            clock.until(due_ns).await;
            match poller.poll().await {
                Ok(_) => {
                    let now_ns = clock.now_ns();
                    running.ledger.lock().source_outages.ended(now_ns);
                    offer_changes(&poller, running, due_ns, now_ns, &mut batch);
                    due_ns += self.poll_interval_ns;
                }
                Err(error) => {
                    connect_again(&mut poller, error, running, clock).await?;
                    // Polls that were due meanwhile are not made up for: they would find nothing more.
                    due_ns = (clock.now_ns() / self.poll_interval_ns + 1) * self.poll_interval_ns;
                }
            }
            running.buffer.passed(due_ns);
        }
        clock.until(end_ns).await;
        Ok(())
    }
}

impl From<PollError> for TrialError {
    fn from(error: PollError) -> Self {
        Self::Source(error.to_string())
    }
}

fn offer_changes(poller: &Poller, running: &Running, due_ns: u64, now_ns: u64, batch: &mut Vec<Event>) {
    let time_us = running.time_us(now_ns);
    for (tag, word) in poller.changes() {
        batch.push(Event { time_us, due_ns, value: f64::from(word), tag, quality: GOOD });
        if batch.len() == BATCH_EVENTS {
            running.offer(batch, now_ns);
            batch.clear();
        }
    }
    if !batch.is_empty() {
        running.offer(batch, now_ns);
        batch.clear();
    }
}

/// Tries until there is a connection again.
async fn connect_again(
    poller: &mut Poller,
    mut error: PollError,
    running: &Running,
    clock: Clock,
) -> Result<(), TrialError> {
    let mut backoff = Backoff::new();
    // Nothing is due until it is back: no interval need wait for what might still be offered.
    running.buffer.passed(u64::MAX);
    loop {
        if !error.is_worth_retrying() {
            return Err(error.into());
        }
        let now_ns = clock.now_ns();
        {
            let mut entries = running.ledger.lock();
            entries.source_outages.failed(now_ns, &error.to_string());
            entries.source_outages.attempted();
        }
        backoff.pause().await;
        match poller.reconnect().await {
            Ok(()) => return Ok(()),
            Err(again) => error = again,
        }
    }
}
