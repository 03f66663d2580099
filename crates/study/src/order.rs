//! The order in which the points of a study are measured: repeats, blocks with an order of their own, ABBA; and the reference's
//! second measurement in each block.

use crate::axis::Axis;
use crate::expand::Point;
use crate::study::{Order, Study};

/// A point in its place in the plan.
pub(crate) struct Entry<'a> {
    pub(crate) block: u32,
    pub(crate) point: &'a Point,
    /// Whether it is the reference's second measurement in the block.
    pub(crate) aa: bool,
}

/// Points in the order in which they are measured.
pub(crate) fn ordered<'a>(study: &Study, points: &'a [Point], compares: bool) -> Vec<Entry<'a>> {
    if study.order == Order::Repeats {
        let blocks =
            |point: &'a Point| (1..=study.blocks.max(1)).map(move |block| Entry { block, point, aa: false });
        return points.iter().flat_map(blocks).collect();
    }
    let measures_noise = compares && study.noise_floor && study.blocks >= AA_BLOCKS_MIN;
    let again = if measures_noise { references(study, points) } else { Vec::new() };
    let mut entries = Vec::new();
    for block in 1..=study.blocks.max(1) {
        let mut pass: Vec<Entry<'_>> = points.iter().map(|point| Entry { block, point, aa: false }).collect();
        pass.extend(again.iter().map(|point| Entry { block, point, aa: true }));
        match study.order {
            Order::Blocks => shuffle(&mut pass, trial_seed(study.seed ^ SHUFFLE, block)),
            Order::Abba if block % 2 == 0 => pass.reverse(),
            Order::Abba | Order::Given | Order::Repeats => {}
        }
        entries.append(&mut pass);
    }
    entries
}

/// With fewer blocks nothing is claimed, so that a noise floor would be measured for nothing.
const AA_BLOCKS_MIN: u32 = 6;

/// Sets the order of the trials apart from their own random choices.
const SHUFFLE: u64 = 0x5053_4855_4646_4C45;

/// The points that others are compared with along every axis: one, or one in each scenario that varies anything.
fn references<'a>(study: &Study, points: &'a [Point]) -> Vec<&'a Point> {
    let mut scenarios: Vec<&str> = points.iter().map(|point| point.configuration.as_str()).collect();
    scenarios.dedup();
    if let Some(reference) = &study.reference {
        scenarios = vec![reference];
    }
    scenarios.into_iter().filter_map(|scenario| reference(study, points, scenario)).collect()
}

fn reference<'a>(study: &Study, points: &'a [Point], scenario: &str) -> Option<&'a Point> {
    let own: Vec<&Point> = points.iter().filter(|point| point.configuration == scenario).collect();
    if own.len() < 2 && study.reference.is_none() && !scenario.is_empty() {
        return None;
    }
    // A configuration with levels of its own may lack the axis' reference: its first level is one then.
    let of_axis = |axis: &Axis| {
        let wanted = axis.reference();
        let has = |level: &String| own.iter().any(|point| point.levels.get(axis.name()) == Some(level));
        wanted.filter(has).or_else(|| own.first()?.levels.get(axis.name()).cloned())
    };
    let references: Vec<(&str, Option<String>)> =
        study.axis.iter().map(|axis| (axis.name(), of_axis(axis))).collect();
    let is_reference =
        |point: &&Point| references.iter().all(|(name, level)| point.levels.get(*name) == level.as_ref());
    own.iter().copied().find(is_reference)
}

/// Every order is equally likely (Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7, 1964).
fn shuffle<T>(items: &mut [T], seed: u64) {
    for last in (1..items.len()).rev() {
        let random = u128::from(trial_seed(seed, last as u32));
        items.swap(last, ((random * (last as u128 + 1)) >> 64) as usize);
    }
}

/// A seed of its own for each trial: repeats that read the same blocks in the same order would measure a cache.
/// SplitMix64's finalizer (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub(crate) fn trial_seed(study_seed: u64, number: u32) -> u64 {
    let mut seed = study_seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    seed ^ (seed >> 31)
}
