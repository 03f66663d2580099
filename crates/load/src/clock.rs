//! Time of a trial: nanoseconds since its load began.
//!
//! Load threads ask a [`Clock`] and never the operating system, so that a simulated device can run them in
//! virtual time.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The time of one trial.
pub trait Clock {
    /// Nanoseconds since the load began.
    fn now_ns(&self) -> u64;
    /// CPU time, user and system, that this thread has used, in nanoseconds.
    fn thread_cpu_ns(&self) -> u64;
}

/// CLOCK_MONOTONIC from a common start, and the thread's CPU clock. Whole nanoseconds and not an `Instant`, whose reading and
/// subtraction are calls into another crate: two a short operation.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start_ns: u64,
}

impl MonotonicClock {
    /// A clock that reads zero now.
    #[must_use]
    pub fn starting_now() -> Self {
        Self { start_ns: whole_ns(clock_gettime(ClockId::Monotonic)) }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        whole_ns(clock_gettime(ClockId::Monotonic)).saturating_sub(self.start_ns)
    }

    fn thread_cpu_ns(&self) -> u64 {
        whole_ns(clock_gettime(ClockId::ThreadCPUTime))
    }
}

#[inline]
fn whole_ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_and_cpu_time_do_not_run_backwards() {
        let clock = MonotonicClock::starting_now();
        let (now_ns, cpu_ns) = (clock.now_ns(), clock.thread_cpu_ns());
        assert!(clock.now_ns() >= now_ns);
        assert!(clock.thread_cpu_ns() >= cpu_ns);
    }
}
