//! The noise floor of a metric: what the reference differs from itself, measured twice in the same block (an A/A pair).
//!
//! Each metric has its own: a tail latency scatters more than a rate, and neither may judge the other.

use std::collections::BTreeMap;

use record::Metric;
use serde::Serialize;
use stats::Effect;

use super::{Grid, Key};

/// From which effect on a difference of a metric matters, and what that rests on.
#[derive(Clone, Debug, Serialize)]
pub struct NoiseFloor {
    /// Share from which on an effect matters: 3 %, or the noise floor if that is more.
    pub smallest_effect: f64,
    /// The reference against itself in each block.
    pub noise_floor: Option<Effect>,
    /// Why there is no noise floor.
    pub no_noise_floor: Option<String>,
}

impl NoiseFloor {
    /// The reference against its second measurement. Where each scenario has a reference, that of the noisiest.
    pub(crate) fn of(grid: &Grid<'_>, metric: &Metric) -> Self {
        let pairs = pairs(grid, metric);
        let smallest = |effect: &Effect| stats::smallest_effect(Some(effect));
        let noisiest = pairs
            .values()
            .filter_map(|pairs| stats::effect(pairs))
            .max_by(|a, b| smallest(a).total_cmp(&smallest(b)).then(a.deviation.total_cmp(&b.deviation)));
        Self {
            smallest_effect: stats::smallest_effect(noisiest.as_ref()),
            no_noise_floor: noisiest.is_none().then(|| none_because(grid, &pairs)),
            noise_floor: noisiest,
        }
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
        "the reference was not measured twice in a block (no A/A pair)".to_owned()
    } else if most == 0 {
        "no block has this figure of both measurements of the reference".to_owned()
    } else if most < 2 {
        "the reference was measured twice in one block only".to_owned()
    } else {
        "a figure of the reference is zero, so that it has no ratio to itself".to_owned()
    }
}
