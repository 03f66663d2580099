//! A study that ends once all is settled: how far it came, why it ended, and what its looks may claim.
//!
//! Whether another block is measured is decided by these figures, so that a report of what is stored says the same as the run
//! did.

use record::{Design, State, StoppingRule};
use serde::Serialize;
use stats::{Comparison, Effect, Estimate, Looks};

use super::{Gain, Point};
use crate::verdict::{Level, Verdict};

/// A study that is looked at after each block from the sixth on, and ends once all is settled.
#[derive(Clone, Debug, Serialize)]
pub struct StudyLooks {
    /// Blocks that were begun.
    pub blocks: usize,
    /// Blocks that it takes at most.
    pub blocks_max: usize,
    /// Comparisons of its metric that are settled: better, worse or equivalent.
    pub settled: usize,
    /// All comparisons of its metric.
    pub comparisons: usize,
    /// Why it ended.
    pub ended: Ended,
    /// What its looks may claim.
    #[serde(skip)]
    pub(crate) levels: Looks,
}

/// Why a study ended that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All comparisons are settled.
    Settled,
    /// All blocks that it takes at most were measured.
    AtMost,
    /// It did not come to its end.
    NotEnded,
}

impl StudyLooks {
    /// What is settled of a study by the gains of its points, and why it ended.
    pub(crate) fn of(levels: &Looks, points: &[Point], blocks: usize, state: State) -> Self {
        let gains = || points.iter().flat_map(|point| &point.values.gains);
        let is_settled = |gain: &&Gain| gain.judged.is_some_and(|judged| is_settled(judged.comparison));
        let (settled, comparisons) = (gains().filter(is_settled).count(), gains().count());
        let ended = match settled == comparisons && comparisons > 0 {
            _ if matches!(state, State::Planned | State::Running | State::Aborted) => Ended::NotEnded,
            true => Ended::Settled,
            false if blocks >= levels.blocks_max() => Ended::AtMost,
            false => Ended::NotEnded,
        };
        Self { blocks, blocks_max: levels.blocks_max(), settled, comparisons, ended, levels: levels.clone() }
    }

    /// How many blocks were measured of how many, and why no more.
    pub(crate) fn verdict(&self) -> Verdict {
        let Self { blocks, blocks_max: most, settled, comparisons, ended, .. } = *self;
        let settled = match (settled, comparisons) {
            (1, 1) => "the comparison is decided".to_owned(),
            (settled, all) if settled == all => format!("all {all} comparisons are decided"),
            (1, all) => format!("1 of {all} comparisons is decided"),
            (settled, all) => format!("{settled} of {all} comparisons are decided"),
        };
        let fact = match ended {
            Ended::Settled => format!("the study ended after {blocks} of at most {most} blocks: {settled}"),
            Ended::AtMost => format!("the study used all of its {most} blocks: {settled}"),
            Ended::NotEnded => {
                format!("the study stopped early, after {blocks} of at most {most} blocks: {settled}")
            }
        };
        let level = if ended == Ended::NotEnded { Level::Warning } else { Level::Note };
        let effect = "intervals and p-values hold for all looks together, so intervals are wider than with a fixed number of blocks";
        Verdict::new(level, "looks", fact).with_effect(effect)
    }
}

/// Whether more blocks could tell nothing else. A difference that is small by its estimate alone may still matter.
fn is_settled(comparison: Comparison) -> bool {
    match comparison {
        Comparison::Better | Comparison::Worse | Comparison::Differs | Comparison::Equivalent => true,
        Comparison::Small
        | Comparison::Alike
        | Comparison::WithinNoise
        | Comparison::NotResolvable
        | Comparison::Descriptive => false,
    }
}

/// What the looks of a study may claim; none of one whose blocks are fixed.
pub(crate) fn levels(design: &Design) -> Option<Looks> {
    match design.stop {
        StoppingRule::Never => None,
        StoppingRule::WhenSettled => {
            Looks::new((design.blocks as usize).clamp(stats::BLOCKS_MIN, stats::LOOKS_BLOCKS_MAX))
        }
    }
}

/// The effect of pairs, at the looks of the study if it has any.
pub(crate) fn effect(looks: Option<&Looks>, pairs: &[(f64, f64)]) -> Option<Effect> {
    looks.map_or_else(|| stats::effect(pairs), |looks| looks.effect(pairs))
}

/// The mean of blocks with its interval, at the looks of the study if it has any.
pub(crate) fn mean(looks: Option<&Looks>, values: &[f64]) -> Option<Estimate> {
    looks.map_or_else(|| stats::repeats_mean(values), |looks| looks.mean(values))
}
