//! What the reader must know of a comparison as a whole: how many blocks, in what order, what was left out, and how far the
//! reference repeats itself.

use record::Order;
use stats::{Effect, Estimate};

use crate::change::{Change, Sense, told_or_dash};
use crate::comparison::{Gain, OutlyingBlock, Point, StudyComparison, looks};
use crate::format::{self, counted, per_cent, points};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

/// What the reader must know of the comparison as a whole.
pub(crate) fn all(report: &Report, comparison: &StudyComparison) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    if let Some(reason) = &comparison.not_compared {
        let sentence = format!("Nothing is compared: {reason}");
        verdicts.push(Verdict::new(Level::Warning, "not_compared", sentence));
        return verdicts;
    }
    let blocks = comparison.blocks.len();
    if blocks < stats::BLOCKS_MIN {
        let sentence = format!(
            "Descriptive only: {} of each combination{}",
            counted(blocks, "block", "blocks"),
            few_blocks(blocks),
        );
        let verdict = Verdict::new(Level::Warning, "descriptive", sentence);
        verdicts.push(
            verdict.with_remedy(format!("measure at least {} blocks for a verdict", stats::BLOCKS_MIN)),
        );
    }
    verdicts.extend(comparison.looks.as_ref().map(looks::StudyLooks::verdict));
    verdicts.extend(order(comparison.order));
    verdicts.extend(not_used(report, &comparison.not_used));
    verdicts.extend(correlated(comparison));
    verdicts.extend(outlying(comparison));
    verdicts.push(noise(comparison));
    verdicts
}

/// What intervals of gains are worth with fewer blocks than a verdict takes: the widest there are, from the least of the blocks'
/// ratios to the greatest, hold the truth unless all of them err to the same side.
pub(crate) fn few_blocks(blocks: usize) -> String {
    match blocks {
        0 | 1 => String::new(),
        _ => format!(
            ", whose gains are told with the range of the blocks, a {:.0} % interval",
            100.0 * (1.0 - 0.5f64.powi(blocks as i32 - 1))
        ),
    }
}

/// `3 trials count in no comparison (2 not complete, one with I/O errors)`.
fn not_used(report: &Report, trials: &[u32]) -> Option<Verdict> {
    const REASONS: [&str; 3] =
        ["not complete", "with I/O errors", "the last step of a search that confirmed no rate"];
    let of = |number: &u32| report.trials.iter().find(|trial| trial.number == *number);
    let reason = |trial: &Trial| match trial.search {
        Some(_) => 2,
        None if trial.is_complete() && trial.is_void() => 1,
        None => 0,
    };
    let reasons: Vec<usize> = trials.iter().filter_map(of).map(reason).collect();
    let told = |(place, words): (usize, &&str)| {
        let count = reasons.iter().filter(|reason| **reason == place).count();
        let number = if count == 1 { "one".to_owned() } else { format::grouped(count as u64) };
        (count > 0).then(|| format!("{number} {words}"))
    };
    let told: Vec<String> = REASONS.iter().enumerate().filter_map(told).collect();
    let counts = if trials.len() == 1 { "counts" } else { "count" };
    let mut subject = counted(trials.len(), "trial", "trials");
    if let Some(first) = subject.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let sentence = format!(
        "{subject} {counts} in no comparison ({}); a block counts only where both of its trials do",
        told.join(", ")
    );
    let trials = trials.to_vec();
    (!trials.is_empty()).then(|| Verdict { trials, ..Verdict::new(Level::Warning, "not_used", sentence) })
}

fn order(order: Order) -> Option<Verdict> {
    let of = |level: Level, sentence: &str| Verdict::new(level, "order", sentence.to_owned());
    match order {
        Order::Blocks | Order::Repeats => None,
        Order::Abba => Some(of(
            Level::Note,
            "The order was ABBA: as given, and the other way round in every second block; a steady drift cancels out over \
             pairs of blocks, other drift does not",
        )),
        Order::Given => {
            let verdict = of(
                Level::Warning,
                "The trials of each block ran in the order given: a steady drift is not cancelled, and what a trial leaves \
                 behind always meets the same next one",
            );
            Some(verdict.with_remedy("measure again with order = \"blocks\""))
        }
    }
}

/// How far the reference repeats itself, and what could be found.
fn noise(comparison: &StudyComparison) -> Verdict {
    let limit = per_cent(comparison.noise.smallest_effect).replace(".0 ", " ");
    let detectable = comparison.scatter.detectable.map(|gain| {
        format!(
            "; one of {} % would have been found in four of five studies such as this one",
            points(gain * 100.0)
        )
    });
    let matters = format!("Differences from {limit} on matter{}", detectable.unwrap_or_default());
    let noise = &comparison.noise;
    if let Some(pair) = noise.difference_of_itself() {
        let sentence = format!(
            "The machine made a difference of {} without a reason: the reference, measured twice in {}, differs from itself by \
             that much. Chance alone does so in one study of twenty. Look for what changes within a block (caches, other work, \
             clock rates), and measure again. {matters}",
            difference(pair),
            counted(pair.blocks, "block", "blocks"),
        );
        return Verdict::new(Level::Warning, "noise_floor", sentence);
    }
    let sentence = match (&noise.noise_floor, &noise.no_noise_floor) {
        (Some(pair), _) => format!(
            "The reference, measured twice in {}, differs from itself by {}; both are the reference, by their geometric mean. \
             {matters}",
            counted(pair.blocks, "block", "blocks"),
            difference(pair),
        ),
        (None, reason) => format!(
            "How far the reference repeats itself is not known: {}. {matters}",
            reason.as_deref().unwrap_or("no reason was recorded")
        ),
    };
    Verdict::new(Level::Note, "noise_floor", sentence)
}

/// `+1.1 % (−1.9 to +5.7 %)`.
fn difference(pair: &Effect) -> String {
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    let Estimate { value, low, high } = pair.ratio;
    let ends = Some((pct(low), pct(high)));
    told_or_dash(Change::of(Some(pct(value)), ends, Sense::More, Some(pair)))
}

/// Each block that stands out of the others, with what they gain without it. One wild block of seven costs more power than noise.
fn outlying(comparison: &StudyComparison) -> Vec<Verdict> {
    let all =
        comparison.points.iter().flat_map(|point| point.values.gains.iter().map(move |gain| (point, gain)));
    let all: Vec<(&Point, &Gain, OutlyingBlock)> = all
        .filter(|(_, gain)| !gain.is_of_held_rate)
        .filter_map(|(point, gain)| Some((point, gain, gain.outlying_block?)))
        .collect();
    let mut blocks: Vec<u32> = all.iter().map(|(_, _, found)| found.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let of_block = |block: u32| {
        let one = |(point, gain, found): &(&Point, &Gain, OutlyingBlock)| {
            let [with, without] = [gain.gain_pct, Some(found.gain_pct_without)]
                .map(|gain_pct| told_or_dash(Change::of(gain_pct, None, gain.sense, None)));
            let against = &comparison.points[gain.reference].label;
            let off = points(found.off_pct.abs());
            format!(
                "{} against {against} by {off} %; without it the gain is {without}, with it {with}",
                point.label
            )
        };
        let told: Vec<String> = all.iter().filter(|(_, _, found)| found.block == block).map(one).collect();
        let sentence = format!(
            "Block {block} is off the others: {}. It counts all the same",
            format::listed_by("; ", &told)
        );
        Verdict::new(Level::Warning, "outlying_block", sentence).with_remedy(format!(
            "look for what went on in block {block}, and measure again: one wild block of seven hides more than noise does"
        ))
    };
    blocks.into_iter().map(of_block).collect()
}

/// Intervals hold for blocks that know nothing of each other.
fn correlated(comparison: &StudyComparison) -> Option<Verdict> {
    let serial = comparison.scatter.serial.filter(stats::Serial::is_shown)?;
    let sentence = format!(
        "Blocks resemble the ones before them (their gains correlate by {:.1} from one block to the next), so that the intervals \
         of the gains are too narrow and a verdict may be chance",
        serial.correlation
    );
    let verdict = Verdict::new(Level::Warning, "blocks_correlated", sentence);
    Some(verdict.with_remedy("make trials longer, or rest between them with a cool_down"))
}
