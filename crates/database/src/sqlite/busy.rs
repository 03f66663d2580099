//! How a session waits for another one that writes: as SQLite itself would, but no longer than somebody waits for it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection as Database;

/// How long a statement waits for another session that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);
/// Pauses between two tries, and then 100 ms each: `sqliteDefaultBusyCallback` of SQLite's `main.c`.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Sessions of this program that wait for another one that writes.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// Sessions of this program that wait for another one that writes, now.
pub(super) fn waiting() -> u64 {
    WAITING.load(Ordering::Relaxed)
}

thread_local! {
    /// Of the session that this thread works for. SQLite calls back without an argument of ours.
    static WAITED_FOR: RefCell<Option<Arc<WaitedFor>>> = const { RefCell::new(None) };
}

/// Whether somebody waits for what a session does.
#[derive(Debug, Default)]
struct WaitedFor {
    has_ended: Mutex<bool>,
    /// Rings when nobody waits any more.
    ended: Condvar,
}

impl WaitedFor {
    /// Pauses. False as soon as nobody waits any more: whoever drops a session waits until its statement has ended.
    fn pause(&self, pause: Duration) -> bool {
        let has_ended = self.has_ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.wait_timeout_while(has_ended, pause, |has_ended| !*has_ended);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// While it is there, somebody waits.
#[derive(Debug)]
pub(super) struct Patience(Arc<WaitedFor>);

/// What a thread that works for a session knows of it.
#[derive(Clone, Debug)]
pub(super) struct OfThread(Arc<WaitedFor>);

impl Patience {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    /// For a thread that works for the session.
    pub(super) fn of_thread(&self) -> OfThread {
        OfThread(Arc::clone(&self.0))
    }

    /// Nobody waits any more.
    pub(super) fn end(&self) {
        *self.0.has_ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.ended.notify_all();
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
        WAITED_FOR.with_borrow_mut(|waited_for| *waited_for = Some(self.0));
    }
}

impl Patience {
    /// Has what is run on a connection wait for others that write, on whatever thread.
    pub(super) fn wait_in(database: &Database) -> rusqlite::Result<()> {
        database.busy_handler(Some(|tries| {
            let Some(pause) = pause_after(tries) else { return false };
            let waited_for = WAITED_FOR.with_borrow(Option::clone);
            WAITING.fetch_add(1, Ordering::Relaxed);
            let is_patient = waited_for.is_none_or(|waited_for| waited_for.pause(pause));
            WAITING.fetch_sub(1, Ordering::Relaxed);
            is_patient
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

    /// Dropping each of 128 sessions that waited took up to 100 ms, one after the other.
    #[test]
    fn a_pause_ends_with_the_patience() {
        let patience = Patience::new();
        let of_thread = patience.of_thread();
        let pausing = std::thread::spawn(move || of_thread.0.pause(Duration::from_secs(3600)));
        drop(patience);
        assert!(!pausing.join().unwrap());
        assert!(Patience::new().0.pause(Duration::from_millis(1)), "a pause that nobody ends is all waited");
    }

    #[test]
    fn pauses_grow_and_come_to_the_limit() {
        let pauses: Vec<Duration> = (0..).map_while(pause_after).collect();
        assert_eq!(pauses[..3], [1, 2, 5].map(Duration::from_millis));
        let waited: Duration = pauses.iter().sum();
        assert!(BUSY_TIMEOUT <= waited && waited < BUSY_TIMEOUT + Duration::from_millis(100), "{waited:?}");
    }
}
