//! A run for a comment.

use super::Markdown;
use crate::comparison::section as comparison;
use crate::format;
use crate::page::{machine, title};
use crate::report::Report;
use crate::section::{self, Block, Place, Section};
use crate::summary::{Answer, Summary};
use crate::verdict::Level;

/// Answers that are told; the rest is folded.
const ANSWERS_MOST: usize = 8;

impl Report {
    /// The run as GitHub Markdown for a comment on a pull request: results, reliability, thresholds, and gains or figures.
    #[must_use]
    pub fn markdown(&self) -> String {
        let summary = Summary::of(self);
        let mut markdown = Markdown::under(&title::heading(self));
        let called = [title::below(self), self.labels.in_words(), self.quick_words()];
        called.iter().flatten().for_each(|words| markdown.paragraph(words));
        self.labels.comment_lines().for_each(|line| markdown.line(line));
        let (printed, more) = summary.foremost(ANSWERS_MOST);
        let sentences =
            |answers: &[Answer]| answers.iter().map(|answer| answer.sentence()).collect::<Vec<_>>();
        markdown.list(&sentences(printed));
        if !more.is_empty() {
            let counted = format::counted(more.len(), "more result", "more results");
            markdown.folded(&counted, |inside| inside.list(&sentences(more)));
        }
        markdown.labelled("Reliability:", &summary.reliability_words());
        markdown.labelled("Bottleneck:", &summary.bottleneck);
        if let Some(next) = &summary.next {
            markdown.labelled("Next:", next);
        }
        markdown.blocks(&tables(self));
        let of = |level: Level| {
            let all = self.verdicts.iter().filter(move |verdict| verdict.level == level);
            all.map(|verdict| verdict.with_id()).collect::<Vec<String>>()
        };
        let warnings = of(Level::Warning);
        if !warnings.is_empty() {
            let counted = format::counted(warnings.len(), "warning", "warnings");
            markdown.folded(&counted, |inside| inside.closed_list(&warnings));
        }
        markdown.small(&origin(self));
        markdown.finish()
    }
}

/// What had to hold, and what is compared; where nothing is, the main table of each workload.
fn tables(report: &Report) -> Vec<Block> {
    let mut blocks: Vec<Block> = comparison::thresholds(&report.thresholds).into_iter().collect();
    if let Some(compared) = &report.comparison {
        blocks.extend(comparison::blocks(compared));
        return blocks;
    }
    let figures = |section: Section| {
        let is_main = |block: &Block| matches!(block, Block::Main { .. });
        let all = if section.place == Place::Figures { section.blocks } else { Vec::new() };
        all.into_iter().filter(is_main).collect::<Vec<Block>>()
    };
    blocks.extend(section::all(report).into_iter().flat_map(|(_, section)| figures(section)));
    blocks
}

/// `Begun 2026-11-21T07:30:00Z, 12 trials, complete; db7: …; prony 0.1.0; stored in /srv/prony/…`.
fn origin(report: &Report) -> String {
    let trials = format::counted(report.trials.len(), "trial", "trials");
    let begun = format!("Started {}, {trials}, {}", report.started, format::state(report.state));
    let stored = report.results.as_ref().map(|stored| format!("stored in {}", stored.directory.display()));
    let machine = machine::in_words(report.environment.as_ref());
    let parts = [Some(begun), Some(machine), Some(format!("prony {}", report.tool_version)), stored];
    parts.into_iter().flatten().collect::<Vec<String>>().join("; ")
}
