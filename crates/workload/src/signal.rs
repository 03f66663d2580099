//! Something that happens once and that every role, on whatever thread, can wait for.

use tokio::sync::watch;

/// Set once, never taken back.
#[derive(Debug)]
pub(crate) struct Signal(watch::Sender<bool>);

impl Signal {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(crate) fn set(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait(&self) {
        // The sender lives as long as this borrow, so that waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|set| *set).await;
    }
}
