//! Verdicts as a reader meets them: the figures first, then the sentences, then what speaks against them.

use maud::{Markup, html};

use crate::format;
use crate::verdict::{Level, Verdict};
use crate::workloads;

/// More figures than this are no headline.
const FIGURES_MOST: usize = 12;

/// With more notes than this, they are folded.
const NOTES_OPEN_MOST: usize = 2;

/// Units with more letters do not fit a card beside a large number.
const UNIT_LETTERS_MOST: usize = 4;

/// Where the warnings stand on the page.
pub(crate) const WARNINGS: &str = "warnings";

/// Warnings that a list shows.
pub(crate) fn warnings(verdicts: &[Verdict]) -> usize {
    verdicts.iter().filter(|verdict| verdict.level == Level::Warning).count()
}

pub(crate) fn list(verdicts: &[Verdict]) -> Markup {
    list_but(verdicts, &[])
}

/// The list without the findings that were told already, word for word.
pub(crate) fn list_but(verdicts: &[Verdict], told: &[String]) -> Markup {
    let (findings, doubts): (Vec<&Verdict>, Vec<&Verdict>) =
        verdicts.iter().partition(|verdict| verdict.level == Level::Finding);
    let is_rate = |verdict: &Verdict| {
        workloads::all().any(|(_, shown)| shown.words().headlines.contains(&verdict.rule.as_str()))
    };
    let rates = findings.iter().filter(|verdict| is_rate(verdict)).count();
    let (large, small): (Vec<&Verdict>, Vec<&Verdict>) = findings
        .into_iter()
        .partition(|verdict| is_rate(verdict) && verdict.figure.is_some() && rates <= FIGURES_MOST);
    let small: Vec<&Verdict> =
        small.into_iter().filter(|verdict| !told.contains(&verdict.sentence)).collect();
    let (failures, doubts): (Vec<&Verdict>, Vec<&Verdict>) =
        doubts.into_iter().partition(|verdict| verdict.level == Level::Failure);
    let (warnings, notes): (Vec<&Verdict>, Vec<&Verdict>) =
        doubts.into_iter().partition(|verdict| verdict.level == Level::Warning);
    html! {
        (sentences(&failures))
        @if !large.is_empty() {
            ul.figures { @for verdict in large { (figure(verdict, verdicts)) } }
        }
        @if !small.is_empty() {
            ul.findings { @for verdict in small { li { (sentence(verdict)) } } }
        }
        @if !warnings.is_empty() { div id=(WARNINGS) { (sentences(&warnings)) } }
        @if notes.len() > NOTES_OPEN_MOST {
            details.notes { summary { (notes_inside(&notes)) } (sentences(&notes)) }
        } @else {
            (sentences(&notes))
        }
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

/// `5 notes: closed loop, no purge, steal`.
fn notes_inside(notes: &[&Verdict]) -> String {
    let mut rules: Vec<String> = Vec::new();
    for note in notes {
        let rule = in_words(note);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    format!("{}: {}", format::counted(notes.len(), "note", "notes"), rules.join(", "))
}

/// The rule of a verdict as words: `not steady`.
fn in_words(verdict: &Verdict) -> String {
    match verdict.rule.as_str() {
        "ended_early" => "invalid or not complete".to_owned(),
        rule => rule.replace('_', " "),
    }
}

/// What speaks against the figure of these trials, each in a few words, with how much of it there is in a single trial, or in
/// how many of several.
fn marks(of: &Verdict, verdicts: &[Verdict]) -> Vec<String> {
    let speaks = |doubt: &&Verdict| {
        matches!(doubt.level, Level::Failure | Level::Warning)
            && doubt.trials.iter().any(|trial| of.trials.contains(trial))
    };
    let mut marks: Vec<(String, Vec<&Verdict>)> = Vec::new();
    for doubt in verdicts.iter().filter(speaks) {
        let words = in_words(doubt);
        match marks.iter_mut().find(|(other, _)| *other == words) {
            Some((_, alike)) => alike.push(doubt),
            None => marks.push((words, vec![doubt])),
        }
    }
    let mark = |(words, alike): &(String, Vec<&Verdict>)| match of.trials.as_slice() {
        [only] => match alike.iter().find_map(|doubt| doubt.raised.get(only)) {
            Some(figure) => format!("{words} {figure}"),
            None => words.clone(),
        },
        all => {
            let hit = |trial: &&u32| alike.iter().any(|doubt| doubt.trials.contains(trial));
            format!("{words} in {} of {} trials", all.iter().filter(hit).count(), all.len())
        }
    };
    marks.iter().map(|mark_of| unbroken(&mark(mark_of))).collect()
}

/// A verdict around its figure: what it is about, the figure, the rest of the sentence, what speaks against it.
fn figure(verdict: &Verdict, verdicts: &[Verdict]) -> Markup {
    let Some((figure, (what, rest))) = verdict
        .figure
        .as_ref()
        .and_then(|figure| Some((figure, verdict.sentence.split_once(figure.as_str())?)))
    else {
        return html! { li { (ended(&verdict.sentence)) } };
    };
    let long = figure.split_once(' ').filter(|(_, unit)| unit.chars().count() > UNIT_LETTERS_MOST);
    let (number, unit) = long.map_or((figure.as_str(), None), |(number, unit)| (number, Some(unit)));
    let marks = marks(verdict, verdicts);
    html! {
        li.doubted[!marks.is_empty()] {
            span.what { (what.trim_end_matches([':', ' '])) }
            " "
            strong { (number) @if let Some(unit) = unit { " " small { (unit) } } }
            span.rest { (kept(rest.trim_start_matches([',', ' ']))) }
            @if !marks.is_empty() {
                span.marks { b { "Warnings" } " " (marks.join(", ")) }
            }
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

/// A sentence with its full stop.
pub(crate) fn ended(sentence: &str) -> String {
    format!("{}.", kept(sentence.trim_end_matches('.')))
}

/// A few words that stay on one line.
fn unbroken(words: &str) -> String {
    words.replace(' ', "\u{a0}")
}

/// A per cent sign stays with its figure, and so does a time's unit.
fn kept(sentence: &str) -> String {
    sentence.replace(" %", "\u{a0}%").replace(" µs", "\u{a0}µs").replace(" ms", "\u{a0}ms")
}
