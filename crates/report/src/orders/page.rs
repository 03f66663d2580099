//! Order stores on the page: their figures, what they cost, and the published ones beside them.

use maud::{Markup, html};

use crate::chart;
use crate::orders::Cost;
use crate::orders::OrdersComparison;
use crate::page::parts;
use crate::report::Report;
use crate::table;

/// The tables of all trials of order stores; nothing where there is none.
pub(crate) fn figures(report: &Report) -> Option<Markup> {
    let main = table::orders(report)?;
    Some(html! {
        (parts::long_table(&main))
        @if !main.legend().is_empty() { p.meta { (main.legend()) "." } }
        @for other in table::order_details(report) { (parts::table(&other)) }
        p.meta { "A dash stands where a figure is unknown or too few operations support it." }
    })
}

/// Response times of all configurations on one scale.
pub(crate) fn overview(report: &Report) -> Vec<chart::Chart> {
    chart::order_strip(&report.configurations).into_iter().collect()
}

pub(crate) fn cost(cost: &Cost) -> Markup {
    html! {
        p { "Prices are those of the user's own list; nothing here checks them." }
        (parts::table(&table::prices(cost)))
        p.meta { (table::price_source(cost)) }
        @if let Some(steps) = &table::price_steps(cost) { (parts::table(steps)) }
        @if let Some(systems) = &table::systems(cost) { (parts::table_marked(systems, 1)) }
        ul.plain { @for note in table::system_notes(cost) { li.meta { (note) } } }
    }
}

pub(crate) fn published(comparison: &OrdersComparison) -> Markup {
    let (table, ours) = table::published_orders(comparison);
    html! {
        (parts::table_marked(&table, ours))
        ul.plain {
            @for difference in &comparison.differences { li { (difference) } }
            li.meta { "Source: " (comparison.source) }
        }
    }
}
