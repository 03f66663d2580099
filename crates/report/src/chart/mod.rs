//! Charts as inline SVG, drawn once for light, dark and print: colours are CSS variables of the page.
//!
//! Lines are labelled where they end, not in a legend. Each chart carries a title and a description for those who
//! do not see it, and its figures as a table. A chart draws what the model holds and computes no figure.

pub(crate) mod canvas;
pub(crate) mod frame;
pub(crate) mod histogram;
pub(crate) mod label;
pub(crate) mod over_time;
pub(crate) mod reduce;
pub(crate) mod scale;
pub(crate) mod strip;

pub(crate) use crate::comparison::chart::comparison;
pub(crate) use crate::disk::chart::rounds;
pub(crate) use crate::disk::sweep_chart::sweeps;
pub(crate) use crate::historian::chart::historian;
pub(crate) use crate::historian::search_chart::{flush_rows, search};
pub(crate) use crate::orders::chart::orders;
pub(crate) use histogram::histogram;
pub(crate) use over_time::{latency, throughput};
pub(crate) use reduce::spans;
pub(crate) use strip::{courses, order_strip, strip};

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
        "read" | record::historian::RECORD | record::historian::COMMIT | record::orders::ORDER => 0,
        "write" | record::orders::PURCHASE => 1,
        record::disk::FLUSH => 2,
        _ => 3,
    })
}
