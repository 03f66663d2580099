//! What a study compares, on the page: a chart an axis, the table of all combinations, thresholds, other metrics.

use maud::{Markup, html};

use crate::chart;
use crate::comparison::{Outcome, StudyComparison};
use crate::format;
use crate::page::parts;
use crate::table;

pub(crate) fn section(comparison: &StudyComparison) -> Markup {
    let along = chart::comparison(comparison);
    let notes = table::published_notes(comparison);
    html! {
        @for axis in &along {
            @if let [only] = axis.charts.as_slice() {
                (parts::charts(std::slice::from_ref(only)))
            } @else {
                h3 { (axis.heading) }
                (parts::small_charts(&axis.charts))
            }
            @if axis.left_out > 0 {
                p.meta { (format::counted(axis.left_out, "further setting", "further settings")) " of the other axes are in the table only." }
            }
        }
        (parts::table(&table::combinations(comparison)))
        p.meta { (table::legend(comparison)) "." }
        @if !notes.is_empty() { ul.plain { @for note in &notes { li.meta { (note) "." } } } }
        @if !comparison.thresholds.is_empty() {
            h3 { "Thresholds" }
            ul.doubts {
                @for threshold in &comparison.thresholds {
                    li class=(class(threshold.outcome)) {
                        b { (threshold.outcome.word()) }
                        span { (threshold.text) " – " (threshold.why) "." }
                    }
                }
            }
        }
        @if let Some(others) = &table::other_metrics(comparison) {
            details { summary { "Other metrics of each combination" } (parts::table(others)) }
        }
    }
}

/// The colour of an outcome; its word says the same.
fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "held",
        Outcome::Inconclusive => "warning",
        Outcome::Failed => "failure",
    }
}
