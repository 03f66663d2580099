//! Steady state over the rounds of the `steady` profile, by the rule of SNIA's PTS.

use record::Manifest;
use serde::Serialize;

use crate::configuration::Configuration;
use crate::trial::Trial;

/// Block size in bytes whose random writes are watched, as PTS-E's IOPS test does.
const WATCHED_BLOCK_BYTES: u64 = 4096;

/// Mean of one block size and mix over the window.
#[derive(Clone, Debug, Serialize)]
pub struct MatrixCell {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Share of reads, 0–100.
    pub read_per_cent: f64,
    /// I/Os a second, mean over the rounds of the window.
    pub per_s: f64,
}

/// Whether and when the device came to rest.
#[derive(Clone, Debug, Serialize)]
pub struct SteadyState {
    /// Configuration whose rounds are watched.
    pub watched: String,
    /// Its I/Os a second, round by round.
    pub rounds_per_s: Vec<f64>,
    /// Round in which the rule was first met by it and the four before; none if it never was.
    pub reached_in_round: Option<u32>,
    /// Mean of the five rounds of the window; without steady state, of the last five.
    pub window_mean_per_s: Option<f64>,
    /// First and last round of that window.
    pub window: Option<(u32, u32)>,
    /// Mean of each block size and mix over the window.
    pub matrix: Vec<MatrixCell>,
}

pub(crate) fn of(
    manifest: &Manifest,
    configurations: &[Configuration],
    trials: &[Trial],
) -> Option<SteadyState> {
    if manifest.profile.as_deref() != Some("steady") {
        return None;
    }
    let watched = watched(configurations)?;
    let rounds = rounds_of(watched, trials);
    let rates: Vec<f64> = rounds.iter().map(|(_, per_s)| *per_s).collect();
    let reached = stats::first_steady(&rates);
    let end = reached.unwrap_or(rates.len());
    let begin = end.checked_sub(stats::PTS_WINDOW);
    let window = begin.map(|begin| (rounds[begin].0, rounds[end - 1].0));
    Some(SteadyState {
        watched: watched.name.clone(),
        reached_in_round: reached.map(|count| rounds[count - 1].0),
        window_mean_per_s: begin.and_then(|begin| stats::mean(&rates[begin..end])),
        window,
        matrix: window.map(|window| matrix(configurations, trials, window)).unwrap_or_default(),
        rounds_per_s: rates,
    })
}

/// The configuration with the fewest reads and, among those, the block size nearest to 4 KiB.
fn watched(configurations: &[Configuration]) -> Option<&Configuration> {
    let rank = |configuration: &&Configuration| {
        configuration.disk().map_or((u64::MAX, u64::MAX), |disk| {
            ((disk.read_per_cent * 1e3) as u64, disk.block_bytes.abs_diff(WATCHED_BLOCK_BYTES))
        })
    };
    configurations.iter().filter(|configuration| configuration.disk().is_some()).min_by_key(rank)
}

/// Round and rate of each complete trial of a configuration, in the order of the rounds.
fn rounds_of(configuration: &Configuration, trials: &[Trial]) -> Vec<(u32, f64)> {
    let mut rounds: Vec<(u32, f64)> = trials
        .iter()
        .filter(|trial| configuration.trials.contains(&trial.number) && trial.is_complete())
        .filter_map(|trial| Some((trial.block, trial.main()?.per_s?)))
        .collect();
    rounds.sort_by_key(|(round, _)| *round);
    rounds
}

fn matrix(configurations: &[Configuration], trials: &[Trial], (first, last): (u32, u32)) -> Vec<MatrixCell> {
    let mut cells: Vec<MatrixCell> = configurations
        .iter()
        .filter_map(|configuration| {
            let disk = configuration.disk()?;
            let rounds = rounds_of(configuration, trials);
            let within: Vec<f64> = rounds
                .iter()
                .filter(|(round, _)| (first..=last).contains(round))
                .map(|(_, rate)| *rate)
                .collect();
            let per_s = stats::mean(&within)?;
            Some(MatrixCell { block_bytes: disk.block_bytes, read_per_cent: disk.read_per_cent, per_s })
        })
        .collect();
    cells.sort_by(|a, b| a.block_bytes.cmp(&b.block_bytes).then(b.read_per_cent.total_cmp(&a.read_per_cent)));
    cells
}
