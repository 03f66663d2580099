//! Time of a trial: nanoseconds since its load began, by tokio's clock, which a simulated trial runs ahead.

use std::time::Duration;

use load::{Clock as _, MonotonicClock, PauseWatch};
use tokio::time::Instant;

use crate::{TrialError, timer};

/// The clock of one trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begin: Instant,
    /// The same time read without a detour: a client reads it several times a turn. None in simulated time.
    monotonic: Option<MonotonicClock>,
}

impl Clock {
    /// A clock that reads zero now, and before it.
    pub(crate) fn starting_now(simulated: bool) -> Self {
        let monotonic = (!simulated).then(MonotonicClock::starting_now);
        Self { begin: Instant::now(), monotonic }
    }

    /// The watch over pauses of this process, by the same clock; none in simulated time, which stands still with it.
    pub(crate) fn watch(self, simulated: bool) -> Result<Option<PauseWatch>, TrialError> {
        if simulated {
            return Ok(None);
        }
        PauseWatch::start(self.begin.into_std()).map(Some).map_err(|error| {
            TrialError::Load(format!(
                "cannot start the thread that watches the clock: {error}; raise the limit of threads (`ulimit -u`)"
            ))
        })
    }

    /// Nanoseconds since the load began.
    #[inline]
    pub(crate) fn now_ns(self) -> u64 {
        match self.monotonic {
            Some(clock) => clock.now_ns(),
            None => Instant::now().saturating_duration_since(self.begin).as_nanos() as u64,
        }
    }

    /// Waits until a moment; not at all if it is past.
    pub(crate) async fn until(self, moment_ns: u64) {
        let moment = self.begin + Duration::from_nanos(moment_ns);
        match self.monotonic {
            Some(_) => timer::until(moment).await,
            None => tokio::time::sleep_until(moment).await,
        }
    }

    /// The same to a millisecond or two later, so that what is due one after the other comes in batches.
    pub(crate) async fn until_about(self, moment_ns: u64) {
        tokio::time::sleep_until(self.begin + Duration::from_nanos(moment_ns)).await;
    }
}
