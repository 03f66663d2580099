//! What a point gains over the one it is compared with.

use serde::Serialize;
use stats::{Better, Comparison, Effect, Judged};

use super::{DesignedAxis, Grid};

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
}

/// What the points are compared by.
pub(crate) struct Pairs<'a> {
    pub(crate) grid: &'a Grid<'a>,
    pub(crate) axes: &'a [DesignedAxis],
    /// The metric of each point in each block.
    pub(crate) values: &'a [Vec<Option<f64>>],
    pub(crate) better: Better,
    pub(crate) smallest: f64,
}

/// The verdict in words.
pub(crate) fn words(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Better => "better",
        Comparison::Worse => "worse",
        Comparison::Equivalent => "equivalent",
        Comparison::Negligible => "negligible",
        Comparison::WithinNoise => "within noise",
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

impl Pairs<'_> {
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

    /// None at the reference itself, and where the study does not have the reference point.
    fn gain(&self, axis: &DesignedAxis, index: usize) -> Option<Gain> {
        let key = &self.grid.rows[index].key;
        let reference = axis.reference(key);
        axis.level(key).filter(|level| *level != reference)?;
        let reference = self.grid.find(&axis.moved(key, reference))?;
        let blocks = self.values[reference].iter().zip(&self.values[index]);
        let pairs: Vec<(f64, f64)> = blocks.filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
        let effect = stats::effect(&pairs);
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
            words: none_because(&pairs, single.is_some()).to_owned(),
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
