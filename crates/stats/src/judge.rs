//! What a study says about each of its levels: better, worse, equivalent, small, within noise or not resolvable.
//!
//! "Within noise" is never "no difference": it says how many blocks would settle the question. The smallest effect that matters
//! is given and does not grow with the noise: a machine that scatters more would else find more things equivalent. Nothing
//! here measures an effect, and nothing here knows whether a trial was valid or two studies comparable; a doubtful
//! trial is taken out before, in the open.

use serde::{Deserialize, Serialize};

use crate::Effect;
use crate::power::POWER;
use crate::student::{t_quantile, t_two_sided};

/// Smallest effect that matters, as a share, where a user names none: 3 %. A choice; smaller ones rarely decide between two
/// servers.
pub const SMALLEST_EFFECT: f64 = 0.03;

/// Fewest blocks of a verdict. Below, the exact signed-rank interval cannot have a confidence of 95 %.
pub const BLOCKS_MIN: usize = 6;

/// Chance of a false claim among all levels of a study.
pub(crate) const SIGNIFICANCE: f64 = 0.05;

/// More blocks than this are not proposed to anybody.
pub(crate) const BLOCKS_MAX: usize = 1_000;

/// How a level compares with the reference.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// A difference is shown, to the better, and the estimate is at least the smallest that matters.
    Better,
    /// The same to the worse.
    Worse,
    /// The whole interval is within ± the smallest effect that matters, whether or not it holds "no
    /// difference".
    Equivalent,
    /// Better or worse, but of runs that were not interleaved and whose sessions nobody knows the spread of: they differ, and
    /// what made them differ is not known.
    Differs,
    /// No difference that matters is seen between two such runs. Another two may differ, since nobody knows the spread of their
    /// sessions: so it is neither equivalent nor small.
    Alike,
    /// A difference is shown whose estimate does not matter, but the interval reaches beyond what does not: the difference may
    /// be as large as its end.
    Small,
    /// None of these can be said, though the interval is narrow enough to show equivalence where there is any.
    WithinNoise,
    /// None of these can be said, and equivalence could not have been: half of the interval is wider than what does not
    /// matter, or a thousand blocks would not settle it.
    NotResolvable,
    /// Fewer than [`BLOCKS_MIN`] blocks: figures without a verdict.
    Descriptive,
}

/// A level's comparison and what it rests on.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The verdict.
    pub comparison: Comparison,
    /// P-value corrected for the number of levels.
    pub adjusted_p: f64,
    /// Within noise or not resolvable: how many blocks in all would settle it in 80 % of studies, were effect and
    /// deviation those that were seen. None where they would be more than a thousand, and for all other verdicts.
    pub blocks_needed: Option<u32>,
    /// Why no difference is shown though the interval excludes none; none elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_shown: Option<NotShown>,
}

/// Why no difference is shown though the interval excludes "no difference".
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum NotShown {
    /// The t test shows one by itself, and not once it is corrected for all comparisons.
    Corrected,
    /// The t test of the same blocks shows none: they scatter unevenly.
    Test,
}

/// Which direction of a figure is the better.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// As of a throughput.
    Higher,
    /// As of a latency.
    Lower,
}

/// Judges all levels of a study against its reference, in the order given.
///
/// A difference is *shown* where the interval of the ratio excludes 1 and the Holm-corrected p-value is below
/// 0.05. The first that holds is the verdict:
/// 1. descriptive: fewer than six blocks;
/// 2. better or worse: shown, and the estimate is at least `smallest` away from 1;
/// 3. equivalent: the interval lies within 1 ± `smallest`, ends included, which are two one-sided tests at 2.5 % (D. J.
///    Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of
///    average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987);
/// 4. small: shown;
/// 5. not resolvable: half of the interval is wider than `smallest`, or a thousand blocks would not settle it;
/// 6. within noise.
///
/// Two and three exclude each other but for an interval without width on the very limit. Effects are compared
/// as they are printed, as the share |ratio − 1|, so that a reader can follow; the same difference seen from
/// the other side is a slightly different share (3 % more is 2.9 % less). All effects count for the correction,
/// descriptive ones included. `smallest` is a share as [`SMALLEST_EFFECT`]; one that is no number or
/// negative counts as 0.
#[must_use]
pub fn judge(effects: &[Effect], smallest: f64, better: Better) -> Vec<Judged> {
    judged(effects, smallest, better, Unit::Block)
}

/// Judges effects whose blocks are runs of different times ([`effect_of_sessions`](crate::effect_of_sessions)), as [`judge`]: two
/// runs a side are enough for a verdict, since Student's interval is of 95 % whatever their number, and is wide. The blocks needed
/// are runs a side.
#[must_use]
pub fn judge_sessions(effects: &[Effect], smallest: f64, better: Better) -> Vec<Judged> {
    judged(effects, smallest, better, Unit::Run)
}

/// Judges effects between one run and another of a different time ([`unpaired_effect`](crate::unpaired_effect),
/// [`effect_of_intervals`](crate::effect_of_intervals)), where nobody knows how much times differ: they differ, are alike, or cannot be
/// told apart. A single trial on each side is enough where the interval is of 95 %.
#[must_use]
pub fn judge_two_times(effects: &[Effect], smallest: f64, better: Better) -> Vec<Judged> {
    judged(effects, smallest, better, Unit::Time).into_iter().map(Judged::of_two_times).collect()
}

/// What an effect counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// One run a side, of which the interval alone counts.
    Time,
    /// Pairs of trials, or trials a side.
    Block,
    /// Runs a side.
    Run,
}

impl Judged {
    /// The same for one run on each side, measured at different times whose spread nobody knows: what it can say is that the two
    /// runs differ, are alike, or cannot be told apart. No number of trials would settle more, so none is proposed.
    fn of_two_times(self) -> Self {
        let comparison = match self.comparison {
            Comparison::Better | Comparison::Worse | Comparison::Small | Comparison::Differs => {
                Comparison::Differs
            }
            Comparison::Equivalent | Comparison::WithinNoise | Comparison::Alike => Comparison::Alike,
            Comparison::NotResolvable => Comparison::NotResolvable,
            Comparison::Descriptive => Comparison::Descriptive,
        };
        Self { comparison, blocks_needed: None, ..self }
    }
}

impl Unit {
    /// Fewest of a verdict.
    fn min(self) -> usize {
        match self {
            Self::Block => BLOCKS_MIN,
            Self::Run | Self::Time => 1,
        }
    }

    /// Degrees of freedom of so many.
    fn freedom(self, count: usize) -> f64 {
        match self {
            Self::Block | Self::Time => (count - 1) as f64,
            Self::Run => 2.0 * (count - 1) as f64,
        }
    }
}

fn judged(effects: &[Effect], smallest: f64, better: Better, unit: Unit) -> Vec<Judged> {
    let smallest = smallest.max(0.0);
    let p_values: Vec<f64> = effects.iter().map(|effect| effect.p_value).collect();
    let judged = |(effect, adjusted_p): (&Effect, f64)| {
        let (comparison, not_shown) = match settled(effect, adjusted_p, smallest, (better, unit)) {
            Some(comparison) => (comparison, None),
            None => (Comparison::WithinNoise, not_shown(effect)),
        };
        let blocks_needed = (comparison == Comparison::WithinNoise)
            .then(|| blocks_needed(effect, smallest, multiplier(&p_values, effect.p_value), unit))
            .flatten();
        let resolves = is_resolved(effect, smallest) && blocks_needed.is_some();
        let comparison = match comparison {
            Comparison::WithinNoise if !resolves => Comparison::NotResolvable,
            comparison => comparison,
        };
        Judged { comparison, adjusted_p, blocks_needed, not_shown }
    };
    effects.iter().zip(holm(&p_values)).map(judged).collect()
}

/// The verdict; none where nothing can be said.
fn settled(
    effect: &Effect,
    adjusted_p: f64,
    smallest: f64,
    (better, unit): (Better, Unit),
) -> Option<Comparison> {
    let ratio = &effect.ratio;
    let shown = effect.excludes_none() && adjusted_p < SIGNIFICANCE;
    let is_wide = unit == Unit::Time && effect.confidence < 1.0 - SIGNIFICANCE;
    if effect.blocks < unit.min() || is_wide {
        Some(Comparison::Descriptive)
    } else if shown && (ratio.value - 1.0).abs() >= smallest {
        let is_better = (ratio.value > 1.0) == (better == Better::Higher);
        Some(if is_better { Comparison::Better } else { Comparison::Worse })
    } else if ratio.low >= 1.0 - smallest && ratio.high <= 1.0 + smallest {
        Some(Comparison::Equivalent)
    } else {
        shown.then_some(Comparison::Small)
    }
}

/// Why no difference is shown though the interval excludes none.
fn not_shown(effect: &Effect) -> Option<NotShown> {
    let shown_alone = effect.p_value < SIGNIFICANCE;
    effect.excludes_none().then_some(if shown_alone { NotShown::Corrected } else { NotShown::Test })
}

/// Whether the interval would lie within what does not matter if there was no difference.
fn is_resolved(effect: &Effect, smallest: f64) -> bool {
    effect.half_width() <= smallest
}

/// Smallest number of blocks, more than there are, at which Student's interval would settle the comparison in 80 % of studies, were
/// effect and scatter those that were seen (W. G. Cochran, Sampling Techniques, 1977, section 4.6, with t for z). An effect that matters
/// must exclude no difference, at the significance that Holm's correction leaves it. Another must exclude both limits of equivalence.
fn blocks_needed(effect: &Effect, smallest: f64, multiplier: f64, unit: Unit) -> Option<u32> {
    let log_ratio = effect.ratio.value.ln();
    let in_deviations = |distance: f64| distance / effect.deviation;
    if (effect.ratio.value - 1.0).abs() >= smallest {
        let distances = [in_deviations(log_ratio.abs())];
        return fewest(&distances, SIGNIFICANCE / multiplier, effect.blocks, unit);
    }
    let to_upper = smallest.ln_1p() - log_ratio;
    let to_lower = if smallest < 1.0 { log_ratio - (-smallest).ln_1p() } else { f64::INFINITY };
    fewest(&[to_upper, to_lower].map(in_deviations), SIGNIFICANCE, effect.blocks, unit)
}

/// How many trials a side, more than the `count` that there are, would settle on which side of a limit a change lies, in 80 % of
/// repetitions, were change and scatter those that were seen: as the blocks needed of a verdict ([`judge`]). The change is so far
/// from the limit, and half of its 95 % interval is so wide, both in one unit or as logarithms. `by_runs`: what counts are runs a
/// side, of which the scatter of both sides is one.
///
/// None where they would be more than a thousand, and where nothing scatters or the change lies on the limit.
#[must_use]
pub fn repeats_to_settle(distance: f64, half_width: f64, count: usize, by_runs: bool) -> Option<u32> {
    let unit = if by_runs { Unit::Run } else { Unit::Block };
    let freedom = unit.freedom(count.max(2));
    let deviation = half_width * (count.max(2) as f64).sqrt() / t_quantile(SIGNIFICANCE / 2.0, freedom);
    let is_usable = distance > 0.0 && deviation > 0.0 && (distance / deviation).is_finite();
    is_usable.then(|| fewest(&[distance / deviation], SIGNIFICANCE, count, unit)).flatten()
}

/// Smallest number, more than there are, at which an interval excludes all that is so many deviations away in 80 % of studies.
fn fewest(distances: &[f64], significance: f64, there: usize, unit: Unit) -> Option<u32> {
    let settled = |blocks: usize| {
        let degrees = unit.freedom(blocks);
        let half_width = t_quantile(significance / 2.0, degrees);
        // Share of the studies whose interval reaches so far.
        let reaches = |distance: &f64| {
            let spare = distance * (blocks as f64).sqrt() - half_width;
            if spare > 0.0 { t_two_sided(spare, degrees) / 2.0 } else { 1.0 }
        };
        distances.iter().map(reaches).sum::<f64>() <= 1.0 - POWER
    };
    let (mut low, mut high) = (unit.min().max(there + 1), BLOCKS_MAX + 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if settled(middle) { high = middle } else { low = middle + 1 }
    }
    u32::try_from(low).ok().filter(|_| low <= BLOCKS_MAX)
}

/// P-values corrected for their number, in the order given, at most 1 (S. Holm, "A simple sequentially
/// rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979): the least of m is
/// multiplied by m, the next by m − 1 and so on, and none may become less than one before it. What is not a
/// number counts as 1.
#[must_use]
fn holm(p_values: &[f64]) -> Vec<f64> {
    let usable = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let p_values: Vec<f64> = p_values.iter().copied().map(usable).collect();
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 0.0f64;
    for (place, index) in order.into_iter().enumerate() {
        least = least.max(p_values[index] * (p_values.len() - place) as f64).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

/// What Holm's procedure multiplies one of the p-values by.
fn multiplier(p_values: &[f64], p_value: f64) -> f64 {
    p_values.iter().filter(|other| **other >= p_value).count().max(1) as f64
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
