//! Reports over classified messages: which rows there are, and what a report over them has to answer.
//!
//! A message is made from the seed and its number alone, so that the answer of every report is known without a database, and a
//! wrong one is found. What is here makes, loads and asks; it measures nothing and draws no conclusions.

mod answer;
mod data;
mod pattern;
mod query;
mod skew;
mod store;
mod tables;

pub use answer::Answer;
pub use data::{Message, MessageData};
pub use pattern::{Pattern, PatternError};
pub use query::{Report, ReportResult};
pub use store::{ask, create, fill};
pub use tables::{CLASSIFICATIONS, DEPARTMENTS, DOMAINS, MESSAGES};

#[cfg(test)]
mod server_tests;
