//! How far something has come that takes long and is not measured: writing test files, loading rows, building indexes.
//!
//! Rate and time left follow from when each was told; whoever shows them has a clock, and this has none.

use serde::{Deserialize, Serialize};

/// What is done before, between and after measurements, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparation {
    /// What is done, such as `loading rows into prony_orders`. The same text is the same work.
    pub what: String,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do; none where that is not known.
    pub total: Option<u64>,
    /// What is counted.
    pub unit: Unit,
}

/// What a [`Preparation`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Rows of tables.
    Rows,
    /// Statements of a database; one takes longer than another.
    Statements,
    /// Things that are counted and compared; one takes longer than another.
    Checks,
    /// Nothing but time.
    Seconds,
}

impl Preparation {
    /// Something of which so much is done.
    #[must_use]
    pub fn new(what: impl Into<String>, done: u64, total: impl Into<Option<u64>>, unit: Unit) -> Self {
        Self { what: what.into(), done, total: total.into(), unit }
    }

    /// Something of which nothing can be said but that it goes on.
    #[must_use]
    pub fn waiting(what: impl Into<String>) -> Self {
        Self::new(what, 0, None, Unit::Seconds)
    }

    /// Whether nothing is left of it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.total == Some(self.done)
    }
}
