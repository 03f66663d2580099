//! Whether a history has become worse since a baseline: the runs after its last change point against those around the baseline.
//!
//! It allows for runs that resemble the ones before, and for a history that is looked at after each run. It does not say where the
//! history changes ([`history_shape`](crate::history_shape)), nor why.

use serde::{Deserialize, Serialize};

use crate::change_point::{CHANGE_CHANCE_MAX, ChangePoint, RUNS_MIN};
use crate::effect::{Effect, logarithm, p_value};
use crate::history_shape::{Course, HistoryShape};
use crate::interval::Estimate;
use crate::judge::Better;
use crate::mean;
use crate::random::SplitMix64;
use crate::student::t_quantile;

/// A history is worse where chance makes as large a change in at most this share of looks. Each run is a look of its own:
/// `docs/statistics.md` has the share of histories that were ever called worse in 50 looks.
pub const WORSE_CHANCE_MAX: f64 = 0.002;

/// Largest correlation that is allowed for: more cannot be told from a history that wanders.
const CORRELATION_MAX: f64 = 0.95;

/// Orders of the runs that tell how much resemblance chance makes.
const ORDERS: usize = 999;

/// Runs at each end of a drift that must not overlap for it to be judged.
const DRIFT_RUNS: usize = 5;

/// How much each run resembles the one before, between two change points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resemblance {
    /// Correlation of a run with the next one (lag 1), freed of the bias of few runs: 0 to 0.95.
    pub correlation: f64,
    /// Probability that runs in any order resemble each other as much.
    pub chance: f64,
    /// So many independent runs would tell as much as all of these.
    pub independent: f64,
}

impl Resemblance {
    /// Whether runs resemble each other by more than chance makes of independent ones in 99 % of histories.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.chance <= CHANGE_CHANCE_MAX
    }
}

/// What the last runs are, compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SinceVerdict {
    /// No change point lies between them.
    Unchanged,
    /// A change point, and a change that is worse by what matters, of which chance makes as large a one in at most
    /// [`WORSE_CHANCE_MAX`] of looks.
    Regressed,
    /// A change point, and a change that seems worse by what matters; chance makes as large a one too often.
    NotShown,
    /// A change point, and a change that is better or does not matter.
    Changed,
    /// The baseline does not have the figure, or there are too few runs for a change point.
    Unknown,
}

/// The last runs against those around the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistorySince {
    /// What it comes to.
    pub verdict: SinceVerdict,
    /// The ratio of the last runs to those around the baseline, with its interval; none where nothing changed, or there is no ratio.
    pub effect: Option<Effect>,
}

impl HistorySince {
    fn nothing(verdict: SinceVerdict) -> Self {
        Self { verdict, effect: None }
    }
}

/// How much runs resemble the ones before, between two change points or around the line of a drift. None of fewer than
/// [`RUNS_MIN`] values, where they do not vary, or where one is not positive.
#[must_use]
pub fn history_resemblance(values: &[f64], shape: &HistoryShape, seed: u64) -> Option<Resemblance> {
    let residuals = Residuals::of(values, shape).filter(|_| values.len() >= RUNS_MIN)?;
    let found = residuals.lag_1()?;
    let mut random = SplitMix64::new(seed);
    let mut permuted = residuals.clone();
    let as_much = (0..ORDERS).filter(|_| {
        permuted.pieces.iter_mut().for_each(|piece| random.shuffle(piece));
        permuted.lag_1().is_some_and(|other| other >= found)
    });
    let chance = (1.0 + as_much.count() as f64) / (1.0 + ORDERS as f64);
    let correlation = residuals.correlation();
    let independent =
        residuals.pieces.iter().map(|piece| 1.0 / variance_of_mean(known(piece), correlation)).sum();
    Some(Resemblance { correlation, chance, independent })
}

/// Compares the last runs of a history with those around the run at `baseline`.
///
/// After steps these are the pieces between change points, without lone spikes: the ratio of their geometric means, with Student's
/// interval. The variance of a mean is that of values of an autoregression of first order, whose correlation is that of neighbours
/// within all pieces, freed of its bias (F. H. C. Marriott and J. A. Pope, Biometrika 41, 1954), and its standard error; the degrees of freedom are those of as
/// many independent values as tell as much (H. J. Thiébaux and F. W. Zwiers, Journal of Climate and Applied Meteorology 23, 1984). Of a
/// drift it is the line's change from the baseline to the end, by the same rules. The interval is of 99.8 %, since a history is looked
/// at after each run.
#[must_use]
pub fn history_since(
    values: &[f64],
    shape: &HistoryShape,
    baseline: usize,
    smallest: f64,
    better: Better,
) -> HistorySince {
    if values.len() < RUNS_MIN || baseline >= values.len() {
        return HistorySince::nothing(SinceVerdict::Unknown);
    }
    let effect = match &shape.course {
        Course::Level | Course::TwoStates { .. } => {
            return HistorySince::nothing(SinceVerdict::Unchanged);
        }
        Course::Steps { points } => {
            let piece = points.iter().filter(|point| point.at <= baseline).count();
            if piece == points.len() {
                return HistorySince::nothing(SinceVerdict::Unchanged);
            }
            after_steps(values, shape, piece)
        }
        Course::Drift { .. } => {
            let (from, last) = (baseline.saturating_sub(DRIFT_RUNS / 2), values.len() - DRIFT_RUNS);
            if from + DRIFT_RUNS > last {
                return HistorySince::nothing(SinceVerdict::Unchanged);
            }
            along_drift(values, shape, baseline)
        }
    };
    let Some(effect) = effect else { return HistorySince::nothing(SinceVerdict::Unknown) };
    let change = effect.ratio.value - 1.0;
    let is_loss = match better {
        Better::Higher => change <= -smallest,
        Better::Lower => change >= smallest,
    };
    let verdict = match (is_loss, effect.p_value <= WORSE_CHANCE_MAX) {
        (true, true) => SinceVerdict::Regressed,
        (true, false) => SinceVerdict::NotShown,
        (false, _) => SinceVerdict::Changed,
    };
    HistorySince { verdict, effect: Some(effect) }
}

fn after_steps(values: &[f64], shape: &HistoryShape, baseline_piece: usize) -> Option<Effect> {
    let residuals = Residuals::of(values, shape)?;
    let correlation = residuals.correlation_at_most();
    let (from, to) = (residuals.centers.get(baseline_piece)?, residuals.centers.last()?);
    let counts = (known(residuals.pieces.get(baseline_piece)?), known(residuals.pieces.last()?));
    let of = |count: usize| variance_of_mean(count, correlation);
    let error = (residuals.variance(correlation)? * (of(counts.0) + of(counts.1))).sqrt();
    effect_of(to - from, error, residuals.freedom(correlation), counts.1, residuals.variance(correlation)?)
}

fn along_drift(values: &[f64], shape: &HistoryShape, baseline: usize) -> Option<Effect> {
    let residuals = Residuals::of(values, shape)?;
    let correlation = residuals.correlation_at_most();
    let piece = residuals.pieces.first()?;
    let places: Vec<f64> =
        piece.iter().enumerate().filter_map(|(at, value)| value.map(|_| at as f64)).collect();
    let center = mean(&places)?;
    let spread: f64 = places.iter().map(|place| (place - center).powi(2)).sum();
    let apart = (values.len() - 1 - baseline) as f64;
    // The variance of a slope grows as that of a mean of many values does.
    let dependence = (1.0 + correlation) / (1.0 - correlation);
    let variance = residuals.variance(correlation)?;
    let error = apart * (variance * dependence / spread).sqrt();
    let freedom = (residuals.freedom(correlation) - 1.0).max(1.0);
    effect_of(residuals.slope * apart, error, freedom, known(piece), variance)
}

fn effect_of(change: f64, error: f64, freedom: f64, runs: usize, variance: f64) -> Option<Effect> {
    let half_width = t_quantile(WORSE_CHANCE_MAX / 2.0, freedom) * error;
    Some(Effect {
        ratio: Estimate::new(change.exp(), ((change - half_width).exp(), (change + half_width).exp()))
            .filter(|ratio| ratio.low > 0.0)?,
        blocks: runs,
        confidence: 1.0 - WORSE_CHANCE_MAX,
        p_value: p_value(change, error, freedom),
        deviation: variance.sqrt(),
    })
}

/// Logarithms of the values less what their course says, by pieces; a lone spike has none.
#[derive(Clone, Debug)]
struct Residuals {
    pieces: Vec<Vec<Option<f64>>>,
    /// Mean logarithm of each piece.
    centers: Vec<f64>,
    /// Change of the logarithm from a run to the next, of a drift.
    slope: f64,
}

impl Residuals {
    fn of(values: &[f64], shape: &HistoryShape) -> Option<Self> {
        let logarithms = values.iter().map(|value| logarithm(*value)).collect::<Option<Vec<f64>>>()?;
        let points: &[ChangePoint] = match &shape.course {
            Course::Steps { points } => points,
            Course::Level | Course::Drift { .. } | Course::TwoStates { .. } => &[],
        };
        let is_usual = |at: usize| !shape.spikes.contains(&at);
        let usual: Vec<Option<f64>> =
            logarithms.iter().enumerate().map(|(at, value)| is_usual(at).then_some(*value)).collect();
        let slope = if matches!(shape.course, Course::Drift { .. }) { slope(&usual)? } else { 0.0 };
        let level: Vec<Option<f64>> = usual
            .iter()
            .enumerate()
            .map(|(at, value)| value.map(|value| value - slope * at as f64))
            .collect();
        let ends: Vec<usize> =
            std::iter::once(0).chain(points.iter().map(|point| point.at)).chain([values.len()]).collect();
        let (mut pieces, mut centers) = (Vec::new(), Vec::new());
        for ends in ends.windows(2) {
            let piece = level.get(ends[0]..ends[1])?;
            let center = mean(&piece.iter().flatten().copied().collect::<Vec<f64>>())?;
            pieces.push(piece.iter().map(|value| value.map(|value| value - center)).collect());
            centers.push(center);
        }
        Some(Self { pieces, centers, slope })
    }

    fn count(&self) -> f64 {
        self.pieces.iter().map(|piece| known(piece) as f64).sum()
    }

    fn squares(&self) -> f64 {
        self.pieces.iter().flatten().flatten().map(|value| value.powi(2)).sum()
    }

    /// Correlation of neighbours within the pieces as it is seen; none where nothing varies.
    fn lag_1(&self) -> Option<f64> {
        let products = |piece: &Vec<Option<f64>>| -> f64 {
            piece.windows(2).filter_map(|pair| Some(pair[0]? * pair[1]?)).sum()
        };
        let squares = self.squares();
        (squares > 0.0).then(|| self.pieces.iter().map(products).sum::<f64>() / squares)
    }

    /// The same freed of its bias, which is −(1 + 4ρ) / n of each piece of n runs.
    fn correlation(&self) -> f64 {
        let short = self.pieces.len() as f64 / self.count();
        let freed = self.lag_1().map(|seen| (seen + short) / (1.0 - 4.0 * short).max(0.2));
        freed.unwrap_or(0.0).clamp(0.0, CORRELATION_MAX)
    }

    /// The same with its standard error of 1 / √n on top (M. S. Bartlett, Journal of the Royal Statistical Society Supplement 8, 1946):
    /// pieces that chance made take part of the resemblance away.
    fn correlation_at_most(&self) -> f64 {
        (self.correlation() + 1.0 / self.count().sqrt()).min(CORRELATION_MAX)
    }

    /// Variance of a run around its piece, which the means of few runs that resemble each other understate.
    fn variance(&self, correlation: f64) -> Option<f64> {
        let lost = |piece: &Vec<Option<f64>>| {
            let count = known(piece);
            count as f64 * variance_of_mean(count, correlation)
        };
        let left = self.count() - self.pieces.iter().map(lost).sum::<f64>();
        (left > 0.0).then(|| self.squares() / left)
    }

    /// Degrees of freedom of the variance: as many as of independent runs that tell as much.
    fn freedom(&self, correlation: f64) -> f64 {
        let worth = |piece: &Vec<Option<f64>>| 1.0 / variance_of_mean(known(piece), correlation);
        let independent: f64 = self.pieces.iter().map(worth).sum();
        (independent - self.pieces.len() as f64).max(1.0)
    }
}

fn known(piece: &[Option<f64>]) -> usize {
    piece.iter().flatten().count()
}

/// Variance of the mean of so many values of an autoregression of first order, of variance 1.
fn variance_of_mean(count: usize, correlation: f64) -> f64 {
    let n = count.max(1) as f64;
    let (mut power, mut sum) = (1.0, 0.0);
    for lag in 1..count {
        power *= correlation;
        sum += (1.0 - lag as f64 / n) * power;
    }
    (1.0 + 2.0 * sum) / n
}

/// Slope of the line of least squares.
fn slope(values: &[Option<f64>]) -> Option<f64> {
    let (places, heights): (Vec<f64>, Vec<f64>) =
        values.iter().enumerate().filter_map(|(at, value)| Some((at as f64, (*value)?))).unzip();
    let (x, y) = (mean(&places)?, mean(&heights)?);
    let spread: f64 = places.iter().map(|place| (place - x).powi(2)).sum();
    let both: f64 = places.iter().zip(&heights).map(|(place, height)| (place - x) * (height - y)).sum();
    (spread > 0.0).then_some(both / spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history_shape::history_shape;

    /// Twelve runs around 100 and twelve around 100 less the step, which deviate by 2 % in this pattern.
    fn stepped(step: f64, pattern: &[f64]) -> Vec<f64> {
        let level = |at: usize| if at < 12 { 100.0 } else { 100.0 * (1.0 - step) };
        (0..24).map(|at| level(at) * (1.0 + 0.02 * pattern[at % pattern.len()])).collect()
    }

    fn one_step() -> HistoryShape {
        HistoryShape {
            course: Course::Steps { points: vec![ChangePoint { at: 12, chance: 0.001 }] },
            spikes: Vec::new(),
        }
    }

    const BY_TURNS: [f64; 2] = [1.0, -1.0];
    const IN_WAVES: [f64; 12] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0];

    fn verdict(values: &[f64], baseline: usize) -> SinceVerdict {
        history_since(values, &one_step(), baseline, 0.03, Better::Higher).verdict
    }

    /// Histories of 60 nights that never changed were called worse in 40 of 100, where each night resembled the one before.
    #[test]
    fn runs_that_resemble_the_ones_before_count_as_fewer() {
        let (free, bound) = (stepped(0.05, &BY_TURNS), stepped(0.05, &IN_WAVES));
        assert_eq!(verdict(&free, 3), SinceVerdict::Regressed);
        assert_eq!(verdict(&bound, 3), SinceVerdict::NotShown);
        let resembles = |values: &[f64]| history_resemblance(values, &one_step(), 1).unwrap();
        let (free, bound) = (resembles(&free), resembles(&bound));
        assert!(free.correlation == 0.0 && !free.is_shown(), "{free:?}");
        assert!((free.independent - 24.0).abs() < 1e-9, "{free:?}");
        assert!(bound.correlation > 0.7 && bound.is_shown() && bound.independent < 6.0, "{bound:?}");
    }

    #[test]
    fn what_did_not_change_is_better_or_does_not_matter_is_not_worse() {
        let worse = stepped(0.05, &BY_TURNS);
        assert_eq!(verdict(&worse, 15), SinceVerdict::Unchanged, "the baseline lies behind the step");
        assert_eq!(verdict(&stepped(-0.05, &BY_TURNS), 3), SinceVerdict::Changed);
        assert_eq!(verdict(&stepped(0.02, &BY_TURNS), 3), SinceVerdict::Changed);
        assert_eq!(history_since(&worse, &one_step(), 3, 0.03, Better::Lower).verdict, SinceVerdict::Changed);
        let level = HistoryShape::default();
        let since = |values: &[f64], baseline| history_since(values, &level, baseline, 0.03, Better::Higher);
        assert_eq!(since(&worse, 3).verdict, SinceVerdict::Unchanged);
        assert_eq!(since(&worse[..9], 3).verdict, SinceVerdict::Unknown, "too few");
        assert_eq!(since(&worse, 24).verdict, SinceVerdict::Unknown);
        let mut zero = worse;
        zero[1] = 0.0;
        assert_eq!(verdict(&zero, 3), SinceVerdict::Unknown);
    }

    #[test]
    fn a_lone_spike_moves_no_mean() {
        let mut values = stepped(0.05, &BY_TURNS);
        let without = history_since(&values, &one_step(), 3, 0.03, Better::Higher).effect.unwrap();
        values[20] = 300.0;
        let shape = HistoryShape { spikes: vec![20], ..one_step() };
        let with = history_since(&values, &shape, 3, 0.03, Better::Higher).effect.unwrap();
        assert!((with.ratio.value - without.ratio.value).abs() < 0.003, "{with:?} {without:?}");
    }

    #[test]
    fn a_drift_is_worse_from_a_baseline_that_is_far_from_its_end() {
        let values: Vec<f64> =
            (0..24).map(|at| 100.0 - f64::from(at) + [0.5, -0.5][at as usize % 2]).collect();
        let shape = history_shape(&values, 1).unwrap();
        assert!(matches!(shape.course, Course::Drift { .. }), "{shape:?}");
        let since = |baseline| history_since(&values, &shape, baseline, 0.03, Better::Higher);
        assert_eq!(since(2).verdict, SinceVerdict::Regressed);
        assert!((since(2).effect.unwrap().ratio.value - 77.0 / 98.0).abs() < 0.02, "{:?}", since(2));
        assert_eq!(since(20).verdict, SinceVerdict::Unchanged);
    }

    #[test]
    fn the_variance_of_a_mean_is_that_of_its_definition() {
        assert!((variance_of_mean(3, 0.5) - 5.5 / 9.0).abs() < 1e-12);
        assert!((variance_of_mean(7, 0.0) - 1.0 / 7.0).abs() < 1e-12);
        assert!((variance_of_mean(1, 0.9) - 1.0).abs() < 1e-12);
    }
}
