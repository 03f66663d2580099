//! Scripts as procedures of the server: which of them can be one, and its text.
//!
//! What stands before the first statement (`\set`, and conditions among them) stays with the client, which calls the procedure with what its
//! statements need. Nothing here asks a server; what PostgreSQL takes each value as, its caller says.

mod body;
mod postgres;
mod text;
mod words;

pub(super) use body::Body;
pub(super) use text::{Arguments, Made, kinds, made, type_of};
pub(super) use words::is_planned;

/// What the names of our procedures begin with; behind it stands the number of the script.
pub(super) const NAME: &str = "prony_script_";

/// By what our procedures are known: no other is dropped.
pub(super) const MARK: &str = "made by prony script for one run, which drops it at its end";

/// The procedure of a script, by its number from zero.
pub(super) fn name(script: usize) -> String {
    format!("{NAME}{}", script + 1)
}
