//! One pread or pwrite at a time: works everywhere, cannot hold more than one I/O.

use std::fs::File;
use std::io;
use std::time::Duration;

use load::{Clock, MonotonicClock};
use rustix::io::{pread, pwrite};

use super::{Completion, Engine, Kind, Operation, Wait};
use crate::buffer::Buffers;

/// Performs each I/O within the exchange after its push.
#[derive(Debug)]
pub(crate) struct Psync {
    clock: MonotonicClock,
    buffers: Buffers,
    files: Vec<File>,
    pushed: Option<Operation>,
}

impl Psync {
    pub(crate) fn new(buffers: Buffers, files: Vec<File>) -> Self {
        assert_eq!(buffers.slots(), 1, "a synchronous engine has one I/O at a time");
        Self { clock: MonotonicClock::starting_now(), buffers, files, pushed: None }
    }

    fn perform(&mut self, operation: Operation) -> i32 {
        let file = &self.files[operation.file as usize];
        let block = self.buffers.block(operation.memory_at, operation.bytes as usize);
        let result = match operation.kind {
            Kind::Read => pread(file, block, operation.offset),
            Kind::Write => pwrite(file, block, operation.offset),
            Kind::Flush => rustix::fs::fdatasync(file).map(|()| 0),
        };
        result.map_or_else(|error| -error.raw_os_error(), |bytes| bytes as i32)
    }
}

impl Engine for Psync {
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
        debug_assert!(self.pushed.is_none());
        self.pushed = Some(operation);
    }

    #[inline]
    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> io::Result<()> {
        match (self.pushed.take(), wait) {
            (Some(operation), _) => {
                let result = self.perform(operation);
                completions.push(Completion { slot: operation.slot, result });
            }
            (None, Wait::Until(until_ns)) => sleep_until(&self.clock, until_ns),
            (None, Wait::No | Wait::One) => {}
        }
        Ok(())
    }
}

/// Sleeps until a time of the clock. The thread's timer slack decides how late it wakes.
pub(crate) fn sleep_until(clock: &impl Clock, until_ns: u64) {
    let now_ns = clock.now_ns();
    if until_ns > now_ns {
        std::thread::sleep(Duration::from_nanos(until_ns - now_ns));
    }
}
