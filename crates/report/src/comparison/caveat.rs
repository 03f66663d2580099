//! What the reader must know of a comparison as a whole: how many blocks, in what order, what was left out, and how far the
//! reference repeats itself.

use record::Order;
use stats::Effect;

use crate::comparison::StudyComparison;
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
            "Descriptive only: {} of each combination; a verdict takes at least {} blocks",
            counted(blocks, "block", "blocks"),
            stats::BLOCKS_MIN
        );
        verdicts.push(Verdict::new(Level::Warning, "descriptive", sentence));
    }
    verdicts.extend(order(comparison.order));
    verdicts.extend(not_used(report, &comparison.not_used));
    verdicts.push(noise_floor(comparison));
    verdicts
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
    let (level, sentence) = match order {
        Order::Blocks | Order::Repeats => return None,
        Order::Abba => (
            Level::Note,
            "The order was ABBA: as given, and the other way round in every second block; a steady drift cancels out over \
             pairs of blocks, other drift does not",
        ),
        Order::Given => (
            Level::Warning,
            "The trials of each block ran in the order given: a steady drift is not cancelled, and what a trial leaves \
             behind always meets the same next one; order = \"blocks\" randomises it",
        ),
    };
    Some(Verdict::new(level, "order", sentence.to_owned()))
}

fn noise_floor(comparison: &StudyComparison) -> Verdict {
    let limit = per_cent(comparison.noise.smallest_effect).replace(".0 ", " ");
    let sentence = match (&comparison.noise.noise_floor, &comparison.noise.no_noise_floor) {
        (Some(Effect { ratio, blocks, .. }), _) => format!(
            "Noise floor: the reference measured twice in {} differs from itself by {} % ({}–{} %); effects from {limit} on \
             matter",
            counted(*blocks, "block", "blocks"),
            points((ratio.value - 1.0) * 100.0),
            points((ratio.low - 1.0) * 100.0),
            points((ratio.high - 1.0) * 100.0)
        ),
        (None, reason) => format!(
            "The noise floor is not known: {}; effects from {limit} on are taken to matter",
            reason.as_deref().unwrap_or("no reason was recorded")
        ),
    };
    Verdict::new(Level::Note, "noise_floor", sentence)
}
