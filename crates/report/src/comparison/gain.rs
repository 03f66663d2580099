//! What a point gains over the one it is compared with.

use record::Metric;
use serde::Serialize;
use stats::{Better, Comparison, Effect, Judged, Looks};

use crate::change::{Change, Sense};

use super::{DesignedAxis, Grid, RunInterval, direction, looks};

/// A point against the same point at the reference of one axis.
#[derive(Clone, Debug, Serialize)]
pub struct Gain {
    /// The axis in which the two differ.
    pub axis: String,
    /// Index of the point that it is compared with.
    pub reference: usize,
    /// Blocks in which both are complete.
    pub blocks: usize,
    /// Change of the metric in per cent, positive is better; none where there is no ratio.
    pub gain_pct: Option<f64>,
    /// Lower end of its interval; none of a single block.
    pub low_pct: Option<f64>,
    /// Upper end of its interval.
    pub high_pct: Option<f64>,
    /// The ratio of the two with its interval; none of a single block.
    pub effect: Option<Effect>,
    /// What the effect supports, corrected for all comparisons along the axis.
    pub judged: Option<Judged>,
    /// The verdict in words, or why there is none.
    pub words: String,
    /// The block that stands out of the others; none where none does. It counts all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlying_block: Option<OutlyingBlock>,
    /// What the metric is, as far as the change is told.
    #[serde(skip)]
    pub(crate) sense: Sense,
    /// Whether it is of a rate that was offered, and so no gain whatever it comes to.
    #[serde(skip)]
    pub(crate) is_of_held_rate: bool,
}

/// A block whose change stands out of those of the other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutlyingBlock {
    /// Number of the block.
    pub block: u32,
    /// How far its ratio of level to reference is from that of the other blocks, in per cent: −40 is 40% less.
    pub off_pct: f64,
    /// What the other blocks gain, in per cent, positive is better.
    pub gain_pct_without: f64,
}

impl Gain {
    /// The change as it is told; none where there is no ratio.
    pub(crate) fn change(&self) -> Option<Change> {
        Change::of(self.gain_pct, self.low_pct.zip(self.high_pct), self.sense, self.effect.as_ref())
    }
}

/// What the points are compared by.
pub(crate) struct Pairs<'a> {
    grid: &'a Grid<'a>,
    axes: &'a [DesignedAxis],
    /// The metric of each point in each block.
    pub(crate) values: Vec<Vec<Option<f64>>>,
    /// The same where others are compared with it.
    references: Vec<Vec<Option<f64>>>,
    metric: &'a Metric,
    better: Better,
    smallest: f64,
    /// What the looks of the study may claim.
    pub(crate) looks: Option<&'a Looks>,
}

/// The verdict in words.
pub(crate) fn words(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Better => "better",
        Comparison::Worse => "worse",
        Comparison::Equivalent => "equivalent",
        Comparison::Differs => "differs",
        Comparison::Alike => "alike in these two runs",
        Comparison::Small => "small",
        Comparison::WithinNoise => "within noise",
        Comparison::NotResolvable => "not resolvable here",
        Comparison::Descriptive => "descriptive only",
    }
}

/// Change in per cent, positive is better, of the ratio of a level to its reference.
pub(crate) fn gain_pct(ratio: f64, better: Better) -> f64 {
    let change = match better {
        Better::Higher => ratio - 1.0,
        Better::Lower => 1.0 - ratio,
    };
    // No gain has no sign.
    change * 100.0 + 0.0
}

impl<'a> Pairs<'a> {
    pub(crate) fn of(
        grid: &'a Grid<'a>,
        axes: &'a [DesignedAxis],
        metric: &'a Metric,
        smallest: f64,
        looks: Option<&'a Looks>,
    ) -> Self {
        let values: Vec<Vec<Option<f64>>> = grid.rows.iter().map(|row| row.values(metric)).collect();
        let references = (0..values.len()).map(|index| grid.as_reference(index, metric)).collect();
        Self { grid, axes, values, references, metric, better: direction(metric.better), smallest, looks }
    }

    /// The interval of the metric of the first block that has one, of that run: it says nothing of other runs.
    pub(crate) fn run_interval(&self, index: usize) -> Option<RunInterval> {
        let cells = self.grid.rows[index].cells.iter().flatten();
        let (low, high) = cells.filter_map(|cell| cell.interval(self.metric)).next()?;
        Some(RunInterval { low, high: high.is_finite().then_some(high) })
    }

    /// The gains of each point, an axis each.
    pub(crate) fn gains(&self) -> Vec<Vec<Gain>> {
        let mut all = vec![Vec::new(); self.values.len()];
        for axis in self.axes {
            let mut family: Vec<(usize, Gain)> =
                (0..self.values.len()).filter_map(|index| Some((index, self.gain(axis, index)?))).collect();
            let effects: Vec<Effect> = family.iter().filter_map(|(_, gain)| gain.effect).collect();
            let judged = stats::judge(&effects, self.smallest, self.better);
            let with_effect = family.iter_mut().filter(|(_, gain)| gain.effect.is_some());
            for ((_, gain), judged) in with_effect.zip(judged) {
                words(judged.comparison).clone_into(&mut gain.words);
                gain.judged = Some(judged);
            }
            family.into_iter().for_each(|(index, gain)| all[index].push(gain));
        }
        all
    }

    /// What a point is compared with along an axis. None at the reference itself, and where the study does not have the
    /// reference point.
    fn reference(&self, axis: &DesignedAxis, index: usize) -> Option<usize> {
        let key = &self.grid.rows[index].key;
        let reference = axis.reference(key);
        axis.level(key).filter(|level| *level != reference)?;
        self.grid.find(&axis.moved(key, reference))
    }

    /// Reference and level of each block that has both.
    fn blocks(&self, reference: usize, index: usize) -> impl Iterator<Item = Option<(f64, f64)>> {
        let blocks = self.references[reference].iter().zip(&self.values[index]);
        blocks.map(|(reference, level)| Some(((*reference)?, (*level)?)))
    }

    /// Each comparison as logarithms of the ratios by block, for what blocks have in common.
    pub(crate) fn log_ratios(&self) -> Vec<Vec<Option<f64>>> {
        let all = self.axes.iter().flat_map(|axis| (0..self.values.len()).map(move |index| (axis, index)));
        let of = |(axis, index): (&DesignedAxis, usize)| {
            let reference = self.reference(axis, index)?;
            let ratio =
                |(reference, level): (f64, f64)| Some((level / reference).ln()).filter(|ln| ln.is_finite());
            Some(self.blocks(reference, index).map(|pair| pair.and_then(ratio)).collect())
        };
        all.filter_map(of).collect()
    }

    /// The least gain, as a share, that four of five studies such as this one find, by the scatter of all comparisons.
    pub(crate) fn detectable(&self) -> Option<f64> {
        let families = self.axes.iter().map(|axis| {
            let effect = |index: usize| {
                let pairs: Vec<(f64, f64)> =
                    self.blocks(self.reference(axis, index)?, index).flatten().collect();
                stats::effect(&pairs)
            };
            (0..self.values.len()).filter_map(effect).collect::<Vec<Effect>>()
        });
        let largest = families.max_by_key(Vec::len)?;
        let variances: Vec<f64> = largest.iter().map(|effect| effect.deviation.powi(2)).collect();
        let (deviation, comparisons) = (stats::mean(&variances)?.sqrt(), largest.len());
        let blocks = largest.iter().map(|effect| effect.blocks).min()?;
        match self.looks.filter(|_| blocks >= stats::BLOCKS_MIN) {
            Some(looks) => looks.detectable(deviation, self.smallest, comparisons),
            None => stats::detectable(blocks, deviation, self.smallest, comparisons),
        }
    }

    fn gain(&self, axis: &DesignedAxis, index: usize) -> Option<Gain> {
        let reference = self.reference(axis, index)?;
        let pairs: Vec<(f64, f64)> = self.blocks(reference, index).flatten().collect();
        let effect = looks::effect(self.looks, &pairs);
        let single = match pairs.as_slice() {
            [(from, to)] if *from > 0.0 && *to > 0.0 => Some(to / from),
            _ => None,
        };
        let pct = |ratio: f64| gain_pct(ratio, self.better);
        let ends = effect.map(|effect| (pct(effect.ratio.low), pct(effect.ratio.high)));
        Some(Gain {
            axis: axis.name.clone(),
            reference,
            blocks: pairs.len(),
            gain_pct: effect.map(|effect| effect.ratio.value).or(single).map(pct),
            low_pct: ends.map(|(a, b)| a.min(b)),
            high_pct: ends.map(|(a, b)| a.max(b)),
            effect,
            judged: None,
            words: match self.grid.rows[index].is_left_out() {
                true => "skipped",
                false => none_because(&pairs, single.is_some()),
            }
            .to_owned(),
            outlying_block: self.outlying(reference, index),
            sense: Sense::of(self.metric.better, self.metric.unit),
            is_of_held_rate: false,
        })
    }

    /// The block of a comparison that stands out, by what chance makes in 1% of studies of as many comparisons.
    fn outlying(&self, reference: usize, index: usize) -> Option<OutlyingBlock> {
        let blocks = self.blocks(reference, index).zip(&self.grid.blocks);
        let (pairs, numbers): (Vec<(f64, f64)>, Vec<u32>) =
            blocks.filter_map(|(pair, number)| Some((pair?, *number))).unzip();
        let comparisons = (self.axes.len() * self.values.len().saturating_sub(1)).max(1) as f64;
        let found = stats::outlying_pair(&pairs, stats::OUTLIER_CHANCE_MAX / comparisons)?;
        Some(OutlyingBlock {
            block: *numbers.get(found.at)?,
            off_pct: 100.0 * found.off,
            gain_pct_without: gain_pct(found.without, self.better),
        })
    }
}

/// Why there is no effect. Those that have one get other words.
fn none_because(pairs: &[(f64, f64)], single: bool) -> &'static str {
    match pairs {
        [] => "not measured in the same block",
        [_] if single => "descriptive only",
        _ => "no ratio, a value is zero",
    }
}
