//! Verdicts: sentences that the record supports, and the doubts that a reader must know of.
//!
//! Findings say what was measured. Each doubt is one rule in one place; it names the figure that raised it and the
//! remedy. A rule that holds for several trials makes one sentence, so that a sweep does not drown its reader.

mod doubt;
mod finding;
mod generator;
mod historian;
mod integrity;
mod medium;
mod orders;
mod outcome;
mod reconciliation;
mod stability;

use serde::{Deserialize, Serialize};

use crate::model::Report;

/// How grave a verdict is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Something was not measured, or not without errors.
    Failure,
    /// What was measured.
    Finding,
    /// A figure may not mean what it seems to.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    /// The level in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Finding => "finding",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// How grave it is.
    pub level: Level,
    /// The rule that it comes from, in one word that stays the same between versions.
    pub rule: String,
    /// The sentence, with its figures and, of a doubt, the remedy.
    pub sentence: String,
    /// The part of the sentence that is its figure, for emphasis.
    pub figure: Option<String>,
    /// Numbers of the trials it is about; empty where it is about the whole study.
    pub trials: Vec<u32>,
}

impl Verdict {
    fn new(level: Level, rule: &str, sentence: String) -> Self {
        Self { level, rule: rule.to_owned(), sentence, figure: None, trials: Vec::new() }
    }
}

/// All verdicts on a report, the gravest first.
pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let mut verdicts = finding::all(report);
    verdicts.extend(historian::all(report));
    verdicts.extend(orders::all(report));
    verdicts.extend(integrity::all(report));
    verdicts.extend(reconciliation::all(report));
    verdicts.extend(outcome::all(report));
    verdicts.extend(medium::all(report));
    verdicts.extend(generator::all(report));
    verdicts.extend(stability::all(report));
    verdicts.sort_by_key(|verdict| verdict.level);
    verdicts
}

#[cfg(test)]
mod tests;
