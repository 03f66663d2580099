//! The metrics of a trial, and which of them a study is about.

use std::collections::BTreeMap;

use record::{Design, METRICS, Metric, Observation, State};

use crate::report::Report;
use crate::search::Search;
use crate::trial::{Figures, Trial};
use record::Workload;

/// Metric that is of a whole search and of no single trial.
pub(crate) const SUSTAINED: &str = "sustained_per_s";

/// Share of the operations that failed.
pub(crate) const ERROR_SHARE: &str = "error_share";

/// Share of the offered rate from which on it was held.
const ACHIEVED_SHARE: f64 = 0.995;

/// What open loops can differ in: the highest percentile that all trials support, or the mean.
const LATENCIES: [&str; 4] = ["p99_ms", "p95_ms", "p50_ms", "mean_ms"];

/// The value of a metric for a trial in the metric's unit; none where its workload does not measure it, too few operations
/// support it, or it is of a search ([`of_search`]).
pub(crate) fn value(trial: &Trial, metric: &Metric) -> Option<f64> {
    let value = match metric.name {
        "iops" => main(trial, Workload::Disk)?.per_s,
        "mb_per_s" => main(trial, Workload::Disk)?.mb_per_s,
        "records_per_s" => trial.historian.as_ref()?.records_per_s,
        "orders_per_min" => trial.orders.as_ref()?.committed_per_min,
        "mean_ms" => ms(trial.main()?.latency.mean_us),
        "p50_ms" => ms(trial.main()?.latency.p50_us),
        "p95_ms" => ms(trial.main()?.latency.p95_us),
        "p99_ms" => ms(trial.main()?.latency.p99_us),
        "p999_ms" => ms(trial.main()?.latency.p999_us),
        "commit_p99_ms" => ms(trial.historian.as_ref()?.flush?.p99_us),
        "trend_p99_ms" => ms(trial.historian.as_ref()?.trend.as_ref()?.latency.p99_us),
        "pending_mean" => trial.historian.as_ref()?.pending_mean,
        "pending_max" => trial.historian.as_ref()?.pending_max,
        "variability_pct" => variability(trial).map(|share| share * 100.0),
        "cpu_us_per_operation" => trial.machine.cpu_us_per_operation,
        ERROR_SHARE => error_share(trial),
        _ => None,
    };
    value.filter(|value| value.is_finite())
}

fn main(trial: &Trial, workload: Workload) -> Option<&Figures> {
    trial.main().filter(|_| trial.is(workload))
}

fn ms(us: Option<f64>) -> Option<f64> {
    us.map(|us| us / 1e3)
}

/// Between the targets of an order store; of a single target, between its clients.
fn variability(trial: &Trial) -> Option<f64> {
    let orders = trial.orders.as_ref()?;
    if orders.targets.len() > 1 { orders.target_variability } else { orders.clients?.variability }
}

/// Of I/Os and orders the share that failed. A historian's records do not fail, but its commits, reads and purges do.
fn error_share(trial: &Trial) -> Option<f64> {
    let counted: Vec<&Figures> = if trial.is(Workload::Historian) {
        trial.figures.iter().filter(|figures| figures.kind != record::historian::RECORD).collect()
    } else {
        trial.figures.iter().take(1).collect()
    };
    let errors: u64 = counted.iter().map(|figures| figures.errors).sum();
    let done: u64 = counted.iter().map(|figures| figures.operations).sum();
    (errors + done > 0).then(|| errors as f64 / (errors + done) as f64)
}

/// The highest rate that a search found to be held, and whether it was confirmed.
pub(crate) fn of_search(search: &Search) -> Option<(f64, bool)> {
    Some((search.held_at()?, search.stable_at.is_some()))
}

/// What a study is about: what it says itself, else what its workload is judged by. None where nothing was measured.
pub(crate) fn of_study(design: &Design, trials: &[Trial]) -> Option<&'static Metric> {
    if let Some(metric) = design.metric.as_deref().and_then(Metric::named) {
        return Some(metric);
    }
    if trials.iter().any(|trial| trial.search.is_some()) {
        return Metric::named(SUSTAINED);
    }
    let complete: Vec<&Trial> = trials.iter().filter(|trial| trial.is_complete()).collect();
    let first = complete.iter().find(|trial| trial.main().is_some())?;
    let rate = match first.workload {
        Workload::Disk => "iops",
        Workload::Historian => "records_per_s",
        Workload::Orders => "orders_per_min",
    };
    // A rate that was offered and held is that of the load, not of what was loaded.
    let name = if complete.iter().all(|trial| achieved(trial)) { latency(&complete) } else { rate };
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
    let offered = trial.historian.as_ref().and_then(|h| h.offered_per_s).or(trial.offered_per_s);
    let achieved = trial.main().and_then(|figures| figures.per_s);
    offered.zip(achieved).is_some_and(|(offered, achieved)| achieved >= offered * ACHIEVED_SHARE)
}

impl Report {
    /// All metrics of all trials that were begun, a line each: the long table of an export. `study` is the name of the
    /// results directory. Only trials that are complete are valid; the rate of a search stands once, with the number of the
    /// last step that held it, and is valid if it was confirmed. The second measurement of a reference has ` (A/A)` behind
    /// the name of its configuration, so that nobody takes it for a repeat.
    #[must_use]
    pub fn observations(&self, study: &str) -> Vec<Observation> {
        let line = |trial: &Trial, metric: &Metric, value: f64, valid: bool| Observation {
            study: study.to_owned(),
            trial: trial.number,
            block: trial.block,
            configuration: configuration(trial),
            axes: trial.levels.clone(),
            metric: metric.name.to_owned(),
            unit: metric.unit.to_owned(),
            value,
            valid,
        };
        let searched = self.searched();
        let begun = |trial: &&Trial| !matches!(trial.state, State::Skipped | State::Planned);
        let of_trial = |trial: &Trial| {
            let own = METRICS.iter().filter_map(|metric| {
                let value = value(trial, metric)?;
                Some(line(trial, metric, value, trial.is_complete()))
            });
            let rate = searched
                .get(&trial.number)
                .and_then(|&(rate, confirmed)| Some(line(trial, Metric::named(SUSTAINED)?, rate, confirmed)));
            own.chain(rate).collect::<Vec<Observation>>()
        };
        self.trials.iter().filter(begun).flat_map(of_trial).collect()
    }

    /// Rates that searches found, by the trial that speaks for each.
    fn searched(&self) -> BTreeMap<u32, (f64, bool)> {
        let searches = self.searches.iter().chain(&self.aa_searches);
        searches.filter_map(|search| Some((search.held_in()?, of_search(search)?))).collect()
    }
}

fn configuration(trial: &Trial) -> String {
    let name = if trial.configuration.is_empty() { &trial.name } else { &trial.configuration };
    if trial.aa { format!("{name} (A/A)") } else { name.clone() }
}
