//! How much a study scatters: what the reference differs from itself, measured twice in the same block (an A/A pair), which
//! difference could have been found, and whether blocks resemble each other.
//!
//! Each metric has an A/A pair of its own: a tail latency scatters more than a rate. None of it changes what matters.

use std::collections::BTreeMap;

use record::Metric;
use serde::Serialize;
use stats::{Effect, Looks, Serial};

use super::gain::Pairs;
use super::{Grid, Key, looks};

/// How much a metric scatters in a study, and what could be found in spite of it.
#[derive(Clone, Debug, Serialize)]
pub struct NoiseFloor {
    /// Share from which on an effect matters.
    pub smallest_effect: f64,
    /// The reference against itself in each block.
    pub noise_floor: Option<Effect>,
    /// Why there is no such pair.
    pub no_noise_floor: Option<String>,
}

/// How much the metric scatters that a study is about, and what could be found in spite of it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Scatter {
    /// Share by which a level would have had to be better for four of five such studies to say so; none of fewer than six blocks.
    pub detectable: Option<f64>,
    /// How much what is found in a block resembles what is found in the next; none of fewer than six blocks.
    pub serial: Option<Serial>,
}

impl Scatter {
    pub(crate) fn of(pairs: &Pairs<'_>, seed: u64) -> Self {
        Self { detectable: pairs.detectable(), serial: stats::serial_correlation(&pairs.log_ratios(), seed) }
    }
}

impl NoiseFloor {
    /// The reference against its second measurement. Where each scenario has a reference, that of the pair whose difference
    /// is the surest.
    pub(crate) fn of(grid: &Grid<'_>, metric: &Metric, smallest_effect: f64, looks: Option<&Looks>) -> Self {
        let of_reference = self::pairs(grid, metric);
        let surest = of_reference
            .values()
            .filter_map(|pairs| looks::effect(looks, pairs))
            .min_by(|a, b| a.p_value.total_cmp(&b.p_value).then(b.deviation.total_cmp(&a.deviation)));
        Self {
            smallest_effect,
            no_noise_floor: surest.is_none().then(|| none_because(grid, &of_reference)),
            noise_floor: surest,
        }
    }

    /// The A/A pair where it shows a difference that nothing made: in one of twenty studies by chance alone.
    pub(crate) fn difference_of_itself(&self) -> Option<&Effect> {
        self.noise_floor.as_ref().filter(|pair| pair.blocks >= stats::BLOCKS_MIN && pair.excludes_none())
    }
}

/// The metric of each reference and of its second measurement, a block each.
fn pairs<'a>(grid: &'a Grid<'_>, metric: &Metric) -> BTreeMap<&'a Key, Vec<(f64, f64)>> {
    let mut pairs: BTreeMap<&Key, Vec<(f64, f64)>> = BTreeMap::new();
    for (block, key, cell) in &grid.aa {
        let place = grid.blocks.iter().position(|other| other == block);
        let first = place.and_then(|place| grid.row(key)?.cells.get(place)?.as_ref());
        let pair = first.and_then(|first| Some((first.value(metric)?, cell.value(metric)?)));
        pairs.entry(key).or_default().extend(pair);
    }
    pairs
}

fn none_because(grid: &Grid<'_>, pairs: &BTreeMap<&Key, Vec<(f64, f64)>>) -> String {
    let most = pairs.values().map(Vec::len).max().unwrap_or(0);
    if grid.aa.is_empty() {
        "the reference was not measured twice in a block".to_owned()
    } else if most == 0 {
        "no block has this figure for both measurements of the reference".to_owned()
    } else if most < 2 {
        "the reference was measured twice in only one block".to_owned()
    } else {
        "a figure of the reference is zero, so the ratio is undefined".to_owned()
    }
}
