//! A series over the outstanding I/Os: its curve, its knee, and where it passed the latency tolerance.

use std::collections::BTreeMap;

use record::{Manifest, State};
use serde::Serialize;
use stats::Knee;

use crate::configuration::Configuration;
use crate::trial::Trial;

/// One measured depth.
#[derive(Clone, Debug, Serialize)]
pub struct SweepPoint {
    /// Outstanding I/Os a thread.
    pub outstanding: u32,
    /// I/Os a second.
    pub per_s: f64,
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
    /// Mean latency past which the series was to stop.
    pub tolerance_us: Option<f64>,
    /// First depth whose mean latency was past the tolerance.
    pub passed_at: Option<u32>,
    /// Depths that were left out for that reason.
    pub skipped: Vec<u32>,
    /// Trials of the series.
    pub trials: Vec<u32>,
}

impl Sweep {
    /// The point with the highest rate.
    pub(crate) fn best(&self) -> Option<&SweepPoint> {
        self.points.iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s))
    }

    /// The last depth within the tolerance.
    pub(crate) fn last_within(&self) -> Option<&SweepPoint> {
        let passed = self.passed_at?;
        self.points.iter().rev().find(|point| point.outstanding < passed)
    }
}

/// What a series is told apart by: the other levels, and the name without its depth.
type Key = (Vec<String>, String);

/// All series with at least two depths.
pub(crate) fn all(manifest: &Manifest, configurations: &[Configuration], trials: &[Trial]) -> Vec<Sweep> {
    let mut keys: Vec<Key> = Vec::new();
    for trial in trials.iter().filter(|trial| !trial.aa) {
        if let Some((key, _)) = place(&trial.name, &trial.levels)
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
    let belongs = |name: &str, levels: &BTreeMap<String, String>| {
        place(name, levels).filter(|(other, _)| other == key).map(|(_, depth)| depth)
    };
    let members: Vec<(&Configuration, u32)> =
        configurations.iter().filter_map(|c| Some((c, belongs(&c.name, &c.levels)?))).collect();
    let mut points: Vec<SweepPoint> = members.iter().filter_map(|(c, depth)| point(c, *depth)).collect();
    points.sort_by_key(|point| point.outstanding);
    let depths: Vec<(u32, &Trial)> = trials
        .iter()
        .filter(|trial| !trial.aa)
        .filter_map(|t| Some((belongs(&t.name, &t.levels)?, t)))
        .collect();
    if points.is_empty() || depths.iter().all(|(depth, _)| *depth == depths[0].0) {
        return None;
    }
    let mut skipped: Vec<u32> =
        depths.iter().filter(|(_, trial)| trial.state == State::Skipped).map(|(depth, _)| *depth).collect();
    skipped.sort_unstable();
    skipped.dedup();
    let curve: Vec<(f64, f64)> = points.iter().map(|p| (f64::from(p.outstanding), p.per_s)).collect();
    let knee = saturation(&curve, manifest.seed);
    let tolerance_us = manifest.latency_tolerance_ms.map(|ms| ms * 1e3);
    let passed =
        |point: &&SweepPoint| point.mean_us.zip(tolerance_us).is_some_and(|(mean, most)| mean > most);
    let (group, label) = words(members.first().map(|(c, _)| *c), key);
    Some(Sweep {
        series: if group.is_empty() { label.clone() } else { format!("{label} {group}") },
        group,
        label,
        passed_at: points.iter().find(passed).map(|point| point.outstanding),
        no_knee: knee.as_ref().err().cloned(),
        knee: knee.ok(),
        tolerance_us,
        points,
        skipped,
        trials: depths.iter().map(|(_, trial)| trial.number).collect(),
    })
}

/// The knee past which more depth gains at a lower rate, or why there is none. A bend the other way is not one.
fn saturation(curve: &[(f64, f64)], seed: u64) -> Result<stats::Knee, String> {
    match stats::knee(curve, seed) {
        Ok(knee) if knee.slope_above > knee.slope_below => {
            Err(format!("no knee: past {:.3} outstanding the rate rises faster, not slower", knee.at))
        }
        other => other.map_err(|reason| reason.to_string()),
    }
}

fn point(configuration: &Configuration, outstanding: u32) -> Option<SweepPoint> {
    let figures = configuration.main()?;
    Some(SweepPoint {
        outstanding,
        per_s: figures.per_s?,
        mb_per_s: figures.mb_per_s,
        mean_us: figures.latency.mean_us,
        p99_us: figures.latency.p99_us,
        in_flight: figures.in_flight,
    })
}

/// The series and the depth of a trial, if one of its axes is the outstanding I/Os.
fn place(name: &str, levels: &BTreeMap<String, String>) -> Option<(Key, u32)> {
    let is_depth = |key: &str| key.rsplit('.').next() == Some("outstanding");
    let depth = levels.iter().find(|(key, _)| is_depth(key))?.1;
    let others = levels.iter().filter(|(key, _)| !is_depth(key)).map(|(_, level)| level.clone()).collect();
    Some(((others, without_depth(name, depth)), depth.parse().ok()?))
}

/// `RND4K Q32T1 read` and `4 KiB random read, 32 outstanding` without what names the depth.
fn without_depth(name: &str, depth: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let mut kept: Vec<&str> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let after_q = word.strip_prefix('Q').and_then(|rest| rest.strip_prefix(depth));
        let is_count =
            *word == depth && words.get(index + 1).is_some_and(|next| next.starts_with("outstanding"));
        let is_unit = word.starts_with("outstanding") && index > 0 && words[index - 1] == depth;
        match after_q {
            Some(rest) if rest.is_empty() || rest.starts_with('T') => kept.push(rest),
            _ if is_count || is_unit => {}
            _ => kept.push(word),
        }
    }
    kept.retain(|word| !word.is_empty());
    kept.join(" ").trim_end_matches([',', ' ']).to_owned()
}

/// Group and label of a series: `random read` and `4 KiB` where the setup says so, else its name.
fn words(configuration: Option<&Configuration>, key: &Key) -> (String, String) {
    let Some(disk) = configuration.and_then(Configuration::disk) else {
        return (String::new(), key.1.clone());
    };
    let kind = match disk.read_per_cent {
        share if share >= 100.0 => "read".to_owned(),
        share if share <= 0.0 => "write".to_owned(),
        share => format!("{share} % read"),
    };
    (format!("{} {kind}", disk.pattern), crate::format::bytes(disk.block_bytes))
}

#[cfg(test)]
mod tests {
    use super::{saturation, without_depth};

    #[test]
    fn series_name_is_the_name_without_its_depth() {
        assert_eq!(without_depth("RND4K Q32T1 read", "32"), "RND4K T1 read");
        assert_eq!(without_depth("RND4K Q32 read", "32"), "RND4K read");
        assert_eq!(without_depth("RND4K Q32T1 read", "3"), "RND4K Q32T1 read");
        assert_eq!(without_depth("4 KiB random read, 4 outstanding", "4"), "4 KiB random read");
        assert_eq!(without_depth("random read", "4"), "random read");
    }

    /// Rates at 1 to 256 outstanding whose slope in log–log changes at 16.
    fn bent(below: f64, above: f64) -> Vec<(f64, f64)> {
        (0..9)
            .map(|power| {
                let depth = f64::from(1 << power);
                let rate = 1e4 * depth.min(16.0).powf(below) * (depth / 16.0).max(1.0).powf(above);
                (depth, rate)
            })
            .collect()
    }

    #[test]
    fn only_a_curve_that_flattens_has_a_knee() {
        let knee = saturation(&bent(0.9, 0.1), 1).unwrap();
        assert!((knee.at - 16.0).abs() < 0.5, "{}", knee.at);
        assert!(saturation(&bent(0.1, 0.9), 1).unwrap_err().contains("faster, not slower"));
    }
}
