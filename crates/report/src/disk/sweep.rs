//! A series over the outstanding I/Os: its curve, its knee, and where it passed the latency tolerance.

use record::{Manifest, State};
use serde::Serialize;
use stats::{CandidateLevel, Estimate, Knee, NoKnee};

use crate::configuration::Configuration;
use crate::trial::Trial;

/// One measured depth.
#[derive(Clone, Debug, Serialize)]
pub struct SweepPoint {
    /// Outstanding I/Os a thread.
    pub outstanding: u32,
    /// I/Os a second.
    pub per_s: f64,
    /// Its 95% interval: over the repeats, else of that one run; none of runs too short for one.
    pub interval: Option<Estimate>,
    /// I/Os a second of each repeat, where there are several.
    pub repeats: Vec<f64>,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// Mean latency.
    pub mean_us: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_us: Option<f64>,
    /// Mean number in flight, by Little's law.
    pub in_flight: Option<f64>,
}

/// One series.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// What stays the same in it, in words.
    pub series: String,
    /// What it shares with the series drawn beside it.
    pub group: String,
    /// Its name within the group.
    pub label: String,
    /// The depths, rising.
    pub points: Vec<SweepPoint>,
    /// Where more depth stops paying, in outstanding I/Os a thread.
    pub knee: Option<Knee>,
    /// Why no knee is claimed.
    pub no_knee: Option<String>,
    /// The reason in a few words, the same for all series with this reason.
    #[serde(skip)]
    pub(crate) no_knee_in_short: Option<&'static str>,
    /// Mean latency past which the series was to stop.
    pub tolerance_us: Option<f64>,
    /// First depth whose mean latency was past the tolerance.
    pub passed_at: Option<u32>,
    /// Depths that were left out for that reason.
    pub skipped: Vec<u32>,
    /// Trials of the series.
    pub trials: Vec<u32>,
    /// All requested depths in ascending order, measured or not.
    #[serde(skip)]
    pub(crate) asked: Vec<u32>,
}

impl Sweep {
    /// The point with the highest rate.
    pub(crate) fn best(&self) -> Option<&SweepPoint> {
        self.points.iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s))
    }

    /// True if a requested depth between these two is unknown. The chart then draws no line between them.
    pub(crate) fn lacks_between(&self, from: u32, to: u32) -> bool {
        self.asked.iter().any(|depth| (from + 1..to).contains(depth))
    }

    /// The point with the highest rate within the tolerance. A greater depth can be within the tolerance too, but slower.
    pub(crate) fn best_within(&self) -> Option<&SweepPoint> {
        let is_within = |point: &&SweepPoint| {
            point.mean_us.zip(self.tolerance_us).is_some_and(|(mean, most)| mean <= most)
        };
        self.points.iter().filter(is_within).max_by(|a, b| a.per_s.total_cmp(&b.per_s))
    }
}

/// The parameter that a series is over.
const DEPTH: &str = "outstanding";

/// What a series is told apart by: all that was asked for but the depth.
#[derive(PartialEq)]
struct Key {
    configuration: String,
    others: Vec<String>,
    parameters: serde_json::Value,
}

/// All series with at least two depths.
pub(crate) fn all(manifest: &Manifest, configurations: &[Configuration], trials: &[Trial]) -> Vec<Sweep> {
    let mut keys: Vec<Key> = Vec::new();
    for trial in trials.iter().filter(|trial| !trial.aa) {
        if let Some((key, _)) = place(trial)
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    let mut sweeps: Vec<Sweep> =
        keys.iter().filter_map(|key| series(manifest, configurations, trials, key)).collect();
    for index in 0..sweeps.len() {
        let twin = |(other, sweep): (usize, &Sweep)| {
            other != index && sweep.group == sweeps[index].group && sweep.label == sweeps[index].label
        };
        if sweeps.iter().enumerate().any(twin) {
            sweeps[index].label = sweeps[index].series.clone();
        }
    }
    sweeps
}

fn series(
    manifest: &Manifest,
    configurations: &[Configuration],
    trials: &[Trial],
    key: &Key,
) -> Option<Sweep> {
    let depth = |trial: &Trial| place(trial).filter(|(other, _)| other == key).map(|(_, depth)| depth);
    let members: Vec<(&Configuration, u32)> =
        configurations.iter().filter_map(|c| Some((c, depth(c.measured_in(trials).next()?)?))).collect();
    let mut points: Vec<SweepPoint> =
        members.iter().filter_map(|(c, depth)| point(c, *depth, trials)).collect();
    points.sort_by_key(|point| point.outstanding);
    let depths: Vec<(u32, &Trial)> =
        trials.iter().filter(|trial| !trial.aa).filter_map(|trial| Some((depth(trial)?, trial))).collect();
    if points.is_empty() || depths.iter().all(|(depth, _)| *depth == depths[0].0) {
        return None;
    }
    let mut skipped: Vec<u32> =
        depths.iter().filter(|(_, trial)| trial.state == State::Skipped).map(|(depth, _)| *depth).collect();
    skipped.sort_unstable();
    skipped.dedup();
    let mut asked: Vec<u32> = depths.iter().map(|(depth, _)| *depth).collect();
    asked.sort_unstable();
    asked.dedup();
    let curve: Vec<(f64, Vec<Option<f64>>)> = members
        .iter()
        .map(|(configuration, depth)| (f64::from(*depth), rates(configuration, trials)))
        .collect();
    let knee = saturation(&curve, manifest.seed);
    let tolerance_us = manifest.latency_tolerance_ms.map(|ms| ms * 1e3);
    let passed =
        |point: &&SweepPoint| point.mean_us.zip(tolerance_us).is_some_and(|(mean, most)| mean > most);
    let (group, label) = words(members.first()?.0);
    let what = if group.is_empty() { label.clone() } else { format!("{label} {group}") };
    let named = key.configuration.as_str();
    Some(Sweep {
        series: if named.is_empty() || named == group { what } else { format!("{what}, {named}") },
        group,
        label,
        passed_at: points.iter().find(passed).map(|point| point.outstanding),
        no_knee: knee.as_ref().err().map(|without| without.reason.clone()),
        no_knee_in_short: knee.as_ref().err().map(|without| without.in_short),
        knee: knee.ok(),
        tolerance_us,
        points,
        skipped,
        trials: depths.iter().map(|(_, trial)| trial.number).collect(),
        asked,
    })
}

/// The reason why a series has no knee.
#[derive(Debug)]
struct Without {
    reason: String,
    in_short: &'static str,
}

/// The knee past which more depth gains at a lower rate, or why there is none. A bend the other way is not one.
fn saturation(curve: &[(f64, Vec<Option<f64>>)], seed: u64) -> Result<Knee, Without> {
    let levels: Vec<CandidateLevel<'_>> =
        curve.iter().map(|(level, by_block)| CandidateLevel { level: *level, by_block }).collect();
    match stats::knee(&levels, seed) {
        Ok(knee) if knee.slope_above > knee.slope_below => Err(Without {
            reason: format!("no knee: above {:.3} outstanding the rate rises faster, not slower", knee.at),
            in_short: "the rate rises faster with depth",
        }),
        other => other.map_err(|reason| Without { reason: reason.to_string(), in_short: in_short(&reason) }),
    }
}

/// A reason without figures.
fn in_short(reason: &NoKnee) -> &'static str {
    match reason {
        NoKnee::NoCurve(_) => "too few usable depths",
        NoKnee::NoBend { .. } => "noise could explain the bend",
        NoKnee::Gradual { .. } => "the curve bends gradually",
        NoKnee::Jump { .. } => "a jump fits as well",
        NoKnee::Slight { .. } => "the bend is too slight",
    }
}

/// The rate of each complete trial of a configuration, in the place of its block.
fn rates(configuration: &Configuration, trials: &[Trial]) -> Vec<Option<f64>> {
    let measured = || configuration.measured_in(trials).filter(|trial| trial.is_complete() && !trial.aa);
    let blocks = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    let rate =
        |block: u32| measured().find(|trial| trial.block == block).and_then(|trial| trial.main()?.per_s);
    (0..=blocks).map(rate).collect()
}

fn point(configuration: &Configuration, outstanding: u32, trials: &[Trial]) -> Option<SweepPoint> {
    let figures = configuration.main()?;
    let repeats: Vec<f64> = rates(configuration, trials).into_iter().flatten().collect();
    Some(SweepPoint {
        outstanding,
        per_s: figures.per_s?,
        interval: configuration.rate_per_s,
        repeats: if repeats.len() > 1 { repeats } else { Vec::new() },
        mb_per_s: figures.mb_per_s,
        mean_us: figures.latency.mean_us,
        p99_us: figures.latency.p99_us,
        in_flight: figures.in_flight,
    })
}

/// The series and the depth of a trial, if one of its axes is the outstanding I/Os.
fn place(trial: &Trial) -> Option<(Key, u32)> {
    let is_depth = |key: &str| key.rsplit('.').next() == Some(DEPTH);
    let depth = trial.levels.iter().find(|(key, _)| is_depth(key))?.1.parse().ok()?;
    let others = trial.levels.iter().filter(|(key, _)| !is_depth(key));
    let mut parameters = trial.parameters.clone();
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.remove(DEPTH);
    }
    let key = Key {
        configuration: trial.configuration.clone(),
        others: others.map(|(_, level)| level.clone()).collect(),
        parameters,
    };
    Some((key, depth))
}

/// Group and label of a series: `random read` and `4 KiB` where the setup says so, else its first name.
fn words(configuration: &Configuration) -> (String, String) {
    let Some(disk) = configuration.disk() else {
        return (String::new(), configuration.name.clone());
    };
    let kind = match disk.read_per_cent {
        share if share >= 100.0 => "read".to_owned(),
        share if share <= 0.0 => "write".to_owned(),
        share => format!("{share}% read"),
    };
    (format!("{} {kind}", disk.pattern), crate::format::bytes(disk.block_bytes))
}

#[cfg(test)]
mod tests {
    use super::saturation;
    use crate::fixture::{self, Made};
    use crate::report::Report;

    fn read(number: u32, block_bytes: u64, outstanding: u32) -> record::MeasuredTrial {
        Made::read(&format!("any name, {number}"))
            .with(|setup| (setup.block_bytes, setup.outstanding) = (block_bytes, outstanding))
            .level("workload.disk.outstanding", &outstanding.to_string())
            .trial(number)
    }

    #[test]
    fn series_are_told_apart_by_what_was_asked_and_not_by_names() {
        let trials = vec![read(1, 8192, 1), read(2, 65_536, 1), read(3, 8192, 32), read(4, 65_536, 32)];
        let sweeps = Report::of(&fixture::study("sweep", trials)).disk.sweeps;
        let trials: Vec<&[u32]> = sweeps.iter().map(|sweep| sweep.trials.as_slice()).collect();
        assert_eq!(trials, [[1, 3], [2, 4]]);
        assert_eq!(sweeps[0].series, "8 KiB random read");
    }

    /// Rates at 1 to 256 outstanding whose slope in log–log changes at 16.
    fn bent(below: f64, above: f64) -> Vec<(f64, Vec<Option<f64>>)> {
        (0..9)
            .map(|power| {
                let depth = f64::from(1 << power);
                let rate = 1e4 * depth.min(16.0).powf(below) * (depth / 16.0).max(1.0).powf(above);
                (depth, vec![Some(rate)])
            })
            .collect()
    }

    #[test]
    fn only_a_curve_that_flattens_has_a_knee() {
        let knee = saturation(&bent(0.9, 0.1), 1).unwrap();
        assert!((knee.at - 16.0).abs() < 0.5, "{}", knee.at);
        assert!(saturation(&bent(0.1, 0.9), 1).unwrap_err().reason.contains("faster, not slower"));
    }

    /// 12,540 IOPS at depth 128 was once called "the best within this limit", although depth 32 had 13,950 IOPS.
    #[test]
    fn the_best_rate_within_a_tolerance_need_not_be_the_deepest() {
        let report = Report::of(&crate::tests::sweep());
        let passed = report.disk.sweeps.iter().find(|sweep| sweep.series.starts_with("256 KiB random read"));
        let mut sweep = passed.unwrap().clone();
        assert_eq!(sweep.best_within().map(|point| point.outstanding), Some(16));
        sweep.points[1].per_s = 1e6;
        assert_eq!(sweep.best_within().map(|point| point.outstanding), Some(sweep.points[1].outstanding));
        sweep.tolerance_us = Some(0.001);
        assert!(sweep.best_within().is_none(), "no depth is within it");
    }
}
