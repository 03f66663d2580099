//! An engine that answers at once and touches nothing: what remains is the cost of the generator itself.

use std::io;

use load::MonotonicClock;

use super::{Completion, Engine, Operation, Wait};
use crate::buffer::Buffers;

/// Answers everything at the next exchange.
#[derive(Debug)]
pub(crate) struct Null {
    clock: MonotonicClock,
    buffers: Buffers,
    answered: Vec<Completion>,
}

impl Null {
    pub(crate) fn new(buffers: Buffers) -> Self {
        let answered = Vec::with_capacity(buffers.slots());
        Self { clock: MonotonicClock::starting_now(), buffers, answered }
    }

    /// Apart from the exchange, which is part of every loop without it.
    #[cold]
    fn sleep(&self, until_ns: u64) {
        super::psync::sleep_until(&self.clock, until_ns);
    }
}

impl Engine for Null {
    type Clock = MonotonicClock;

    fn start(&mut self, clock: MonotonicClock) -> MonotonicClock {
        self.clock = clock;
        self.clock
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    #[inline]
    fn push(&mut self, operation: Operation) {
        self.answered.push(Completion { slot: operation.slot, result: operation.bytes as i32 });
    }

    #[inline]
    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> io::Result<()> {
        if let (Wait::Until(until_ns), true) = (wait, self.answered.is_empty()) {
            self.sleep(until_ns);
        }
        completions.append(&mut self.answered);
        Ok(())
    }
}
