//! Charts as inline SVG, drawn once for light, dark and print: colours are CSS variables of the page.
//!
//! Lines are labelled where they end, not in a legend. Each chart carries a title and a description for those who
//! do not see it, and its figures as a table. A chart draws what the model holds and computes no figure.

mod bins;
mod canvas;
mod comparison;
mod frame;
mod histogram;
mod historian;
mod label;
mod orders;
mod over_time;
mod reduce;
mod rounds;
mod scale;
mod search;
mod strip;
mod sweep;

pub(crate) use bins::Bins;
pub(crate) use comparison::comparison;
pub(crate) use histogram::histogram;
pub(crate) use historian::historian;
pub(crate) use orders::orders;
pub(crate) use over_time::{latency, throughput};
pub(crate) use reduce::spans;
pub(crate) use rounds::rounds;
pub(crate) use search::{flush_rows, search};
pub(crate) use strip::{courses, order_strip, strip};
pub(crate) use sweep::sweeps;

use crate::table::Table;

/// A drawn chart and what stands around it.
pub(crate) struct Chart {
    /// Heading above it.
    pub(crate) heading: String,
    /// The `<svg>` element.
    pub(crate) svg: String,
    /// What a reader must know to read it.
    pub(crate) caption: String,
    /// Its figures.
    pub(crate) table: Table,
}

/// The colour of a kind of operation, the same in all charts.
fn ink_of(kind: &str) -> canvas::Ink {
    canvas::Ink::Series(match kind {
        "read" | crate::model::RECORD | crate::model::COMMIT | record::orders::ORDER => 0,
        "write" | record::orders::PURCHASE => 1,
        crate::model::FLUSH => 2,
        _ => 3,
    })
}
