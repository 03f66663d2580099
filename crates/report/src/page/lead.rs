//! The first screen of a page: large figures, then the text beside the main chart.

use maud::{Markup, html};

use super::{parts, verdicts};
use crate::chart::Chart;
use crate::lead::{Tile, Tone};
use crate::summary::Reliability;

/// The large figures. An empty list gives no markup.
pub(crate) fn tiles(tiles: &[Tile]) -> Markup {
    html! {
        @if !tiles.is_empty() {
            ul.tiles { @for tile in tiles { (self::tile(tile)) } }
        }
    }
}

fn tile(tile: &Tile) -> Markup {
    let class = match tile.tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Invalid => Some("invalid"),
    };
    let figure = html! { (tile.figure) @if !tile.unit.is_empty() { small { " " (tile.unit) } } };
    html! {
        li class=[class] {
            span.what { (tile.label) }
            strong { @if tile.tone == Tone::Invalid { s { (figure) } } @else { (figure) } }
            @if !tile.beside.is_empty() { span.rest { (tile.beside) } }
        }
    }
}

/// The reliability of the figures, as one line in one of three colours. `reason` starts with a colon, or is empty.
pub(crate) fn reliability(trust: Reliability, reason: &str, more: &Markup) -> Markup {
    html! {
        p class={ "reliability " (trust.word()) } { b { "Reliability " (trust.word()) } (verdicts::ended(reason)) " " (more) }
    }
}

/// The text, with the chart beside it if the page is wide enough.
pub(crate) fn beside(said: &Markup, chart: Option<&Chart>) -> Markup {
    html! {
        @match chart {
            Some(chart) => div.lead { (said) (parts::figure(chart)) },
            None => (said),
        }
    }
}
