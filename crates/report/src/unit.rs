//! What a rate is counted in: I/Os a second, orders a minute.

use stats::Estimate;

use crate::format;

/// A unit of rates. Rates are kept a second; only a unit knows what they are a minute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    /// Behind a number: `orders/min`.
    pub(crate) short: &'static str,
    /// In a sentence: `orders a minute`.
    pub(crate) long: &'static str,
    /// What is counted: `orders`.
    pub(crate) counted: &'static str,
    /// Seconds in which they are counted.
    length_s: f64,
}

impl Unit {
    pub(crate) const fn a_second(short: &'static str, long: &'static str, counted: &'static str) -> Self {
        Self { short, long, counted, length_s: 1.0 }
    }

    pub(crate) const fn a_minute(short: &'static str, long: &'static str, counted: &'static str) -> Self {
        Self { short, long, counted, length_s: record::orders::MINUTE_S }
    }

    /// A rate a second in this unit.
    pub(crate) fn of(&self, per_s: f64) -> f64 {
        per_s * self.length_s
    }

    /// So many within a time; none of no time.
    pub(crate) fn within(&self, count: u64, seconds: f64) -> Option<f64> {
        (seconds > 0.0).then(|| count as f64 / (seconds / self.length_s))
    }

    /// A rate a second and its interval in this unit.
    pub(crate) fn estimate(&self, per_s: Estimate) -> Estimate {
        Estimate { value: self.of(per_s.value), low: self.of(per_s.low), high: self.of(per_s.high) }
    }

    /// A rate that was set, a second, as `5,100 records/s`.
    pub(crate) fn plain(&self, per_s: f64) -> String {
        format!("{} {}", format::plain(self.of(per_s)), self.short)
    }

    /// A rate a second as `12,340 orders/min`.
    pub(crate) fn text(&self, per_s: f64) -> String {
        format!("{} {}", format::figure(self.of(per_s)), self.short)
    }
}
