//! Verdicts on the page: large figures first, then findings, then what speaks against them.

use maud::{Markup, html};
use record::State;

use crate::format;
use crate::rules::{self, Rule};
use crate::summary::{is_headline, small};
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

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
    list_but(verdicts, &[], &html! {})
}

/// The list without the findings that the page already shows, and with the cards of invalid trials.
pub(crate) fn list_but(verdicts: &[Verdict], printed: &[usize], invalid: &Markup) -> Markup {
    let of = |level: Level| verdicts.iter().filter(move |verdict| verdict.level == level);
    let rates = of(Level::Finding).filter(|verdict| is_headline(verdict)).count();
    let is_large =
        |verdict: &Verdict| is_headline(verdict) && verdict.fact.figure.is_some() && rates <= FIGURES_MOST;
    let large: Vec<&Verdict> = of(Level::Finding).filter(|verdict| is_large(verdict)).collect();
    let small: Vec<&Verdict> = verdicts
        .iter()
        .enumerate()
        .filter(|(place, verdict)| verdict.level == Level::Finding && !printed.contains(place))
        .map(|(_, verdict)| verdict)
        .filter(|verdict| !is_large(verdict))
        .collect();
    let failures: Vec<&Verdict> = of(Level::Failure).collect();
    let warnings: Vec<&Verdict> = of(Level::Warning).collect();
    let notes: Vec<&Verdict> = of(Level::Note).collect();
    html! {
        (doubts(&failures))
        @if !large.is_empty() {
            ul.figures { @for verdict in &large { (figure(verdict, &of_some(&large, verdicts))) } (invalid) }
        } @else if !invalid.0.is_empty() {
            ul.figures { (invalid) }
        }
        @if !small.is_empty() {
            ul.findings { @for verdict in small { li { (finding(verdict)) } } }
        }
        @if !warnings.is_empty() { div id=(WARNINGS) { (doubts(&warnings)) } }
        @if notes.len() > NOTES_OPEN_MOST {
            details.notes { summary { (notes_inside(&notes)) } (doubts(&notes)) }
        } @else {
            (doubts(&notes))
        }
        @if verdicts.is_empty() { p { "Nothing was measured." } }
    }
}

/// What speaks against the figures, each with its level, its name and a link to the text of its rule.
fn doubts(verdicts: &[&Verdict]) -> Markup {
    html! {
        @if !verdicts.is_empty() {
            ul.doubts {
                @for verdict in verdicts {
                    li class=(verdict.level.word()) {
                        b { (verdict.level.word()) }
                        span { (kept(&verdict.sentence())) " " (rule_link(&verdict.rule)) }
                    }
                }
            }
        }
    }
}

/// The id of a rule in brackets, which leads to its text where there is one.
fn rule_link(id: &str) -> Markup {
    html! {
        @match rules::of(id) {
            Some(_) => a.rule href={ "#rule-" (id) } { "[" (id) "]" },
            None => span.rule { "[" (id) "]" },
        }
    }
}

/// The texts of the rules that the verdicts come from, as `prony explain` prints them; none where no rule has a text.
pub(crate) fn rules_of(verdicts: &[Verdict]) -> Option<Markup> {
    let mut used: Vec<&Rule> = Vec::new();
    for verdict in verdicts.iter().filter(|verdict| verdict.level != Level::Finding) {
        used.extend(rules::of(&verdict.rule).filter(|rule| !used.contains(rule)));
    }
    let one = |rule: &Rule| {
        html! {
            dt id={ "rule-" (rule.id) } { (rule.name) " " span.rule { "[" (rule.id) "]" } }
            dd {
                p { (rule.means) }
                p { b { "Computed" } " " (rule.computed) }
                @if let Some(source) = &rule.source { p { b { "Source" } " " (source) } }
                @if let Some(action) = &rule.action { p { b { "Do" } " " (action) } }
            }
        }
    };
    (!used.is_empty()).then(|| html! { dl.rules { @for rule in used { (one(rule)) } } })
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

/// The name of a verdict's rule within a sentence: `not steady`.
fn in_words(verdict: &Verdict) -> String {
    small(&rules::name(&verdict.rule))
}

/// Doubts about some of these figures. A doubt about all of them is in the list of warnings only.
fn of_some<'a>(large: &[&Verdict], verdicts: &'a [Verdict]) -> Vec<&'a Verdict> {
    let mut trials: Vec<u32> = large.iter().flat_map(|verdict| verdict.trials.clone()).collect();
    trials.sort_unstable();
    trials.dedup();
    let is_of_all =
        |doubt: &&Verdict| large.len() > 1 && trials.iter().all(|trial| doubt.trials.contains(trial));
    verdicts.iter().filter(|doubt| !is_of_all(doubt)).collect()
}

/// What speaks against the figure of these trials, each in a few words, with how much of it there is in a single trial, or in
/// how many of several.
fn marks(of: &Verdict, verdicts: &[&Verdict]) -> Vec<String> {
    let speaks = |doubt: &&Verdict| {
        matches!(doubt.level, Level::Failure | Level::Warning)
            && doubt.trials.iter().any(|trial| of.trials.contains(trial))
    };
    let mut marks: Vec<(String, Vec<&Verdict>)> = Vec::new();
    for doubt in verdicts.iter().copied().filter(speaks) {
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
fn figure(verdict: &Verdict, verdicts: &[&Verdict]) -> Markup {
    let Some(figure) = &verdict.fact.figure else {
        return html! { li { (kept(&verdict.sentence())) } };
    };
    let what = format!("{}{}", verdict.head(), verdict.fact.before);
    let rest = rest_of(verdict);
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

/// A card for each trial whose figure does not count. The figure is struck out, and the reason is below it.
pub(crate) fn invalid(trials: &[Trial]) -> Markup {
    let invalid = trials.iter().filter(|trial| trial.state == State::Invalid);
    html! {
        @for trial in invalid {
            li.invalid {
                span.what { (trial.name) }
                @if let Some(rate) = trial.shown().rate(trial) { strong { s { (rate) } } }
                span.marks { b { "Invalid" } @if let Some(reason) = &trial.reason { " " (ended(reason)) } }
            }
        }
    }
}

/// What follows the figure: the rest of the fact, the limit, and the effect.
fn rest_of(verdict: &Verdict) -> String {
    let limit = verdict.limit.as_ref().map(|limit| format!(" ({limit})")).unwrap_or_default();
    let effect = verdict.effect.as_ref().map(|effect| format!(". {}", format::capital(effect)));
    format!("{}{limit}{}", verdict.fact.after, effect.unwrap_or_default())
}

/// A finding with its figure in bold letters.
fn finding(verdict: &Verdict) -> Markup {
    match &verdict.fact.figure {
        Some(figure) => html! {
            (kept(&verdict.head())) (kept(&verdict.fact.before)) strong { (figure) }
            (ended(&rest_of(verdict)))
            @if let Some(action) = &verdict.action { " " (ended(&format::capital(action))) }
        },
        None => html! { (kept(&verdict.sentence())) },
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

/// A time's unit stays with its figure.
fn kept(sentence: &str) -> String {
    sentence.replace(" µs", "\u{a0}µs").replace(" ms", "\u{a0}ms")
}
