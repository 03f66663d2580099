//! Markdown: what a comment shows, that it fits, and that what others wrote is nothing but text in it.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};
use record::shown;

use super::{CHARACTERS_MOST, Markdown};
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::tests::comparison::placements;

#[test]
fn markdown_of_a_study() {
    let report = Report::of(&placements()).stored_in(std::path::Path::new("/srv/prony/1"));
    insta::assert_snapshot!(report.markdown());
}

#[test]
fn markdown_of_a_run() {
    insta::assert_snapshot!(Report::of(&crate::tests::quick()).markdown());
}

fn table(cell: &str, rows: usize) -> Table {
    let columns = vec![Column::words("what"), Column::number("IOPS"), Column::words(cell.to_owned())];
    let row = || Row::of(vec![cell.to_owned(), "1,000".to_owned(), cell.to_owned()]);
    Table { title: cell.to_owned(), columns, rows: (0..rows).map(|_| row()).collect() }
}

#[test]
fn what_a_comment_cannot_hold_is_left_out_and_counted() {
    let mut markdown = Markdown::under("long");
    markdown.grid(&table("a cell", 10_000));
    markdown.folded("more", |inside| inside.grid(&table("a cell", 10)));
    markdown.paragraph("Nobody reads this");
    let text = markdown.finish();
    assert!(text.chars().count() < 65_536 && text.chars().count() > CHARACTERS_MOST - 100);
    let rows = text.lines().filter(|line| line.starts_with("| a cell")).count();
    assert!(text.contains(&format!("{} more rows are omitted", 10_000 - rows)), "{}", &text[59_000..]);
    assert!(text.ends_with("2 more parts are omitted: a comment has a maximum length.\n"));
}

/// Texts, of each cell of a table by itself, and the HTML between them; anything else is a format that nobody meant.
fn read(markdown: &str) -> Result<Vec<String>, String> {
    let mut texts = vec![String::new()];
    for event in Parser::new_ext(markdown, of_github()) {
        match event {
            Event::Text(text) => texts.last_mut().unwrap().push_str(&text),
            Event::Start(Tag::TableCell | Tag::Paragraph | Tag::Item | Tag::Heading { .. }) => {
                texts.push(String::new());
            }
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::List(None))
            | Event::End(_) => {}
            Event::InlineHtml(html) if *html == *super::NOTHING => {}
            other => return Err(format!("{other:?} in {markdown:?}")),
        }
    }
    texts.retain(|text| !text.trim().is_empty());
    Ok(texts)
}

/// What GitHub knows beside CommonMark.
fn of_github() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
}

/// What means something to Markdown, HTML or GitHub, a piece between two spaces.
const SIGNS: &str = "| \\ ` `` * ** _ ~~ [x](y) ![x](y) <b> </details> <!-- --> &lt; &#124; @team #12 https://x.y www.x.y a@b.de :+1: \
                     - 1. 1) + # --- === > $x$ [^1] [ ] {.x} ~2~ [[x]] = : ! a µ";
/// The same of what is or may become white.
const WHITE: [&str; 8] = [" ", "    ", "\n", "\n\n", "\r\n", "\t", "\u{202e}", "\x1b[31m"];

fn spiteful() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = SIGNS.split_whitespace().chain(WHITE).collect();
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_others_wrote_is_text_and_keeps_its_cell(text in prop_oneof![spiteful(), ".{0,40}"]) {
        let expected = shown(&text).trim().to_owned();
        let mut markdown = Markdown::under("x");
        markdown.grid(&table(&text, 1));
        let cells = read(&markdown.finish()).map_err(TestCaseError::fail)?;
        let cells: Vec<String> = cells.iter().map(|cell| cell.trim().to_owned()).collect();
        let mut wanted = vec!["x", "what", "IOPS", &expected, &expected, "1,000", &expected];
        wanted.retain(|text| !text.is_empty());
        prop_assert_eq!(cells, wanted);
        let mut markdown = Markdown::under(&format!("x{text}"));
        markdown.paragraph(&text);
        markdown.list(&[text.clone(), format!("x{text}")]);
        let written = markdown.finish();
        let texts = read(&written).map_err(TestCaseError::fail)?;
        let sentence = |text: &str| shown(text.trim_end_matches('.')).trim().to_owned() + ".";
        let wanted = [shown(&format!("x{text}")).trim().to_owned(), sentence(&text), sentence(&text), sentence(&format!("x{text}"))];
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        prop_assert_eq!(texts, wanted, "{}", written);
        for link in ["@team", "#12", "://", "www.x", ":+1:"] {
            prop_assert!(!written.contains(link), "{} in {}", link, written);
        }
    }
}
