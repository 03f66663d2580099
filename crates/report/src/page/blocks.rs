//! The blocks of a section on the page.

use maud::{Markup, html};

use super::parts;
use crate::section::Block;

pub(crate) fn all(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

/// The table that comes first with what is said of it, and what held or not; all else is folded together.
pub(crate) fn first(blocks: &[Block]) -> Markup {
    let table = blocks.iter().position(|block| block.title().is_some()).map_or(0, |first| first + 1);
    let said = |block: &&Block| matches!(block, Block::Remark(_) | Block::Notes { .. });
    let end = table + blocks[table..].iter().take_while(said).count();
    let (shown, rest) = blocks.split_at(end);
    let (outcomes, more): (Vec<&Block>, Vec<&Block>) =
        rest.iter().partition(|block| matches!(block, Block::Outcomes { .. }));
    html! {
        (all(shown))
        @for block in outcomes { (one(block)) }
        @match more.as_slice() {
            [] => {}
            [Block::Folded { .. } | Block::OnPage { .. }] => (one(more[0])),
            _ => details.more {
                summary { (titles(more.iter().copied())) }
                @for block in &more { (one(block)) }
            },
        }
    }
}

/// `Percentiles of each trial; Operations of an order`.
pub(crate) fn titles<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
    blocks.into_iter().filter_map(Block::title).collect::<Vec<&str>>().join("; ")
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
