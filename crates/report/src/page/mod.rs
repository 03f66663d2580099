//! The report as one HTML page that makes no request to anywhere: style and charts are inside, there is no script.

pub(crate) mod evidence;
mod machine;
mod method;
pub(crate) mod parts;
mod raw;
mod settings;
mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{State, escaped};

use crate::chart;
use crate::format;
use crate::report::Report;
use crate::table;
use crate::{comparison, historian, orders};

pub(crate) use settings::Facts;

const STYLE: &str = include_str!("style.css");

impl Report {
    /// The report as one self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let sections = sections(self);
        let body = html! {
            (header(self, &sections))
            main {
                @for (id, heading, body) in &sections {
                    section id=(id) { h2 { (heading) } (body) }
                }
            }
            footer { "Made by prony " (self.tool_version) " from the study's own files. All rates are per second; MB is 10" sup { "6" } " bytes, MiB 2" sup { "20" } "." }
        };
        // No piece of ours holds a control character, so that each one in it was written by others, and is seen.
        let body = body.into_string();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (escaped(&self.title)) " – prony" }
                    style { (PreEscaped(STYLE)) }
                }
                body { (PreEscaped(escaped(&body))) }
            }
        }
        .into_string()
    }
}

/// What stands on the page, in order: id, heading, body. What has no content is left out.
fn sections(report: &Report) -> Vec<(&'static str, String, Markup)> {
    let mut sections = vec![("verdicts", "Verdicts".to_owned(), verdicts::list(&report.verdicts))];
    match &report.comparison {
        Some(compared) => {
            sections.push(("comparison", "Comparison".to_owned(), comparison::section::section(compared)))
        }
        None => sections.extend(overview(report).map(|part| ("overview", "At a glance".to_owned(), part))),
    }
    let disks = report.disks().next().map(|_| figures(report));
    let parts = [
        ("figures", "disk", disks),
        ("historian", "historian", historian::page::figures(report)),
        ("orders", "order store", orders::page::figures(report)),
    ];
    let several = parts.iter().filter(|(.., part)| part.is_some()).count() > 1;
    if parts.iter().all(|(.., part)| part.is_none()) {
        sections.push(("figures", "Figures".to_owned(), figures(report)));
    }
    for (id, of, part) in parts {
        let heading = if several { format!("Figures: {of}") } else { "Figures".to_owned() };
        sections.extend(part.map(|part| (id, heading, part)));
    }
    sections.extend(report.cost.as_ref().map(|cost| ("cost", "Cost".to_owned(), orders::page::cost(cost))));
    let mut push = |id, heading: &str, body| sections.push((id, heading.to_owned(), body));
    push("evidence", "Trial by trial", evidence::trials(report));
    if !report.published.is_empty()
        || report.published_historian.is_some()
        || report.published_orders.is_some()
    {
        push("published", "Published figures", published(report));
    }
    push("environment", "Environment", machine::environment(report));
    push("settings", "Settings", settings::settings(report));
    push("method", "Method", method::method(report));
    push("raw", "Raw numbers", raw::seconds(report));
    sections
}

fn header(report: &Report, sections: &[(&str, String, Markup)]) -> Markup {
    let host = report.environment.as_ref().map(|environment| environment.host.as_str());
    let invalid = report.trials.iter().filter(|trial| trial.state == State::Invalid).count();
    html! {
        header {
            h1 { (report.title) }
            p.meta {
                (parts::instant(&report.started))
                @if let Some(host) = host { " on " (host) }
                @if let Some(profile) = &report.profile { ", profile " (profile) }
                ", " (format::counted(report.trials.len(), "trial", "trials"))
                ", " (format::state(report.state))
                @if invalid > 0 { ", " (invalid) " of them invalid" }
            }
            p.meta { code { (report.command.join(" ")) } }
            nav aria-label="Sections" {
                @for (id, heading, _) in sections { a href={ "#" (id) } { (heading) } }
            }
        }
    }
}

/// The main charts: the sweeps, the rounds' matrix, or all latencies on one scale; then searches of historians.
fn overview(report: &Report) -> Option<Markup> {
    let mut charts: Vec<chart::Chart> = chart::sweeps(&report.sweeps).into_iter().flatten().collect();
    charts.extend(report.steady_state.as_ref().and_then(chart::rounds));
    if charts.is_empty() {
        charts.extend(chart::strip(&report.configurations));
        charts.extend(chart::courses(&report.configurations, &report.trials));
    }
    charts.extend(historian::page::overview(report));
    charts.extend(orders::page::overview(report));
    let matrix = report.steady_state.as_ref().and_then(table::matrix);
    if charts.is_empty() && matrix.is_none() {
        return None;
    }
    Some(html! {
        (parts::charts(&charts))
        @if let Some(matrix) = &matrix { (parts::table(matrix)) }
    })
}

fn figures(report: &Report) -> Markup {
    let main = table::main(report);
    let open = table::open_loops(report);
    html! {
        @if main.rows.is_empty() { p { "Nothing was measured." } } @else { (parts::long_table(&main)) }
        @if report.repeats() {
            details {
                summary { "Every single trial" }
                (parts::table(&table::trials(report)))
            }
        }
        @if let Some(open) = &open { (parts::table(open)) }
        @if !main.legend().is_empty() { p.meta { (main.legend()) "." } }
        p.meta { "A dash stands where a figure is unknown or too few operations support it." }
    }
}

fn published(report: &Report) -> Markup {
    html! {
        p { "What public documents report of other machines. Nothing here is a target: the hardware differs, and often the load." }
        @for comparison in &report.published {
            (parts::table_marked(&table::published(comparison), 1))
            ul.plain {
                @for difference in &comparison.differences { li { (difference) } }
                @for source in &comparison.sources { li.meta { "Source: " (source) } }
            }
        }
        @if let Some(comparison) = &report.published_historian { (historian::page::published(comparison)) }
        @if let Some(comparison) = &report.published_orders { (orders::page::published(comparison)) }
    }
}

#[cfg(test)]
mod tests;
