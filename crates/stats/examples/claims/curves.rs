//! Curves along an axis of levels, measured in blocks.

use stats::CandidateLevel;

use crate::noise::normal;
use crate::sets::Random;

/// How a curve is measured.
#[derive(Clone, Copy)]
pub(crate) struct Design {
    pub(crate) levels: &'static [f64],
    pub(crate) blocks: usize,
    /// Deviation of a trial, as a share.
    pub(crate) noise: f64,
    /// Lasting deviation of a level, the same in each block.
    pub(crate) lasting: f64,
    /// Deviation of a block as a whole.
    pub(crate) by_block: f64,
}

/// A curve as it was measured.
pub(crate) struct Measured(Vec<(f64, Vec<Option<f64>>)>);

impl Design {
    pub(crate) fn name(&self) -> String {
        let (levels, blocks) = (self.levels.len(), self.blocks);
        format!("{levels} levels, {blocks} block{}", if blocks == 1 { "" } else { "s" })
    }

    /// A curve with the deviations of this design.
    pub(crate) fn measure(&self, random: &mut Random, curve: impl Fn(f64) -> f64) -> Measured {
        let blocks: Vec<f64> = (0..self.blocks).map(|_| self.by_block * normal(random)).collect();
        let level = |&level: &f64| {
            let height = curve(level).ln() + self.lasting * normal(random);
            let values =
                blocks.iter().map(|block| Some((height + block + self.noise * normal(random)).exp()));
            (level, values.collect())
        };
        Measured(self.levels.iter().map(level).collect())
    }
}

impl Measured {
    pub(crate) fn levels(&self) -> Vec<CandidateLevel<'_>> {
        self.0.iter().map(|(level, by_block)| CandidateLevel { level: *level, by_block }).collect()
    }
}
