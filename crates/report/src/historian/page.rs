//! Historians on the page: their figures, and the published ones beside them.

use maud::{Markup, html};

use crate::chart;
use crate::historian::HistorianComparison;
use crate::page::parts;
use crate::report::Report;
use crate::table;

/// The tables of all historian trials; nothing where there is none.
pub(crate) fn figures(report: &Report) -> Option<Markup> {
    let main = table::historians(report)?;
    let others = [table::screens(report), table::maintenance(report), table::storage(report)];
    Some(html! {
        (parts::long_table(&main))
        @if !main.legend().is_empty() { p.meta { (main.legend()) "." } }
        @for series in &report.flush_rows { (parts::table(&table::flush_rows(series))) }
        @for search in &report.searches {
            details { summary { "Every step: " (search.configuration) } (parts::table(&table::steps(search))) }
        }
        @for other in others.iter().flatten() { (parts::table(other)) }
        p.meta { "A dash stands where a figure is unknown or too few operations support it." }
    })
}

/// Searches and series over the rows of a flush.
pub(crate) fn overview(report: &Report) -> Vec<chart::Chart> {
    let searches = report.searches.iter().filter_map(chart::search);
    searches.chain(chart::flush_rows(&report.flush_rows)).collect()
}

pub(crate) fn published(comparison: &HistorianComparison) -> Markup {
    let (placements, ours) = table::placements(comparison);
    let others = [table::published_flush(comparison), table::real_project(comparison)];
    html! {
        (parts::table_marked(&placements, ours))
        @for other in others.iter().flatten() { (parts::table(other)) }
        ul.plain {
            @for difference in &comparison.differences { li { (difference) } }
            li { (table::growth(comparison)) }
            li.meta { "Source: " (comparison.source) }
        }
    }
}
