//! Limits of started servers are lifted as soon as a run is to end: a server that may write 10 KiB a second would take minutes to
//! answer what it was asked for before, and as long to be left.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use instance::Lifter;

/// How soon a stop is seen.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The limits that hold now, by the names of their servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifting(Arc<Mutex<BTreeMap<String, Lifter>>>);

impl Lifting {
    /// A server has limits, or has none any more.
    pub(super) fn set(&self, name: &str, lifter: Option<Lifter>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lifter {
            Some(lifter) => drop(all.insert(name.to_owned(), lifter)),
            None => drop(all.remove(name)),
        }
    }

    fn lift(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(Lifter::lift);
    }

    /// Runs something that ends sooner without limits once `stop` is set. They are lifted again and again until it has ended: a
    /// server that is started meanwhile has them anew.
    pub(crate) fn while_running<T>(&self, stop: &AtomicBool, run: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        let watch = || {
            while !done.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    self.lift();
                }
                std::thread::sleep(LOOK_AGAIN);
            }
        };
        std::thread::scope(|scope| {
            let _ended = Ended(&done);
            // Without a thread they are lifted when the server is stopped.
            let _ = std::thread::Builder::new().name("limits".to_owned()).spawn_scoped(scope, watch);
            run()
        })
    }
}

/// Says that it has ended, however it did.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
