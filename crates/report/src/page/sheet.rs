//! One A4 sheet for decision makers: the question, the answer, one chart, the reliability, the machine and the date.

use maud::{Markup, html};
use record::Workload;

use super::{document_of, lead, machine, parts, title, verdicts};
use crate::format;
use crate::lead::Lead;
use crate::report::Report;
use crate::summary::Summary;
use crate::verdict::{Level, Verdict};
use crate::workloads::{self, Shown};

/// Maximum number of answers on the sheet.
const ANSWERS_MOST: usize = 6;
/// Maximum number of doubts on the sheet. The page has all of them.
const DOUBTS_MOST: usize = 4;
/// Maximum number of rows of the user's comment. More rows would need a second sheet.
const COMMENT_ROWS_MOST: usize = 5;
/// Characters per row of the comment.
const COMMENT_ROW: usize = 100;

impl Report {
    /// One A4 page: HTML that a browser prints as PDF on a single sheet.
    #[must_use]
    pub fn sheet(&self) -> String {
        let (lead, summary) = (Lead::of(self), Summary::of(self));
        let body = html! {
            header {
                h1 { (self.labels.title.as_ref().unwrap_or(&self.title)) }
                p.question { (question(self)) }
                @if let Some(place) = title::below(self).or_else(|| title::place(self)) { p.meta { (place) } }
                @if let Some(called) = self.labels.in_words() { p.meta { strong { (called) } } }
                (comment(self))
            }
            main {
                (lead::tiles(&lead.tiles))
                (lead::reliability(summary.reliability, &summary.reliability_reason(), &html! {}))
                (answers(&summary))
                @if let Some(chart) = &lead.chart { div.chart { (parts::figure(chart)) } }
                (doubts(self))
                (origin(self))
            }
        };
        document_of("sheet", &title::heading(self), &body)
    }
}

/// The question of the run, in the words of its workload. With several workloads: the capability of the machine for a database.
fn question(report: &Report) -> String {
    if let Some(compared) = &report.comparison {
        let axes: Vec<String> =
            compared.axes.iter().map(|axis| crate::comparison::axis_words(&axis.name)).collect();
        let does = if axes.len() == 1 { "does" } else { "do" };
        let axes = format::listed(&axes.iter().map(String::as_str).collect::<Vec<_>>());
        return format!("How {does} {axes} change the result?");
    }
    let run: Vec<(Workload, &dyn Shown)> =
        workloads::all().filter(|(workload, _)| report.trials_of(*workload).next().is_some()).collect();
    match run.as_slice() {
        [(_, only)] => only.question(report).to_owned(),
        _ => "How fast is a database on this machine?".to_owned(),
    }
}

/// As much of the user's comment as fits on the sheet, and a pointer to the rest.
fn comment(report: &Report) -> Markup {
    let lines = || report.labels.comment_lines().filter(|line| !line.trim().is_empty());
    let rows = |line: &str| line.chars().count().div_ceil(COMMENT_ROW);
    if lines().map(rows).sum::<usize>() <= COMMENT_ROWS_MOST {
        return title::comment(report);
    }
    let mut room = COMMENT_ROWS_MOST;
    let mut shown = Vec::new();
    for line in lines() {
        let cut: String = line.chars().take(room * COMMENT_ROW).collect();
        room = room.saturating_sub(rows(line));
        shown.push(if cut.len() < line.len() { cut + "…" } else { cut });
        if room == 0 {
            break;
        }
    }
    html! {
        div.comment {
            @for line in &shown { p { (line) } }
            p.meta { "The full report has the whole comment." }
        }
    }
}

fn answers(summary: &Summary) -> Markup {
    let (printed, _) = summary.foremost(ANSWERS_MOST);
    html! {
        dl.summary {
            @for answer in printed {
                dt.result { (answer.label) }
                dd.result { (verdicts::ended(&answer.text)) }
            }
            dt { "Bottleneck" } dd { (verdicts::ended(&summary.bottleneck)) }
            @if let Some(next) = &summary.next { dt { "Next" } dd { (verdicts::ended(&format::capital(next))) } }
        }
    }
}

/// The most serious doubts in full, and the number of further doubts on the page.
fn doubts(report: &Report) -> Markup {
    let is_doubt = |verdict: &&Verdict| matches!(verdict.level, Level::Failure | Level::Warning);
    let mut doubts: Vec<&Verdict> = report.verdicts.iter().filter(is_doubt).collect();
    doubts.sort_by_key(|doubt| doubt.level);
    let more = doubts.len().saturating_sub(DOUBTS_MOST);
    html! {
        @if !doubts.is_empty() {
            ul.doubts {
                @for doubt in doubts.iter().take(DOUBTS_MOST) {
                    li class=(doubt.level.word()) { b { (doubt.level.word()) } span { (doubt.sentence()) } }
                }
            }
            @if more > 0 { p.meta { "The full report has " (format::counted(more, "more warning", "more warnings")) "." } }
        }
    }
}

/// Machine, date, command and version, for anyone who wants to repeat the measurement.
fn origin(report: &Report) -> Markup {
    html! {
        dl.summary.origin {
            dt { "Machine" } dd { (verdicts::ended(&machine::in_words(report.environment.as_ref()))) }
            dt { "Date" } dd { (parts::instant(&report.started)) ", " (format::counted(report.trials.len(), "trial", "trials")) ", " (format::state(report.state)) "." }
            dt { "Command" } dd { code { (title::command(report)) } }
            dt { "By" } dd { "prony " (report.tool_version) ". The results directory has every figure." }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::tests;

    #[test]
    fn a_sheet_has_the_question_the_answer_the_trust_the_machine_and_the_date() {
        let sheet = Report::of(&tests::quick()).sheet();
        for part in [
            "<p class=\"question\">How fast is this storage",
            "Reliability ",
            "Bottleneck",
            "Machine",
            "2026-11-2",
            "Command",
        ] {
            assert!(sheet.contains(part), "{part} in {sheet}");
        }
        assert!(sheet.contains("<body class=\"sheet\">"));
    }

    #[test]
    fn a_long_comment_leaves_room_on_the_sheet_and_says_where_its_rest_is() {
        let sheet = |comment: &str| {
            Report::of(&tests::quick()).described(None, Some(&comment.parse().unwrap())).sheet()
        };
        const REST: &str = "The full report has the whole comment.";
        let short = sheet("1\n2\n\n3\n4\n5");
        assert!(short.contains("<p>5</p>") && !short.contains(REST));
        let many = sheet("1\n2\n3\n4\n5\n6");
        assert!(many.contains("<p>5</p>") && !many.contains("<p>6</p>") && many.contains(REST));
        let long = sheet(&format!("1\n{}", "ö".repeat(900)));
        assert!(long.contains(&format!("<p>{}…</p>", "ö".repeat(400))) && long.contains(REST));
    }

    #[test]
    fn several_workloads_ask_about_the_machine_and_a_study_about_its_axis() {
        let check = Report::of(&tests::historian::check()).sheet();
        assert!(check.contains("How fast is a database on this machine?"));
        for study in tests::comparison::all() {
            let sheet = Report::of(&study).sheet();
            assert!(sheet.contains(" change the result?"), "{sheet}");
        }
    }
}
