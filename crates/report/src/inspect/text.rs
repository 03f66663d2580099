//! An inspection for a terminal: what was found, the worst first, each with its reason, its remedy and its source.

use record::{Lines, shown};

use super::{Advice, Inspection, NotRead};
use crate::format;
use crate::text::{SENTENCE_WIDTH, joined};

/// Columns of the words before a text.
const LABEL: usize = 9;

impl Inspection {
    /// All of it as text, of at most `width` columns.
    #[must_use]
    pub fn text(&self, width: Option<u16>) -> Lines {
        joined(self.blocks(width.map_or(usize::MAX, usize::from)))
    }

    /// The same as pieces with an empty line between them.
    pub(crate) fn blocks(&self, width: usize) -> Vec<String> {
        let width = width.clamp(40, SENTENCE_WIDTH);
        let mut blocks = vec![labelled("", &self.headline(), width)];
        blocks.extend(self.advice.iter().map(|advice| printed(advice, width)));
        blocks.extend(self.unread.iter().map(|unread| printed_unread(unread, width)));
        blocks
    }

    /// What it comes to in a sentence.
    fn headline(&self) -> String {
        let found = match self.counted() {
            none if none.is_empty() => "no setting endangers data or costs performance".to_owned(),
            counted => format!("settings: {counted}"),
        };
        match self.unread.len() {
            0 => found,
            many => {
                format!("{found} ({})", format::counted(many, "setting is unknown", "settings are unknown"))
            }
        }
    }
}

fn printed(advice: &Advice, width: usize) -> String {
    let found = format!("{}: {}", advice.of.join(", "), advice.found);
    [
        labelled(advice.severity.word(), &found, width),
        labelled("why", advice.why, width),
        labelled("do", &advice.remedy, width),
        labelled("source", advice.source, width),
    ]
    .join("\n")
}

fn printed_unread(NotRead { of, unread }: &NotRead, width: usize) -> String {
    let not_read = labelled("unknown", &format!("{of}: {}: {}", unread.what, unread.because), width);
    let grant = unread.grant.iter().map(|grant| labelled("do", grant, width));
    std::iter::once(not_read).chain(grant).collect::<Vec<String>>().join("\n")
}

/// A text beside its label, broken at words; beside nothing it stands at the margin.
fn labelled(label: &str, text: &str, width: usize) -> String {
    let indent = if label.is_empty() { 0 } else { LABEL };
    let lines = format::wrapped(&shown(text), width - indent);
    let lines = lines.iter().enumerate().map(|(index, line)| {
        let label = if index == 0 { label } else { "" };
        format!("{label:<indent$}{line}")
    });
    lines.collect::<Vec<String>>().join("\n")
}
