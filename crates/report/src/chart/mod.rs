//! Charts as inline SVG, drawn once for light, dark and print: colours are CSS variables of the page.
//!
//! Lines are labelled where they end, not in a legend. Each chart carries a title and a description for those who
//! do not see it, and its figures as a table. A chart draws what the model holds and computes no figure.

pub(crate) mod canvas;
pub(crate) mod frame;
pub(crate) mod histogram;
pub(crate) mod label;
pub(crate) mod machine;
pub(crate) mod over_time;
pub(crate) mod reduce;
pub(crate) mod scale;
pub(crate) mod strip;

pub(crate) use histogram::histogram;
pub(crate) use reduce::spans;

use crate::table::Table;
use crate::trial::Trial;

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

/// The colour of a kind of operation, the same in all charts of its workload.
fn ink_of(trial: &Trial, kind: &str) -> canvas::Ink {
    canvas::Ink::Series(trial.shown().ink(kind))
}
