//! The metrics of a trial, and which of them a study is about.

use record::{Design, METRICS, Metric, Observation, State};

use crate::differ_in_block_size;
use crate::percentile::interval_ms;
use crate::report::Report;
use crate::trial::Trial;

/// Metric that is of a whole search and of no single trial.
pub(crate) const SUSTAINED: &str = "sustained_per_s";

/// Share of the operations that failed.
pub(crate) const ERROR_SHARE: &str = "error_share";

/// What open loops can differ in: the highest percentile that all trials support, or the mean.
const LATENCIES: [&str; 4] = ["p99_ms", "p95_ms", "p50_ms", "mean_ms"];

/// A metric's name and how it is computed; none where a trial does not have it, or too few operations support it.
pub(crate) type MetricOf = (&'static str, fn(&Trial) -> Option<f64>);

/// Metrics of every workload.
const COMMON: [MetricOf; 7] = [
    ("mean_ms", |trial| ms(trial.main()?.latency.mean_us)),
    ("p50_ms", |trial| ms(trial.main()?.latency.p50_us)),
    ("p95_ms", |trial| ms(trial.main()?.latency.p95_us)),
    ("p99_ms", |trial| ms(trial.main()?.latency.p99_us)),
    ("p999_ms", |trial| ms(trial.main()?.latency.p999_us)),
    ("cpu_us_per_operation", |trial| trial.machine.measurement_cpu_us_per_operation),
    (ERROR_SHARE, error_share),
];

/// The value of a metric for a trial in the metric's unit; none where its workload does not measure it, too few operations
/// support it, or it is of a search ([`SUSTAINED`]).
pub(crate) fn value(trial: &Trial, metric: &Metric) -> Option<f64> {
    let mut known = COMMON.iter().chain(trial.shown().metrics());
    match known.find(|(name, _)| *name == metric.name) {
        Some((_, value)) => value(trial).filter(|value| value.is_finite()),
        None => ms(trial.main()?.percentile(metric.percentile()?).0),
    }
}

/// All metrics, and those of percentiles that were asked for of these trials.
pub(crate) fn all<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Vec<&'static Metric> {
    let mut all: Vec<&'static Metric> = METRICS.iter().collect();
    for own in trials.into_iter().filter_map(Trial::main).flat_map(|main| &main.own_percentiles) {
        let metric = own.percentile.metric();
        if !all.contains(&metric) {
            all.push(metric);
        }
    }
    all
}

/// Microseconds in milliseconds.
pub(crate) fn ms(us: Option<f64>) -> Option<f64> {
    us.map(|us| us / 1e3)
}

/// Of all that can fail the share that did.
fn error_share(trial: &Trial) -> Option<f64> {
    let counted = trial.shown().attempts(trial);
    let errors: u64 = counted.iter().map(|figures| figures.errors).sum();
    let done: u64 = counted.iter().map(|figures| figures.operations).sum();
    (errors + done > 0).then(|| errors as f64 / (errors + done) as f64)
}

/// What a study is about: what it says itself, else what its workload is judged by. None where nothing was measured.
pub(crate) fn of_study<'a>(
    design: &Design,
    trials: impl Iterator<Item = &'a Trial>,
) -> Option<&'static Metric> {
    if let Some(metric) = design.metric.as_deref().and_then(Metric::named) {
        return Some(metric);
    }
    let trials: Vec<&Trial> = trials.collect();
    if trials.iter().any(|trial| trial.search.is_some()) {
        return Metric::named(SUSTAINED);
    }
    let complete: Vec<&Trial> = trials.into_iter().filter(|trial| trial.is_complete()).collect();
    let first = complete.iter().find(|trial| trial.main().is_some())?;
    let rate = first.shown().words().rate_metric;
    // A rate that was offered and held is that of the load, not of what was loaded.
    let name = match complete.iter().all(|trial| achieved(trial)) {
        true => latency(&complete),
        false if differ_in_block_size(&complete) => "mb_per_s",
        false => rate,
    };
    Metric::named(name)
}

fn latency(trials: &[&Trial]) -> &'static str {
    let supported = |name: &&str| {
        Metric::named(name).is_some_and(|metric| trials.iter().all(|trial| value(trial, metric).is_some()))
    };
    LATENCIES.into_iter().find(supported).unwrap_or("mean_ms")
}

/// Whether a rate was offered and achieved.
fn achieved(trial: &Trial) -> bool {
    let offered = trial.shown().offered_per_s(trial);
    let achieved = trial.main().and_then(|figures| figures.per_s);
    offered.zip(achieved).is_some_and(|(offered, achieved)| achieved >= offered * stats::ACHIEVED_SHARE_MIN)
}

impl Report {
    /// All metrics of all trials that were begun, a line each: the long table of an export. `study` is the name of the
    /// results directory. Only trials that are complete are valid; the rate of a search stands once, with the number of the
    /// last step that held it, and is valid if it was confirmed; what failed above it is its upper end. The second measurement of
    /// a reference has ` (A/A)` behind the name of its configuration, so that nobody takes it for a repeat.
    #[must_use]
    pub fn observations(&self, study: &str) -> Vec<Observation> {
        let line =
            |trial: &Trial, metric: &Metric, value: f64, ends: Option<(f64, f64)>, valid: bool| Observation {
                study: study.to_owned(),
                trial: trial.number,
                block: trial.block,
                configuration: configuration(trial),
                axes: trial.levels.clone(),
                metric: metric.name.to_owned(),
                unit: metric.unit.to_owned(),
                value,
                low: ends.map(|(low, _)| low),
                high: ends.map(|(_, high)| high).filter(|high| high.is_finite()),
                valid,
            };
        let begun = |trial: &&Trial| !matches!(trial.state, State::Skipped | State::Planned);
        let of_trial = |trial: &Trial| {
            let own = all([trial]).into_iter().filter_map(|metric| {
                let value = value(trial, metric)?;
                Some(line(trial, metric, value, interval_ms(trial, metric), trial.is_complete()))
            });
            let rate = trial.searched.and_then(|(range, confirmed)| {
                let ends = (range.held_per_s, range.failed_per_s.unwrap_or(f64::INFINITY));
                Some(line(trial, Metric::named(SUSTAINED)?, range.held_per_s, Some(ends), confirmed))
            });
            own.chain(rate).collect::<Vec<Observation>>()
        };
        self.trials.iter().filter(begun).flat_map(of_trial).collect()
    }
}

pub(crate) fn configuration(trial: &Trial) -> String {
    let name = if trial.configuration.is_empty() { &trial.name } else { &trial.configuration };
    if trial.aa { format!("{name} (A/A)") } else { name.clone() }
}

#[cfg(test)]
mod tests {
    use record::Workload;

    use super::*;
    use crate::workloads;

    /// A metric that no function computes would be a column of dashes, and nobody would know why.
    #[test]
    fn every_metric_is_computed_by_exactly_one_function() {
        for metric in METRICS.iter().filter(|metric| metric.name != SUSTAINED) {
            let common = COMMON.iter().filter(|(name, _)| *name == metric.name).count();
            let by_workload: Vec<(Workload, usize)> = workloads::all()
                .map(|(workload, shown)| {
                    let own = shown.metrics().iter().filter(|(name, _)| *name == metric.name);
                    (workload, own.count())
                })
                .collect();
            for (workload, own) in by_workload {
                let expected = usize::from(metric.is_of(workload));
                assert_eq!(common + own, expected, "{} of {workload}", metric.name);
            }
        }
        let own = workloads::all().flat_map(|(_, shown)| shown.metrics());
        for (name, _) in COMMON.iter().chain(own) {
            assert!(Metric::named(name).is_some(), "{name} is no metric of a record");
        }
        for (_, shown) in workloads::all() {
            assert!(Metric::named(shown.words().rate_metric).is_some(), "{}", shown.words().one);
        }
    }
}
