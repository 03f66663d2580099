//! Pauses of the load generator: a thread that has nothing to do but to wake on time notes how late it woke.
//!
//! A process that is stopped (SIGSTOP, a frozen or throttled cgroup, a machine that hands its CPU to others) sends late and
//! reads answers late, and every figure of that time is its own and not the target's. Load threads cannot tell this from a
//! slow answer; a thread that waits for nothing but the clock can. It says nothing of a single load thread that is busy or
//! starved on a CPU of its own: that is what CPU shares and lag tell. In virtual time there is none.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::lock;

use record::Pauses;

/// Time from one waking to the next, and what a pause may have been longer than what is measured of it. Twenty a second cost
/// at most a thousandth of a core, on a crowded virtual machine where each takes 50 µs.
const WAKE_EVERY_NS: u64 = 50_000_000;

/// Waking so late is a pause. Less is what a scheduler does with two cores and many threads: with three endless loops a core
/// beside it a thread like this one woke up to 12 ms late.
const LATE_NS_MIN: u64 = 20_000_000;

/// Most pauses that wait to be asked for; beyond, the last one grows. Intervals ask each second.
const PAUSES_MAX: usize = 4_096;

/// The watching thread; it ends with this.
#[derive(Debug)]
pub struct PauseWatch {
    begin: Instant,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    over: AtomicBool,
    /// Never locked by a load thread of a disk.
    state: Mutex<State>,
}

/// What was noted, in nanoseconds since the load began.
#[derive(Clone, Debug, Default)]
struct State {
    /// When the thread is to wake next.
    due_ns: u64,
    pauses: VecDeque<(u64, u64)>,
}

impl PauseWatch {
    /// Watches from now on; times are told since `begin`.
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub fn start(begin: Instant) -> io::Result<Self> {
        let state = State { due_ns: since_ns(begin) + WAKE_EVERY_NS, pauses: VecDeque::new() };
        let shared = Arc::new(Shared { over: AtomicBool::new(false), state: Mutex::new(state) });
        let watched = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("clock".to_owned()).spawn(move || watched.watch(begin))?;
        Ok(Self { begin, shared, thread: Some(thread) })
    }

    /// The pauses of an interval. Intervals are asked for in order: what ended before this one began is forgotten.
    #[must_use]
    pub fn within(&self, start_ns: u64, end_ns: u64) -> Pauses {
        // After a stop the asker may wake before the watching thread does: what it is late by now is part of its pause.
        lock(&self.shared.state).within(start_ns, end_ns, since_ns(self.begin))
    }

    /// [`PauseWatch::within`] of an interval as it is recorded.
    #[must_use]
    pub fn of(&self, interval: &record::Interval) -> Pauses {
        let ns = |seconds: f64| (seconds.max(0.0) * 1e9).round() as u64;
        self.within(ns(interval.end_s - interval.length_s), ns(interval.end_s))
    }
}

impl Drop for PauseWatch {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It holds nothing that a panic could have spoiled.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn watch(&self, begin: Instant) {
        loop {
            let due_ns = lock(&self.state).due_ns;
            loop {
                if self.over.load(Ordering::Relaxed) {
                    return;
                }
                let now_ns = since_ns(begin);
                if now_ns >= due_ns {
                    lock(&self.state).woke(now_ns);
                    break;
                }
                // How late it wakes is reckoned from a moment that was fixed before, so that no pause falls between.
                std::thread::park_timeout(Duration::from_nanos(due_ns - now_ns));
            }
        }
    }
}

impl State {
    /// The thread woke, and is to wake again.
    fn woke(&mut self, now_ns: u64) {
        if let Some(pause) = self.pause_until(now_ns) {
            let is_full = self.pauses.len() >= PAUSES_MAX;
            match self.pauses.back_mut().filter(|_| is_full) {
                Some(last) => last.1 = pause.1,
                None => self.pauses.push_back(pause),
            }
        }
        self.due_ns = now_ns + WAKE_EVERY_NS;
    }

    /// The pause that ends now, if there is one.
    fn pause_until(&self, now_ns: u64) -> Option<(u64, u64)> {
        (now_ns >= self.due_ns + LATE_NS_MIN).then_some((self.due_ns, now_ns))
    }

    fn within(&mut self, start_ns: u64, end_ns: u64, now_ns: u64) -> Pauses {
        self.pauses.retain(|&(_, ended_ns)| ended_ns > start_ns);
        let mut within = Pauses::default();
        for (begin_ns, ended_ns) in self.pauses.iter().copied().chain(self.pause_until(now_ns)) {
            let inside_ns = ended_ns.min(end_ns).saturating_sub(begin_ns.max(start_ns));
            if inside_ns > 0 {
                let ms = |ns: u64| ns as f64 / 1e6;
                within = within.and(Pauses { longest_ms: ms(ended_ns - begin_ns), sum_ms: ms(inside_ns) });
            }
        }
        within
    }
}

fn since_ns(begin: Instant) -> u64 {
    begin.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The state of a thread that was to wake first at 20 ms and woke at these moments, and what an interval of it holds.
    fn check(woke_ms: &[u64], interval_ms: (u64, u64), now_ms: u64, longest_and_sum_ms: (f64, f64)) {
        let mut state = State { due_ns: 20 * MS, pauses: VecDeque::new() };
        woke_ms.iter().for_each(|ms| state.woke(ms * MS));
        let found = state.within(interval_ms.0 * MS, interval_ms.1 * MS, now_ms * MS);
        assert_eq!((found.longest_ms, found.sum_ms), longest_and_sum_ms, "{state:?}");
    }

    #[test]
    fn waking_a_little_late_is_no_pause() {
        check(&[20, 75, 144, 205], (0, 1_000), 210, (0.0, 0.0));
    }

    #[test]
    fn a_pause_counts_from_when_it_was_to_wake_to_when_it_woke() {
        check(&[20, 1_070, 1_120, 1_270], (0, 2_000), 1_271, (1_000.0, 1_100.0));
    }

    #[test]
    fn each_interval_has_its_part_of_a_pause_and_its_whole_length() {
        check(&[20, 1_570], (0, 1_000), 1_571, (1_500.0, 930.0));
        check(&[20, 1_570], (1_000, 2_000), 1_571, (1_500.0, 570.0));
        check(&[20, 1_570], (2_000, 3_000), 1_571, (0.0, 0.0));
    }

    /// After SIGCONT the threads of a process wake in any order.
    #[test]
    fn a_pause_that_the_watching_thread_has_not_woken_from_counts() {
        check(&[20], (0, 1_000), 3_070, (3_000.0, 930.0));
    }

    #[test]
    fn what_nobody_asks_for_has_a_bound_and_loses_no_time() {
        let mut state = State { due_ns: 20 * MS, pauses: VecDeque::new() };
        let woken = (1..=PAUSES_MAX as u64 + 50).map(|number| number * 100 * MS);
        let end_ns = woken.clone().next_back().unwrap();
        woken.for_each(|ns| state.woke(ns));
        assert_eq!(state.pauses.len(), PAUSES_MAX);
        assert_eq!(state.pauses.back().unwrap().1, end_ns);
    }

    #[test]
    fn a_watch_ends_at_once() {
        let watch = PauseWatch::start(Instant::now()).unwrap();
        assert!(watch.within(0, u64::MAX).sum_ms >= 0.0);
        drop(watch);
    }
}
