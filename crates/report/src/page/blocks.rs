//! The blocks of a section on the page.

use maud::{Markup, html};

use super::parts;
use crate::section::Block;

pub(crate) fn all(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

fn one(block: &Block) -> Markup {
    match block {
        Block::Main { table, legend } => html! {
            (parts::long_table(table))
            @if !legend.is_empty() { p.meta { (legend) "." } }
        },
        Block::Table(table) => parts::long_table(table),
        Block::Beside { table, measured } => parts::table_marked(table, *measured),
        Block::Folded { summary, table } | Block::OnPage { summary, table } => html! {
            details { summary { (summary) } (parts::table(table)) }
        },
        Block::Outcomes { table, classes } => html! {
            h3 { (table.title) }
            ul.doubts {
                @for (row, class) in table.rows.iter().zip(classes) {
                    @if let [what, outcome, why] = row.cells.as_slice() {
                        li class=(class) { b { (outcome) } span { (what) " – " (why) "." } }
                    }
                }
            }
        },
        Block::Remark(text) => html! { p.meta { (text) } },
        Block::Notes { sentences, sources } => html! {
            ul.plain {
                @for sentence in sentences { li { (sentence.trim_end_matches('.')) "." } }
                @for source in sources { li.meta { "Source: " (source) } }
            }
        },
    }
}
