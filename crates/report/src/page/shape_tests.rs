//! The page's shape: what is open and what is folded, what colours and axes say, what a card is marked with, what paper shows.

use std::collections::BTreeSet;

use super::tests::pages;
use crate::report::Report;
use crate::tests;

/// A page without what is folded: the summaries of closed details stay.
fn unfolded(page: &str) -> String {
    let (mut shown, mut closed, mut open) = (String::new(), 0usize, Vec::new());
    for piece in page.split_inclusive('>') {
        if let Some(at) = piece.find("<details") {
            let is_open = piece[at..].contains(" open");
            open.push(is_open);
            closed += usize::from(!is_open);
            continue;
        }
        if piece.ends_with("</details>") {
            closed -= usize::from(open.pop() == Some(false));
            continue;
        }
        if closed == 0 {
            shown.push_str(piece);
        }
    }
    assert!(open.is_empty());
    shown
}

/// Five screens of 900 lines hold about as much as this; Chromium counted 4.7 of a check.
#[test]
fn a_check_shows_its_answer_and_folds_what_it_rests_on() {
    let page = Report::of(&tests::historian::check()).html();
    let shown = unfolded(&page);
    let count = |what: &str| shown.matches(what).count();
    assert!(count("<figure>") <= 2, "{} charts", count("<figure>"));
    assert!(count("<table") <= 3, "{} tables", count("<table"));
    assert!(count("<tr") <= 30, "{} rows", count("<tr"));
    assert!(page.matches("<table").count() > 10, "what is folded is there");
    for folded in ["environment", "settings", "method", "raw"] {
        let (_, section) = page.split_once(&format!("<section id=\"{folded}\">")).unwrap();
        assert!(section.starts_with("<details class=\"fold\"><summary><h2>"), "{folded}");
        let (summary, _) = section.split_once("</summary>").unwrap();
        let (_, inside) = summary.split_once("class=\"rest\">").unwrap();
        assert!(inside.len() > "</span>".len(), "{folded} says what is inside");
    }
}

#[test]
fn a_title_says_what_was_measured_on_what_where_and_when() {
    let page = Report::of(&tests::quick()).html();
    let (_, rest) = page.split_once("<title>").unwrap();
    let (title, _) = rest.split_once("</title>").unwrap();
    for part in ["/data", " on ", "nvme0n1", "2026-11-2"] {
        assert!(title.contains(part), "{part} in {title}");
    }
    let (_, rest) = page.split_once("<h1>").unwrap();
    assert!(rest.split_once("</h1>").unwrap().0.contains("/data"));
}

/// Nine of ten figures of a check were unsteady once, and no card of it showed that.
#[test]
fn a_card_whose_trial_is_warned_of_says_why() {
    let page = Report::of(&tests::quick()).html();
    let card = |name: &str| {
        let (_, rest) = page.split_once("<ul class=\"figures\">").unwrap();
        let (cards, _) = rest.split_once("</ul>").unwrap();
        cards.split("</li>").find(|card| card.contains(name)).unwrap().to_owned()
    };
    let noisy = card("RND4K Q1T1 write");
    assert!(noisy.contains("class=\"doubted\"") && noisy.contains("noisy\u{a0}11%"), "{noisy}");
    assert!(noisy.contains("not\u{a0}steady\u{a0}23%"), "{noisy}");
    let steady = card("SEQ1M Q8T1 read");
    assert!(!steady.contains("doubted") && !steady.contains("Warnings"), "{steady}");
}

/// A scan was `1,704 MB/s` on its card and `3,251 IOPS` in the list of trials.
#[test]
fn the_list_of_trials_has_the_unit_of_the_cards() {
    let page = Report::of(&tests::quick()).html();
    assert!(page.contains("1. SEQ1M Q8T1 read</h3><span class=\"rest\">2,515 MB/s</span>"));
    assert!(page.contains("3. RND4K Q1T1 write</h3><span class=\"rest\">812 IOPS</span>"));
}

/// A step of a search that failed was listed with what was written, as if that had been the rate.
#[test]
fn a_step_that_was_not_held_tells_what_was_offered() {
    let page = Report::of(&tests::historian::search()).html();
    let of = |word: &str| {
        let ending = format!(" offered, {word}</span>");
        page.split("<span class=\"rest\">")
            .filter(|rest| rest.split_once("</summary>").is_some_and(|(rest, _)| rest.ends_with(&ending)))
            .count()
    };
    assert!(of("not sustained") > 0 && of("sustained") > 0);
    assert!(!page.contains("records/s, not held</span>"));
}

/// `stroke="var(--series-2)"` of lines and areas, without texts.
fn inks(svg: &str, texts: bool) -> BTreeSet<&str> {
    let elements = svg.split('<').filter(|element| element.starts_with("text") == texts);
    elements
        .flat_map(|element| element.split("var(--").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|ink| ink.starts_with("series-"))
        .collect()
}

#[test]
fn colours_of_a_chart_are_explained_by_a_text_or_a_legend() {
    let mut several = 0;
    for figure in pages().iter().flat_map(|page| page.split("<figure>").skip(1)) {
        let (drawn, rest) = figure.split_once("</svg>").unwrap();
        let (legend, _) = rest.split_once("<figcaption>").unwrap();
        let used = inks(drawn, false);
        if used.len() > 1 {
            several += 1;
            let named = inks(drawn, true);
            let unnamed: Vec<&&str> = used
                .iter()
                .filter(|ink| !named.contains(**ink) && !legend.contains(&format!("--{ink})")))
                .collect();
            assert!(unnamed.is_empty(), "{unnamed:?} in {}", &drawn[..drawn.len().min(300)]);
        }
    }
    assert!(several > 20, "{several} charts with several colours");
}

#[test]
fn tables_scroll_in_a_box_of_their_own_with_a_cue() {
    for page in pages() {
        assert_eq!(page.matches("<table").count(), page.matches("<div class=\"scroll").count());
        assert!(!page.contains("<caption>") || page.contains("<caption><span>"));
    }
    let (_, rest) = super::STYLE.split_once("\n.scroll {").unwrap();
    let (rule, _) = rest.split_once("\n}").unwrap();
    assert!(rule.contains("overflow-x: auto") && rule.contains("local") && rule.contains("scroll;"));
}

#[test]
fn paper_shows_what_is_folded_and_cuts_nothing() {
    let (_, print) = super::STYLE.split_once("@media print").unwrap();
    for rule in [
        "details::details-content { content-visibility: visible",
        "thead { display: table-header-group",
        "break-after: avoid",
        "break-inside: avoid",
        "overflow: visible",
        "white-space: normal",
    ] {
        assert!(print.contains(rule), "{rule}");
    }
    assert!(pages().iter().all(|page| page.contains("class=\"paper meta\"")));
}

/// Findings stood under the title and word for word again right below it.
#[test]
fn a_finding_is_told_once() {
    let report = Report::of(&tests::sweep());
    let finding = report.verdicts.iter().find(|verdict| verdict.rule == "tolerance").unwrap();
    let plain = report.html().replace("<strong>", "").replace("</strong>", "").replace('\u{a0}', " ");
    let whole = finding.sentence();
    assert_eq!(plain.matches(whole.as_str()).count(), 1, "{whole}");
    let answer = crate::summary::Summary::of(&report).answers.remove(0).text;
    assert_eq!(plain.matches(&format!("{answer}.")).count(), 1, "{answer}");
}

/// Five steps of a search that did not count were five times the same words on its card.
#[test]
fn a_card_counts_trials_of_one_doubt_together() {
    let mut study = tests::historian::search();
    for trial in study.trials.iter_mut().skip(1).take(2) {
        trial.trial.state = record::State::Invalid;
        trial.trial.reason = Some("client-limited".to_owned());
    }
    let page = Report::of(&study).html();
    let (_, marks) = page.split_once("class=\"marks\">").unwrap();
    let (marks, _) = marks.split_once("</span>").unwrap();
    assert_eq!(marks.matches("ended\u{a0}early").count(), 1, "{marks}");
    assert!(marks.contains("in\u{a0}3\u{a0}of\u{a0}22"), "{marks}");
}

/// One of the ten tests of a check was invalid, and its card was once missing.
#[test]
fn a_trial_that_does_not_count_has_a_card_that_is_struck_out() {
    let mut study = tests::quick();
    let trial = &mut study.trials[1].trial;
    (trial.state, trial.reason) = (record::State::Invalid, Some("the page cache answered".to_owned()));
    let page = Report::of(&study).html();
    let (_, cards) = page.split_once("<ul class=\"figures\">").unwrap();
    let (_, card) = cards.split_once("<li class=\"invalid\">").unwrap();
    let (card, _) = card.split_once("</li>").unwrap();
    assert!(card.contains("<strong><s>") && card.contains("the page cache answered"), "{card}");
}

#[test]
fn tables_of_many_letters_have_smaller_ones() {
    use super::parts::table;
    use crate::table::{Column, Row, Table};
    let class = |columns: usize, letters: usize| {
        let cells = vec!["1".repeat(letters); columns];
        let heads = vec![Column::number("head"); columns];
        let of = Table { title: "t".to_owned(), columns: heads, rows: vec![Row::of(cells)] };
        let markup = table(&of).0;
        ["narrow", "widest", "wide"]
            .into_iter()
            .find(|class| markup.contains(&format!("class=\"scroll {class} short\"")))
            .expect(&markup)
    };
    assert_eq!(
        [class(3, 10), class(10, 3), class(8, 14), class(12, 12)],
        ["narrow", "wide", "wide", "widest"]
    );
}
