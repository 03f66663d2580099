//! How long to wait before something is tried again: twice as long each time, up to a limit.

use std::time::Duration;

/// First pause.
const FIRST: Duration = Duration::from_millis(50);
/// Longest pause.
pub(crate) const LONGEST: Duration = Duration::from_secs(5);

/// The pauses between attempts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self::up_to(LONGEST)
    }

    /// With another longest pause.
    pub(crate) fn up_to(longest: Duration) -> Self {
        Self { next: FIRST.min(longest), longest }
    }

    /// Waits for the next pause.
    pub(crate) async fn pause(&mut self) {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_seconds() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let pauses_ms: Vec<u128> = runtime.block_on(async {
            let mut backoff = Backoff::new();
            let mut pauses = Vec::new();
            for _ in 0..9 {
                let start = tokio::time::Instant::now();
                backoff.pause().await;
                pauses.push(start.elapsed().as_millis());
            }
            pauses
        });
        assert_eq!(pauses_ms, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    }
}
