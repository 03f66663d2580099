//! An inspection on the page of a report: the worst of it, and the rest where it is asked for.

use maud::{Markup, html};

use super::{Advice, Inspection, Severity};
use crate::format;
use crate::report::Report;

/// Pieces of advice that are shown without being asked for.
const SHOWN_MOST: usize = 3;

/// The section; none where nothing was read, or nothing found.
pub(crate) fn section(report: &Report) -> Option<Markup> {
    let inspection = report.inspection.as_ref().filter(|inspection| !inspection.is_empty())?;
    let shown =
        inspection.advice.iter().filter(|advice| advice.severity < Severity::Note).take(SHOWN_MOST).count();
    let (first, rest) = inspection.advice.split_at(shown);
    Some(html! {
        @if !first.is_empty() { (list(first)) }
        @if !rest.is_empty() || !inspection.unread.is_empty() {
            details {
                summary { (inside(inspection, rest.len(), first.is_empty())) }
                @if !rest.is_empty() { (list(rest)) }
                @if !inspection.unread.is_empty() {
                    ul.doubts.advice {
                        @for not_read in &inspection.unread {
                            li.note { b { "unknown" } span {
                                (not_read.of) ": " (not_read.unread.what) " – " (not_read.unread.because) "."
                                @if let Some(grant) = &not_read.unread.grant { br; "Do: " code { (grant) } }
                            } }
                        }
                    }
                }
            }
        }
    })
}

/// `5 more, and one thing that could not be read`.
fn inside(inspection: &Inspection, rest: usize, is_all: bool) -> String {
    let more = match (rest, is_all) {
        (0, _) => None,
        (rest, true) => Some(format::counted(rest, "note", "notes")),
        (rest, false) => Some(format!("{rest} more")),
    };
    let unread = match inspection.unread.len() {
        0 => None,
        many => Some(format::counted(many, "unknown setting", "unknown settings")),
    };
    [more, unread].into_iter().flatten().collect::<Vec<String>>().join(", and ")
}

fn list(advice: &[Advice]) -> Markup {
    html! {
        ul.doubts.advice {
            @for one in advice {
                li class=(class(one.severity)) { b { (one.severity.word()) } span {
                    (one.of.join(", ")) ": " strong { (one.found) } ". " (one.why) "."
                    br; "Do: " (one.remedy) "."
                    br; small { (one.source) }
                } }
            }
        }
    }
}

/// The colour of its word.
fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Danger => "failure",
        Severity::Costs => "warning",
        Severity::Note => "note",
    }
}
