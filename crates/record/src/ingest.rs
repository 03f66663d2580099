//! The figures by which a step of a historian is judged stable or not, taken from what a trial left.
//!
//! The judgement itself is `stats::sustained`; here is only the one place that says which numbers go into it, for the
//! search while it runs and for a report long after.

use stats::{Step, Written};

use crate::historian::{HistorianOutcome, HistorianSetup, RECORD};
use crate::{Latency, Loop, OperationInterval, Phase, Sample};

/// Gauge: mean of the pending records over an interval.
pub const PENDING: &str = "pending_records";
/// Gauge: fewest pending records in an interval.
pub const PENDING_MIN: &str = "pending_min_records";
/// Gauge: most pending records in an interval.
pub const PENDING_MAX: &str = "pending_max_records";

/// Gauge: events due in an interval.
pub const OFFERED: &str = "offered_records";
/// Gauge: events of an interval that were not accepted.
pub const REFUSED: &str = "refused_records";
/// Cycles of a step without maintenance: as many as there are lengths of this in it.
const CYCLE_S: f64 = 10.0;
/// Pending records are nearly nothing if they are offered in this time, in seconds.
const LOW_S: f64 = 0.1;
/// A step has at least so many cycles, if it has so many samples.
const CYCLES_MIN: f64 = 5.0;

/// The figures of a trial that was a step; none of a closed loop, which offers whatever is taken.
#[must_use]
pub fn ingest_step(
    setup: &HistorianSetup,
    outcome: &HistorianOutcome,
    samples: &[Sample],
    record: Option<&OperationInterval>,
) -> Option<Step> {
    let Loop::Open { .. } = setup.pacing else { return None };
    let window: Vec<&Sample> = samples.iter().filter(|sample| sample.phase == Phase::Measure).collect();
    let gauge = |name: &str| -> Vec<f64> {
        window.iter().map(|sample| sample.gauges.get(name).copied().unwrap_or(f64::NAN)).collect()
    };
    let sum = |name: &str| window.iter().filter_map(|sample| sample.gauges.get(name)).sum::<f64>() as u64;
    let measured_s: f64 = window.iter().map(|sample| sample.length_s).sum();
    let committed = window.iter().filter_map(|sample| sample.operations.get(RECORD));
    // What the warm-up left pending was due before.
    let committed =
        committed.map(|operation| operation.count.saturating_sub(operation.due_before.unwrap_or(0)));
    let offered = sum(OFFERED);
    let offered_per_s = offered as f64 / measured_s.max(1e-9);
    // Events that wait to be sorted are pending by order.
    let sorting = offered_per_s * setup.time_sorting_period_ms / 1e3;
    // What was pending at the end counts if all of it was written; records of before are judged without it.
    let counts_drained = setup.cycle.is_some() && outcome.drain_s.is_some() && outcome.abandoned == 0;
    Some(Step {
        end_s: window.iter().map(|sample| sample.end_s).collect(),
        pending: gauge(PENDING),
        pending_min: gauge(PENDING_MIN).into_iter().map(|least| (least - sorting).max(0.0)).collect(),
        cycle_s: cycle_s(setup, measured_s),
        buffer: setup.max_buffered_events,
        carried: if counts_drained { pending_last(&window) } else { 0 },
        offered,
        committed: committed.sum(),
        flush_slack: u64::from(setup.flush_rows) * u64::from(setup.writers),
        flush_cycle_s: setup.flush_cycle_s(offered_per_s),
        measured_s,
        drain_s: outcome.drain_s,
        drain_limit_s: outcome.drain_limit_s,
        rows_expected: outcome.rows_expected,
        rows_found: outcome.rows_found,
        refused: sum(REFUSED),
        p99_ms: record.map(OperationInterval::latency).and_then(p99_ms),
        p99_limit_ms: setup.p99_limit_ms,
    })
}

/// What was written in each interval of a trial, from its begin or of its measured window alone. All rows count, whenever they
/// were due.
#[must_use]
pub fn written(samples: &[Sample], measured_alone: bool) -> Vec<Written> {
    let counts = |sample: &&Sample| match sample.phase {
        Phase::Measure => true,
        Phase::WarmUp => !measured_alone,
        Phase::Drain => false,
    };
    let gauge = |sample: &Sample, name: &str| sample.gauges.get(name).copied().unwrap_or(0.0);
    let of = |sample: &Sample| Written {
        length_s: sample.length_s,
        records: sample.operations.get(RECORD).map_or(0.0, |operation| operation.count as f64),
        all_it_could: gauge(sample, PENDING_MIN) * sample.length_s > LOW_S * gauge(sample, OFFERED),
    };
    samples.iter().filter(counts).map(of).collect()
}

fn p99_ms(latency: &Latency) -> Option<f64> {
    latency.percentile_us(99.0).map(|us| us / 1e3)
}

/// What was pending when the window ended.
fn pending_last(window: &[&Sample]) -> u64 {
    window.last().and_then(|sample| sample.gauges.get(PENDING_MAX)).map_or(0, |pending| *pending as u64)
}

/// As it was recorded. In records of before from maintenance to maintenance, or ten seconds or a fifth of the step. At least the
/// time after which a flush is due.
fn cycle_s(setup: &HistorianSetup, measured_s: f64) -> f64 {
    if let Some(cycle) = setup.cycle {
        return cycle.length_s.max(setup.flush_interval_ms / 1e3);
    }
    match &setup.maintenance {
        Some(maintenance) if maintenance.interval_s * 2.0 <= measured_s => maintenance.interval_s,
        _ => CYCLE_S.min(measured_s / CYCLES_MIN).max(setup.flush_interval_ms / 1e3),
    }
}
