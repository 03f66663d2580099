//! Pieces that all sections share: tables, charts, lists of facts.

use maud::{Markup, PreEscaped, html};

use crate::chart::Chart;
use crate::table::{Column, Row, Table};

/// A table with its title as caption, in a box that scrolls by itself where the page is narrow.
pub(crate) fn table(table: &Table) -> Markup {
    table_marked(table, 0)
}

/// A table of as many rows is not broken over two sheets of paper.
const ROWS_TOGETHER: usize = 14;

/// Letters per row. At the first limit, a table is too wide for 1,280 pixels and gets smaller letters. At the second, cells also wrap.
const LETTERS_WIDE: usize = 120;
const LETTERS_WIDEST: usize = 145;
/// A table with at least this many columns is wide even if its cells are short.
const COLUMNS_WIDE: usize = 10;
/// Text cells wrap beyond this number of letters.
const WORDS_MOST: usize = 20;

/// Class of a table by the total width of its widest cells.
fn width(table: &Table) -> &'static str {
    let cells = |index: usize| table.rows.iter().filter_map(move |row| row.cells.get(index));
    let widest = |(index, column): (usize, &Column)| {
        let letters = cells(index).map(|cell| cell.chars().count()).max().unwrap_or(0);
        (if column.text { letters.min(WORDS_MOST) } else { letters }) + 2
    };
    match table.columns.iter().enumerate().map(widest).sum::<usize>() {
        LETTERS_WIDEST.. => "widest",
        letters if letters >= LETTERS_WIDE || table.columns.len() >= COLUMNS_WIDE => "wide",
        _ => "narrow",
    }
}

/// Rows that a page shows without being asked.
pub(crate) const ROWS_MOST: usize = 60;

/// A table that is folded where it is very long.
pub(crate) fn long_table(of: &Table) -> Markup {
    html! {
        @if of.rows.len() > ROWS_MOST {
            details { summary { (of.title) ": " (crate::format::grouped(of.rows.len() as u64)) " rows" } (table(of)) }
        } @else {
            (table(of))
        }
    }
}

/// As [`table`], with the first rows marked as the measured ones.
pub(crate) fn table_marked(table: &Table, measured: usize) -> Markup {
    // The first column of words names the row.
    let name = table.columns.iter().position(|column| column.text).unwrap_or(0);
    html! {
        div.scroll.short[table.rows.len() <= ROWS_TOGETHER].(width(table)) tabindex="0" role="region" aria-label=(table.title) {
            table {
                caption { span { (table.title) } }
                thead {
                    tr {
                        @for column in &table.columns {
                            th.words[column.text] scope="col" title=[meaning(column.meaning)] { (column.head) }
                        }
                    }
                }
                tbody {
                    @for (index, row) in table.rows.iter().enumerate() {
                        (table_row(table, row, name, index < measured))
                    }
                }
            }
        }
    }
}

fn meaning(meaning: &'static str) -> Option<&'static str> {
    (!meaning.is_empty()).then_some(meaning)
}

fn table_row(table: &Table, row: &Row, name: usize, measured: bool) -> Markup {
    html! {
        tr.part[row.part].measured[measured] {
            @for (index, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
                @if index == name && !row.part {
                    th.words[column.text] scope="row" { (cell) }
                } @else {
                    td.words[column.text] { (cell) }
                }
            }
        }
    }
}

/// Charts in pairs, each with its caption and its figures.
pub(crate) fn charts(charts: &[Chart]) -> Markup {
    html! { div.charts { @for chart in charts { (figure(chart)) } } }
}

/// Charts in threes.
pub(crate) fn small_charts(charts: &[Chart]) -> Markup {
    html! { div.charts.small { @for chart in charts { (figure(chart)) } } }
}

pub(crate) fn figure(chart: &Chart) -> Markup {
    html! {
        figure {
            h4 { (chart.heading) }
            (PreEscaped(&chart.svg))
            @if !chart.legend.is_empty() {
                ul.legend {
                    @for key in &chart.legend {
                        li { span.key style={ "background:var(--" (key.ink.variable()) ")" } {} (key.text) }
                    }
                }
            }
            figcaption { (chart.caption) }
            details { summary { "Figures of this chart" } (table(&chart.table)) }
        }
    }
}

/// Names and values.
pub(crate) fn facts(title: &str, facts: &[(String, String)]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table.facts {
                caption { span { (title) } }
                tbody {
                    @for (name, value) in facts { tr { th scope="row" { (name) } td { (value) } } }
                }
            }
        }
    }
}

/// A text whose ends of lines mean what they are. They stand as references, since one that stands as itself is shown like
/// every other control character.
pub(crate) fn text_of_lines(text: &str) -> Markup {
    html! { pre { @for line in text.lines() { (line) (PreEscaped("&#10;")) } } }
}

/// A time that the reader sees in the browser's time zone, and in UTC on hover. Without the script it is shown in UTC.
pub(crate) fn instant(text: &str) -> Markup {
    let shown = instant_text(text);
    html! {
        @match parsed(text) {
            Some((day, clock)) => time datetime={ (day) "T" (clock) "Z" } title={ (day) " " (clock) " UTC" } { (shown) },
            None => (shown),
        }
    }
}

/// `2026-11-21T07:44:08Z` as `2026-11-21 07:44 UTC`; another form is left as it is.
pub(crate) fn instant_text(text: &str) -> String {
    match parsed(text).and_then(|(day, clock)| Some((day, clock.get(..5)?))) {
        Some((day, minute)) => format!("{day} {minute} UTC"),
        None => text.to_owned(),
    }
}

/// Day and time of an instant in UTC: `2026-11-21` and `07:44:08`.
fn parsed(text: &str) -> Option<(&str, &str)> {
    let (day, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let is_number = |part: &str, length: usize, sign: char| {
        part.len() == length && part.chars().all(|letter| letter.is_ascii_digit() || letter == sign)
    };
    (is_number(day, 10, '-') && is_number(clock.get(..8)?, 8, ':')).then_some((day, &clock[..8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_utc_for_who_has_no_script_and_whole_for_the_script() {
        assert_eq!(
            instant("2026-11-21T07:44:08Z").0,
            "<time datetime=\"2026-11-21T07:44:08Z\" title=\"2026-11-21 07:44:08 UTC\">2026-11-21 07:44 UTC</time>"
        );
        assert_eq!(instant_text("2026-11-21T07:44:08.123Z"), "2026-11-21 07:44 UTC");
        for other in ["2026-11-21", "2026-11-21T07:44:08+01:00", "\"><b>T07:44:08Z", "", "Z", "éT"] {
            assert_eq!(instant_text(other), other);
            assert!(!instant(other).0.contains("<time") && !instant(other).0.contains("<b>"), "{other}");
        }
    }
}
