//! The interval of a percentile of one trial.

use stats::{PercentileRanks, SecondBeyond};

use crate::noise::{autoregressive, below, normal};
use crate::page::{Section, Table};
use crate::sets::{Random, each};

const SETS: u32 = 250;
const OPERATIONS: usize = 1_000;
const SECONDS: [usize; 3] = [10, 30, 60];
const SHARES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];
const RHOS: [Option<f64>; 3] = [None, Some(0.0), Some(0.6)];

/// Seconds of which the true percentiles are those of.
const LONG_SECONDS: usize = 10_000;
const LONG_OPERATIONS: usize = 100;

pub(crate) fn section() -> Section {
    let cells: Vec<Vec<Cell>> = models().map(|(model, rho)| cells(model, rho)).collect();
    Section {
        about: "In 95 of 100 trials, the interval for a percentile should contain the percentile that an endless trial \
            would have. Each second has 1,000 operations. The latencies follow one of four models: lognormal (sigma \
            0.7), Pareto (tail index 1.5), mixture or bursts. In the mixture, 1 of 100 operations takes twenty times \
            as long. In the bursts model, 1 of 10 seconds has a burst: 1 of 10 operations in that second takes \
            twenty times as long. Rows marked \"alike\" add no other difference between seconds. In the other rows, \
            whole seconds are slower or faster, with a standard deviation of 30%. Each such second has correlation \
            rho with the previous second. Each trial of at least eight seconds has an interval, so the tables count \
            all trials. If the upper bound is beyond every measured value, the interval has only a lower bound. Such \
            an interval contains every value above this bound. A short trial has few bursts, and no interval covers \
            a burst that the trial did not see. If the seconds of a ten-second trial are correlated, the trial's \
            interval contains the percentile less often than claimed.",
        tables: vec![
            table(
                &cells,
                format!("Percentage of intervals, from {SETS} trials, that contain the true percentile."),
                |cell| cell.holds.map_or_else(|| "–".to_owned(), |holds| format!("{holds:.0}")),
            ),
            table(
                &cells,
                format!("Percentage of {SETS} trials with an interval that has no upper bound."),
                |cell| format!("{:.0}", cell.open),
            ),
            table(
                &cells,
                format!(
                    "Median ratio of the upper bound to the lower bound. It covers only the intervals, from {SETS} trials, \
                        that have both bounds."
                ),
                |cell| cell.width.map_or_else(|| "–".to_owned(), |width| format!("{width:.2}")),
            ),
        ],
    }
}

#[derive(Clone, Copy)]
enum Model {
    Lognormal,
    Pareto,
    Mixture,
    Bursts,
}

impl Model {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Lognormal, "lognormal"),
        (Self::Pareto, "Pareto"),
        (Self::Mixture, "mixture"),
        (Self::Bursts, "bursts"),
    ];

    /// Latencies of the operations of one second.
    fn second(self, random: &mut Random, operations: usize) -> Vec<f64> {
        const PARTS: usize = 1_000_000;
        let slow_parts = match self {
            Self::Lognormal | Self::Pareto => 0,
            Self::Mixture => PARTS / 100,
            Self::Bursts if below(random, 10) == 0 => PARTS / 10,
            Self::Bursts => 0,
        };
        let mut one = || match self {
            Self::Lognormal => (0.7 * normal(random)).exp(),
            Self::Pareto => {
                ((below(random, PARTS * 1000) as f64 + 0.5) / (PARTS * 1000) as f64).powf(-1.0 / 1.5)
            }
            Self::Mixture | Self::Bursts => {
                let slow = if below(random, PARTS) < slow_parts { 20.0 } else { 1.0 };
                slow * (0.3 * normal(random)).exp()
            }
        };
        (0..operations).map(|_| one()).collect()
    }

    /// Latencies of the operations of a run, a second each.
    fn run(
        self,
        random: &mut Random,
        rho: Option<f64>,
        (seconds, operations): (usize, usize),
    ) -> Vec<Vec<f64>> {
        let levels = match rho {
            Some(rho) => autoregressive(random, seconds, rho, 1.0),
            None => vec![1.0; seconds],
        };
        let factor = |level: f64| (0.3 * (level - 1.0)).exp();
        let second = |level: f64| {
            self.second(random, operations).into_iter().map(|latency| latency * factor(level)).collect()
        };
        levels.into_iter().map(second).collect()
    }
}

fn models() -> impl Iterator<Item = ((Model, &'static str), Option<f64>)> {
    Model::ALL.into_iter().flat_map(|model| RHOS.map(|rho| (model, rho)))
}

/// What became of the intervals of one percentile of runs of one length, in per cent.
struct Cell {
    holds: Option<f64>,
    open: f64,
    width: Option<f64>,
}

/// The ends of an interval, the upper one infinite where it is open.
type Ends = (f64, f64);

fn name((_, model): (Model, &str), rho: Option<f64>) -> String {
    match rho {
        Some(rho) => format!("{model}, rho {rho}"),
        None => format!("{model}, alike"),
    }
}

/// The cells of a row: by percentile, then by length.
fn cells(model: (Model, &'static str), rho: Option<f64>) -> Vec<Cell> {
    let name = name(model, rho);
    let long = |random: &mut Random| sorted(&model.0.run(random, rho, (LONG_SECONDS, LONG_OPERATIONS)));
    let long = each(&format!("percentiles, truth, {name}"), 1, long).concat();
    let by_length: Vec<Vec<[Option<Ends>; 3]>> = SECONDS
        .iter()
        .map(|&seconds| {
            each(&format!("percentiles, {seconds} s, {name}"), SETS, |random| {
                let run = model.0.run(random, rho, (seconds, OPERATIONS));
                let all = sorted(&run);
                SHARES.map(|(_, share)| ends(&run, &all, share))
            })
        })
        .collect();
    let of = |percentile: usize| {
        let truth = at(&long, SHARES[percentile].1);
        by_length
            .iter()
            .map(move |runs| cell(&runs.iter().map(|ends| ends[percentile]).collect::<Vec<_>>(), truth))
    };
    (0..SHARES.len()).flat_map(of).collect()
}

fn cell(runs: &[Option<Ends>], truth: f64) -> Cell {
    let given: Vec<Ends> = runs.iter().flatten().copied().collect();
    let per_cent = |count: usize, of: usize| 100.0 * count as f64 / of as f64;
    let held = given.iter().filter(|(low, high)| (*low..=*high).contains(&truth)).count();
    let widths: Vec<f64> =
        given.iter().filter(|(_, high)| high.is_finite()).map(|(low, high)| high / low).collect();
    Cell {
        holds: (given.len() * 20 >= runs.len()).then(|| per_cent(held, given.len())),
        open: per_cent(given.len() - widths.len(), runs.len()),
        width: stats::median(&widths),
    }
}

/// All latencies of a run in rising order.
fn sorted(run: &[Vec<f64>]) -> Vec<f64> {
    let mut all = run.concat();
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// What so great a share of the latencies is at most as slow as, by nearest rank.
fn at(sorted: &[f64], share: f64) -> f64 {
    // 99.9 / 100 and its like may be a little more than they should.
    let rank = (share * sorted.len() as f64 - 1e-9).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn ends(run: &[Vec<f64>], sorted: &[f64], share: f64) -> Option<Ends> {
    let percentile = at(sorted, share);
    let second = |latencies: &Vec<f64>| SecondBeyond {
        operations: latencies.len() as f64,
        beyond: latencies.iter().filter(|latency| **latency > percentile).count() as f64,
    };
    let seconds: Vec<SecondBeyond> = run.iter().map(second).collect();
    let PercentileRanks { low, high } = stats::percentile_ranks(&seconds, share)?;
    Some((at(sorted, low), high.map_or(f64::INFINITY, |high| at(sorted, high))))
}

fn table(cells: &[Vec<Cell>], caption: String, print: impl Fn(&Cell) -> String) -> Table {
    let heads = SHARES.iter().flat_map(|(name, _)| SECONDS.map(|seconds| format!("{name}, {seconds} s")));
    Table {
        caption,
        head: std::iter::once("operations, seconds".to_owned()).chain(heads).collect(),
        rows: models()
            .zip(cells)
            .map(|((model, rho), cells)| {
                std::iter::once(name(model, rho)).chain(cells.iter().map(&print)).collect()
            })
            .collect(),
    }
}
