//! The report as one HTML page that makes no request to anywhere: style and charts are inside, there is no script.

mod blocks;
pub(crate) mod evidence;
mod machine;
mod method;
pub(crate) mod parts;
mod raw;
mod settings;
pub(crate) mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{State, escaped};

use crate::chart::Chart;
use crate::comparison::{self, StudyComparison};
use crate::format;
use crate::report::Report;
use crate::section::{self, Block, Place};
use crate::summary::Summary;
use crate::workloads;
use record::Workload;

const STYLE: &str = include_str!("style.css");

/// Answers that stand under the title; the rest is below.
const ANSWERS_MOST: usize = 5;

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
        document(&self.title, &body)
    }
}

/// A page of ours around its body.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    // No piece of ours holds a control character, so that each one in it was written by others, and is seen.
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (escaped(title)) " – prony" }
                style { (PreEscaped(STYLE)) }
            }
            body { (PreEscaped(escaped(&body.0))) }
        }
    }
    .into_string()
}

/// What stands on the page, in order: id, heading, body. What has no content is left out.
fn sections(report: &Report) -> Vec<(&'static str, String, Markup)> {
    let mut sections = vec![("verdicts", "Verdicts".to_owned(), verdicts::list(&report.verdicts))];
    match &report.comparison {
        Some(compared) => sections.push(("comparison", "Comparison".to_owned(), comparison(compared))),
        None => sections.extend(overview(report).map(|part| ("overview", "At a glance".to_owned(), part))),
    }
    let mut published: Vec<Block> = Vec::new();
    let mut own: Vec<(&'static str, String, Markup)> = Vec::new();
    let mut of_workloads: Vec<(Workload, Vec<Block>)> = Vec::new();
    for (workload, section) in section::all(report) {
        match section.place {
            Place::Figures => of_workloads.push((workload, section.blocks)),
            Place::Own { anchor, heading } => {
                own.push((anchor, heading.to_owned(), blocks::all(&section.blocks)));
            }
            Place::Published => published.extend(section.blocks),
        }
    }
    sections.extend(figures(&of_workloads));
    sections.extend(own);
    let mut push = |id, heading: &str, body| sections.push((id, heading.to_owned(), body));
    push("evidence", "Trial by trial", evidence::trials(report));
    if !published.is_empty() {
        push("published", "Published figures", beside(&published));
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
            @if let Some(called) = report.labels.in_words() { p.meta { strong { (called) } } }
            @if let Some(quick) = report.quick_words() { p { strong { (quick) } } }
            (summary(report))
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

/// The answer in sentences that can be read aloud, how far to trust them, what limits them, and what to do next.
fn summary(report: &Report) -> Markup {
    let summary = Summary::of(report);
    let (told, more) = summary.answers.split_at(summary.answers.len().min(ANSWERS_MOST));
    let line = |label: &str, text: &str| html! { p { b { (label) } " " (verdicts::ended(text)) } };
    html! {
        div.summary {
            @for answer in told { p.answer { (verdicts::ended(answer)) } }
            @if !more.is_empty() {
                p.answer { a href="#verdicts" { (format::counted(more.len(), "more finding", "more findings")) } "." }
            }
            p class={ "trust " (summary.trust.word()) } { b { "Trust" } " " (verdicts::ended(&summary.trust_words())) }
            (line("Limited by", &summary.limit))
            @if let Some(next) = &summary.next_in_words() { (line("Next", next)) }
        }
    }
}

/// The charts of all trials together.
fn overview(report: &Report) -> Option<Markup> {
    let charts: Vec<Chart> = workloads::all().flat_map(|(_, shown)| shown.overview(report)).collect();
    (!charts.is_empty()).then(|| parts::charts(&charts))
}

/// A chart an axis, then the tables.
fn comparison(compared: &StudyComparison) -> Markup {
    html! {
        @for axis in &comparison::chart::comparison(compared) {
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
        (blocks::all(&comparison::section::blocks(compared)))
    }
}

/// The figures of each workload; where nothing was measured, that.
fn figures(of: &[(Workload, Vec<Block>)]) -> Vec<(&'static str, String, Markup)> {
    if of.is_empty() {
        return vec![("figures", "Figures".to_owned(), html! { p { "Nothing was measured." } })];
    }
    let section = |(workload, blocks): &(Workload, Vec<Block>)| {
        let words = workloads::of(*workload).words();
        let heading = if of.len() > 1 { format!("Figures: {}", words.one) } else { "Figures".to_owned() };
        let body = html! {
            (blocks::all(blocks))
            p.meta { "A dash stands where a figure is unknown or too few operations support it." }
        };
        (words.anchor, heading, body)
    };
    of.iter().map(section).collect()
}

fn beside(published: &[Block]) -> Markup {
    html! {
        p { "What public documents report of other machines. Nothing here is a target: the hardware differs, and often the load." }
        (blocks::all(published))
    }
}

#[cfg(test)]
mod tests;
