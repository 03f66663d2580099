//! Threads that work for whoever has something to do, and end after a while without work.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::at_work::AtWork;

/// Most threads that work at once, where nobody waits for what they do.
pub(super) const THREADS_MAX: usize = 128;
/// Threads more for work that others wait for. It is short, but that of one who waits in turn until all others have let go.
const FIRST_THREADS_MAX: usize = 16;
/// A thread without work ends after this.
const IDLE_MAX: Duration = Duration::from_secs(5);

type Work = Box<dyn FnOnce() + Send>;

/// Threads of one name.
pub(crate) struct Pool {
    name: &'static str,
    state: Mutex<State>,
    /// Rings when there is work for an idle thread.
    work: Condvar,
    pub(super) at_work: AtWork,
}

struct State {
    /// Work that others wait for.
    first: VecDeque<Work>,
    other: VecDeque<Work>,
    threads: usize,
    idle: usize,
    /// Threads that do work of the second kind.
    working_on_other: usize,
}

impl State {
    /// Work that a thread may take now.
    fn ready(&self) -> usize {
        self.first.len() + self.other.len().min(THREADS_MAX - self.working_on_other)
    }
}

impl Pool {
    /// No thread yet.
    pub(crate) const fn new(name: &'static str) -> Self {
        let state = State {
            first: VecDeque::new(),
            other: VecDeque::new(),
            threads: 0,
            idle: 0,
            working_on_other: 0,
        };
        Self { name, state: Mutex::new(state), work: Condvar::new(), at_work: AtWork::new() }
    }

    /// The connections that run a command now or have run one since the last call.
    pub(crate) fn active(&self) -> u64 {
        self.at_work.look()
    }

    /// Has a thread do something as soon as there is one. What others wait for goes first.
    ///
    /// # Errors
    /// When there is no thread, and none to be had.
    pub(super) fn run(&'static self, work: Work, is_first: bool) -> io::Result<()> {
        let mut state = self.lock();
        let queue = if is_first { &mut state.first } else { &mut state.other };
        queue.push_back(work);
        // Each idle thread takes one, be it that it has not woken yet.
        if state.ready() <= state.idle {
            self.work.notify_one();
            return Ok(());
        }
        if state.threads >= THREADS_MAX + FIRST_THREADS_MAX {
            return Ok(());
        }
        state.threads += 1;
        let spawned = std::thread::Builder::new().name(self.name.to_owned()).spawn(move || self.work_on());
        let Err(error) = spawned else { return Ok(()) };
        state.threads -= 1;
        // One of those that there are comes to it.
        if state.threads > 0 {
            return Ok(());
        }
        let queue = if is_first { &mut state.first } else { &mut state.other };
        queue.pop_back();
        Err(error)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work_on(&self) {
        let mut state = self.lock();
        loop {
            let (work, is_other) = match state.first.pop_front() {
                Some(work) => (Some(work), false),
                None if state.working_on_other < THREADS_MAX => (state.other.pop_front(), true),
                None => (None, false),
            };
            let Some(work) = work else {
                state.idle += 1;
                let (woken, waited) =
                    self.work.wait_timeout(state, IDLE_MAX).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                state.idle -= 1;
                if waited.timed_out() && state.ready() == 0 {
                    state.threads -= 1;
                    return;
                }
                continue;
            };
            state.working_on_other += usize::from(is_other);
            drop(state);
            // A panic was shown when it came, and whoever waits for this learns that it is gone.
            let _ = catch_unwind(AssertUnwindSafe(work));
            state = self.lock();
            state.working_on_other -= usize::from(is_other);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Threads that all wait for who has none were the end of it.
    #[test]
    fn who_is_waited_for_goes_on_although_all_threads_wait() {
        static POOL: Pool = Pool::new("waiting");
        let gate = std::sync::Arc::new((Mutex::new(false), Condvar::new()));
        let (ended, ends) = mpsc::channel();
        for _ in 0..3 * THREADS_MAX {
            let (gate, ended) = (std::sync::Arc::clone(&gate), ended.clone());
            let waits = move || {
                let (is_open, opens) = &*gate;
                let is_open = is_open.lock().unwrap();
                drop(opens.wait_while(is_open, |is_open| !*is_open).unwrap());
                ended.send(std::thread::current().id()).unwrap();
            };
            POOL.run(Box::new(waits), false).unwrap();
        }
        let opens = move || {
            *gate.0.lock().unwrap() = true;
            gate.1.notify_all();
        };
        POOL.run(Box::new(opens), true).unwrap();
        let threads: std::collections::HashSet<std::thread::ThreadId> =
            ends.iter().take(3 * THREADS_MAX).collect();
        assert!(threads.len() <= THREADS_MAX + FIRST_THREADS_MAX, "{}", threads.len());
    }

    #[test]
    fn work_that_panics_takes_no_thread_with_it() {
        static POOL: Pool = Pool::new("panicking");
        let (done, is_done) = mpsc::channel();
        for number in 0..2 * (THREADS_MAX + FIRST_THREADS_MAX) {
            let done = done.clone();
            let work = move || {
                done.send(number).unwrap();
                panic!("as it should");
            };
            POOL.run(Box::new(work), number % 2 == 0).unwrap();
        }
        assert_eq!(is_done.iter().take(2 * (THREADS_MAX + FIRST_THREADS_MAX)).count(), 288);
    }
}
