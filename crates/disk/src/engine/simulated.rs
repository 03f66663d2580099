//! A device of a given service time in virtual time: an hour of load runs in milliseconds and always alike.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;

use load::{Clock, MonotonicClock};

use super::{Completion, Engine, Operation, Wait};
use crate::buffer::Buffers;
use crate::settings::Simulated as Device;

/// A clock that only the simulated device moves.
#[derive(Clone, Debug, Default)]
pub(crate) struct VirtualClock(Rc<Cell<u64>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    /// Virtual time costs no CPU.
    fn thread_cpu_ns(&self) -> u64 {
        0
    }
}

/// Serves I/Os first come, first served, `parallel` at once.
#[derive(Debug)]
pub(crate) struct Simulated {
    device: Device,
    clock: VirtualClock,
    buffers: Buffers,
    /// When each server is free again.
    free_at_ns: BinaryHeap<Reverse<u64>>,
    in_flight: BinaryHeap<Reverse<(u64, u32, i32)>>,
    taken: u64,
}

impl Simulated {
    pub(crate) fn new(device: Device, buffers: Buffers) -> Self {
        let free_at_ns = (0..device.parallel.max(1)).map(|_| Reverse(0)).collect();
        Self {
            device,
            clock: VirtualClock::default(),
            buffers,
            free_at_ns,
            in_flight: BinaryHeap::new(),
            taken: 0,
        }
    }

    fn answer_until_now(&mut self, completions: &mut Vec<Completion>) {
        while let Some(&Reverse((done_ns, slot, result))) = self.in_flight.peek() {
            if done_ns > self.clock.now_ns() {
                break;
            }
            self.in_flight.pop();
            completions.push(Completion { slot, result });
        }
    }
}

impl Engine for Simulated {
    type Clock = VirtualClock;

    fn start(&mut self, _: MonotonicClock) -> VirtualClock {
        self.clock.clone()
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn push(&mut self, operation: Operation) {
        self.taken += 1;
        let Reverse(free_ns) = self.free_at_ns.pop().unwrap_or_default();
        // Virtual time must move even if a service takes none, or a closed loop would never end.
        let done_ns = self.clock.now_ns().max(free_ns) + self.device.service.ns.max(1);
        self.free_at_ns.push(Reverse(done_ns));
        let fails = self.device.fails_at == Some(self.taken);
        let result = if fails { -rustix::io::Errno::IO.raw_os_error() } else { operation.bytes as i32 };
        self.in_flight.push(Reverse((done_ns, operation.slot, result)));
    }

    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> io::Result<()> {
        let next_ns = self.in_flight.peek().map(|&Reverse((done_ns, ..))| done_ns);
        let wake_ns = match (wait, next_ns) {
            (Wait::No, _) | (Wait::One, None) => None,
            (Wait::One, Some(next_ns)) => Some(next_ns),
            (Wait::Until(until_ns), next_ns) => Some(until_ns.min(next_ns.unwrap_or(u64::MAX))),
        };
        if let Some(wake_ns) = wake_ns {
            self.clock.0.set(self.clock.now_ns().max(wake_ns));
        }
        self.answer_until_now(completions);
        Ok(())
    }
}
