//! Reports over classified messages: how long a server takes for one that returns millions of rows, at first and again, while it is left
//! alone and while events arrive.
//!
//! A message is made from the seed and its number alone, so that the answer of every report is known without a database, and a
//! wrong one is found.

mod answer;
mod ask;
mod cold;
mod data;
mod driver;
mod job;
mod pattern;
mod plan;
mod query;
mod settings;
mod skew;
mod store;
mod tables;
mod workload;

/// Name of the database where nothing else is said.
pub const DATABASE: &str = "prony_reports";

pub use answer::Answer;
pub use ask::{Access, Answered, Question};
pub use data::{Message, MessageData};
pub use driver::run;
pub use job::{Job, check};
pub use pattern::{Pattern, PatternError};
pub use query::{Report, ReportResult};
pub use settings::Settings;
pub use store::{Standing, are_indexed, create, fill, standing};
pub use tables::{CLASSIFICATIONS, DEPARTMENTS, DOMAINS, MESSAGE_DATA, MESSAGES};

#[cfg(test)]
mod server_tests;
