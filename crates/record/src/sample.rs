//! What is measured each second: operations and their latencies, and gauges.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Latency, Main};

/// Part of a trial that an interval belongs to. Only [`Phase::Measure`] makes figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Load runs, nothing counts yet.
    WarmUp,
    /// The measured window.
    Measure,
    /// No new operation is sent; those in flight are awaited. Their latencies count, their rate does not.
    Drain,
}

impl Phase {
    /// The word for it in tables: `measured` is what makes figures.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Measure => "measured",
            Self::Drain => "drain",
        }
    }
}

/// One interval of one operation kind, with its histograms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationInterval {
    /// Operations completed without error.
    pub count: u64,
    /// Operations completed with an error; they are in no histogram.
    pub errors: u64,
    /// Bytes moved by the completed ones.
    pub bytes: u64,
    /// Rows read by the completed ones.
    pub rows: u64,
    /// Completed ones that fell due before the measured window and were completed in it or after it: what the warm-up left.
    /// None in a closed loop.
    #[serde(default)]
    pub due_before: Option<u64>,
    /// Completion − sending.
    pub service: Latency,
    /// Completion − due time; open loop only.
    pub response: Option<Latency>,
    /// Sending − due time; open loop only.
    pub lag: Option<Latency>,
}

impl OperationInterval {
    /// Adds another load thread's interval.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.rows += other.rows;
        self.due_before = sum(self.due_before, other.due_before);
        self.merge_latencies(other);
    }

    /// Adds another one's latencies alone.
    pub(crate) fn merge_latencies(&mut self, other: &Self) {
        self.service.merge(&other.service);
        merge_optional(&mut self.response, other.response.as_ref());
        merge_optional(&mut self.lag, other.lag.as_ref());
    }

    /// What users feel: the response time in an open loop, the service time in a closed one.
    #[must_use]
    pub fn latency(&self) -> &Latency {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

/// The sum of two counts; none where neither was counted.
pub(crate) fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.zip(other).map(|(one, other)| one + other).or(one).or(other)
}

fn merge_optional(into: &mut Option<Latency>, from: Option<&Latency>) {
    if let Some(from) = from {
        into.get_or_insert_with(Latency::new).merge(from);
    }
}

/// One interval of a trial, all load threads together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// End of the interval, in seconds since the load began.
    pub end_s: f64,
    /// Length in seconds: one, or less where a phase ends.
    pub length_s: f64,
    /// Phase it belongs to.
    pub phase: Phase,
    /// By operation kind (`read`, `write`, `flush`, …).
    pub operations: BTreeMap<String, OperationInterval>,
    /// Named gauges; the unit is the end of the name.
    pub gauges: BTreeMap<String, f64>,
    /// CPU time of all load threads in this interval, user and system, in microseconds.
    pub generator_cpu_us: u64,
    /// Share (0–1) of one core that the busiest load thread used.
    pub generator_busiest_share: f64,
    /// How long the load generator itself stood still; none where that was not measured, as in virtual time.
    pub generator_pauses: Option<Pauses>,
}

/// Times in which the load generator stood still: it was stopped, starved of CPU, or its machine was. Measured by a thread
/// that has nothing to do but to wake on time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// The longest one of which a part lies in the interval, in milliseconds; its whole length.
    pub longest_ms: f64,
    /// What lies in the interval of all of them, in milliseconds.
    pub sum_ms: f64,
}

impl Pauses {
    /// Those of this interval and of another one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { longest_ms: self.longest_ms.max(other.longest_ms), sum_ms: self.sum_ms + other.sum_ms }
    }
}

impl Interval {
    /// The line that is stored for this interval.
    #[must_use]
    pub fn sample(&self) -> Sample {
        Sample {
            end_s: self.end_s,
            length_s: self.length_s,
            phase: self.phase,
            operations: self
                .operations
                .iter()
                .map(|(kind, operation)| (kind.clone(), OperationSample::of(operation)))
                .collect(),
            gauges: self.gauges.clone(),
            generator_cpu_us: self.generator_cpu_us,
            generator_busiest_share: self.generator_busiest_share,
            generator_pauses: self.generator_pauses,
        }
    }
}

/// The stored line of an interval: one JSON object a line in `samples.ndjson`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// See [`Interval::end_s`].
    pub end_s: f64,
    /// See [`Interval::length_s`].
    pub length_s: f64,
    /// See [`Interval::phase`].
    pub phase: Phase,
    /// By operation kind.
    pub operations: BTreeMap<String, OperationSample>,
    /// See [`Interval::gauges`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, f64>,
    /// See [`Interval::generator_cpu_us`].
    pub generator_cpu_us: u64,
    /// See [`Interval::generator_busiest_share`].
    pub generator_busiest_share: f64,
    /// See [`Interval::generator_pauses`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_pauses: Option<Pauses>,
}

impl Sample {
    /// Operations of all kinds that completed without error.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.operations.values().map(|operation| operation.count).sum()
    }

    /// Operations that a trial is about.
    #[must_use]
    pub fn count_of(&self, main: &Main) -> u64 {
        main.among(&self.operations).map(|(_, operation)| operation.count).sum()
    }

    /// Operations that a trial is about and that fell due before the measured window; none where that was not counted.
    #[must_use]
    pub fn due_before(&self, main: &Main) -> Option<u64> {
        main.among(&self.operations).map(|(_, operation)| operation.due_before).fold(None, sum)
    }

    /// Bytes moved by operations of all kinds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.operations.values().map(|operation| operation.bytes).sum()
    }
}

/// Counts and latency figures of one operation kind in one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationSample {
    /// Operations completed without error.
    pub count: u64,
    /// Operations completed with an error.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Rows read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u64,
    /// See [`OperationInterval::due_before`]; none in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_before: Option<u64>,
    /// Figures of [`OperationInterval::latency`]; the histograms themselves are in `latency.hlog`.
    pub latency: Summary,
}

fn is_zero(rows: &u64) -> bool {
    *rows == 0
}

impl OperationSample {
    fn of(interval: &OperationInterval) -> Self {
        Self {
            count: interval.count,
            errors: interval.errors,
            bytes: interval.bytes,
            rows: interval.rows,
            due_before: interval.due_before,
            latency: Summary::of(interval.latency()),
        }
    }
}

/// Latency figures in microseconds; absent where there were no or too few samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Shortest.
    pub min_us: Option<f64>,
    /// Arithmetic mean.
    pub mean_us: Option<f64>,
    /// Median.
    pub p50_us: Option<f64>,
    /// 95th percentile.
    pub p95_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// 99.9th percentile.
    pub p999_us: Option<f64>,
    /// Longest.
    pub max_us: Option<f64>,
}

impl Summary {
    /// The figures of a histogram.
    #[must_use]
    pub fn of(latency: &Latency) -> Self {
        Self {
            min_us: latency.min_us(),
            mean_us: latency.mean_us(),
            p50_us: latency.percentile_us(50.0),
            p95_us: latency.percentile_us(95.0),
            p99_us: latency.percentile_us(99.0),
            p999_us: latency.percentile_us(99.9),
            max_us: latency.max_us(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(count: u64, latency_ns: u64) -> OperationInterval {
        let mut interval = OperationInterval { count, bytes: count * 4096, ..OperationInterval::default() };
        (0..count).for_each(|_| interval.service.record_ns(latency_ns));
        interval
    }

    #[test]
    fn threads_are_merged_by_their_histograms() {
        let mut merged = interval(30, 1_000);
        merged.merge(&interval(10, 9_000));
        assert_eq!((merged.count, merged.bytes), (40, 40 * 4096));
        assert!((merged.service.mean_us().unwrap() / 3.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn an_open_loop_is_judged_by_its_response_time() {
        let mut open = interval(20, 1_000);
        open.response = Some(Latency::new());
        (0..20).for_each(|_| open.response.as_mut().unwrap().record_ns(50_000));
        let mean_us = OperationSample::of(&open).latency.mean_us.unwrap();
        assert!((mean_us / 50.0 - 1.0).abs() < 1e-3, "{mean_us}");
    }

    #[test]
    fn a_sample_line_is_read_back() {
        let interval = Interval {
            end_s: 2.0,
            length_s: 1.0,
            phase: Phase::Measure,
            operations: BTreeMap::from([("read".to_owned(), interval(2_000, 80_000))]),
            gauges: BTreeMap::new(),
            generator_cpu_us: 9_000,
            generator_busiest_share: 0.009,
            generator_pauses: None,
        };
        let sample = interval.sample();
        let line = serde_json::to_string(&sample).unwrap();
        assert_eq!(serde_json::from_str::<Sample>(&line).unwrap(), sample);
        assert!(!line.contains('\n'));
        assert_eq!(sample.operations["read"].latency.p999_us, None, "2,000 samples are too few");
    }
}
