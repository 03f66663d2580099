//! How a session waits for another one that writes: as SQLite itself would, but no longer than somebody waits for it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection as Database;

/// How long a statement waits for another session that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);
/// Pauses between two tries, and then 100 ms each: `sqliteDefaultBusyCallback` of SQLite's `main.c`.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

thread_local! {
    /// Of the session that this thread works for. SQLite calls back without an argument of ours.
    static ENDED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// While it is there, somebody waits.
#[derive(Debug)]
pub(super) struct Patience(Arc<AtomicBool>);

/// What a thread that works for a session knows of it.
#[derive(Clone, Debug)]
pub(super) struct OfThread(Arc<AtomicBool>);

impl Patience {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    /// For a thread that works for the session.
    pub(super) fn of_thread(&self) -> OfThread {
        OfThread(Arc::clone(&self.0))
    }

    /// Nobody waits any more.
    pub(super) fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.end();
    }
}

impl OfThread {
    /// What is run on this thread from now on is of this session.
    pub(super) fn enter(self) {
        ENDED.with_borrow_mut(|ended| *ended = Some(self.0));
    }
}

impl Patience {
    /// Has what is run on a connection wait for others that write, on whatever thread.
    pub(super) fn wait_in(database: &Database) -> rusqlite::Result<()> {
        database.busy_handler(Some(|tries| {
            let is_ended =
                ENDED.with_borrow(|ended| ended.as_ref().is_some_and(|ended| ended.load(Ordering::Relaxed)));
            let pause = pause_after(tries).filter(|_| !is_ended);
            pause.inspect(|&pause| std::thread::sleep(pause)).is_some()
        }))
    }
}

/// The pause after so many tries that failed; none if these took long enough.
fn pause_after(tries: i32) -> Option<Duration> {
    let tries = usize::try_from(tries).ok()?;
    let pause_ms = |tries: usize| PAUSES_MS.get(tries).copied().unwrap_or(100);
    let listed_ms: u64 = PAUSES_MS.iter().take(tries).sum();
    let waited_ms = listed_ms + 100 * tries.saturating_sub(PAUSES_MS.len()) as u64;
    (Duration::from_millis(waited_ms) < BUSY_TIMEOUT).then(|| Duration::from_millis(pause_ms(tries)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_come_to_the_limit() {
        let pauses: Vec<Duration> = (0..).map_while(pause_after).collect();
        assert_eq!(pauses[..3], [1, 2, 5].map(Duration::from_millis));
        let waited: Duration = pauses.iter().sum();
        assert!(BUSY_TIMEOUT <= waited && waited < BUSY_TIMEOUT + Duration::from_millis(100), "{waited:?}");
    }
}
