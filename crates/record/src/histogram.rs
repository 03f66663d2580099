//! Latency histograms: HDR with three significant digits from 1 ns to one hour.
//!
//! Histograms are merged, percentiles are never averaged. A percentile that too few samples support
//! is not given at all. The stored form is the HdrHistogram V2 compressed one, readable by others' tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Longest latency that is told apart; longer ones count as this one. One hour, in nanoseconds.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// A percentile is given only where at least this many samples lie beyond it.
const SAMPLES_BEYOND_PERCENTILE: f64 = 10.0;

/// Distribution of latencies in nanoseconds, of constant size whatever the number of samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Latency(hdrhistogram::Histogram<u64>);

/// A stored histogram that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("not a histogram in the HdrHistogram V2 form: {0}")]
pub struct HistogramError(String);

impl From<Latency> for String {
    fn from(latency: Latency) -> Self {
        latency.to_base64()
    }
}

impl TryFrom<String> for Latency {
    type Error = HistogramError;

    fn try_from(text: String) -> Result<Self, HistogramError> {
        Self::from_base64(&text)
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// Memory of one histogram: 8 bytes for each of 2,048 cells up to 2 µs and 1,024 for each doubling beyond.
    pub const BYTES: u64 = 8 * (2_048 + 31 * 1_024);

    /// An empty histogram. Allocates about 270 KB, once.
    #[must_use]
    pub fn new() -> Self {
        match hdrhistogram::Histogram::new_with_bounds(1, LONGEST_NS, 3) {
            Ok(histogram) => Self(histogram),
            Err(error) => unreachable!("constant bounds are valid: {error}"),
        }
    }

    /// Counts one latency; anything over an hour counts as an hour.
    #[inline]
    pub fn record_ns(&mut self, latency_ns: u64) {
        self.0.saturating_record(latency_ns);
    }

    /// Counts operations that took the same time.
    #[inline]
    pub fn record_same_ns(&mut self, latency_ns: u64, operations: u64) {
        // None would still count as the shortest and the longest.
        if operations > 0 {
            self.0.saturating_record_n(latency_ns, operations);
        }
    }

    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.0.is_empty() {
            return;
        }
        if let Err(error) = self.0.add(&other.0) {
            unreachable!("all latency histograms share their bounds: {error}");
        }
    }

    /// Forgets all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Mean in microseconds, or none of an empty histogram.
    #[must_use]
    pub fn mean_us(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean() / 1e3)
    }

    /// Shortest sample in microseconds.
    #[must_use]
    pub fn min_us(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.min() as f64 / 1e3)
    }

    /// Longest sample in microseconds.
    #[must_use]
    pub fn max_us(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.max() as f64 / 1e3)
    }

    /// The percentile in microseconds, `0 < per_cent < 100`, by nearest rank. None where fewer than ten samples
    /// lie beyond it (n·(1−p) < 10): such a figure would be chance.
    #[must_use]
    pub fn percentile_us(&self, per_cent: f64) -> Option<f64> {
        let beyond = self.count() as f64 * (1.0 - per_cent / 100.0);
        // The tolerance keeps 1,000 samples enough for p99 in spite of binary fractions.
        (beyond + 1e-6 >= SAMPLES_BEYOND_PERCENTILE).then(|| self.quantile_us(per_cent / 100.0))
    }

    /// The quantile in microseconds without asking whether enough samples support it; 0 of an empty histogram.
    /// For drawing; a figure that is printed comes from [`Latency::percentile_us`].
    #[must_use]
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1e3
    }

    /// The non-empty cells in rising order: first and last latency of the cell in microseconds, and its count.
    pub fn cells(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        self.0.iter_recorded().map(|cell| {
            let value = cell.value_iterated_to();
            (
                self.0.lowest_equivalent(value) as f64 / 1e3,
                self.0.highest_equivalent(value) as f64 / 1e3,
                cell.count_at_value(),
            )
        })
    }

    /// The stored form: HdrHistogram V2, deflated, base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&self.0, &mut bytes) {
            Ok(_) => BASE64.encode(bytes),
            Err(error) => unreachable!("writing to memory cannot fail: {error:?}"),
        }
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// When the text is not base64, not a V2 histogram, or one of other bounds than ours.
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let bytes = BASE64.decode(text.trim()).map_err(|error| HistogramError(error.to_string()))?;
        let histogram: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError(format!("{error:?}")))?;
        let ours = Self::new();
        if histogram.sigfig() != ours.0.sigfig() || histogram.high() > ours.0.high() {
            return Err(HistogramError(format!(
                "{} digits up to {} ns, wanted 3 digits up to {LONGEST_NS} ns",
                histogram.sigfig(),
                histogram.high()
            )));
        }
        let mut latency = ours;
        latency.merge(&Self(histogram));
        Ok(latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(latencies_ns: &[u64]) -> Latency {
        let mut latency = Latency::new();
        latencies_ns.iter().for_each(|&ns| latency.record_ns(ns));
        latency
    }

    #[test]
    fn percentile_needs_ten_samples_beyond_it() {
        let thousand: Vec<u64> = (1..=1000).map(|ms| ms * 1_000_000).collect();
        assert!(of(&thousand).percentile_us(99.0).is_some());
        assert!(of(&thousand[..999]).percentile_us(99.0).is_none());
        assert!(of(&[]).percentile_us(50.0).is_none());
        assert!(of(&[]).mean_us().is_none());
    }

    #[test]
    fn longer_than_an_hour_counts_as_an_hour() {
        let max = of(&[u64::MAX]).max_us().unwrap();
        assert!((max / 3.6e9 - 1.0).abs() < 1e-3, "{max}");
    }

    proptest! {
        #[test]
        fn percentiles_agree_with_the_sorted_list(
            mut latencies in prop::collection::vec(1u64..5_000_000_000, 200..2000),
            per_cent in 1.0f64..95.0,
        ) {
            let histogram = of(&latencies);
            latencies.sort_unstable();
            let rank = ((per_cent / 100.0 * latencies.len() as f64).ceil() as usize).max(1);
            let exact_us = latencies[rank - 1] as f64 / 1e3;
            let measured_us = histogram.percentile_us(per_cent).unwrap();
            prop_assert!((measured_us - exact_us).abs() <= exact_us * 1e-3 + 1e-3,
                "{measured_us} against {exact_us}");
        }

        #[test]
        fn stored_form_is_read_back(latencies in prop::collection::vec(0u64..4_000_000_000_000, 0..300)) {
            let histogram = of(&latencies);
            let again = Latency::from_base64(&histogram.to_base64()).unwrap();
            prop_assert_eq!(
                histogram.cells().collect::<Vec<_>>(),
                again.cells().collect::<Vec<_>>()
            );
            let json = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Latency>(&json).unwrap(), histogram);
        }

        #[test]
        fn operations_of_the_same_time_are_counted_as_if_one_by_one(latency in 0u64..10_000_000_000_000, operations in 0u64..300) {
            let mut together = Latency::new();
            together.record_same_ns(latency, operations);
            prop_assert_eq!(together.max_us(), of(&vec![latency; operations as usize]).max_us());
            prop_assert_eq!(together, of(&vec![latency; operations as usize]));
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            a in prop::collection::vec(0u64..10_000_000, 0..300),
            b in prop::collection::vec(0u64..10_000_000, 0..300),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn damaged_text_is_an_error_and_never_a_panic(text in "[A-Za-z0-9+/=]{0,80}") {
            prop_assert!(Latency::from_base64(&text).is_err());
        }
    }
}
