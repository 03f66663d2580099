//! Verdicts: sentences that the record supports, and the doubts that a reader must know of.
//!
//! Findings say what was measured. Each doubt is one rule in one place; it names the figure that raised it and the
//! remedy. A rule that holds for several trials makes one sentence, so that a sweep does not drown its reader.

mod background;
pub(crate) mod doubt;
pub(crate) mod generator;
mod interruption;
pub(crate) mod outcome;
pub(crate) mod rate;
pub(crate) mod server;
pub(crate) mod stability;
mod states;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::comparison::sentence;
use crate::faults;
use crate::limit;
use crate::report::Report;
use crate::started;
use crate::workloads;

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
    /// What a reader can do about it, as an imperative; the sentence ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Numbers of the trials it is about; empty where it is about the whole study.
    pub trials: Vec<u32>,
    /// Of a doubt the figure that raised it in each of those trials, where there is one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub raised: BTreeMap<u32, String>,
}

impl Verdict {
    pub(crate) fn new(level: Level, rule: &str, sentence: String) -> Self {
        Self {
            level,
            rule: rule.to_owned(),
            sentence,
            figure: None,
            remedy: None,
            trials: Vec::new(),
            raised: BTreeMap::new(),
        }
    }

    /// The same with a remedy, an imperative, at the end of its sentence.
    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        let remedy = remedy.into();
        self.sentence = format!("{}; {remedy}", self.sentence);
        self.remedy = Some(remedy);
        self
    }
}

/// All verdicts on a report, the gravest first.
pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let mut verdicts = sentence::all(report);
    let findings = workloads::all().flat_map(|(_, shown)| shown.findings(report));
    verdicts.extend(findings.filter(|finding| !sentence::replaces(report, finding)));
    // It is the first thing to do.
    verdicts.extend(limit::blocked(&report.trials));
    // What to stop comes first: all other doubts may go with it.
    verdicts.extend(background::all(report));
    verdicts.extend(workloads::all().flat_map(|(_, shown)| shown.doubts(report)));
    verdicts.extend(server::not_durable(&report.trials));
    verdicts.extend(server::exposed(&report.trials));
    verdicts.extend(started::doubts(report));
    verdicts.extend(faults::all(report));
    verdicts.extend(interruption::all(report));
    verdicts.extend(outcome::all(report));
    verdicts.extend(generator::all(report));
    verdicts.extend(stability::all(report));
    verdicts.extend(states::all(report));
    verdicts.sort_by_key(|verdict| verdict.level);
    if report.comparison.is_some() { folded(verdicts) } else { verdicts }
}

/// A study of hundreds of trials may have a sentence on each: of very many with one rule the first few are kept, and the
/// rest is counted. What a study gains and whether its thresholds held is what it was run for, and is told in full.
fn folded(verdicts: Vec<Verdict>) -> Vec<Verdict> {
    let mut kept: Vec<Verdict> = Vec::new();
    let mut rest: Vec<(usize, Verdict)> = Vec::new();
    let alike = |a: &Verdict, b: &Verdict| a.rule == b.rule && a.level == b.level;
    for verdict in verdicts {
        let in_full = ["gain", "threshold"].contains(&verdict.rule.as_str());
        let many = !in_full && kept.iter().filter(|other| alike(other, &verdict)).count() >= SAME_MOST;
        match rest.iter_mut().find(|(_, other)| alike(other, &verdict)) {
            _ if !many => kept.push(verdict),
            Some((count, other)) => {
                *count += 1;
                other.trials.extend(verdict.trials);
            }
            None => rest.push((1, verdict)),
        }
    }
    for (count, mut more) in rest {
        more.sentence =
            format!("{count} more of this kind ({}); see the trials", more.rule.replace('_', " "));
        (more.figure, more.remedy) = (None, None);
        let after = kept.iter().rposition(|other| alike(other, &more)).map_or(kept.len(), |last| last + 1);
        kept.insert(after, more);
    }
    kept
}

/// Sentences of one rule that are told one by one.
const SAME_MOST: usize = 6;

#[cfg(test)]
mod tests;
