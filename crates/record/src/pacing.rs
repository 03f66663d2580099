//! When operations are sent: whether clients wait for answers, what a rate offered, and what the load generator can send.

use serde::{Deserialize, Serialize};

/// Whether clients wait for answers before they send again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loop", rename_all = "snake_case")]
pub enum Loop {
    /// Each client sends its next operation when the last one is answered, after a think time.
    Closed {
        /// Pause after each answer, in microseconds.
        think_time_us: f64,
    },
    /// Operations are due at times that do not depend on answers.
    Open {
        /// Operations due a second, all threads together.
        rate_per_s: f64,
        /// Poisson arrivals instead of evenly spaced ones.
        poisson: bool,
    },
}

/// What an open loop was to send in its measured window, and what kept it from sending in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Operations that fell due in the window.
    pub due: u64,
    /// Operations that may be in flight at once: outstanding I/Os of all threads, or clients.
    pub slots: u64,
    /// Operations that fell due while all of them were, warm-up included; none where that is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
    /// Operations that were sent, warm-up and flushes included; none where that is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
}

impl Offered {
    /// Share (0–1) of the operations that waited for others to be answered.
    #[must_use]
    pub fn waited_share(&self) -> Option<f64> {
        Some(self.waited? as f64 / self.sent?.max(1) as f64)
    }
}

/// What the load generator itself costs, measured against an engine that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Time of one operation that does nothing, in nanoseconds, on one thread.
    pub generator_ns_per_operation: f64,
}

impl Calibration {
    /// Operations a second that one thread reaches without a target.
    #[must_use]
    pub fn per_s(self) -> Option<f64> {
        (self.generator_ns_per_operation > 0.0).then(|| 1e9 / self.generator_ns_per_operation)
    }
}
