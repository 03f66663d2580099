//! The report as one HTML page that makes no request to anywhere: style, charts and script are inside.
//!
//! The page is complete without its script. The script shows times in the reader's zone, and values of charts over time to a reader who
//! points at them. It reads attributes and writes texts. A policy of the page lets the browser run this script alone and load nothing.

mod blocks;
pub(crate) mod evidence;
pub(crate) mod lead;
pub(crate) mod machine;
mod method;
pub(crate) mod parts;
mod raw;
mod settings;
mod sheet;
pub(crate) mod title;
pub(crate) mod verdicts;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{State, escaped};
use sha2::{Digest, Sha256};

use crate::chart::Chart;
use crate::comparison::{self, StudyComparison};
use crate::format;
use crate::inspect;
use crate::lead::Lead;
use crate::report::Report;
use crate::section::{self, Block, Place};
use crate::summary::{Reliability, Summary};
use crate::workloads;
use record::Workload;

const STYLE: &str = include_str!("style.css");

/// What a page does for a reader who points at it; see its first lines.
const SCRIPT: &str = include_str!("script.js");

/// What the folded rules are.
const RULES_INSIDE: &str = "what each warning means, how it is computed, and what to do";

/// Answers that stand under the title; the rest is below.
const ANSWERS_MOST: usize = 5;

impl Report {
    /// The report as one self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let sections = sections(self);
        let body = html! {
            (header(self, &sections))
            main { @for section in &sections { (section.markup()) } }
            p.paper.meta { "The printed page omits the figures of each chart, the seconds and folded charts of each trial, and the exact input. The file has them." }
            footer { "Created by prony " (self.tool_version) " from the files of the run. All rates are per second. MB is 10" sup { "6" } " bytes, MiB 2" sup { "20" } ". \
            A dash marks a figure that is unknown or that too few operations support." }
        };
        document(&title::heading(self), &body)
    }
}

/// What stands under one heading.
struct Part {
    id: &'static str,
    heading: String,
    /// What is inside, where the page shows it only when it is asked to.
    folded: Option<String>,
    body: Markup,
}

impl Part {
    fn open(id: &'static str, heading: impl Into<String>, body: Markup) -> Self {
        Self { id, heading: heading.into(), folded: None, body }
    }

    fn folded(id: &'static str, heading: &str, inside: String, body: Markup) -> Self {
        Self { folded: Some(inside), ..Self::open(id, heading, body) }
    }

    fn markup(&self) -> Markup {
        html! {
            section id=(self.id) {
                @if let Some(inside) = &self.folded {
                    details.fold {
                        summary { h2 { (self.heading) } span.rest { (inside) } }
                        (self.body)
                    }
                } @else {
                    h2 { (self.heading) }
                    (self.body)
                }
            }
        }
    }
}

/// A page of ours around its body, with the script.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    let may_run = format!("script-src 'sha256-{hash}'");
    whole("page", title, body, Some(may_run), &html! { script { (PreEscaped(SCRIPT)) } })
}

/// A document of this class around its body, without a script.
fn document_of(class: &str, title: &str, body: &Markup) -> String {
    whole(class, title, body, None, &html! {})
}

/// What a browser may load and run for a page: nothing but its own style, and what is named besides.
const POLICY: [&str; 4] =
    ["default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'"];

fn whole(class: &str, title: &str, body: &Markup, may_run: Option<String>, script: &Markup) -> String {
    let policy = POLICY.map(str::to_owned).into_iter().chain(may_run).collect::<Vec<_>>().join("; ");
    // In the body no piece of ours holds a control character, so that each one in it was written by others, and is seen.
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (escaped(title)) " – prony" }
                style { (PreEscaped(STYLE)) }
            }
            body class=(class) { (PreEscaped(escaped(&body.0))) (script) }
        }
    }
    .into_string()
}

/// What stands on the page, in order. What has no content is left out; what only who checks the figures asks for is folded.
fn sections(report: &Report) -> Vec<Part> {
    let summary = Summary::of(report);
    let (told, _) = summary.foremost(ANSWERS_MOST);
    let printed: Vec<usize> = told.iter().flat_map(|answer| answer.verdicts.clone()).collect();
    let list = verdicts::list_but(&report.verdicts, &printed, &verdicts::invalid(&report.trials));
    let mut parts = vec![Part::open("verdicts", "Verdicts", list)];
    match &report.comparison {
        Some(compared) => parts.push(Part::open("comparison", "Comparison", comparison(report, compared))),
        None => parts.extend(overview(report).map(|charts| Part::open("overview", "At a glance", charts))),
    }
    let judged = comparison::section::thresholds(&report.thresholds);
    parts.extend(judged.map(|judged| Part::open("thresholds", "Thresholds", blocks::all(&[judged]))));
    let mut published: Vec<Block> = Vec::new();
    let mut own: Vec<Part> = Vec::new();
    let mut of_workloads: Vec<(Workload, Vec<Block>)> = Vec::new();
    for (workload, section) in section::all(report) {
        match section.place {
            Place::Figures => of_workloads.push((workload, section.blocks)),
            Place::Own { anchor, heading } => {
                own.push(Part::open(anchor, heading, blocks::all(&section.blocks)))
            }
            Place::Published => published.extend(section.blocks),
        }
    }
    parts.extend(figures(&of_workloads));
    parts.extend(own);
    parts.extend(inspect::page::section(report).map(|found| Part::open("inspection", "Inspection", found)));
    parts.push(match evidence::folded(report) {
        Some(inside) => Part::folded("evidence", "Trial by trial", inside, evidence::trials(report)),
        None => Part::open("evidence", "Trial by trial", evidence::trials(report)),
    });
    if !published.is_empty() {
        let inside = blocks::titles(&published);
        parts.push(Part::folded("published", "Published figures", inside, beside(&published)));
    }
    let mut fold = |id, heading, inside, body| parts.push(Part::folded(id, heading, inside, body));
    fold("environment", "Environment", machine::inside(report), machine::environment(report));
    fold("settings", "Settings", settings::inside(report), settings::settings(report));
    if let Some(rules) = verdicts::rules_of(&report.verdicts) {
        fold("rules", "Rules of the warnings", RULES_INSIDE.to_owned(), rules);
    }
    fold("method", "Method", method::INSIDE.to_owned(), method::method(report));
    fold("raw", "Raw numbers", raw::inside(report), raw::seconds(report));
    parts
}

fn header(report: &Report, sections: &[Part]) -> Markup {
    let title = title::of(report);
    let (lead, summary) = (Lead::of(report), Summary::of(report));
    let invalid = report.trials.iter().filter(|trial| trial.state == State::Invalid).count();
    html! {
        header {
            h1 {
                @if let Some(own) = &report.labels.title { (own) }
                @else { (title.what) @if !title.on.is_empty() { ": " span.on { (title.on) } } }
            }
            @if let Some(measured) = title::below(report) { p.meta { (measured) } }
            @if let Some(called) = report.labels.in_words() { p.meta { strong { (called) } } }
            (title::comment(report))
            @if let Some(quick) = report.quick_words() { p { strong { (quick) } } }
            (lead::tiles(&lead.tiles))
            (reliability(report, &summary))
            (lead::beside(&said(&summary), lead.chart.as_ref()))
            p.meta {
                (parts::instant(&report.started))
                @if let Some(profile) = &report.profile { ", profile " (profile) }
                ", " (format::counted(report.trials.len(), "trial", "trials"))
                ", " (format::state(report.state))
                @if invalid > 0 { ", " (invalid) " invalid" }
            }
            p.meta { code { (title::command(report)) } }
            nav aria-label="Sections" {
                @for section in sections { a href={ "#" (section.id) } { (section.heading) } }
            }
        }
    }
}

/// How far to trust the figures, and a way to the warnings.
fn reliability(report: &Report, summary: &Summary) -> Markup {
    let warnings = verdicts::warnings(&report.verdicts);
    let is_doubted = summary.reliability != Reliability::High && report.state == State::Complete;
    let holds = || workloads::all().find_map(|(_, shown)| shown.holds_when_busy(report));
    let holds = is_doubted.then(holds).flatten();
    let more = html! {
        @if let Some(holds) = holds { (holds) ". " }
        @if warnings > 0 {
            a href={ "#" (verdicts::WARNINGS) } { (format::counted(warnings, "warning in full", "warnings in full")) }
        }
    };
    let reason = match (summary.reliability, report.searches.is_empty()) {
        (Reliability::High, true) => ": each figure has several trials, and no warning was raised".to_owned(),
        (Reliability::High, false) => ": no warning was raised".to_owned(),
        _ => summary.reliability_reason(),
    };
    lead::reliability(summary.reliability, &reason, &more)
}

/// The results, the bottleneck, and the next step.
fn said(summary: &Summary) -> Markup {
    let (printed, more) = summary.foremost(ANSWERS_MOST);
    let line = |label: &str, text: &str| html! { dt { (label) } dd { (verdicts::ended(text)) } };
    html! {
        dl.summary {
            @for answer in printed {
                dt.result { (answer.label) }
                dd.result { (verdicts::ended(&answer.text)) }
            }
            @if !more.is_empty() {
                dt.result {}
                dd.result { a href="#verdicts" { (format::counted(more.len(), "more result", "more results")) } }
            }
            (line("Bottleneck", &summary.bottleneck))
            @if let Some(settings) = &summary.settings {
                dt { "Settings" }
                dd { a href="#inspection" { (verdicts::ended(settings)) } }
            }
            @if let Some(next) = &summary.next { (line("Next", &format::capital(next))) }
        }
    }
}

/// The charts of all trials together.
fn overview(report: &Report) -> Option<Markup> {
    let lead = Lead::of(report);
    let charts = workloads::all().flat_map(|(_, shown)| shown.overview(report));
    let charts: Vec<Chart> = charts.filter(|chart| !lead.has(chart)).collect();
    (!charts.is_empty()).then(|| parts::charts(&charts))
}

/// A chart an axis, then the tables.
fn comparison(report: &Report, compared: &StudyComparison) -> Markup {
    let (lead, mut axes) = (Lead::of(report), comparison::chart::comparison(compared));
    axes.iter_mut().for_each(|axis| axis.charts.retain(|chart| !lead.has(chart)));
    axes.retain(|axis| !axis.charts.is_empty());
    html! {
        @for axis in &axes {
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
        (blocks::first(&comparison::section::blocks(compared)))
    }
}

/// The figures of each workload; where nothing was measured, that.
fn figures(of: &[(Workload, Vec<Block>)]) -> Vec<Part> {
    if of.is_empty() {
        return vec![Part::open("figures", "Figures", html! { p { "Nothing was measured." } })];
    }
    let section = |(workload, blocks): &(Workload, Vec<Block>)| {
        let words = workloads::of(*workload).words();
        let heading = if of.len() > 1 { format!("Figures: {}", words.one) } else { "Figures".to_owned() };
        Part::open(words.anchor, heading, blocks::first(blocks))
    };
    of.iter().map(section).collect()
}

fn beside(published: &[Block]) -> Markup {
    html! {
        p { "Figures that public documents report for other machines. They are not targets: the hardware differs, and often the load does too." }
        (blocks::all(published))
    }
}

#[cfg(test)]
mod colour_tests;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod shape_tests;
#[cfg(test)]
pub(crate) mod tests;
