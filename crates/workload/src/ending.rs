//! How a load ends: at its time or when somebody wants it sooner, with a drain that has an end of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::Clock;
use crate::threads::{Ended, Threads, Worker};

/// Time between two looks at what the user wants.
const LOOK_NS: u64 = 100_000_000;
/// A drain that the user asked for is waited for so long.
const STOPPED_DRAIN_NS: u64 = 10_000_000_000;
/// One that was under way when the user asked for an end is waited for so long.
const HURRIED_DRAIN_NS: u64 = 300_000_000;

/// The end of one load.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    clock: Clock,
    /// What the user wants.
    stop: &'a AtomicBool,
    next_look_ns: u64,
    /// End of the load, as planned or as it came.
    load_end_ns: u64,
    /// When what is left is left.
    give_up_ns: u64,
    stopped: bool,
}

impl<'a> Ending<'a> {
    /// Of a load that is to end at a time, and whose drain is waited for so long.
    pub(crate) fn new(clock: Clock, stop: &'a AtomicBool, load_end_ns: u64, drain_ns: u64) -> Self {
        let give_up_ns = load_end_ns + drain_ns;
        Self { clock, stop, next_look_ns: 0, load_end_ns, give_up_ns, stopped: false }
    }

    /// Waits until it is time to look again, or one of the threads has ended. Gives when that is.
    pub(crate) async fn look<W: Worker>(&mut self, threads: &mut Threads<W>) -> (u64, Option<Ended<W>>) {
        let ended = tokio::select! {
            ended = threads.ended() => Some(ended),
            () = self.clock.until(self.next_look_ns) => None,
        };
        let now_ns = self.clock.now_ns();
        self.next_look_ns = (now_ns / LOOK_NS + 1) * LOOK_NS;
        (now_ns, ended)
    }

    /// Whether the user wants an end.
    pub(crate) fn is_wanted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Somebody wants the end now. Whether that is news.
    pub(crate) fn stop(&mut self, now_ns: u64) -> bool {
        if std::mem::replace(&mut self.stopped, true) {
            return false;
        }
        let drain_ns = if self.is_over(now_ns) { HURRIED_DRAIN_NS } else { STOPPED_DRAIN_NS };
        self.give_up_ns = self.give_up_ns.min(now_ns + drain_ns);
        true
    }

    /// What is left is not waited for.
    pub(crate) fn give_up(&mut self, now_ns: u64) {
        self.give_up_ns = now_ns;
    }

    /// The load is over, at the latest now. Whether that is sooner than was known.
    pub(crate) fn end_load(&mut self, now_ns: u64) -> bool {
        let is_sooner = now_ns < self.load_end_ns;
        self.load_end_ns = self.load_end_ns.min(now_ns);
        is_sooner
    }

    /// When the load ended, or is to end.
    pub(crate) fn load_end_ns(&self) -> u64 {
        self.load_end_ns
    }

    /// Whether the load is over.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.load_end_ns
    }

    /// Whether what is left is left.
    pub(crate) fn is_given_up(&self, now_ns: u64) -> bool {
        now_ns >= self.give_up_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Whoever asked for an end while thousands of sessions drained waited for minutes.
    #[test]
    fn who_asks_for_an_end_while_a_load_drains_has_it_within_a_second() {
        let stop = AtomicBool::new(true);
        let ending = || Ending::new(Clock::starting_now(true), &stop, 20 * S, 60 * S);
        let mut drains = ending();
        assert!(drains.is_wanted() && drains.is_over(30 * S) && !drains.is_given_up(79 * S));
        assert!(drains.stop(30 * S) && !drains.stop(40 * S), "once");
        assert!(!drains.is_given_up(30 * S) && drains.is_given_up(31 * S));
        // What a load has under way is awaited for longer.
        let mut loads = ending();
        assert!(loads.stop(7 * S) && loads.end_load(7 * S));
        assert!(!loads.is_given_up(16 * S) && loads.is_given_up(17 * S));
    }
}
