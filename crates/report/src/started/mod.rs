//! Servers that were started for trials: what was started where, within which limits, and what it used.

mod words;

pub use words::{lines, on_one_device};
