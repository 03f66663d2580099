//! A series over the rows of a flush: what more rows a transaction gain.

use std::collections::BTreeMap;

use record::{Loop, Setup};
use serde::Serialize;

use crate::configuration::Configuration;
use crate::search::Search;
use crate::trial::Trial;

/// Rows of a flush that others are compared with: the default of the historian and of the published test.
const REFERENCE_ROWS: u32 = 40;

/// One measured number of rows.
#[derive(Clone, Debug, Serialize)]
pub struct FlushPoint {
    /// Rows of a flush, as set.
    pub flush_rows: u32,
    /// Rows committed a second; of a search, the highest rate that was held.
    pub records_per_s: f64,
    /// Transactions a second.
    pub commits_per_s: Option<f64>,
    /// 99th percentile of the length of a flush.
    pub flush_p99_us: Option<f64>,
    /// Most pending records.
    pub pending_max: Option<f64>,
    /// More records a second than with 40 rows, as a share: 1.0 is twice as many.
    pub gain_share: Option<f64>,
    /// Whether the rate was held in all trials; none of a closed loop.
    pub stable: Option<bool>,
    /// Trials.
    pub trials: Vec<u32>,
}

/// One series.
#[derive(Clone, Debug, Serialize)]
pub struct FlushSeries {
    /// What stays the same in it, in words.
    pub series: String,
    /// The numbers of rows, rising.
    pub points: Vec<FlushPoint>,
    /// Records offered a second; none of closed loops and searches.
    pub offered_per_s: Option<f64>,
}

impl FlushSeries {
    /// The point with the highest rate.
    pub(crate) fn best(&self) -> Option<&FlushPoint> {
        self.points.iter().max_by(|a, b| a.records_per_s.total_cmp(&b.records_per_s))
    }

    /// The point with the highest rate of another number of rows.
    pub(crate) fn next_to(&self, best: &FlushPoint) -> Option<&FlushPoint> {
        let others = self.points.iter().filter(|point| point.flush_rows != best.flush_rows);
        others.max_by(|a, b| a.records_per_s.total_cmp(&b.records_per_s))
    }
}

/// What a series is told apart by: its pace, and the other levels.
#[derive(PartialEq)]
struct Key {
    pace: String,
    others: Vec<String>,
}

/// All series with at least two numbers of rows. Where levels are compared block by block, what they gain is not said of the
/// means of all blocks too.
pub(crate) fn all(
    configurations: &[Configuration],
    searches: &[Search],
    trials: &[Trial],
    is_compared: bool,
) -> Vec<FlushSeries> {
    let measured = configurations.iter().filter_map(|configuration| configured(configuration, trials));
    let searched = searches.iter().filter_map(|search| searched(search, trials));
    let mut series: Vec<(Key, Option<f64>, Vec<FlushPoint>)> = Vec::new();
    for (key, offered_per_s, point) in measured.chain(searched) {
        match series.iter_mut().find(|(other, ..)| *other == key) {
            Some((.., points)) => points.push(point),
            None => series.push((key, offered_per_s, vec![point])),
        }
    }
    series.retain(|(.., points)| points.iter().any(|point| point.flush_rows != points[0].flush_rows));
    let reference = (!is_compared).then_some(REFERENCE_ROWS);
    let told = |(key, offered_per_s, points): (Key, _, _)| compared(&key, offered_per_s, points, reference);
    series.into_iter().map(told).collect()
}

fn compared(
    key: &Key,
    offered_per_s: Option<f64>,
    mut points: Vec<FlushPoint>,
    reference: Option<u32>,
) -> FlushSeries {
    points.sort_by_key(|point| point.flush_rows);
    let reference = points.iter().find(|point| Some(point.flush_rows) == reference).map(|p| p.records_per_s);
    // What was offered is no gain, whether it was held or not.
    let reference = reference.filter(|_| offered_per_s.is_none());
    for point in &mut points {
        let rate = point.records_per_s;
        point.gain_share = reference.filter(|&of| of > 0.0).map(|of| rate / of - 1.0);
    }
    let words = std::iter::once(&key.pace).chain(&key.others).map(String::as_str);
    FlushSeries { series: words.collect::<Vec<&str>>().join(", "), points, offered_per_s }
}

fn configured(configuration: &Configuration, trials: &[Trial]) -> Option<(Key, Option<f64>, FlushPoint)> {
    let (flush_rows, others) = place(&configuration.levels)?;
    let setup = configuration.setup.as_ref().and_then(Setup::historian)?;
    let (pace, offered_per_s) = match setup.pacing {
        Loop::Open { rate_per_s, .. } => {
            (format!("{} records/s offered", crate::format::plain(rate_per_s)), Some(rate_per_s))
        }
        Loop::Closed { .. } => ("at full speed".to_owned(), None),
    };
    let chosen: Vec<_> = configuration.measured_in(trials).filter_map(Trial::historian).collect();
    let mean = |values: Vec<f64>| stats::mean(&values);
    let point = FlushPoint {
        flush_rows,
        records_per_s: configuration.main()?.per_s?,
        commits_per_s: mean(chosen.iter().filter_map(|h| h.commits_per_s).collect()),
        flush_p99_us: configuration
            .figures_of(record::historian::COMMIT)
            .and_then(|figures| figures.latency.p99_us),
        pending_max: chosen.iter().filter_map(|h| h.pending_max).reduce(f64::max),
        gain_share: None,
        stable: all_held(chosen.iter().map(|h| h.stable)),
        trials: configuration.trials.clone(),
    };
    Some((Key { pace, others }, offered_per_s, point))
}

/// Whether all were held; none where that is not known of all.
fn all_held(held: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let held: Vec<bool> = held.collect::<Option<Vec<bool>>>()?;
    (!held.is_empty()).then(|| held.into_iter().all(|held| held))
}

fn searched(search: &Search, trials: &[Trial]) -> Option<(Key, Option<f64>, FlushPoint)> {
    let (flush_rows, others) = place(&search.levels)?;
    let rate = search.stable_at?;
    let step = search.steps.iter().rev().find(|step| step.rate_per_s == rate && step.stable == Some(true))?;
    let historian = trials.iter().find(|trial| trial.number == step.trial)?.historian()?;
    let point = FlushPoint {
        flush_rows,
        records_per_s: rate,
        commits_per_s: historian.commits_per_s,
        flush_p99_us: historian.flush.and_then(|flush| flush.p99_us),
        pending_max: historian.pending_max,
        gain_share: None,
        stable: Some(true),
        trials: search.trials(),
    };
    Some((Key { pace: "highest confirmed rate".to_owned(), others }, None, point))
}

/// The rows of a flush and the other levels of a configuration, if one of its axes is the rows of a flush.
fn place(levels: &BTreeMap<String, String>) -> Option<(u32, Vec<String>)> {
    let is_rows = |key: &str| key.rsplit('.').next() == Some("flush_rows");
    let rows = levels.iter().find(|(key, _)| is_rows(key))?.1.parse().ok()?;
    let others = levels.iter().filter(|(key, _)| !is_rows(key));
    Some((rows, others.map(|(key, level)| format!("{} {level}", crate::axis_words(key))).collect()))
}
