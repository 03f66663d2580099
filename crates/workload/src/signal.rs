//! Something that happens once and that every role, on whatever thread, can wait for.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// Set once, never taken back.
#[derive(Debug)]
pub(crate) struct Signal {
    told: watch::Sender<bool>,
    /// The same, to be read by many threads again and again.
    is_set: AtomicBool,
}

impl Signal {
    pub(crate) fn new() -> Self {
        Self { told: watch::Sender::new(false), is_set: AtomicBool::new(false) }
    }

    pub(crate) fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        self.told.send_replace(true);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    pub(crate) async fn wait(&self) {
        // The sender lives as long as this borrow, so that waiting cannot fail.
        let _ = self.told.subscribe().wait_for(|set| *set).await;
    }
}
