//! Statements of others: whatever SQL they are, sent as their user asks.

use serde::{Deserialize, Serialize};

use crate::Value;

/// How a statement is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// As one text with its values in it.
    Simple,
    /// Parsed anew each time, with its values beside it.
    Extended,
    /// Prepared once on each connection, with its values beside it.
    #[default]
    Prepared,
}

/// What is wanted of an answer; whatever comes is received to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// That it came.
    #[default]
    Nothing,
    /// The number of rows.
    Count,
    /// That, and the last row.
    Last,
}

/// What came of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Rows that came, or that were changed where none come; zero where nobody wanted to know.
    pub rows: u64,
    /// The last row, with the names of its columns, where it was wanted and there was one.
    pub last: Vec<(String, Value)>,
    /// Whether those are rows that came, of no columns perhaps; told by PostgreSQL, whose rows may have none.
    pub has_rows: bool,
}

/// Why a server refuses a statement that it reads and does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the server says.
    pub words: String,
    /// Lines of the statement before the one that the server means.
    pub lines_before: usize,
    /// What kind of mistake it is.
    pub mistake: Mistake,
}

/// What is wrong with a statement that a server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Something that it names is not there.
    Missing,
    /// The type of a parameter cannot be known.
    Type,
    /// Anything else, such as its syntax.
    Other,
}
