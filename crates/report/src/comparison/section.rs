//! The tables of a study that compares: all combinations, thresholds, other metrics.

use super::{Outcome, StudyComparison, ThresholdResult, percentiles, scaling, table};
use crate::section::Block;

pub(crate) fn blocks(comparison: &StudyComparison) -> Vec<Block> {
    let main = Block::Main { table: table::combinations(comparison), legend: table::legend(comparison) };
    let notes = table::published_notes(comparison);
    let notes = (!notes.is_empty()).then(|| Block::Notes { sentences: notes, sources: Vec::new() });
    let thresholds = thresholds(&comparison.thresholds);
    let scaling = scaling::table(comparison).map(Block::Table);
    let percentiles = percentiles::table(comparison).map(Block::Table);
    let others = table::other_metrics(comparison)
        .map(|table| Block::Folded { summary: "Other metrics of each combination".to_owned(), table });
    let stars = |metrics: usize, what: &str| {
        table::stars(metrics, what).map(|told| Block::Remark(format!("{told}.")))
    };
    let of_percentiles =
        percentiles.is_some().then(|| stars(percentiles::starred(comparison), "percentiles")).flatten();
    let of_others = others.is_some().then(|| stars(table::starred_metrics(comparison), "metrics")).flatten();
    [Some(main), notes, scaling, thresholds, percentiles, of_percentiles, others, of_others]
        .into_iter()
        .flatten()
        .collect()
}

/// What had to hold, a row each; none without any.
pub(crate) fn thresholds(judged: &[ThresholdResult]) -> Option<Block> {
    let classes = judged.iter().map(|threshold| class(threshold.outcome)).collect();
    table::thresholds(judged).map(|table| Block::Outcomes { table, classes })
}

/// The colour of an outcome; its word says the same.
fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "held",
        Outcome::Inconclusive => "warning",
        Outcome::Failed => "failure",
    }
}
