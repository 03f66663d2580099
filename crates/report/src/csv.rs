//! The figures as CSV (RFC 4180): one line a trial and kind of operation, units in the names of the columns.

use record::Summary;

use crate::format;
use crate::model::{Figures, Report, Trial};

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

impl Report {
    /// The figures of all trials as CSV, with a header line. Digits are not rounded.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = COLUMNS.join(",");
        text.push_str("\r\n");
        for trial in &self.trials {
            let rows: Vec<Option<(usize, &Figures)>> = match trial.figures.is_empty() {
                true => vec![None],
                false => trial.figures.iter().enumerate().map(Some).collect(),
            };
            for row in rows {
                let fields: Vec<String> = fields(trial, row).iter().map(|field| quoted(field)).collect();
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

fn short(summary: Option<Summary>) -> [String; 4] {
    let summary = summary.unwrap_or_default();
    [number(summary.mean_us), number(summary.p50_us), number(summary.p99_us), number(summary.max_us)]
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
