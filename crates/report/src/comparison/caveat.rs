//! What the reader must know of a comparison as a whole: how many blocks, in what order, what was left out, and how far the
//! reference repeats itself.

use record::Order;
use stats::{Effect, Estimate};

use crate::change::{Change, Sense, told_or_dash};
use crate::comparison::{Gain, OutlyingBlock, Point, StudyComparison, looks};
use crate::format::{self, counted, points};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

/// What the reader must know of the comparison as a whole.
pub(crate) fn all(report: &Report, comparison: &StudyComparison) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    if let Some(reason) = &comparison.not_compared {
        let sentence = format!("nothing is compared: {reason}");
        verdicts.push(Verdict::new(Level::Warning, "not_compared", sentence));
        return verdicts;
    }
    let blocks = comparison.blocks.len();
    if blocks < stats::BLOCKS_MIN {
        let fact =
            format!("{} of each combination{}", counted(blocks, "block", "blocks"), few_blocks(blocks));
        let verdict = Verdict::new(Level::Warning, "descriptive", fact);
        verdicts.push(verdict.with_action(format!("measure at least {} blocks", stats::BLOCKS_MIN)));
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
            ", so each interval is the range of the blocks ({:.0}% CI)",
            100.0 * (1.0 - 0.5f64.powi(blocks as i32 - 1))
        ),
    }
}

/// `3 trials were omitted from all comparisons (2 incomplete, one with I/O errors)`.
fn not_used(report: &Report, trials: &[u32]) -> Option<Verdict> {
    const REASONS: [&str; 3] = ["incomplete", "with I/O errors", "the last step of an unconfirmed search"];
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
    let were = if trials.len() == 1 { "was" } else { "were" };
    let subject = counted(trials.len(), "trial", "trials");
    let sentence = format!("{subject} {were} omitted from all comparisons ({})", told.join(", "));
    let trials = trials.to_vec();
    let effect = "a block counts only if both of its trials count";
    (!trials.is_empty())
        .then(|| Verdict::new(Level::Warning, "not_used", sentence).with_effect(effect).of_trials(trials))
}

fn order(order: Order) -> Option<Verdict> {
    let of = |level: Level, fact: &str| Verdict::new(level, "order", fact);
    match order {
        Order::Blocks | Order::Repeats => None,
        Order::Abba => {
            let verdict = of(Level::Note, "ABBA, which is reversed in every second block");
            Some(verdict.with_effect("linear drift cancels out over pairs of blocks, other drift does not"))
        }
        Order::Given => {
            let verdict = of(Level::Warning, "the same in all blocks");
            let verdict = verdict.with_effect("drift and after-effects of trials do not cancel out");
            Some(verdict.with_action("measure again with order = \"blocks\""))
        }
    }
}

/// How far the reference repeats itself, and what could be found.
fn noise(comparison: &StudyComparison) -> Verdict {
    let smallest = points(comparison.noise.smallest_effect * 100.0);
    let detectable = comparison
        .scatter
        .detectable
        .map(|gain| format!(". Detectable with 80% power: {}%", points(gain * 100.0)));
    let relevant = format!("smallest relevant difference: {smallest}%{}", detectable.unwrap_or_default());
    let noise = &comparison.noise;
    let apart = |pair: &Effect| {
        let blocks = counted(pair.blocks, "block", "blocks");
        format!("two measurements of the reference differ by {} in {blocks}", difference(pair))
    };
    if let Some(pair) = noise.difference_of_itself() {
        let verdict = Verdict::new(Level::Warning, "noise_floor", apart(pair));
        let verdict = verdict.with_limit("chance alone causes this in 1 of 20 studies");
        let action =
            "find what changes within a block (caches, background load, clock rates), and measure again";
        return verdict.with_effect(relevant).with_action(action);
    }
    let fact = match (&noise.noise_floor, &noise.no_noise_floor) {
        (Some(pair), _) => format!("{}, and comparisons use their geometric mean", apart(pair)),
        (None, reason) => format!("none, {}", reason.as_deref().unwrap_or("no reason was recorded")),
    };
    Verdict::new(Level::Note, "noise_floor", fact).with_effect(relevant)
}

/// `+1.1% (95% CI −1.9 to +5.7%)`.
fn difference(pair: &Effect) -> String {
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    let Estimate { value, low, high } = pair.ratio;
    let ends = Some((pct(low), pct(high)));
    Change::of(Some(pct(value)), ends, Sense::More, Some(pair))
        .map(|change| change.says())
        .unwrap_or_default()
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
                "{} against {against} is off by {off}% (gain {without} without the block, {with} with it)",
                point.label
            )
        };
        let told: Vec<String> = all.iter().filter(|(_, _, found)| found.block == block).map(one).collect();
        let fact = format!("block {block} differs from the others: {}", format::listed_by("; ", &told));
        Verdict::new(Level::Warning, "outlying_block", fact)
            .with_effect("the block still counts")
            .with_action(format!("find the cause in block {block}, and measure again"))
    };
    blocks.into_iter().map(of_block).collect()
}

/// Intervals hold for blocks that know nothing of each other.
fn correlated(comparison: &StudyComparison) -> Option<Verdict> {
    let serial = comparison.scatter.serial.filter(stats::Serial::is_shown)?;
    let sentence = format!("the gains of consecutive blocks are correlated ({:.1})", serial.correlation);
    let verdict = Verdict::new(Level::Warning, "blocks_correlated", sentence);
    let verdict = verdict.with_effect("intervals are too narrow, and a verdict may be chance");
    Some(verdict.with_action("use longer trials, or a cooldown between them"))
}
