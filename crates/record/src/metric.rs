//! The metrics of a trial: what verdicts, thresholds and exports are about. How each is computed from a record is the
//! report's affair.

use serde::{Deserialize, Serialize};

/// A figure of a trial that can be compared with the same of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Name, which ends with the unit.
    pub name: &'static str,
    /// Unit, as a reader writes it.
    pub unit: &'static str,
    /// Which of two values is the better one.
    pub better: Direction,
    /// What it is, in a few words that a sentence can begin with.
    pub says: &'static str,
    /// Workload that measures it; empty for all.
    pub of: &'static str,
}

/// Direction in which a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

const fn higher(of: &'static str, name: &'static str, unit: &'static str, says: &'static str) -> Metric {
    Metric { name, unit, better: Direction::Higher, says, of }
}

const fn lower(of: &'static str, name: &'static str, unit: &'static str, says: &'static str) -> Metric {
    Metric { name, unit, better: Direction::Lower, says, of }
}

/// All metrics. A trial has those that its workload measures.
pub const METRICS: [Metric; 17] = [
    higher("disk", "iops", "I/O/s", "I/Os a second"),
    higher("disk", "mb_per_s", "MB/s", "throughput"),
    higher("historian", "records_per_s", "records/s", "records a second"),
    higher("historian", "sustained_per_s", "records/s", "highest sustained rate"),
    higher("orders", "orders_per_min", "orders/min", "orders a minute"),
    lower("", "mean_ms", "ms", "mean latency"),
    lower("", "p50_ms", "ms", "median latency"),
    lower("", "p95_ms", "ms", "95th percentile of the latency"),
    lower("", "p99_ms", "ms", "99th percentile of the latency"),
    lower("", "p999_ms", "ms", "99.9th percentile of the latency"),
    lower("historian", "commit_p99_ms", "ms", "99th percentile of a commit"),
    lower("historian", "trend_p99_ms", "ms", "99th percentile of a trend read"),
    lower("historian", "pending_mean", "records", "mean pending records"),
    lower("historian", "pending_max", "records", "most pending records"),
    lower("orders", "variability_pct", "%", "variability between databases"),
    lower("", "cpu_us_per_operation", "µs", "CPU time of an operation"),
    lower("", "error_share", "share", "share of operations that failed"),
];

impl Metric {
    /// Whether a workload (`disk`, `historian`, `orders`) measures it.
    #[must_use]
    pub fn is_of(&self, workload: &str) -> bool {
        self.of.is_empty() || self.of == workload
    }

    /// The metric of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}
