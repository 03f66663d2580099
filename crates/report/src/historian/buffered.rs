//! The measured window of a historian's open loop: records are answered in flushes, and wait in a buffer until then.

use record::{Loop, OFFERED, PENDING_MAX, REFUSED, Sample, Setup, TrialRecord};

/// What a buffer accepted and held in a measured window.
pub(crate) struct Buffered {
    /// Records that fell due in it and were accepted.
    pub(crate) due: u64,
    /// Records that may be pending at any moment though nothing is late: what flushes hold, and what waits to be sorted.
    pub(crate) usual: u64,
    /// Records that were pending at its end, if all of them were written.
    pub(crate) pending_last: u64,
}

impl Buffered {
    /// None of other workloads and of a closed loop.
    pub(crate) fn of(record: &TrialRecord, window: &[&Sample]) -> Option<Self> {
        let setup = record.setup.as_ref().and_then(Setup::historian)?;
        let outcome = record.outcome.as_ref()?;
        let Loop::Open { rate_per_s, .. } = setup.pacing else { return None };
        let is_drained = outcome.historian().is_some_and(|o| o.drain_s.is_some() && o.abandoned == 0);
        let gauge = |name: &str| window.iter().filter_map(|sample| sample.gauges.get(name)).sum::<f64>();
        let sorted = rate_per_s * setup.time_sorting_period_ms / 1e3;
        let flushes = u64::from(setup.flush_rows) * (u64::from(setup.writers) + 1);
        let pending =
            window.last().and_then(|sample| sample.gauges.get(PENDING_MAX)).map(|last| *last as u64);
        Some(Self {
            due: (gauge(OFFERED) - gauge(REFUSED)).max(0.0) as u64,
            usual: flushes + sorted as u64,
            pending_last: pending.filter(|_| is_drained).unwrap_or(0),
        })
    }
}
