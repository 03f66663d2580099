//! A comparison of studies for a comment on a change: what must not be and whether it is, what changed, and what else differs.

use super::text::{alone, apart, begun, counted, different, legend, metrics, not_used, unjudged, within};
use super::{Against, Combination, Compare, ComparedStudy, Deciding, gate, label};
use crate::change::told_or_dash;
use crate::format;
use crate::markdown::Markdown;

/// Combinations whose verdicts are told as sentences; the table has all.
const ANSWERS_MOST: usize = 8;

impl Compare {
    /// The comparison as GitHub's Markdown: of each side against the first one what must not be, and the figures that changed or
    /// that a combination is judged by. The other figures and all differences of machines and settings are folded.
    #[must_use]
    pub fn markdown(&self) -> String {
        let first = label(&self.first);
        let names: Vec<String> = self.against.iter().map(|against| against.name.clone()).collect();
        let mut markdown = Markdown::under(&format!("{} against {first}", label(&names)));
        for against in &self.against {
            if self.against.len() > 1 {
                markdown.labelled("Against the first:", &against.name);
            }
            markdown.list(&answers(against));
            markdown.labelled("Reliability:", &format!("{}. {}", self.trust().0.word(), self.caution));
            figures(&mut markdown, against, &first);
        }
        for (what, commands) in self.deciding.iter().flat_map(Deciding::told) {
            markdown.folded(what, |inside| inside.commands(&commands));
        }
        let unused: Vec<String> = self.studies.iter().flat_map(not_used).collect();
        if !unused.is_empty() {
            markdown.folded("Not compared", |inside| inside.list(&unused));
        }
        let studies: Vec<&ComparedStudy> = self.studies.iter().collect();
        markdown.small(&begun(&studies));
        markdown.finish()
    }
}

/// What came of all that must not be, then the verdict on each combination, or why there is none.
fn answers(against: &Against) -> Vec<String> {
    let judged = |word: &str| {
        let of = against.gates.iter().filter(|gate| gate::word(gate.outcome) == word).count();
        (of > 0).then(|| format!("{of} {word}"))
    };
    let gates: Vec<String> =
        ["failed", "not judged", "passed"].iter().filter_map(|word| judged(word)).collect();
    let gates = (!gates.is_empty()).then(|| format!("Limits: {}", gates.join(", ")));
    let verdicts = against.combinations.iter().filter_map(verdict).take(ANSWERS_MOST);
    gates.into_iter().chain(unjudged(against)).chain(verdicts).collect()
}

/// `RAID10: iops +25% (+23 to +27%), better`; none where a verdict is refused.
pub(super) fn verdict(combination: &Combination) -> Option<String> {
    let metric = combination.main().filter(|_| !combination.is_refused())?;
    let (label, name, change) = (&combination.label, metric.metric.name, told_or_dash(metric.change()));
    Some(format!("{label}: {name} {change}, {}", metric.words))
}

fn figures(markdown: &mut Markdown, against: &Against, first: &str) {
    if let Some(table) = gate::table(against) {
        markdown.table(&table);
    }
    let (told, others) = apart(against, false);
    markdown.grid(&metrics(against, first, &told));
    if !told.is_empty() {
        markdown.small(&legend(against));
    }
    if let Some(counts) = counted(&others) {
        markdown.folded(&counts, |inside| inside.grid(&metrics(against, first, &others)));
    }
    markdown.list(&within(against).chain(alone(against, first)).collect::<Vec<String>>());
    let mut same = Vec::new();
    for (what, table) in different(against, first) {
        match table {
            None => same.push(what),
            Some(table) => {
                let summary = format!("{} ({})", table.title, table.rows.len());
                markdown.folded(&summary, |inside| inside.grid(&table));
            }
        }
    }
    if !same.is_empty() {
        markdown.paragraph(&format!("No recorded difference: {}", format::listed(&same)));
    }
}
