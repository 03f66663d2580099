//! Verdicts as a reader meets them: the figures first, then the sentences, then what speaks against them.

use maud::{Markup, html};

use crate::verdict::{Level, Verdict};
use crate::workloads;

/// More figures than this are no headline.
const FIGURES_MOST: usize = 12;

/// Units with more letters do not fit a card beside a large number.
const UNIT_LETTERS_MOST: usize = 4;

pub(crate) fn list(verdicts: &[Verdict]) -> Markup {
    let (findings, doubts): (Vec<&Verdict>, Vec<&Verdict>) =
        verdicts.iter().partition(|verdict| verdict.level == Level::Finding);
    let is_rate = |verdict: &Verdict| {
        workloads::all().any(|(_, shown)| shown.words().headlines.contains(&verdict.rule.as_str()))
    };
    let rates = findings.iter().filter(|verdict| is_rate(verdict)).count();
    let (large, small): (Vec<&Verdict>, Vec<&Verdict>) = findings
        .into_iter()
        .partition(|verdict| is_rate(verdict) && verdict.figure.is_some() && rates <= FIGURES_MOST);
    let (failures, doubts): (Vec<&Verdict>, Vec<&Verdict>) =
        doubts.into_iter().partition(|verdict| verdict.level == Level::Failure);
    html! {
        (sentences(&failures))
        @if !large.is_empty() {
            ul.figures { @for verdict in large { (figure(verdict)) } }
        }
        @if !small.is_empty() {
            ul.findings { @for verdict in small { li { (sentence(verdict)) } } }
        }
        (sentences(&doubts))
        @if verdicts.is_empty() { p { "Nothing was measured, so there is nothing to say." } }
    }
}

/// What speaks against the figures, each with its level in words.
fn sentences(verdicts: &[&Verdict]) -> Markup {
    html! {
        @if !verdicts.is_empty() {
            ul.doubts {
                @for verdict in verdicts {
                    li class=(verdict.level.word()) {
                        b { (verdict.level.word()) }
                        span { (ended(&verdict.sentence)) }
                    }
                }
            }
        }
    }
}

/// A verdict around its figure: what it is about, the figure, the rest of the sentence.
fn figure(verdict: &Verdict) -> Markup {
    let Some((figure, (what, rest))) = verdict
        .figure
        .as_ref()
        .and_then(|figure| Some((figure, verdict.sentence.split_once(figure.as_str())?)))
    else {
        return html! { li { (ended(&verdict.sentence)) } };
    };
    let long = figure.split_once(' ').filter(|(_, unit)| unit.chars().count() > UNIT_LETTERS_MOST);
    let (number, unit) = long.map_or((figure.as_str(), None), |(number, unit)| (number, Some(unit)));
    html! {
        li {
            span.what { (what.trim_end_matches([':', ' '])) }
            " "
            strong { (number) @if let Some(unit) = unit { " " small { (unit) } } }
            span.rest { (rest.trim_start_matches([',', ' '])) }
        }
    }
}

fn sentence(verdict: &Verdict) -> Markup {
    match verdict
        .figure
        .as_ref()
        .and_then(|figure| Some((figure, verdict.sentence.split_once(figure.as_str())?)))
    {
        Some((figure, (before, after))) => html! { (kept(before)) strong { (figure) } (ended(after)) },
        None => html! { (ended(&verdict.sentence)) },
    }
}

pub(super) fn ended(sentence: &str) -> String {
    format!("{}.", kept(sentence.trim_end_matches('.')))
}

/// A per cent sign stays with its figure.
fn kept(sentence: &str) -> String {
    sentence.replace(" %", "\u{a0}%")
}
