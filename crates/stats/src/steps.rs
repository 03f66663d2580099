//! What more of what works at the same time gives, from one number of it to the next, and for each doubling.

use serde::{Deserialize, Serialize};

use crate::{CandidateLevel, Effect, effect};

/// From one level to the next larger one.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct ScalingStep {
    /// The smaller level.
    pub from: f64,
    /// The larger one.
    pub to: f64,
    /// Throughput at the larger over that at the smaller: the median of the blocks' ratios as [`effect`] estimates it, of a single
    /// block its own.
    pub ratio: f64,
    /// The same with its interval; none of a single block.
    pub effect: Option<Effect>,
    /// Blocks that have both.
    pub blocks: usize,
}

impl ScalingStep {
    /// A ratio as it would be for twice as many, were each doubling between the two levels alike: 2 where throughput rises as the level
    /// does.
    #[must_use]
    pub fn per_doubling(&self, ratio: f64) -> f64 {
        ratio.powf(1.0 / (self.to / self.from).log2())
    }

    /// The part (0–1, more if it rises faster) that throughput follows of what the level rises by.
    #[must_use]
    pub fn efficiency(&self, ratio: f64) -> f64 {
        ratio / (self.to / self.from)
    }
}

/// The steps between neighbouring levels, ascending. Ratios are of the same block, so that what differs between blocks is no part of
/// them; a step is left out whose levels share no block with positive throughputs.
#[must_use]
pub fn scaling_steps(levels: &[CandidateLevel<'_>]) -> Vec<ScalingStep> {
    let mut ascending: Vec<&CandidateLevel<'_>> =
        levels.iter().filter(|level| level.level > 0.0 && level.level.is_finite()).collect();
    ascending.sort_by(|one, other| one.level.total_cmp(&other.level));
    ascending.dedup_by(|one, other| one.level <= other.level);
    ascending.windows(2).filter_map(|pair| step(pair[0], pair[1])).collect()
}

fn step(smaller: &CandidateLevel<'_>, larger: &CandidateLevel<'_>) -> Option<ScalingStep> {
    let usable = |value: &Option<f64>| value.filter(|value| value.is_finite() && *value > 0.0);
    let both = smaller.by_block.iter().zip(larger.by_block);
    let pairs: Vec<(f64, f64)> =
        both.filter_map(|(one, other)| Some((usable(one)?, usable(other)?))).collect();
    let (first, last) = pairs.first()?;
    let of_several = effect(&pairs);
    let ratio = of_several.map_or(last / first, |effect| effect.ratio.value);
    Some(ScalingStep {
        from: smaller.level,
        to: larger.level,
        ratio,
        effect: of_several,
        blocks: pairs.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(levels: &[(f64, &[Option<f64>])]) -> Vec<ScalingStep> {
        let levels: Vec<CandidateLevel<'_>> =
            levels.iter().map(|(level, by_block)| CandidateLevel { level: *level, by_block }).collect();
        scaling_steps(&levels)
    }

    /// Fujitsu, PRIMEQUEST 2800E with All Flash Array (2014): two boards give 1.9 times one, and four 1.8 times two.
    #[test]
    fn a_published_row_of_boards_has_its_two_steps() {
        let found = steps(&[(4.0, &[Some(342.0)]), (1.0, &[Some(100.0)]), (2.0, &[Some(190.0)])]);
        let told: Vec<(f64, f64, f64)> = found.iter().map(|step| (step.from, step.to, step.ratio)).collect();
        assert_eq!(told, [(1.0, 2.0, 1.9), (2.0, 4.0, 1.8)]);
        assert!(
            found.iter().all(|step| step.effect.is_none() && step.blocks == 1),
            "one block has no interval"
        );
        assert!((found[1].efficiency(found[1].ratio) - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_step_of_another_size_is_told_for_a_doubling() {
        let found = steps(&[(1.0, &[Some(10.0)]), (8.0, &[Some(10.0 * 1.7_f64.powi(3))])]);
        assert!((found[0].per_doubling(found[0].ratio) - 1.7).abs() < 1e-12, "{found:?}");
        let less = steps(&[(2.0, &[Some(10.0)]), (3.0, &[Some(15.0)])]);
        assert!((less[0].per_doubling(less[0].ratio) - 2.0).abs() < 1e-12, "as much as there is more");
    }

    /// A block in which all was slower says nothing of the step.
    #[test]
    fn ratios_are_of_the_same_block_and_have_an_interval() {
        let slow = |factor: f64| [1.0, 0.5, 2.0, 1.1, 0.9, 1.3].map(|block| Some(100.0 * factor * block));
        let mut larger = slow(1.9);
        larger[2] = None;
        larger[4] = Some(0.0);
        let found = steps(&[(1.0, &slow(1.0)), (2.0, &larger)]);
        let effect = found[0].effect.unwrap();
        assert_eq!(found[0].blocks, 4);
        assert!((found[0].ratio - 1.9).abs() < 1e-9 && (effect.ratio.high - 1.9).abs() < 1e-9, "{found:?}");
        assert!(
            steps(&[(1.0, &[Some(1.0), None]), (2.0, &[None, Some(2.0)])]).is_empty(),
            "no block has both"
        );
        assert!(steps(&[(1.0, &[Some(1.0)])]).is_empty());
    }
}
