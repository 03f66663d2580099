//! What a study can find, said before it runs: the gain that its blocks show, and the blocks that a gain takes.
//!
//! It judges nothing that was measured. How much trials scatter is assumed or given; the report tells it after the fact.

use record::{Design, Order, Share};
use serde::Serialize;

use crate::comparison::looks;
use crate::format::{counted, points};

/// What trials are assumed to scatter where nobody says: a quiet machine with a database does so.
const NOISE: f64 = 0.02;

/// Gains that a plan names blocks for where none is asked for, in per cent.
const GAINS: [f64; 2] = [5.0, 10.0];

/// What a study of a design can find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Findable {
    /// Standard deviation of trials of the same, as a share.
    pub noise: f64,
    /// Whether nobody gave it.
    pub noise_is_assumed: bool,
    /// Blocks; the most that it takes, if it ends once all is settled.
    pub blocks: usize,
    /// Whether it may end before them, as soon as all is settled.
    pub ends_when_settled: bool,
    /// Comparisons of the largest family that is corrected together.
    pub comparisons: usize,
    /// Smallest effect that matters, as a share.
    pub smallest: f64,
    /// Least gain, as a share, that four of five such studies find; none of fewer than six blocks.
    pub gain: Option<f64>,
    /// Standard deviation of the log ratios of a level to its reference.
    #[serde(skip)]
    deviation: f64,
}

impl Findable {
    /// What a design of so many combinations can find, whose reference is measured twice in a block or once. None where
    /// nothing is compared.
    #[must_use]
    pub fn of(design: &Design, combinations: usize, twice: bool, noise: Option<Share>) -> Option<Self> {
        let of_axes = design.axes.iter().map(|axis| axis.levels.len());
        let of_configurations = design.reference.as_ref().map(|_| design.configurations.len());
        let family = |levels: usize| combinations * (levels - 1) / levels;
        let families = of_axes.chain(of_configurations).filter(|levels| *levels > 1).map(family);
        let comparisons = families.max().filter(|count| *count > 0 && design.order != Order::Repeats)?;
        let smallest = design.smallest.map_or(stats::SMALLEST_EFFECT, Share::value);
        // A level against one trial, or against the geometric mean of two.
        let of_ratio = if twice { 1.5f64 } else { 2.0 };
        let share = noise.map_or(NOISE, Share::value);
        let deviation = share * of_ratio.sqrt();
        let blocks = design.blocks as usize;
        let looks = looks::levels(design);
        Some(Self {
            noise: share,
            noise_is_assumed: noise.is_none(),
            blocks,
            ends_when_settled: looks.is_some(),
            comparisons,
            smallest,
            gain: match looks {
                Some(looks) => looks.detectable(deviation, smallest, comparisons),
                None => stats::detectable(blocks, deviation, smallest, comparisons),
            },
            deviation,
        })
    }

    /// Blocks that a gain takes, to be found by four of five studies whose blocks are fixed; none where a thousand do not find it.
    #[must_use]
    pub fn blocks_for(&self, gain: f64) -> Option<u32> {
        stats::blocks_for(gain, self.deviation, self.smallest, self.comparisons)
    }

    /// What it finds, and how many blocks a gain takes, a sentence each. `gave` is how a user says how much trials scatter.
    #[must_use]
    pub fn sentences(&self, wanted: Option<Share>, gave: &str) -> Vec<String> {
        let noise = format!("{}%", points(self.noise * 100.0));
        let noise = match self.noise_is_assumed {
            true => format!(
                "with a standard deviation of {noise} between trials (assumed; set yours with {gave})"
            ),
            false => format!("with a standard deviation of {noise} between trials"),
        };
        let at_most = if self.ends_when_settled { "at most " } else { "" };
        let finds = match self.gain {
            Some(gain) => format!(
                "{at_most}{} detect a gain of {}% with 80% power, {noise}",
                counted(self.blocks, "block", "blocks"),
                points(gain * 100.0)
            ),
            None => format!(
                "{} no gain reliably: a verdict needs at least {} blocks",
                counted(self.blocks, "block shows", "blocks show"),
                stats::BLOCKS_MIN
            ),
        };
        let gains = wanted.map_or_else(|| GAINS.to_vec(), |gain| vec![gain.value() * 100.0]);
        let takes = |gain: &f64| match self.blocks_for(gain / 100.0) {
            Some(blocks) => format!("a gain of {}% needs {blocks}", points(*gain)),
            None if gain / 100.0 <= self.smallest => {
                format!(
                    "a gain of {}% is below the smallest relevant difference, so no study can show it",
                    points(*gain)
                )
            }
            None => format!("a gain of {}% needs more than 1,000", points(*gain)),
        };
        let takes: Vec<String> = gains.iter().map(takes).collect();
        let noise = if self.gain.is_none() { format!(", {noise}") } else { String::new() };
        // How many it takes on average depends on what nobody knows; how many without looks is a measure of it.
        let of = if self.ends_when_settled { "blocks without an early end" } else { "blocks" };
        vec![finds, format!("{of}: {}{noise}", takes.join(", "))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::DesignAxis;

    fn design(blocks: u32, levels: usize) -> Design {
        let levels: Vec<String> = (0..levels).map(|level| level.to_string()).collect();
        let axis =
            DesignAxis { key: "k".to_owned(), name: "k".to_owned(), reference: "0".to_owned(), levels };
        Design { blocks, axes: vec![axis], ..Design::default() }
    }

    #[test]
    fn a_plan_says_what_it_finds() {
        let noise = |text: &str| Some(text.parse::<Share>().unwrap());
        let one = Findable::of(&design(7, 2), 2, false, noise("5%")).unwrap();
        // A study of simulated studies found 10% in 80% of them at seven blocks and 5% noise.
        assert!((0.095..0.108).contains(&one.gain.unwrap()), "{one:?}");
        let twice = Findable::of(&design(7, 2), 2, true, noise("5%")).unwrap();
        assert!(twice.gain < one.gain);
        let more = Findable::of(&design(7, 5), 5, false, noise("5%")).unwrap();
        assert!(more.gain > one.gain && more.comparisons == 4, "{more:?}");
        let told = one.sentences(noise("5%"), "").join("\n");
        assert!(
            told.starts_with("7 blocks detect a gain of ") && told.contains("blocks: a gain of 5% needs "),
            "{told}"
        );
    }

    #[test]
    fn what_cannot_be_found_is_said() {
        let few = Findable::of(&design(2, 2), 2, false, None).unwrap().sentences(None, "‹noise›").join("\n");
        assert!(few.contains("2 blocks show no gain reliably: a verdict needs at least 6 blocks"), "{few}");
        assert!(
            few.contains("with a standard deviation of 2% between trials (assumed; set yours with ‹noise›)"),
            "{few}"
        );
        let less = Findable::of(&design(7, 2), 2, false, None).unwrap();
        let told = less.sentences(Some("2%".parse().unwrap()), "").join("\n");
        assert!(told.contains("a gain of 2% is below the smallest relevant difference"), "{told}");
        assert_eq!(Findable::of(&design(7, 1), 1, false, None), None, "nothing is compared");
        let repeats = Design { order: Order::Repeats, ..design(7, 2) };
        assert_eq!(Findable::of(&repeats, 2, false, None), None);
    }
}
