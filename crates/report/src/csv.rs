//! The figures as CSV (RFC 4180): one line a trial and kind of operation, units in the names of the columns. Where a
//! study holds historians or order stores, their columns follow after those that every study has. How a text is written
//! so that no spreadsheet runs it is said in `record::csv_field`.

use record::{SearchStep, Summary, csv_field};

use crate::format;
use crate::historian::Historian;
use crate::orders::{Orders, Reconciliation};
use crate::report::Report;
use crate::trial::{Figures, Trial};

/// Columns, in order. Latencies are in microseconds, rates a second, shares of 0–1; an empty field is unknown.
const COLUMNS: [&str; 37] = [
    "trial",
    "block",
    "name",
    "levels",
    "state",
    "kind",
    "operations",
    "errors",
    "measured_s",
    "per_s",
    "per_s_low",
    "per_s_high",
    "mb_per_s",
    "latency_min_us",
    "latency_mean_us",
    "latency_p50_us",
    "latency_p95_us",
    "latency_p99_us",
    "latency_p999_us",
    "latency_max_us",
    "service_mean_us",
    "service_p50_us",
    "service_p99_us",
    "service_max_us",
    "lag_mean_us",
    "lag_p50_us",
    "lag_p99_us",
    "lag_max_us",
    "in_flight",
    "generator_cpu_us_per_operation",
    "machine_cpu_us_per_operation",
    "generator_busiest_share",
    "coefficient_of_variation",
    "steady",
    "offered_per_s",
    "unsent",
    "reason",
];

/// Columns of historians, in order; counts of events and rows are of the whole trial.
const HISTORIAN_COLUMNS: [&str; 21] = [
    "events_offered_per_s",
    "commits_per_s",
    "rows_per_commit",
    "pending_mean_records",
    "pending_max_records",
    "refused_events",
    "acknowledged_rows",
    "expected_rows",
    "found_rows",
    "drain_s",
    "outages",
    "purges",
    "purge_s_max",
    "purge_share_of_interval_max",
    "database_bytes",
    "bytes_per_record",
    "bytes_per_day",
    "held",
    "not_held_because",
    "search_step",
    "search_rate_per_s",
];

/// Columns of order stores, in order. Those from `purchases` on are of the whole trial, warm-up and drain included, and
/// of all targets together; `orders_per_min_by_target` has spaces between its figures.
const ORDERS_COLUMNS: [&str; 35] = [
    "orders_per_min",
    "orders_per_min_low",
    "orders_per_min_high",
    "committed_orders_per_min",
    "offered_orders_per_min",
    "rolled_back_orders",
    "rolled_back_share",
    "retried_operations",
    "targets",
    "orders_per_min_by_target",
    "target_variability",
    "clients",
    "client_orders_per_min_least",
    "client_orders_per_min_median",
    "client_orders_per_min_most",
    "client_variability",
    "database_us_per_order",
    "database_share_of_order",
    "client_cpu_us_per_order",
    "server_cpu_us_per_order",
    "client_cpu_over_server_cpu",
    "cpu_target_share",
    "server_cpu_share_mean",
    "active_clients_mean",
    "cpu_target_reached",
    "purchases",
    "purchases_rolled_back",
    "purchases_unanswered",
    "orders_found",
    "acknowledged_orders_lost",
    "quantity_found",
    "sales_risen",
    "reconciled",
    "clients_stopped",
    "outages_of_targets",
];

impl Report {
    /// The figures of all trials as CSV, with a header line. Digits are not rounded.
    #[must_use]
    pub fn csv(&self) -> String {
        let historians = self.historians().next().is_some();
        let mut columns = COLUMNS.to_vec();
        columns.extend(HISTORIAN_COLUMNS.iter().filter(|_| historians));
        let stores = self.order_stores().next().is_some();
        columns.extend(ORDERS_COLUMNS.iter().filter(|_| stores));
        let mut text = columns.join(",");
        text.push_str("\r\n");
        for trial in &self.trials {
            let rows: Vec<Option<(usize, &Figures)>> = match trial.figures.is_empty() {
                true => vec![None],
                false => trial.figures.iter().enumerate().map(Some).collect(),
            };
            for row in rows {
                let mut fields = fields(trial, row);
                if historians {
                    fields.extend(historian_fields(trial, row.is_none_or(|(index, _)| index == 0)));
                }
                if stores {
                    fields.extend(orders_fields(trial, row.is_none_or(|(index, _)| index == 0)));
                }
                let fields: Vec<String> = fields.iter().map(|field| csv_field(field)).collect();
                text.push_str(&fields.join(","));
                text.push_str("\r\n");
            }
        }
        text
    }
}

fn fields(trial: &Trial, row: Option<(usize, &Figures)>) -> Vec<String> {
    let figures = row.map(|(_, figures)| figures);
    // What belongs to the whole trial stands in its first line only.
    let whole = row.is_none_or(|(index, _)| index == 0);
    let of_trial = |value: Option<f64>| number(value.filter(|_| whole));
    let levels: Vec<String> = trial.levels.iter().map(|(key, level)| format!("{key}={level}")).collect();
    let latency = figures.map(|f| f.latency).unwrap_or_default();
    let mut fields = vec![
        trial.number.to_string(),
        trial.block.to_string(),
        trial.name.clone(),
        levels.join(" "),
        format::state(trial.state).to_owned(),
        figures.map(|f| f.kind.clone()).unwrap_or_default(),
        figures.map(|f| f.operations.to_string()).unwrap_or_default(),
        figures.map(|f| f.errors.to_string()).unwrap_or_default(),
        number(Some(trial.measured_s)),
        number(figures.and_then(|f| f.per_s)),
        of_trial(trial.rate_per_s.map(|e| e.low)),
        of_trial(trial.rate_per_s.map(|e| e.high)),
        number(figures.and_then(|f| f.mb_per_s)),
        number(latency.min_us),
        number(latency.mean_us),
        number(latency.p50_us),
        number(latency.p95_us),
        number(latency.p99_us),
        number(latency.p999_us),
        number(latency.max_us),
    ];
    fields.extend(short(figures.and_then(|f| f.service)));
    fields.extend(short(figures.and_then(|f| f.lag)));
    fields.extend([
        number(figures.and_then(|f| f.in_flight)),
        of_trial(trial.generator.cpu_us_per_operation),
        of_trial(trial.machine.cpu_us_per_operation),
        of_trial(trial.generator.busiest_share),
        of_trial(trial.stability.coefficient_of_variation),
        trial.stability.fifths.filter(|_| whole).map(|f| f.steady.to_string()).unwrap_or_default(),
        of_trial(trial.offered_per_s),
        if whole { trial.unsent.to_string() } else { String::new() },
        trial.reason.clone().filter(|_| whole).unwrap_or_default(),
    ]);
    fields
}

/// What belongs to a historian as a whole; it stands in the first line of the trial only.
fn historian_fields(trial: &Trial, whole: bool) -> Vec<String> {
    let historian = trial.historian.as_ref().filter(|_| whole);
    let of = |value: fn(&Historian) -> Option<f64>| number(historian.and_then(value));
    let count = |value: fn(&Historian) -> Option<u64>| {
        historian.and_then(value).map(|count| count.to_string()).unwrap_or_default()
    };
    let search = trial.search.filter(|_| whole);
    let step = search.map(|step| match step {
        SearchStep::Probe { .. } => "probe".to_owned(),
        SearchStep::Confirm { .. } => "confirm".to_owned(),
    });
    vec![
        of(|h| h.offered_per_s),
        of(|h| h.commits_per_s),
        of(|h| h.rows_per_commit),
        of(|h| h.pending_mean),
        of(|h| h.pending_max),
        count(|h| Some(h.refused)),
        count(|h| Some(h.acknowledged)),
        count(|h| Some(h.rows_expected)),
        count(|h| h.rows_found),
        of(|h| h.drain_s),
        count(|h| Some(h.outages.len() as u64)),
        count(|h| Some(h.maintenance.len() as u64)),
        of(|h| h.maintenance.iter().map(|maintenance| maintenance.run.purge_s).reduce(f64::max)),
        of(|h| h.maintenance.iter().filter_map(|maintenance| maintenance.interval_share).reduce(f64::max)),
        count(|h| h.storage.database_bytes_after),
        of(|h| h.storage.bytes_per_record),
        of(|h| h.storage.bytes_per_day),
        historian.and_then(|h| h.stable).map(|held| held.to_string()).unwrap_or_default(),
        historian.map(|h| h.unstable_because.join("; ")).unwrap_or_default(),
        step.unwrap_or_default(),
        number(search.map(SearchStep::rate_per_s)),
    ]
}

/// What belongs to a trial of an order store as a whole; it stands in the first line of the trial only.
fn orders_fields(trial: &Trial, whole: bool) -> Vec<String> {
    let orders = trial.orders.as_ref().filter(|_| whole);
    let of = |value: fn(&Orders) -> Option<f64>| number(orders.and_then(value));
    let count =
        |value: fn(&Orders) -> u64| orders.map(value).map(|count| count.to_string()).unwrap_or_default();
    let by_target = orders.map(|orders| {
        let rates = orders.targets.iter().map(|target| number(target.per_min));
        rates.collect::<Vec<String>>().join(" ")
    });
    let reached = orders.and_then(|orders| orders.cpu_target?.reached);
    let mut fields = vec![
        of(|o| o.per_min),
        of(|o| o.per_min_interval.map(|e| e.low)),
        of(|o| o.per_min_interval.map(|e| e.high)),
        of(|o| o.committed_per_min),
        of(|o| o.offered_per_min),
        count(|o| o.rollbacks),
        of(|o| o.rollback_share),
        count(|o| o.retries),
        count(|o| o.targets.len() as u64),
        by_target.unwrap_or_default(),
        of(|o| o.target_variability),
        orders.and_then(|o| o.clients).map(|clients| clients.clients.to_string()).unwrap_or_default(),
        of(|o| o.clients.map(|clients| clients.min_per_min)),
        of(|o| o.clients.map(|clients| clients.median_per_min)),
        of(|o| o.clients.map(|clients| clients.max_per_min)),
        of(|o| o.clients?.variability),
        of(|o| o.time.database_us),
        of(|o| o.time.database_share),
        of(|o| o.time.client_cpu_us),
        of(|o| o.time.server_cpu_us),
        of(|o| o.time.client_over_server),
        of(|o| o.cpu_target.map(|cpu| cpu.target_share)),
        of(|o| o.cpu_target?.mean_share),
        of(|o| o.cpu_target?.active_clients_mean),
        reached.map(|reached| reached.to_string()).unwrap_or_default(),
    ];
    fields.extend(reconciled_fields(orders));
    fields.extend([
        count(|o| o.targets.iter().map(|target| target.stopped.len() as u64).sum()),
        count(|o| o.targets.iter().map(|target| target.outages.len() as u64).sum()),
    ]);
    fields
}

/// What all databases of a trial together were found to hold; a sum of which a part is unknown is unknown.
fn reconciled_fields(orders: Option<&Orders>) -> [String; 8] {
    let found: Option<Vec<&Reconciliation>> =
        orders.and_then(|o| o.targets.iter().map(|target| target.reconciliation.as_ref()).collect());
    let found = found.filter(|found| !found.is_empty());
    let sum = |of: fn(&Reconciliation) -> Option<i128>| {
        let parts =
            found.as_ref().and_then(|found| found.iter().map(|part| of(part)).collect::<Option<Vec<i128>>>());
        parts.map(|parts| parts.iter().sum::<i128>().to_string()).unwrap_or_default()
    };
    let holds = found.as_ref().and_then(|found| {
        let holds = found.iter().map(|part| part.holds);
        // One that does not hold is enough to know.
        if holds.clone().any(|holds| holds == Some(false)) { Some(false) } else { holds.min().flatten() }
    });
    [
        sum(|found| Some(found.purchases.into())),
        sum(|found| Some(found.rollbacks.into())),
        sum(|found| Some(found.unanswered.into())),
        sum(|found| found.orders_found.map(i128::from)),
        sum(|found| found.acknowledged_lost.map(i128::from)),
        sum(|found| found.quantity_found.map(i128::from)),
        sum(|found| found.sales_risen.map(i128::from)),
        holds.map(|holds| holds.to_string()).unwrap_or_default(),
    ]
}

fn short(summary: Option<Summary>) -> [String; 4] {
    let summary = summary.unwrap_or_default();
    [number(summary.mean_us), number(summary.p50_us), number(summary.p99_us), number(summary.max_us)]
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}
