//! Verdicts: what the record supports, and what speaks against the figures.
//!
//! Findings state what was measured. Each doubt is one rule in one place. It has the figure that raised it and the
//! action. A rule that holds for several trials makes one verdict, so that a sweep stays readable.

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

use serde::{Serialize, Serializer};

use crate::comparison::sentence;
use crate::faults;
use crate::format;
use crate::limit;
use crate::report::Report;
use crate::rules;
use crate::started;
use crate::workloads;

/// How grave a verdict is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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

/// One statement on the figures: what was found, what it is judged by, what follows, and what a reader can do.
///
/// Printers put the fields together with [`Verdict::sentence`] and [`Verdict::brief`]. Nobody takes a finished sentence apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How grave it is.
    pub level: Level,
    /// The rule that it comes from, in one word that stays the same between versions.
    pub rule: String,
    /// The trials, the configuration or the part of the machine that it is about, in words.
    pub subject: Option<String>,
    /// What was found, with its figure.
    pub fact: Fact,
    /// What the figure is judged by, such as `limit 10%`.
    pub limit: Option<String>,
    /// What follows from the fact.
    pub effect: Option<String>,
    /// What a reader can do about it, as an imperative.
    pub action: Option<String>,
    /// Numbers of the trials it is about; empty where it is about the whole study.
    pub trials: Vec<u32>,
    /// The figure of each of those trials that raised a doubt, where there is one.
    pub raised: BTreeMap<u32, String>,
}

/// A clause with the figure that stands out in it, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The words before the figure, or all words.
    pub before: String,
    /// A number with its unit.
    pub figure: Option<String>,
    /// The words after the figure, with the blank or the comma that they begin with.
    pub after: String,
}

impl Fact {
    pub(crate) fn around(
        before: impl Into<String>,
        figure: impl Into<String>,
        after: impl Into<String>,
    ) -> Self {
        Self { before: before.into(), figure: Some(figure.into()), after: after.into() }
    }

    /// All words.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}{}", self.before, self.figure.as_deref().unwrap_or_default(), self.after)
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self { before: text, figure: None, after: String::new() }
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Verdict {
    pub(crate) fn new(level: Level, rule: &str, fact: impl Into<Fact>) -> Self {
        Self {
            level,
            rule: rule.to_owned(),
            subject: None,
            fact: fact.into(),
            limit: None,
            effect: None,
            action: None,
            trials: Vec::new(),
            raised: BTreeMap::new(),
        }
    }

    pub(crate) fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    pub(crate) fn with_limit(self, limit: impl Into<String>) -> Self {
        Self { limit: Some(limit.into()), ..self }
    }

    pub(crate) fn with_effect(self, effect: impl Into<String>) -> Self {
        Self { effect: Some(effect.into()), ..self }
    }

    pub(crate) fn with_action(self, action: impl Into<String>) -> Self {
        Self { action: Some(action.into()), ..self }
    }

    pub(crate) fn of_trials(self, trials: impl Into<Vec<u32>>) -> Self {
        Self { trials: trials.into(), ..self }
    }

    /// The name of the rule where the verdict is a doubt. A finding speaks for itself.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        (self.level != Level::Finding).then(|| rules::name(&self.rule))
    }

    /// All of it: `Noisy (scan): throughput per second varied by 14% (limit 10%). The mean is uncertain. Increase --duration.`
    #[must_use]
    pub fn sentence(&self) -> String {
        let limit = self.limit.as_ref().map(|limit| format!(" ({limit})")).unwrap_or_default();
        let mut whole = closed(format!("{}{}{limit}", self.head(), self.fact.text()));
        for part in [&self.effect, &self.action].into_iter().flatten() {
            whole += " ";
            whole += &closed(format::capital(part));
        }
        whole
    }

    /// The whole sentence, and the id of the rule in brackets where it is a doubt: `prony explain` prints its text.
    #[must_use]
    pub fn with_id(&self) -> String {
        match self.level {
            Level::Finding => self.sentence(),
            Level::Failure | Level::Warning | Level::Note => format!("{} [{}]", self.sentence(), self.rule),
        }
    }

    /// Name, subject and fact, without a full stop.
    #[must_use]
    pub fn brief(&self) -> String {
        format!("{}{}", self.head(), self.fact.text().trim_end_matches('.'))
    }

    /// What stands before the fact: `Noisy (scan): `.
    pub(crate) fn head(&self) -> String {
        match (self.name(), &self.subject) {
            (Some(name), Some(subject)) => format!("{name} ({subject}): "),
            (Some(head), None) => format!("{head}: "),
            (None, Some(subject)) => format!("{subject}: "),
            (None, None) => String::new(),
        }
    }
}

/// A sentence with its full stop.
pub(crate) fn closed(sentence: String) -> String {
    if sentence.ends_with(['.', '?', '!']) { sentence } else { sentence + "." }
}

/// How a verdict is stored and printed as JSON: each part, and the whole sentence.
#[derive(Serialize)]
struct Stored<'a> {
    level: Level,
    rule: &'a str,
    sentence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    fact: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'a str>,
    figure: Option<&'a str>,
    /// The action, under the key that it has had since the first version.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'a str>,
    trials: &'a [u32],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    raised: &'a BTreeMap<u32, String>,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = Stored {
            level: self.level,
            rule: &self.rule,
            sentence: self.sentence(),
            subject: self.subject.as_deref(),
            fact: self.fact.text(),
            limit: self.limit.as_deref(),
            effect: self.effect.as_deref(),
            figure: self.fact.figure.as_deref(),
            remedy: self.action.as_deref(),
            trials: &self.trials,
            raised: &self.raised,
        };
        stored.serialize(serializer)
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

/// Keeps the first few of very many verdicts of one rule, and counts the rest. Gains and thresholds are the aim of a study: all stay.
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
    for (count, more) in rest {
        let after = kept.iter().rposition(|other| alike(other, &more)).map_or(kept.len(), |last| last + 1);
        let fact = format!("{count} more of this kind, see the trials");
        kept.insert(after, Verdict::new(more.level, &more.rule, fact).of_trials(more.trials));
    }
    kept
}

/// Verdicts of one rule that are printed one by one.
const SAME_MOST: usize = 6;

#[cfg(test)]
mod tests;
