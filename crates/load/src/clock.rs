//! Time of a trial: nanoseconds since its load began.
//!
//! Load threads ask a [`Clock`] and never the operating system, so that a simulated device can run them in
//! virtual time.

use std::time::Instant;

/// The time of one trial.
pub trait Clock {
    /// Nanoseconds since the load began.
    fn now_ns(&self) -> u64;
    /// CPU time, user and system, that this thread has used, in nanoseconds.
    fn thread_cpu_ns(&self) -> u64;
}

/// CLOCK_MONOTONIC from a common start, and the thread's CPU clock.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl MonotonicClock {
    /// A clock that reads zero at `start`, and before it.
    #[must_use]
    pub fn starting_at(start: Instant) -> Self {
        Self { start }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        Instant::now().saturating_duration_since(self.start).as_nanos() as u64
    }

    fn thread_cpu_ns(&self) -> u64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_and_cpu_time_do_not_run_backwards() {
        let clock = MonotonicClock::starting_at(Instant::now());
        let (now_ns, cpu_ns) = (clock.now_ns(), clock.thread_cpu_ns());
        assert!(clock.now_ns() >= now_ns);
        assert!(clock.thread_cpu_ns() >= cpu_ns);
    }
}
