//! How many clients there are, when each begins, and when a turn is due.

use load::{Pacing, Phases, Span};

/// When clients load, and how many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// Clients of each part.
    pub(crate) clients: u32,
    /// Clients of a part that begin each second.
    pub(crate) ramp_rate_per_s: f64,
    /// Closed with a mean time to think, or turns that are due at a rate, all parts together.
    pub(crate) pacing: Pacing,
    /// Share (0–1) of the CPU at which the server is held by the number of clients that are active.
    pub(crate) cpu_target: Option<f64>,
    /// Warm-up and window.
    pub(crate) phases: Phases,
    /// A turn that takes longer is late; in an open loop one that is later than this when it could begin is passed over.
    pub(crate) latency_limit: Option<Span>,
    pub(crate) seed: u64,
}

impl Schedule {
    /// When the last client begins.
    pub(crate) fn ramp(&self) -> Span {
        Span { ns: self.begins_ns(self.clients.saturating_sub(1)) }
    }

    /// Whether each client's next turn begins when the one before it ended.
    pub(super) fn never_rests(&self) -> bool {
        matches!(self.pacing, Pacing::Closed { think_time } if think_time.ns == 0)
    }

    /// When a client begins, by its number from 0. Where turns are due, or the number of clients is adjusted, all begin at
    /// once.
    pub(crate) fn begins_ns(&self, client: u32) -> u64 {
        if self.pacing.is_open() || self.cpu_target.is_some() {
            return 0;
        }
        (f64::from(client) / self.ramp_rate_per_s * 1e9) as u64
    }
}
