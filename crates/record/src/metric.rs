//! The metrics of a trial: what verdicts, thresholds and exports are about. How each is computed from a record is the
//! report's affair.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::Percentile;
use crate::Workload::{self, Disk, Historian, Orders, Register, Reporting, Script, Tables};

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
    /// Workload that measures it; none for all.
    pub of: Option<Workload>,
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

type Text = &'static str;

const fn higher(of: Option<Workload>, name: Text, unit: Text, says: Text) -> Metric {
    Metric { name, unit, better: Direction::Higher, says, of }
}

const fn lower(of: Option<Workload>, name: Text, unit: Text, says: Text) -> Metric {
    Metric { name, unit, better: Direction::Lower, says, of }
}

/// Of trials that sell.
const STORE: Option<Workload> = Some(Orders);

/// Of trials that run SQL of users.
const SQL: Option<Workload> = Some(Script);

/// Of trials that ask for reports.
const REPORTS: Option<Workload> = Some(Reporting);

/// Of trials that check a history.
const HISTORY: Option<Workload> = Some(Register);

/// Of trials of a table.
const TABLE: Option<Workload> = Some(Tables);

/// All metrics. A trial has those that its workload measures.
pub const METRICS: [Metric; 41] = [
    higher(Some(Disk), "iops", "I/O/s", "I/Os per second"),
    higher(Some(Disk), "mb_per_s", "MB/s", "throughput"),
    higher(Some(Historian), "records_per_s", "records/s", "records per second"),
    higher(Some(Historian), "sustained_per_s", "records/s", "highest sustained rate"),
    higher(STORE, "orders_per_min", "orders/min", "orders per minute"),
    higher(STORE, "committed_orders_per_min", "orders/min", "committed orders per minute"),
    higher(SQL, "transactions_per_s", "transactions/s", "transactions per second"),
    higher(HISTORY, "operations_per_s", "operations/s", "operations per second"),
    higher(TABLE, "point_updates_per_s", "updates/s", "updates by key per second"),
    higher(TABLE, "point_deletes_per_s", "deletes/s", "deletes by key per second"),
    lower(TABLE, "load_s", "s", "time to load all rows"),
    lower(TABLE, "select_s", "s", "time of a SELECT by value"),
    lower(TABLE, "scan_s", "s", "time of a scan of all rows"),
    lower(TABLE, "group_s", "s", "time of a GROUP BY of all rows"),
    lower(TABLE, "update_all_s", "s", "time of an UPDATE of all rows"),
    lower(TABLE, "delete_all_s", "s", "time of a DELETE of all rows"),
    lower(TABLE, "table_disk_mb", "MB", "size on disk"),
    lower(TABLE, "table_memory_mb", "MB", "size in memory"),
    lower(None, "mean_ms", "ms", "mean latency"),
    lower(None, "p50_ms", "ms", "median latency"),
    lower(None, "p95_ms", "ms", "95th percentile of the latency"),
    lower(None, "p99_ms", "ms", "99th percentile of the latency"),
    lower(None, "p999_ms", "ms", "99.9th percentile of the latency"),
    lower(Some(Historian), "commit_p99_ms", "ms", "99th percentile of commit time"),
    lower(Some(Historian), "trend_p99_ms", "ms", "99th percentile of a trend read"),
    lower(Some(Historian), "pending_mean", "records", "mean pending records"),
    lower(Some(Historian), "pending_max", "records", "most pending records"),
    lower(STORE, "variability_pct", "%", "variability between databases"),
    lower(REPORTS, "report_s", "s", "mean time of a report"),
    lower(REPORTS, "first_report_s", "s", "time of the first report"),
    lower(REPORTS, "first_row_s", "s", "mean time to the first row of a report"),
    lower(REPORTS, "server_memory_mib", "MiB", "most memory of the server's processes"),
    lower(REPORTS, "server_cpu_pct", "%", "share of its CPUs that the server used"),
    lower(REPORTS, "read_mib_per_report", "MiB", "what the server itself read from devices for a report"),
    lower(REPORTS, "report_read_iops", "IOPS", "reads per second of the server itself while reports run"),
    lower(SQL, "late_pct", "%", "share of transactions that were late"),
    lower(HISTORY, "away_longest_s", "s", "longest time without an answer"),
    lower(HISTORY, "away_s", "s", "time without an answer"),
    lower(HISTORY, "lost_updates", "writes", "acknowledged writes that were lost"),
    lower(None, "cpu_us_per_operation", "µs", "CPU time of the load and the server per operation"),
    lower(None, "error_share", "share", "share of operations that failed"),
];

impl Metric {
    /// Whether a workload measures it.
    #[must_use]
    pub fn is_of(&self, workload: Workload) -> bool {
        self.of.is_none_or(|of| of == workload)
    }

    /// The metric of a name; those of percentiles, `p99.99_ms`, are as many as there are percentiles.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let is_common = METRICS.iter().find(|metric| metric.name == name);
        is_common.or_else(|| {
            let percentile = name.strip_prefix('p')?.strip_suffix("_ms")?;
            let is_number = percentile.starts_with(|c: char| c.is_ascii_digit());
            Some(Self::of_percentile(percentile.parse().ok().filter(|_| is_number)?))
        })
    }

    /// The percentile of all operations that it is; none of other metrics.
    #[must_use]
    pub fn percentile(&self) -> Option<Percentile> {
        let name = if self.name == "p999_ms" { "p99.9_ms" } else { self.name };
        name.strip_prefix('p')?.strip_suffix("_ms")?.parse().ok()
    }

    /// The metric of a percentile. Whoever asks for it again gets the same one: metrics live as long as the program, and there is
    /// no more than one for each percentile that a user names.
    pub(crate) fn of_percentile(percentile: Percentile) -> &'static Self {
        static OWN: Mutex<BTreeMap<String, &'static Metric>> = Mutex::new(BTreeMap::new());
        if let Some(common) = METRICS.iter().find(|metric| metric.percentile() == Some(percentile)) {
            return common;
        }
        let name = format!("{}_ms", percentile.name());
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.entry(name.clone()).or_insert_with(|| {
            let says = format!("{} percentile of the latency", ordinal(percentile.per_cent()));
            Box::leak(Box::new(lower(None, name.leak(), "ms", says.leak())))
        })
    }
}

/// `91st`, `99.99th`.
fn ordinal(number: f64) -> String {
    let tens = (number / 10.0).floor() * 10.0;
    let suffix = match number - tens {
        _ if tens == 10.0 => "th",
        1.0 => "st",
        2.0 => "nd",
        3.0 => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}
